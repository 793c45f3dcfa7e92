"""Memories of other systems."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from haversack.model.memory import Kind

Read = Callable[..., Any]
ENTITIES = [
    {"type": "entity", "name": "bed_1", "entityType": "garden_bed", "observations": ["faces south", "clay"]},
    {"type": "entity", "name": "bed_2", "entityType": "", "observations": []},
]
RELATION = {"type": "relation", "from": "bed_1", "to": "bed_2", "relationType": "next_to"}
EXPECTED = [
    (Kind.ENTITY, "bed_1 (garden_bed): faces south", ("bed_1",), {"entity_type": "garden_bed"}),
    (Kind.ENTITY, "bed_1 (garden_bed): clay", ("bed_1",), {"entity_type": "garden_bed"}),
    (Kind.ENTITY, "bed_2", ("bed_2",), {}),
    (Kind.RELATION, "bed_1 next_to bed_2", ("bed_1", "bed_2"), {"relation_type": "next_to"}),
]


def brief(result: Any) -> list[Any]:
    return [(one.kind, one.content, one.entities, one.metadata) for one in result.memories]


def test_the_graph_in_lines_and_as_one_object(read: Read):
    lines = read({"memory.jsonl": [*ENTITIES, RELATION]})
    whole = read({"graph.json": {"entities": ENTITIES, "relations": [RELATION]}})
    assert (lines.reading.format, brief(lines)) == ("mcp-memory", EXPECTED)
    assert (whole.reading.format, whole.memories) == ("mcp-memory", lines.memories)


def test_ids_are_the_same_again_and_all_different(read: Read):
    ids = [one.id for one in read({"memory.jsonl": [*ENTITIES, RELATION]}).memories]
    assert ids == [one.id for one in read({"other.jsonl": [*ENTITIES, RELATION]}).memories]
    assert len(set(ids)) == 4
    assert {len(one) for one in ids} == {26}


def test_bad_records_lose_only_themselves(read: Read):
    result = read({"memory.jsonl": [ENTITIES[1], {"type": "entity"}, {"type": "edge"}, RELATION]})
    assert [one.content for one in result.memories] == ["bed_2", "bed_1 next_to bed_2"]
    assert result.problems == [
        "memory.jsonl: line 2: name must be a string, not missing",
        "memory.jsonl: line 3: type='edge' is neither 'entity' nor 'relation'",
    ]


def test_remembered_sentences(read: Read):
    mem0 = {
        "results": [
            {
                "id": "u-1",
                "memory": "Likes tea",
                "created_at": "2025-01-02T03:04:05Z",
                "categories": ["food"],
                "metadata": {"n": 1},
            }
        ]
    }
    zep = {"facts": [{"uuid": "z", "fact": "Lives in Ulm", "valid_at": "2020-01-01", "invalid_at": "2024-01-01"}]}
    first, second = read({"a.json": mem0, "b.json": zep}).memories
    assert (first.kind, first.content, first.tags, first.metadata) == (Kind.FACT, "Likes tea", ("food",), {"n": 1})
    assert first.at == datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert (second.content, second.valid_from, second.valid_to) == (
        "Lives in Ulm",
        datetime(2020, 1, 1, tzinfo=UTC),
        datetime(2024, 1, 1, tzinfo=UTC),
    )


def test_a_memory_keeps_its_id_when_its_words_change(read: Read):
    (before,) = read({"a.json": [{"id": 7, "memory": "Likes tea"}]}).memories
    (after,) = read({"a.json": [{"id": 7, "memory": "Likes coffee"}]}).memories
    assert before.id == after.id


def test_a_memory_without_words_is_a_problem(read: Read):
    result = read({"a.json": [{"memory": "x"}, {"memory": ""}]})
    assert [one.content for one in result.memories] == ["x"]
    assert result.problems == ["a.json: element 2: a memory needs its words under one of memory, fact, content, text"]


def test_what_a_dump_says_of_a_memory_is_kept(read: Read):
    said = {"content": "Use OAuth", "kind": "decision", "importance": 0.9, "confidence": 0.5, "pinned": True}
    more = {"tags": ["api"], "entities": ["OAuth"], "expires_at": "2030-01-01"}
    theirs, bad = {"content": "x", "memory_type": "episodic"}, {"content": "y", "importance": 7}
    result = read({"a.jsonl": [said | more, theirs, bad]})
    one, other, third = result.memories
    assert (one.kind, one.importance, one.confidence, one.pinned) == (Kind.DECISION, 0.9, 0.5, True)
    assert (one.tags, one.entities, one.expires_at) == (("api",), ("OAuth",), datetime(2030, 1, 1, tzinfo=UTC))
    assert (other.kind, other.importance, other.metadata) == (Kind.FACT, 0.5, {"kind": "episodic"})
    assert (third.content, third.importance) == ("y", 0.5)
    assert result.warnings == ["a.jsonl: line 3: importance=7 is no number from 0 to 1; read as unknown"]


def test_a_tables_rows_are_memories_or_messages(read: Read):
    table = 'content;importance;tags;metadata\r\n"Likes; ""tea""\nand cake";0.8;"a, b";"{""n"":1}"\r\n;;;\r\n1;2;3;4;5'
    result = read({"a.csv": table})
    (one,) = result.memories
    assert (one.content, one.importance, one.tags, one.metadata) == (
        'Likes; "tea"\nand cake',
        0.8,
        ("a", "b"),
        {"n": 1},
    )
    assert result.problems == [
        "a.csv: row 3: a memory needs its words under one of memory, fact, content, text",
        "a.csv: row 4: has more cells than the first row has names",
    ]
    chat = read({"b.tsv": "role\tcontent\nuser\thello\nassistant\thi, you"})
    assert (chat.reading.format, chat.lines) == ("openai", [["user: hello", "assistant: hi, you"]])
    assert read({"c.csv": "a,b\n1,2"}).problems[0].startswith("c.csv: looks like none of the known formats")


def test_times_stand_under_many_names(read: Read):
    dump = [
        {"text": "deploy at noon", "ts": "1700000000.000100"},
        {"text": "lives in Rome", "valid_at": "2024-01-01T00:00:00Z"},
        {"text": "has a dog", "event_time": "2024-02-02 10:00:00 UTC"},
    ]
    found = read({"a.json": dump}).memories
    assert [memory.at.isoformat() for memory in found] == [
        "2023-11-14T22:13:20.000100+00:00",
        "2024-01-01T00:00:00+00:00",
        "2024-02-02T10:00:00+00:00",
    ]
