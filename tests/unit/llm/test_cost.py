from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from haversack.llm.calibrate import Calibration
from haversack.llm.cost import Call, CapReached, Caps, MeteredService, ModelPrice, Purpose, check_caps, total_by
from haversack.llm.port import Reply, Usage
from haversack.model.message import Message, Role, Text
from haversack.testing.scripted import ScriptedChat

NOW = datetime(2026, 1, 2, tzinfo=UTC)
ASKED = [Message(role=Role.USER, parts=(Text("one two three"),))]


def call(hours_ago: float = 0, purpose: Purpose = Purpose.COMPACTION, dollars: float | None = 0.5) -> Call:
    return Call(
        at=NOW - timedelta(hours=hours_ago),
        purpose=purpose,
        model="m",
        namespace="n",
        session="s",
        input_tokens=100,
        output_tokens=10,
        dollars=dollars,
    )


def test_a_price_is_per_million_with_cached_input_apart() -> None:
    usage = Usage(input_tokens=1_000_000, output_tokens=100_000, cached_tokens=400_000)
    assert ModelPrice(input=2, output=10, cached=0.5).of(usage) == pytest.approx(1.2 + 0.2 + 1.0)
    assert ModelPrice(input=2, output=10).of(usage) == pytest.approx(3.0)


def test_totals_by_any_key() -> None:
    totals = total_by([call(), call(), call(purpose=Purpose.EXTRACTION, dollars=None)], lambda line: line.purpose)
    assert totals == {"compaction": (2, 200, 20, 1.0), "extraction": (1, 100, 10, 0.0)}


@pytest.mark.parametrize(
    ("caps", "message"),
    [
        (Caps(calls=2), "2 of 2 calls in 24 hours"),
        (Caps(tokens=220), "220 of 220 tokens"),
        (Caps(dollars=1), "1 of 1 dollars"),
    ],
)
def test_a_cap_stops_the_work(caps: Caps, message: str) -> None:
    with pytest.raises(CapReached, match=message):
        check_caps([call(), call(1)], caps, NOW)
    check_caps([call(), call(25), call(purpose=Purpose.CHAT)], caps, NOW)


def test_no_cap_stops_nothing() -> None:
    check_caps([call()] * 1000, Caps(), NOW)


def test_lines_survive_their_record() -> None:
    assert msgspec.json.decode(call().encode(), type=Call) == call()


def metered(inner: ScriptedChat, booked: list[Call], caps: Caps = Caps()) -> MeteredService:  # noqa: B008 - frozen
    return MeteredService(
        inner=inner,
        purpose=Purpose.EXTRACTION,
        namespace="n",
        session=None,
        book=booked.append,
        allow=lambda: check_caps(booked, caps, NOW),
        clock=lambda: NOW,
        count=lambda text: len(text.split()),
        prices={"scripted": ModelPrice(input=1, output=1)},
    )


def test_every_call_is_booked_with_the_usage_reported_or_counted() -> None:
    booked: list[Call] = []
    assert metered(ScriptedChat(lines=["a b"]), booked).complete(ASKED).text == "a b"
    assert (booked[0].input_tokens, booked[0].output_tokens, booked[0].estimated) == (3, 2, True)
    told = ScriptedChat(lines=["a b"], usage=Usage(input_tokens=30, output_tokens=20))
    pieces = list(metered(told, booked).stream(ASKED))
    assert pieces[:-1] == ["a", " b"]
    assert isinstance(pieces[-1], Reply)
    assert (booked[1].input_tokens, booked[1].estimated, booked[1].dollars) == (30, False, pytest.approx(5e-5))


def test_a_capped_service_makes_no_call() -> None:
    booked: list[Call] = []
    inner = ScriptedChat(lines=["a"])
    service = metered(inner, booked, Caps(calls=1))
    service.complete(ASKED)
    with pytest.raises(CapReached):
        service.complete(ASKED)
    with pytest.raises(CapReached):
        list(service.stream(ASKED))
    assert len(inner.seen) == 1
    assert service.model == "scripted"


def test_calibration_learns_the_ratio() -> None:
    seen = Calibration()
    assert (seen.factor, seen.bound(100, margin=0)) == (1.0, 100)
    for reported in (110, 130, 120, 120, 120):
        assert not seen.is_trusted
        seen = seen.observe(100, reported)
    assert seen.is_trusted
    assert seen.factor == pytest.approx(1.2)
    assert seen.bound(1000, margin=0) == 1300
    assert seen.observe(0, 5) == seen.observe(5, 0) == seen
    assert msgspec.json.decode(seen.encode(), type=Calibration) == seen
