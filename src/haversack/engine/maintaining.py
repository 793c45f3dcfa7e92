"""Maintenance for callers: what can be asked of one namespace, and of the store as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from haversack.engine import access, aging
from haversack.engine.aging import desk_of
from haversack.engine.core import Core
from haversack.lifecycle.policy import Policy
from haversack.lifecycle.proposals import Proposal
from haversack.maintenance import recover as recovering
from haversack.maintenance import run as running
from haversack.maintenance import sharing
from haversack.maintenance.ageing import Lifecycle
from haversack.maintenance.recover import Recovery
from haversack.maintenance.run import Run, Step
from haversack.model.memory import Memory
from haversack.model.text import label

__all__ = ["NamespaceMaintenance"]


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

    def lifecycle(self, *, execute: bool = False, flush: bool = False) -> Lifecycle:
        """Promote, fade, revive, end and erase what is due by the policy."""
        return aging.lifecycle(self._core, self._namespace, execute=execute, flush=flush)

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
        return recovering.recover(desk_of(self._core, self._namespace), run_id)

    def undo(self, run_id: str) -> Recovery:
        """Put back what a run changed, except what somebody changed since or what was erased for good."""
        return recovering.undo(desk_of(self._core, self._namespace), run_id)

    def propose(self, memory_id: str, *, shared: str, author: str) -> Proposal:
        """Ask that a memory be copied into a shared namespace."""
        return aging.propose(
            self._core, self._namespace, memory_id, shared=label(shared, "shared"), author=label(author, "author")
        )

    def proposals(self) -> list[Proposal]:
        """Proposals that come from this namespace, and those that would bring something into it."""
        store = self._core.store
        mine = sharing.proposals(store, private=self._namespace) | sharing.proposals(store, shared=self._namespace)
        return [mine[name] for name in sorted(mine)]

    def decide(self, proposal_id: str, *, accept: bool, by: str) -> tuple[Proposal, Memory | None]:
        """Accept or reject a proposal to this namespace; an accepted memory is copied here and returned."""
        return aging.decide(self._core, self._namespace, proposal_id, accepted=accept, by=label(by, "by"))
