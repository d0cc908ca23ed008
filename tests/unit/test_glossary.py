"""The glossary: terms in order, each said once and in one short sentence, and links that lead somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"
PAGES = [
    *(ROOT / name for name in ("README.md", "config/README.md")),
    *sorted(page for folder in ("docs", "docs/tutorials") for page in (ROOT / folder).glob("*.md")),
]
TERM = re.compile(r'\| <a id="([^"]*)"></a>\*\*(.+?)\*\*( \([^)]*\))? \| (.*) \| (\[.*\))? \|')
ROWS = [line for line in GLOSSARY.read_text(encoding="utf-8").splitlines() if line.startswith("| <a id=")]
LINK = re.compile(r"\]\(([^)#\s]*)#?([^)\s]*)\)")


def parts(row: str) -> tuple[str, str, str]:
    """A term with what tells it from another of its name, the anchor, and what it is."""
    anchor, name, kind, meaning, _ = TERM.fullmatch(row).groups()
    return name + (kind or ""), anchor, meaning


def slug(text: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    text = page.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {slug(heading) for heading in headings} | set(re.findall(r'<a id="([^"]*)">', text))


def test_terms_are_unique_and_in_order():
    terms = [parts(row)[0].casefold() for row in ROWS]
    assert len(terms) >= 100
    assert terms == sorted(set(terms))
    assert len({parts(row)[1] for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: parts(row)[1])
def test_a_term_is_one_short_sentence(row):
    term, anchor, meaning = parts(row)
    assert anchor == slug(term.replace(",", " ").replace("(", " ").replace("  ", " ").strip())
    assert meaning.endswith(".")
    assert re.search(r"[.?!] [A-Z]", meaning) is None
    assert len(meaning.split()) <= 25


def test_words_of_the_field_are_in_order():
    text = GLOSSARY.read_text(encoding="utf-8").partition("| usual word of the field |")[2]
    words = [line.split("|")[1].strip().casefold() for line in text.strip().splitlines()[1:]]
    assert len(words) > 20
    assert words == sorted(set(words))


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page != GLOSSARY], ids=lambda page: str(page.relative_to(ROOT))
)
def test_a_page_links_to_the_glossary(page):
    links = LINK.findall(page.read_text(encoding="utf-8"))
    assert [to for to, _ in links if to and (page.parent / to).resolve() == GLOSSARY]


# What is measured says its words there or in the definitions; these pages are being rewritten.
MEASURED = sorted((ROOT / "docs" / "results").glob("*.md"))


@pytest.mark.parametrize("page", MEASURED, ids=lambda page: page.stem)
def test_a_page_of_results_links_to_its_words(page):
    links = {(page.parent / to).resolve() for to, _ in LINK.findall(page.read_text(encoding="utf-8")) if to}
    assert links & {GLOSSARY, GLOSSARY.with_name("definitions.md")}


def test_every_link_of_the_documents_leads_somewhere():
    pages = {*PAGES, *ROOT.glob("[A-Z]*.md"), *(ROOT / "docs").rglob("*.md")}
    links = [(page, *link) for page in pages for link in LINK.findall(page.read_text(encoding="utf-8"))]
    assert len(links) > 400
    for page, to, anchor in links:
        if ":" in to:  # of the web
            continue
        target = (page.parent / to).resolve() if to else page
        assert target.exists(), f"{page.name}: {to}"
        assert not anchor or target.suffix != ".md" or anchor in anchors(target), f"{page.name}: {to}#{anchor}"
