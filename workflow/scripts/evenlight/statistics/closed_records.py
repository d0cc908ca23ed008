"""The record of closed questions: an explainer has no more texts once a look has decided all that it is asked.

What counts are the questions that are named beforehand, or all where none are. What a study only explores, and groups
that are drawn by chance, keep no explainer at work. Yardsticks go on as long as one of the explainers does that are
held against them. How verdicts stay right, :mod:`evenlight.statistics.closing` says.
"""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd

from evenlight.core.contracts.results import CLOSED
from evenlight.core.errors import InputError
from evenlight.statistics.cells import CELL
from evenlight.statistics.look_plans import EXPLAINER
from evenlight.statistics.study import UNDECIDABLE, UNDECIDED
from evenlight.statistics.verdicts import CONTROL, EXPLORATORY

# What is not decidable for these reasons may be with more texts.
WITH_MORE = "too few|spends so little|rests on"


def questions(effects: pd.DataFrame) -> pd.DataFrame:
    """Those of the cells that count: what is explored, and what is a control, waits for no answer."""
    return effects[~effects["family"].isin([CONTROL, EXPLORATORY])]


def is_open(effects: pd.DataFrame) -> pd.Series:
    """Which cells more texts could decide, bool (cells,)."""
    may_be = (effects["verdict"] == UNDECIDABLE) & effects["reason"].str.contains(WITH_MORE, na=False)
    return (effects["verdict"] == UNDECIDED) | may_be


def with_closed(
    record: pd.DataFrame, effects: pd.DataFrame, look: tuple[str, int, int], following: Collection[str]
) -> pd.DataFrame:
    """The record of closed questions with those that a look closes, in the place of what it had of this look.

    Args:
        record: rows of :data:`CLOSED`, of this plan and others.
        effects: of this look.
        look: the plan's name, the number of the look and its units.
        following: the explainers that go on as long as another does.
    """
    name, number, units = look
    earlier = record[(record["plan"] != name) | (record["look"] < number)]
    before = pd.MultiIndex.from_frame(earlier.loc[earlier["plan"] == name, CELL])
    effects = effects[~pd.MultiIndex.from_frame(effects[CELL]).isin(before)]
    asked = questions(effects)
    if asked.empty:
        return earlier
    of_explainers, of_models = (pd.MultiIndex.from_frame(effects[names]) for names in (EXPLAINER, EXPLAINER[:2]))
    left = asked[is_open(asked)]
    goes_on = of_explainers.isin(pd.MultiIndex.from_frame(left[EXPLAINER]))
    follows = effects["explainer"].isin(following) & of_models.isin(pd.MultiIndex.from_frame(left[EXPLAINER[:2]]))
    new = effects[~goes_on & ~follows][[*CELL, "verdict"]].assign(plan=name, look=number, units=units)
    return pd.concat([earlier, new], ignore_index=True)[CLOSED.schema.names]


def closed_at(table: pd.DataFrame, closed: Mapping, units: Sequence[int]) -> np.ndarray:
    """The last look that asks each cell of a table, by number from 0 among those that were made, int (cells,).

    Args:
        table: of cells.
        closed: as :func:`evenlight.statistics.look_plans.closed_before` gives it.
        units: of the looks that were made.

    Raises:
        InputError: an explainer is closed by a look that was not made.

    >>> cells = pd.DataFrame({"dataset": ["d"] * 2, "model": ["m"] * 2, "explainer": ["lime", "shap"]})
    >>> closed_at(cells, {"d": {"m": {"lime": 20}}}, [10, 20, 40]).tolist()
    [1, 2]
    """
    numbers = {None: len(units) - 1} | {of_look: number for number, of_look in enumerate(units)}
    of_cells = [closed.get(row.dataset, {}).get(row.model, {}).get(row.explainer) for row in table.itertuples()]
    for row, of_cell in zip(table.itertuples(), of_cells, strict=True):
        if of_cell not in numbers:
            raise InputError(
                f"tables/closed.parquet: explainer '{row.explainer}' was closed with {of_cell} units, and looks were "
                f"made with {', '.join(map(str, units))}; delete this file, and all explainers go on"
            )
    return np.array([numbers[of_cell] for of_cell in of_cells], dtype=int)


def closed_said(closed: Mapping[str, Mapping[str, Mapping[str, int]]]) -> list[str]:
    """What a reader must know of closed explainers (:func:`evenlight.statistics.look_plans.closed_before`).

    >>> closed_said({"plots": {"small": {"lime": 20}, "large": {"lime": 20, "shap": 40}}})  # doctest: +ELLIPSIS
    ["explainer 'lime' was asked no more after 20 pairs (dataset 'plots', models 'small', 'large'): ...
    """
    models: dict[tuple[str, int, str], list[str]] = {}
    for dataset, of_dataset in closed.items():
        for model, of_model in of_dataset.items():
            for explainer, units in of_model.items():
                models.setdefault((explainer, units, dataset), []).append(model)
    return [
        f"explainer '{explainer}' was asked no more after {units} pairs (dataset '{dataset}', "
        f"model{'s' * (len(names) > 1)} {', '.join(map(repr, names))}): no question of it that counts was open. Its "
        "verdicts are of these pairs"
        for (explainer, units, dataset), names in models.items()
    ]
