"""Whether a model reads a text as Transformers' own call on it does: its tokens are known, and mean what they say."""

from collections.abc import Sequence

import numpy as np

from evenlight.core.errors import InputError
from evenlight.models.classifier import Classifier
from evenlight.texts.rows import Rows, ids_of

# Characters of a text that a message shows.
SHOWN = 80
REMEDY = "take it out of the text, leave the text out, or choose another model"


def require_readable(classifier: Classifier, rows: Sequence[np.ndarray], names: Sequence[str]) -> None:
    """Refuse texts that the model cannot read, or would be read otherwise than by Transformers.

    Args:
        classifier: the model.
        rows: token ids of the texts, (tokens,) each.
        names: of the texts, for messages.

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
