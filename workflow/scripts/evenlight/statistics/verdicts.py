"""What can be claimed of the cells of a study: families of cells, adjusted p-values, and words for them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd

from evenlight.core.errors import InputError
from evenlight.core.factors import JOINT, PLACEBO
from evenlight.statistics.cells import CELL
from evenlight.statistics.closing import without_closed
from evenlight.statistics.familywise import deviate_of, scales
from evenlight.statistics.looks import (
    ONE_LOOK,
    Looks,
    boundaries,
    found_and_shown,
    sequential_p,
    step_down_over_looks,
)
from evenlight.statistics.many_groups import holm
from evenlight.statistics.resamples import LEAST_CARRIERS
from evenlight.statistics.study import REPETITIONS, TRAININGS, UNDECIDABLE, UNDECIDED

# Families of cells, each with the level alpha to itself.
STUDY, PRIMARY, EXPLORATORY, CONTROL = "study", "primary", "exploratory", "control"
# What few units can say must be rarer than this share of the level, or it would decide about all other cells.
SHARE = 0.1
# What is claimed of a difference: that there is one, and that it is within the bound.
CLAIMS = ("", "_equivalence")


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


def judged(
    table: pd.DataFrame,
    statistics: np.ndarray,
    alpha: float,
    looks: Looks = ONE_LOOK,
    earlier: Sequence[tuple[pd.DataFrame, np.ndarray]] = (),
    last: np.ndarray | None = None,
) -> pd.DataFrame:
    """The table with the columns ``p_…_adjusted``, ``critical``, ``side``, ``look``, ``verdict``, and further reasons.

    Within each family every kind of claim has the level ``alpha`` to itself, over all looks that are planned: that
    there is a disparity for these trained models, or of the mean across retraining, that they are equivalent for these
    trained models, or across retraining.

    - ``p_models_adjusted``, ``p_models_equivalence_adjusted``: by
      :func:`evenlight.statistics.looks.step_down_over_looks`, and not below the cell's own p;
    - ``p_adjusted``, ``p_equivalence_adjusted``: Holm's (1979), and not below that for these trained models, whose
      resamples know of skewed scores;
    - ``side``: the sign of the difference at the look that shows one, for these trained models; 0 where none does;
    - ``look``: where there is a plan, which look was the first to find the cell, for these trained models, from 1.

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
        looks: the plan, of which this is the last look that was made; without one there is no other.
        earlier: table and statistics of each look before, of some or all of these cells.
        last: the last look that asks each cell, by number from 0 among those that were made, int (cells,); later ones
            neither find it nor take back that it is found (:mod:`evenlight.statistics.closing`). All ask it by default.
    """
    table = table.reset_index(drop=True)
    last = np.full(len(table), len(looks.made) - 1) if last is None else last
    tables, of_looks = zip(*(_of_cells(*look, table) for look in earlier), (table, statistics), strict=True)
    tables, of_looks = without_closed(tables, of_looks, looks.units, last)
    new = {f"{name}{claim}_adjusted": np.full(len(table), np.nan) for claim in CLAIMS for name in ("p_models", "p")}
    critical, reasons = np.full(len(table), np.nan), table["reason"].to_numpy(dtype=object, na_value=None, copy=True)
    first, few = np.zeros(len(table), dtype=int), table["few"].to_numpy()
    side = np.zeros(len(table))
    asked, deviates = _stacked(tables, lambda of_look: (of_look["reason"].isna(), deviate_of(of_look["rarest"])))
    metrics = table["metric"].to_numpy() if "metric" in table else np.full(len(table), "")
    for family in table["family"].unique():
        cells = np.flatnonzero(asked.any(axis=0) & (table["family"] == family))
        if not len(cells):
            continue
        resampled = [of_look[0][1:, cells] for of_look in of_looks]
        needed, reached = decidable(resampled, deviates[:, cells], alpha, metrics[cells], looks, asked[:, cells])
        at_last = last[cells], np.arange(len(cells))
        lacking = asked[last, np.arange(len(table))][cells] & ~reached[at_last]
        words = few[cells[lacking]] if np.isfinite(needed[-1]).any() else ["a look that spends so little finds nothing"]
        reasons[cells[lacking]] = [
            f"{what} among {asked[-1, cells].sum()} cells" for what in np.resize(words, lacking.sum())
        ]
        critical[cells] = np.where(reached[at_last], needed[at_last], np.nan)
        cells, reached = cells[reached.any(axis=0)], reached[:, reached.any(axis=0)]
        for claim, name in enumerate(CLAIMS):
            names = (f"p_models{name}", f"p{name}")
            own = _stacked([of_look.iloc[cells] for of_look in tables], partial(_columns, names=names))
            tested = [of_look[claim][:, cells] for of_look in of_looks]
            *p_values, (found_at, shown_by) = adjusted(tested, *own, alpha, metrics[cells], looks, reached)
            for column, values in zip(names, p_values, strict=True):
                new[f"{column}_adjusted"][cells] = values
            if claim == 0 and "difference" in table:
                side[cells] = _side_found(tables, cells, shown_by)
            earliest = np.minimum(
                np.where(first[cells] > 0, first[cells], np.inf), np.where(found_at > 0, found_at, np.inf)
            )
            first[cells] = np.where(np.isfinite(earliest), earliest, 0)
    # What an earlier look has shown stays found.
    reasons[first > 0] = None
    numbers = 1 + np.array(looks.made)[first - 1]
    repeated = table["repeated"] if "repeated" in table else np.full(len(table), TRAININGS)
    columns = zip(*new.values(), reasons, repeated, strict=True)
    verdicts = [
        UNDECIDABLE if reason else verdict(p, within, p_models, models_within, alpha, REPETITIONS[what])
        for p_models, p, models_within, within, reason, what in columns
    ]
    if not looks.is_one:
        table = table.assign(look=pd.Series(numbers, dtype="Int64").mask(first == 0))
    return table.assign(**new, critical=critical, side=side, reason=reasons, verdict=verdicts)


def _side_found(tables: Sequence[pd.DataFrame], cells: np.ndarray, shown_by: np.ndarray) -> np.ndarray:
    """The sign that the difference of each cell had at the look that shows it; 0 where none does."""
    differences = np.stack([of_look["difference"].to_numpy(float)[cells] for of_look in tables])
    signs = np.sign(np.take_along_axis(differences, np.maximum(shown_by - 1, 0)[None], axis=0)[0])
    return np.where(shown_by > 0, signs, 0)


def _of_cells(table: pd.DataFrame, statistics: np.ndarray, cells: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray]:
    """A table and its statistics in the rows of ``cells``; those that it has not have a reason."""
    if table.empty:
        return cells.assign(reason="no scores"), np.full((2, len(statistics[0]), len(cells)), -np.inf)
    keys = [column for column in CELL if column in cells]
    numbers = pd.MultiIndex.from_frame(table[keys]).get_indexer(pd.MultiIndex.from_frame(cells[keys]))
    there = table.iloc[numbers].reset_index(drop=True)
    return there.assign(reason=there["reason"].where(numbers >= 0, "no scores")), statistics[:, :, numbers]


def _columns(table: pd.DataFrame, names: Sequence[str]) -> list[pd.Series]:
    return [table[name] for name in names]


def _stacked(tables: Sequence[pd.DataFrame], of: Callable) -> list[np.ndarray]:
    """What ``of`` gives of each table, a few columns, each (looks, cells)."""
    return [np.stack(columns) for columns in zip(*map(of, tables), strict=True)]


def decidable(
    resampled: Sequence[np.ndarray],
    rarest: np.ndarray,
    alpha: float,
    alike: Sequence | None = None,
    looks: Looks = ONE_LOOK,
    asked: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Which cells of a family could be found at all, which is seen without looking at their differences.

    Args:
        resampled: of each look, (resamples, cells), from
            :func:`evenlight.statistics.familywise.resampled_deviates`.
        rarest: the largest normal deviate that the units of a cell can have, float (looks, cells).
        alpha: the level.
        alike: names of cells that are alike (:func:`evenlight.statistics.familywise.scales`).
        looks: the plan.
        asked: the cells whose scores decide something, bool (looks, cells); all by default.

    Returns:
        Of each cell the normal deviate beyond which each look would find it in the first step, and whether its units
        can reach it, both (looks, cells).
    """
    asked = np.ones(rarest.shape, dtype=bool) if asked is None else asked
    scaled, scale = zip(*map(_scaled, resampled, resampled, asked, [alike] * len(asked)), strict=True)
    largest = np.array([of_look.max(axis=1) for of_look in scaled])
    needed = np.array(scale) * boundaries(largest, looks.spent(alpha))[:, None]
    return needed, asked & (rarest >= needed)


def _scaled(
    statistics: np.ndarray, resampled: np.ndarray, asked: np.ndarray, alike: Sequence | None
) -> tuple[np.ndarray, np.ndarray]:
    """Statistics on the scale of alike cells, and this scale; -inf where a cell is not asked."""
    scale = np.ones(len(asked))
    if asked.any():
        scale[asked] = scales(resampled[:, asked], None if alike is None else np.asarray(alike)[asked])
    return np.where(asked, statistics / scale, -np.inf), scale


def adjusted(
    statistics: Sequence[np.ndarray],
    p_models: np.ndarray,
    p: np.ndarray,
    alpha: float,
    alike: Sequence | None = None,
    looks: Looks = ONE_LOOK,
    asked: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The adjusted p-values of decidable cells: for these trained models by resamples, across retraining by Holm's
    method; and, int (2, cells), the look that was the first to find each for these trained models and the one whose
    statistic shows it, from 1, both 0 where none did.

    ``statistics`` are those of each look, the real ones and those of resamples, (1 + resamples, cells); p-values of
    single cells are (looks, cells). The others as for :func:`decidable`.
    """
    asked = np.ones(p.shape, dtype=bool) if asked is None else asked
    if not p.shape[1]:
        return p_models[-1], p[-1], np.zeros((2, 0), dtype=int)
    on_scale = [
        _scaled(of_look, of_look[1:], of_cells, alike)[0] for of_look, of_cells in zip(statistics, asked, strict=True)
    ]
    own = [sequential_p(np.where(asked, of_looks, np.nan), looks, alpha) for of_looks in (p_models, p)]
    of_models = np.fmax(step_down_over_looks(on_scale, looks, alpha), own[0])
    if looks.is_one:
        found_by = np.ones((2, p.shape[1]), dtype=int)
    else:
        of_family, shown_by = found_and_shown(on_scale, looks.spent(alpha))
        # Where its own p came later than the family's, a cell was not found before it.
        by_itself = np.where(asked, p_models, np.nan) <= looks.levels(alpha)[:, None]
        found_by = np.stack([np.maximum(of_family, 1 + by_itself.argmax(axis=0)), shown_by])
    return of_models, np.maximum(holm(own[1]), of_models), np.where(of_models <= alpha, found_by, 0)


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
