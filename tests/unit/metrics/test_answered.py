"""Scores of questions beside those of answers."""

import numpy as np
import pandas as pd

from evenlight.metrics import Metric
from evenlight.metrics.answered import Answered


def test_the_score_of_a_question_stands_with_its_first_answer():
    """Also beside a question of which nothing was changed."""
    rows = [(None, "A", []), (None, "B", []), ("who", "B", ["who"]), ("who", "B", ["who"]), ("where", "A", [])]
    changed = pd.DataFrame(rows, columns=["concept", "decision", "mentioned"])
    changed = changed.assign(item_id="q", draw=range(5), change=None, kind=None, reference=None)
    answered = Answered(pd.DataFrame({"item_id": ["q", "q", "other"], "draw": [0, 1, 0]}), changed)
    names = {"gain": "mention_gain", "test": "counterfactual_test"}
    entries = {name: Metric.parse({"metric": metric}) for name, metric in names.items()}
    scores, notes = entries["gain"].score_answers(entries, answered)
    # Of two changes one turns the decision, and is mentioned.
    for name in entries:
        np.testing.assert_array_equal(scores[name], [1, np.nan, np.nan])
    assert notes == []
