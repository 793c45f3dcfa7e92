"""The released dakera client, unchanged, against a real server on loopback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import dakera
import httpx
import pytest

from haversack.engine.haversack import Haversack

AGENT = "user-alice"


@pytest.fixture
def connect(served: tuple[str, Haversack]) -> Iterator[Callable[..., Any]]:
    address, sack = served
    made: list[Any] = []

    def connected(scope: str = "admin", namespaces: list[str] | None = None) -> Any:
        secret = sack.keys.create(scope, scope=scope, namespaces=namespaces).secret
        made.append(dakera.DakeraClient(address, api_key=secret, max_retries=1))
        return made[-1]

    yield connected
    for client in made:
        client.close()
    for name in sack.namespaces():
        sack.namespace(name).maintenance.reset(execute=True, confirm=name, snapshot=False)


@pytest.fixture
def client(connect: Callable[..., Any]) -> Any:
    return connect()


def test_storing_and_reading(client: Any):
    when = datetime(2026, 2, 1, tzinfo=UTC)
    kept = client.store_memory(
        AGENT, "Alice prefers metric units", memory_type="semantic", importance=0.8, metadata={"source": "chat"},
        tags=["units"], session_id="s1", ttl_seconds=3600, valid_from=1_700_000_000, event_time=when,
    )  # fmt: skip
    read = client.get_memory(AGENT, kept["id"])
    assert (read["content"], read["memory_type"], read["importance"]) == ("Alice prefers metric units", "semantic", 0.8)
    assert read["metadata"] == {"source": "chat", "valid_from": 1_700_000_000}
    assert (read["tags"], read["session_id"], read["event_time"]) == (["units"], "s1", when.isoformat())
    assert read["expires_at"] > when.timestamp()
    assert client.get_memory(None, kept["id"])["id"] == kept["id"]


def test_recalling_in_rank_order(client: Any):
    for text, importance in (("Alice drinks green tea", 0.9), ("Bob drinks tea", 0.2), ("The car is red", 0.9)):
        client.store_memory(AGENT, text, importance=importance, tags=[text.split()[0]])
    found = client.recall(AGENT, "who drinks tea?", top_k=5)
    scores = [memory.score for memory in found.ranked]
    assert scores == sorted(scores, reverse=True)
    assert {memory.content for memory in found.memories} >= {"Alice drinks green tea", "Bob drinks tea"}
    assert client.recall(AGENT, "tea", min_importance=0.5).memories[0].content == "Alice drinks green tea"
    assert [one["content"] for one in client.search_memories(AGENT, "tea", tags=["Bob", "Nobody"])] == [
        "Bob drinks tea"
    ]
    assert client.recall(AGENT, "tea", rerank=True, fusion="rrf").warnings == [
        "field 'rerank' is not offered and was ignored",
        "field 'fusion' is not offered and was ignored",
    ]
    assert client.recall("nobody-yet", "tea").memories == []


def test_a_formula_of_relevance_importance_and_recency_puts_what_answers_first(client: Any):
    """That is what the client's users do with a `score`: half of it is relevance, three tenths importance."""
    notes = {
        "REST endpoints of the API use plural nouns": 0.5,
        "The API is versioned in its path": 0.5,
        "The office plants are watered on Mondays": 0.9,
        "Parking is free after six": 0.9,
        "The coffee machine takes two scoops": 0.9,
    }
    for text, importance in notes.items():
        client.store_memory(AGENT, text, importance=importance)
    found = client.recall(AGENT, "How should I structure my API?", top_k=5).ranked
    ordered = sorted(found, key=lambda one: -(0.5 * one.score + 0.3 * one.importance))
    assert {one.content for one in ordered[:2]} == set(list(notes)[:2])


def test_a_token_budget_on_recall(client: Any):
    for number in range(50):
        client.store_memory(AGENT, f"tea fact number {number}: it is a warm drink that many people like")
    body = {"agent_id": AGENT, "query": "tea", "budget": 200, "model": "gpt-4o"}
    told = client._request("POST", "/v1/memory/recall", data=body)
    assert 150 < told["context"]["tokens"] <= 200
    assert told["context"]["kept"] == len(told["memories"]) < 50
    assert told["context"]["left_out"][0]["reason"] == "no_room"
    assert told["memories"][0]["memory"]["content"].splitlines()[0] in told["context"]["text"]


def test_batches(client: Any):
    items = [
        dakera.BatchStoreMemoryItem(f"fact {n}", importance=n / 10, tags=["even"] if n % 2 == 0 else ["odd"])
        for n in range(6)
    ]
    stored = client.store_memories_batch(dakera.BatchStoreMemoryRequest(AGENT, items))
    assert (stored.stored_count, [one.content for one in stored.stored][:2]) == (6, ["fact 0", "fact 1"])
    chosen = dakera.BatchMemoryFilter(tags=["even"], min_importance=0.2)
    found = client.batch_recall(dakera.BatchRecallRequest(AGENT, filter=chosen, limit=1))
    assert (found.total, found.filtered, found.truncated, len(found.memories)) == (6, 2, True, 1)
    with pytest.raises(dakera.ValidationError, match="at least one predicate"):
        client.batch_forget(dakera.BatchForgetRequest(AGENT))
    assert client.batch_forget(dakera.BatchForgetRequest(AGENT, filter=chosen)).deleted_count == 2
    assert client.batch_recall(dakera.BatchRecallRequest(AGENT)).total == 4


def test_changing_and_forgetting(client: Any):
    kept = client.store_memory(AGENT, "Alice lives in Rome", metadata={"a": 1})
    changed = client.update_memory(
        AGENT, kept["id"], content="Alice lives in Oslo", memory_type="semantic", tags=["home"]
    )
    assert (changed["content"], changed["memory_type"], changed["metadata"], changed["tags"]) == (
        "Alice lives in Oslo", "semantic", {"a": 1}, ["home"],
    )  # fmt: skip
    assert client.update_importance(AGENT, [kept["id"]], 0.7)["importance"] == 0.7
    assert client.patch_memory_importance(kept["id"], AGENT, 0.6).importance == 0.6
    client.forget(AGENT, kept["id"])
    assert client.recall(AGENT, "Oslo").memories == []
    with pytest.raises(dakera.NotFoundError):
        client.forget(AGENT, "01ARZ3NDEKTSV4RRFFQ69G5FAV")


def test_what_was_forgotten_is_returned_by_no_call_and_can_be_erased(served: tuple[str, Haversack], client: Any):
    session = client.start_session(AGENT)
    kept = client.store_memory(AGENT, "the vault code is 4711", session_id=session["id"], importance=0.9)["id"]
    client.store_memory(AGENT, "Alice likes tea", session_id=session["id"])
    client.end_session(session["id"], summary="the vault code was named")
    client.memory_feedback(AGENT, kept, "upvote")
    client.forget(AGENT, kept)
    summary = client.recall(AGENT, "vault").memories[0].id
    client.forget(AGENT, summary)
    for missing in (
        lambda: client.get_memory(AGENT, kept),
        lambda: client.get_memory(None, kept),
        lambda: client.update_memory(AGENT, kept, content="the vault"),
        lambda: client.update_importance(AGENT, [kept], 0.1),
        lambda: client.memory_feedback(AGENT, kept, "upvote"),
        lambda: client.get_memory_feedback_history(kept, AGENT),
    ):
        with pytest.raises(dakera.NotFoundError):
            missing()
    chosen = dakera.BatchMemoryFilter(min_importance=0.0)
    shown = [
        client.recall(AGENT, "vault code"),
        client.search_memories(AGENT, "vault code"),
        client.session_memories(session["id"]),
        client.get_session(session["id"]),
        client.list_sessions(AGENT),
        client.batch_recall(dakera.BatchRecallRequest(AGENT, filter=chosen)),
        client.agent_memories(AGENT),
        client.wake_up(AGENT),
        client.list_deduplicated(AGENT),
        client.export_memories(agent_id=AGENT),
    ]
    assert not [each for each in shown if "vault" in repr(each)]
    address, sack = served
    bearer = {"authorization": f"Bearer {sack.keys.create('w', scope='write').secret}"}
    body = {"agent_id": AGENT, "memory_ids": [kept, summary], "hard": True}
    answered = httpx.post(f"{address}/v1/memory/forget", json=body, headers=bearer)
    assert answered.json()["hard"]
    assert "vault" not in b"".join(sack.namespace(AGENT).take_out()).decode()
    assert sack.namespace(AGENT).stats().tombstones == 2


@pytest.mark.parametrize("form", ["jsonl", "csv", "mem0", "zep"])
def test_an_export_brings_back_nothing_that_was_erased(served: tuple[str, Haversack], client: Any, form: str):
    for words in ("the vault code is 4711", "Alice likes tea"):
        client.store_memory(AGENT, words)
    out = client.export_memories(form, AGENT)
    ns = served[1].namespace(AGENT)
    ns.forget([one.id for one in ns.everything() if "vault" in one.content], hard=True)
    done = client.import_memories(out.raw, form, agent_id=AGENT)
    assert (done.imported_count, done.skipped_count) == (0, 2)
    assert [one.content for one in ns.everything()] == ["Alice likes tea"]


def test_feedback(client: Any):
    kept = client.store_memory(AGENT, "useful", importance=0.5)
    assert client.memory_feedback(AGENT, kept["id"], "upvote")["new_importance"] == 0.6
    assert client.feedback_memory(kept["id"], AGENT, dakera.FeedbackSignal.DOWNVOTE).new_importance == 0.48
    history = client.get_memory_feedback_history(kept["id"], AGENT).entries
    assert [entry.signal.value for entry in history] == ["upvote", "downvote"]
    summary = client.get_agent_feedback_summary(AGENT)
    assert (summary.upvotes, summary.downvotes, summary.total_feedback) == (1, 1, 2)
    assert client.get_feedback_health(AGENT).memory_count == 1


def test_deduplicating_and_consolidating(client: Any):
    best = client.store_memory(AGENT, "Alice likes green tea a lot", importance=0.9)
    twin = client.store_memory(AGENT, "Alice just really liked that very green tea a lot", importance=0.1)
    shown = client.deduplicate(AGENT, threshold=0.5, dry_run=True)
    assert (shown["duplicates_found"], shown["duplicates_merged"]) == (1, 0)
    assert len(client.agent_memories(AGENT)) == 2
    assert client.deduplicate(AGENT, threshold=0.5)["groups"] == [
        {"survivor_id": best["id"], "duplicate_ids": [twin["id"]]}
    ]
    assert [one.id for one in client.list_deduplicated(AGENT).memories] == [twin["id"]]
    assert client.restore_deduplicated(AGENT, twin["id"])["id"] == twin["id"]
    body = {"agent_id": AGENT, "memory_ids": [best["id"], twin["id"]], "dry_run": True}
    assert client._request("POST", "/v1/memory/consolidate", data=body)["memories_removed"] == 0
    assert len(client.agent_memories(AGENT)) == 2
    merged = client.consolidate(AGENT, memory_ids=[best["id"], twin["id"]])
    assert merged["memories_removed"] == 2
    assert [one["id"] for one in client.agent_memories(AGENT)] == [merged["consolidated_memory"]["id"]]


def test_sessions(client: Any):
    session = client.start_session(AGENT, metadata={"channel": "web"})
    kept = client.store_memory(AGENT, "said in the session", session_id=session["id"])
    assert kept["session_state"] == "active"
    assert client.touch_session(session["id"]).is_active
    assert [one["id"] for one in client.session_memories(session["id"])] == [kept["id"]]
    assert client.session_memories(session["id"], content_preview_chars=4)[0]["content"] == "said"
    assert [one.id for one in client.recall(AGENT, "said", session_id=session["id"]).memories] == [kept["id"]]
    assert client.get_session(session["id"])["memory_count"] == 1
    assert client.end_session(session["id"], summary="We talked")["summary"] == "We talked"
    assert [one["id"] for one in client.list_sessions(AGENT)] == [session["id"]]
    assert client.agent_sessions(AGENT, active_only=True) == []


def test_agents_stats_and_waking_up(client: Any):
    assert client.create_agent(AGENT).created
    old = client.store_memory(AGENT, "old but dear", importance=1.0, event_time=datetime.now(UTC) - timedelta(days=60))
    new = client.store_memory(AGENT, "new", importance=0.5)
    woken = client.wake_up(AGENT, top_n=1)
    assert ([one.id for one in woken.memories], woken.total_available) == ([new["id"]], 2)
    assert client.agent_stats(AGENT)["total_memories"] == 2
    assert [one["agent_id"] for one in client.list_agents()] == [AGENT]
    assert [one["id"] for one in client.agent_memories(AGENT, limit=1, offset=1)] == [old["id"]]
    assert client.ops_stats()["total_vectors"] == 2
    assert client.is_ready()
    assert client.health()["status"] == "healthy"
    assert "haversack_requests" in client.ops_metrics()
    assert client.capabilities().supports_prefix_grants
    assert [one.name for one in client.list_namespaces()] == [AGENT]


def test_keys(client: Any, connect: Callable[..., Any], served: tuple[str, Haversack]):
    made = client.create_key("agent", scope="write", namespaces=["_dakera_agent_user-*"], expires_in_days=1)
    theirs = dakera.DakeraClient(served[0], api_key=made["key"], max_retries=1)
    assert (theirs.whoami().key_id, theirs.whoami().namespaces) == (made["key_id"], ["user-*"])
    assert theirs.store_memory(AGENT, "allowed")["id"]
    with pytest.raises(dakera.AuthorizationError):
        theirs.store_memory("bob", "not allowed")
    with pytest.raises(dakera.AuthorizationError):
        theirs.list_keys()
    assert made["key_id"] in {key["key_id"] for key in client.list_keys()["keys"]}
    assert client.update_key(made["key_id"], name="robot", namespaces=["bob"]).namespaces == ["bob"]
    rotated = client.rotate_key(made["key_id"], grace_secs=60)
    assert (rotated["old_key_id"], rotated["old_key_expires_at"] is not None) == (made["key_id"], True)
    assert theirs.whoami().name == "robot"
    assert client.key_usage(made["key_id"])["key_id"] == made["key_id"]
    client.deactivate_key(made["key_id"])
    with pytest.raises(dakera.AuthenticationError):
        theirs.whoami()
    assert client.get_key(made["key_id"])["active"] is False
    client.delete_key(made["key_id"])
    with pytest.raises(dakera.NotFoundError):
        client.get_key(made["key_id"])
    theirs.close()


@pytest.mark.parametrize("form", ["jsonl", "csv", "mem0", "zep"])
def test_export_and_import(client: Any, form: str):
    client.store_memory(AGENT, 'with "quotes", commas\nand lines', importance=0.7, tags=["a", "b"], metadata={"n": 1})
    client.store_memory(AGENT, "a step", memory_type="procedural")
    out = client.export_memories(form, AGENT)
    assert (out.count, out.skipped) == (2, 0)
    taken = client.import_memories(out.raw, form, agent_id="copy")
    assert (taken.imported_count, taken.skipped_count, taken.errors) == (2, 0, [])
    copied = client.agent_memories("copy")
    assert {(one["content"], one["memory_type"], one["importance"]) for one in copied} == {
        ('with "quotes", commas\nand lines', "episodic", 0.7), ("a step", "procedural", 0.5),
    }  # fmt: skip
    assert client.import_memories(out.raw, form, agent_id="copy").imported_count == 0


def test_a_bad_record_does_not_stop_an_import(client: Any):
    taken = client.import_memories([{"content": "good"}, {"nothing": 1}], "jsonl", agent_id=AGENT)
    assert (taken.imported_count, taken.skipped_count, len(taken.errors)) == (1, 1, 1)
    with pytest.raises(dakera.ValidationError, match="not jsonl"):
        client.import_memories("{broken", "jsonl", agent_id=AGENT)


def test_bad_records_among_many_are_told_apart(client: Any):
    records = [{"content": "\u200b" if number % 7 == 3 else f"note {number}"} for number in range(20)]
    taken = client.import_memories(records, "jsonl", agent_id=AGENT)
    assert (taken.imported_count, taken.skipped_count, len(taken.errors)) == (17, 3, 3)


def test_too_many_records_are_refused_and_none_is_kept(client: Any):
    with pytest.raises(dakera.DakeraError, match="50,000 records"):
        client.import_memories('{"content":"x"}\n' * 50_001, "jsonl", agent_id=AGENT)
    assert client.agent_memories(AGENT) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"content": "x", "metadata": "{no json"},
        {"content": "x", "importance": "high"},
        {"content": "x", "importance": [1]},
        {"content": "x", "event_time": "yesterdayish"},
        {"content": "\u200b"},
        {"content": ["x"]},
        [],
    ],
)
def test_every_kind_of_bad_record_is_reported_and_left_out(client: Any, wrong: object):
    taken = client.import_memories(
        [{"content": "before\u2028it"}, wrong, {"content": "after"}], "jsonl", agent_id=AGENT
    )
    assert (taken.imported_count, taken.skipped_count, len(taken.errors)) == (2, 1, 1)
    assert {one["content"] for one in client.agent_memories(AGENT)} == {"before\u2028it", "after"}


def test_a_table_with_a_cell_beyond_measure_is_refused(client: Any):
    with pytest.raises(dakera.ValidationError, match="not csv"):
        client.import_memories("content\n" + "x" * 200_000, "csv", agent_id=AGENT)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("knowledge_graph", (AGENT, "x")),
        ("compress_agent", (AGENT,)),
        ("query_text", ("ns", "words")),
        ("create_namespace", ("ns", 3)),
        ("delete_namespace", ("ns",)),
        ("list_audit_events", ()),
        ("decay_config", ()),
        ("get_memory_policy", ("ns",)),
        ("autopilot_status", ()),
    ],
)
def test_what_is_not_offered_says_so_by_name(client: Any, name: str, arguments: tuple[object, ...]):
    with pytest.raises(dakera.FeatureNotAvailableError, match=rf"{name}\(\)"):
        getattr(client, name)(*arguments)


def test_the_same_words_again_are_the_same_memory_and_it_says_so(client: Any):
    first = client.store_memory(AGENT, "once", importance=0.5)
    more = client.store_memory(AGENT, "once", importance=0.9)
    assert (more["id"], "warnings" in more) == (first["id"], False)
    less = client.store_memory(AGENT, "once", importance=0.2)
    assert less["id"] == first["id"]
    assert "id was not changed" in less["warnings"][0]
    assert client.get_memory(AGENT, first["id"])["importance"] == 0.9


def test_an_agent_may_give_its_memories_ids_of_its_own(connect: Callable[..., Any], client: Any):
    def store(*items: tuple[str, str | None], agent: str = AGENT) -> list[Any]:
        told = [dakera.BatchStoreMemoryItem(content, id=name) for content, name in items]
        return client.store_memories_batch(dakera.BatchStoreMemoryRequest(agent, told)).stored

    assert [one.id for one in store(("Alice lives in Rome", "home"), ("Alice likes tea", "tea"))] == ["home", "tea"]
    store(("Bob lives in Bonn", "home"), agent="user-bob")
    read = client.get_memory(AGENT, "home")
    assert (read["id"], read["content"], read["metadata"]) == ("home", "Alice lives in Rome", {})
    store(("Alice lives in Oslo", "home"))
    assert [one["content"] for one in client.agent_memories(AGENT)] == ["Alice likes tea", "Alice lives in Oslo"]
    assert client.get_memory("user-bob", "home")["content"] == "Bob lives in Bonn"
    reached = connect("write", ["user-bob"])
    assert reached.get_memory(None, "home")["content"] == "Bob lives in Bonn"
    assert client.update_memory(AGENT, "home", metadata={"a": 1})["metadata"] == {"a": 1}
    assert client.update_importance(AGENT, ["home"], 0.7)["memory_id"] == "home"
    assert client.memory_feedback(AGENT, "home", "upvote")["memory_id"] == "home"
    assert len(client.get_memory_feedback_history("home", AGENT).entries) == 1
    assert client.recall(AGENT, "Oslo").memories[0].id == "home"
    merged = client.consolidate(AGENT, memory_ids=["home", "tea"])
    assert merged["source_memory_ids"] == ["home", "tea"]
    assert merged["consolidated_memory"]["id"] not in {"home", "tea"}
    assert {one.id for one in client.list_deduplicated(AGENT).memories} == {"home", "tea"}
    assert client.restore_deduplicated(AGENT, "home")["id"] == "home"
    assert client.forget(AGENT, "home")["memory_ids"] == ["home"]
    assert store(("Alice lives in Bergen", "home"))[0].id == "home"
    assert client.get_memory(AGENT, "home")["content"] == "Alice lives in Bergen"


def test_an_id_goes_to_what_was_remembered_without_one(client: Any):
    first = client.store_memory(AGENT, "once")
    item = dakera.BatchStoreMemoryItem("once", id="mine")
    again = client.store_memories_batch(dakera.BatchStoreMemoryRequest(AGENT, [item])).stored[0]
    assert again.id == "mine"
    assert client.get_memory(AGENT, "mine")["content"] == client.get_memory(AGENT, first["id"])["content"] == "once"
    twice = [dakera.BatchStoreMemoryItem("a", id="same"), dakera.BatchStoreMemoryItem("b", id="same")]
    with pytest.raises(dakera.ValidationError, match="twice"):
        client.store_memories_batch(dakera.BatchStoreMemoryRequest(AGENT, twice))


def test_a_wrong_key_is_an_authentication_error(served: tuple[str, Haversack]):
    stranger = dakera.DakeraClient(served[0], api_key="dk-wrong", max_retries=1)
    with pytest.raises(dakera.AuthenticationError):
        stranger.recall(AGENT, "x")
    stranger.close()
