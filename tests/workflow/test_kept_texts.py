"""Texts of a dataset that does not allow it stand in its tables of data, and in nothing that is shown."""

import base64
import binascii
import json
import re
import zlib
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pytest
from running import configuration, configure, copy_of_project, edited, planned_jobs, results, run_study

# What the files are made of; none of it is a word of a page.
SUBJECTS = {"shown": {"a": "alvrok", "b": "bremtu"}, "kept": {"a": "azqual", "b": "bivdor"}}
REST = {
    "shown": ("sorvin", "sulkat", "sendip", "sarmog", "sibwen", "sotlar"),
    "kept": ("korvin", "kulkat", "kendip", "karmog", "kibwen", "kotlar"),
}
PAIRS = 24
# Tables of data, and what the model needs to read texts.
DATA = ("datasets", "predictions", "models")
STUDY = {
    "study": "private",
    "seeds": [0],
    "device": "cpu",
    "datasets": {
        name: {
            "reader": "table",
            "file": f"{name}.csv",
            **{"text": "text", "label": "label", "classes": ["no", "yes"], "pair": "pair", "test_share": 0.5},
            "attributes": {"kind": {"column": "kind", "levels": ["a", "b"]}},
        }
        for name in REST
    },
    "trainings": {"short": {"learning_rate": 0.01, "batch_size": 8, "epochs": 1}},
    "models": {
        "small": {
            "architecture": "one_layer_attention",
            "hidden_size": 4,
            "tokenizer": {"vocabulary_size": 60},
            "training": "short",
        }
    },
    "explainers": {
        "grad": {"method": "saliency"},
        **{name: {"method": "lime", "samples": 20} for name in ("lime", "lime_again")},
        "random": {"method": "uniform_random"},
    },
    "reliance": {"texts": 2},
    "agreement": {},
    "metrics": {"gini": {"metric": "gini"}},
    "statistics": {"compare": {"kind": [["a", "b"]]}, "verdict_permutations": 1},
    "figures": {"formats": ["svg"]},
}


@pytest.fixture(scope="module")
def private(tmp_path_factory) -> Path:
    """A project after a study of two tables, of which one keeps its texts, with everything that it can show."""
    study = edited(STUDY, "datasets", "kept", "show_texts", value=False)
    project = copy_of_project(tmp_path_factory.mktemp("private") / "project", study)
    for name, rest in REST.items():
        rows = [
            {"text": " ".join((subject, *rest[number % 3 : 3 + number % 4])), "label": "no" if number % 2 else "yes"}
            | {"pair": number, "kind": kind}
            for number in range(PAIRS)
            for kind, subject in SUBJECTS[name].items()
        ]
        pd.DataFrame(rows).to_csv(project / f"{name}.csv", index=False)
    show(project)
    return project


def show(project: Path) -> None:
    """Make everything that a reader may get."""
    run_study(project, "all")
    run_study(project, "--report", "report.html")


def shown(project: Path, name: str) -> dict[str, set[str]]:
    """The words of a dataset by the file that shows them: every result but tables of data, and the report."""
    words = re.compile("|".join([*SUBJECTS[name].values(), *REST[name]]), re.IGNORECASE)
    folder = results(project)
    paths = [path for path in folder.rglob("*") if path.is_file() and path.relative_to(folder).parts[0] not in DATA]
    texts = {path.relative_to(folder).as_posix(): text_of(path) for path in paths}
    found = {path: set(words.findall(text)) for path, text in texts.items()}
    found["report.html"] = set(words.findall(text_of(project / "report.html")))
    return {path: its for path, its in found.items() if its}


def text_of(path: Path) -> str:
    """What is in a file, with what is packed inside of pages."""
    if path.suffix == ".parquet":
        table = pd.read_parquet(path)
        return f"{table.to_csv()} {table.attrs}"
    text = path.read_bytes().decode("utf-8", errors="replace")
    return "\n".join([text, *(unpacked(part) for part in re.findall(r"[A-Za-z0-9+/]{40,}=*", text))])


def unpacked(part: str) -> str:
    """What base64 holds, compressed as in the page or not."""
    try:
        held = base64.b64decode(part)
    except binascii.Error:
        return ""
    with suppress(zlib.error):
        held = zlib.decompress(held)
    return held.decode("utf-8", errors="replace")


def test_every_file_that_could_show_words_is_there(private):
    pages = {"tables/words_by_group.csv", "audit.json", "index.html"}
    assert pages <= {path.relative_to(results(private)).as_posix() for path in results(private).rglob("*")}


def test_words_of_a_dataset_that_shows_its_texts_are_found_where_they_are_shown(private):
    """Else it would say nothing that none are found of the other one."""
    found = shown(private, "shown")
    assert {"tables/words_by_group.csv", "tables/words_by_group.parquet"} <= set(found)
    # Texts stand on the page only where all datasets allow it.
    assert {"index.html", "audit.json"}.isdisjoint(found)
    assert "audit.md" not in found


def test_no_word_of_a_dataset_that_keeps_its_texts_is_shown(private):
    assert shown(private, "kept") == {}


def test_it_is_told_how_a_dataset_that_keeps_its_texts_is_explained(private):
    audit = json.loads((results(private) / "audit.json").read_text(encoding="utf-8"))
    [told] = [each for each in audit["reliance"] if each["place"].endswith("on kept")]
    assert told["forms"]
    assert told["names"]


@pytest.mark.slow
def test_where_texts_may_be_shown_decides_no_explanation(private, copy_of):
    """What shows words is made again, in both directions, and nothing else."""
    private = copy_of(private)
    study = configuration(private)
    configure(private, edited(study, "datasets", "kept", "show_texts", value=True))
    jobs = {rule for rule, _ in planned_jobs(private, "all")}
    assert jobs == {"measure_reliance", "write_page"}
    show(private)
    found = shown(private, "kept")
    assert {"index.html", "tables/words_by_group.csv"} <= set(found)
    configure(private, edited(study, "page", value={"texts": False}))
    show(private)
    assert shown(private, "kept") == {}
    assert "index.html" not in shown(private, "shown")
