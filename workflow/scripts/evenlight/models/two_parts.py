"""Texts of two parts, such as a premise and a hypothesis: whether a model reads them as Transformers does."""

from collections.abc import Sequence

import numpy as np
import torch

from evenlight.core.errors import InputError
from evenlight.models.classifier import Classifier
from evenlight.models.model_inputs import CLOSE, reason_of
from evenlight.models.networks import alone
from evenlight.models.tokenizers import Reading, read_words
from evenlight.texts.predictions import SPECIAL
from evenlight.texts.rows import row_of

# Words of each part that are tried.
TRIED = 3


def require_reads_parts(classifier: Classifier, words: Sequence[str], part: Sequence[int]) -> None:
    """Refuse a model that does not read pairs of texts, or not as Transformers' own call does.

    Args:
        classifier: the model.
        words: of a text, of which the first of each part are tried.
        part: of each word, 0 or 1.

    Raises:
        InputError: its tokenizer puts nothing between two texts and gives them no types that the network takes; or the
            network gives a pair other logits by word embeddings than by token ids.
    """
    name = f"models.<model>: a {classifier.network.config.model_type} model"
    chosen = [word for number in (0, 1) for word in np.flatnonzero(np.asarray(part) == number)[:TRIED]]
    words, part = [words[word] for word in chosen], [part[word] for word in chosen]
    [reading] = read_words(classifier.tokenizer, [words], parts=[part])
    types = types_for(classifier, reading, is_pair=True)
    inside = np.flatnonzero(reading.word_id != SPECIAL)
    is_parted = (np.diff(inside) > 1).any() or (types is not None and len(set(types[inside])) > 1)
    if not is_parted:
        raise InputError(
            f"{name} does not read texts of two parts: its tokenizer puts nothing between them; take the model out of "
            "the study, or make one text of both"
        )
    expected, reason = _by_token_ids(classifier, reading, types)
    if expected is None:
        raise InputError(f"{name} does not read texts of two parts ({reason}); take the model out of the study")
    is_padding = classifier.model_inputs.padding_in(reading.token_id)
    token_id, mask = classifier.padded([row_of(reading.token_id, token_type=types, is_padding=is_padding)])
    with torch.no_grad():
        logits = classifier.logits(classifier.embed(token_id), mask)
    if not (logits - expected).abs().max() <= CLOSE * expected.abs().max():
        raise InputError(
            f"{name} does not give a text of two parts the logits by word embeddings that it gives by token ids; take "
            "the model out of the study"
        )


def types_for(classifier: Classifier, reading: Reading, is_pair: bool = False) -> np.ndarray | None:
    """The types that a network is told of a text's tokens, int64 (tokens,); None where it is told none.

    Of a text that is no pair most networks read the same without.
    """
    says = classifier.model_inputs.tells_types or is_pair
    return reading.token_type if says and classifier.takes_types else None


@torch.no_grad()
def _by_token_ids(
    classifier: Classifier, reading: Reading, types: np.ndarray | None
) -> tuple[torch.Tensor | None, str]:
    """Logits (1, classes) of Transformers' own call, or None and why there are none."""
    try:
        return alone(classifier.network, reading.token_id, types), ""
    except Exception as error:  # whatever a foreign network says of an input that it does not take
        return None, reason_of(error)
