"""Sending and reading, for both clients: a call becomes a request, what comes back its shape or an ApiError."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote

import httpx
import msgspec

from haversack.errors import HaversackError

__all__ = ["ApiError", "AsyncTransport", "Call", "Transport"]

Shape = TypeVar("Shape")
_TIMEOUT = httpx.Timeout(30, read=120)
_LEAST_ERROR = 400


class ApiError(HaversackError):
    """The server answered with a problem."""

    def __init__(self, status: int, code: str, detail: str, *, retry_after: float | None = None) -> None:
        super().__init__(f"{status} {code}: {detail}")
        self.status = status
        self.code = code
        """For programs; it does not change: `NOT_FOUND`, `RATE_LIMIT_EXCEEDED`, `BUDGET_TOO_SMALL`, …"""
        self.detail = detail
        self.retry_after = retry_after
        """Seconds to wait before asking again, where the server says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request, in no library's terms. Values that are None are left out."""

    method: str
    path: str
    parts: Mapping[str, str] = field(default_factory=dict[str, str])
    query: Mapping[str, object] = field(default_factory=dict[str, object])
    headers: Mapping[str, object] = field(default_factory=dict[str, object])
    body: Mapping[str, object] | None = None
    content: bytes | None = None

    def arguments(self) -> dict[str, Any]:
        """As keywords of httpx's `request`."""
        url = self.path.format(**{name: quote(part, safe="") for name, part in self.parts.items()})
        headers = {name: str(value) for name, value in _given(self.headers).items()}
        content = self.content
        if self.body is not None:
            content = msgspec.json.encode(_given(self.body))
            headers["content-type"] = "application/json"
        return {
            "method": self.method,
            "url": url,
            "params": {name: _plain(value) for name, value in _given(self.query).items()},
            "headers": headers,
            "content": content,
        }


class Transport:
    """The blocking side."""

    def __init__(self, address: str, *, key: str | None = None, http: httpx.Client | None = None) -> None:
        self._http = http or httpx.Client(base_url=address, timeout=_TIMEOUT)
        self._http.headers.update(_authorization(key))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _send(self, call: Call, shape: type[Shape]) -> Shape:
        answered = self._http.request(**call.arguments())
        return _read(answered, shape)

    def _lines(self, call: Call) -> Iterator[str]:
        with self._http.stream(**call.arguments()) as answered:
            if answered.status_code >= _LEAST_ERROR:
                answered.read()
                raise _problem(answered)
            yield from answered.iter_lines()


class AsyncTransport:
    """The awaited side."""

    def __init__(self, address: str, *, key: str | None = None, http: httpx.AsyncClient | None = None) -> None:
        self._http = http or httpx.AsyncClient(base_url=address, timeout=_TIMEOUT)
        self._http.headers.update(_authorization(key))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _send(self, call: Call, shape: type[Shape]) -> Shape:
        answered = await self._http.request(**call.arguments())
        return _read(answered, shape)

    async def _lines(self, call: Call) -> AsyncIterator[str]:
        async with self._http.stream(**call.arguments()) as answered:
            if answered.status_code >= _LEAST_ERROR:
                await answered.aread()
                raise _problem(answered)
            async for line in answered.aiter_lines():
                yield line


def _authorization(key: str | None) -> dict[str, str]:
    return {} if key is None else {"authorization": f"Bearer {key}"}


def _read(answered: httpx.Response, shape: type[Shape]) -> Shape:
    if answered.status_code >= _LEAST_ERROR:
        raise _problem(answered)
    if shape is str:
        return msgspec.convert(answered.text, shape)
    return msgspec.json.decode(answered.content, type=shape)


def _problem(answered: httpx.Response) -> ApiError:
    try:
        told = msgspec.json.decode(answered.content, type=dict[str, Any])
    except msgspec.DecodeError:
        told = {}
    wait = answered.headers.get("retry-after", "")
    return ApiError(
        answered.status_code,
        str(told.get("code", "UNKNOWN")),
        str(told.get("detail", answered.reason_phrase)),
        retry_after=float(wait) if wait.isdigit() else None,
    )


def _given(values: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in values.items() if value is not None}


def _plain(value: object) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else value  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
