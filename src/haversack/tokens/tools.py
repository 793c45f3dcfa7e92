"""What tool definitions cost: each tool its own line, plus a preamble charged once.

OpenAI rewrites a schema as TypeScript (measured on recorded usage by hmarr/openai-chat-tokens: the rendering plus 9).
What that rendering is known to leave out (formats, limits, defaults) may be in the prompt of a newer model, so it is
rendered as comments, and every tool gets a small margin. Anthropic publishes the size of its tool preamble and shows
the model the schema; others show the JSON. Theirs is charged as JSON, with room for its wrapper.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from haversack.errors import InputError
from haversack.tokens.counter import Counter
from haversack.tokens.models import Family

__all__ = ["ToolCost", "ToolsCost", "count_tool", "count_tools"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCost:
    """One tool's line in the ledger."""

    name: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsCost:
    """A tool list's lines; the preamble is 0 when there is no tool."""

    tools: tuple[ToolCost, ...]
    preamble: int

    @property
    def total(self) -> int:
        """Every tool and the preamble."""
        return self.preamble + sum(tool.tokens for tool in self.tools)


_OPENING, _CLOSING = "namespace functions {\n\n", "} // namespace functions"
_PREAMBLE = {
    Family.OPENAI: 9,
    # The largest tool preamble that Anthropic published (docs, "Tool use pricing and tokens").
    Family.ANTHROPIC: 530,
    # Open models' chat templates explain tool calling in fewer tokens than this.
    Family.GOOGLE: 200,
    Family.OTHER: 200,
}
_OPENAI_MARGIN = 2
_JSON_MARGIN = 12


def count_tool(counter: Counter, tool: object, family: Family) -> ToolCost:
    """What one tool definition adds to a prompt; OpenAI's nested or flat form, Anthropic's, or any other JSON."""
    return count_tools(counter, (tool,), family).tools[0]


def count_tools(counter: Counter, tools: Sequence[object], family: Family) -> ToolsCost:
    """What each tool definition adds, and the preamble. Raises InputError for a tool that JSON cannot express."""
    if not tools:
        return ToolsCost(tools=(), preamble=0)
    margin = _OPENAI_MARGIN if family is Family.OPENAI else _JSON_MARGIN
    opening, closing, *counts = counter.count_many([_OPENING, _CLOSING, *(_rendering(tool, family) for tool in tools)])
    costs = tuple(ToolCost(name=_name(tool), tokens=n + margin) for tool, n in zip(tools, counts, strict=True))
    return ToolsCost(tools=costs, preamble=_PREAMBLE[family] + opening + closing)


def _rendering(tool: object, family: Family) -> str:
    as_json = _json(tool)  # also the check that JSON can express it
    declared = _declaration(tool)
    if family is not Family.OPENAI or declared is None:
        return as_json
    try:
        return _typescript(declared)
    except RecursionError:
        return as_json


@dataclass(frozen=True, slots=True)
class _Declaration:
    name: str
    description: str
    parameters: Mapping[str, object]
    rest: Mapping[str, object]
    """Whatever else stands beside these, such as examples."""


_DECLARED = frozenset({"type", "name", "description", "parameters", "input_schema", "strict"})


def _declaration(tool: object) -> _Declaration | None:
    outer = _mapping(tool)
    inner = _mapping(outer.get("function")) or outer
    name = inner.get("name")
    given = inner.get("parameters") or inner.get("input_schema")
    parameters = _mapping(given)
    if not isinstance(name, str) or (given and not parameters):
        return None
    rest = {key: value for key, value in inner.items() if key not in _DECLARED}
    return _Declaration(name, _text(inner.get("description")), parameters, rest)


def _name(tool: object) -> str:
    declared = _declaration(tool)
    if declared is not None:
        return declared.name
    return _text(_mapping(tool).get("type")) or "tool"


def _typescript(tool: _Declaration) -> str:
    fields, used = _fields(tool.parameters, 0), {"type", "properties", "required"}
    notes = [*_comment(tool.description), *_notes(tool.rest, set()), *_about(tool.parameters, used)]
    shape = ["(_: {", *fields, "}) => any;"] if fields else ["() => any;"]
    return "\n".join([*notes, f"type {tool.name} = {shape[0]}", *shape[1:], "", ""])


def _fields(schema: Mapping[str, object], indent: int) -> list[str]:
    """The lines of an object's fields; of an object whose fields have no proper shape, its JSON as a comment."""
    fields, required = schema.get("properties"), schema.get("required")
    lines: list[str] = []
    if not isinstance(fields, Mapping):
        return lines if fields is None else [f"// properties: {_json(fields)}"]
    always = set(map(str, cast("list[object]", required))) if isinstance(required, list) else set[str]()
    for name, value in cast("Mapping[object, object]", fields).items():
        notes, shape = _type(value, indent)
        lines += [*notes, f"{name}{'' if name in always else '?'}: {shape},"]
    return [" " * indent + line for line in lines]


def _type(schema: object, indent: int) -> tuple[list[str], str]:
    """A schema as comment lines (its description, and all that the type cannot say) and a type."""
    field = _mapping(schema)
    if not field:
        return [], "any" if schema == {} else _json(schema)
    shape, used = _shape(field, indent)
    return [*_about(field, used)], shape


def _shape(field: Mapping[str, object], indent: int) -> tuple[str, set[str]]:
    """The type of a schema that is not empty, and the keys that it says."""
    for key in ("enum", "anyOf", "oneOf"):
        options = field.get(key)
        if isinstance(options, list):
            each = cast("list[object]", options)
            shapes = map(_json, each) if key == "enum" else (_nested(option, indent + 2) for option in each)
            return " | ".join(shapes), {key, "type"}
    kind = field.get("type")
    if kind == "object" and "properties" in field:
        return "\n".join(["{", *_fields(field, indent + 2), "}"]), {"type", "properties", "required"}
    if kind == "array" and "items" in field:
        return f"{_nested(field['items'], indent)}[]", {"type", "items"}
    if isinstance(kind, str):
        return {"integer": "number", "array": "any[]"}.get(kind, kind), {"type"}
    return "any", set()


def _nested(schema: object, indent: int) -> str:
    notes, shape = _type(schema, indent)
    return "\n".join([*notes, shape])


def _about(schema: Mapping[str, object], used: set[str]) -> Iterator[str]:
    yield from _comment(_text(schema.get("description")))
    yield from _notes(schema, used | {"description"})


def _notes(values: Mapping[str, object], used: set[str]) -> Iterator[str]:
    return (f"// {key}: {_json(value)}" for key, value in values.items() if key not in used)


def _comment(text: str) -> Iterator[str]:
    return (f"// {line}" for line in text.splitlines())


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else _json(value)


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=_plain)
    except (ValueError, TypeError, RecursionError) as error:
        msg = f"a tool definition must be JSON of reasonable depth: {error}"
        raise InputError(msg) from None


def _plain(value: object) -> object:
    return dict(cast("Mapping[object, object]", value)) if isinstance(value, Mapping) else str(value)
