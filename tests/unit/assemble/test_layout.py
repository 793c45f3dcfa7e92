import pytest

from haversack.assemble import LAYOUTS, Layout, Section, Sharing, layout_named
from haversack.assemble.layout import attention
from haversack.assemble.settings import SupportingContextConfig
from haversack.errors import InputError
from haversack.model.memory import Kind


def weights(layout: Layout) -> dict[str, float]:
    return {section.name: section.weight for section in layout.sections}


def test_the_nine_sections_with_their_default_priorities() -> None:
    assert {name: weight for name, weight in weights(LAYOUTS["sections"]).items() if name != "passages"} == {
        "summaries": 0.25,
        "user_profile": 0.15,
        "user_facts": 0.15,
        "entities": 0.15,
        "graph": 0.10,
        "decisions": 0.10,
        "corrections": 0.10,
        "learnings": 0.05,
        "procedures": 0.05,
    }


def test_every_kind_has_a_place_in_every_layout() -> None:
    for layout in LAYOUTS.values():
        assert set(layout.section_of()) == set(Kind)


def test_weights_that_somebody_sets_order_the_sections() -> None:
    layout = LAYOUTS["sections"].with_weights({"learnings": 0.30, "summaries": 0.10})
    assert [section.name for section in layout.sections] == [
        *("learnings", "user_profile", "user_facts", "entities", "passages"),
        *("summaries", "graph", "decisions", "corrections", "procedures"),
    ]
    assert LAYOUTS["sections"].with_weights({}) == LAYOUTS["sections"]


def test_a_kind_stays_in_its_section_when_weights_move_it() -> None:
    both = Layout(name="x", sections=(_section(name="a"), _section(name="b", kinds=frozenset({Kind.FACT, Kind.STATE}))))
    moved = both.with_weights({"b": 5})
    assert [section.name for section in moved.sections] == ["b", "a"]
    assert moved.section_of() == {Kind.STATE: 0, Kind.FACT: 1}


def test_partial_overrides_leave_the_rest() -> None:
    layout = LAYOUTS["sections"].with_weights({"userFacts": 0.25, "graph": 0})
    assert weights(layout) == weights(LAYOUTS["sections"]) | {"user_facts": 0.25, "graph": 0}


def test_presets_by_use_case() -> None:
    changed = {
        "sections-knowledge": {"learnings": 0.30, "summaries": 0.10},
        "sections-audit": {"decisions": 0.30, "learnings": 0.05},
        "sections-relationship": {"user_facts": 0.25, "entities": 0.25, "procedures": 0.02},
        "sections-conversation": {"summaries": 0.40, "graph": 0.05},
    }
    for name, override in changed.items():
        assert LAYOUTS[name].name == name
        assert weights(LAYOUTS[name]) == weights(LAYOUTS["sections"]) | override


def test_attention_defaults() -> None:
    library, chat = LAYOUTS["attention"], LAYOUTS["attention-chat"]
    assert [(s.name, s.max_items) for s in library.sections] == [
        ("known_facts", 25),
        ("passages", 10),
        ("insights", 25),
        ("summaries", 10),
        ("tools", 5),
        ("state", 1),
    ]
    assert [(s.name, s.max_items) for s in chat.sections] == [
        ("known_facts", 30),
        ("insights", 20),
        ("summaries", 15),
        ("tools", 10),
        ("passages", 3),
        ("state", 1),
    ]
    assert (library.ratio, chat.ratio) == (0.30, 0.25)
    assert library.sharing is Sharing.PRIORITY
    assert SupportingContextConfig().layout() == library


def test_supporting_context_fragment() -> None:
    config = SupportingContextConfig(
        section_priority=["known_facts", "passages", "insights", "summaries", "tools", "state"],
        max_items={"passages": 5, "known_facts": 15, "insights": 10, "summaries": 5, "tools": 5},
    )
    assert [(s.name, s.max_items) for s in config.layout().sections][:2] == [("known_facts", 15), ("passages", 5)]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"section_priority": ["key_facts"]}, "section_priority names 'key_facts'.* did you mean 'known_facts'"),
        ({"max_items": {"passage": 3}}, "max_items names 'passage'.* did you mean 'passages'"),
        ({"max_items": {"passages": -3}}, "passages=-3"),
        ({"budget_ratio": 30}, "budget_ratio=30"),
        ({"section_priority": ["state", "state"]}, "'state' is named twice"),
    ],
)
def test_supporting_context_settings_are_checked(settings: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        SupportingContextConfig(**settings)  # pyright: ignore[reportArgumentType]


def test_names_are_checked() -> None:
    with pytest.raises(InputError, match="did you mean 'sections'"):
        layout_named("section")
    with pytest.raises(InputError, match="did you mean 'user_facts'"):
        LAYOUTS["sections"].with_weights({"userFact": 1})
    assert layout_named(LAYOUTS["flat"]) is LAYOUTS["flat"]
    assert attention(("state",), {}, name="x", ratio=0.1).sections[0].name == "state"


def _section(**changes: object) -> Section:
    settings: dict[str, object] = {"name": "a", "kinds": frozenset({Kind.FACT})} | changes
    return Section(**settings)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        ((), "has no section"),
        ((_section(), _section()), "named twice"),
        ((_section(kinds=frozenset[Kind]()),), "no source"),
        ((_section(weight=float("nan")),), "weight of section 'a' is nan"),
        ((_section(weight=0),), "all weights are 0"),
        ((_section(minimum=0.5, maximum=0.4),), "minimum=0.5 above maximum=0.4"),
        ((_section(maximum=0),), "maximum of section 'a'"),
        ((_section(maximum=0.5),), "minimum or maximum share: these need sharing"),
        ((_section(max_items=-1),), "max_items of section 'a'=-1"),
    ],
)
def test_layouts_that_make_no_sense(sections: tuple[Section, ...], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Layout(name="x", sections=sections)


def test_limits_can_be_set_by_name() -> None:
    layout = LAYOUTS["sections"].with_max_items({"decisions": 2})
    assert {s.name: s.max_items for s in layout.sections if s.max_items is not None} == {"decisions": 2}
