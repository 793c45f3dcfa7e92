from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import pytest

from haversack.compaction.compactor import Compactor, Request, lease_key, message_price
from haversack.compaction.result import Outcome
from haversack.compaction.settings import CompactionConfig
from haversack.compaction.view import Fold, load_view, render, view_write
from haversack.errors import ServiceError, ServiceTimeout
from haversack.model.memory import Kind
from haversack.model.message import Message
from haversack.store import lease as leases
from haversack.store.memory import MemoryStore
from haversack.store.port import Batch, Erasure
from haversack.testing.scripted import ScriptedChat
from haversack.testing.words import WordCounter

Make = Callable[..., Compactor]
Say = Callable[..., Message]
Talk = Callable[..., list[Message]]
Append = Callable[[Sequence[Message]], None]
NOW = datetime(2026, 1, 2, tzinfo=UTC)


def ask(to_free: int | None = None, seconds: float = 15) -> Request:
    return Request(session="s", to_free=to_free, available=1000, seconds=seconds)


def names(messages: Sequence[Message]) -> str:
    """A summariser that keeps what must be kept: the marks of the messages."""
    return " ".join(word for word in messages[-1].text.split() if word.startswith("m") and word[1:].isdigit())


def test_a_run_puts_the_oldest_turns_behind_a_summary(
    compactor: Make, append: Append, talk: Talk, store: MemoryStore
) -> None:
    append(talk(20))
    before = store.turns("n", "s")
    result = compactor(ScriptedChat(lines=[names])).run(ask(to_free=40))
    assert (result.outcome, result.turns_summarized, result.target_met) == (Outcome.DONE, 8, True)
    assert (result.tokens_before, result.tokens_saved) == (200, result.tokens_saved_from_summarization)
    view, version = load_view(store, "n", "s")
    assert (view.folds, version) == ((Fold(summary=result.summary or "", start=0, stop=8),), 1)
    (summary,) = store.memories("n", [result.summary or ""])
    assert (summary.kind, summary.content) == (Kind.SUMMARY, "m0 m1 m2 m3 m4 m5 m6 m7")
    assert summary.source.turns == tuple(f"t{place}" for place in range(8))
    assert store.turns("n", "s") == before
    shown = render(view, before, {summary.id: summary.content})
    assert result.tokens_after == sum(len(message.text.split()) for message in shown)


def test_without_a_service_sentences_are_selected(
    compactor: Make, append: Append, say: Say, store: MemoryStore
) -> None:
    chat = [
        say("user", "Nice day again. We decided to use Postgres 16."),
        say("assistant", "Fine by me. So be it then."),
    ]
    append([*chat, *[say("user", "well well well well well"), say("assistant", "hm hm hm hm hm")] * 8])
    result = compactor().run(ask())
    assert result.outcome is Outcome.DONE
    assert "user: We decided to use Postgres 16." in store.memories("n", [result.summary or ""])[0].content


def test_the_next_run_takes_the_old_summary_in(compactor: Make, append: Append, talk: Talk, store: MemoryStore) -> None:
    run = compactor(ScriptedChat(lines=[names]))
    append(talk(20))
    first = run.run(ask()).summary or ""
    append(talk(20))
    second = run.run(ask()).summary or ""
    view, _ = load_view(store, "n", "s")
    assert [(fold.summary, fold.start, fold.stop) for fold in view.folds] == [(second, 0, 36)]
    old, new = store.memories("n", [first, second])
    assert (old.superseded_by, old.valid_to) == (second, new.created_at)
    assert (new.source.memories, len(new.source.turns)) == ((first,), 36)
    assert new.content.startswith(old.content)


def test_turns_whose_summary_was_erased_are_summarised_anew(
    compactor: Make, append: Append, talk: Talk, store: MemoryStore
) -> None:
    run = compactor(ScriptedChat(lines=[names]))
    append(talk(20))
    first = run.run(ask()).summary or ""
    store.apply("n", Batch(erase=Erasure(memories=(first,))))
    again = run.run(ask())
    assert (again.outcome, again.turns_summarized) == (Outcome.DONE, 16)
    view, _ = load_view(store, "n", "s")
    assert [(fold.summary, fold.start, fold.stop) for fold in view.folds] == [(again.summary, 0, 16)]


def test_old_tool_results_are_cleared_first(compactor: Make, append: Append, say: Say, store: MemoryStore) -> None:
    work = [say("assistant", "", calls=["a"]), say("tool", "data " * 300, answers="a")]
    append([say("user", "go"), *work, *work, *work])
    service = ScriptedChat(lines=[names])
    result = compactor(service).run(ask(to_free=250))
    assert (result.outcome, result.results_cleared, result.turns_summarized) == (Outcome.DONE, 1, 0)
    assert (result.summary, result.target_met, service.seen) == (None, True, [])
    assert load_view(store, "n", "s")[0].cleared == (2,)
    config = CompactionConfig(clear_tool_results=False)
    assert compactor(service, config).run(ask(to_free=250)).outcome is Outcome.SKIPPED


def test_what_is_held_by_another_run_is_refused(
    compactor: Make, append: Append, talk: Talk, store: MemoryStore
) -> None:
    append(talk(20))
    other = leases.acquire(store, "n", lease_key("s"), owner="other", now=NOW, seconds=60)
    assert other is not None
    service = ScriptedChat(lines=[names])
    refused = compactor(service).run(ask())
    assert (refused.outcome, refused.reasons, service.seen) == (Outcome.REFUSED, ("already running",), [])
    leases.release(store, "n", other)
    assert compactor(service).run(ask()).outcome is Outcome.DONE


def test_a_dead_runs_lease_expires_and_its_late_write_fails(
    compactor: Make, append: Append, talk: Talk, store: MemoryStore
) -> None:
    append(talk(20))
    dead = leases.acquire(store, "n", lease_key("s"), owner="dead", now=NOW.replace(hour=0), seconds=0)
    assert dead is not None

    def slow(messages: Sequence[Message]) -> str:
        # Meanwhile this run's own lease ends, and another process takes the session.
        key = lease_key("s")
        assert leases.acquire(store, "n", key, owner="thief", now=NOW.replace(day=3), seconds=60) is not None
        return names(messages)

    result = compactor(ScriptedChat(lines=[slow, names])).run(ask())
    assert (result.outcome, result.reasons) == (Outcome.FAILED, ("changed meanwhile",))
    assert load_view(store, "n", "s")[1] == 0


def test_a_view_that_changed_meanwhile_is_not_overwritten(
    compactor: Make, append: Append, talk: Talk, store: MemoryStore
) -> None:
    append(talk(20))

    def meddle(messages: Sequence[Message]) -> str:
        view, version = load_view(store, "n", "s")
        store.apply("n", Batch(records=(view_write(view.with_cleared([1]), version),)))
        return names(messages)

    result = compactor(ScriptedChat(lines=[meddle, names])).run(ask(to_free=40))
    assert (result.outcome, result.reasons) == (Outcome.FAILED, ("changed meanwhile",))
    assert store.census("n").memories == {}


@pytest.mark.parametrize("gone", ["turn", "summary"])
def test_what_is_erased_during_a_run_does_not_live_on_in_its_summary(
    compactor: Make, append: Append, talk: Talk, store: MemoryStore, gone: str
) -> None:
    append(talk(20))
    before = compactor(ScriptedChat(lines=[names])).run(ask()).summary
    assert before is not None
    append(talk(20))
    view = load_view(store, "n", "s")

    def erasing(messages: Sequence[Message]) -> str:
        turn = store.turns("n", "s")[view[0].folds[0].stop].id
        erase = Erasure(turns=(turn,)) if gone == "turn" else Erasure(memories=(before,))
        store.apply("n", Batch(erase=erase))
        return names(messages)

    result = compactor(ScriptedChat(lines=[erasing, names])).run(ask())
    assert (result.outcome, result.reasons) == (Outcome.FAILED, ("changed meanwhile",))
    assert load_view(store, "n", "s") == view
    assert store.census("n").memories.get("summary", 0) == (gone == "turn")


def test_turns_that_arrive_during_a_run_stand_verbatim(
    compactor: Make, append: Append, talk: Talk, store: MemoryStore
) -> None:
    append(talk(20))

    def interrupt(messages: Sequence[Message]) -> str:
        append(talk(2))
        return names(messages)

    result = compactor(ScriptedChat(lines=[interrupt, names])).run(ask())
    assert result.outcome is Outcome.DONE
    view, _ = load_view(store, "n", "s")
    assert view.folds[0].stop == 16
    assert len(store.turns("n", "s")) == 22


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (ServiceError("broken"), "service failed"),
        ("", "empty answer"),
        ("  \n", "empty answer"),
        ("<think>much thought</think>", "empty answer"),
        ("<think>never ends", "empty answer"),
        (lambda messages: messages[-1].text, "not shorter"),  # pyright: ignore[reportUnknownLambdaType, reportUnknownMemberType]
    ],
)
def test_a_failed_summary_changes_nothing(
    compactor: Make, append: Append, talk: Talk, store: MemoryStore, line: str | Exception, reason: str
) -> None:
    append(talk(20))
    result = compactor(ScriptedChat(lines=[line])).run(ask())
    assert (result.outcome, result.reasons) == (Outcome.FAILED, (reason,))
    assert result.errors[0].startswith(reason)
    assert result.tokens_after == result.tokens_before == 200
    assert (store.census("n").memories, load_view(store, "n", "s")[1]) == ({}, 0)
    assert compactor(ScriptedChat(lines=[names])).run(ask()).outcome is Outcome.DONE


def test_cancelling_changes_nothing(compactor: Make, append: Append, talk: Talk, store: MemoryStore) -> None:
    append(talk(20))
    cancel = threading.Event()

    def stop(messages: Sequence[Message]) -> str:
        cancel.set()
        return names(messages)

    for run in (compactor(ScriptedChat(lines=[stop])), compactor(ScriptedChat(lines=[names]))):
        result = run.run(ask(), cancel)
        assert (result.outcome, result.errors) == (Outcome.CANCELLED, ())
    assert load_view(store, "n", "s")[1] == 0


def test_what_was_done_when_time_ran_out_is_kept(
    compactor: Make, append: Append, talk: Talk, store: MemoryStore
) -> None:
    append(talk(30))
    result = compactor(ScriptedChat(lines=[names, ServiceTimeout("slow")])).run(ask())
    assert (result.outcome, result.turns_summarized, result.time_budget_exhausted) == (Outcome.DONE, 8, True)
    assert load_view(store, "n", "s")[0].folds[0].stop == 8
    append(talk(8))
    late = compactor(ScriptedChat(lines=[ServiceTimeout("slow")])).run(ask())
    assert (late.outcome, late.time_budget_exhausted) == (Outcome.FAILED, True)


def test_a_missed_target_is_told(compactor: Make, append: Append, talk: Talk) -> None:
    append(talk(20))
    result = compactor(ScriptedChat(lines=[names])).run(ask(to_free=190))
    assert (result.target_met, result.tokens_target) == (False, 190)
    assert result.reasons == ("target not met",)


def test_extraction_is_flushed_and_the_batch_prepared(
    compactor: Make, append: Append, talk: Talk, store: MemoryStore
) -> None:
    append(talk(20))
    flushed: list[str] = []
    batches: list[Batch] = []

    def prepare(batch: Batch) -> Batch:
        batches.append(batch)
        return batch

    run = compactor(ScriptedChat(lines=[names]), flush=flushed.append, prepare=prepare)
    assert run.run(ask()).outcome is Outcome.DONE
    assert (flushed, len(batches)) == (["s"], 1)


def test_the_plain_price_counts_words_and_calls(say: Say) -> None:
    price = message_price(WordCounter())
    assert price([say("user", "one two"), say("assistant", "", calls=["a"])]) == [6, 5]
