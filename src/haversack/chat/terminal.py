"""The chat in a terminal: a line editor with history, completion and a status line. Drawing only."""

from __future__ import annotations

from collections.abc import Iterable

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.styles import Style

from haversack.chat.dispatch import names, options_of
from haversack.chat.lines import Chat
from haversack.chat.screen import printable
from haversack.chat.status import STYLES, severity_now, status_line
from haversack.chat.talk import Talk
from haversack.errors import HaversackError
from haversack.model.message import Role

__all__ = ["chat_in_terminal"]

_STYLE = Style.from_dict({"bottom-toolbar": "noreverse", "prompt": "bold"})
_HINT = "/help lists the commands, Ctrl-D leaves"


def chat_in_terminal(chat: Chat) -> None:
    """Talk until Ctrl-D or `/exit`."""
    talk = chat.talk
    editor: PromptSession[str] = PromptSession(
        history=_history(talk),
        completer=_Commands(),
        complete_while_typing=True,
        key_bindings=_keys(),
        bottom_toolbar=lambda: _toolbar(talk),
        style=_STYLE,
        refresh_interval=1.0,
        prompt_continuation=lambda _width, _number, wrapped: "" if wrapped else ". ",
    )
    talk.screen.note(_HINT)
    while True:
        try:
            line = editor.prompt([("class:prompt", "> ")])
        except KeyboardInterrupt:
            talk.screen.note(_HINT)
            continue
        except EOFError:
            break
        if not chat.take(line):
            break
    chat.leave()


def _history(talk: Talk) -> InMemoryHistory:
    """What the user said in this session. It lives in the store alone, so that what is forgotten is gone from here."""
    history = InMemoryHistory()
    for turn in talk.session.turns():
        if turn.message.role is Role.USER and turn.message.text.strip():
            history.append_string(printable(turn.message.text))
    return history


def _toolbar(talk: Talk) -> StyleAndTextTuples:
    try:
        return [(STYLES[severity_now(talk)], status_line(talk))]
    except HaversackError as failure:
        return [("", printable(str(failure)))]


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("escape", "enter")
    def _newline(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("enter")
    def _send(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.document.text_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            buffer.validate_and_handle()

    return keys


class _Commands(Completer):
    """Commands behind a slash, then their options."""

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:  # noqa: ARG002
        before = document.text_before_cursor
        if not before.startswith("/") or "\n" in before:
            return
        name, space, _ = before[1:].partition(" ")
        if not space:
            for known, about in names().items():
                if known.startswith(name):
                    yield Completion(known, start_position=-len(name), display_meta=about)
            return
        word = before.rsplit(" ", 1)[-1]
        if word.startswith("-"):
            for option in options_of(name):
                if option.startswith(word):
                    yield Completion(option, start_position=-len(word))
