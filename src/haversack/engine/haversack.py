"""An open store: where namespaces are found, and what is closed at the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from haversack.budget.amount import check_tokens
from haversack.engine.arguments import checked
from haversack.engine.core import Core
from haversack.engine.namespace import Namespace
from haversack.engine.settings import Reembed
from haversack.errors import ConflictError, StoreError
from haversack.lazy import lazy, once
from haversack.model.text import namespace_label
from haversack.store.port import Batch
from haversack.tokens.counter import warm

if TYPE_CHECKING:
    from haversack.engine import allowances as _allowances
    from haversack.engine import auditing as _auditing
    from haversack.engine import jobs as _jobs
    from haversack.engine import keeping as _keeping
    from haversack.engine import keys as _keys
    from haversack.engine import renewing as _renewing
    from haversack.engine import stays as _stays
    from haversack.engine import threads as _threads
    from haversack.engine import visits as _visits
else:
    _allowances = lazy("haversack.engine.allowances")
    _auditing = lazy("haversack.engine.auditing")
    _jobs = lazy("haversack.engine.jobs")
    _keeping = lazy("haversack.engine.keeping")
    _keys = lazy("haversack.engine.keys")
    _renewing = lazy("haversack.engine.renewing")
    _stays = lazy("haversack.engine.stays")
    _threads = lazy("haversack.engine.threads")
    _visits = lazy("haversack.engine.visits")

__all__ = ["Haversack"]


@checked
class Haversack:
    """One open store. A context manager; safe to share between threads."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._closed = False
        core.erasers.add(core.runs.forget)
        core.recall.on_erased = core.erasers.forget
        if core.embedder is not None and core.settings.reembed is Reembed.BACKGROUND:
            core.readers.append(self._look)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @once
    def keys(self) -> _keys.Keyring:
        """Who may do what, where doors ask for a key."""
        return _keys.Keyring(self._core)

    @once
    def audit(self) -> _auditing.Audit:
        """Who did what to which memory when."""
        audit = _auditing.Audit(self._core)
        self._core.erasers.add(audit.forget, write_down=audit.flush)
        return audit

    @once
    def visits(self) -> _visits.Visits:
        """Sessions that clients open and close."""
        return _visits.Visits(self._core)

    @once
    def allowances(self) -> _allowances.Allowances:
        """What callers may still do this minute."""
        return _allowances.Allowances(self._core)

    @once
    def stays(self) -> _stays.Stays:
        """Who came in through a door with a cookie."""
        return _stays.Stays(self._core)

    @once
    def jobs(self) -> _jobs.JobBoard:
        """Long work that outlives the call that asked for it."""
        return _jobs.JobBoard(self._core)

    @once
    def maintenance(self) -> _keeping.StoreMaintenance:
        """Snapshots, resets, moves, and how the store is."""
        return _keeping.StoreMaintenance(self._core, self.jobs)

    @once
    def threads(self) -> _threads.Threads:
        """Where `async` code makes its calls; as many as `engine.threads` says."""
        return _threads.Threads(self._core.settings.threads)

    @once
    def _renewal(self) -> _renewing.Renewal:
        return _renewing.Renewal(self._core, self.jobs)

    @property
    def folder(self) -> Path | None:
        """Where the store's files are; None where it has none."""
        return None if self._core.files is None else self._core.files.place.parent

    def namespace(self, name: str = "default") -> Namespace:
        """The namespace of this name, which comes to be with its first memory.

        A name may hold any characters, but no star at its end.
        """
        return Namespace(self._core, namespace_label(name))

    def namespaces(
        self, matching: Iterable[str] | None = None, *, after: str = "", limit: int | None = None
    ) -> list[str]:
        """Return the names of the namespaces that hold anything, sorted: behind the name `after`, at most `limit`.

        With `matching` only those that one of these means: an exact name, or a prefix with a star at its end.
        """
        return self._core.store.namespaces(matching, after=after, limit=limit)

    def learn(self, model: str, *, counted: int, reported: int) -> None:
        """Tell how many tokens a provider reported for a prompt that was counted here as so many.

        Where the model's tokenizer is unknown, its estimates get tighter; never below what was ever reported.
        """
        check_tokens(counted, "counted")
        check_tokens(reported, "reported")
        if self._core.calibrations is not None:
            self._core.calibrations.learn(model, counted=counted, reported=reported)

    def warm_up(self) -> None:
        """Load what the first call would load, so that it is as quick as the others."""
        warm(self._core.counter(self._core.settings.model))
        if self._core.embedder is not None:
            self._core.embedder.embed(["warm"])

    def wait(self, seconds: float = 60.0) -> bool:
        """Wait for what is being embedded in the background; whether it has ended."""
        return "_renewal" not in vars(self) or self._renewal.wait(seconds)

    def close(self) -> None:
        """Finish what is pending and release the store; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        made = vars(self)
        if "threads" in made:
            self.threads.close()
        if "_renewal" in made:
            self._renewal.close()
        if "jobs" in made:
            self.jobs.close()
        with suppress(StoreError, ConflictError):
            if "keys" in made:
                self.keys.flush()
            if "audit" in made:
                self.audit.flush()
        self._core.runs.close()
        self._core.access.close(self._core)
        self._core.trims.close(self._core.store)
        self._keep_prices()
        self._core.recall.close()
        self._core.store.close()

    def _look(self, namespaces: Sequence[str]) -> None:
        renewal = self._renewal  # made before the look at `_closed`: whichever comes first, `close` ends it
        if not self._closed:
            renewal.look(namespaces)

    def _keep_prices(self) -> None:
        """Prices are a cache: a store that cannot be written now will have them counted again."""
        for name in self._core.prices.namespaces():
            with suppress(StoreError):
                self._core.store.apply(name, Batch(prices=self._core.prices.take(name)))
