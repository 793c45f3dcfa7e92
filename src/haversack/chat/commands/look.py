"""`/memory`, `/facts`, `/entities`, `/insights`, `/summaries`, `/sessions`, `/transcript`: what is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import click

from haversack.chat.options import as_json, first_words, limit_option, memory_rows, one_line, query_words, shown
from haversack.chat.screen import printable
from haversack.chat.spending import FIELD
from haversack.chat.talk import Talk
from haversack.model.memory import Kind, Turn

__all__ = ["COMMANDS"]

_COLUMNS = ("id", "kind", "when", "importance", "content")
_FACTS = (Kind.FACT, Kind.PROFILE, Kind.CORRECTION, Kind.DECISION)


@click.command()
@query_words
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help=f"Only these kinds ({', '.join(Kind)}).")
@limit_option
@as_json
@click.pass_obj
def memory(talk: Talk, query: str | None, kinds: tuple[str, ...], limit: int, *, as_json: bool) -> None:
    """Count what is remembered, or find what answers QUERY.

    \b
    Examples:
      /memory
      /memory which units --kind fact
    """
    if query is not None:
        _find(talk, query, kinds, limit, as_json=as_json)
        return
    census = talk.ns.stats()
    newest = talk.ns.everything(kinds=kinds or None)[:limit]
    if shown(talk, as_json, {"namespace": talk.ns.name, "counts": census, "newest": newest}):
        return
    counts = ", ".join(f"{count} {kind}" for kind, count in sorted(census.memories.items()))
    talk.screen.text(
        f"{talk.ns.name}: {sum(census.memories.values())} memories ({counts or 'none'}), "
        f"{census.sessions} sessions, {census.turns} turns, {census.deleted} forgotten, {census.tombstones} erased"
    )
    talk.screen.table(_COLUMNS, memory_rows(newest), empty="nothing is remembered yet")


@click.command()
@query_words
@limit_option
@as_json
@click.pass_obj
def facts(talk: Talk, query: str | None, limit: int, *, as_json: bool) -> None:
    """List known facts, or find those that answer QUERY.

    Facts, profile, corrections and decisions count.

    \b
    Example:
      /facts units
    """
    _list(talk, query, _FACTS, limit, as_json=as_json)


@click.command()
@query_words
@limit_option
@as_json
@click.pass_obj
def insights(talk: Talk, query: str | None, limit: int, *, as_json: bool) -> None:
    """List insights, or find those that answer QUERY.

    \b
    Example:
      /insights --limit 5
    """
    _list(talk, query, (Kind.INSIGHT,), limit, as_json=as_json)


@click.command()
@query_words
@limit_option
@as_json
@click.pass_obj
def summaries(talk: Talk, query: str | None, limit: int, *, as_json: bool) -> None:
    """List summaries, or find those that answer QUERY.

    /expand ID shows what one of this session stands for.

    \b
    Example:
      /summaries
    """
    _list(talk, query, (Kind.SUMMARY,), limit, as_json=as_json)


@click.command()
@limit_option
@as_json
@click.pass_obj
def entities(talk: Talk, limit: int, *, as_json: bool) -> None:
    """Count the people, places and things that are known.

    Those that memories are about, with what is known of them.

    \b
    Example:
      /entities --json
    """
    told = talk.ns.everything(kinds=[kind for kind in Kind if kind is not Kind.PASSAGE])
    counts = Counter(name for each in told for name in each.entities).most_common(limit)
    known = [each for each in told if each.kind in {Kind.ENTITY, Kind.RELATION}][:limit]
    if shown(talk, as_json, {"counts": dict(counts), "known": known}):
        return
    talk.screen.table(("entity", "memories"), [(printable(name), count) for name, count in counts], empty="no entities")
    if known:
        talk.screen.table(_COLUMNS, memory_rows(known))


@click.command()
@click.argument("session", required=False)
@limit_option
@as_json
@click.pass_obj
def sessions(talk: Talk, session: str | None, limit: int, *, as_json: bool) -> None:
    """List conversations, or show the last turns of SESSION.

    \b
    Examples:
      /sessions
      /sessions 2026-03-02 --limit 50
    """
    if session is not None:
        _show_turns(talk, talk.ns.session(session).turns()[-limit:], as_json=as_json)
        return
    found = talk.ns.sessions()[:limit]
    if shown(talk, as_json, found):
        return
    rows = [(printable(each.id), each.turns, each.first_at, each.last_at, _here(talk, each.id)) for each in found]
    talk.screen.table(("session", "turns", "first", "last", ""), rows, empty="no sessions yet")


@click.command()
@click.option("--limit", type=click.IntRange(min=1), help="Only the last so many turns.")
@as_json
@click.pass_obj
def transcript(talk: Talk, limit: int | None, *, as_json: bool) -> None:
    """Show this conversation as it was said.

    Compacted turns and tool calls included, with marks for what was stopped and what stands behind a summary.

    \b
    Example:
      /transcript --limit 20
    """
    turns = talk.session.turns()
    _show_turns(talk, turns if limit is None else turns[-limit:], as_json=as_json, whole=True)


def _list(talk: Talk, query: str | None, kinds: Sequence[Kind], limit: int, *, as_json: bool) -> None:
    if query is not None:
        _find(talk, query, tuple(kinds), limit, as_json=as_json)
        return
    found = talk.ns.everything(kinds=kinds)[:limit]
    if not shown(talk, as_json, found):
        talk.screen.table(_COLUMNS, memory_rows(found), empty="none yet")


def _find(talk: Talk, query: str, kinds: tuple[str, ...], limit: int, *, as_json: bool) -> None:
    hits = talk.ns.recall(query, top_k=limit, kinds=kinds or None)
    if not shown(talk, as_json, hits):
        rows = [(hit.relevance, hit.kind, hit.memory.event_time, hit.id, one_line(hit.content)) for hit in hits]
        talk.screen.table(("relevance", "kind", "when", "id", "content"), rows, empty="nothing is connected with that")


def _show_turns(talk: Talk, turns: Sequence[Turn], *, as_json: bool, whole: bool = False) -> None:
    if shown(talk, as_json, turns):
        return
    behind = {place: fold.summary for fold in talk.session.folds() for place in range(fold.start, fold.stop)}
    folded = behind if whole else {}
    rows = [(turn.position, turn.at, _who(turn), _said(turn, folded, whole=whole)) for turn in turns]
    talk.screen.table(("#", "at", "who", "said"), rows, empty="no turns yet")


def _who(turn: Turn) -> str:
    return printable(turn.message.name or turn.message.role)


def _said(turn: Turn, behind: Mapping[int, str], *, whole: bool) -> str:
    words = printable(turn.message.text) if whole else first_words(turn)
    calls = "; ".join(f"calls {call.name} {call.arguments}" for call in turn.message.tool_calls)
    kept = turn.metadata.get(FIELD)
    ended = kept.get("ended", "") if isinstance(kept, dict) else ""
    summary = behind.get(turn.position)
    marks = [f"[{ended}]" if ended else "", f"[behind summary {summary}]" if summary else ""]
    return " ".join(filter(None, [words, printable(calls), *marks]))


def _here(talk: Talk, session: str) -> str:
    return "this one" if session == talk.session.id else ""


COMMANDS = [memory, facts, entities, insights, summaries, sessions, transcript]
