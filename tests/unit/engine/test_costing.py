"""The cost ledger through the public verbs, and caps that stop the work but not the chat."""

from __future__ import annotations

from datetime import timedelta

import pytest

from haversack.compaction.extraction.settings import ExtractionConfig
from haversack.engine.settings import MemorySettings
from haversack.errors import ConfigError
from haversack.llm.cost import Caps, ModelPrice
from haversack.llm.port import Usage
from haversack.llm.settings import CostSettings
from haversack.store.memory import MemoryStore
from haversack.testing.scripted import ScriptedChat

from .conftest import START
from .test_extracting import NOTHING, open_with


def settings(caps: Caps) -> MemorySettings:
    return MemorySettings(
        extraction=ExtractionConfig(llm_service="reader", every=100),
        costs=CostSettings(prices={"tiny": ModelPrice(input=2, output=10)}, caps=caps),
    )


def tiny() -> ScriptedChat:
    return ScriptedChat(lines=[NOTHING], model="tiny", usage=Usage(input_tokens=1000, output_tokens=50))


def test_each_call_is_booked_with_its_price_and_kept() -> None:
    store = MemoryStore()
    sack = open_with(settings(Caps()), tiny(), store)
    ns = sack.namespace("n")
    for session in ("a", "b"):
        ns.session(session).add("user", "hello")
        ns.session(session).extract()
    first, second = open_with(settings(Caps()), tiny(), store).namespace("n").costs()
    assert [(call.session, call.input_tokens, call.output_tokens, call.estimated) for call in (first, second)] == [
        ("a", 1000, 50, False),
        ("b", 1000, 50, False),
    ]
    assert first.dollars == pytest.approx(0.0025)
    assert ns.costs(since=second.at) == [second]
    assert ns.costs(until=second.at) == [first]
    assert sack.namespace("other").costs() == []


def test_a_cap_stops_the_work_until_its_period_is_over_and_the_chat_goes_on() -> None:
    service = tiny()
    sack = open_with(settings(Caps(tokens=1050, period_hours=1)), service)
    ns = sack.namespace("n")
    talk = ns.session("s")
    talk.add("user", "hello")
    assert talk.extract().errors == ()
    talk.add("user", "and now?")
    (why,) = talk.extract().errors
    assert "1050 of 1050 tokens" in why
    assert (talk.unread(), len(service.seen)) == (1, 1)
    assert talk.prompt(window=1000, output=100).tokens > 0
    other = sack.namespace("other").session("s")
    other.add("user", "hello")
    assert other.extract().errors == ()
    sack._core.clock.now = START + timedelta(hours=2)  # pyright: ignore[reportFunctionMemberAccess]
    assert talk.extract().errors == ()


def test_caps_out_of_range_are_refused() -> None:
    with pytest.raises(ConfigError, match="calls=-1"):
        Caps(calls=-1)
    with pytest.raises(ConfigError, match="period_hours=0"):
        Caps(period_hours=0)
