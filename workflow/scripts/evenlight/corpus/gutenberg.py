"""Project Gutenberg's list of the most popular books."""

import re

import pandas as pd
from bs4 import BeautifulSoup

from evenlight.core.errors import InputError

URL = "https://www.gutenberg.org/browse/scores/top"
# The lists of the page, by the period that they count: the identifier of the heading above each.
LISTS = {"yesterday": "books-last1", "last_7_days": "books-last7", "last_30_days": "books-last30"}

_ENTRY = re.compile(r"(?P<name>.+?)(?:\s+\([\d,]+\))?", re.DOTALL)
_NAME = re.compile(r"(?!(the|an?|his|her|my|our)\s)(.*\s)?\W*[^\W\d_a-z]")
_BOOK = re.compile(r"/ebooks/(\d+)")


def read_top_list(html: str, period: str = "last_30_days", limit: int = 100) -> pd.DataFrame:
    """The books of the list page as rows of ``tables.BOOKS``; ``rank`` is the place on the list, from 1.

    ``period`` is one of ``LISTS``, ``limit`` the number of places that are read. A book that is listed twice counts
    at its better place. A page that is not built as expected raises an :class:`InputError` with the selector that
    found nothing.
    """
    page = BeautifulSoup(html, "lxml")
    selector = f"h2#{LISTS[period]}"
    heading = page.select_one(selector)
    entries = heading.find_next_sibling("ol") if heading else None
    items = entries.select("li") if entries else []
    if not items:
        raise _changed(selector if heading is None else f"{selector} ~ ol > li", "the page")
    rows = []
    for rank, item in enumerate(items[:limit], start=1):
        link = item.select_one("a[href]")
        book = _BOOK.fullmatch(link["href"]) if link else None
        if book is None:
            raise _changed("a[href^='/ebooks/']", f"place {rank} of {selector}")
        title, author = split_entry(link.get_text())
        rows.append({"book_id": int(book[1]), "rank": rank, "title": title, "author": author})
    return pd.DataFrame(rows).drop_duplicates("book_id").reset_index(drop=True)


def _changed(selector: str, where: str) -> InputError:
    return InputError(
        f"{URL}: '{selector}' finds nothing in {where}, the page has changed its structure; "
        "evenlight.corpus.gutenberg must follow"
    )


def split_entry(text: str) -> tuple[str, str]:
    """Title and author of an entry such as "Emma by Jane Austen (1234)"; the author is "" where none is named.

    Titles have "by" too, so the last one counts, and only if a name can follow: something in upper case, but not
    after an article ("by graf Leo Tolstoy", not "by the River"). "A Journey by Night" without an author is beyond
    this: "Night" is taken for one.

    >>> split_entry("A House by the River by Ann Lee (1,234)")
    ('A House by the River', 'Ann Lee')
    >>> split_entry("A House by the River (99)")
    ('A House by the River', '')
    """
    name = " ".join(_ENTRY.fullmatch(text.strip())["name"].split())
    title, by, author = name.rpartition(" by ")
    return (title, author) if by and _NAME.match(author) else (name, "")
