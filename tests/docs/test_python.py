"""The reference of the Python interface is what the code says of it; run this file as a program to write it anew."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import haversack
from haversack.engine.correcting import Knowledge
from haversack.engine.draft import Conditions, Details
from haversack.engine.haversack import Haversack
from haversack.engine.keeping import StoreMaintenance
from haversack.engine.maintaining import NamespaceMaintenance
from haversack.engine.namespace import Namespace, Shape
from haversack.engine.session import Session
from haversack.engine.window import PromptShape

PAGE = Path(__file__).parents[2] / "docs/reference/python.md"
MARK = "<!-- verbs -->\n"

HANDLES = {
    "A store": Haversack,
    "A namespace: `sack.namespace(name)`": Namespace,
    "A session: `ns.session(id)`": Session,
    "What is known: `ns.knowledge`": Knowledge,
    "Tending a namespace: `ns.maintenance`": NamespaceMaintenance,
    "Tending a store: `sack.maintenance`": StoreMaintenance,
}


def verbs() -> str:
    return "".join("\n".join(section(title, kind)) + "\n" for title, kind in HANDLES.items())


def section(title: str, kind: type) -> Iterator[str]:
    """A verb to a row, with its arguments and the first line of what it says of itself."""
    yield from (f"\n## {title}\n", "| Verb | What it does |", "|---|---|")
    for name, member in vars(kind).items():
        verb = member.fget if isinstance(member, property) else member
        if name.startswith("_") or not callable(verb):
            continue
        arguments = "" if isinstance(member, property) else f"({', '.join(taken(verb))})"
        said = (inspect.getdoc(verb) or "").partition("\n")[0]
        yield f"| `{name}{arguments}` | {said.replace('|', chr(92) + '|')} |"


def taken(verb: object) -> Iterator[str]:
    for parameter in list(inspect.signature(verb).parameters.values())[1:]:  # pyright: ignore[reportArgumentType]
        stars = {parameter.VAR_KEYWORD: "**", parameter.VAR_POSITIONAL: "*"}.get(parameter.kind, "")
        yield stars + parameter.name


def test_the_page_says_what_the_code_says() -> None:
    before, _, written = PAGE.read_text("utf-8").partition(MARK)
    assert written == verbs(), f"write it anew: python {Path(__file__).name}"
    told = set(re.findall(r"`(\w+)", before))
    assert told >= set(haversack.__all__)
    assert told >= {*Details.__annotations__, *Conditions.__annotations__}
    assert told >= {*Shape.__annotations__, *PromptShape.__annotations__}


if __name__ == "__main__":
    PAGE.write_text(PAGE.read_text("utf-8").partition(MARK)[0] + MARK + verbs(), "utf-8")
