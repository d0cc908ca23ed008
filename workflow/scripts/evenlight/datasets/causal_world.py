"""A world with known causes: texts written by a small structural causal model, every word with what it carries.

Every variable is a function of its causes and of random numbers of its own, each drawn from a generator that is named
after the unit, the variable and what is drawn. So a dial changes what it must and nothing else, and a counterfactual is
the same unit, with the same numbers, in which one variable is set (Pearl 2009, Definition 7.1.5). docs/causal_world.md
has the graph, the equations and what is true by construction.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from math import sqrt
from pathlib import Path

import pandas as pd

from evenlight.core.contracts.texts import ATTRIBUTE, UNITS
from evenlight.core.seeds import generator_for
from evenlight.datasets import CAUSAL_CONCEPTS, CONCEPTS, GROUPS, Dataset, world_file
from evenlight.datasets.world_texts import GROUP, Carried, Language, read_language
from evenlight.texts.items import FORM

CLASSES = ["declined", "promoted"]  # in the order of the labels
LEVELS = {GROUP: GROUPS["binary"], **CONCEPTS}
# How often a weak word is of the other value; how many fillers a longer text has more.
MISLEADING = 0.25
MORE_FILLERS = 2

# A number between 0 and 1 by the names of what is drawn.
Noise = Callable[..., float]


def read(files: dict[str, Path], settings: dict) -> Dataset:
    """The world that ``settings`` describe (:class:`evenlight.configuration.readers.CausalWorld`).

    Training units have both forms, or with ``training_forms: observed`` the one that the world shows; test units have
    both, and for each of ``concept_counterfactuals`` and each form one more text, in which this concept alone is set to
    its other value. That text and its original are a unit of the concept.
    """
    language = read_language(files[world_file(settings)], CONCEPTS, CAUSAL_CONCEPTS)
    rows, units = [], []
    for unit, split, noise in _units(settings):
        observed = variables(noise, settings)[GROUP]
        is_single = split == "train" and settings["training_forms"] == "observed"
        for group in [observed] if is_single else [True, False]:
            item = _item(unit, split, noise, {GROUP: group}, settings, language)
            rows.append(item)
            units.append((unit, item["item_id"], FORM, GROUP, item[ATTRIBUTE + GROUP]))
            for concept in settings["concept_counterfactuals"] if split == "test" else []:
                level = item[ATTRIBUTE + concept]
                is_first = level != CONCEPTS[concept][0]
                other = _item(unit, split, noise, {GROUP: group, concept: is_first}, settings, language)
                rows.append(other)
                pair = f"{item['item_id']}-{concept}"
                units += [(pair, row["item_id"], FORM, concept, row[ATTRIBUTE + concept]) for row in (item, other)]
    return Dataset(pd.DataFrame(rows), pd.DataFrame(units, columns=UNITS.schema.names), CLASSES)


def _units(settings: dict) -> Iterator[tuple[str, str, Noise]]:
    """(name, split, random numbers) of every unit; test units have their own seed, so that there are fresh ones."""
    for split, count, seed in (
        ("train", settings["training_pairs"], settings["seed"]),
        ("test", settings["test_pairs"], settings["test_seed"]),
    ):
        for unit in (f"{split}-{number:05d}" for number in range(count)):
            yield unit, split, noise_of(seed, unit)


def noise_of(*parts: str | int) -> Noise:
    """The random numbers of one unit: ``noise("care", "follows", "gender")`` is always the same number."""
    return cache(lambda *names: float(generator_for("causal_world", *parts, *names).random()))


# The structural equations ------------------------------------------------------------------------------------------


def variables(noise: Noise, dials: Mapping, do: Mapping[str, bool] | None = None) -> dict[str, bool]:
    """The value of every variable, True for its first level, where ``do`` sets some of them.

    A variable that follows a cause in a share s of the units, and else is a fair coin, correlates with it by s. Of
    ``care`` this holds in the share 1 − ``base_rates`` of the units, in which it does not follow the gender.
    """
    do = do or {}
    value: dict[str, bool] = {}
    both_gender_and_hobby, both_care_and_dress = sqrt(dials["confounding"]), sqrt(dials["shared_cause"])

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
    decide("care", gender=dials["base_rates"], schooling=both_care_and_dress)
    decide("pace", gender=dials["base_rates"])
    decide("manner", gender=dials["base_rates"])
    decide("dress", schooling=both_care_and_dress)
    decide("hobby", origin=both_gender_and_hobby)
    label = sum(value[concept] for concept in CAUSAL_CONCEPTS) > len(CAUSAL_CONCEPTS) / 2
    if noise("label", "follows", "gender") < dials["label_effect"]:
        label = value["gender"]
    value["label"] = bool(label ^ (noise("label", "noise") < dials["label_noise"]))
    return value


def parents_of_label(dials: Mapping) -> set[str]:
    """The variables that the label depends on directly."""
    return {*CAUSAL_CONCEPTS} | ({GROUP} if dials["label_effect"] > 0 else set())


# The wording -------------------------------------------------------------------------------------------------------


def text(noise: Noise, value: Mapping[str, bool], dials: Mapping, language: Language) -> list[Carried]:
    """The words of a text and what each carries: an opening, then the concepts and fillers in a random order.

    The dials of the wording concern texts of the second group.
    """
    is_first = value[GROUP]

    def happens(share: float, *names: str) -> bool:
        return not is_first and noise(*names) < share

    sentences = {}
    for concept in CONCEPTS:
        frame = _drawn(language.concepts[concept].frames, noise(concept, "frame"))
        evidence = _evidence(noise, concept, value[concept], dials, language, happens)
        sentences[concept] = language.sentence(frame, is_first, concept, evidence)
    fillers = list(language.fillers)
    count = int(noise("fillers") < 0.5) + MORE_FILLERS * happens(dials["longer_texts"], "fillers", "more")
    for number in range(count):
        filler = _drawn(fillers, noise("filler", str(number)))
        fillers.remove(filler)
        sentences[f"filler {number}"] = language.sentence(filler, is_first)
    is_late = happens(dials["late_evidence"], "late")
    order = sorted(sentences, key=lambda name: (is_late and name in CAUSAL_CONCEPTS, noise(name, "place")))
    opening = language.sentence(_drawn(language.openings, noise("opening")), is_first)
    return [word for sentence in (opening, *(sentences[name] for name in order)) for word in sentence]


def _evidence(
    noise: Noise, concept: str, is_first_value: bool, dials: Mapping, language: Language, happens: Callable[..., bool]
) -> list[str]:
    """The words that tell the value of a concept: one, or two different ones."""
    words = language.concepts[concept]
    both = words.strong
    is_cause = concept in CAUSAL_CONCEPTS
    if is_cause and happens(dials["weak_evidence"], concept, "weak"):
        both = words.weak
        is_first_value ^= noise(concept, "misleading") < MISLEADING
    own = both[not is_first_value]
    first = _drawn(own, noise(concept, "word"))
    has_two = is_cause and happens(dials["more_evidence"], concept, "more")
    # By its place, so that the words of the other value are those in the same places.
    others = [word for word in own if word != first]
    return [first, _drawn(others, noise(concept, "second"))] if has_two else [first]


def _drawn(options: list[str], number: float) -> str:
    return options[int(number * len(options))]


def _item(unit: str, split: str, noise: Noise, do: dict[str, bool], settings: dict, language: Language) -> dict:
    """A row of the items table: the unit with the variables that ``do`` sets."""
    value = variables(noise, settings, do)
    words, carried = zip(*text(noise, value, settings, language), strict=True)
    causes = parents_of_label(settings)
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
