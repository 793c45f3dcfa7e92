"""Keys: shown once, stored as hashes, scoped, expiring, rotated with grace."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from haversack.engine.haversack import Haversack
from haversack.engine.keys import Scope, matches
from haversack.errors import ConflictError, InputError, NotFoundError
from haversack.store.memory import MemoryStore
from haversack.store.port import SYSTEM

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
"""Where the fixture clock begins; each look at it is a second later."""


def test_a_secret_opens_and_is_not_stored(sack: Haversack, store: MemoryStore):
    issued = sack.keys.create("agent", scope="write", namespaces=["alice", "team-*"])
    assert sack.keys.check(issued.secret) == issued.key
    stored = b"".join(record.value for record in store.records(SYSTEM, "key"))
    assert issued.secret.rpartition("_")[2].encode() not in stored


@pytest.mark.parametrize("wrong", ["", "hvs", "hvs__", "hvs_x_y", "Bearer", "\ud800", "hvs_AAAAAAAAAAAA_"])
def test_wrong_secrets_open_nothing(sack: Haversack, wrong: str):
    sack.keys.create("agent")
    assert sack.keys.check(wrong) is None


def test_the_right_id_with_another_secret_opens_nothing(sack: Haversack):
    one, two = sack.keys.create("one"), sack.keys.create("two")
    mixed = f"hvs_{one.key.id}_{two.secret.rpartition('_')[2]}"
    assert sack.keys.check(mixed) is None


def test_namespaces_and_scopes(sack: Haversack):
    key = sack.keys.create("agent", scope=Scope.WRITE, namespaces=["alice", "team-*"]).key
    reached = [name for name in ("alice", "Alice", "alice2", "team-", "team-a", "tea") if key.reaches(name)]
    assert reached == ["alice", "team-", "team-a"]
    assert [key.scope.covers(scope) for scope in Scope] == [True, True, False]
    assert matches("*", "anything")


def test_nobody_hands_out_more_than_they_have(sack: Haversack):
    key = sack.keys.create("lead", scope="admin", namespaces=["team-*"]).key
    assert key.contains(Scope.ADMIN, ["team-a*", "team-b"])
    assert not key.contains(Scope.READ, ["t*"])
    assert not key.contains(Scope.READ, None)
    assert not sack.keys.create("reader").key.contains(Scope.WRITE, ["a"])


def test_expired_and_revoked_keys_open_nothing(sack: Haversack):
    brief = sack.keys.create("brief", expires_at=START + timedelta(seconds=3))
    assert sack.keys.check(brief.secret) is not None
    assert sack.keys.check(brief.secret) is None
    other = sack.keys.create("other")
    sack.keys.revoke(other.key.id)
    assert sack.keys.check(other.secret) is None
    assert not sack.keys.exist()
    with pytest.raises(ConflictError):
        sack.keys.rotate(other.key.id)


def test_rotation_leaves_the_old_key_its_grace(sack: Haversack):
    old = sack.keys.create("agent", scope="write", namespaces=["alice"])
    new = sack.keys.rotate(old.key.id, grace=timedelta(hours=1))
    assert (new.key.scope, new.key.namespaces, new.key.name) == (Scope.WRITE, ("alice",), "agent")
    assert sack.keys.check(old.secret) is not None
    assert sack.keys.get(old.key.id).replaced_by == new.key.id
    again = sack.keys.rotate(new.key.id)
    assert sack.keys.check(new.secret) is None
    assert sack.keys.check(again.secret) is not None


def test_last_use_is_counted_when_flushed(sack: Haversack):
    issued = sack.keys.create("agent")
    for _ in range(3):
        sack.keys.check(issued.secret)
    sack.keys.flush()
    assert sack.keys.get(issued.key.id).uses == 3
    assert sack.keys.get(issued.key.id).last_used_at == START + timedelta(seconds=4)


def test_renaming_granting_deleting(sack: Haversack):
    key = sack.keys.create("agent", namespaces=["a"]).key
    sack.keys.rename(key.id, "robot")
    assert sack.keys.grant(key.id, None).namespaces is None
    assert sack.keys.get(key.id).name == "robot"
    sack.keys.delete(key.id)
    with pytest.raises(NotFoundError):
        sack.keys.get(key.id)


def test_senseless_keys_are_refused(sack: Haversack):
    with pytest.raises(InputError, match="did you mean 'write'"):
        sack.keys.create("x", scope="writes")
    with pytest.raises(InputError, match="in the past"):
        sack.keys.create("x", expires_at=START)
    with pytest.raises(InputError, match="list of names"):
        sack.keys.create("x", namespaces="alice")
    with pytest.raises(InputError, match="grace"):
        sack.keys.rotate(sack.keys.create("x").key.id, grace=timedelta(days=8))


def test_counting_uses_undoes_no_revocation(sack: Haversack):
    issued = sack.keys.create("agent")
    sack.keys.check(issued.secret)
    sack.keys.revoke(issued.key.id)
    sack.keys.flush()
    assert sack.keys.check(issued.secret) is None
    assert sack.keys.get(issued.key.id).uses == 1


def test_a_rotated_key_is_not_rotated_again(sack: Haversack):
    old = sack.keys.create("agent")
    sack.keys.rotate(old.key.id, grace=timedelta(hours=1))
    with pytest.raises(ConflictError, match="rotated already"):
        sack.keys.rotate(old.key.id)
