"""Keeping a store healthy: runs with a journal, ageing, tidying, snapshots, moving, resetting, looking after it."""
