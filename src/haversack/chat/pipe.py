"""The chat where nobody watches: each line of a stream is a message or a command, and answers go to stdout."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from haversack.chat.lines import Chat

__all__ = ["chat_in_pipe", "joined"]


def chat_in_pipe(chat: Chat, lines: Iterable[str]) -> None:
    """Carry out line after line until the end, `/exit` or Ctrl-C."""
    for line in joined(lines):
        if not chat.take(line):
            break
        if chat.stopped:
            chat.leave()
            raise KeyboardInterrupt
    chat.leave()


def joined(lines: Iterable[str]) -> Iterator[str]:
    """Lines without their ends; a backslash at the end of one goes on in the next."""
    begun: list[str] = []
    for line in lines:
        words = line.rstrip("\r\n")
        if words.endswith("\\"):
            begun.append(words[:-1])
            continue
        yield "\n".join([*begun, words])
        begun = []
    if begun:
        yield "\n".join(begun)
