"""What callers send does not decide how much the server keeps: series, spans and lines come from closed sets."""

from __future__ import annotations

import asyncio
import logging
from contextvars import Context

import httpx
import pytest
from fastapi import FastAPI
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from haversack.engine.haversack import Haversack
from haversack.server.app import create_app

_ODD = 1_500


async def _send(app: FastAPI, asked: list[tuple[str, str]]) -> set[int]:
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        return {(await client.request(method, path)).status_code for method, path in asked}


def test_odd_methods_and_paths_make_no_new_series(
    sack: Haversack, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    reader, spans = InMemoryMetricReader(), InMemorySpanExporter()
    tracing = TracerProvider()
    tracing.add_span_processor(SimpleSpanProcessor(spans))
    metering = MeterProvider([reader])
    monkeypatch.setattr(trace, "get_tracer", tracing.get_tracer)
    monkeypatch.setattr(metrics, "get_meter", metering.get_meter)
    app = create_app(sack)
    odd = [(f"M{number:05}", "/health/live") for number in range(_ODD)]
    odd += [("GET", f"/nowhere/{number}") for number in range(_ODD)]
    with caplog.at_level(logging.INFO, "haversack.server"):
        alone = Context()  # no span of whoever ran here before is its parent
        statuses = alone.run(asyncio.run, _send(app, [*odd, ("GET", "/health/live")]))
    assert statuses == {200, 401, 405}
    text = app.state.metrics.text().decode()
    asked = [line.split(" ")[0] for line in text.splitlines() if line.startswith("haversack_requests_total{")]
    assert sorted(asked) == [
        'haversack_requests_total{method="GET",route="/health/live",status="200"}',
        'haversack_requests_total{method="GET",route="none",status="401"}',
        'haversack_requests_total{method="other",route="/health/live",status="405"}',
    ]
    asked_for = [one for one in caplog.records if one.name == "haversack.server"]
    told = {(one.fields["method"], one.fields["route"]) for one in asked_for}  # type: ignore[attr-defined]
    assert told == {("GET", "/health/live"), ("GET", "none"), ("other", "/health/live")}
    assert {span.name for span in spans.get_finished_spans()} == {" ".join(pair) for pair in told}
    assert len(_points(reader)) == 3
    tracing.shutdown()
    metering.shutdown()


def _points(reader: InMemoryMetricReader) -> list[object]:
    data = reader.get_metrics_data()
    assert data is not None
    return [
        point
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        for point in metric.data.data_points
    ]
