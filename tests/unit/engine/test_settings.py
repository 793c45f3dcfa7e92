"""Every option has an effect: one short test for each, and a test that no option is without one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from haversack.assemble import PrimingConfig, Prompt, QueryRelevance, SupportingContextConfig, ToolBudget
from haversack.compaction import CompactionConfig
from haversack.compaction.summarize import Summarizer
from haversack.engine.haversack import Haversack
from haversack.engine.namespace import Namespace
from haversack.engine.session import Session
from haversack.engine.settings import LayoutSettings, MemorySettings, SectionSettings, Settings
from haversack.model.memory import Kind
from haversack.store.memory import MemoryStore
from haversack.tokens import counter_for

TESTS = Path(__file__).parents[2]
TOOLS = [{"name": name, "description": f"{name} for the boat " + "word " * 30} for name in ("paint", "rig", "tide")]

Engine = Callable[..., Haversack]
Seen = Callable[[Engine, Any], object]


def opened(engine: Engine, memory: MemorySettings | None = None, **settings: object) -> Namespace:
    sack = engine(MemoryStore(), **settings)
    return (Haversack(replace(sack._core, memory=memory)) if memory else sack).namespace("a")


def filled(ns: Namespace) -> Namespace:
    kinds = (Kind.FACT, Kind.ENTITY, Kind.INSIGHT, Kind.SUMMARY, Kind.DECISION)
    ns.remember_many([{"content": f"{kind} {n} about the boat", "kind": kind} for kind in kinds for n in range(30)])
    for name in ("one", "two"):
        for n in range(8):
            ns.session(name).add("user", f"{name} asks {n}: where is the boat?")
            ns.session(name).add("assistant", f"{name} says {n}: the boat is in Veere.")
    return ns


def packed(value: str, **asked: Any) -> Seen:
    """What a context shows with the option `value` of the engine's settings set."""

    def seen(engine: Engine, setting: Any) -> object:
        context = filled(opened(engine, **{value: setting})).context("the boat", **asked)
        return (context.layout, str(context.format), context.budget, len(context.verdicts), context.text)

    return seen


def primed(option: str, **others: Any) -> Seen:
    def seen(engine: Engine, setting: Any) -> object:
        priming = PrimingConfig(**{**others, option: setting})
        session = filled(opened(engine, MemorySettings(priming=priming))).session("new")
        return (session.prime(window=8000).tokens, unrelated(session))

    return seen


def unrelated(session: Session) -> list[Any]:
    """What a prompt holds whose question nothing answers."""
    return session.prompt("qwertz", layout="attention", window=8000).messages()


def prompt_of(engine: Engine, memory: MemorySettings, **asked: Any) -> Prompt:
    return filled(opened(engine, memory)).session("one").prompt("where is the boat?", **asked)


def with_prompt(settings: Callable[[Any], MemorySettings], **asked: Any) -> Seen:
    def seen(engine: Engine, setting: Any) -> object:
        built = prompt_of(engine, settings(setting), **asked)
        return (built.ledger.budget, built.ledger.reserved, built.messages(), len(built.tools))

    return seen


def supporting(option: str) -> Seen:
    return with_prompt(
        lambda value: MemorySettings(supporting_context=SupportingContextConfig(**{option: value})), window=3000
    )


def tools(option: str) -> Seen:
    def chosen(value: Any) -> MemorySettings:
        options: dict[str, Any] = {"relevance": 0.0, option: value}
        return MemorySettings(tools=ToolBudget(**options))

    return with_prompt(chosen, window=3000, tools=TOOLS)


def compacted(option: str, **others: Any) -> Seen:
    def seen(engine: Engine, setting: Any) -> object:
        memory = MemorySettings(compaction=CompactionConfig(**{**others, option: setting}), context_window=9000)
        ns = filled(opened(engine, memory))
        ns.maintenance.set_policy({"dedup": {"enabled": False}})
        for words in (
            "Deployments on the harbour cluster are slow",
            "The deployments on the harbour cluster are just slow",
        ):
            ns.remember(words, kind="insight")
        ns.maintenance.set_policy({})
        result = ns.session("one").compact(to_free=150)
        return (result.turns_summarized, result.results_cleared, result.insights_deduplicated)

    return seen


def summarizer(option: str) -> Seen:
    def seen(_: Engine, setting: Any) -> object:
        return Summarizer.of(CompactionConfig(**{option: setting}), counter_for("cl100k_base"))

    return seen


def chunked(engine: Engine, setting: Any) -> object:
    ns = opened(engine, chunk_tokens=setting)
    ns.session("s").add("user", "The boat is in Veere. " * 40)
    return ns.stats().memories


def recalled(engine: Engine, setting: Any) -> object:
    return len(filled(opened(engine, top_k=setting)).recall("the boat"))


def zoned(engine: Engine, setting: Any) -> object:
    ns = opened(engine, time_zone=setting)
    ns.remember("the boat went out", event_time="2026-02-27T23:30Z")
    (hit,) = ns.recall("yesterday the boat", now="2026-03-01T12:00Z")
    return hit.parts["date"]


OWN = {"own": LayoutSettings(sections={"facts": SectionSettings(kinds=frozenset({Kind.FACT}), title="Mine")})}

EFFECTS: dict[str, tuple[Any, Any, Seen]] = {
    "engine.model": ("gpt-4o", "an-unknown-model", packed("model", budget=300)),
    "engine.budget": (100, 300, packed("budget")),
    "engine.layout": ("flat", "sections", packed("layout", budget=300)),
    "engine.layouts": ({}, OWN, lambda engine, own: opened(engine, layouts=own)._core.settings.layouts.keys()),
    "engine.section_weights": ({}, {"entities": 0}, packed("section_weights", layout="sections", budget=300)),
    "engine.format": ("markdown", "xml", packed("format", budget=300)),
    "engine.top_k": (3, 5, recalled),
    "engine.chunk_tokens": (40, 100, chunked),
    "engine.time_zone": ("UTC", "Europe/Berlin", zoned),
    "engine.widest": (3, 50, packed("widest", budget=5000)),
    "memory.context_window": (2000, 3000, with_prompt(
        lambda size: MemorySettings(context_window=size, output_buffer=9)
    )),
    "memory.output_buffer": (100, 900, with_prompt(lambda size: MemorySettings(output_buffer=size), window=3000)),
    "memory.max_history_turns": (2, 9, with_prompt(lambda most: MemorySettings(max_history_turns=most), window=3000)),
    "memory.prompt_layout": (None, "sections", with_prompt(
        lambda name: MemorySettings(prompt_layout=name), window=3000
    )),
    "memory.min_relevance": (0.0, 1.0, with_prompt(
        lambda least: MemorySettings(min_relevance=least), window=3000
    )),
    "memory.min_evidence_per_1000": (0.0, 0.9, with_prompt(
        lambda least: MemorySettings(min_evidence_per_1000=least), window=3000
    )),
    "memory.query_relevance_filter": (
        QueryRelevance(), QueryRelevance(enabled=True, keep_recent={}), lambda engine, rules: unrelated(
            filled(opened(engine, MemorySettings(query_relevance_filter=rules))).session("new")
        ),
    ),
    "supporting_context.budget_ratio": (0.1, 0.3, supporting("budget_ratio")),
    "supporting_context.section_priority": (["known_facts"], ["summaries"], supporting("section_priority")),
    "supporting_context.max_items": ({"known_facts": 2}, {"known_facts": 4}, supporting("max_items")),
    "priming.enabled": (True, False, primed("enabled")),
    "priming.token_budget": (50, 200, primed("token_budget")),
    "priming.top_entities": (2, 3, primed("top_entities")),
    "priming.max_insights": (2, 3, primed("max_insights")),
    "priming.max_summaries": (2, 3, primed("max_summaries")),
    "priming.max_known_facts": (2, 3, primed("max_known_facts")),
    "priming.previous_sessions": (1, 2, primed("previous_sessions")),
    "priming.previous_session_turns": (1, 2, primed("previous_session_turns", previous_sessions=1)),
    "tools.share": (0.02, 0.9, tools("share")),
    "tools.most": (1, 3, tools("most")),
    "tools.relevance": (0.0, 1.0, with_prompt(
        lambda value: MemorySettings(tools=ToolBudget(relevance=value)), window=3000,
        tools=[*TOOLS, {"name": "clock", "description": "where the sun is"}],
    )),
    "tools.always": (frozenset[str](), frozenset({"rig", "tide"}), with_prompt(
        lambda names: MemorySettings(tools=ToolBudget(always=names, most=1)), window=3000, tools=TOOLS
    )),
    "compaction.min_turns_to_summarize": (5, 500, compacted("min_turns_to_summarize")),
    "compaction.compaction_recency_window": (4, 11, compacted("compaction_recency_window")),
    "compaction.insight_dedup_enabled": (True, False, compacted(
        "insight_dedup_enabled", insight_similarity_threshold=0.6
    )),
    "compaction.insight_similarity_threshold": (0.6, 1.0, compacted("insight_similarity_threshold")),
    "compaction.max_insights_to_check": (1, 50, compacted("max_insights_to_check", insight_similarity_threshold=0.6)),
    "compaction.max_attempts": (1, 3, summarizer("max_attempts")),
    "compaction.extractive_fallback": (True, False, summarizer("extractive_fallback")),
}  # fmt: skip
"""Two values for each option, and what is seen with them."""

ELSEWHERE = {
    "engine.reembed": "unit/engine/test_renewing.py",
    "engine.threads": "doors/server/test_event_loop.py",
    "memory.supporting_context": "unit/engine/test_settings.py",
    "memory.priming": "unit/engine/test_settings.py",
    "memory.tools": "unit/engine/test_settings.py",
    "memory.compaction": "unit/engine/test_settings.py",
    "memory.extraction": "unit/engine/test_extracting.py",
    "memory.costs": "unit/engine/test_costing.py",
    "compaction.enabled": "unit/engine/test_prompting.py",
    "compaction.llm_service": "unit/engine/test_compacting.py",
    "compaction.compaction_threshold": "unit/compaction/test_monitor.py",
    "compaction.critical_threshold": "unit/compaction/test_monitor.py",
    "compaction.target_utilization": "unit/compaction/test_monitor.py",
    "compaction.cooldown_turns": "unit/compaction/test_monitor.py",
    "compaction.max_duration_ms": "unit/engine/test_compacting.py",
    "compaction.critical_max_duration_ms": "unit/engine/test_compacting.py",
    "compaction.max_turns_per_summary": "cases/test_compaction_cases.py",
    "compaction.trend_window": "unit/compaction/test_monitor.py",
    "compaction.critical_bypasses_cooldown": "unit/compaction/test_monitor.py",
    "compaction.overage_bypasses_cooldown": "unit/compaction/test_monitor.py",
    "compaction.max_summary_share": "cases/test_compaction_cases.py",
    "compaction.clear_tool_results": "unit/compaction/test_compactor.py",
    "compaction.min_tool_result_tokens": "property/test_compaction.py",
}
"""Options whose effect is tested where their part is."""


@pytest.mark.parametrize("option", EFFECTS)
def test_each_option_changes_what_is_seen(option: str, engine: Engine) -> None:
    one, other, seen = EFFECTS[option]
    assert seen(engine, one) == seen(engine, one)
    assert seen(engine, one) != seen(engine, other)


def test_no_option_is_without_an_effect() -> None:
    parts = {
        "engine": Settings,
        "memory": MemorySettings,
        "supporting_context": SupportingContextConfig,
        "priming": PrimingConfig,
        "tools": ToolBudget,
        "compaction": CompactionConfig,
    }
    options = {f"{part}.{option.name}" for part, kind in parts.items() for option in fields(kind)}
    assert options == EFFECTS.keys() | ELSEWHERE.keys()
    for option, file in ELSEWHERE.items():
        assert f"{option.partition('.')[2]}=" in (TESTS / file).read_text("utf-8"), option
