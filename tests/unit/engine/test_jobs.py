"""Jobs as any process sees them: two engines over one store."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from haversack.engine.haversack import Haversack
from haversack.engine.jobs import JobState, Progress
from haversack.store.memory import MemoryStore


def test_a_job_stops_when_another_process_cancels_it(
    engine: Callable[..., Haversack], sack: Haversack, store: MemoryStore
) -> None:
    other = engine(store)
    reached: list[int] = []

    def work(progress: Progress) -> Mapping[str, int]:
        progress(1, 3)
        assert other.jobs.cancel(progress.job.id).cancel_requested
        reached.append(1)
        progress(2, 3)
        reached.append(2)
        return {}

    job = sack.jobs.run("import", "n", work, asked_by="door")
    assert (job.state, job.message) == (JobState.CANCELLED, "cancelled; what was done so far is kept")
    assert reached == [1]
    assert other.jobs.cancel(job.id).state is JobState.CANCELLED


def test_progress_does_not_take_back_that_a_job_was_cancelled(
    engine: Callable[..., Haversack], sack: Haversack, store: MemoryStore
) -> None:
    other = engine(store)

    def work(progress: Progress) -> Mapping[str, int]:
        other.jobs.cancel(progress.job.id)
        sack.jobs.report(progress.job, done=1, total=2, message="")
        assert other.jobs.get(progress.job.id).cancel_requested
        return {"done": 2}

    assert sack.jobs.run("import", "n", work, asked_by="door").state is JobState.DONE
