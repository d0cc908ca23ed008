"""What an explainer gives back, and the file that holds it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from evenlight.engine.sentences import SPECIAL, Sentence
from evenlight.errors import InputError
from evenlight.tables import ATTRIBUTIONS, write_table


@dataclass(frozen=True)
class Attribution:
    """The explanation of one sentence.

    Attributes:
        token_score: signed score of each token, special ones included, not normalised; float64 (tokens,).
        forward_rows: rows that went through the model for it, those shared with other explainers included.
        completeness_gap: sum of scores minus the difference that the method says they add up to, where it
            says so.
    """

    token_score: np.ndarray
    forward_rows: int
    completeness_gap: float | None = field(default=None)


def write_attributions(
    path: str | Path, sentences: Sequence[Sentence], attributions: Sequence[Attribution], metadata: dict
) -> None:
    """Write one explainer's shard, in the contract ``attributions``.

    Raises:
        InputError: a score is not a finite number, from which every metric would make a number that is.
    """
    for sentence, attribution in zip(sentences, attributions, strict=True):
        if not np.isfinite(attribution.token_score).all():
            raise InputError(
                f"{path}: a score of item {sentence.item_id} is not a finite number; the model's outputs are too "
                "large, train it with a lower models.<model>.training.learning_rate"
            )
    rows = [
        {
            "item_id": sentence.item_id,
            "target": sentence.target,
            "token_id": sentence.token_id.tolist(),
            "word_id": [None if word == SPECIAL else int(word) for word in sentence.word_id],
            "token_score": attribution.token_score.tolist(),
            "word_score": sentence.word_sums(attribution.token_score).tolist(),
            "completeness_gap": attribution.completeness_gap,
            "forward_rows": attribution.forward_rows,
        }
        for sentence, attribution in zip(sentences, attributions, strict=True)
    ]
    write_table(pd.DataFrame(rows, columns=ATTRIBUTIONS.schema.names), path, ATTRIBUTIONS, metadata)
