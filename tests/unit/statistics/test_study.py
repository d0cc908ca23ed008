"""What a study compares, as tables and figures find it in the rows of a table."""

import pandas as pd

from evenlight.statistics.comparisons.study import Comparison, comparisons_in, ordered_levels

GENDER = Comparison("gender", "male", "female")
RACE = Comparison("race", "white", "asian")


def test_the_rows_of_a_comparison_agree_in_factor_and_both_levels():
    """The levels the other way round are another comparison, since d has the other sign."""
    others = [("gender", "female", "male"), ("gender", "male", "neutral"), ("sex", "male", "female")]
    rows = [RACE, GENDER, *others, GENDER]
    table = pd.DataFrame(rows, columns=Comparison._fields).assign(d=range(6), metric="gini")
    assert GENDER.rows(table)["d"].tolist() == [1, 5]
    assert list(GENDER.rows(table).columns) == list(table.columns)
    assert Comparison("age", "young", "old").rows(table).empty


def test_the_comparisons_of_a_table_stand_in_the_order_of_their_first_rows():
    table = pd.DataFrame([RACE, GENDER, RACE, GENDER], columns=Comparison._fields, index=[7, 7, 3, 0]).assign(d=1.0)
    found = comparisons_in(table)
    assert found == [RACE, GENDER]
    assert found[1].levels == ("male", "female")  # what tables hold are comparisons, not mere rows


def test_levels_that_are_compared_come_first_and_the_others_by_name():
    compared = ["male", "female", "neutral", "male"]
    assert ordered_levels(iter(["z", "male", "b", "neutral", "female"]), compared) == [
        "male",
        "female",
        "neutral",
        "b",
        "z",
    ]
    assert ordered_levels(["b", "a"], compared) == ["a", "b"]
