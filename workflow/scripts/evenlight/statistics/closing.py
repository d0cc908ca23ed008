"""Questions that are closed: what becomes of their statistics at the looks that ask them no more.

Closing spends nothing of the level, and saves nothing. A closed question is never tested again, so it has fewer chances
to be found by error. It stays in the largest statistic of its family at every later look, as if it had gone on
(:func:`continued`). Without it the others would have a lower bound, because of what texts have shown.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

P_VALUES = ["p_models", "p", "p_models_equivalence", "p_equivalence"]
# What follows from how many units a cell has.
SAME = ["reason", "few", "rarest"]


def continued(resampled: np.ndarray, units: Sequence[int]) -> list[np.ndarray]:
    """What resamples of closed cells would be at later looks, each (…, draws, cells), if what is new is independent.

    The statistic of a look is that of the look before, shrunk, and what new units add (Armitage, McPherson & Rowe
    1969), which nobody has explained. In its place stands another resample. So a closed cell is as alike to itself from
    look to look as it would be, and less alike to others: the largest of all is at least as large (Šidák 1967).

    Args:
        resampled: of the last look that asks them, (…, draws, cells).
        units: of this look, and of those after it.
    """
    path, looks = np.sqrt(units[0]) * resampled, []
    for number, (before, after) in enumerate(pairwise(units), start=1):
        path = path + np.sqrt(after - before) * np.roll(resampled, number, axis=-2)
        looks.append((path / np.sqrt(after)).astype(resampled.dtype))
    return looks


def without_closed(
    tables: Sequence[pd.DataFrame], statistics: Sequence[np.ndarray], units: Sequence[int], last: np.ndarray
) -> tuple[list[pd.DataFrame], list[np.ndarray]]:
    """The looks in which closed cells are not asked: no p, a statistic that finds nothing, resamples that go on.

    Args:
        tables: of each look, with the cells in one order.
        statistics: of each look, (2, 1 + resamples, cells), the real ones first.
        units: of each look.
        last: the last look that asks each cell, by number from 0, int (cells,).
    """
    if (last == len(units) - 1).all():
        return list(tables), list(statistics)
    tables, statistics = [table.copy() for table in tables], [of_look.copy() for of_look in statistics]
    for ended in np.unique(last[last < len(units) - 1]):
        cells = np.flatnonzero(last == ended)
        later = continued(statistics[ended][:, 1:, cells], units[ended:])
        for table, of_look, resampled in zip(tables[ended + 1 :], statistics[ended + 1 :], later, strict=True):
            of_look[:, 0, cells], of_look[:, 1:, cells] = -np.inf, resampled
            table.loc[cells, P_VALUES] = np.nan
            table.loc[cells, SAME] = tables[ended].loc[cells, SAME]
    return tables, statistics
