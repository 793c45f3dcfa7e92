from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest

from haversack.errors import ServiceTimeout
from haversack.llm.extractive import ExtractiveService, condense
from haversack.llm.port import ServiceCancelled
from haversack.model.message import Message, Role, Text


def words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


LINES = [
    "nice weather again today my friend",
    "We decided to use Postgres 16",
    "hm hm hm",
    "Alice pays 40 euros",
    "We decided to use Postgres 16 indeed",
]


def test_facts_beat_small_talk_and_order_is_kept() -> None:
    assert condense(LINES, 10, words) == [LINES[1], LINES[3]]


def test_what_is_carried_already_earns_less() -> None:
    chosen = condense(["Alice met Bob at 10", "Alice met Bob at 10 today", "Carol left at 11"], 8, words)
    assert chosen == ["Alice met Bob at 10"] or "Carol left at 11" in chosen


def test_nothing_fits_in_nothing() -> None:
    assert condense(LINES, 0, words) == []
    assert condense([], 10, words) == []


def test_a_join_that_costs_more_than_its_parts_is_still_bounded() -> None:
    def per_line(texts: Sequence[str]) -> list[int]:
        return [len(text.split()) + 5 * text.strip().count("\n") for text in texts]

    chosen = condense(["Alice 1", "Bob 2", "Carol 3"], 9, per_line)
    assert per_line(["\n".join(chosen)])[0] <= 9


def test_similarity_counts() -> None:
    def similar(texts: Sequence[str]) -> list[float]:
        return [1.0 if "hm" in text else 0.0 for text in texts]

    assert LINES[2] in condense(LINES, 3, words, similar)


def test_as_a_service_it_condenses_the_last_user_message() -> None:
    service = ExtractiveService(count_many=words)
    messages = [
        Message(role=Role.SYSTEM, parts=(Text("Shorten."),)),
        Message(role=Role.USER, parts=(Text("\n".join(LINES)),)),
    ]
    assert service.complete(messages, max_tokens=10).text == f"{LINES[1]}\n{LINES[3]}"
    *pieces, last = service.stream(messages)
    assert pieces == [last.text] if not isinstance(last, str) else False
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(ServiceCancelled):
        service.complete(messages, cancel=cancel)
    with pytest.raises(ServiceTimeout):
        service.complete(messages, timeout=0)
