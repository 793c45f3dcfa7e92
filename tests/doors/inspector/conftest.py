"""The pages in this process, over a store with things to see, some of them hostile."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest

import haversack
from haversack.clock import utc_now
from haversack.engine.haversack import Haversack
from haversack.inspector.app import create_pages
from haversack.inspector.entrance import Entrance, Way
from haversack.inspector.render import Defaults

HOSTILE = '</pre></script><script>window.hacked=1</script><img src=x onerror="window.hacked=2">{{7*7}}\' " & \u202e'
"""What a stored text may say; a page must show it and never obey."""


class Browser:
    """Follows no redirects; keeps cookies; its posts carry the proof of the last page that it saw."""

    def __init__(self, entrance: Entrance, host: str = "127.0.0.1:7000") -> None:
        self.pages = create_pages(entrance, Defaults())
        self.entrance = entrance
        self.host = host
        self.cookies = httpx.Cookies()
        self.proof = ""

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self.ask("GET", path, **more)

    def post(self, path: str, fields: Mapping[str, str], **more: Any) -> httpx.Response:
        return self.ask("POST", path, data={"proof": self.proof, **fields}, **more)

    def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        answered = asyncio.run(self._send(method, f"/inspector{path}", **more))
        self.cookies.update(answered.cookies)
        if found := re.search(r'name="proof" value="([^"]+)"', answered.text):
            self.proof = unescape(found[1])
        return answered

    async def _send(self, method: str, path: str, **more: Any) -> httpx.Response:
        headers = {"host": self.host, **more.pop("headers", {})}
        transport = httpx.ASGITransport(self.pages)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", cookies=self.cookies) as client:
            return await client.request(method, path, headers=headers, **more)

    def enter(self) -> Browser:
        answered = self.get(f"/enter?token={self.entrance.token}")
        assert answered.status_code == 303
        return self


def moment(day: int) -> datetime:
    return datetime(2026, 3, day, 9, tzinfo=UTC)


@pytest.fixture
def sack(tmp_path: Path) -> Iterator[Haversack]:
    with haversack.open(tmp_path / "memory.db", embedder="none") as opened:
        fill(opened)
        yield opened


def fill(sack: Haversack) -> None:
    """A few memories, a conversation with a compacted span, and words that want to be code."""
    ns = sack.namespace("harbour")
    ns.remember("Mira prefers metric units", kind="profile", importance=0.9, event_time=moment(1), tags=["units"])
    ns.remember("The launch is on 26 September", kind="decision", importance=0.8, event_time=moment(2))
    for number in range(8):
        ns.remember(f"The hull needs coat number {number} of paint", kind="fact", event_time=moment(3 + number))
    ns.remember(HOSTILE, kind="fact", event_time=moment(20), tags=[HOSTILE[:40]], metadata={HOSTILE[:30]: HOSTILE})
    session = ns.session(f"talk {HOSTILE[:20]}")
    session.extend(
        {"role": "user" if number % 2 == 0 else "assistant", "content": f"Turn {number} about the hull. {HOSTILE}"}
        for number in range(6)
    )
    plain = ns.session("plain")
    plain.extend(
        {
            "role": "user" if number % 2 == 0 else "assistant",
            "content": f"We talked at length of plank {number}: it is oak, {number + 3} mm thick, and it stays.",
        }
        for number in range(40)
    )
    plain.compact()
    sack.namespace("other").remember("A stranger's secret", kind="fact")


@pytest.fixture
def hostile() -> str:
    return HOSTILE


@pytest.fixture(scope="module")
def filled() -> Callable[[Haversack], None]:
    """Fills a store with the same things."""
    return fill


@pytest.fixture
def browser(sack: Haversack) -> Browser:
    """Somebody who came in by the token."""
    return Browser(Entrance(sack=sack, way=Way.TOKEN, clock=utc_now)).enter()


@pytest.fixture
def visit(sack: Haversack) -> Callable[..., Browser]:
    """Somebody who came in by a key of these rights."""

    def come(scope: str = "admin", namespaces: list[str] | None = None) -> Browser:
        visitor = Browser(Entrance(sack=sack, way=Way.KEY, clock=utc_now), host="memory.example")
        secret = sack.keys.create(scope, scope=scope, namespaces=namespaces).secret
        assert visitor.post("/enter", {"key": secret}).status_code == 303
        return visitor

    return come
