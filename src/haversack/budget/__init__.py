"""Budgets, windows, ledgers, shares and the packer: whole numbers in, whole numbers out; no text, no clock."""

from haversack.budget.allocate import Demand, allocate, check_weights
from haversack.budget.amount import Budget, check_ratio, check_tokens
from haversack.budget.cut import Keep, cut
from haversack.budget.ledger import Ledger, Line, Measure, settle
from haversack.budget.pack import Container, Packer, Packing, Shorter
from haversack.budget.window import Window

__all__ = [
    "Budget",
    "Container",
    "Demand",
    "Keep",
    "Ledger",
    "Line",
    "Measure",
    "Packer",
    "Packing",
    "Shorter",
    "Window",
    "allocate",
    "check_ratio",
    "check_tokens",
    "check_weights",
    "cut",
    "settle",
]
