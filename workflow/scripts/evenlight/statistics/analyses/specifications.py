"""Does an answer depend on choices that nobody can justify? The same question asked in every way that a study has.

A *question* is a dataset, two levels of a factor and a kind of metric: are explanations of one group better than those
of the other by this property? A *specification* is one way to ask it: an explainer, one of the metrics that are
definitions of the property, a model, a seed and an effect. All of them, sorted by size, are the specification curve
(Simonsohn, Simmons & Nelson 2020, "Specification curve analysis", Nature Human Behaviour 4). Specifications share
texts and models, so that no formula tells how often a whole curve comes about by chance. The labels of the groups are
permuted instead (:mod:`evenlight.statistics.analyses.control`), in the same way for all specifications of a dataset,
whichever model they ask.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
import scipy

from evenlight.core.contracts.results import SPECIFICATION_CURVES, SPECIFICATIONS
from evenlight.core.tables import Contract
from evenlight.statistics.analyses.base import Computed, Inputs, OfScores
from evenlight.statistics.analyses.control import permuted_labels
from evenlight.statistics.arrays.blocks import row_blocks
from evenlight.statistics.arrays.rank_sum import stratified_delta
from evenlight.statistics.arrays.units import settled, stratum_weight
from evenlight.statistics.comparisons.cells import Design, ExplainerScores, ModelScores, designs_of
from evenlight.statistics.comparisons.reading import read_models
from evenlight.statistics.comparisons.score_files import score_notes
from evenlight.statistics.comparisons.study import ALL

LEAST = 3  # specifications of a curve
TIE = 1e-9  # effects from -1 to 1 that are as near to each other are equal


def _answers(names: pd.DataFrame, effects: np.ndarray, alpha: float) -> tuple[pd.DataFrame, list[dict]]:
    """The specifications of one question in the order of their size, and its curves."""
    decided = ~np.isnan(effects[0]) & (np.abs(effects).max(axis=0) > TIE)
    found = {}
    for method in [ALL, *dict.fromkeys(names["method"])]:
        here = (names["method"] == method).to_numpy() | (method == ALL)
        ways = names.loc[here, ["explainer", "metric"]].drop_duplicates()
        if (here & decided).sum() >= LEAST and (method == ALL or len(ways) > 1):
            undecided = {"method": method, "undecided": int((here & ~decided).sum())}
            found[method] = undecided | joint_inference(effects[:, here & decided], alpha)
    if ALL not in found:
        return names.head(0), []
    effects = effects[:, decided]
    table = names[decided].assign(**estimates(effects))
    order = np.argsort(effects[0], kind="stable")
    low, high = np.quantile(np.sort(effects[1:], axis=1), [0.025, 0.975], axis=0)
    ranked = table.iloc[order].assign(rank=np.arange(1, len(order) + 1), null_low=low, null_high=high)
    return ranked, list(found.values())


def estimates(effects: np.ndarray) -> dict[str, np.ndarray]:
    """What is said of each specification, from its effect under every labelling, (labellings, specifications).

    The first labelling is the real one. ``estimate``; ``error``, the root of the mean square of the estimates under all
    labellings; ``z``, the quotient of both; ``p``, the share of labellings with an estimate as far from 0, the real one
    included (Phipson & Smyth 2010).
    """
    error = _errors(effects)
    return {"estimate": effects[0], "error": error, "z": effects[0] / error, "p": _p_values(effects)[0]}


def joint_inference(effects: np.ndarray, alpha: float) -> dict[str, float | int]:
    """What is said of a curve, and how often permuted labels have a curve as far from 0.

    ``effects``, float (labellings, specifications), are the estimates under the real labels and then under permuted
    ones. Simonsohn, Simmons & Nelson (2020) ask in three ways, here two-sided:

    - ``median`` of the estimates, and the share ``p_median`` of labellings with one as far from 0;
    - ``significant``: specifications of the dominant sign, that of most estimates, with p ≤ ``alpha``; p of each from
      the same labellings; ``p_significant``: the share of labellings with as many of their own dominant sign, and
      ``null_significant``, their mean number under permuted labels;
    - ``mean_z``: mean of the estimates over their errors; ``p_mean_z``.

    ``a_better`` and ``b_better`` are the specifications whose estimate is above and below 0.

    >>> signs = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    >>> result = joint_inference(signs @ np.array([[0.1, 0.4, 0.3], [0.3, 0.0, 0.1]]), 0.5)
    >>> result["median"], result["p_median"], result["significant"], result["p_significant"]
    (0.4, 0.5, 2, 0.5)
    """
    median = np.median(effects, axis=1)
    mean_z = (effects / _errors(effects)).mean(axis=1)
    counted = [(side, side & (_p_values(effects) <= alpha)) for side in (effects > TIE, effects < -TIE)]
    (above, significant_above), (below, significant_below) = [
        tuple(part.sum(axis=1) for part in counts) for counts in counted
    ]
    larger = np.maximum(significant_above, significant_below)
    significant = np.select([above > below, below > above], [significant_above, significant_below], larger)
    return {
        "specifications": effects.shape[1],
        "a_better": int(above[0]),
        "b_better": int(below[0]),
        "median": float(median[0]),
        "p_median": _share_as_far(median),
        "significant": int(significant[0]),
        "null_significant": float(significant[1:].mean()),
        "p_significant": _share_as_far(significant),
        "mean_z": float(mean_z[0]),
        "p_mean_z": _share_as_far(mean_z),
        "permutations": len(effects) - 1,
    }


def _errors(effects: np.ndarray) -> np.ndarray:
    return np.sqrt((effects**2).mean(axis=0))


def _share_as_far(values: np.ndarray) -> float:
    """The share of labellings whose value is at least as far from 0 as that of the first one."""
    return float((np.abs(values) >= np.abs(values[0]) - TIE).mean())


def _p_values(effects: np.ndarray) -> np.ndarray:
    """For each labelling and specification the share of labellings with an effect as far from 0."""
    sizes = np.abs(effects)
    below = np.array([np.searchsorted(np.sort(column), column - TIE) for column in sizes.T]).T
    return (len(effects) - below) / len(effects)


# Effects under every labelling --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Together:
    """What several models have scored of one dataset, as if it were one.

    Attributes:
        items: of all models.
        columns: for each model the places of its items among them.
        runs: for each model the places of its seeds among all runs.
        designs: of the compared pairs of levels, strata (all runs, units).
    """

    items: pd.DataFrame
    columns: list[np.ndarray]
    runs: list[slice]
    designs: list[Design]


def _together(models: Sequence[ModelScores], comparisons: Mapping[str, list[list[str]]]) -> _Together:
    items = pd.concat([model.items for model in models]).drop_duplicates("item_id", ignore_index=True)
    index = pd.Index(items["item_id"])
    columns = [index.get_indexer(model.items["item_id"]) for model in models]
    ends = np.cumsum([len(model.seeds) for model in models])
    runs = [slice(end - len(model.seeds), end) for end, model in zip(ends, models, strict=True)]
    strata = None
    if models[0].strata is not None:
        strata = np.full((ends[-1], len(items)), -1)
        for model, places, of_model in zip(models, columns, runs, strict=True):
            strata[of_model, places] = model.strata
    designs = designs_of(comparisons, models[0].units, items, models[0].smallest_group, strata)
    return _Together(items, columns, runs, designs)


def _every_specification(
    models: Sequence[ModelScores], comparisons: Mapping[str, list[list[str]]], draws: int
) -> list[tuple[Design, pd.DataFrame, np.ndarray]]:
    """For each comparison its design, the names of all specifications, and their effects, a column for each."""
    together = _together(models, comparisons)
    labels = [permuted_labels(design, draws) for design in together.designs]
    names: list[dict] = []
    effects: list[list[np.ndarray]] = [[] for _ in together.designs]
    for model, columns, runs in zip(models, together.columns, together.runs, strict=True):
        for explainer in model.explainers:
            values = np.full((*explainer.values.shape[:2], len(together.items)), np.nan)
            values[..., columns] = explainer.values
            names += _names(explainer)
            for design, in_first, of_design in zip(together.designs, labels, effects, strict=True):
                of_design += effects_by_labels(values, design, runs, in_first).values()
    table = pd.DataFrame(names)
    return [(design, table, np.hstack(of_design)) for design, of_design in zip(together.designs, effects, strict=True)]


def _names(scores: ExplainerScores) -> list[dict]:
    """The specifications of one explainer in the order of :func:`effects_by_labels`."""
    return [
        {"explainer": scores.explainer, "metric": metric, "model": scores.model, "seed": seed, "effect": effect}
        for effect in EFFECTS
        for metric in scores.metrics
        for seed in scores.seeds
    ]


EFFECTS = ("cohens_d", "cliffs_delta")


def effects_by_labels(values: np.ndarray, design: Design, runs: slice, in_first: np.ndarray) -> dict[str, np.ndarray]:
    """Each of :data:`EFFECTS` under all labellings, float (labellings, metrics × seeds), on the scale of Cliff's delta.

    ``values``, float (metrics, seeds, items), are scores in the ``runs`` of the design's strata; ``in_first`` comes
    from :func:`evenlight.statistics.analyses.control.permuted_labels`. Of pairs those count that have both scores, and
    both forms in one stratum. Cohen's d becomes the delta of two normal groups that are d apart, 2 Φ(d / √2) − 1.
    Within strata they are means of the strata's, with the weights n_a n_b / (n_a + n_b + 1). NaN where a group really
    has fewer than two scores; 0 where only a permutation leaves a group without any.
    """
    rows = values.shape[0] * values.shape[1]
    a, b = settled(*(side.scores(values).reshape(rows, -1) for side in (design.a, design.b)))
    strata = [
        np.zeros((rows, scores.shape[1]), dtype=int)
        if side.strata is None
        else np.tile(side.strata[runs], (values.shape[0], 1))
        for side, scores in ((design.a, a), (design.b, b))
    ]
    if design.paired:
        usable = ~np.isnan(a + b) & (strata[0] == strata[1])
        a, b = np.where(usable, a, np.nan), np.where(usable, b, np.nan)
    delta = stratified_delta(a, b, strata[0], strata[1], in_first)
    d = d_by_labels(np.hstack([a, b]), np.hstack(strata), in_first)
    effects = {"cohens_d": 2 * scipy.special.ndtr(d / np.sqrt(2)) - 1, "cliffs_delta": delta}
    permuted = np.arange(len(in_first))[:, None] > 0
    known = ~np.isnan(delta[0])
    return {
        name: np.where(known, np.where(permuted & np.isnan(effect), 0.0, effect), np.nan)
        for name, effect in effects.items()
    }


def d_by_labels(scores: np.ndarray, strata: np.ndarray, in_first: np.ndarray) -> np.ndarray:
    """Cohen's d within strata under every labelling, float (labellings, rows).

    The weighted mean of the strata's differences, over the root of that of their variances.

    ``scores`` and ``strata``, (rows, units), are of the units that ``in_first``, bool (labellings, units), divides.
    """
    total, difference, spread = (np.zeros((len(in_first), len(scores))) for _ in range(3))
    for stratum in np.unique(strata[strata >= 0]):
        known = (strata == stratum) & ~np.isnan(scores)
        # About their mean, so that squares lose no digits. What is left of equal scores is a few units in their last
        # place, whose sums are exact.
        moved = np.where(known, scores, 0)
        moved -= known * (moved.sum(axis=1, keepdims=True) / np.maximum(known.sum(axis=1, keepdims=True), 1))
        sums = [part.astype(float).T for part in (known, moved, moved**2)]
        for block in row_blocks(*in_first.shape):
            firsts = [in_first[block].astype(float) @ part for part in sums]
            others = [part.sum(axis=0) - first for part, first in zip(sums, firsts, strict=True)]
            # The weight is 0 where a group has no score, and any mean will do.
            weight = stratum_weight(firsts[0], others[0])
            sizes = [np.maximum(part[0], 1) for part in (firsts, others)]
            means = [part[1] / size for part, size in zip((firsts, others), sizes, strict=True)]
            squares = [part[2] / size for part, size in zip((firsts, others), sizes, strict=True)]
            total[block] += weight
            difference[block] += weight * (means[0] - means[1])
            spread[block] += weight * np.maximum(sum(squares) - means[0] ** 2 - means[1] ** 2, 0) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        d = difference / np.sqrt(total * spread)
    return np.where(total == 0, np.nan, np.where(difference == 0, 0.0, d))


class MeasureSpecifications(OfScores):
    """Ask the same question in every way that the study has, and again with permuted groups.

    Estimates are positive where the first level has the better explanations. Specifications that decide nothing are
    left out: fewer than two scores of a group, or all equal. So are curves of fewer than three specifications.

    The table of specifications has a row for each, question by question, sorted by ``estimate``; for its columns see
    :func:`estimates`. ``null_low`` and ``null_high`` are the central 95 % of the estimate that has this rank under
    permuted labels.

    The table of curves has a row for each: of all explainers together (method ``all``), and of each method that the
    question asks in two ways or more, by its own entries or the definitions. ``undecided`` counts the specifications
    left out; for the other columns see :func:`joint_inference`.

    Attributes:
        kinds: the questions, each kind of metric and the metrics that are definitions of it.
        methods: the method of each explainer.
    """

    tables: ClassVar[Mapping[str, Contract]] = {
        "specification_curves": SPECIFICATION_CURVES,
        "specifications": SPECIFICATIONS,
    }
    of_kinds: ClassVar[Collection[str]] = ("disparity",)
    minutes: ClassVar[int] = 60
    alone: ClassVar[bool] = True

    result: Literal["measure_specifications"]
    alpha: float
    control_draws: int
    higher_is_better: dict[str, bool]
    methods: dict[str, str]
    kinds: dict[str, list[str]]

    @classmethod
    def is_made(cls, study) -> bool:
        """In a study that asks a question in several ways."""
        return bool(super().is_made(study) and study.specified())

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """As of scores: of the explainers and metrics that are asked about."""
        from evenlight import configuration

        methods, asked = configuration.explaining_methods(study.config), study.specified()
        metrics = [name for names in asked.values() for name in names]
        return super().asked(study) | {
            "explainers": list(methods),
            "metrics": {name: study.metrics[name]["family"] for name in metrics},
            "higher_is_better": {name: study.metrics[name]["better"] == "higher" for name in metrics},
            "methods": methods,
            "kinds": asked,
        }

    def compute(self, inputs: Inputs) -> Computed:
        """A row per question and curve, and one for each way to ask it."""
        study = inputs.located(self.study)
        tables: list[pd.DataFrame] = []
        curves: list[dict] = []
        for dataset, source in product(study.datasets, study.sources().values()):
            models = list(read_models(source.of(dataset)))
            for design, names, effects in _every_specification(models, source.comparisons, self.control_draws):
                kind_of = {metric: kind for kind, metrics in self.kinds.items() for metric in metrics}
                better = names["metric"].map(self.higher_is_better).to_numpy(bool)
                effects = np.where(better, effects, -effects)
                names = names.assign(kind=names["metric"].map(kind_of), method=names["explainer"].map(self.methods))
                question = {"dataset": dataset} | design.comparison._asdict()
                for kind in self.kinds:
                    of_kind = (names["kind"] == kind).to_numpy()
                    table, found = _answers(names[of_kind], effects[:, of_kind], self.alpha)
                    tables.append(table.assign(**question))
                    curves += [question | {"kind": kind} | curve for curve in found]
        columns = SPECIFICATIONS.schema.names
        there = [table for table in tables if len(table)] or [pd.DataFrame(columns=columns)]
        specifications = pd.concat(there, ignore_index=True)[columns]
        of_curves = pd.DataFrame(curves, columns=SPECIFICATION_CURVES.schema.names)
        return Computed([of_curves, specifications], score_notes(study))
