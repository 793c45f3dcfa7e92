"""Pointers: the short message that stands for a tool result which is kept in full."""

from __future__ import annotations

from dataclasses import replace

from haversack.model.message import Message, Text

__all__ = ["pointing", "tool_pointer"]


def tool_pointer(message: Message, turn: str) -> Message:
    """Return the message that stands for a tool result: how long it is, and which turn to expand for it."""
    words = f"[Tool result of {len(message.text)} characters, kept in full{pointing(turn)}]"
    return replace(message, parts=(Text(words),))


def pointing(turn: str) -> str:
    """Return the words that name the turn to expand; none for a message that is no stored turn."""
    return f"; to read it: expand {turn}" if turn else ""
