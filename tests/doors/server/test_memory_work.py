"""Subjects, knowledge, extraction, costs, policies, proposals over HTTP; answers are checked against the document."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import httpx

from haversack.clock import utc_now
from haversack.engine.haversack import Haversack
from haversack.llm.cost import Call as ModelCall
from haversack.llm.cost import Purpose
from haversack.store.port import Batch, Written

Call = Callable[..., httpx.Response]
NS = "/v1/namespaces/alice"


def keep(http: Call, content: str, **more: object) -> str:
    kept = http("POST", f"{NS}/memories", json={"content": content, **more})
    assert kept.status_code == 201, kept.text
    return kept.json()["id"]


def hits(http: Call, query: str, **more: object) -> list[str]:
    found = http("POST", f"{NS}/recall", json={"query": query, **more}).json()["hits"]
    return [hit["memory"]["content"] for hit in found]


def test_a_newer_statement_on_a_subject_ends_the_older_one(http: Call):
    old = keep(http, "Alice lives in Oslo", subject="alice/city")
    new = keep(http, "Alice lives in Bergen", subject="Alice/City")
    assert hits(http, "Where does Alice live?") == ["Alice lives in Bergen"]
    ended = http("GET", f"{NS}/memories/{old}").json()
    assert (ended["superseded_by"], ended["valid_to"] is not None) == (new, True)


def test_a_source_goes_along_and_takes_what_was_derived_with_it(http: Call):
    first = keep(http, "Alice asked for a vegan menu", source={"session": "trip"})
    second = keep(http, "Alice eats no meat", source={"memories": [first]})
    told = http("GET", f"{NS}/memories/{second}").json()
    assert told["derived_from"] == [first]
    assert http("GET", f"{NS}/memories/{first}").json()["session"] == "trip"
    gone = http("POST", f"{NS}/forget", json={"ids": [first], "hard": True, "preview": False}).json()
    assert (gone["memories"], gone["derived"], gone["snapshots"]) == ([first], [second], [])


def test_correcting_and_what_came_of_decisions_and_procedures(http: Call):
    wrong = keep(http, "The train leaves at eight")
    right = http("POST", f"{NS}/memories/{wrong}/correct", json={"content": "The train leaves at nine"})
    assert (right.status_code, right.json()["kind"], right.json()["trust"]) == (201, "correction", "correction")
    assert http("GET", f"{NS}/memories/{wrong}").json()["superseded_by"] == right.json()["id"]
    choice = keep(http, "We take the night train", kind="decision")
    told = http("POST", f"{NS}/memories/{choice}/outcome", json={"outcome": "Slept well", "worked": True}).json()
    assert (told["metadata"]["outcome"], told["metadata"]["worked"]) == ("Slept well", True)
    way = keep(http, "Book the lower bunk first", kind="procedure")
    tried = [http("POST", f"{NS}/memories/{way}/tries", json={"worked": True}).json()["metadata"] for _ in range(2)]
    assert [one["successes"] for one in tried] == [1, 2]
    assert http("POST", f"{NS}/memories/{wrong}/tries", json={"worked": True}).status_code == 400
    assert http("POST", f"{NS}/memories/none/correct", json={"content": "x"}).status_code == 404


def test_relations_lead_from_one_entity_to_others(http: Call):
    for subject, predicate, target in (("Alice", "works at", "Acme"), ("Acme", "sits in", "Oslo")):
        made = http("POST", f"{NS}/relations", json={"subject": subject, "predicate": predicate, "object": target})
        assert (made.status_code, made.json()["kind"]) == (201, "relation")
    found = http("GET", f"{NS}/relations?entity=Alice").json()["relations"]
    assert [(hop["distance"], hop["path"]) for hop in found] == [(1, ["Alice", "Acme"]), (2, ["Alice", "Acme", "Oslo"])]
    assert len(http("GET", f"{NS}/relations?entity=Alice&depth=1").json()["relations"]) == 1


def test_merging_previews_and_can_be_undone(http: Call):
    ids = [keep(http, "Tea is served at four"), keep(http, "Cakes come at five")]
    assert http("POST", f"{NS}/merge", json={"ids": ids}).json()["preview"] is True
    assert http("GET", f"{NS}/folded").json()["memories"] == []
    whole = http("POST", f"{NS}/merge", json={"ids": ids, "preview": False}).json()["memory"]
    assert whole["content"] == "Tea is served at four\nCakes come at five"
    assert {one["id"] for one in http("GET", f"{NS}/folded").json()["memories"]} == set(ids)
    assert http("POST", f"{NS}/memories/{ids[0]}/restore").json()["superseded_by"] is None


def test_memories_by_time_and_those_to_begin_with(http: Call):
    keep(http, "an old thing", event_time="2026-01-02T10:00:00Z", importance=1.0)
    keep(http, "a newer thing", event_time="2026-01-03T10:00:00Z", importance=0.1)
    keep(http, "another of that day", event_time="2026-01-03T11:00:00Z", importance=0.1)
    line = http("GET", f"{NS}/timeline?limit=2").json()
    assert [one["content"] for one in line["memories"]] == ["another of that day", "a newer thing"]
    assert (line["total"], line["by_day"]) == (3, {"2026-01-02": 1, "2026-01-03": 2})
    until = http("GET", f"{NS}/timeline", params={"until": "2026-01-03T00:00:00Z"}).json()
    assert [one["content"] for one in until["memories"]] == ["an old thing"]
    assert http("GET", f"{NS}/wake-up?top=1").json()["memories"][0]["content"] == "an old thing"
    assert http("GET", f"{NS}/memories", params={"since": "2026-01-03T10:30:00Z"}).json()["memories"][0]["content"] == (
        "another of that day"
    )


def test_extraction_shows_what_is_unread_then_reads_it_once(http: Call, sack: Haversack):
    said = [
        {"role": "user", "content": "My name is Alice. I live in Oslo."},
        {"role": "assistant", "content": "Noted."},
    ]
    http("POST", f"{NS}/sessions/intro/turns", json={"turns": said})
    assert http("GET", f"{NS}/extract").json() == {"sessions": [{"session": "intro", "turns": 2}], "turns": 2}
    assert http("POST", f"{NS}/extract", json={"session": "none"}).status_code == 404
    job = http("POST", f"{NS}/extract", json={"session": "intro"})
    done = sack.jobs.wait(job.json()["id"], 20)
    assert (job.status_code, done.state, done.result["turns"], done.result["errors"]) == (202, "done", 2, {})
    statements = sack.namespace("alice").everything(kinds=["fact", "profile"])
    assert done.result["added"] == len(statements) > 0
    assert http("GET", f"{NS}/extract").json() == {"sessions": [], "turns": 0}


def test_costs_add_up_by_what_one_asks(http: Call, sack: Haversack):
    assert http("GET", f"{NS}/costs").json()["costs"] == []
    start = utc_now()
    for number, (purpose, dollars) in enumerate(
        ((Purpose.EXTRACTION, 0.25), (Purpose.EXTRACTION, None), (Purpose.COMPACTION, 0.5))
    ):
        book(sack, start + timedelta(seconds=number), purpose, dollars)
    told = http("GET", f"{NS}/costs").json()
    assert [(row["name"], row["calls"], row["dollars"]) for row in told["costs"]] == [
        ("compaction", 1, 0.5),
        ("extraction", 2, 0.25),
    ]
    assert (told["total"]["calls"], told["total"]["input_tokens"], told["total"]["dollars"]) == (3, 300, 0.75)
    assert (told["unpriced"], told["estimated"]) == (["m"], 0)
    later = http("GET", f"{NS}/costs", params={"since": (start + timedelta(seconds=2)).isoformat(), "by": "model"})
    assert [(row["name"], row["calls"]) for row in later.json()["costs"]] == [("m", 1)]
    assert http("GET", f"{NS}/costs?by=colour").status_code == 400


def book(sack: Haversack, at: datetime, purpose: Purpose, dollars: float | None) -> None:
    call = ModelCall(
        at=at,
        purpose=purpose,
        model="m",
        namespace="alice",
        session=None,
        input_tokens=100,
        output_tokens=10,
        dollars=dollars,
    )
    ids = sack._core.new_ids(at)
    record = Written(collection="cost", key=next(ids), value=call.encode(), expected=0)
    sack._core.store.apply("alice", Batch(records=(record,)))


def test_a_policy_is_previewed_and_set(http: Call, make: Callable[..., Call]):
    keep(http, "one")
    keep(http, "two")
    rules = {"max_memories": 1, "eviction": ["oldest"], "ttl_days": {"state": 1.5}, "decay": {"decay_rate": 0.02}}
    seen = http("POST", f"{NS}/policy/preview", json=rules).json()
    assert (seen["preview"], seen["counts"]) == (True, {"delete": 1})
    assert http("GET", f"{NS}/policy").json()["max_memories"] is None
    assert make("write")("PUT", f"{NS}/policy", json=rules).status_code == 403
    told = http("PUT", f"{NS}/policy", json=rules).json()
    assert (told["max_memories"], told["eviction"], told["ttl_days"]) == (1, ["oldest"], {"state": 1.5})
    assert http("GET", f"{NS}/policy").json() == told
    assert http("POST", f"{NS}/lifecycle", json={}).json()["counts"] == {"delete": 1}
    assert http("PUT", f"{NS}/policy", json={}).json()["max_memories"] is None
    for wrong in ({"decay": {"rat": 1}}, {"retention_days": -1}, {"keep": ["fakt"]}, {"oops": 1}):
        assert http("PUT", f"{NS}/policy", json=wrong).status_code == 400


def test_a_memory_is_shared_by_proposal(http: Call, make: Callable[..., Call], sack: Haversack):
    first = keep(http, "The door code is on the fridge")
    writer, team = make("write", ["alice", "team"]), make("write", ["team"])
    asked = writer("POST", f"{NS}/proposals", json={"memory_id": first, "shared": "team"}).json()
    assert (asked["standing"], asked["private"], asked["shared"]) == ("open", "alice", "team")
    assert (
        make("write", ["alice"])("POST", f"{NS}/proposals", json={"memory_id": first, "shared": "team"}).status_code
        == 403
    )
    (listed,) = team("GET", "/v1/namespaces/team/proposals").json()["proposals"]
    assert listed == asked
    assert writer("POST", f"{NS}/proposals/{asked['id']}/accept").status_code == 404
    done = team("POST", f"/v1/namespaces/team/proposals/{asked['id']}/accept").json()
    assert (done["proposal"]["standing"], done["memory"]["content"]) == ("accepted", "The door code is on the fridge")
    assert sack.namespace("team").get(done["memory"]["id"]).metadata["shared.author"] == asked["author"]
    late = team("POST", f"/v1/namespaces/team/proposals/{asked['id']}/reject")
    assert (late.status_code, sack.namespace("team").stats().memories) == (409, {"fact": 1})
    other = writer("POST", f"{NS}/proposals", json={"memory_id": first, "shared": "team"}).json()
    no = team("POST", f"/v1/namespaces/team/proposals/{other['id']}/reject").json()
    assert (no["proposal"]["standing"], no["memory"]) == ("rejected", None)


def test_the_journal_of_a_run_names_what_it_touched(http: Call, sack: Haversack):
    old = keep(http, "tea is warm", expires_at="2020-01-01T00:00:00Z")
    job = http("POST", f"{NS}/lifecycle", json={"execute": True}).json()
    run = sack.jobs.wait(job["id"], 20).result["run"]
    steps = http("GET", f"{NS}/runs/{run}").json()["steps"]
    assert [change["memory"] for step in steps for change in step["changes"]] == [old]
    assert http("GET", f"{NS}/runs/none").status_code == 404


def test_sections_may_weigh_otherwise(http: Call):
    keep(http, "Alice drinks tea", kind="fact")
    keep(http, "Tea was chosen over coffee", kind="decision")
    both = http("POST", f"{NS}/context", json={"query": "tea", "budget": 400, "layout": "sections"}).json()
    assert {row["verdict"] for row in both["verdicts"]} == {"kept"}
    body = {"query": "tea", "budget": 400, "sections": {"decisions": 0}}
    one = http("POST", f"{NS}/context", json=body).json()
    assert ("Alice drinks tea" in one["text"], "chosen" in one["text"]) == (True, False)
    assert http("POST", f"{NS}/context", json={**body, "sections": {"decisons": 1}}).status_code == 400
    asked = {"query": "tea", "window": 8000, "model": "gpt-4o", "sections": {"decisions": 0}, "preview": True}
    made = http("POST", f"{NS}/sessions/s/prompt", json=asked)
    assert (made.status_code, "chosen" in str(made.json()["request"])) == (200, False)


def test_priming_begins_a_session(http: Call):
    keep(http, "Alice drinks tea")
    primed = http("POST", f"{NS}/sessions/new/prime", json={"model": "gpt-4o", "window": 8000})
    assert primed.status_code == 200, primed.text
    assert "Alice drinks tea" in primed.json()["context"]["text"]
    assert primed.json()["tokens"] == primed.json()["context"]["tokens"]


def test_a_hard_forget_can_reach_into_snapshots(http: Call, make: Callable[..., Call], sack: Haversack):
    one = keep(http, "a word that must vanish")
    sack.maintenance.snapshot()
    body = {"ids": [one], "hard": True, "preview": False}
    assert make("write")("POST", f"{NS}/forget", json={**body, "snapshots": True}).status_code == 403
    held = http("POST", f"{NS}/forget", json=body).json()
    assert len(held["snapshots"]) == 1
    assert "/" not in held["snapshots"][0]


def test_the_list_of_jobs_is_of_the_latest(http: Call, sack: Haversack):
    ids = [sack.jobs.start("nothing", "alice", lambda _: {}, asked_by="me").id for _ in range(3)]
    for each in ids:
        sack.jobs.wait(each, 10)
    ids.sort()  # of one millisecond, in any order
    assert [job.id for job in sack.jobs.all(limit=2)] == ids[1:]


def test_the_history_of_a_subject_is_told_in_order(http: Call):
    keep(http, "Alice lives in Oslo", subject="alice/city", valid_from="2027-05-01T00:00:00Z")
    keep(http, "Alice lives in Rome", subject="alice/city", event_time="2026-01-01T00:00:00Z")
    found = http("GET", f"{NS}/history?subject=alice/city").json()["memories"]
    told = [(one["content"], (one["valid_to"] or "open")[:10]) for one in found]
    assert told == [("Alice lives in Rome", "2027-05-01"), ("Alice lives in Oslo", "open")]
