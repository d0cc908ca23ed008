"""The page store: every page that was fetched, with its address, time and hash, so that the rest needs no network.

A store is a folder with ``index.jsonl``, one line per page in the order of fetching, and the pages' HTML. A line has
the keys ``url`` (as asked), ``final_url`` (after redirects), ``status``, ``retrieved`` (UTC, ISO 8601), ``sha256`` (of
the HTML) and ``file``, below the folder; where its name ends in ``.gz`` the file is compressed. If an address occurs
twice, the later line holds.
"""

import fcntl
import gzip
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from evenlight.core.errors import InputError
from evenlight.core.tables import replacing

INDEX = "index.jsonl"


@dataclass(frozen=True)
class FetchedPage:
    """What a site answered: the HTML as the browser read it, without scripts having run."""

    url: str
    final_url: str
    status: int
    retrieved: str
    html: str


@dataclass(frozen=True)
class IndexEntry:
    """A line of the index: a page without its HTML."""

    url: str
    final_url: str
    status: int
    retrieved: str
    sha256: str
    file: str


# From an address to its page: from a store, from a site, or from a site unless the store has it.
Fetch = Callable[[str], FetchedPage]


class Refused(InputError):
    """The site's robots.txt asks programs to leave this page alone."""


def normal_address(url: str) -> str:
    """The one spelling of an address: no fragment, percent signs only where they are needed.

    Browsers and sites spell the same address differently (``'`` and ``%27``, ``+`` and ``%20``).
    """
    parts = urlsplit(url)
    path = quote(unquote(parts.path) or "/", safe="/()',;:@!*$&=+~")
    query = urlencode(parse_qsl(parts.query, keep_blank_values=True))
    return urlunsplit((parts.scheme.lower(), parts.netloc.lower(), path, query, ""))


def read_index(store: Path) -> dict[str, IndexEntry]:
    """The entries of a store by their addresses' normal spelling; none where there is no store yet.

    A page that was reached by a redirect is also found under its final address. A last line without an end, which a
    killed run can leave, does not count. Another line that is no entry raises an :class:`InputError` with its number.
    """
    try:
        text = (store / INDEX).read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    entries: dict[str, IndexEntry] = {}
    for number, line in enumerate(text.split("\n")[:-1], start=1):
        try:
            entry = IndexEntry(**json.loads(line))
        except (ValueError, TypeError):
            raise InputError(
                f"{store / INDEX}, line {number}: not the entry of a page; delete the line and run again"
            ) from None
        enter(entries, entry)
    return entries


def enter(entries: dict[str, IndexEntry], entry: IndexEntry) -> None:
    """Add an entry to an index under its address, and under its final one unless that has an entry of its own."""
    entries[normal_address(entry.url)] = entry
    entries.setdefault(normal_address(entry.final_url), entry)


def read_page(store: Path, entry: IndexEntry) -> FetchedPage:
    """The page of an entry; an :class:`InputError` if its file is missing or not what the index says."""
    path = store / entry.file
    remedy = f"delete the line of {entry.url} from {store / INDEX}, the page is then fetched again"
    try:
        data = path.read_bytes()
        data = gzip.decompress(data) if path.suffix == ".gz" else data
    except (OSError, EOFError) as error:
        raise InputError(f"{path}: cannot be read ({error}); {remedy}") from None
    if hashlib.sha256(data).hexdigest() != entry.sha256:
        raise InputError(f"{path}: its SHA-256 is not the one in the index, the file was changed; {remedy}")
    return FetchedPage(entry.url, entry.final_url, entry.status, entry.retrieved, data.decode("utf-8"))


def store_page(store: Path, page: FetchedPage) -> IndexEntry:
    """Put a page into the store and return its entry.

    First the file is written, whole or not at all, then its line: a run that is killed keeps all pages before.
    """
    data = page.html.encode("utf-8")
    name = hashlib.sha256(normal_address(page.url).encode()).hexdigest()[:20]
    file = f"{urlsplit(page.url).netloc}/{name}.html.gz"
    with replacing(store / file) as temporary:
        temporary.write_bytes(gzip.compress(data, mtime=0))
    digest = hashlib.sha256(data).hexdigest()
    entry = IndexEntry(page.url, page.final_url, page.status, page.retrieved, digest, file)
    line = json.dumps(vars(entry), ensure_ascii=False).encode("utf-8") + b"\n"
    with open(store / INDEX, "a+b") as index:
        fcntl.flock(index, fcntl.LOCK_EX)  # else the line of another job would be cut off with what a killed one left
        index.seek(0)
        index.truncate(index.read().rfind(b"\n") + 1)  # what a killed run left of a line
        index.write(line)
        index.flush()
        os.fsync(index.fileno())
    return entry


NO_BROWSER = (
    "there is no browser that could fetch it; install Chromium or Firefox (Debian: apt install chromium "
    "chromium-driver) and run again"
)


def stored(store: Path, remedy: str = NO_BROWSER) -> Fetch:
    """A fetcher that knows the pages of ``store`` and no others; ``remedy`` tells what to do about another one."""
    index = read_index(store)

    def fetch(url: str) -> FetchedPage:
        entry = index.get(normal_address(url))
        if entry is None:
            raise InputError(f"{url}: not among the pages in {store}; {remedy}")
        return read_page(store, entry)

    return fetch
