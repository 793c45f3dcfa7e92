"""From the keywords of `prompt` to a checked window."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypedDict

from haversack.assemble import Format, Layout, ModelPricer, ToolBudget
from haversack.budget import Budget, check_tokens
from haversack.engine.core import Core
from haversack.engine.draft import read_choice, read_filter, read_unit, refuse_unknown
from haversack.engine.prompting import Window
from haversack.errors import InputError
from haversack.model.memory import Kind
from haversack.model.text import clean
from haversack.model.times import Moment
from haversack.tokens.models import resolve

__all__ = ["PromptShape", "read_window"]


class PromptShape(TypedDict, total=False):
    """The keywords of `prompt`."""

    system: str | None
    tools: Sequence[Mapping[str, Any]] | None
    """Tool schemas in any provider's shape; they stand in the same ledger."""
    tool_budget: ToolBudget | bool | None
    """Which of them are worth sending; the setting `memory.tools` by default. True: choose even where it is not set."""
    model: str | None
    window: int | None
    """Tokens of the model's context; the setting, or what is published for the model, by default."""
    output: int | None
    """Tokens kept free for the answer."""
    layout: str | Layout | None
    """The setting's by default; `cached` keeps the prefix stable between calls."""
    format: str | None
    budget: int | Budget | None
    """What memories may take; by default the layout's share of the window."""
    kinds: Iterable[Kind | str] | Kind | str | None
    """Only memories of these kinds."""
    min_relevance: float | None
    """The least relevance (0 to 1) of memories; the setting by default."""
    now: Moment | None


def read_window(core: Core, query: str | None, wanted: PromptShape) -> Window:
    """The window with every part settled; raises InputError that names what is wrong."""
    refuse_unknown(wanted, PromptShape.__annotations__, "keyword")
    settings, memory = core.settings, core.memory
    model = settings.model if (named := wanted.get("model")) is None else named
    known = resolve(model)
    limits = [size for size in (memory.context_window, known.window) if size is not None]
    window = min(limits, default=None) if (asked := wanted.get("window")) is None else asked
    if window is None:
        raise InputError(f"the context window of {model!r} is not known: give window=, or set memory.context_window")
    output, now, budget = wanted.get("output"), wanted.get("now"), wanted.get("budget")
    return Window(
        query=query,
        system="" if (system := wanted.get("system")) is None else clean(system, "system"),
        tools=_tools(wanted.get("tools")),
        tool_budget=_tool_budget(wanted.get("tool_budget", memory.tools), memory.tools),
        pricer=ModelPricer(counter=core.counter(model), family=known.family, model=model),
        window=check_tokens(window, "window"),
        output=check_tokens(min(memory.output_buffer, window // 2) if output is None else output, "output"),
        layout=_layout(core, wanted.get("layout"), budget).sharing_as(budget),
        format=read_choice(Format, settings.format if (form := wanted.get("format")) is None else form, "format"),
        budget=budget if budget is None or isinstance(budget, Budget) else check_tokens(budget),
        chosen=read_filter({"kinds": wanted.get("kinds")}, core.settings.zone),
        min_relevance=None if (least := wanted.get("min_relevance")) is None else read_unit(least, "min_relevance"),
        now=core.moment(now),
    )


def _tool_budget(asked: ToolBudget | bool | None, setting: ToolBudget | None) -> ToolBudget | None:  # noqa: FBT001 - the keyword's value
    if isinstance(asked, bool):
        return (setting or ToolBudget()) if asked else None
    if not isinstance(asked, ToolBudget | None):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"tool_budget must be a ToolBudget, True or False, not {type(asked).__name__}")
    return asked


def _tools(tools: Sequence[Mapping[str, Any]] | None) -> tuple[Mapping[str, Any], ...]:
    if tools is None:
        return ()
    if not isinstance(tools, Iterable) or not all(isinstance(tool, Mapping) for tool in tools):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError("tools must be a list of schemas, each a mapping as a chat API takes it")
    return tuple(tools)


def _layout(core: Core, asked: str | Layout | None, budget: object) -> Layout:
    chosen = core.memory.prompt_layout if asked is None else asked
    if chosen is not None:
        return core.settings.layout_named(chosen)
    supporting = core.memory.supporting_context
    if supporting.has_sections or (isinstance(budget, Budget) and budget.shares):
        return supporting.layout()
    return replace(core.settings.layout_named("flat"), ratio=supporting.budget_ratio)
