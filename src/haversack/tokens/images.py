"""What a picture costs, by the rules that the providers publish. An unknown size costs the largest that it could.

OpenAI: platform.openai.com/docs/guides/images-vision, "Calculating costs".
Anthropic: platform.claude.com/docs/en/vision, "Calculate image costs".
Google: ai.google.dev/gemini-api/docs/tokens, "Multimodal tokens".
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from haversack.model.message import Image
from haversack.tokens.models import Family

__all__ = ["image_tokens"]


@dataclass(frozen=True, slots=True)
class _Tiles:
    """A base price, and one for each 512-pixel tile after shrinking into 2048 square and to 768 on the short side."""

    base: int
    tile: int

    def price(self, width: int, height: int, detail: str) -> int:
        if detail == "low":
            return self.base
        w, h = _shrunk(width, height, min(1.0, _TILE_BOX / max(width, height)))
        w, h = _shrunk(w, h, min(1.0, _TILE_SHORT_SIDE / min(w, h)))
        return self.base + self.tile * _ceil(w / _TILE) * _ceil(h / _TILE)


@dataclass(frozen=True, slots=True)
class _Patches:
    """32-pixel patches, shrunk to at most 1,536 of them, times the model's factor. `low` is priced like `high`."""

    factor: float

    def price(self, width: int, height: int, detail: str) -> int:  # noqa: ARG002 - one shape for all rules
        patches = _ceil(width / _PATCH) * _ceil(height / _PATCH)
        if patches > _PATCH_CAP:
            shrink = math.sqrt(_PATCH**2 * _PATCH_CAP / (width * height))
            across, down = width * shrink / _PATCH, height * shrink / _PATCH
            whole = min(_down(across) / across, _down(down) / down)
            patches = min(_PATCH_CAP, _ceil(across * whole) * _ceil(down * whole))
        return math.ceil(patches * self.factor)


@dataclass(frozen=True, slots=True)
class _Area:
    """One token for 750 pixels, after shrinking to the longest side and to the most tokens."""

    longest: int
    most: int

    def price(self, width: int, height: int, detail: str) -> int:  # noqa: ARG002 - one shape for all rules
        w, h = _shrunk(width, height, min(1.0, self.longest / max(width, height)))
        return max(1, min(self.most, math.ceil(w * h / _PIXELS_PER_TOKEN)))


@dataclass(frozen=True, slots=True)
class _Crops:
    """258 tokens for a small picture, and for each 768-pixel crop of a larger one."""

    def price(self, width: int, height: int, detail: str) -> int:  # noqa: ARG002 - one shape for all rules
        if max(width, height) <= _SMALL:
            return _CROP_PRICE
        return _CROP_PRICE * _ceil(width / _CROP) * _ceil(height / _CROP)


_TILE, _TILE_BOX, _TILE_SHORT_SIDE = 512, 2048, 768
_PATCH, _PATCH_CAP = 32, 1536
_PIXELS_PER_TOKEN = 750
_SMALL, _CROP, _CROP_PRICE = 384, 768, 258
_LARGEST = (3072, 3072)
"""Stands for an unknown size: beyond every limit but Google's, where it makes sixteen crops."""

_WIDE = (2048, 768)
"""The shape with most 512-pixel tiles: eight."""

_OPENAI = _Tiles(85, 170)
_OPENAI_BY_NAME = tuple(
    (re.compile(pattern), rule)
    for pattern, rule in (
        (r"gpt-?4\.?1-mini|gpt-5[\d.]*-mini", _Patches(1.62)),
        (r"gpt-?4\.?1-nano|gpt-5[\d.]*-nano", _Patches(2.46)),
        (r"o4-mini", _Patches(1.72)),
        (r"gpt-?4o-mini", _Tiles(2833, 5667)),
        (r"(?:^|[/:])o[13](?![a-z0-9])", _Tiles(75, 150)),
    )
)
_ANTHROPIC = _Area(1568, 1600)
_ANTHROPIC_SHARP = _Area(2576, 4784)
_ANTHROPIC_OLD = re.compile(r"claude-(?:[a-z]+-)?(?:3|4(?!\d|[.-][789](?!\d)))")
"""Claude 3 to 4.6; later models take sharper pictures."""

_GOOGLE = _Crops()
_Rule = _Tiles | _Patches | _Area | _Crops


def image_tokens(image: Image, family: Family, model: str = "") -> int:
    """What the picture costs in a prompt; never 0. Without a model's name the family's dearest common rule applies."""
    return max(_price(image, rule) for rule in _rules(family, model.casefold()))


def _rules(family: Family, model: str) -> tuple[_Rule, ...]:
    match family:
        case Family.OPENAI:
            return (next((rule for pattern, rule in _OPENAI_BY_NAME if pattern.search(model)), _OPENAI),)
        case Family.ANTHROPIC:
            return (_ANTHROPIC if _ANTHROPIC_OLD.search(model) else _ANTHROPIC_SHARP,)
        case Family.GOOGLE:
            return (_GOOGLE,)
        case Family.OTHER:
            return (_OPENAI, _ANTHROPIC_SHARP, _GOOGLE)


def _price(image: Image, rule: _Rule) -> int:
    if image.width is None or image.height is None or image.width <= 0 or image.height <= 0:
        return max(rule.price(*size, image.detail) for size in (_LARGEST, _WIDE))
    return rule.price(image.width, image.height, image.detail)


def _shrunk(width: float, height: float, scale: float) -> tuple[float, float]:
    return width * scale, height * scale


_SLACK = 1e-9
"""Scaling leaves a side a hair above the whole number it stands for."""


def _ceil(value: float) -> int:
    return max(1, math.ceil(value - _SLACK))


def _down(value: float) -> int:
    return max(1, math.floor(value + _SLACK))
