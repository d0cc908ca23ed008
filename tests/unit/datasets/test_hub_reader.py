"""Datasets as the hub and the library ``datasets`` lay them out, and what is said where there is none."""

import socket

import pandas as pd
import pytest

from evenlight import configuration
from evenlight.core.errors import InputError
from evenlight.datasets import Reader, load
from evenlight.texts.items import check_items

datasets = pytest.importorskip("datasets", reason="reader hub needs the library datasets (envs/data.txt)")

CLASSES = ["kind", "rude"]
ROWS = {
    "sentence": [f"text {number} , she said" for number in range(8)],
    "verdict": [0, 1] * 4,
    "speaker": ["a", "b", "b", "a"] * 2,
    "age": [20, 30, 40, None] * 2,
}


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    """No network, and a cache of its own."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def described(source, **changed) -> dict:
    settings = {
        "reader": "hub",
        "source": str(source),
        "text": "sentence",
        "label": "verdict",
        "classes": CLASSES,
        "attributes": {
            "speaker": {"column": "speaker", "levels": ["a", "b"]},
            "age": {"column": "age", "levels": ["younger", "older"], "cuts": [30]},
        },
    }
    study = {
        "study": "tiny",
        "datasets": {"mine": settings | changed},
        "models": {"ready": {"architecture": "trained", "source": "somewhere"}},
        "explainers": {"lime": {"method": "lime"}},
        "metrics": {"gini": {"metric": "gini"}},
        "statistics": {"compare": {"speaker": [["a", "b"]]}},
    }
    return configuration.complete(study)["datasets"]["mine"]


def read(source, **changed):
    settings = described(source, **changed)
    return load({name: name for name in Reader.parse(settings).named_files()}, Reader.parse(settings))


def rows_of(dataset) -> pd.DataFrame:
    items = dataset.items.assign(text=[" ".join(words) for words in dataset.items["words"]])
    return items[["text", "label", "split", "attribute.speaker", "attribute.age"]]


@pytest.fixture
def labelled():
    features = datasets.Features(
        {
            "sentence": datasets.Value("string"),
            "verdict": datasets.ClassLabel(names=CLASSES),
            "speaker": datasets.Value("string"),
            "age": datasets.Value("int32"),
        }
    )
    return datasets.Dataset.from_dict(ROWS, features=features)


EXPECTED = pd.DataFrame(
    {
        "text": ROWS["sentence"],
        "label": ROWS["verdict"],
        "split": "test",
        "attribute.speaker": ROWS["speaker"],
        "attribute.age": ["younger", "older", "older", None] * 2,
    }
)


def same(found, expected):
    pd.testing.assert_frame_equal(found.reset_index(drop=True), expected, check_dtype=False)


def test_a_split_that_was_saved_to_disk(labelled, tmp_path):
    labelled.save_to_disk(tmp_path / "saved")
    dataset = read(tmp_path / "saved")
    same(rows_of(dataset), EXPECTED)
    assert dataset.classes == CLASSES
    check_items(dataset.items, dataset.units, "mine")


def test_classes_are_found_by_name(labelled, tmp_path):
    labelled.save_to_disk(tmp_path / "saved")
    same(rows_of(read(tmp_path / "saved", classes=CLASSES[::-1])), EXPECTED.assign(label=[1, 0] * 4))


def test_splits_of_a_saved_dataset_are_learned_from_and_tested_on(labelled, tmp_path):
    both = datasets.DatasetDict({"first": labelled.select(range(2)), "second": labelled.select(range(2, 8))})
    both.save_to_disk(tmp_path / "saved")
    found = rows_of(read(tmp_path / "saved", splits={"train": "second", "test": "first"}))
    assert list(found["split"]) == ["train"] * 6 + ["test"] * 2
    assert list(found["text"]) == ROWS["sentence"][2:] + ROWS["sentence"][:2]
    drawn = rows_of(read(tmp_path / "saved", splits={"train": "second"}, test_share=0.5))
    assert sorted(drawn["split"]) == ["test"] * 3 + ["train"] * 3


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_folder_in_the_layout_of_the_hub_with_configurations(labelled, tmp_path, language):
    for number, name in enumerate(("en", "de")):
        (tmp_path / "set" / name).mkdir(parents=True)
        part = labelled.select(range(4 * number, 4 * number + 4))
        part.to_parquet(tmp_path / "set" / name / "validation-00000-of-00001.parquet")
    files = "\n".join(
        f"- config_name: {name}\n  data_files:\n  - split: validation\n    path: {name}/validation-*"
        for name in ("en", "de")
    )
    (tmp_path / "set" / "README.md").write_text(f"---\nconfigs:\n{files}\n---\n")
    found = rows_of(read(tmp_path / "set", configuration=language, splits={"test": "validation"}))
    chosen = EXPECTED[:4] if language == "en" else EXPECTED[4:]
    same(found, chosen.reset_index(drop=True))
    with pytest.raises(InputError, match=r"split validation: cannot be loaded \(.*(en|de)"):
        read(tmp_path / "set", splits={"test": "validation"})


def test_files_of_a_folder_are_inputs_and_hidden_ones_are_not(labelled, tmp_path):
    labelled.save_to_disk(tmp_path / "saved")
    (tmp_path / "saved" / ".cache").mkdir()
    (tmp_path / "saved" / ".cache" / "x").touch()
    settings = described(tmp_path / "saved")
    names = {path.rpartition("/")[2] for path in Reader.parse(settings).named_files()}
    assert names == {"data-00000-of-00001.arrow", "dataset_info.json", "state.json"}
    assert Reader.parse(settings | {"source": "org/name"}).named_files() == []


def test_without_network_and_cache_it_says_what_to_do(monkeypatch):
    def refuse(*_, **__):
        raise OSError("no network in this test")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    with pytest.raises(InputError, match=r"dataset org/name, split test: cannot.*\((.|\n)*HF_HUB_OFFLINE=1"):
        read("org/name", revision="0" * 40)


def test_a_program_in_a_folder_is_not_run(tmp_path):
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "set.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    with pytest.raises(InputError, match="cannot be loaded"):
        read(tmp_path / "set")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"text": "body"}, r"no column 'body'.*sentence, verdict, speaker"),
        ({"splits": {"test": "dev"}}, "split dev: cannot"),
        ({"classes": ["kind", "cruel"]}, r"row first/2: field 'verdict' .*rude"),
    ],
)
def test_what_is_not_there_is_named(labelled, tmp_path, changed, said):
    datasets.DatasetDict({"first": labelled}).save_to_disk(tmp_path / "saved")
    with pytest.raises(InputError, match=said):
        read(tmp_path / "saved", **({"splits": {"test": "first"}} | changed))


def test_rows_of_several_splits_are_told_apart(labelled, tmp_path):
    splits = {"first": labelled, "second": labelled}
    datasets.DatasetDict(splits).save_to_disk(tmp_path / "saved")
    with pytest.raises(InputError, match=r"\(first/2, .*second/2"):
        read(tmp_path / "saved", splits={"train": "first", "test": "second"}, classes=["kind", "cruel"])


def test_a_class_that_is_not_published_is_refused_with_its_row(labelled, tmp_path):
    labelled.map(lambda row: row | {"verdict": -1}).save_to_disk(tmp_path / "saved")
    with pytest.raises(InputError, match=r"row test/1: field 'verdict' .label. is empty"):
        read(tmp_path / "saved")
