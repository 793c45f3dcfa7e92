from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from haversack.model.memory import Memory
from haversack.model.times import EPOCH
from haversack.recall import features
from haversack.recall.fuse import gather, understand
from haversack.recall.index import Index


def test_frequent_words_are_looked_up_either_way_alike(
    make: Callable[..., Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    index = Index()
    index.put([make(" ".join(["ferry"] * (n % 4) + ["soup"] * (n % 3) + ["late"]), session="s") for n in range(40)], {})
    mask = np.arange(40) % 5 == 0
    found: list[dict[str, list[float]]] = []
    for often in (1_000_000, 0):
        monkeypatch.setattr(features, "_OFTEN", often)
        pool = gather(index, understand(index, "ferry soup", None, EPOCH), [mask], None)
        found.append({name: values.tolist() for name, values in pool.features.items()})
    assert found[0] == found[1]
    assert len(set(found[0]["window"])) > 1
