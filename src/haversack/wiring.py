"""Where parts meet: the only place that names adapters and that reads the clock for the engine."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from haversack.clock import utc_now
from haversack.config import Config, load_config, read_secret
from haversack.embed.settings import EMBEDDERS, EmbeddingSettings
from haversack.engine.calibrating import Calibrations
from haversack.engine.core import Core
from haversack.engine.haversack import Haversack
from haversack.engine.settings import Reembed
from haversack.errors import ConfigError, InputError, MissingExtraError, nearest
from haversack.lazy import lazy
from haversack.recall.recall import Recall
from haversack.redact import is_address, without_secrets

if TYPE_CHECKING:
    from haversack import net, tokens
    from haversack.embed.embedder import Embedder
    from haversack.llm.port import ChatService
    from haversack.maintenance import archive, files
    from haversack.store.port import Store
    from haversack.store.site import Site
    from haversack.store.sqlite.cipher import Cipher
    from haversack.tokens.counter import Counter
else:
    archive = lazy("haversack.maintenance.archive")
    files = lazy("haversack.maintenance.files")
    net = lazy("haversack.net")
    tokens = lazy("haversack.tokens")

__all__ = ["open_haversack", "open_service", "rekey", "site_of"]


def open_haversack(
    store: str | os.PathLike[str],
    *,
    embedder: str | Embedder | None = None,
    config: str | os.PathLike[str] | Mapping[str, Any] | Config | None = None,
    read_only: bool = False,
    key: str | bytes | Callable[[], str | bytes] | None = None,
) -> Haversack:
    """Open a store, creating it if it is new: a path (one SQLite file), or `:memory:` for one that is gone at close.

    `embedder` is `default` (ships with the package), `none` (words only), `onnx` (an extra) or an object of your own;
    without one the settings choose (`embedding`), and they may name a remote service. `config` is a file of settings,
    a mapping like one, or settings already read; without one, the defaults and the environment serve. With a `key`, or
    a function that gives it, the file is encrypted (an extra); the settings may say where a key is (`encryption`).
    """
    store = _place(store)
    if not isinstance(read_only, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"read_only={read_only!r} must be True or False")
    settings = config if isinstance(config, Config) else load_config(config)
    cipher = _cipher(settings, key)
    port, site = _store(store, read_only=read_only, cipher=cipher), _site(store, cipher)
    vectors = _embedder(settings.embedding if embedder is None else embedder)
    calibrations = Calibrations(port, _counter)
    return Haversack(
        Core(
            store=port,
            has_files=None if site is None else lambda: files.Files(site, port),
            recall=Recall(port, vectors),
            embedder=vectors,
            settings=replace(settings.engine, reembed=Reembed.ASKED) if read_only else settings.engine,
            memory=settings.memory,
            service=partial(open_service, settings),
            clock=utc_now,
            entropy=os.urandom,
            counter=calibrations.counter,
            calibrations=calibrations,
        )
    )


def open_service(settings: Config, name: str) -> ChatService:
    """The configured chat service of this name."""
    chosen = settings.services.get(name)
    if chosen is None:
        known = nearest(name, settings.services) if settings.services else "none is configured under `services`"
        raise ConfigError(f"no chat service is called {name!r}: {known}")
    if chosen.base_url is not None:
        where = f"services.{name}.base_url"
        net.check_address(chosen.base_url, what=where, allow_private=chosen.allow_private, allow_this_machine=True)
    key = "none" if chosen.api_key_env is None else read_secret(chosen.api_key_env)
    if chosen.provider == "anthropic":
        from haversack.llm.anthropic import AnthropicService

        return AnthropicService(model=chosen.model, base_url=chosen.base_url, api_key=key)
    from haversack.llm.openai import OpenAIService

    return OpenAIService(model=chosen.model, base_url=chosen.base_url, api_key=key)


def site_of(
    store: str | os.PathLike[str], *, config: str | os.PathLike[str] | Mapping[str, Any] | Config | None = None
) -> Site | None:
    """The files of the store of this name, open or not; None where it has none."""
    settings = config if isinstance(config, Config) else load_config(config)
    return _site(_place(store), _cipher(settings, None))


def rekey(
    store: str | os.PathLike[str],
    *,
    new_key: str | bytes | Callable[[], str | bytes] | None,
    config: str | os.PathLike[str] | Mapping[str, Any] | Config | None = None,
    key: str | bytes | Callable[[], str | bytes] | None = None,
) -> dict[str, int]:
    """Encrypt a closed store under a new key, or with None not at all; rows by table, the same before and after.

    Raises BusyError while anybody has it open. Snapshots keep the key that they were taken under.
    """
    from haversack.store.sqlite.site import SqliteSite

    settings, path = config if isinstance(config, Config) else load_config(config), Path(_place(store))
    _refuse_address(str(store))
    old = _cipher(settings, key)
    new = None if new_key is None else _cipher(settings, new_key)
    if old is None and new is None:
        raise InputError(f"{path} is not encrypted: there is nothing to take away")
    from haversack.store.sqlite.rekey import rekey as write_anew

    rows = write_anew(path, old, new)
    with closing(SqliteSite(path, new).open(path)) as renewed:
        archive.note_exchange(renewed, utc_now())  # snapshots under another key are not compared with it
    return rows


def _counter(model: str) -> Counter:
    return tokens.counter_for(model)


def _site(place: str, cipher: Cipher | None) -> Site | None:
    if place == ":memory:" or is_address(place):
        return None
    from haversack.store.sqlite.site import SqliteSite

    return SqliteSite(Path(place), cipher)


def _cipher(settings: Config, key: str | bytes | Callable[[], str | bytes] | None) -> Cipher | None:
    """What opens the store's file: the caller's key, or else the one that the settings point at."""
    chosen = key if key is not None else settings.encryption.read()
    if chosen is None:
        return None
    if not (isinstance(chosen, str | bytes) or callable(chosen)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"key must be a text, bytes or a function that gives one, not {type(chosen).__name__}")
    try:
        from haversack.store.sqlite.cipher import Cipher
    except ImportError:
        raise MissingExtraError("an encrypted store needs SQLCipher: pip install 'haversack[encrypt]'") from None
    return Cipher(chosen)


def _place(store: str | os.PathLike[str]) -> str:
    place = os.fspath(store) if isinstance(store, str | os.PathLike) else None  # pyright: ignore[reportUnnecessaryIsInstance]
    if not isinstance(place, str) or not place or "\0" in place:
        shown = without_secrets(place) if isinstance(place, str) else store
        raise InputError(f"store={shown!r} must be a path or :memory:")
    return place


def _store(place: str, *, read_only: bool, cipher: Cipher | None) -> Store:
    if place == ":memory:":
        from haversack.store.memory import MemoryStore

        return MemoryStore()
    _refuse_address(place)
    from haversack.store.sqlite.store import SqliteStore

    return SqliteStore(Path(place), read_only=read_only, cipher=cipher)


def _refuse_address(place: str) -> None:
    if is_address(place):
        raise InputError(f"{without_secrets(place)!r}: only a path or :memory: can be opened here")


def _embedder(choice: str | EmbeddingSettings | Embedder) -> Embedder | None:
    match choice:
        case EmbeddingSettings(name="remote", url=str() as url, model=str() as model):
            from haversack.embed.remote import RemoteEmbedder
            from haversack.outgoing import Way

            net.check_address(url, what="embedding.url", allow_private=choice.allow_private, allow_this_machine=True)
            key = None if choice.api_key_env is None else read_secret(choice.api_key_env)
            way = Way(allow_private=choice.allow_private, allow_this_machine=True)
            return RemoteEmbedder(url, model, key=key, dimension=choice.dimension, timeout=choice.timeout, way=way)
        case EmbeddingSettings():
            return _embedder(choice.name)
        case "default":
            from haversack.embed.static import StaticEmbedder

            return StaticEmbedder()
        case "none":
            return None
        case "onnx":
            try:
                from haversack.embed.onnx import OnnxEmbedder
            except ImportError as error:
                raise MissingExtraError(
                    f"the embedder `onnx` needs more packages ({error.name}): pip install 'haversack[onnx]'"
                ) from None
            return OnnxEmbedder()
        case str():
            raise InputError(f"unknown embedder {choice!r}: {nearest(choice, EMBEDDERS)}")
        case _ if callable(getattr(choice, "embed", None)):
            from haversack.embed.own import OwnEmbedder

            shipped = type(choice).__module__.startswith("haversack.embed.")
            return choice if shipped else OwnEmbedder(choice)
        case _:
            raise InputError(
                f"embedder must be one of {', '.join(EMBEDDERS)}, or an object with `embed`, not {choice!r}"
            )
