"""Exact counts for open model families whose vocabularies the `tokenizers` extra carries (splintr)."""

from __future__ import annotations

import threading
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Protocol, cast

from haversack.tokens.batch import BatchCounter
from haversack.tokens.counter import CountKind
from haversack.tokens.cut import blocks

__all__ = ["FAMILIES", "families_installed", "family_counter"]

FAMILIES = frozenset(
    {"llama3", "qwen3", "deepseek_v3", "mistral_v3", "gemma2", "gemma3", "gemma4", "glm4", "kimi_k2", "kimi_k3"}
    | {"phi4", "olmo2"}
)
"""Vocabularies that keep the framing rule. Llama 2 and Mistral before NeMo break it, so they are estimated instead."""

_BLOCK = 1 << 20
"""The library materialises token ids; long texts go through it a megabyte at a time."""

_loading = threading.Lock()


class _Tokenizer(Protocol):
    def encode_ordinary(self, text: str) -> list[int]: ...


class _TokenizerClass(Protocol):
    def from_pretrained(self, name: str) -> _Tokenizer: ...


def families_installed() -> bool:
    """Whether the extra is there, without importing it."""
    return find_spec("splintr") is not None


def family_counter(encoding: str) -> BatchCounter:
    """The counter of one name in FAMILIES; the library and the vocabulary are loaded at the first count."""

    def count(texts: list[str]) -> list[int]:
        with _loading:
            encode = _load(encoding).encode_ordinary
        return [sum(len(encode(block)) for block in blocks(text, _BLOCK)) for text in texts]

    return BatchCounter(encoding, CountKind.EXACT, count)


@cache
def _load(encoding: str) -> _Tokenizer:
    return cast("_TokenizerClass", import_module("splintr").Tokenizer).from_pretrained(encoding)
