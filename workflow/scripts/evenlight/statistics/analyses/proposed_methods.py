"""Is an explainer better than all others that ask the model? Each proposed one beside every other, on the same texts.

It is better than another explainer where its explanation of a text is better more often than the other's. It
is the best where it is better than each of the others. So the least convincing of these comparisons decides, at the
level of a single one (an intersection-union test, Berger 1982), and nothing has to be guessed about which of them is
the best. It is not the best where any other is better than it, which is adjusted for their number (Bonferroni).

Over the rows of a study both claims are adjusted as both sides of a comparison are
(:mod:`evenlight.statistics.arrays.multiple_testing`).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from evenlight.core.contracts.results import PROPOSED_METHOD_PAIRS, PROPOSED_METHODS
from evenlight.core.tables import Contract
from evenlight.statistics.analyses.base import Computed, Inputs, JudgedAtLooks
from evenlight.statistics.arrays.multiple_testing import Looks, over_analyses
from evenlight.statistics.arrays.units import mean_of_known
from evenlight.statistics.comparisons.cells import Design, ExplainerScores, Side
from evenlight.statistics.comparisons.mean_effects import mean_effects
from evenlight.statistics.comparisons.reading import read_models
from evenlight.statistics.comparisons.score_files import score_notes
from evenlight.statistics.comparisons.strategies import common_seeds, run_of_seed
from evenlight.statistics.comparisons.study import (
    ALL,
    EXPLORATORY,
    HOLM,
    PRIMARY,
    UNDECIDED,
    Comparison,
    StudyScores,
    VerdictSettings,
)
from evenlight.statistics.comparisons.wins import P_SIDES, counted_wins

FACTOR = "explainer"
BEST, BEHIND = "better than all others", "not the best"
_NAMES = ["dataset", "model", "explainer", "metric"]
_CLAIMS = ["p_best", "p_behind"]


def _rivals_without_scores(pairs: pd.DataFrame, proposed_methods: Sequence[str], rivals: Sequence[str]) -> list[str]:
    """Which rivals have no text with a score of both, where others have: a claim of all others leaves them out."""
    missing: dict[tuple, list[str]] = {}
    for (dataset, model, metric), of_metric in pairs.groupby(["dataset", "model", "metric"], sort=False):
        there = set(zip(of_metric["explainer"], of_metric["other"], strict=True))
        for pair in product(proposed_methods, rivals):
            if pair not in there:
                missing.setdefault((dataset, metric, *pair), []).append(model)
    return [
        f"dataset '{dataset}', metric '{metric}': no text has a score of both '{proposed_method}' and '{rival}' "
        f"({', '.join(models)}), so that this rival has no part in what is claimed"
        for (dataset, metric, proposed_method, rival), models in missing.items()
    ]


def _judged(seen: Sequence[pd.DataFrame], primary: Sequence[str], alpha: float, looks: Looks) -> pd.DataFrame:
    """The rows of the present analysis, the last of ``seen``, with families, adjusted p and verdicts."""
    table = seen[-1]
    of_study = (table["model"] == ALL) & (table["metric"].isin(primary) if primary else True)
    table["family"] = np.where(of_study, PRIMARY, EXPLORATORY)
    keys = pd.MultiIndex.from_frame(table[_NAMES])
    increments = looks.increments(alpha)
    of_looks = [
        np.ones((2, len(table))) if rows.empty else rows.set_index(_NAMES)[_CLAIMS].reindex(keys).fillna(1).T.to_numpy()
        for rows in seen
    ]
    adjusted, side = np.ones(len(table)), np.zeros(len(table), dtype=int)
    for rows in table.groupby("family").indices.values():
        tested = [p[:, rows] for p in of_looks]
        found = over_analyses(tested, increments)
        adjusted[rows], side[rows] = found.p_adjusted, found.side
    verdict = [{1: BEST, -1: BEHIND}.get(of_row, UNDECIDED) for of_row in side]
    return table.assign(p_adjusted=adjusted, side=side, verdict=verdict)[PROPOSED_METHODS.schema.names]


def read_scores_of(study: StudyScores) -> Iterator[tuple[str, list[int], pd.DataFrame, dict[str, np.ndarray]]]:
    """The scores of explainers in the mean of all models, named ``all``, and in each of several models.

    Yields:
        the model; its seeds; ``item_id`` and ``cluster`` of its texts; float (metrics, seeds, texts) by explainer, NaN
        where undefined, in the mean where it is so in any model.
    """
    read = list(read_models(replace(study, comparisons={})))
    of_models = [{of.explainer: of.values for of in model.explainers} for model in read]
    if len(read) > 1:
        seeds = common_seeds(ALL, study.models)
        texts = set.intersection(*(set(model.items["item_id"]) for model in read))
        items = read[0].items[read[0].items["item_id"].isin(texts)].reset_index(drop=True)
        columns = [pd.Index(model.items["item_id"]).get_indexer(items["item_id"]) for model in read]
        runs = [[list(model.seeds).index(run_of_seed(model.seeds, seed)) for seed in seeds] for model in read]
        yield (
            ALL,
            seeds,
            items,
            {
                name: np.mean(
                    [
                        values[name][:, rows][..., places]
                        for values, rows, places in zip(of_models, runs, columns, strict=True)
                    ],
                    axis=0,
                )
                for name in study.explainers
            },
        )
    for model, values in zip(read, of_models, strict=True):
        yield model.model, list(model.seeds), model.items, values


def _pairs(
    names: tuple[str, str, str],
    seeds: Sequence[int],
    items: pd.DataFrame,
    pairs: Mapping[str, tuple[np.ndarray, np.ndarray]],
    metrics: list[str],
    judging: VerdictSettings,
) -> pd.DataFrame:
    """A row for each metric and other explainer.

    ``pairs`` has the scores (metrics, seeds, texts) of the proposed method and of each of the others.
    """
    texts = len(items)
    identifiers, clusters = (items[name].to_numpy(object) for name in ("item_id", "cluster"))

    def side(block: int) -> Side:
        return Side(identifiers, clusters, block * texts + np.arange(texts), np.arange(texts))

    designs = []
    blocks: list[np.ndarray] = []
    for other, both in pairs.items():
        comparison = Comparison(FACTOR, names[-1], other)
        designs.append(Design(comparison, True, side(len(blocks)), side(len(blocks) + 1)))
        unknown = np.isnan(both[0] - both[1])
        blocks += [np.where(unknown, np.nan, values) for values in both]
    values = np.concatenate(blocks, axis=-1)
    means = {
        (other, metric): _described(*(values[number][:, design_side.columns] for design_side in (of.a, of.b)))
        for of, other in zip(designs, pairs, strict=True)
        for number, metric in enumerate(metrics)
    }
    present = ~np.isnan(values).all(axis=0)
    scores = ExplainerScores(*names, seeds, metrics, values, present)
    counted = counted_wins([scores], designs, judging, lambda levels: mean_effects(levels, judging))
    if not counted:
        return pd.DataFrame(columns=PROPOSED_METHOD_PAIRS.schema.names)
    table = pd.concat([part.rows for part in counted], ignore_index=True)
    found = [means[of_row] for of_row in zip(table["level_b"], table["metric"], strict=True)]
    return table.assign(
        other=table["level_b"],
        texts=[of_both[2] for of_both in found],
        p_better=table[P_SIDES[0]],
        p_worse=table[P_SIDES[1]],
        mean=[of_both[0] for of_both in found],
        mean_other=[of_both[1] for of_both in found],
    )


def _described(own: np.ndarray, other: np.ndarray) -> tuple[float, float, int]:
    """Both means over texts of means over seeds, from scores (seeds, texts), and how many texts have any."""
    mean, mean_other = (float(mean_of_known(mean_of_known(values))) for values in (own, other))
    return mean, mean_other, int((~np.isnan(own)).any(axis=0).sum())


def _of_pairs(pairs: pd.DataFrame, higher_is_better: bool) -> dict[str, Any]:
    """What follows for a proposed method from its rows, one for each rival."""
    lead = pairs["difference"].to_numpy() * (1 if higher_is_better else -1)
    return {
        "others": len(pairs),
        "best_other": pairs["other"].iloc[lead.argmin()],
        "p_best": pairs["p_better"].max(),
        "p_behind": min(1.0, len(pairs) * pairs["p_worse"].min()),
    }


class CompareProposedMethods(JudgedAtLooks):
    """Say whether explainers that challenge all others are better than each of them.

    Models that are no strategy do not count. The model ``all`` is the mean over all models, text by text.

    The verdicts have a row for each dataset, model, metric and method. The family is ``primary`` for primary metrics in
    the mean of all models, else ``exploratory``. ``p_best`` is the largest one-sided p of the pairs, ``p_behind`` the
    smallest of the other side times their number. ``side`` and ``verdict`` say what of this is found among all rows of
    a family. The pairs are of all texts of which both explainers have a score; notes tell of rivals of which there is
    no such text.

    Attributes:
        judging: the level and the margins; its families do not count.
        proposed_methods: names of explainers.
        rivals: the explainers that these have to be better than: not random ones, nor references that know the data and
            not the model, beside which it stands all the same.
        primary_metrics: the metrics that the study is about, all where it is empty.
    """

    tables: ClassVar[Mapping[str, Contract]] = {
        "proposed_methods": PROPOSED_METHODS,
        "proposed_method_pairs": PROPOSED_METHOD_PAIRS,
    }
    of_kinds: ClassVar[Collection[str]] = ("strategies",)
    folders: ClassVar[Sequence[str]] = ("scores", "datasets")
    minutes: ClassVar[int] = 60

    result: Literal["compare_proposed_methods"]
    proposed_methods: list[str]
    rivals: list[str]
    primary_metrics: list[str]

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """As of verdicts of explainers, which no strategy, hypothesis or mean of several is part of."""
        none = {"claims": {}, "together": [], "primary": {}, "noise": [], "adjustment": HOLM}
        primary = study.config["statistics"]["primary"]["metrics"]
        return super().asked(study) | none | {"primary_metrics": primary, "rivals": study.together()}

    def compute(self, inputs: Inputs) -> Computed:
        """The verdicts, and the pairs of explainers behind them."""
        study, looks = inputs.located(self.study), self.looks_made(inputs)
        verdicts, pairs = self._seen(study, self.judging)
        rivals = [name for name in study.explainers if name in self.rivals and name not in self.proposed_methods]
        notes = [*score_notes(study), *_rivals_without_scores(pairs, self.proposed_methods, rivals)]
        pairs = pairs[PROPOSED_METHOD_PAIRS.schema.names]
        if verdicts.empty:
            return Computed([pd.DataFrame(columns=PROPOSED_METHODS.schema.names), pairs], notes)
        without_limits = replace(self.judging, bootstrap_draws=0)
        earlier = [self._seen(replace(study, first=units), without_limits)[0] for units in looks.units[:-1]]
        judged = _judged([*earlier, verdicts], self.primary_metrics, self.judging.alpha, looks)
        return Computed([judged, pairs], notes, [judged["verdict"].value_counts().to_string()])

    def _seen(self, study: StudyScores, judging: VerdictSettings) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The rows of proposed methods, and those of their pairs."""
        models = {model: study.models[model] for named in study.strategies.values() for model in named.values()}
        others = [name for name in study.explainers if name not in self.proposed_methods]
        compared = replace(study, models=models, explainers=[*self.proposed_methods, *others])
        rows, pairs = [], []
        for dataset in study.datasets:
            for model, seeds, items, values in read_scores_of(compared.of(dataset)):
                for proposed_method in self.proposed_methods:
                    beside = {other: (values[proposed_method], values[other]) for other in others}
                    names = (dataset, model, proposed_method)
                    table = _pairs(names, seeds, items, beside, list(study.metrics), judging)
                    pairs.append(table)
                    of_rivals = table[table["other"].isin(self.rivals)]
                    for metric in dict.fromkeys(table["metric"]):
                        against, place = of_rivals[of_rivals["metric"] == metric], (*names, metric)
                        if len(against):
                            found = _of_pairs(against, judging.higher_is_better.get(metric, True))
                            rows.append(dict(zip(_NAMES, place, strict=True)) | found)
        empty = pd.DataFrame(columns=PROPOSED_METHOD_PAIRS.schema.names)
        return pd.DataFrame(rows), pd.concat(pairs) if pairs else empty
