"""A control: how many cells are significant where the labels of the groups mean nothing?

The study's tests are done again with permuted labels. In a paired design the two forms of a pair exchange their labels
with probability 1/2, in an unpaired one the labels are shuffled over the items. All models, seeds, explainers and
metrics of a dataset have the same permutations, since they have the same items: cells that depend on one another stay
dependent, and the number of significant cells is distributed as in a study of these scores without any disparity. So do
datasets with the same items; pairs of groups that share one group are permuted each on its own.

A valid test at level α finds the share α of permuted cells. The Mann-Whitney test takes the two forms of a sentence for
independent; where their scores are positively correlated it finds fewer, and more where one form of each pair is high
and the other low, as a real disparity makes them. Where a disparity is so large and so equal in all cells that they are
significant together or not at all, a share α of the permutations makes them so, and the p of the study is not far below
α.

Ranks do not depend on labels, so that each rank statistic under all permutations is one matrix product.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import norm, rankdata

from evenlight.seeds import generator_for
from evenlight.statistics.cells import Cell, cells, pairs_there, read_models
from evenlight.statistics.disparity import shared_flips
from evenlight.statistics.paired_tests import ROUNDING
from evenlight.statistics.study import names, required

ALL = "all"
TESTS = ("mann_whitney", "signed_rank", "sign_flip")
COLUMNS = [
    "dataset",
    "model",
    "test",
    "cells",
    "real_rate",
    "null_rate",
    "null_low",
    "null_high",
    "alpha",
    "study_p",
]


def permuted_rates(paths: Iterable[str | Path], settings: dict) -> pd.DataFrame:
    """The share of significant cells with the real labels beside that with permuted ones.

    ``paths`` are the score files of the whole study. A cell is an explainer, a metric and a pair of groups in one run
    of a model; all pairs of ``statistics.groups`` count that the dataset has. Rows: every dataset, model and test, with
    model ``all`` for all of a dataset and dataset ``all`` for the study. The paired tests have rows where there are
    pairs. Columns besides these names:

    - ``cells``: how many were tested, with at least two scores in each group, or two whole pairs;
    - ``real_rate``: share of cells with p ≤ ``alpha`` (``statistics.alpha``);
    - ``null_rate``, ``null_low``, ``null_high``: mean and central 95 % over ``statistics.control_draws`` permutations;
    - ``study_p``: (1 + permutations with at least as many significant cells as really) / (1 + permutations).
    """
    alpha, draws, flips = (required(settings, f"statistics.{key}") for key in ("alpha", "control_draws", "sign_flips"))
    tallies: dict[tuple[str, str, str], np.ndarray] = {}
    for scores in read_models(paths, settings):
        for pair in pairs_there(scores, settings):
            for test, p in permuted_tests(list(cells(scores, [pair])), draws, flips).items():
                tested = ~np.isnan(p[0])
                tally = np.append(tested.sum(), (p[:, tested] <= alpha).sum(axis=1))
                for place in ((scores.dataset, scores.model), (scores.dataset, ALL), (ALL, ALL)):
                    tallies[*place, test] = tallies.get((*place, test), 0) + tally
    places = [
        (dataset, model) for dataset in names(settings, "datasets") for model in [*names(settings, "models"), ALL]
    ]
    keys = [(*place, test) for place in [*places, (ALL, ALL)] for test in TESTS]
    rows = [dict(zip(COLUMNS[:3], key, strict=True)) | _rates(tallies[key], alpha) for key in keys if key in tallies]
    return pd.DataFrame(rows, columns=COLUMNS)


def _rates(tally: np.ndarray, alpha: float) -> dict:
    """The last seven columns, from the number of cells and those significant, really and under each permutation."""
    tested, significant = int(tally[0]), tally[1:]
    rates = significant / tested if tested else np.full(len(significant), np.nan)
    low, high = np.quantile(rates[1:], [0.025, 0.975])
    return {
        "cells": tested,
        "real_rate": rates[0],
        "null_rate": rates[1:].mean(),
        "null_low": low,
        "null_high": high,
        "alpha": alpha,
        "study_p": (significant >= significant[0]).mean() if tested else np.nan,
    }


def permuted_tests(of_pair: Sequence[Cell], draws: int, flips: int) -> dict[str, np.ndarray]:
    """p of each test, float (1 + ``draws``, cells × seeds), the real labels first; NaN where nothing can be tested.

    ``of_pair`` are cells of one model on one dataset with the same pair of groups. The sign-flip test has ``flips``
    draws of its own.
    """
    first = of_pair[0]
    a, b = (np.concatenate([getattr(cell, side) for cell in of_pair]) for side in ("a", "b"))
    in_first = permuted_labels(first, draws)
    found = {"mann_whitney": mann_whitney_p(a, b, in_first)}
    if first.paired:
        differences, signs = a - b, np.where(in_first[:, : a.shape[1]], 1.0, -1.0)
        found["signed_rank"] = signed_rank_p(differences, signs)
        random = shared_flips(first.dataset, first.level_a, first.level_b, a.shape[1], flips)
        found["sign_flip"] = sign_flip_p(differences, signs, random)
    return found


def permuted_labels(cell: Cell, draws: int) -> np.ndarray:
    """Which items count as the first group: bool (1 + ``draws``, items of the first and then of the second group).

    The first row has the real labels. Every pair or item has random numbers of its own, so that they are the same in
    all cells, whatever else was scored, and in all datasets that have the same items, as those of GECO do.
    """
    place = (cell.level_a, cell.level_b, "control")
    if cell.paired:
        units = [b if a is None else a for a, b in zip(cell.items_a, cell.items_b, strict=True)]
        swapped = np.array([generator_for(*place, unit).integers(0, 2, size=draws) for unit in units], dtype=bool).T
        swapped = np.vstack([np.zeros(len(units), dtype=bool), swapped])
        return np.hstack([~swapped, swapped])
    items = [*cell.items_a, *cell.items_b]
    numbers = np.array([generator_for(*place, item).random(draws) for item in items]).T
    order = np.vstack([np.arange(len(items)), np.argsort(numbers, axis=1)])
    in_first = np.zeros(order.shape, dtype=bool)
    np.put_along_axis(in_first, order[:, : len(cell.items_a)], True, axis=1)
    return in_first


def mann_whitney_p(a: np.ndarray, b: np.ndarray, in_first: np.ndarray) -> np.ndarray:
    """:func:`evenlight.statistics.disparity.mann_whitney`'s p under each labelling; float (labellings, cells).

    ``a`` (cells, units) and ``b`` (cells, units) are the scores, NaN where undefined; ``in_first`` is as from
    :func:`permuted_labels`. NaN for cells with fewer than two scores in a group under the first labelling; 1 where a
    labelling leaves a group without scores.
    """
    scores = np.hstack([a, b])
    known = ~np.isnan(scores)
    size = known.sum(axis=1)
    # The undefined ones get the highest ranks, which changes no other, and then none.
    ranks = rankdata(np.where(known, scores, np.inf), axis=1) * known
    # Of all orders of these ranks, with their ties: the variance of their sum over n_a of n scores is
    # n_a n_b / (n (n − 1)) times this, which is the textbook formula with its correction for ties.
    spread = (np.where(known, ranks - (size[:, None] + 1) / 2, 0) ** 2).sum(axis=1)
    members = in_first.astype(float)
    size_a = members @ known.T
    size_b = size - size_a
    u = members @ ranks.T - size_a * (size_a + 1) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        sd = np.sqrt(size_a * size_b / (size * (size - 1)) * spread)
        p = np.minimum(2 * norm.sf((np.abs(u - size_a * size_b / 2) - 0.5) / sd), 1)
    p = np.where(sd > 0, p, 1.0)
    return np.where(np.minimum(size_a, size_b)[0] < 2, np.nan, p)


def signed_rank_p(differences: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """:func:`evenlight.statistics.paired_tests.signed_rank`'s p under each exchange; float (exchanges, cells).

    ``differences`` (cells, pairs) of the two forms' scores, NaN where a pair has none; ``signs`` (exchanges, pairs),
    −1 where the two forms exchange their labels. NaN for cells with fewer than two pairs.
    """
    pairs = (~np.isnan(differences)).sum(axis=1)
    known = np.nan_to_num(differences)
    largest = np.abs(known).max(axis=1, initial=0, keepdims=True)
    steps = np.round(known / np.where(largest > 0, ROUNDING * largest, 1))
    differing = steps != 0
    count = differing.sum(axis=1)
    ranks = rankdata(np.where(differing, np.abs(steps), np.inf), axis=1) * differing
    # Of the ranks with signs; half of it is how far the sum of the positive ones is from its expectation.
    sums = signs @ (np.sign(steps) * ranks).T
    with np.errstate(invalid="ignore", divide="ignore"):
        z = np.abs(np.abs(sums) / 2 - 0.5 * (sums != 0)) / np.sqrt((ranks**2).sum(axis=1) / 4)
    p = 2 * norm.sf(z)
    for cell in np.flatnonzero((count > 0) & (count <= 50)):
        of_cell = np.sort(ranks[cell, differing[cell]])
        if count[cell] <= 13 or len(np.unique(of_cell)) == count[cell]:
            exact = _signed_rank_distribution(tuple((2 * of_cell).astype(int)))
            p[:, cell] = exact[(of_cell.sum() + sums[:, cell]).astype(int)]
    return np.where(pairs < 2, np.nan, np.where(count == 0, 1.0, p))


@lru_cache(maxsize=1024)
def _signed_rank_distribution(doubled_ranks: tuple[int, ...]) -> np.ndarray:
    """Two-sided p of every value of twice the sum of the positive ranks, all signs being equally likely."""
    chances = np.ones(1)
    for rank in doubled_ranks:
        chances = (np.pad(chances, (0, rank)) + np.pad(chances, (rank, 0))) / 2
    return np.minimum(1, 2 * np.minimum(chances.cumsum(), chances[::-1].cumsum()[::-1]))


def sign_flip_p(differences: np.ndarray, signs: np.ndarray, flips: np.ndarray) -> np.ndarray:
    """:func:`evenlight.statistics.paired_tests.sign_flip_p` under each exchange; float (exchanges, cells).

    ``differences`` and ``signs`` are as for :func:`signed_rank_p`, ``flips`` comes from
    :func:`evenlight.statistics.paired_tests.sign_flips`. What an exchange does to the differences is one more flip, so
    that all exchanges are judged by the same flips, with the exchange itself in the place of the first one.
    """
    pairs = (~np.isnan(differences)).sum(axis=1)
    known = np.nan_to_num(differences).T
    rounding = ROUNDING * np.abs(known).sum(axis=0)
    observed = np.abs(signs @ known) - rounding
    # Where the flips are all there are, every exchange is one of them.
    enumerated = len(flips) == 2 ** flips.shape[1]
    drawn = flips if enumerated else flips[1:]
    reference = np.sort(np.abs(drawn @ known), axis=0)
    below = np.column_stack([np.searchsorted(*columns) for columns in zip(reference.T, observed.T, strict=True)])
    p = (len(drawn) - below + (not enumerated)) / len(flips)
    return np.where(pairs < 2, np.nan, p)
