"""The comparison of two runs of a study: it says what differs, and nothing else."""

from argparse import Namespace
from pathlib import Path

import compare_studies
import numpy as np
import pandas as pd
import pytest
from wording import says

from evenlight.core.errors import InputError

TABLE = pd.DataFrame(
    {
        "model": ["bert", "bert", "lstm"],
        "seed": [0, 1, 0],
        "mean": [0.25, np.nan, -3.0],
        "seeds": [5, 5, 5],
        "verdict": ["of these models", None, "none"],
        "paired": [True, True, False],
    }
)


def study(folder: Path, **tables: pd.DataFrame) -> Path:
    (folder / "tables").mkdir(parents=True)
    for name, table in tables.items():
        table.to_parquet(folder / "tables" / f"{name}.parquet")
    return folder


def told(one: pd.DataFrame, other: pd.DataFrame, tolerance: float = 1e-9) -> list[str]:
    return list(compare_studies.compared(one, other, tolerance))


def test_the_same_rows_in_another_order_are_the_same():
    assert told(TABLE, TABLE.iloc[::-1]) == []
    assert told(TABLE, TABLE.assign(mean=TABLE["mean"] * (1 + 1e-12))) == []
    # An integer column in which something is missing is one of floats.
    assert told(TABLE, TABLE.assign(seeds=5.0)) == []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"mean": [0.25, np.nan, -3.5]}, says("mean: 1 of 3", "at most by 0.5", "such as lstm, 0")),
        ({"mean": [0.25, 0.0, -3.0]}, says("mean: 1 of 3", "missing", "such as bert, 1")),
        ({"mean": [0.25 + 1e-6, np.nan, -3.0]}, says("mean: 1 of 3", "at most by 1e-06", "such as bert, 0")),
        ({"mean": [np.inf, np.nan, -3.0]}, says("mean: 1 of 3", "at most by inf", "such as bert, 0")),
        ({"seeds": [5, 4, 5]}, says("seeds: 1 of 3", "at most by 1", "such as bert, 1")),
        (
            {"verdict": ["none", None, "none"]},
            "verdict: 1 of 3 values differ, 'of these models' and 'none', such as bert, 0",
        ),
        ({"paired": [True, False, False]}, says("paired: 1 of 3", "True and False", "such as bert, 1")),
    ],
)
def test_one_value_that_differs_is_told_with_its_row(changed, said):
    assert told(TABLE, TABLE.assign(**changed)) == [said]
    assert told(TABLE, TABLE.assign(**changed).iloc[[2, 0, 1]]) == [said]


def test_rows_and_columns_that_only_one_of_them_has():
    assert told(TABLE, TABLE.iloc[:2].drop(columns="paired")) == [
        says("only the first", "columns paired"),
        says("only the first", "1 of 3 rows", "such as lstm, 0"),
    ]
    assert told(TABLE.iloc[:1], TABLE)[0] == says("only the second", "2 of 3 rows", "such as bert, 1")


def test_rows_that_no_column_tells_apart_keep_their_places():
    same = pd.DataFrame({"metric": ["gini", "gini"], "value": [0.1, 0.2]})
    assert told(same, same) == []
    assert told(same, same.iloc[::-1])[0].startswith("value: 2 of 2")
    assert told(same, same.iloc[:1]) == [says("2 rows and 1 rows")]


def test_every_table_has_a_line_and_the_end_says_whether_something_differs(tmp_path, capsys):
    first, second, more = (study(tmp_path / name, effects=TABLE) for name in "abc")
    TABLE.to_parquet(more / "tables" / "scores.parquet")
    compare_studies.main(Namespace(first=first, second=second, tolerance=1e-9))
    assert capsys.readouterr().out == "effects: 3 rows, the same\n"
    with pytest.raises(SystemExit) as ended:
        compare_studies.main(Namespace(first=first, second=more, tolerance=1e-9))
    assert ended.value.code == 1
    assert capsys.readouterr().out.splitlines() == ["effects: 3 rows, the same", f"scores: only in {more}"]


def test_what_cannot_be_compared_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"nothing: no tables/\*\.parquet"):
        compare_studies.tables_of(tmp_path / "nothing")
