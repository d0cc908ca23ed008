"""Verdicts against R: base R, coin and multtest, whose numbers ``record_r.R`` has written to ``r.csv``."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evenlight.statistics.arrays.exact_tests import (
    counted,
    share_limits,
    side_p,
    sign_p,
    signs,
    texts_in_worst,
    worst_side_p,
)
from evenlight.statistics.arrays.multiple_testing import at_least, sides_adjusted, simes_thresholds, step_down
from evenlight.statistics.arrays.relative_effect import relative_effect

FOLDER = Path(__file__).parent
NAMES = ["first", "second", "third", "fourth"]
SCORES = pd.read_csv(FOLDER / "r_scores.csv")
FOUND = pd.read_csv(FOLDER / "r.csv").groupby("test")["value"].apply(np.array)


def group(kind: str, name: str) -> np.ndarray:
    return SCORES[(SCORES["kind"] == kind) & (SCORES["group"] == name)][NAMES].to_numpy(float)


@pytest.fixture
def differences() -> np.ndarray:
    return group("pairs", "a") - group("pairs", "b")


def test_sides_and_limits_are_those_of_binom_test_and_coin(differences):
    wins, losses, ties = counted(signs(differences))
    assert ties.min() > 0
    np.testing.assert_allclose(side_p(wins, losses), [FOUND["more for a"], FOUND["more for b"]], rtol=1e-10)
    np.testing.assert_allclose(sign_p(wins, losses), FOUND["coin"], rtol=1e-10)
    np.testing.assert_allclose(share_limits(wins, wins + losses, 0.025), [FOUND["low"], FOUND["high"]], rtol=1e-6)


def test_adjusted_p_and_counts_are_those_of_p_adjust(differences):
    p = side_p(*counted(signs(differences))[:2])
    np.testing.assert_allclose(sides_adjusted(p), FOUND["holm"], rtol=1e-10)
    # Closed testing counts a side alone where Hommel's method finds it.
    for alpha in (0.01, 0.03, 0.1, 0.2):
        for comparison in range(4):
            chosen = np.arange(4) == comparison
            _, *sides = at_least(p, simes_thresholds(p, alpha), chosen)
            assert sides == (FOUND["hommel"].reshape(2, 4)[:, comparison] <= alpha).tolist()


def test_flips_are_those_of_multtest(differences):
    signed = np.sign(differences[:12] + np.array([1.5, -1.5, 1.5, 0.5]))
    adjusted = step_down(signed, 2**12, ("every",))
    first = np.argmin(FOUND["flips"])
    assert adjusted[first] == pytest.approx(FOUND["flips"][first])
    # The other side of what was found stays in the family here, so that p of later steps may be larger.
    assert (adjusted >= FOUND["flips"] - 1e-12).all()


def test_the_worst_within_strata_are_those_of_mantelhaen_test():
    a, b = group("texts", "a"), group("texts", "b")
    texts = SCORES[SCORES["kind"] == "texts"]
    strata = tuple(texts.loc[texts["group"] == name, "stratum"].to_numpy() for name in "ab")
    known = np.ones(a.shape, dtype=bool), np.ones(b.shape, dtype=bool)
    p = worst_side_p(*texts_in_worst(a, b, np.ones(4, dtype=bool)), *known, strata)
    np.testing.assert_allclose(p, [FOUND["worst more for a"], FOUND["worst more for b"]], rtol=1e-8)


def test_the_relative_effect_has_the_side_of_wilcoxons_test_by_coin():
    found = relative_effect(group("texts", "a"), group("texts", "b"))
    assert (np.sign(found.effect - 0.5) == np.sign(FOUND["wilcoxon"])).all()
