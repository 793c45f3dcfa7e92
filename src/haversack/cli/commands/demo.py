"""`demo`: a bundled conversation remembered, three questions answered at three budgets, every choice shown."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import click

from haversack import demo as story
from haversack.assemble import Context
from haversack.cli import show
from haversack.cli.commands.ask import show_account
from haversack.cli.options import Place, place
from haversack.engine.namespace import Namespace
from haversack.engine.session import TurnDraft

__all__ = ["COMMANDS"]

_BUDGETS = (120, 250, 500)
_PLACE = "haversack-demo.db"
_WHO = "mira"


@click.command()
@click.option("--model", "-m", default="gpt-4o", show_default=True, help="Whose tokens to count.")
@place
def demo(place: Place, model: str) -> None:
    """Remember a bundled conversation, answer three questions at three budgets, and explain each choice.

    Leaves the store behind to play with: haversack-demo.db, or wherever --store says.

    \b
    Example:
      haversack demo --store /tmp/demo.db
    """
    where = _PLACE if place.store == "haversack.db" else place.store
    here = Place(store=where, namespace=_WHO, config=place.config, as_json=place.as_json)
    with here.open_namespace(create=True) as ns:
        added, now = _remember(ns)
        answers = [
            (question, [_answer(ns, question, budget, model, now) for budget in _BUDGETS])
            for question in story.questions()
            if question.shown
        ]
        held = ns.stats()
    if place.as_json:
        show.json_line([_as_data(question, contexts) for question, contexts in answers])
        return
    show.text(
        f"Remembered {held.turns} turns of {held.sessions} conversations ({added} new) "
        f"in {where}, offline, with no model and no key."
    )
    for question, contexts in answers:
        _tell(question, contexts)
    _tell_more(where, answers[0][0], now)


def _remember(ns: Namespace) -> tuple[int, datetime]:
    """The bundled sessions, each turn once however often the demo runs; also the moment after the last turn."""
    added, last = 0, None
    for session in story.sessions():
        drafts = [
            TurnDraft(message=turn.message, at=turn.at, metadata=turn.metadata, key=str(turn.metadata["turn"]))
            for turn in session.turns
        ]
        added += len(ns.session(session.session).append(drafts))
        last = session.turns[-1].at
    if last is None:
        raise click.ClickException("the bundled conversation is missing from this installation")
    return added, last + timedelta(hours=1)


def _answer(ns: Namespace, question: story.DemoQuestion, budget: int, model: str, now: datetime) -> Context:
    return ns.context(question.question, budget=budget, model=model, now=now)


def _carried(question: story.DemoQuestion, context: Context) -> list[str]:
    kept = [row.metadata.get("turn") for row in context.kept]
    return [turn for turn in question.evidence if turn in kept]


def _tell(question: story.DemoQuestion, contexts: Sequence[Context]) -> None:
    show.heading(f"“{question.question}”")
    show.table(
        ("budget", "used", "of the budget", "kept", "left out", "evidence carried"),
        [
            (
                context.budget,
                context.tokens,
                show.bar(context.tokens / context.budget, 20),
                len(context.kept),
                len(context.verdicts) - len(context.kept),
                f"{len(_carried(question, context))} of {len(question.evidence)}",
            )
            for context in contexts
        ],
    )
    show.text(f"\nThe context at {contexts[0].budget} tokens, exactly as a model would get it:\n")
    show.text("\n".join(f"  │ {line}".rstrip() for line in contexts[0].text.rstrip().splitlines()))
    show.heading(f"what {contexts[-1].budget} tokens went to")
    show_account(contexts[-1])


def _tell_more(where: str, question: story.DemoQuestion, now: datetime) -> None:
    moment = now.isoformat()
    show.heading("Try it yourself")
    for command in (
        f'haversack context "{question.question}" -b 250 -x -n {_WHO} --store {where} --now {moment}',
        f'haversack recall "which paint did we choose?" -n {_WHO} --store {where}',
        f"haversack sessions -n {_WHO} --store {where}",
        f"haversack stats --store {where}",
    ):
        show.text(f"  {command}")


def _as_data(question: story.DemoQuestion, contexts: Sequence[Context]) -> dict[str, object]:
    return {
        "question": question.question,
        "answer": question.answer,
        "evidence": question.evidence,
        "contexts": [
            {
                "budget": context.budget,
                "tokens": context.tokens,
                "carried": _carried(question, context),
                "text": context.text,
            }
            for context in contexts
        ],
    }


COMMANDS = [demo]
