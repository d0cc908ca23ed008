"""Released answers: fetched, checked, and written as one table that a study reads."""

import hashlib
import http.server
import io
import json
import runpy
import shutil
import signal
import sys
import tarfile
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evenlight.core import sources
from evenlight.core.errors import InputError
from evenlight.datasets import Reader, released
from evenlight.datasets.dialect import COLUMNS

SCRIPT = Path(__file__).parents[3] / "workflow" / "scripts" / "explanations" / "import_released.py"
TALK = Path(__file__).parents[3] / released.RELEASES["walk_the_talk"].resources
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
    reader = Reader.parse(settings | {"factor": "dialect", "levels": ["standard", "african_american"]})
    dataset = reader.read({str(output): output})
    assert dataset.items["words"].map(list).tolist() == [["When", "?"]] * 2
    assert sorted(dataset.units["level"]) == ["african_american", "standard"]


def test_a_changed_file_is_refused_and_nothing_is_written(mirrored, tmp_path):
    with (mirrored / next(iter(FILES))).open("a") as file:
        file.write("x,y\n")
    said = run(mirrored, tmp_path / "answers.parquet")
    assert "regular_bigbench_qna.csv: wrong checksum" in said
    assert not (tmp_path / "answers.parquet").exists()


def test_every_part_is_made_of_known_sources_and_archives_are_at_a_commit():
    for name, archive in sources.ARCHIVES.items():
        assert name in released.RELEASES
        assert len(Path(archive.url).name.removesuffix(".tar.gz")) == 40
        assert len(archive.sha256) == 64
    for name, release in released.RELEASES.items():
        for part, files in release.parts.items():
            assert files or name in sources.ARCHIVES, (name, part)
            assert [file for file in files if sources.source(file) is None] == []


# Thousands of single files -------------------------------------------------------------------------------------------

# A prompt with one example, and what the two models said.
PROMPT = "An example?\n\nPlease verbalize.\n\n###\n\nWho?\n\n(A) He\n\n(B) She\n\nPlease verbalize how you think."
SINGLE_FILES = {
    "counterfactual-generation/example_7/concepts.json": ["Their genders", "The place"],
    "counterfactual-generation/example_7/categories.json": ["gender", "location"],
    "counterfactual-generation/example_7/concept_settings.json": [
        {"current_setting": "a man", "new_settings": ["a woman"]},
        {"current_setting": "a park", "new_settings": ["a street", "a shop"]},
    ],
    "counterfactual-generation/example_7/counterfactual_0-.json": {"counterfactual": "not read"},
    "model-responses/gpt-4o-few-shot-cot/example_7/counterfactual/response_counterfactual=0-_n=2.json": {
        "prompt": PROMPT,
        "response": " Nobody.",
        "answer": -1,
    },
    "model-responses/gpt-4o-few-shot-cot/example_7/original/response_n=2.json": {
        "prompt": PROMPT.replace("Who?", "Who is it?"),
        "response": "\nShe.",
        "answer": 1,
    },
    "model-responses/gpt-4o-few-shot-cot/example_7/original/response_n=10.json": {
        "prompt": PROMPT,
        "response": "He.",
        "answer": 0,
    },
    "model-responses/claude-few-shot-cot/example_7/original/response_n=0.json": {"prompt": "of a third model"},
    "implied-concepts/gpt-4o-few-shot-cot/example_7/original/implied_concepts_response_n=2.json": {
        "prompt": "judge",
        "concept_decisions": [[0, 1]],
    },
}
QUESTION = "\n\n(A) He\n\n(B) She"


def pack(path: Path, files: dict[str, bytes], folder: str = "some/folder", above: str = "talk-0497") -> sources.Archive:
    """Write a packed repository, and say what is in it."""
    with tarfile.open(path, "w:gz") as packed:
        for name, content in {"README.md": b"no data", **{f"{folder}/{name}": files[name] for name in files}}.items():
            member = tarfile.TarInfo(f"{above}/{name}")
            member.size = len(content)
            packed.addfile(member, io.BytesIO(content))
    lines = [f"{hashlib.sha256(files[name]).hexdigest()}  {folder}/{name}\n" for name in sorted(files)]
    return sources.Archive(
        "http://127.0.0.1:1/commit.tar.gz",
        folder,
        hashlib.sha256("".join(lines).encode()).hexdigest(),
        sources.ARCHIVES["walk_the_talk"].tables,
    )


@pytest.fixture
def packed(tmp_path, monkeypatch) -> Path:
    """The single files as a packed repository, which lies in a mirror."""
    path = tmp_path / "mirror" / "walk_the_talk" / "commit.tar.gz"
    path.parent.mkdir(parents=True)
    made = pack(path, {name: json.dumps(content).encode() for name, content in SINGLE_FILES.items()})
    monkeypatch.setitem(sources.ARCHIVES, "walk_the_talk", made)
    return path


def unpack(mirror: Path | None, output: Path) -> Path:
    sources.fetch_tables("walk_the_talk", released.RELEASES["walk_the_talk"].tables, output, mirror, waits=())
    return output / "walk_the_talk"


def test_single_files_become_three_tables(packed, tmp_path):
    folder = unpack(tmp_path / "mirror", tmp_path / "made")
    answers, concepts, implied = (
        pd.read_parquet(folder / f"bbq_{name}.parquet") for name in ("answers", "concepts", "implied")
    )
    assert answers.to_numpy().tolist() == [
        ["gpt-4o", "7", "0-", 2, "Who?" + QUESTION, -1, " Nobody."],
        ["gpt-4o", "7", "original", 10, "Who?" + QUESTION, 0, "He."],
        ["gpt-4o", "7", "original", 2, "Who is it?" + QUESTION, 1, "\nShe."],
    ]
    assert concepts.to_numpy().tolist() == [
        ["7", 0, "Their genders", "gender", "a man", "a woman"],
        ["7", 1, "The place", "location", "a park", "a street"],
    ]
    assert implied.to_numpy().tolist() == [["gpt-4o", "7", 2, 0, 0], ["gpt-4o", "7", 2, 1, 1]]
    table = released.RELEASES["walk_the_talk"].read(tmp_path / "made", "questions", TALK)
    assert table["level"].tolist() == ["other"] * 3
    assert table["decision"].fillna("none").tolist() == ["none", "A", "B"]
    assert table["implied"].tolist() == [None, None, [1]]


def test_the_folder_above_and_the_order_of_a_packed_repository_do_not_matter(tmp_path):
    files = {"a.json": b"1", "b/c.json": b"2"}
    first, second = tmp_path / "first", tmp_path / "second"
    archive = pack(first, files)
    assert pack(second, dict(reversed(files.items())), above="other") == archive
    assert [list(sources.unpacked(archive, path, "", "").items()) for path in (first, second)] == [
        list(files.items())
    ] * 2


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (lambda content: b"<html>", r"commit\.tar\.gz: no packed.*delete it"),
        (lambda content: content[: len(content) // 2], r"commit.tar.gz, some/folder: wrong checksum"),
        (None, r"commit.tar.gz, some/folder: wrong checksum: SHA-256 should be"),
    ],
)
def test_a_broken_archive_is_refused_and_no_table_is_written(packed, tmp_path, broken, said):
    if broken:
        packed.write_bytes(broken(packed.read_bytes()))
    else:
        changed = {name: json.dumps(content).encode() for name, content in SINGLE_FILES.items()}
        pack(packed, changed | {"counterfactual-generation/example_7/categories.json": b'["gender", "time"]'})
    with pytest.raises(InputError, match=said):
        unpack(tmp_path / "mirror", tmp_path / "made")
    assert not (tmp_path / "made").exists()


def test_without_a_mirror_the_archive_is_downloaded(packed, tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"commit.tar.gz: cannot be downloaded .*walk_the_talk/commit.tar.gz and name"):
        unpack(None, tmp_path / "made")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    serve = partial(http.server.SimpleHTTPRequestHandler, directory=packed.parent)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        served = replace(sources.ARCHIVES["walk_the_talk"], url=f"http://127.0.0.1:{server.server_port}/{packed.name}")
        monkeypatch.setitem(sources.ARCHIVES, "walk_the_talk", served)
        folder = unpack(None, tmp_path / "made")
        server.shutdown()
    assert sorted(path.name for path in folder.iterdir()) == list(served.tables)


def test_tables_of_a_mirror_go_before_the_archive_and_must_be_as_published(mirror, tmp_path):
    tables = sources.ARCHIVES["walk_the_talk"].tables
    folder = unpack(mirror, tmp_path / "made")
    assert {path.name: sources.digest(path) for path in folder.iterdir()} == tables
    changed = tmp_path / "changed" / "walk_the_talk"
    shutil.copytree(folder, changed)
    (changed / "bbq_implied.parquet").write_bytes(b"other")
    with pytest.raises(InputError, match=r"bbq_implied.parquet: wrong checksum"):
        unpack(changed.parent, tmp_path / "again")


# The answers about people --------------------------------------------------------------------------------------------


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
