"""Contracts: what a table must have is refused where it is not there, by file, column and rule."""

import pyarrow as pa
import pytest

from evenlight import tables
from evenlight.errors import InputError
from evenlight.tables import ATTRIBUTE, ITEMS, SCORES, UNITS, Contract, checked, read_arrow, write_table

CONTRACTS = [value for value in vars(tables).values() if isinstance(value, Contract)]
REQUIRED = [(contract, field.name) for contract in CONTRACTS for field in contract.schema if not field.nullable]
EXAMPLES = {pa.string(): "x", pa.int64(): 1, pa.float64(): 0.5, pa.bool_(): True, pa.int8(): 1}


def example(kind: pa.DataType):
    """A value of this type."""
    if pa.types.is_list(kind):
        return [example(kind.value_type)]
    if pa.types.is_struct(kind):
        return {kind.field(i).name: example(kind.field(i).type) for i in range(kind.num_fields)}
    return EXAMPLES[kind]


def table_of(contract: Contract, rows: int = 3, **changed) -> pa.Table:
    """A table as the contract asks for; ``changed`` gives the values of some columns."""
    columns = {
        field.name: pa.array(changed.get(field.name, [example(field.type)] * rows), field.type)
        for field in contract.schema
    }
    return pa.table(columns)


def test_there_are_contracts_to_test():
    assert {"items", "units", "scores", "disparity"} <= {contract.name for contract in CONTRACTS}
    assert len(REQUIRED) > 60


@pytest.mark.parametrize(
    ("contract", "column"), REQUIRED, ids=[f"{contract.name}-{column}" for contract, column in REQUIRED]
)
def test_a_null_in_a_required_column_is_refused(contract, column, tmp_path):
    kind = contract.schema.field(column).type
    table = table_of(contract, **{column: [example(kind), None, example(kind)]})
    message = rf"x\.parquet: column '{column}' has 1 missing values; rule {contract.rule} makes it; delete the file"
    with pytest.raises(InputError, match=message):
        write_table(table, tmp_path / "x.parquet", contract)
    assert not list(tmp_path.iterdir())
    # Nor does a reader take it from a file that something else wrote.
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
    with pytest.raises(
        InputError, match=f"x: no column '{name}' for a table of {contract.name}; rule {contract.rule} "
    ):
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
    with pytest.raises(InputError, match=r"no column 'attribute\.race' for a table of items"):
        read_arrow(tmp_path / "items.parquet", ITEMS.only(ATTRIBUTE + "race"))
    for contract, name in ((ITEMS, "gender"), (UNITS, ATTRIBUTE + "gender")):
        with pytest.raises(InputError, match=f"unexpected column '{name}' in a table of {contract.name}"):
            checked(table_of(contract).append_column(name, pa.array(["x"] * 3)), contract, "x")


def test_a_further_column_of_another_type_is_refused():
    table = table_of(ITEMS).append_column(ATTRIBUTE + "gender", pa.array([["male"]] * 3))
    with pytest.raises(InputError, match=r"column 'attribute\.gender' is list<.*>, items need string; rule import_"):
        checked(table, ITEMS, "x")
    with pytest.raises(InputError, match="column 'gini' is string, scores need double; rule"):
        checked(table_of(SCORES).append_column("gini", pa.array(["a"] * 3)), SCORES, "x")
