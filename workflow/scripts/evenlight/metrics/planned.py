"""How many rows scores take, told before any is made, for metrics that do not decide as they go."""

from collections.abc import Mapping, Sequence

import numpy as np

from evenlight.metrics.base import Metric
from evenlight.texts.predictions import Sentence


def planned_rows(entries: Mapping[str, Metric], sentences: Sequence[Sentence], explainers: int) -> np.ndarray | None:
    """Rows that the metrics of a family take of each text, float64 (sentences,); None where nobody knows.

    Args:
        entries: metrics of one family, by the name of each.
        sentences: what is explained, with its words or without.
        explainers: how many explanations each text has.
    """
    tokens = [int((~sentence.is_special).sum()) for sentence in sentences]
    asked = [[metric.planned_rows(count, explainers) for metric in entries.values()] for count in tokens]
    if any(rows is None for of_text in asked for rows in of_text):
        return None
    # And the text itself; of one without words nothing is asked.
    return np.where(np.array(tokens) > 0, 1.0 + np.array(asked, dtype=float).sum(axis=1), 0.0)
