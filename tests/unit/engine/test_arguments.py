from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import haversack
from haversack.engine.correcting import Knowledge
from haversack.engine.haversack import Haversack
from haversack.engine.keeping import StoreMaintenance
from haversack.engine.maintaining import NamespaceMaintenance
from haversack.engine.namespace import Namespace
from haversack.engine.session import Session
from haversack.errors import ConfigError, HaversackError, InputError, NotFoundError

HANDLES = (Haversack, Namespace, Session, Knowledge, NamespaceMaintenance, StoreMaintenance)
WRONG: dict[str, tuple[object, ...]] = {
    "bool": ("false", 0, 1, None),
    "int": ("3", 1.0, True),
    "float": ("3", True, float("nan")),
    "str": (5, b"a", ["a"]),
    "str | os.PathLike[str]": (5, b"a"),
    "Iterable[str]": (5, "ab", b"ab", {1: "a"}, [5], [None]),
    "Sequence[str]": (5, "ab", [object()]),
}


def plain_arguments() -> list[tuple[type, str, str, object]]:
    """Every argument of every public verb that is declared as one of the plain types, with each wrong value."""
    return [
        (handle, verb, name, value)
        for handle in HANDLES
        for verb, made in vars(handle).items()
        if not verb.startswith("_") and hasattr(made, "__annotations__")
        for name, said in made.__annotations__.items()
        if name != "return"
        for value in WRONG.get(said.removesuffix(" | None"), ())
        if not (value is None and said.endswith(" | None"))
    ]


@pytest.mark.parametrize(("handle", "verb", "name", "value"), plain_arguments())
def test_a_plain_argument_of_another_type_is_an_error_that_names_it(
    handle: type, verb: str, name: str, value: object
) -> None:
    nobody = object.__new__(handle)  # it would fail on its first step
    with pytest.raises(InputError, match=f"^{name}"):
        getattr(nobody, verb)(**{name: value})


def test_there_are_such_arguments() -> None:
    seen = {(handle.__name__, verb, name) for handle, verb, name, _ in plain_arguments()}
    assert ("Namespace", "forget", "hard") in seen
    assert ("NamespaceMaintenance", "lifecycle", "execute") in seen
    assert ("Session", "turns", "limit") in seen
    assert ("Knowledge", "reach", "depth") in seen
    assert len(seen) > 50


def test_ids_may_be_the_keys_of_a_mapping(ns: Namespace) -> None:
    memory = ns.remember("the boat is blue")
    assert ns.get_many({memory.id: 1}) == [memory]


def test_arguments_by_position_are_checked_as_well(ns: Namespace) -> None:
    with pytest.raises(InputError, match="memory_id must be a string, not int"):
        ns.get(5)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="positional"):
        ns.get("a", "b")  # pyright: ignore[reportCallIssue]


WRONG_CALLS: list[tuple[Callable[[Any], object], str]] = [
    (lambda ns: ns.remember("x", tags=5), "tags must be a list, not int"),
    (lambda ns: ns.remember("x", entities={"a": 1}), "entities must be a list, not dict"),
    (lambda ns: ns.recall("x", kinds=1.5), "kinds must be a list, not float"),
    (lambda ns: ns.recall("x", tags=b"ab"), "tags must be a list, not bytes"),
    (lambda ns: ns.recall("x", namespaces=5), "namespaces must be a list, not int"),
    (lambda ns: ns.context("x", hold_back=5), "hold_back must be a list, not int"),
    (lambda ns: ns.context("x", hold_back=[[]]), r"unknown choice \[\] in hold_back"),
    (lambda ns: ns.recall("x", weights=[]), r"unknown weights \[\]"),
    (lambda ns: ns.recall("x", weights={"recency": 1e308}), r"recency=1e\+308 must be a number from 0 to 100"),
    (
        lambda ns: ns.recall("x", weights={"recency_days": 1e6}),
        "recency_days=1000000.0 must be a number from 0 to 100000",
    ),
    (lambda ns: ns.context("x", format=""), "unknown format ''"),
    (lambda ns: ns.context("x", layout=""), "layout='' is not known"),
    (lambda ns: ns.context("x", layout=[]), r"layout=\[\] is not known"),
    (lambda ns: ns.recall("x", since="2024-02-02", until="2024-02-01"), "nothing lies between since=.* and until="),
    (lambda ns: ns.wake_up(top=-1), "top=-1 must be 0 or more"),
    (lambda ns: ns.session("s").turns(limit=-1), "limit=-1 must be 0 or more"),
    (lambda ns: ns.session("s").compact(to_free=-1), "to_free=-1 is negative"),
    (lambda ns: ns.session("s").prompt("x", tool_budget="x"), "tool_budget must be a ToolBudget"),
    (lambda ns: ns.session("s").prompt("x", layout=""), "layout='' is not known"),
    (lambda ns: ns.session("s").prompt("x", format=""), "unknown format ''"),
    (lambda ns: ns.session("s").prompt("x", model=""), "model=''"),
    (lambda ns: ns.maintenance.set_policy("x"), "policy must be a Policy or a mapping of settings, not str"),
    (lambda ns: ns.remember("x", metadata={"a": {1}}), "metadata holds a set, which JSON cannot say"),
    (lambda ns: ns.remember("x", metadata={"a": [b"b"]}), "metadata holds a bytes, which JSON cannot say"),
]


@pytest.mark.parametrize(("call", "message"), WRONG_CALLS)
def test_what_richer_arguments_refuse(ns: Namespace, call: Callable[[Any], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call(ns)


def test_a_date_as_the_end_of_a_range_is_taken_in(ns: Namespace) -> None:
    blue = ns.remember("the boat is blue", event_time="2024-02-01")
    assert [hit.id for hit in ns.recall("boat", since="2024-02-01", until="2024-02-01")] == [blue.id]
    assert ns.recall("boat", since="2024-02-01T01:00Z", until="2024-02-01") == []


def nested(depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _ in range(depth - 1):
        found = {"a": found}
    return found


def test_metadata_may_be_nested_a_hundred_deep_wherever_the_call_comes_from(ns: Namespace) -> None:
    assert ns.get(ns.remember("deep", metadata=nested(100)).id).metadata == nested(100)
    for deeper in (nested(102), nested(100_000)):
        with pytest.raises(InputError, match="metadata is nested more than 100 deep"):
            ns.remember("deeper", metadata=deeper)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"read_only": "no"}, InputError),
        ({"read_only": None}, InputError),
        ({"key": 5}, InputError),
        ({"config": 5}, ConfigError),
        ({"config": []}, ConfigError),
    ],
)
def test_what_open_refuses(options: dict[str, Any], fault: type[HaversackError]) -> None:
    with pytest.raises(fault, match=next(iter(options))):
        haversack.open(":memory:", **options)


@pytest.mark.parametrize(("counted", "reported"), [(-1, 5), (5, -1)])
def test_reported_usage_is_a_number_of_tokens(sack: Haversack, counted: int, reported: int) -> None:
    with pytest.raises(InputError, match="=-1 is negative"):
        sack.learn("my-model", counted=counted, reported=reported)


def test_a_snapshot_that_is_not_there_is_not_found(sack: Haversack) -> None:
    with pytest.raises(NotFoundError, match="there is no snapshot at nowhere"):
        sack.maintenance.verify_snapshot("nowhere.zip")
