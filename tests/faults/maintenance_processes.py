"""Maintenance under fault; a script, so that forking starts from a process with a single thread.

`FAULT ROUNDS` prints one line of JSON; `table ROUNDS` runs all of them, for people. A SEED behind them, 0 by default,
chooses other random moments.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from haversack.engine.core import Core
from haversack.engine.haversack import Haversack
from haversack.engine.settings import Settings
from haversack.errors import HaversackError, NewerStoreError, NotAStoreError, NotFoundError, RefusedError
from haversack.maintenance import restore
from haversack.maintenance.files import Files
from haversack.maintenance.move import digest_of
from haversack.maintenance.run import RunState
from haversack.maintenance.snapshot import listed, verify
from haversack.model.identity import make_id
from haversack.model.memory import Kind, Memory, Stage
from haversack.recall import Recall
from haversack.store.port import Batch
from haversack.store.sqlite.migrate import Migration, shipped
from haversack.store.sqlite.site import SqliteSite
from haversack.store.sqlite.store import SqliteStore
from haversack.testing.store_contract import sample_memory
from haversack.tokens import counter_for

START = datetime(2026, 1, 1, tzinfo=UTC)
LATER = START + timedelta(hours=110)
FACTS = 240


@dataclass
class Tally:
    """What a series of faults came to."""

    rounds: int = 0
    struck: int = 0
    """Rounds in which the fault met the verb at work; in the others it had ended."""
    lost: int = 0
    """Acknowledged writes that are not there."""
    unusable: int = 0
    """Stores that did not open, or were not sound, after what a person is told to do."""
    repairs: int = 0
    """Rounds that wanted `recover`, `doctor --fix` or a restore."""
    notes: Counter[str] = field(default_factory=Counter[str])

    def as_json(self) -> dict[str, Any]:
        return {**self.__dict__, "notes": dict(self.notes)}


def open_at(path: Path, now: datetime = LATER) -> Haversack:
    store = SqliteStore(path, busy_timeout=10)
    return Haversack(
        Core(
            store=store,
            has_files=partial(Files, SqliteSite(path), store),
            recall=Recall(store),
            embedder=None,
            settings=Settings(),
            clock=lambda: now,
            entropy=os.urandom,
            counter=counter_for,
        )
    )


def build(path: Path) -> None:
    """A store with something to do for every verb."""
    with open_at(path, START) as sack:
        ns = sack.namespace("n")
        store = SqliteStore(path)
        rows = [
            Memory(
                id=make_id(START, number.to_bytes(10, "big")),
                kind=Kind.FACT,
                content=f"{['the printer', 'that printer'][number % 2]} of room {number // 2} stands beside the door",
                created_at=START,
                event_time=START,
                importance=number % 10 / 10,
                entities=("Ada",) if number % 40 == 0 else (),
            )
            for number in range(FACTS)
        ]
        store.apply("n", Batch(memories=tuple(rows)))
        store.close()
        session = ns.session("s")
        for number in range(20):
            session.add("user", f"turn {number} about the garden")
        sack.namespace("other").remember("what others keep")
        ns.recall("printer room")


def _dice(number: int) -> random.Random:
    seed = sys.argv[3] if len(sys.argv) > 3 else "0"
    return random.Random(f"{number} {seed}")


def main() -> None:
    verb, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    if verb == "table":
        _table(rounds)
        return
    sys.stdout.write(json.dumps(FAULTS[verb](rounds).as_json()) + "\n")


def _table(rounds: int) -> None:
    heads = ("fault", "rounds", "struck", "lost", "unusable", "repairs")
    _row(*heads, "notes")
    for name, run in FAULTS.items():
        tally = run(rounds)
        notes = ", ".join(f"{count} {note}" for note, count in tally.notes.most_common(6) if count)
        _row(name, *(str(getattr(tally, head)) for head in heads[1:]), notes)


def _row(name: str, *cells: str) -> None:
    *numbers, notes = cells
    sys.stdout.write(f"{name:<18}" + "".join(f"{cell:>9}" for cell in numbers) + f"  {notes}\n")
    sys.stdout.flush()


# --- kill -9 -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verb:
    """A maintenance verb under the knife: how it is run, and what must be true when it was run again after a kill."""

    act: Callable[[Path], None]
    holds: Callable[[Path], bool]
    """Whether the store is as the finished verb leaves it."""
    others_write: bool = True


def _lifecycle(path: Path) -> None:
    with open_at(path) as sack:
        sack.namespace("n").maintenance.lifecycle(execute=True)


def _has_aged(path: Path) -> bool:
    with open_at(path) as sack:
        maintenance = sack.namespace("n").maintenance
        used = sum(memory.access_count for memory in _memories(path, "n"))
        return maintenance.lifecycle().transitions == () and used == min(50, FACTS)


def _reorganize(path: Path) -> None:
    with open_at(path) as sack:
        sack.namespace("n").maintenance.reorganize(execute=True)


def _is_tidy(path: Path) -> bool:
    with open_at(path) as sack:
        decided = sack.namespace("n").maintenance.reorganize().decision
        hidden = sum(memory.superseded_by is not None for memory in _memories(path, "n"))
        return decided.touched == () and hidden == FACTS // 2


def _snapshot(path: Path) -> None:
    with open_at(path) as sack:
        sack.maintenance.snapshot()


def _has_snapshots(path: Path) -> bool:
    with open_at(path) as sack:
        found = sack.maintenance.snapshots()
    for each in found:
        verify(SqliteSite(path), each.path)
    folder = Path(f"{path}.snapshots")
    return len(found) >= 1 and folder.is_dir() and all(each.name.endswith(".snapshot") for each in folder.iterdir())


def _restore(path: Path) -> None:
    site = SqliteSite(path)
    with suppress(HaversackError):
        restore.confirm(site)
    restore.restore_over(site, path.with_name("before.snapshot"), LATER)


def _is_restored(path: Path) -> bool:
    return not any(memory.content == "said after the snapshot" for memory in _memories(path, "other"))


def _copy(path: Path) -> None:
    with open_at(path) as sack, open_at(path.with_name("copy.db")) as target:
        sack.maintenance.copy_to(target.maintenance, ["n", "other"], execute=True)


def _is_copied(path: Path) -> bool:
    with closing(SqliteStore(path)) as one, closing(SqliteStore(path.with_name("copy.db"))) as two:
        return all(digest_of(one, name)[0] == digest_of(two, name)[0] for name in ("n", "other"))


def _reset(path: Path) -> None:
    with open_at(path) as sack, suppress(NotFoundError):  # gone already
        sack.maintenance.reset(["n"], execute=True, confirm="n", snapshot=False)


def _is_reset(path: Path) -> bool:
    return _memories(path, "n") == [] and len(_memories(path, "other")) >= 1


def _rewrite(path: Path) -> None:
    with open_at(path) as sack:
        ns = sack.namespace("n")
        wanted = make_id(START, (7).to_bytes(10, "big"))
        with suppress(HaversackError):
            ns.forget(wanted, hard=True)
        gone = ns.forget(make_id(START, (9).to_bytes(10, "big")), hard=True, preview=True)
        sack.maintenance.forget_in_snapshots(replace(gone, preview=False, memories=(wanted,), derived=(), turns=()))


def _is_rewritten(path: Path) -> bool:
    path.with_name("look.db").unlink(missing_ok=True)
    (snapshot,) = listed(Path(f"{path}.snapshots"))
    verify(SqliteSite(path), snapshot.path)
    restore.restore_beside(SqliteSite(path), snapshot.path, path.with_name("look.db"))
    held = {memory.id for memory in _memories(path.with_name("look.db"), "n")}
    return make_id(START, (7).to_bytes(10, "big")) not in held and len(held) >= FACTS - 1


def _undo(path: Path) -> None:
    with open_at(path) as sack:
        maintenance = sack.namespace("n").maintenance
        last = [run for run in maintenance.runs() if run.verb == "reorganize"][-1]
        if last.state is not RunState.UNDONE:
            maintenance.undo(last.id)


def _is_undone(path: Path) -> bool:
    return not any(memory.superseded_by for memory in _memories(path, "n") if memory.stage is not Stage.DELETED)


VERBS = {
    "lifecycle": Verb(_lifecycle, _has_aged),
    "reorganize": Verb(_reorganize, _is_tidy),
    "undo": Verb(_undo, _is_undone),
    "snapshot": Verb(_snapshot, _has_snapshots),
    "restore": Verb(_restore, _is_restored, others_write=False),
    "copy": Verb(_copy, _is_copied),
    "reset": Verb(_reset, _is_reset),
    "rewrite": Verb(_rewrite, _is_rewritten),
}


def kill(name: str, rounds: int) -> Tally:
    """The verb killed at a random moment, with a writer at work beside it; then what a person would do."""
    verb, dice, tally = VERBS[name], _dice(7), Tally()
    with tempfile.TemporaryDirectory() as top:
        template = Path(top) / "template"
        template.mkdir()
        _prepare(template / "m.db", name)
        span = _time_of(template, verb.act)
        for _ in range(rounds):
            with _copied(template) as folder:
                _kill_once(folder / "m.db", verb, dice.uniform(0, span), tally)
    return tally


def _prepare(path: Path, name: str) -> None:
    build(path)
    with open_at(path) as sack:
        if name == "undo":
            sack.namespace("n").maintenance.reorganize(execute=True, steps=["dedupe", "prune", "synthesize"])
        if name == "rewrite":
            sack.maintenance.snapshot()
        if name == "restore":
            sack.maintenance.snapshot(path.with_name("before.snapshot"))
            sack.namespace("other").remember("said after the snapshot")


def _time_of(template: Path, act: Callable[[Path], None]) -> float:
    with _copied(template) as folder:
        begun = time.monotonic()
        act(folder / "m.db")
        return time.monotonic() - begun


def _kill_once(path: Path, verb: Verb, delay: float, tally: Tally) -> None:
    tally.rounds += 1
    child = _forked(lambda: verb.act(path))
    writer, pipe = _writer(path) if verb.others_write else (0, None)
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    tally.struck += os.WIFSIGNALED(status)
    acknowledged = _stop(writer, pipe)
    try:
        site = SqliteSite(path)
        if severe := [fault for fault in site.examine() if fault.severe]:
            tally.unusable += 1
            tally.notes[severe[0].what[:120]] += 1
            return
        tally.lost += len(acknowledged - {memory.id for memory in _memories(path, "w")})
        tally.repairs += _tidied_up(path)
        if not verb.holds(path):
            verb.act(path)
        if not verb.holds(path) or any(fault.severe for fault in site.examine()):
            tally.unusable += 1
            tally.notes["left otherwise than finished"] += 1
    except HaversackError as error:
        tally.unusable += 1
        tally.notes[f"{type(error).__name__}: {error}"[:90]] += 1


def _tidied_up(path: Path) -> bool:
    """What `doctor --fix` does; whether there was anything to do."""
    mended = SqliteSite(path).mend()
    with open_at(path) as sack:
        return bool(sack.maintenance.reconcile()) or bool(mended)


def _writer(path: Path) -> tuple[int, int]:
    """Another process that goes on remembering, and says each time that it was acknowledged."""
    reading, writing = os.pipe()

    def write() -> None:
        store = SqliteStore(path, busy_timeout=10)
        for number in range(1_000_000):
            row = sample_memory(number)
            store.apply("w", Batch(memories=(row,)))
            os.write(writing, f"{row.id}\n".encode())

    child = _forked(write)
    os.close(writing)
    return child, reading


def _stop(writer: int, pipe: int | None) -> set[str]:
    if pipe is None:
        return set()
    os.kill(writer, signal.SIGKILL)
    os.waitpid(writer, 0)
    with os.fdopen(pipe) as told:
        return {line.strip() for line in told if line.endswith("\n")}


# --- other faults --------------------------------------------------------------------------------------------------


def full_disk(rounds: int) -> Tally:
    """Each verb on a disk with too little room, more or less; then again with room."""
    dice, tally = _dice(11), Tally()
    with tempfile.TemporaryDirectory() as top, _small_disk(Path(top) / "disk") as disk:
        if disk is None:
            tally.notes["no right to mount a small disk"] += 1
            return tally
        for name in (*VERBS, *VERBS)[:rounds] if rounds < len(VERBS) else list(VERBS) * (rounds // len(VERBS)):
            folder = disk / "at"
            folder.mkdir()
            _prepare(folder / "m.db", name)
            before = _words(folder / "m.db")
            ballast = disk / "ballast"
            room = dice.choice([0, 20_000, 100_000, 300_000])
            _fill(ballast, shutil.disk_usage(disk).free - room)
            tally.rounds += 1
            tally.struck += not _acts(VERBS[name].act, folder / "m.db", tally)
            ballast.unlink()
            _expect_sound(folder / "m.db", VERBS[name], before, tally)
            shutil.rmtree(folder)
    return tally


def read_only(rounds: int) -> Tally:
    """Verbs on a store that may be read but not written: typed refusals, and a snapshot elsewhere."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as top:
        path = Path(top) / "m.db"
        build(path)
        store = SqliteStore(path, read_only=True)
        core = Core(
            store=store,
            has_files=partial(Files, SqliteSite(path), store),
            recall=Recall(store),
            embedder=None,
            settings=Settings(),
            clock=lambda: LATER,
            entropy=os.urandom,
            counter=counter_for,
        )
        with Haversack(core) as sack:
            ns = sack.namespace("n").maintenance
            calls: list[Callable[[], object]] = [
                lambda: ns.lifecycle(execute=True),
                lambda: ns.reorganize(steps=["dedupe"], execute=True),
                lambda: sack.maintenance.reset(["n"], execute=True, confirm="n", snapshot=False),
                ns.lifecycle,
                lambda: sack.maintenance.snapshot(Path(top) / "copy.snapshot"),
            ]
            for call in calls:
                tally.rounds += 1
                try:
                    call()
                    tally.notes["worked"] += 1
                except HaversackError as error:
                    tally.struck += 1
                    tally.notes[type(error).__name__] += 1
        verify(SqliteSite(path), Path(top) / "copy.snapshot")
    return tally


def bit_flip(rounds: int) -> Tally:
    """One bit turned somewhere in the file: typed errors only, doctor tells, a restore brings everything back."""
    dice = _dice(13)

    def flip(whole: bytes) -> bytes:
        place, bit = dice.randrange(len(whole)), 1 << dice.randrange(8)
        return whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :]

    return _altered(rounds, flip)


def _altered(rounds: int, alter: Callable[[bytes], bytes]) -> Tally:
    tally = Tally()
    with tempfile.TemporaryDirectory() as top:
        path = Path(top) / "m.db"
        build(path)
        with open_at(path) as sack:
            snapshot = sack.maintenance.snapshot(Path(top) / "good.snapshot").path
        whole, words = path.read_bytes(), _words(path)
        for _ in range(rounds):
            tally.rounds += 1
            path.write_bytes(alter(whole))
            told = any(fault.severe or fault.mends for fault in SqliteSite(path).examine())
            read = _read_all(path)
            tally.struck += told or read != words
            tally.notes["told by doctor" if told else ("harmless" if read == words else "changed, not told")] += 1
            tally.repairs += told
            restore.restore_over(SqliteSite(path), snapshot, LATER)
            restore.confirm(SqliteSite(path))
            tally.unusable += _read_all(path) != words
            for left in (*path.parent.glob("m.db-*"), *path.parent.glob("*.previous*")):
                left.unlink()
    return tally


def deleted_log(rounds: int) -> Tally:
    """A writer killed, then its write-ahead log deleted: the doctor tells, and the last snapshot brings all back.

    The file is as it was at the last checkpoint, or, when the kill came in the middle of one, half of it is newer.
    """
    tally = Tally()
    with tempfile.TemporaryDirectory() as top:
        for number in range(rounds):
            tally.rounds += 1
            path = Path(top) / f"{number}.db"
            build(path)
            child, pipe = _writer(path)
            with os.fdopen(pipe) as told:
                for _ in range(20):
                    told.readline()
                with open_at(path) as sack:
                    snapshot = sack.maintenance.snapshot()
                os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            log = path.with_name(f"{path.name}-wal")
            tally.struck += log.exists() and log.stat().st_size > 0
            log.unlink(missing_ok=True)
            told_so = _told_of_log(path)
            tally.notes[told_so or "not told"] += 1
            if told_so is None:
                with closing(SqliteStore(path)) as store:
                    tally.unusable += store.sequence("w") < snapshot.manifest.namespaces["w"].sequence
            restore.restore_over(SqliteSite(path), snapshot.path, LATER)
            tally.repairs += 1
            tally.unusable += len(_memories(path, "w")) < 20
    return tally


def _told_of_log(path: Path) -> str | None:
    if severe := [fault.code for fault in SqliteSite(path).examine() if fault.severe]:
        return f"told: {severe[0]}"
    with open_at(path) as sack:
        faults = sack.maintenance.health().faults
    return next((f"told: {fault.code}" for fault in faults if fault.code == "behind"), None)


def changed_snapshot(rounds: int) -> Tally:
    """One byte of a snapshot changed: it is refused, and the store is not touched."""
    dice, tally = _dice(17), Tally()
    with tempfile.TemporaryDirectory() as top:
        path = Path(top) / "m.db"
        build(path)
        with open_at(path) as sack:
            snapshot = sack.maintenance.snapshot(Path(top) / "good.snapshot").path
        whole, before = snapshot.read_bytes(), _words(path)
        for _ in range(rounds):
            tally.rounds += 1
            place = dice.randrange(len(whole))
            snapshot.write_bytes(whole[:place] + bytes([whole[place] ^ dice.randrange(1, 256)]) + whole[place + 1 :])
            try:
                restore.restore_over(SqliteSite(path), snapshot, LATER)
                tally.unusable += 1
            except NotAStoreError:
                tally.struck += 1
            tally.lost += _words(path) != before
    return tally


def clock_jump(rounds: int) -> Tally:
    """The clock ten years ahead for one run, then back: nothing is gone for good, and undo brings all of it back."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as top:
        for number in range(min(rounds, 3)):
            tally.rounds += 1
            path = Path(top) / f"{number}.db"
            build(path)
            before = _words(path)
            with open_at(path, LATER + timedelta(days=3_650)) as sack:
                done = sack.namespace("n").maintenance.lifecycle(execute=True)
                sack.maintenance.snapshot()
            with open_at(path) as sack:
                maintenance = sack.namespace("n").maintenance
                tally.struck += len(done.transitions) > 0
                tally.lost += maintenance.lifecycle(execute=True).counts.get("erase", 0)
                tally.unusable += sack.maintenance.keep_schedule() is None
                maintenance.undo(done.run or "")
            tally.repairs += 1
            tally.lost += _words(path) != before
            tally.unusable += any(memory.stage is Stage.DELETED for memory in _memories(path, "n"))
    return tally


def no_handles(rounds: int) -> Tally:
    """Fewer and fewer file handles: a typed error or success, and a sound store."""
    return _short_of(_starved, lambda turn: turn % 9, {0: "worked", 3: "typed error"}, rounds)


def low_memory(rounds: int) -> Tally:
    """Less and less memory for a verb: a typed error, or MemoryError where no store is in it, and a sound store."""
    dice = _dice(19)
    ends = {0: "worked", 3: "typed error", 4: "MemoryError"}
    return _short_of(_cramped, lambda _: dice.choice([0, 1 << 16, 1 << 18, 1 << 20]), ends, rounds)


def _short_of(
    acts: Callable[[Callable[[Path], None], Path, int], None],
    spare: Callable[[int], int],
    ends: dict[int, str],
    rounds: int,
) -> Tally:
    """Verbs in a process of their own that has little to spare; `ends` says which exit codes are in order."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as top:
        template = Path(top) / "template"
        template.mkdir()
        _prepare(template / "m.db", "restore")
        names = ("lifecycle", "reorganize", "snapshot", "restore", "copy", "reset")
        for turn in range(rounds):
            verb = VERBS[names[turn % len(names)]]
            with _copied(template) as folder:
                path, room = folder / "m.db", spare(turn)
                before = _words(path)
                tally.rounds += 1
                child = _forked(lambda: acts(verb.act, path, room))  # noqa: B023 - used at once
                code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                tally.struck += code != 0
                tally.notes[ends.get(code, f"exit {code}")] += 1
                tally.unusable += code not in ends
                _expect_sound(path, verb, before, tally)
    return tally


def _starved(act: Callable[[Path], None], path: Path, spare: int) -> None:
    _warmed(act, path)
    used = len(list(Path("/proc/self/fd").iterdir()))
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + spare, used + spare))
    try:
        act(path)
    except (HaversackError, OSError) as error:
        if isinstance(error, OSError) and error.errno != errno.EMFILE:
            raise
        os._exit(3)


def forked(rounds: int) -> Tally:
    """A fork in the middle of a verb, whose child goes on reading and leaves: the verb does not notice."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as top:
        for number, name in enumerate(("lifecycle", "reorganize", "copy")[: max(1, rounds)]):
            tally.rounds += 1
            path = Path(top) / f"{number}" / "m.db"
            path.parent.mkdir()
            _prepare(path, name)
            apply, children = SqliteStore.apply, list[int]()

            def forking(self: SqliteStore, namespace: str, batch: Batch) -> Any:
                applied = apply(self, namespace, batch)  # noqa: B023 - used at once
                if len(children) < 3:  # noqa: B023
                    children.append(_forked(lambda: self.changes(namespace) and None))  # noqa: B023
                return applied

            SqliteStore.apply = forking  # type: ignore[method-assign]
            try:
                VERBS[name].act(path)
            finally:
                SqliteStore.apply = apply  # type: ignore[method-assign]
            for child in children:
                tally.unusable += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0
            tally.struck += bool(children)
            tally.unusable += not VERBS[name].holds(path)
    return tally


def _warmed(act: Callable[[Path], None], path: Path) -> None:
    """Load every module that the verb needs while there is plenty of everything."""
    act_once = Path(path.parent / "warm")
    shutil.copytree(path.parent, act_once)
    with suppress(HaversackError):
        act(act_once / "m.db")
    shutil.rmtree(act_once)


def _cramped(act: Callable[[Path], None], path: Path, spare: int) -> None:
    _warmed(act, path)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + spare, used + spare))
    try:
        act(path)
    except HaversackError:
        os._exit(3)
    except MemoryError:
        os._exit(4)


def two_hosts(rounds: int) -> Tally:
    """A run of another machine is killed: this one's are refused by name until its lease ends, then all is finished."""
    dice, tally = _dice(23), Tally()
    with tempfile.TemporaryDirectory() as top:
        template = Path(top) / "template"
        template.mkdir()
        _prepare(template / "m.db", "lifecycle")
        span = _time_of(template, _lifecycle)
        for _ in range(rounds):
            with _copied(template) as folder:
                path = folder / "m.db"
                tally.rounds += 1
                child = _forked(lambda: _elsewhere(lambda: _lifecycle(path)))  # noqa: B023 - used at once
                time.sleep(dice.uniform(0, span))
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                tally.lost += len(_memories(path, "n")) < FACTS
                tally.struck += _is_refused(path, tally)
                with open_at(path, LATER + timedelta(minutes=11)) as sack:
                    tally.repairs += bool(sack.maintenance.reconcile())
                    sack.namespace("n").maintenance.lifecycle(execute=True)
                    tally.unusable += sack.namespace("n").maintenance.lifecycle().transitions != ()
    return tally


def _elsewhere(work: Callable[[], None]) -> None:
    socket.gethostname = lambda: "elsewhere"
    work()


def _is_refused(path: Path, tally: Tally) -> bool:
    """Whether the other machine's run still stands in the way, is named, and is not taken for one that is over."""
    with open_at(path) as sack:
        maintenance = sack.namespace("n").maintenance
        open_runs = [run for run in maintenance.runs() if run.state is RunState.RUNNING]
        told = [advice.what for advice in sack.maintenance.health().advice if advice.code == "working"]
        tally.unusable += len(told) != len(open_runs) or sack.maintenance.reconcile() != []
        try:
            maintenance.lifecycle(execute=True)
        except RefusedError as error:
            tally.notes["refused by name" if "machine elsewhere" in str(error) else "refused"] += 1
            return True
    return False


def two_versions(rounds: int) -> Tally:
    """A newer program migrates a store that an older one has open: the older one writes nothing more, and says why."""
    tally = Tally()
    newer = (
        *shipped(),
        Migration(number=len(shipped()) + 1, statements=("ALTER TABLE memories RENAME COLUMN speaker TO who",)),
    )
    with tempfile.TemporaryDirectory() as top:
        for number in range(min(rounds, 10)):
            path = Path(top) / f"{number}.db"
            build(path)
            before = _words(path)
            with open_at(path) as older:
                ns = older.namespace("n")
                SqliteStore(path, migrations=newer).close()
                calls: list[Callable[[], object]] = [
                    lambda: ns.remember("too late"),  # noqa: B023 - used at once
                    lambda: ns.session("s").add("user", "too late"),  # noqa: B023
                    lambda: ns.maintenance.lifecycle(execute=True),  # noqa: B023
                    lambda: ns.forget(everything=True, hard=True),  # noqa: B023
                    ns.maintenance.lifecycle,
                ]
                for call in calls:
                    tally.rounds += 1
                    try:
                        call()
                        tally.notes["went on"] += 1
                    except NewerStoreError:
                        tally.struck += 1
            tally.unusable += next(fault.code for fault in SqliteSite(path).examine() if fault.severe) != "newer"
            with closing(sqlite3.connect(path)) as connection:
                connection.execute("ALTER TABLE memories RENAME COLUMN who TO speaker")
                connection.execute(f"PRAGMA user_version = {len(shipped())}")
            tally.lost += _words(path) != before
    return tally


def torn_page(rounds: int) -> Tally:
    """A page of which only the first half reached the disk: the doctor tells, a restore brings everything back."""
    dice = _dice(29)

    def tear(whole: bytes) -> bytes:
        halves = {at: whole[at : at + 2048] for at in range(4096 + 2048, len(whole), 4096)}
        used = [at for at, half in halves.items() if any(half)]  # a page of an empty index has nothing to lose
        middle = dice.choice(used)
        other = dice.choice([half for half in map(halves.get, used) if half and half != halves[middle]])
        return whole[:middle] + other + whole[middle + 2048 :]

    return _altered(rounds, tear)


def read_only_disk(rounds: int) -> Tally:
    """The disk turns read-only in the middle of a verb, as it does after an error; then it is writable again."""
    dice, tally = _dice(31), Tally()
    with tempfile.TemporaryDirectory() as top:
        for turn in range(rounds):
            name = list(VERBS)[turn % len(VERBS)]
            image, disk = Path(top) / "image", Path(top) / "disk"
            disk.mkdir(exist_ok=True)
            if not _made_disk(image, disk):
                tally.notes["no right to mount a disk"] += 1
                return tally
            try:
                _prepare(disk / "m.db", name)
                before = _words(disk / "m.db")
                child = _forked(lambda: _refusing(VERBS[name].act, disk / "m.db"))  # noqa: B023 - used at once
                time.sleep(dice.uniform(0, 0.3))
                _mount("-o", "remount,abort", str(disk))
                code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                tally.rounds += 1
                tally.struck += code != 0
                tally.notes[{0: "worked", 3: "typed error"}.get(code, f"exit {code}")] += 1
                tally.unusable += code not in {0, 3}
                subprocess.run(["/bin/umount", disk], check=True)
                subprocess.run(["/usr/sbin/e2fsck", "-fy", image], capture_output=True, check=False)
                _mount("-o", "loop", str(image), str(disk))
                _expect_sound(disk / "m.db", VERBS[name], before, tally)
            finally:
                subprocess.run(["/bin/umount", disk], capture_output=True, check=False)
    return tally


def _refusing(act: Callable[[Path], None], path: Path) -> None:
    try:
        act(path)
    except (HaversackError, OSError) as error:
        if isinstance(error, OSError) and error.errno not in {errno.EROFS, errno.EIO}:
            raise
        os._exit(3)


def _made_disk(image: Path, disk: Path) -> bool:
    with image.open("wb") as file:
        file.truncate(48 << 20)
    made = subprocess.run(["/usr/sbin/mkfs.ext4", "-q", "-F", image], capture_output=True, check=False)
    return made.returncode == 0 and _mount("-o", "loop", str(image), str(disk))


def _mount(*words: str) -> bool:
    return subprocess.run(["/bin/mount", *words], capture_output=True, check=False).returncode == 0


def killed_writer(rounds: int) -> Tally:
    """Every verb that writes memories, in any order, killed at a random moment; what it acknowledged must hold."""
    dice, tally = _dice(37), Tally()
    with tempfile.TemporaryDirectory() as top:
        path = Path(top) / "m.db"
        build(path)
        state: dict[str, Any] = {"here": {}, "becoming": {}, "gone": [], "turns": []}
        for turn in range(rounds):
            reading, writing = os.pipe()
            child = _forked(lambda: _write_all(path, turn, writing))  # noqa: B023 - used at once
            os.close(writing)
            tally.rounds += 1
            with os.fdopen(reading) as told:
                lines = [told.readline() for _ in range(dice.randrange(1, 20))]
                os.kill(child, signal.SIGKILL)
                lines += list(told)
            os.waitpid(child, 0)
            _take_note(state, [json.loads(line) for line in lines if line.endswith("\n")])
            tally.struck += 1
            if any(fault.severe for fault in SqliteSite(path).examine()):
                tally.unusable += 1
            tally.repairs += _tidied_up(path)
            tally.lost += _missing(path, state)
    return tally


def _write_all(path: Path, turn: int, pipe: int) -> None:
    """Verbs in a random order, each acknowledged by one line: what is here, what is gone, what was said."""
    dice = _dice(turn)

    def tell(**what: Any) -> None:
        os.write(pipe, f"{json.dumps(what)}\n".encode())

    with open_at(path) as sack:
        ns, mine = sack.namespace("k"), list[str]()
        session = ns.session(f"s{turn}")
        for number in range(1_000_000):
            words = f"round {turn} statement {number} about tea {dice.getrandbits(40)}"
            match dice.randrange(8) if mine else 0:
                case 0 | 1:
                    made = ns.remember(words)
                    mine.append(made.id)
                    tell(here={made.id: words})
                case 2:
                    both = ns.remember_many([words, f"{words} too"])
                    mine += [each.id for each in both]
                    tell(here={each.id: each.content for each in both})
                case 3:
                    tell(turns=[session.add("user", words).id])
                case 4:
                    said = session.extend([{"role": "user", "content": words}, {"role": "assistant", "content": "so"}])
                    tell(turns=[each.id for each in said])
                case 5:
                    chosen = dice.choice(mine)
                    tell(becoming={chosen: words})
                    ns.edit(chosen, content=words)
                    tell(here={chosen: words})
                case 6:
                    gone = mine.pop(dice.randrange(len(mine)))
                    tell(going=gone)
                    ns.forget(gone, hard=True)
                    tell(gone=[gone])
                case _:
                    hidden = dice.choice(mine)
                    tell(going=hidden)
                    ns.forget(hidden)
                    ns.restore([hidden])
                    tell(back=hidden)


def _take_note(state: dict[str, Any], lines: list[dict[str, Any]]) -> None:
    going: dict[str, str] = {}
    for line in lines:
        state["here"] |= line.get("here", {})
        state["becoming"] |= line.get("becoming", {})
        state["turns"] += line.get("turns", [])
        if (name := line.get("going")) is not None and name in state["here"]:
            going[name] = state["here"].pop(name)
        if (name := line.get("back")) in going:
            state["here"][name] = going[name]
        state["gone"] += line.get("gone", [])


def _missing(path: Path, state: dict[str, Any]) -> int:
    """Acknowledged memories whose words are not there, acknowledged turns that are not, erased ones that are.

    An edit that was asked for and not acknowledged may have landed.
    """
    rows = {memory.id: memory.content for memory in _memories(path, "k") if memory.stage is not Stage.DELETED}
    with closing(SqliteStore(path)) as store:
        said = {turn.id for turn in store.turns_by_id("k", state["turns"])}
    lost = [
        name
        for name, words in state["here"].items()
        if rows.get(name) not in {words, state["becoming"].get(name, words)}
    ]
    return len(lost) + len(set(state["turns"]) - said) + len(rows.keys() & set(state["gone"]))


FAULTS: dict[str, Callable[[int], Tally]] = {
    "kill writer": killed_writer,
    **{f"kill {name}": (lambda rounds, name=name: kill(name, rounds)) for name in VERBS},
    "full disk": full_disk,
    "read-only": read_only,
    "read-only disk": read_only_disk,
    "bit flip": bit_flip,
    "torn page": torn_page,
    "deleted log": deleted_log,
    "changed snapshot": changed_snapshot,
    "clock jump": clock_jump,
    "no handles": no_handles,
    "low memory": low_memory,
    "two hosts": two_hosts,
    "two versions": two_versions,
    "fork": forked,
}


# --- shared --------------------------------------------------------------------------------------------------------


def _expect_sound(path: Path, verb: Verb, before: str, tally: Tally) -> None:
    """After the fault is gone: sound, nothing lost, and the verb can be finished."""
    site = SqliteSite(path)
    try:
        if severe := [fault for fault in site.examine() if fault.severe]:
            tally.unusable += 1
            tally.notes[severe[0].what[:90]] += 1
            return
        if verb.act not in {_reset, _rewrite, _restore}:
            tally.lost += _words(path) != before
        tally.repairs += _tidied_up(path)
        if not verb.holds(path):
            verb.act(path)
        if not verb.holds(path):
            tally.unusable += 1
            tally.notes[f"{verb.act.__name__} left otherwise than finished"] += 1
    except HaversackError as error:
        tally.unusable += 1
        tally.notes[f"{type(error).__name__}: {error}"[:90]] += 1


def _acts(act: Callable[[Path], None], path: Path, tally: Tally) -> bool:
    try:
        act(path)
    except HaversackError as error:
        tally.notes[type(error).__name__] += 1
        return False
    except OSError as error:
        tally.notes[f"untyped {errno.errorcode.get(error.errno or 0)}"] += 1
        tally.unusable += 1
        return False
    return True


def _memories(path: Path, namespace: str) -> list[Memory]:
    with closing(SqliteStore(path)) as store:
        return list(store.changes(namespace, limit=10**7).memories)


def _words(path: Path) -> str:
    """A hash of every word that the namespaces `n` and `other` remember, whatever maintenance did to stages."""
    said = sorted(
        (memory.id, memory.content)
        for space in ("n", "other")
        for memory in _memories(path, space)
        if "haversack.synthesis_of" not in memory.metadata
    )
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


def _read_all(path: Path) -> str:
    """The words, or the name of the typed error; anything else is raised."""
    try:
        return _words(path)
    except HaversackError as error:
        return type(error).__name__


@contextmanager
def _copied(template: Path) -> Generator[Path]:
    with tempfile.TemporaryDirectory(dir=template.parent) as top:
        folder = Path(top) / "at"
        shutil.copytree(template, folder)
        yield folder


@contextmanager
def _small_disk(place: Path) -> Generator[Path | None]:
    place.mkdir()
    mounted = subprocess.run(
        ["/bin/mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", place], capture_output=True, check=False
    )
    try:
        yield None if mounted.returncode else place
    finally:
        if not mounted.returncode:
            subprocess.run(["/bin/umount", place], check=True)


def _fill(ballast: Path, size: int) -> None:
    with ballast.open("wb") as file, suppress(OSError):
        while size > 0:
            size -= file.write(b"\0" * min(size, 1 << 16))


def _forked(work: Callable[[], None]) -> int:
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        work()
        code = 0
    except BaseException as error:  # noqa: BLE001 - told by the exit code
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
    os._exit(code)


if __name__ == "__main__":
    _ = sqlite3  # loaded before any file handle is scarce
    main()
