"""One line of input, whether it comes from a terminal or a pipe: a message, a command, or the end."""

from __future__ import annotations

from dataclasses import dataclass, field

from haversack.chat.answer import STOPPED, take_turn
from haversack.chat.behind import settle
from haversack.chat.dispatch import is_command, leaves, run_command
from haversack.chat.screen import printable
from haversack.chat.stopping import stoppable
from haversack.chat.talk import Talk
from haversack.errors import BudgetError, HaversackError
from haversack.llm.port import ServiceCancelled

__all__ = ["Chat"]


@dataclass(slots=True, kw_only=True)
class Chat:
    """Carries out lines and tells of failures; nothing that fails ends the chat."""

    talk: Talk
    first_failure: HaversackError | None = None
    stopped: bool = field(default=False)
    """Whether the last line was stopped by Ctrl-C."""

    def take(self, line: str) -> bool:
        """Carry out one line; whether the chat goes on."""
        self.stopped = False
        if not line.strip():
            return True
        if leaves(line):
            return False
        try:
            self._carry_out(line)
        except ServiceCancelled:
            self.stopped = True
            self.talk.screen.note(f"{STOPPED}; what was said is kept")
        except KeyboardInterrupt:
            self.stopped = True
            self.talk.screen.note(STOPPED)
        except HaversackError as failure:
            self.first_failure = self.first_failure or failure
            self.talk.screen.note(_told(failure))
        return self.talk.restore_from is None

    def leave(self) -> None:
        """Wait for what is pending, and say where to go on."""
        try:
            settle(self.talk)
        except KeyboardInterrupt:
            self.talk.screen.note("given up; nothing is lost")
        if self.talk.restore_from is None and self.talk.session.turns(limit=1):
            self.talk.screen.note(f"to go on: haversack chat --resume {self.talk.session.id}")

    def _carry_out(self, line: str) -> None:
        if is_command(line):
            run_command(self.talk, line)
            return
        words = line[1:] if line.startswith("//") else line
        with stoppable() as asked:
            take_turn(self.talk, words, asked)


def _told(failure: HaversackError) -> str:
    words = printable(str(failure) or type(failure).__name__)
    return f"{words}\n{failure.ledger}" if isinstance(failure, BudgetError) and failure.ledger else words
