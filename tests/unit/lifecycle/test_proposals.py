from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from haversack.errors import ConflictError, InputError
from haversack.lifecycle.proposals import Decided, Proposed, Standing, copy_for_sharing, replay
from haversack.model.memory import Memory, Source

Make = Callable[..., Memory]


@pytest.fixture
def asked(born: datetime) -> Proposed:
    return Proposed(proposal="p", memory="m1", private="alice", shared="team", author="alice", at=born)


def test_a_proposal_is_open_until_somebody_decides(asked: Proposed, born: datetime) -> None:
    assert replay([asked, asked])["p"].standing is Standing.OPEN
    yes = Decided(proposal="p", accepted=True, by="bob", at=born)
    again = Decided(proposal="p", accepted=True, by="eve", at=born)
    accepted = replay([asked, yes, yes, again])["p"]
    assert (accepted.standing, accepted.decided_by) == (Standing.ACCEPTED, "bob")


def test_a_second_different_decision_is_refused(asked: Proposed, born: datetime) -> None:
    no = Decided(proposal="p", accepted=False, by="bob", at=born)
    yes = Decided(proposal="p", accepted=True, by="eve", at=born)
    with pytest.raises(ConflictError, match="already rejected"):
        replay([asked, no, yes])
    with pytest.raises(InputError, match="nobody made"):
        replay([yes])


def test_the_shared_copy_says_where_it_came_from_and_leaves_private_links(
    asked: Proposed, fact: Make, born: datetime
) -> None:
    later = born + timedelta(days=1)
    accepted = replay([asked, Decided(proposal="p", accepted=True, by="bob", at=born)])["p"]
    private = fact(source=Source(session="s", turns=("t",)), access_count=4)
    shared = copy_for_sharing(private, accepted, "n1", later)
    assert (shared.id, shared.source, shared.access_count, shared.created_at) == ("n1", Source(), 0, later)
    assert shared.metadata["shared.author"] == "alice"
    assert shared.metadata["shared.accepted_by"] == "bob"
    with pytest.raises(ConflictError, match="not accepted"):
        copy_for_sharing(private, replay([asked])["p"], "n1", later)
