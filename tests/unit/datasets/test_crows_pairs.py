"""CrowS-Pairs: what differs in a pair, which group a sentence is about, and the counts of the published file."""

import csv
from collections import Counter
from pathlib import Path

import pytest
from wording import says

from evenlight import datasets
from evenlight.corpus.annotation.lexicon import read_gendered_lexicon
from evenlight.datasets.readers.crows_pairs import (
    CROWS_PAIRS,
    CROWS_PAIRS_ATTRIBUTES,
    LEXICON,
    differing,
    gender_of,
    items_of,
)
from evenlight.texts.items import check_items

ROOT = Path(__file__).parents[3]
WORD_LISTS = {name: ROOT / name for name in LEXICON}
WORDS = read_gendered_lexicon(*WORD_LISTS.values())
ROW = {
    "": "12",
    "sent_more": "The poor don't save.",
    "sent_less": "The very rich don't save.",
    "stereo_antistereo": "stereo",
    "bias_type": "socioeconomic",
}
SETTINGS = {"reader": "crows_pairs", "attribute": "socioeconomic", "test_share": 0.2, "split_seed": 0}
# Pairs of the published file by bias type and direction (stereo, antistereo).
COUNTS = {
    "age": (73, 14),
    "disability": (57, 3),
    "gender": (159, 103),
    "nationality": (148, 11),
    "physical_appearance": (52, 11),
    "race_color": (473, 43),
    "religion": (99, 6),
    "sexual_orientation": (72, 12),
    "socioeconomic": (157, 15),
}


@pytest.fixture
def loaded(tmp_path):
    """Loads a dataset from rows of the file."""

    def load(rows: list[dict], **changed) -> datasets.Dataset:
        path = tmp_path / "pairs.csv"
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, ROW)
            writer.writeheader()
            writer.writerows(rows)
        return datasets.load({CROWS_PAIRS: path} | WORD_LISTS, datasets.Reader.parse(SETTINGS | changed))

    return load


def pairs(count: int, **changed) -> list[dict]:
    return [
        ROW
        | {"": str(number), "sent_more": f"The poor save {number}.", "sent_less": f"The rich save {number}."}
        | changed
        for number in range(count)
    ]


def test_the_words_that_differ():
    assert differing(["a", "b", "c"], ["a", "x", "y", "c"]) == ([0, 1, 0], [0, 1, 1, 0])
    assert differing(["a", "b"], ["a", "not", "b"]) == ([0, 0], [0, 1, 0])
    assert differing(["He", "said", "he"], ["She", "said", "she"]) == ([1, 0, 1], [1, 0, 1])
    assert differing(["a"], ["a"]) == ([0], [0])


@pytest.mark.parametrize(
    ("direction", "groups"),
    [("stereo", ["disadvantaged", "advantaged"]), ("antistereo", ["advantaged", "disadvantaged"])],
)
def test_the_direction_says_whom_a_sentence_is_about(direction, groups):
    more, less = items_of(ROW | {"stereo_antistereo": direction}, "age", None)
    assert [more["attribute.age"], less["attribute.age"]] == groups
    assert [more["label"], less["label"]] == [1, 0]
    assert more["words"] == ["The", "poor", "don't", "save", "."]
    assert more["ground_truth"] == [0, 1, 0, 0, 0]
    assert less["ground_truth"] == [0, 1, 1, 0, 0, 0]
    assert more["unit_id"] == less["unit_id"] == "0012"
    assert more["item_id"] == f"0012-{groups[0]}"


def test_gender_by_the_first_word_that_tells():
    texts = {"He": "male", "Tom lost her keys": "male", "she'd": "female", "Mary's": "female", "ma'am": "female"}
    texts |= {"WOMEN": "female", "grandmother": "female", "Mark": "male"}
    texts |= dict.fromkeys(("mark", "trans", "Shannon", ""))
    assert {text: gender_of(text.split(), [1] * len(text.split()), WORDS) for text in texts} == texts
    # Of marked words alone.
    assert gender_of(["He", "likes", "her"], [0, 0, 1], WORDS) == "female"


def test_pairs_that_do_not_contrast_men_and_women_are_left_out(loaded):
    contrast = [
        {"sent_more": f"Women cry {number}.", "sent_less": f"Men cry {number}.", "": str(number)} for number in range(5)
    ]
    other = [{"sent_more": "A trans person.", "sent_less": "A cis person.", "": "9"}]
    same = [{"sent_more": "Women beat men.", "sent_less": "Girls beat men.", "": "10"}]
    rows = [ROW | {"bias_type": "gender"} | row for row in contrast + other + same]
    dataset = loaded(rows, attribute="gender")
    assert dataset.notes == [says("male and female", "left out: 2")]
    assert set(dataset.items.item_id) == {f"000{number}-{group}" for number in range(5) for group in ("male", "female")}
    check_items(dataset.items, dataset.units, "crows")


def test_a_pair_that_is_there_twice_counts_once(loaded):
    rows = pairs(5)
    dataset = loaded([*rows, rows[2] | {"": "77"}, *pairs(1, bias_type="age")])
    assert dataset.notes == [says("there before", "left out: 1")]
    assert dataset.items.cluster.nunique() == 5
    assert dataset.items.cluster[dataset.items.split == "test"].nunique() == 1
    check_items(dataset.items, dataset.units, "crows")


@pytest.mark.parametrize("attribute", CROWS_PAIRS_ATTRIBUTES)
def test_the_published_counts(attribute, mirror):
    reader = datasets.Reader.parse(SETTINGS | {"attribute": attribute})
    dataset = datasets.load({CROWS_PAIRS: mirror / CROWS_PAIRS} | WORD_LISTS, reader)
    items = dataset.items
    check_items(items, dataset.units, attribute)
    left_out = {"gender": 26, "religion": 1}.get(attribute, 0)
    assert items.cluster.nunique() == sum(COUNTS[attribute]) - left_out
    assert not items.words.map(" ".join).duplicated().any()
    by_label = Counter(zip(items.label, items[f"attribute.{attribute}"], strict=True))
    if attribute == "gender":
        assert by_label == {(0, "female"): 112, (0, "male"): 124, (1, "female"): 124, (1, "male"): 112}
    else:
        stereo, antistereo = COUNTS[attribute][0] - left_out, COUNTS[attribute][1]
        assert by_label[1, "disadvantaged"] == by_label[0, "advantaged"] == stereo
        assert by_label[0, "disadvantaged"] == by_label[1, "advantaged"] == antistereo
