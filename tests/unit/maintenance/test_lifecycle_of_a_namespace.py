"""Lifecycle and sharing as callers see them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from haversack.engine.core import Core
from haversack.engine.haversack import Haversack
from haversack.errors import ConfigError, ConflictError, InputError, NotFoundError
from haversack.lifecycle import DecayConfig
from haversack.lifecycle.policy import Eviction, Policy
from haversack.lifecycle.proposals import Standing
from haversack.maintenance import sharing
from haversack.model.memory import Kind, Stage
from haversack.store.port import Batch


@pytest.fixture
def sack(engine: Core) -> Iterator[Haversack]:
    with Haversack(engine) as opened:
        yield opened


def test_a_policy_is_kept_with_the_namespace(sack: Haversack) -> None:
    ns = sack.namespace("n")
    assert ns.maintenance.policy() == Policy()
    asked = {
        "decay": {"decay_rate": 0.02, "half_life_hours": {"fact": 48}},
        "ttl_days": {"state": 1},
        "protected": ["passage"],
        "max_memories": 10,
        "eviction": ["oldest"],
    }
    wanted = Policy(
        decay=DecayConfig(decay_rate=0.02, half_life_hours={Kind.FACT: 48}),
        ttl_days={Kind.STATE: 1},
        protected=frozenset({Kind.PASSAGE}),
        max_memories=10,
        eviction=(Eviction.OLDEST,),
    )
    assert ns.maintenance.set_policy(asked) == wanted
    assert ns.maintenance.policy() == wanted
    assert sack.namespace("other").maintenance.policy() == Policy()


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"decay": {"decay_rat": 1}}, "policy.decay.decay_rat: did you mean 'decay_rate'"),
        ({"retention_day": 1}, "policy.retention_day: did you mean 'retention_days'"),
        ({"retention_days": "soon"}, "retention_days"),
        ({"retention_days": -1}, "retention_days"),
    ],
)
def test_a_wrong_policy_is_refused(sack: Haversack, settings: dict[str, object], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        sack.namespace("n").maintenance.set_policy(settings)


def test_an_executing_run_counts_uses_before_it_looks(sack: Haversack, clock: list[timedelta]) -> None:
    ns = sack.namespace("n")
    kept = ns.remember("Alice prefers metric units", importance=0.5)
    lost = ns.remember("the printer is on the third floor", importance=0.5)
    clock[0] = timedelta(hours=100)
    ns.recall("metric units")
    assert ns.maintenance.lifecycle().counts == {"decay": 2}
    assert ns.maintenance.lifecycle(flush=True).flushed == 1
    assert ns.maintenance.lifecycle(execute=True).counts == {"decay": 1}
    assert (ns.get(kept.id).stage, ns.get(lost.id).stage) == (Stage.ACTIVE, Stage.DECAYED)


def test_a_passage_that_ends_leaves_prompts_with_its_turn_and_comes_back_by_undo(
    sack: Haversack, clock: list[timedelta], engine: Core
) -> None:
    ns = sack.namespace("n")
    ns.maintenance.set_policy({"ttl_days": {"passage": 1}})
    turn = ns.session("s").add("user", "it rained today")
    clock[0] = timedelta(days=1)
    done = ns.maintenance.lifecycle(execute=True)
    assert done.counts == {"delete": 1}
    assert [record.key for record in engine.store.records("n", "hidden")] == [turn.id]
    assert done.run is not None
    ns.maintenance.undo(done.run)
    assert engine.store.records("n", "hidden") == []
    assert [hit.content for hit in ns.recall("rained")] == ["it rained today"]


def test_sharing_takes_a_proposal_and_somebody_who_accepts(sack: Haversack, clock: list[timedelta]) -> None:
    alice, team = sack.namespace("alice"), sack.namespace("team")
    said = alice.remember("The release is on Friday", importance=0.9)
    asked = alice.maintenance.propose(said.id, shared="team", author="Alice")
    assert asked.standing is Standing.OPEN
    assert team.stats().memories == {}
    clock[0] = timedelta(hours=1)
    decided, copy = team.maintenance.decide(asked.asked.proposal, accept=True, by="Bob")
    assert (decided.standing, decided.decided_by) == (Standing.ACCEPTED, "Bob")
    assert copy is not None
    assert (copy.content, copy.metadata["shared.author"], copy.metadata["shared.accepted_by"]) == (
        "The release is on Friday",
        "Alice",
        "Bob",
    )
    assert team.maintenance.decide(asked.asked.proposal, accept=True, by="Bob")[1] == copy
    assert team.stats().memories == {"fact": 1}
    with pytest.raises(ConflictError, match="already accepted"):
        team.maintenance.decide(asked.asked.proposal, accept=False, by="Carol")
    assert [one.standing for one in alice.maintenance.proposals()] == [Standing.ACCEPTED]


def _die(*_: object) -> None: ...


def test_a_decision_that_was_interrupted_before_the_copy_is_carried_out_later(sack: Haversack, engine: Core) -> None:
    alice, team = sack.namespace("alice"), sack.namespace("team")
    asked = alice.maintenance.propose(alice.remember("x").id, shared="team", author="Alice")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sharing, "carry_out", _die)
        team.maintenance.decide(asked.asked.proposal, accept=True, by="Bob")
    assert team.stats().memories == {}
    assert team.maintenance.decide(asked.asked.proposal, accept=True, by="Bob")[1] is not None
    assert team.stats().memories == {"fact": 1}


def test_proposals_stay_between_the_two_namespaces(sack: Haversack) -> None:
    alice = sack.namespace("alice")
    with pytest.raises(NotFoundError):
        alice.maintenance.propose("0" * 26, shared="team", author="Alice")
    with pytest.raises(InputError, match="already"):
        alice.maintenance.propose(alice.remember("x").id, shared="alice", author="Alice")
    asked = alice.maintenance.propose(alice.remember("y").id, shared="team", author="Alice")
    assert sack.namespace("eve").maintenance.proposals() == []
    with pytest.raises(NotFoundError):
        sack.namespace("eve").maintenance.decide(asked.asked.proposal, accept=True, by="Eve")


def test_a_copy_that_was_erased_stays_away(sack: Haversack) -> None:
    alice, team = sack.namespace("alice"), sack.namespace("team")
    asked = alice.maintenance.propose(alice.remember("x").id, shared="team", author="Alice")
    _, copy = team.maintenance.decide(asked.asked.proposal, accept=True, by="Bob")
    assert copy is not None
    team.forget(copy.id, hard=True)
    assert team.maintenance.decide(asked.asked.proposal, accept=True, by="Bob")[1] is None


def test_retention_of_a_soft_forget_counts_from_the_forgetting(sack: Haversack, clock: list[timedelta]) -> None:
    ns = sack.namespace("n")
    old = ns.remember("x", pinned=True)
    clock[0] = timedelta(days=100)
    ns.forget(old.id)
    clock[0] += timedelta(days=29)
    assert ns.maintenance.lifecycle().counts == {}
    ns.restore(old.id)
    assert ns.get(old.id).metadata == {}
    ns.forget(old.id)
    clock[0] += timedelta(days=30)
    assert ns.maintenance.lifecycle(execute=True).counts == {"erase": 1}


def test_what_has_faded_is_still_found_behind_its_equals_and_comes_back_when_used(
    sack: Haversack, engine: Core, clock: list[timedelta]
) -> None:
    ns = sack.namespace("n")
    faded = ns.remember("the printer upstairs is broken", importance=0.5)
    ns.remember("the printer downstairs is broken", importance=0.5)
    engine.store.apply("n", Batch(memories=(replace(faded, stage=Stage.DECAYED),)))
    assert [hit.content.split()[2] for hit in ns.recall("printer broken")] == ["downstairs", "upstairs"]
    clock[0] = timedelta(hours=25)
    assert ns.maintenance.lifecycle(execute=True).counts == {"revive": 1}


def test_a_prompt_uses_the_memories_in_it(sack: Haversack) -> None:
    ns = sack.namespace("n")
    kept = ns.remember("Alice prefers metric units", kind="fact")
    ns.session("s").prompt("Which units does Alice prefer?", window=4000)
    assert ns.maintenance.flush() == 1
    assert ns.get(kept.id).access_count == 1
