from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from haversack.errors import InputError, MissingExtraError
from haversack.tokens import CountKind, choose, counter_for
from haversack.tokens.models import ENCODINGS, Family, resolve

OPENAI, ANTHROPIC, GOOGLE, OTHER = Family.OPENAI, Family.ANTHROPIC, Family.GOOGLE, Family.OTHER


@pytest.mark.parametrize(
    ("model", "encoding", "family", "window"),
    [
        ("gpt-4o", "o200k_base", OPENAI, 128_000),
        ("openai/gpt-4o-2024-08-06", "o200k_base", OPENAI, 128_000),
        ("ft:gpt-4o-mini-2024-07-18:org::id", "o200k_base", OPENAI, 128_000),
        ("chatgpt-4o-latest", "o200k_base", OPENAI, 128_000),
        ("gpt-4.1-mini", "o200k_base", OPENAI, 1_047_576),
        ("gpt-5.2", "o200k_base", OPENAI, 400_000),
        ("gpt-5-chat-latest", "o200k_base", OPENAI, 128_000),
        ("o1", "o200k_base", OPENAI, 200_000),
        ("o1-mini", "o200k_base", OPENAI, 128_000),
        ("openai/o4-mini-2025-04-16", "o200k_base", OPENAI, 200_000),
        ("gpt-oss:20b", "o200k_harmony", OPENAI, 131_072),
        ("gpt-4", "cl100k_base", OPENAI, 8_192),
        ("gpt-4-0125-preview", "cl100k_base", OPENAI, 128_000),
        ("gpt-4-32k-0613", "cl100k_base", OPENAI, 32_768),
        ("azure/gpt-35-turbo", "cl100k_base", OPENAI, 16_385),
        ("gpt-3.5-turbo-instruct", "cl100k_base", OPENAI, 4_096),
        ("text-embedding-3-small", "cl100k_base", OPENAI, 8_191),
        ("text-davinci-003", "estimate", OPENAI, None),
        ("claude-3-5-sonnet-20241022", "claude_v3", ANTHROPIC, 200_000),
        ("us.anthropic.claude-3-haiku-20240307-v1:0", "claude_v3", ANTHROPIC, 200_000),
        ("claude-sonnet-4-20250514", "claude_v3", ANTHROPIC, 200_000),
        ("claude-opus-4-6", "claude_v3", ANTHROPIC, 200_000),
        ("claude-opus-4-7", "claude_v4_7", ANTHROPIC, 200_000),
        ("anthropic/claude-opus-4.8", "claude_v4_8", ANTHROPIC, 200_000),
        ("claude-sonnet-5", "claude_v4_8", ANTHROPIC, 200_000),
        ("claude-sonnet-9", "estimate", ANTHROPIC, 200_000),
        ("anthropic.claude-v2:1", "estimate", ANTHROPIC, 200_000),
        ("claude-2.0", "estimate", ANTHROPIC, 100_000),
        ("claude", "estimate", ANTHROPIC, 200_000),
        ("models/gemini-2.5-flash", "estimate", GOOGLE, 1_048_576),
        ("llama-3.1-70b-instruct", "llama3", OTHER, 131_072),
        ("meta-llama/Llama-3.3-70B-Instruct", "llama3", OTHER, 131_072),
        ("meta.llama3-1-70b-instruct-v1:0", "llama3", OTHER, 131_072),
        ("accounts/fireworks/models/llama-v3p1-70b", "llama3", OTHER, 131_072),
        ("llama3:8b", "llama3", OTHER, 8_192),
        ("llama-4-scout", "estimate", OTHER, None),
        ("qwen2.5:7b", "qwen3", OTHER, None),
        ("Qwen/Qwen3-8B-Base", "qwen3", OTHER, None),
        ("qwen3.5-plus", "qwen3.5", OTHER, None),
        ("deepseek-r1", "deepseek_v3", OTHER, None),
        ("deepseek-r1-distill-llama-70b", "llama3", OTHER, None),
        ("open-mistral-nemo", "mistral_v3", OTHER, None),
        ("mistral-large-2402", "estimate", OTHER, None),
        ("google/gemma-3-27b-it", "gemma3", OTHER, None),
        ("moonshotai/kimi-k2-instruct", "kimi_k2", OTHER, None),
        ("glm-4.6", "glm4", OTHER, None),
        ("phi-4-mini", "estimate", OTHER, None),
        ("marco-o1", "estimate", OTHER, None),
        ("my-own-model-base", "estimate", OTHER, None),
        ("cl100k_base", "cl100k_base", OPENAI, None),
        (" O200K-Base ", "o200k_base", OPENAI, None),
        ("p50k_base", "estimate", OPENAI, None),
        ("claude_v4_8", "claude_v4_8", ANTHROPIC, None),
        ("utf8_bytes", "utf8_bytes", OTHER, None),
    ],
)
def test_names_resolve(model: str, encoding: str, family: Family, window: int | None) -> None:
    found = resolve(model)
    assert (found.model, found.encoding, found.family, found.window) == (model, encoding, family, window)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("cl100k_bse", "cl100k_base"),
        ("o200k", "o200k_base"),
        ("o200_base", "o200k_base"),
        ("o200k_harmny", "o200k_harmony"),
    ],
)
def test_a_misspelt_encoding_is_refused_with_the_nearest(wrong: str, right: str) -> None:
    with pytest.raises(InputError, match=f"did you mean '{right}'"):
        counter_for(wrong)


@pytest.mark.parametrize("wrong", ["", " \n", None, 5, ["gpt-4o"]])
def test_what_names_no_model_is_refused(wrong: Any) -> None:
    with pytest.raises(InputError, match="give a model's name"):
        counter_for(wrong)


def test_every_encoding_resolves_to_itself() -> None:
    assert {resolve(name).encoding for name in ENCODINGS} == ENCODINGS


def test_names_of_one_encoding_share_one_counter() -> None:
    assert counter_for("gpt-4o") is counter_for("openai/o3-mini") is counter_for("o200k_base")
    assert counter_for("gemini-pro") is counter_for("grok-4") is counter_for("estimate")


def test_the_bound_chooses_the_estimate() -> None:
    assert counter_for("grok-4", bound="certain").encoding == "utf8_bytes"
    assert counter_for("estimate", bound="certain").encoding == "utf8_bytes"
    assert counter_for("gpt-4o", bound="certain").encoding == "o200k_base"
    with pytest.raises(InputError, match="did you mean 'likely'"):
        counter_for("grok-4", bound="likly")


@pytest.fixture
def no_extras(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(choose, "families_installed", lambda: False)
    monkeypatch.setattr(choose, "claude_installed", lambda: False)
    choose._chosen.cache_clear()
    yield
    choose._chosen.cache_clear()


@pytest.mark.parametrize("model", ["llama-3.1-8b", "claude-sonnet-4"])
def test_without_the_extra_the_estimate_answers_visibly(no_extras: None, model: str) -> None:
    counter = counter_for(model)
    assert (counter.kind, counter.encoding) == (CountKind.ESTIMATE, "estimate")
    with pytest.raises(MissingExtraError, match=r"pip install \"haversack\[tokenizers\]\""):
        counter_for(model, allow_estimate=False)


def test_no_extra_helps_an_unknown_tokenizer() -> None:
    with pytest.raises(InputError, match="no tokenizer is known"):
        counter_for("grok-4", allow_estimate=False)
    assert counter_for("gpt-4o", allow_estimate=False).kind is CountKind.EXACT
