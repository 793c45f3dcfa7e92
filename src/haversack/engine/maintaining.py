"""Maintenance for callers: what can be asked of one namespace, and of the store as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from haversack.engine import access, aging
from haversack.engine.aging import desk_of
from haversack.engine.arguments import checked
from haversack.engine.core import Core
from haversack.engine.jobs import JobBoard
from haversack.engine.keeping import StoreMaintenance, health_of
from haversack.engine.reorganizing import reorganize_namespace
from haversack.errors import RefusedError
from haversack.lifecycle.policy import Policy
from haversack.lifecycle.proposals import Proposal
from haversack.maintenance import recover as recovering
from haversack.maintenance import run as running
from haversack.maintenance import sharing
from haversack.maintenance.ageing import Lifecycle
from haversack.maintenance.backup import back_up
from haversack.maintenance.health import NamespaceHealth
from haversack.maintenance.recover import Recovery
from haversack.maintenance.reorganize import Reorganized
from haversack.maintenance.reset import ResetDone
from haversack.maintenance.run import Run, Step
from haversack.model.memory import Memory
from haversack.model.text import label, namespace_label

__all__ = ["NamespaceMaintenance"]


@checked
class NamespaceMaintenance:
    """Keeping one namespace healthy. Verbs that change something preview unless told to execute."""

    def __init__(self, core: Core, namespace: str) -> None:
        self._core = core
        self._namespace = namespace

    def policy(self) -> Policy:
        """The rules in force."""
        return aging.policy_of(self._core, self._namespace)

    def set_policy(self, policy: Policy | Mapping[str, Any]) -> Policy:
        """Set the rules: a Policy, or nested settings; what they do not name has its default."""
        return aging.set_policy(self._core, self._namespace, policy)

    def foresee(self, policy: Policy | Mapping[str, Any]) -> Lifecycle:
        """What `lifecycle` would do under these rules instead of those in force; sets and changes nothing."""
        return aging.foresee(self._core, self._namespace, policy)

    def lifecycle(self, *, execute: bool = False, flush: bool = False) -> Lifecycle:
        """Promote, fade, revive, end and erase what is due by the policy."""
        return aging.lifecycle(self._core, self._namespace, execute=execute, flush=flush)

    def reorganize(self, *, steps: Iterable[str] | None = None, execute: bool = False) -> Reorganized:
        """Back up, analyze, dedupe, prune, synthesize and verify, or only some of these steps."""
        wanted = None if steps is None else list(steps)
        backup = None if self._core.files is None else self._backup
        if backup is None and wanted is not None and "backup" in wanted:
            raise RefusedError("capability", "this store has no files to take a backup of")
        return reorganize_namespace(self._core, self._namespace, parts=wanted, execute=execute, backup=backup)

    def reset(self, *, execute: bool = False, confirm: str | None = None, snapshot: bool = True) -> ResetDone:
        """Erase the whole namespace for good, after a snapshot; `confirm` must be its name.

        Also what earlier erasures left goes, so that an export can be brought in again.
        """
        return self._whole().reset([self._namespace], execute=execute, confirm=confirm, snapshot=snapshot)

    def backup(self) -> Iterator[bytes]:
        """Yield the whole namespace as lines, as it is when the first is asked for; any store can restore them.

        Beside what `take_out` gives it holds vectors, places, and what keeps erased words from coming back.
        """
        self._core.erasers.write_down()
        return back_up(self._core.store, self._namespace)

    def health(self) -> NamespaceHealth:
        """Growth, duplicates, what faded, what is unfinished. Reads every memory once."""
        return health_of(self._core, self._namespace)

    def flush(self) -> int:
        """Count noted uses into the memories; returns how many."""
        return access.flush(self._core, self._namespace)

    def runs(self) -> list[Run]:
        """What maintenance did here, oldest first."""
        return running.runs(self._core.store, self._namespace)

    def steps(self, run_id: str) -> list[Step]:
        """The journal of a run."""
        running.find_run(self._core.store, self._namespace, run_id)
        return running.steps(self._core.store, self._namespace, run_id)

    def recover(self, run_id: str) -> Recovery:
        """Reconcile an interrupted run from its journal; nothing is replayed."""
        found = recovering.recover(desk_of(self._core, self._namespace), run_id)
        files = self._core.files
        return found if files is None else replace(found, removed=files.sweep())

    def undo(self, run_id: str) -> Recovery:
        """Put back what a run changed, except what somebody changed since or what was erased for good."""
        return recovering.undo(desk_of(self._core, self._namespace), run_id)

    def propose(self, memory_id: str, *, shared: str, author: str) -> Proposal:
        """Ask that a memory be copied into a shared namespace."""
        return aging.propose(
            self._core,
            self._namespace,
            memory_id,
            shared=namespace_label(shared, "shared"),
            author=label(author, "author"),
        )

    def proposals(self) -> list[Proposal]:
        """Proposals that come from this namespace, and those that would bring something into it."""
        store = self._core.store
        mine = sharing.proposals(store, private=self._namespace) | sharing.proposals(store, shared=self._namespace)
        return [mine[name] for name in sorted(mine)]

    def decide(self, proposal_id: str, *, accept: bool, by: str) -> tuple[Proposal, Memory | None]:
        """Accept or reject a proposal to this namespace; an accepted memory is copied here and returned."""
        return aging.decide(self._core, self._namespace, proposal_id, accepted=accept, by=label(by, "by"))

    def _whole(self) -> StoreMaintenance:
        return StoreMaintenance(self._core, JobBoard(self._core))

    def _backup(self) -> str:
        return str(self._whole().snapshot(reason="before reorganize").path)
