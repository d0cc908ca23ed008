"""Finding a book's article and reading its plot."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from evenlight.core.contracts.corpus import ARTICLES, PARAGRAPHS
from evenlight.core.errors import InputError
from evenlight.core.tables import checked
from evenlight.corpus import gutenberg
from evenlight.corpus.pages import FetchedPage, Refused, normal_address, stored
from evenlight.corpus.wikipedia import (
    Article,
    Book,
    Candidate,
    Finding,
    article_url,
    author_evidence,
    extract_paragraphs,
    find_articles,
    is_book,
    paragraphs_of,
    read_article,
    read_decisions,
    read_results,
    score,
    search_url,
    status_of,
    title_similarity,
)

DEMO = Path(__file__).parents[3] / "resources/demo/pages"
FINDING = Finding(resolvers=["search", "title"], candidates=3, matched=0.82, doubtful=0.5)
HEADINGS = ["Plot", "Plot summary", "Synopsis", "Story"]


def html_of(content: str, title: str = "Emma", before: str = "", canonical: str = "") -> str:
    return (
        f'<html><head><link rel="canonical" href="{canonical or article_url(title)}"></head><body>'
        f'<h1 id="firstHeading">{title}</h1><div id="contentSub">{before}</div>'
        f'<div id="mw-content-text"><div class="mw-parser-output">{content}</div></div></body></html>'
    )


def page(content: str, title: str = "Emma", status: int = 200, **more: str) -> FetchedPage:
    url = article_url(title)
    return FetchedPage(url, url, status, "2025-01-01T00:00:00+00:00", html_of(content, title, **more))


def site(*pages: FetchedPage):
    """A fetcher of these pages, and 404 for all others; a search finds nothing."""
    by_url = {normal_address(each.url): each for each in pages}

    def fetch(url: str) -> FetchedPage:
        if "search=" in url and url not in by_url:
            return FetchedPage(url, url, 200, "", '<p class="mw-search-nonefound">None</p>')
        return by_url.get(url, FetchedPage(url, url, 404, "", ""))

    return fetch


def article(title: str, lead: str, author: str | None = None) -> Article:
    return Article(article_url(title), article_url(title), title, (), lead, author, ())


def books(*entries: tuple[int, str, str]) -> pd.DataFrame:
    rows = [(number, rank, title, author) for rank, (number, title, author) in enumerate(entries, start=1)]
    return pd.DataFrame(rows, columns=["book_id", "rank", "title", "author"])


# --- Reading -------------------------------------------------------------------------------------------------------


def test_an_article_is_read():
    box = (
        '<table class="infobox"><tr><th>Author</th><td><a>Jane\u00a0Austen</a></td></tr><tr><th>Pages</th></tr></table>'
    )
    found = read_article(
        page(
            f'{box}<p class="mw-empty-elt"> </p><p><b>Emma</b> is a novel<sup class="reference">[1]</sup>.</p><p>B</p>'
        )
    )
    assert (found.title, found.author, found.lead, found.links) == ("Emma", "Jane Austen", "Emma is a novel.", ())
    assert found.canonical == "https://en.wikipedia.org/wiki/Emma"


def test_a_redirect_is_resolved():
    before = '<span class="mw-redirectedfrom">(Redirected from <a>Emma Woodhouse</a>)</span>'
    found = read_article(page("<p>x</p>", "Emma Woodhouse", before=before, canonical=article_url("Emma (novel)")))
    assert found.canonical == "https://en.wikipedia.org/wiki/Emma_(novel)"
    assert found.other_titles == ("Emma Woodhouse",)


@pytest.mark.parametrize(
    "mark",
    ['<table id="disambigbox"></table>', '<div class="mw-disambig"></div>'],
)
def test_a_disambiguation_page_has_links(mark):
    entries = (
        '<ul><li><a href="/wiki/Emma_(novel)">Emma</a>, a novel by Jane Austen</li><li>Nobody</li>'
        '<li><a href="/wiki/Help:Contents">Help</a></li><li><a href="/wiki/Emma_(film)">Emma</a>, a film</li></ul>'
    )
    assert read_article(page(entries + mark)).links == (
        ("https://en.wikipedia.org/wiki/Emma_(novel)", "Emma, a novel by Jane Austen"),
        ("https://en.wikipedia.org/wiki/Emma_(film)", "Emma, a film"),
    )
    assert read_article(page(entries)).links == ()


@pytest.mark.parametrize(
    ("cut", "selector"),
    [
        ('id="firstHeading"', "h1#firstHeading"),
        ("mw-parser-output", "#mw-content-text .mw-parser-output"),
        ('rel="canonical"', "link[rel=canonical]"),
    ],
)
def test_another_structure_is_named(cut, selector):
    changed = FetchedPage(article_url("Emma"), article_url("Emma"), 200, "", html_of("<p>x</p>").replace(cut, ""))
    with pytest.raises(InputError) as error:
        read_article(changed)
    assert f"'{selector}' finds nothing" in str(error.value)
    assert changed.url in str(error.value)


def test_results_are_read_in_their_order():
    html = (
        '<ul class="mw-search-results"><li><div class="mw-search-result-heading"><a href="/wiki/B">B</a></div></li>'
        '<li><div class="mw-search-result-heading"><a href="/wiki/A%27s">A</a></div></li></ul>'
    )
    assert read_results(FetchedPage("u", "u", 200, "", html)) == [article_url("B"), article_url("A's")]
    assert read_results(FetchedPage("u", "u", 200, "", '<p class="mw-search-nonefound">x</p>')) == []
    with pytest.raises(InputError, match="mw-search-nonefound' finds nothing"):
        read_results(FetchedPage("u", "u", 200, "", "<p>new</p>"))


# --- Scoring -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("book", "title", "similarity"),
    [
        ("Emma", "Emma", 1),
        ("Emma", "Emma (novel)", 1),
        ("Emma", "Emma (Austen novel)", 1),
        ("The Time Machine", "Time Machine", 1),
        ("Frankenstein; Or, The Modern Prometheus", "Frankenstein", 1),
        ("Frankenstein; Or, The Modern Prometheus", "The Modern Prometheus", 1),
        ("Les Misérables", "Les Miserables", 1),
        ("Beowulf: An Anglo-Saxon Epic Poem", "Beowulf", 1),
        ("Alice's Adventures in Wonderland", "Alices Adventures in Wonderland", 1),
        ("Sons & Lovers", "Sons and Lovers", 1),
        ("King Henry VI, Part 1", "King Henry VI, Part 2", 0.8),
        ("The Adventures of Sherlock Holmes", "The Memoirs of Sherlock Holmes", 0.75),
        ("Emma", "Jane Eyre", 0),
        ("Ада", "Ада", 1),
        ("!", "Emma", 0),
    ],
)
def test_similarity_of_titles(book, title, similarity):
    assert title_similarity(book, title) == pytest.approx(similarity)


@pytest.mark.parametrize(
    ("author", "lead", "infobox", "evidence"),
    [
        ("Jane Austen", "Emma is a novel by Jane Austen.", None, 1),
        ("Jane Austen", "Emma is a novel by Jane Austen.", "Somebody Else", 0),
        ("Jane Austen", "A novel.", "Jane Austen", 1),
        ("Jane Austen", "A novel of Austen's.", None, 0.5),
        ("J. Austen", "A novel by Austen.", None, 0.5),
        ("Fyodor Dostoyevsky", "A novel by Fyodor Dostoevsky.", None, 0.5),
        ("graf Leo Tolstoy", "A novel by Leo Tolstoy.", None, 1),
        ("Karl Marx and Friedrich Engels", "A pamphlet by Friedrich Engels.", None, 1),
        ("Charlotte Brontë", "A novel by Charlotte Bronte.", None, 1),
        ("", "A novel.", None, 0.5),
        ("Jane Austen", "", None, 0),
        ("Homer", "An epic ascribed to Homer.", None, 0.5),
    ],
)
def test_evidence_for_an_author(author, lead, infobox, evidence):
    assert author_evidence(author, article("X", lead, infobox)) == evidence


@pytest.mark.parametrize(
    ("title", "lead", "book"),
    [
        ("Emma (novel)", "", True),
        ("Emma (2009 film)", "Emma is a film after the novel.", False),
        ("Emma", "Emma is a novel; a film followed.", True),
        ("Emma", "Emma is a film after the novel.", False),
        ("A Tale of Two Cities", "A Tale of Two Cities is a 1935 film.", False),
        ("Persuasion", "Persuasion is an influence.", False),
        ("Jane Austen", "Jane Austen was a novelist.", False),
        ("X", "", False),
    ],
)
def test_what_is_a_book(title, lead, book):
    assert is_book(article(title, lead)) is book


def test_the_score_of_worked_cases():
    emma = Book("Emma", "Jane Austen")
    assert score(emma, article("Emma (novel)", "A novel by Jane Austen.")) == 1
    assert score(emma, article("Emma (film)", "A film after the novel by Jane Austen.")) == pytest.approx(0.75)
    assert score(emma, article("Emma (novel)", "A novel by Ann Lee.")) == pytest.approx(0.70)
    assert score(emma, article("Emma", "Emma is a given name.")) == pytest.approx(0.45)
    assert score(emma, article("Jane Austen", "Jane Austen was a novelist.")) == 0
    assert score(Book("Emma", ""), article("Emma", "A novel.")) == pytest.approx(0.85)
    part = Book("King Henry VI, Part 1", "William Shakespeare")
    other = article("King Henry VI, Part 2", "A play by William Shakespeare.")
    assert score(part, other) == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("scores", "status"),
    [
        ([], "missing"),
        ([0.49], "missing"),
        ([0.5], "doubtful"),
        ([0.81], "doubtful"),
        ([0.82], "matched"),
        ([1, 0.96], "doubtful"),
        ([1, 0.9], "matched"),
    ],
)
def test_the_status_follows_from_the_scores(scores, status):
    assert status_of([Candidate("a", "u", "u", value) for value in scores], FINDING) == status


# --- Finding -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def demo():
    listed = gutenberg.read_top_list(stored(DEMO)(gutenberg.URL).html)
    return listed, *find_articles(listed, stored(DEMO), FINDING, {})


def test_the_demo_articles(demo):
    _, articles, doubtful = demo
    checked(pa.Table.from_pandas(articles, preserve_index=False), ARTICLES, "articles")
    found = articles.set_index("book_id")
    assert found["status"].value_counts().to_dict() == {"matched": 8, "doubtful": 1, "missing": 1}
    assert found.loc[900003, ["article", "score"]].to_list() == ["Winterbourne Lane", 1]  # a redirect
    assert found.loc[900004, "article"] == "Ashgrove (novel)"  # behind a disambiguation page
    assert found.loc[900005, "url"] == article_url("The Silent Ferry")  # where the search goes straight to
    assert found.loc[900008, "status"] == "doubtful"
    assert found.loc[900009, "status"] == "missing"
    assert pd.isna(found.loc[900009, "article"])
    assert doubtful["book_id"].to_list() == [900008, 900009]


def test_both_resolvers_agree_on_the_demo(demo):
    listed, articles, _ = demo
    few = listed[listed["book_id"].isin([900001, 900003, 900004, 900005, 900008, 900009])]
    again, _ = find_articles(few, stored(DEMO), replace(FINDING, resolvers=["title"]), {})
    both = again.merge(articles, on="book_id", suffixes=("", "_searched"))
    alike = both["book_id"] != 900008  # only the search knows the play of this title
    assert both["status"][alike].equals(both["status_searched"][alike])
    assert both["article"][alike].fillna("").equals(both["article_searched"][alike].fillna(""))


def test_two_equally_good_articles_are_for_a_person():
    novel = "<p><b>Emma</b> is a novel by J. Austen and a friend.</p>"
    pages = [page(novel, "Emma"), page(novel, "Emma (novel)")]
    found, doubtful = find_articles(books((1, "Emma", "Jane Austen")), site(*pages), FINDING, {})
    assert found["status"].to_list() == ["doubtful"]
    assert doubtful["article"].to_list() == ["Emma", "Emma (novel)"]
    assert doubtful["score"].to_list() == [0.85, 0.85]


def test_a_search_that_robots_refuse_is_tried_once_and_replaced(capsys):
    searched = []
    there = site(page("<p><b>Emma</b> is a novel by Jane Austen.</p>"))

    def fetch(url: str) -> FetchedPage:
        if "search=" in url:
            searched.append(url)
            raise Refused(f"{url}: robots.txt")
        return there(url)

    two = books((1, "Emma", "Jane Austen"), (2, "Lost", "Ann Lee"))
    found, _ = find_articles(two, fetch, FINDING, {})
    assert found["status"].to_list() == ["matched", "missing"]
    assert searched == [search_url(Book("Emma", "Jane Austen"))]
    assert "the resolver 'search' is left out" in capsys.readouterr().out
    with pytest.raises(InputError, match="add another resolver"):
        find_articles(two, fetch, replace(FINDING, resolvers=["search"]), {})


def test_a_disambiguation_page_is_followed_once():
    box = '<table id="disambigbox"></table>'
    loop = page(f'<ul><li><a href="/wiki/Emma_(novel)">Emma</a></li></ul>{box}')
    back = page(f'<ul><li><a href="/wiki/Emma">Emma</a></li></ul>{box}', "Emma (novel)")
    found, _ = find_articles(books((1, "Emma", "Jane Austen")), site(loop, back), FINDING, {})
    assert found["status"].to_list() == ["missing"]


def test_a_decision_goes_before_the_score():
    pages = [page("<p><b>Emma</b> is a novel by Jane Austen.</p>"), page("<p>A film.</p>", "Clueless")]
    both = books((1, "Emma", "Jane Austen"), (2, "Emma", "Jane Austen"))
    found, doubtful = find_articles(both, site(*pages), FINDING, {1: "Clueless", 2: ""})
    assert found[["status", "article"]].fillna("").to_numpy().tolist() == [["matched", "Clueless"], ["missing", ""]]
    assert doubtful.empty
    with pytest.raises(InputError, match="no article 'Nowhere'"):
        find_articles(both, site(*pages), FINDING, {1: "Nowhere"})


def test_the_list_for_a_person_can_be_read_as_decisions(demo, tmp_path):
    demo[2].to_csv(tmp_path / "doubtful.csv", index=False)
    assert read_decisions(tmp_path / "doubtful.csv") == {900008: "The Copper Bell (play)", 900009: ""}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("book,article\n1,x\n", "no column 'book_id'"),
        ("book_id,article\n1,x\nabc,y\n", "row 3: book_id 'abc'"),
        ("book_id,article\n1,x\n1,y\n", r"row 3: a second.*book 1"),
        ("", "not a readable CSV"),
    ],
)
def test_wrong_decisions_are_refused(tmp_path, text, message):
    path = tmp_path / "decisions.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as error:
        read_decisions(path)
    assert str(path) in str(error.value)


# --- Extracting ----------------------------------------------------------------------------------------------------

NEW = '<div class="mw-heading mw-heading{1}"><h{1} id="x">{0}</h{1}><span class="mw-editsection">[edit]</span></div>'
OLD = '<h{1}><span class="mw-headline" id="x">{0}</span><span class="mw-editsection">[edit]</span></h{1}>'


@pytest.mark.parametrize("heading", [NEW, OLD])
def test_sections_and_their_subsections(heading):
    content = (
        f"<p>Lead.</p>{heading.format('Themes', 2)}<p>No.</p>{heading.format('Plot', 3)}<p>Not at the top level.</p>"
        f"{heading.format('plot', 2)}<p>One.</p>{heading.format('Part', 3)}<p>Two.</p>{heading.format('Deep', 4)}"
        f"<p>Three.</p>{heading.format('Rest', 3)}<p>Four.</p>{heading.format('Reception', 2)}<p>No.</p>"
    )
    assert extract_paragraphs(page(content), HEADINGS) == [
        ("plot", "One."),
        ("plot > Part", "Two."),
        ("plot > Part > Deep", "Three."),
        ("plot > Rest", "Four."),
    ]


def test_sections_in_wrappers_are_read_alike():
    content = f"<section>{NEW.format('Plot', 2)}<div><p>One.</p></div><section>{NEW.format('Part', 3)}<p>Two.</p></section></section><section>{NEW.format('End', 2)}<p>No.</p></section>"  # noqa: E501
    assert extract_paragraphs(page(content), HEADINGS) == [("Plot", "One."), ("Plot > Part", "Two.")]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ('<p>A<sup class="reference">[1]</sup> b.</p>', "A b."),
        ('<p>A.<sup class="noprint Inline-Template">[<i>citation needed</i>]</sup> B.</p>', "A. B."),
        ('<p>A <span style="display:none">hidden</span>b.</p>', "A b."),
        ("<p>A\u00a0b\n\n c\u200b d\u00ade.</p>", "A b c de."),
        ("<p>A.<style>p{}</style></p>", "A."),
        ("<p>Zoe\u0308 <b>and</b> <a>Émile</a>.</p>", "Zoë and Émile."),
        ("<blockquote><p>Said.</p></blockquote><p>A.</p>", "A."),
        ("<table><tr><td><p>Cell.</p></td></tr></table><p>A.</p>", "A."),
        (
            '<figure><figcaption><p>Image.</p></figcaption></figure><p>A.</p><p> <br></p><p class="mw-empty-elt"></p>',
            "A.",
        ),
    ],
)
def test_what_is_no_running_text_is_left_out(html, text):
    assert extract_paragraphs(page(NEW.format("Plot", 2) + html), HEADINGS) == [("Plot", text)]


def test_without_a_plot_section_a_setting_decides():
    without = page(f"<p>Lead.</p>{NEW.format('Themes', 2)}<p>Theme.</p>")
    assert extract_paragraphs(without, HEADINGS) == []
    assert extract_paragraphs(without, HEADINGS, "lead") == [("", "Lead.")]
    assert extract_paragraphs(without, HEADINGS, "all") == [("", "Lead."), ("Themes", "Theme.")]
    with_plot = page(f"<p>Lead.</p>{NEW.format('Plot', 2)}<p>Plot.</p>")
    assert extract_paragraphs(with_plot, HEADINGS, "all") == [("Plot", "Plot.")]


def test_the_demo_paragraphs(demo):
    listed, articles, _ = demo
    paragraphs, notes = paragraphs_of(listed, articles, stored(DEMO), headings=HEADINGS, without_plot="none")
    checked(pa.Table.from_pandas(paragraphs, preserve_index=False), PARAGRAPHS, "paragraphs")
    assert len(paragraphs) == 21
    assert paragraphs["paragraph_id"].is_unique
    assert [note for note in notes if "Harrow Hill" in note] == notes
    text = " ".join(paragraphs["text"])
    for left_out in (
        "[",
        "citation needed",
        "text is hidden",
        "every pane",
        "Every pane",
        "edit",
        "The keeper finds",
        "critic",
    ):
        assert left_out not in text
    winter = paragraphs[paragraphs["book_id"] == 900003]
    assert set(winter["url"]) == {article_url("Winterbourne Lane")}
    assert list(dict.fromkeys(paragraphs[paragraphs["book_id"] == 900010]["section"])) == [
        "Plot > Part one",
        "Plot > Part two",
    ]


def test_an_article_counts_once():
    novel = page(f"<p>Emma is a novel by Jane Austen.</p>{NEW.format('Plot', 2)}<p>She lives.</p>")
    both = books((7, "Emma", "Jane Austen"), (3, "Emma", "Jane Austen"))
    fetch = site(novel)
    articles, _ = find_articles(both, fetch, FINDING, {})
    paragraphs, notes = paragraphs_of(both, articles, fetch, headings=HEADINGS, without_plot="none")
    assert paragraphs["paragraph_id"].to_list() == ["7-1"]
    assert "book 3 (Emma) has" in notes[0]


def test_no_paragraph_at_all_is_an_error():
    fetch = site(page("<p>Emma is a novel by Jane Austen.</p>"))
    one = books((1, "Emma", "Jane Austen"))
    articles, _ = find_articles(one, fetch, FINDING, {})
    with pytest.raises(InputError, match=r"no paragraph.*1 matched"):
        paragraphs_of(one, articles, fetch, headings=HEADINGS, without_plot="none")
