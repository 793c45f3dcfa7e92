"""Calls that may hang, fail and be repeated: supervision in a thread of their own, and bounded retries with backoff."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import msgspec

from haversack.errors import ServiceError, ServiceTimeout
from haversack.llm.port import Cancel, Reply, ServiceCancelled
from haversack.redact import without_secrets

__all__ = [
    "DEFAULT_PATIENCE",
    "CallFailed",
    "Patience",
    "completed",
    "decoded",
    "failure",
    "parse_retry_after",
    "retried",
    "streamed",
    "supervised",
]

Item = TypeVar("Item")
_LOOK_EVERY = 0.02
_RETRYABLE = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})


class CallFailed(ServiceError):  # noqa: N818 - named for what happened
    """One attempt failed; `status` is None where no HTTP answer came."""

    def __init__(self, message: str, *, status: int | None = None, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after

    @property
    def is_retryable(self) -> bool:
        """Whether the same call may succeed later."""
        return self.status is None or self.status in _RETRYABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How often and how long an adapter tries."""

    timeout: float = 60.0
    """Seconds for a call, when the caller gives none."""
    attempts: int = 3
    first_wait: float = 0.5
    """Seconds before the second attempt; each further wait doubles."""
    longest_wait: float = 30.0
    """A provider that asks for a longer pause than this is taken at its word: the call fails at once."""
    sleep: Callable[[float], None] = time.sleep


DEFAULT_PATIENCE = Patience()


def parse_retry_after(value: str | None) -> float | None:
    """Seconds of a `retry-after` header; None for none, for a date and for nonsense."""
    try:
        seconds = float(value or "")
    except ValueError:
        return None
    return seconds if seconds >= 0 else None


def completed(ask: Callable[[float], Reply], patience: Patience, timeout: float | None, cancel: Cancel | None) -> Reply:
    """One answer, supervised and retried; `ask` takes the seconds that an attempt may last."""
    seconds = patience.timeout if timeout is None else timeout
    give_up_at = time.monotonic() + seconds

    def work() -> Generator[Reply]:
        return retried(lambda: iter([ask(seconds)]), patience, give_up_at)

    return next(supervised(work, total=seconds, idle=seconds, cancel=cancel))


def streamed(
    listen: Callable[[float], Iterator[str | Reply]], patience: Patience, timeout: float | None, cancel: Cancel | None
) -> Iterator[str | Reply]:
    """A stream, supervised, and retried until its first piece; `listen` takes the longest wait for a piece."""
    seconds = patience.timeout if timeout is None else timeout
    give_up_at = time.monotonic() + seconds

    def work() -> Generator[str | Reply]:
        return retried(lambda: listen(seconds), patience, give_up_at)

    return supervised(work, total=None, idle=seconds, cancel=cancel)


def decoded(body: bytes, shape: type[Item]) -> Item:
    """A provider's JSON; CallFailed when it is none, or of another shape."""
    try:
        return msgspec.json.decode(body, type=shape)
    except msgspec.DecodeError as error:
        raise CallFailed(f"the chat service answered nonsense: {error}") from error


def failure(error: Exception, sdk: Any) -> ServiceError:
    """An SDK's exception in our words; both SDKs name theirs alike."""
    if isinstance(error, sdk.APITimeoutError):
        return ServiceTimeout("the chat service did not answer in time")
    if isinstance(error, sdk.APIStatusError):
        refused = cast("Any", error)
        if target := refused.response.headers.get("location"):
            where = without_secrets(target)
            said = (
                f"the chat service answered {refused.status_code}, a redirect to {where!r}: redirects are not followed;"
            )
            return CallFailed(f"{said} set base_url to where the service is", status=refused.status_code)
        wait = parse_retry_after(refused.response.headers.get("retry-after"))
        return CallFailed(f"the chat service refused: {refused}", status=refused.status_code, retry_after=wait)
    return CallFailed(f"the chat service could not be reached or understood: {error!r}")


def retried(attempt: Callable[[], Iterator[Item]], patience: Patience, give_up_at: float) -> Generator[Item]:
    """The items of the first attempt that works. Once an item came through, a failure is final.

    `give_up_at` is a reading of `time.monotonic`: no wait that would end later is begun.
    """
    for number in range(patience.attempts):
        begun = False
        try:
            for item in attempt():
                begun = True
                yield item
        except CallFailed as failure:
            wait = failure.retry_after
            if wait is None:
                wait = patience.first_wait * 2**number
            last = number + 1 == patience.attempts
            too_long = wait > patience.longest_wait or time.monotonic() + wait > give_up_at
            if begun or last or too_long or not failure.is_retryable:
                raise
            patience.sleep(wait)
        else:
            return


def supervised(
    work: Callable[[], Generator[Item]], *, total: float | None, idle: float, cancel: Cancel | None
) -> Iterator[Item]:
    """The items of `work`, which runs in a thread; an end is certain whatever the network does.

    Raises ServiceTimeout after `total` seconds, or after `idle` seconds without an item; ServiceCancelled soon after
    `cancel` is set. The abandoned thread closes its connection at its next item or at its own network time-out.
    """
    # No SimpleQueue: before Python 3.13 its `get` never ends when a signal's handler outlasts the time-out.
    arrived: queue.Queue[Item | BaseException | None] = queue.Queue()
    abandoned = threading.Event()
    thread = threading.Thread(target=_run, args=(work, arrived, abandoned), name="haversack-call", daemon=True)
    thread.start()
    end = time.monotonic() + total if total is not None else float("inf")
    try:
        while True:
            match _next(arrived, min(end, time.monotonic() + idle), cancel):
                case None:
                    return
                case BaseException() as failure:
                    raise failure
                case item:
                    yield item
    finally:
        abandoned.set()


def _next(
    arrived: queue.Queue[Item | BaseException | None], end: float, cancel: Cancel | None
) -> Item | BaseException | None:
    while True:
        if cancel is not None and cancel.is_set():
            raise ServiceCancelled("the call was cancelled")
        left = end - time.monotonic()
        if left <= 0:
            raise ServiceTimeout("the chat service did not answer in time")
        try:
            return arrived.get(timeout=min(left, _LOOK_EVERY if cancel is not None else left))
        except queue.Empty:
            continue


def _run(
    work: Callable[[], Generator[Item]],
    arrived: queue.Queue[Item | BaseException | None],
    abandoned: threading.Event,
) -> None:
    try:
        with closing(work()) as items:
            for item in items:
                if abandoned.is_set():
                    return
                arrived.put(item)
        arrived.put(None)
    except BaseException as failure:  # noqa: BLE001 - carried to the caller's thread, which raises it
        arrived.put(failure)
