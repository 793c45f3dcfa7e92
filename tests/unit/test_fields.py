from __future__ import annotations

import copy
import json
import pickle
from dataclasses import replace

import msgspec
import pytest

from haversack.model.memory import Fields, Json
from haversack.testing.store_contract import sample_memory, sample_turn


@pytest.mark.parametrize(
    "change",
    [
        "fields['turn'] = 1",
        "del fields['turn']",
        "fields.update(turn=1)",
        "fields.pop('turn')",
        "fields.setdefault('turn', 1)",
        "fields.clear()",
        "fields |= {'turn': 1}",
    ],
)
def test_metadata_refuses_to_change_and_says_what_to_do(change: str) -> None:
    fields = Fields(turn="D1:3")
    with pytest.raises(TypeError, match="edit"):
        exec(change, {"fields": fields})  # noqa: S102
    assert fields == {"turn": "D1:3"}


def test_metadata_is_a_dict_to_everybody_else() -> None:
    fields = Fields(turn="D1:3", n=1)
    plain: dict[str, Json] = {"turn": "D1:3", "n": 1}
    assert json.loads(json.dumps(fields)) == msgspec.json.decode(msgspec.json.encode(fields)) == plain
    assert copy.deepcopy(fields) == pickle.loads(pickle.dumps(fields)) == plain  # noqa: S301
    assert type(fields | {"m": 2}) is dict


def test_whatever_holds_metadata_makes_it_refuse_to_change() -> None:
    memory = replace(sample_memory(1), metadata={"turn": "D1:3"})
    turn = replace(sample_turn(1), metadata={**memory.metadata})
    for metadata in (memory.metadata, turn.metadata, replace(memory, pinned=True).metadata):
        assert type(metadata) is Fields
        assert metadata == {"turn": "D1:3"}
