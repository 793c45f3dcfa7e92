"""What services behind a provider's SDK share: one client, made when needed, and calls supervised and retried."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from haversack.llm.calls import DEFAULT_PATIENCE, Patience, completed, streamed
from haversack.llm.port import Cancel, Reply
from haversack.model.message import Message

__all__ = ["SdkService"]


@dataclass(slots=True, kw_only=True)
class SdkService(ABC):
    """One model of one endpoint. A provider says how a client is made, a request is put, and an answer is read."""

    model: str
    base_url: str | None = None
    """None for the provider's own."""
    api_key: str = "none"
    """Local servers take any."""
    patience: Patience = DEFAULT_PATIENCE
    _client: Any = field(default=None, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int | None = None,
        timeout: float | None = None,
        cancel: Cancel | None = None,
    ) -> Reply:
        """The whole answer."""
        client = self._held()
        request = self._request(messages, max_tokens, ())
        return completed(
            lambda seconds: self._ask(client, {**request, "timeout": seconds}), self.patience, timeout, cancel
        )

    def stream(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[object] = (),
        max_tokens: int | None = None,
        timeout: float | None = None,
        cancel: Cancel | None = None,
    ) -> Iterator[str | Reply]:
        """Pieces as they arrive, at last the Reply."""
        client = self._held()
        request = self._request(messages, max_tokens, tools)
        return streamed(
            lambda seconds: self._listen(client, {**request, "timeout": seconds}), self.patience, timeout, cancel
        )

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _held(self) -> Any:
        with self._lock:
            if self._client is None:
                self._client = self._open()
            return self._client

    @abstractmethod
    def _open(self) -> Any:
        """A client that retries nothing itself; raises MissingExtraError without the SDK."""

    @abstractmethod
    def _request(self, messages: Sequence[Message], max_tokens: int | None, tools: Sequence[object]) -> dict[str, Any]:
        """What the client's call takes, but for the time-out."""

    @abstractmethod
    def _ask(self, client: Any, request: dict[str, Any]) -> Reply:
        """One attempt at the whole answer; raises CallFailed."""

    @abstractmethod
    def _listen(self, client: Any, request: dict[str, Any]) -> Iterator[str | Reply]:
        """One attempt at the answer in pieces, at last the Reply; raises CallFailed."""
