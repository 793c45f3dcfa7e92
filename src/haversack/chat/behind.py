"""What happens behind the conversation: told after a turn, waited for before big changes, brought to an end at leaving.

Added turns are read for facts by the engine, every few turns, where `memory.extraction` is set.
"""

from __future__ import annotations

from haversack.chat.screen import printable
from haversack.chat.talk import Talk

__all__ = ["after_turn", "before_maintenance", "count_compactions", "settle"]


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
