"""The scraper with a real browser, against a server on the loopback interface that plays the sites."""

import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest

from evenlight.corpus import gutenberg, wikipedia
from evenlight.corpus.browser import CrawlPolicy, asking, fetching, polite, remembering
from evenlight.corpus.local_site import Fault, serving
from evenlight.corpus.pages import FetchedPage, Refused, read_index, store_page, stored

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "resources/demo/pages"
QUICK = CrawlPolicy(contact="tests@example.org", wait=0.0, timeout=30.0, backoff=0.1)
FINDING = {"resolvers": ["search", "title"], "candidates": 3, "matched": 0.82, "doubtful": 0.5}
EXTRACTING = {"headings": ["Plot", "Plot summary", "Synopsis", "Story"], "without_plot": "none"}
GLASS = wikipedia.article_url("The Glass Orchard")
MILLER = wikipedia.article_url("The Miller of Stonebeck")


def corpus(fetch, store: Path) -> list[pd.DataFrame]:
    """The tables from the list of books to the paragraphs."""
    books = gutenberg.read_top_list(fetch(gutenberg.URL).html)
    articles, doubtful = wikipedia.find_articles(books, fetch, wikipedia.Finding(**FINDING), {})
    return [books, articles, doubtful, wikipedia.paragraphs_of(books, articles, stored(store), **EXTRACTING)[0]]


@pytest.fixture(scope="module")
def scraped(browser, tmp_path_factory):
    """The demo's sites, read once through the browser: its tables, its store and the server's log."""
    store = tmp_path_factory.mktemp("scraped")
    with serving(DEMO) as site, asking(browser, QUICK, site) as ask:
        tables = corpus(remembering(polite(ask, store, QUICK), store), store)
        return tables, store, list(site.requests)


def test_the_browser_finds_what_the_stored_pages_hold(scraped, tmp_path):
    with fetching(tmp_path, QUICK, "none", DEMO) as fetch:
        for found, expected in zip(scraped[0], corpus(fetch, tmp_path), strict=True):
            pd.testing.assert_frame_equal(found, expected)


def test_no_page_is_asked_twice(scraped):
    urls = [request.url for request in scraped[2]]
    assert len(urls) == len(set(urls))


def test_every_request_says_who_asks(scraped):
    assert {request.user_agent for request in scraped[2]} == {"Evenlight (tests@example.org)"}


def test_a_slow_page_and_a_server_that_recovers(browser, tmp_path):
    faults = {GLASS: Fault(1, delay=6.0), MILLER: Fault(2, status=503, retry_after="1")}
    policy = CrawlPolicy(contact="tests@example.org", wait=0.0, timeout=4.0, attempts=20, backoff=0.1)
    with serving(DEMO, faults) as site, asking(browser, policy, site) as ask:
        fetch = polite(ask, tmp_path, policy)
        assert "<title>The Glass Orchard" in fetch(GLASS).html
        assert "<title>The Miller" in fetch(MILLER).html
    at = {url: [request.time for request in site.requests if request.url == url] for url in (GLASS, MILLER)}
    assert len(at[GLASS]) >= 2
    assert len(at[MILLER]) == 3
    if browser == "chromium":  # which alone tells what the server asks for
        assert all(later - earlier >= 1 for earlier, later in pairwise(at[MILLER]))


def test_robots_are_obeyed_and_pages_are_apart(browser, tmp_path):
    for entry in read_index(DEMO).values():
        store_page(tmp_path / "served", stored(DEMO)(entry.url))
    rules = "User-agent: *\nDisallow: /w/\nCrawl-delay: 0.5\n"
    robots = f"{wikipedia.SITE}/robots.txt"
    store_page(
        tmp_path / "served", FetchedPage(robots, robots, 200, "2025-01-01T00:00:00+00:00", f"<pre>{rules}</pre>")
    )
    search = wikipedia.search_url(wikipedia.Book("The Glass Orchard", "Marian Holt"))
    with serving(tmp_path / "served") as site, asking(browser, QUICK, site) as ask:
        fetch = polite(ask, tmp_path / "store", QUICK)
        with pytest.raises(Refused, match=r"robots\.txt"):
            fetch(search)
        fetch(GLASS)
        fetch(MILLER)
    assert [request.url for request in site.requests] == [robots, GLASS, MILLER]
    assert all(later.time - earlier.time >= 0.5 for earlier, later in pairwise(site.requests))


CHILD = f"""
import sys
from pathlib import Path
from evenlight.corpus import browser, gutenberg, wikipedia
from evenlight.corpus.local_site import Site
name, port, store = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
policy = browser.CrawlPolicy(contact="tests@example.org", wait=0.2)
with browser.asking(name, policy, Site(port)) as ask:
    fetch = browser.remembering(browser.polite(ask, store, policy), store)
    books = gutenberg.read_top_list(fetch(gutenberg.URL).html)
    wikipedia.find_articles(books, fetch, wikipedia.Finding(**{FINDING}), {{}})
"""


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="kills a group of processes, which only POSIX knows")
def test_a_killed_run_goes_on_where_it_stopped(browser, scraped, tmp_path):
    store = tmp_path / "store"
    with serving(DEMO) as site:
        environment = os.environ | {"PYTHONPATH": str(ROOT / "workflow/scripts")}
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, browser, str(site.port), str(store)], env=environment, start_new_session=True
        )
        while len(read_index(store)) < 6 and child.poll() is None:
            time.sleep(0.02)
        os.killpg(child.pid, signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL
        before = set(read_index(store))
        asked_before = len(site.requests)
        assert len(before) >= 6
        with asking(browser, QUICK, site) as ask:
            tables = corpus(remembering(polite(ask, store, QUICK), store), store)
    again = {request.url for request in site.requests[asked_before:]}
    assert {url for url in again & before if not url.endswith("/robots.txt")} == set()
    for found, expected in zip(tables, scraped[0], strict=True):
        pd.testing.assert_frame_equal(found, expected)
