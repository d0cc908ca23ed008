"""The scores of two groups of texts as a study of one cell and one run, for notebooks.

In a module of its own, so that what notebooks need reruns no study.
"""

import numpy as np
import pandas as pd

from evenlight.statistics.cells import ExplainerScores
from evenlight.statistics.designs import Design, Side
from evenlight.statistics.study import UNDECIDABLE, Comparison, VerdictSettings
from evenlight.statistics.verdicts import judged
from evenlight.statistics.wins import counted_wins

# What a notebook shows of the one row.
SHOWN = ["difference", "difference_low", "difference_high", "standardised", "standardised_low", "standardised_high"]


def one_cell(
    a: np.ndarray,
    b: np.ndarray,
    paired: bool,
    *,
    higher_is_better: bool,
    margin: float,
    as_often_bound: float,
    alpha: float,
    draws: int,
) -> pd.Series:
    """Who wins how often in one cell with one run, and what can be said of it alone.

    Args:
        a, b: scores of units.
        paired: whether unit i of both is one pair.
        higher_is_better: whether higher scores are the better ones.
        margin: by which a pair must differ to be decided.
        as_often_bound: the largest net benefit that is *as often*.
        alpha: the level.
        draws: resamples behind the interval of the mean.
    """
    names = [[f"{0 if paired else level} {unit}" for unit in range(len(of))] for level, of in enumerate((a, b))]
    sides = []
    for first, of in zip((0, len(a)), names, strict=True):
        units = np.array(of, dtype=object)
        sides.append(Side(units, units, first + np.arange(len(of)), np.arange(len(of))))
    values = np.concatenate([a, b])[None, None]
    scores = ExplainerScores("", "", "", [0], ["score"], values, ~np.isnan(values[0]))
    design = Design(Comparison("", "a", "b"), paired, *sides)
    judging = VerdictSettings.plain(
        alpha=alpha,
        as_often_bound=as_often_bound,
        confidence=1 - alpha,
        bootstrap_draws=draws,
        smallest_effects={"score": margin},
        higher_is_better={"score": higher_is_better},
    )
    table = judged(counted_wins([scores], [design], judging), judging)
    if table.empty:
        return pd.Series({"verdict": UNDECIDABLE, "reason": "no group has scores"})
    row = table.iloc[0]
    units = {"pairs": row["units_a"]} if paired else {"texts_a": row["units_a"], "texts_b": row["units_b"]}
    counts = row[["wins", "losses", "ties"]].to_dict() if paired else {}
    of_share = row[["share", "low", "high", "p"]].rename({"low": "share_low", "high": "share_high"}).to_dict()
    return pd.Series(
        {"verdict": row["verdict"], "reason": row["reason"], **counts, **of_share, **row[SHOWN].to_dict(), **units}
    )
