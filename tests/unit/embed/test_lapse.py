"""An embedder that fails loses nothing and is told of in the log."""

from __future__ import annotations

import logging

import pytest

from haversack.embed.lapse import WordsAlone
from haversack.errors import ServiceError


def test_a_failed_embedder_is_passed_over_with_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), WordsAlone():
        raise ServiceError("no answer in 5 s")
    assert [(record.levelname, record.message) for record in caplog.records] == [
        ("WARNING", "words alone tell until the embedder answers: no answer in 5 s")
    ]


def test_other_faults_are_not_passed_over() -> None:
    with pytest.raises(KeyError), WordsAlone():
        raise KeyError("x")
