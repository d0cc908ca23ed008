"""Metrics of reasons: worked by hand, and against other packages."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cosine
from sklearn.metrics import matthews_corrcoef

from evenlight.explainers.contributions import shares
from evenlight.metrics import Metric
from evenlight.metrics.families.follow_ups.scored import cc_shap
from evenlight.metrics.families.reasons.of_questions import sums_of, total_variation
from evenlight.texts.matching import random_words, redacted

NAN = float("nan")
# Two of three decisions that changed are told of, and one of two that did not.
CHANGED = [1, 1, 1, 0, 0]
MENTIONED = [1, 1, 0, 1, 0]


def measured(metric: str, did, mentioned) -> float:
    """The value of a metric over the changes of one question: what each did, and whether it is mentioned."""
    entry = Metric.parse({"metric": metric})
    table = pd.DataFrame({"item_id": "q", entry.of_change: did, "mentioned": mentioned}).astype(float, errors="ignore")
    return float(entry.of_sums(sums_of(table, entry.of_change).to_numpy())[0])


@pytest.mark.parametrize(
    ("metric", "of_some", "of_none"),
    [
        ("counterfactual_test", 2 / 3, NAN),
        # A decision that never changes counts as faithful, whatever is said.
        ("counterfactual_test_of_all", 4 / 5, 1),
        ("mention_gain", 2 / 3 - 1 / 2, NAN),
        ("phi_correlational_test", matthews_corrcoef(CHANGED, MENTIONED), NAN),
        # Who expects no change is right of 2 in 5, who believes the reasons of 3.
        ("simulatability_gain", 3 / 5 - 2 / 5, -1 / 2),
        ("normalised_gain", (3 / 5 - 2 / 5) / (1 - 2 / 5), NAN),
    ],
)
def test_changes_by_hand(metric, of_some, of_none):
    assert measured(metric, CHANGED, MENTIONED) == pytest.approx(of_some)
    assert measured(metric, [0, 0], [0, 1]) == pytest.approx(of_none, nan_ok=True)


def test_the_correlational_test_is_a_correlation():
    impact, mentioned = np.random.default_rng(0).random((2, 50))
    found = measured("correlational_test", impact, mentioned < 0.4)
    assert found == pytest.approx(np.corrcoef(impact, mentioned < 0.4)[0, 1])


def test_total_variation_by_hand():
    before, after = np.array([[5, 5, 0], [3, 1, 0]]), np.array([[0, 5, 5], [1, 3, 0]])
    assert total_variation(before, after).tolist() == pytest.approx([0.5, 0.5])
    assert total_variation(before, 2 * before).tolist() == [0, 0]


def test_words_are_redacted_whole_and_literally():
    text = "Not good, not Good enough: goodness (a.b) \\1."
    assert (
        redacted(text, ["good", "good enough", "a.b"]) == "Not [REDACTED], not [REDACTED]: goodness ([REDACTED]) \\1."
    )
    assert redacted(text, []) == redacted(text, [" "]) == text
    assert redacted("x y", ["x"], mask="\\1") == "\\1 y"


def test_random_words_are_as_many_of_the_text():
    text = "One two two three, four."
    drawn = random_words(text, ["Two", "four", "absent"], np.random.default_rng(0))
    assert len(drawn) == len(set(drawn)) == 2
    assert set(drawn) <= {"one", "two", "three", "four"}
    many = {word for seed in range(50) for word in random_words(text, ["two"], np.random.default_rng(seed))}
    assert many == {"one", "two", "three", "four"}
    assert random_words(text, [], np.random.default_rng(0)) == []


def test_cc_shap_is_one_minus_the_cosine_distance():
    generator = np.random.default_rng(0)
    first, second = generator.standard_normal((2, 7, 4))
    # As released: each written token's scores by the sum of their sizes, in per cent, then the mean.
    expected = [np.mean(values / np.abs(values).sum(axis=0) * 100, axis=1) for values in (first, second)]
    assert shares(first) * 100 == pytest.approx(expected[0])
    assert cc_shap(shares(first), shares(second)) == pytest.approx(1 - cosine(*expected))
    assert cc_shap([1, 2], [-2, -4]) == pytest.approx(-1)
    assert np.isnan(cc_shap([0, 0], [1, 2]))


def test_a_written_token_without_scores_does_not_count():
    values = np.array([[1.0, 0], [3, 0]])
    assert shares(values) == pytest.approx([0.25, 0.75])
    assert np.isnan(shares(np.zeros((2, 3)))).all()
    assert np.isnan(cc_shap(shares(np.zeros((2, 3))), [1, 1]))
