"""Hypothesis profiles for every test: HAVERSACK_PROFILE chooses `quick` (the default), `ci` or `nightly`."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_COMMON = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile("quick", max_examples=50, deadline=None, suppress_health_check=_COMMON)
settings.register_profile("ci", max_examples=300, deadline=None, derandomize=True, suppress_health_check=_COMMON)
settings.register_profile("nightly", max_examples=20_000, deadline=None, suppress_health_check=_COMMON)
settings.load_profile(os.environ.get("HAVERSACK_PROFILE", "quick"))
