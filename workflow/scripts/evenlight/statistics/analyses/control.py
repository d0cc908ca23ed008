"""A control: how many cells are significant where the labels of the groups mean nothing?

The study's tests are done again with permuted labels. In a paired design the two forms of a pair exchange their labels
with probability 1/2, in an unpaired one the labels are shuffled over the items. All models, seeds, explainers and
metrics of a dataset have the same permutations, since they have the same items: cells that depend on one another stay
dependent, and the number of significant cells is distributed as in a study of these scores without any disparity. So do
datasets with the same items; pairs of groups that share one group are permuted each on its own.

What belongs together is permuted together. All pairs of a cluster exchange their labels or none does. Of items, a
cluster of one level gives its label to another such cluster as a whole. A cluster with as many items of the one level
as of the other exchanges the labels of all of them or of none: those of one level may depend on one another, as the
changes of one text do. Within any other cluster of both levels the labels are shuffled. Where a dataset is stratified,
labels are shuffled within strata (of items that are in other strata under other seeds, among those that change alike):
what the strata bring with them stays, so that the Mann-Whitney test finds more than α as far as the groups differ by
their strata alone.

A valid test at level α finds the share α of permuted cells. The Mann-Whitney test takes the two forms of a sentence for
independent; where their scores are positively correlated it finds fewer, and more where one form of each pair is high
and the other low, as a real disparity makes them. Where a disparity is so large and so equal in all cells that they are
significant together or not at all, a share α of the permutations makes them so, and the p of the study is not far below
α.
"""

from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from evenlight.core.contracts.results import CONTROL
from evenlight.core.seeds import generator_for
from evenlight.core.tables import Contract
from evenlight.statistics.analyses.base import Computed, Inputs, OfScores, describe_left_out
from evenlight.statistics.arrays.paired_tests import signed_rank_p
from evenlight.statistics.arrays.rank_sum import mann_whitney
from evenlight.statistics.arrays.units import differences, numbered, settled
from evenlight.statistics.comparisons.cells import Design, ExplainerScores
from evenlight.statistics.comparisons.reading import read_models
from evenlight.statistics.comparisons.score_files import score_notes
from evenlight.statistics.comparisons.study import ALL

TESTS = ("mann_whitney", "signed_rank")


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


def permuted_tests(scores: ExplainerScores, design: Design, in_first: np.ndarray) -> dict[str, np.ndarray]:
    """p of each test, float (labellings, metrics × seeds), the real labels first; NaN where nothing can be tested.

    ``in_first`` comes from :func:`permuted_labels`. Where the design is stratified, the test of pairs takes those whose
    forms are in one stratum.
    """
    a, b = settled(*scores.sides(design))
    p = {"mann_whitney": mann_whitney(a, b, in_first).p}
    if design.paired:
        difference, same = differences(a, b), design.same_stratum
        if same is not None:
            difference = np.where(np.tile(same, (len(difference) // len(same), 1)), difference, np.nan)
        p["signed_rank"] = signed_rank_p(difference, np.where(in_first[:, : a.shape[1]], 1, -1).astype(np.int8))
    return p


def permuted_labels(design: Design, draws: int) -> np.ndarray:
    """Which units count as the first level: bool (1 + ``draws``, units of the first and then of the second level).

    The first row has the real labels. What is permuted as one, a unit or a cluster of them, has random numbers of its
    own, those of its first item, so that they are the same in all cells, whatever else was scored, and in all datasets
    that have the same items, as GECO's do.
    """
    seed = (*design.comparison.levels, "control")
    if design.paired:
        items = [b if a is None else a for a, b in zip(design.a.items, design.b.items, strict=True)]
        swapped = np.zeros((1 + draws, len(items)), dtype=bool)
        cluster, first = design.numbered_clusters
        drawn = [generator_for(*seed, items[start]).integers(0, 2, size=draws) for start in first]
        swapped[1:] = np.array(drawn, dtype=bool).T[:, cluster]
        return np.hstack([~swapped, swapped])
    items = [*design.a.items, *design.b.items]
    really = np.arange(len(items)) < len(design.a.items)
    entity, first, group = _exchanged(design, really)
    numbers = np.array([generator_for(*seed, items[start]).random(draws) for start in first]).T
    # Within each group the lowest numbers get the first level, as many as really have it.
    labels = really[first][np.lexsort([~really[first], group])]
    in_first = np.zeros((1 + draws, len(items)), dtype=bool)
    in_first[0] = really
    for row, drawn in enumerate(numbers, start=1):
        permuted = np.empty(len(first), dtype=bool)
        permuted[np.lexsort([drawn, group])] = labels
        in_first[row] = permuted[entity]
    return in_first


def _exchanged(design: Design, really: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What exchanges its label as one: the number of each unit, int (units,); the first unit and the group of each.

    Labels are exchanged within groups. Clusters whose units are all of one level and stratum are exchanged with others
    of their stratum. Within any other cluster the units of a stratum are: those of one level as one, where there are as
    many of the other, else each.
    """
    cluster, _ = design.numbered_clusters
    stratum = np.zeros(len(really), dtype=int)
    if design.a.strata is not None and design.b.strata is not None:
        patterns = np.hstack([design.a.strata, design.b.strata])
        stratum = np.unique(patterns, axis=1, return_inverse=True)[1].ravel()
    kind = 2 * stratum + really
    lowest, highest = np.full(cluster.max() + 1, kind.max()), np.zeros(cluster.max() + 1, dtype=int)
    np.minimum.at(lowest, cluster, kind)
    np.maximum.at(highest, cluster, kind)
    whole = (lowest == highest)[cluster]
    within = (1 + cluster) * (1 + stratum.max()) + stratum
    balance = np.bincount(within, np.where(really, 1, -1))[within]
    # Clusters, the units of one level in a cluster and stratum, and single units have numbers of their own.
    of_level = cluster.max() + 1 + 2 * within + really
    single = of_level.max() + 1 + np.arange(len(really))
    entity, first = numbered(np.select([whole, balance == 0], [cluster, of_level], single))
    return entity, first, np.where(whole, stratum, within)[first]


class PermuteGroups(OfScores):
    """Test again with permuted groups: is the number of significant cells more than chance?

    A cell is an explainer, a metric and a pair of levels in one run of a model; all compared pairs count that the
    dataset has. Rows: every dataset, model and test, with model ``all`` for all of a dataset and dataset ``all`` for
    the study. The test of pairs has rows where there are pairs.

    - ``cells``: how many were tested, with at least two scores in each level, or two whole pairs;
    - ``real_rate``: share of cells with p ≤ ``alpha``;
    - ``null_rate``, ``null_low``, ``null_high``: mean and central 95 % over ``control_draws`` permutations;
    - ``study_p``: (1 + permutations with at least as many significant cells as really) / (1 + permutations).
    """

    version: ClassVar[int] = 2
    tables: ClassVar[Mapping[str, Contract]] = {"control": CONTROL}
    of_kinds: ClassVar[Collection[str]] = ("disparity",)
    minutes: ClassVar[int] = 120
    alone: ClassVar[bool] = True

    result: Literal["permute_groups"]
    alpha: float
    control_draws: int
    left_out: list[str] = Field([])

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """As of scores: of texts and changes, of texts, since both have no labels that could be permuted together."""
        compared = study.scores_compared(study.controlled) | study.of_statistics("alpha", "control_draws")
        return compared | {"left_out": study.left_out()}

    @classmethod
    def files_of_runs(cls, study) -> dict[str, list[str]]:
        """The scores, and what they depend on."""
        texts = ("scores", "datasets", "predictions")
        return study.files_of_runs(*(texts if study.explainers else cls.folders), of=study.controlled)

    def compute(self, inputs: Inputs) -> Computed:
        """The rates of significant cells, real and permuted."""
        study = inputs.located(self.study)
        tallies: dict[tuple[str, str, str], np.ndarray] = {}
        for model in read_models(study):
            in_first = [permuted_labels(design, self.control_draws) for design in model.designs]
            for explainer in model.explainers:
                for design, labels in zip(model.designs, in_first, strict=True):
                    for test, p in permuted_tests(explainer, design, labels).items():
                        tested = ~np.isnan(p[0])
                        tally = np.append(tested.sum(), (p[:, tested] <= self.alpha).sum(axis=1))
                        for subset in ((model.dataset, model.model), (model.dataset, ALL), (ALL, ALL)):
                            tallies[*subset, test] = tallies.get((*subset, test), 0) + tally
        subsets = [(dataset, model) for dataset in study.datasets for model in [*study.models_of(dataset), ALL]]
        keys = [(*subset, test) for subset in [*subsets, (ALL, ALL)] for test in TESTS]
        names = ("dataset", "model", "test")
        rows = [dict(zip(names, key, strict=True)) | _rates(tallies[key], self.alpha) for key in keys if key in tallies]
        rates = pd.DataFrame(rows, columns=CONTROL.schema.names)
        return Computed([rates], describe_left_out(self.left_out) + score_notes(study))
