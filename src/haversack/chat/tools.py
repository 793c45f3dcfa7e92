"""Tools of MCP servers: their schemas, and calls that can be stopped. The connections live in a thread of their own."""

from __future__ import annotations

import asyncio
import os
import re
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, Protocol, TextIO, cast

import msgspec

from haversack.chat.settings import ToolServer
from haversack.errors import ConfigError, MissingExtraError
from haversack.llm.port import Cancel, ServiceCancelled
from haversack.net import check_address

if TYPE_CHECKING:
    from mcp import Client

__all__ = ["NO_TOOLS", "McpTools", "Result", "Toolbox", "open_tools"]

_LOOK_EVERY = 0.02
_START_SECONDS = 20.0
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_-]")
_NAME_LIMIT = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a tool answered."""

    text: str
    failed: bool = False


class Toolbox(Protocol):
    """Tools that a model may call."""

    @property
    def schemas(self) -> Sequence[Mapping[str, Any]]:
        """In the shape of OpenAI's interface."""
        ...

    @property
    def problems(self) -> Sequence[str]:
        """Servers that could not be reached, and why."""
        ...

    def call(self, name: str, arguments: str, cancel: Cancel) -> Result:
        """Call one and wait. Failures are results, for the model to read; ServiceCancelled when `cancel` is set."""
        ...

    def close(self) -> None:
        """End the connections, and the servers that were started."""
        ...


@dataclass(frozen=True, slots=True)
class _Nothing:
    schemas: Sequence[Mapping[str, Any]] = ()
    problems: Sequence[str] = ()

    def call(self, name: str, arguments: str, cancel: Cancel) -> Result:  # noqa: ARG002 - there is nothing to call
        return Result(text=f"there is no tool {name!r}", failed=True)

    def close(self) -> None:
        pass


NO_TOOLS: Toolbox = _Nothing()


def open_tools(servers: Mapping[str, ToolServer]) -> Toolbox:
    """Connect to the servers, all at once; those that cannot be reached are told in `problems`."""
    if not servers:
        return NO_TOOLS
    try:
        import mcp  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError as error:
        raise MissingExtraError("tools in the chat need: pip install 'haversack[mcp]'") from error
    return McpTools(servers)


@dataclass(slots=True, kw_only=True)
class _Line:
    """One server: its connection while it lives, and what it said when it did not."""

    name: str
    server: ToolServer
    client: Client | None = None
    problem: str = ""
    ready: threading.Event = field(default_factory=threading.Event)
    tools: list[Any] = field(default_factory=list[Any])


class McpTools:
    """Safe for threads; `close` ends what it started."""

    def __init__(self, servers: Mapping[str, ToolServer]) -> None:
        self._lines = [_Line(name=name, server=server) for name, server in servers.items()]
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="haversack-tools", daemon=True)
        self._thread.start()
        for line in self._lines:
            line.ready.wait()
        self._places = _named(self._lines)

    @property
    def schemas(self) -> Sequence[Mapping[str, Any]]:
        """All servers' tools, each name with its server's in front."""
        return [_schema(name, tool) for name, (_, tool) in self._places.items()]

    @property
    def problems(self) -> Sequence[str]:
        """Servers that could not be reached, and why."""
        return [f"{line.name}: {line.problem}" for line in self._lines if line.problem]

    def call(self, name: str, arguments: str, cancel: Cancel) -> Result:
        """Call one and wait."""
        place = self._places.get(name)
        if place is None:
            return Result(text=f"there is no tool {name!r}", failed=True)
        try:
            given = msgspec.json.decode(arguments or "{}", type=dict[str, Any])
        except msgspec.DecodeError as error:
            return Result(text=f"the arguments are no JSON object: {error}", failed=True)
        line, tool = place
        client = line.client
        if client is None or not self._thread.is_alive():
            return Result(text=f"the tool server {line.name!r} is gone: {line.problem or 'it ended'}", failed=True)
        running = asyncio.run_coroutine_threadsafe(_ask(client, tool.name, given), self._loop)
        return _wait(running, cancel)

    def close(self) -> None:
        """End the connections and the servers that were started."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(timeout=10)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        await asyncio.gather(*(_connect(line, self._stop) for line in self._lines))


async def _connect(line: _Line, stop: asyncio.Event) -> None:
    """Hold one connection, in one task from beginning to end, until told to stop."""
    with TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        try:
            async with asyncio.timeout(_START_SECONDS) as patience, AsyncExitStack() as stack:
                client = await _client(line.server, said, stack)
                line.tools = await _list(client)
                patience.reschedule(None)
                line.client = client
                line.ready.set()
                await stop.wait()
                line.client = None
        except Exception as error:  # noqa: BLE001 - the background loop: whatever broke is told, and the chat goes on
            line.client = None
            line.problem = _told(error, said)
        finally:
            line.ready.set()


async def _client(server: ToolServer, said: TextIO, stack: AsyncExitStack) -> Client:
    """A connection that ends with the stack."""
    from mcp import Client, StdioServerParameters, stdio_client

    if server.url is not None:
        check_address(server.url, allow_private=server.allow_private, allow_this_machine=True)
        transport = server.url if server.token_env is None else await _bearing(server.url, server, stack)
    else:
        program, *arguments = server.command
        seen = {name: _variable(name) for name in server.env}
        started = StdioServerParameters(command=program, args=arguments, env=seen or None)
        transport = stdio_client(started, errlog=said)
    return await stack.enter_async_context(Client(transport, read_timeout_seconds=server.seconds))


async def _bearing(url: str, server: ToolServer, stack: AsyncExitStack) -> Any:
    """The transport to an address that wants a token."""
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    token = _variable(server.token_env or "")
    client = httpx2.AsyncClient(
        headers={"Authorization": f"Bearer {token}"}, timeout=server.seconds, follow_redirects=False
    )
    return streamable_http_client(url, http_client=await stack.enter_async_context(client))


def _variable(name: str) -> str:
    value = os.environ.get(name, "")
    if not value:
        raise ConfigError(f"the environment variable {name} is not set")
    return value


async def _list(client: Client) -> list[Any]:
    found: list[Any] = []
    page = await client.list_tools()
    found += page.tools
    while page.next_cursor:
        page = await client.list_tools(cursor=page.next_cursor)
        found += page.tools
    return found


async def _ask(client: Client, name: str, arguments: dict[str, Any]) -> Result:
    try:
        answer = await client.call_tool(name, arguments)
    except Exception as error:  # noqa: BLE001 - a server may fail in any way; the model and the person are told
        return Result(text=f"the tool failed: {_first_cause(error)}", failed=True)
    return Result(text=_words(answer), failed=bool(answer.is_error))


def _wait(running: Future[Result], cancel: Cancel) -> Result:
    while True:
        try:
            return running.result(timeout=_LOOK_EVERY)
        except TimeoutError:
            if running.done():
                return Result(text="the tool did not answer in time", failed=True)
            if cancel.is_set():
                running.cancel()
                raise ServiceCancelled("the tool call was stopped") from None


def _words(answer: Any) -> str:
    """The words of a result; what is no text is named, and structured data stands in where there are no words."""
    parts = [part.text if part.type == "text" else f"[{part.type}]" for part in answer.content]
    if not parts and answer.structured_content is not None:
        return msgspec.json.encode(answer.structured_content).decode()
    return "\n".join(parts)


def _named(lines: Sequence[_Line]) -> dict[str, tuple[_Line, Any]]:
    """Every tool under a name that all providers accept and no other tool has."""
    places: dict[str, tuple[_Line, Any]] = {}
    for line in lines:
        for tool in line.tools:
            stem = _NOT_A_NAME.sub("_", f"{line.name}_{tool.name}")[:_NAME_LIMIT]
            name, number = stem, 2
            while name in places:
                name, number = f"{stem[: _NAME_LIMIT - 3]}_{number}", number + 1
            places[name] = (line, tool)
    return places


def _schema(name: str, tool: Any) -> dict[str, Any]:
    described = {"description": tool.description} if tool.description else {}
    return {"type": "function", "function": {"name": name, **described, "parameters": tool.input_schema}}


def _told(error: BaseException, said: TextIO) -> str:
    """Why a server is not there, with the last thing that it wrote."""
    said.seek(0)
    lines = [line.strip() for line in said.read().splitlines() if line.strip()]
    cause = _first_cause(error)
    return f"{cause} ({lines[-1][:200]})" if lines else cause


def _first_cause(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return str(error) or type(error).__name__
