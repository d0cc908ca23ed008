"""Do two runs of a study have the same numbers? Their tables side by side, for whoever upgrades.

    python workflow/tools/compare_studies.py before/results/demo results/demo

Rows are found again by the first columns that tell all rows of a table apart, whatever their order. It ends with 1
where something differs.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from evenlight.core.errors import InputError
from evenlight.jobs import command_line


def tables_of(study: Path) -> dict[str, Path]:
    """The tables of a study by name.

    Raises:
        InputError: there are none.
    """
    found = {path.stem: path for path in sorted((study / "tables").glob("*.parquet"))}
    if not found:
        raise InputError(f"{study}: no tables/*.parquet below it; name the folder of a study, such as results/demo")
    return found


def keys_of(*tables: pd.DataFrame) -> list[str]:
    """The first columns, in order, that tell all rows of each table apart; none where no columns do.

    >>> keys_of(pd.DataFrame({"model": ["a", "a"], "seed": [0, 1], "mean": [2.0, 2.0]}))
    ['model', 'seed']
    """
    first, *others = tables
    shared = [name for name in first.columns if all(name in other for other in others)]
    able = [name for name in shared if not pd.api.types.is_float_dtype(first[name])]
    texts = [table[able].astype(str) for table in tables]
    for count in range(1, len(able) + 1):
        if not any(table.duplicated(able[:count]).any() for table in texts):
            return able[:count]
    return []


def differing(one: pd.Series, other: pd.Series, tolerance: float) -> tuple[np.ndarray, str]:
    """Which values of a column differ, and by how much in words.

    Numbers may differ by ``tolerance``, as a share of the larger of the two. What is missing equals what is missing.
    """
    missing = one.isna().to_numpy() & other.isna().to_numpy()
    if not all(pd.api.types.is_numeric_dtype(each) and not pd.api.types.is_bool_dtype(each) for each in (one, other)):
        differ = (one.astype(str).to_numpy() != other.astype(str).to_numpy()) & ~missing
        if not differ.any():
            return differ, ""
        place = int(np.flatnonzero(differ)[0])
        return differ, f"{one.tolist()[place]!r} and {other.tolist()[place]!r}"
    first, second = (each.to_numpy(dtype=float, na_value=np.nan) for each in (one, other))
    with np.errstate(invalid="ignore"):
        apart = np.where(first == second, 0.0, np.abs(first - second))
        allowed = tolerance * np.maximum(np.abs(first), np.abs(second))
        differ = ~(np.isfinite(apart) & (apart <= allowed)) & ~missing
    if not differ.any():
        return differ, ""
    known = apart[differ & ~np.isnan(apart)]
    return differ, f"at most by {known.max():.3g}" if len(known) else "missing in one of them"


def compared(one: pd.DataFrame, other: pd.DataFrame, tolerance: float) -> Iterator[str]:
    """What differs between two tables, a line each."""
    for here, there, which in ((one, other, "first"), (other, one, "second")):
        alone = [name for name in here.columns if name not in there]
        if alone:
            yield f"only the {which} has the columns {', '.join(alone)}"
    keys = keys_of(one, other)
    if keys:
        indexed = [table.set_index(pd.MultiIndex.from_frame(table[keys].astype(str))) for table in (one, other)]
        common = indexed[0].index.intersection(indexed[1].index, sort=False)
        for table, which in zip(indexed, ("first", "second"), strict=True):
            alone = table.index.difference(common, sort=False)
            if len(alone):
                yield f"only the {which} has {len(alone):,} of {len(table):,} rows, such as {', '.join(alone[0])}"
        one, other = (table.loc[common] for table in indexed)
    elif len(one) != len(other):
        yield f"{len(one):,} rows and {len(other):,} rows, which no column tells apart"
        return
    for name in [name for name in one.columns if name in other and name not in keys]:
        differ, said = differing(one[name], other[name], tolerance)
        if said:
            place = int(np.flatnonzero(differ)[0])
            where = f", such as {', '.join(map(str, one.index[place]))}" if keys else f", such as row {place + 1}"
            yield f"{name}: {differ.sum():,} of {len(one):,} values differ, {said}{where}"


def main(arguments: argparse.Namespace) -> None:
    """Print a line for each table, and what differs below it."""
    first, second = tables_of(arguments.first), tables_of(arguments.second)
    differs = False
    for name in sorted(first.keys() | second.keys()):
        if name not in first or name not in second:
            print(f"{name}: only in {arguments.first if name in first else arguments.second}")
            differs = True
            continue
        one, other = (pq.read_table(tables[name]).to_pandas() for tables in (first, second))
        said = list(compared(one, other, arguments.tolerance))
        print(f"{name}: {len(other):,} rows, {'different' if said else 'the same'}", *said, sep="\n  ")
        differs |= bool(said)
    if differs:
        sys.exit(1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=Path, help="folder of a study, such as results/demo of another clone")
    parser.add_argument("second", type=Path, help="folder of the other run")
    parser.add_argument("--tolerance", type=float, default=1e-9, help="numbers may differ by this share of them")
    command_line.run(main, parser)
