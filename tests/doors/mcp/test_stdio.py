"""`haversack mcp` in a process of its own, driven by the SDK's client."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, Literal, TypeVar

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent, TextResourceContents

import haversack

_Result = TypeVar("_Result")
_PLUGGED = Path(__file__).with_name("plugged_server.py")
_MODES: list[Literal["auto", "legacy"]] = ["auto", "legacy"]


def run(work: Awaitable[_Result]) -> _Result:
    async def limited() -> _Result:
        return await asyncio.wait_for(work, 100)

    return asyncio.run(limited())


def words(result: CallToolResult) -> str:
    return "".join(block.text for block in result.content if isinstance(block, TextContent))


def served(store: Path, *arguments: str, mode: Any = "auto") -> Client:
    program = [str(Path(sys.executable).with_name("haversack")), "mcp", "--store", str(store), "-n", "n", *arguments]
    return Client(StdioServerParameters(command=program[0], args=program[1:]), mode=mode)


async def remember(client: Client, content: str, **more: Any) -> str:
    result = await client.call_tool("remember", {"content": content, **more})
    assert not result.is_error, words(result)
    return words(result).split()[1]


@pytest.mark.parametrize("mode", _MODES)
def test_everything_is_listed(tmp_path: Path, mode: str) -> None:
    async def work() -> None:
        async with served(tmp_path / "m.db", mode=mode) as client:
            tools = (await client.list_tools()).tools
            assert [tool.name for tool in tools] == [
                "remember",
                "recall",
                "context",
                "forget",
                "why",
                "history",
                "sessions",
            ]
            assert client.instructions is not None
            assert "quoted data" in client.instructions
            resources = (await client.list_resources()).resources
            assert [resource.uri for resource in resources] == ["haversack://stats", "haversack://sessions"]
            templates = (await client.list_resource_templates()).resource_templates
            assert [template.uri_template for template in templates] == ["haversack://session{?id,after}"]
            prompts = (await client.list_prompts()).prompts
            assert [prompt.name for prompt in prompts] == ["answer_from_memory", "keep_what_lasts"]

    run(work())


@pytest.mark.parametrize("mode", _MODES)
def test_a_day_with_every_tool(tmp_path: Path, mode: str) -> None:
    async def work() -> None:
        async with served(tmp_path / "m.db", mode=mode) as client:
            first = await remember(client, "Zoë lives in Zürich 🚋", kind="fact", importance=0.9, session="s1")
            assert f'id="{first}" kind="fact"' in words(await client.call_tool("recall", {"query": "Where is Zoë?"}))
            packed = await client.call_tool("context", {"query": "Zoë Zürich", "budget": 100})
            assert '<fact trust="extracted">Zoë lives in Zürich 🚋</fact>' in words(packed)
            assert packed.meta is not None
            assert packed.meta["haversack"]["kept"][0]["id"] == first
            why = await client.call_tool("why", {"query": "Zoë Zürich", "id": first, "budget": 100})
            assert words(why).startswith(f"{first}: kept at pack: fits")
            await remember(client, "Zoë lives in Bern", subject="zoe/city", event_time="2026-01-02")
            await remember(client, "Zoë lives in Chur", subject="zoe/city", event_time="2026-02-03")
            told = words(await client.call_tool("history", {"subject": "zoe/city"}))
            assert 'from="2026-01-02T00:00Z" until="2026-02-03T00:00Z">Zoë lives in Bern</memory>' in told
            assert 'from="2026-02-03T00:00Z">Zoë lives in Chur</memory>' in told
            await client.call_tool("remember", {"content": "And the trams?", "session": "s2", "role": "user"})
            assert 'id="s2" turns="1"' in words(await client.call_tool("sessions", {}))
            assert ">And the trams?</turn>" in words(await client.call_tool("sessions", {"session": "s2"}))
            shown = (await client.read_resource("haversack://session?id=s2")).contents[0]
            assert isinstance(shown, TextResourceContents)
            assert ">And the trams?</turn>" in shown.text
            asked = await client.get_prompt("answer_from_memory", {"question": "Where is Zoë?", "budget": "100"})
            assert [part.content.type for part in asked.messages] == ["text", "text"]

    run(work())


def test_a_newer_statement_on_a_subject_ends_the_older_one(tmp_path: Path) -> None:
    async def work() -> None:
        async with served(tmp_path / "m.db") as client:
            old = await remember(client, "Zoë lives in Zürich", subject="zoe/city")
            new = await remember(client, "Zoë lives in Bern", subject="Zoe/City")
            assert new != old
            told = words(await client.call_tool("recall", {"query": "Where does Zoë live?"}))
            assert ("Bern" in told, "Zürich" in told) == (True, False)

    run(work())


def test_forgetting_previews_until_told_and_can_be_undone(tmp_path: Path) -> None:
    async def work() -> None:
        async with served(tmp_path / "m.db") as client:
            one = await remember(client, "a wallet under the stairs")
            preview = words(await client.call_tool("forget", {"ids": [one]}))
            assert preview.startswith("would forget softly (can be restored): 1 memories")
            assert "nothing was changed" in preview
            assert one in words(await client.call_tool("recall", {"query": "wallet"}))
            assert words(await client.call_tool("forget", {"ids": [one], "execute": True})).startswith("forgot softly")
            assert one not in words(await client.call_tool("recall", {"query": "wallet"}))
            await client.call_tool("forget", {"ids": [one], "undo": True})
            assert one in words(await client.call_tool("recall", {"query": "wallet"}))
            gone = words(await client.call_tool("forget", {"ids": [one], "hard": True, "execute": True}))
            assert gone.startswith("forgot for good: 1 memories")
            undone = await client.call_tool("forget", {"ids": [one], "undo": True})
            assert undone.is_error

    run(work())


def test_fifty_calls_at_once_are_each_answered_and_a_restart_keeps_them(tmp_path: Path) -> None:
    async def add(client: Client) -> list[str]:
        made: list[str] = [""] * 50

        async def one(number: int) -> None:
            made[number] = await remember(client, f"distinct fact number {number}")

        async with anyio.create_task_group() as group:
            for number in range(50):
                group.start_soon(one, number)
        return made

    async def work() -> None:
        async with served(tmp_path / "m.db") as client:
            made = await add(client)
        assert len(set(made)) == 50
        async with served(tmp_path / "m.db") as client:
            again = await add(client)
            stats = (await client.read_resource("haversack://stats")).contents[0]
        assert again == made
        assert isinstance(stats, TextResourceContents)
        assert '"memories":{"fact":50}' in stats.text

    run(work())


@pytest.mark.parametrize("mode", _MODES)
def test_a_slow_call_reports_progress_and_can_be_cancelled(tmp_path: Path, mode: str) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    program = [sys.executable, str(_PLUGGED), str(tmp_path / "m.db"), str(fifo)]
    reports: list[tuple[float, str | None]] = []

    async def work() -> None:
        async with Client(StdioServerParameters(command=program[0], args=program[1:]), mode=mode) as client:
            with anyio.CancelScope() as scope:

                async def watch(progress: float, total: float | None, message: str | None) -> None:
                    assert total is None
                    reports.append((progress, message))
                    scope.cancel()

                await client.call_tool("remember", {"content": "a slow one"}, progress_callback=watch)
            assert scope.cancelled_caught
            answered = await client.call_tool("recall", {"query": "anything else"})
            assert 'memories count="0"' in words(answered)
            fifo.write_bytes(b"go")
            await remember(client, "the next in line")

    run(work())
    assert reports == [(1.0, "remember: at work for 1 s")]
    with haversack.open(tmp_path / "m.db") as sack:
        assert sack.namespace("n").stats().memories["fact"] in {1, 2}


def test_a_wrong_call_is_told_to_the_model_and_a_wrong_name_to_the_client(tmp_path: Path) -> None:
    wrong: list[tuple[str, dict[str, Any], str]] = [
        ("recall", {"query": "x", "limitt": 3}, "unknown argument 'limitt': did you mean 'limit'?"),
        ("recall", {"query": "x", "limit": "three"}, "Expected `int`, got `str` - at `$.limit`"),
        ("recall", {"query": "x", "limit": 0}, "Expected `int` >= 1 - at `$.limit`"),
        ("remember", {"content": "x", "kind": "fakt"}, "Invalid enum value 'fakt' - at `$.kind`"),
        ("remember", {"content": "\u200b"}, "content must not be blank"),
        ("remember", {"content": "x", "role": "user"}, "name it by session"),
        ("remember", {"content": "x", "id": "one", "subject": "zoe/city"}, "give one of them"),
        ("recall", {"query": "x", "since": "yesterdayish"}, "since"),
        ("forget", {}, "say what to forget"),
        ("forget", {"undo": True}, "name them by ids"),
        ("why", {"query": "x", "id": "nobody"}, "no memory 'nobody' in 'n'"),
        ("sessions", {"session": "none"}, "no session 'none'"),
    ]

    async def work() -> None:
        async with served(tmp_path / "m.db") as client:
            for tool, arguments, said in wrong:
                result = await client.call_tool(tool, arguments)
                assert result.is_error
                assert said in words(result)
            with pytest.raises(MCPError, match="no tool 'recal': did you mean 'recall'"):
                await client.call_tool("recal", {})
            with pytest.raises(MCPError, match="no resource 'haversack://elsewhere'"):
                await client.read_resource("haversack://elsewhere")
            with pytest.raises(MCPError, match="no prompt 'answer'"):
                await client.get_prompt("answer", {})
            await remember(client, "and the server is still there")

    run(work())


def test_a_pinned_memory_that_does_not_fit_is_told_with_the_ledger(tmp_path: Path) -> None:
    with haversack.open(tmp_path / "m.db") as sack:
        sack.namespace("n").remember("pinned words " * 100, pinned=True)

    async def work() -> None:
        async with served(tmp_path / "m.db") as client:
            result = await client.call_tool("context", {"query": "words", "budget": 60})
            assert result.is_error
            assert "tokens" in words(result)

    run(work())


def test_what_looks_like_a_secret_can_be_held_back(tmp_path: Path) -> None:
    async def work() -> None:
        async with served(tmp_path / "m.db", "--hold-back", "secrets") as client:
            one = await remember(client, "the staging password is hunter2-hunter2")
            await client.call_tool("remember", {"content": "password: hunter2-hunter2", "session": "s", "role": "user"})
            for tool, arguments in (
                ("context", {"query": "staging password"}),
                ("recall", {"query": "staging password"}),
                ("sessions", {"session": "s"}),
            ):
                assert "hunter2" not in words(await client.call_tool(tool, arguments))
            shown = (await client.read_resource("haversack://session?id=s")).contents[0]
            assert isinstance(shown, TextResourceContents)
            assert 'held_back="looks_like_secret"/>' in shown.text
            why = words(await client.call_tool("why", {"query": "staging password", "id": one}))
            assert "looks_like_secret" in why

    run(work())


def test_a_missing_extra_is_named() -> None:
    program = "import sys; sys.modules['mcp'] = None; from haversack.cli import main; main(['mcp'])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, encoding="utf-8", timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (6, "haversack: serving MCP needs: pip install 'haversack[mcp]'\n")


def test_options_of_http_are_refused_without_it(tmp_path: Path) -> None:
    program = [str(Path(sys.executable).with_name("haversack")), "mcp", "--open", "--store", str(tmp_path / "m.db")]
    done = subprocess.run(program, capture_output=True, encoding="utf-8", timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "add --http" in done.stderr
    assert not list(tmp_path.iterdir())
