"""Sets of more than two levels: is any of them explained better or worse, and which?"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evenlight.errors import InputError
from evenlight.statistics.cells import ExplainerScores, ModelScores, read_models
from evenlight.statistics.designs import Side, side_of
from evenlight.statistics.disparity import adjusted
from evenlight.statistics.effect_sizes import defined
from evenlight.statistics.many_groups import dunn, friedman_p, kruskal_wallis
from evenlight.statistics.study import larger_sets_of

CELL = ["dataset", "model", "seed", "explainer", "metric", "factor", "groups"]
TESTED = ["size", "h", "degrees", "p", "epsilon_squared", "blocks", "p_friedman"]
COMPARED = ["level_a", "level_b", "size_a", "size_b", "z", "p_dunn", "p_dunn_holm"]
LEAST = 5  # scores of a group: with fewer the chi-squared approximation of H does not hold


def group_tables(
    scores: str | Path,
    datasets_folder: str | Path,
    **scored: Any,
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """The Kruskal-Wallis tests of all sets of more than two levels, Dunn's tests, and notes.

    For the folders and ``scored`` see :func:`evenlight.statistics.cells.read_models`. The first table has one row per
    dataset, model, seed, explainer, metric and set of levels, with p adjusted over all rows; the second one row for
    each pair of levels in it, with Holm's p over the pairs of its cell. Both take all units for independent. Where
    units come in all levels, as the three forms of a sentence, ``p_friedman`` is that of Friedman's test (1937)
    over the ``blocks`` with every score defined, which does not; else it is NaN. A set is compared on the datasets
    that have at least three of its levels; levels with fewer than five defined scores are left out, with a note.
    :class:`InputError` where no dataset has three.
    """
    tests, pairs, notes = [], [], {}  # of notes the keys only: each once, in order
    sets = larger_sets_of(scored["comparisons"])
    # Larger sets are tested without strata.
    for model in read_models(scores, datasets_folder, **scored | {"strata": None}):
        sides = [_sides(model, factor, levels) for factor, levels in sets]
        by_set = [([], []) for _ in sets]
        for explainer in model.explainers:
            for (factor, _), set_sides, rows in zip(sets, sides, by_set, strict=True):
                if len(set_sides) > 2:
                    _compare(explainer, factor, set_sides, *rows, notes)
        for set_tests, set_pairs in by_set:
            tests += set_tests
            pairs += set_pairs
    if not tests:
        listing = "; ".join(", ".join(levels) for _, levels in sets)
        raise InputError(
            f"configuration: 'statistics.compare' has sets of more than two levels ({listing}), and no dataset has "
            "three of one with five scores each; correct the names, explain more items, or name pairs"
        )
    table = adjusted(pd.DataFrame(tests, columns=[*CELL, *TESTED]), ["p", "p_friedman"])
    return table, pd.DataFrame(pairs, columns=[*CELL, *COMPARED]), list(notes)


def _sides(model: ModelScores, factor: str, levels: list[str]) -> dict[str, tuple[Side, pd.Index]]:
    """The units of each level that is there, and their names."""
    sides = {level: side_of(model.units, factor, level, model.items) for level in levels}
    return {level: side for level, side in sides.items() if len(side[1])}


def _compare(
    scores: ExplainerScores,
    factor: str,
    sides: dict[str, tuple[Side, pd.Index]],
    tests: list[tuple],
    pairs: list[tuple],
    notes: dict[str, None],
) -> None:
    by_level = {level: side.scores(scores.values) for level, (side, _) in sides.items()}
    for row, metric in enumerate(scores.metrics):
        for seed_index, seed in enumerate(scores.seeds):
            values = {level: defined(unit_scores[row, seed_index]) for level, unit_scores in by_level.items()}
            kept = {level: part for level, part in values.items() if len(part) >= LEAST}
            for level in sides:
                if level not in kept:
                    notes[_too_small(scores.dataset, metric, level)] = None
            if len(kept) > 2:
                cell = (scores.dataset, scores.model, seed, scores.explainer, metric, factor, ", ".join(kept))
                blocks = [pd.Series(by_level[level][row, seed_index], sides[level][1]) for level in kept]
                tests.append(cell + _tested(kept) + _blocked(blocks))
                pairs += [cell + comparison for comparison in _compared(kept)]


def _too_small(dataset: str, metric: str, group: str) -> str:
    return f"dataset '{dataset}', metric '{metric}': group '{group}' has fewer than {LEAST} scores and is left out"


def _tested(kept: dict[str, np.ndarray]) -> tuple:
    test = kruskal_wallis(list(kept.values()))
    return sum(map(len, kept.values())), test.h, test.degrees, test.p, test.epsilon_squared


def _blocked(scores: list[pd.Series]) -> tuple[int, float]:
    """The number of whole blocks and Friedman's p, from each group's scores by pair; NaN below five blocks."""
    blocks = pd.concat(scores, axis=1, join="inner").dropna().to_numpy()
    return len(blocks), float("nan") if len(blocks) < LEAST else friedman_p(blocks)


def _compared(kept: dict[str, np.ndarray]) -> list[tuple]:
    groups, sizes = list(kept), [len(part) for part in kept.values()]
    return [
        (groups[test.first], groups[test.second], sizes[test.first], sizes[test.second], test.z, test.p, test.p_holm)
        for test in dunn(list(kept.values()))
    ]
