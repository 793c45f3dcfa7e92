import pytest

from haversack.assemble import ModelPricer, ToolBudget, ToolReport, choose_tools
from haversack.assemble.toolbox import tool_name
from haversack.errors import BudgetError, ConfigError, InputError


def tool(name: str, about: str) -> object:
    return {"type": "function", "function": {"name": name, "description": about, "parameters": {"type": "object"}}}


TOOLS = [
    tool("weather", "Forecast of rain and sun"),
    tool("trains", "Timetable of trains"),
    tool("mail", "Send a letter"),
]


def choose(pricer: ModelPricer, rules: ToolBudget, query: str = "will it rain?", **rest: object) -> ToolReport:
    settings: dict[str, object] = {"room": 4000} | rest
    return choose_tools(TOOLS, pricer.tools(TOOLS), rules, query=query, **settings)  # pyright: ignore[reportArgumentType]


def reasons(report: ToolReport) -> dict[str, str]:
    return {row.name: str(row.reason) for row in report.rows}


def test_relevant_ones_are_sent_and_the_others_named(pricer: ModelPricer) -> None:
    report = choose(pricer, ToolBudget())
    assert reasons(report) == {"weather": "relevant", "trains": "irrelevant", "mail": "irrelevant"}
    assert report.budget == 1000
    assert report.tokens == report.preamble + report.rows[0].tokens
    assert str(report).splitlines()[0].startswith("tools: ")
    assert "left out" in str(report)


def test_words_that_say_nothing_make_no_tool_relevant(pricer: ModelPricer) -> None:
    tools = [tool("weather", "Forecast of rain"), tool("trains", "What is the timetable for the trains of a day")]
    report = choose_tools(tools, pricer.tools(tools), ToolBudget(), query="What is the chance for rain?", room=4000)
    assert reasons(report) == {"weather": "relevant", "trains": "irrelevant"}


def test_always_on_tools_are_pinned(pricer: ModelPricer) -> None:
    rules = ToolBudget(always=frozenset({"mail"}), most=1)
    assert reasons(choose(pricer, rules)) == {"weather": "too_many", "trains": "irrelevant", "mail": "always"}
    with pytest.raises(BudgetError, match="always-on tools need"):
        choose(pricer, rules, room=10)
    with pytest.raises(InputError, match="did you mean 'trains'"):
        choose(pricer, ToolBudget(always=frozenset({"train"})))


def test_scores_decide_where_they_are_given(pricer: ModelPricer) -> None:
    scores = {"trains": 0.9, "mail": 0.5}
    assert reasons(choose(pricer, ToolBudget(), scores=scores)) == {
        "weather": "irrelevant",
        "trains": "relevant",
        "mail": "relevant",
    }


def test_a_query_that_says_nothing_leaves_the_choice_to_the_room(pricer: ModelPricer) -> None:
    two = pricer.tools(TOOLS).preamble + sum(cost.tokens for cost in pricer.tools(TOOLS).tools[:2])
    report = choose(pricer, ToolBudget(), query="", room=two * 4)
    assert list(reasons(report).values()) == ["relevant", "relevant", "no_room"]


@pytest.mark.parametrize("wrong", [{"share": 25}, {"share": 0}, {"relevance": 2}, {"most": -1}])
def test_settings_are_checked(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match=r"tools\."):
        ToolBudget(**wrong)  # pyright: ignore[reportArgumentType]


def test_names_in_every_shape() -> None:
    assert tool_name(TOOLS[0]) == "weather"
    assert tool_name({"name": "flat"}) == "flat"
    assert tool_name({"type": "web_search"}) == ""
    assert tool_name(3) == ""
    assert issubclass(ConfigError, InputError)
