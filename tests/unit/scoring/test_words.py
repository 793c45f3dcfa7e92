from __future__ import annotations

import unicodedata

import pytest

from haversack.scoring.words import key_of, query_keys, split, word_keys


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Re-index v3.1, rock'n'roll!", ["re", "index", "v3", "rock'n'roll", "rock", "roll", "reindex", "3.1"]),
        ("O'Brien’s, O’Neil", ["o'brien’s", "o’neil", "brien", "neil"]),
        ("İstanbul'da", ["i\u0307stanbul'da", "i\u0307stanbul"]),
        ("don't, it's, we’ve, y'all, l'école", ["don't", "it's", "we’ve", "y'all", "l'école"]),
        ("Herr Müller", ["herr", "müller", "mueller"]),
        ("הפגישה", ["הפגישה", "פגישה"]),
        ("הים", ["הים"]),
        ("C++ at 40 MB/s", ["c", "at", "mb", "s", "c++", "40", "40mb", "40MB", "4e+07=B"]),
        ("rated 10/10", ["rated", "10", "10"]),
        ("1 1/2", ["1.5", "1", "2"]),
        ("minus 1/2", ["-0.5", "1", "2"]),
        ("7:05 hundred", ["hundred", "7:05"]),
        ("1100 AM", ["am", "1100"]),
        ("we may 5 minutes", ["we", "may", "minutes", "5", "5minutes", "5min", "300=s"]),
        ("C# or C", ["c", "or", "c", "c#"]),
        ("from the U.S.A.", ["from", "the", "u", "s", "a", "usa"]),
        ("on 2024-05-01, a to-do-list", ["on", "a", "to", "do", "list", "todolist", "2024", "@2024-05-01", "@05-01"]),
        ("party 🎉🎂", ["party", "🎉", "🎂"]),
        ("co\u00adoperate", ["cooperate"]),
        ("मीटिंग है", ["मीटिंग", "है"]),
        ("snake_case", ["snake", "case", "snakecase"]),
        ("a\x00b", ["a", "b"]),
        ("図書館", ["図", "書", "館", "図書", "書館"]),
        ("NAS清单", ["nas", "清", "单", "清单"]),
        ("회의는 오후", ["회", "의", "는", "회의", "의는", "오", "후", "오후"]),
        ("ＡＢＣ", ["abc"]),
        ("", []),
    ],
)
def test_split(text: str, words: list[str]) -> None:
    assert split(text) == words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("running", "runs"),
        ("Melanie's", "melanie"),
        ("I'm", "i"),
        ("don’t", "don't"),
        ("Café", "cafe"),
        ("Straße", "STRASSE"),
        ("книги", "книга"),
        ("интересный", "интересные"),
        ("ёлка", "елки"),
        ("İstanbul", "istanbul"),
        ("łódź", "lodz"),
        ("հանդիպումը", "հանդիպում"),
        ("கூட்டங்கள்", "கூட்டம்"),
        ("smørrebrød", "smorrebrod"),
        ("مَكْتَبَة", "المكتبة"),
        ("שָׁלוֹם", "שלום"),
        ("e-mail", "e mail email"),
        (unicodedata.normalize("NFD", "Málaga"), "malaga"),
    ],
)
def test_forms_of_a_word_share_a_key(one: str, other: str) -> None:
    assert word_keys(split(one)) == word_keys(split(other))


def test_different_words_have_different_keys() -> None:
    assert len({key_of(word) for word in ["ship", "shop", "図", "図書", "рыба"]}) == 5


def test_a_query_leaves_question_words_out_but_keeps_persons() -> None:
    assert list(query_keys("What did I tell you about my ferry?").values()) == ["i", "you", "my", "ferry"]


def test_a_query_of_function_words_alone_keeps_them() -> None:
    assert list(query_keys("what is it").values()) == ["what", "is", "it"]


def test_a_query_in_an_unspaced_script_asks_for_pairs_and_ideographs() -> None:
    assert list(query_keys("図書館 会").values()) == ["図書", "書館", "図", "書", "館", "会"]
