"""Extraction through the public verbs: asked for, behind the conversation, before a compaction, across openings."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence

import pytest

from haversack.compaction import CompactionConfig
from haversack.compaction.extraction.settings import ExtractionConfig
from haversack.engine.core import Core
from haversack.engine.haversack import Haversack
from haversack.engine.settings import MemorySettings, Settings
from haversack.errors import ConfigError, ServiceError
from haversack.llm.port import ChatService
from haversack.model.message import Message
from haversack.recall import Recall
from haversack.store.memory import MemoryStore
from haversack.testing.scripted import ScriptedChat
from haversack.tokens import counter_for

from .conftest import Counting, Ticking

NOTHING = '{"actions": []}'


def open_with(
    memory: MemorySettings, service: ChatService | None = None, store: MemoryStore | None = None
) -> Haversack:
    port = MemoryStore() if store is None else store

    def named(name: str) -> ChatService:
        if service is None:
            raise ConfigError(f"no chat service is called {name!r}")
        return service

    return Haversack(
        Core(
            store=port,
            recall=Recall(port),
            embedder=None,
            settings=Settings(),
            memory=memory,
            service=named,
            clock=Ticking(),
            entropy=Counting(),
            counter=counter_for,
        )
    )


def action(**fields: object) -> dict[str, object]:
    return {"event": "ADD", "kind": "fact", **fields}


def answer(*actions: Mapping[str, object]) -> str:
    return json.dumps({"actions": actions})


def test_what_is_stated_is_remembered_once_and_newer_words_end_older_ones() -> None:
    with open_with(MemorySettings()) as sack:
        ns = sack.namespace("n")
        talk = ns.session("s")
        first = talk.add("user", "I live in Rome.", at="2026-01-01")
        talk.add("assistant", "I live in a data centre.")
        assert talk.unread() == 2
        done = talk.extract()
        assert (done.turns, len(done.added), done.errors, talk.unread()) == (2, 1, (), 0)
        (rome,) = ns.everything(kinds="profile")
        assert (rome.content, rome.source.turns) == ("user: I live in Rome.", (first.id,))
        talk.add("user", "I moved to Oslo.", at="2026-02-01")
        assert talk.extract().ended == (rome.id,)
        assert [memory.content for memory in ns.everything(kinds="profile")] == ["user: I moved to Oslo."]
        assert [memory.content for memory in ns.everything(kinds="profile", as_of="2026-01-15")] == [rome.content]
        assert talk.extract().turns == 0


def test_of_all_sessions_those_with_unread_turns_are_read() -> None:
    with open_with(MemorySettings()) as sack:
        ns = sack.namespace("n")
        ns.session("a").add("user", "My name is Alice.")
        ns.session("b").add("user", "My birthday is March 3.")
        ns.session("a").extract()
        assert {name: done.turns for name, done in ns.extract().items()} == {"b": 1}


def test_every_few_turns_are_read_in_the_background_by_the_configured_service() -> None:
    ended = threading.Event()
    seen: list[str] = []

    def hear(asked: Sequence[Message]) -> str:
        seen.append(asked[-1].text)
        ended.set()
        return answer(action(text="Alice keeps bees", evidence="I keep bees", subject="alice/hobby"))

    service = ScriptedChat(lines=[hear], model="tiny")
    settings = MemorySettings(extraction=ExtractionConfig(llm_service="reader", every=2))
    with open_with(settings, service) as sack:
        ns = sack.namespace("n")
        talk = ns.session("s")
        talk.add("user", "I keep bees.")
        assert (service.seen, talk.wait()) == ([], True)
        talk.add("assistant", "How nice!")
        assert ended.wait(10)
        assert talk.wait()
        assert ns.wait()
        assert [memory.content for memory in ns.everything(kinds="fact")] == ["Alice keeps bees"]
        assert [turn["text"] for turn in json.loads(seen[0])["turns"]] == ["I keep bees.", "How nice!"]
        (call,) = ns.costs()
        assert (call.purpose, call.model, call.session, call.estimated) == ("extraction", "tiny", "s", True)


def test_imports_start_nothing_and_off_is_off() -> None:
    service = ScriptedChat(lines=[NOTHING])
    for config in (None, ExtractionConfig(enabled=False, llm_service="reader", every=1)):
        with open_with(MemorySettings(extraction=config), service) as sack:
            talk = sack.namespace("n").session("s")
            talk.add("user", "I keep bees.")
            assert talk.wait()
    assert service.seen == []


def test_a_failing_service_leaves_the_turns_unread_and_a_later_opening_reads_them() -> None:
    store = MemoryStore()
    settings = MemorySettings(extraction=ExtractionConfig(llm_service="reader"))
    broken = open_with(settings, ScriptedChat(lines=[ServiceError("down")]), store)
    talk = broken.namespace("n").session("s")
    talk.add("user", "I keep bees.")
    assert talk.extract().errors == ("down",)
    mended = open_with(settings, ScriptedChat(lines=[answer(action(text="bees", evidence="I keep bees"))]), store)
    again = mended.namespace("n").session("s")
    assert again.unread() == 1
    assert len(again.extract().added) == 1


def test_the_model_is_shown_the_statements_that_the_turns_may_mean_and_only_they_can_be_changed() -> None:
    def change(asked: Sequence[Message]) -> str:
        (known,) = json.loads(asked[-1].text)["existing"]
        assert known["text"] == "Alice keeps bees"
        wrong = {"event": "DELETE", "id": "77"}
        return answer(
            wrong, {**action(text="Alice keeps hens"), "event": "UPDATE", "id": known["id"], "evidence": "hens"}
        )

    with open_with(
        MemorySettings(extraction=ExtractionConfig(llm_service="reader")), ScriptedChat(lines=[change])
    ) as sack:
        ns = sack.namespace("n")
        bees = ns.remember("Alice keeps bees", trust="extracted", event_time="2026-01-01")
        ns.remember("The tide is high at noon")
        ns.session("s").add("user", "Alice keeps hens, no bees")
        done = ns.session("s").extract()
        assert (done.ended, [each.reason for each in done.skipped]) == ((bees.id,), ["unknown id"])


def test_what_was_erased_for_good_is_not_read_again_and_policy_says_what_may_be_kept() -> None:
    with open_with(MemorySettings()) as sack:
        ns = sack.namespace("n")
        talk = ns.session("s")
        talk.add("user", "I live in Rome.")
        talk.extract()
        (rome,) = ns.everything(kinds="profile")
        ns.forget(rome.id, hard=True)
        talk.add("user", "I live in Rome.")
        assert [each.reason for each in talk.extract().skipped] == ["forgotten for good"]
        ns.maintenance.set_policy({"keep": ["decision"]})
        talk.add("user", "I am from Bern. We decided to use Postgres.")
        assert [each.reason for each in talk.extract().skipped] == ["policy keeps no profile"]
        assert [memory.kind for memory in ns.everything() if memory.kind != "passage"] == ["decision"]


def test_a_compaction_reads_what_is_pending_first() -> None:
    settings = MemorySettings(
        extraction=ExtractionConfig(every=100), compaction=CompactionConfig(min_turns_to_summarize=1)
    )
    with open_with(settings) as sack:
        ns = sack.namespace("n")
        talk = ns.session("s")
        talk.extend(
            [{"role": "user", "content": f"I live in town {n}. " + "And so on and on. " * 20} for n in range(9)]
        )
        assert talk.unread() == 9
        assert talk.compact().outcome == "done"
        assert talk.unread() == 0
        (town,) = ns.everything(kinds="profile")
        assert town.content.startswith("user: I live in town 8")


def test_an_exported_session_is_not_read_again_elsewhere() -> None:
    with open_with(MemorySettings()) as sack:
        talk = sack.namespace("n").session("s")
        talk.add("user", "I live in Rome.")
        talk.extract()
        assert any(b'"extracted"' in line for line in sack.namespace("n").take_out())


@pytest.mark.parametrize("wrong", [{"every": 0}, {"max_seconds": 0}])
def test_settings_out_of_range_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match="out of range"):
        ExtractionConfig(**wrong)  # pyright: ignore[reportArgumentType]
