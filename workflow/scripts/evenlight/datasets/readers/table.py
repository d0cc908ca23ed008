"""A table of the user's own, CSV or Parquet, whose columns the settings name."""

from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from evenlight.datasets.base import Dataset, Reader
from evenlight.datasets.columns import Columns
from evenlight.settings import Location, Text, refusal, shown
from evenlight.texts.table_rows import named_rows


class OwnFile(Reader):
    """Where a table of one's own is."""

    file: Location = Field(
        description="Path of the table, ending in .csv or .parquet, from where Snakemake is started."
    )
    split: Text | None = Field(None, description="Column with `train` or `test`; null draws the test split.")


class Table(Columns, OwnFile):
    """Texts of any kind in a CSV or Parquet file, one on each row, whose columns are named here; see [the
    example](../docs/datasets.md#a-table-of-your-own).
    """

    title: ClassVar[str] = "A table of your own"

    reader: Literal["table"]

    @model_validator(mode="after")
    def _kind_of_file(self) -> Self:
        suffix = PurePath(self.file).suffix.lower()
        if suffix not in (".csv", ".parquet"):
            raise refusal((("file",), f"found {shown(self.file)}, neither .csv nor .parquet; convert the table"))
        if self.words is not None and suffix == ".csv":
            raise refusal((("words",), "found a column of lists, which CSV cannot have; name a column as text"))
        return self

    def named_files(self) -> list[str]:
        """The table."""
        return [Path(self.file).as_posix()]

    def read(self, files: Mapping[str, Path]) -> Dataset:
        """One item per row of the file, see :func:`evenlight.datasets.table.dataset_of`."""
        from evenlight.datasets.table import REMEDY, dataset_of

        path = files[self.named_files()[0]]
        return dataset_of(named_rows(path, self.named_columns(self.split), REMEDY), self, path, self.split)
