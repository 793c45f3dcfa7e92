"""Chat services: the port in `port`, one adapter per file beside it."""
