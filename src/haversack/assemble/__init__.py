"""Assembling contexts and prompts: sections, layouts, renditions, formats, history. Pure: nothing is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from haversack.lazy import offered

if TYPE_CHECKING:
    from haversack.assemble.anchor import Anchor, Note
    from haversack.assemble.attention import Assembled, ContextAssembler
    from haversack.assemble.build import build_prompt
    from haversack.assemble.candidate import Candidate
    from haversack.assemble.cascade import STAGES, StageReport
    from haversack.assemble.compose import assemble
    from haversack.assemble.context import Context, SectionReport
    from haversack.assemble.frame import LINE_FORM, Format, format_named, line
    from haversack.assemble.history import Past, TurnReason, TurnVerdict
    from haversack.assemble.layout import LAYOUTS, Layout, Prefer, Section, Sharing, layout_named
    from haversack.assemble.pricing import ModelPricer, Pricer
    from haversack.assemble.priming import Primed, prime
    from haversack.assemble.prompt import SHAPES, Prompt, SessionVerdict
    from haversack.assemble.relevance import QueryRelevance
    from haversack.assemble.render import memory_message
    from haversack.assemble.settings import PrimingConfig, SupportingContextConfig, ToolBudget
    from haversack.assemble.toolbox import ToolReport, ToolVerdict, choose_tools
    from haversack.assemble.trimming import Trimmed, trim
    from haversack.assemble.verdict import Outcome, Reason, Rendition, Verdict, Verdicts
    from haversack.budget import Budget, Ledger, Line, Measure, Window

__all__ = [
    "LAYOUTS",
    "LINE_FORM",
    "SHAPES",
    "STAGES",
    "Anchor",
    "Assembled",
    "Budget",
    "Candidate",
    "Context",
    "ContextAssembler",
    "Format",
    "Layout",
    "Ledger",
    "Line",
    "Measure",
    "ModelPricer",
    "Note",
    "Outcome",
    "Past",
    "Prefer",
    "Pricer",
    "Primed",
    "PrimingConfig",
    "Prompt",
    "QueryRelevance",
    "Reason",
    "Rendition",
    "Section",
    "SectionReport",
    "SessionVerdict",
    "Sharing",
    "StageReport",
    "SupportingContextConfig",
    "ToolBudget",
    "ToolReport",
    "ToolVerdict",
    "Trimmed",
    "TurnReason",
    "TurnVerdict",
    "Verdict",
    "Verdicts",
    "Window",
    "assemble",
    "build_prompt",
    "choose_tools",
    "format_named",
    "layout_named",
    "line",
    "memory_message",
    "prime",
    "trim",
]

__getattr__, __dir__ = offered(
    __name__,
    {
        "haversack.assemble.anchor": "Anchor, Note",
        "haversack.assemble.attention": "Assembled, ContextAssembler",
        "haversack.assemble.build": "build_prompt",
        "haversack.assemble.candidate": "Candidate",
        "haversack.assemble.cascade": "STAGES, StageReport",
        "haversack.assemble.compose": "assemble",
        "haversack.assemble.context": "Context, SectionReport",
        "haversack.assemble.frame": "LINE_FORM, Format, format_named, line",
        "haversack.assemble.history": "Past, TurnReason, TurnVerdict",
        "haversack.assemble.layout": "LAYOUTS, Layout, Prefer, Section, Sharing, layout_named",
        "haversack.assemble.pricing": "ModelPricer, Pricer",
        "haversack.assemble.priming": "Primed, prime",
        "haversack.assemble.prompt": "SHAPES, Prompt, SessionVerdict",
        "haversack.assemble.relevance": "QueryRelevance",
        "haversack.assemble.render": "memory_message",
        "haversack.assemble.settings": "PrimingConfig, SupportingContextConfig, ToolBudget",
        "haversack.assemble.toolbox": "ToolReport, ToolVerdict, choose_tools",
        "haversack.assemble.trimming": "Trimmed, trim",
        "haversack.assemble.verdict": "Outcome, Reason, Rendition, Verdict, Verdicts",
        "haversack.budget": "Budget, Ledger, Line, Measure, Window",
    },
)
