"""Contracts: what a table must have is refused where it is not there, by file, column and rule."""

import argparse
import json
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenlight.core import tables
from evenlight.core.contracts import corpus, explanations, results, texts
from evenlight.core.contracts.explanations import SCORES
from evenlight.core.contracts.texts import ATTRIBUTE, ITEMS, UNITS
from evenlight.core.errors import InputError
from evenlight.core.tables import Contract, checked, read_arrow, write_table
from evenlight.jobs import command_line

CONTRACTS = [
    value
    for module in (corpus, texts, explanations, results)
    for value in vars(module).values()
    if isinstance(value, Contract)
]
EXAMPLES = {pa.string(): "x", pa.bool_(): True, pa.int8(): 1, pa.int64(): 1, pa.float32(): 0.5, pa.float64(): 0.5}


def example(kind: pa.DataType):
    """A value of this type."""
    if pa.types.is_list(kind):
        return [example(kind.value_type)]
    if pa.types.is_struct(kind):
        return {kind.field(i).name: example(kind.field(i).type) for i in range(kind.num_fields)}
    return EXAMPLES[kind]


def required(contract: Contract) -> list[str]:
    """The columns in which nothing may be missing."""
    return [field.name for field in contract.schema if not field.nullable]


def table_of(contract: Contract, rows: int = 3, /, **changed) -> pa.Table:
    """A table as the contract asks for; ``changed`` gives the values of some columns."""
    columns = {
        field.name: pa.array(changed.get(field.name, [example(field.type)] * rows), field.type)
        for field in contract.schema
    }
    return pa.table(columns)


@pytest.mark.parametrize("contract", CONTRACTS, ids=[contract.name for contract in CONTRACTS])
def test_a_null_in_a_required_column_is_refused(contract, tmp_path):
    for column in required(contract):
        kind = contract.schema.field(column).type
        table = table_of(contract, **{column: [example(kind), None, example(kind)]})
        message = rf"x\.parquet:.*'{column}'.*1 missing.*{contract.rule} makes.*delete"
        with pytest.raises(InputError, match=message):
            write_table(table, tmp_path / "x.parquet", contract)
        assert not list(tmp_path.iterdir())
    # Nor does a reader take the last one from a file that something else wrote.
    tables.pq.write_table(table, tmp_path / "x.parquet")
    with pytest.raises(InputError, match=message):
        read_arrow(tmp_path / "x.parquet", contract)


@pytest.mark.parametrize("contract", CONTRACTS, ids=[contract.name for contract in CONTRACTS])
def test_a_null_elsewhere_passes(contract):
    nullable = {field.name: [None] * 3 for field in contract.schema if field.nullable}
    table = checked(table_of(contract, **nullable), contract, "x")
    assert all(table[name].null_count == 3 for name in nullable)


@pytest.mark.parametrize("contract", CONTRACTS, ids=[contract.name for contract in CONTRACTS])
def test_a_column_that_is_not_there_or_of_another_type_is_refused(contract):
    table = table_of(contract)
    name = table.column_names[0]
    with pytest.raises(InputError, match=rf"no column '{name}'.*{contract.name}.*rule {contract.rule} "):
        checked(table.drop_columns(name), contract, "x")
    other = table.set_column(0, name, pa.array([{"a": 1}] * 3))
    with pytest.raises(InputError, match=f"x: column '{name}' is struct<a: int64>, {contract.name} need "):
        checked(other, contract, "x")


def test_attributes_are_the_only_further_columns_of_items(tmp_path):
    table = table_of(ITEMS).append_column(ATTRIBUTE + "gender", pa.array(["male", None, "female"]))
    write_table(table, tmp_path / "items.parquet", ITEMS)
    assert read_arrow(tmp_path / "items.parquet", ITEMS)[ATTRIBUTE + "gender"].to_pylist() == ["male", None, "female"]
    some = ITEMS.only("item_id", ATTRIBUTE + "gender")
    assert read_arrow(tmp_path / "items.parquet", some).column_names == ["item_id", ATTRIBUTE + "gender"]
    [group] = tables.read_groups(tmp_path / "items.parquet", some, 10)
    assert group.column_names == ["item_id", ATTRIBUTE + "gender"]
    with pytest.raises(InputError, match=r"no column 'attribute\.race'"):
        read_arrow(tmp_path / "items.parquet", ITEMS.only(ATTRIBUTE + "race"))
    for contract, name in ((ITEMS, "gender"), (UNITS, ATTRIBUTE + "gender")):
        with pytest.raises(InputError, match=rf"unexpected.*'{name}'.*{contract.name}"):
            checked(table_of(contract).append_column(name, pa.array(["x"] * 3)), contract, "x")


def test_a_further_column_of_another_type_is_refused():
    table = table_of(ITEMS).append_column(ATTRIBUTE + "gender", pa.array([["male"]] * 3))
    with pytest.raises(InputError, match=r"column 'attribute\.gender' is list<.*>.*need string; rule import_"):
        checked(table, ITEMS, "x")
    with pytest.raises(InputError, match=r"column 'gini' is string.*need double; rule"):
        checked(table_of(SCORES).append_column("gini", pa.array(["a"] * 3)), SCORES, "x")


# Files


WHOLE = Contract("examples", "make_them", pa.schema([pa.field("n", pa.int64()), pa.field("right", pa.bool_())]))


def numbers(*values) -> pa.Table:
    return pa.table({"n": pa.array(values, pa.int64()), "right": pa.array([True] * len(values), pa.bool_())})


def test_a_file_takes_its_place_when_it_is_whole(tmp_path):
    path = tmp_path / "new" / "folder" / "x.txt"
    with tables.replacing(path) as temporary:
        temporary.write_text("whole")
        assert temporary.parent == path.parent
        assert not path.exists()
    assert path.read_text() == "whole"
    assert path.stat().st_mode & 0o777 == 0o644
    with pytest.raises(ZeroDivisionError), tables.replacing(path) as temporary:
        temporary.write_text(f"half {1 / 0}")
    assert path.read_text() == "whole"
    with tables.replacing(path) as temporary:  # the folder is there by now
        temporary.write_text("new")
    assert [(each.name, each.read_text()) for each in path.parent.iterdir()] == [("x.txt", "new")]


def test_a_killed_job_leaves_a_hidden_file_that_says_of_what(tmp_path):
    with tables.replacing(tmp_path / "x.txt") as temporary:
        assert temporary.name.startswith(".x.txt.")


def fill(_: Path) -> None:
    """As a disk without room."""
    Path("/dev/full").write_text("much")


@pytest.mark.parametrize(
    ("place", "fault", "message"),
    [
        ("x.parquet", fill, r"x\.parquet:.*No space.*make room"),
        ("file/x.parquet", Path.touch, r"file/x\.parquet: (Not a directory|File exists);"),
    ],
)
def test_a_disk_that_takes_nothing_is_named_with_what_to_do(place, fault, message, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=message), tables.replacing(tmp_path / place) as path:
        fault(path)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_job_that_cannot_write_ends_with_one_message(monkeypatch):
    """Also of what it writes by itself, such as a folder of its own."""

    def command(_) -> None:
        raise PermissionError(13, "Permission denied", "results/mine")

    monkeypatch.setattr("sys.argv", ["job"])
    monkeypatch.setattr("signal.signal", lambda *_: None)
    with pytest.raises(SystemExit, match=r"^error:.*results/mine:.*Permission.*yourself"):
        command_line.run(command, argparse.ArgumentParser())


def test_other_errors_of_a_writer_stay_as_they_are(tmp_path):
    with pytest.raises(ValueError, match="mine"), tables.replacing(tmp_path / "x.parquet"):
        raise ValueError("mine")


def test_metadata_is_given_back(tmp_path):
    metadata = {"notes": ["a – b", "c"], "count": 2}
    write_table(numbers(1, 2), tmp_path / "x.parquet", WHOLE, metadata)
    assert tables.read_metadata(tmp_path / "x.parquet", WHOLE) == metadata
    write_table(numbers(1, 2), tmp_path / "x.parquet", WHOLE)
    assert tables.read_metadata(tmp_path / "x.parquet", WHOLE) == {}
    tables.pq.write_table(numbers(1), tmp_path / "x.parquet")  # by something else
    assert tables.read_metadata(tmp_path / "x.parquet", WHOLE) == {}


def test_the_order_of_metadata_does_not_change_the_file(tmp_path):
    write_table(numbers(1), tmp_path / "x.parquet", WHOLE, {"a": 1, "b": 2})
    write_table(numbers(1), tmp_path / "y.parquet", WHOLE, {"b": 2, "a": 1})
    assert (tmp_path / "x.parquet").read_bytes() == (tmp_path / "y.parquet").read_bytes()


def test_tables_are_written_one_after_the_other_and_each_is_checked(tmp_path):
    path = tmp_path / "x.parquet"
    tables.write_groups((numbers(*values) for values in ([1, 2], [3], [4, 5, 6])), path, WHOLE, {"a": 1})
    file = tables.pq.ParquetFile(path)
    assert [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)] == [2, 1, 3]
    assert file.metadata.row_group(0).column(0).compression == "ZSTD"
    assert read_arrow(path, WHOLE)["n"].to_pylist() == [1, 2, 3, 4, 5, 6]
    assert tables.count_rows(path, WHOLE) == 6
    assert tables.read_columns(path, WHOLE) == ["n", "right"]
    with pytest.raises(InputError, match=r"y\.parquet: no column 'right'"):
        tables.write_groups([numbers(1), numbers(2).drop_columns("right")], tmp_path / "y.parquet", WHOLE)
    assert [each.name for each in tmp_path.iterdir()] == ["x.parquet"]


def test_no_table_at_all_is_an_empty_one(tmp_path):
    tables.write_groups([], tmp_path / "x.parquet", WHOLE, {"a": 1})
    empty = read_arrow(tmp_path / "x.parquet", WHOLE)
    assert (len(empty), empty.schema.names) == (0, ["n", "right"])
    assert tables.read_metadata(tmp_path / "x.parquet", WHOLE) == {"a": 1}


def test_an_index_of_pandas_is_not_stored(tmp_path):
    frame = pd.DataFrame({"n": [1, 2], "right": [True, False]}, index=[7, 8])
    write_table(frame, tmp_path / "x.parquet", WHOLE)
    assert tables.read_columns(tmp_path / "x.parquet", WHOLE) == ["n", "right"]
    pd.testing.assert_frame_equal(tables.read_table(tmp_path / "x.parquet", WHOLE), frame.reset_index(drop=True))


@pytest.mark.parametrize(
    "read",
    [
        tables.read_arrow,
        tables.read_table,
        tables.read_exactly,
        tables.count_rows,
        tables.read_columns,
        tables.read_metadata,
        lambda path, contract: list(tables.read_groups(path, contract, 2)),
        lambda path, contract: tables.read_dataset(path, contract, "geco"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_its_rule(read, tmp_path):
    path = tmp_path / "x.parquet"
    with pytest.raises(InputError, match=rf"^{path}: no such file.*rule make_them"):
        read(path, WHOLE)
    path.write_text("no table")
    message = rf"^{path}: not.*Parquet file \(.+\); delete.*make_them "
    with pytest.raises(InputError, match=message):
        read(path, WHOLE)


def test_damage_inside_a_file_is_refused_with_its_rule(tmp_path):
    path = tmp_path / "x.parquet"
    write_table(numbers(*range(5000)), path, WHOLE)
    content = bytearray(path.read_bytes())
    content[4:2000] = bytes(1996)  # between the magic number and the footer
    path.write_bytes(content)
    message = rf"(?s)^{path}: damaged \(.+\); delete.*make_them"
    for read in (tables.read_arrow, lambda *asked: list(tables.read_groups(*asked, 2))):
        with pytest.raises(InputError, match=message):
            read(path, WHOLE)


def test_a_flipped_bit_never_changes_a_number(tmp_path):
    """It is refused, or lies where nothing is read."""
    path, random = tmp_path / "x.parquet", np.random.default_rng(5)
    # Numbers that do not compress: nothing else of the file would notice.
    written = numbers(*random.integers(2**31, size=500))
    write_table(written, path, WHOLE)
    whole, refused = path.read_bytes(), 0
    for place in random.integers(len(whole) // 2, size=30):
        content = bytearray(whole)
        content[place] ^= 1 << random.integers(8)
        path.write_bytes(content)
        try:
            assert tables.read_arrow(path, WHOLE).equals(written)
        except InputError:
            refused += 1
    assert refused > 15


def test_what_is_wrong_in_a_group_is_refused_with_its_file(tmp_path):
    tables.pq.write_table(numbers(1, 2).append_column("more", pa.array([1, 2])), tmp_path / "x.parquet")
    with pytest.raises(InputError, match=r"x\.parquet:.*unexpected.*'more'"):
        list(tables.read_groups(tmp_path / "x.parquet", WHOLE, 1))


@given(st.lists(st.integers(0, 5), max_size=6), st.integers(1, 7))
def test_regrouped_rows_stay_in_order(sizes, rows):
    parts = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1]) if sizes else []
    groups = [group["n"].to_pylist() for group in tables.regrouped((numbers(*part) for part in parts), rows)]
    assert list(chain.from_iterable(groups)) == list(range(sum(sizes)))
    assert all(len(group) == rows for group in groups[:-1])
    assert not groups or 0 < len(groups[-1]) <= rows


@pytest.mark.parametrize("wanted", [None, [1, 1, 0, 1, 0, 0, 0, 1, 1, 1]])
def test_groups_are_read_whatever_the_groups_of_the_file(wanted, tmp_path):
    tables.write_groups([numbers(0, 1, 2), numbers(3, 4, 5, 6, 7, 8, 9)], tmp_path / "x.parquet", WHOLE)
    mask = None if wanted is None else np.array(wanted, dtype=bool)
    groups = [group["n"].to_pylist() for group in tables.read_groups(tmp_path / "x.parquet", WHOLE, 4, mask)]
    assert groups == ([[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]] if wanted is None else [[0, 1, 3, 7], [8, 9]])
    narrow = WHOLE.only("n")
    assert {tuple(group.column_names) for group in tables.read_groups(tmp_path / "x.parquet", narrow, 4)} == {("n",)}


def test_whole_numbers_and_truth_values_stay_exact_where_some_are_missing(tmp_path):
    large = 2**53 + 1  # not a float64
    contract = Contract("examples", "make_them", WHOLE.schema.append(pa.field("share", pa.float64())))
    table = pa.table({"n": pa.array([large, None]), "right": pa.array([True, None]), "share": pa.array([0.5, None])})
    write_table(table, tmp_path / "x.parquet", contract)
    read = tables.read_exactly(tmp_path / "x.parquet", contract)
    assert read.dtypes.astype(str).tolist() == ["Int64", "boolean", "float64"]
    assert (read["n"][0], read["right"][0], read["share"][0]) == (large, True, 0.5)
    assert read.loc[1].isna().all()
    write_table(table.slice(0, 1), tmp_path / "x.parquet", contract)
    read = tables.read_exactly(tmp_path / "x.parquet", contract)
    assert read.dtypes.astype(str).tolist() == ["int64", "bool", "float64"]


def test_the_rows_of_a_dataset_and_no_others(tmp_path):
    contract = Contract("examples", "make_them", pa.schema([("dataset", pa.string()), ("n", pa.int64())]))
    write_table(pd.DataFrame({"dataset": ["a", "b", "a"], "n": [1, 2, 3]}), tmp_path / "x.parquet", contract)
    assert tables.read_dataset(tmp_path / "x.parquet", contract, "a")["n"].tolist() == [1, 3]
    message = r"x\.parquet: column 'dataset' has no 'c' \(--dataset\); rule make_them makes the table$"
    with pytest.raises(InputError, match=message):
        tables.read_dataset(tmp_path / "x.parquet", contract, "c")


def test_csv_is_for_every_program(tmp_path):
    tables.write_csv(pd.DataFrame({"name": ["é", None], "n": [1.5, np.nan]}, index=[3, 4]), tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_bytes().decode() == "name,n\né,1.5\n,\n"


def test_a_whole_number_beside_one_that_is_missing_is_whole_in_csv(tmp_path):
    tables.write_csv(pd.DataFrame({"n": [2**60 + 1, None], "name": "x"}, dtype=object), tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text() == f"n,name\n{2**60 + 1},x\n,x\n"


def test_a_list_is_json_in_csv(tmp_path):
    """However long it is: an array of many numbers is printed with its ends alone."""
    table = pd.DataFrame({"names": [["a", "b"], None], "shares": [np.arange(2000) / 8, np.array([])]})
    tables.write_csv(table, tmp_path / "x.csv")
    read = pd.read_csv(tmp_path / "x.csv")
    assert (json.loads(read["names"][0]), read["names"].isna()[1]) == (["a", "b"], True)
    assert [json.loads(shares) for shares in read["shares"]] == [list(np.arange(2000) / 8), []]


def test_a_checked_table_has_the_types_of_the_contract_and_its_own_metadata():
    table = pa.table({"n": pa.array([1, 2], pa.int8()), "right": [True, False]}).replace_schema_metadata({"a": "b"})
    contract = Contract(
        "examples", "make_them", pa.schema([pa.field("n", pa.int64(), nullable=False), ("right", pa.bool_())])
    )
    result = checked(table, contract, "x")
    assert result.schema == contract.schema
    assert result.schema.metadata == {b"a": b"b"}


def test_a_reader_of_some_columns_is_not_given_the_others():
    assert checked(numbers(1, 2), WHOLE.only("right"), "x").column_names == ["right"]
