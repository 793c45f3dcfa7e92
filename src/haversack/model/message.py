"""A message of a conversation, in no provider's shape: roles, parts, tool calls. `wire` translates it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

__all__ = ["Image", "Message", "Opaque", "Part", "Role", "Text", "ToolCall"]


class Role(StrEnum):
    """Who speaks."""

    SYSTEM = "system"
    """Also what some providers call `developer`."""
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    """The result of one tool call, named by `tool_call_id`."""


@dataclass(frozen=True, slots=True)
class Text:
    """Words."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A picture, by address or as a data URL."""

    url: str
    width: int | None = None
    """Pixels; unknown sizes are priced at the provider's largest."""
    height: int | None = None
    detail: str = "auto"
    """`low`, `high` or `auto`, as the providers define it."""
    caption: str = ""
    """What it shows, when somebody said so: this much of it can be recalled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opaque:
    """A part of a kind that we do not know, kept whole as JSON text so that nothing is lost."""

    kind: str
    json: str


Part: TypeAlias = "Text | Image | Opaque"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call that an assistant message makes."""

    id: str
    name: str
    arguments: str
    """JSON text exactly as the model wrote it; it may be invalid JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message. An empty `parts` is the null content that providers allow beside tool calls."""

    role: Role
    parts: tuple[Part, ...] = ()
    name: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None

    @property
    def text(self) -> str:
        """Its words alone: text parts and image captions, one to a line."""
        if len(self.parts) == 1:
            return _words(self.parts[0])
        return "\n".join(filter(None, map(_words, self.parts)))

    @property
    def shows(self) -> bool:
        """Whether it has anything to show: a word, a picture, or a block of another kind."""
        return any(not isinstance(part, Text) or part.text.strip() for part in self.parts)


def _words(part: Part) -> str:
    match part:
        case Text():
            return part.text
        case Image():
            return f"[image: {part.caption}]" if part.caption else ""
        case Opaque():
            return ""
