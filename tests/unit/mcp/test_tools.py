from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import haversack
from haversack.engine.namespace import Namespace
from haversack.engine.settings import Settings
from haversack.errors import ConflictError, InputError, NotFoundError
from haversack.mcp.arguments import read_arguments
from haversack.mcp.tools import TOOLS, Answer, ToolOptions, pack
from haversack.model.memory import Trust
from haversack.tokens import counter_for

_TOOLS = {tool.name: tool for tool in TOOLS}


def call(ns: Namespace, name: str, **arguments: Any) -> Answer:
    tool = _TOOLS[name]
    return tool.run(ns, read_arguments(tool.takes, arguments), ToolOptions())


def test_what_a_model_remembers_is_extracted_and_names_its_session(ns: Namespace) -> None:
    said = call(ns, "remember", content="a", kind="decision", tags=["t"], session="s", event_time="2026-03-02")
    memory = ns.get(said.memories[0])
    assert (memory.trust, memory.kind, memory.tags, memory.source.session) == ("extracted", "decision", ("t",), "s")
    assert memory.event_time.isoformat() == "2026-03-02T00:00:00+00:00"


def test_what_a_person_said_is_no_longer_theirs_when_a_model_rewords_it(ns: Namespace) -> None:
    memory = ns.remember("by hand", importance=0.9)
    call(ns, "remember", id=memory.id, content="by machine")
    changed = ns.get(memory.id)
    assert (changed.content, changed.trust, changed.importance) == ("by machine", Trust.EXTRACTED, 0.9)


def test_a_replaced_memory_leaves_recall(ns: Namespace) -> None:
    old = call(ns, "remember", content="the door code is old").memories[0]
    new = call(ns, "remember", content="the door code is new", supersedes=old).memories[0]
    assert call(ns, "recall", query="door code").memories == (new,)
    with pytest.raises((InputError, ConflictError, NotFoundError)):
        call(ns, "remember", content="x", supersedes=old, id=new)


def test_a_turn_is_appended_and_paged_through(ns: Namespace) -> None:
    for number in range(3):
        assert call(ns, "remember", content=f"turn {number}", session="s", role="user").facts == {"position": number}
    text = call(ns, "sessions", session="s", after=0, limit=1).text
    assert '<turn n="1" role="user"' in text
    assert "turn 2" not in text


def test_a_long_memory_is_cut_in_recall_and_says_so(ns: Namespace) -> None:
    ns.remember("lamp " * 1000)
    text = call(ns, "recall", query="lamp").text
    assert "… (3000 more characters)</memory>" in text
    assert len(text) < 2400


def test_forgetting_a_session_previews_every_memory_of_it(ns: Namespace) -> None:
    for number in range(25):
        ns.session("s").add("user", f"turn {number}")
    answer = call(ns, "forget", session="s", hard=True)
    assert answer.text.startswith("would forget for good: 25 memories, 0 derived from them, 25 session turns\n")
    assert "  and 5 more\n" in answer.text
    assert (answer.destroys, len(answer.facts["memories"])) == (False, 25)
    assert ns.stats().turns == 25
    assert call(ns, "forget", session="s", hard=True, execute=True).destroys
    assert ns.stats().turns == 0


def test_nothing_found_is_said_when_it_fits(ns: Namespace) -> None:
    assert call(ns, "context", query="q", budget=50).text == "Nothing remembered answers this within the budget.\n"
    assert call(ns, "context", query="q", budget=0).text == ""


def test_why_explains_the_context_that_the_same_budget_gives(ns: Namespace) -> None:
    memory = ns.remember("the lamp stands in the hall and it is green")
    budget = next(size for size in range(100) if call(ns, "context", query="lamp", budget=size).memories)
    assert " kept at " in call(ns, "why", query="lamp", id=memory.id, budget=budget).text
    outside = call(ns, "context", query="lamp", budget=budget - 1)
    assert outside.memories == ()
    assert " dropped at " in call(ns, "why", query="lamp", id=memory.id, budget=budget - 1).text


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    contents=st.lists(st.text(min_size=1, max_size=80).map(lambda text: f"lamp {text}"), max_size=8),
    budget=st.integers(0, 200),
    model=st.sampled_from(["gpt-4o", "cl100k_base", "some-unknown-model"]),
)
def test_a_context_with_its_lead_never_exceeds_the_budget(contents: list[str], budget: int, model: str) -> None:
    with haversack.open(":memory:") as sack:
        ns = sack.namespace("n")
        ns.remember_many(contents)
        packed = pack(ns, "lamp", ToolOptions(settings=Settings()), budget=budget, model=model)
    assert counter_for(model).count(packed.text) == packed.facts["tokens"] <= budget
