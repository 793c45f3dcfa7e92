from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from haversack.errors import NoSpaceError, NotFoundError, RefusedError
from haversack.lifecycle.policy import Policy
from haversack.maintenance import ageing
from haversack.maintenance.ageing import age
from haversack.maintenance.recover import recover, undo
from haversack.maintenance.run import Run, RunState, find_run, running, runs, steps
from haversack.model.memory import Kind, Memory, Source
from haversack.store.port import Batch

POLICY = Policy()


def test_a_week_without_use_fades_what_is_weak_and_a_use_brings_it_back(at: Any) -> None:
    at.memory(1, importance=0.5)  # below 0.2 after 91.6 hours
    at.memory(2, importance=1.0)  # after 160.9 hours
    at.clock.pass_by(hours=100)
    planned = age(at.desk, POLICY, execute=False)
    done = age(at.desk, POLICY, execute=True)
    assert (planned.preview, planned.transitions, planned.counts) == (True, done.transitions, {"decay": 1})
    assert at.stages() == {1: "decayed", 2: "active"}
    assert age(at.desk, POLICY, execute=True).transitions == ()
    row = replace(at.row(1), access_count=1, accessed_at=at.clock())
    at.store.apply("n", Batch(memories=(row,)))
    assert age(at.desk, POLICY, execute=True).counts == {"revive": 1}
    assert at.stages() == {1: "active", 2: "active"}


def test_what_was_softly_deleted_is_erased_when_retention_ends_with_its_own_words_only(at: Any) -> None:
    at.memory(1, importance=0.5, source=Source(turns=("t1",)))
    at.store.apply("n", Batch(memories=(replace(at.memory(2), kind=Kind.PASSAGE, source=Source(turns=("t2",))),)))
    at.memory(3, importance=0.5, source=Source(memories=(f"{1:026}",)), pinned=True)
    at.store.apply("n", Batch(memories=(replace(at.row(2), expires_at=at.clock()),)))
    assert age(at.desk, POLICY, execute=True).counts == {"delete": 1}
    at.clock.pass_by(days=30)
    planned = age(at.desk, POLICY, execute=False)
    assert (planned.counts, planned.turns) == ({"decay": 1, "erase": 1}, ("t2",))
    done = age(at.desk, POLICY, execute=True)
    assert (done.counts, done.turns) == (planned.counts, planned.turns)
    assert at.stages() == {1: "decayed", 3: "active"}
    assert at.store.census("n").tombstones == 1


def test_limits_evict_the_same_page_by_page(at: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ageing, "_PAGE", 2)
    for number in range(1, 6):
        at.memory(number, importance=number / 10)
    done = age(at.desk, Policy(max_memories=2), execute=True)
    assert [int(each.memory) for each in done.transitions] == [1, 2, 3]
    assert {each.reason for each in done.transitions} == {"over_limit"}
    assert at.stages() == {1: "deleted", 2: "deleted", 3: "deleted", 4: "active", 5: "active"}


def test_what_somebody_wrote_in_between_is_left_to_the_next_run(at: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    at.memory(1, importance=0.5)
    at.memory(2, importance=0.5)
    at.clock.pass_by(hours=100)
    pages = ageing.lives_of

    def interrupted(store: Any, namespace: str, policy: Policy) -> Any:
        for page in pages(store, namespace, policy):
            store.apply(namespace, Batch(memories=(replace(at.row(1), content="edited"),)))
            yield page

    monkeypatch.setattr(ageing, "lives_of", interrupted)
    assert [int(each.memory) for each in age(at.desk, POLICY, execute=True).transitions] == [2]
    assert (at.row(1).content, at.stages()) == ("edited", {1: "active", 2: "decayed"})


def test_a_run_is_journalled_and_undone_except_for_what_changed_since(at: Any) -> None:
    for number in (1, 2):
        at.memory(number, importance=0.5)
    at.clock.pass_by(hours=100)
    done = age(at.desk, POLICY, execute=True)
    assert done.run is not None
    run, _ = find_run(at.store, "n", done.run)
    assert (run.state, run.steps, run.counts) == (RunState.DONE, 1, {"age": 2})
    at.store.apply("n", Batch(memories=(replace(at.row(2), superseded_by="x"),)))
    undone = undo(at.desk, done.run)
    assert (undone.restored, undone.changed_since) == ((f"{1:026}",), (f"{2:026}",))
    assert at.stages() == {1: "active", 2: "decayed"}
    assert [run.state for run in runs(at.store, "n")] == [RunState.UNDONE, RunState.DONE]
    with pytest.raises(RefusedError, match="undone"):
        undo(at.desk, done.run)


def test_soft_deletion_is_undone_with_its_stage(at: Any) -> None:
    at.memory(1, expires_at=at.clock(), metadata={"mine": 1})
    done = age(at.desk, POLICY, execute=True)
    row = at.row(1)
    assert (row.deleted_at, row.stage_before, dict(row.metadata)) == (at.clock(), "active", {"mine": 1})
    assert done.run is not None
    undo(at.desk, done.run)
    assert (at.stages(), dict(at.row(1).metadata)) == ({1: "active"}, {"mine": 1})


class Killed(BaseException):
    pass


def interrupted_run(at: Any, memory: Memory, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run whose process died after one step: nothing closed it."""

    def die(*_: object) -> None:
        raise Killed

    monkeypatch.setattr("haversack.maintenance.run._close_failed", die)
    monkeypatch.setattr("haversack.maintenance.run.os.getpid", lambda: 2**22 + 1)
    with suppress(Killed), running(at.desk, "lifecycle") as journal:
        journal.step("age", before={memory.id: memory}, memories=(replace(memory, pinned=True, superseded_by="x"),))
        raise Killed
    monkeypatch.undo()
    return runs(at.store, "n")[-1]


def test_an_interrupted_run_is_recovered_from_its_journal(at: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    run = interrupted_run(at, at.memory(1), monkeypatch)
    assert run.state is RunState.RUNNING
    found = recover(at.desk, run.id)
    assert (found.run.state, found.steps, found.standing, found.changed_since) == (RunState.RECOVERED, 1, 1, ())
    assert "already" in recover(at.desk, run.id).advice
    with running(at.desk, "lifecycle"):
        pass
    assert undo(at.desk, run.id).restored == (f"{1:026}",)


def test_a_run_whose_process_is_gone_does_not_keep_others_out(at: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted_run(at, at.memory(1), monkeypatch)
    assert age(at.desk, POLICY, execute=True).transitions == ()


def test_one_run_at_a_time(at: Any) -> None:
    with running(at.desk, "lifecycle") as journal:
        with pytest.raises(RefusedError, match="quiescence"):
            age(at.desk, POLICY, execute=True)
        with pytest.raises(RefusedError, match="still works"):
            recover(at.desk, journal.run.id)
    assert age(at.desk, POLICY, execute=True).run is not None


def test_a_run_that_fails_says_so_and_frees_the_namespace(at: Any) -> None:
    with pytest.raises(ZeroDivisionError), running(at.desk, "lifecycle"):
        raise ZeroDivisionError
    assert [(run.state, run.notes["error"]) for run in runs(at.store, "n")] == [(RunState.FAILED, "ZeroDivisionError")]
    assert steps(at.store, "n", runs(at.store, "n")[0].id) == []
    assert age(at.desk, POLICY, execute=True).run is not None


def test_an_unknown_run(at: Any) -> None:
    with pytest.raises(NotFoundError, match="nobody"):
        recover(at.desk, "nobody")


def test_a_run_that_could_not_say_that_it_failed_keeps_nobody_out(at: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    apply = type(at.store).apply

    def full(*_: object) -> None:
        raise NoSpaceError("no space")

    with suppress(NoSpaceError), running(at.desk, "lifecycle") as journal:
        monkeypatch.setattr(type(at.store), "apply", full)
        journal.note(place="here")
    monkeypatch.setattr(type(at.store), "apply", apply)
    assert runs(at.store, "n")[0].state is RunState.RUNNING
    assert age(at.desk, POLICY, execute=True).run is not None
    assert recover(at.desk, journal.run.id).run.state is RunState.RECOVERED


def test_the_journal_of_a_run_is_kept_for_ninety_days(at: Any) -> None:
    at.memory(1, importance=0.5)
    at.clock.pass_by(hours=100)
    first = age(at.desk, POLICY, execute=True).run
    assert first is not None
    at.clock.pass_by(days=89)
    age(at.desk, POLICY, execute=True)
    assert len(steps(at.store, "n", first)) == 1
    at.clock.pass_by(days=1)
    age(at.desk, POLICY, execute=True)
    assert steps(at.store, "n", first) == []
    assert find_run(at.store, "n", first)[0].state is RunState.DONE
    with pytest.raises(RefusedError, match="no longer kept"):
        undo(at.desk, first)
