"""How likely a study of another size would find an effect, from the variances that a pilot study measured.

The variance over units falls as their number rises, that over trainings as that of seeds does. A pilot's table does not
tell how much of either is an error that both would average away, so that a larger study finds at least what this says,
as far as the pilot's variances are right. Those of two or three seeds are hardly known.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from evenlight.errors import InputError
from evenlight.seeds import generator_for
from evenlight.statistics.pooled import Estimate, Variance

DRAWS = 4000
COLUMNS = ["units", "seeds", "cells", "disparity", "disparity_of_these_models"]


def planned_power(
    effect: float,
    units_error: float,
    trainings_error: float,
    degrees: float,
    seeds: int,
    level: float,
    draws: int = DRAWS,
) -> tuple[float, float]:
    """The chance of a significant difference in the right direction, for further trainings and for these models.

    Args:
        effect: the true difference, in units of the scores as the errors are.
        units_error, trainings_error: the parts of its standard error (:mod:`evenlight.statistics.pooled`) in the
            planned study.
        degrees: degrees of freedom of the first.
        seeds: trainings, at least two.
        level: of the two-sided test, after division by the number of tests.
        draws: studies that are drawn: a normal difference, and chi-squared variances.
    """
    generator = generator_for(0, "planning", draws)
    normal, units, trainings = (
        generator.normal(size=draws),
        *(generator.chisquare(number, size=draws) / number for number in (degrees, seeds - 1)),
    )
    value = effect + np.hypot(units_error, trainings_error) * normal
    estimate = Estimate(
        value,
        [Variance(units_error**2 * units, np.full(draws, float(degrees)))],
        Variance(trainings_error**2 * trainings, np.full(draws, seeds - 1.0)),
        np.zeros(draws),
        [],
    )
    found = [float((value > estimate.half_width(1 - level, which)).mean()) for which in (True, False)]
    return found[0], found[1]


def planned_studies(
    effects: pd.DataFrame, *, units: Sequence[int], seeds: Sequence[int], effect: float, alpha: float
) -> pd.DataFrame:
    """The power of studies of several sizes to find ``effect``, in standard deviations within levels.

    ``effects`` is a pilot's table (rule estimate_effects), of one family of cells: each of them is tested at ``alpha``
    divided by their number, the first step of Holm's adjustment. It is the power for normal scores at most: where
    scores are skewed, or pairs fewer than about thirty, the maximum test of these models finds less. A row for each
    number of ``units`` (pairs, or texts of the smaller level) and of ``seeds``; ``disparity`` and
    ``disparity_of_these_models`` are the median power over the ``cells`` that the pilot could decide.

    Raises :class:`InputError` where the pilot has no decidable cell with two seeds or more.
    """
    tested = effects[effects["reason"].isna() & effects["units_error"].notna()]
    known = tested[tested["trainings_error"].notna() & (tested["sd"] > 0)]
    if known.empty:
        raise InputError(
            "effects: no cell that is decidable with two seeds or more, whose variance over trainings would be known; "
            "give the pilot study a second seed, or more texts"
        )
    rows = []
    for count in units:
        for number in seeds:
            power = [_power_of_cell(cell, count, number, effect, alpha / len(tested)) for cell in known.itertuples()]
            rows.append((count, number, len(known), *np.median(power, axis=0)))
    return pd.DataFrame(rows, columns=COLUMNS)


def _power_of_cell(cell: tuple, units: int, seeds: int, effect: float, level: float) -> tuple[float, float]:
    times = units / min(cell.units_a, cell.units_b)
    return planned_power(
        effect * cell.sd,
        cell.units_error / np.sqrt(times),
        cell.trainings_error * np.sqrt(cell.seeds / seeds),
        max((cell.degrees + 1) * times - 1, 1),
        seeds,
        level,
    )
