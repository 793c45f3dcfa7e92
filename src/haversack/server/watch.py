"""What can be seen of the server: a log line, metrics and a span for each request. Never a body, a query or a secret.

Outermost of all, so it also gives each request its id, and turns what nobody foresaw into an honest 500.
"""

from __future__ import annotations

import logging
import re
import secrets
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime

import msgspec
from opentelemetry import metrics, trace
from opentelemetry.trace import SpanKind, StatusCode
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from haversack.guard.refusal import answer_problem

__all__ = ["JsonLines", "Metrics", "Watch"]

_LOG = logging.getLogger("haversack.server")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
"""Any other word that a caller sends is told as `other`: each label makes a series that is never given up."""
_BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
_RETRIEVALS = frozenset({"recall", "context", "search"})
"""Routes that are what the GenAI conventions call a retrieval."""


@dataclass(slots=True)
class Metrics:
    """Counts and times of one server, in a registry of its own."""

    registry: CollectorRegistry = field(default_factory=CollectorRegistry)
    requests: Counter = field(init=False)
    seconds: Histogram = field(init=False)
    at_work: Gauge = field(init=False)

    def __post_init__(self) -> None:
        labels = ("method", "route", "status")
        self.requests = Counter("haversack_requests", "Requests answered", labels, registry=self.registry)
        self.seconds = Histogram(
            "haversack_request_seconds",
            "Time to answer",
            ("method", "route"),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.at_work = Gauge("haversack_requests_at_work", "Requests being answered", registry=self.registry)

    def text(self) -> bytes:
        """All of it in Prometheus's text format."""
        return generate_latest(self.registry)


@dataclass(slots=True)
class _Seen:
    status: int = 500
    has_begun: bool = False


class Watch:
    """Middleware."""

    def __init__(self, app: ASGIApp, counts: Metrics) -> None:
        self._app = app
        self._counts = counts
        self._tracer = trace.get_tracer("haversack.server")
        self._duration = metrics.get_meter("haversack.server").create_histogram(
            "http.server.request.duration", unit="s", description="Time to answer"
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and keep account of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _request_id(Headers(scope=scope))
        scope.setdefault("state", {})["request_id"] = request_id
        seen, begun = _Seen(), time.perf_counter()
        with (
            self._counts.at_work.track_inprogress(),
            self._tracer.start_as_current_span(_method(scope), kind=SpanKind.SERVER) as span,
        ):
            try:
                await self._app(scope, receive, _noting(send, seen, request_id))
            except Exception:  # noqa: BLE001 - the last resort of this door: logged, and answered as our mistake
                _LOG.exception("unforeseen", extra={"fields": {"request": request_id}})
                if not seen.has_begun:
                    sorry = answer_problem(500, "INTERNAL_ERROR", f"unforeseen; the log has it under {request_id}")
                    await sorry(scope, receive, _noting(send, seen, request_id))
            finally:
                self._account(scope, seen, time.perf_counter() - begun, span)

    def _account(self, scope: Scope, seen: _Seen, seconds: float, span: trace.Span) -> None:
        method = _method(scope)
        route = getattr(scope.get("route"), "path_format", None) or scope["state"].get("page", "none")
        caller = scope["state"].get("caller")
        self._counts.requests.labels(method, route, str(seen.status)).inc()
        self._counts.seconds.labels(method, route).observe(seconds)
        told = {"http.request.method": method, "http.route": route, "http.response.status_code": seen.status}
        self._duration.record(seconds, told)
        span.update_name(f"{method} {route}")
        span.set_attributes(told)
        if getattr(scope.get("route"), "name", "") in _RETRIEVALS:
            span.set_attribute("gen_ai.operation.name", "retrieval")
        if seen.status >= 500:  # noqa: PLR2004 - the server's own failures
            span.set_status(StatusCode.ERROR)
        _LOG.info(
            "request",
            extra={
                "fields": {
                    "request": scope["state"]["request_id"],
                    "method": method,
                    "route": route,
                    "status": seen.status,
                    "ms": round(seconds * 1000, 2),
                    "key": caller.key.id if caller else None,
                }
            },
        )


class JsonLines(logging.Formatter):
    """Log records as lines of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= getattr(record, "fields", {})
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line).decode()


def _method(scope: Scope) -> str:
    method: str = scope["method"]
    return method if method in _METHODS else "other"


def _request_id(headers: Headers) -> str:
    """The caller's own id where it is harmless, or a new one."""
    given = headers.get("x-request-id", "")
    return given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)


def _noting(send: Send, seen: _Seen, request_id: str) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            seen.status, seen.has_begun = message["status"], True
            message = {**message, "headers": [*message["headers"], (b"x-request-id", request_id.encode())]}
        await send(message)

    return sent
