"""Every verb that acts on a store, as one call that the base state gives something to do; and what is left out, why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from haversack.engine.auditing import Audit, Deed
from haversack.engine.correcting import Knowledge
from haversack.engine.haversack import Haversack
from haversack.engine.jobs import JobBoard
from haversack.engine.keeping import StoreMaintenance
from haversack.engine.keys import Keyring
from haversack.engine.maintaining import NamespaceMaintenance
from haversack.engine.namespace import Namespace
from haversack.engine.receipts import Receipt
from haversack.engine.session import Session
from haversack.engine.visits import Visits

from .interleaving_world import HOME, SHARED, Base

Act = Callable[[Haversack, Base], object]


@dataclass(frozen=True, slots=True)
class Verb:
    """One call, and the public names that it stands for."""

    name: str
    covers: frozenset[str]
    act: Act
    says: frozenset[str] = frozenset()
    """Words of the base state that it says anew."""
    steps: str = ""
    """Why it is more than one transaction, so that the other may come between; empty: it is one."""


VERBS: list[Verb] = []

_STEPS = {
    "extract": "Each twenty turns are a transaction; what was read stands.",
    "once": "The claim, the act and the receipt follow each other; an erasure of all may come between.",
    "bring_in": "Records, turns and memories land in the order of the file; what landed stands.",
    "compact": "Promotion follows the summary in a run of its own.",
    "lifecycle": "Each page is a transaction; what somebody changed meanwhile is left to the next run.",
    "reorganize": "Each step is a transaction; what somebody changed meanwhile is left to the next run.",
    "reset": "A run is opened first; somebody else may have erased the namespace then.",
    "undo": "The run is marked when its last step is undone.",
    "decide": "The decision is written down, then carried out in the other namespace.",
    "flush": "Each hundred records are counted in a transaction.",
    "recall": "Uses are noted in memory and written later.",
    "context": "Uses are noted in memory and written later.",
    "prompt": "Uses are noted in memory and written later.",
    "trimmed": "Uses are noted in memory and written later.",
}


def _verb(covers: str, act: Act, name: str = "", says: str = "") -> None:
    known = name or covers.split(".")[1].split(maxsplit=1)[0]
    VERBS.append(Verb(known, frozenset(covers.split()), act, frozenset(says.split()), _STEPS.get(known, "")))


def _ns(name: str, act: Callable[[Namespace, Mapping[str, str]], object], label: str = "", says: str = "") -> None:
    covers = " ".join(each if "." in each else f"Namespace.{each}" for each in name.split())
    _verb(covers, lambda sack, base: act(sack.namespace(HOME), base.ids), label, says)


def _talk(name: str, act: Callable[[Session, Mapping[str, str]], object], label: str = "") -> None:
    _verb(f"Session.{name}", lambda sack, base: act(sack.namespace(HOME).session("talk"), base.ids), label)


def _knowing(name: str, act: Callable[[Knowledge, Mapping[str, str]], object]) -> None:
    _verb(f"Knowledge.{name}", lambda sack, base: act(sack.namespace(HOME).knowledge, base.ids))


def _tending(name: str, act: Callable[[NamespaceMaintenance, Mapping[str, str]], object]) -> None:
    covers = f"NamespaceMaintenance.{name}"
    _verb(covers, lambda sack, base: act(sack.namespace(HOME).maintenance, base.ids))


_ns("remember", lambda ns, _: ns.remember("A new qcomet was seen over the qatoll"), "remember new")
_ns(
    "remember",
    lambda ns, _: ns.remember("alice drinks Rooibos from the qheron mug", tags=["told"]),
    "remember same",
    "qheron",
)
_ns("remember", lambda ns, _: ns.remember("Alice lives in qtavira", subject="alice/city"), "remember subject")
_ns("remember", lambda ns, _: ns.remember("Alice drinks rooibos from the old qheron mug"), "remember near", "qheron")
_ns("remember", lambda ns, ids: ns.remember("The mill opens at qten", supersedes=ids["new"]), "remember superseding")
_ns("remember_many", lambda ns, _: ns.remember_many(["The qfirst of many", {"content": "The qsecond of many"}]))
_ns("edit", lambda ns, ids: ns.edit(ids["tea"], content="Alice drinks qmate from the mug"))
_ns("edit", lambda ns, ids: ns.edit(ids["tea"], importance=0.1), "edit field")
_ns("vote", lambda ns, ids: ns.vote(ids["tea"], "down"))
_ns("forget", lambda ns, ids: ns.forget(ids["tea"]), "forget soft")
_ns("forget", lambda ns, _: ns.forget(session="talk"), "forget soft session")
_ns("forget", lambda ns, ids: ns.forget(ids["tea"], hard=True), "forget hard")
_ns("forget", lambda ns, ids: ns.forget(ids["left"], hard=True), "forget hard part")
_ns("forget", lambda ns, ids: ns.forget(ids["new"], hard=True), "forget hard successor")
_ns("forget", lambda ns, ids: ns.forget(ids["passage"], hard=True), "forget hard turn")
_ns("forget", lambda ns, _: ns.forget(tags=["drinks"], hard=True), "forget hard filter")
_ns("forget", lambda ns, _: ns.forget(session="talk", hard=True), "forget hard session")
_ns("forget", lambda ns, _: ns.forget(kinds=["passage"], hard=True), "forget hard passages")
_ns("forget", lambda ns, _: ns.forget(everything=True, hard=True), "forget hard everything")
_ns("restore", lambda ns, ids: ns.restore(ids["soft"]))
_ns("fold", lambda ns, _: ns.fold(preview=False))
_ns("merge", lambda ns, ids: ns.merge([ids["tea"], ids["coffee"]]))
_ns("unfold", lambda ns, ids: ns.unfold(ids["left"]))
_ns("reembed", lambda ns, _: ns.reembed())
_ns("extract Session.extract", lambda ns, _: ns.extract())
_ns("once", lambda ns, _: ns.once("k", b"same", lambda: Receipt(ids=(ns.remember("Said qonce").id,))))
_ns("trimmed", lambda ns, _: (ns.context("what does Alice drink?", budget=12), ns.trimmed()))
_ns("recall", lambda ns, _: ns.recall("what does Alice drink?"))
_ns("context", lambda ns, _: ns.context("where does Alice live?", budget=200))
_verb("Namespace.bring_in", lambda sack, base: sack.namespace(HOME).bring_in(base.entries))
_ns("take_out", lambda ns, _: list(ns.take_out()))
_talk("add", lambda talk, _: talk.add("user", "One more qadded turn"))
_talk(
    "extend", lambda talk, _: talk.extend([{"role": "user", "content": "qleft"}, {"role": "user", "content": "qrite"}])
)
_talk("compact", lambda talk, _: talk.compact())
_talk("expand", lambda talk, ids: talk.expand(ids["summary"], reopen=True))
_talk("prompt", lambda talk, _: talk.prompt("where does Alice live?", window=1500, output=100, layout="cached"))
_knowing("correct", lambda it, ids: it.correct(ids["tea"], "Alice drinks qcocoa"))
_knowing("outcome", lambda it, ids: it.outcome(ids["choice"], "It qsank", worked=False))
_knowing("practised", lambda it, ids: it.practised(ids["how"], worked=True))
_knowing("relate", lambda it, _: it.relate("Alice", "works at", "qacme", single=True))
_tending("set_policy", lambda it, _: it.set_policy({"retention_days": 5}))
_tending("lifecycle", lambda it, _: it.lifecycle(execute=True))
_tending("reorganize", lambda it, _: it.reorganize(execute=True))
_tending("reset", lambda it, _: it.reset(execute=True, confirm=HOME, snapshot=False))
_tending("flush", lambda it, _: it.flush())
_tending("undo", lambda it, ids: it.undo(ids["run"]))
_tending("propose", lambda it, ids: it.propose(ids["tea"], shared=SHARED, author="alice"))
_verb(
    "NamespaceMaintenance.decide",
    lambda sack, base: sack.namespace(SHARED).maintenance.decide(base.ids["proposal"], accept=True, by="bob"),
)
_verb("Haversack.learn", lambda sack, _: sack.learn("a-model-nobody-knows", counted=100, reported=160))
_verb(
    "Haversack.close Keyring.check Keyring.flush",
    lambda sack, base: (sack.keys.check(base.ids["secret"]), sack.keys.flush()),
)
_verb("Keyring.change", lambda sack, base: sack.keys.change(base.ids["key"], name="gate", namespaces=[HOME]))
_verb("Keyring.revoke", lambda sack, base: sack.keys.revoke(base.ids["key"]))
_verb("Keyring.rotate", lambda sack, base: sack.keys.rotate(base.ids["key"], grace=timedelta(hours=1)))
_verb("Keyring.delete", lambda sack, base: sack.keys.delete(base.ids["key"]))
_verb("Visits.touch", lambda sack, base: sack.visits.touch(base.ids["visit"]))
_verb("Visits.end", lambda sack, base: sack.visits.end(base.ids["visit"], "qover"))
_verb(
    "Audit.note Audit.flush",
    lambda sack, _: sack.audit.note(Deed(who="door", did="recall", namespace=HOME, session="talk"), now=True),
    "audit",
)

_READS = "It reads and changes nothing; recall, context, prompt and take_out stand for all readers."
_HOLDS = "It hands out an object and asks the store nothing."
_FILES = "It needs a store with files; the copies of a namespace and the runs of maintenance stand in files' own tests."
_ONE = "It is what another verb in the list does, for more of the same."

EXPLAINED: dict[str, str] = {}


def _explained(owner: str, names: str, why: str) -> None:
    EXPLAINED.update({f"{owner}.{name}": why for name in names.split()})


_explained(
    "Namespace",
    "get get_many parts filed why earlier votes_by_signal votes page changes sequence unembedded timeline wake_up"
    " folded everything sessions stats wait index costs stay_forgotten",
    _READS,
)
_explained("Namespace", "layout session knowledge maintenance", _HOLDS)
_explained("Session", "preview prime unread wait folds turns", _READS)
_explained("Session", "append", _ONE)
_explained("Session", "monitor", _HOLDS)
_explained("Knowledge", "reach history", _READS)
_explained("NamespaceMaintenance", "policy foresee health runs steps proposals backup", _READS)
_explained("NamespaceMaintenance", "recover", "It acts on a run whose process died: tests/faults kills some.")
_explained("StoreMaintenance", "schedule snapshots runs health still_holding verify_snapshot plan_snapshot", _READS)
_explained(
    "StoreMaintenance", "snapshot keep_schedule restore_namespace restore_backup forget_in_snapshots copy_to", _FILES
)
_explained("StoreMaintenance", "set_schedule", "It writes one record without reading any.")
_explained("StoreMaintenance", "reset", _ONE)
_explained("StoreMaintenance", "scrub", "It writes nothing but what erasures left to do.")
_explained("StoreMaintenance", "reconcile", "It acts on runs whose process died: tests/faults kills some.")
_explained("Haversack", "namespace namespaces warm_up wait folder", _READS)
_explained("Keyring", "create all get exist ever_existed still_opens children", "It adds a key of its own, or reads.")
_explained(
    "JobBoard", "start run get all cancel wait report close", "Its verbs run on threads: tests/unit/engine/test_jobs."
)
_explained("Visits", "start get of", "It adds a visit of its own, or reads.")
_explained("Audit", "read prune", "It reads, or removes what is older than anything that another verb writes.")

_explained("Audit", "forget", "It changes what waits in memory, and reads.")
_explained("Haversack", "allowances stays", "It leads to what counts requests and logins, and touches no memory.")
_explained("Haversack", "threads", "It runs verbs that are listed themselves.")
_explained("Haversack", "audit jobs keys maintenance visits", "It leads to verbs that are listed themselves.")

_FACE = (
    Namespace, Session, Knowledge, NamespaceMaintenance, StoreMaintenance, Haversack, Keyring, JobBoard, Visits, Audit
)  # fmt: skip


def public_names() -> set[str]:
    """Each public verb or property of each public class, as `Class.name`."""
    return {f"{each.__name__}.{name}" for each in _FACE for name in vars(each) if not name.startswith("_")}
