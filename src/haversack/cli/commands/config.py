"""`config`: what is in force, and where each value came from."""

from __future__ import annotations

from typing import cast

import click

from haversack.cli import show
from haversack.cli.options import Place, place
from haversack.config import settings_in_force

__all__ = ["COMMANDS"]


@click.command()
@place
def config(place: Place) -> None:
    """Print every setting in force with where it came from: default, file, or environment variable.

    \b
    Examples:
      haversack config --config haversack.yaml
      HAVERSACK_ENGINE__BUDGET=1500 haversack config --json
    """
    settings = settings_in_force(place.config)
    if place.as_json:
        show.json_line(settings)
        return
    show.table(("setting", "value", "from"), [(each.path, _shown(each.value), each.origin) for each in settings])


def _shown(value: object) -> str:
    return ", ".join(map(str, cast("list[object]", value))) if isinstance(value, list | tuple) else str(value)


COMMANDS = [config]
