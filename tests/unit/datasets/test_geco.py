import json
import subprocess
from pathlib import Path

import pytest
from commands import run_command
from wording import says

from evenlight import datasets
from evenlight.core import sources
from evenlight.core.contracts.texts import ITEMS, UNITS
from evenlight.core.errors import InputError
from evenlight.core.tables import read_metadata, read_table
from evenlight.datasets.readers import geco
from evenlight.texts.items import assign_validation, check_items, groups_kept_together

SCRIPTS = Path(sources.__file__).parents[2]
VARIANTS = [(classes, words) for classes in ("binary", "three_class") for words in ("all", "subject")]
FORMS = {"male": ["He", "lost", "his", "hat", "."], "female": ["She", "lost", "her", "hat", "."]}


def settings_for(classes: str, words: str) -> dict:
    return {"reader": "geco", "classes": classes, "words": words}


BINARY = settings_for("binary", "all")
TRAIN, TEST = "geco/binary_gender_all/train.jsonl", "geco/binary_gender_all/test.jsonl"


def row(number: int, gender: str, **changed) -> dict:
    target = ["female", "male", "neutral"].index(gender)
    words = {"sentence": FORMS[gender], "ground_truth": [1, 0, 1, 0, 0]}
    return words | {"gender": gender, "target": target, "sentence_idx": number} | changed


def rows(*numbers: int) -> list[dict]:
    return [row(number, gender) for number in numbers for gender in FORMS]


@pytest.fixture
def files(tmp_path) -> dict[str, Path]:
    """A small GECO of four training pairs and one test pair."""
    files = {TRAIN: tmp_path / "train.jsonl", TEST: tmp_path / "test.jsonl"}
    write(files[TRAIN], rows(7, 8, 9, 10))
    write(files[TEST], rows(3))
    return files


def write(path: Path, lines: list[dict]):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_rows_become_items(files):
    dataset = datasets.load(files, datasets.Reader.parse(BINARY))
    assert dataset.classes == ["female", "male"]
    assert dataset.notes == []
    assert len(dataset.items) == 10
    about = {"item_id": "00003-female", "label": 0, "split": "test", "cluster": "00003", "attribute.gender": "female"}
    words = {"words": ["She", "lost", "her", "hat", "."], "ground_truth": [1, 0, 1, 0, 0]}
    assert dataset.items.iloc[-1].to_dict() == about | words
    assert len(dataset.units) == 10
    assert dataset.units.iloc[-1].tolist() == ["00003", "00003-female", "form", "gender", "female"]


def test_white_space_is_stripped_and_words_of_it_left_out(files):
    changed = row(3, "male", sentence=["He ", "lost", " ", "hat", "."])
    write(files[TEST], [changed, row(3, "female")])
    dataset = datasets.load(files, datasets.Reader.parse(BINARY))
    item = dataset.items.set_index("item_id").loc["00003-male"]
    assert item.words == ["He", "lost", "hat", "."]
    assert item.ground_truth == [1, 0, 0, 0]
    assert dataset.notes == [says("white space alone", "1")]


def test_groups_other_than_the_settings_ask_for_and_labels_without_a_class_are_refused(files, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(geco.Geco, "class_names", lambda self: ["female"])
        with pytest.raises(InputError, match=r"item 00007-male:.*label 1.*position"):
            datasets.load(files, datasets.Reader.parse(BINARY))
    write(files[TRAIN], [row(7, "male")])
    write(files[TEST], [row(3, "male")])
    with pytest.raises(InputError, match=r"levels male.*gender.*female, male expected"):
        datasets.load(files, datasets.Reader.parse(BINARY))


def imported(output: Path, files: dict[str, Path], **settings) -> subprocess.CompletedProcess:
    units = output.with_name("units.parquet")
    settings = {"dataset": "small", **BINARY, "validation_share": 0.25, "split_seed": 0, **settings}
    command = [SCRIPTS / "datasets/import_dataset.py", "--settings", json.dumps(settings)]
    for name, path in files.items():
        command += ["--source", f"{name}={path}"]
    return run_command(*command, "--items", output, "--units", units)


def test_script(files, tmp_path):
    output = tmp_path / "items.parquet"
    done = imported(output, files)
    assert done.returncode == 0, done.stderr
    items, metadata = read_table(output, ITEMS), read_metadata(output, ITEMS)
    assert items.split.value_counts().to_dict() == {"train": 6, "validation": 2, "test": 2}
    assert sorted(read_table(tmp_path / "units.parquet", UNITS)["item_id"]) == sorted(items["item_id"])
    assert done.stdout.splitlines() == metadata["notes"]
    assert metadata["dataset"] == "small"
    assert metadata["classes"] == ["female", "male"]
    assert metadata["sources"] == {name: sources.digest(path) for name, path in files.items()}
    assert metadata["settings"]["validation_share"] == 0.25


def test_script_writes_nothing_when_the_data_are_wrong(files, tmp_path):
    write(files[TEST], rows(7))
    done = imported(tmp_path / "items.parquet", files)
    assert done.returncode == 1
    assert done.stderr.startswith("error: dataset small: item_id 00007-male occurs twice")
    assert not list(tmp_path.glob("*.parquet"))


@pytest.mark.parametrize(
    ("classes", "words", "empty_ground_truths"),
    [
        ("binary", "all", {"train": 2}),
        ("binary", "subject", {"train": 22, "test": 2}),
        ("three_class", "all", {"train": 3}),
        ("three_class", "subject", {"train": 33}),
    ],
)
def test_the_published_files_pass_every_check(mirror, classes, words, empty_ground_truths):
    reader = datasets.Reader.parse(settings_for(classes, words))
    dataset = datasets.load({name: mirror / name for name in reader.sources()}, reader)
    whole = groups_kept_together(dataset.items, dataset.units)
    check_items(assign_validation(dataset.items, whole, 0.2, 0), dataset.units, "geco")
    groups = len(dataset.classes)
    assert dataset.items.split.value_counts().to_dict() == {"train": 1288 * groups, "test": 322 * groups}
    assert dataset.items.cluster.nunique() == 1610
    empty = dataset.items[~dataset.items.ground_truth.map(any)]
    assert empty.split.value_counts().to_dict() == empty_ground_truths
    notes = check_items(dataset.items, dataset.units, "geco")
    for split, count in empty_ground_truths.items():
        size = (dataset.items.split == split).sum()
        assert says(f"{split}: {count} of {size}", "empty ground truth") in notes


def test_lost_words_are_mended_as_the_neutral_form_shows(mirror):
    """In the published files the male and female forms have one value of ground truth too many."""
    reader = datasets.Reader.parse(settings_for("three_class", "subject"))
    dataset = datasets.load({name: mirror / name for name in reader.sources()}, reader)
    assert says("lost a word", "left out", "4") in dataset.notes
    items = dataset.items.set_index("item_id")
    for pair in ("00988", "01534"):
        neutral = items.loc[f"{pair}-neutral"]
        for gender in ("male", "female"):
            item = items.loc[f"{pair}-{gender}"]
            # The rest of the sentence is the same, so the marks of the words that all forms share must be, too.
            shared = [word for word in neutral.words if neutral.words.count(word) == item.words.count(word) == 1]
            assert len(shared) > 8
            for word in shared:
                marks = (form.ground_truth[form.words.index(word)] for form in (neutral, item))
                assert len(set(marks)) == 1, (pair, gender, word)
            assert sum(item.ground_truth) == sum(neutral.ground_truth) - 1
