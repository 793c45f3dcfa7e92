"""`python -m bench now`: statements that change in the course of real chats, and whether the newest wins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bench.lived.bank import Block, half_of, load
from bench.lived.figures import Outcome, tabulate
from bench.lived.stores import MODEL, Fresh, embedders, now_of, stands, tell
from bench.options import Options
from bench.table import Table
from haversack.engine.namespace import Namespace
from haversack.evaluation.conversations import Conversation, Said

__all__ = ["Change", "changes_of", "run", "told"]

_BUDGETS = (120, 300)
_AT_ONCE = 20
"""Changes in one chat: more would leave little of the chat itself."""
_WHERE = {2: (0.2, 0.7), 3: (0.2, 0.5, 0.8)}
"""How far into the chat the statements of a matter stand, by how many there are."""
_TOGETHER = 2
"""Matters on the two speakers take turns in the bank; each half has both."""
_WIDEST = 50
"""How far down the order is read."""
_ASKED = {"?": "cue", "~": "plain"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One matter: what was said of it, the oldest first, and what is asked."""

    form: str
    """`turns` or `facts`."""
    statements: tuple[tuple[str, str], ...]
    """Speaker (none of a fact) and words."""
    questions: tuple[tuple[str, str], ...]
    """`cue` or `plain`, and the words."""
    half: str


def changes_of(conversation: Conversation) -> list[Change]:
    """Return all changes with the speakers of this chat in them."""
    names = dict(zip("ab", sorted({turn.speaker for turn in conversation.turns}), strict=False))
    return [_change(block, names, half_of(place, _TOGETHER)) for place, block in enumerate(load("now"))]


def _change(block: Block, names: Mapping[str, str], half: str) -> Change:
    said = [text.format(**names) for text in block.marked("=")]
    parts = [text.partition(": ") if block.heading == "turns" else ("", "", text) for text in said]
    return Change(
        form=block.heading,
        statements=tuple((speaker, words) for speaker, _, words in parts),
        questions=tuple((_ASKED[mark], text.format(**names)) for mark, text in block.lines if mark in _ASKED),
        half=half,
    )


def told(conversation: Conversation, changes: Sequence[Change]) -> list[Said]:
    """Return the chat's turns with the statements in them, each after a turn of a session at its time."""
    turns = list(conversation.turns)
    behind: dict[int, list[Said]] = {}
    for number, change in enumerate(changes):
        for place, (speaker, words) in enumerate(change.statements if change.form == "turns" else ()):
            row = _place(conversation, change, number, place)
            moment = turns[row].at + timedelta(milliseconds=10 * (1 + len(behind.setdefault(row, []))))
            name = f"{number}:{place}"
            behind[row].append(replace(turns[row], id=name, speaker=speaker, text=words, at=moment))
    return [said for row, turn in enumerate(turns) for said in (turn, *behind.get(row, ()))]


def _place(conversation: Conversation, change: Change, number: int, place: int) -> int:
    """Return the row behind which a statement stands; matters are spread a little, so that they do not crowd."""
    share = _WHERE[len(change.statements)][place] + 0.01 * (number % 10)
    return int(share * (len(conversation.turns) - 1))


def run(options: Options) -> Iterator[Table]:
    """For each embedder: the newest statement's place and whether small contexts hold it, by form and question."""
    chats = options.real().get("chats")
    if not chats:
        return
    for name, fresh in embedders(options).items():
        found = [outcome for chat in chats for outcome in _measured(fresh, chat, options.half)]
        yield tabulate(
            f"now-{name}",
            f"What holds now, embedder {name}: % of questions",
            (("told as", "asked"), ("newest before older", *(f"newest in {budget} tokens" for budget in _BUDGETS))),
            sorted(found, key=lambda each: [str(label) for label in each.labels], reverse=True),
            f"cue: with now, still, latest and the like; order is that of the first {_WIDEST} of recall",
        )


def _measured(fresh: Fresh, chat: Conversation, half: str) -> Iterator[Outcome]:
    changes = changes_of(chat)
    for start in range(0, len(changes), _AT_ONCE):
        # The forms are mixed: every store holds turns and facts.
        part = changes[start // _AT_ONCE :: len(changes) // _AT_ONCE]
        with fresh() as sack:
            ns = sack.namespace()
            tell(ns, told(chat, part))
            ids = _ids(ns, chat, part)
            for number, change in enumerate(part):
                if half in ("all", change.half):
                    yield from _asked(ns, change, ids[number], now_of(chat))


def _ids(ns: Namespace, chat: Conversation, changes: Sequence[Change]) -> list[list[str]]:
    """Return the memories of each change's statements, the oldest first; facts are remembered here."""
    said = {str(memory.metadata["turn"]): memory.id for memory in ns.everything(kinds="passage")}
    found: list[list[str]] = []
    for number, change in enumerate(changes):
        if change.form == "turns":
            found.append([said[f"{number}:{place}"] for place in range(len(change.statements))])
            continue
        moments = [chat.turns[_place(chat, change, number, place)].at for place in range(len(change.statements))]
        found.append(
            [
                ns.remember(words, event_time=moment).id
                for (_, words), moment in zip(change.statements, moments, strict=True)
            ]
        )
    return found


def _asked(ns: Namespace, change: Change, ids: Sequence[str], now: datetime) -> Iterator[Outcome]:
    *older, newest = ids
    words = change.statements[-1][1]
    for manner, question in change.questions:
        order = [hit.id for hit in ns.recall(question, top_k=_WIDEST, now=now)]
        first = next((name for name in order if name in ids), None)
        packed = [ns.context(question, budget=budget, model=MODEL, now=now) for budget in _BUDGETS]
        there = [newest in each.items and stands(words, each.text) for each in packed]
        figures = tuple(100.0 * one for one in (first == newest and newest not in older, *there))
        yield Outcome(labels=(change.form, manner), half=change.half, figures=figures)
