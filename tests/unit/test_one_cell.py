"""Two groups compared in a notebook; that it is what a study says is tested in tests/workflow/test_notebook.py."""

import numpy as np
import pytest
from scipy.stats import binomtest

import evenlight
from evenlight.core.errors import InputError


def test_wins_of_pairs_are_counted_and_have_the_exact_test():
    b = np.zeros(25)
    a = np.r_[np.full(20, 0.3), np.full(3, -2.0), np.full(2, 0.05)]
    found = evenlight.compare(a, b, margin=0.1)
    assert found[["wins", "losses", "ties", "pairs", "verdict"]].tolist() == [20, 3, 2, 25, "a more often"]
    exact = binomtest(20, 23)
    assert found["p"] == pytest.approx(exact.pvalue)
    ends = exact.proportion_ci(0.95)
    assert found[["share", "share_low", "share_high"]].tolist() == pytest.approx([20 / 23, ends.low, ends.high])
    assert found["difference"] == pytest.approx(a.mean())
    # Without a margin the last two count; of a metric whose lower scores are better a loses what it won.
    assert evenlight.compare(a, b)["wins"] == 22
    lower = evenlight.compare(a, b, metric="aopc_sufficiency")
    assert lower[["wins", "losses", "verdict"]].tolist() == [3, 22, "b more often"]
    with pytest.raises(InputError, match="did you mean aopc_sufficiency"):
        evenlight.compare(a, b, metric="aopc_suficiency")


def test_what_is_not_shown_is_not_told():
    random = np.random.default_rng(0)
    a, b = random.normal(size=(2, 60))
    assert evenlight.compare(a, b)["verdict"] == "undecided"
    assert evenlight.compare(a, a)["verdict"] == "as often"
    assert evenlight.compare(a, b, margin=9)["verdict"] == "as often"
    assert "5 decided pairs" in evenlight.compare(a[:5], b[:5])["reason"]
    unpaired = evenlight.compare(a + 3, b[:50], paired=False)
    assert unpaired[["texts_a", "texts_b", "verdict"]].tolist() == [60, 50, "a more often"]
    assert unpaired["share"] == pytest.approx((a[:, None] + 3 > b[:50]).mean())
    assert "40 texts" in evenlight.compare(a + 3, b[:40], paired=False)["reason"]
    with pytest.warns(UserWarning, match="60 of 60 pairs"):
        assert evenlight.compare(a * np.nan, b)["verdict"] == "not decidable"
    with pytest.raises(InputError, match="paired=False"):
        evenlight.compare(a, b[:40])
    with pytest.raises(InputError, match="scores_b: found an array"):
        evenlight.compare(a, [])
