-- When more than its stage was last written, where that is not its last change: readers who know the rest of a memory
-- are told of a new stage in brief.

ALTER TABLE memories ADD COLUMN told INTEGER;
