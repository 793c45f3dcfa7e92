"""The status line: tokens of the window, severity, what compaction does, and the cost, in plain words."""

from __future__ import annotations

from haversack.chat.talk import Talk
from haversack.compaction import BudgetSeverity

__all__ = ["STYLES", "compaction_state", "severity_now", "status_line"]

STYLES: dict[BudgetSeverity, str] = {
    BudgetSeverity.NORMAL: "",
    BudgetSeverity.ELEVATED: "",
    BudgetSeverity.WARNING: "ansiyellow",
    BudgetSeverity.CRITICAL: "ansired",
    BudgetSeverity.OVERAGE: "ansired bold",
}
"""Colours of the terminal's own palette; the word itself says the same."""

_WORDS = {"below threshold": "idle", "no reading": "idle", "in progress": "running"}


def status_line(talk: Talk) -> str:
    """Such as `412 of 29,500 tokens (1 %) · normal · compaction idle · $0.0003 · 2026-11-29T20:15:02`."""
    seen = talk.reading()
    if seen is None:
        used = "nothing sent yet"
    else:
        used = f"{seen.total_tokens:,} of {seen.available_budget:,} tokens ({seen.utilization_pct:.0f} %)"
        used += f" · {seen.severity}"
    cost = f" · {talk.spent}" if talk.service is not None else " · no service"
    return f"{used} · compaction {compaction_state(talk)}{cost} · {talk.session.id}"


def severity_now(talk: Talk) -> BudgetSeverity:
    """Of the last prompt."""
    seen = talk.reading()
    return BudgetSeverity.NORMAL if seen is None else seen.severity


def compaction_state(talk: Talk) -> str:
    """`off`, `on request`, `idle`, `running`, `due`, or why it waits."""
    if talk.memory.compaction is None:
        return "on request"
    if not talk.memory.compaction.enabled:
        return "off"
    refusal = talk.session.monitor.refusal()
    return "due" if refusal is None else _WORDS.get(refusal, f"waiting ({refusal})")
