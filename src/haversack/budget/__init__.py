"""Budgets, windows, ledgers, shares and the packer: whole numbers in, whole numbers out; no text, no clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from haversack.lazy import offered

if TYPE_CHECKING:
    from haversack.budget.amount import Budget, check_ratio, check_tokens
    from haversack.budget.cutting import Keep, cut
    from haversack.budget.ledger import Ledger, Line, Measure, settle
    from haversack.budget.pack import Container, Packer, Packing
    from haversack.budget.shares import Demand, allocate, check_weights
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
    "Window",
    "allocate",
    "check_ratio",
    "check_tokens",
    "check_weights",
    "cut",
    "settle",
]

__getattr__, __dir__ = offered(
    __name__,
    {
        "haversack.budget.shares": "Demand, allocate, check_weights",
        "haversack.budget.amount": "Budget, check_ratio, check_tokens",
        "haversack.budget.cutting": "Keep, cut",
        "haversack.budget.ledger": "Ledger, Line, Measure, settle",
        "haversack.budget.pack": "Container, Packer, Packing",
        "haversack.budget.window": "Window",
    },
)
