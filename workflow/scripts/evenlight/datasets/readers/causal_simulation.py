"""A simulation with known causes: texts written by a small structural causal model, every word with what it carries.

Every variable is a function of its causes and of random numbers of its own, each drawn from a generator that is named
after the unit, the variable and what is drawn. So a parameter changes what it must and nothing else, and a
counterfactual is the same unit, with the same numbers, in which one variable is set (Pearl 2009, Definition 7.1.5).
docs/causal_simulation.md has the graph, the equations and what is true by construction.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from math import sqrt
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from evenlight.core.factors import ATTRIBUTE
from evenlight.datasets.base import Dataset, Reader
from evenlight.datasets.fields import GROUPS, SplitSeed, ValidationShare
from evenlight.datasets.simulation_texts import GROUP, Carried, Language, read_language
from evenlight.settings import LARGEST_SEED, Different, Location, refusal

# The concepts with their values, and those of them that cause the label.
CONCEPTS = {
    "care": ("careful", "careless"),
    "pace": ("quick", "slow"),
    "manner": ("friendly", "rude"),
    "dress": ("neat", "untidy"),
    "hobby": ("sport", "music"),
}
CAUSAL_CONCEPTS = ("care", "pace", "manner")
SIMULATION_LANGUAGES = {name: f"resources/causal_simulation/{name}.yaml" for name in ("english", "german")}
CLASSES = ["declined", "promoted"]  # in the order of the labels
LEVELS = {GROUP: GROUPS["binary"], **CONCEPTS}
# How often a weak word is of the other value; how many fillers a longer text has more.
MISLEADING = 0.25
MORE_FILLERS = 2

# A number between 0 and 1 by the names of what is drawn.
Noise = Callable[..., float]


Share = Annotated[float, Field(ge=0, le=1)]


class CausalSimulation(Reader):
    """Notes about employees, written by a structural causal model whose parameters are below: which words cause the
    class (`declined`, `promoted`), which are only associated with it, and what the gender does are known. Test texts
    come in pairs that differ in nothing but the gender and what follows from it. See
    [the datasheet](../docs/causal_simulation.md).
    """

    title: ClassVar[str] = "A simulation with known causes"
    resources: ClassVar[tuple[str, ...]] = tuple(SIMULATION_LANGUAGES.values())

    reader: Literal["causal_simulation"]
    language: Literal[tuple(SIMULATION_LANGUAGES)] = Field("english", description="The language of the texts.")
    file: Location | None = Field(
        None,
        description=(
            "A file of words and frames of your own, in place of those of `language`; path from where Snakemake is "
            "started."
        ),
    )
    training_pairs: int = Field(
        1000, ge=20, description="Units for training and validation, of two texts each, or of one where `observed`."
    )
    test_pairs: int = Field(200, ge=2, description="Units for testing, always both texts.")
    training_forms: Literal["both", "observed"] = Field(
        "both",
        description=(
            "Whether models learn from `both` texts of a unit, so that only what the gender causes goes with it, or "
            "from the one that was `observed`."
        ),
    )
    base_rates: Share = Field(
        0.0,
        description=(
            "Correlation of the gender with each concept that causes the class, which it changes: men get the first "
            "value more often."
        ),
    )
    confounding: Share = Field(
        0.0,
        description=(
            "Correlation of the observed gender with a concept without effect (`hobby`) by a common cause; a change of "
            "the gender does not change it. Needs `training_forms: observed`."
        ),
    )
    shared_cause: Share = Field(
        0.0,
        description=(
            "Correlation of a concept that causes the class (`care`) with one that does not (`dress`) by a common "
            "cause, in the units whose `care` does not follow the gender. Over all units it is the share 1 - "
            "`base_rates` of this number."
        ),
    )
    label_effect: Share = Field(
        0.0,
        description=(
            "Share of the units whose class is decided by the gender (`promoted` for men), whatever the concepts are."
        ),
    )
    longer_texts: Share = Field(0.0, description="Share of the women's texts that have two more sentences on nothing.")
    more_evidence: Share = Field(
        0.0, description="Share of the mentions of a cause in women's texts that have two words for it instead of one."
    )
    late_evidence: Share = Field(0.0, description="Share of the women's texts in which the causes come last.")
    weak_evidence: Share = Field(
        0.0,
        description=(
            "Share of the mentions of a cause in women's texts that have weak words, which mislead in a quarter of "
            "the cases."
        ),
    )
    label_noise: float = Field(
        0.0, ge=0, lt=0.5, description="Share of the units whose class is the opposite of what its causes make it."
    )
    concept_counterfactuals: Different[Literal[tuple(CONCEPTS)]] = Field(
        [],
        description=(
            "Concepts of which every test text gets a counterpart, in which this concept alone is changed, such as "
            "`care: [[careful, careless]]`."
        ),
    )
    seed: int = Field(
        0,
        ge=0,
        le=LARGEST_SEED,
        description="Seed of the training texts. Simulations with equal seeds differ only in what parameters change.",
    )
    test_seed: int = Field(
        0,
        ge=0,
        le=LARGEST_SEED,
        description="Seed of the test texts; another one gives other test texts.",
    )
    validation_share: ValidationShare = 0.1
    split_seed: SplitSeed = 0

    @model_validator(mode="after")
    def _confounding_is_seen(self) -> Self:
        if self.confounding and self.training_forms == "both":
            why = "both texts of every unit are learned from, and nothing but what the gender causes goes with it"
            said = f"found {self.confounding:g}, but {why}; set training_forms to observed, or leave the key out"
            raise refusal((("confounding",), said))
        return self

    def factors(self) -> dict[str, list[str]]:
        """The gender, and the concepts that test texts are changed in."""
        return self.groups() | {name: list(CONCEPTS[name]) for name in self.concept_counterfactuals}

    def named_files(self) -> list[str]:
        """The user's own words, where they are named."""
        return [Path(self.file).as_posix()] if self.file else []

    def concepts(self) -> list[str]:
        """Those of which test texts get a counterpart."""
        return list(self.concept_counterfactuals)

    def groups(self) -> dict[str, list[str]]:
        """The gender."""
        return {GROUP: list(GROUPS["binary"])}

    def is_english(self, corpus_language: str | None) -> bool:
        """Words of one's own may be of any language."""
        return self.language == "english" and self.file is None

    def read(self, files: Mapping[str, Path]) -> Dataset:
        """The texts of the simulation.

        Training units have both forms, or with ``training_forms: observed`` the one that the simulation shows; test
        units have both, and for each of ``concept_counterfactuals`` and each form one more text, in which this concept
        alone is set to its other value. That text and its original are a unit of the concept.
        """
        import pandas as pd

        from evenlight.core.contracts.texts import UNITS
        from evenlight.texts.items import FORM

        path = self.named_files()[0] if self.file else SIMULATION_LANGUAGES[self.language]
        language = read_language(files[path], CONCEPTS, CAUSAL_CONCEPTS)
        rows, units = [], []
        for unit, split, noise in _units(self):
            observed = variables(noise, self)[GROUP]
            is_single = split == "train" and self.training_forms == "observed"
            for group in [observed] if is_single else [True, False]:
                item = _item(unit, split, noise, {GROUP: group}, self, language)
                rows.append(item)
                units.append((unit, item["item_id"], FORM, GROUP, item[ATTRIBUTE + GROUP]))
                for concept in self.concept_counterfactuals if split == "test" else []:
                    level = item[ATTRIBUTE + concept]
                    is_first = level != CONCEPTS[concept][0]
                    other = _item(unit, split, noise, {GROUP: group, concept: is_first}, self, language)
                    rows.append(other)
                    pair = f"{item['item_id']}-{concept}"
                    units += [(pair, row["item_id"], FORM, concept, row[ATTRIBUTE + concept]) for row in (item, other)]
        return Dataset(pd.DataFrame(rows), pd.DataFrame(units, columns=UNITS.schema.names), CLASSES)


def _units(simulation: CausalSimulation) -> Iterator[tuple[str, str, Noise]]:
    """(name, split, random numbers) of every unit; test units have their own seed, so that there are fresh ones."""
    for split, count, seed in (
        ("train", simulation.training_pairs, simulation.seed),
        ("test", simulation.test_pairs, simulation.test_seed),
    ):
        for unit in (f"{split}-{number:05d}" for number in range(count)):
            yield unit, split, noise_of(seed, unit)


def noise_of(*parts: str | int) -> Noise:
    """The random numbers of one unit: ``noise("care", "follows", "gender")`` is always the same number."""
    from evenlight.core.seeds import generator_for

    # The reader's first name: by another one all texts would be others.
    return cache(lambda *names: float(generator_for("causal_world", *parts, *names).random()))


# The structural equations ------------------------------------------------------------------------------------------


def variables(noise: Noise, simulation: CausalSimulation, do: Mapping[str, bool] | None = None) -> dict[str, bool]:
    """The value of every variable, True for its first level, where ``do`` sets some of them.

    A variable that follows a cause in a share s of the units, and else is a fair coin, correlates with it by s. Of
    ``care`` this holds in the share 1 − ``base_rates`` of the units, in which it does not follow the gender.
    """
    do = do or {}
    value: dict[str, bool] = {}
    both_gender_and_hobby, both_care_and_dress = sqrt(simulation.confounding), sqrt(simulation.shared_cause)

    def decide(name: str, **share_of_cause: float) -> None:
        value[name] = noise(name, "coin") < 0.5
        for cause, share in share_of_cause.items():
            if noise(name, "follows", cause) < share:
                value[name] = value[cause]
                break
        value[name] = do.get(name, value[name])

    decide("origin")
    decide("schooling")
    decide("gender", origin=both_gender_and_hobby)
    decide("care", gender=simulation.base_rates, schooling=both_care_and_dress)
    decide("pace", gender=simulation.base_rates)
    decide("manner", gender=simulation.base_rates)
    decide("dress", schooling=both_care_and_dress)
    decide("hobby", origin=both_gender_and_hobby)
    label = sum(value[concept] for concept in CAUSAL_CONCEPTS) > len(CAUSAL_CONCEPTS) / 2
    if noise("label", "follows", "gender") < simulation.label_effect:
        label = value["gender"]
    value["label"] = bool(label ^ (noise("label", "noise") < simulation.label_noise))
    return value


def parents_of_label(simulation: CausalSimulation) -> set[str]:
    """The variables that the label depends on directly."""
    return {*CAUSAL_CONCEPTS} | ({GROUP} if simulation.label_effect > 0 else set())


# The wording -------------------------------------------------------------------------------------------------------


def text(noise: Noise, value: Mapping[str, bool], simulation: CausalSimulation, language: Language) -> list[Carried]:
    """The words of a text and what each carries: an opening, then the concepts and fillers in a random order.

    The parameters of the wording concern texts of the second group.
    """
    is_first = value[GROUP]

    def happens(share: float, *names: str) -> bool:
        return not is_first and noise(*names) < share

    sentences = {}
    for concept in CONCEPTS:
        frame = _drawn(language.concepts[concept].frames, noise(concept, "frame"))
        evidence = _evidence(noise, concept, value[concept], simulation, language, happens)
        sentences[concept] = language.sentence(frame, is_first, concept, evidence)
    fillers = list(language.fillers)
    count = int(noise("fillers") < 0.5) + MORE_FILLERS * happens(simulation.longer_texts, "fillers", "more")
    for number in range(count):
        filler = _drawn(fillers, noise("filler", str(number)))
        fillers.remove(filler)
        sentences[f"filler {number}"] = language.sentence(filler, is_first)
    is_late = happens(simulation.late_evidence, "late")
    order = sorted(sentences, key=lambda name: (is_late and name in CAUSAL_CONCEPTS, noise(name, "place")))
    opening = language.sentence(_drawn(language.openings, noise("opening")), is_first)
    return [word for sentence in (opening, *(sentences[name] for name in order)) for word in sentence]


def _evidence(
    noise: Noise,
    concept: str,
    is_first_value: bool,
    simulation: CausalSimulation,
    language: Language,
    happens: Callable[..., bool],
) -> list[str]:
    """The words that tell the value of a concept: one, or two different ones."""
    words = language.concepts[concept]
    both = words.strong
    is_cause = concept in CAUSAL_CONCEPTS
    if is_cause and happens(simulation.weak_evidence, concept, "weak"):
        both = words.weak
        is_first_value ^= noise(concept, "misleading") < MISLEADING
    own = both[not is_first_value]
    first = _drawn(own, noise(concept, "word"))
    has_two = is_cause and happens(simulation.more_evidence, concept, "more")
    # By its place, so that the words of the other value are those in the same places.
    others = [word for word in own if word != first]
    return [first, _drawn(others, noise(concept, "second"))] if has_two else [first]


def _drawn(options: list[str], number: float) -> str:
    return options[int(number * len(options))]


def _item(
    unit: str, split: str, noise: Noise, do: dict[str, bool], simulation: CausalSimulation, language: Language
) -> dict:
    """A row of the items table: the unit with the variables that ``do`` sets."""
    value = variables(noise, simulation, do)
    words, carried = zip(*text(noise, value, simulation, language), strict=True)
    causes = parents_of_label(simulation)
    level = {name: levels[not value[name]] for name, levels in LEVELS.items()}
    return {
        "item_id": "-".join([unit, *(level[name] for name in do)]),
        "words": list(words),
        "ground_truth": [int(variable in causes) for variable in carried],
        "carries": list(carried),
        "label": int(value["label"]),
        "split": split,
        "cluster": unit,
    } | {ATTRIBUTE + name: level[name] for name in LEVELS}
