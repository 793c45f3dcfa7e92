"""Which table a record lies in. All have the same columns: only what is locked, scanned and kept apart differs."""

from __future__ import annotations

from haversack.store.port import LEASE, SYSTEM

__all__ = ["RECORD_TABLES", "table_of"]

_SYSTEM = {"key": "system_keys", "key-use": "system_keys", "audit": "system_audit", "job": "system_jobs"}

RECORD_TABLES = ("records", "leases", "system_keys", "system_audit", "system_jobs", "system_records")


def table_of(namespace: str, collection: str) -> str:
    """Return the table that holds the records of a collection."""
    if collection == LEASE:
        return "leases"
    return _SYSTEM.get(collection, "system_records") if namespace == SYSTEM else "records"
