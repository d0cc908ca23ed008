"""Sets of more than two groups: is any of them explained better or worse, and which?"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import friedmanchisquare

from evenlight.errors import InputError
from evenlight.statistics.cells import ModelScores, read_models
from evenlight.statistics.disparity import adjusted
from evenlight.statistics.effect_sizes import defined
from evenlight.statistics.many_groups import dunn, kruskal_wallis
from evenlight.statistics.study import group_sets

CELL = ["dataset", "model", "seed", "explainer", "metric", "factor", "groups"]
TESTED = ["size", "h", "degrees", "p", "epsilon_squared", "blocks", "p_friedman"]
COMPARED = ["level_a", "level_b", "size_a", "size_b", "z", "p_dunn", "p_dunn_holm"]
LEAST = 5  # scores of a group: with fewer the chi-squared approximation of H does not hold


def group_tables(paths: Iterable[str | Path], settings: dict) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """The Kruskal-Wallis tests of all sets of groups (``statistics.groups`` with more than two), Dunn's tests, notes.

    ``paths`` are score files ``{dataset}/{model}/seed{seed}/{family}.parquet``. The first table has one row per
    dataset, model, seed, explainer, metric and set of groups, with p adjusted over all rows; the second one row for
    each pair of groups in it, with Holm's p over the pairs of its cell. Both take all items for independent. Where
    items come in all groups, as the three forms of a sentence, ``p_friedman`` is that of Friedman's test (1937) over
    the ``blocks`` with every score defined, which does not; else it is NaN. A set is compared on the datasets that have
    at least three of its groups; groups with fewer than five defined scores are left out, with a note.
    :class:`InputError` where no dataset has three.
    """
    tests, comparisons = [], []
    notes = {}  # keys only: each note once, in order
    for scores in read_models(paths, settings):
        for groups in group_sets(settings):
            present = [group for group in groups if (scores.items["group"] == group).any()]
            if len(present) > 2:
                _compare(scores, present, tests, comparisons, notes)
    if not tests:
        listing = "; ".join(", ".join(groups) for groups in group_sets(settings))
        raise InputError(
            f"configuration: 'statistics.groups' has sets of more than two groups ({listing}), and no dataset has "
            "three of one with five scores each; correct the names, explain more items, or name pairs"
        )
    table = adjusted(pd.DataFrame(tests, columns=[*CELL, *TESTED]), ["p", "p_friedman"])
    return table, pd.DataFrame(comparisons, columns=[*CELL, *COMPARED]), list(notes)


def _compare(scores: ModelScores, groups: list[str], tests: list, comparisons: list, notes: dict) -> None:
    columns = {group: (scores.items["group"] == group).to_numpy() for group in groups}
    pair_of = {group: scores.items.loc[of, "pair_id"] for group, of in columns.items()}
    for row, explainer in enumerate(scores.explainers):
        for column, metric in enumerate(scores.metrics):
            for place, seed in enumerate(scores.seeds):
                values = {group: defined(scores.values[row, column, place, of]) for group, of in columns.items()}
                kept = {group: part for group, part in values.items() if len(part) >= LEAST}
                for group in groups:
                    if group not in kept:
                        notes[_too_small(scores.dataset, metric, group)] = None
                if len(kept) > 2:
                    cell = (scores.dataset, scores.model, seed, explainer, metric, "gender", ", ".join(kept))
                    blocks = [
                        pd.Series(scores.values[row, column, place, columns[group]], pair_of[group]) for group in kept
                    ]
                    tests.append(cell + _tested(kept) + _blocked(blocks))
                    comparisons += [cell + comparison for comparison in _compared(kept)]


def _too_small(dataset: str, metric: str, group: str) -> str:
    return f"dataset '{dataset}', metric '{metric}': group '{group}' has fewer than {LEAST} scores and is left out"


def _tested(kept: dict[str, np.ndarray]) -> tuple:
    test = kruskal_wallis(list(kept.values()))
    return sum(map(len, kept.values())), test.h, test.degrees, test.p, test.epsilon_squared


def _blocked(scores: list[pd.Series]) -> tuple[int, float]:
    """The number of whole blocks and Friedman's p, from each group's scores by pair; NaN below five blocks."""
    if not all(of_group.index.is_unique for of_group in scores):
        return 0, float("nan")
    blocks = pd.concat(scores, axis=1, join="inner").dropna().to_numpy()
    if len(blocks) < LEAST:
        return len(blocks), float("nan")
    if (np.ptp(blocks, axis=1) == 0).all():
        return len(blocks), 1.0
    return len(blocks), float(friedmanchisquare(*blocks.T).pvalue)


def _compared(kept: dict[str, np.ndarray]) -> list[tuple]:
    groups, sizes = list(kept), [len(part) for part in kept.values()]
    return [
        (groups[one.first], groups[one.second], sizes[one.first], sizes[one.second], one.z, one.p, one.p_holm)
        for one in dunn(list(kept.values()))
    ]
