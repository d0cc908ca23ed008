"""The audit in a real browser: who can read it, on what."""

from itertools import pairwise
from pathlib import Path

import pytest
from reading import PHONE, Reader, colours
from selenium.webdriver.common.keys import Keys
from test_audit import AuditedStudy

from evenlight.commands.audit_pdf import browser_for, print_page
from evenlight.reports.audit.page import write_audit
from evenlight.reports.contrast import contrast_ratio


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> Path:
    study = AuditedStudy(tmp_path_factory.mktemp("study"), length=60)
    paths = [study.folders.scores.parent / f"audit.{form}" for form in ("html", "json", "md")]
    write_audit(study.audit(study.effects()), *paths)
    return paths[0]


@pytest.fixture
def reader(driver, page) -> Reader:
    return Reader(driver, page)


@pytest.mark.parametrize(("media", "scheme"), [("screen", "light"), ("screen", "dark"), ("print", "dark")])
def test_all_text_can_be_read(reader, media, scheme):
    reader.open(media=media, scheme=scheme)
    pieces = colours(reader)
    assert len(pieces) > 100
    assert [(text, ink, ground) for text, ink, ground in pieces if contrast_ratio(ink, ground) < 4.5] == []


def test_a_phone_shows_it_without_scrolling_sideways(reader):
    reader.open(width=PHONE)
    assert reader.ask("document.documentElement.scrollWidth") <= PHONE
    # A table may be moved, and what it is about must not.
    ends = "[...document.querySelectorAll('caption')].map((caption) => caption.getBoundingClientRect().right)"
    assert 0 < max(reader.ask(ends)) <= PHONE
    assert reader.messages() == []


def test_a_keyboard_reaches_what_was_found_and_every_table_that_is_wider_than_the_page(reader):
    reader.open(width=PHONE).press(Keys.TAB)
    assert reader.focused() == "To what was found"
    # What is folded is reached once it is unfolded.
    reader.ask("[...document.querySelectorAll('details')].map((each) => each.open = true)")
    reached = set()
    for _ in range(45):
        reader.press(Keys.TAB)
        reached.add(reader.ask("document.activeElement.getAttribute('aria-label')"))
    scrolled = "[...document.querySelectorAll('.scroll')].map((box) => box.getAttribute('aria-label'))"
    assert set(reader.ask(scrolled)) <= reached


def test_headings_make_an_outline(reader):
    reader.open()
    levels = reader.ask("[...document.querySelectorAll('h1, h2, h3')].map((heading) => Number(heading.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(below - above <= 1 for above, below in pairwise(levels))


def test_it_is_printed_whole(reader, page):
    reader.open(media="print")
    flows = "[...document.querySelectorAll('.scroll')].map((box) => getComputedStyle(box).overflowX)"
    assert set(reader.ask(flows)) == {"visible"}
    assert not reader.ask("document.querySelector('.skip').checkVisibility()")
    pdf = page.with_suffix(".pdf")
    print_page(browser_for(page), page, pdf)
    assert pdf.read_bytes().startswith(b"%PDF")
    assert pdf.stat().st_size > 20_000
