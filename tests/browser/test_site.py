"""The documentation's site: built strictly, and read in a real browser, on a phone too, without a network."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from reading import AXE, DESK, PATIENCE, PHONE, Reader
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

from evenlight import NOTEBOOK

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
READ = ["index", "docs/audit", "docs/definitions", "docs/results/hatecheck", "docs/site/api/notebook", "docs/glossary"]


def build(python: str, root: Path, folder: Path) -> subprocess.CompletedProcess:
    """As `make docs` does."""
    makefile = (ROOT / "Makefile").read_text()
    options = re.search(r"python -m sphinx (.+)", makefile)[1].replace("docs/_build", str(folder)).split()
    plain = os.environ | {"NO_COLOR": "1"}
    return subprocess.run([python, "-m", "sphinx", *options], cwd=root, env=plain, capture_output=True, text=True)


@pytest.fixture(scope="module")
def site(docs_python, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = build(docs_python, ROOT, folder)
    assert done.returncode == 0, done.stderr
    return folder / "html"


def asked_of_the_network(driver) -> set[str]:
    """The addresses that pages asked for since they were looked at last, without files."""
    asked = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    addresses = {entry["params"]["request"]["url"] for entry in asked if entry["method"] == "Network.requestWillBeSent"}
    return {address for address in addresses if not address.startswith(("file:", "data:", "about:"))}


# What a reader must scroll the whole page for: wider than the screen, and in nothing that scrolls by itself.
TOO_WIDE = """(() => {
  const scrolls = (element) => element && (["auto", "scroll", "hidden"].includes(getComputedStyle(element).overflowX)
    || scrolls(element.parentElement));
  return [...document.querySelectorAll("article *")]
    .filter((element) => element.getBoundingClientRect().right > innerWidth + 1 && !scrolls(element))
    .map((element) => element.outerHTML.slice(0, 200));
})()"""


NOTEBOOK_PAGE = {
    "cells": [
        {"cell_type": "markdown", "id": "a", "metadata": {}, "source": "# A *first* look"},
        {
            "cell_type": "code",
            "id": "b",
            "execution_count": 1,
            "metadata": {},
            "source": "40 + 2",
            "outputs": [
                {"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": {"text/plain": "42"}}
            ],
        },
    ],
    "metadata": {"language_info": {"name": "python"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}


def test_what_is_broken_is_named_and_a_notebook_shown(docs_python, tmp_path):
    shutil.copytree(ROOT / "docs" / "site", tmp_path / "docs" / "site", ignore=shutil.ignore_patterns("api"))
    (tmp_path / "docs" / "glossary.md").write_text("# Glossary\n\nWords.\n")
    (tmp_path / "docs" / "notebooks").mkdir()
    (tmp_path / "docs" / "notebooks" / "first.ipynb").write_text(json.dumps(NOTEBOOK_PAGE))
    (tmp_path / "README.md").write_text(
        "# Start\n\n[gone](docs/gone.md) [part](docs/glossary.md#gone) [here](#gone) $x = \\gone y$\n"
    )
    done = build(docs_python, tmp_path, tmp_path / "built")
    assert done.returncode != 0
    warnings = re.findall(r"^(.*): WARNING: (.*)$", done.stderr, re.MULTILINE)
    assert [place for place, _ in warnings] == [f"{tmp_path}/README.md:3"] * 4
    assert any(r"formula: \gone" in said for _, said in warnings)
    page = (tmp_path / "built" / "html" / "docs" / "notebooks" / "first.html").read_text()
    assert "<title>A first look - Evenlight</title>" in page
    assert re.search(r'<div class="output [^>]*><div class="highlight"><pre>(<span></span>)?42\n', page)
    assert 'href="docs/notebooks/first.html"' in (tmp_path / "built" / "html" / "README.html").read_text()


@pytest.mark.parametrize("page", READ)
def test_everybody_can_read_a_page(driver, site, axe, page):
    reader = Reader(driver, site / f"{page}.html")
    driver.set_script_timeout(PATIENCE)
    for scheme in ("light", "dark"):
        for width in (PHONE, DESK):
            reader.open(width=width, scheme=scheme)
            assert reader.ask(TOO_WIDE) == []
            assert reader.ask("document.documentElement.scrollWidth") <= width
        assert reader.messages() == []
        assert asked_of_the_network(driver) == set()
        driver.execute_script(axe)
        found = driver.execute_async_script(AXE)
        assert [(each["id"], each["nodes"][0]["html"][:300]) for each in found["violations"]] == [], scheme


def test_formulas_are_drawn(driver, site):
    reader = Reader(driver, site / "docs" / "definitions.html").open()
    assert reader.ask("document.querySelectorAll('math').length") > 400
    text = reader.ask(
        "[...document.querySelectorAll('article p, article td')].map((part) => part.textContent).join(' ')"
    )
    assert re.findall(r"\\[a-zA-Z]+|\$", re.sub(r"[A-Z]\w*\$", "", text)) == []
    above = "(([above, below]) => above.getBoundingClientRect().bottom - below.getBoundingClientRect().top)"
    assert reader.ask(f"{above}(document.querySelector('mfrac').children)") <= 1


def test_search_finds_without_a_server(driver, site):
    reader = Reader(driver, site / "search.html").open("?q=aopc")
    links = "[...document.querySelectorAll('ul.search li a')].map((link) => link.href).join(' ')"
    # Results are listed one after another.
    WebDriverWait(driver, PATIENCE).until(lambda _: "docs/definitions.html" in reader.ask(links))
    assert asked_of_the_network(driver) == set()


def test_every_reader_finds_a_way(driver, site):
    reader = Reader(driver, site / "index.html").open()
    captions = reader.ask("[...document.querySelectorAll('.sidebar-tree .caption')].map((each) => each.textContent)")
    ways = ["Audit a classifier", "Run a study", "In a notebook", "Add your own part", "On a cluster", "What was found"]
    assert [caption for caption in captions if caption in ways] == ways
    links = reader.ask("[...document.querySelectorAll('.sidebar-tree a')].map((link) => link.getAttribute('href'))")
    docs = ROOT / "docs"
    pages = {*docs.glob("*.md"), *docs.glob("[!_]*/**/*.md"), *docs.glob("[!_]*/**/*.ipynb")}
    assert {str(page.relative_to(ROOT).with_suffix(".html")) for page in pages} <= set(links)
    reader.open(width=PHONE)
    button = driver.find_element(By.CSS_SELECTOR, "label.mobile-header-icon, .nav-overlay-icon")
    button.click()
    shown = "document.querySelector('.sidebar-tree a').getBoundingClientRect().left >= 0"
    WebDriverWait(driver, PATIENCE).until(lambda _: reader.ask(shown))


def test_terms_lead_to_the_glossary(driver, site):
    glossary = (site / "docs" / "glossary.html").read_text()
    reader = Reader(driver, site / "docs" / "results" / "verdicts.html").open()
    terms = reader.ask(
        "[...document.querySelectorAll('a.term')].map((term) => [term.textContent, term.hash, term.title])"
    )
    assert len(terms) > 1
    assert len({anchor for _, anchor, _ in terms}) == len(terms)
    for _, anchor, meaning in terms:
        assert f'<a id="{anchor[1:]}">' in glossary
        assert meaning.endswith(".")
    assert "verdict" in {name for name, _, _ in terms}


def test_functions_of_a_notebook_are_described(site):
    text = (site / "docs" / "site" / "api" / "notebook.html").read_text()
    for name in NOTEBOOK:
        assert f'id="evenlight.notebook.{name}"' in text
