"""The inspector as a person uses it, in real headless Chromium: `make test-browser` installs it and runs this.

Without Chromium and its driver these are skipped; without axe-core (fetched by the same target) its checks are.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

import haversack
from haversack.model.memory import Stage

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
AXE = Path(__file__).parents[3] / ".venv" / "axe" / "package" / "axe.min.js"
NOW = "2026-04-01T12:00:00+00:00"
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--window-size=1200,1000",
)

pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="no Chromium here: make test-browser installs it")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, filled: Callable[..., None]) -> Path:
    path = tmp_path_factory.mktemp("browser") / "memory.db"
    with haversack.open(path) as sack:
        filled(sack)
    return path


@pytest.fixture(scope="module")
def address(store: Path) -> Iterator[str]:
    """The address that the program prints."""
    program = [sys.executable, "-c", "from haversack.cli import main; main()"]
    running = subprocess.Popen(
        [*program, "inspect", "--store", str(store), "--namespace", "harbour"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    assert running.stderr is not None
    yield running.stdout.readline().removeprefix("open ").strip()
    running.terminate()
    running.communicate(timeout=20)


@pytest.fixture(scope="module")
def driver(address: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in [*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    opened = webdriver.Chrome(options=options, service=Service(str(DRIVER)))
    opened.get(address)
    yield opened
    opened.quit()


@pytest.fixture
def page(driver: Any, address: str) -> Iterator[Any]:
    """The browser, come in; whatever a test did, the console must have stayed silent."""
    driver.base = address.partition("/enter")[0]
    driver.get_log("browser")
    yield driver
    assert [entry["message"] for entry in driver.get_log("browser")] == []


def go(page: Any, path: str) -> None:
    page.get(f"{page.base}{path}")


def wait(page: Any, condition: Callable[[Any], Any]) -> Any:
    return WebDriverWait(page, 20, 0.05, [NoSuchElementException, StaleElementReferenceException]).until(condition)


def press(page: Any, *keys: str) -> None:
    ActionChains(page).send_keys(*keys).perform()


def focused(page: Any) -> Any:
    return page.switch_to.active_element


def tab_to(page: Any, wanted: Callable[[Any], bool], most: int = 60) -> Any:
    """Press Tab until the focus is where it is wanted."""
    for _ in range(most):
        press(page, Keys.TAB)
        if wanted(focused(page)):
            return focused(page)
    raise AssertionError("the keyboard does not reach it")


def answer(page: Any) -> Any:
    return page.find_element(By.CSS_SELECTOR, "section.answer")


def carried(page: Any) -> set[str]:
    rows = page.find_elements(By.CSS_SELECTOR, "section.answer li[data-in=yes]")
    return {row.get_attribute("data-id") for row in rows}


def test_the_slider_shows_what_the_library_returns(page: Any, store: Path) -> None:
    go(page, f"/prompt?namespace=harbour&q=hull+paint&budget=100&now={quote(NOW)}")
    slide = page.find_element(By.ID, "slide")
    for keys, budget in (
        ((Keys.ARROW_RIGHT,) * 5, 150),
        ((Keys.ARROW_LEFT,) * 11, 40),
        ((Keys.END,), 4000),
        ((Keys.HOME,), 0),
    ):
        slide.send_keys(*keys)
        wait(page, lambda _, size=budget: answer(page).get_attribute("data-budget") == str(size))
        with haversack.open(store) as sack:
            expected = sack.namespace("harbour").context("hull paint", budget=budget, now=NOW)
        assert answer(page).get_attribute("data-tokens") == str(expected.tokens)
        assert carried(page) == set(expected.items)
        told = page.find_element(By.ID, "moved").text
        assert told.startswith(f"{expected.tokens} of {budget} tokens.")
    assert "Left: " in told
    assert page.current_url.endswith(f"budget=0&now={quote(NOW)}")


def test_the_button_copies_the_exact_text(page: Any, store: Path) -> None:
    page.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
    go(page, f"/prompt?namespace=harbour&q=hull+paint&budget=150&now={quote(NOW)}")
    button = page.find_element(By.CSS_SELECTOR, "button.copy")
    button.click()
    wait(page, lambda _: button.text == "Copied")
    copied = page.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
    with haversack.open(store) as sack:
        assert copied == sack.namespace("harbour").context("hull paint", budget=150, now=NOW).text


def test_by_keyboard_alone(page: Any, store: Path) -> None:
    go(page, "/prompt")
    press(page, Keys.TAB)
    assert focused(page).text == "Skip to the content"
    press(page, Keys.ENTER)
    tab_to(page, lambda at: at.get_attribute("name") == "q")
    press(page, "When is the launch?", Keys.ENTER)
    wait(page, lambda _: page.find_elements(By.CSS_SELECTOR, "section.answer"))
    assert "Entered: " in page.find_element(By.ID, "moved").text
    score = tab_to(page, lambda at: "score" in (at.get_attribute("class") or ""))
    tip = page.find_element(By.ID, score.get_attribute("aria-describedby"))
    assert tip.is_displayed()
    assert "Relevance" in tip.text
    press(page, Keys.ESCAPE)
    assert not tip.is_displayed()
    go(page, "/prompt")
    tab_to(page, lambda at: at.text == "Memories")
    press(page, Keys.ENTER)
    wait(page, lambda _: page.title.startswith("Memories"))
    tab_to(page, lambda at: at.get_attribute("name") == "q")
    press(page, "launch", Keys.ENTER)
    wait(page, lambda _: "Best answers first" in page.page_source)
    first = tab_to(page, lambda at: "The launch is on 26 September" in at.text)
    memory_id = first.get_attribute("href").partition("id=")[2]
    press(page, Keys.ENTER)
    wait(page, lambda _: page.title.startswith("Memory"))
    tab_to(page, lambda at: at.text == "Pin")
    press(page, Keys.ENTER)
    wait(page, lambda _: "Pinned." in page.page_source)
    tab_to(page, lambda at: at.text == "Forget…")
    press(page, Keys.ENTER)
    wait(page, lambda _: page.title.startswith("Forget"))
    assert "would forget softly" in page.find_element(By.TAG_NAME, "main").text
    tab_to(page, lambda at: at.tag_name == "button" and at.text == "Forget")
    press(page, Keys.SPACE)
    wait(page, lambda _: "Forgotten softly" in page.page_source)
    with haversack.open(store) as sack:
        found = sack.namespace("harbour").get(memory_id)
    assert (found.pinned, found.stage) == (True, Stage.DELETED)
    tab_to(page, lambda at: at.text == "Restore")
    press(page, Keys.ENTER)
    wait(page, lambda _: "Restored." in page.page_source)
    tab_to(page, lambda at: at.text == "Unpin")
    press(page, Keys.ENTER)
    wait(page, lambda _: "Not pinned any more." in page.page_source)


def test_correcting_by_mouse(page: Any, store: Path) -> None:
    go(page, "/memories?namespace=harbour&q=metric")
    page.find_element(By.PARTIAL_LINK_TEXT, "Mira prefers metric").click()
    page.find_element(By.XPATH, "//summary[.='Correct it']").click()
    field = page.find_element(By.NAME, "content")
    field.clear()
    field.send_keys("Mira prefers metric units and short answers")
    page.find_element(By.CSS_SELECTOR, "button[value=correct]").click()
    wait(page, lambda _: "Corrected" in page.page_source)
    memory_id = page.current_url.partition("id=")[2].partition("&")[0]
    with haversack.open(store) as sack:
        ns = sack.namespace("harbour")
        assert ns.get(memory_id).content == "Mira prefers metric units and short answers"
        assert ns.earlier(memory_id)[0].fields["content"] == "Mira prefers metric units"


def test_compacted_spans_open(page: Any) -> None:
    go(page, "/session?namespace=harbour&id=plain")
    first = page.find_element(By.ID, "turn-0")
    assert not first.is_displayed()
    page.find_element(By.CSS_SELECTOR, ".fold summary").click()
    assert first.is_displayed()
    assert "plank 0" in first.text


def paths(store: Path, hostile: str) -> list[str]:
    with haversack.open(store) as sack:
        ns = sack.namespace("harbour")
        bad = next(memory for memory in ns.everything() if memory.content == hostile)
    session = quote(f"talk {hostile[:20]}")
    return [
        f"/prompt?namespace=harbour&q={quote(hostile)}&budget=300",
        f"/prompt?namespace=harbour&q=hull&session={session}&window=3000&budget=60&other_budget=300",
        "/memories?namespace=harbour",
        f"/memories?namespace=harbour&q={quote(hostile)}",
        f"/memory?namespace=harbour&id={bad.id}&q=hull",
        "/sessions?namespace=harbour",
        f"/session?namespace=harbour&id={session}",
        "/session?namespace=harbour&id=plain",
        "/health?namespace=harbour&look=count",
    ]


def test_hostile_words_are_inert_and_nothing_leaves_this_machine(page: Any, store: Path, hostile: str) -> None:
    for path in paths(store, hostile):
        go(page, path)
        assert page.execute_script("return window.hacked === undefined"), path
        loaded = page.execute_script("return performance.getEntriesByType('resource').map(each => each.name)")
        outside = [name for name in loaded if not name.startswith(page.base)]
        assert outside == [], path


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 360])
def test_everybody_can_read_it(page: Any, store: Path, hostile: str, scheme: str, width: int) -> None:
    if not AXE.exists():
        pytest.skip("no axe-core here: make test-browser fetches it")
    page.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        for path in paths(store, hostile):
            go(page, path)
            assert page.execute_script("return document.documentElement.scrollWidth <= window.innerWidth"), path
            page.execute_script("document.querySelectorAll('details').forEach(each => each.open = true)")
            page.execute_cdp_cmd("Runtime.evaluate", {"expression": AXE.read_text(encoding="utf-8")})
            found = page.execute_async_script("const done = arguments[0]; axe.run().then(r => done(r.violations))")
            serious = [
                (rule["id"], node["html"][:200], node["failureSummary"])
                for rule in found
                if rule["impact"] in {"serious", "critical"}
                for node in rule["nodes"]
            ]
            assert serious == [], path
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
