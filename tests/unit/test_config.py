from __future__ import annotations

import logging
import sys
import warnings
from pathlib import Path
from typing import Any

import msgspec
import pytest

from haversack import config as config_module
from haversack.assemble import LAYOUTS, Layout, Prefer, Section, Sharing
from haversack.config import Config, Setting, load_config, settings_in_force
from haversack.errors import ConfigError, InputError, MissingExtraError, NotFoundError
from haversack.model.memory import Kind
from haversack.wiring import open_haversack

PRIMING = """\
memory:
  context_window: 32000
  output_buffer: 2500
  max_history_turns: 15
  supporting_context:
    budget_ratio: 0.30
    section_priority: [known_facts, passages, insights, summaries, tools, state]
    max_items:
      passages: 5
      known_facts: 15
      insights: 10
      summaries: 5
      tools: 5
  priming:
    enabled: true
    token_budget: 4000
    top_entities: 20
    max_insights: 10
    max_summaries: 5
    max_known_facts: 20
    previous_sessions: 1
    previous_session_turns: 3
"""

COMPACTION = """\
memory:
  compaction:
    enabled: true
    llm_service: compaction
    compaction_threshold: 0.85
    critical_threshold: 0.95
    target_utilization: 0.70
    cooldown_turns: 3
    max_duration_ms: 15000
    critical_max_duration_ms: 45000
    min_turns_to_summarize: 5
    max_turns_per_summary: 8
    compaction_recency_window: 4
    insight_dedup_enabled: true
    insight_similarity_threshold: 0.90
    max_insights_to_check: 50
    trend_window: 10
"""


def written(tmp_path: Path, text: str, name: str = "haversack.yaml") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_attention_layouts_fragments_load_as_they_stand(tmp_path: Path) -> None:
    memory = load_config(written(tmp_path, PRIMING), {}).memory
    assert (memory.context_window, memory.output_buffer, memory.max_history_turns) == (32000, 2500, 15)
    assert memory.supporting_context.max_items["known_facts"] == 15
    assert (memory.priming.top_entities, memory.priming.previous_session_turns) == (20, 3)
    compaction = load_config(written(tmp_path, COMPACTION), {}).memory.compaction
    assert compaction is not None
    assert (compaction.llm_service, compaction.max_turns_per_summary, compaction.trend_window) == ("compaction", 8, 10)


def test_toml_says_the_same_and_no_file_is_the_defaults(tmp_path: Path) -> None:
    path = written(tmp_path, "[engine]\nbudget = 700\n[memory.compaction]\ncooldown_turns = 5\n", "h.toml")
    config = load_config(path, {})
    assert config.engine.budget == 700
    assert config.memory.compaction is not None
    assert config.memory.compaction.cooldown_turns == 5
    assert load_config(None, {}) == Config()
    assert load_config(written(tmp_path, ""), {}) == Config()


LAYOUTS_OF_ONES_OWN = """\
engine:
  layout: brief
  section_weights: {userFacts: 0.5, graph: 0}
  layouts:
    brief:
      sharing: weight
      ratio: 0.2
      sections:
        rules: {kinds: [decision, procedure], title: Rules, weight: 2, minimum: 0.2, max_items: 3, prefer: newest}
        said: {kinds: [passage], maximum: 0.5}
memory:
  prompt_layout: brief
"""


def test_layouts_of_ones_own_and_weights_of_the_sections(tmp_path: Path) -> None:
    config = load_config(written(tmp_path, LAYOUTS_OF_ONES_OWN), {})
    assert config.engine.layout_named() == Layout(
        name="brief",
        sharing=Sharing.WEIGHT,
        ratio=0.2,
        sections=(
            Section(
                name="rules",
                kinds=frozenset({Kind.DECISION, Kind.PROCEDURE}),
                title="Rules",
                weight=2,
                minimum=0.2,
                max_items=3,
                prefer=Prefer.NEWEST,
            ),
            Section(name="said", kinds=frozenset({Kind.PASSAGE}), maximum=0.5),
        ),
    )
    weights = {section.name: section.weight for section in config.engine.layout_named("sections-audit").sections}
    assert (weights["user_facts"], weights["graph"], weights["decisions"]) == (0.5, 0, 0.30)
    assert config.engine.layout_named("flat") is LAYOUTS["flat"]


def test_services_are_named_entries(tmp_path: Path) -> None:
    text = "services:\n  compaction: {provider: openai, model: tiny, base_url: 'http://127.0.0.1:1/v1'}\n"
    services = load_config(written(tmp_path, text), {}).services
    assert services["compaction"].model == "tiny"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "memory: {compaction: {compaction_treshold: 0.7}}",
            "memory.compaction.compaction_treshold.*compaction_threshold",
        ),
        ("memory: {compaction: {cooldown_turns: 3, Cooldown_Turns: 2}}", "'Cooldown_Turns' is given twice"),
        ("cooldown_turns: 3", "cooldown_turns: it belongs at memory.compaction.cooldown_turns"),
        ("engine: {top_k: 5, compaction: {cooldown_turns: 1}}", "engine.compaction"),
        ("unknown_section: {}", "unknown setting unknown_section"),
        ("compaction: {cooldown_turns: 1}", "compaction: it belongs at memory.compaction"),
        ("memory: {compaction: null}", "memory.compaction must be a section"),
        ("memory: {compaction: []}", "memory.compaction must be a section"),
        ("memory: {supporting_context: {max_items: {key_facts: 3}}}", "known_facts"),
        ("memory: {supporting_context: {section_priority: [key_facts]}}", "known_facts"),
        ("memory: {compaction: {compaction_threshold: 80}}", "memory.compaction.*compaction_threshold=80.*up to 1"),
        ("memory: {compaction: {compaction_threshold: 1.5}}", "compaction_threshold=1.5"),
        ("memory: {compaction: {compaction_threshold: 0}}", "compaction_threshold=0"),
        ("memory: {compaction: {compaction_threshold: -0.1}}", "compaction_threshold=-0.1"),
        ("memory: {compaction: {compaction_threshold: .nan}}", "compaction_threshold=nan"),
        ("memory: {compaction: {compaction_threshold: '0.7'}}", "Expected `float`, got `str`"),
        ("memory: {compaction: {compaction_threshold: 0.6, target_utilization: 0.8}}", "target_utilization=0.8"),
        ("memory: {compaction: {compaction_threshold: 0.8, target_utilization: 0.8}}", "target_utilization=0.8"),
        ("memory: {compaction: {cooldown_turns: -1}}", "cooldown_turns=-1"),
        ("memory: {context_window: 200000, output_buffer: 200000}", "output_buffer=200000"),
        ("memory: {context_window: '32000'}", "memory.context_window"),
        ("engine: {budget: -5}", "engine.budget=-5"),
        ("engine: {layout: sectoins}", "engine: layout='sectoins' is not known; did you mean 'sections'"),
        ("engine: {format: markdwon}", "engine: format='markdwon' is not known; did you mean 'markdown'"),
        ("engine: {section_weights: {userFact: 1}}", "engine: .*'user_fact'; did you mean 'user_facts'"),
        ("engine: {section_weights: {graph: .nan}}", "weight of section 'graph' is nan"),
        ("engine: {layouts: {flat: {sections: {a: {kinds: [fact]}}}}}", "engine.layouts.flat: this name is taken"),
        ("engine: {layouts: {x: {sections: {a: {kinds: [fakt]}}}}}", "engine.layouts.x.sections.a.kinds.*fakt"),
        ("engine: {layouts: {x: {sections: {a: {kinds: []}}}}}", "section 'a' has no source"),
        ("engine: {layouts: {x: {sections: {}}}}", "layout 'x' has no section"),
        ("engine: {layouts: {x: {sections: {a: {kinds: [fact], wieght: 1}}}}}", "did you mean 'weight'"),
        ("memory: {prompt_layout: cashed}", "layout='cashed' is not known; did you mean 'cached'"),
        ("engine: {top_k: 0}", "engine.top_k=0"),
        ("services: {x: {provider: openia, model: y}}", "services.x.*did you mean 'openai'"),
        ("services: {x: {provider: openai}}", "services.x"),
        ("services: [x]", "services must be a section of named entries"),
        ("[1, 2]", "must hold sections"),
        ("{", "cannot be read"),
    ],
)
def test_what_cannot_have_the_effect_its_author_wanted_is_an_error(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        load_config(written(tmp_path, text), {})


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("HAVERSACK_ENGNE__BUDGET", "engne: did you mean 'engine'"),
        ("HAVERSACK_ENGINE__BUDGT", "engine.budgt: did you mean 'budget'"),
    ],
)
def test_a_misspelt_setting_in_a_variable_is_an_error(name: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        load_config(None, {name: "5"})


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    monkeypatch.setattr(config_module, "_told", set())
    caplog.set_level(logging.WARNING, "haversack.config")
    return caplog


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("HAVERSACK_BUDGET", "did you mean 'HAVERSACK_ENGINE__BUDGET'?"),
        ("HAVERSACK_STOER", "did you mean 'HAVERSACK_STORE'?"),
        ("HAVERSACK__BUDGET", "did you mean 'HAVERSACK_ENGINE__BUDGET'?"),
        ("HAVERSACK_PORT", "did you mean 'HAVERSACK_STORE'?"),
    ],
)
def test_a_variable_that_only_begins_like_ours_is_warned_of_once(
    told: pytest.LogCaptureFixture, name: str, says: str
) -> None:
    for _ in range(3):
        assert load_config(None, {name: "8080"}) == Config()
    (message,) = told.messages
    assert message == f"the environment variable {name} is not known: {says}"


SERVICE_LINKS = {
    "HAVERSACK_SERVICE_HOST": "10.0.0.1",
    "HAVERSACK_SERVICE_PORT": "80",
    "HAVERSACK_SERVICE_PORT_HTTP": "80",
    "HAVERSACK_PORT": "tcp://10.0.0.1:80",
    "HAVERSACK_PORT_80_TCP": "tcp://10.0.0.1:80",
    "HAVERSACK_PORT_80_TCP_PROTO": "tcp",
    "HAVERSACK_PORT_80_TCP_PORT": "80",
    "HAVERSACK_PORT_80_TCP_ADDR": "10.0.0.1",
    "HAVERSACK_PORT_53_UDP": "udp://10.0.0.1:53",
    "HAVERSACK_BLUE_SERVICE_HOST": "10.0.0.2",
    "HAVERSACK_BLUE_PORT": "tcp://10.0.0.2:80",
    "HAVERSACK_A__B_SERVICE_HOST": "10.0.0.3",
    "HAVERSACK_A__B_PORT": "tcp://10.0.0.3:80",
}


def test_what_kubernetes_says_of_a_service_called_haversack_is_passed_over(told: pytest.LogCaptureFixture) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_config(None, SERVICE_LINKS) == Config()
        assert {each.origin for each in settings_in_force(None, SERVICE_LINKS)} == {"default"}
    assert told.messages == []


def test_a_variable_that_a_setting_names_is_known(told: pytest.LogCaptureFixture) -> None:
    tree = {"encryption": {"key_env": "HAVERSACK_STORE_KEY"}, "chat": {"tools": {"t": {"command": ["x"], "env": []}}}}
    load_config(tree, {"HAVERSACK_STORE_KEY": "k", "HAVERSACK_KEY": "k"})
    assert told.messages == []


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"HAVERSACK_ENGINE__BUDGET": "many"}, r"engine\.budget='many'"),
        ({"HAVERSACK_ENGINE__MODEL": "[secret"}, "HAVERSACK_ENGINE__MODEL holds no value"),
        ({"HAVERSACK_ENGINE__A": "1", "HAVERSACK_ENGINE__A__B": "1"}, "HAVERSACK_ENGINE__A__B sets a part"),
        ({"HAVERSACK_ENGINE__A__B": "1", "HAVERSACK_ENGINE__A__B__C": "1"}, "HAVERSACK_ENGINE__A__B__C sets a part"),
    ],
)
def test_a_wrong_value_of_a_known_variable_is_an_error(variables: dict[str, str], says: str) -> None:
    with pytest.raises(ConfigError, match=says) as refused:
        load_config(None, variables)
    assert "secret" not in str(refused.value)


def test_a_missing_file_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"nope\.yaml"):
        load_config(tmp_path / "nope.yaml", {})


def test_the_environment_wins_and_each_value_knows_where_it_came_from(tmp_path: Path) -> None:
    path = written(tmp_path, "engine: {budget: 700, layout: sections}\n")
    variables = {"HAVERSACK_ENGINE__BUDGET": "1500", "HAVERSACK_STORE": "x.db", "OTHER": "1"}
    assert load_config(path, variables).engine.budget == 1500
    told = {setting.path: setting for setting in settings_in_force(path, variables)}
    assert told["engine.budget"] == Setting(path="engine.budget", value=1500, origin="HAVERSACK_ENGINE__BUDGET")
    assert told["engine.layout"].origin == str(path)
    assert told["engine.model"].origin == "default"


def leaves(value: Any, path: str = "") -> dict[str, Any]:
    if isinstance(value, dict) and value:
        return {k: v for name, part in value.items() for k, v in leaves(part, f"{path}.{name}").items()}
    return {path.lstrip("."): value}


def test_what_is_in_force_lists_every_setting(tmp_path: Path) -> None:
    path = written(tmp_path, COMPACTION)
    everything = leaves(msgspec.to_builtins(load_config(path, {}), enc_hook=dict))
    assert {setting.path for setting in settings_in_force(path, {})} == set(everything)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("embedding: {name: onxx}", "embedding.*did you mean 'onnx'"),
        ("embedding: {name: remote}", "needs embedding.url and embedding.model"),
        ("embedding: {name: remote, url: 'http://127.0.0.1:1/v1', modle: x}", "embedding.modle"),
    ],
)
def test_an_embedder_that_cannot_be_is_an_error(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        load_config(written(tmp_path, text), {})


def test_the_settings_choose_the_embedder_unless_the_call_does(tmp_path: Path) -> None:
    remote = "embedding: {name: remote, url: 'http://127.0.0.1:9/v1', model: tiny, dimension: 3}"
    path = written(tmp_path, remote)
    with open_haversack(":memory:", config=load_config(path, {})) as sack:
        assert sack._core.embedder is not None
        assert (sack._core.embedder.model, sack._core.embedder.dimension) == ("tiny", 3)
    with open_haversack(":memory:", config=load_config(path, {}), embedder="none") as sack:
        assert sack._core.embedder is None
    private = written(tmp_path, "embedding: {name: remote, url: 'http://10.0.0.7/v1', model: tiny}")
    with pytest.raises(ConfigError, match=r"embedding\.url"):
        open_haversack(":memory:", config=load_config(private, {}))


def test_an_embedder_whose_packages_are_gone_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "haversack.embed.onnx", raising=False)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r"onnxruntime.*pip install 'haversack\[onnx\]'"):
        open_haversack(":memory:", embedder="onnx")


def test_what_is_no_embedder_and_no_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="embedder must be one of"):
        open_haversack(tmp_path / "s.db", embedder=5)  # pyright: ignore[reportArgumentType]
    for store in (None, b"x", "", "a\0b"):
        with pytest.raises(InputError, match="must be a path"):
            open_haversack(store)  # pyright: ignore[reportArgumentType]


def test_without_its_embedding_service_words_still_find_what_is_kept(tmp_path: Path) -> None:
    text = "embedding: {name: remote, url: 'http://127.0.0.1:9/v1', model: tiny, dimension: 3, timeout: 0.2}"
    with open_haversack(tmp_path / "m.db", config=load_config(written(tmp_path, text), {})) as sack:
        kept = sack.namespace("a").remember("tea at four")
        assert [hit.id for hit in sack.namespace("a").recall("tea")] == [kept.id]
