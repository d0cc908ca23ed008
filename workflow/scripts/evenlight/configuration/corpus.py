"""The settings of the corpus: from books to a labelled dataset."""

from collections.abc import Iterator
from typing import Literal, Self

from pydantic import Field, model_validator

from evenlight.settings import Different, Location, Settings, Text, refusal, shown


class Scrape(Settings):
    """From the list of popular books to the plots that Wikipedia tells of them."""

    period: Literal["yesterday", "last_7_days", "last_30_days"] = Field(
        "last_30_days", description="Which list of Project Gutenberg's most popular books."
    )
    limit: int = Field(100, ge=1, le=100, description="How many books, from the top of the list.")
    resolvers: Different[Literal["search", "title"]] = Field(
        ["search", "title"],
        min_length=1,
        description=(
            "How a book's article is looked for, one after the other: `search` by Wikipedia's own search, `title` by "
            "the book's title and Wikipedia's disambiguation pages."
        ),
    )
    candidates: int = Field(3, ge=1, description="Most articles that a resolver may propose for a book.")
    matched: float = Field(
        0.82,
        gt=0,
        le=1,
        description="From this score on (0 to 1, by title, author and kind of article) an article is taken.",
    )
    doubtful: float = Field(
        0.5, gt=0, le=1, description="From this score on an article is listed in `doubtful.csv` for a person to decide."
    )
    decisions: Location | None = Field(
        None,
        description="Path of a table of what a person decided, with columns `book_id` and `article` (empty for none).",
    )
    headings: Different[Text] = Field(
        ["Plot", "Plot summary", "Synopsis", "Summary", "Story", "Plot overview", "Plot introduction"],
        min_length=1,
        description="Headings of the sections that tell the plot, in any case; their subsections belong to them.",
    )
    without_plot: Literal["none", "lead", "all"] = Field(
        "none", description="What is read of an article without such a section."
    )


class Fetch(Settings):
    """How the sites are asked, by a real browser; all but `serve` changes no result. What was read is kept with its
    address, time and SHA-256 in `results/<study>/corpus/pages/` and not asked for again; to read the sites again,
    delete that folder and add `--forcerun list_books`.
    """

    contact: Text | None = Field(
        None, description="Address under which the sites' operators reach you; required when real sites are asked."
    )
    browser: Literal["auto", "chromium", "firefox", "none"] = Field(
        "auto", description="Which browser; `auto` takes what is there, `none` reads stored pages only."
    )
    wait: float = Field(3.0, ge=0, description="Seconds between two pages of a site.")
    timeout: float = Field(60.0, gt=0, description="Seconds after which a page is given up for this time.")
    attempts: int = Field(5, ge=1, description="How often a page is tried.")
    backoff: float = Field(5.0, ge=0, description="Seconds before the second attempt; doubles with each.")
    serve: Location | None = Field(
        None, description="Folder of stored pages that stand in for the sites, as in the demo."
    )


class Parser(Settings):
    """A spaCy pipeline, in Universal Dependencies or in the scheme of spaCy's English pipelines."""

    pipeline: Location = Field("en_core_web_sm", description="Name of an installed pipeline, or path of its folder.")
    treebank: Location | None = Field(
        None, description="Path of a treebank (CoNLL-U) on which a small pipeline is trained and used instead."
    )
    language: str = Field(
        "en",
        pattern=r"^[a-z]{2,3}$",
        description="Code of the sentences' language, for a treebank and for the review page.",
    )
    epochs: int = Field(6, ge=1, description="Passes over the treebank.")


class Filter(Settings):
    """Which sentences become candidates; `filter.csv` says how many each rule removed."""

    max_words: int = Field(30, ge=1, description="Longest sentence, in tokens.")
    similarity: float = Field(
        0.7,
        gt=0,
        le=1,
        description="Share of common word pairs (Jaccard index) from where on two sentences count as the same.",
    )
    lexicon: Location | None = Field(
        None,
        description="Path of a list of nouns that mean people, one on each line; null is the one derived from WordNet.",
    )


class Draft(Settings):
    """How the male, female and neutral form of every sentence are drafted, for people to review."""

    names: Literal["pronoun", "drawn"] = Field(
        "pronoun", description="What becomes of names, pronouns as in GECO or names drawn from a list."
    )
    seed: int = Field(0, ge=0, description="Draws the names.")


class Annotation(Settings):
    """What people decided, and how their disagreements are resolved."""

    files: Different[Location] = Field(
        [],
        description=(
            "Paths of what annotators made: exports of the review page or of Label Studio, GECO's own labelling "
            "or sheets, or tables. Empty as long as there are none."
        ),
    )
    resolution: Literal["majority", "adjudication", "leave_out"] = Field(
        "majority",
        description=(
            "What decides where annotators disagree: the `majority`; `adjudication`, a file of one more person; "
            "or `leave_out`, nothing, and the sentence goes."
        ),
    )
    adjudication: Location | None = Field(None, description="Path of that person's file, in any of the formats.")


class Corpus(Settings):
    """From books to a labelled dataset: Wikipedia's articles about the most popular books of Project Gutenberg are
    read, cut into sentences, filtered, and drafted in male, female and neutral form; people review the drafts, and
    what they decide is a dataset of the reader `annotated`. All of it lies in `results/<study>/corpus/`.
    """

    scrape: Scrape = Field(default_factory=Scrape, description="Which books and which parts of their articles.")
    fetch: Fetch = Field(default_factory=Fetch, description="How the sites are asked.")
    parser: Parser = Field(default_factory=Parser, description="Which parser cuts and parses the sentences.")
    filter: Filter = Field(default_factory=Filter, description="Which sentences are worth a person's time.")
    draft: Draft = Field(default_factory=Draft, description="How forms are drafted.")
    annotation: Annotation = Field(default_factory=Annotation, description="What people decided.")

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        problems = list(self._contradictions())
        if problems:
            raise refusal(*problems)
        return self

    def _contradictions(self) -> Iterator[tuple[tuple[str, ...], str]]:
        fetch, annotation = self.fetch, self.annotation
        if fetch.contact is None and fetch.serve is None and fetch.browser != "none":
            yield ("fetch", "contact"), "is missing; required is an address under which the sites' operators reach you"
        if (annotation.resolution == "adjudication") != (annotation.adjudication is not None):
            yield (
                ("annotation", "adjudication"),
                f'found {shown(annotation.adjudication)} with resolution "{annotation.resolution}"; '
                "give a file with the resolution adjudication, and only with it",
            )
