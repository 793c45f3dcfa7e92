"""Tokens of the tool list and the instructions, which every model call of a connected client pays for."""

from __future__ import annotations

import json
from collections.abc import Iterator

from bench.options import Options
from bench.table import Table
from haversack.mcp.server import INSTRUCTIONS, offered_tools
from haversack.tokens import counter_for

_ENCODINGS = ("o200k_base", "cl100k_base")


def run(_: Options) -> Iterator[Table]:
    """One row for each tool, as JSON without white space."""
    counters = [counter_for(name) for name in _ENCODINGS]
    listed = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in offered_tools()]
    texts = {str(tool["name"]): json.dumps(tool, separators=(",", ":")) for tool in listed}
    texts |= {"all tools": json.dumps(listed, separators=(",", ":")), "instructions": INSTRUCTIONS}
    rows = tuple((name, *(counter.count(text) for counter in counters)) for name, text in texts.items())
    yield Table(
        name="mcp",
        title="MCP: tokens of the tool list and the instructions",
        columns=("part", *_ENCODINGS),
        rows=rows,
        notes=("The bound that a test holds: 1,200 tokens of o200k_base for all tools.",),
    )
