"""From the list of books to an annotated dataset: the demo's corpus in a study of its own."""

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import yaml
from running import (
    PROJECT,
    TINY,
    assert_reported,
    configuration,
    configure,
    copy_of_project,
    edited,
    planned_jobs,
    results,
    run_study,
    snakemake,
)

CORPUS = yaml.safe_load((PROJECT / "config" / "demo.yaml").read_text(encoding="utf-8"))["corpus"]
# Two passes over the treebank are enough for a parser that finds sentences.
STUDY = TINY | {
    "corpus": CORPUS | {"fetch": CORPUS["fetch"] | {"browser": "none"}, "parser": CORPUS["parser"] | {"epochs": 2}},
    "datasets": {
        "books": {"reader": "annotated", "file": "results/tiny/corpus/resolved.parquet", "validation_share": 0.2}
    },
}
TARGETS = ("corpus", "results/tiny/datasets/books/items.parquet")
REVIEW = {"write_review_page", "export_label_studio"}
PARSED = {"parse_sentences", "filter_sentences", "draft_variants", *REVIEW}
ANNOTATED = {"import_annotations", "measure_agreement", "resolve_annotations", "import_dataset"}
SCRAPED = {"list_books", "find_articles", "extract_paragraphs"}


@pytest.fixture(scope="module")
def from_books(tmp_path_factory) -> Path:
    """A project after everything up to the dataset, from stored pages; not to be changed."""
    project = copy_of_project(tmp_path_factory.mktemp("from_books") / "project", STUDY)
    run_study(project, *TARGETS)
    return project


def planned_rules(project: Path) -> set[str]:
    """The rules that a dry run lists."""
    return {rule for rule, _ in planned_jobs(project, *TARGETS)}


def test_whole_way_is_planned(tmp_path):
    project = copy_of_project(tmp_path / "project", STUDY)
    assert planned_rules(project) == SCRAPED | PARSED | ANNOTATED | {"train_parser"}


@pytest.mark.parametrize(("language", "counted"), [("en", {"books"}), ("es", set())])
def test_english_pronouns_are_counted_in_an_english_corpus(tmp_path, language, counted):
    project = copy_of_project(tmp_path / "project", edited(STUDY, "corpus", "parser", "language", value=language))
    planned = planned_jobs(project, "tables")
    assert "import_dataset" in {rule for rule, _ in planned}
    assert {dict(of)["dataset"] for rule, of in planned if rule == "measure_co_occurrence"} == counted


def test_without_a_corpus_nothing_is_scraped(tmp_path):
    project = copy_of_project(tmp_path / "project", TINY)
    assert planned_jobs(project, "corpus") == set()


def test_what_is_there_to_review(from_books):
    folder = results(from_books) / "corpus"
    table = pd.read_csv(folder / "filter.csv").set_index("rule")
    assert table.left["all"] > table.left["candidates"] > 100
    candidates = pd.read_parquet(folder / "candidates.parquet")
    assert len(candidates) == table.left["candidates"]
    page = (folder / "review.html").read_text(encoding="utf-8")
    assert all(sentence in page for sentence in candidates.sentence_id)
    assert (folder / "label_studio" / "configuration.xml").is_file()
    assert len(pd.read_csv(folder / "doubtful.csv")) > 0
    # Outside of the results nothing was written.
    assert not (from_books / "<results>").exists()


def test_dataset_is_what_the_annotators_decided(from_books):
    resolved = pd.read_parquet(results(from_books) / "corpus" / "resolved.parquet").set_index("sentence_id")
    accepted = resolved[resolved.decision == "accept"]
    items = pd.read_parquet(results(from_books) / "datasets" / "books" / "items.parquet")
    assert set(items.cluster) == set(accepted.index)
    units = pd.read_parquet(results(from_books) / "datasets" / "books" / "units.parquet")
    assert set(units.unit_id) == set(accepted.index)
    assert units.groupby("unit_id")["level"].agg(sorted).map(tuple).unique().tolist() == [("female", "male")]
    assert set(items.split) == {"train", "validation", "test"}
    # What one person changed and two left stays, and what two rejected is not there.
    assert "900002-1.6" not in accepted.index
    sentence = items[(items.cluster == "900001-1.0") & (items["attribute.gender"] == "male")].iloc[0]
    words = ["He", "lives", "with", "his", "uncle", "in", "a", "small", "house", "near", "the", "river", "."]
    assert list(sentence.words) == words
    assert [word for word, mark in zip(words, sentence.ground_truth, strict=True) if mark] == ["He", "his", "uncle"]


def test_report_shows_the_filter_and_the_agreement(from_books, copy_of, tmp_path):
    report = tmp_path / "report.html"
    run_study(copy_of(from_books), "corpus", "--report", str(report), cores=1)
    assert_reported(report, ("Corpus",), PROJECT / "resources" / "captions" / "corpus")


def test_own_file_among_the_results_is_refused(from_books, copy_of):
    """As an input it would be deleted before its rule runs again."""
    project = copy_of(from_books)
    study("corpus", "scrape", value={"decisions": "results/tiny/corpus/doubtful.csv"})(project)
    done = snakemake(project, "--dry-run", "corpus")
    assert done.returncode != 0
    assert "corpus.scrape.decisions: results/tiny/corpus/doubtful.csv is made" in done.stdout


def test_another_page_is_read_and_not_the_one_that_was_kept(from_books, copy_of):
    project = copy_of(from_books)
    pages = project / "resources" / "demo" / "pages"
    entries = [json.loads(line) for line in (pages / "index.jsonl").read_text(encoding="utf-8").splitlines()]
    entry = next(entry for entry in entries if entry["url"] == "https://www.gutenberg.org/browse/scores/top")
    path = pages / entry["file"]
    path.write_text(
        path.read_text(encoding="utf-8").replace("The Glass Orchard", "The Green Orchard"), encoding="utf-8"
    )
    entry["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (pages / "index.jsonl").write_text("".join(json.dumps(one) + "\n" for one in entries), encoding="utf-8")
    run_study(project, "results/tiny/corpus/books.parquet")
    titles = pd.read_parquet(results(project) / "corpus" / "books.parquet").title
    assert (titles == "The Green Orchard").any()
    assert not (titles == "The Glass Orchard").any()


def study(*keys: str, value: object) -> Callable[[Path], None]:
    """An edit of the configuration: another value under ``keys``."""
    return lambda project: configure(project, edited(configuration(project), *keys, value=value))


EDITS = {
    "nothing": (lambda project: None, set()),
    "policy changed": (study("corpus", "fetch", "timeout", value=50), set()),
    "pages touched": (lambda project: os.utime(project / "resources/demo/pages/index.jsonl"), set()),
    "sites themselves": (
        study("corpus", "fetch", value={"contact": "you@example.org", "browser": "none"}),
        SCRAPED | PARSED,
    ),
    "fewer books": (study("corpus", "scrape", value={"limit": 5}), SCRAPED | PARSED),
    "longer training of the parser": (study("corpus", "parser", "epochs", value=3), {"train_parser"} | PARSED),
    "shorter sentences": (study("corpus", "filter", value={"max_words": 20}), PARSED - {"parse_sentences"}),
    "names drawn": (study("corpus", "draft", value={"names": "drawn"}), {"draft_variants"} | REVIEW),
    "annotator left": (
        study("corpus", "annotation", "files", value=CORPUS["annotation"]["files"][:2]),
        ANNOTATED,
    ),
    "resolved otherwise": (
        study("corpus", "annotation", "resolution", value="leave_out"),
        {"resolve_annotations", "import_dataset"},
    ),
    "review page drawn otherwise": (
        lambda project: (
            (project / "workflow/scripts/evenlight/corpus/annotation/review.html").open("a").write("<!-- -->")
        ),
        {"write_review_page"},
    ),
}


@pytest.mark.parametrize(("edit", "expected"), EDITS.values(), ids=EDITS)
def test_edit(from_books, copy_of, edit, expected):
    project = copy_of(from_books)
    edit(project)
    assert planned_rules(project) == expected


def test_browser_and_stored_pages_give_the_same_tables(from_books, tmp_path, browser):
    project = copy_of_project(tmp_path / "project", edited(STUDY, "corpus", "fetch", "browser", value=browser))
    scraped = [f"results/tiny/corpus/{name}" for name in ("paragraphs.parquet", "doubtful.csv")]
    run_study(project, *scraped)
    assert next((results(project) / "corpus").glob("pages*/index.jsonl")).stat().st_size > 0
    for name in ("books.parquet", "articles.parquet", "doubtful.csv", "paragraphs.parquet"):
        here, there = (results(one) / "corpus" / name for one in (project, from_books))
        assert here.read_bytes() == there.read_bytes(), name


def test_missing_annotation_file_is_named(tmp_path):
    project = copy_of_project(
        tmp_path / "project", edited(STUDY, "corpus", "annotation", "files", value=["annotations/nobody.json"])
    )
    done = snakemake(project, "--dry-run", *TARGETS)
    assert done.returncode != 0
    assert "annotations/nobody.json" in done.stdout
