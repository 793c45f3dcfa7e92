"""Every page shows what the library says, and nothing that is stored becomes markup."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree as ET

import pytest

from haversack.engine.haversack import Haversack
from haversack.engine.namespace import Namespace
from haversack.errors import BusyError
from haversack.model.memory import Source

NOW = "2026-04-01T12:00:00+00:00"


class Markup(HTMLParser):
    """The elements and attributes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def paths(sack: Haversack, hostile: str) -> list[str]:
    ns = sack.namespace("harbour")
    bad = next(memory for memory in ns.everything() if memory.content == hostile)
    session = quote(f"talk {hostile[:20]}")
    return [
        "/prompt?namespace=harbour",
        f"/prompt?namespace=harbour&q={quote(hostile)}&budget=400",
        f"/prompt?namespace=harbour&q={quote(hostile)}&session={session}&window=3000&other_budget=50",
        f"/prompt?namespace=harbour&q=x&layout={quote(hostile)}",
        "/memories?namespace=harbour",
        f"/memories?namespace=harbour&q={quote(hostile)}&tag={quote(hostile[:40])}",
        f"/memory?namespace=harbour&id={bad.id}&q=hull",
        f"/memory?namespace=harbour&id={quote(hostile)}",
        "/sessions?namespace=harbour",
        f"/session?namespace=harbour&id={session}",
        "/session?namespace=harbour&id=plain",
        "/health?namespace=harbour&look=count",
        "/health?namespace=harbour&look=lifecycle",
        "/health?namespace=harbour&look=reorganize",
        f"/health?namespace={quote(hostile)}",
    ]


def test_hostile_words_stay_words(browser: Any, sack: Haversack, hostile: str) -> None:
    for path in paths(sack, hostile):
        answered = browser.get(path)
        assert answered.status_code in {200, 400, 404}, path
        found = Markup(answered.text).found
        assert [attrs for tag, attrs in found if tag == "script"] == [
            {"src": next(a["src"] for t, a in found if t == "script"), "defer": None}
        ], path
        assert not any(tag in {"img", "iframe", "object", "style", "base"} for tag, _ in found), path
        assert not any(name.startswith("on") or name == "style" for _, attrs in found for name in attrs), path
        assert "49" not in re.findall(r"\{\{7\*7\}\}|window\.hacked=2[^<]{0,40}", answered.text), path


def test_every_answer_has_the_guarding_headers(browser: Any, sack: Haversack, hostile: str) -> None:
    for path in [
        *paths(sack, hostile),
        "/nowhere",
        "/static/inspector.js",
        "/enter",
        "/prompt.txt?namespace=harbour&q=a",
    ]:
        headers = browser.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy, path
        assert "unsafe" not in policy, path
        assert headers["x-content-type-options"] == "nosniff", path
        assert headers["referrer-policy"] == "same-origin", path
        assert headers["cache-control"] == "no-store", path


@pytest.mark.parametrize("budget", [0, 40, 90, 150, 400, 5000])
def test_a_budget_shows_what_the_library_returns_for_it(browser: Any, sack: Haversack, budget: int) -> None:
    expected = sack.namespace("harbour").context("hull paint", budget=budget, now=NOW)
    where = f"namespace=harbour&q=hull+paint&budget={budget}&now={quote(NOW)}"
    page = browser.get(f"/prompt?{where}&part=1").text
    assert f'data-tokens="{expected.tokens}"' in page
    kept = re.findall(r'data-id="(\w+)" data-in="yes"', page)
    assert sorted(kept) == sorted(expected.items)
    assert browser.get(f"/prompt.txt?{where}").content == expected.text.encode()


def test_a_prompt_shows_the_whole_window(browser: Any, sack: Haversack) -> None:
    expected = sack.namespace("harbour").session("plain").preview("Which plank?", window=2000, output=300, now=NOW)
    where = f"namespace=harbour&q=Which+plank%3F&session=plain&window=2000&output=300&now={quote(NOW)}"
    page = browser.get(f"/prompt?{where}").text
    assert f'data-tokens="{expected.tokens}" data-budget="2000"' in page
    for line in expected.ledger.lines:
        assert f'<th scope="row">{line.name}</th><td class="number">{line.tokens:,}</td>' in page
    assert '<th scope="row">kept for the answer</th><td class="number">300</td>' in page
    newest = sack.namespace("harbour").session("plain").turns()[-1]
    assert f"<li>{newest.message.text}" in page


def test_looking_counts_as_no_use_and_no_trim(browser: Any, sack: Haversack) -> None:
    ns = sack.namespace("harbour")
    before = ns.sequence()
    for budget in (4, 4, 4):
        browser.get(f"/prompt?namespace=harbour&q=launch&budget={budget}")
    browser.get("/memories?namespace=harbour&q=launch")
    assert ns.maintenance.flush() == 0
    assert ns.trimmed() == []
    assert ns.sequence() == before


def test_two_budgets_side_by_side_mark_what_only_one_carries(browser: Any, sack: Haversack) -> None:
    ns = sack.namespace("harbour")
    small, large = (set(ns.context("hull", budget=budget, now=NOW).items) for budget in (40, 200))
    where = f"namespace=harbour&q=hull&budget=40&other_budget=200&now={quote(NOW)}"
    page = browser.get(f"/prompt?{where}").text
    alone = re.findall(r'data-id="(\w+)" data-in="yes" class="alone"', page)
    assert sorted(alone) == sorted(small ^ large)


def test_a_budget_that_is_none_is_told_in_words(browser: Any) -> None:
    answered = browser.get("/prompt?namespace=harbour&q=hull&budget=many")
    assert answered.status_code == 400
    assert "is not a whole number of tokens" in answered.text


def test_a_budget_below_what_is_pinned_shows_the_ledger(browser: Any, sack: Haversack) -> None:
    sack.namespace("harbour").remember("Always say port and starboard, never left and right", pinned=True, kind="fact")
    page = browser.get("/prompt?namespace=harbour&q=hull&budget=3&part=1").text
    assert 'role="alert"' in page
    assert "budget" in page


def test_pictures_are_files_that_parse(browser: Any, sack: Haversack, hostile: str) -> None:
    memory_id = sack.namespace("harbour").everything()[0].id
    for path in [
        f"/prompt.svg?namespace=harbour&q={quote(hostile)}",
        "/memories.svg?namespace=harbour",
        f"/memory.svg?namespace=harbour&id={memory_id}",
        "/session.svg?namespace=harbour&id=plain",
        "/health.svg?namespace=harbour",
    ]:
        answered = browser.get(path)
        assert answered.headers["content-type"] == "image/svg+xml"
        assert answered.headers["content-disposition"].startswith("attachment")
        names = {element.tag.rpartition("}")[2] for element in ET.fromstring(answered.text).iter()}  # noqa: S314
        assert names <= {"svg", "title", "rect", "text", "line", "polyline", "circle"}


def test_memories_are_listed_newest_first_and_paged(browser: Any, sack: Haversack) -> None:
    ns = sack.namespace("many")
    made = ns.remember_many(
        [{"content": f"entry {n}", "kind": "fact", "event_time": f"2026-01-01T00:{n:02}:00Z"} for n in range(60)]
        + [{"content": "a passage", "kind": "passage", "event_time": "2026-01-01T05:00:00Z"}]
    )
    facts = [memory.id for memory in made[:60]][::-1]
    first = browser.get("/memories?namespace=many&kind=fact").text
    second = browser.get("/memories?namespace=many&kind=fact&page=2").text
    listed = [re.findall(r'class="words" href="[^"]*id=(\w+)"', page) for page in (first, second)]
    assert listed == [facts[:50], facts[50:]]
    assert "60 memories" in first


def test_a_memory_shows_its_life(browser: Any, sack: Haversack) -> None:
    ns = sack.namespace("harbour")
    turn = ns.session("plain").turns(limit=1)[0]
    told = ns.remember("Planks are oak", kind="fact", source=Source(session="plain", turns=(turn.id,)))
    ns.edit(told.id, content="Planks are white oak")
    ns.vote(told.id, "up")
    page = unescape(browser.get(f"/memory?namespace=harbour&id={told.id}").text)
    assert "Planks are white oak" in page
    assert "<strong>content</strong> <q>Planks are oak</q>" in page
    assert "up, importance 0.50 to 0.60" in page
    assert turn.message.text in page


def test_a_transcript_has_spans_that_open(browser: Any, sack: Haversack) -> None:
    session = sack.namespace("harbour").session("plain")
    folds = session.folds()
    assert folds
    page = unescape(browser.get("/session?namespace=harbour&id=plain").text)
    assert page.count('<section class="fold"') == len(folds)
    for turn in session.turns():
        assert turn.message.text in page


def test_health_gives_advice_on_what_keeps_being_left_out(browser: Any, sack: Haversack) -> None:
    ns = sack.namespace("harbour")
    for _ in range(3):
        ns.context("launch September", budget=4)
    row = next(row for row in ns.trimmed() if row.content.startswith("The launch"))
    page = unescape(browser.get("/health?namespace=harbour").text)
    assert row.advice in page
    assert "raise the budget from 4" in page


def test_where_the_store_lies_is_not_told(
    browser: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def busy(*_: object, **__: object) -> None:
        raise BusyError("/home/alice/memory.db is busy")

    monkeypatch.setattr(Namespace, "timeline", busy)
    answered = browser.get("/memories?namespace=harbour")
    assert (answered.status_code, "/home" in answered.text) == (503, False)
    assert "/home/alice/memory.db is busy" in caplog.text


def test_without_a_namespace_the_first_that_holds_anything_is_shown(browser: Any) -> None:
    page = browser.get("/memories").text
    assert '<input name="namespace" value="harbour"' in page
