-- What the engine notes of a memory stands in columns of its own: metadata is the caller's alone.

ALTER TABLE memories ADD COLUMN deleted_at INTEGER;

ALTER TABLE memories ADD COLUMN stage_before TEXT;

ALTER TABLE memories ADD COLUMN duplicate_of TEXT;

UPDATE memories
SET (deleted_at, stage_before) = (
    CASE WHEN json_type(metadata, '$."haversack.deleted_at"') = 'integer'
    THEN json_extract(metadata, '$."haversack.deleted_at"') END,
    CASE WHEN json_extract(metadata, '$."haversack.stage_before"') IN ('active', 'long_term', 'decayed')
    THEN json_extract(metadata, '$."haversack.stage_before"') END
)
WHERE stage = 'deleted' AND deleted_at IS NULL AND metadata IS NOT NULL AND json_valid(metadata);

UPDATE memories SET metadata = json_remove(metadata, '$."haversack.deleted_at"', '$."haversack.stage_before"')
WHERE deleted_at IS NOT NULL AND json_type(metadata, '$."haversack.deleted_at"') IS NOT NULL;

UPDATE memories SET duplicate_of = json_extract(metadata, '$."haversack.duplicate_of"')
WHERE superseded_by IS NOT NULL AND duplicate_of IS NULL AND json_valid(metadata)
AND json_type(metadata, '$."haversack.duplicate_of"') = 'text';

UPDATE memories SET metadata = json_remove(metadata, '$."haversack.duplicate_of"')
WHERE duplicate_of IS NOT NULL AND json_type(metadata, '$."haversack.duplicate_of"') IS NOT NULL;

UPDATE memories SET metadata = NULL WHERE metadata = '{}';
