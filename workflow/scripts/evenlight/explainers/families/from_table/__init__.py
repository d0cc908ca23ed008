"""Answers in words that were recorded elsewhere."""

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from evenlight.core.kinds import TEXT
from evenlight.explainers.base import Explainer
from evenlight.explainers.fields import FileOfRun, column
from evenlight.explainers.in_words import Undecided
from evenlight.settings import Sha256, Text, check_addressed, refusal, shown


class FromTable(Explainer):
    """Answers in words that were recorded elsewhere, each with the reasons that a language model gave, read from a
    table with one answer in each row. See [the guide](../docs/answers.md).
    """

    title: ClassVar[str] = "Recorded answers"
    modality: ClassVar[str] = TEXT
    needs_model: ClassVar[bool] = False
    needs_internals: ClassVar[bool] = False
    draws: ClassVar[bool | None] = None
    external: ClassVar[bool] = True
    follows: ClassVar[tuple[str, ...]] = ("hint", "counterfactual", "redaction")

    method: Literal["from_table"]
    file: FileOfRun = Field(
        description=(
            "Path of a table (.csv, .jsonl, .json or .parquet), or its address. `{dataset}`, `{model}` and `{seed}` in "
            "it stand for the names of the run."
        )
    )
    sha256: Sha256 = None
    unit: Text | None = column(
        "the unit of the question, as the dataset names it (`pair` of a table); null where `item` names the question."
    )
    level: Text | None = column(
        "the level of the form that was asked, such as the dialect; null where each unit is one text."
    )
    item: Text | None = column("the `item_id` of the question, in place of `unit` and `level`.")
    text: Text = Field(description="Column with the answer in words.")
    other_questions: Literal["refuse", "drop"] = Field(
        "refuse",
        description=(
            "What happens to answers to questions that the dataset has not: `drop` leaves them out and reports how "
            "many."
        ),
    )
    draw: Text | None = column(
        "the number of the draw, a whole number; null numbers the answers to a question by their rows, from 0."
    )
    decision: Text | None = column("what the answer decides; empty where it decides nothing, as a refusal.")
    model: Text | None = column(
        "the name of the model, where a table has answers of several: only rows with the model's own name count, or "
        "with what `called` says of it."
    )
    concept: Text | None = column(
        "the concept that was changed in the question, empty where it was asked as it is. Only metrics of changed "
        "questions read such rows."
    )
    change: Text | None = column("what was done to the concept, where it was changed in several ways.")
    kind: Text | None = column("the kind of the concept; effects of one kind are estimated together.")
    reference: Text | None = column("the decision that the others are held against, such as the one for nobody.")
    mentioned: Text | None = column(
        "the concepts that the reason says to matter, a list, or names with `;` between them; missing where nobody "
        "judged it."
    )
    evidence: Text | None = column(
        "the words of a changed question that tell its concept, in place of `mentioned`: a reason that has one of them "
        "mentions it."
    )
    hinted: Text | None = column("the decision that a hint points to, empty where the question was not asked with one.")
    hinted_decision: Text | None = column("the decision on the question with the hint.")
    hinted_text: Text | None = column("the reason for it, in words.")
    edited: Text | None = column("the decision that the model's own edit of the text was to have.")
    edited_decision: Text | None = column("the decision on this edit.")
    redacted_decision: Text | None = column("the decision on the text without the words that matter to the model.")
    random_decision: Text | None = column("the decision on the text without as many words at random.")
    undecided: Undecided
    prompt: Text | None = column("a digest, or a name, of the prompt.")
    temperature: Text | None = column("the temperature of sampling.")
    seed: Text | None = column("the seed of sampling, a whole number.")
    tokens: Text | None = column("the number of tokens that were written.")
    seconds: Text | None = column("the seconds that the answer took.")
    finish: Text | None = column(
        "why the answer ended where it does: `stop`, `length` where it was cut off, or `content_filter`."
    )

    @model_validator(mode="after")
    def _names_the_question(self) -> Self:
        check_addressed(self.file, self.sha256)
        if (self.item is None) == (self.unit is None):
            raise refusal((("item",), "exactly one of item and unit must name a column, by which a question is found"))
        if self.item is not None and self.level is not None:
            raise refusal(
                (("level",), f"found {shown(self.level)} beside item, which names a form alone; leave it out")
            )
        for name in ("change", "kind", "reference", "mentioned", "evidence"):
            if getattr(self, name) is not None and self.concept is None:
                raise refusal(((name,), "is about changed questions; name the column concept, too, or leave it out"))
        if self.mentioned is not None and self.evidence is not None:
            raise refusal((("evidence",), "mentioned says the same; leave out one of them"))
        return self
