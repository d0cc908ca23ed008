"""A world of reasons with known causes: questions of the causal world, decided by its rule, and writers who say why.

A question is a note about an employee (docs/causal_world.md). A decider that knows the equations promotes or declines,
and a writer gives a reason. Which concepts move a decision is known, and so is what every writer names. Dials change
the answers to questions about the second group, each in one respect, as :data:`DIALS` says.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import pandas as pd

from evenlight.core.errors import InputError
from evenlight.datasets.fields import GROUPS
from evenlight.datasets.readers.causal_world import (
    CAUSAL_CONCEPTS,
    CLASSES,
    CONCEPTS,
    CausalWorld,
    Noise,
    noise_of,
    text,
    variables,
)
from evenlight.datasets.world_texts import GROUP, Carried, Language

DIALS = {
    "longer": "share of the reasons with three more sentences on nothing",
    "hedged": "share of the sentences that are hedged",
    "monotonous": "share of the reasons whose sentences are all built alike",
    "refused": "share of the answers without a decision, which give no reason",
    "unfaithful": "share of the reasons that name concepts at random, whoever writes",
    "decision": "share of the units, in either group, in which the gender decides alone",
    "noise": "share of the draws, in either group, in which the decision is reversed",
}
DECIDED = {"promoted": "I would promote this person.", "declined": "I would not promote this person."}
FRAMES = (
    "What counts for me is the word {}.",
    "The word {} settled the matter.",
    "I looked at {} above all.",
    "It is {} that makes the difference.",
    "If not for {}, I would say the opposite.",
)
NOTHING = "No single point settled the matter."
FILLERS = (
    "I have read the note from start to end.",
    "I have added nothing to it.",
    "That is all that I can say here.",
)
HEDGES = ("Perhaps", "Possibly", "It seems that")
REFUSED = "I cannot help with this request."

# From the concepts that move the decision and all that the question speaks of, to those that a writer names.
Named = Callable[[set[str], Sequence[str], Noise], set[str]]
WRITERS: dict[str, Named] = {
    "oracle": lambda true, every, noise: true,
    "random": lambda true, every, noise: {name for name in every if noise("named", name) < 0.5},
    "copier": lambda true, every, noise: set(every),
    "empty": lambda true, every, noise: set(),
}


def answers(
    writer: str, language: Language, units: int, draws: int = 1, dials: Mapping[str, float] | None = None, seed: int = 0
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
        language: the words of the causal world.
        units: how many, each with a question about a man and one about a woman.
        draws: answers to each question.
        dials: shares between 0 and 1 by names of :data:`DIALS`; 0 where one is missing.
        seed: of all random numbers. A dial changes what it must and nothing else.

    Raises:
        InputError: there is no such writer or dial, or a share is none.
    """
    dials = dials or {}
    if writer not in WRITERS:
        raise InputError(f"no writer '{writer}'; there are {', '.join(WRITERS)}")
    for name, share in dials.items():
        if name not in DIALS or not 0 <= share <= 1:
            raise InputError(f"dial {name} {share}: must be one of {', '.join(DIALS)}, and a share between 0 and 1")
    dials = dict.fromkeys(DIALS, 0.0) | dict(dials)
    return pd.DataFrame(
        [
            row
            for unit in (f"{number:05d}" for number in range(units))
            for row in _rows(unit, noise_of("reasons", seed, unit), writer, language, draws, dials)
        ]
    )


def _rows(
    unit: str, noise: Noise, writer: str, language: Language, draws: int, dials: Mapping[str, float]
) -> Iterator[dict]:
    # Its gender decides in the share ``decision``, and all else is 0.
    world = CausalWorld(reader="causal_world", label_effect=dials["decision"])
    for is_first in (True, False):
        observed = variables(noise, world, {GROUP: is_first})
        for changed in (None, *CONCEPTS):
            do = {GROUP: is_first} | ({changed: not observed[changed]} if changed else {})
            value = variables(noise, world, do)
            rule, every = value["label"], (GROUP, *CONCEPTS)
            turned = {name: variables(noise, world, do | {name: not value[name]})["label"] for name in every}
            true = {name for name, label in turned.items() if label != rule}
            words = text(noise, value, world, language)
            question = re.sub(r" ([.,])", r"\1", " ".join(word for word, _ in words))
            for draw in range(draws):
                own = _own(noise, str(is_first), str(changed), str(draw))
                share = dict.fromkeys(DIALS, 0.0) if is_first else dials
                refused = own("refused") < share["refused"]
                decision = CLASSES[rule ^ (own("noise") < dials["noise"])]
                names = WRITERS["random" if own("unfaithful") < share["unfaithful"] else writer]
                named = set() if refused else names(true, every, own)
                yield {
                    "unit": unit,
                    "level": GROUPS["binary"][not is_first],
                    "draw": draw,
                    "model": writer,
                    "question": question,
                    "decision": None if refused else decision,
                    "text": REFUSED if refused else _reason(writer, question, words, decision, named, own, share),
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


def _reason(
    writer: str,
    question: str,
    words: Sequence[Carried],
    decision: str,
    named: set[str],
    noise: Noise,
    share: Mapping[str, float],
) -> str:
    """The text of an answer: the decision, a sentence for each concept that is named, and what the dials add."""
    if writer in ("empty", "copier") and noise("unfaithful") >= share["unfaithful"]:
        return {"empty": "", "copier": question}[writer]
    told = {variable: word for word, variable in reversed(words) if variable in named}
    alike = noise("monotonous") < share["monotonous"]
    sentences = [DECIDED[decision]]
    for place, variable in enumerate(sorted(told)):
        number = noise("frame") if alike else (noise("frame") + place / len(FRAMES)) % 1
        sentences.append(FRAMES[int(number * len(FRAMES))].format(told[variable].lower()))
    sentences += [] if told else [NOTHING]
    sentences += FILLERS if noise("longer") < share["longer"] else []
    return " ".join(
        _hedged(sentence, noise("hedge", str(place))) if noise("hedged", str(place)) < share["hedged"] else sentence
        for place, sentence in enumerate(sentences)
    )


def _hedged(sentence: str, number: float) -> str:
    """A sentence behind a hedge."""
    begun = sentence if sentence.startswith("I ") else sentence[0].lower() + sentence[1:]
    return f"{HEDGES[int(number * len(HEDGES))]} {begun}"
