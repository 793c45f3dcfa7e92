"""Values from the providers' own worked examples, or worked by hand from the published rules."""

from __future__ import annotations

import pytest

from haversack.model.message import Image
from haversack.tokens.images import image_tokens
from haversack.tokens.models import Family

OPENAI, ANTHROPIC, GOOGLE, OTHER = Family.OPENAI, Family.ANTHROPIC, Family.GOOGLE, Family.OTHER


def price(width: int | None, height: int | None, family: Family, model: str = "", detail: str = "high") -> int:
    return image_tokens(Image(url="x", width=width, height=height, detail=detail), family, model)


@pytest.mark.parametrize(
    ("model", "width", "height", "detail", "tokens"),
    [
        ("gpt-4o", 1024, 1024, "high", 765),
        ("gpt-4o", 2048, 4096, "high", 1105),
        ("gpt-4o", 4096, 8192, "low", 85),
        ("gpt-4o", 512, 512, "auto", 255),
        ("gpt-4o", 1, 1, "high", 255),
        ("gpt-4o", 2048, 768, "high", 85 + 8 * 170),
        ("gpt-4o", None, None, "high", 85 + 8 * 170),
        ("gpt-4o", None, None, "low", 85),
        ("gpt-4o", 0, 100, "high", 85 + 8 * 170),
        ("", 1024, 1024, "high", 765),
        ("openai/gpt-4o-mini-2024-07-18", 1024, 1024, "high", 2833 + 4 * 5667),
        ("o1", 1024, 1024, "high", 75 + 4 * 150),
        ("gpt-4.1-mini", 1024, 1024, "high", 1659),  # 1,024 patches * 1.62 = 1,658.88
        ("o4-mini", 1800, 2400, "high", 2498),  # 1,452 patches, as the guide works out, * 1.72 = 2,497.44
        ("gpt-4.1-nano", None, None, "high", 3779),  # 1,536 patches * 2.46 = 3,778.56
    ],
)
def test_openai(model: str, width: int | None, height: int | None, detail: str, tokens: int) -> None:
    assert price(width, height, OPENAI, model, detail) == tokens


@pytest.mark.parametrize(
    ("model", "width", "height", "tokens"),
    [
        ("claude-3-5-sonnet-20241022", 200, 200, 54),
        ("claude-3-5-sonnet-20241022", 1000, 1000, 1334),
        ("claude-sonnet-4-20250514", 1092, 1092, 1590),
        ("claude-opus-4-6", 4000, 4000, 1600),
        ("claude-opus-4-6", None, None, 1600),
        ("claude-opus-4-7", 1500, 1500, 3000),
        ("claude-opus-4-7", 9000, 9000, 4784),
        ("", None, None, 4784),
        ("claude-opus-4-7", 1, 1, 1),
    ],
)
def test_anthropic(model: str, width: int | None, height: int | None, tokens: int) -> None:
    assert price(width, height, ANTHROPIC, model) == tokens


def test_google() -> None:
    assert price(384, 384, GOOGLE) == 258
    assert price(385, 10, GOOGLE) == 258
    assert price(1536, 769, GOOGLE) == 4 * 258
    assert price(None, None, GOOGLE) == 16 * 258


def test_an_unknown_provider_costs_the_dearest_rule() -> None:
    assert price(1024, 1024, OTHER) == 1399  # Anthropic's: 1,048,576 / 750; OpenAI's 765, Google's 1,032
    assert price(10, 10, OTHER) == 258
