"""Chat exports and memory dumps, in and out: one reader per format."""
