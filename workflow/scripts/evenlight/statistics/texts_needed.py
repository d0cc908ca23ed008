"""How many texts would decide the questions that are open: by what these texts show, and the square root law."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from evenlight.statistics.cells import CELL
from evenlight.statistics.study import UNDECIDED
from evenlight.statistics.verdicts import CONTROL

# A question whose reserve for units that nobody saw is so many standard deviations of its scores.
HARDLY_VARY = 3


def texts_needed(
    effects: pd.DataFrame, *, equivalence_bound: float, smallest_effects: Mapping[str, float]
) -> pd.DataFrame:
    """A row per undecided cell of the effects that is a hypothesis.

    ``units`` are pairs, or texts of the smaller level. ``detectable`` is the disparity that they show, ``wanted`` the
    smallest one of interest, both in standard deviations of the scores. So many units as ``needed`` would show it. NaN
    where that is not known, or where the scores hardly vary (``hardly_varies``): one text that nobody saw could then
    change more than all of these.

    Args:
        effects: of the contract ``EFFECTS``.
        equivalence_bound: the smallest disparity of interest, in standard deviations.
        smallest_effects: that of some metrics, in their own units.
    """
    cells = effects[(effects["verdict"] == UNDECIDED) & (effects["family"] != CONTROL)]
    detectable = cells["detectable_pooled"].where(
        np.isfinite(cells["detectable_pooled"]) & (cells["detectable_pooled"] > 0)
    )
    flat = detectable.notna() & (cells["reserve"] > HARDLY_VARY * cells["sd"])
    detectable = detectable.mask(flat)
    own = cells["metric"].map(dict(smallest_effects)).astype(float) / cells["sd"]
    wanted = own.fillna(equivalence_bound)
    units = cells[["units_a", "units_b"]].min(axis=1)
    growth = growth_of(detectable, cells["reserve"] / cells["sd"], wanted).clip(lower=1)
    return cells[CELL].assign(
        paired=cells["paired"],
        units=units,
        hardly_varies=flat,
        detectable=detectable,
        wanted=wanted,
        needed=np.ceil(units * growth),
    )


def growth_of(shown: pd.Series, reserve: pd.Series, wanted: pd.Series) -> pd.Series:
    """How many times as many texts show a disparity of ``wanted`` where these show one of ``shown``.

    Of the square of what is shown the share of errors shrinks with the number of texts, that of the ``reserve`` for
    units that nobody saw with its square.

    >>> one = pd.Series([1.0])
    >>> growth_of(2 * one, 0 * one, one).item(), growth_of(2 * one, 2 * one, one).item()
    (4.0, 2.0)
    """
    reserve = np.minimum(reserve, shown)
    errors = shown**2 - reserve**2
    return (errors + np.sqrt(errors**2 + 4 * (wanted * reserve) ** 2)) / (2 * wanted**2)
