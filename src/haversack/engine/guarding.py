"""Holding back memories that look like instructions to a model, or like secrets.

These are patterns for the plain cases, bounded in time, with no service and no model behind them: a fence and a mark of
trust protect the prompt, this only keeps the obvious out of it. What is held back gets a verdict like any other memory.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from enum import StrEnum

from msgspec import structs

from haversack.assemble import Candidate
from haversack.engine.arguments import several
from haversack.errors import InputError, nearest
from haversack.model.text import normalized

__all__ = ["Suspicion", "hold_back", "read_suspicions", "suspicions_of"]

_LOOKED_AT = 20_000
"""Characters of a memory that are looked at; longer ones are chunks of documents, cut long before this."""


class Suspicion(StrEnum):
    """What a memory may look like; also the reason in its verdict."""

    INSTRUCTIONS = "looks_like_instructions"
    SECRET = "looks_like_secret"  # noqa: S105 - a reason code


_CHOICES = {"instructions": Suspicion.INSTRUCTIONS, "secrets": Suspicion.SECRET}

_EARLIER = r"(?:(?:all|any|the|your|my|these|those|of|previous|prior|earlier|above|preceding|system|safety)\s+){1,5}"
_ORDERS = r"(?:instruction|prompt|rule|guideline|direction|message|command|restriction)s?"
_INSTRUCTIONS = re.compile(
    rf"""
      \b(?:ignore|disregard|forget|override|bypass)\s+{_EARLIER}{_ORDERS}\b
    | \b(?:reveal|print|show|repeat|output|leak)\s+{_EARLIER}?
      (?:system\s+prompt|hidden\s+prompt|key|api\s+key|password)\b
    | \byou\s+are\s+(?:now|no\s+longer)\s+\w+
    | \b(?:new|updated)\s+(?:system\s+)?instructions?\s*:
    | (?:^|\n)[^\S\n]*+(?:\#++\s*+)?(?:system|developer|assistant)\s*+(?:prompt|message)?\s*+:
    | <\|(?:im_start|im_end|system|endoftext|start_header_id)\|>
    | \[/?(?:INST|SYS|system)\]
    | </?(?:system|instructions?|memories|context)\b[^>]{{0,80}}>
    | \[\s*tool\s+result\s*\]
    """,
    re.IGNORECASE | re.VERBOSE,
)

_SECRET = re.compile(
    r"""
      -----BEGIN\ (?:[A-Z]{2,12}\ ){0,3}PRIVATE\ KEY-----
    | \b(?:AKIA|ASIA)[0-9A-Z]{16}\b
    | \bgh[pousr]_[A-Za-z0-9]{36,255}\b
    | \bgithub_pat_[A-Za-z0-9_]{60,255}\b
    | \bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{20,255}
    | \b(?:sk|rk)_live_[A-Za-z0-9]{16,255}\b
    | \bxox[abeoprs]-[A-Za-z0-9-]{10,255}
    | \bAIza[A-Za-z0-9_-]{35}
    | \bhvs_[a-z2-7]{16}_[A-Za-z0-9_-]{43}
    | \beyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,2000}
    | \b(?:pass(?:word|wd|phrase)|secret|api[_ -]?key|access[_ -]?token|private[_ -]?key)
      \s{0,3}(?:is|[:=])\s{0,3}["']?[^\s"']{8,255}
    """,
    re.VERBOSE | re.IGNORECASE,
)


def suspicions_of(text: str) -> list[Suspicion]:
    """Everything that the text looks like."""
    shown = "".join(sign for sign in normalized("NFKC", text[:_LOOKED_AT]) if unicodedata.category(sign) != "Cf")
    return [what for what, pattern in _PATTERNS.items() if pattern.search(shown)]


def hold_back(candidates: Iterable[Candidate], suspicions: Collection[Suspicion]) -> list[Candidate]:
    """The candidates, those that look like one of these marked as filtered."""
    if not suspicions:
        return list(candidates)
    return [_judged(candidate, suspicions) for candidate in candidates]


def read_suspicions(choices: Iterable[str]) -> frozenset[Suspicion]:
    """Checked words: `instructions`, `secrets`."""
    words = tuple(several(choices, "hold_back"))
    for word in words:
        if not isinstance(word, str) or word not in _CHOICES:
            raise InputError(f"unknown choice {word!r} in hold_back: {nearest(str(word), _CHOICES)}")
    return frozenset(_CHOICES[word] for word in words)


def _judged(candidate: Candidate, suspicions: Collection[Suspicion]) -> Candidate:
    found = next((one for one in suspicions_of(candidate.memory.content) if one in suspicions), None)
    return candidate if found is None else structs.replace(candidate, filtered=found.value)


_PATTERNS = {Suspicion.SECRET: _SECRET, Suspicion.INSTRUCTIONS: _INSTRUCTIONS}
