"""Holding back memories that look like instructions to a model, or like secrets.

This is a heuristic: patterns for the plain cases in nine languages, on the text with look-alikes folded, in time that
grows with its length. It knows no meaning: a rephrased order passes, and talk about orders may be held back. The fence
and the mark of trust protect the prompt; this only keeps the obvious out of it. What is held back gets a verdict like
any other memory.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from enum import StrEnum

from msgspec import structs

from haversack.assemble import Candidate
from haversack.engine.arguments import several
from haversack.errors import InputError, nearest
from haversack.model.memory import Memory
from haversack.model.signs import BLANKS, folded

__all__ = ["Suspicion", "hold_back", "read_suspicions", "suspicions_of", "words_of"]


class Suspicion(StrEnum):
    """What a memory may look like; also the reason in its verdict."""

    INSTRUCTIONS = "looks_like_instructions"
    SECRET = "looks_like_secret"  # noqa: S105 - a reason code


_CHOICES = {"instructions": Suspicion.INSTRUCTIONS, "secrets": Suspicion.SECRET}

_ORDERS = {
    "en": (
        "ignore|disregard|forget|override|bypass",
        "all|any|the|your|my|these|those|of|previous|prior|earlier|above|preceding|system|safety",
        "(?:instruction|prompt|rule|guideline|direction|message|command|restriction)s?",
    ),
    "de": (
        r"ignorier\w{0,3}|vergiss|vergesst|missachte\w?|umgeh\w{0,2}",
        r"all\w{0,2}|die|dein\w{0,2}|mein\w{0,2}|dies\w{0,2}|jene|\w{2,4}her\w{1,5}|vorig\w{0,2}|obig\w{0,2}|vorangegangen\w{0,2}",
        r"(?:system)?(?:anweisung|instruktion|regel|vorgabe|befehl|prompt|nachricht)\w{0,2}",
    ),
    "fr": (
        "ignore[zr]?|oublie[zr]?|néglige[zr]?",
        "toute?s?|tous|les|tes|vos|mes|ces|des|précédente?s|anciennes",
        "instructions?|consignes?|règles?|directives?|ordres?",
    ),
    "es": (
        "ignor[ae]d?|olvid[ae]d?|omit[ae]",
        "tod[ao]s|l[ao]s|tus|sus|mis|est[ao]s|anteriores|previ[ao]s",
        "instrucciones|reglas|órdenes|indicaciones|directrices|mensajes",
    ),
    "pt": (
        "ignor[ae]|esqueça|desconsidere",
        "tod[ao]s|[ao]s|(?:su|tu|minh)as|(?:se|te|me)us|est[ae]s|anteriores|prévi[ao]s",
        "instruções|regras|ordens|orientações|diretrizes|mensagens",
    ),
    "it": (
        "ignora|ignorate|ignori|dimentica|trascura",
        "tutt[ei]|le|gli|i|tue|tuoi|queste|quest[ei]|precedenti",
        "istruzioni|regole|ordini|direttive|indicazioni|messaggi",
    ),
    "ru": (
        r"(?:про)?игнорир\w{1,8}|забуд\w{1,4}|отмени\w{0,3}",
        r"все|эти|твои|мои|любые|предыдущ\w{1,3}|прошл\w{1,3}|прежн\w{1,3}|системн\w{1,3}",
        r"инструкци\w{1,3}|указани\w{1,3}|правил\w{0,3}|команд\w{0,3}|промпт\w{0,3}",
    ),
}
"""By language: to set aside, what stands between, and what is set aside."""
_UNSPACED = r"""
    | (?:忽略|忽视|无视|無視|忘记|忘記|不要理会).{0,12}(?:指令|指示|说明|說明|规则|規則|提示|命令)
    | (?:指示|指令|命令|規則|ルール|プロンプト).{0,8}(?:無視|忘れ|従わない|従うな)
"""
"""Chinese, and Japanese, where the verb stands last."""


def _pattern(source: str) -> re.Pattern[str]:
    """Compile a pattern for folded text: its own letters are folded as well."""
    signs = (sign if sign.isascii() else folded(sign, latin=False) for sign in source)
    return re.compile("".join(signs), re.IGNORECASE | re.VERBOSE)


_GAP = r"[\W_]{1,8}"
_INSTRUCTIONS = _pattern(
    "|".join(
        rf"\b(?:{verb}){_GAP}(?:(?:{between}){_GAP}){{1,5}}(?:{what})\b" for verb, between, what in _ORDERS.values()
    )
    + _UNSPACED
    + rf"""
    | \b(?:reveal|print|show|repeat|output|leak){_GAP}(?:(?:{_ORDERS["en"][1]}){_GAP}){{0,5}}
      (?:system\ prompt|hidden\ prompt|key|api\ key|password)\b
    | \byou\ are\ (?:now|no\ longer)\ \w
    | \b(?:new|updated)\ (?:system\ )?instructions?\ ?:
    | (?:^|\n)(?:\#{{1,6}}\ ?)?(?:system|developer|assistant)\ ?(?:prompt|message)?\ ?:
    | <\|(?:im_start|im_end|system|endoftext|start_header_id)\|>
    | \[/?(?:INST|SYS|system)\]
    | </?(?:system|instructions?|memories|context)\b[^>]{{0,80}}>
    | \[\ ?tool\ result\ ?\]
    """
)

_SECRET = _pattern(
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
    | (?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,2000}
    | \b(?:pass(?:word|wd|phrase)|secret|api[_ -]?key|access[_ -]?token|private[_ -]?key)
      \s{0,3}(?:is|[:=])\s{0,3}["']?[^\s"']{8,255}
    """
)


def suspicions_of(text: str) -> list[Suspicion]:
    """Return everything that the text looks like."""
    forms = _forms(text)
    return [what for what, pattern in _PATTERNS.items() if any(map(pattern.search, forms))]


def words_of(memory: Memory) -> str:
    """Return all of a memory's stored words that a prompt may show: label, names of session and document, content."""
    said_in = memory.source
    return "\n".join(filter(None, [memory.speaker, said_in.document, said_in.session, memory.content]))


def _forms(text: str) -> set[str]:
    """The text as it reads: look-alikes folded, runs of white space one sign, with fillers as blanks and as nothing."""
    solid = _CONTROL.sub("", text)
    wordings = {solid, solid.translate(_WITHOUT_BLANKS)} if not text.isascii() else {solid}
    found = {folded(words, latin=latin) for words in wordings for latin in (True, False)}
    return {_SPACE.sub(_one_blank, words) for words in found}


def _one_blank(run: re.Match[str]) -> str:
    return "\n" if "\n" in run[0] else " "


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
    found = next((one for one in suspicions_of(words_of(candidate.memory)) if one in suspicions), None)
    return candidate if found is None else structs.replace(candidate, filtered=found.value)


_CONTROL = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ufffd]")
_SPACE = re.compile(r"\s+")
_WITHOUT_BLANKS = dict.fromkeys(map(ord, BLANKS))
_PATTERNS = {Suspicion.SECRET: _SECRET, Suspicion.INSTRUCTIONS: _INSTRUCTIONS}
