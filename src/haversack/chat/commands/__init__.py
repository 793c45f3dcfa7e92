"""What can be typed behind a slash, by group. Each command is one function that reads options and calls one verb."""

from __future__ import annotations

from collections.abc import Mapping

import click

from haversack.chat.commands import change, explain, look, maintain, take_out

__all__ = ["COMMANDS", "GROUPS"]

GROUPS: Mapping[str, list[click.Command]] = {
    "Look": look.COMMANDS,
    "What the model sees": explain.COMMANDS,
    "Change": change.COMMANDS,
    "Maintain": maintain.COMMANDS,
    "Take out": take_out.COMMANDS,
}

COMMANDS: Mapping[str, click.Command] = {
    command.name: command for commands in GROUPS.values() for command in commands if command.name
}
