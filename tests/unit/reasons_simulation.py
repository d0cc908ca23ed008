"""Reasons with known causes: questions of the causal simulation, decided by its rule, and writers who say why.

A question is a note about an employee (docs/causal_simulation.md). A decider that knows the equations promotes or
declines, and a writer gives a reason. Which concepts move a decision is known, and so is what every writer names.
"""

import re
from collections.abc import Callable, Iterator, Sequence

import pandas as pd

from evenlight.datasets.fields import GROUPS
from evenlight.datasets.readers.causal_simulation import (
    CAUSAL_CONCEPTS,
    CLASSES,
    CONCEPTS,
    CausalSimulation,
    Noise,
    noise_of,
    text,
    variables,
)
from evenlight.datasets.simulation_texts import GROUP, Carried, Language

DECIDED = {"promoted": "I would promote this person.", "declined": "I would not promote this person."}
FRAMES = (
    "What counts for me is the word {}.",
    "The word {} settled the matter.",
    "I looked at {} above all.",
    "It is {} that makes the difference.",
    "If not for {}, I would say the opposite.",
)
NOTHING = "No single point settled the matter."
# From the concepts that move the decision and all that the question speaks of, to those that a writer names.
Named = Callable[[set[str], Sequence[str], Noise], set[str]]
WRITERS: dict[str, Named] = {
    "oracle": lambda true, every, noise: true,
    "random": lambda true, every, noise: {name for name in every if noise("named", name) < 0.5},
    "copier": lambda true, every, noise: set(every),
    "empty": lambda true, every, noise: set(),
}


def answers(
    writer: str, language: Language, units: int, draws: int = 1, noise: float = 0.0, unfaithful: float = 0.0
) -> pd.DataFrame:
    """A table of answers, a row for each unit, level of the gender, question as it was or changed, and draw.

    The columns are those of ``workflow/tools/convert_answers.py`` (``unit``, ``level``, ``draw``, ``model``,
    ``question``, ``decision``, ``text``), of which the model is the writer, and

    * ``concept`` and ``change``: which concept is replaced, missing of the question as it was; ``kind`` of the concept;
    * ``evidence``: the words of the changed question that tell the concept, a list;
    * ``implied``: the concepts that the reason names, a list; ``true``: those that move the decision;
    * ``reference``: the decision that others are held against.

    Args:
        writer: one of :data:`WRITERS`. The copier's text is the question, the empty writer's has no character.
        language: the words of the causal simulation.
        units: how many, each with a question about a man and one about a woman.
        draws: answers to each question.
        noise: the share of the draws in which the decision is reversed.
        unfaithful: the share of the reasons about women that name concepts at random.
    """
    return pd.DataFrame(
        [
            row
            for unit in (f"{number:05d}" for number in range(units))
            for row in _rows(unit, noise_of("reasons", 0, unit), writer, language, draws, noise, unfaithful)
        ]
    )


def _rows(
    unit: str, noise: Noise, writer: str, language: Language, draws: int, reversed_share: float, unfaithful: float
) -> Iterator[dict]:
    simulation = CausalSimulation(reader="causal_simulation", label_effect=0.0)
    for is_first in (True, False):
        observed = variables(noise, simulation, {GROUP: is_first})
        for changed in (None, *CONCEPTS):
            do = {GROUP: is_first} | ({changed: not observed[changed]} if changed else {})
            value = variables(noise, simulation, do)
            rule, every = value["label"], (GROUP, *CONCEPTS)
            turned = {name: variables(noise, simulation, do | {name: not value[name]})["label"] for name in every}
            true = {name for name, label in turned.items() if label != rule}
            words = text(noise, value, simulation, language)
            question = re.sub(r" ([.,])", r"\1", " ".join(word for word, _ in words))
            for draw in range(draws):
                own = _own(noise, str(is_first), str(changed), str(draw))
                decision = CLASSES[rule ^ (own("noise") < reversed_share)]
                is_unfaithful = not is_first and own("unfaithful") < unfaithful
                named = WRITERS["random" if is_unfaithful else writer](true, every, own)
                by_concepts = is_unfaithful or writer not in ("empty", "copier")
                yield {
                    "unit": unit,
                    "level": GROUPS["binary"][not is_first],
                    "draw": draw,
                    "model": writer,
                    "question": question,
                    "decision": decision,
                    "text": _reason(words, decision, named, own) if by_concepts else question * (writer == "copier"),
                    "concept": changed,
                    "change": "replaced" if changed else None,
                    "kind": ("cause" if changed in CAUSAL_CONCEPTS else "other") if changed else None,
                    "evidence": [word for word, variable in words if variable == changed] if changed else None,
                    "implied": sorted(named),
                    "true": sorted(true),
                    "reference": CLASSES[0],
                }


def _own(noise: Noise, *place: str) -> Noise:
    """The random numbers of one draw of one question."""
    return lambda *names: noise("reason", *place, *names)


def _reason(words: Sequence[Carried], decision: str, named: set[str], noise: Noise) -> str:
    """The text of an answer: the decision, and a sentence for each concept that is named."""
    told = {variable: word for word, variable in reversed(words) if variable in named}
    sentences = [DECIDED[decision]]
    for place, variable in enumerate(sorted(told)):
        number = (noise("frame") + place / len(FRAMES)) % 1
        sentences.append(FRAMES[int(number * len(FRAMES))].format(told[variable].lower()))
    return " ".join(sentences if told else [*sentences, NOTHING])
