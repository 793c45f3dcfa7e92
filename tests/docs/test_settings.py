"""The reference of settings is what the code says of them; run this file as a program to write it anew."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, cast, get_args, get_type_hints

import pytest
import yaml

from haversack.config import Config, load_config

PAGE = Path(__file__).parents[2] / "docs/reference/settings.md"
MARK = "<!-- table -->\n"


def rows(kind: Any, path: str = "") -> Iterator[str]:
    """One row for each setting; `NAME` stands for a name of one's own."""
    hints, said = get_type_hints(kind), meanings(kind)
    for each in fields(kind):
        hint, full = hints[each.name], f"{path}.{each.name}".lstrip(".")
        inside = next((part for part in (hint, *get_args(hint)) if is_dataclass(part)), None)
        if inside is not None:
            yield from rows(inside, f"{full}.NAME" if "Mapping" in str(hint) else full)
        else:
            yield f"| `{full}` | {default(each)} | {said.get(each.name, '')} |"


def meanings(kind: Any) -> dict[str, str]:
    """What stands under each field in the code, on one line."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    body = cast("ast.ClassDef", definition).body
    found: dict[str, str] = {}
    for node, after in pairwise(body):
        match node, after:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str() as words)):
                found[name] = " ".join(words.split())
            case _:
                pass
    return found


def default(each: Field[Any]) -> str:
    value = each.default_factory() if each.default_factory is not MISSING else each.default
    if value is MISSING:
        return "needed"
    match value:
        case str():
            shown = f"`{value}`" if 0 < len(value) < 40 else value and "a text"
        case Mapping():
            pairs = cast("Mapping[object, object]", value).items()
            shown = ", ".join(f"{name} {number}" for name, number in pairs)
        case tuple() | frozenset():
            shown = ", ".join(map(str, cast("tuple[object, ...]", value)))
        case None | bool():
            shown = str(value).lower()
        case _:
            shown = f"{value:,}"
    return shown or "empty"


def table() -> str:
    return "\n".join(["| Setting | Default | Meaning |", "|---|---|---|", *rows(Config)]) + "\n"


def test_the_page_says_what_the_code_says() -> None:
    before, _, written = PAGE.read_text("utf-8").partition(MARK)
    assert before
    assert written == table(), f"write it anew: python {Path(__file__).name}"


def test_the_example_loads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = PAGE.read_text("utf-8")
    _, _, block = page.partition("```yaml\n")
    example = block.partition("```")[0]
    path = tmp_path / "haversack.yaml"
    path.write_text(example)
    read = load_config(path, {"HAVERSACK_ENGINE__BUDGET": "1500"})
    assert read.engine.budget == 1500
    assert read.memory.compaction is not None
    assert load_config(yaml.safe_load(example), {}) == load_config(path, {})


if __name__ == "__main__":
    PAGE.write_text(PAGE.read_text("utf-8").partition(MARK)[0] + MARK + table(), "utf-8")
