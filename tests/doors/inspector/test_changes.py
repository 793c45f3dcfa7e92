"""Pin, correct, vote, forget with preview, restore: what a person does, and what the store holds then."""

from __future__ import annotations

from typing import Any

import pytest

from haversack.engine.haversack import Haversack
from haversack.engine.namespace import Namespace
from haversack.errors import NotFoundError
from haversack.model.memory import Memory, Stage


@pytest.fixture
def ns(sack: Haversack) -> Namespace:
    return sack.namespace("harbour")


@pytest.fixture
def memory(ns: Namespace) -> Memory:
    return ns.remember("The mast\nis spruce", kind="fact", importance=0.5, tags=["rig", "wood"])


def change(browser: Any, memory: Memory, **fields: str) -> int:
    browser.get(f"/memory?namespace=harbour&id={memory.id}")
    status: int = browser.post("/memory/change", {"namespace": "harbour", "id": memory.id, **fields}).status_code
    return status


def test_pinning_and_unpinning(browser: Any, ns: Namespace, memory: Memory) -> None:
    assert change(browser, memory, do="pin") == 303
    assert ns.get(memory.id).pinned
    assert change(browser, memory, do="unpin") == 303
    assert not ns.get(memory.id).pinned


def test_correcting_keeps_the_earlier_wording(browser: Any, ns: Namespace, memory: Memory) -> None:
    fields = {"content": "The mast\r\nis larch", "importance": "0.75", "tags": "rig", "changed": str(memory.changed)}
    assert change(browser, memory, do="correct", **fields) == 303
    found = ns.get(memory.id)
    assert (found.content, found.importance, found.tags) == ("The mast\nis larch", 0.75, ("rig",))
    assert ns.earlier(memory.id)[0].fields["content"] == "The mast\nis spruce"


def test_an_unchanged_form_changes_nothing(browser: Any, ns: Namespace) -> None:
    odd = ns.remember("Dos ends\r\nhere", kind="fact", importance=0.123, tags=["a, b"])
    fields = {"content": "Dos ends\r\nhere", "importance": "0.12", "tags": "a, b", "changed": str(odd.changed)}
    assert change(browser, odd, do="correct", **fields) == 303
    assert ns.get(odd.id) == odd


def test_the_second_of_two_corrections_is_refused(browser: Any, ns: Namespace, memory: Memory) -> None:
    ns.edit(memory.id, content="Somebody was here")
    status = change(browser, memory, do="correct", content="Late", changed=str(memory.changed))
    assert status == 409
    assert ns.get(memory.id).content == "Somebody was here"


def test_a_long_text_is_corrected_whole(browser: Any, ns: Namespace) -> None:
    text = "\n\n".join(f"Paragraph {n} tells of the tide at hour {n} and of the boat." for n in range(60))
    first = ns.remember(text, kind="passage")
    assert "at hour 59 and of the boat" in browser.get(f"/memory?namespace=harbour&id={first.id}").text
    assert change(browser, first, do="correct", content=text, tags="sea") == 303
    assert change(browser, first, do="correct", content=text.replace("hour 3 ", "three ")) == 303
    assert "".join(part.content for part in ns.parts(first.id)) == text.replace("hour 3 ", "three ")
    assert {part.tags for part in ns.parts(first.id)} == {("sea",)}
    later = ns.parts(first.id)[2]
    assert change(browser, later, do="correct", content="In short: the boat.") == 303
    assert [part.content == "In short: the boat." for part in ns.parts(first.id)][:4] == [False, False, True, False]


@pytest.mark.parametrize(("signal", "after"), [("up", 0.6), ("down", 0.4), ("flag", 0.25)])
def test_votes_move_the_importance(browser: Any, ns: Namespace, memory: Memory, signal: str, after: float) -> None:
    assert change(browser, memory, do=signal) == 303
    assert ns.get(memory.id).importance == after


def test_what_cannot_be_done_is_refused(browser: Any, memory: Memory) -> None:
    assert change(browser, memory, do="explode") == 400


def test_forgetting_asks_first_and_can_be_undone(browser: Any, ns: Namespace, memory: Memory) -> None:
    browser.get(f"/memory?namespace=harbour&id={memory.id}")
    fields = {"namespace": "harbour", "id": memory.id, "hard": "no"}
    preview = browser.post("/memory/forget", fields)
    assert preview.status_code == 200
    assert "would forget softly (can be restored): 1 memories" in preview.text
    assert ns.get(memory.id).stage is Stage.ACTIVE
    assert browser.post("/memory/forget", {**fields, "confirm": "yes"}).status_code == 303
    assert ns.get(memory.id).stage is Stage.DELETED
    assert change(browser, memory, do="restore") == 303
    assert ns.get(memory.id).stage is Stage.ACTIVE


def test_forgetting_for_good_tells_what_goes_along(browser: Any, sack: Haversack, ns: Namespace) -> None:
    turn = ns.session("plain").turns(limit=1)[0]
    passage = next(each for each in ns.everything(kinds="passage") if each.source.turns == (turn.id,))
    planned = ns.forget(passage.id, hard=True, preview=True)
    assert planned.derived
    browser.get(f"/memory?namespace=harbour&id={passage.id}")
    fields = {"namespace": "harbour", "id": passage.id, "hard": "yes"}
    preview = browser.post("/memory/forget", fields).text
    assert f"{len(planned.turns)} session turns and {len(planned.derived)} memories" in preview
    done = browser.post("/memory/forget", {**fields, "confirm": "yes"})
    assert done.status_code == 200
    assert "Certificate" in done.text
    with pytest.raises(NotFoundError):
        ns.get(passage.id)
    deeds = [deed for deed in sack.audit.read() if deed.did == "forget for good"]
    assert [(deed.who, passage.id in deed.memories) for deed in deeds] == [("inspector", True)]
