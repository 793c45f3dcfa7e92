"""The command line: a door. It parses, calls one engine verb and prints; no rule lives here."""

from haversack.cli.app import main

__all__ = ["main"]
