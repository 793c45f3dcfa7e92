"""Settings: one YAML or TOML file and the environment, read once into frozen values, strictly.

An unknown key is an error that names the nearest known one, wherever it stands; a number given as text is an error;
each value knows where it came from. The environment wins over the file: `HAVERSACK_ENGINE__BUDGET=1500` sets
`engine.budget`, two underscores standing for the dot; values are read as YAML. Other variables that begin like ours may
have been put there by somebody else: they are warned of once, and those of Kubernetes are passed over.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass, field, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args, get_origin, get_type_hints

import msgspec

from haversack.assemble import ToolBudget
from haversack.chat.settings import ChatSettings
from haversack.compaction import CompactionConfig
from haversack.compaction.extraction.settings import ExtractionConfig
from haversack.embed.settings import EmbeddingSettings
from haversack.engine.settings import MemorySettings, Settings
from haversack.errors import ConfigError, InputError, NotFoundError, nearest
from haversack.lazy import lazy
from haversack.llm.settings import ServiceSettings
from haversack.redact import without_secrets
from haversack.server.settings import ServerSettings
from haversack.transfer import ReadLimits

if TYPE_CHECKING:
    import tomllib

    import yaml
else:
    tomllib = lazy("tomllib")
    yaml = lazy("yaml")

__all__ = [
    "Config",
    "EncryptionSettings",
    "Setting",
    "load_config",
    "read_key_file",
    "read_secret",
    "settings_in_force",
]

_Section = TypeVar("_Section")
_PREFIX = "HAVERSACK_"
_NOT_SETTINGS = frozenset({"STORE", "NAMESPACE", "CONFIG", "KEY", "COMPLETE", "PROFILE", "CASES", "DATA"})
"""Variables of the program, its guides and its tests that are no settings of this file."""
_LINK = re.compile(r"_SERVICE_HOST\Z|_SERVICE_PORT(?:_|\Z)|_PORT_\d{1,5}_(?:TCP|UDP|SCTP)(?:_(?:ADDR|PORT|PROTO))?\Z")
"""What Kubernetes puts into every container for a service called haversack, or haversack-something."""
_LOG = logging.getLogger(__name__)
_told: set[str] = set()
"""Unknown variables that were warned of in this process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EncryptionSettings:
    """Where the key of an encrypted store is; the key itself never stands among settings. None: no encryption."""

    key_env: str | None = None
    """The environment variable that holds it."""
    key_file: str | None = None
    """The file that holds it; a line end behind it does not count."""

    def __post_init__(self) -> None:
        if self.key_env is not None and self.key_file is not None:
            raise ConfigError("encryption: give key_env or key_file, not both")

    def read(self) -> bytes | None:
        """The key; None where the store is not encrypted. Raises ConfigError when it cannot be had."""
        if self.key_env is not None:
            return read_secret(self.key_env).encode()
        return None if self.key_file is None else read_key_file(self.key_file)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Everything that can be set, by section."""

    engine: Settings = field(default_factory=Settings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    embedding: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    services: Mapping[str, ServiceSettings] = field(default_factory=dict[str, ServiceSettings])
    """Chat services by the name that `llm_service` gives."""
    imports: ReadLimits = field(default_factory=ReadLimits)
    """What `haversack import` may unpack; uploads to a server have `server.imports`."""
    chat: ChatSettings = field(default_factory=ChatSettings)
    server: ServerSettings = field(default_factory=ServerSettings)
    encryption: EncryptionSettings = field(default_factory=EncryptionSettings)

    def __post_init__(self) -> None:
        if self.memory.prompt_layout is not None:
            self.engine.layout_named(self.memory.prompt_layout)


@cache
def _everything() -> Config:
    """Every section that may be there, for naming what a wrong key may have meant."""
    return Config(
        memory=MemorySettings(compaction=CompactionConfig(), extraction=ExtractionConfig(), tools=ToolBudget())
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting as it is in force; what could be a secret in an address is left out."""

    path: str
    value: object
    origin: str


def load_config(
    path: str | os.PathLike[str] | Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None
) -> Config:
    """The settings of a file, or a mapping like one (none: the defaults), with the environment's on top.

    Raises ConfigError for what is unknown, misplaced or out of range, NotFoundError for a missing file.
    """
    variables = os.environ if environ is None else environ
    tree = _merged(_file(path), _environment(variables))
    _warn_of_unknown(variables, tree)
    return _section(Config, tree, "")


def read_secret(variable: str) -> str:
    """The value of an environment variable that holds a key; raises ConfigError that names it when it is not set."""
    value = os.environ.get(variable, "")
    if not value:
        raise ConfigError(f"the environment variable {variable} is not set: it must hold a key")
    return value


def read_key_file(path: str | os.PathLike[str]) -> bytes:
    """The key in a file; raises ConfigError that names the file when there is none in it."""
    try:
        key = Path(path).read_bytes().rstrip(b"\r\n")
    except OSError as error:
        raise ConfigError(f"the key file {os.fspath(path)} cannot be read: {error.strerror}") from None
    if not key:
        raise ConfigError(f"the key file {os.fspath(path)} is empty")
    return key


def settings_in_force(
    path: str | os.PathLike[str] | None = None, environ: Mapping[str, str] | None = None
) -> list[Setting]:
    """Every setting with its value and where it came from, sorted by path."""
    variables = _environment(os.environ if environ is None else environ)
    file = _file(path)
    config = _section(Config, _merged(file, variables), "")
    places = {**dict.fromkeys(_paths(file), str(path)), **{name: _variable(name) for name in _paths(variables)}}
    return [
        Setting(
            path=name,
            value=_without_secrets(value),
            origin=next((places[key] for key in _upwards(name) if key in places), "default"),
        )
        for name, value in sorted(_leaves(config, ""))
    ]


def _file(path: str | os.PathLike[str] | Mapping[str, Any] | None) -> dict[str, Any]:
    if path is None:
        return {}
    if isinstance(path, Mapping):
        return dict(path)
    if not isinstance(path, str | os.PathLike):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ConfigError(f"config must be a path, or a mapping like a file's content, not {type(path).__name__}")
    place = Path(path)
    try:
        text = place.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise NotFoundError(f"there is no configuration file at {place}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{place} is not UTF-8 text") from None
    try:
        tree = tomllib.loads(text) if place.suffix == ".toml" else yaml.load(text, _unique_keys())
    except (tomllib.TOMLDecodeError, yaml.YAMLError, RecursionError) as error:
        raise ConfigError(f"{place} cannot be read: {error}") from None
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise ConfigError(f"{place} must hold sections of settings, not {type(tree).__name__}")
    return cast("dict[str, Any]", tree)


def _mapping(loader: yaml.SafeLoader, node: yaml.MappingNode) -> dict[str, Any]:
    seen: dict[str, str] = {}
    for key_node, _ in node.value:
        key = str(key_node.value)
        if key.casefold() in seen:
            raise ConfigError(f"the key {key!r} is given twice (also as {seen[key.casefold()]!r})")
        seen[key.casefold()] = key
    loader.flatten_mapping(node)
    return cast("dict[str, Any]", loader.construct_mapping(node, deep=True))


@cache
def _unique_keys() -> type[yaml.SafeLoader]:
    """A safe loader that refuses a key given twice, letter case aside."""

    class UniqueKeys(yaml.SafeLoader):
        pass

    UniqueKeys.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)
    return UniqueKeys


def _environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """The settings in these variables; one without two underscores is none."""
    tree: dict[str, Any] = {}
    for name, text in sorted(_ours(environ).items()):
        *sections, last = name.removeprefix(_PREFIX).lower().split("__")
        if not sections:
            continue
        branch = tree
        for section in sections:
            inner: object = branch.setdefault(section, {})
            if not isinstance(inner, dict):
                raise ConfigError(f"the environment variable {name} sets a part of what another one sets whole")
            branch = cast("dict[str, Any]", inner)
        try:
            branch[last] = yaml.safe_load(text)
        except yaml.YAMLError:
            raise ConfigError(f"the environment variable {name} holds no value as YAML writes it: quote it") from None
    return tree


def _ours(environ: Mapping[str, str]) -> dict[str, str]:
    """Variables that begin like ours, without those that mean something else."""
    return {
        name: text
        for name, text in environ.items()
        if name.startswith(_PREFIX) and name.removeprefix(_PREFIX) not in _NOT_SETTINGS and not _is_link(name, text)
    }


def _is_link(name: str, text: str) -> bool:
    return _LINK.search(name) is not None or (name.endswith("_PORT") and "://" in text)


def _warn_of_unknown(environ: Mapping[str, str], tree: Mapping[str, Any]) -> None:
    """Tell once of each variable that begins like ours and has no effect, unless a setting names it."""
    known = [_PREFIX + word for word in _NOT_SETTINGS] + [_variable(path) for path, _ in _leaves(_everything(), "")]
    for name in sorted(each for each in _ours(environ) if "__" not in each.removeprefix(_PREFIX)):
        if name not in _told and name not in _strings(tree):
            _told.add(name)
            _LOG.warning("the environment variable %s is not known: %s", name, nearest_variable(name, known))


def _strings(tree: object) -> set[str]:
    if isinstance(tree, Mapping):
        return {text for part in cast("Mapping[str, object]", tree).values() for text in _strings(part)}
    if isinstance(tree, list):
        return {text for part in cast("list[object]", tree) for text in _strings(part)}
    return {tree} if isinstance(tree, str) else set()


def nearest_variable(name: str, known: list[str]) -> str:
    """The closest known variable, compared without regard to case."""
    by_fold = {word.casefold(): word for word in known}
    phrase = nearest(name, by_fold)
    return next((phrase.replace(fold, word) for fold, word in by_fold.items() if repr(fold) in phrase), phrase)


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        merged[key] = _merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value  # pyright: ignore[reportUnknownArgumentType]
    return merged


def _section(kind: type[_Section], tree: object, path: str) -> _Section:
    where = path or "the configuration"
    if not isinstance(tree, Mapping):
        raise ConfigError(f"{where} must be a section of settings, not {_shown(tree)}")
    known = {item.name: item for item in fields(cast("Any", kind))}
    hints = get_type_hints(kind)
    values: dict[str, Any] = {}
    unknown: list[str] = []
    for key, value in cast("Mapping[object, object]", tree).items():
        name = str(key)
        if name not in known:
            unknown.append(_unknown(name, known, path))
            continue
        values[name] = _value(hints[name], value, f"{path}.{name}".lstrip("."))
    if unknown:
        raise ConfigError("; ".join(unknown))
    try:
        return kind(**values)
    except (InputError, TypeError) as error:
        if str(error).startswith(where):
            raise
        raise ConfigError(f"{where}: {error}") from None


def _unknown(name: str, known: Mapping[str, Field[Any]], path: str) -> str:
    elsewhere = [
        upper for full, _ in _leaves(_everything(), "") for upper in _upwards(full) if upper.endswith(f".{name}")
    ]
    full = f"{path}.{name}".lstrip(".")
    hint = f"it belongs at {elsewhere[0]}" if elsewhere else nearest(name, known)
    return f"unknown setting {full}: {hint}"


def _value(hint: Any, value: object, path: str) -> object:
    section = next((each for each in (hint, *get_args(hint)) if is_dataclass(each)), None)
    if section is not None and get_origin(hint) is Mapping:
        return _named_sections(cast("type[Any]", section), value, path)
    if section is not None:
        return _section(cast("type[Any]", section), value, path)
    try:
        return msgspec.convert(value, hint, strict=True)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{path}={_shown(value)}: {error}") from None


def _named_sections(kind: type[Any], value: object, path: str) -> dict[str, object]:
    if not isinstance(value, Mapping):
        raise ConfigError(f"{path} must be a section of named entries, not {_shown(value)}")
    entries = cast("Mapping[object, object]", value)
    return {str(name): _section(kind, entry, f"{path}.{name}") for name, entry in entries.items()}


def _without_secrets(value: object) -> object:
    return without_secrets(value) if isinstance(value, str) else value


def _shown(value: object) -> str:
    return repr(_without_secrets(value))


def _leaves(value: object, path: str) -> Iterator[tuple[str, object]]:
    if is_dataclass(value):
        parts = [(item.name, getattr(value, item.name)) for item in fields(value)]
    elif isinstance(value, Mapping) and value:
        parts = list(cast("Mapping[str, object]", value).items())
    else:
        yield path, value
        return
    for name, part in parts:
        yield from _leaves(part, f"{path}.{name}".lstrip("."))


def _paths(tree: Mapping[str, Any], path: str = "") -> Iterator[str]:
    for key, value in tree.items():
        name = f"{path}.{key}".lstrip(".")
        if isinstance(value, Mapping) and value:
            yield from _paths(cast("Mapping[str, Any]", value), name)
        else:
            yield name


def _upwards(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition(".")[0]


def _variable(path: str) -> str:
    return _PREFIX + path.upper().replace(".", "__")
