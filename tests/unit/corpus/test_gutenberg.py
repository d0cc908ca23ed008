"""The list of popular books."""

from pathlib import Path

import pyarrow as pa
import pytest

from evenlight.core.contracts.corpus import BOOKS
from evenlight.core.errors import InputError
from evenlight.core.tables import checked
from evenlight.corpus.gutenberg import LISTS, URL, read_top_list, split_entry
from evenlight.corpus.pages import stored

DEMO = Path(__file__).parents[3] / "resources/demo/pages"


def top(*entries: str, period: str = "last_30_days") -> str:
    items = "".join(f"<li>{entry}</li>" for entry in entries)
    return f'<h2 id="{LISTS[period]}">Top 100 EBooks</h2>\n<ol>{items}</ol><h2 id="authors">Authors</h2><ol></ol>'


def test_the_demo_list():
    books = read_top_list(stored(DEMO)(URL).html)
    checked(pa.Table.from_pandas(books, preserve_index=False), BOOKS, "books")
    assert list(books["rank"]) == list(range(1, 11))
    assert books.loc[2].to_list() == [900003, 3, "The Saddler's Daughter; Or, Winterbourne Lane", "Clara Whitlow"]
    assert books.set_index("book_id").loc[900009, "author"] == ""


def test_the_lists_of_the_page_are_told_apart():
    html = stored(DEMO)(URL).html
    firsts = {period: read_top_list(html, period, limit=1)["book_id"].to_list() for period in LISTS}
    assert firsts == {"yesterday": [900003], "last_7_days": [900002], "last_30_days": [900001]}


@pytest.mark.parametrize(
    ("entry", "title", "author"),
    [
        ("Pride and Prejudice by Jane Austen (59684)", "Pride and Prejudice", "Jane Austen"),
        ("A Lantern by the Sea by Edmund Farrow (1,234)", "A Lantern by the Sea", "Edmund Farrow"),
        ("A Lantern by the Sea (77)", "A Lantern by the Sea", ""),
        ("Beowulf (12)", "Beowulf", ""),
        ("Beowulf", "Beowulf", ""),
        ("1984 (A Study) by Ann Lee (9)", "1984 (A Study)", "Ann Lee"),
        ("Notes (1850) (9)", "Notes (1850)", ""),
        ("War and\r\n  Peace by graf Leo Tolstoy (5)", "War and Peace", "graf Leo Tolstoy"),
        ("Stand by me (4)", "Stand by me", ""),
        ("Les Misérables by Victor Hugo (8)", "Les Misérables", "Victor Hugo"),
        ("Step by Step by Émile Roux (3)", "Step by Step", "Émile Roux"),
    ],
)
def test_entries(entry, title, author):
    assert split_entry(entry) == (title, author)


def test_a_book_that_is_listed_twice_counts_at_its_better_place():
    one, two = (f'<a href="/ebooks/{number}">Emma by Jane Austen (9)</a>' for number in (158, 159))
    books = read_top_list(top(one, two, one))
    assert books[["book_id", "rank"]].to_numpy().tolist() == [[158, 1], [159, 2]]


@pytest.mark.parametrize(
    ("html", "selector"),
    [
        ("<p>new</p>", "'h2#books-last30'"),
        ('<h2 id="books-last30">Top</h2><p>new</p>', "'h2#books-last30 ~ ol > li'"),
        (top(), "'h2#books-last30 ~ ol > li'"),
        (top('<a href="/book/1">Emma (1)</a>'), "in place 1"),
        (top("Emma (1)"), "in place 1"),
    ],
)
def test_another_structure_is_named(html, selector):
    with pytest.raises(InputError) as error:
        read_top_list(html)
    assert selector in str(error.value)
    assert URL in str(error.value)
