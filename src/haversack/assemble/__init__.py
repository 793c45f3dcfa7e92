"""Assembling contexts and prompts: sections, layouts, renditions, formats, history. Pure: nothing is read."""

from haversack.assemble.candidate import Candidate
from haversack.assemble.compose import assemble, format_named
from haversack.assemble.context import Context, SectionReport
from haversack.assemble.frame import Format, line
from haversack.assemble.layout import LAYOUTS, PRIORITY_PRESETS, Layout, Prefer, Section, Sharing, layout_named
from haversack.assemble.verdict import Outcome, Reason, Rendition, Verdict, Verdicts
from haversack.budget import Budget, Ledger, Line, Measure, Window

__all__ = [
    "LAYOUTS",
    "PRIORITY_PRESETS",
    "Budget",
    "Candidate",
    "Context",
    "Format",
    "Layout",
    "Ledger",
    "Line",
    "Measure",
    "Outcome",
    "Prefer",
    "Reason",
    "Rendition",
    "Section",
    "SectionReport",
    "Sharing",
    "Verdict",
    "Verdicts",
    "Window",
    "assemble",
    "format_named",
    "layout_named",
    "line",
]
