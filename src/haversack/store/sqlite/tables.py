"""Which table a record lies in. All have the same columns: only what is locked, scanned and kept apart differs."""

from __future__ import annotations

import sqlite3

from haversack.store.port import LEASE, SYSTEM

__all__ = ["RECORD_TABLES", "collections_in", "table_of"]

_SYSTEM = {"key": "system_keys", "key-use": "system_keys", "audit": "system_audit", "job": "system_jobs"}

RECORD_TABLES = ("records", "leases", "system_keys", "system_audit", "system_jobs", "system_records")


def table_of(namespace: str, collection: str) -> str:
    """Return the table that holds the records of a collection."""
    if collection == LEASE:
        return "leases"
    return _SYSTEM.get(collection, "system_records") if namespace == SYSTEM else "records"


def collections_in(connection: sqlite3.Connection, table: str, namespace: str) -> list[str]:
    """Return the collections of a namespace's records in one table, sorted: a look into its index for each."""
    following = f"SELECT min(collection) FROM {table} WHERE namespace = ? AND collection > ?"  # noqa: S608 - our own names
    found: list[str] = []
    while (name := connection.execute(following, (namespace, found[-1] if found else "")).fetchone()[0]) is not None:
        found.append(name)
    return found
