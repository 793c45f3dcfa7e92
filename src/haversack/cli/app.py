"""The program: its commands by group, loaded when used, and the one place that turns errors into exit codes."""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from io import StringIO, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from haversack import errors
from haversack.cli.harmless import harmless
from haversack.lazy import lazy

if TYPE_CHECKING:
    from haversack.chat import dashes
else:
    dashes = lazy("haversack.chat.dashes")

__all__ = ["EXIT_CODES", "GROUPS", "Entry", "code_of", "main", "program"]


class Entry(NamedTuple):
    """A command as `--help` lists it."""

    module: str
    """The module of `commands` that holds it."""
    summary: str
    """The first sentence of its help, so that listing the commands loads none of them."""


GROUPS: dict[str, dict[str, Entry]] = {
    "Start": {
        "demo": Entry(
            "demo", "Remember a bundled conversation, answer three questions at three budgets, and explain..."
        ),
    },
    "Bring in and take out": {
        "import": Entry("transfer", "Remember what FILEs hold: chat exports, memory dumps, documents."),
        "export": Entry(
            "transfer", "Write a namespace to FILE (or stdout) as JSON lines; importing them elsewhere gives an..."
        ),
    },
    "Remember and ask": {
        "remember": Entry("remember", "Keep one thing: CONTENT, or each line of stdin when CONTENT is `-`."),
        "recall": Entry("ask", "Find the memories that answer QUERY, best first."),
        "context": Entry("ask", "Pack the best context for QUERY that fits the budget, and print it."),
        "why": Entry(
            "ask", "Say where and why MEMORY_ID left, or how it came in, when the context for QUERY is packed."
        ),
        "forget": Entry("forget", "Forget memories by ID, by filter, or --all."),
        "restore-memory": Entry("forget", "Undo a soft forget."),
    },
    "Sessions": {
        "prompt": Entry(
            "session", "Show the whole prompt of one model call for SESSION: system, history, memories, tools..."
        ),
        "compact": Entry("session", "Put summaries in place of SESSION's old turns in prompts."),
        "expand": Entry(
            "session", "Show the turns of SESSION that the summary (or the pointer to a tool result) ID stands..."
        ),
        "extract": Entry(
            "extract", "Read the turns of SESSION, or of all sessions, that were not read yet, and remember..."
        ),
    },
    "Look": {
        "cost": Entry(
            "cost", "Show what calls of models for memory work (extraction, compaction) took: tokens, and..."
        ),
        "history": Entry("look", "Show what was told on SUBJECT, and from when until when each of it is true."),
        "sessions": Entry("look", "List conversations, or show the turns of one."),
        "stats": Entry("look", "Count what is remembered, here and in the other namespaces."),
        "trimmed": Entry(
            "look", "List important memories that keep being left out for want of room, with the budget that..."
        ),
        "inspect": Entry(
            "inspect", "Open the store in the browser: prompts, memories, sessions and health, on this machine..."
        ),
        "config": Entry(
            "config", "Print every setting in force with where it came from: default, file, or environment..."
        ),
        "bench": Entry(
            "bench", "Measure how much of the evidence stands in the context, for every question in FILE at..."
        ),
    },
    "Keep healthy": {
        "lifecycle": Entry("lifecycle", "Promote, fade, revive, end and erase what is due by the namespace's policy."),
        "share": Entry(
            "share", "Propose a memory for a shared namespace, decide on proposals, or list those from and to..."
        ),
        "reorganize": Entry("lifecycle", "Back up, analyze, dedupe, prune, synthesize and verify a namespace."),
        "reembed": Entry("reembed", "Embed the memories of a namespace that have no vector of the present embedder."),
        "migrate": Entry(
            "maintenance", "Bring the schema up to date, or copy the store to another place or back-end with --to."
        ),
        "snapshot": Entry(
            "maintenance", "Take a consistent, verified copy of the store in one file, while others go on writing."
        ),
        "backup": Entry("backup", "Write a whole namespace to FILE as lines that any store can restore."),
        "restore": Entry("maintenance", "Restore a snapshot FILE."),
        "reset": Entry("maintenance", "Erase a whole namespace for good."),
        "rekey": Entry("maintenance", "Encrypt the store, give it another key, or take its encryption away."),
        "doctor": Entry("doctor", "Examine a store, also one that does not open: files, rows, runs, snapshots."),
    },
    "Talk": {
        "chat": Entry("chat", "Talk with a model that remembers."),
    },
    "Serve": {
        "serve": Entry("serve", "Answer over HTTP until it is stopped; what was acknowledged is kept."),
        "keys": Entry("keys", "Make, list, rotate and revoke the keys of the HTTP server."),
        "mcp": Entry("mcp", "Serve the memory to MCP clients (Model Context Protocol)."),
    },
}
"""The commands by group, as `haversack --help` shows them."""

EXIT_CODES = {
    0: "done",
    1: "done in part, or failed: the message says which",
    2: "the command or its input makes no sense",
    3: "no such memory, session, namespace or file",
    4: "the store refused: read-only, full, busy, damaged, or from a newer version; or a check before maintenance did",
    5: "the budget is too small for what must be in it",
    6: "a model service failed, or an optional package is missing",
    130: "interrupted; everything acknowledged is kept",
}

_CODES: tuple[tuple[type[Exception], int], ...] = (
    (errors.InputError, 2),
    (errors.NotFoundError, 3),
    (FileNotFoundError, 3),
    (errors.RefusedError, 4),
    (errors.StoreError, 4),
    (errors.BudgetError, 5),
    (errors.ServiceError, 6),
    (errors.MissingExtraError, 6),
    (errors.HaversackError, 1),
    (OSError, 1),
    (MemoryError, 1),
)

_EPILOG = "\b\nExit codes:\n" + "\n".join(f"  {code:>3}  {meaning}" for code, meaning in EXIT_CODES.items())


class _Program(click.Group):
    """Commands are imported one at a time, so that `--help` and each command start fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the signature is the framework's
        return [name for group in GROUPS.values() for name in group]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        entry = next((group[cmd_name] for group in GROUPS.values() if cmd_name in group), None)
        if entry is None:
            return None
        commands = import_module(f"haversack.cli.commands.{entry.module}").COMMANDS
        return next(command for command in commands if command.name == cmd_name)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # the framework would call it a failure
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise click.exceptions.Exit(0) from None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not name.startswith("-") and name not in self.list_commands(ctx):
            ctx.fail(f"no such command {name!r}: {errors.nearest(name, self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        for title, entries in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name, entry.summary) for name, entry in entries.items()])


@click.group(
    cls=_Program,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110, "auto_envvar_prefix": None},
)
@click.option("--store", help="Path of the store. These four may stand behind the command as well.")
@click.option("--namespace", "-n", help="Whose memory.")
@click.option("--config", type=click.Path(dir_okay=False), help="YAML or TOML settings.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for scripts.")
@click.version_option(package_name="haversack", message="%(prog)s %(version)s")
def program(**_: object) -> None:
    """Remember what an agent should keep; pack the best context that fits.

    Exactly counted, never over the budget, every choice explained.

    \b
    Examples:
      haversack demo
      haversack remember "Alice prefers metric units" --namespace alice
      haversack context "Which units should I use?" --budget 500 --namespace alice

    The store is one SQLite file: --store PATH or HAVERSACK_STORE, by default ./haversack.db.
    Shell completion: eval "$(_HAVERSACK_COMPLETE=bash_source haversack)"  (or zsh_source, fish_source).
    """


def main(args: Sequence[str] | None = None) -> None:
    """Run the program; never returns. Errors become one line on stderr and an exit code."""
    _speak()
    try:
        code = program.main(args=None if args is None else list(args), prog_name="haversack", standalone_mode=False)
    except click.exceptions.Exit as leaving:
        sys.exit(leaving.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _say("interrupted; everything acknowledged is kept")
        sys.exit(130)
    except click.ClickException as refused:
        told = StringIO()
        refused.show(told)
        click.echo(harmless(told.getvalue(), sys.stderr), err=True, nl=False)
        if hint := dashes.hint_at_dashes(refused):
            _say(hint)
        sys.exit(refused.exit_code)
    except FileNotFoundError as missing:
        _say(f"no such file: {missing.filename}")
        sys.exit(code_of(missing))
    except tuple(kind for kind, _ in _CODES) as error:
        _say(_told(error))
        sys.exit(code_of(error))
    sys.exit(code if isinstance(code, int) else 0)


def code_of(error: Exception) -> int:
    """The exit code of a failure."""
    return next(code for kind, code in _CODES if isinstance(error, kind))


def _told(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error) or ("not enough memory" if isinstance(error, MemoryError) else type(error).__name__)


def _speak() -> None:
    """Let text in any script come in and go out, whatever the terminal or pipe can show, and if it was closed."""
    sys.stdin, sys.stdout, sys.stderr = (
        Path(os.devnull).open(mode, encoding="utf-8") if stream is None else stream  # noqa: SIM115 - open to the end
        for mode, stream in (("r", sys.stdin), ("w", sys.stdout), ("w", sys.stderr))
    )
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            ascii_only = codecs.lookup(stream.encoding).name == "ascii"
            errors_as = "surrogateescape" if stream is sys.stdin else "replace"
            stream.reconfigure(encoding="utf-8" if ascii_only else None, errors=errors_as)


def _say(message: str) -> None:
    click.echo(harmless(f"haversack: {message}", sys.stderr), err=True)
