"""Hypothesis profiles for every test: HAVERSACK_PROFILE chooses `quick` (the default), `ci` or `nightly`.

Nightly runs take as long as they take: they have no time limit.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

_COMMON = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile("quick", max_examples=50, deadline=None, suppress_health_check=_COMMON)
settings.register_profile("ci", max_examples=300, deadline=None, derandomize=True, suppress_health_check=_COMMON)
settings.register_profile("nightly", max_examples=20_000, deadline=None, suppress_health_check=_COMMON)
_PROFILE = os.environ.get("HAVERSACK_PROFILE", "quick")
settings.load_profile(_PROFILE)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if _PROFILE == "nightly":
        for item in items:
            item.add_marker(pytest.mark.timeout(0))
