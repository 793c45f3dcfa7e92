"""No secret of an address is shown, wherever in it and however badly it is written."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

import haversack
from haversack.cli import main
from haversack.errors import InputError
from haversack.net import check_address
from haversack.redact import is_address, without_secrets
from haversack.wiring import rekey, site_of

SECRET = "hunter2"  # noqa: S105 - of nobody
ENCODED = "".join(f"%{ord(letter):02X}" for letter in SECRET)
ADDRESSES = [
    f"postgresql://user:{SECRET}@host/db",
    f"postgresql://user:{SECRET}@host:5432/db?sslmode=require",
    f"postgres://{SECRET}@host/db",
    f"postgresql://host/db?user=u&password={SECRET}",
    f"postgresql://host/db?sslmode=require&sslpassword={SECRET}#x",
    f"postgresql://host/db?password=a@{SECRET}",
    f"postgresql://host/db?password={ENCODED}",
    f"postgresql://user:{ENCODED}@host/db",
    f"postgresql://user:a@{SECRET}@host/db",
    f"postgresql://user:a/{SECRET}@host/db",
    f"postgresql://user:a?{SECRET}@host/db",
    f"postgresql://user:a#{SECRET}@host/db",
    f"postgresql://user:{SECRET}%40host/db",
    f"postgresql://user:{SECRET}/db",
    f"postgresql://host/db;password={SECRET}",
    f"postgresql://host/db%3Fpassword={SECRET}",
    f"postgresql://user:{SECRET}@[::1/db",
    f"postgresql://user:{SECRET}@host:port/db",
    f"postgresql:/user:{SECRET}@host/db",
    f"postgresql:user:{SECRET}@host/db",
    f"postgresql:%2F%2Fuser:{SECRET}@host/db",
    f"://user:{SECRET}@host/db",
    f" postgresql://user:{SECRET}@host/db",
    f"postgresql://user:{SECRET}@host/db\n",
    f"host=db user=u password={SECRET}",
    f"mysql+pymysql://root:{SECRET}@db",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_nothing_of_the_secret_is_left(address: str) -> None:
    shown = without_secrets(address)
    assert SECRET not in shown
    assert ENCODED not in shown
    assert is_address(address)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://user:pw@host:5432/db?sslmode=require", "postgresql://…@host:5432/db?…"),
        ("postgresql://host/db", "postgresql://host/db"),
        ("postgresql://u:p@[2001:db8::1]:5432/db", "postgresql://…@[2001:db8::1]:5432/db"),
        ("https://api.example.com/v1", "https://api.example.com/v1"),
        ("https://api.example.com/v1?key=1#top", "https://api.example.com/v1?…"),
        ("postgresql://user:pw/db", "postgresql:…"),
        ("host=db password=pw", "…"),
        ("notes.db", "notes.db"),
        ("C:\\memory\\notes.db", "C:\\memory\\notes.db"),
        ("a folder/my notes: 2026.db", "a folder/my notes: 2026.db"),
        (":memory:", ":memory:"),
        ("", ""),
    ],
)
def test_what_is_shown(address: str, shown: str) -> None:
    assert without_secrets(address) == shown


@given(st.text(min_size=1).map(lambda text: f"zq{text}qz"), st.sampled_from(["user:{}@host/db", "host/db?password={}"]))
def test_no_password_gets_through_whatever_its_characters(secret: str, form: str) -> None:
    for written in (secret, quote(secret, safe="")):
        shown = without_secrets(f"postgresql://{form.format(written)}")
        assert "zq" not in shown
        assert "qz" not in shown


def open_at(address: str) -> None:
    haversack.open(address, embedder="none")


def open_with_nul(address: str) -> None:
    open_at(f"{address}\0")


def give_key(address: str) -> None:
    rekey(address, new_key="k")


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("act", [open_at, open_with_nul, give_key, check_address])
def test_no_error_repeats_it(
    act: Callable[[str], object], address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as refused:
        act(address)
    assert SECRET not in "".join(traceback.format_exception_only(refused.value))
    assert refused.value.__context__ is None or refused.value.__suppress_context__
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("address", ADDRESSES[:4] + ADDRESSES[-8:])
@pytest.mark.parametrize(
    "words",
    [
        ("doctor",),
        ("doctor", "--json"),
        ("stats", "--json"),
        ("remember", "x", "--json"),
        ("rekey", "--decrypt"),
        ("restore", "--roll-back", "--execute"),
        ("migrate", "--execute"),
        ("snapshot", "--verify", "x.snapshot"),
        ("serve",),
        ("demo",),
    ],
    ids=" ".join,
)
def test_no_command_repeats_it(
    address: str,
    words: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as left, caplog.at_level(logging.DEBUG):
        main([*words, "--store", address])
    printed = capsys.readouterr()
    assert left.value.code not in {0, None}
    assert SECRET not in printed.out + printed.err + caplog.text
    assert list(tmp_path.iterdir()) == []


def test_a_setting_that_holds_one_is_shown_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "h.yaml"
    service = f"{{provider: openai, model: m, base_url: 'https://u:{SECRET}@api.example.com/v1?key={SECRET}'}}"
    file.write_text(f"services: {{far: {service}}}")
    for words in (("config",), ("config", "--json")):
        with pytest.raises(SystemExit):
            main([*words, "--config", str(file)])
        printed = capsys.readouterr().out
        assert "https://…@api.example.com/v1?…" in printed
        assert SECRET not in printed
    file.write_text(f"services: {{far: 'https://u:{SECRET}@api.example.com'}}")
    with pytest.raises(SystemExit):
        main(["config", "--config", str(file)])
    assert SECRET not in capsys.readouterr().err


def test_paths_are_no_addresses_and_have_no_files_of_theirs_hidden(tmp_path: Path) -> None:
    for name in ("plain.db", "C:notes.db", "2026:11.db"):
        assert not is_address(name)
    assert site_of(tmp_path / "plain.db") is not None
