"""A model of which answers were recorded."""

from typing import ClassVar, Literal

from pydantic import Field

from evenlight.models.base import Architecture
from evenlight.settings import Text


class Answers(Architecture):
    """A model of which only recorded answers are known. It has no network: nothing is trained or predicted, and only
    explainers in words are asked about it. It has one run, under the first of `seeds`. See [the
    guide](../docs/answers.md).
    """

    title: ClassVar[str] = "Model of which answers were recorded"
    answers_only: ClassVar[bool] = True

    architecture: Literal["answers"]
    called: Text | None = Field(
        None,
        description="What tables of answers call it in their column of models; `null` is the name of the entry.",
    )
