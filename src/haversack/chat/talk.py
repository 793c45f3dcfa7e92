"""A conversation that is going on: what commands and answers work with. Nothing is asked of a model here."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from haversack.assemble import Prompt
from haversack.chat.outside import NOTHING, Outside
from haversack.chat.screen import Screen
from haversack.chat.settings import ChatSettings
from haversack.chat.spending import Spent, spent_on
from haversack.chat.tools import NO_TOOLS, Toolbox
from haversack.compaction import BudgetStatus
from haversack.engine.haversack import Haversack
from haversack.engine.namespace import Namespace
from haversack.engine.prompting import reading
from haversack.engine.session import Session
from haversack.engine.settings import MemorySettings
from haversack.errors import ConfigError, InputError, NotFoundError
from haversack.llm.port import ChatService
from haversack.model.message import Role
from haversack.tokens.models import resolve

__all__ = ["Talk", "check_window", "choose_session"]


@dataclass(slots=True, kw_only=True)
class Talk:
    """The collaborators of a chat, and what it remembers from turn to turn."""

    sack: Haversack
    ns: Namespace
    session: Session
    screen: Screen
    settings: ChatSettings
    model: str
    """Whose tokens and window count."""
    service: ChatService | None = None
    """None: turns are kept, memories recalled, and the prompt is shown instead of being sent."""
    tools: Toolbox = NO_TOOLS
    memory: MemorySettings
    """As configured: compaction, extraction, prices."""
    last: Prompt | None = None
    """The last prompt that was made for a turn."""
    spent: Spent = field(default_factory=Spent)
    compacted: int = 0
    """Background runs that were told of."""
    outside: Outside = NOTHING
    restore_from: Path | None = None
    """A snapshot that takes the store's place as soon as the chat has closed it."""

    def build(self) -> Prompt:
        """The prompt for the turn that waits for an answer."""
        return self.session.prompt(system=self.settings.system, tools=self.tools.schemas, model=self.model)

    def preview(self, query: str) -> Prompt:
        """The prompt that a query would have; nothing is started by looking at it."""
        return self.session.preview(query, system=self.settings.system, tools=self.tools.schemas, model=self.model)

    def latest(self) -> Prompt:
        """The last prompt; after a resume, the one for the user's last words."""
        if self.last is None:
            self.last = self.preview(self.asked())
        return self.last

    def asked(self) -> str:
        """The user's last words; raises InputError when there are none."""
        words = next((turn.message.text for turn in reversed(self.session.turns()) if _is_users(turn.message.role)), "")
        if not words.strip():
            raise InputError("nothing was said yet: say something first, or give a query")
        return words

    def reading(self) -> BudgetStatus | None:
        """How full the window was at the last prompt."""
        return None if self.last is None else reading(self.last)

    def count_costs(self) -> dict[str, Spent]:
        """By model, over the whole session; also brings the sum up to date."""
        found = spent_on(self.session.turns(), self.memory.costs.prices)
        self.spent = sum(found.values(), Spent())
        return found

    def start_anew(self, session: Session) -> None:
        """Go on in another session."""
        self.session, self.last, self.compacted = session, None, 0
        self.count_costs()


def check_window(model: str, memory: MemorySettings) -> None:
    """Refuse a model whose window nobody knows before anything is said; raises ConfigError."""
    if memory.context_window is None and resolve(model).window is None:
        raise ConfigError(f"the context window of {model!r} is not known: set memory.context_window")


def choose_session(ns: Namespace, name: str | None, *, resume: bool, now: datetime) -> Session:
    """The session to talk in: a new one named by the time, a named one, or with `resume` the last or that one."""
    known = [info.id for info in ns.sessions()]
    if resume:
        if not known:
            raise NotFoundError("there is no session to resume")
        if name and name not in known:
            raise NotFoundError(f"no session {name!r}; the last ones: {', '.join(map(repr, known[:5]))}")
        return ns.session(name or known[0])
    if name:
        return ns.session(name)
    stem = now.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds")
    names = (stem, *(f"{stem}-{number}" for number in range(2, len(known) + 3)))
    return ns.session(next(each for each in names if each not in known))


def _is_users(role: Role) -> bool:
    return role is Role.USER
