"""CEBaB: edit pairs of the paper's toy reviews by hand, and the counts of the published archive."""

import json
import zipfile
from collections import Counter
from pathlib import Path

import pytest
import yaml
from wording import says

from evenlight import datasets
from evenlight.datasets.readers.cebab import (
    ASPECT_LEVELS,
    ASPECTS,
    CEBAB,
    EVERYTHING,
    FOLDER,
    TESTED,
    edit_pairs,
    released_texts,
)
from evenlight.texts.items import check_items
from evenlight.texts.words import Words, joined_text

PUBLISHED = Path(__file__).parents[3] / "resources" / "published" / "cebab.yaml"
SETTINGS = {"reader": "cebab", "classes": "five", "training": "exclusive"}
LABELS = {"+": "Positive", "-": "Negative", "?": "unknown", " ": "", "=": "no majority"}
# Table 1 of the paper: what was edited, the labels of food, service, ambiance and noise, and the rating.
TOYS = [
    (None, "+-+?", "4"),
    ("food", "--+?", "2"),
    ("food", "?-+?", "3"),
    ("ambiance", "+--?", "3"),
    ("ambiance", "+-??", "3"),
    ("service", "+++?", "5"),
    ("service", "+?+?", "5"),
    ("noise", "+-++", "4"),
    ("noise", "+-+-", "3"),
]


def review(original: str, number: int, edited: str | None, labels: str, stars: str) -> dict:
    return {
        "id": f"{original}_{number:06d}",
        "original_id": original,
        "is_original": edited is None,
        "edit_type": edited,
        "description": f"Review {number} ,  with  spaces.",
        "review_majority": stars,
        "opentable_metadata": {"cuisine": "italian", "price_tier": "low", "region": "south", "parking": "No"},
    } | {f"{aspect}_aspect_majority": LABELS[sign] for aspect, sign in zip(ASPECTS, labels, strict=True)}


def reviews(original: str, rows=TOYS) -> list[dict]:
    return [review(original, number, *row) for number, row in enumerate(rows)]


@pytest.fixture
def loaded(tmp_path):
    """Loads a dataset from an archive whose parts have the toy reviews under a number each."""

    def load(changed: dict | None = None, **settings) -> datasets.Dataset:
        everything = reviews("000001")
        parts = {
            EVERYTHING: everything,
            "train_exclusive": everything[2:3],
            "train_observational": everything[:1],
            "dev": reviews("000002"),
            "test": reviews("000003"),
        } | (changed or {})
        path = tmp_path / "cebab.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for part, texts in parts.items():
                archive.writestr(f"{FOLDER}/{part}.json", json.dumps(texts))
        return datasets.load({CEBAB: path}, datasets.Reader.parse(SETTINGS | settings))

    return load


def test_the_edit_pairs_of_the_toy_reviews():
    names = {text["id"]: number for number, text in enumerate(reviews("000001"))}
    found = {(pair.aspect, names[pair.base], names[pair.edit]): pair for pair in edit_pairs(reviews("000001"))}
    # The original with two edits of each aspect, and these with each other, in both directions.
    edits = {"food": (1, 2), "ambiance": (3, 4), "service": (5, 6), "noise": (7, 8)}
    expected = {
        (aspect, *pair)
        for aspect, (first, second) in edits.items()
        for one, other in ((0, first), (0, second), (first, second))
        for pair in ((one, other), (other, one))
    }
    assert set(found) == expected
    assert found["food", 0, 1][3:] == ("positive", "negative")
    assert found["food", 1, 0][3:] == ("negative", "positive")
    assert found["noise", 0, 8][3:] == ("unknown", "negative")
    assert found["service", 5, 6][3:] == ("positive", "unknown")


def test_no_pair_without_two_different_labels():
    rows = [(None, "+ +?", "4"), ("food", "+ +?", "4"), ("service", "+++?", "4"), ("noise", "+ +=", "4")]
    assert list(edit_pairs(reviews("1", rows))) == []


def test_items_and_units(loaded):
    dataset = loaded()
    check_items(dataset.items, dataset.units, "cebab")
    items = dataset.items.set_index("item_id")
    assert items.split.value_counts().to_dict() == {"test": 9, "validation": 9, "aside": 8, "train": 1}
    first = items.loc["000003_000001"]
    assert first.words == ["Review", "1", ",", "with", "spaces."]
    assert joined_text(Words(first.words, first.spaces)) == "Review 1 ,  with  spaces."
    assert (first.label, first.cluster, first["attribute.food"], first["attribute.noise"]) == (
        1,
        "000003",
        "negative",
        "unknown",
    )
    assert (first["attribute.cuisine"], first["attribute.price_tier"], first["attribute.region"]) == (
        "italian",
        "low",
        "south",
    )
    unit = dataset.units[dataset.units.unit_id == "000003_000000-000001"]
    assert unit.iloc[:, 1:].to_numpy().tolist() == [
        ["000003_000000", "original", "food", "positive"],
        ["000003_000001", "edit", "food", "negative"],
    ]
    # 24 pairs of each of the tested originals; the training text has lost its own to what is aside.
    split = dataset.units.item_id.map(items.split)
    assert dataset.units.groupby(split).unit_id.nunique().to_dict() == {"aside": 20, "test": 24, "validation": 24}


def test_training_sets(loaded):
    inclusive, observational = loaded(training="inclusive").items, loaded(training="observational").items
    assert (inclusive.split == "train").sum() == 9
    assert observational[observational.split == "train"].item_id.tolist() == ["000001_000000"]


def test_classes_and_what_has_none(loaded):
    rows = [*TOYS, ("food", "=-+?", "no majority"), ("noise", "+-+-", "1")]
    # Where texts of 3 stars are left out, no edit of the test says nothing of the food.
    trained = [(edited, labels, "4" if stars == "3" else stars) for edited, labels, stars in TOYS]
    tested = {"test": reviews("000003", rows), "dev": reviews("000002", trained)}
    two, three = loaded(tested, classes="two"), loaded(tested, classes="three")
    assert two.classes == ["negative", "positive"]
    assert three.classes == ["negative", "neutral", "positive"]
    assert two.notes == [says("without a rating", "left out: 1"), "texts of 3 stars, left out: 8"]
    assert three.notes == two.notes[:1]
    labels = three.items[three.items.split == "test"].label.tolist()
    assert labels == [2, 0, 1, 1, 1, 2, 2, 2, 1, 0]
    assert two.items[two.items.split == "test"].label.tolist() == [1, 0, 1, 1, 1, 0]


@pytest.fixture(scope="module")
def published_texts(mirror: Path) -> list[dict]:
    return [text for part in (EVERYTHING, *TESTED) for text in released_texts(mirror / CEBAB, part)]


def test_the_published_archive_beside_the_paper(published_texts):
    """Abraham et al. (2022), Table 3: reviews by the majority of stars."""
    stars = Counter(text["review_majority"] for text in published_texts)
    printed = yaml.safe_load(PUBLISHED.read_text(encoding="utf-8"))
    assert stars == printed["stars"] | {"no majority": 1880}


def test_the_pairs_of_the_tested_parts(mirror):
    for part, count in (("dev", 3898), ("test", 3958)):
        pairs = list(edit_pairs(released_texts(mirror / CEBAB, part)))
        assert len(pairs) == count
        assert {pair.from_level for pair in pairs} == set(ASPECT_LEVELS)
