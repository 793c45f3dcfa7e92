from __future__ import annotations

import gzip
import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from haversack.errors import InputError, NotFoundError
from haversack.evaluation.chart import draw
from haversack.evaluation.conversations import Conversation, load
from haversack.evaluation.measure import Answer, measure, summarise
from haversack.wiring import open_haversack

OWN = {
    "name": "boat",
    "turns": [
        {"id": "1", "session": "a", "speaker": "Mira", "text": "The boat is called Petrel.", "at": "2026-01-01"},
        {"id": "2", "session": "a", "speaker": "Mira", "text": "She is painted ivory.", "at": "2026-01-01"},
        {"id": "3", "session": "b", "speaker": "Mira", "text": "Tea is at four.", "at": "2026-02-01"},
    ],
    "questions": [
        {"text": "What is the boat called?", "gold": ["1"], "category": "name"},
        {"text": "When is tea?", "gold": [3, "unknown"], "category": "time"},
        {"text": "Unanswerable?", "gold": ["nowhere"]},
    ],
}

LOCOMO = [
    {
        "sample_id": "c1",
        "conversation": {
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ana", "dia_id": "D1:1", "text": "Hi"},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "Look", "blip_caption": "a red kite"},
            ],
        },
        "qa": [
            {"question": "What did Ben show?", "evidence": ["D1:2; D9:17"], "category": 1},
            {"question": "Adversarial?", "evidence": ["D1:1"], "category": 5},
            {"question": "No evidence?", "evidence": ["D:11:26"], "category": 2},
        ],
    }
]

BEAM = [
    {
        "id": 7,
        "chat": [
            {
                "batch_number": 1,
                "turns": [
                    [
                        {
                            "id": 0,
                            "role": "user",
                            "content": "My port is 5432 ->-> 1,1",
                            "time_anchor": "March-15-2024",
                        },
                        {"id": 1, "role": "assistant", "content": "Noted."},
                    ]
                ],
            }
        ],
        "probing_questions": {
            "facts": [{"question": "Which port?", "source_chat_ids": {"a": [0, [1]]}}],
            "abstention": [{"question": "?", "source_chat_ids": [0]}],
        },
    }
]


def written(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "data"
    path.write_bytes(data)
    return path


def test_own_lines_name_turns_and_gold(tmp_path: Path) -> None:
    (talk,) = load(written(tmp_path, json.dumps(OWN).encode() + b"\n"))
    assert [(turn.id, turn.session) for turn in talk.turns] == [("1", "a"), ("2", "a"), ("3", "b")]
    assert [(query.text, query.gold) for query in talk.queries] == [
        ("What is the boat called?", {"1"}),
        ("When is tea?", {"3"}),
    ]


def test_locomo_leaves_out_what_the_protocol_leaves_out(tmp_path: Path) -> None:
    (talk,) = load(written(tmp_path, json.dumps(LOCOMO).encode()))
    assert [(query.text, query.gold) for query in talk.queries] == [("What did Ben show?", {"D1:2"})]
    assert talk.turns[1].text == "Look\n[image: a red kite]"
    assert talk.turns[0].at.isoformat() == "2023-05-08T13:56:00+00:00"


def test_beam_loses_its_markers_and_its_abstentions(tmp_path: Path) -> None:
    (talk,) = load(written(tmp_path, gzip.compress(json.dumps(BEAM).encode())))
    assert [turn.text for turn in talk.turns] == ["My port is 5432", "Noted."]
    assert [(query.text, query.gold, query.category) for query in talk.queries] == [
        ("Which port?", {"0", "1"}, "facts")
    ]


@pytest.mark.parametrize("data", [b"{}", b"[1]", b"not json", b"\x1f\x8bbroken", b'{"turns": [{}], "questions": []}'])
def test_another_file_is_refused_by_name(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(InputError, match="no LoCoMo, BEAM or own file"):
        load(written(tmp_path, data))


@pytest.mark.parametrize("data", [b"", b"[]", b"\n", b'{"turns": [], "questions": [{"text": "When?", "gold": ["1"]}]}'])
def test_a_file_that_asks_nothing_is_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(InputError, match="no question"):
        load(written(tmp_path, data))


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="one has no 'turns'"):
        load(written(tmp_path, b"{}"))


def test_lines_end_at_line_ends_alone(tmp_path: Path) -> None:
    words = "one\u2028two\x85three"
    line = json.dumps(OWN).replace("called Petrel", words)
    (talk,) = load(written(tmp_path, f"{line}\r\n  \n".encode()))
    assert words in talk.turns[0].text


def test_a_missing_file_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        load(tmp_path / "nope")


def measured(tmp_path: Path) -> list[Answer]:
    talks: list[Conversation] = load(written(tmp_path, json.dumps(OWN).encode()))
    seen: list[tuple[int, int]] = []
    answers = list(
        measure(
            lambda: open_haversack(":memory:", embedder="none"),
            talks,
            (0, 20, 200),
            watch=lambda done, total: seen.append((done, total)),
        )
    )
    assert seen == [(1, 2), (2, 2)]
    return answers


def test_recall_is_the_share_of_gold_turns_that_stand_in_the_context(tmp_path: Path) -> None:
    answers = measured(tmp_path)
    assert [(row.budget, row.recall) for row in answers] == [(0, 0), (20, 1), (200, 1)] * 2
    scores = summarise("ours", answers)
    assert (scores.questions, [(each.budget, each.recall, each.over) for each in scores.by_budget]) == (
        2,
        [(0, 0, 0), (20, 1, 0), (200, 1, 0)],
    )
    assert scores.by_category == {"name": (0, 1, 1), "time": (0, 1, 1)}


def test_the_chart_is_a_picture_with_a_line_for_each_system(tmp_path: Path) -> None:
    scores: list[Any] = [summarise(name, measured(tmp_path)) for name in ("ours", "<theirs>")]
    picture = ET.fromstring(draw(scores, "A & B"))  # noqa: S314 - our own
    space = "{http://www.w3.org/2000/svg}"
    assert len(picture.findall(f"{space}polyline")) == 2
    texts = [node.text for node in picture.findall(f"{space}text")]
    assert {"A & B", "ours", "<theirs>", "200"} <= set(texts)


def own(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "own.jsonl"
    path.write_text(text, "utf-8")
    return path


def test_own_lines_need_say_little(tmp_path: Path) -> None:
    turns = [{"id": 1, "text": "The boat\u2028is blue", "at": 1700000000}, {"id": "b", "text": "Tea at four"}]
    line = json.dumps({"turns": turns, "questions": [{"text": "tea", "gold": "b"}]}, ensure_ascii=False)
    (talk,) = load(own(tmp_path, f"\n{line}\n\n"))
    assert [(turn.id, turn.session, turn.speaker) for turn in talk.turns] == [
        ("1", "session", "user"),
        ("b", "session", "user"),
    ]
    assert talk.turns[1].at == talk.turns[0].at
    assert [query.gold for query in talk.queries] == [frozenset({"b"})]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no question whose evidence is among its turns"),
        ("[]", "holds no question"),
        ('{"turns": [], "questions": []}', "holds no question"),
        ('{"turns": [{"id": 1, "text": "x"}], "questions": [{"text": "x", "gold": ["2"]}]}', "holds no question"),
        ("{}\nnot json", "line 2 is not JSON"),
        ('{"turns": [{"id": 1}], "questions": []}', "one has no 'text'"),
        ('{"turns": [{"id": 1, "text": 5}], "questions": []}', "text must be a string, not int"),
        ('{"turns": [{"id": 1, "text": "x", "at": "soon"}], "questions": []}', "at='soon' is not a time"),
        ('{"turns": [{"id": 1, "text": "x"}, {"id": 1, "text": "y"}], "questions": []}', "two turns have the id 1"),
        ('{"turns": [], "questions": [{"text": " ", "gold": []}]}', "a question is blank"),
        ('{"turns": 5}', "not iterable"),
    ],
)
def test_a_file_that_cannot_be_measured_says_why(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(own(tmp_path, text))
