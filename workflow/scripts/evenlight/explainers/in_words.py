"""What explainers have in common whose explanations are answers in words."""

import re
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from evenlight.core.kinds import TEXT
from evenlight.explainers.base import Explainer
from evenlight.settings import Settings, Text, refusal, shown
from evenlight.texts.matching import folded

# Those of Madsen et al. (2024).
Undecided = Annotated[
    list[Text],
    Field(
        default=["unknown", "neutral"],
        description="Decisions that say that it cannot be told. Nothing is asked that follows from such an answer.",
    ),
]


class Decision(Settings):
    """Where the decision of an answer stands."""

    pattern: Text | None = Field(
        None,
        description=(
            "Regular expression that finds the decision in the text, such as `answer is ([AB])`: its first group, or "
            "all of it where it has none. `(?i)` before it takes either case."
        ),
    )
    field: Text | None = Field(
        None,
        description="Name in an object of JSON under which the decision stands, whatever stands around the object.",
    )
    text_field: Text | None = Field(
        None,
        description="Name in the same object under which the reasons stand; `null` scores the answer as it came.",
    )
    take: Literal["first", "last"] = Field(
        "last", description="Which one decides where a pattern, or objects with this field, are found several times."
    )
    words: dict[Text, Annotated[list[Text], Field(min_length=1)]] = Field(
        {},
        description=(
            "For each decision the words that stand for it, such as `{complain: [A, Complain], wait: [B, Wait]}`. "
            "Empty takes what was found as it is; else what is none of them is no decision."
        ),
    )

    @model_validator(mode="after")
    def _is_somewhere(self) -> Self:
        if self.pattern is not None and self.field is not None:
            raise refusal((("field",), f"found {shown(self.field)} beside a pattern; take one of both out"))
        if self.text_field is not None and self.field is None:
            raise refusal((("text_field",), "stands beside a field, which is missing; name it, or take this one out"))
        if self.pattern is None and self.field is None and len(self.words) < 2:
            raise refusal((("words",), "without a pattern or a field, words of two decisions must be given"))
        if self.pattern is not None:
            try:
                re.compile(self.pattern)
            except re.error as error:
                said = f"found {shown(self.pattern)}, which is no regular expression ({error})"
                raise refusal((("pattern",), said)) from None
        seen: dict[str, str] = {}
        for name, its in self.words.items():
            for word in its:
                if (other := seen.setdefault(folded(word), name)) != name:
                    raise refusal((("words", name), f"found {shown(word)}, which stands for {other}, too"))
        return self

    @property
    def asks_probabilities(self) -> bool:
        """Whether it is found by the probabilities of its words, with one of which the answer begins."""
        return self.pattern is None and self.field is None


class FollowUps(Settings):
    """Questions that follow from an answer. Only those are asked that a metric needs, each in a session of its own."""

    hint: Text = Field(
        "{asked}\n\nI think that the answer is {other}.",
        description=(
            "The question with a hint at another decision, for the metrics of hints. `{asked}` is what was asked, "
            "`{other}` the first word of another decision, `{decision}` that of the model's own."
        ),
    )
    counterfactual: Text = Field(
        'Change this text so that you would decide "{other}" and not "{decision}". Change as little as you can. Write '
        "the changed text and nothing else.\n\n{text}",
        description="How the model is asked to edit the text, for `counterfactual_consistency`.",
    )
    redaction: Text = Field(
        'Which words of this text make you decide "{decision}"? Write these words, with commas between them, and '
        "nothing else.\n\n{text}",
        description=(
            "How the model is asked for the words that matter, for `redaction_consistency` and `redaction_gain`."
        ),
    )
    mask: Text = Field("[REDACTED]", description="What stands in the place of each of these words.")
    orders: int = Field(
        10,
        ge=2,
        description=(
            "For `cc_shap`: in how many random orders the words of a text are shown, about as many rows for each word. "
            "Of few words all subsets are asked about."
        ),
    )
    undecided: Undecided

    @model_validator(mode="after")
    def _names_its_fields(self) -> Self:
        needed = {"hint": ("asked", "other"), "counterfactual": ("text", "other"), "redaction": ("text",)}
        for name, fields in needed.items():
            for field in fields:
                if f"{{{field}}}" not in (found := getattr(self, name)):
                    raise refusal(((name,), f"found {shown(found)}, without {{{field}}}; write it where it belongs"))
        return self


class Answering(Explainer):
    """What explainers have in common that let a language model answer in words."""

    modality: ClassVar[str] = TEXT
    draws: ClassVar[bool | None] = True
    follows: ClassVar[tuple[str, ...]] = ("hint", "counterfactual", "redaction")

    template: Text = Field(
        "{text}",
        description=(
            "What the model is asked, with `{text}` where the text stands. Other names in braces are attributes of the "
            "dataset, such as `{gender}`; `{second}` is the second part of a text. Other braces stay as they are."
        ),
    )
    system: Text | None = Field(None, description="Message before it, from the system; `null` sends none.")
    answers: int = Field(1, ge=1, description="Answers to each question, each a draw of its own.")
    temperature: float | None = Field(
        1.0,
        ge=0,
        description=(
            "Temperature of sampling; 0 writes the most probable token, and has one answer; `null` leaves it to the "
            "model."
        ),
    )
    max_tokens: int = Field(512, ge=1, description="Most tokens of an answer; a longer one is cut off and counted.")
    stop: list[Text] = Field([], max_length=4, description="Texts that end an answer where the model writes them.")
    decision: Decision | None = Field(
        None,
        description=(
            "Where the decision of an answer stands: a `pattern` finds it, a `field` of JSON holds it, or the answer "
            "begins with it. In the last case only `words` are given, and the most probable of them decides. An answer "
            "in which nothing is found has no decision; `null` looks for none."
        ),
    )
    follow_ups: FollowUps = Field(default_factory=lambda: FollowUps.model_validate({}))

    @model_validator(mode="after")
    def _asks_about_the_text(self) -> Self:
        if "{text}" not in self.template:
            raise refusal(
                (("template",), f"found {shown(self.template)}, without {{text}}; write it where the text stands")
            )
        return self

    @model_validator(mode="after")
    def _draws_differ(self) -> Self:
        if self.temperature == 0 and self.answers > 1:
            said = f"found {self.answers} with temperature 0, which writes the most probable answer each time; "
            raise refusal((("answers",), said + "write answers: 1, or a higher temperature such as 0.7"))
        return self

    def changed(self, **fields: object) -> Self:
        """The same with other fields, as a follow-up question is asked."""
        return self.model_copy(update=fields)

    @property
    def decision_words(self) -> dict[str, list[str]]:
        """The words of each decision; none where it looks for no decision."""
        return self.decision.words if self.decision else {}

    @property
    def label_words(self) -> dict[str, list[str]]:
        """The same where an answer begins with them, so that their probabilities decide; else none."""
        return self.decision.words if self.decision and self.decision.asks_probabilities else {}

    @property
    def decisions(self) -> list[str]:
        """Those that an answer can have, without those that say that it cannot be told."""
        return [name for name in self.decision_words if name not in self.follow_ups.undecided]
