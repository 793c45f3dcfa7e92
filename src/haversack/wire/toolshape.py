"""Tool schemas from one provider's shape into another's; what is not recognised passes as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

__all__ = ["shape_tool"]


def shape_tool(tool: object, shape: str) -> object:
    """The schema in the shape of `openai`, `anthropic` or `responses`."""
    if not isinstance(tool, Mapping):
        return tool
    given = cast("Mapping[str, object]", tool)
    inner = given.get("function")
    fields = cast("Mapping[str, object]", inner) if isinstance(inner, Mapping) else given
    name = fields.get("name")
    schema = fields.get("parameters", fields.get("input_schema"))
    if not isinstance(name, str) or not isinstance(schema, Mapping):
        return given
    parameters = cast("Mapping[str, object]", schema)
    words = {"description": fields["description"]} if fields.get("description") else {}
    strict = {"strict": fields["strict"]} if "strict" in fields else {}
    if shape == "anthropic":
        return {"name": name, **words, "input_schema": parameters}
    flat = {"name": name, **words, "parameters": parameters, **strict}
    if shape == "openai":
        return {"type": "function", "function": flat}
    return {"type": "function", **flat}
