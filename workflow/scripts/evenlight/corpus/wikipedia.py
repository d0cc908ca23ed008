"""A book's article in the English Wikipedia: how it is found, and which of its paragraphs tell the plot."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import quote, unquote, urlencode, urljoin

import pandas as pd
from bs4 import BeautifulSoup, Tag

from evenlight.core.errors import InputError
from evenlight.corpus.pages import Fetch, FetchedPage, Refused, normal_address

SITE = "https://en.wikipedia.org"

# Weights and limits of the score, see `score`.
TITLE_WEIGHT, AUTHOR_WEIGHT, KIND_WEIGHT = 0.45, 0.30, 0.25
AUTHOR_UNKNOWN = 0.5  # a list that names no author speaks neither for nor against an article
SURNAME_ONLY = 0.5
SURNAME_SIMILARITY = 0.85  # of two spellings of a surname: Dostoyevsky, Dostoevsky
MARGIN = 0.05  # two articles that are closer to each other than this fit equally well

_BOOK_WORD = re.compile(
    r"novels?|novellas?|books?|fiction|plays?|poems?|story|stories|tales?|romance|memoirs?|autobiography|diary|essays?|"
    r"treatise|epic|comedy|tragedy|satire|dialogue|narrative|work|collection"
)
_OTHER_WORD = re.compile(
    r"films?|movie|miniseries|television|album|song|single|band|opera|musical|ballet|game|episode|character|"
    r"village|town|city|river|station|company|surname"
)
_REMOVED = (
    "style, script, sup.reference, .noprint, .mw-editsection, .hatnote, table, figure, .thumb, .navbox, blockquote, "
    ".templatequote, [style*='display:none'], [style*='display: none'], .mw-empty-elt"
)
_AUTHOR_FIELDS = ("Author", "Authors", "Author(s)", "Written by")  # of infoboxes
_HEADINGS = ("h2", "h3", "h4", "h5", "h6")


@dataclass(frozen=True)
class Book:
    """What of a row of ``tables.BOOKS`` matters for finding its article."""

    title: str
    author: str  # "" where the list names none


@dataclass(frozen=True)
class Article:
    """An article, or a disambiguation page, as far as it matters for finding and reading it."""

    url: str  # as it was asked for: the address in the page store
    canonical: str  # of the article after redirects
    title: str
    other_titles: tuple[str, ...]  # those that lead to it by a redirect
    lead: str  # its first paragraph
    author: str | None  # of the infobox
    links: tuple[tuple[str, str], ...]  # of a disambiguation page: address and the entry's text; else ()


@dataclass(frozen=True)
class Candidate:
    """An article that might be the book's."""

    article: str
    url: str  # in the page store
    canonical: str
    score: float


_FOUND = ("article", "url", "score")  # of a candidate, what the tables say

Resolver = Callable[[Book, Fetch, int], Iterable[Candidate]]


# --- Reading pages -------------------------------------------------------------------------------------------------


def _changed(url: str, selector: str) -> InputError:
    return InputError(
        f"{url}: '{selector}' finds nothing, the page has changed its structure; evenlight.corpus.wikipedia must follow"
    )


def _one(page: BeautifulSoup, selector: str, url: str) -> Tag:
    tag = page.select_one(selector)
    if tag is None:
        raise _changed(url, selector)
    return tag


def _text(tag: Tag) -> str:
    """The text of an element in Unicode's composed form, with single spaces and nothing invisible."""
    text = unicodedata.normalize("NFC", tag.get_text())
    return " ".join(re.sub("[\u00ad\u200b-\u200f\u2060\ufeff]", "", text).split())


def article_url(title: str) -> str:
    """The address of the article with this title."""
    return normal_address(f"{SITE}/wiki/{quote(title.strip().replace(' ', '_'), safe='')}")


def read_article(page: FetchedPage) -> Article:
    """Read title, redirect, lead, infobox and, of a disambiguation page, the links.

    An :class:`InputError` names the selector that finds nothing on a page of another structure.
    """
    soup = BeautifulSoup(page.html, "lxml")
    title = _text(_one(soup, "h1#firstHeading", page.url))
    content = _one(soup, "#mw-content-text .mw-parser-output", page.url)
    canonical = normal_address(urljoin(page.final_url, _one(soup, "link[rel=canonical]", page.url)["href"]))
    links = ()
    if soup.select_one("#disambigbox, .mw-disambig, #catlinks a[title^='Category:Disambiguation']"):
        entries = [(item.select_one("a[href^='/wiki/']"), _text(item)) for item in content.select("ul > li")]
        links = tuple(
            (normal_address(SITE + link["href"]), text) for link, text in entries if link and ":" not in link["href"]
        )
    redirect = soup.select_one(".mw-redirectedfrom a")
    fields = {_text(row.th): _text(row.td) for row in content.select("table.infobox tr") if row.th and row.td}
    author = next((fields[name] for name in _AUTHOR_FIELDS if name in fields), None)
    for tag in content.select(_REMOVED):
        tag.decompose()
    paragraphs = (_text(paragraph) for paragraph in content.select("p"))
    lead = next(filter(None, paragraphs), "")
    return Article(page.url, canonical, title, (_text(redirect),) if redirect else (), lead, author, links)


def read_results(page: FetchedPage) -> list[str]:
    """The addresses of a page of search results, best first; empty where the search found nothing."""
    soup = BeautifulSoup(page.html, "lxml")
    selector = "ul.mw-search-results .mw-search-result-heading a[href]"
    links = [normal_address(urljoin(SITE, link["href"])) for link in soup.select(selector)]
    if not links and not soup.select_one(".mw-search-nonefound"):
        raise _changed(page.url, f"{selector}, .mw-search-nonefound")
    return links


# --- Scoring -------------------------------------------------------------------------------------------------------


def _words(text: str) -> list[str]:
    """Words without case, accents, punctuation and a leading article."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
    words = re.findall(r"[^\W_]+", re.sub("['’ʼ]", "", plain).replace("&", " and "))
    return words[1:] if len(words) > 1 and words[0] in {"the", "a", "an"} else words


def _parted(title: str) -> tuple[str, str]:
    """An article's title and its qualifier: "Emma (novel)" is ("Emma", "novel")."""
    match = re.fullmatch(r"(.+?)\s+\(([^()]+)\)", title)
    return (match[1], match[2]) if match else (title, "")


def main_title(title: str) -> str:
    """A title without its subtitle: what stands before the first colon or semicolon."""
    return re.split(r"\s*[:;]", title, maxsplit=1)[0].strip()


def title_similarity(book: str, article: str) -> float:
    """How alike two titles are, from 0 to 1: shared words over mean number of words (Dice).

    Words are compared without case, accents, punctuation and leading article, the article's title without its
    qualifier. The book's title counts whole, without its subtitle, and by its second title ("...; Or, ..."),
    whichever is most alike.
    """
    second = re.split(r"[:;,]\s*or,?\s+", book, maxsplit=1, flags=re.IGNORECASE)[1:]
    theirs = Counter(_words(_parted(article)[0]))

    def dice(words: Counter) -> float:
        total = words.total() + theirs.total()
        return 2 * (words & theirs).total() / total if total else 0.0

    return max(dice(Counter(_words(title))) for title in (book, main_title(book), *second))


def author_evidence(author: str, article: Article) -> float:
    """1 if the article names the author in full, 0.5 if by surname or if the list names none, else 0.

    The infobox decides where it has an author, else the first paragraph. Of several authors one is enough; what
    stands before a name in lower case, as in "graf Leo Tolstoy", is no part of it.
    """
    if not author:
        return AUTHOR_UNKNOWN
    there = _words(article.lead if article.author is None else article.author)
    running = f" {' '.join(there)} "
    best = 0.0
    names = (re.sub(r"^([a-z]+\s+)+", "", name.strip()) for name in re.split(r",| and |&", author))
    for name in filter(None, map(_words, names)):
        if len(name) > 1 and f" {' '.join(name)} " in running:
            return 1.0
        if get_close_matches(name[-1], there, n=1, cutoff=SURNAME_SIMILARITY):
            best = SURNAME_ONLY
    return best


def is_book(article: Article) -> bool:
    """Whether the article is about a book: by its qualifier, else by the first word of the lead that says what it is.

    The title, with which leads begin, says nothing: "A Tale of Two Cities" may be a film.
    """
    title, qualifier = map(_words, _parted(article.title))
    lead = _words(article.lead)
    for word in qualifier or lead[len(title) if lead[: len(title)] == title else 0 :]:
        if _BOOK_WORD.fullmatch(word):
            return True
        if _OTHER_WORD.fullmatch(word):
            return False
    return False


def score(book: Book, article: Article) -> float:
    """How well an article fits a book, from 0 to 1: title · (0.45 + 0.30 · author + 0.25 · kind).

    ``title`` is :func:`title_similarity`, of the article's own title or of one that was redirected to it; ``author``
    is :func:`author_evidence`; ``kind`` is 1 if the article :func:`is_book`, else 0. Other titles therefore never
    match, while a film of the book (0.75) or a book of the same title by somebody else (0.70) are doubtful.
    """
    title = max(title_similarity(book.title, name) for name in (article.title, *article.other_titles))
    return title * (
        TITLE_WEIGHT + AUTHOR_WEIGHT * author_evidence(book.author, article) + KIND_WEIGHT * is_book(article)
    )


# --- Finding -------------------------------------------------------------------------------------------------------


def _title_in(url: str) -> str:
    return unquote(url.rpartition("/wiki/")[2]).replace("_", " ")


def _best_first(book: Book, links: Iterable[tuple[str, str]]) -> list[str]:
    """Addresses by what they promise unread: title, then author and kind in the text beside; ties stay in order."""

    def promise(link: tuple[str, str]) -> tuple[float, float]:
        url, text = link
        entry = Article(url, url, _title_in(url), (), text, None, ())
        return title_similarity(book.title, entry.title), score(book, entry)

    return [url for url, _ in sorted(dict.fromkeys(links), key=promise, reverse=True)]


def _read(book: Book, urls: list[str], fetch: Fetch, limit: int, follow: bool = True) -> list[Candidate]:
    """Read up to ``limit`` articles; a disambiguation page is followed, once, to up to ``limit`` of its links."""
    candidates = []
    for url in urls[:limit]:
        try:
            page = fetch(url)
        except Refused as refusal:
            print(f"note: {refusal}")
            continue
        if page.status != 200:
            print(f"note: {url} is not there (status {page.status})")
            continue
        article = read_article(page)
        if not article.links:
            candidates.append(Candidate(article.title, url, article.canonical, score(book, article)))
        elif follow:
            candidates += _read(book, _best_first(book, article.links), fetch, limit, follow=False)
        if any(candidate.score == 1 for candidate in candidates):
            break  # nothing can fit better, and every page is a request
    return candidates


def search_url(book: Book) -> str:
    """The address of Wikipedia's search for a book's title, without its subtitle, and author."""
    query = f"{main_title(book.title)} {book.author}".strip()
    return normal_address(f"{SITE}/w/index.php?{urlencode({'title': 'Special:Search', 'search': query, 'ns0': '1'})}")


def by_search(book: Book, fetch: Fetch, limit: int) -> list[Candidate]:
    """Candidates from Wikipedia's own search, which lists results or goes straight to an article."""
    page = fetch(search_url(book))
    if "/wiki/" in page.final_url:
        return _read(book, [page.final_url], fetch, limit)
    results = read_results(page)
    return _read(book, _best_first(book, [(url, "") for url in results]), fetch, limit)


def by_title(book: Book, fetch: Fetch, limit: int) -> list[Candidate]:
    """Candidates among the articles that have the book's title, alone or with "(novel)"; needs no search."""
    title = main_title(book.title)
    return _read(book, [article_url(title), article_url(f"{title} (novel)")], fetch, limit)


# Each way to an article's candidates by its name; it gets the book, a fetcher and the most pages it may read.
RESOLVERS: dict[str, Resolver] = {"search": by_search, "title": by_title}


@dataclass(frozen=True, kw_only=True)
class Finding:
    """How articles are found.

    Attributes:
        resolvers: names in :data:`RESOLVERS`.
        candidates: pages read per book and resolver.
        matched, doubtful: scores from which an article is the book's, or may be.
    """

    resolvers: Sequence[str]
    candidates: int
    matched: float
    doubtful: float


def find_candidates(book: Book, fetch: Fetch, finding: Finding, refused: set[str]) -> list[Candidate]:
    """The candidates of a book, best first, each article once.

    The ``resolvers`` are tried in their order, up to the first that finds an article which fits by itself
    (``matched``). One that robots.txt refuses is noted in ``refused`` and not tried again; an :class:`InputError` if
    that was the last one.
    """
    by_article: dict[str, Candidate] = {}
    for name in finding.resolvers:
        if name in refused:
            continue
        try:
            candidates = RESOLVERS[name](book, fetch, finding.candidates)
        except Refused as refusal:
            print(f"note: the resolver '{name}' is left out: {refusal}")
            refused.add(name)
            if refused >= set(finding.resolvers):
                raise InputError(f"{refusal}; add another resolver, such as 'title'") from None
            continue
        for candidate in candidates:
            known = by_article.setdefault(candidate.canonical, candidate)
            if candidate.score > known.score:
                by_article[candidate.canonical] = candidate
        if any(candidate.score >= finding.matched for candidate in candidates):
            break
    return sorted(by_article.values(), key=lambda candidate: -candidate.score)


def status_of(candidates: list[Candidate], finding: Finding) -> str:
    """``matched``, ``doubtful`` or ``missing``, from the scores of the candidates, best first.

    Matched: the best reaches ``matched`` and is ahead of the second by more than ``MARGIN``. Missing: none reaches
    ``doubtful``. All else is for a person to decide.
    """
    best, second = ([candidate.score for candidate in candidates] + [0.0, 0.0])[:2]
    if best < finding.doubtful:
        return "missing"
    return "matched" if best >= finding.matched and best - second > MARGIN else "doubtful"


def find_articles(
    books: pd.DataFrame, fetch: Fetch, finding: Finding, decisions: dict[int, str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Find the article of every book: rows of ``tables.ARTICLES``, and those that a person should look at.

    ``decisions`` gives by ``book_id`` an article's title, or "" for none, and
    goes before any score. ``url`` is the address under which the page store has the article. The second table has the
    alternatives of each doubtful book, best first, and an empty one for each missing book: deleting what is wrong
    makes it a table of decisions.
    """
    rows, doubtful = [], []
    refused: set[str] = set()
    for row in books.itertuples():
        book = Book(row.title, row.author)
        if row.book_id in decisions:
            candidates = _decided(book, decisions[row.book_id], fetch)
            status = "matched" if candidates else "missing"
        else:
            candidates = find_candidates(book, fetch, finding, refused)
            status = status_of(candidates, finding)
            if status != "matched":
                listed = {"book_id": row.book_id, "title": row.title, "author": row.author}
                alternatives = [vars(candidate) for candidate in candidates if candidate.score >= finding.doubtful]
                doubtful += [listed | alternative for alternative in alternatives or [{}]]
        best = {} if status == "missing" else vars(candidates[0])
        rows.append({"book_id": row.book_id, "status": status} | {key: best.get(key) for key in _FOUND})
    columns = ["book_id", "title", "author", *_FOUND]
    return pd.DataFrame(rows).astype({"score": float}), pd.DataFrame(doubtful, columns=columns)


def _decided(book: Book, title: str, fetch: Fetch) -> list[Candidate]:
    candidates = _read(book, [article_url(title)], fetch, 1) if title else []
    if title and not candidates:
        raise InputError(
            f"decision for '{book.title}': there is no article '{title}' ({article_url(title)}); correct it"
        )
    return candidates


def read_decisions(path: Path) -> dict[int, str]:
    """A person's decisions, a CSV with the columns ``book_id`` and ``article`` (its title, empty for none).

    Other columns are passed over. An :class:`InputError` names the row that cannot be used.
    """
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: not a readable CSV ({error})") from None
    missing = {"book_id", "article"} - set(table.columns)
    if missing:
        raise InputError(f"{path}: no column '{min(missing)}'; it needs book_id and article")
    decisions: dict[int, str] = {}
    for number, (book, article) in enumerate(zip(table["book_id"], table["article"], strict=True), start=2):
        if not book.strip().isdecimal():
            raise InputError(f"{path}, row {number}: book_id '{book}' is not the number of a book")
        if int(book) in decisions:
            raise InputError(f"{path}, row {number}: a second article for book {int(book)}; keep the row that is right")
        decisions[int(book)] = article.strip()
    return decisions


# --- Extracting ----------------------------------------------------------------------------------------------------


def extract_paragraphs(page: FetchedPage, headings: list[str], otherwise: str = "none") -> list[tuple[str, str]]:
    """The paragraphs that tell the plot: (section, text), in their order.

    Those below a heading of the second level that is one of ``headings``, case aside, subsections included. Where an
    article has none, ``otherwise`` says what is taken: ``none``, its ``lead``, or ``all``. A section is named with the
    headings above, as "Plot > Part one", the lead is "". Citation marks, tables, block quotes and what is not shown
    are left out.
    """
    soup = BeautifulSoup(page.html, "lxml")
    content = _one(soup, "#mw-content-text .mw-parser-output", page.url)
    for tag in content.select(_REMOVED):
        tag.decompose()
    path: dict[int, str] = {}
    paragraphs = []
    for tag in content.find_all([*_HEADINGS, "p"]):
        if tag.name == "p":
            if text := _text(tag):
                paragraphs.append((tuple(path.values()), text))
            continue
        level = int(tag.name[1])
        path = {above: title for above, title in path.items() if above < level} | {level: _text(tag)}
    wanted = {heading.casefold() for heading in headings}
    plot = [part for part in paragraphs if part[0] and part[0][0].casefold() in wanted]
    if not plot and otherwise != "none":
        plot = [part for part in paragraphs if otherwise == "all" or not part[0]]
    return [(" > ".join(section), text) for section, text in plot]


def paragraphs_of(
    books: pd.DataFrame, articles: pd.DataFrame, fetch: Fetch, *, headings: Sequence[str], without_plot: str
) -> tuple[pd.DataFrame, list[str]]:
    """The plot's paragraphs of all matched books, rows of ``tables.PARAGRAPHS``, and notes for the log.

    ``headings`` and ``without_plot`` are as of :func:`extract_paragraphs`. ``url`` is the article's
    canonical address. An article that two books share counts for the one that is ranked higher.
    """
    rows, notes = [], []
    taken: dict[str, int] = {}
    matched = books.merge(articles[articles["status"] == "matched"], on="book_id").sort_values("rank")
    for row in matched.itertuples():
        page = fetch(row.url)
        url = read_article(page).canonical
        if url in taken:
            notes.append(f"book {row.book_id} ({row.title}) has the same article as book {taken[url]}, left out")
            continue
        taken[url] = row.book_id
        paragraphs = extract_paragraphs(page, headings, without_plot)
        if not paragraphs:
            notes.append(f"book {row.book_id} ({row.title}): no section of the plot in {url}")
        for number, (section, text) in enumerate(paragraphs, start=1):
            rows.append(
                {
                    "paragraph_id": f"{row.book_id}-{number}",
                    "book_id": row.book_id,
                    "title": row.title,
                    "author": row.author,
                    "url": url,
                    "section": section,
                    "text": text,
                }
            )
    if not rows:
        raise InputError(
            f"no paragraph in the articles of {len(matched)} matched books; decide doubtful ones or name more headings"
        )
    return pd.DataFrame(rows), notes
