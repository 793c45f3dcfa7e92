"""Keeping a store healthy: snapshots, restore, migration, reorganisation, doctor."""
