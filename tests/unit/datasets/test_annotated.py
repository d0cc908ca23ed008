from pathlib import Path

import pyarrow as pa
import pytest
from wording import says

from evenlight import datasets
from evenlight.core.contracts.corpus import ANNOTATIONS
from evenlight.core.errors import InputError
from evenlight.core.tables import write_table
from evenlight.corpus.annotation.annotations import annotation
from evenlight.corpus.annotation.geco_annotation import read_labelling
from evenlight.datasets import Reader
from evenlight.datasets.readers.annotated import items_of
from evenlight.datasets.readers.geco import Geco
from evenlight.texts.items import check_items

SOURCE = ["He", "visits", "his", "aunt", "."]
FORMS = {
    "male": (["He ", "visits", "his", "uncle", "."], [1, 1, 1, 1, 0]),
    "female": (["She", "visits", "her", "aunt", "."], [1, 1, 1, 1, 0]),
    "neutral": (["They", "visit", "their", "", "."], [1, 1, 1, 1, 0]),
}


def accepted(sentence_id: str, groups=tuple(FORMS), scope: str = "all", annotator: str = "resolved") -> dict:
    forms = [
        {"scope": scope, "group": group, "words": FORMS[group][0], "ground_truth": FORMS[group][1]} for group in groups
    ]
    return annotation(sentence_id, annotator, SOURCE, forms)


def settings_for(path: Path, **changed) -> dict:
    settings = {"reader": "annotated", "file": str(path), "classes": "three_class", "words": "all"}
    return settings | {"test_share": 0.2, "split_seed": 0} | changed


@pytest.fixture
def loaded(tmp_path):
    """Loads a dataset from rows of annotations."""

    def load(rows: list[dict], **changed) -> datasets.Dataset:
        path = tmp_path / "resolved.parquet"
        write_table(pa.Table.from_pylist(rows, schema=ANNOTATIONS.schema), path, ANNOTATIONS)
        return datasets.load({str(path): path}, Reader.parse(settings_for(path, **changed)))

    return load


TEN = [accepted(f"s{number}") for number in range(10)]


def test_three_classes_keep_all_marks_and_lose_empty_words():
    items = {item["attribute.gender"]: item for item in items_of(accepted("s1"), ["male", "female", "neutral"], "all")}
    assert items["male"]["words"] == ["He", "visits", "his", "uncle", "."]
    assert items["neutral"]["words"] == ["They", "visit", "their", "."]
    assert items["neutral"]["ground_truth"] == [1, 1, 1, 0]
    assert [items[group]["label"] for group in ("female", "male", "neutral")] == [0, 1, 2]
    assert {item["unit_id"] for item in items.values()} == {"s1"}
    assert items["male"]["item_id"] == "s1-male"


def test_two_classes_lose_the_marks_that_only_the_third_needs():
    male, female = items_of(accepted("s1"), ["male", "female"], "all")
    assert male["ground_truth"] == female["ground_truth"] == [1, 0, 1, 1, 0]
    assert (male["label"], female["label"]) == (1, 0)


def test_a_mark_on_a_word_that_is_alike_in_all_groups_stays():
    forms = [
        {"scope": "all", "group": group, "words": ["Pat", "waits"], "ground_truth": [1, 0]}
        for group in ("male", "female")
    ]
    for item in items_of(annotation("s1", "resolved", ["Pat", "waits"], forms), ["male", "female"], "all"):
        assert item["ground_truth"] == [1, 0]


def test_items_are_a_data_set_with_a_split_by_pair(loaded):
    dataset = loaded(TEN)
    assert dataset.classes == ["female", "male", "neutral"]
    assert dataset.items.cluster[dataset.items.split == "test"].nunique() == 2
    assert len(dataset.items) == 30
    check_items(dataset.items, dataset.units, "own")
    assert loaded(TEN).items.equals(dataset.items)
    assert not loaded(TEN, split_seed=1).items.split.equals(dataset.items.split)


def test_sentences_without_a_form_and_rejected_ones_are_left_out(loaded):
    rows = [*TEN, accepted("t1", groups=("male", "female")), accepted("t2", scope="subject")]
    rows.append(annotation("t3", "resolved", SOURCE, [], reason="odd"))
    dataset = loaded(rows)
    assert dataset.items.cluster.nunique() == 10
    assert dataset.notes == [says("scope all", "left out: 2")]
    assert loaded(rows, classes="binary").items.cluster.nunique() == 11


def test_refusals(loaded, tmp_path):
    with pytest.raises(InputError, match=r"no accepted sentence.*male, female, neutral.*scope subject"):
        loaded(TEN, words="subject")
    with pytest.raises(InputError, match=r"sentence 's0'.*resolved and of Kim"):
        loaded([*TEN, accepted("s0", annotator="Kim")])
    absent = tmp_path / "absent.parquet"
    with pytest.raises(InputError, match=r"absent\.parquet: no such file"):
        datasets.load({str(absent): absent}, Reader.parse(settings_for(absent)))
    with pytest.raises(InputError, match=r"file '.*absent\.parquet'"):
        datasets.load({}, Reader.parse(settings_for(absent)))


def test_the_reader_names_its_file():
    settings = settings_for(Path("a"), file="./results/corpus/resolved.parquet")
    assert Reader.parse(settings).named_files() == ["results/corpus/resolved.parquet"]
    assert Reader.parse({"reader": "demo"}).named_files() == []


def test_the_labelling_of_geco_becomes_its_binary_data_set(mirror):
    """Beside the words that were corrected after the labelling, see the comparison of both."""
    for scope, words in (("all", "all"), ("subject", "subj")):
        names = [f"geco/binary_gender_{words}/{split}.jsonl" for split in ("train", "test")]
        reader = Geco(reader="geco", words=scope)
        published = reader.read({name: mirror / name for name in names}).items.set_index("item_id")
        rows = read_labelling(mirror / "geco_annotation" / "merged_labelling_v2.json")
        built = {item["item_id"]: item for row in rows for item in items_of(row, ["male", "female"], scope)}
        assert set(built) == set(published.index)
        same = [name for name, item in built.items() if item["words"] == published.words[name]]
        assert len(same) == {"all": 3008, "subject": 3009}[scope]
        assert all(built[name]["label"] == published.label[name] for name in same)
