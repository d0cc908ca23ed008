"""The configuration of a study, and what its sections must have in common."""

from datetime import date
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from evenlight.configuration.corpus import Corpus
from evenlight.core.kinds import KINDS
from evenlight.datasets import Reader
from evenlight.explainers import Explainer
from evenlight.metrics import Metric
from evenlight.models import Architecture
from evenlight.models.trainings import Training
from evenlight.settings import LARGEST_SEED, Different, Location, Name, NumberPerDataset, Settings, Text


class Explain(Settings):
    """What is explained."""

    target: Literal["label", "prediction"] = Field(
        "label", description="The class that is explained, the item's true `label` or the model's `prediction`."
    )
    foil: Text = Field(
        "runner_up",
        description=(
            "The class that the target is held against where `output` is `contrast`: one by its name, or the "
            "`runner_up`, which is each text's most probable class beside the target."
        ),
    )
    foil_on: dict[Name, Text] = Field(
        {}, description="Foils of single datasets, in place of `foil`, such as `{reviews: neutral}`."
    )
    pairs: int | None = Field(
        None,
        ge=1,
        description=(
            "Explain only this many test pairs (a sentence with all its variants), drawn at random and the same for "
            "every model and seed; `null` explains all. Where no item has variants, each is a pair of its own, and as "
            "many are drawn of each level of the compared factors, while there are some."
        ),
    )
    pairs_on: NumberPerDataset = Field(
        {},
        description=(
            "Pairs of single datasets, in place of `pairs`, such as `{compas: 400}`: of a dataset without variants the "
            "texts of all levels together, here 200 men and 200 women."
        ),
    )
    levels_by: Name = Field(
        "words",
        description=(
            "What predicts the levels of concepts in test texts, for explainers that must not see people's: `words` "
            "(tf-idf and a logistic regression), or the name of a model of the study, of whose architecture one "
            "network is trained for each concept."
        ),
    )
    precision: Literal["float32", "tf32", "bfloat16"] = Field(
        "float32",
        description=(
            "Numbers in the model's linear layers when it is asked by explainers and metrics: `float32`, or "
            "`bfloat16`, which is faster on processors and graphics cards that have it and rounds to three digits. "
            "`tf32` rounds to four digits and is faster on graphics cards alone. Models predict in `float32`."
        ),
    )
    tokens_per_batch: int = Field(
        0,
        ge=0,
        description=(
            "Most tokens that go through a model at once, padding included; 0 is what suits the device. Results depend "
            "on it by rounding only."
        ),
    )
    items_per_group: int = Field(
        256,
        ge=1,
        description=(
            "Items that are explained, scored and stored together. A job that is killed loses the group that it was "
            "at, and memory depends on the size of a group."
        ),
    )


class Randomisation(Settings):
    """A sanity check of the explainers: layers of the models lose their weights, and the scores before and after are
    ranked beside each other (Adebayo et al. 2018).
    """

    orders: Different[Literal["cascading", "independent"]] = Field(
        ["cascading"],
        min_length=1,
        description=(
            "Which layers are random: `cascading`, from the head down, one more at each stage, or `independent`, one "
            "at a time."
        ),
    )
    texts: int = Field(
        50,
        ge=1,
        description="Explained texts of each dataset that are explained again at every stage, drawn at random.",
    )


class Agreement(Settings):
    """How far every two explainers say the same of a text (Krishna et al. 2024)."""

    top: int = Field(
        5, ge=1, description="Tokens with the highest absolute scores that are compared, all of a text that has fewer."
    )


class Reliance(Settings):
    """On which words the models rely, by group: how alike the forms of a text are explained (`pair_invariance`), what
    share of the scores the words that name the group have (`group_reliance`), and a table of words (`words_by_group`).
    """

    texts: int = Field(
        5, ge=2, description="Fewest texts of a group, of one explained class, with a word that stands in the table."
    )


Factor = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*(\+[a-z][a-z0-9_]*)*$")]
Pair = Annotated[Different[Text], Field(min_length=2, max_length=2)]


class Primary(Settings):
    """Which cells a study is about: those of the named entries; an empty list names all."""

    datasets: Different[Name] = Field([], description="Their datasets.")
    models: Different[Name] = Field([], description="Their models; in a study of strategies, architectures.")
    explainers: Different[Name] = Field(
        [], description="Their explainers; in a study of strategies `all` is the mean over those that ask the model."
    )
    metrics: Different[Name] = Field([], description="Their metrics.")
    factors: Different[Factor] = Field([], description="The factors by which they are compared.")


class Statistics(Settings):
    """What is compared, and from where a difference counts."""

    compare: dict[Factor, Annotated[list[Pair], Field(min_length=1)]] = Field(
        {},
        description=(
            "Pairs of levels by factor, such as `{gender: [[male, female]]}`. Effects are positive where the first has "
            "the higher value. Two factors together, such as `gender+race`, have levels such as `female+asian`. The "
            "factor `negative_control` of every dataset has the levels `control_a` and `control_b`, drawn by chance."
        ),
    )
    strategies: dict[Name, Annotated[dict[Text, Name], Field(min_length=1)]] = Field(
        {},
        description=(
            "Models of a study of the `kind: strategies` that are one architecture in several strategies, such as "
            "`{minilm: {C: minilm_c, CE: minilm_ce}}`. The first strategy is the baseline, with which every other one "
            "is compared, text by text and seed by seed; effects are positive where the baseline has the lower scores. "
            "A model with one run stands beside all runs of the others."
        ),
    )
    claims: dict[
        Name, Annotated[list[Annotated[Different[Text], Field(min_length=1)]], Field(min_length=2, max_length=2)]
    ] = Field(
        {},
        description=(
            "Two lists of strategies, by a name, whose mean scores are compared, such as `{embeddings: [[CE, CEf], [C, "
            "CEfAf]]}`, in every architecture that has them all."
        ),
    )
    proposed_methods: Different[Name] = Field(
        [],
        description=(
            "Explainers that are said to be better than all others, such as `[gim, attnlrp]`. In a study of the `kind: "
            "strategies` each is held against every other explainer that asks the model, in the mean of all models and "
            "in each."
        ),
    )
    strata: dict[Name, Literal["label", "prediction", "correct"]] = Field(
        {},
        description=(
            "Within what the levels are compared besides, by dataset, such as `{compas: label}`: texts of one `label`, "
            "of one `prediction` of the model, or whose prediction is `correct` or not."
        ),
    )
    smallest_group: int | None = Field(
        None,
        ge=2,
        description=(
            "Explained units (pairs, or texts without variants) that a level must have to be compared; smaller ones "
            "are left out with a note. `null` refuses a level with one unit."
        ),
    )
    alpha: float = Field(
        0.05,
        gt=0,
        lt=1,
        description=(
            "The level of all verdicts of a family together; and a single test is significant where its p-value is at "
            "most this."
        ),
    )
    considerable_effect: float = Field(
        0.2, ge=0, description="An effect is considerable where the absolute value of Cohen's d is at least this."
    )
    smallest_effects: dict[Name, Annotated[float, Field(gt=0)]] = Field(
        {},
        description=(
            "Smallest effects of interest in the metrics' own units, such as `{comprehensiveness: 0.02}`. A pair that "
            "differs by no more is a tie."
        ),
    )
    as_often_bound: float = Field(
        0.2,
        gt=0,
        lt=1,
        description=(
            "Two groups are explained better *as often* where the share of pairs that one wins, less the share that "
            "the other wins, is within this, either way."
        ),
    )
    adjustment: Literal["holm", "flips"] = Field(
        "holm",
        description=(
            "How verdicts of pairs are adjusted for the number of comparisons. `holm` is proven to hold `alpha` for "
            "any shape and dependence. `flips` exchanges both groups in whole pairs, in all comparisons at once: it "
            "finds more where metrics repeat one another, and its error rate is simulated. With a plan of looks, and "
            "for texts without pairs, it is `holm`."
        ),
    )
    primary: Primary = Field(
        Primary(),
        description=(
            "The hypothesis of the study, named before its results are seen, such as `{explainers: [ig], metrics: "
            "[comprehensiveness]}`: the verdicts of these cells are adjusted among themselves, all others are "
            "exploratory and have an adjustment of their own. Without it all cells are one family."
        ),
    )
    looks: list[Annotated[int, Field(ge=8)]] = Field(
        [],
        description=(
            "A plan of looks, such as `[100, 200, 400]`: how many pairs `explain.pairs` has at each. Verdicts then "
            "hold over all looks. Write the plan before the first look."
        ),
    )
    spending: Literal["obrien_fleming", "pocock"] = Field(
        "obrien_fleming",
        description=(
            "What part of `alpha` each look spends: little at first (`obrien_fleming`), or about as much at each "
            "(`pocock`)."
        ),
    )
    spending_shares: list[Annotated[float, Field(gt=0, le=1)]] = Field(
        [],
        description=(
            "The parts of `alpha` that are spent by each look, in place of `spending`: a number for each, rising to 1, "
            "such as `[0.2, 0.5, 1]`."
        ),
    )
    plan: Text = Field(
        "first",
        description=(
            "The name of the plan of looks. With another name a new plan begins, after the plan or its texts were "
            "changed; earlier looks stay in the record."
        ),
    )
    confidence: float = Field(0.95, gt=0, lt=1, description="Coverage of the intervals.")
    bootstrap_draws: int = Field(
        2000, ge=100, description="Resamples of the pairs or texts behind each interval, and flips behind counts."
    )
    control_draws: int = Field(
        200,
        ge=20,
        description=(
            "Permutations of the group labels that show how many cells are significant by chance, and how far from 0 "
            "a whole specification curve comes."
        ),
    )
    verdict_permutations: int = Field(
        20, ge=1, description="Permutations of the group labels under which all verdicts are made again."
    )
    power: float = Field(
        0.8, gt=0, lt=1, description="With which probability so many texts as are said to be needed find who wins."
    )
    published: dict[
        Name, Literal["BERT", "FairBERTa", "GPT2", "TinyBERT", "RoBERTa", "BERT from scratch", "GPT2 from scratch"]
    ] = Field(
        {},
        description=(
            "Which models of the disparity study (Dhaini et al. 2025) stand beside models of this one, such as "
            "`{minilm: TinyBERT}`. Datasets, explainers and metrics must have the names of "
            "`config/studies/disparity.yaml`."
        ),
    )


class Figures(Settings):
    """How figures are written."""

    formats: Different[Literal["svg", "pdf"]] = Field(["svg", "pdf"], min_length=1, description="File formats.")
    sentences: dict[Name, Text] = Field(
        {},
        description=(
            "The text of a dataset that stands with its scores in every strategy in `figures/sentences`, by its "
            "`item_id`, such as `{geco_all: ...}`; by default the first with a word of the ground truth that all "
            "models explain."
        ),
    )


class PageSettings(Settings):
    """What the page of a study shows."""

    texts: bool = Field(
        True,
        description=(
            "Whether the page shows the texts with their words coloured, and the table of words. Leave texts out where "
            "the page is passed on and they must not be."
        ),
    )


Date = Annotated[Text, BeforeValidator(lambda given: given.isoformat() if isinstance(given, date) else given)]


class Frame(Settings):
    """What the page of an audit says of itself, where what is left out is shown as not stated, and the last audit."""

    title: Text | None = Field(None, description="Title of the audit.")
    date: Date | None = Field(None, description="When it was made, such as `2026-11-28`.")
    purpose: Text | None = Field(None, description="What the audit is for.")
    decision: Text | None = Field(None, description="The decision that the model serves, and about whom.")
    asked_by: Text | None = Field(None, description="Who asked for the audit.")
    run_by: Text | None = Field(None, description="Who ran it.")
    model_version: Text | None = Field(None, description="Version of the model, as its owners call it.")
    data_version: Text | None = Field(None, description="Version of the data, alike.")
    time_span: Text | None = Field(None, description="From when to when the texts are.")
    languages: Different[Text] = Field([], description="Languages of the texts.")
    licences: Different[Text] = Field([], description="Licences of the model and of the data.")
    baseline: Text | None = Field(
        None,
        description=(
            "The `audit.json` of an earlier audit, with whose wins those of new texts are compared. Texts that both "
            "audits judged do not count."
        ),
    )


# Where a study is of answers in words alone and names none.
ANSWER_METRICS = {
    "no_decision": {"metric": "no_decision"},
    "words": {"metric": "words"},
    "sentences": {"metric": "sentences"},
    "hedges": {"metric": "hedges"},
    "boosters": {"metric": "boosters"},
    "grade": {"metric": "flesch_kincaid"},
    "variety": {"metric": "mtld"},
}


class Study(Settings):
    """One study: its datasets, models, explainers, metrics and tests."""

    study: Name = Field(description="Name of the study; everything it makes lies in `results/<study>/`.")
    kind: Literal[tuple(KINDS)] = Field(
        "disparity",
        description=("What the study asks. " + " ".join(f"`{name}`: {kind.question}" for name, kind in KINDS.items())),
    )
    seeds: Different[Annotated[int, Field(ge=0, le=LARGEST_SEED)]] = Field(
        [0, 1, 2, 3, 4],
        min_length=1,
        description=(
            "Every model is trained once per seed, and every random draw of a run derives from its seed. A `trained` "
            "model has its checkpoints under the first of these seeds."
        ),
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        "auto", description="Where models run; `auto` takes the graphics card when there is one."
    )
    threads: int = Field(1, ge=1, description="Processor threads of each job that runs a model.")
    checkpoint_minutes: float = Field(
        10.0,
        ge=0,
        description=(
            "Minutes of a training after which its state is written to the disk, so that it goes on from there if it "
            "is stopped; 0 writes none. It takes four times the size of the weights that are trained."
        ),
    )
    mirror: Location | None = Field(
        None,
        description=(
            "Folder where data files are looked for before they are downloaded. The environment variable "
            "`EVENLIGHT_MIRROR` does the same and goes before this key."
        ),
    )
    rerun_on_new_libraries: bool = Field(
        False,
        description=(
            "Whether another version of torch, transformers, tokenizers or numpy makes everything again, or is only "
            "recorded with what was made by it. Versions are those where Snakemake runs."
        ),
    )
    corpus: Corpus | None = Field(
        None,
        description=(
            "Makes a labelled dataset of one's own from books: see [the guide](../docs/corpus.md). Left out, "
            "nothing is scraped."
        ),
    )
    datasets: dict[Name, Reader] = Field(
        min_length=1, description="The datasets of the study, each under a name of your choice."
    )
    trainings: dict[Name, Training] = Field(
        {},
        description=(
            "How models are trained: recipes, each under a name of your choice, for any of the models. The epoch with "
            "the lowest validation loss is kept. A study of models that are `trained` already needs none."
        ),
    )
    learning_rates: Different[Annotated[float, Field(gt=0)]] = Field(
        [],
        description=(
            "Learning rates with which every model that is trained here is trained besides, on every dataset with the "
            "first of `seeds`, such as `[0.01, 0.001, 0.0001]`: `tables/learning_rates` says which one classifies the "
            "validation split best."
        ),
    )
    models: dict[Name, Architecture] = Field(
        {},
        description=(
            "The models of the study, each under a name of your choice; every model is trained on every dataset, or is "
            "`trained` already and asked about every dataset, but for one that names its `datasets`. Only a study of "
            "the reader `scores` has none."
        ),
    )
    explainers: dict[Name, Explainer] = Field(
        {
            "lime": {"method": "lime", "samples": 5000, "asked": 256},
            "occlusion": {"method": "occlusion"},
            "random": {"method": "uniform_random"},
            "best": {"method": "upper_bound", "asked": 256},
            "best_kept": {"method": "upper_bound", "goal": "sufficiency", "asked": 256},
        },
        validate_default=True,
        description=(
            "The explainers of the study, each under a name of your choice; the same method may occur several times "
            "with different parameters. Left out, they are two that every model can be asked by, LIME with 256 of its "
            "5,000 texts asked and occlusion, beside two references: random explanations, and the best attainable ones."
        ),
    )
    explain: Explain = Field(default_factory=Explain, description="What is explained.")
    randomisation: Randomisation | None = Field(
        None,
        description=(
            "Checks whether the explainers look at what the models have learned. `{}` checks with the defaults below; "
            "left out, nothing is checked. Explanations that are imported cannot be."
        ),
    )
    masked_words: bool = Field(
        False,
        description=(
            "Shows in a study of the `kind: strategies` how probable the words of every text are to a masked language "
            "model before and after each training, by group, where the source was published with that head."
        ),
    )
    agreement: Agreement | None = Field(
        None,
        description=(
            "Shows how far every two explainers agree, and whether they do for one group more than for another. `{}` "
            "does with the default below; left out, nothing is shown."
        ),
    )
    reliance: Reliance | None = Field(
        None,
        description=(
            "Shows on which words the models rely, by group. `{}` does with the defaults below; left out, nothing is "
            "shown. An explainer that draws at random needs a second one with the same settings, such as `lime` and "
            "`lime_again`, to tell how far apart explanations are by chance alone."
        ),
    )
    metrics: dict[Name, Metric] = Field(
        {
            "comprehensiveness": {"metric": "aopc_comprehensiveness"},
            "sufficiency": {"metric": "aopc_sufficiency"},
            "gini": {"metric": "gini"},
        },
        validate_default=True,
        description=(
            "The metrics of the study, each under a name of your choice, which is its column in the score tables. "
            "Left out, they are two of faithfulness and one of complexity that need no ground truth. For answers in "
            "words alone they are answers without a decision, and of the reasons words, sentences, hedges, boosters, "
            "grade level and variety."
        ),
    )
    statistics: Statistics = Field(
        default_factory=Statistics, description="What is compared, and from where a difference counts."
    )
    figures: Figures = Field(default_factory=Figures, description="How figures are written.")
    audit: Frame = Field(
        default_factory=Frame,
        description="What an audit says of itself, on its page, and which audit came before.",
    )
    page: PageSettings = Field(
        default_factory=PageSettings, description="What the page of the study shows, `results/<study>/index.html`."
    )
