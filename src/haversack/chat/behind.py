"""What happens behind the conversation: told after a turn, waited for before big changes, brought to an end at leaving.

Added turns are read for facts by the engine, every few turns, where `memory.extraction` is set.
"""

from __future__ import annotations

import time

from haversack.chat.screen import printable
from haversack.chat.talk import Talk
from haversack.llm.port import Cancel, ServiceCancelled

__all__ = ["after_turn", "before_maintenance", "before_prompt", "count_compactions", "settle"]

_LOOK_EVERY = 0.02


def before_prompt(talk: Talk, cancel: Cancel) -> None:
    """Wait for a compaction in progress, at most its time budget; ServiceCancelled when `cancel` is set."""
    monitor = talk.session.monitor
    if not monitor.get_metrics()["compaction_in_progress"]:
        return
    talk.screen.note("finishing a compaction first (Ctrl-C stops)")
    end = time.monotonic() + monitor.get_time_budget_ms() / 1000
    while monitor.get_metrics()["compaction_in_progress"] and time.monotonic() < end:
        if cancel.is_set():
            raise ServiceCancelled("stopped while a compaction was awaited")
        time.sleep(_LOOK_EVERY)


def after_turn(talk: Talk) -> None:
    """Tell of compactions that ended since the last turn."""
    runs = count_compactions(talk)
    if runs > talk.compacted:
        talk.compacted = runs
        talk.screen.note("older turns now stand behind a summary: /summaries, and /expand ID shows them")


def before_maintenance(talk: Talk) -> None:
    """Wait for what works on the session, so that maintenance meets nothing half read."""
    talk.session.wait()


def settle(talk: Talk) -> None:
    """Wait for what is going on, and read what was said last; every word is in the store already."""
    if not talk.session.wait(0):
        talk.screen.note("finishing what was begun (Ctrl-C gives it up; nothing is lost)")
        talk.session.wait()
    extraction = talk.memory.extraction
    if extraction is not None and extraction.enabled and talk.session.unread():
        talk.screen.note("reading what was said for facts (Ctrl-C leaves it for later; nothing is lost)")
        done = talk.session.extract()
        for error in done.errors:
            talk.screen.note(f"left for later: {printable(error)}")


def count_compactions(talk: Talk) -> int:
    """Runs of this session that did something since the store was opened."""
    return int(talk.session.monitor.get_metrics()["total_compactions"] or 0)
