-- The first schema. Namespace leads every key; times are whole microseconds since 1970; NULL stands for a field's default.
-- Every statement may be run again over its own result.

CREATE TABLE IF NOT EXISTS sequences (
    namespace TEXT NOT NULL,
    value INTEGER NOT NULL,
    reset INTEGER NOT NULL,
    erasures INTEGER NOT NULL,
    scrubbed INTEGER NOT NULL,
    PRIMARY KEY (namespace)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS memories (
    namespace TEXT NOT NULL,
    id TEXT NOT NULL,
    born INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    kind TEXT NOT NULL,
    stage TEXT NOT NULL,
    fingerprint TEXT,
    content TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    event_time INTEGER NOT NULL,
    speaker TEXT NOT NULL,
    importance REAL NOT NULL,
    confidence REAL NOT NULL,
    trust TEXT NOT NULL,
    entities TEXT,
    tags TEXT,
    metadata TEXT,
    pinned INTEGER NOT NULL,
    source TEXT,
    valid_from INTEGER,
    valid_to INTEGER,
    expires_at INTEGER,
    superseded_by TEXT,
    access_count INTEGER NOT NULL,
    accessed_at INTEGER,
    PRIMARY KEY (namespace, id)
);

CREATE UNIQUE INDEX IF NOT EXISTS memories_by_change ON memories (namespace, changed, kind, stage);

CREATE INDEX IF NOT EXISTS memories_by_fingerprint ON memories (namespace, fingerprint, born)
WHERE fingerprint IS NOT NULL;

CREATE TABLE IF NOT EXISTS prices (
    namespace TEXT NOT NULL,
    memory TEXT NOT NULL,
    encoding TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (namespace, memory, encoding)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS vectors (
    namespace TEXT NOT NULL,
    memory TEXT NOT NULL,
    model TEXT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (namespace, memory, model)
);

CREATE TABLE IF NOT EXISTS tombstones (
    namespace TEXT NOT NULL,
    id TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    changed INTEGER NOT NULL,
    PRIMARY KEY (namespace, id)
) WITHOUT ROWID;

CREATE UNIQUE INDEX IF NOT EXISTS tombstones_by_change ON tombstones (namespace, changed);

CREATE INDEX IF NOT EXISTS tombstones_by_fingerprint ON tombstones (namespace, fingerprint);

CREATE TABLE IF NOT EXISTS sessions (
    namespace TEXT NOT NULL,
    session TEXT NOT NULL,
    next INTEGER NOT NULL,
    turns INTEGER NOT NULL,
    first_at INTEGER,
    last_at INTEGER,
    PRIMARY KEY (namespace, session)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS turns (
    namespace TEXT NOT NULL,
    id TEXT NOT NULL,
    session TEXT NOT NULL,
    position INTEGER NOT NULL,
    at INTEGER NOT NULL,
    key TEXT,
    message TEXT NOT NULL,
    metadata TEXT,
    PRIMARY KEY (namespace, id)
);

CREATE UNIQUE INDEX IF NOT EXISTS turns_by_position ON turns (namespace, session, position);

CREATE UNIQUE INDEX IF NOT EXISTS turns_by_key ON turns (namespace, session, key)
WHERE key IS NOT NULL;

CREATE TABLE IF NOT EXISTS erased_turns (
    namespace TEXT NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (namespace, digest)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS records (
    namespace TEXT NOT NULL,
    collection TEXT NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (namespace, collection, key)
);
