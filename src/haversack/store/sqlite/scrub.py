"""Making erased words leave the files. Deleting a row zeroes its cell, but two kinds of remains outlive that.

The write-ahead log holds former page images until it is truncated, and SQLite leaves copies of cells in the unused
part of pages when it splits them. So after an erasure the file is rebuilt and the log truncated. Both want a moment
without readers of old versions; until then a counter in the namespace's row says that something is left to do.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from haversack.store.sqlite.migrate import snapshots_of

__all__ = ["is_pending", "scrub"]

_PENDING = "SELECT namespace, erasures FROM sequences WHERE erasures > scrubbed"


def is_pending(connection: sqlite3.Connection) -> bool:
    """Whether some erasure's remains are still to be removed."""
    return connection.execute(f"SELECT EXISTS ({_PENDING})").fetchone() == (1,)


def scrub(
    connection: sqlite3.Connection, path: Path, *, patience: float, afterwards: float, rebuilt: set[tuple[str, int]]
) -> bool:
    """Remove what erasures left in the files; whether nothing is left. Waits at most about `patience` seconds twice.

    `afterwards` is the busy time-out to go back to. An error (busy, full disk) leaves the rest for another time.
    `rebuilt` holds the erasures since which the file was rebuilt while its log could not be truncated: once is enough.
    """
    connection.execute(f"PRAGMA busy_timeout = {int(patience * 1000)}")
    try:
        pending = connection.execute(_PENDING).fetchall()
        if not pending:
            return True
        for copy in snapshots_of(path):
            copy.unlink()
        if not rebuilt.issuperset(pending):
            connection.execute("VACUUM")
            rebuilt.update(pending)
        busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            return False
        connection.executemany(
            "UPDATE sequences SET scrubbed = max(scrubbed, ?) WHERE namespace = ?",
            [(erased, namespace) for namespace, erased in pending],
        )
        rebuilt.clear()
    except (sqlite3.Error, OSError):
        return False
    else:
        return True
    finally:
        connection.execute(f"PRAGMA busy_timeout = {int(afterwards * 1000)}")
