"""The Health page: what a namespace holds and how it grew, what keeps being left out, jobs, runs, previews on demand.

Counting that reads every memory happens when somebody asks for it, never with the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from starlette.requests import Request
from starlette.responses import Response

from haversack.clock import utc_now
from haversack.engine.jobs import Job
from haversack.engine.namespace import Namespace
from haversack.errors import InputError
from haversack.inspector.entrance import Visitor
from haversack.inspector.pictures import draw_growth
from haversack.inspector.render import drawing, here, page, saved, visitor_of
from haversack.llm.cost import total_by
from haversack.maintenance.health import Advice

__all__ = ["picture", "show"]

_MOST = 25
_RECENT = timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What a closer look found."""

    title: str
    facts: Sequence[tuple[str, object]] = ()
    rows: Sequence[tuple[str, str, str]] = ()
    """Memory id (or none), what, why."""
    advice: Sequence[Advice] = ()
    left: int = 0
    """Rows that are not shown."""


def show(request: Request) -> Response:
    """The page."""
    visitor = visitor_of(request)
    ns = visitor.namespace(here(request))
    trimmed = ns.trimmed()
    return page(
        request,
        "health.html",
        visitor=visitor,
        here=ns.name,
        names=visitor.namespaces(),
        census=ns.stats(),
        changes=ns.sequence(),
        drawn=drawing(_growth(ns)),
        trimmed=trimmed[:_MOST],
        trimmed_left=max(0, len(trimmed) - _MOST),
        votes=ns.votes_by_signal(),
        jobs=_jobs(visitor, ns),
        costs=sorted(total_by(ns.costs(since=utc_now() - _RECENT), lambda call: call.purpose).items()),
        runs=ns.maintenance.runs()[::-1][:_MOST],
        looked=_look(visitor, ns, request.query_params.get("look", "")),
    )


def picture(request: Request) -> Response:
    """Growth as a file."""
    return saved(_growth(visitor_of(request).namespace(here(request))), "growth")


def _growth(ns: Namespace) -> str:
    return draw_growth(ns.timeline(limit=1).by_day, f"Memories of {ns.name}, by when they were said or happened")


def _jobs(visitor: Visitor, ns: Namespace) -> list[Job]:
    return visitor.sack.jobs.all([ns.name], limit=_MOST)[::-1]


def _look(visitor: Visitor, ns: Namespace, what: str) -> Looked | None:
    match what:
        case "":
            return None
        case "count":
            return _counted(visitor, ns)
        case "lifecycle":
            return _aged(ns)
        case "reorganize":
            return _reorganized(ns)
        case _:
            raise InputError(f"there is no closer look {what[:40]!r}")


def _counted(visitor: Visitor, ns: Namespace) -> Looked:
    if visitor.sees_all:
        whole = visitor.sack.maintenance.health()
        seen = next((each for each in whole.namespaces if each.namespace == ns.name), None) or ns.maintenance.health()
        about = [
            ("Snapshots", f"{whole.snapshots}"),
            ("Last snapshot", "never" if whole.last_snapshot is None else f"{whole.last_snapshot:%Y-%m-%d %H:%M}"),
            ("Bytes of the store", "unknown" if whole.size is None else f"{whole.size:,}"),
            ("Sound", "yes" if whole.is_sound else "no: see haversack doctor"),
        ]
        advice = whole.advice
    else:
        seen, about, advice = ns.maintenance.health(), [], ()
    facts: list[tuple[str, object]] = [
        ("Live memories", f"{seen.memories:,}"),
        ("Added in the last week", f"{seen.added_last_week:,}"),
        ("Repeating another", f"{seen.duplicates:,}"),
        ("Decayed", f"{seen.decayed:,} ({seen.decayed_share:.0%})"),
        ("Superseded", f"{seen.superseded:,}"),
        ("Without a vector", f"{seen.unembedded:,}"),
        ("Softly deleted", f"{seen.deleted:,}"),
        ("Interrupted runs", f"{len(seen.unfinished)}"),
        *about,
    ]
    return Looked(title="Every memory counted", facts=facts, advice=advice)


def _aged(ns: Namespace) -> Looked:
    due = ns.maintenance.lifecycle()
    rows = [(each.memory, str(each.action), f"{each.reason}, strength {each.strength:.2f}") for each in due.transitions]
    return Looked(
        title="What lifecycle would change",
        facts=[("Summary", str(due)), ("To do it", f"haversack lifecycle -n {ns.name} --execute")],
        rows=rows[:_MOST],
        left=max(0, len(rows) - _MOST),
    )


def _reorganized(ns: Namespace) -> Looked:
    found = ns.maintenance.reorganize()
    what = found.decision
    rows = [(each.hide, "fold into another", f"{each.similarity:.0%} alike") for each in what.duplicates]
    rows += [(each.memory, "end", each.reason) for each in what.pruned]
    rows += [(each.replaces or "", "write", f"a synthesis about {each.about}") for each in what.syntheses]
    return Looked(
        title="What reorganize would change",
        facts=[("Summary", str(found)), ("To do it", f"haversack reorganize -n {ns.name} --execute")],
        rows=rows[:_MOST],
        left=max(0, len(rows) - _MOST),
    )
