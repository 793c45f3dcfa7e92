"""What is softly forgotten of a conversation shows at no door until it is restored; an export keeps it, hidden."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from starlette.types import ASGIApp

import haversack
from haversack.chat.lines import Chat
from haversack.chat.settings import ChatSettings
from haversack.chat.talk import Talk
from haversack.cli import main
from haversack.clock import utc_now
from haversack.engine.haversack import Haversack
from haversack.engine.namespace import Namespace
from haversack.engine.settings import MemorySettings
from haversack.errors import NotFoundError
from haversack.inspector.app import create_pages
from haversack.inspector.entrance import Entrance, Way
from haversack.inspector.render import Defaults
from haversack.mcp.arguments import read_arguments
from haversack.mcp.resources import read_resource
from haversack.mcp.tools import TOOLS, ToolOptions
from haversack.model.memory import Stage
from haversack.server.app import create_app
from haversack.server.settings import ServerSettings
from haversack.store.sqlite.store import SqliteStore
from haversack.transfer import read_files

WORD = "mangosteen"
ALONE = "hidden-session"
"""A session of which nothing is left to be seen."""


@pytest.fixture
def sack(tmp_path: Path) -> Iterator[Haversack]:
    compaction = {"min_turns_to_summarize": 2, "compaction_recency_window": 2}
    with haversack.open(
        tmp_path / "memory.db", embedder="none", config={"memory": {"compaction": compaction}}
    ) as opened:
        ns = opened.namespace("n")
        session = ns.session("s")
        for number in range(12):
            words = f"I love my {WORD}" if number == 5 else f"We spoke of plank {number}, which is oak. " * 5
            session.add(("user", "assistant")[number % 2], words)
        ns.session(ALONE).add("user", f"I prefer {WORD} to plums")
        ns.forget([one.id for one in ns.everything(kinds=["passage"]) if WORD in one.content])
        yield opened


@pytest.fixture
def ns(sack: Haversack) -> Namespace:
    return sack.namespace("n")


def assert_hidden(*shown: object) -> None:
    for each in shown:
        words = each if isinstance(each, str) else repr(each)
        assert words
        assert WORD not in words
        assert ALONE not in words


def test_the_library(ns: Namespace, tmp_path: Path) -> None:
    session, new = ns.session("s"), ns.session("new")
    with closing(SqliteStore(tmp_path / "memory.db")) as store:
        hidden = [one.id for one in store.changes("n").memories if one.stage is Stage.DELETED]
    turn = next(one.source.turns[0] for one in ns.restore(hidden) if one.source.session == "s")
    assert WORD in repr(session.expand(turn))
    ns.forget(hidden)
    assert_hidden(session.turns(), session.turns(limit=7), session.turns(after=3, limit=2), ns.sessions())
    assert_hidden(session.prompt("plank", window=8000, output=100), session.prime(), new.prime())
    assert_hidden(session.preview("plank", window=8000, output=100), new.prompt("plank", window=8000, output=100))
    assert_hidden(ns.context("plank oak"), ns.recall("I love my"), ns.timeline(), ns.wake_up())
    assert [(info.id, info.turns) for info in ns.sessions()] == [("s", 11)]
    assert [turn.position for turn in session.turns(after=3, limit=2)] == [4, 6]
    assert ns.session(ALONE).turns() == []
    with pytest.raises(NotFoundError):
        session.expand(turn)


def test_nothing_is_made_of_it(ns: Namespace) -> None:
    session = ns.session("s")
    assert_hidden(ns.extract(), session.extract(), session.compact(), ns.session(ALONE).extract() and "read")
    assert_hidden(ns.everything())
    (fold,) = session.folds()
    assert (fold.start, fold.stop) == (0, 10)
    assert [turn.position for turn in session.expand(fold.summary)] == [0, 1, 2, 3, 4, 6, 7, 8, 9]


def test_sessions_are_dated_by_what_shows_and_come_back_whole(ns: Namespace) -> None:
    session = ns.session("dated")
    for day in (1, 2, 3):
        session.add("user", f"day {day}", at=f"2026-01-0{day}")
    last = next(one for one in ns.everything(session="dated") if "day 3" in one.content)
    whole = ns.sessions()
    ns.forget(last.id)
    info = next(each for each in ns.sessions() if each.id == "dated")
    assert (info.turns, info.first_at.day, info.last_at.day) == (2, 1, 2)
    ns.restore(last.id)
    assert ns.sessions() == whole


def test_an_export_keeps_it_hidden(ns: Namespace, sack: Haversack, tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"".join(ns.take_out()))
    assert WORD in path.read_text()
    copy = sack.namespace("copy")
    copy.bring_in(read_files([path]))
    assert_hidden(copy.session("s").turns(), copy.sessions(), copy.everything())
    ns.forget(session="s")
    ns.bring_in(read_files([path]))
    assert ns.session("s").turns() == []


@pytest.mark.usefixtures("sack")
@pytest.mark.parametrize(
    "line",
    [
        ["sessions"],
        ["sessions", "--json"],
        ["sessions", "s"],
        ["sessions", "s", "--json"],
        ["recall", "I love my"],
        ["context", "plank oak"],
        ["prompt", "s", "plank"],
        ["stats"],
    ],
)
def test_the_command_line(
    line: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    with pytest.raises(SystemExit) as leaving:
        main([*line, "--store", str(tmp_path / "memory.db"), "--namespace", "n"])
    assert not leaving.value.code
    assert_hidden(capsys.readouterr().out)


def get(app: FastAPI | ASGIApp, path: str, **headers: str) -> httpx.Response:
    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.get(path, headers=headers)

    return asyncio.run(ask())


def test_every_address_that_the_server_reads_from(sack: Haversack) -> None:
    app = create_app(sack, ServerSettings())
    bearer = f"Bearer {sack.keys.create('k', scope='admin').secret}"
    left_out = {"export", "events"}  # an export is whole, and events never end
    tried = 0
    for path, operations in app.openapi()["paths"].items():
        if "get" not in operations or path.rpartition("/")[2] in left_out or "{memory_id}" in path:
            continue
        address = path.replace("{namespace}", "n").replace("{session}", "s").replace("{agent_id}", "n")
        answered = get(app, address, authorization=bearer)
        tried += answered.status_code == 200 and ("/n/" in address or "session" in address)
        assert_hidden(answered.text)
    assert tried > 10


@pytest.mark.parametrize("path", ["sessions", "session?id=s", "stats"])
def test_what_a_model_reads(ns: Namespace, path: str) -> None:
    (content,) = read_resource(ns, f"haversack://{path}")
    assert_hidden(content)
    with pytest.raises(NotFoundError):
        read_resource(ns, f"haversack://session?id={ALONE}")
    for name, arguments in (("sessions", {}), ("sessions", {"session": "s"}), ("recall", {"query": "love my"})):
        tool = next(each for each in TOOLS if each.name == name)
        assert_hidden(tool.run(ns, read_arguments(tool.takes, arguments), ToolOptions()))


class Paper:
    """A screen in memory."""

    as_json = False

    def __init__(self) -> None:
        self.shown: list[str] = []

    def text(self, words: str) -> None:
        self.shown.append(words)

    piece = note = heading = text

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str = "nothing") -> None:
        self.shown += [repr((columns, *rows)), empty]

    def json(self, value: object) -> None:
        self.shown.append(repr(value))

    def bar(self, share: float) -> str:
        return f"{share}"


@pytest.mark.parametrize(
    "line",
    ["/sessions", "/sessions s", "/history", "/context plank", "/prompt plank", "/stats", "/export t.md --transcript"],
)
def test_the_chat(sack: Haversack, ns: Namespace, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    paper = Paper()
    talk = Talk(
        sack=sack,
        ns=ns,
        session=ns.session("s"),
        screen=paper,
        settings=ChatSettings(),
        model="gpt-4o",
        service=None,
        memory=MemorySettings(context_window=8000),
    )
    assert Chat(talk=talk).take(line)
    assert_hidden(*paper.shown, *(path.read_text() for path in tmp_path.glob("t.md")))


def test_the_inspector(sack: Haversack) -> None:
    entrance = Entrance(sack=sack, way=Way.TOKEN, clock=utc_now)
    pages = create_pages(entrance, Defaults())

    async def look() -> list[httpx.Response]:
        transport = httpx.ASGITransport(pages)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:7000") as client:
            await client.get(f"/inspector/enter?token={entrance.token}")
            wanted = ("sessions", "session?id=s", "session.svg?id=s", "prompt?session=s&q=plank", "memories", "health")
            return [await client.get(f"/inspector/{page}{'&' if '?' in page else '?'}ns=n") for page in wanted]

    answered = asyncio.run(look())
    assert [each.status_code for each in answered] == [200] * 6
    assert "plank 7" in answered[1].text
    assert_hidden(*(each.text for each in answered))
