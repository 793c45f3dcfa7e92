"""Outgoing addresses: public ones pass, everything that leads inside is refused unless allowed."""

from __future__ import annotations

import ipaddress

import pytest

from haversack.errors import ConfigError
from haversack.net import check_address

NAMES = {
    "api.example.com": ["93.184.215.14"],
    "inside.example.com": ["93.184.215.14", "10.0.0.5"],
    "localhost": ["127.0.0.1"],
    "xn--mnchen-3ya.example": ["2606:4700::1111"],
}


def check(url: str, *, allow_private: bool = False) -> str:
    return check_address(url, allow_private=allow_private, resolve=lambda host: NAMES[host])


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example.com/v1",
        "http://93.184.215.14",
        "https://[2606:4700::1111]:8443/x",
        "https://[::ffff:93.184.215.14]",
        "https://[::ffff:0:93.184.215.14]",
        "https://[64:ff9b::93.184.215.14]",
        "https://[2002:5db8:d70e::]",
        "http://172.32.0.1",
        "http://172.15.0.1",
        "http://100.63.0.1",
        "http://192.0.1.1",
        "http://223.255.255.255",
        "https://xn--mnchen-3ya.example",
    ],
)
def test_public_addresses_pass(url: str):
    assert check(url) == url


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:11434",
        "http://127.0.0.1",
        "http://127.1.2.3",
        "http://10.1.2.3",
        "http://172.16.0.1",
        "http://192.168.1.1",
        "http://169.254.169.254/latest/meta-data",
        "http://100.64.0.1",
        "http://0.0.0.0",
        "http://224.0.0.1",
        "http://[::1]",
        "http://[fe80::1%25eth0]",
        "http://[fd00::1]",
        "http://[::ffff:10.0.0.1]",
        "http://[64:ff9b::a00:1]",
        "http://[2002:a00:1::]",
        "http://[2002:7f00:1::]",
        "http://[::127.0.0.1]",
        "http://[::93.184.215.14]",
        "http://[::ffff:127.0.0.1]",
        "http://[::ffff:0:127.0.0.1]",
        "http://[::ffff:0:10.0.0.1]",
        "http://[64:ff9b::127.0.0.1]",
        "http://[64:ff9b:1::1]",
        "http://[64:ff9b:1::93.184.215.14]",
        "http://[2001:0:7f00:1::]",
        "http://[2001:db8::1]",
        "http://[3fff::1]",
        "http://[5f00::1]",
        "http://[fec0::1]",
        "http://[100::1]",
        "http://[ff02::1]",
        "http://[::]",
        "http://172.31.255.255",
        "http://100.127.255.255",
        "http://192.0.0.8",
        "http://192.0.2.1",
        "http://192.88.99.1",
        "http://198.19.0.1",
        "http://198.51.100.1",
        "http://203.0.113.1",
        "http://240.0.0.1",
        "http://255.255.255.255",
        "https://inside.example.com",
    ],
)
def test_private_addresses_are_refused_unless_allowed(url: str):
    with pytest.raises(ConfigError, match="private address"):
        check(url)
    assert check(url, allow_private=True) == url


@pytest.mark.parametrize("url", ["http://localhost:11434/v1", "http://127.0.0.1:1", "http://[::1]:8080"])
def test_this_machine_is_allowed_where_it_is_written_out(url: str):
    assert check_address(url, allow_this_machine=True) == url


@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.1",
        "http://inside.example.com",
        "http://0.0.0.0",
        "http://[::ffff:127.0.0.1]",
        "http://[::127.0.0.1]",
        "http://[::ffff:0:127.0.0.1]",
        "http://[64:ff9b::127.0.0.1]",
        "http://[2002:7f00:1::]",
        "http://[::]",
    ],
)
def test_other_private_hosts_are_not(url: str):
    with pytest.raises(ConfigError):
        check_address(url, allow_this_machine=True, resolve=lambda host: NAMES[host])


@pytest.mark.parametrize("allow_private", [False, True])
@pytest.mark.parametrize("host", ["%31%32%37.0.0.1", "127.0.0.1%00.example.com", "api%2eexample.com", "a%40b"])
def test_a_host_that_clients_would_decode_is_refused(host: str, *, allow_private: bool):
    with pytest.raises(ConfigError, match="write the host itself"):
        check_address(f"http://{host}:8080/v1", allow_private=allow_private, allow_this_machine=True)


def test_the_answer_does_not_come_from_the_ipaddress_module(monkeypatch: pytest.MonkeyPatch):
    """What it calls loopback, private and global differs between versions of Python."""
    judgements = ("is_loopback", "is_global", "is_private", "is_multicast", "is_link_local", "is_reserved")
    for kind in (ipaddress.IPv4Address, ipaddress.IPv6Address):
        for name in (*judgements, "ipv4_mapped", "sixtofour", "teredo"):
            monkeypatch.delattr(kind, name, raising=False)
    assert check_address("http://[::1]", allow_this_machine=True)
    assert check("https://[2606:4700::1111]")
    with pytest.raises(ConfigError, match="private address"):
        check("http://[::ffff:10.0.0.1]")


def test_a_host_that_cannot_be_found_is_left_to_the_call():
    url = "https://nowhere.example"
    assert check_address(url, resolve=lambda _: []) == url


@pytest.mark.parametrize(
    "url", ["", "api.example.com", "file:///etc/passwd", "gopher://x", "http://", "http://[::1", "http://x:99999"]
)
def test_what_is_no_address_is_refused(url: str):
    with pytest.raises(ConfigError):
        check(url, allow_private=True)


def test_secrets_do_not_stand_in_addresses():
    with pytest.raises(ConfigError, match="logs") as refused:
        check("https://user:hunter2@api.example.com")
    assert "hunter2" not in str(refused.value)
