"""`bench`: recall under a budget on a file of conversations with known evidence."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from haversack.cli import show
from haversack.errors import InputError, NotFoundError
from haversack.evaluation.chart import draw
from haversack.evaluation.conversations import Conversation, load
from haversack.evaluation.measure import BUDGETS, Scores, measure, summarise
from haversack.wiring import open_haversack

__all__ = ["COMMANDS"]


_OLD_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--budget", "budgets", type=click.IntRange(min=0), multiple=True, help="Instead of 256 to 4,000.")
@click.option(
    "--embedder", "embedders", multiple=True, metavar="NAME", help="default, none or onnx; repeat to compare."
)
@click.option("--conversations", type=click.IntRange(min=1), help="Only the first so many of the file.")
@click.option("--beside", multiple=True, type=_OLD_FILE, help="Scores that --out wrote, to show beside these.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write the scores as JSON.")
@click.option("--chart", type=click.Path(dir_okay=False, path_type=Path), help="Write a chart as SVG.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for scripts.")
def bench(
    file: Path,
    budgets: tuple[int, ...],
    embedders: tuple[str, ...],
    conversations: int | None,
    beside: tuple[Path, ...],
    out: Path | None,
    chart: Path | None,
    *,
    as_json: bool,
) -> None:
    """Measure how much of the evidence stands in the context, for every question in FILE at several budgets.

    FILE is LoCoMo or BEAM as published, or JSON lines of your own: one conversation a line with `turns` (id, session,
    speaker, text, at) and `questions` (text, gold turn ids, category). No model is needed; nothing is kept.

    \b
    Examples:
      haversack bench locomo10.json --chart recall.svg
      haversack bench mine.jsonl --embedder default --embedder none --budget 500 --budget 1000
    """
    for folder in {place.absolute().parent for place in (out, chart) if place is not None}:
        if not folder.is_dir():
            raise NotFoundError(f"there is no folder {folder}")
    talks, sizes = load(file)[:conversations], tuple(dict.fromkeys(budgets)) or BUDGETS
    systems = [_measured(name, talks, sizes) for name in dict.fromkeys(embedders) or ("default",)]
    systems += [one for path in beside for one in _read(path)]
    if out is not None:
        out.write_bytes(msgspec.json.format(msgspec.json.encode(systems)))
    if chart is not None:
        chart.write_text(draw(systems, f"Evidence recall under a budget: {file.name}"), encoding="utf-8")
    if as_json:
        show.json_line(systems)
    else:
        _tell(systems)
    if any(score.over for system in systems for score in system.by_budget):
        show.note("a context was over its budget: these scores are void")
        raise click.exceptions.Exit(1)


def _measured(embedder: str, talks: list[Conversation], budgets: tuple[int, ...]) -> Scores:
    answers = measure(
        lambda: open_haversack(":memory:", embedder=embedder),
        talks,
        budgets,
        watch=lambda done, total: show.progress_note(f"{embedder}: {show.bar(done / total, 20)} {done} of {total}"),
    )
    scores = summarise(f"haversack {embedder}", answers)
    show.progress_note("")
    return scores


def _read(path: Path) -> list[Scores]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=list[Scores])
    except msgspec.DecodeError as error:
        raise InputError(f"{path} holds no scores: {error}") from None


def _tell(systems: list[Scores]) -> None:
    budgets = sorted({score.budget for system in systems for score in system.by_budget})
    rows: list[list[object]] = []
    for system in systems:
        found = {score.budget: score for score in system.by_budget}
        recalls = [f"{100 * found[budget].recall:.1f}" if budget in found else "" for budget in budgets]
        times = [score.milliseconds for score in system.by_budget]
        rows.append([system.name, system.questions, *recalls, f"{max(times, default=0):.1f}"])
    show.table(("system", "questions", *(f"B{budget}" for budget in budgets), "ms"), rows)
    for system in systems[:1]:
        show.heading(f"{system.name}, by category")
        lines = [(name, *(f"{100 * recall:.1f}" for recall in row)) for name, row in system.by_category.items()]
        show.table(("category", *(f"B{budget}" for budget in budgets)), lines)


COMMANDS = [bench]
