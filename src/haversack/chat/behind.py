"""What happens behind the conversation: after a turn, before a compaction that was asked for, and before leaving.

Reading a session for facts in the background belongs here, in these three places, once the engine offers it.
"""

from __future__ import annotations

from haversack.chat.talk import Talk

__all__ = ["after_turn", "before_compaction", "count_compactions", "settle"]


def after_turn(talk: Talk) -> None:
    """Tell of compactions that ended since the last turn."""
    runs = count_compactions(talk)
    if runs > talk.compacted:
        talk.compacted = runs
        talk.screen.note("older turns now stand behind a summary: /summaries, and /expand ID shows them")


def before_compaction(talk: Talk) -> None:
    """What is pending is done first, so that nothing is summarised before it was read."""
    talk.session.settle()


def settle(talk: Talk) -> None:
    """Wait for what is pending; everything that was said is in the store already."""
    if talk.session.monitor.refusal() == "in progress":
        talk.screen.note("finishing the compaction (Ctrl-C gives it up; nothing is lost)")
        talk.session.settle()


def count_compactions(talk: Talk) -> int:
    """Runs of this session that did something since the store was opened."""
    return int(talk.session.monitor.get_metrics()["total_compactions"] or 0)
