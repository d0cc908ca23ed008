"""COMPAS: the filter, the text of a row, and the counts that ProPublica's table gives."""

import csv
from collections import Counter
from itertools import cycle, product

import pytest

from evenlight import datasets
from evenlight.core.errors import InputError
from evenlight.datasets.readers import compas
from evenlight.datasets.readers.compas import COMPAS, COMPAS_LEVELS
from evenlight.statistics.comparisons.cells import design_of
from evenlight.statistics.comparisons.study import Comparison
from evenlight.texts.items import check_items, forms_of, units_of

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
    assert compas.text_of(ROW | changed, "here") == text


def test_the_published_filter():
    for field, values, kept in (
        ("days_b_screening_arrest", ("-1", "30", "-30"), True),
        ("days_b_screening_arrest", ("31", "-31", ""), False),
        ("is_recid", ("-1",), False),
        ("c_charge_degree", ("O",), False),
        ("score_text", ("N/A",), False),
    ):
        assert {compas.is_kept(ROW | {field: value}, "here") for value in values} == {kept}, field


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


def test_refusals(loaded):
    rows = people()
    for field, value, allowed in (
        ("sex", "X", "'Female', 'Male'"),
        ("race", "Martian", "'African-American', 'Asian'"),
        ("age_cat", "old", "'Less than 25'"),
        ("score_text", "Unknown", "'Low', 'Medium', 'High'"),
        ("two_year_recid", "2", "'0', '1'"),
        ("priors_count", "-1", "a whole number"),
        ("days_b_screening_arrest", "soon", "a whole number"),
    ):
        message = rf"compas\.csv, row 4: field '{field}' is '{value}', not (one of )?{allowed}.*; delete"
        with pytest.raises(InputError, match=message):
            loaded([*rows[:2], rows[2] | {field: value}, *rows[3:]])
    with pytest.raises(InputError, match="no row passes ProPublica's filter"):
        loaded([ROW | {"is_recid": "-1"}])


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


def test_race_and_gender_together_can_be_compared(mirror):
    """African American women and men of the test split, counted in the table itself; none of them is in both."""
    dataset = datasets.load({COMPAS: mirror / COMPAS}, datasets.Reader.parse(SETTINGS))
    test = dataset.items.loc[dataset.items["split"] == "test", ["item_id", "cluster"]]
    comparison = Comparison("gender+race", "female+african_american", "male+african_american")
    design = design_of(comparison, forms_of(dataset.units, comparison.factor), test)
    rows = {row["id"].zfill(5): row for _, row in compas.csv_rows(mirror / COMPAS, compas.FIELDS, "")}
    kinds = Counter((rows[item]["sex"], rows[item]["race"]) for item in test["item_id"])
    assert len(design.a.items) == kinds["Female", "African-American"] > 50
    assert len(design.b.items) == kinds["Male", "African-American"] > 300
    assert not design.paired
    assert not set(design.a.items) & set(design.b.items)


def test_what_the_printed_examples_say_of_felonies(mirror):
    """The printed example that was arrested again can only have been one with a felony, which the text leaves out."""
    rows = [
        row
        for place, row in compas.csv_rows(mirror / COMPAS, compas.FIELDS, "")
        if compas.is_kept(row, place)
        and (row["priors_count"], row["score_text"], row["age_cat"]) == ("1", "Low", "Less than 25")
        and (row["race"], row["sex"], row["two_year_recid"]) == ("Hispanic", "Male", "1")
    ]
    assert [row["c_charge_degree"] for row in rows] == ["F"] * 3
