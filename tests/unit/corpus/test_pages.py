"""The page store, robots.txt, and how a site is asked; the browser itself is tested in tests/browser."""

import fcntl
import json
import threading
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from urllib.request import Request, build_opener

import pytest

from evenlight.core.errors import InputError
from evenlight.corpus.browser import Answer, CrawlPolicy, Unreachable, fetching, polite, remembering
from evenlight.corpus.local_site import Fault, serving
from evenlight.corpus.pages import FetchedPage, Refused, normal_address, read_index, read_page, store_page, stored

DEMO = Path(__file__).parents[3] / "resources/demo/pages"
URL = "https://example.org/wiki/Emma"


def page(url: str = URL, html: str = "<p>Zoë</p>", final_url: str = "", status: int = 200) -> FetchedPage:
    return FetchedPage(url, final_url or url, status, "2025-01-01T00:00:00+00:00", html)


# --- The store -----------------------------------------------------------------------------------------------------


def test_a_page_comes_back_as_it_was_kept(tmp_path):
    store_page(tmp_path, page())
    assert stored(tmp_path)(URL) == page()


def test_a_page_is_found_under_its_final_address_unless_that_was_asked_itself(tmp_path):
    redirect = page("https://example.org/a", final_url=URL)
    store_page(tmp_path, redirect)
    assert stored(tmp_path)(URL) == redirect
    store_page(tmp_path, page(html="itself"))
    assert stored(tmp_path)(URL).html == "itself"
    assert stored(tmp_path)("https://example.org/a") == redirect


def test_of_two_lines_for_an_address_the_later_holds(tmp_path):
    store_page(tmp_path, page(html="old"))
    store_page(tmp_path, page(html="new"))
    assert stored(tmp_path)(URL).html == "new"


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_killed_run_loses_only_the_line_it_was_writing(tmp_path, cut):
    store_page(tmp_path, page("https://example.org/1"))
    store_page(tmp_path, page("https://example.org/2"))
    index = tmp_path / "index.jsonl"
    index.write_bytes(index.read_bytes()[:-cut])
    assert list(read_index(tmp_path)) == ["https://example.org/1"]
    store_page(tmp_path, page("https://example.org/3"))
    assert list(read_index(tmp_path)) == ["https://example.org/1", "https://example.org/3"]


def test_jobs_that_keep_pages_at_once_wait_for_each_other(tmp_path):
    """Else the one that has read the index would cut off the line that the other one has written since."""
    store_page(tmp_path, page("https://example.org/1"))
    with (tmp_path / "index.jsonl").open("a") as index:
        fcntl.flock(index, fcntl.LOCK_EX)
        other = threading.Thread(target=store_page, args=(tmp_path, page("https://example.org/2")))
        other.start()
        other.join(0.5)
        assert list(read_index(tmp_path)) == ["https://example.org/1"]
    other.join()
    assert list(read_index(tmp_path)) == ["https://example.org/1", "https://example.org/2"]


def test_a_changed_file_is_refused(tmp_path):
    entry = store_page(tmp_path, page())
    (tmp_path / entry.file).write_bytes(b"")
    with pytest.raises(InputError, match=r"SHA-256|cannot be read"):
        stored(tmp_path)(URL)
    (tmp_path / entry.file).unlink()
    with pytest.raises(InputError, match="fetched again"):
        read_page(tmp_path, entry)


def test_a_line_that_is_no_entry_is_named(tmp_path):
    store_page(tmp_path, page())
    with open(tmp_path / "index.jsonl", "a") as index:
        index.write('{"url": "x"}\n')
    with pytest.raises(InputError, match=r"index\.jsonl, line 2"):
        read_index(tmp_path)


def test_a_missing_page_is_named_with_the_remedy(tmp_path):
    with pytest.raises(InputError, match=r"https://example.org/wiki/Emma: not among .* install Chromium"):
        stored(tmp_path)(URL)


@pytest.mark.parametrize(
    "spelling",
    [
        "https://example.org/wiki/The_Saddler's_Daughter?search=a+b%27c",
        "https://example.org/wiki/The_Saddler%27s_Daughter?search=a%20b'c#Plot",
        "HTTPS://Example.org/wiki/The%5FSaddler's_Daughter?search=a+b'c",
    ],
)
def test_spellings_of_an_address_are_one(spelling):
    once = normal_address(spelling)
    assert once == "https://example.org/wiki/The_Saddler's_Daughter?search=a+b%27c"
    assert normal_address(once) == once


def test_a_question_mark_in_a_title_stays_in_the_path():
    assert normal_address("https://example.org/wiki/Who%3F") == "https://example.org/wiki/Who%3F"


def test_the_demo_pages_are_as_their_index_says():
    entries = [json.loads(line) for line in (DEMO / "index.jsonl").read_text().splitlines()]
    fetch = stored(DEMO)
    for entry in entries:
        assert fetch(entry["url"]).status == entry["status"]
    files = {path.relative_to(DEMO).as_posix() for path in DEMO.rglob("*") if path.is_file()}
    assert files == {entry["file"] for entry in entries} | {"index.jsonl"}


# --- Policy -------------------------------------------------------------------------------------------------------


class Clock:
    """A clock that only sleeping moves."""

    def __init__(self):
        self.now, self.slept = 0.0, []

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept.append(seconds)


def fetcher(tmp_path, answers: dict[str, list], **policy):
    """A polite fetcher of a site that gives each address's ``answers`` in turn, the last one for ever."""
    clock, asked = Clock(), []

    def ask(url: str) -> Answer:
        asked.append(url)
        given = answers.get(url, [Answer(url, 404, "")])
        answer = given.pop(0) if len(given) > 1 else given[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    usual = {"contact": "a@b.c", "wait": 3.0, "backoff": 5.0, "attempts": 4}
    fetch = polite(ask, tmp_path, CrawlPolicy(**(usual | policy)), clock.sleep, lambda: clock.now)
    return fetch, asked, clock


GOOD = Answer(URL, 200, "<p>good</p>")
BUSY = Answer(URL, 503, "")


def test_robots_come_first_once_and_are_kept(tmp_path):
    fetch, asked, _ = fetcher(tmp_path, {URL: [GOOD]})
    assert fetch(URL).html == "<p>good</p>"
    fetch(f"{URL}_2")
    assert asked == ["https://example.org/robots.txt", URL, f"{URL}_2"]
    assert list(read_index(tmp_path)) == ["https://example.org/robots.txt"]


def test_pages_of_a_host_are_apart_and_hosts_do_not_wait_for_each_other(tmp_path):
    fetch, _, clock = fetcher(tmp_path, {})
    fetch(URL)
    fetch("https://other.org/x")
    fetch(f"{URL}_2")
    assert clock.slept == [0, 3, 0, 3, 0]
    assert clock.now == 6


ROBOTS = """\
User-agent: *
Crawl-delay: 2
Disallow: /w/
Disallow: /wiki/Special%3ASearch
"""


def robots_of(text: str) -> dict[str, list[Answer]]:
    """The answer of a site that is asked for its rules, as a browser shows a text."""
    return {"https://example.org/robots.txt": [Answer("", 200, f"<html><body><pre>{text}</pre></body></html>")]}


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/wiki/Emma", True),
        ("/w/index.php?title=Emma", False),
        ("/wiki/Special:Search?search=x", False),
    ],
)
def test_what_robots_forbid_is_not_asked(tmp_path, path, allowed):
    url = f"https://example.org{path}"
    fetch, asked, clock = fetcher(tmp_path, robots_of(ROBOTS), wait=1.0)
    with nullcontext() if allowed else pytest.raises(Refused, match=r"robots\.txt"):
        fetch(url)
    assert asked == ["https://example.org/robots.txt", *[url] * allowed]
    # The delay that the site asks for is longer than our own.
    assert clock.slept == [0, *[2] * allowed]


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("User-agent: evenlight\nDisallow: /wiki/\n\nUser-agent: *\nAllow: /", False),
        ("User-agent: *\nDisallow: /\n\nUser-agent: Evenlight\nDisallow: /w/", True),
    ],
)
def test_rules_are_those_for_this_program(tmp_path, text, allowed):
    fetch, _, _ = fetcher(tmp_path, robots_of(text))
    with nullcontext() if allowed else pytest.raises(Refused, match=URL):
        fetch(URL)


def test_without_an_answer_about_robots_nothing_is_asked(tmp_path):
    fetch, asked, _ = fetcher(tmp_path, {"https://example.org/robots.txt": [BUSY]})
    with pytest.raises(InputError, match=r"robots\.txt:.*4 attempts.*status 503"):
        fetch(URL)
    assert set(asked) == {"https://example.org/robots.txt"}


def test_failures_are_asked_again_after_growing_waits(tmp_path):
    fetch, asked, clock = fetcher(tmp_path, {URL: [BUSY, Unreachable("late"), Answer(URL, 429, ""), GOOD]})
    assert fetch(URL).status == 200
    assert asked.count(URL) == 4
    assert clock.slept == [0, 3, 5, 10, 20]


def test_after_the_last_attempt_the_error_names_page_and_problem(tmp_path):
    fetch, asked, _ = fetcher(tmp_path, {URL: [Unreachable("no answer in time")]}, attempts=2)
    with pytest.raises(InputError, match=rf"{URL}: .*2 attempts.*in time"):
        fetch(URL)
    assert asked.count(URL) == 2


def test_retry_after_is_heeded_in_seconds(tmp_path):
    fetch, _, clock = fetcher(tmp_path, {URL: [Answer(URL, 503, "", "60"), GOOD]})
    fetch(URL)
    assert clock.slept[-1] == 60


def test_retry_after_is_heeded_as_a_date(tmp_path):
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    fetch, _, clock = fetcher(tmp_path, {URL: [Answer(URL, 503, "", date), GOOD]})
    fetch(URL)
    assert 90 < clock.slept[-1] <= 100


def test_a_very_long_retry_after_ends_the_run(tmp_path):
    fetch, asked, _ = fetcher(tmp_path, {URL: [Answer(URL, 429, "", "86400")]})
    with pytest.raises(InputError, match="86400 s"):
        fetch(URL)
    assert asked.count(URL) == 1


@pytest.mark.parametrize("status", [401, 403, 418])
def test_a_refusal_is_no_page(tmp_path, status):
    fetch, asked, _ = fetcher(tmp_path, {URL: [Answer(URL, status, "")]})
    with pytest.raises(InputError, match=f"status {status}"):
        fetch(URL)
    assert asked.count(URL) == 1


def test_what_is_in_the_store_is_not_asked_again(tmp_path):
    fetch, asked, _ = fetcher(tmp_path, {URL: [GOOD]})
    first = remembering(fetch, tmp_path)
    assert first(URL) == first(URL) == remembering(fetch, tmp_path)(URL)
    assert asked.count(URL) == 1


def test_a_failed_page_is_not_kept(tmp_path):
    fetch, _, _ = fetcher(tmp_path, {URL: [BUSY]})
    with pytest.raises(InputError):
        remembering(fetch, tmp_path)(URL)
    assert URL not in read_index(tmp_path)


def test_real_sites_are_not_asked_without_a_contact(tmp_path):
    with fetching(tmp_path, CrawlPolicy()) as fetch, pytest.raises(InputError, match="--contact"):
        fetch(URL)


def test_without_a_browser_the_stored_pages_serve(tmp_path):
    store_page(tmp_path / "served", page())
    with fetching(tmp_path / "store", CrawlPolicy(), "none", tmp_path / "served") as fetch:
        assert fetch(URL) == page()
        with pytest.raises(InputError, match="install Chromium"):
            fetch(f"{URL}_2")
    assert stored(tmp_path / "store")(URL) == page()


# --- The local site ------------------------------------------------------------------------------------------------


def get(url: str):
    """Status, address, headers and text of an answer, errors included."""
    opener = build_opener()
    for handler in opener.handlers:
        handler.http_error_default = lambda request, answer, *rest: answer  # a status is no failure here
    with opener.open(Request(url, headers={"User-Agent": "tester"}), timeout=60) as answer:
        return answer.status, answer.url, dict(answer.headers), answer.read().decode()


def test_the_local_site_plays_the_store(tmp_path):
    store_page(tmp_path, page())
    store_page(tmp_path, page("https://example.org/r", final_url=URL))
    store_page(tmp_path, page("https://example.org/gone", status=404, html="gone"))
    with serving(tmp_path, {URL: Fault(1, status=503, retry_after="7")}) as site:
        status, _, headers, _ = get(site.local(URL))
        assert (status, headers["Retry-After"]) == (503, "7")
        assert get(site.local(URL))[0::3] == (200, "<p>Zoë</p>")
        assert get(site.local("https://example.org/gone"))[0::3] == (404, "gone")
        assert get(site.local("https://example.org/never"))[0] == 404
        status, address, _, text = get(site.local("https://example.org/r"))
        assert (status, site.real(address), text) == (200, URL, "<p>Zoë</p>")
        assert [request.url for request in site.requests].count(URL) == 3
        assert {request.user_agent for request in site.requests} == {"tester"}


def test_an_empty_store_cannot_be_served(tmp_path):
    with pytest.raises(InputError, match=r"index\.jsonl"), serving(tmp_path):
        pass
