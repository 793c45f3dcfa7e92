"""Law 15: the time of every compiled pattern, and of every entrance for text, grows in proportion to what is sent."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType

import pytest
from bench.growth.entrances import CROWDS, ENTRANCES, LEFT_OUT, Bed, Call, bed
from bench.growth.hostile import run
from bench.growth.measure import MOST, undisturbed
from bench.growth.patterns import SCAN, Found, every_pattern, patterns_of
from bench.growth.run import Worst, worst_of_crowd, worst_of_entrance, worst_of_pattern

from haversack import Namespace, Session
from haversack.assemble import Format
from haversack.assemble.prompt import SHAPES
from haversack.engine.correcting import Knowledge
from haversack.engine.importing import Imported
from haversack.engine.maintaining import NamespaceMaintenance
from haversack.transfer import FORMATS

pytestmark = pytest.mark.slow


SLICES = 4
"""Patterns are shared out over so many tests, which run beside each other."""
SQUARED = {
    "a run of blanks tried again from each blank": r"\s*\S{1,200}(?:\s+\S{1,200}){0,39}\s*",
    "a word tried again from each letter": r"([\w.+-]+@[\w-]+\.[\w.-]+)|((?:[\w.-]*/)+[\w.-]+\w)",
    "a line end looked for behind each blank": r"(?m)^#{1,6}[ \t]+(.+?)[ \t]*#*$",
    "blanks shared out between two repeats": r"(?i)<(?=\s*/?\s*memor)",
    "line ends tried again from each": r"(?:^|\n)\s*(?:\#+\s*)?(?:system|developer|assistant)"
    r"\s*(?:prompt|message)?\s*:",
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
    assert out_of_proportion(worst) == {}


@pytest.mark.parametrize("words", SQUARED.values(), ids=SQUARED.keys())
def test_a_pattern_that_starts_again_and_again_is_seen(words: str):
    with undisturbed():
        _, growth = worst_of_pattern(Found(place="here", pattern=re.compile(words), ways=frozenset({SCAN})))
    assert growth.is_too_much


@pytest.fixture(scope="module")
def place() -> Iterator[Bed]:
    with bed() as made:
        yield made


def out_of_proportion(worst: dict[str, Worst]) -> dict[str, Worst]:
    return {name: one for name, one in worst.items() if one[1].ratio > MOST}


@pytest.mark.parametrize("part", range(SLICES))
@pytest.mark.timeout(600)
def test_the_time_of_every_entrance_grows_with_the_text(place: Bed, part: int):
    with undisturbed():
        worst = {name: worst_of_entrance(place, ENTRANCES[name]) for name in [*ENTRANCES][part::SLICES]}
    assert out_of_proportion(worst) == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", ENTRANCES)
@pytest.mark.timeout(600)
def test_the_time_of_every_entrance_grows_with_texts_of_all_kinds(place: Bed, name: str):
    with undisturbed():
        worst = worst_of_entrance(place, ENTRANCES[name], full=True)
    assert worst[1].ratio <= MOST, worst


@pytest.mark.timeout(300)
def test_the_time_for_many_memories_grows_with_their_number(place: Bed):
    with undisturbed():
        worst = {name: worst_of_crowd(place, crowd) for name, crowd in CROWDS.items()}
    assert out_of_proportion(worst) == {}


@pytest.mark.parametrize("name", ENTRANCES)
def test_an_entrance_takes_an_ordinary_text(place: Bed, name: str):
    taken = ENTRANCES[name](place, run("We use the boat. ", "It is old. ", "And then?", 400))()
    if name.startswith("Namespace.bring_in"):
        assert isinstance(taken, Imported)
        assert (taken.problems, taken.turns + taken.memories > 0) == ([], True)


def walked_again_and_again(_: Bed, size: int) -> Call:
    """What came from the first of a chain, found by walking over all of it for each."""
    links = [(number, number - 1) for number in reversed(range(1, size))]

    def found() -> set[int]:
        gone, before = {0}, 0
        while len(gone) > before:
            before = len(gone)
            gone |= {made for made, origin in links if origin in gone}
        return gone

    return found


def held_against_all(_: Bed, size: int) -> Call:
    """Statements of shared words, each held against every one before it."""
    said = [frozenset(f"the boat of the old harbour number {number}".split()) for number in range(size)]
    return lambda: [[len(one & other) for other in said[:place]] for place, one in enumerate(said)]


@pytest.mark.parametrize("slow", [walked_again_and_again, held_against_all])
def test_work_that_looks_at_all_for_each_is_seen(place: Bed, slow: Callable[[Bed, int], Call]):
    with undisturbed():
        assert worst_of_crowd(place, slow)[1].is_too_much


def test_an_entrance_that_reads_the_rest_for_each_sign_is_seen(place: Bed):
    def slow(_: Bed, text: str) -> Call:
        return lambda: [len(text[place:].strip()) + text[place:].count("boat") for place in range(len(text))]

    with undisturbed():
        assert worst_of_entrance(place, slow)[1].is_too_much


@pytest.mark.parametrize("door", [Namespace, Session, Knowledge, NamespaceMaintenance])
def test_every_public_verb_is_an_entrance_or_left_out_with_a_reason(door: type):
    verbs = {name for name, value in vars(door).items() if not name.startswith("_") and not isinstance(value, property)}
    entered = {
        name.split()[0].partition(".")[2] for name in [*ENTRANCES, *CROWDS] if name.startswith(f"{door.__name__}.")
    }
    left_out = set(LEFT_OUT[door.__name__])
    assert entered | left_out == verbs
    assert entered & left_out == set()


def test_every_format_and_shape_is_an_entrance():
    wanted = {f"Namespace.bring_in {name}" for name in FORMATS} | {f"Namespace.context in {form}" for form in Format}
    assert wanted | {f"wire {shape}" for shape in SHAPES} <= set(ENTRANCES)


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
