-- What is asked by more than id and change number: sessions, the parts of a text, and what was made of what.

ALTER TABLE memories ADD COLUMN session TEXT;

ALTER TABLE memories ADD COLUMN text TEXT;

UPDATE memories SET session = json_extract(source, '$.session') WHERE source IS NOT NULL;

UPDATE memories SET text = coalesce(
    json_extract(source, '$.turns[0]'),
    CASE WHEN json_extract(source, '$.part[0]') = 0 THEN id ELSE json_extract(source, '$.memories[#-1]') END
)
WHERE json_extract(source, '$.part[1]') > 1;

CREATE INDEX IF NOT EXISTS memories_by_session ON memories (namespace, session) WHERE session IS NOT NULL;

CREATE INDEX IF NOT EXISTS memories_by_text ON memories (namespace, text) WHERE text IS NOT NULL;

CREATE INDEX IF NOT EXISTS memories_by_successor ON memories (namespace, superseded_by) WHERE superseded_by IS NOT NULL;

CREATE TABLE IF NOT EXISTS sources (
    namespace TEXT NOT NULL,
    source TEXT NOT NULL,
    memory TEXT NOT NULL,
    PRIMARY KEY (namespace, source, memory)
) WITHOUT ROWID;

INSERT OR IGNORE INTO sources (namespace, source, memory)
SELECT m.namespace, s.value, m.id FROM memories AS m, json_each(m.source, '$.turns') AS s WHERE m.source IS NOT NULL;

INSERT OR IGNORE INTO sources (namespace, source, memory)
SELECT m.namespace, s.value, m.id FROM memories AS m, json_each(m.source, '$.memories') AS s WHERE m.source IS NOT NULL;

INSERT OR IGNORE INTO sources (namespace, source, memory)
SELECT namespace, json_extract(metadata, '$."haversack.duplicate_of"'), id FROM memories
WHERE json_type(metadata, '$."haversack.duplicate_of"') = 'text';
