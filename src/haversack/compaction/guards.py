"""What a summary must not lose and must not add, told from the text it stands for. Pure, no model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from haversack.llm.anchors import anchors, is_decision, is_request, sentences
from haversack.model.memory import Turn
from haversack.model.message import Role

__all__ = ["Finding", "Material", "bare_words", "inspect", "read_material", "transcript"]

_WORD = re.compile(r"\w{4,}")
_REASONING = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_HALF = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """A stretch of conversation as a summariser reads it."""

    text: str
    lines: tuple[str, ...]
    """Its sentences, each with who said it."""
    anchors: frozenset[str]
    decisions: tuple[str, ...]
    requests: tuple[str, ...]
    """Those that nobody answered within the stretch."""

    @property
    def open_lines(self) -> tuple[str, ...]:
        """Its lines with open requests."""
        return tuple(line for line in self.lines if line.endswith(self.requests)) if self.requests else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """How a summary compares with its material."""

    missing: tuple[str, ...]
    """Names, numbers, dates and identifiers that are gone."""
    lost: tuple[str, ...]
    """Decisions and open requests that are gone."""
    invented: tuple[str, ...]
    """Names, numbers, dates and identifiers that the material does not have."""

    @property
    def is_clean(self) -> bool:
        """Whether nothing was lost or added."""
        return not (self.missing or self.lost or self.invented)


def transcript(turn: Turn) -> str:
    """One turn as text: who, then what, tool calls included."""
    message = turn.message
    calls = "".join(f"\n(calls {call.name} with {call.arguments})" for call in message.tool_calls)
    return f"{_who(turn)}: {message.text}{calls}"


def read_material(turns: Sequence[Turn]) -> Material:
    """The turns as material."""
    text = "\n".join(transcript(turn) for turn in turns)
    answered = max((place for place, turn in enumerate(turns) if _answers(turn)), default=-1)
    spoken = [(place, turn) for place, turn in enumerate(turns) if turn.message.role is not Role.TOOL]
    lines = [(place, turn, line) for place, turn in spoken for line in sentences(turn.message.text)]
    return Material(
        text=text,
        lines=tuple(f"{_who(turn)}: {line}" for turn in turns for line in sentences(turn.message.text)),
        anchors=anchors("\n".join(turn.message.text for turn in turns)),
        decisions=tuple(line for _, _, line in lines if is_decision(line) and not line.endswith("?")),
        requests=tuple(
            line
            for place, turn, line in lines
            if place > answered and turn.message.role is Role.USER and is_request(line)
        ),
    )


def inspect(summary: str, material: Material) -> Finding:
    """What the summary lost and what it added."""
    folded, source = summary.casefold(), material.text.casefold()
    return Finding(
        missing=tuple(sorted(anchor for anchor in material.anchors if anchor not in folded)),
        lost=tuple(line for line in (*material.decisions, *material.requests) if not _is_carried(line, folded)),
        invented=tuple(sorted(anchor for anchor in anchors(summary) if anchor not in source)),
    )


def bare_words(reply: str) -> str:
    """The reply without its reasoning blocks and outer white space."""
    return _REASONING.sub("", reply).strip()


def _who(turn: Turn) -> str:
    message = turn.message
    return message.name or ("tool result" if message.role is Role.TOOL else message.role.value)


def _answers(turn: Turn) -> bool:
    return turn.message.role is Role.ASSISTANT and bool(turn.message.text.strip())


def _is_carried(line: str, folded_summary: str) -> bool:
    words = set(_WORD.findall(line.casefold()))
    return not words or sum(word in folded_summary for word in words) >= _HALF * len(words)
