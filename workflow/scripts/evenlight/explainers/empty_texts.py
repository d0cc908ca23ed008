"""What a model says of texts of which no word is left: the class that it has by default."""

from collections.abc import Sequence

import numpy as np

from evenlight.core.errors import InputError
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import Sentence
from evenlight.explainers.hiding import hideable, reduced_rows, replacement_token
from evenlight.texts.rows import Rows

# In which ways metrics and explainers hide a token.
WAYS = ("removed", "mask", "pad")


def empty_texts(sentences: Sequence[Sentence], evaluator: Evaluator) -> dict[str, list[float]]:
    """The mean probability of each class where every word is hidden, by the way of hiding.

    Where words are removed, nothing of a text is left but special tokens and the prompt; where a mask or pad token
    stands for each, its length is left. Ways for which the tokenizer has no token are left out.
    """
    found = {}
    for way in WAYS:
        try:
            replacement = replacement_token(evaluator.classifier, way)
        except InputError:
            continue
        rows = []
        for sentence in sentences:
            token_index = hideable(sentence, "excluded")
            rows.append(reduced_rows(sentence, token_index, np.zeros((1, len(token_index)), dtype=bool), replacement))
        if rows:
            found[way] = evaluator.probabilities(Rows.joined(rows)).mean(axis=0).tolist()
    return found
