"""The questions of a table of answers: what a model was asked, each wording once, however often it was asked."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from evenlight.core.errors import InputError
from evenlight.core.sources import addressed
from evenlight.datasets.base import Dataset, Reader
from evenlight.datasets.columns import Attribute, Columns, without_joint
from evenlight.settings import Different, Location, Name, Sha256, Text, check_addressed
from evenlight.texts.splitting import Segmenter
from evenlight.texts.table_rows import is_empty, name_of, named_rows

# Columns that the rows get beside those of the file. Questions have one class, which nothing asks for.
ITEM, CLASS = "(item)", "(class)"
CLASSES = ("asked",)


class Questions(Reader):
    """The questions of a table of answers, in which each stands as often as it was answered; see [the
    guide](../docs/answers.md). Questions have no class, so that only models of which answers were recorded are asked
    about them.
    """

    title: ClassVar[str] = "Questions of recorded answers"
    whole_clusters: ClassVar[bool] = True

    reader: Literal["questions"]
    file: Location = Field(
        description=(
            "Path of the table, ending in .csv, .jsonl, .json or .parquet, from where Snakemake is started; or its "
            "address."
        )
    )
    sha256: Sha256 = None
    text: Text = Field(description="Column with what was asked, which is split into words.")
    segmenter: Segmenter = "unicode"
    language: Annotated[str, Field(pattern="^[a-z]{2,3}$")] | None = Field(
        None,
        description=(
            "Code of the language of questions and answers, such as `de`. A metric that cannot do it is refused. Null "
            "where it is not known: metrics that read English have no value of an answer that seems to be in another "
            "language."
        ),
    )
    unit: Text = Field(description="Column that is equal for the forms of one question.")
    level: Text = Field(description="Column with the form that was asked, such as the dialect.")
    factor: Name = Field(description="What the forms differ in, such as `dialect`.")
    levels: Annotated[Different[Text], Field(min_length=2), AfterValidator(without_joint)] = Field(
        description="The values of `level`, all of which must occur; without the sign +."
    )
    other_levels: Literal["refuse", "drop"] = Field(
        "refuse", description="What happens to rows of other levels: `drop` leaves them out and reports how many."
    )
    balanced: bool = Field(
        True,
        description="Whether a question with several forms must have one of each level; `false` where some lack.",
    )
    cluster: Text | None = Field(
        None,
        description=(
            "Column that is equal for questions that belong together, such as those of one subject. Null takes the "
            "unit."
        ),
    )
    changed: Text | None = Field(
        None,
        description=(
            "Column that is filled where a concept of the question was changed, as `concept` of recorded answers. Such "
            "rows are no questions of the dataset."
        ),
    )

    @model_validator(mode="after")
    def _addresses_have_digests(self) -> Self:
        check_addressed(self.file, self.sha256)
        return self

    def sources(self) -> list[str]:
        """The table, where it lies at an address."""
        return [addressed(self.file, self.sha256)] if self.sha256 else []

    def named_files(self) -> list[str]:
        """The table, where it lies at a path."""
        return [] if self.sha256 else [Path(self.file).as_posix()]

    def factors(self) -> dict[str, list[str]]:
        """What the forms of a question differ in."""
        return {self.factor: list(self.levels)}

    def unbalanced(self) -> list[str]:
        """The factor, where a question may lack a form."""
        return [] if self.balanced else [self.factor]

    def read(self, files: Mapping[str, Path]) -> Dataset:
        """An item for each unit and level; all of them are tested.

        Rows of other levels are refused, or dropped and counted where ``other_levels`` says so. Rows with a value in
        the column ``changed`` ask a question in which a concept was changed, and make no item.

        Raises:
            InputError: a field is empty, or one form of a question has two wordings.
        """
        from evenlight.datasets.table import REMEDY, dataset_of

        [path] = (files[name] for name in (*self.sources(), *self.named_files()))
        columns = {key: getattr(self, key) for key in ("unit", "level", "text", "cluster")}
        columns = {key: column for key, column in columns.items() if column is not None}
        asked: dict[str, tuple[str, dict]] = {}
        dropped: Counter = Counter()
        for location, row in named_rows(path, [*columns.values(), *([self.changed] if self.changed else [])], REMEDY):
            if self.changed and not is_empty(row[self.changed]):
                continue
            cells = {}
            for key, column in columns.items():
                if is_empty(row[column]):
                    raise InputError(f"{location}: field '{column}' ({key}) is empty; {REMEDY}")
                cells[column] = str(row[column]) if key == "text" else name_of(row[column])
            if self.other_levels == "drop" and cells[self.level] not in self.levels:
                dropped[cells[self.level]] += 1
                continue
            item = "/".join(cells[columns[key]] for key in ("unit", "level"))
            first, known = asked.setdefault(item, (location, cells | {ITEM: item, CLASS: CLASSES[0]}))
            if any(known[column] != value for column, value in cells.items()):
                raise InputError(
                    f"{location}: question '{item}' is asked in other words than in {first}; make "
                    "them equal, or name a column that is the same in all"
                )
        dataset = dataset_of(asked.values(), self._as_table(), path)
        if not dropped:
            return dataset
        levels = ", ".join(map(repr, dropped))
        said = f"{dropped.total():,} rows of other levels of {self.factor} are left out: {levels}"
        return replace(dataset, notes=[*dataset.notes, said])

    def _as_table(self) -> Columns:
        """What the columns of the questions mean; a table of a user's own has two classes at least."""
        attribute = Attribute(column=self.level, levels=self.levels, balanced=self.balanced)
        return Columns.model_construct(
            text=self.text,
            segmenter=self.segmenter,
            label=CLASS,
            classes=list(CLASSES),
            attributes={self.factor: attribute},
            pair=self.unit,
            cluster=self.cluster,
            item=ITEM,
            test_share=1.0,
        )
