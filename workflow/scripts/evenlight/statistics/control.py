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
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evenlight.seeds import generator_for
from evenlight.statistics.cells import ExplainerScores, read_models
from evenlight.statistics.designs import Design
from evenlight.statistics.disparity import shared_flips
from evenlight.statistics.paired_tests import sign_flip_p, signed_rank_p
from evenlight.statistics.rank_sum import mann_whitney
from evenlight.statistics.study import ALL

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


def permuted_rates(
    scores: str | Path,
    datasets_folder: str | Path,
    *,
    alpha: float,
    control_draws: int,
    sign_flips: int,
    **scored: Any,
) -> pd.DataFrame:
    """The share of significant cells with the real labels beside that with permuted ones.

    For the folders and ``scored`` see :func:`evenlight.statistics.cells.read_models`. A cell is an explainer, a metric
    and a pair of levels in one run of a model; all compared pairs count that the dataset has. Rows: every dataset,
    model and test, with model ``all`` for all of a dataset and dataset ``all`` for the study. The paired tests have
    rows where there are pairs. Columns besides these names:

    - ``cells``: how many were tested, with at least two scores in each level, or two whole pairs;
    - ``real_rate``: share of cells with p ≤ ``alpha``;
    - ``null_rate``, ``null_low``, ``null_high``: mean and central 95 % over ``control_draws`` permutations;
    - ``study_p``: (1 + permutations with at least as many significant cells as really) / (1 + permutations).
    """
    tallies: dict[tuple[str, str, str], np.ndarray] = {}
    for model in read_models(scores, datasets_folder, **scored):
        in_first = [permuted_labels(design, control_draws) for design in model.designs]
        for explainer in model.explainers:
            for design, labels in zip(model.designs, in_first, strict=True):
                for test, p in permuted_tests(explainer, design, labels, sign_flips).items():
                    tested = ~np.isnan(p[0])
                    tally = np.append(tested.sum(), (p[:, tested] <= alpha).sum(axis=1))
                    for subset in ((model.dataset, model.model), (model.dataset, ALL), (ALL, ALL)):
                        tallies[*subset, test] = tallies.get((*subset, test), 0) + tally
    subsets = [(dataset, model) for dataset in scored["datasets"] for model in [*scored["models"], ALL]]
    keys = [(*subset, test) for subset in [*subsets, (ALL, ALL)] for test in TESTS]
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


def permuted_tests(scores: ExplainerScores, design: Design, in_first: np.ndarray, flips: int) -> dict[str, np.ndarray]:
    """p of each test, float (labellings, metrics × seeds), the real labels first; NaN where nothing can be tested.

    ``in_first`` comes from :func:`permuted_labels`. The sign-flip test has ``flips`` draws of its own.
    """
    count = len(scores.metrics) * len(scores.seeds)
    a, b = (side.scores(scores.values).reshape(count, -1) for side in (design.a, design.b))
    p = {"mann_whitney": mann_whitney(a, b, in_first).p}
    if design.paired:
        differences, signs = a - b, np.where(in_first[:, : a.shape[1]], 1, -1).astype(np.int8)
        p["signed_rank"] = signed_rank_p(differences, signs)
        p["sign_flip"] = sign_flip_p(differences, shared_flips(scores.dataset, design, flips), signs)
    return p


def permuted_labels(design: Design, draws: int) -> np.ndarray:
    """Which units count as the first level: bool (1 + ``draws``, units of the first and then of the second level).

    The first row has the real labels. Every unit has random numbers of its own, those of its first item, so that they
    are the same in all cells, whatever else was scored, and in all datasets that have the same items, as GECO's do.
    """
    seed = (*design.comparison.levels, "control")
    if design.paired:
        items = [b if a is None else a for a, b in zip(design.a.items, design.b.items, strict=True)]
        swapped = np.zeros((1 + draws, len(items)), dtype=bool)
        for column, item in enumerate(items):
            swapped[1:, column] = generator_for(*seed, item).integers(0, 2, size=draws)
        return np.hstack([~swapped, swapped])
    items = [*design.a.items, *design.b.items]
    numbers = np.array([generator_for(*seed, item).random(draws) for item in items]).T
    in_first = np.zeros((1 + draws, len(items)), dtype=bool)
    in_first[0, : len(design.a.items)] = True
    for row, drawn in enumerate(numbers):
        in_first[1 + row, np.argsort(drawn)[: len(design.a.items)]] = True
    return in_first
