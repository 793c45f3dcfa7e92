"""What ageing asks of many memories, read without making a Memory of each."""

# ruff: noqa: S608 - statements are put together from our own names, never from values

from __future__ import annotations

from collections.abc import Collection, Sequence

from haversack.model.lives import KIND_CODES, NEVER, STAGE_CODES, Lives, lives_from
from haversack.model.memory import Kind, Stage
from haversack.store.sqlite.rows import Row, damaged, sound

__all__ = ["lives_of_rows", "lives_statement"]

_DELETED_AT = f"CASE WHEN stage = '{Stage.DELETED}' THEN coalesce(deleted_at, 0) ELSE 0 END"
_COLUMNS = (
    "id, changed, kind, stage, created_at, max(created_at, coalesce(accessed_at, created_at)),"
    f" coalesce(expires_at, {NEVER}), {_DELETED_AT}, importance, confidence, access_count,"
    " coalesce(json_array_length(entities), 0), pinned, superseded_by IS NOT NULL"
)
"""In the order of the fields of Lives."""
_TYPES = (str, int, str, str, int, int, int, int, float, float, int, int, int, int)
"""Of those columns; what SQLite stores as another type is damage."""
_SIZED, _UNSIZED = (*_TYPES, str), (*_TYPES, int)


def lives_statement(spared: Collection[Kind], *, sized: bool) -> str:
    """It takes the namespace, the number to begin behind, and the limit."""
    kinds = ", ".join(f"'{kind.value}'" for kind in sorted(spared))
    return (
        f"SELECT {_COLUMNS}, {'content' if sized else 0} FROM memories WHERE namespace = ? AND changed > ?"
        f" AND ((kind NOT IN ({kinds}) AND pinned = 0) OR stage = '{Stage.DELETED}' OR expires_at IS NOT NULL)"
        " ORDER BY changed LIMIT ?"
    )


def lives_of_rows(rows: Sequence[Row], *, sized: bool) -> Lives:
    """The columns of what the statement found. Characters are counted here: SQLite's `length` ends at a NUL."""
    types = _SIZED if sized else _UNSIZED
    return lives_from([_life(row, types, sized=sized) for row in rows])


def _life(row: Row, types: tuple[type, ...], *, sized: bool) -> Row:
    """Return the row as Lives takes it, whose whole numbers fit its columns; raise StoreError for a damaged one."""
    sound(row, types, "memory", row[0])
    try:
        return (*row[:2], KIND_CODES[row[2]], STAGE_CODES[row[3]], *row[4:14], len(row[14]) if sized else 0)
    except KeyError as error:
        raise damaged("memory", row[0], error) from error
