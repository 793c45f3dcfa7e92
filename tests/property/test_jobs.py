"""Law: whoever asks a job to stop, it stops at its next report; what has ended stays as it ended."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from haversack.engine.jobs import Job, JobState, Progress

from .places import Setup, everywhere

JOBS = st.lists(st.tuples(st.integers(0, 5), st.none() | st.integers(0, 5)), min_size=1, max_size=5)
"""Of each its units, and the unit before which somebody cancels it, if any."""


@everywhere
@given(JOBS)
def test_a_job_stops_whoever_asks_it_to(setup: Setup, planned: list[tuple[int, int | None]]) -> None:
    with setup.open() as sack:
        ended: list[Job] = []
        for units, stopped in planned:
            done: list[int] = []

            def work(
                progress: Progress, units: int = units, stopped: int | None = stopped, done: list[int] = done
            ) -> Mapping[str, int]:
                for unit in range(units):
                    if unit == stopped:
                        sack.jobs.cancel(progress.job.id)
                    progress(unit, units)
                    done.append(unit)
                return {"units": units}

            job = sack.jobs.run("count", "n", work, asked_by="me")
            is_stopped = stopped is not None and stopped < units
            assert (job.state, done) == (
                (JobState.CANCELLED, [*range(stopped or 0)]) if is_stopped else (JobState.DONE, [*range(units)])
            )
            ended.append(sack.jobs.cancel(job.id))  # too late
            assert ended[-1] == job
        for _ in range(3):
            assert sack.jobs.all() == ended
