"""The mean difference of a comparison as an effect: in the metric's units, in standard deviations, beside a confounder.

It has an interval and no verdict: what verdicts claim is who wins more often
(:mod:`evenlight.statistics.comparisons.wins`).
"""

from dataclasses import astuple

import numpy as np

from evenlight.core.seeds import generator_for
from evenlight.statistics.arrays.exact_tests import margins
from evenlight.statistics.arrays.mean import MeanDifference, difference_limits, mean_limits
from evenlight.statistics.arrays.robustness import robustness_value
from evenlight.statistics.arrays.units import mean_of_known, sums_by_comparison
from evenlight.statistics.comparisons.study import VerdictSettings
from evenlight.statistics.comparisons.wins import LevelScores


def mean_effects(levels: LevelScores, judging: VerdictSettings) -> dict[str, np.ndarray]:
    """The mean difference of each comparison, first level minus second, and what it is made of; (comparisons,) each.

    ``difference`` is in the metric's units and ``standardised`` in ``sd``, the standard deviation within levels, each
    with both ends of its interval. ``robustness`` and ``robustness_significance`` say how strong a confounder must be
    (:func:`evenlight.statistics.arrays.robustness.robustness_value`). ``mean_side`` is the level for which the mean is
    better, 1 or −1, and 0 where it is rounding.
    """
    mean, spread = _mean(levels, judging), _spread(*levels.counting)
    ends = {"": mean.value, "_low": mean.low, "_high": mean.high}
    with np.errstate(divide="ignore", invalid="ignore"):
        deviate = np.where(mean.error > 0, mean.value / mean.error, np.nan)
        in_sds = {f"standardised{end}": np.where(spread > 0, of / spread, np.nan) for end, of in ends.items()}
    better = [1 if judging.higher_is_better.get(cell["metric"], True) else -1 for cell in levels.cells]
    rounding = margins(*levels.counting) if levels.design.paired else 0
    return {
        **{f"difference{end}": of for end, of in ends.items()},
        **{"sd": spread, **in_sds},
        "robustness": robustness_value(deviate, mean.degrees),
        "robustness_significance": robustness_value(deviate, mean.degrees, judging.alpha),
        "mean_side": np.where(np.abs(mean.value) > rounding, better * np.sign(mean.value), 0),
    }


def _mean(levels: LevelScores, judging: VerdictSettings) -> MeanDifference:
    """The means of each explainer by itself: how a product of matrices is rounded depends on its width.

    So a comparison has the same numbers, to the last digit, whatever else is judged with it.
    """
    of = [(cell["model"], cell["explainer"]) for cell in levels.cells]
    ends = [place for place in range(1, len(of)) if of[place] != of[place - 1]]
    sides = [levels.differences] if levels.design.paired else [side.scores for side in levels.votes]
    parts = zip(*(np.split(side, ends, axis=1) for side in sides), strict=True)
    means = [_limits(levels, judging, *part) for part in parts]
    return MeanDifference(*(np.concatenate(values) for values in zip(*map(astuple, means), strict=True)))


def _limits(levels: LevelScores, judging: VerdictSettings, *sides: np.ndarray) -> MeanDifference:
    # One generator per dataset and levels: every comparison resamples the same units.
    generator = generator_for(0, "mean", levels.scores.dataset, *levels.design.comparison.levels)
    how = judging.confidence, judging.bootstrap_draws, generator
    if levels.design.paired:
        with np.errstate(invalid="ignore"):
            return mean_limits(sides[0], *how)
    a, b = levels.votes
    return difference_limits(sides[0], sides[1], a.strata, b.strata, *how, (a.clusters, b.clusters))


def _spread(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The standard deviation within levels, mean variance over both and over seeds; (comparisons,)."""
    deviations = [side - mean_of_known(side, axis=1)[:, None] for side in (a, b)]
    count = np.concatenate([(~np.isnan(side)).sum(axis=1) for side in deviations])
    squares = np.concatenate([sums_by_comparison(side**2) for side in deviations])
    variances = np.divide(squares, count - 1, out=np.full(count.shape, np.nan), where=count > 1)
    return np.sqrt(mean_of_known(variances))
