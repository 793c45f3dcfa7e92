"""Who comes in, how far, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import haversack
from haversack.clock import utc_now
from haversack.engine.haversack import Haversack
from haversack.inspector.entrance import Entrance, Way


@pytest.fixture
def fresh(browser: Any, sack: Haversack) -> Any:
    """Somebody who did not come in."""
    return type(browser)(Entrance(sack=sack, way=Way.TOKEN, clock=utc_now))


PAGES = [
    "/",
    "/prompt",
    "/prompt.txt",
    "/prompt.svg",
    "/memories",
    "/memories.svg",
    "/memory",
    "/memory.svg",
    "/sessions",
    "/session",
    "/session.svg",
    "/health",
    "/health.svg",
]
FORMS = ["/memory/change", "/memory/forget", "/leave"]


@pytest.mark.parametrize("path", PAGES)
def test_no_page_without_coming_in(fresh: Any, path: str) -> None:
    answered = fresh.get(f"{path}?namespace=harbour&q=hull")
    assert answered.status_code == 303
    assert answered.headers["location"] == "/inspector/enter"
    assert "hull" not in answered.text


@pytest.mark.parametrize("path", FORMS)
def test_no_form_without_coming_in(fresh: Any, path: str) -> None:
    assert fresh.post(path, {"namespace": "harbour"}).status_code == 403


def test_every_route_is_tried_here(browser: Any) -> None:
    tried = {f"/inspector{path}" for path in [*PAGES, *FORMS]} | {"/inspector", "/inspector/enter", "/inspector/static"}
    assert {route.path for route in browser.pages.routes} == tried


def test_the_token_opens_once(fresh: Any) -> None:
    token = fresh.entrance.token
    first = fresh.get(f"/enter?token={token}")
    assert first.status_code == 303
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Path=/inspector" in cookie
    fresh.cookies.clear()
    assert fresh.get(f"/enter?token={token}").status_code == 401
    assert fresh.get("/enter?token=").status_code == 401
    assert fresh.get("/prompt").status_code == 303


def test_other_hosts_are_refused_where_no_key_is_asked(browser: Any) -> None:
    browser.host = "attacker.example"
    assert browser.get("/prompt").status_code == 421


@pytest.mark.parametrize(
    "headers",
    [{"origin": "http://attacker.example"}, {"sec-fetch-site": "cross-site"}, {"origin": "null"}],
)
def test_forms_of_other_sites_are_refused(browser: Any, headers: dict[str, str]) -> None:
    browser.get("/prompt")
    assert browser.post("/memory/change", {"namespace": "harbour", "do": "pin"}, headers=headers).status_code == 403


def test_a_form_without_the_proof_is_refused(browser: Any, sack: Haversack) -> None:
    memory = sack.namespace("harbour").everything()[0]
    fields = {"namespace": "harbour", "id": memory.id, "do": "pin", "proof": "guess"}
    assert browser.post("/memory/change", fields).status_code == 403
    assert not sack.namespace("harbour").get(memory.id).pinned


def test_a_form_that_is_too_large_is_refused(browser: Any) -> None:
    browser.get("/prompt")
    assert browser.post("/memory/change", {"content": "x" * (1 << 20)}).status_code == 413


def test_other_methods_are_refused(browser: Any) -> None:
    assert browser.ask("DELETE", "/memory").status_code == 405


def test_leaving_ends_the_stay(browser: Any) -> None:
    browser.get("/prompt")
    kept = dict(browser.cookies)
    assert browser.post("/leave", {}).status_code == 303
    browser.cookies.update(kept)
    assert browser.get("/prompt").status_code == 303


def test_a_wrong_key_opens_nothing(visit: Callable[..., Any]) -> None:
    visitor = visit()
    visitor.cookies.clear()
    assert visitor.post("/enter", {"key": "hvs_nobody_nothing"}).status_code == 401
    assert visitor.get("/prompt").status_code == 303


def test_a_key_reaches_its_namespaces_alone(visit: Callable[..., Any]) -> None:
    visitor = visit("read", ["harbour"])
    assert visitor.get("/memories?namespace=harbour").status_code == 200
    for path in ("/prompt?q=secret", "/memories?q=secret", "/sessions?x=", "/health?x=", "/memory?id=x"):
        refused = visitor.get(f"{path}&namespace=other")
        assert refused.status_code == 403
        assert "stranger" not in refused.text
    page = visitor.get("/memories").text
    assert 'value="other"' not in page


def test_a_reader_changes_nothing(visit: Callable[..., Any], sack: Haversack) -> None:
    memory = sack.namespace("harbour").everything()[0]
    visitor = visit("read", ["harbour"])
    page = visitor.get(f"/memory?namespace=harbour&id={memory.id}").text
    assert "Forget" not in page
    for path, fields in (("/memory/change", {"do": "pin"}), ("/memory/forget", {"confirm": "yes"})):
        assert visitor.post(path, {"namespace": "harbour", "id": memory.id, **fields}).status_code == 403
    assert sack.namespace("harbour").get(memory.id) == memory


def test_a_revoked_key_closes_its_pages(visit: Callable[..., Any], sack: Haversack) -> None:
    visitor = visit()
    assert visitor.get("/prompt").status_code == 200
    for key in sack.keys.all():
        sack.keys.revoke(key.id)
    assert visitor.get("/prompt").status_code == 303


def test_only_who_sees_all_hears_of_the_store(visit: Callable[..., Any]) -> None:
    look = "/health?namespace=harbour&look=count"
    assert "Snapshots" in visit().get(look).text
    assert "Snapshots" not in visit("admin", ["harbour"]).get(look).text


def test_an_open_inspector_lets_this_machine_in(browser: Any, sack: Haversack) -> None:
    anybody = type(browser)(Entrance(sack=sack, way=Way.OPEN, clock=utc_now))
    answered = anybody.get("/memories?namespace=harbour")
    assert answered.headers["location"] == "/inspector/memories?namespace=harbour"
    assert anybody.get("/memories?namespace=harbour").status_code == 200
    anybody.host = "rebound.example"
    assert anybody.get("/memories").status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"x-forwarded-for": "192.0.2.1"},
        {"forwarded": "for=192.0.2.1"},
        {"via": "1.1 proxy"},
        {"sec-fetch-site": "cross-site"},
        {"origin": "http://localhost:5173"},
    ],
)
def test_an_open_inspector_answers_to_nobody_from_elsewhere(
    browser: Any, sack: Haversack, headers: dict[str, str]
) -> None:
    anybody = type(browser)(Entrance(sack=sack, way=Way.OPEN, clock=utc_now))
    for path in PAGES:
        assert anybody.get(path, headers=headers).status_code == 403


def test_an_open_inspector_closes_when_the_first_key_is_made(browser: Any, sack: Haversack) -> None:
    anybody = type(browser)(Entrance(sack=sack, way=Way.OPEN, clock=utc_now))
    anybody.get("/memories")
    assert anybody.get("/memories?namespace=harbour").status_code == 200
    issued = sack.keys.create("first", scope="admin")
    for path in PAGES:
        assert anybody.get(path).headers["location"] == "/inspector/enter"
    assert anybody.post("/enter", {"key": issued.secret}).status_code == 303
    assert anybody.get("/memories?namespace=harbour").status_code == 200
    sack.keys.revoke(issued.key.id)
    assert anybody.get("/memories?namespace=harbour").headers["location"] == "/inspector/enter"


def test_a_stay_ends_however_busy_it_is(browser: Any, sack: Haversack) -> None:
    moment = [utc_now()]
    entrance = Entrance(sack=sack, way=Way.TOKEN, clock=lambda: moment[0])
    visitor = type(browser)(entrance).enter()
    for _ in range(4):
        moment[0] += timedelta(hours=6)
        assert visitor.get("/prompt").status_code == 200
    moment[0] += timedelta(seconds=1)
    assert visitor.get("/prompt").status_code == 303


def test_a_stay_counts_for_every_process_and_a_farewell_too(
    visit: Callable[..., Any], sack: Haversack, tmp_path: Path
) -> None:
    one = visit("admin")
    other = type(one)(Entrance(sack=sack, way=Way.KEY, clock=utc_now), host=one.host)
    with haversack.open(tmp_path / "memory.db", embedder="none") as beside:
        third = type(one)(Entrance(sack=beside, way=Way.KEY, clock=utc_now), host=one.host)
        for browser in (other, third):
            browser.cookies = one.cookies
            assert browser.get("/memories?namespace=harbour").status_code == 200
        assert third.post("/leave", {}).status_code == 303
        assert [browser.get("/memories").status_code for browser in (one, other)] == [303, 303]
