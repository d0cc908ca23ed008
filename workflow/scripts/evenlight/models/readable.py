"""Whether a model reads a text, of one part or of two, as Transformers' own call on it does."""

from collections.abc import Sequence

import numpy as np
import torch

from evenlight.core.errors import InputError
from evenlight.models.classifier import Classifier
from evenlight.models.model_inputs import CLOSE, reason_of
from evenlight.models.networks import alone
from evenlight.models.tokenizers import Reading, read_words
from evenlight.texts.predictions import SPECIAL
from evenlight.texts.rows import Rows, ids_of, row_of

# Characters of a text that a message shows.
SHOWN = 80
REMEDY = "take it out of the text, leave the text out, or choose another model"


def require_readable(classifier: Classifier, rows: Sequence[np.ndarray], names: Sequence[str]) -> None:
    """Refuse texts that the model cannot read, or would be read otherwise than by Transformers.

    ``rows`` are their token ids, (tokens,) each.

    Raises:
        InputError: of the first such text, with the token and what to do.
    """
    inputs = classifier.model_inputs
    doubtful = np.array([*inputs.broken, *inputs.unread], dtype=np.int64)
    for name, row in zip(names, rows, strict=True):
        if not len(row):
            raise InputError(f"item {name}: the tokenizer makes no token of it, so nothing can be read; {REMEDY}")
        if 0 < inputs.rows <= row.max():
            raise InputError(
                f"item {name}: {_named(classifier, row.max())} has no word embedding, for the model has {inputs.rows} "
                f"and must be enlarged (model.resize_token_embeddings(len(tokenizer))) and trained; {REMEDY}"
            )
        if len(doubtful) and (found := np.intersect1d(row, doubtful)).size:
            why = (
                "has a word embedding that is no number, so that the model's answer is none"
                if found[0] in inputs.broken
                else "changes how the model reads the other tokens, which is not told it here"
            )
            raise InputError(f"item {name}: {_named(classifier, found[0])} {why}; {REMEDY}")


def _named(classifier: Classifier, token: int) -> str:
    return f"token '{classifier.tokenizer.convert_ids_to_tokens(int(token))}' (number {token})"


class WithoutAnswer(InputError):
    """A model's answer is no number; ``row`` is the place of what it was asked about."""

    def __init__(self, message: str, row: int):
        super().__init__(message)
        self.row = row

    def about(self, item: str) -> "WithoutAnswer":
        """The same with the name of what was asked about."""
        return WithoutAnswer(f"item {item}: {self}", self.row)


def require_numbers(classifier: Classifier, rows: Rows, probability: np.ndarray) -> None:
    """Refuse answers (rows, classes) of a model that are no numbers.

    Raises:
        WithoutAnswer: of the first such row.
    """
    unknown = np.isnan(probability).any(axis=1)
    if not unknown.any():
        return
    row = int(unknown.argmax())
    text = classifier.tokenizer.decode(ids_of(rows.token[row, : rows.length[row]]).tolist())
    shown = text if len(text) <= SHOWN else f"{text[:SHOWN]} …"
    raise WithoutAnswer(
        f"the model's answer is no number, asked about '{shown}': a weight is none, or too large for its precision; "
        "load it in float32 from where it is published, leave the text out, or choose another model (of one that is "
        "trained here, lower trainings.<training>.learning_rate)",
        row,
    )


# Words of each part that are tried.
TRIED = 3


def require_reads_parts(classifier: Classifier, words: Sequence[str], part: Sequence[int]) -> None:
    """Refuse a model that does not read pairs of texts, or not as Transformers' own call does.

    ``part`` is that of each word, 0 or 1; the first words of each part are tried.

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
