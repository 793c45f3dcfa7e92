"""Numbers, dates and codes: the memory that holds the very one stands first, and alone where there is room for one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

import haversack
from haversack.embed.static import StaticEmbedder
from haversack.model.memory import Kind, Memory, Source
from haversack.recall import Recall
from haversack.store.memory import MemoryStore
from haversack.store.port import Batch

NOW = datetime(2026, 6, 1, tzinfo=UTC)
PAIRS = [
    ("5 bar", "The pump gives 5 bar", "The pump gives 0.5 bar"),
    ("0.5 bar", "The pump gives 0.5 bar", "The pump gives 5 bar"),
    (".5 bar", "The pump gives 0.5 bar", "The pump gives 5 bar"),
    ("1.5 bar", "Der Druck ist 1,5 bar", "Der Druck ist 15 bar"),
    ("1000 euros", "The total is 1,000 euros", "The total is 10,000 euros"),
    ("10000 euros", "The total is 10,000 euros", "The total is 1,000 euros"),
    ("100 euros", "The total is 100 euros", "The total is 100,000 euros"),
    ("1 000 euros", "The total is 1000 euros", "The total is 1 euros"),
    ("1'000 francs", "It costs 1000 francs", "It costs 1 francs"),
    ("€1000", "The total is 1.000 euros", "The total is 100 euros"),
    ("5.00 euros", "A ticket is 5 euros", "A ticket is 500 euros"),
    ("$20", "The fee is 20 dollars", "The fee is 200 dollars"),
    ("20%", "The share is 20 percent", "The share is 2 percent"),
    ("build 1.2", "Build 1.2", "Build 1.2.3"),
    ("build 1.20", "Build 1.20", "Build 1.2"),
    ("version 3.1", "rollout of v3.1", "rollout of v3.2"),
    ("flight at 7:05", "Flight leaves at 07:05", "Flight leaves at 17:05"),
    ("flight at 5:05 pm", "Flight leaves at 17:05", "Flight leaves at 05:05"),
    ("alarm at 7 pm", "Alarm at 19:00", "Alarm at 07:00"),
    ("dose 5 mg", "Dose is 5 mg", "Dose is -5 mg"),
    ("dose 5mg", "Dose is 5 mg", "Dose is 0.5 mg"),
    ("dose 5 mg", "Dose is 5mg", "Dose is 50mg"),
    ("minus: -5 degrees", "It was -5 degrees", "It was 5 degrees"),
    ("5 mW", "The laser has 5 mW", "The laser has 5 MW"),
    ("5 MW", "The turbine has 5 MW", "The turbine has 5 mW"),
    ("5 Gb", "The link has 5 Gb", "The link has 5 GB"),
    ("12 people", "12 people came and 3 left", "3 people came and 12 left"),
    ("host 10.0.0.1", "The host is 10.0.0.1", "The host is 10.0.1.0"),
    ("५ किलो", "वजन 5 किलो है", "वजन 50 किलो है"),
    ("٥ كيلو", "الوزن 5 كيلو", "الوزن 15 كيلو"),
    ("１，０００円", "値段は1000円です", "値段は100円です"),
    ("100公斤", "重量是100公斤", "重量是1000公斤"),
    ("1 000 рублей", "Цена 1000 рублей", "Цена 10 рублей"),
    ("5 March 2026", "Dinner on March 5th, 2026", "Dinner on March 6th, 2026"),
    ("5 March 2026", "Dinner on 2026-03-05", "Dinner on 2026-05-04"),
    ("March 5th", "Dinner on 05/03/2026", "Dinner on 06/03/2026"),
    ("2026-03-05", "Essen am 5. März 2026", "Essen am 6. März 2026"),
    ("5.3.2026", "Dîner le 5 mars 2026", "Dîner le 3 mai 2026"),
    ("5 March 2026", "2026年3月5日に夕食", "2026年3月6日に夕食"),
    ("3月5日", "Dinner on the 5th of March", "Dinner on the 3rd of May"),
    ("5 de marzo", "Cena el 5 de marzo de 2026", "Cena el 5 de mayo de 2026"),
    ("5 марта 2026", "Ужин 5 марта 2026", "Ужин 15 марта 2026"),
    ("5 March 2026", "Dinner on 5 March 2026", "Dinner on 5 March 2025"),
    ("5 March", "Dinner on 5 March", "Read chapter 5 in the March issue"),
    ("31.12.2025", "The lease ends on December 31, 2025", "The lease ends on December 30, 2025"),
    ("+49 30 1234567", "Call +49-30-1234567", "Call +49-30-7654321"),
    ("5551234567", "Call (555) 123-4567", "Call (555) 123-4576"),
    ("DE89370400440532013000", "IBAN DE89 3704 0044 0532 0130 00", "IBAN DE89 3704 0044 0532 0130 01"),
    ("INV-2024-001", "Paid INV-2024-001", "Paid INV-2024-010"),
    ("550e8400-e29b-41d4-a716-446655440000", "id 550e8400-e29b-41d4-a716-446655440000", "id 550e8400-e29b-41d4-a716"),
    ("user_id", "the field userId", "the id of a user"),
    ("userId", "the field user_id", "the id of a user"),
    ("/opt/tools/run.sh", "start /opt/tools/run.sh", "start /run/tools/opt.sh"),
    ("anna@example.org", "write to anna@example.org", "write to example@anna.org"),
    ("srv-01", "reboot srv-01", "reboot srv-10"),
    ("port 5432", "db:5432 is reachable", "db:5433 is reachable"),
    ("0.125 inch", "a bolt of 0.125 inch", "a bolt of 125 inch"),
    ("1,234,567 stars", "1234567 stars", "1234 stars"),
    ("12,50 EUR", "Das kostet 12.50 euro", "Das kostet 1250 euro"),
    ("5 milliwatts", "The laser has 5 mW", "The laser has 5 MW"),
    ("puts out 5 megawatts", "The plant puts out 5 MW", "The plant puts out 5 kW"),
    ("4.7kΩ", "R1 has 4.7 kΩ", "R1 has 4.7 MΩ"),
    ("50 µg", "Dose is 0.05 mg", "Dose is 50 mg"),
    ("1.8 m", "A plank of 180 cm", "A plank of 1.08 m"),
    ("ninety minutes", "It takes 1.5 h", "It takes 2.5 h"),
    ("twenty goats", "The pen houses 20 goats", "The pen houses 12 goats"),
    ("12 goats", "The pen houses twelve goats", "The pen houses twenty goats"),
    ("two hundred and five seats", "The hall has 205 seats", "The hall has 200 seats"),
    ("half an inch", "a bolt of half an inch", "a bolt of an inch"),
    ("1/2 inch", "a bolt of ½ inch", "a bolt of ¼ inch"),
    ("2.5 cups", "Take 2½ cups", "Take 2 cups"),
    ("3/4 cup", "Take 0.75 cup", "Take 3 cups"),
    ("half past seven", "The bus leaves at 7:30", "The bus leaves at 7:15"),
    ("quarter to five", "The bus leaves at 4:45", "The bus leaves at 5:15"),
    ("7:05 in the evening", "The bus leaves at 19:05", "The bus leaves at 7:05"),
    ("7.05 pm", "The bus leaves at 19:05", "The bus leaves at 7:05"),
    ("minus five degrees", "It was -5 °C", "It was 5 °C"),
    ("the twenty-first place", "She came in 21st place", "She came in 22nd place"),
    ("number 12", "She came in as 12th", "She came in as 22nd"),
    ("EUR 4,50", "It costs 4.50 €", "It costs 4.05 €"),
    ("2 million", "The city has 2,000,000 people", "The city has 2 people"),
    ("10⁶ cells", "The dish holds 10^6 cells", "The dish holds 10^7 cells"),
    ("5 square metres", "The hall has 5 m²", "The hall has 5 m³"),
    ("030 1234567", "Call +49 30 1234567", "Call +49 30 1234576"),
    ("0043 1 1234567", "Call +43 1 1234567", "Call +43 1 1234576"),
    ("$1.50", "It costs 1.5 dollars", "It costs 1 dollars"),
    ("US$20", "The fee is 20 dollars", "The fee is 200 dollars"),
    ("$5 million", "It raised 5,000,000", "It raised 5"),
    ("$5m", "It raised 5 million dollars", "It raised 6 million dollars"),
    ("100k users", "It has 100,000 users", "It has 1000 users"),
    ("64 GB", "The card has 64 gb", "The card has 32 gb"),
    ("0.0625 inch", "a bolt of 1/16 inch", "a bolt of 3/16 inch"),
    ("two thirds of a cup", "Take 2/3 of a cup", "Take 1/3 of a cup"),
    ("half an hour", "It takes 30 minutes", "It takes 20 minutes"),
    ("an hour and a half", "It takes 90 minutes", "It takes 70 minutes"),
    ("fourth of July", "Dinner on July 4", "Dinner on July 5"),
    ("nineteen eighty-four", "It was built in 1984", "It was built in 1948"),
    ("a hundred and fifty seats", "The hall has 150 seats", "The hall has 50 seats"),
    ("five dollars", "The fee is $5", "The fee is $50"),
    ("eight at night", "The bus leaves at 20:00", "The bus leaves at 08:00"),
    ("score 3:1", "The score was 3:1", "The score was 1:3"),
]


@pytest.fixture(scope="module")
def embedder() -> StaticEmbedder:
    return StaticEmbedder()


def order(query: str, texts: list[str], embedder: StaticEmbedder | None) -> list[str]:
    """The texts in the order in which they answer; the last given is the newest."""
    store = MemoryStore()
    rows = [
        Memory(
            id=str(place),
            kind=Kind.FACT,
            content=text,
            created_at=NOW,
            event_time=NOW - timedelta(days=1),
            source=Source(),
            born=place + 1,
        )
        for place, text in enumerate(texts)
    ]
    store.apply("n", Batch(memories=tuple(rows)))
    recall = Recall(store, embedder)
    recall.reembed("n")
    return [hit.memory.content for hit in recall.search(["n"], query, now=NOW, top_k=len(texts))]


@pytest.mark.parametrize(("query", "right", "wrong"), PAIRS)
def test_the_very_number_stands_first(query: str, right: str, wrong: str, embedder: StaticEmbedder) -> None:
    for known in (None, embedder):
        assert order(query, [wrong, right], known)[0] == right
        assert order(query, [right, wrong], known)[0] == right


@pytest.mark.parametrize(
    ("query", "right", "wrong"), [pair for pair in PAIRS[::5] if pair[1].lower() != pair[2].lower()]
)
def test_a_context_with_room_for_one_holds_the_very_number(query: str, right: str, wrong: str) -> None:
    with haversack.open(":memory:") as sack:
        ns, *alone = (sack.namespace(name) for name in ("n", "one", "other"))
        for text, place in ((wrong, alone[0]), (right, alone[1])):
            ns.remember(text)
            place.remember(text)
        room = max(place.context(query, budget=500).tokens for place in alone)
        text = ns.context(query, budget=room).text
    assert (right in text, wrong in text) == (True, False)


def test_the_number_of_a_day_is_no_word_of_the_question(embedder: StaticEmbedder) -> None:
    store = MemoryStore()
    rows = [
        Memory(
            id=f"{kind}{day}",
            kind=Kind.FACT,
            content=text.format(day=day, dish=("soup", "rice", "fish", "eggs")[day % 4]),
            created_at=NOW,
            event_time=datetime(2026, 3, day, 12, tzinfo=UTC),
            source=Source(),
        )
        for kind, text in (("lunch", "Lunch was {dish}"), ("book", "Read chapter {day} of the sailing book"))
        for day in range(1, 15)
    ]
    store.apply("n", Batch(memories=tuple(rows)))
    recall = Recall(store, embedder)
    recall.reembed("n")
    for day in range(4, 14):
        for form in ("on {} March 2026", "on March {}", "March {}, 2026", "on {}.3.2026", "on 2026-03-{:02}"):
            query = "What did I have for lunch " + form.format(day)
            assert recall.search(["n"], query, now=NOW, top_k=1)[0].memory.id == f"lunch{day}", query
