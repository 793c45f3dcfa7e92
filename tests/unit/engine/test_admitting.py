"""How statements join what is remembered, through the public verbs, with vectors and without."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence

import pytest

from haversack.embed.embedder import Vectors
from haversack.embed.static import StaticEmbedder
from haversack.engine.core import Core
from haversack.engine.haversack import Haversack
from haversack.engine.namespace import Namespace
from haversack.engine.settings import Settings
from haversack.errors import ConflictError, InputError
from haversack.recall import Recall, View
from haversack.store.memory import MemoryStore
from haversack.store.port import Applied, Batch
from haversack.tokens import counter_for

from .conftest import Counting, Ticking


@pytest.fixture(params=["vectors", "words"])
def both(request: pytest.FixtureRequest) -> Namespace:
    return open_over(MemoryStore(), vectors=request.param == "vectors").namespace("n")


def open_over(store: MemoryStore, *, vectors: bool) -> Haversack:
    embedder = StaticEmbedder() if vectors else None
    return Haversack(
        Core(
            store=store,
            recall=Recall(store, embedder),
            embedder=embedder,
            settings=Settings(),
            clock=Ticking(),
            entropy=Counting(),
            counter=counter_for,
        )
    )


def live(ns: Namespace, **chosen: str) -> list[str]:
    return sorted(memory.content for memory in ns.everything(**chosen))  # pyright: ignore[reportArgumentType]


def test_mem_01_letters_of_every_script_keep_statements_apart(both: Namespace) -> None:
    first = ["会議は木曜日", "予算は五十万円", "Встреча в среду", "الاجتماع يوم الأحد", "build 9 は青", "build 9 は赤"]
    for text in first:
        assert both.remember(text).superseded_by is None
    cafe = "café opens at nine"
    for text in (cafe, unicodedata.normalize("NFD", cafe), "  Café   opens at NINE ", "会議は木曜日"):
        both.remember(text)
    assert live(both) == sorted([*first, cafe])
    assert both.stats().memories == {"fact": 7}


@pytest.mark.parametrize(
    "over", [{"expires_at": "2026-01-02"}, {"valid_to": "2026-01-02"}, {"valid_from": "2999-01-01"}]
)
def test_what_is_told_again_is_remembered_although_the_earlier_one_is_not_true_now(
    both: Namespace, over: Mapping[str, str]
) -> None:
    both.remember("The pass for the north gate is blue", **over)  # pyright: ignore[reportArgumentType]
    again = both.remember("The pass for the north gate is blue")
    assert [hit.id for hit in both.recall("the pass for the north gate")] == [again.id]
    assert both.remember("the PASS for the north gate is blue").id == again.id


def test_mem_02_a_contradiction_ends_what_it_contradicts(both: Namespace) -> None:
    friday = both.remember("The team ships on Fridays", event_time="2026-01-01")
    monday = both.remember("The team does not ship on Fridays any more, it ships on Mondays", event_time="2026-02-01")
    assert [hit.id for hit in both.recall("When does the team ship?")] == [monday.id]
    assert live(both, as_of="2026-01-15") == [friday.content]
    assert live(both, as_of="2026-02-15") == [monday.content]
    old = both.get(friday.id)
    assert (old.superseded_by, old.valid_to) == (monday.id, monday.event_time)
    assert both.get(monday.id).valid_from == monday.event_time


@pytest.mark.parametrize(
    "pair",
    [
        ("Pump North runs at 40 percent", "Pump South runs at 40 percent"),
        ("The lamp is on", "The lamp is not on (kitchen)"),
        ("Invoice 1041 is paid", "Invoice 1014 is paid"),
        ("The backup runs every night", "The backup runs every night on the second server"),
    ],
)
def test_mem_04_what_looks_alike_is_two(both: Namespace, pair: tuple[str, str]) -> None:
    for text in pair:
        both.remember(text)
    assert live(both) == sorted(pair)


def test_a_near_duplicate_is_hidden_behind_what_it_repeats_until_it_is_unfolded(both: Namespace) -> None:
    first = both.remember("Alice likes green tea from the market")
    second = both.remember("Alice likes the green tea from the market")
    assert second.superseded_by == first.id
    assert (live(both), live(both, as_of="2027-01-01")) == ([first.content], [first.content])
    assert [memory.id for memory in both.folded()] == [second.id]
    back = both.unfold(second.id)
    assert (back.superseded_by, back.valid_to, dict(back.metadata)) == (None, None, {})
    assert live(both) == sorted([first.content, second.content])


def test_what_repeats_a_statement_is_erased_with_it(both: Namespace) -> None:
    first = both.remember("Alice likes green tea from the market")
    second = both.remember("Alice likes the green tea from the market")
    assert both.forget(first.id, preview=True).derived == ()
    planned = both.forget(first.id, hard=True, preview=True)
    assert (planned.memories, planned.derived) == ((first.id,), (second.id,))
    assert both.forget(second.id, hard=True, preview=True).derived == ()
    both.forget(first.id, hard=True)
    assert (both.stats().memories, both.stats().tombstones) == ({}, 2)


def test_a_pinned_statement_and_what_another_person_says_are_not_hidden(both: Namespace) -> None:
    both.remember("I like green tea from the market", speaker="Alice")
    assert both.remember("I like the green tea from the market", speaker="Bob").superseded_by is None
    assert both.remember("I do like green tea from the market", speaker="Alice", pinned=True).superseded_by is None


def test_dedup_can_be_switched_off_by_policy(both: Namespace) -> None:
    both.maintenance.set_policy({"dedup": {"enabled": False}})
    both.remember("Alice likes green tea from the market")
    assert both.remember("Alice likes the green tea from the market").superseded_by is None


def test_a_newer_statement_on_a_subject_ends_the_older_one_whatever_the_order_of_telling(both: Namespace) -> None:
    oslo = both.remember("Alice lives in Oslo", subject="Alice/City", event_time="2026-01-10")
    both.remember("Alice lives in Rome", subject="alice/city ", event_time="2026-01-01")
    bern = both.remember("She has a flat in Bern", subject="alice/city", event_time="2026-01-20")
    both.remember("Bob lives in Rome", subject="bob/city", event_time="2026-01-21")
    assert live(both) == ["Bob lives in Rome", bern.content]
    assert live(both, as_of="2026-01-05") == ["Alice lives in Rome", "Bob lives in Rome"]
    assert live(both, as_of="2026-01-15") == [oslo.content, "Bob lives in Rome"]


def test_states_meet_states_on_their_subject_alone(both: Namespace) -> None:
    both.remember("step 1 of the plan", kind="state", subject="plan")
    both.remember("step one of the plan", kind="state")
    both.remember("The plan has four steps", subject="plan")
    both.remember("step 2 of the plan", kind="state", subject="plan")
    assert live(both) == ["The plan has four steps", "step 2 of the plan", "step one of the plan"]


def test_statements_of_one_call_see_those_before_them(both: Namespace) -> None:
    first, second, third = both.remember_many(
        [
            "Alice likes green tea from the market",
            "Alice likes the green tea from the market",
            "  ALICE likes green tea from the market",
        ]
    )
    assert (second.superseded_by, third.id) == (first.id, first.id)
    rome, oslo = both.remember_many(
        [{"content": "Alice lives in Rome", "subject": "a"}, {"content": "Alice lives in Oslo", "subject": "a"}]
    )
    assert (rome.superseded_by, oslo.superseded_by) == (oslo.id, None)


def test_of_a_bulk_only_subjects_are_looked_at(both: Namespace) -> None:
    both.remember("Alice likes green tea from the market")
    kept = both.remember("Alice lives in Rome", subject="alice/city")
    told: list[Mapping[str, object]] = [{"content": f"fact number {n}"} for n in range(50)]
    told += [
        {"content": "Alice likes the green tea from the market"},
        {"content": "Alice lives in Oslo", "subject": "alice/city"},
    ]
    stored = both.remember_many(told)
    assert stored[50].superseded_by is None
    assert both.get(kept.id).superseded_by == stored[51].id


def test_a_subject_makes_no_sense_for_passages(both: Namespace) -> None:
    with pytest.raises(InputError, match="subject"):
        both.remember("words", kind="passage", subject="x")
    with pytest.raises(InputError, match="subject must"):
        both.remember("words", subject=" ")


class Contested(MemoryStore):
    """Somebody else changes a statement between the look and the write, so many times."""

    def __init__(self) -> None:
        super().__init__()
        self.left = 0

    def apply(self, namespace: str, batch: Batch) -> Applied:
        if self.left and batch.seen is not None:
            self.left -= 1
            raise ConflictError("changed meanwhile")
        return super().apply(namespace, batch)


@pytest.fixture
def contested() -> tuple[Contested, Namespace]:
    store = Contested()
    return store, open_over(store, vectors=False).namespace("n")


def test_a_statement_that_changes_meanwhile_is_looked_at_again(contested: tuple[Contested, Namespace]) -> None:
    store, ns = contested
    rome = ns.remember("Alice lives in Rome", subject="c")
    store.left = 4
    oslo = ns.remember("Alice lives in Oslo", subject="c")
    assert ns.get(rome.id).superseded_by == oslo.id
    store.left = 5
    with pytest.raises(ConflictError):
        ns.remember("Alice lives in Bern", subject="c")
    assert live(ns) == ["Alice lives in Oslo"]


def test_first_words_among_passages_build_no_index(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []
    view = Recall.view

    def noted(recall: Recall, namespaces: Sequence[str], *, vector: Vectors | None = None) -> View:
        built.extend(namespaces)
        return view(recall, namespaces, vector=vector)

    monkeypatch.setattr(Recall, "view", noted)
    ns = open_over(MemoryStore(), vectors=True).namespace("n")
    ns.session("s").add("user", "hello there")
    ns.remember("Alice likes tea")
    assert built == []
    ns.remember("Bob likes coffee")
    assert built == ["n"]


CHANGES = [
    ("Wir treffen uns freitags", "Wir treffen uns nicht mehr freitags, sondern montags"),
    ("Le bureau est à Paris", "Le bureau n'est plus à Paris, il est à Lyon"),
    ("La reunión es el lunes", "La reunión ya no es el lunes, es el martes"),
    ("L'ufficio è a Roma", "L'ufficio non è più a Roma, è a Milano"),
    ("A reunião é na sexta", "A reunião não é mais na sexta, é na segunda"),
    ("De vergadering is op vrijdag", "De vergadering is niet meer op vrijdag, maar op maandag"),
    ("Встреча в среду", "Встреча больше не в среду, а в четверг"),
    ("会议在周五", "会议不再在周五,改到周一"),
    ("会議は木曜日", "会議はもう木曜日ではなく金曜日"),
    ("회의는 금요일이다", "회의는 더 이상 금요일이 아니다, 월요일이다"),
]


@pytest.mark.parametrize(("before", "after"), CHANGES)
def test_a_change_is_announced_in_any_of_these_languages(both: Namespace, before: str, after: str) -> None:
    both.remember(before)
    both.remember(after)
    assert [memory.content for memory in both.everything()] == [after]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Die Pumpe ist rot", "Die andere Pumpe ist nicht mehr rot"),
        ("Anna trinkt Tee", "Ben trinkt nicht mehr Tee"),
        ("Le bureau est à Paris", "Le magasin n'est plus à Paris"),
        ("会议在周五", "另一个会议不再在周五"),
        ("図書館は静か", "公園はもう静か"),
    ],
)
def test_a_change_of_something_else_ends_nothing(both: Namespace, one: str, other: str) -> None:
    both.remember(one)
    both.remember(other)
    assert len(both.everything()) == 2


@pytest.mark.parametrize(
    ("trust", "ends"), [("extracted", False), ("verified", False), ("manual", False), ("correction", True)]
)
def test_a_correction_that_is_told_late_is_ended_by_none_of_less_trust(both: Namespace, trust: str, ends: bool) -> None:  # noqa: FBT001
    first = both.remember("Alice lives in Bergen", subject="alice/home", trust=trust, event_time="2026-02-01")
    late = both.remember("Alice lives in Oslo", subject="alice/home", trust="correction", event_time="2026-01-01")
    assert both.get(late.id).superseded_by == (first.id if ends else None)
    assert both.get(first.id).superseded_by is None
    assert live(both) == sorted(["Alice lives in Bergen"] + ["Alice lives in Oslo"] * (not ends))
