"""The default back-end: one SQLite file."""
