"""One memory's life: where it came from, what it was, how it fades; and putting it right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from haversack.clock import utc_now
from haversack.engine.keys import Scope
from haversack.engine.namespace import Namespace
from haversack.engine.why import Explanation
from haversack.errors import InputError, NotFoundError
from haversack.inspector.pictures import draw_strength
from haversack.inspector.reasons import in_words
from haversack.inspector.render import drawing, form_of, here, link, number_in, page, saved, visitor_of
from haversack.lifecycle.decay import DecayConfig, fades_at, last_used, strength
from haversack.model.memory import Memory, Stage, Turn
from haversack.scoring.signals import weightiest

__all__ = ["change", "forget", "picture", "show"]

_TURNS = 20
_POINTS = 60
_AHEAD = timedelta(days=30)


def show(request: Request) -> Response:
    """All that is known of one memory."""
    visitor = visitor_of(request)
    ns = visitor.namespace(here(request))
    memory = ns.get(request.query_params.get("id", ""))
    visitor.note("look", ns.name, [memory.id])
    decay, now = ns.maintenance.policy().decay, utc_now()
    query = request.query_params.get("q", "").strip()
    return page(
        request,
        "memory.html",
        visitor=visitor,
        here=ns.name,
        memory=memory,
        words=_words(ns, memory),
        source=_turns(ns, memory),
        derived_from=ns.get_many(memory.source.memories[:_TURNS]),
        earlier=ns.earlier(memory.id),
        votes=ns.votes(memory.id),
        drawn=drawing(_curve(memory, decay, now)),
        strength=strength(memory, now, decay),
        fades_at=fades_at(memory, decay),
        query=query,
        budget=request.query_params.get("budget", ""),
        why=_why(ns, query, number_in(request, "budget", -1), memory.id),
        in_words=in_words,
        weightiest=weightiest,
        done=request.query_params.get("done", ""),
        deleted=memory.stage is Stage.DELETED,
    )


def picture(request: Request) -> Response:
    """The curve as a file."""
    ns = visitor_of(request).namespace(here(request))
    memory = ns.get(request.query_params.get("id", ""))
    return saved(_curve(memory, ns.maintenance.policy().decay, utc_now()), "strength")


def change(request: Request) -> Response:
    """Pin, correct, vote or restore, and show the memory again."""
    visitor, form = visitor_of(request), form_of(request)
    ns = visitor.namespace(form.get("namespace", ""), Scope.WRITE)
    memory_id, did = form.get("id", ""), form.get("do", "")
    match did:
        case "pin" | "unpin":
            ns.edit(memory_id, pinned=did == "pin")
        case "up" | "down" | "flag":
            ns.vote(memory_id, did)
        case "restore":
            ns.unfold(memory_id) if ns.get(memory_id).superseded_by else ns.restore(memory_id)
        case "correct":
            _correct(ns, memory_id, form)
        case _:
            raise InputError(f"{did[:40]!r} cannot be done to a memory")
    visitor.note("edit" if did == "correct" else did, ns.name, [memory_id])
    return RedirectResponse(link("memory", namespace=ns.name, id=memory_id, done=did), 303)


def forget(request: Request) -> Response:
    """What forgetting would remove; and with the answer to that page, its removal."""
    visitor, form = visitor_of(request), form_of(request)
    ns = visitor.namespace(form.get("namespace", ""), Scope.WRITE)
    memory_id, hard = form.get("id", ""), form.get("hard") == "yes"
    memory = ns.get(memory_id)
    confirmed = form.get("confirm") == "yes"
    done = ns.forget(memory_id, hard=hard, preview=not confirmed)
    if confirmed:
        did = "forget for good" if hard else "forget"
        visitor.note(did, ns.name, (*done.memories, *done.derived), now=True)
        if not hard:
            return RedirectResponse(link("memory", namespace=ns.name, id=memory_id, done="forget"), 303)
    return page(
        request,
        "forget.html",
        visitor=visitor,
        here=ns.name,
        memory=None if confirmed else memory,
        done=done,
        derived=[] if confirmed else ns.get_many(done.derived[:_TURNS]),
    )


def _correct(ns: Namespace, memory_id: str, form: Mapping[str, str]) -> None:
    """Only what differs is changed: browsers alter line ends, and an unchanged text must stay as it is."""
    old = ns.get(memory_id)
    changes: dict[str, object] = {}
    content = form.get("content", "").replace("\r\n", "\n")
    if content != _words(ns, old).replace("\r\n", "\n").replace("\r", "\n"):
        changes["content"] = content
    importance = _share(form.get("importance", ""))
    if importance is not None and abs(importance - old.importance) > 0.005:  # noqa: PLR2004 - it is shown with two digits
        changes["importance"] = importance
    tags = [tag.strip() for tag in form.get("tags", "").split(",") if tag.strip()]
    if "tags" in form and tags != [tag.strip() for tag in ", ".join(old.tags).split(",") if tag.strip()]:
        changes["tags"] = tags
    given = form.get("changed", "")
    if changes:
        ns.edit(memory_id, expected=int(given) if given.isascii() and given.isdigit() else None, **changes)


def _words(ns: Namespace, memory: Memory) -> str:
    """What a correction rewords: the whole text where this is its first part."""
    is_later = memory.source.part is not None and memory.source.part[0] > 0
    return memory.content if is_later else "".join(part.content for part in ns.parts(memory.id))


def _share(given: str) -> float | None:
    try:
        return float(given) if given.strip() else None
    except ValueError:
        raise InputError(f"importance {given[:40]!r} must be a number from 0 to 1") from None


def _turns(ns: Namespace, memory: Memory) -> list[Turn]:
    """The turns that it was said in, or concluded from; what was erased is left out."""
    if memory.source.session is None:
        return []
    session, found = ns.session(memory.source.session), list[Turn]()
    for turn_id in memory.source.turns[:_TURNS]:
        try:
            found += session.expand(turn_id)
        except NotFoundError:
            continue
    return found


def _why(ns: Namespace, query: str, budget: int, memory_id: str) -> Explanation | None:
    if not query:
        return None
    return ns.why(query, memory_id, budget=None if budget < 0 else budget, now=utc_now())


def _curve(memory: Memory, decay: DecayConfig, now: datetime) -> str:
    start = last_used(memory)
    end = max(now, fades_at(memory, decay) or now) + _AHEAD
    step = (end - start) / _POINTS
    curve: Sequence[tuple[datetime, float]] = [
        (moment, strength(memory, moment, decay)) for moment in (start + step * number for number in range(_POINTS + 1))
    ]
    title = f"Strength since its last use, {start:%Y-%m-%d}"
    return draw_strength(curve, now=now, threshold=decay.decay_threshold, title=title)
