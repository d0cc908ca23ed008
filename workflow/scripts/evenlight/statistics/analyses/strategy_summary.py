"""How correct explanations are in every strategy: means with intervals, beside the baseline and random scores."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from evenlight.core import tables
from evenlight.core.contracts.results import STRATEGIES
from evenlight.core.contracts.texts import ITEMS, PREDICTIONS
from evenlight.core.seeds import generator_for
from evenlight.core.tables import Contract
from evenlight.statistics.analyses.base import Computed, Inputs, OfScores
from evenlight.statistics.arrays.mean import limits_over_texts
from evenlight.statistics.arrays.resamples import clusters_known, drawn_counts, ends, mean_over_seeds, means_of_draws
from evenlight.statistics.arrays.units import numbered
from evenlight.statistics.comparisons.files import Run, items_path, predictions_path
from evenlight.statistics.comparisons.score_files import score_notes
from evenlight.statistics.comparisons.strategies import SUBSETS, Strategies, read_strategies, run_of_seed
from evenlight.statistics.comparisons.study import StudyScores
from evenlight.texts.predictions import PROMPT


def _note_on_truth(strategies: Strategies, truth: pd.Series) -> list[str]:
    empty = sum(words is None or not np.any(words) for words in truth.reindex(strategies.items["item_id"]))
    texts = f"{empty:,} of {len(strategies.items):,} explained texts"
    said = f"dataset '{strategies.dataset}': {texts} have no word of the ground truth, and no mass accuracy"
    return [said] if empty else []


def weights_of_draws(strategies: Strategies, draws: int) -> tuple[np.ndarray, np.ndarray]:
    """How often each cluster is in each resample (draws, clusters), and the cluster of each text (items,).

    Whole clusters are drawn, with all their texts, under all seeds and in all strategies.
    """
    cluster, first = numbered(strategies.items["cluster"].to_numpy(str))
    return drawn_counts(len(first), draws, _generator(strategies)), cluster


def _generator(strategies: Strategies) -> np.random.Generator:
    """Of the same resamples of clusters each time, for all that is said of the strategies of an architecture."""
    return generator_for(0, "bootstrap", strategies.dataset, strategies.architecture)


def _rows(
    strategies: Strategies,
    explainer: str,
    subset: str,
    values: np.ndarray,
    shares: Mapping[str, np.ndarray],
    weights: np.ndarray,
    cluster: np.ndarray,
    confidence: float,
    mass_accuracies: Mapping[str, str],
) -> list[dict]:
    """The rows of one explainer and subset, from values (strategies, metrics, seeds, items)."""
    known = ~np.isnan(values)
    there = known.any(axis=-1)
    with np.errstate(invalid="ignore"):
        of_seeds = np.nansum(values, axis=-1) / known.sum(axis=-1)
    means = mean_over_seeds(of_seeds[..., None], there)[..., 0]
    drawn = means_of_draws(values, weights, cluster)
    # Of a subset, those that have a text in it.
    clusters = clusters_known(known, cluster)
    low, high = limits_over_texts(values, cluster, confidence, len(weights), _generator(strategies))
    with np.errstate(invalid="ignore", divide="ignore"):
        of_both = np.minimum(clusters, clusters[0])
        ratio, ratio_low, ratio_high = means / means[0], *ends(drawn / drawn[0], confidence, of_both)
        excess = values / values[0] - 1
        logs = np.log(excess, where=np.isfinite(excess) & (excess > 0), out=np.full(values.shape, np.nan))
    # Beside itself nothing is relative.
    ratio_low[0], ratio_high[0], logs[0] = np.nan, np.nan, np.nan
    comparable = (known & known[0] & (values[0] > 0)).sum(axis=(-1, -2))
    positive = (~np.isnan(logs)).sum(axis=(-1, -2))
    rows = []
    for i, (strategy, model) in enumerate(strategies.models.items()):
        for j, metric in enumerate(strategies.metrics):
            expected = np.nan
            if metric in mass_accuracies:
                expected = _mean(np.where(known[i, j], shares[mass_accuracies[metric]][i], np.nan))
            rows.append(
                {
                    "dataset": strategies.dataset,
                    "architecture": strategies.architecture,
                    "strategy": strategy,
                    "model": model,
                    "explainer": explainer,
                    "metric": metric,
                    "subset": subset,
                    "seeds": int(there[i, j].sum()),
                    "texts": _mean(known[i, j].sum(axis=-1)[there[i, j]]),
                    "mean": means[i, j],
                    "sd": float(np.std(of_seeds[i, j][there[i, j]])) if there[i, j].any() else np.nan,
                    "low": low[i, j],
                    "high": high[i, j],
                    "ratio": ratio[i, j],
                    "ratio_low": ratio_low[i, j],
                    "ratio_high": ratio_high[i, j],
                    "log_excess": _mean(logs[i, j]),
                    "log_excess_share": positive[i, j] / comparable[i, j] if i and comparable[i, j] else np.nan,
                    "expected": expected,
                }
            )
    return rows


def _mean(values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan


def _truth_shares(
    strategies: Strategies,
    truth: pd.Series,
    study: StudyScores,
    definitions: set[str],
) -> dict[str, np.ndarray]:
    """The share of tokens on ground-truth words by definition of mass accuracy, (strategies, seeds, items)."""
    if not definitions:
        return {}
    shares = {name: np.full(strategies.right.shape, np.nan) for name in definitions}
    for i, model in enumerate(strategies.models.values()):
        for j, seed in enumerate(strategies.seeds):
            run = Run(strategies.dataset, model, run_of_seed(study.models[model], seed))
            path = predictions_path(study.folders["predictions"], run)
            words = tables.read_table(path, PREDICTIONS.only("item_id", "word_id"))
            words = words.set_index("item_id")["word_id"].reindex(strategies.items["item_id"])
            for k, (item, word_id) in enumerate(words.items()):
                for name in definitions:
                    shares[name][i, j, k] = truth_share(word_id, truth.get(item), name)
    return shares


def truth_share(word_id: Sequence[int | None] | None, truth: Sequence[int] | None, definition: str) -> float:
    """The share of a text's tokens that stand for words of the ground truth: what mass accuracy expects of noise.

    Of scores that are drawn independently from one distribution of positive numbers each has the same share of their
    sum in the mean. ``word_id`` is that of the predictions; tokens of a prompt have no scores. ``released`` counts
    special tokens among the others. NaN where no token stands for a word of the ground truth.

    >>> truth_share([None, 0, 1, 1, 2, None], [0, 1, 0], "paper")
    0.5
    """
    if word_id is None or truth is None:
        return np.nan
    word = np.array([-1 if number is None or np.isnan(number) else number for number in word_id], dtype=int)
    on_truth = int(np.array(truth)[word[word >= 0]].sum())
    tokens = (word >= 0).sum() if definition == "paper" else (word != PROMPT).sum()
    return float(on_truth / tokens) if on_truth else np.nan


class SummariseStrategies(OfScores):
    """Say how correct the explanations are in every strategy, beside the baseline and beside random scores.

    Besides the names of a dataset, architecture, strategy, explainer, metric and subset of the texts a row has

    - ``seeds``, ``texts``: runs, and texts with a score, mean over runs;
    - ``mean``, ``sd``: mean over runs of the mean over texts, and the population standard deviation of these;
    - ``low``, ``high``: the interval (:func:`evenlight.statistics.arrays.mean.limits_over_texts`), for these trained
      models;
    - ``ratio`` with its interval: the mean over that of the baseline, which for mass accuracy is GECOBench's relative
      mass accuracy (Eq. 4);
    - ``log_excess``: as GECOBench's code has it, log(ratio − 1) of each text, mean over the texts that have a higher
      score than in the baseline strategy; it is undefined in the others; ``log_excess_share``: how many these are;
    - ``expected``: what mass accuracy expects of scores that are drawn independently from one distribution, the share
      of tokens that are ground truth; NaN for other metrics.

    In the subset ``right`` are the texts that the strategy's own model reads rightly. A note counts the texts without a
    word of the ground truth, which have no mass accuracy.

    Attributes:
        mass_accuracies: of the metrics that are mass accuracy the definition of each.
    """

    tables: ClassVar[Mapping[str, Contract]] = {"strategies": STRATEGIES}
    of_kinds: ClassVar[Collection[str]] = ("strategies",)
    minutes: ClassVar[int] = 60

    result: Literal["summarise_strategies"]
    confidence: float
    bootstrap_draws: int
    mass_accuracies: dict[str, str]

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """As of scores, and of the metrics that are mass accuracy the definition of each."""
        metrics = study.config["metrics"].items()
        masses = {name: metric["definition"] for name, metric in metrics if metric["metric"] == "mass_accuracy"}
        return super().asked(study) | {"mass_accuracies": masses}

    def compute(self, inputs: Inputs) -> Computed:
        """The means of every strategy."""
        study = inputs.located(self.study)
        rows = []
        notes: dict[str, None] = {}  # each once, in order
        for strategies in read_strategies(study):
            truth = tables.read_table(
                items_path(study.folders["units"], strategies.dataset), ITEMS.only("item_id", "ground_truth")
            ).set_index("item_id")["ground_truth"]
            if self.mass_accuracies:
                notes |= dict.fromkeys(_note_on_truth(strategies, truth))
            shares = _truth_shares(strategies, truth, study, set(self.mass_accuracies.values()))
            weights, cluster = weights_of_draws(strategies, self.bootstrap_draws)
            chosen = {
                subset: np.array([strategies.chosen(subset, strategy) for strategy in strategies.models])
                for subset in SUBSETS
            }
            for explainer, values in strategies.explainers:
                for subset in SUBSETS:
                    known = np.where(chosen[subset][:, None], values, np.nan)
                    how = shares, weights, cluster, self.confidence, self.mass_accuracies
                    rows += _rows(strategies, explainer, subset, known, *how)
        table = pd.DataFrame(rows, columns=STRATEGIES.schema.names)
        return Computed([table], [*notes, *score_notes(study)])
