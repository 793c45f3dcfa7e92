"""Keys: shown once, stored as hashes, scoped, expiring, rotated with grace."""

from __future__ import annotations

from dataclasses import replace
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
    assert issued.secret.split("_", 2)[2].encode() not in stored


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


def test_changing_is_all_or_nothing_and_deleting(sack: Haversack):
    key = sack.keys.create("agent", namespaces=["a"]).key
    sack.keys.change(key.id, name="robot")
    assert sack.keys.change(key.id, namespaces=None).namespaces is None
    assert sack.keys.get(key.id).name == "robot"
    with pytest.raises(InputError, match="blank"):
        sack.keys.change(key.id, name="machine", namespaces=[""])
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


def test_a_key_ends_no_later_than_its_maker(sack: Haversack):
    end = START + timedelta(hours=1)
    maker = sack.keys.create("maker", scope="admin", expires_at=end).key
    child = sack.keys.create("child", maker=maker).key
    assert (child.expires_at, child.made_by) == (end, maker.id)
    sooner = sack.keys.create("sooner", maker=maker, expires_at=end - timedelta(minutes=1)).key
    assert sooner.expires_at == end - timedelta(minutes=1)
    with pytest.raises(InputError, match="the key that makes it ends at"):
        sack.keys.create("later", maker=maker, expires_at=end + timedelta(seconds=1))
    assert sack.keys.create("beside").key.made_by is None


def test_rotation_outlives_no_end(sack: Haversack):
    end = START + timedelta(hours=1)
    old = sack.keys.create("brief", expires_at=end)
    new = sack.keys.rotate(old.key.id, grace=timedelta(days=7))
    assert (sack.keys.get(old.key.id).expires_at, new.key.expires_at) == (end, end)
    long = sack.keys.create("long", expires_at=START + timedelta(days=30))
    sack.keys.rotate(long.key.id, grace=timedelta(days=7))
    left = sack.keys.get(long.key.id).expires_at
    assert left is not None
    assert START + timedelta(days=7) < left < START + timedelta(days=7, minutes=1)


def test_rotated_by_another_key_it_ends_with_that_one(sack: Haversack):
    end = START + timedelta(hours=1)
    maker = sack.keys.create("maker", scope="admin", expires_at=end).key
    endless = sack.keys.create("endless").key
    taken = sack.keys.rotate(endless.id, maker=maker).key
    assert (taken.expires_at, taken.made_by) == (end, maker.id)
    own = sack.keys.rotate(maker.id, maker=maker).key
    assert (own.expires_at, own.made_by) == (end, None)


def test_revoking_takes_the_children_when_asked_to(sack: Haversack):
    parent, stranger = sack.keys.create("parent", scope="admin"), sack.keys.create("stranger", scope="admin")
    child = sack.keys.create("child", scope="admin", maker=parent.key)
    grandchild = sack.keys.create("grandchild", maker=child.key)
    other = sack.keys.create("other", maker=stranger.key)
    rotated = sack.keys.rotate(parent.key.id, maker=parent.key, grace=timedelta(hours=1))
    sack.keys.revoke(rotated.key.id)
    assert sack.keys.check(child.secret) is not None
    gone = sack.keys.revoke(rotated.key.id, children=True)
    assert {key.name for key in gone} == {"parent", "child", "grandchild"}
    assert [sack.keys.check(one.secret) for one in (parent, child, grandchild, rotated)] == [None] * 4
    assert sack.keys.check(other.secret) is not None


def test_that_there_were_keys_stays_known(sack: Haversack):
    assert not sack.keys.ever_existed()
    key = sack.keys.create("agent").key
    sack.keys.revoke(key.id)
    assert sack.keys.ever_existed()
    sack.keys.delete(key.id)
    assert (sack.keys.all(), sack.keys.ever_existed()) == ([], True)


def test_a_key_that_was_let_in_opens_until_it_is_taken_back(sack: Haversack):
    key = sack.keys.create("agent", scope="write", namespaces=["a", "b"]).key
    assert sack.keys.still_opens(key)
    sack.keys.change(key.id, namespaces=["a", "b", "c"])
    assert sack.keys.still_opens(key)
    sack.keys.change(key.id, namespaces=["a"])
    assert not sack.keys.still_opens(key)
    other = sack.keys.create("other").key
    sack.keys.revoke(other.id)
    assert not sack.keys.still_opens(other)
    gone = sack.keys.create("gone").key
    sack.keys.delete(gone.id)
    assert not sack.keys.still_opens(gone)
    token = replace(key, id="token:svc", expires_at=START + timedelta(hours=1))
    assert sack.keys.still_opens(token)
    assert not sack.keys.still_opens(replace(token, expires_at=START))


@pytest.mark.parametrize("name", ["team*", "*", "a b*"])
def test_no_namespace_is_named_like_a_pattern(sack: Haversack, name: str):
    with pytest.raises(InputError, match="ends in a star"):
        sack.namespace(name)
    with pytest.raises(InputError, match="ends in a star"):
        sack.namespace("a").maintenance.propose("x", shared=name, author="a")
    assert sack.namespace("*team").name == "*team"
