"""Datasets for tests, from one row per item that names its unit and its level, too."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from evenlight.core.contracts.texts import ATTRIBUTE, ITEMS, UNITS
from evenlight.core.tables import write_table
from evenlight.texts.items import separated


def as_dataset(rows: pd.DataFrame, factor: str = "gender") -> tuple[pd.DataFrame, pd.DataFrame]:
    """(items, units) from the columns of items with ``pair_id`` and ``group``, the level of ``factor``."""
    rows = rows.rename(columns={"pair_id": "unit_id", "group": ATTRIBUTE + factor})
    return separated(rows.assign(cluster=rows["unit_id"]), [factor])


def write_dataset(
    rows: pd.DataFrame, folder: Path, factor: str = "gender", classes: Sequence[str] = ("female", "male")
) -> None:
    """Write ``items.parquet`` and ``units.parquet`` below ``folder``, see :func:`as_dataset`."""
    items, units = as_dataset(rows, factor)
    write_table(items, folder / "items.parquet", ITEMS, {"classes": list(classes)})
    write_table(units, folder / "units.parquet", UNITS)
