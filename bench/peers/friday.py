"""The first seed's published package: its prompt architect, asked for the supporting context of the same items."""

from __future__ import annotations

import logging

from friday_memory.context.layout import PromptArchitect, SupportingContextConfig
from friday_memory.models import ContextPayload

from bench.seeds.material import QUESTION, Item, Material

__all__ = ["friday"]

_FACTS = ("fact", "profile", "entity", "relation", "decision", "correction")
_OUTPUT = 1

logging.getLogger("friday_memory").setLevel(logging.ERROR)  # it counts the question too, which is not asked for here


def friday(material: Material, budget: int) -> str:
    """Its supporting context in Markdown, with the whole window as its budget and its default limits."""
    architect = PromptArchitect(
        max_tokens=budget + _OUTPUT,
        output_buffer=_OUTPUT,
        supporting_context_config=SupportingContextConfig(budget_ratio=1.0),
    )
    payload = ContextPayload(
        recent_memories=[item.text for item in _important([i for kind in _FACTS for i in material.of(kind)])],
        insights=[_record(item) for item in _newest(material.of("insight"))],
        summaries=[_record(item) for item in _newest(material.of("summary"))],
        tool_usage_hints=[item.text for item in material.of("procedure")],
    )
    messages = architect.format_prompt("", QUESTION, payload, context_format="markdown")
    context, rule, _ = messages[-1]["content"].rpartition("\n\n---\n\n")
    return context if rule else ""


def _record(item: Item) -> dict[str, object]:
    return {"text": item.text, "metadata": {"created_at": item.at.isoformat()}}


def _newest(items: list[Item]) -> list[Item]:
    return sorted(items, key=lambda item: item.at, reverse=True)


def _important(items: list[Item]) -> list[Item]:
    return sorted(items, key=lambda item: -item.importance)
