"""The page of a study of scores that were made elsewhere: what its table says in place of a configuration."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evenlight.core import tables
from evenlight.core.contracts.results import JUDGED_SCORES
from evenlight.core.kinds import SCORES
from evenlight.judging.cells import Cells
from evenlight.reports.index.found import Found
from evenlight.reports.scored import scored_names
from evenlight.statistics.comparisons.cells import ExplainerScores, ModelScores
from evenlight.statistics.comparisons.study import comparisons_in
from evenlight.texts.items import FORM
from evenlight.texts.score_tables import NAMES, read_score_table

# Which columns of judged scores say what.
COLUMNS = {"unit": "unit_id", "group": "level", "cluster": "cluster", "repeat": "repetition", "score": "score"}
# What the page calls the one factor of a table, so that no name of a column is taken for several.
FACTOR = "group"


def scores_page(folder: Path, found: Found, scored: Mapping[str, Any]) -> tuple[Found, dict[str, Any]]:
    """The tables of such a study with what was audited, and what the configuration of another study would say.

    Args:
        folder: of the tables.
        found: these tables.
        scored: directions of metrics and the name of the dataset (:func:`evenlight.reports.scored.scored_names`).

    Returns:
        What :func:`evenlight.reports.index.content.study_content` takes: the tables, and further settings.
    """
    compared = {name: found[name].assign(factor=FACTOR) for name in ("effects", "texts_needed")}
    scores, effects = found["judged_scores"], compared["effects"]
    names = scored_names(effects, **scored)
    metrics = {
        name: {"label": metric.label, "better": "higher" if metric.higher_is_better else "lower"}
        for name, metric in names["metrics"].items()
    }
    pairs = [list(pair.levels) for pair in comparisons_in(effects)]
    there = scores[np.logical_and.reduce([scores[name].isin(names[f"{name}s"]) for name in NAMES])]
    runs = there.groupby("model", sort=False)["repetition"].unique()
    about = tables.read_metadata(folder / "judged_scores.parquet", JUDGED_SCORES)
    audited = _audited(there, {level for pair in pairs for level in pair}, about)
    settings = {
        **{section: names[section] for section in ("datasets", "models", "explainers")},
        "metrics": metrics,
        "kinds": {},
        "seeds": {name: list(runs[name]) for name in names["models"]},
        "families": dict.fromkeys(metrics, SCORES),
        "modalities": {SCORES: {"explainers": list(names["explainers"]), "metrics": list(metrics)}},
        "comparisons": {FACTOR: pairs},
        "target": "",
        # Its figure is of the whole table, and of no dataset that could be chosen.
        "formats": [],
        "read": lambda _: (scored_models(there, pairs, list(metrics)), ()),
    }
    return replace(found, tables={**found.tables, **audited, **compared}), settings


def _audited(scores: pd.DataFrame, compared: set[str], about: Mapping[str, str]) -> dict[str, pd.DataFrame]:
    """How many units each dataset and group has, as ``AUDITED_TEXTS`` and ``AUDITED_GROUPS`` have it of texts."""
    units = scores.drop_duplicates(["dataset", "level", "unit_id"])
    counts = units.groupby("dataset", sort=False)["unit_id"].nunique()
    numbers = {name: counts.to_numpy() for name in ("texts", "test_texts", "explained_texts")}
    of_file = {"files": [[about["file"]]], "files_sha256": [[about["sha256"]]], "sha256": [about["sha256"]]}
    of_file |= {"classes": [[]], "repeated_texts": [0], "repeated_apart": [False]}
    datasets = {"dataset": counts.index, **{name: value * len(counts) for name, value in of_file.items()}, **numbers}
    groups = units.groupby(["dataset", "level"], sort=False).size().rename("texts").reset_index()
    groups = groups.assign(factor=FACTOR, compared=groups["level"].isin(compared))
    return {"audited_texts": pd.DataFrame(datasets), "audited_groups": groups}


def scored_models(
    scores: pd.DataFrame, pairs: Sequence[Sequence[str]], metrics: Sequence[str]
) -> Iterator[ModelScores]:
    """The scores of each model on each dataset; of metrics that it has no score of, NaN."""
    table, _ = read_score_table(scores, COLUMNS | {"cell": list(NAMES), "stratum": ""})
    for model in Cells(table, [tuple(pair) for pair in pairs]).read(None):
        yield replace(
            model,
            units=model.units.assign(factor=FACTOR, role=FORM),
            explainers=(_with_all(explainer, metrics) for explainer in model.explainers),
        )


def _with_all(scores: ExplainerScores, metrics: Sequence[str]) -> ExplainerScores:
    """The same with all metrics, in this order."""
    values = np.full((len(metrics), *scores.values.shape[1:]), np.nan)
    values[[metrics.index(name) for name in scores.metrics]] = scores.values
    return replace(scores, metrics=list(metrics), values=values)
