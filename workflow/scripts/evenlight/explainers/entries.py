"""Explainers whose code still stands in another module than their class."""

import importlib
import re
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from evenlight.core.kinds import EFFECTS, TEXT
from evenlight.explainers import base
from evenlight.explainers.fields import FileOfRun, column
from evenlight.settings import (
    Location,
    Name,
    Settings,
    Sha256,
    Text,
    check_addressed,
    refusal,
    shown,
)
from evenlight.texts.matching import folded


class Explainer(base.Explainer):
    """An explainer whose family is a module with a function ``explain``."""

    @classmethod
    def explain_together(cls, entries, sentences, context):
        """What the module's function says."""
        methods = {name: entry.model_dump() for name, entry in entries.items()}
        return importlib.import_module(f"evenlight.explainers.{cls.family}").explain(sentences, methods, context)


class ConceptExplainer(Explainer):
    """An explainer that estimates what a change of a concept does to the model's probabilities."""

    family: ClassVar[str] = "concepts"
    modality: ClassVar[str] = EFFECTS
    asks_model: ClassVar[bool] = False
    needs_internals: ClassVar[bool] = False


TextLevels = Annotated[
    Literal["predicted", "people"],
    Field(
        description=(
            "What is known of the levels of a text: those that are `predicted`, see `explain.levels_by`, as in the "
            "paper, or those that `people` gave."
        ),
    ),
]


def _adding_up() -> str:
    return ", ".join(method for method, entry in Explainer.entries.items() if entry.adds_up)


class SummedAttributions(ConceptExplainer):
    """Attributions of another explainer to every class, summed over the words that speak of the concept: what they are
    on average in training texts at the new level, less what they are in the text.
    """

    title: ClassVar[str] = "Summed attributions"
    sums_explainer: ClassVar[bool] = True
    draws: ClassVar[bool | None] = None  # as the other explainer does

    method: Literal["summed_attributions"]
    explainer: dict[Name, bool | int | float | str | None] = Field(
        description=(
            "The other explainer: its `method` and further keys of it, such as `{method: integrated_gradients, steps: "
            f"10}}`. Its scores must say what a token adds to an output, as those of {_adding_up()} do."
        )
    )
    words: Literal["learned", "restaurants", "causal_world"] = Field(
        "learned",
        description=(
            "Which words speak of a concept: those whose presence goes with the labels of training texts are "
            "`learned`; this project's lists are for `restaurants` (CEBaB) and the `causal_world` in English."
        ),
    )
    lexicon: Location | None = Field(
        None,
        description=(
            "A file of your own in place of `words`, like resources/lexicons/restaurants.yaml; path from where "
            "Snakemake is started."
        ),
    )
    reach: Literal["word", "clause"] = Field(
        "word",
        description=(
            "Whether a `word` speaks of a concept alone, or all words of its `clause` do; clauses with words of "
            "several concepts are shared."
        ),
    )
    texts: int = Field(50, ge=1, description="Most training texts at each level of a concept whose mean counts.")

    @field_validator("explainer")
    @classmethod
    def _complete(cls, value: dict) -> dict:
        """Imported when needed, as most studies have no such entry."""
        from evenlight.settings.problems import problems_of
        from evenlight.settings.schema import entry_schema

        entry = Explainer.entries.get(value.get("method"))
        if entry is None or not entry.adds_up:
            raise refusal((("method",), f"found {shown(value.get('method'))}; allowed is one of {_adding_up()}"))
        try:
            completed = entry.model_validate(value).model_dump(exclude={"label", "datasets"})
        except ValidationError as error:
            raise refusal(((), "; ".join(problems_of(error, value, entry_schema(entry))))) from None
        if completed["output"] == "contrast":
            raise refusal((("output",), 'found "contrast"; every class is attributed by itself, without a foil'))
        if completed.get("aggregation", "sum") != "sum":
            raise refusal((("aggregation",), f"found {shown(completed['aggregation'])}; allowed is sum, with its sign"))
        return completed


class RandomEffects(ConceptExplainer):
    """The difference of two distributions over the classes that are drawn at random."""

    title: ClassVar[str] = "Random effects"
    draws: ClassVar[bool] = True
    is_random: ClassVar[bool] = True
    is_yardstick: ClassVar[bool] = True

    method: Literal["random_effects"]


class ApproximateCounterfactuals(ConceptExplainer):
    """A training text at the wanted levels, drawn at random, in place of the counterfactual (Abraham et al. 2022)."""

    title: ClassVar[str] = "Approximate counterfactuals"
    draws: ClassVar[bool] = True

    method: Literal["approximate"]
    text_levels: TextLevels = "predicted"


class MatchedCounterfactuals(ConceptExplainer):
    """The mean of the nearest training texts at the wanted level, in place of the counterfactual."""

    title: ClassVar[str] = "Matched counterfactuals"
    draws: ClassVar[bool] = True

    method: Literal["matched"]
    text_levels: TextLevels = "predicted"
    neighbours: int = Field(10, ge=1, description="How many texts stand for the counterfactual; their mean counts.")
    by: Literal["representation", "propensity"] = Field(
        "representation",
        description=(
            "What is near: the `representation`, of texts that have the other concepts' levels, too, as far as there "
            "are any; or the `propensity`, the odds of the new level given the other concepts' levels."
        ),
    )


class Conexp(ConceptExplainer):
    """The difference of the mean probabilities of the training texts at either level (Goyal et al. 2019)."""

    title: ClassVar[str] = "CONEXP"

    method: Literal["conexp"]


class SLearner(ConceptExplainer):
    """A logistic regression on the levels of all concepts, asked before and after the change (Künzel et al. 2019)."""

    title: ClassVar[str] = "S-Learner"

    method: Literal["s_learner"]
    text_levels: TextLevels = "predicted"
    definition: Literal["paper", "released"] = Field(
        "paper",
        description=(
            "`paper` knows the level of the changed concept before the change; CEBaB's `released` code takes it as it "
            "is predicted, too."
        ),
    )
    calibrated: bool = Field(
        False,
        description=(
            "Whether it learns the model's probabilities without penalty, so that at each level its mean is the "
            "model's; otherwise it learns the predicted class, as the released code does."
        ),
    )


class TrainingPairs(ConceptExplainer):
    """What real edits of the same direction did to texts outside of the test: an upper bound that no observer knows.
    Needs a dataset with such edits (CEBaB).
    """

    title: ClassVar[str] = "Training pairs"

    method: Literal["training_pairs"]
    neighbours: int | None = Field(
        None, ge=1, description="How many edits of the nearest texts count; `null` is the mean of all."
    )


class Tcav(ConceptExplainer):
    """How the probabilities answer to a step in the direction of a concept (Kim et al. 2018)."""

    title: ClassVar[str] = "TCAV"

    method: Literal["tcav"]
    definition: Literal["paper", "released"] = Field(
        "paper",
        description=(
            "`paper` separates the level after from the level before. CEBaB's `released` code separates positive texts "
            "from all others, reverses the sign and adds up the gradients of the classes."
        ),
    )


class ConceptShap(ConceptExplainer):
    """The Shapley value of a concept among all, whose directions recover the representation (Yeh et al. 2020)."""

    title: ClassVar[str] = "ConceptSHAP"

    method: Literal["concept_shap"]


class Inlp(ConceptExplainer):
    """The representation without what linear classifiers, one by one, find of the concept (Ravfogel et al. 2020)."""

    title: ClassVar[str] = "INLP"
    version: ClassVar[int] = 2
    draws: ClassVar[bool] = True

    method: Literal["inlp"]
    iterations: int = Field(10, ge=1, description="Most classifiers for each concept.")


class Leace(ConceptExplainer):
    """The representation without any linear trace of the concept, changed as little as can be (Belrose et al. 2023)."""

    title: ClassVar[str] = "LEACE"

    method: Literal["leace"]


class Causalm(ConceptExplainer):
    """The answer of a network of its own, which is trained to leave the concept out and to keep the one that is
    associated with it the most (CausaLM, Feder et al. 2021). It begins as the model, and is trained for each concept,
    model and seed.
    """

    title: ClassVar[str] = "CausaLM"
    trains_network: ClassVar[bool] = True
    draws: ClassVar[bool] = True

    method: Literal["causalm"]
    training: Text | None = Field(
        None,
        description=(
            "How the network is trained on: the name of one of `trainings`; `null` is the training of each model. Its "
            "`start`, `fresh`, `epochs`, `patience` and `kept_epoch` do not count: the `epochs` given here are all "
            "trained, and the last one is kept."
        ),
    )
    epochs: int = Field(3, ge=1, description="Passes over the texts; 3 are those of CEBaB's released script.")
    texts: int | None = Field(
        None, ge=1, description="Learn from only this many training texts, drawn at random; `null` takes all."
    )
    control: bool = Field(
        True, description="Whether a head keeps the concept that is associated with the treated one the most."
    )
    strength: float = Field(
        2.0,
        gt=0,
        description=(
            "Weight of forgetting beside the task (λ). Below 1 the task keeps what it needs of the concept; "
            "CEBaB's 0.1 stands beside a language model's loss."
        ),
    )
    head_speed: float = Field(
        200.0,
        gt=0,
        description="How many times as fast as the network the heads learn, so that they see what is left to be told.",
    )


Undecided = Annotated[
    list[Text],
    Field(
        default=["unknown", "neutral"],
        description=(
            "Decisions that say that it cannot be told. Nothing is asked that follows from such an answer, and a text "
            "without the words that matter should have one."
        ),
    ),
]


class Recorded(Explainer):
    """Answers in words that were recorded elsewhere, each with the reasons that a language model gave, read from a
    table with one answer in each row. See [the guide](../docs/answers.md).
    """

    title: ClassVar[str] = "Recorded answers"
    family: ClassVar[str] = "recorded"
    modality: ClassVar[str] = TEXT
    asks_model: ClassVar[bool] = False
    needs_internals: ClassVar[bool] = False
    draws: ClassVar[bool | None] = None
    is_made_elsewhere: ClassVar[bool] = True
    follows: ClassVar[tuple[str, ...]] = ("hint", "counterfactual", "redaction")

    method: Literal["recorded"]
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
    draws: ClassVar[bool | None] = None
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
    follow_ups: FollowUps = Field(default_factory=FollowUps)

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


class Asked(Answering):
    """Answers in words that a language model behind an address gives, asked by its chat API. Each answer is a request
    of its own, with a seed of its own. It is kept, so that none is asked for twice, in any study. It needs models of
    architecture `chat`, the network, and where the service has one, its key. See [the guide](../docs/answers.md).
    """

    title: ClassVar[str] = "Asked of a service"
    family: ClassVar[str] = "asked"
    draws: ClassVar[bool | None] = True
    asks_model: ClassVar[bool] = False
    needs_internals: ClassVar[bool] = False
    answered_by: ClassVar[tuple[str, ...]] = ("chat",)

    method: Literal["asked"]


class Generated(Answering):
    """Answers in words that a causal language model of the study writes here, each with its reasons. A model of the
    architecture `prompted` also predicts, so that its words stand beside its attributions. See [the
    guide](../docs/answers.md).
    """

    title: ClassVar[str] = "Generated answers"
    family: ClassVar[str] = "generated"
    draws: ClassVar[bool | None] = True
    answered_by: ClassVar[tuple[str, ...]] = ("prompted", "decoder")
    follows: ClassVar[tuple[str, ...]] = (*Answering.follows, "contributions")

    method: Literal["generated"]
    temperature: float = Field(
        1.0, ge=0, description="Temperature of sampling; 0 writes the most probable token, and has one answer."
    )
    top_p: float = Field(
        1.0,
        gt=0,
        le=1,
        description=(
            "Only the most probable tokens are drawn, as many as have this probability together (Holtzman et al. 2020)."
        ),
    )
    chat_template: bool = Field(
        True, description="Whether the prompt is put into the chat template of the tokenizer, where it has one."
    )
