from __future__ import annotations

import json
from types import MappingProxyType

import msgspec
import pytest

from haversack.cli import show
from haversack.engine.settings import LayoutSettings, SectionSettings
from haversack.model.memory import Kind


class _Row(msgspec.Struct):
    layout: LayoutSettings


def test_sets_are_told_in_alphabetical_order_and_mappings_in_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    sections = {"zeal": SectionSettings(kinds=frozenset(Kind)), "art": SectionSettings(kinds=frozenset({Kind.FACT}))}
    show.json_line([_Row(layout=LayoutSettings(sections=MappingProxyType(sections)))])
    told = json.loads(capsys.readouterr().out)[0]["layout"]
    assert list(told["sections"]) == ["zeal", "art"]
    assert [each["kinds"] for each in told["sections"].values()] == [sorted(Kind), ["fact"]]
