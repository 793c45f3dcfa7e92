-- Records of the system and leases in tables of their own; and which namespace and session a record speaks of.

ALTER TABLE records ADD COLUMN about TEXT;

ALTER TABLE records ADD COLUMN session TEXT;

CREATE INDEX IF NOT EXISTS records_by_session ON records (namespace, session) WHERE session IS NOT NULL;

CREATE TABLE IF NOT EXISTS leases (
    namespace TEXT NOT NULL,
    collection TEXT NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    value BLOB NOT NULL,
    about TEXT,
    session TEXT,
    PRIMARY KEY (namespace, collection, key)
);

CREATE TABLE IF NOT EXISTS system_keys (
    namespace TEXT NOT NULL,
    collection TEXT NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    value BLOB NOT NULL,
    about TEXT,
    session TEXT,
    PRIMARY KEY (namespace, collection, key)
);

CREATE TABLE IF NOT EXISTS system_audit (
    namespace TEXT NOT NULL,
    collection TEXT NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    value BLOB NOT NULL,
    about TEXT,
    session TEXT,
    PRIMARY KEY (namespace, collection, key)
);

CREATE INDEX IF NOT EXISTS system_audit_by_subject ON system_audit (namespace, about, session) WHERE about IS NOT NULL;

CREATE TABLE IF NOT EXISTS system_jobs (
    namespace TEXT NOT NULL,
    collection TEXT NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    value BLOB NOT NULL,
    about TEXT,
    session TEXT,
    PRIMARY KEY (namespace, collection, key)
);

CREATE INDEX IF NOT EXISTS system_jobs_by_subject ON system_jobs (namespace, about, session) WHERE about IS NOT NULL;

CREATE TABLE IF NOT EXISTS system_records (
    namespace TEXT NOT NULL,
    collection TEXT NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    value BLOB NOT NULL,
    about TEXT,
    session TEXT,
    PRIMARY KEY (namespace, collection, key)
);

CREATE INDEX IF NOT EXISTS system_records_by_subject ON system_records (namespace, about, session)
WHERE about IS NOT NULL;

INSERT OR IGNORE INTO leases SELECT * FROM records WHERE collection = 'lease';

INSERT OR IGNORE INTO system_keys SELECT * FROM records
WHERE namespace = '' AND collection IN ('key', 'key-use');

INSERT OR IGNORE INTO system_audit (namespace, collection, key, version, value, about, session)
SELECT namespace, collection, key, version, value,
    json_extract(CAST(value AS TEXT), '$.namespace'), json_extract(CAST(value AS TEXT), '$.session')
FROM records WHERE namespace = '' AND collection = 'audit';

INSERT OR IGNORE INTO system_jobs (namespace, collection, key, version, value, about)
SELECT namespace, collection, key, version, value, json_extract(CAST(value AS TEXT), '$.namespace')
FROM records WHERE namespace = '' AND collection = 'job';

INSERT OR IGNORE INTO system_records (namespace, collection, key, version, value, about, session)
SELECT namespace, collection, key, version, value,
    CASE WHEN collection = 'visit' THEN json_extract(CAST(value AS TEXT), '$') END,
    CASE WHEN collection = 'visit' THEN key END
FROM records WHERE namespace = '' AND collection NOT IN ('key', 'key-use', 'audit', 'job', 'lease');

UPDATE records SET session = json_extract(CAST(value AS TEXT), '$.session') WHERE collection = 'cost';

DELETE FROM records WHERE namespace = '' OR collection = 'lease';
