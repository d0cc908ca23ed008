"""COMPAS: the filter, the text of a row, and the counts that ProPublica's table gives."""

import csv
from collections import Counter
from itertools import cycle, product

import pytest

from evenlight import datasets
from evenlight.datasets.readers import compas
from evenlight.datasets.readers.compas import COMPAS, COMPAS_LEVELS
from evenlight.texts.items import check_items, units_of

ROW = {"id": "7", "sex": "Male", "age_cat": "Less than 25", "race": "African-American", "priors_count": "3"}
ROW |= {"days_b_screening_arrest": "-1", "c_charge_degree": "M", "is_recid": "1", "score_text": "High"}
ROW |= {"two_year_recid": "1"}
SETTINGS = {"reader": "compas", "test_share": 0.2, "split_seed": 0}


@pytest.fixture
def loaded(tmp_path):
    """Loads a dataset from rows of the table."""

    def load(rows: list[dict], **changed) -> datasets.Dataset:
        path = tmp_path / "compas.csv"
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, ROW)
            writer.writeheader()
            writer.writerows(rows)
        return datasets.load({COMPAS: path}, datasets.Reader.parse(SETTINGS | changed))

    return load


def people(count: int = 20) -> list[dict]:
    """As many people of every race, half of them women, a quarter of each gender in each class."""
    kinds = product(("Male", "Female"), ("0", "1"))
    rows = [ROW | {"sex": sex, "two_year_recid": label} for sex, label in kinds] * (count // 4)
    races = cycle(compas.RACES)
    return [row | {"id": str(number), "race": next(races)} for number, row in enumerate(rows, start=1)]


# The three texts that the study prints (Section 4.1 and Table 1).
@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({}, "3 priors, score factor 1, under 45, under 25, African American, male, misdemeanor"),
        (
            {"priors_count": "1", "score_text": "Low", "race": "Hispanic", "c_charge_degree": "F"},
            "1 priors, score factor 0, under 45, under 25, Hispanic, male",
        ),
        (
            {"priors_count": "0", "score_text": "Low", "race": "Other", "sex": "Female", "c_charge_degree": "F"},
            "0 priors, score factor 0, under 45, under 25, other race, female",
        ),
        (
            {"score_text": "Medium", "age_cat": "Greater than 45", "race": "Caucasian"},
            "3 priors, score factor 1, over 45, over 25, Caucasian, male, misdemeanor",
        ),
        (
            {"age_cat": "25 - 45", "race": "Native American"},
            "3 priors, score factor 1, under 45, over 25, Native American, male, misdemeanor",
        ),
    ],
)
def test_text_of_a_row(changed, text):
    assert compas.text_of(ROW | changed) == text


def test_the_published_filter():
    for field, values, kept in (
        ("days_b_screening_arrest", ("-1", "30", "-30"), True),
        ("days_b_screening_arrest", ("31", "-31", ""), False),
        ("is_recid", ("-1",), False),
        ("c_charge_degree", ("O",), False),
        ("score_text", ("N/A",), False),
    ):
        assert {compas.is_kept(ROW | {field: value}) for value in values} == {kept}, field


def test_every_person_is_an_item_and_both_classes_are_split_alike(loaded):
    dataset = loaded([*people(), ROW | {"id": "99", "is_recid": "-1"}])
    items = dataset.items
    assert dataset.classes == ["no_recidivism", "recidivism"]
    assert dataset.notes == ["people whom ProPublica's filter left out: 1"]
    assert (items.item_id == items.cluster).all()
    assert (dataset.units.item_id == dataset.units.unit_id).all()
    assert dataset.units.factor.value_counts().to_dict() == {"gender": 20, "race": 20}
    assert items.item_id.tolist() == [f"{number:05d}" for number in range(1, 21)]
    assert Counter(items.label[items.split == "test"]) == {0: 2, 1: 2}
    assert items.ground_truth.isna().all()
    assert items.words[0][:5] == ["3", "priors", ",", "score", "factor"]
    assert items.words[0][-3:] == ["male", ",", "misdemeanor"]
    check_items(items, dataset.units, "compas")
    assert not loaded(people(), split_seed=1).items.split.equals(items.split)


def test_matched_people_are_pairs_of_the_test_split_with_one_label_and_of_one_age(loaded):
    rows = [row | {"age_cat": age} for row, age in zip(people(80), cycle(compas.AGES), strict=False)]
    dataset = loaded(rows, match=["male", "female"], match_on=["age"], test_share=0.5)
    items, units = dataset.items, dataset.units
    check_items(items, units, "compas")
    people_of = units[units.factor == "gender"].groupby("unit_id").item_id.agg(list)
    pairs = people_of[people_of.map(len) == 2]
    assert len(pairs) > 5
    by_id = items.assign(age=[" ".join(words[7:12]) for words in items.words]).set_index("item_id")
    for pair in pairs:
        two = by_id.loc[pair]
        assert set(two.split) == {"test"}
        assert set(two["attribute.gender"]) == {"male", "female"}
        assert two[["label", "age", "cluster"]].nunique().eq(1).all()
    assert (units.item_id == units.unit_id)[units.factor == "race"].all()
    assert dataset.notes[-1].startswith(f"test: {len(pairs)} pairs of ")


def test_the_published_counts(mirror):
    files = {COMPAS: mirror / COMPAS}
    dataset = datasets.load(files, datasets.Reader.parse(SETTINGS))
    items = dataset.items
    assert len(items) == 6172
    assert Counter(items["attribute.gender"]) == {"female": 1175, "male": 4997}
    assert round(100 * items.label.mean(), 1) == 45.5
    assert Counter(items["attribute.race"]) == {
        "african_american": 3175,
        "caucasian": 2103,
        "hispanic": 509,
        "other": 343,
        "asian": 31,
        "native_american": 11,
    }
    # Every level of both attributes can be tested.
    for name, levels in COMPAS_LEVELS.items():
        assert set(items.loc[items.split == "test", f"attribute.{name}"]) == set(levels)
    assert items.words.map(" ".join).nunique() == 778
    # And both at once: every item has one level of the intersection.
    both = units_of(dataset.units, "gender+race")
    assert both.item_id.tolist() == items.item_id.tolist()
    assert both.level.nunique() == 12
    assert (both.level == "female+asian").sum() == 2
    assert Counter(both.level.str.split("+").str[1]) == Counter(items["attribute.race"])
