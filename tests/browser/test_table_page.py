"""A page of tables in a real browser: its details open by key, and are open in print."""

import pytest
from reading import PHONE, Reader, colours
from selenium.webdriver.common.keys import Keys

from evenlight.reports.contrast import contrast_ratio
from evenlight.reports.html_table import Cell, Page, Table, write_page

ROWS = [("one", [("x", [Cell("0.123 [0.100, 0.150]", background="#f5c9a0")] * 12)])]
PAGE = Page(
    "Effects",
    "Do groups differ? In 1 of 2 cells.",
    [Table("Scores", ("Model", "Explainer"), [("Metric", [f"Metric {number}" for number in range(12)])], ROWS)],
    [(Cell("?", background="#d0d4d9"), "undecided")],
    details=[("What is in a cell?", "A mean and its interval. " * 20), ("How sure is it?", "Quite.")],
)
ANSWERS = "[...document.querySelectorAll('details p')].map((answer) => answer.checkVisibility())"


@pytest.fixture
def reader(driver, tmp_path) -> Reader:
    write_page(PAGE, tmp_path / "page.html")
    return Reader(driver, tmp_path / "page.html")


def test_a_key_opens_and_closes_an_answer(reader):
    reader.open(width=PHONE)
    assert reader.ask(ANSWERS) == [False, False]
    reader.press(Keys.TAB)
    assert reader.focused() == "What is in a cell?"
    reader.press(Keys.ENTER)
    assert reader.ask(ANSWERS) == [True, False]
    assert reader.ask("document.documentElement.scrollWidth") <= PHONE
    reader.press(Keys.ENTER)
    assert reader.ask(ANSWERS) == [False, False]


def test_every_answer_is_printed(reader):
    reader.open(media="print")
    assert reader.ask(ANSWERS) == [True, True]
    assert reader.ask("[...document.querySelectorAll('details p')].every((answer) => answer.offsetHeight > 0)")


@pytest.mark.parametrize("media", ["screen", "print"])
def test_all_text_can_be_read(reader, media):
    reader.open(media=media)
    pieces = colours(reader)
    assert len(pieces) > 15
    assert [(text, ink, ground) for text, ink, ground in pieces if contrast_ratio(ink, ground) < 4.5] == []
