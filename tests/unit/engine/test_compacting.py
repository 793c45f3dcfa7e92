"""Compaction through the public verbs: the time that a prompt may wait, exact prices, insights, erased turns."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from haversack.compaction import CompactionConfig
from haversack.compaction.compactor import Compactor
from haversack.compaction.coordinator import Coordinator
from haversack.engine.aging import desk_of, promote_from
from haversack.engine.compacting import coordinator_of
from haversack.engine.haversack import Haversack
from haversack.engine.settings import MemorySettings
from haversack.maintenance.run import running
from haversack.model.memory import Source
from haversack.model.message import Message
from haversack.store.port import Batch
from haversack.testing.scripted import ScriptedChat

from .test_extracting import open_with

LONG = "The committee spoke of the harbour and of nothing else for a while. " * 6


def long_talk(sack: Haversack, turns: int = 20) -> None:
    talk = sack.namespace("n").session("s")
    talk.extend([{"role": ("user", "assistant")[n % 2], "content": f"Turn {n}. {LONG}"} for n in range(turns)])
    talk.add("user", "And now?")


def test_a_prompt_waits_for_a_run_no_longer_than_its_time_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wait is handed the budget as its limit, and a run that goes on is left behind."""
    entered, go = threading.Event(), threading.Event()

    def stall(_: Sequence[Message]) -> str:
        entered.set()
        assert go.wait(10)
        return "short."

    waits: list[float | None] = []
    wait = Coordinator.before_prompt

    def noted(self: Coordinator, session: str, seconds: float | None = None) -> object:
        waits.append(self.monitor(session).get_time_budget_ms() / 1000 if seconds is None else seconds)
        return wait(self, session, 0)  # as if that time were over

    monkeypatch.setattr(Coordinator, "before_prompt", noted)
    config = CompactionConfig(llm_service="slow", max_duration_ms=20_000, critical_max_duration_ms=30_000)
    with open_with(MemorySettings(compaction=config), ScriptedChat(lines=[stall])) as sack:
        long_talk(sack)
        talk = sack.namespace("n").session("s")
        talk.prompt(window=1500, output=100)
        assert entered.wait(10)
        built = talk.prompt(window=1500, output=100)  # the run still stalls: this returns all the same
        assert waits == [20.0, 30.0]
        assert built.tokens <= 1400
        assert len(talk.turns()) == 21
        monkeypatch.undo()
        go.set()
        assert talk.wait(10)


def test_manual_runs_are_sized_by_the_last_prompt_the_settings_or_the_model() -> None:
    asked: list[int] = []

    def spied(self: Compactor, request: object, cancel: object = None) -> object:
        asked.append(request.available)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        return run(self, request, cancel)  # pyright: ignore[reportArgumentType]

    run = Compactor.run
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Compactor, "run", spied)
        with open_with(MemorySettings()) as sack:
            long_talk(sack)
            talk = sack.namespace("n").session("s")
            talk.compact()
            talk.prompt(window=3000, output=500)
            talk.compact()
        with open_with(MemorySettings(context_window=9000, output_buffer=1000)) as sack:
            sack.namespace("n").session("s").compact()
    assert asked == [128_000 - 2_500, 2500, 8000]


def test_the_result_counts_as_the_prompt_does() -> None:
    with open_with(MemorySettings()) as sack:
        long_talk(sack)
        talk = sack.namespace("n").session("s")
        before = talk.preview("zzz", window=100_000, kinds="state").tokens
        result = talk.compact()
        after = talk.preview("zzz", window=100_000, kinds="state").tokens
        assert result.tokens_saved == before - after > 0


def test_near_duplicate_insights_are_hidden_after_a_run() -> None:
    with open_with(MemorySettings()) as sack:
        ns = sack.namespace("n")
        ns.maintenance.set_policy({"dedup": {"enabled": False}})
        kept = ns.remember("Deployments on the harbour cluster are slow", kind="insight", event_time="2026-01-01")
        same = ns.remember("The deployments on the harbour cluster are very slow", kind="insight")
        fact = ns.remember("The deployments on the harbour cluster are really slow", kind="fact")
        ns.maintenance.set_policy({})
        long_talk(sack)
        assert ns.session("s").compact().insights_deduplicated == 1
        assert [ns.get(one.id).superseded_by for one in (kept, same, fact)] == [None, kept.id, None]
        assert ns.unfold(same.id).superseded_by is None


def test_what_the_session_told_and_has_proven_itself_is_promoted_after_a_run() -> None:
    with open_with(MemorySettings()) as sack:
        ns = sack.namespace("n")
        long_talk(sack)
        old = sack._core.clock() - timedelta(hours=100)
        proven = ns.remember("The harbour is deep", kind="fact", source=Source(session="s"))
        fresh = ns.remember("The quay is long", kind="fact", source=Source(session="s"))
        other = ns.remember("The crane is tall", kind="fact", source=Source(session="t"))
        rows = [replace(one, created_at=old, access_count=5) for one in (ns.get(proven.id), ns.get(other.id))]
        sack._core.store.apply("n", Batch(memories=tuple(rows)))
        assert ns.session("s").compact().memories_promoted == 1
        assert [ns.get(one.id).stage for one in (proven, fresh, other)] == ["long_term", "active", "active"]
        (run,) = ns.maintenance.runs()
        assert (run.verb, run.counts) == ("promote", {"promote": 1})
        assert ns.maintenance.undo(run.id).restored == (proven.id,)
        assert ns.get(proven.id).stage == "active"


def test_uses_that_were_only_noted_so_far_count_for_promotion() -> None:
    with open_with(MemorySettings()) as sack:
        ns = sack.namespace("n")
        long_talk(sack)
        made = ns.remember("The harbour is deep", kind="fact", source=Source(session="s"))
        row = replace(ns.get(made.id), created_at=sack._core.clock() - timedelta(hours=100))
        sack._core.store.apply("n", Batch(memories=(row,)))
        for _ in range(5):
            assert made.id in [hit.id for hit in ns.recall("how deep is the harbour?")]
        assert ns.get(made.id).access_count == 0
        assert ns.session("s").compact().memories_promoted == 1
        assert ns.get(made.id).stage == "long_term"


def test_promotion_leaves_a_namespace_that_is_maintained_to_maintenance() -> None:
    with open_with(MemorySettings()) as sack:
        ns = sack.namespace("n")
        made = ns.remember("The harbour is deep", kind="fact", source=Source(session="s"))
        row = replace(ns.get(made.id), created_at=sack._core.clock() - timedelta(hours=100), access_count=5)
        sack._core.store.apply("n", Batch(memories=(row,)))
        with running(desk_of(sack._core, "n"), "lifecycle"):
            assert promote_from(sack._core, "n", "s") == 0
        assert ns.get(made.id).stage == "active"
        assert promote_from(sack._core, "n", "s") == 1
        assert promote_from(sack._core, "n", "s") == 0


def test_expanding_a_fold_whose_turns_were_partly_erased_shows_the_rest_of_it_alone() -> None:
    with open_with(MemorySettings()) as sack:
        long_talk(sack)
        ns = sack.namespace("n")
        talk = ns.session("s")
        name = talk.compact().summary
        assert name is not None
        behind = talk.expand(name)
        passage = next(one for one in ns.everything(kinds="passage") if one.source.turns == (behind[1].id,))
        ns.forget(passage.id, hard=True)
        left = [turn for turn in behind if turn.id != behind[1].id]
        try:
            assert talk.expand(name) == left
        except LookupError:
            assert talk.turns()[: len(left)] == left  # the summary went with the words that it was made of


@pytest.fixture
def calls() -> Callable[[Haversack], list[str]]:
    return lambda sack: [call.purpose.value for call in sack.namespace("n").costs()]


def test_summaries_are_booked(calls: Callable[[Haversack], list[str]]) -> None:
    config = CompactionConfig(llm_service="writer")
    with open_with(
        MemorySettings(compaction=config), ScriptedChat(lines=["The committee spoke of the harbour."])
    ) as sack:
        long_talk(sack)
        assert sack.namespace("n").session("s").compact().outcome == "done"
        assert set(calls(sack)) == {"compaction"}
        assert coordinator_of(sack._core, "n").is_running("s") is False
