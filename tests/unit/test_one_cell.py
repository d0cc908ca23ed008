"""Two groups compared in a notebook; that it is what a study says is tested in tests/workflow/test_notebook.py."""

import numpy as np
import pytest

import evenlight
from evenlight.core.errors import InputError


def test_what_differs_surely_is_told_and_what_does_not_is_not():
    random = np.random.default_rng(0)
    a, b = random.normal(size=(2, 60))
    assert evenlight.compare(a + 3, b)["verdict"] == "disparity for these scores"
    assert evenlight.compare(a, b)["verdict"] == "undecided"
    assert evenlight.compare(a, a + 1e-3 * b)["verdict"] == "equivalent for these scores"
    assert evenlight.compare(a, a)["reason"] == "all scores are the same"
    unpaired = evenlight.compare(a + 3, b[:40], paired=False)
    assert (unpaired["texts_a"], unpaired["texts_b"]) == (60, 40)
    assert unpaired["verdict"] == "disparity for these scores"
    with pytest.warns(UserWarning, match="60 of 60 pairs"):
        assert evenlight.compare(a * np.nan, b)["verdict"] == "not decidable"
    with pytest.raises(InputError, match="paired=False"):
        evenlight.compare(a, b[:40])
    with pytest.raises(InputError, match="scores_b: found an array of shape"):
        evenlight.compare(a, [])


def test_a_metric_of_probabilities_is_known_to_reach_far():
    """Three more pairs of 24 may lie by a whole probability off: the interval has room for them."""
    a, b = np.random.default_rng(1).normal(scale=0.001, size=(2, 24))
    plain = evenlight.compare(a + 0.01, b)
    named = evenlight.compare(a + 0.01, b, metric="aopc_sufficiency")
    assert plain["verdict"] == "disparity for these scores"
    assert named["verdict"] == "undecided"
    assert named["low"] <= named["difference"] - 3 / 27
    assert evenlight.compare(a + 0.01, b, metric="gini").drop("verdict").equals(plain.drop("verdict"))
    with pytest.raises(InputError, match="did you mean aopc_sufficiency"):
        evenlight.compare(a, b, metric="aopc_suficiency")
