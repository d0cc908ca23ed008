"""A table of scores that were made elsewhere: nothing of such a study is trained, predicted or explained here."""

from pathlib import Path, PurePath
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from evenlight.datasets.base import Reader
from evenlight.settings import LIST, MAPPING, NUMBER, TEXT, TEXT_OR_LIST, Different, Location, Text, refusal, shown

# By a pattern: of a value that may be a mapping, too, JSON Schema could not list the texts that are allowed.
Direction = Annotated[str, Field(pattern="^(higher|lower)$")]
Pair = Annotated[Different[Text], Field(min_length=2, max_length=2)]
# One column, or several.
Columns = Annotated[Annotated[Text, Tag(TEXT)] | Annotated[Different[Text], Tag(LIST)], TEXT_OR_LIST]
# What is said of each metric by its name, or of all.
Margins = Annotated[
    Annotated[Annotated[float, Field(ge=0)], Tag(NUMBER)]
    | Annotated[dict[Text, Annotated[float, Field(ge=0)]], Tag(MAPPING)],
    Discriminator(lambda value: MAPPING if isinstance(value, dict) else NUMBER),
]
Directions = Annotated[
    Annotated[Direction, Tag(TEXT)] | Annotated[dict[Text, Direction], Tag(MAPPING)],
    Discriminator(lambda value: MAPPING if isinstance(value, dict) else TEXT),
]


class Scores(Reader):
    """Scores of two groups that any tool has made, a row for each. Its keys are the arguments of `judge`; see
    [the guide](../docs/judge.md#in-a-study). Such a study has no models, explainers and metrics: the table names them.
    """

    title: ClassVar[str] = "A table of scores"

    reader: Literal["scores"]
    file: Location = Field(
        description="Path of the table, ending in .csv or .parquet, from where Snakemake is started."
    )
    unit: str | None = Field(
        None, description="Column of what is compared, such as a pair of texts. Null takes `unit` or `pair`."
    )
    group: str | None = Field(None, description="Column of the groups that are compared. Null takes `group`.")
    score: Columns | None = Field(
        None, description="Column with scores, or several, of which each is a metric. Null takes `score`."
    )
    cell: Columns | None = Field(
        None,
        description=(
            "Columns of what is compared by itself. Null takes those of `dataset`, `model`, `explainer` and `metric` "
            "that are there."
        ),
    )
    cluster: str | None = Field(
        None, description="Column of what is independent, where that is more than a unit. Null takes `cluster`."
    )
    stratum: str | None = Field(
        None, description="Column within whose values units are compared. Null takes `stratum`."
    )
    repeat: str | None = Field(
        None, description="Column of repetitions, over which scores are averaged. Null takes `seed`."
    )
    compare: Annotated[list[Pair], Field(min_length=1)] | None = Field(
        None, description="Pairs of groups, such as `[[male, female]]`. Null compares each with each."
    )
    better: Directions = Field("higher", description="Which scores are better, of all metrics or by metric.")
    margin: Margins = Field(
        0.0, description="Largest difference that is a tie, in the units of the scores, of all metrics or by metric."
    )
    primary: dict[Text, Annotated[Different[Text], Field(min_length=1)]] = Field(
        {},
        description=(
            "The comparisons that matter, named before scores are seen: names by column of a cell, such as `{metric: "
            "[gini]}`."
        ),
    )

    @model_validator(mode="after")
    def _kind_of_file(self) -> Self:
        if PurePath(self.file).suffix.lower() not in (".csv", ".parquet"):
            raise refusal((("file",), f"found {shown(self.file)}, neither .csv nor .parquet; convert the table"))
        return self

    def named_files(self) -> list[str]:
        """The table."""
        return [Path(self.file).as_posix()]

    def factors(self) -> dict[str, list[str]]:
        """None that are known before the table is read."""
        return {}

    def columns(self) -> dict[str, Any]:
        """Which column says what, as :func:`evenlight.texts.score_tables.read_score_table` takes it."""
        return {
            name: getattr(self, name) for name in ("unit", "group", "score", "cell", "cluster", "stratum", "repeat")
        }
