"""Which tokenizer a model uses, who provides it, and how much it can hold: a table of published facts, read by name.

Names come dated, prefixed and renamed (`openai/gpt-4o-2024-08-06`, `us.anthropic.claude-3-5-sonnet-20241022-v2:0`,
`gpt-35-turbo`), so the first rule whose pattern stands in the name decides. Windows are the providers' published input
windows; where a name covers several, the smallest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from functools import lru_cache

from haversack.errors import InputError, nearest
from haversack.tokens.claude import CLAUDE
from haversack.tokens.estimate import ESTIMATES
from haversack.tokens.exact import BUILT_IN
from haversack.tokens.families import FAMILIES

__all__ = ["ENCODINGS", "Family", "Resolved", "resolve"]


class Family(StrEnum):
    """Whose message framing, tool rendering and image prices apply."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    GOOGLE = "google"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """What is known of a model by its name."""

    model: str
    """The name as it was given."""
    encoding: str
    """One of ENCODINGS; `estimate` where no tokenizer is known."""
    family: Family
    window: int | None = None
    """Tokens of the context window, or None where none is published."""


ENCODINGS = BUILT_IN | FAMILIES | CLAUDE | frozenset(ESTIMATES)
"""Every encoding name that `counter_for` answers to and that prices may be stored under."""

_OLD_ENCODINGS = frozenset({"p50k_base", "p50k_edit", "r50k_base", "gpt2"})
"""Real, of retired models, and not carried: estimated."""

_O200K = "o200k_base"
_CL100K = "cl100k_base"
_ESTIMATE = "estimate"
_MILLION = 1_047_576

# pattern, encoding, family, window; a pattern begins where a word of the name begins.
_TABLE: tuple[tuple[str, str, Family, int | None], ...] = (
    (r"gpt-oss", "o200k_harmony", Family.OPENAI, 131_072),
    (r"(chat)?gpt-?4o|gpt-4\.5", _O200K, Family.OPENAI, 128_000),
    (r"gpt-?4\.1|gpt-?41\b", _O200K, Family.OPENAI, _MILLION),
    (r"gpt-?5[\w.-]{0,40}chat", _O200K, Family.OPENAI, 128_000),
    (r"gpt-?5", _O200K, Family.OPENAI, 400_000),
    (r"gpt-[6-9]", _O200K, Family.OPENAI, None),
    (r"codex-mini|computer-use-preview", _O200K, Family.OPENAI, None),
    (r"gpt-?4-turbo|gpt-?4-(1106|0125|vision)", _CL100K, Family.OPENAI, 128_000),
    (r"gpt-?4-32k", _CL100K, Family.OPENAI, 32_768),
    (r"gpt-?4(?![\d.])", _CL100K, Family.OPENAI, 8_192),
    (r"gpt-?3\.?5-turbo-(instruct|0301|0613)", _CL100K, Family.OPENAI, 4_096),
    (r"gpt-?3\.?5", _CL100K, Family.OPENAI, 16_385),
    (r"text-embedding-(3|ada-002)", _CL100K, Family.OPENAI, 8_191),
    (r"(text-|code-)?davinci|babbage-002|text-(curie|babbage|ada)", _ESTIMATE, Family.OPENAI, None),
    (r"claude-(instant|v?1|v?2\.0|v?2(?![.:]1))", _ESTIMATE, Family.ANTHROPIC, 100_000),
    (r"gemini-1\.5-pro", _ESTIMATE, Family.GOOGLE, 2_097_152),
    (r"gemini-(1\.5|2|3)", _ESTIMATE, Family.GOOGLE, 1_048_576),
    (r"gemini|palm|bison", _ESTIMATE, Family.GOOGLE, None),
    # Distilled models keep the tokenizer of the model that learnt, not of the one that taught.
    (r"distill-llama", "llama3", Family.OTHER, None),
    (r"distill-qwen", "qwen3", Family.OTHER, None),
    (r"llama-?(v?3[.p-]?[123])", "llama3", Family.OTHER, 131_072),
    (r"(meta-)?llama-?v?3(?![.\dp]\d)", "llama3", Family.OTHER, 8_192),
    (r"llama-?v?2", _ESTIMATE, Family.OTHER, 4_096),
    (r"qwen-?3\.[5-9]", "qwen3.5", Family.OTHER, None),
    (r"qwen-?(2|3(?![.\d]))|qwq", "qwen3", Family.OTHER, None),
    (r"deepseek-?(v3|r1|chat|reasoner|coder-v3)", "deepseek_v3", Family.OTHER, None),
    (r"mistral-nemo|pixtral-12b|ministral|mistral-(small|medium)-(3|2[5-9])", "mistral_v3", Family.OTHER, None),
    (r"gemma-?2", "gemma2", Family.OTHER, 8_192),
    (r"gemma-?3", "gemma3", Family.OTHER, None),
    (r"gemma-?4", "gemma4", Family.OTHER, None),
    (r"glm-?4", "glm4", Family.OTHER, None),
    (r"kimi-?k2", "kimi_k2", Family.OTHER, None),
    (r"kimi-?k3", "kimi_k3", Family.OTHER, None),
    (r"phi-?4(?!-mini|-multimodal)", "phi4", Family.OTHER, None),
    (r"olmo-?2", "olmo2", Family.OTHER, None),
)
_RULES = tuple(
    (re.compile(rf"(?<![a-z0-9])(?:{pattern})"), encoding, family, window)
    for pattern, encoding, family, window in _TABLE
)

_REASONERS = re.compile(r"(?:^|[/:])o[134](?:-(mini|preview))?(?![a-z0-9])")
_SMALL_REASONERS = re.compile(r"o1-(mini|preview)")
_CLAUDE = re.compile(r"claude-v?(?:(?P<name>[a-z]+)-)?(?P<major>\d{1,2})(?:[.p-](?P<minor>\d{1,2}))?(?!\d)")
_CLAUDE_WINDOW = 200_000
_ENCODING_LIKE = re.compile(r"[a-z]{1,2}\d{2,3}k(_.*)?")
_TYPO_CUTOFF = 0.8


def resolve(model: str) -> Resolved:
    """What is known of a model (or encoding) name; an unknown name is estimated, never refused.

    Raises InputError for a blank name and for one that is nearly an encoding's name, such as `cl100k_bse`.
    """
    if not isinstance(model, str) or not model.strip():  # pyright: ignore[reportUnnecessaryIsInstance] - callers' edge
        msg = f"model={model!r}: give a model's name (gpt-4o) or an encoding's (cl100k_base)"
        raise InputError(msg)
    return _resolve(model)


@lru_cache(maxsize=1024)
def _resolve(model: str) -> Resolved:
    name = model.strip().casefold()
    if (encoding := name.replace("-", "_")) in ENCODINGS:
        return Resolved(model=model, encoding=encoding, family=_family_of(encoding))
    if encoding in _OLD_ENCODINGS:
        return Resolved(model=model, encoding=_ESTIMATE, family=Family.OPENAI)
    _refuse_misspelt(model, encoding)
    if _REASONERS.search(name):
        window = 128_000 if _SMALL_REASONERS.search(name) else 200_000
        return Resolved(model=model, encoding=_O200K, family=Family.OPENAI, window=window)
    for pattern, encoding, family, window in _RULES:
        if pattern.search(name):
            return Resolved(model=model, encoding=encoding, family=family, window=window)
    if "claude" in name:
        return Resolved(model=model, encoding=_claude(name), family=Family.ANTHROPIC, window=_CLAUDE_WINDOW)
    return Resolved(model=model, encoding=_ESTIMATE, family=Family.OTHER)


def _family_of(encoding: str) -> Family:
    if encoding in CLAUDE:
        return Family.ANTHROPIC
    return Family.OPENAI if "00k_" in encoding else Family.OTHER


def _refuse_misspelt(model: str, encoding: str) -> None:
    public = sorted(name for name in ENCODINGS if "00k_" in name)
    if _ENCODING_LIKE.fullmatch(encoding) or get_close_matches(encoding, public, n=1, cutoff=_TYPO_CUTOFF):
        msg = f"model={model!r} is no known encoding; {nearest(encoding, public)}"
        raise InputError(msg)


def _claude(name: str) -> str:
    """The reconstructed vocabulary of a Claude model; an unversioned or future name is estimated.

    Generations: Claude 3 to 4.6, 4.7, and 4.8 with everything up to 5 (README of ctok 1.3).
    """
    found = _CLAUDE.search(name)
    if found is None:
        return _ESTIMATE
    version = (int(found["major"]), int(found["minor"] or 0))
    if (3, 0) <= version < (4, 7):
        return "claude_v3"
    if version == (4, 7):
        return "claude_v4_7"
    return "claude_v4_8" if version < (6, 0) and version > (4, 7) else _ESTIMATE
