-- What is listed page by page follows an index: kinds, tags, sessions, and the records about a namespace or a session.

DROP INDEX IF EXISTS memories_by_session;

CREATE INDEX IF NOT EXISTS memories_of_session ON memories (namespace, session, changed) WHERE session IS NOT NULL;

CREATE INDEX IF NOT EXISTS memories_of_kind ON memories (namespace, kind, changed);

CREATE TABLE IF NOT EXISTS tags (
    namespace TEXT NOT NULL,
    tag TEXT NOT NULL,
    memory TEXT NOT NULL,
    PRIMARY KEY (namespace, tag, memory)
) WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS tags_of_memory ON tags (namespace, memory);

INSERT OR IGNORE INTO tags (namespace, tag, memory)
SELECT m.namespace, t.value, m.id FROM memories AS m, json_each(m.tags) AS t WHERE m.tags IS NOT NULL;

DROP INDEX IF EXISTS records_by_session;

CREATE INDEX IF NOT EXISTS records_of_session ON records (namespace, collection, session) WHERE session IS NOT NULL;

DROP INDEX IF EXISTS system_audit_by_subject;

CREATE INDEX IF NOT EXISTS system_audit_about ON system_audit (namespace, collection, about, key) WHERE about IS NOT NULL;

CREATE INDEX IF NOT EXISTS system_audit_of_session ON system_audit (namespace, collection, about, session)
WHERE session IS NOT NULL;

DROP INDEX IF EXISTS system_jobs_by_subject;

CREATE INDEX IF NOT EXISTS system_jobs_about ON system_jobs (namespace, collection, about, key) WHERE about IS NOT NULL;

DROP INDEX IF EXISTS system_records_by_subject;

CREATE INDEX IF NOT EXISTS system_records_about ON system_records (namespace, collection, about, key)
WHERE about IS NOT NULL;

CREATE INDEX IF NOT EXISTS system_records_of_session ON system_records (namespace, collection, about, session)
WHERE session IS NOT NULL;

UPDATE system_audit
SET (about, session) = (json_extract(CAST(value AS TEXT), '$.namespace'), json_extract(CAST(value AS TEXT), '$.session'))
WHERE about IS NULL AND json_valid(CAST(value AS TEXT));

UPDATE system_jobs SET about = json_extract(CAST(value AS TEXT), '$.namespace')
WHERE about IS NULL AND json_valid(CAST(value AS TEXT));

UPDATE system_records SET (about, session) = (json_extract(CAST(value AS TEXT), '$'), key)
WHERE collection = 'visit' AND about IS NULL AND json_valid(CAST(value AS TEXT));

UPDATE records SET session = json_extract(CAST(value AS TEXT), '$.session')
WHERE collection = 'cost' AND session IS NULL AND json_valid(CAST(value AS TEXT));
