from collections.abc import Callable, Sequence

from haversack.assemble import Past, TurnReason
from haversack.assemble.fit import Kept, fit_history
from haversack.assemble.shrink import Shrinker, without_pictures
from haversack.assemble.trimming import trim
from haversack.model.message import Image, Message, Opaque, Role, Text
from haversack.tokens import Counter

Say = Callable[..., Message]
AsPast = Callable[..., list[Past]]


def price(messages: Sequence[Message]) -> list[int]:
    """A word is a token, a picture is a hundred, a message two more."""
    pictures = [sum(isinstance(part, Image) for part in message.parts) for message in messages]
    texts = [" ".join(part.text for part in m.parts if isinstance(part, Text)) for m in messages]
    return [2 + len(text.split()) + 100 * number for text, number in zip(texts, pictures, strict=True)]


def fit(history: Sequence[Past], budget: int, words: Counter, floor: int = 0, longest: int | None = None) -> Kept:
    return fit_history(history, budget, price=price, counter=words, floor=floor, longest=longest)


def test_parallel_calls_are_one_unit_wherever_their_results_stand(say: Say, as_past: AsPast, words: Counter) -> None:
    history = as_past(
        say(Role.USER, "do both"),
        say(Role.ASSISTANT, "yes", calls=["a", "b"]),
        say(Role.TOOL, "of b", answers="b"),
        say(Role.USER, "hurry"),
        say(Role.TOOL, "of a", answers="a"),
    )
    kept = fit(history, 100, words)
    assert [m.text for m in kept.messages] == ["do both", "yes", "of b", "of a", "hurry"]
    assert kept.places == (0, 1, 1, 1, 3)
    assert [m.text for m in fit(history, kept.tokens - 1, words).messages] == ["hurry"]


def test_orphans_and_unanswered_calls(say: Say, as_past: AsPast, words: Counter) -> None:
    history = as_past(
        say(Role.USER, "go"),
        say(Role.TOOL, "lost", answers="nobody"),
        say(Role.ASSISTANT, "wait", calls=["a", "b"]),
        say(Role.TOOL, "of a", answers="a"),
        say(Role.ASSISTANT, calls=["c"]),
    )
    kept = fit(history, 100, words)
    assert [(m.text, m.tool_calls) for m in kept.messages] == [("go", ()), ("wait", ())]
    assert [row.reason for row in kept.rows] == [
        TurnReason.FITS,
        TurnReason.ORPHAN_RESULT,
        TurnReason.UNANSWERED_CALL,
        TurnReason.UNANSWERED_CALL,
        TurnReason.UNANSWERED_CALL,
    ]


def test_summaries_stay_when_turns_have_to_go(say: Say, words: Counter) -> None:
    summary = Past(message=say(Role.USER, "in short"), id="s", stands_for=9)
    turns = [Past(message=say(Role.USER if n % 2 == 0 else Role.ASSISTANT, f"turn {n}"), id=f"t{n}") for n in range(20)]
    kept = fit([summary, *turns], 24, words)
    assert [m.text for m in kept.messages] == ["in short", "turn 15", "turn 16", "turn 17", "turn 18", "turn 19"]
    assert kept.tokens == 24


def test_a_conversation_starts_with_the_user(say: Say, as_past: AsPast, words: Counter) -> None:
    history = as_past(*(say(Role.USER if n % 2 == 0 else Role.ASSISTANT, f"turn {n}") for n in range(6)))
    kept = fit(history, 12, words)
    assert [m.text for m in kept.messages] == ["turn 4", "turn 5"]
    assert kept.rows[3].reason is TurnReason.NOT_A_START
    assert kept.rows[2].reason is TurnReason.NO_ROOM


def test_one_huge_message_does_not_cost_the_others_their_place(say: Say, as_past: AsPast, words: Counter) -> None:
    history = as_past(
        say(Role.USER, "first"),
        say(Role.ASSISTANT, "word " * 100_000),
        say(Role.USER, "second"),
        say(Role.ASSISTANT, "ok"),
    )
    kept = fit(history, 300, words)
    assert len(kept.messages) == 4
    assert kept.tokens <= 300
    assert kept.rows[1].reason is TurnReason.SHORTENED
    assert "cut: the whole is kept" in kept.messages[1].text


def test_pictures_leave_before_words_do(say: Say, as_past: AsPast, words: Counter) -> None:
    picture = Image(url="https://example.org/a.png", caption="a vase")
    history = as_past(say(Role.USER, "look at this", picture), say(Role.ASSISTANT, "nice " * 60))
    kept = fit(history, 160, words)
    assert kept.messages[0].text == "look at this\n[image left out: a vase]"
    assert kept.rows[0].reason is TurnReason.PICTURE_LEFT_OUT
    assert fit(history, 170, words).messages[0] is history[0].message
    assert without_pictures(say(Role.USER, Image(url="x"))).text == "[image left out]"


def test_the_oldest_turn_that_nearly_fits_is_shortened(say: Say, as_past: AsPast, words: Counter) -> None:
    long = "One fact here. " * 40
    history = as_past(
        say(Role.USER, long), say(Role.ASSISTANT, "fine"), say(Role.USER, "word " * 60), say(Role.ASSISTANT, "ok")
    )
    kept = fit(history, 180, words)
    assert kept.rows[0].reason is TurnReason.SHORTENED
    assert kept.tokens <= 180


def test_a_turn_just_before_the_kept_ones_gets_the_room_that_is_left(say: Say, as_past: AsPast, words: Counter) -> None:
    turns = [say(Role.USER if n % 2 == 0 else Role.ASSISTANT, f"{n} " + "Some words here. " * 28) for n in range(6)]
    kept = fit(as_past(*turns), 330, words)
    assert [row.reason for row in kept.rows] == [
        *[TurnReason.NO_ROOM] * 2,
        TurnReason.SHORTENED,
        *[TurnReason.FITS] * 3,
    ]
    assert 300 < kept.tokens <= 330


def test_a_turn_that_cannot_be_shortened_enough_stays_out(say: Say, as_past: AsPast, words: Counter) -> None:
    calls = [f"c{n}" for n in range(9)]
    results = [say(Role.TOOL, "some ten words of a result that is quite short", answers=name) for name in calls]
    history = as_past(say(Role.USER, "go"), say(Role.ASSISTANT, calls=calls), *results, say(Role.USER, "word " * 60))
    kept = fit(history, 115, words)
    assert len(kept.messages) == 1


def test_words_without_spaces_are_cut_by_tokens(say: Say, exact: Counter) -> None:
    def count(messages: Sequence[Message]) -> list[int]:
        return exact.count_many([message.text for message in messages])

    message = say(Role.USER, "会議をする" * 900)
    for room in (20, 60, 150):
        small = Shrinker(count, exact, frozenset()).smaller(message, room)
        assert small is not None
        assert count([small[0]])[0] <= room


def test_a_fixed_floor_and_length(say: Say, as_past: AsPast, words: Counter) -> None:
    history = as_past(*(say(Role.USER, f"{n} " + "word " * n) for n in range(0, 90, 20)))
    kept = fit(history, 1000, words, floor=3, longest=50)
    assert kept.places == (3, 4)
    assert kept.rows[4].reason is TurnReason.SHORTENED
    assert fit(history, 1000, words, floor=3, longest=50).messages == kept.messages


def test_unknown_parts_are_kept(say: Say, as_past: AsPast, words: Counter) -> None:
    odd = say(Role.USER, "x", Opaque(kind="odd", json="{}"))
    assert fit(as_past(odd), 10, words).messages == (odd,)


def test_shrinking_gives_up_only_when_nothing_fits(say: Say, words: Counter) -> None:
    shrinker = Shrinker(price, words, frozenset())
    message = say(Role.TOOL, "a" * 5000, answers="c")
    assert shrinker.smaller(message, 5) is None
    small = shrinker.smaller(message, 13)
    assert small is not None
    assert small[0].tool_call_id == "c"
    assert price([small[0]])[0] <= 13


def test_no_more_of_the_past_is_priced_than_may_be_kept(say: Say, as_past: AsPast, words: Counter) -> None:
    history = as_past(*(say(Role.USER if n % 2 == 0 else Role.ASSISTANT, "four words of talk") for n in range(2000)))
    seen: list[int] = []

    def watched(messages: Sequence[Message]) -> list[int]:
        seen.append(len(messages))
        return price(messages)

    kept = fit_history(history, 600, price=watched, counter=words)
    assert len(kept.messages) == 100
    priced = sum(seen)
    assert priced < 130
    assert kept.left_out == 1899
    assert len(kept.rows) == 2000
    assert sum(row.tokens for row in kept.rows) == 12_000
    assert sum(seen) == priced + 1900


def test_a_message_far_too_long_is_not_counted_whole(say: Say, as_past: AsPast, words: Counter) -> None:
    longest = 0

    def watched(messages: Sequence[Message]) -> list[int]:
        nonlocal longest
        longest = max(longest, *(len(message.text) for message in messages))
        return price(messages)

    history = as_past(say(Role.USER, "go"), say(Role.ASSISTANT, "word " * 200_000), say(Role.USER, "on"))
    kept = fit_history(history, 300, price=watched, counter=words)
    assert [row.reason for row in kept.rows] == [TurnReason.FITS, TurnReason.SHORTENED, TurnReason.FITS]
    assert longest < 40_000
    whole = fit_history(history, 200_100, price=watched, counter=words)
    assert whole.whole
    assert whole.messages[1] is history[1].message


def test_trim_of_nothing_and_of_system_alone(say: Say, words: Counter) -> None:
    assert trim([], 0, price=price, counter=words).messages == ()
    assert trim([say(Role.SYSTEM, "S")], 3, price=price, counter=words).tokens == 3
    dropped = trim([say(Role.SYSTEM, "S"), say(Role.USER, "u")], 0, price=price, counter=words)
    assert (dropped.messages, dropped.truncated, dropped.tokens) == ((), True, 0)
