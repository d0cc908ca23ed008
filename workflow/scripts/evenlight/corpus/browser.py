"""Pages through a real browser, politely: it says who asks, obeys robots.txt, waits, and asks for no page twice."""

import argparse
import functools
import json
import math
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from bs4 import BeautifulSoup
from protego import Protego
from selenium import webdriver
from selenium.common.exceptions import TimeoutException, WebDriverException
from selenium.webdriver.chrome.service import Service as ChromeService
from selenium.webdriver.firefox.service import Service as FirefoxService
from selenium.webdriver.remote.webdriver import WebDriver
from urllib3.exceptions import HTTPError

from evenlight.core.errors import InputError
from evenlight.core.sources import asked_wait
from evenlight.corpus.local_site import Site, serving
from evenlight.corpus.pages import (
    Fetch,
    FetchedPage,
    Refused,
    enter,
    normal_address,
    read_index,
    read_page,
    store_page,
    stored,
)

PROGRAM = "Evenlight"
DEFINITIVE = (200, 404, 410)  # statuses that will not be others tomorrow
LONGEST_WAIT = 900.0  # seconds; who asks for a longer one is asked again by the next run


class NoBrowser(Exception):
    """No browser could be started; the message says what was tried."""


class Unreachable(Exception):
    """No answer came; asking again may help."""


@dataclass(frozen=True)
class Answer:
    """What the browser got for an address."""

    final_url: str
    status: int
    html: str
    retry_after: str | None = None  # the header of that name, where the browser tells it


@dataclass(frozen=True)
class CrawlPolicy:
    """How a site is treated; nothing of it changes what is found there."""

    contact: str | None = None  # where the site's people can reach the person who runs this
    wait: float = 3.0  # seconds between the pages of one host; robots.txt can ask for more
    timeout: float = 60.0  # seconds for one page
    attempts: int = 5  # for a page that does not come
    backoff: float = 5.0  # seconds after the first failed attempt, twice as many after each further one

    @property
    def user_agent(self) -> str:
        """The header by which sites know this program, and by whose name robots.txt can address it."""
        return f"{PROGRAM} ({self.contact})"


Ask = Callable[[str], Answer]


def polite(
    ask: Ask,
    store: Path,
    policy: CrawlPolicy,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Fetch:
    """A fetcher that asks a site as it wants to be asked.

    Each host's robots.txt is asked for once a run, before its first page, and kept in ``store``; a page it forbids
    raises :class:`~evenlight.corpus.pages.Refused`. Between the pages of a host there are ``policy.wait`` seconds or
    the crawl delay, whichever is longer. No answer, status 429 or 5xx: the page is asked for again after
    ``policy.backoff`` · 2^(attempts so far − 1) seconds, or after the longer time that the site asks for. After
    ``policy.attempts``, or for a status that is neither a page nor a missing one, an :class:`InputError`.
    """
    answered_at: dict[str, float] = {}
    robots: dict[str, Protego] = {}

    def page_of(url: str, wait: float) -> FetchedPage:
        host = urlsplit(url).netloc
        pause = 0.0
        for attempt in range(policy.attempts):
            sleep(max(0.0, answered_at.get(host, -math.inf) + max(wait, pause) - clock()))
            retry_after = None
            try:
                answer = ask(url)
                if answer.status != 429 and answer.status < 500:
                    now = datetime.now(UTC).isoformat(timespec="seconds")
                    return FetchedPage(url, normal_address(answer.final_url), answer.status, now, answer.html)
                problem, retry_after = f"status {answer.status}", answer.retry_after
            except Unreachable as error:
                problem = str(error)
            finally:
                answered_at[host] = clock()
            pause = max(policy.backoff * 2**attempt, asked_wait(retry_after) or 0.0)
            if pause > LONGEST_WAIT:
                raise InputError(
                    f"{url}: {problem}, to be asked again in {pause:.0f} s; run again then, all pages so far are kept"
                )
            print(f"{url}: {problem} (attempt {attempt + 1} of {policy.attempts})", flush=True)
        raise InputError(
            f"{url}: no answer in {policy.attempts} attempts, the last one: {problem}; run again later, all pages so "
            "far are kept"
        )

    def robots_of(url: str) -> Protego:
        site = "{0.scheme}://{0.netloc}".format(urlsplit(url))
        if site not in robots:
            page = page_of(f"{site}/robots.txt", policy.wait)
            store_page(store, page)
            # Without any rules everything may be read.
            robots[site] = Protego.parse(_plain_text(page.html) if page.status == 200 else "")
        return robots[site]

    def fetch(url: str) -> FetchedPage:
        rules = robots_of(url)
        if not rules.can_fetch(url, PROGRAM):
            raise Refused(f"{url}: robots.txt of the site asks programs not to read this page")
        page = page_of(url, max(policy.wait, rules.crawl_delay(PROGRAM) or 0.0))
        if page.status not in DEFINITIVE:
            raise InputError(f"{url}: the site answers with status {page.status}; open the page by hand to see why")
        return page

    return fetch


def _plain_text(html: str) -> str:
    """The text of a plain-text file, which browsers show in a page of their own making."""
    page = BeautifulSoup(html, "lxml").select_one("pre")
    return page.get_text() if page else html


def remembering(fetch: Fetch, store: Path) -> Fetch:
    """A fetcher that takes from ``store`` what it has and puts there what ``fetch`` had to be asked for."""
    index = read_index(store)

    def fetch_once(url: str) -> FetchedPage:
        entry = index.get(normal_address(url))
        if entry is not None:
            return read_page(store, entry)
        page = fetch(url)
        enter(index, store_page(store, page))
        return page

    return fetch_once


@contextmanager
def fetching(store: Path, policy: CrawlPolicy, browser: str = "auto", served: Path | None = None) -> Iterator[Fetch]:
    """A fetcher over ``store`` that starts a browser when a page is missing there.

    ``browser`` is ``auto`` (Chromium, else Firefox, else stored pages only), ``chromium``, ``firefox`` or ``none``.
    With ``served``, a page store, the sites are played by a server on the loopback interface, or without a browser
    the pages are taken from there directly: the results are the same.
    """
    with ExitStack() as stack:

        @functools.cache
        def source() -> Fetch:
            if not served and not policy.contact and browser != "none":
                raise InputError(
                    f"{store}: pages are missing there, and sites want to know who asks for them; "
                    "give --contact a mail address or a web page of yours"
                )
            site = stack.enter_context(serving(served)) if served else None
            try:
                return polite(stack.enter_context(asking(browser, policy, site)), store, policy)
            except NoBrowser as problem:
                if browser not in ("auto", "none"):
                    raise InputError(f"--browser {browser}: {problem}") from None
                print(f"note: no browser, stored pages only ({problem})", flush=True)
                return stored(served or store)

        yield remembering(lambda url: source()(url), store)


@contextmanager
def asking(browser: str, policy: CrawlPolicy, site: Site | None = None) -> Iterator[Ask]:
    """Ask through a browser, with ``site`` in place of the real sites; :class:`NoBrowser` where none can be started.

    A browser that failed is replaced: after a time-out it may still be on its way to the old page.
    """
    driver: WebDriver | None = start_browser(browser, policy)

    def ask(url: str) -> Answer:
        nonlocal driver
        driver = driver or start_browser(browser, policy)
        try:
            answer = _visit(driver, site.local(url) if site else url)
        except (WebDriverException, HTTPError) as error:
            _quit(driver)
            driver = None
            late = isinstance(error, TimeoutException)
            raise Unreachable("no answer in time" if late else _first_line(error)) from None
        if site:
            return Answer(site.real(answer.final_url), answer.status, answer.html, answer.retry_after)
        return answer

    try:
        yield ask
    finally:
        if driver:
            _quit(driver)


def _visit(driver: WebDriver, url: str) -> Answer:
    driver.get(url)
    # What WebDriver itself does not tell, but Chromium (from 109) and Firefox (from 122) do.
    status = driver.execute_script("return performance.getEntriesByType('navigation')[0].responseStatus")
    if not status:
        raise WebDriverException(f"{driver.name} does not tell the status of the page")
    return Answer(driver.current_url, status, driver.page_source, _retry_after(driver))


def _retry_after(driver: WebDriver) -> str | None:
    """The header of the page that was visited last; only Chromium's log has it."""
    if driver.name != "chrome":
        return None
    events = [json.loads(line["message"])["message"] for line in driver.get_log("performance")]
    retry_after = None
    for event in events:
        if event["method"] == "Network.responseReceived" and event["params"]["type"] == "Document":
            headers = {name.lower(): value for name, value in event["params"]["response"]["headers"].items()}
            retry_after = headers.get("retry-after")
    return retry_after


def start_browser(browser: str, policy: CrawlPolicy) -> WebDriver:
    """Start a headless browser with an empty profile; :class:`NoBrowser` where that is impossible.

    The system's browser and driver are taken where they exist. Selenium Manager finds what is missing, but downloads
    drivers only: a browser is the user's to install.
    """
    os.environ.setdefault("SE_AVOID_BROWSER_DOWNLOAD", "true")
    os.environ.setdefault("SE_AVOID_STATS", "true")
    os.environ.setdefault("SE_TIMEOUT", "30")  # seconds for a driver's download
    problems = []
    for name in {"auto": tuple(_STARTERS), "none": ()}.get(browser, (browser,)):
        try:
            driver = _STARTERS[name](policy.user_agent)
        except WebDriverException as error:
            problems.append(f"{name}: {_first_line(error)}")
        else:
            driver.set_page_load_timeout(policy.timeout)
            return driver
    raise NoBrowser("; ".join(problems) or "none wanted")


def _start_chromium(user_agent: str) -> WebDriver:
    options = webdriver.ChromeOptions()
    options.page_load_strategy = "eager"  # the HTML is what counts, not the style sheets
    flags = ["headless=new", "disable-background-networking", "disable-component-update", "disable-sync"]
    flags += ["no-first-run", "disable-dev-shm-usage", "disable-gpu", f"user-agent={user_agent}"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        flags.append("no-sandbox")  # Chromium does not start as root with it
    for flag in flags:
        options.add_argument(f"--{flag}")
    off = 2
    settings = "profile.managed_default_content_settings"
    options.add_experimental_option("prefs", {f"{settings}.javascript": off, f"{settings}.images": off})
    options.set_capability("goog:loggingPrefs", {"performance": "ALL"})
    if binary := _first_on_path("chromium", "chromium-browser", "google-chrome"):
        options.binary_location = binary
    return webdriver.Chrome(options=options, service=ChromeService(shutil.which("chromedriver")))


def _start_firefox(user_agent: str) -> WebDriver:
    options = webdriver.FirefoxOptions()
    options.page_load_strategy = "eager"
    options.add_argument("-headless")
    options.set_preference("general.useragent.override", user_agent)
    options.set_preference("permissions.default.image", 2)
    if binary := _first_on_path("firefox", "firefox-esr"):
        options.binary_location = binary
    return webdriver.Firefox(options=options, service=FirefoxService(shutil.which("geckodriver")))


_STARTERS = {"chromium": _start_chromium, "firefox": _start_firefox}


def _first_on_path(*names: str) -> str | None:
    return next(filter(None, map(shutil.which, names)), None)


def _quit(driver: WebDriver) -> None:
    with suppress(WebDriverException, HTTPError, OSError):
        driver.quit()


def _first_line(error: Exception) -> str:
    return str(getattr(error, "msg", None) or error).strip().split("\n")[0]


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Flags of the scripts that fetch pages; they change how sites are treated, not what is found."""
    usual = CrawlPolicy()
    parser.add_argument("--pages-store", type=Path, required=True, metavar="DIR", help="where pages are kept")
    parser.add_argument("--serve", type=Path, metavar="DIR", help="a page store that plays the sites (demo, tests)")
    parser.add_argument("--browser", choices=("auto", *_STARTERS, "none"), default="auto")
    parser.add_argument("--contact", help="mail address or web page of who runs this, for the sites' people")
    parser.add_argument("--wait", type=float, default=usual.wait, help="seconds between pages of a host")
    parser.add_argument("--timeout", type=float, default=usual.timeout, help="seconds for one page")
    parser.add_argument("--attempts", type=int, default=usual.attempts, help="for a page that does not come")
    parser.add_argument("--backoff", type=float, default=usual.backoff, help="seconds after the first failed attempt")


def fetching_as_told(arguments: argparse.Namespace):
    """:func:`fetching` with the values of the flags of :func:`add_flags`."""
    policy = CrawlPolicy(
        contact=arguments.contact or (PROGRAM.lower() if arguments.serve else None),
        wait=arguments.wait,
        timeout=arguments.timeout,
        attempts=arguments.attempts,
        backoff=arguments.backoff,
    )
    return fetching(arguments.pages_store, policy, arguments.browser, arguments.serve)
