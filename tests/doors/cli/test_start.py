"""What a command loads in a fresh process: no room that it does not use, so that it answers quickly."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import haversack

UNUSED = {
    "haversack": "client demo evaluation inspector integrations maintenance mcp net testing",
    "haversack.assemble": "attention build picture priming prompt toolbox trimming",
    "haversack.chat": "answer commands terminal tools",
    "haversack.compaction": "compactor coordinator dedup monitor summarize view",
    "haversack.compaction.extraction": "background extractor rules structured",
    "haversack.engine": "aging bookkeeping compacting correcting editing erasing exporting extracting forgetting "
    "hiding importing jobs keeping keys landing listing maintaining prompting remembering renewing reorganizing "
    "session tidying visits why",
    "haversack.guard": "bearer callers listening",
    "haversack.lifecycle": "decay plan policy promote proposals",
    "haversack.llm": "anthropic calls extractive openai sdk",
    "haversack.server": "app routes",
    "haversack.store": "memory",
    "haversack.tokens": "chat images tools",
    "haversack.transfer": "branch documents drafts entries reader readers reading source values writing",
}
"""By package, what neither command uses."""
PACKAGES = (
    "asyncio email http httpx importlib.metadata openai rich.console rich.table tomllib toktok "
    "urllib.request yaml zoneinfo"
)
FOR_CONTEXTS_ALONE = (
    "haversack.assemble.compose haversack.budget.pack haversack.engine.packing haversack.tokens.choose "
    "haversack.tokens.ranks"
)
PROGRAM = """
import sys
from haversack.cli.app import main
try:
    main(sys.argv[1:])
finally:
    print(*sorted(sys.modules), sep="\\n", file=sys.stderr)
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("start") / "s.db"
    with haversack.open(place) as sack:
        ns = sack.namespace()
        ns.remember("The hull is painted cream", importance=0.8)
        ns.session("talk").add("user", "Which paint did we choose for the hull?")
    return place


def loaded(store: Path, *words: str) -> set[str]:
    program = [sys.executable, "-c", PROGRAM, *words, "--store", str(store)]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    assert "cream" in done.stdout
    return set(done.stderr.splitlines())


def unused() -> set[str]:
    rooms = {f"{package}.{name}" for package, names in UNUSED.items() for name in names.split()}
    return rooms | set(PACKAGES.split())


def test_recall_loads_what_recall_uses(store: Path) -> None:
    found = loaded(store, "recall", "which paint?")
    assert not found & (unused() | set(FOR_CONTEXTS_ALONE.split()))


def test_context_loads_what_contexts_use(store: Path) -> None:
    found = loaded(store, "context", "which paint?")
    assert not found & unused()
    assert found >= set(FOR_CONTEXTS_ALONE.split())


def test_the_rooms_that_are_named_exist() -> None:
    """A room that was renamed would otherwise be loaded unseen."""
    named = [*unused(), *FOR_CONTEXTS_ALONE.split()]
    assert [room for room in named if room.startswith("haversack.") and find_spec(room) is None] == []
