"""What every verb of the engine works with: the ports, the settings, and the two sources of the outside world."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from haversack.engine.access import AccessLog
from haversack.engine.erasers import Erasers
from haversack.engine.prices import PriceBook
from haversack.engine.runs import Runs
from haversack.engine.settings import MemorySettings, Settings
from haversack.engine.trims import TrimLog
from haversack.errors import ConfigError
from haversack.model.identity import ENTROPY_BYTES, make_id
from haversack.model.times import Moment, read_now
from haversack.recall import Recall

if TYPE_CHECKING:
    from haversack.embed.embedder import Embedder
    from haversack.engine.calibrating import Calibrations
    from haversack.llm.port import ChatService
    from haversack.maintenance.files import Files
    from haversack.store.port import Store
    from haversack.tokens import Counter

__all__ = ["Core"]


def no_service(name: str) -> ChatService:
    """No chat service is configured under any name."""
    raise ConfigError(f"no chat service is configured as {name!r}: name one under `services`")


@dataclass(frozen=True, slots=True, kw_only=True)
class Core:
    """The collaborators of one open store."""

    store: Store
    recall: Recall
    embedder: Embedder | None
    settings: Settings
    clock: Callable[[], datetime]
    """The current time, aware, in UTC."""
    entropy: Callable[[int], bytes]
    """So many random bytes."""
    counter: Callable[[str], Counter]
    """The counter for a model's or an encoding's name."""
    calibrations: Calibrations | None = None
    """What `counter` learns from; None where it learns nothing."""
    memory: MemorySettings = field(default_factory=MemorySettings)
    service: Callable[[str], ChatService] = no_service
    """The chat service of a configured name; raises ConfigError for an unknown one."""
    has_files: Callable[[], Files] | None = None
    """What the store can do because it lies in files, when it is asked for; None where it does not."""
    prices: PriceBook = field(default_factory=PriceBook)
    access: AccessLog = field(default_factory=AccessLog)
    """Uses of memories that are not in the store yet."""
    trims: TrimLog = field(default_factory=TrimLog)
    """What was left out for want of room and is not in the store yet."""
    runs: Runs = field(default_factory=Runs)
    erasers: Erasers = field(default_factory=Erasers)
    """What an erasure must reach in this process."""
    readers: list[Callable[[Sequence[str]], None]] = field(default_factory=list[Callable[[Sequence[str]], None]])
    """Who is told which namespaces a question has just read; they return at once."""
    telling: set[str] = field(default_factory=set[str])
    """Namespaces that are known to hold statements."""

    def erased(self, namespace: str) -> None:
        """Drop what this process holds of the namespace and is erased from the store."""
        if not self.recall.catch_up(namespace):
            self.erasers.forget(namespace)

    def was_read(self, namespaces: Sequence[str]) -> None:
        """Tell that a question has read these namespaces."""
        for told in self.readers:
            told(namespaces)

    @property
    def files(self) -> Files | None:
        """What the store can do because it lies in files; None where it does not."""
        return None if self.has_files is None else self.has_files()

    def moment(self, asked: Moment | None) -> datetime:
        """The moment from which a call speaks, in the zone in which its days are counted; the present by default."""
        return self.clock().astimezone(self.settings.zone) if asked is None else read_now(asked, self.settings.zone)

    def new_ids(self, now: datetime) -> Iterator[str]:
        """Ids that sort in the order in which they are taken."""
        number = int.from_bytes(self.entropy(ENTROPY_BYTES), "big") >> 1
        while True:
            yield make_id(now, number.to_bytes(ENTROPY_BYTES, "big"))
            number += 1
