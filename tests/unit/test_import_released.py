"""Released answers: fetched, checked, and written as one table that a study reads."""

import hashlib
import runpy
import signal
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evenlight.core import sources
from evenlight.core.errors import InputError
from evenlight.datasets import questions, released
from evenlight.datasets.dialect import COLUMNS

SCRIPT = Path(__file__).parents[2] / "workflow" / "scripts" / "explanations" / "import_released.py"
TALK = Path(__file__).parents[2] / released.RELEASES["walk_the_talk"].resources
FILES = {
    "dialect/gpt/regular_bigbench_qna.csv": (
        "dates",
        "Please, when?",
        "On Monday.",
        "The answer is (B).",
        "When?",
        "B",
    ),
    "dialect/gpt/aave_llm_bigbench_qna.csv": ("dates", "When it be?", "It depends.", "None.", "When?", "B"),
}


@pytest.fixture
def mirrored(tmp_path, monkeypatch):
    """Two made rows in a mirror, each a file."""
    for name, row in FILES.items():
        path = tmp_path / "mirror" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame([row], columns=COLUMNS).to_csv(path, index=False)
        found = sources.Source("http://127.0.0.1:1/", hashlib.sha256(path.read_bytes()).hexdigest())
        monkeypatch.setitem(sources.SOURCES, name, found)
    monkeypatch.setitem(released.RELEASES, "dialect", released.Release("dialect", {"bigbench": list(FILES)}))
    return tmp_path / "mirror"


def run(mirror: Path, output: Path) -> str:
    """What the command says where it fails."""
    handler = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.MonkeyPatch.context() as patch:
            flags = ["--release", "dialect", "--part", "bigbench", "--mirror", str(mirror), "--output", str(output)]
            patch.setattr(sys, "argv", ["import_released.py", *flags])
            runpy.run_path(str(SCRIPT), run_name="__main__")
    except SystemExit as end:
        return str(end)
    finally:
        signal.signal(signal.SIGTERM, handler)
    return ""


def test_two_rows_become_one_question_with_two_answers(mirrored, tmp_path):
    output = tmp_path / "answers.parquet"
    assert run(mirrored, output) == ""
    table = pd.read_parquet(output).set_index("level")
    assert table["decision"].fillna("none").to_dict() == {"standard": "B", "african_american": "none"}
    assert table["text"].to_dict() == {"standard": "On Monday.", "african_american": "It depends."}
    assert table["unit"].nunique() == 1
    settings = {"reader": "questions", "file": str(output), "text": "question", "unit": "unit", "level": "level"}
    settings |= {"factor": "dialect", "levels": ["standard", "african_american"], "cluster": None, "sha256": None}
    settings |= {"other_levels": "refuse", "balanced": True, "segmenter": "unicode"}
    dataset = questions.read({str(output): output}, settings)
    assert dataset.items["words"].map(list).tolist() == [["When", "?"]] * 2
    assert sorted(dataset.units["level"]) == ["african_american", "standard"]


def test_a_changed_file_is_refused_and_nothing_is_written(mirrored, tmp_path):
    with (mirrored / next(iter(FILES))).open("a") as file:
        file.write("x,y\n")
    said = run(mirrored, tmp_path / "answers.parquet")
    assert "regular_bigbench_qna.csv: wrong checksum" in said
    assert not (tmp_path / "answers.parquet").exists()


def test_the_parts_have_every_dialect_and_draw():
    parts = {"dialect": sources.DIALECT_SHA256, "dialect/uncertainty": sources.DIALECT_DRAWS_SHA256}
    assert [len(part) for part in parts.values()] == [3 * 2, 4 * 2 * 10]
    for folder, part in parts.items():
        for path, digest in part.items():
            found = sources.SOURCES[f"{folder}/{path}"]
            assert found.sha256 == digest
            assert "/dce014cf60b69fbf3d965c2452da3d40095265eb/" in found.url
            assert found.url.endswith(path)


def test_every_part_is_made_of_known_sources():
    for name, release in released.RELEASES.items():
        for part, files in release.parts.items():
            assert files, (name, part)
            assert [file for file in files if sources.source(file) is None] == []


def test_a_table_that_was_made_of_other_files_comes_from_a_mirror_alone(tmp_path):
    with pytest.raises(
        InputError, match=r"made of the files at https://github.com/kmatton/.*cannot be downloaded; place"
    ):
        sources.fetch("walk_the_talk/bbq_answers.parquet", tmp_path / "answers.parquet", waits=())
    assert list(tmp_path.iterdir()) == []


def test_parts_of_the_answers_about_people(mirror):
    """Against plain counts of the released tables."""
    parts = {part: released.RELEASES["walk_the_talk"].read(mirror, part, TALK) for part in ("questions", "swapped")}
    plain = pd.read_parquet(mirror / "walk_the_talk" / "bbq_answers.parquet")
    assert len(parts["questions"]) == len(plain)
    assert parts["questions"].groupby("level")["unit"].nunique().to_dict() == {"ethnicity": 15, "other": 15}
    swapped = parts["swapped"].groupby("level")["draw"].size()
    assert swapped.to_dict() == {"original": (plain["form"] == "original").sum(), "swapped": 2 * 30 * 50}
    of_swapped = parts["swapped"].query("level == 'swapped' and unit == '738' and model == 'gpt-4o'")
    concepts = pd.read_parquet(mirror / "walk_the_talk" / "bbq_concepts.parquet").query("question == '738'")
    # It has races and genders; the races are named first, and are swapped.
    names = concepts.set_index("concept")["name"].sort_index().tolist()
    races = next(number for number, name in enumerate(names) if "race" in name)
    named = "".join("1" if number == races else "0" for number in range(len(names)))
    form = plain[(plain["question"] == "738") & (plain["model"] == "gpt-4o") & (plain["form"] == named)]
    assert len(form) == 50
    assert (np.sort(of_swapped["text"]) == np.sort(form["response"])).all()
    assert parts["swapped"]["concept"].isna().all()
