"""How often a model decides in which way, and how often it is right, by group and by two attributes together.

Explanations are audited; decisions are described here and judged nowhere. Of every class and group:

- selection rate: the share of texts that the model gives this class;
- true positive rate: the same among texts that have this label; false positive rate: among all others;
- impact ratio: the selection rate over the largest one of the factor's groups, whose ratio is 1, or missing
  where none is selected;
- accuracy: the share of texts whose class is their label.

Texts without a known group are a row by themselves, with no ratio. Under several seeds a text counts with the share of
its predictions.

Texts of one cluster depend on one another. So the interval of a share (95%) is that of Korn & Graubard (1998): of
Clopper & Pearson, for so many independent texts as vary as much. That of a ratio is Student's, on the log scale, with
the variance of the clusters' influence (the delta method; of independent texts that of Katz et al. 1978). It takes the
group with the largest rate as given. There is none where all texts of one of the groups have the same value.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import ClassVar, Literal

import numpy as np
import pandas as pd
import scipy

from evenlight.core import tables
from evenlight.core.contracts.results import DECISION_RATES
from evenlight.core.contracts.texts import ITEMS, UNITS
from evenlight.core.factors import JOINT, NEGATIVE_CONTROL
from evenlight.core.kinds import TOKENS
from evenlight.core.tables import Contract
from evenlight.statistics.analyses.base import Computed, Inputs, OfModels
from evenlight.statistics.analyses.model_quality import predicted_items
from evenlight.statistics.arrays.exact_tests import share_limits
from evenlight.statistics.arrays.units import clustered_variance, numbered
from evenlight.statistics.comparisons.files import Run, items_path, predictions_path, units_path
from evenlight.statistics.comparisons.study import ALL
from evenlight.texts.items import forms_of

SELECTION, TRUE_POSITIVE, FALSE_POSITIVE = "selection_rate", "true_positive_rate", "false_positive_rate"
IMPACT, ACCURACY = "impact_ratio", "accuracy"
CONFIDENCE = 0.95
_NO_INTERVAL = (float("nan"), float("nan"))


def clustered_share(values: np.ndarray, cluster: np.ndarray) -> tuple[float, float, float]:
    """The mean of values between 0 and 1, with its interval for further clusters; NaN where there are no values.

    Args:
        values: of texts, float (texts,).
        cluster: of each, integers; one cluster has no interval.

    >>> [round(end, 3) for end in clustered_share(np.array([1.0, 0, 0, 0]), np.arange(4))]
    [0.25, 0.006, 0.806]
    """
    if not len(values):
        return float("nan"), *_NO_INTERVAL
    texts, clusters, mean = len(values), len(np.unique(cluster)), float(values.mean())
    if clusters < 2:
        return mean, *_NO_INTERVAL
    variance = clustered_variance((values - mean) / texts, cluster)
    independent = mean * (1 - mean) / (texts - 1)
    # Where clusters do not differ but for rounding, there are as many independent texts as clusters.
    effective = min(texts * independent / variance, texts) if variance > 1e-20 else clusters
    effective *= (_student(texts) / _student(clusters)) ** 2
    low, high = share_limits(mean * effective, effective, (1 - CONFIDENCE) / 2)
    return mean, float(low), float(high)


def clustered_ratio(
    values: np.ndarray, others: np.ndarray, cluster: np.ndarray, other_cluster: np.ndarray
) -> tuple[float, float, float]:
    """The mean of ``values`` over the mean of ``others``, with its interval for further clusters, which they may share.

    Args as of :func:`clustered_share`. NaN where the second mean is 0, or there are no values.
    """
    if not len(values) or not len(others) or others.mean() == 0:
        return float("nan"), *_NO_INTERVAL
    mean, other = float(values.mean()), float(others.mean())
    every = np.concatenate([cluster, other_cluster])
    # Where all texts of a group are alike, these do not say how further ones vary.
    if not np.ptp(values) or not np.ptp(others) or len(np.unique(every)) < 2:
        return mean / other, *_NO_INTERVAL
    influence = [(values - mean) / (len(values) * mean), (other - others) / (len(others) * other)]
    deviation = np.sqrt(clustered_variance(np.concatenate(influence), every))
    width = np.exp(_student(len(np.unique(every))) * deviation)
    return mean / other, mean / other / width, mean / other * width


def _student(size: int) -> float:
    return float(scipy.stats.t.ppf((1 + CONFIDENCE) / 2, size - 1))


def decision_rates(
    items: pd.DataFrame, chosen: np.ndarray, units: pd.DataFrame, classes: Sequence[str]
) -> pd.DataFrame:
    """A row per measure, class and group of the texts of a model, in the columns of the contract but for its names.

    Args:
        items: texts with ``item_id``, ``cluster`` and ``label``.
        chosen: the share of seeds that give each text each class, float (texts, classes).
        units: those of the dataset; its factors, and every two of them together, say the groups.
        classes: their names.
    """
    label = items["label"].to_numpy()
    cluster = numbered(items["cluster"].to_numpy())[0]
    rows: list[tuple] = []
    for factor, groups in _groups(items["item_id"], units):
        for number, name in enumerate(classes):
            texts_of = {
                SELECTION: np.ones(len(items), dtype=bool),
                TRUE_POSITIVE: label == number,
                FALSE_POSITIVE: label != number,
            }
            for measure, counted in texts_of.items():
                for level, inside in groups.items():
                    share = clustered_share(chosen[counted & inside, number], cluster[counted & inside])
                    rows.append((factor, level, name, measure, int((counted & inside).sum()), *share, None))
            rows += _impact_ratios(chosen[:, number], cluster, factor, groups, name)
        right = chosen[np.arange(len(items)), label]
        for level, inside in groups.items():
            share = clustered_share(right[inside], cluster[inside])
            rows.append((factor, level, None, ACCURACY, int(inside.sum()), *share, None))
    columns = ["factor", "level", "class", "measure", "texts", "value", "low", "high", "reference"]
    return pd.DataFrame(rows, columns=columns)


def _impact_ratios(
    selected: np.ndarray, cluster: np.ndarray, factor: str | None, groups: Mapping[str | None, np.ndarray], name: str
) -> Iterator[tuple]:
    """The row of each known group of a factor: its selection rate over the largest one."""
    known = {level: inside for level, inside in groups.items() if level is not None and inside.any()}
    if factor is None or not known:
        return
    largest = max(known, key=lambda level: selected[known[level]].mean())
    there = known[largest]
    for level, inside in known.items():
        ratio = clustered_ratio(selected[inside], selected[there], cluster[inside], cluster[there])
        if level == largest:
            ratio = (ratio[0], *_NO_INTERVAL)
        yield (factor, level, name, IMPACT, int(inside.sum()), *ratio, largest)


def _groups(items: pd.Series, units: pd.DataFrame) -> Iterator[tuple[str | None, dict[str | None, np.ndarray]]]:
    """All texts; and of each factor, and every two, which texts each level has. None has those without a known one."""
    yield None, {ALL: np.ones(len(items), dtype=bool)}
    names = [name for name in dict.fromkeys(units["factor"]) if name != NEGATIVE_CONTROL and len(forms_of(units, name))]
    for factor in names + [JOINT.join(both) for both in combinations(names, 2)]:
        texts = forms_of(units, factor).groupby("level")["item_id"].agg(set)
        groups = {level: items.isin(list(inside)).to_numpy() for level, inside in texts.items()}
        groups = {level: inside for level, inside in groups.items() if inside.any()}
        unknown = ~np.any(list(groups.values()), axis=0) if groups else np.ones(len(items), dtype=bool)
        yield factor, groups | ({None: unknown} if unknown.any() else {})


class DescribeDecisions(OfModels):
    """How often does each group get each decision, and how often is it right?"""

    tables: ClassVar[Mapping[str, Contract]] = {"decision_rates": DECISION_RATES}
    of_kinds: ClassVar[Collection[str]] = ("disparity",)
    modality: ClassVar[str] = TOKENS
    folders: ClassVar[Sequence[str]] = ("predictions", "datasets")

    result: Literal["describe_decisions"]

    def compute(self, inputs: Inputs) -> Computed:
        """A row per model, measure, class and group."""
        datasets, predictions = inputs.folders["datasets"], inputs.folders["predictions"]
        parts = []
        for dataset in self.runs.datasets:
            path, units = items_path(datasets, dataset), tables.read_table(units_path(datasets, dataset), UNITS)
            classes = tables.read_metadata(path, ITEMS)["classes"]
            for model, seeds in self.runs.models_of(dataset).items():
                runs = [Run(dataset, model, seed) for seed in seeds]
                read = [predicted_items(path, predictions_path(predictions, run)) for run in runs]
                items = read[0]
                predicted = np.stack([of.set_index("item_id")["predicted"].loc[items["item_id"]] for of in read])
                chosen = (predicted[:, :, None] == np.arange(len(classes))).mean(axis=0)
                parts.append(decision_rates(items, chosen, units, classes).assign(dataset=dataset, model=model))
        return Computed([pd.concat(parts, ignore_index=True)[DECISION_RATES.schema.names]])
