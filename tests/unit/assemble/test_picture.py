from __future__ import annotations

from xml.etree import ElementTree as ET

from haversack.assemble.picture import draw_ledger
from haversack.budget import Ledger, Line

SVG = "{http://www.w3.org/2000/svg}"


def segments(picture: str) -> list[tuple[str, float]]:
    """Words and width of each segment of the bar."""
    found: list[tuple[str, float]] = []
    for element in ET.fromstring(picture).iter(f"{SVG}rect"):  # noqa: S314 - our own picture
        title = element.find(f"{SVG}title")
        if title is not None:
            found.append((str(title.text), float(element.attrib["width"])))
    return found


def test_the_bar_is_the_whole_window() -> None:
    ledger = Ledger(
        lines=(Line(name="system", tokens=100), Line(name="history", tokens=300)), budget=1000, reserved=200
    )
    # 720 wide with 16 on either side leaves 688 for 1,000 tokens
    assert segments(draw_ledger(ledger, "A window")) == [
        ("system: 100 tokens, 10.0%", 68.8),
        ("history: 300 tokens, 30.0%", 206.4),
        ("kept for the answer: 200 tokens, 20.0%", 137.6),
        ("spare: 400 tokens, 40.0%", 275.2),
    ]


def test_a_window_that_is_too_small_is_drawn_to_what_is_used() -> None:
    ledger = Ledger(lines=(Line(name="system", tokens=200),), budget=100)
    assert segments(draw_ledger(ledger, "Too small")) == [("system: 200 tokens, 100.0%", 688.0)]


def test_many_lines_are_summed_by_their_first_name() -> None:
    lines = (*(Line(name=f"tools/t{n}", tokens=10) for n in range(20)), Line(name="query", tokens=50))
    assert [words for words, _ in segments(draw_ledger(Ledger(lines=lines, budget=250), "Tools"))] == [
        "tools: 200 tokens, 80.0%",
        "query: 50 tokens, 20.0%",
    ]


def test_too_many_names_end_as_others() -> None:
    ledger = Ledger(lines=tuple(Line(name=f"n{n}", tokens=1) for n in range(15)), budget=15)
    drawn = segments(draw_ledger(ledger, "Many"))
    assert len(drawn) == 12
    assert drawn[-1][0] == "others: 4 tokens, 26.7%"


def test_an_empty_budget_is_a_picture_too() -> None:
    assert segments(draw_ledger(Ledger(lines=(), budget=0), "Nothing")) == []


def test_titles_cannot_become_markup() -> None:
    words = '</title><script>x</script>"' + "y" * 100
    picture = draw_ledger(Ledger(lines=(Line(name=words, tokens=1),), budget=2), words)
    root = ET.fromstring(picture)  # noqa: S314 - our own picture
    assert {element.tag for element in root.iter()} == {f"{SVG}{name}" for name in ("svg", "title", "rect", "text")}
    assert words in str(root.findtext(f"{SVG}title"))
