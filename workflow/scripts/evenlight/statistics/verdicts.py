"""What can be claimed of the cells of a study: families of cells, adjusted p-values, and words for them."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd

from evenlight.core.errors import InputError
from evenlight.core.factors import JOINT, PLACEBO
from evenlight.statistics.familywise import critical_deviate, deviate_of, scales, step_down_p
from evenlight.statistics.many_groups import holm
from evenlight.statistics.resamples import LEAST_CARRIERS
from evenlight.statistics.study import REPETITIONS, TRAININGS, UNDECIDABLE, UNDECIDED

# Families of cells, each with the level alpha to itself.
STUDY, PRIMARY, EXPLORATORY, CONTROL = "study", "primary", "exploratory", "control"
# What few units can say must be rarer than this share of the level, or it would decide about all other cells.
SHARE = 0.1


def hypothesis_family(cell: Mapping[str, str], primary: Mapping[str, Collection[str]], noise: Collection[str]) -> str:
    """The family of a cell.

    Explainers that are noise, and groups that are drawn by chance, are no hypothesis: their cells are a family of their
    own. The others are one family, or, where ``primary`` names some (columns of a cell to names), those, and all
    others, which are exploratory.

    >>> hypothesis_family({"explainer": "lime", "factor": "gender"}, {"explainer": ["lime"]}, [])
    'primary'
    >>> hypothesis_family({"explainer": "lime", "factor": "placebo"}, {}, [])
    'control'
    """
    if cell["explainer"] in noise or PLACEBO in cell["factor"].split(JOINT):
        return CONTROL
    if not primary:
        return STUDY
    return PRIMARY if all(cell[column] in names for column, names in primary.items()) else EXPLORATORY


def few_of(clusters: int, differing: int) -> str:
    """The words for what a cell has few of: its units, or those of them that differ."""
    return f"{clusters} units are too few" if differing >= clusters else f"{differing} units that differ are too few"


def why_undecidable(
    clusters: int, differing: int, same: bool, carriers: float, rarest: float, alpha: float
) -> str | None:
    """Why scores decide nothing, or None.

    Args:
        clusters: the fewest clusters of a level.
        differing: how many clusters differ.
        same: whether all scores are the same.
        carriers: on about how many clusters the variance rests (:func:`evenlight.statistics.pooled.carriers_of`).
        rarest: the least p that so few can have.
        alpha: the level of the study.

    Resamples of few clusters often hold one of them only, which has no variance; this must be rarer than a tenth of the
    level, since such a resample says of no cell that it differs. So must be what few clusters that differ can say.

    Where one or two units carry what varies, nobody can tell how far the next one lies; where nothing varies, as where
    all pairs differ by the same, even less.

    >>> why_undecidable(7, 7, False, 3, 2 * 0.5**7, 0.05), why_undecidable(48, 5, False, 4, 2 * 0.5**5, 0.05)
    ('7 units are too few', '5 units that differ are too few')
    >>> why_undecidable(48, 48, False, 1.3, 2 * 0.5**48, 0.05), why_undecidable(48, 48, False, 0, 2 * 0.5**48, 0.05)
    ('what varies rests on one or two units', 'the differences do not vary, which tells nothing of further units')
    """
    if same:
        return "all scores are the same"
    if np.exp(-clusters) * (1 + clusters * (np.e - 1)) > SHARE * alpha:
        return few_of(clusters, clusters)
    if rarest > SHARE * alpha:
        return few_of(clusters, differing)
    if not carriers > 0:
        return "the differences do not vary, which tells nothing of further units"
    return "what varies rests on one or two units" if carriers < LEAST_CARRIERS else None


def check_level(alpha: float, draws: int) -> None:
    """Refuse a level below what so many resamples can tell."""
    if alpha < 2 / (draws + 1):
        raise InputError(
            f"statistics.bootstrap_draws: found {draws}, with which no p is below 2/{draws + 1}, and statistics.alpha "
            f"is {alpha:g}; take more draws"
        )


def judged(table: pd.DataFrame, statistics: np.ndarray, alpha: float) -> pd.DataFrame:
    """The table with the columns ``p_…_adjusted``, ``critical`` and ``verdict``, and further reasons.

    Within each family every kind of claim has the level ``alpha`` to itself: that there is a disparity for these
    trained models, or of the mean across retraining, that they are equivalent for these trained models, or across
    retraining.

    - ``p_models_adjusted``, ``p_models_equivalence_adjusted``: by
      :func:`evenlight.statistics.familywise.step_down_p`, and not below the cell's own p;
    - ``p_adjusted``, ``p_equivalence_adjusted``: Holm's (1979), and not below that for these trained models, whose
      resamples know of skewed scores.

    Statistics are divided by :func:`evenlight.statistics.familywise.scales`, where cells of one metric are alike.
    ``critical`` is the normal deviate beyond which a cell would be found in the first step; where so few units as it
    has could never reach it, the cell is not decidable either, and out of the family. That is seen without looking at
    the cell's difference.

    Args:
        table: a row per cell, with ``family``, ``reason``, the p-values, and, of the cell's units, ``rarest`` (see
            :class:`evenlight.statistics.pooled.Estimate`) and ``few``, the words for them; and ``metric``, without
            which all cells are alike; and ``repeated``, what the verdicts are about, trainings by default.
        statistics: of differences and of equivalence, (2, 1 + resamples, cells), from
            :func:`evenlight.statistics.familywise.resampled_deviates`.
        alpha: the level.
    """
    table = table.reset_index(drop=True)
    new = {
        f"{name}_adjusted": np.full(len(table), np.nan)
        for name in ("p_models", "p", "p_models_equivalence", "p_equivalence")
    }
    critical, reasons = np.full(len(table), np.nan), table["reason"].to_numpy(dtype=object, na_value=None, copy=True)
    few, deviates = table["few"].to_numpy(), deviate_of(table["rarest"].to_numpy())
    metrics = table["metric"].to_numpy() if "metric" in table else np.full(len(table), "")
    for family in table["family"].unique():
        cells = np.flatnonzero(table["reason"].isna() & (table["family"] == family))
        if not len(cells):
            continue
        needed, reached = decidable(statistics[0][1:, cells], deviates[cells], alpha, metrics[cells])
        reasons[cells[~reached]] = [f"{what} among {len(cells)} cells" for what in few[cells[~reached]]]
        critical[cells] = np.where(reached, needed, np.nan)
        cells = cells[reached]
        for claim, name in enumerate(("", "_equivalence")):
            of_models, p = (table[f"{part}{name}"].to_numpy()[cells] for part in ("p_models", "p"))
            of_models, p = adjusted(statistics[claim][:, cells], of_models, p, metrics[cells])
            new[f"p_models{name}_adjusted"][cells], new[f"p{name}_adjusted"][cells] = of_models, p
    repeated = table["repeated"] if "repeated" in table else np.full(len(table), TRAININGS)
    columns = zip(*new.values(), reasons, repeated, strict=True)
    verdicts = [
        UNDECIDABLE if reason else verdict(p, within, p_models, models_within, alpha, REPETITIONS[what])
        for p_models, p, models_within, within, reason, what in columns
    ]
    return table.assign(**new, critical=critical, reason=reasons, verdict=verdicts)


def decidable(
    resampled: np.ndarray, rarest: np.ndarray, alpha: float, alike: Sequence | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Which cells of a family could be found at all, which is seen without looking at their differences.

    Args:
        resampled: (resamples, cells), from :func:`evenlight.statistics.familywise.resampled_deviates`.
        rarest: the largest normal deviate that the units of a cell can have, float (cells,).
        alpha: the level.
        alike: names of cells that are alike (:func:`evenlight.statistics.familywise.scales`).

    Returns:
        Of each cell the normal deviate beyond which it would be found in the first step, and whether its units can
        reach it.
    """
    scale = scales(resampled, alike)
    needed = scale * critical_deviate(resampled / scale, alpha)
    return needed, rarest >= needed


def adjusted(
    statistics: np.ndarray, p_models: np.ndarray, p: np.ndarray, alike: Sequence | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The adjusted p-values of decidable cells: for these trained models by resamples, across retraining by Holm's
    method.

    ``statistics`` are the real ones and those of resamples, (1 + resamples, cells).
    """
    if not len(p):
        return p_models, p
    of_models = np.fmax(step_down_p(statistics / scales(statistics[1:], alike)), p_models)
    return of_models, np.maximum(holm(p), of_models)


def is_disparity(verdicts: pd.Series, of_trainings: bool) -> pd.Series:
    """Which verdicts say that there is a disparity: of the mean across retraining, or at least for these trained
    models.

    >>> verdicts = pd.Series(["negligible disparity", "disparity for these trained models", "undecided"])
    >>> is_disparity(verdicts, True).tolist(), is_disparity(verdicts, False).tolist()
    ([True, False, False], [True, True, False])
    """
    return verdicts.str.endswith("disparity") if of_trainings else verdicts.str.contains("disparity")


def verdict(
    p: float,
    p_equivalence: float,
    p_models: float,
    p_models_equivalence: float,
    alpha: float,
    these: str = REPETITIONS[TRAININGS],
) -> str:
    """What four adjusted p-values allow to say; a NaN says nothing.

    ``disparity``: the effect is not zero. ``equivalent``: it is within the bound. ``negligible disparity``: both, it
    is not zero and still within the bound. If none of these can be said of the mean across retraining, but of the
    trained models, that is said: of ``these``, where something else is repeated. ``undecided``: the study is too small
    to tell.

    >>> nothing, surely = 0.4, 0.001
    >>> verdict(surely, nothing, surely, nothing, 0.05), verdict(nothing, nothing, surely, nothing, 0.05)
    ('disparity', 'disparity for these trained models')
    >>> verdict(nothing, surely, nothing, surely, 0.05), verdict(nothing, nothing, nothing, surely, 0.05)
    ('equivalent', 'equivalent for these trained models')
    """
    for claim, different, within in (("", p, p_equivalence), (these, p_models, p_models_equivalence)):
        if different <= alpha:
            name = "negligible disparity" if within <= alpha else "disparity"
            return f"{name} for {claim}" if claim else name
        if within <= alpha:
            return f"equivalent for {claim}" if claim else "equivalent"
    return UNDECIDED
