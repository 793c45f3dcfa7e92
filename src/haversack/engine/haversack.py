"""An open store: where namespaces are found, and what is closed at the end."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from haversack.budget import check_tokens
from haversack.engine.arguments import checked
from haversack.engine.auditing import Audit
from haversack.engine.core import Core
from haversack.engine.jobs import JobBoard
from haversack.engine.keeping import StoreMaintenance
from haversack.engine.keys import Keyring
from haversack.engine.namespace import Namespace
from haversack.engine.renewing import Renewal
from haversack.engine.settings import Reembed
from haversack.engine.visits import Visits
from haversack.errors import ConflictError, StoreError
from haversack.model.text import namespace_label
from haversack.store.port import Batch

__all__ = ["Haversack"]


@checked
class Haversack:
    """One open store. A context manager; safe to share between threads."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._closed = False
        self.keys = Keyring(core)
        """Who may do what, where doors ask for a key."""
        self.audit = Audit(core)
        """Who did what to which memory when."""
        core.buffers.append(self.audit.flush)
        self.visits = Visits(core)
        """Sessions that clients open and close."""
        self.jobs = JobBoard(core)
        """Long work that outlives the call that asked for it."""
        self._renewal = Renewal(core, self.jobs)
        if core.embedder is not None and core.settings.reembed is Reembed.BACKGROUND:
            core.readers.append(self._renewal.look)
        self.maintenance = StoreMaintenance(core, self.jobs)
        """Snapshots, resets, moves, and how the store is."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def folder(self) -> Path | None:
        """Where the store's files are; None where it has none."""
        return None if self._core.site is None else self._core.site.path.absolute().parent

    def namespace(self, name: str = "default") -> Namespace:
        """The namespace of this name, which comes to be with its first memory.

        A name may hold any characters, but no star at its end.
        """
        return Namespace(self._core, namespace_label(name))

    def namespaces(self) -> list[str]:
        """Names of all namespaces that hold anything."""
        return self._core.store.namespaces()

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
        self._core.counter(self._core.settings.model).count("warm")
        if self._core.embedder is not None:
            self._core.embedder.embed(["warm"])

    def wait(self, seconds: float = 60.0) -> bool:
        """Wait for what is being embedded in the background; whether it has ended."""
        return self._renewal.wait(seconds)

    def close(self) -> None:
        """Finish what is pending and release the store; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        self._renewal.close()
        self.jobs.close()
        with suppress(StoreError, ConflictError):
            self.keys.flush()
            self.audit.flush()
        self._core.runs.close()
        self._core.access.close(self._core)
        self._core.trims.close(self._core.store)
        self._keep_prices()
        self._core.recall.close()
        self._core.store.close()

    def _keep_prices(self) -> None:
        """Prices are a cache: a store that cannot be written now will have them counted again."""
        for name in self._core.prices.namespaces():
            with suppress(StoreError):
                self._core.store.apply(name, Batch(prices=self._core.prices.take(name)))
