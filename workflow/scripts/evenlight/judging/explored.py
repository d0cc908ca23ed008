"""The explorer of a study of scores that were made elsewhere: scores of units, beside their verdicts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from evenlight.core.kinds import SCORES
from evenlight.judging.cells import Cells
from evenlight.reports.explorer.content import Folders, study_content
from evenlight.reports.explorer.store import Store
from evenlight.reports.scored import scored_names
from evenlight.statistics.cells import ExplainerScores, ModelScores
from evenlight.statistics.study import comparisons_in
from evenlight.texts.items import FORM
from evenlight.texts.score_tables import NAMES, read_score_table

# Which columns of judged scores say what.
COLUMNS = {"unit": "unit_id", "group": "level", "cluster": "cluster", "repeat": "repetition", "score": "score"}
# What pages call the one factor of a table, so that no name of a column is taken for several.
FACTOR = "group"


def scores_content(
    scores: pd.DataFrame,
    effects: pd.DataFrame,
    counts: pd.DataFrame,
    store: Store,
    *,
    scored: Mapping[str, Any],
    notes: Sequence[str],
    **settings: Any,
) -> dict:
    """The tree of the explorer of such a study (:func:`evenlight.reports.explorer.content.study_content`).

    Args:
        scores: rows of ``JUDGED_SCORES``.
        effects, counts: of the contracts of these names.
        store: receives the arrays.
        scored: directions of metrics and the name of the dataset (:func:`scored_names`).
        notes: what is to be said of the verdicts.
        settings: ``study``, ``formats``, ``alpha``, ``as_often_bound`` and ``warnings``, as they are there.
    """
    effects = effects.assign(factor=FACTOR)
    names = scored_names(effects, **scored)
    metrics = {
        name: {"label": metric.label, "better": "higher" if metric.higher_is_better else "lower"}
        for name, metric in names["metrics"].items()
    }
    comparisons = {FACTOR: [list(pair.levels) for pair in comparisons_in(effects)]}
    there = scores[np.logical_and.reduce([scores[name].isin(names[f"{name}s"]) for name in NAMES])]
    runs = there.groupby("model", sort=False)["repetition"].unique()
    return study_content(
        Folders(),
        effects,
        counts,
        store,
        **{section: names[section] for section in ("datasets", "models", "explainers")},
        metrics=metrics,
        seeds={name: list(runs[name]) for name in names["models"]},
        families=dict.fromkeys(metrics, SCORES),
        modalities={SCORES: {"explainers": list(names["explainers"]), "metrics": list(metrics)}},
        comparisons=comparisons,
        target="",
        read=lambda _: (scored_models(there, comparisons[FACTOR], list(metrics)), notes),
        **settings,
    )


def scored_models(
    scores: pd.DataFrame, pairs: Sequence[Sequence[str]], metrics: Sequence[str]
) -> Iterator[ModelScores]:
    """The scores of each model on each dataset; of metrics that it has no score of, NaN."""
    table, _ = read_score_table(scores, COLUMNS | {"cell": list(NAMES), "stratum": ""})
    for model in Cells(table, [tuple(pair) for pair in pairs]).read(None):
        # By its unit and group an item of one model is known as that of another.
        named = model.units["unit_id"].astype(str) + " / " + model.units["level"].astype(str)
        yield replace(
            model,
            items=model.items.assign(item_id=named),
            units=model.units.assign(item_id=named, factor=FACTOR, role=FORM),
            explainers=(_with_all(explainer, metrics) for explainer in model.explainers),
        )


def _with_all(scores: ExplainerScores, metrics: Sequence[str]) -> ExplainerScores:
    """The same with all metrics, in this order."""
    values = np.full((len(metrics), *scores.values.shape[1:]), np.nan)
    values[[metrics.index(name) for name in scores.metrics]] = scores.values
    return replace(scores, metrics=list(metrics), values=values)
