"""Law 15: the time of every compiled pattern, and of every entrance for text, grows in proportion to what is sent."""

from __future__ import annotations

import re
from functools import cache
from types import ModuleType

import pytest
from bench.growth.measure import MOST, undisturbed
from bench.growth.patterns import SCAN, Found, every_pattern, patterns_of
from bench.growth.run import worst_of_pattern

SLICES = 4
"""Patterns are shared out over so many tests, which run beside each other."""
SQUARED = {
    "a run of blanks tried again from each blank": r"\s*\S{1,200}(?:\s+\S{1,200}){0,39}\s*",
    "a word tried again from each letter": r"([\w.+-]+@[\w-]+\.[\w.-]+)|((?:[\w.-]*/)+[\w.-]+\w)",
    "a line end looked for behind each blank": r"(?m)^#{1,6}[ \t]+(.+?)[ \t]*#*$",
    "blanks shared out between two repeats": r"(?i)<(?=\s*/?\s*memor)",
    "line ends tried again from each": r"(?:^|\n)\s*(?:\#+\s*)?(?:system|developer)\s*(?:prompt|message)?\s*:",
    "the rest of a line looked through for each word": r"(?i)\b(?:not .+ but|geen .+ meer)\b",
    "digits tried again from each": r"(?P<count>\d+|[一二三]{1,3})\s*(?:天|日)",
    "repeats within repeats": r"(?:a|aa)+$",
}


@cache
def patterns() -> list[Found]:
    return every_pattern()


@pytest.mark.parametrize("part", range(SLICES))
@pytest.mark.timeout(600)  # a busy machine; the work itself is some seconds
def test_the_time_of_every_pattern_grows_with_the_text(part: int):
    with undisturbed():
        worst = {one.place: worst_of_pattern(one) for one in patterns()[part::SLICES]}
    assert {place: found for place, found in worst.items() if found[1].ratio > MOST} == {}


@pytest.mark.parametrize("words", SQUARED.values(), ids=SQUARED.keys())
def test_a_pattern_that_starts_again_and_again_is_seen(words: str):
    with undisturbed():
        _, growth = worst_of_pattern(Found(place="here", pattern=re.compile(words), ways=frozenset({SCAN})))
    assert growth.is_too_much


def module(source: str) -> ModuleType:
    made = ModuleType("made")
    exec(compile(source, "made", "exec"), vars(made))  # noqa: S102 - the sources below
    return made


def places(source: str) -> set[tuple[str, str, tuple[str, ...]]]:
    return {(one.place, one.pattern.pattern, tuple(sorted(one.ways))) for one in patterns_of(module(source), source)}


def test_patterns_are_found_wherever_a_module_keeps_them():
    assert places("import re\nONE = re.compile('a+')\ndef f(x):\n    return ONE.match(x)\n") == {
        ("made:ONE", "a+", ("match",))
    }
    assert places("import re\nRULES = {'x': [(re.compile(w), 1) for w in ('b+', 'c+')]}\n") == {
        ("made:RULES", "b+", (SCAN,)),
        ("made:RULES", "c+", (SCAN,)),
    }
    inside = (
        "import re\nclass One:\n    KEY = re.compile('d+')\n    def f(self, x):\n        return self.KEY.sub('', x)\n"
    )
    assert places(inside) == {("made:One", "d+", (SCAN,))}
    cached = (
        "import re\nfrom functools import cache\n"
        "@cache\ndef rules():\n    return [re.compile(w) for w in ('e+', 'f+')]\n"
    )
    assert places(cached) == {("made:rules", "e+", (SCAN,)), ("made:rules", "f+", (SCAN,))}


def test_patterns_inside_functions_are_found_in_the_source():
    called = "import re\nPART = 'g'\ndef f(x):\n    return re.fullmatch(rf'{PART}+', x)\n"
    assert places(called) == {("made:4", "g+", ("fullmatch",))}
    assert places("import re\ndef f(x):\n    return re.compile('H+', re.IGNORECASE).sub('', x)\n") == {
        ("made:3", "H+", (SCAN,))
    }


@pytest.mark.parametrize("call", ["re.compile(words)", "re.sub(words, '', x)"])
def test_a_pattern_that_nothing_shows_is_refused(call: str):
    with pytest.raises(LookupError, match="made"):
        places(f"import re\ndef f(words, x):\n    return {call}\n")
