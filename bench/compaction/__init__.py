"""What compaction costs: in evidence that contexts carry, and in time beside the conversation."""
