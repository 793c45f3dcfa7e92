from __future__ import annotations

import pytest

from haversack.llm.anchors import anchors, is_decision, is_request, sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We meet Alice Smith in Berlin.", {"alice", "smith", "berlin"}),
        ("Thanks! The plan is fine.", set[str]()),
        ("Bob: I like tea", set[str]()),
        ("It costs $1,200.50 or 15% more", {"$1,200.50", "15%"}),
        ("Call at 10:30 on 2026-03-01", {"10:30", "2026-03-01"}),
        ("due March 3rd, 2026 or on Friday", {"march 3rd, 2026", "friday"}),
        ("run `make test` in src/app/main.py", {"make test", "src/app/main.py"}),
        ("use parse_config, readFile and close()", {"parse_config", "readfile", "close()"}),
        ("see https://example.org/a?b=1 now", {"https://example.org/a?b=1"}),
        ("commit 3fa9c1d broke NASA's build", {"3fa9c1d", "nasa"}),
        ("see a.b.close() and 2.open() in --app.py or src/bin/", {"2", "a.b.close()", "open()", "app.py", "src/bin"}),
        ("mail to <ann.lee+x@mail.example.org>, not a@b", {"ann.lee+x@mail.example.org"}),
        ("well - Alice or else: Bob", set[str]()),
        ("", set[str]()),
    ],
)
def test_what_must_not_be_lost(text: str, expected: set[str]) -> None:
    assert anchors(text) == expected


def test_a_copy_is_found_again() -> None:
    assert anchors("Paid to ALICE on friday") >= {"alice", "friday"}


def test_sentences_end_at_marks_and_lines() -> None:
    assert sentences('One. "Two!" Three\n\nfour。五！六') == ["One.", '"Two!"', "Three", "four。", "五！", "六"]
    assert sentences(" \n ") == []


@pytest.mark.parametrize("text", ["We decided on blue", "Let's go with Postgres", "never deploy on Friday"])
def test_decisions(text: str) -> None:
    assert is_decision(text)


def test_small_talk_is_no_decision_and_no_request() -> None:
    assert not is_decision("nice weather")
    assert not is_request("nice weather")


@pytest.mark.parametrize("text", ["Is it done?", "Please send it", "TODO: tests", "できますか？"])
def test_requests(text: str) -> None:
    assert is_request(text)
