"""Robustness values: the worked example of the paper, the definition by search, a confounder that is really there."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import t as student

from evenlight.statistics.arrays.robustness import robustness_value


def test_the_worked_example_of_the_paper():
    # Darfur, Table 1 of Cinelli & Hazlett (2020): t = 4.18 with 783 degrees of freedom, 13.9 % and 7.6 %.
    assert robustness_value(4.18, 783) == pytest.approx(0.139, abs=5e-4)
    assert robustness_value(4.18, 783, 0.05) == pytest.approx(0.076, abs=5e-4)


def adjusted_t(t: float, degrees: float, of_group: float, of_scores: float) -> float:
    """The t statistic beside a confounder of this strength (their Eq. 12 to 14)."""
    bias = np.sqrt(degrees * of_scores * of_group / (1 - of_group))
    error = np.sqrt((1 - of_scores) / (1 - of_group) * degrees / (degrees - 1))
    return (t - bias) / error


@pytest.mark.parametrize("degrees", [5, 23, 783])
@pytest.mark.parametrize("t", [0.5, 2.5, 4.18, 9.0, 40.0])
def test_values_are_those_of_a_search(t, degrees):
    value = robustness_value(t, degrees)
    assert adjusted_t(t, degrees, value, value) == pytest.approx(0, abs=1e-6 * t)
    assert robustness_value(-t, degrees) == value
    # Not significant: the weakest confounder that suffices, whose share of the scores is at most that of the group.
    least = student.ppf(0.975, degrees - 1)

    def weakest(share: float) -> float:
        return min(adjusted_t(t, degrees, share, of_scores) for of_scores in np.linspace(0, share, 2001)) - least

    found = 0.0 if weakest(0.0) <= 0 else brentq(weakest, 0, 1 - 1e-12)
    assert robustness_value(t, degrees, 0.05) == pytest.approx(found, abs=2e-3)


def test_no_value_without_degrees_of_freedom():
    assert np.isnan(robustness_value([3.0, np.nan], [1.0, 10.0])).all()
    assert np.isnan(robustness_value(3.0, 1.0, 0.05))
    assert robustness_value([0.0, np.inf], [10.0, 10.0])[0] == 0
