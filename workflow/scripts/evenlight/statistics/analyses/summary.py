"""From one row per seed to one row per cell of the published tables."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from evenlight.core import tables
from evenlight.core.contracts.results import DISPARITY, SCORE_SUMMARY, SUMMARY
from evenlight.core.contracts.texts import UNITS
from evenlight.core.kinds import COMPARING
from evenlight.core.tables import Contract
from evenlight.statistics.analyses.base import Computed, Inputs, OfScores, Result
from evenlight.statistics.comparisons.cells import CELL
from evenlight.statistics.comparisons.files import Run, units_path
from evenlight.statistics.comparisons.score_files import STANDARD_ERROR, read_scores, score_notes, with_most_texts
from evenlight.statistics.comparisons.study import ALL, StudyScores
from evenlight.texts.items import forms_of


def population_sd(values: pd.Series) -> float:
    """The standard deviation with divisor n, as in the published tables (one seed gives 0); NaN without values or
    with an infinite one."""
    return float(np.std(values.to_numpy())) if len(values) and np.isfinite(values).all() else float("nan")


def summarise_disparity(
    disparity: pd.DataFrame, *, higher_is_better: Mapping[str, bool], alpha: float, considerable_effect: float
) -> pd.DataFrame:
    """One row per dataset, model, explainer, metric and pair of levels, from a disparity table.

    ``higher_is_better`` says of every metric of the study which scores are the better ones. Besides the names in
    :data:`~evenlight.statistics.comparisons.cells.CELL`:

    - ``seeds``, ``significant_seeds``: runs tested, and of these runs with p ≤ ``alpha``;
    - ``significant_seeds_a_better``, ``significant_seeds_b_better``: by the sign of Cliff's delta, which is what the
      test is about, and the direction of the metric;
    - ``mean_d_significant``, ``sd_d_significant``: Cohen's d over the significant seeds, which is what Dhaini et al.
      (2025) print in Tables 8-11, and ``mean_d``, ``sd_d`` over all seeds, which have no such selection;
    - ``mean_delta_significant``, ``mean_delta``: Cliff's delta likewise;
    - ``better_group``: the level with the better explanations by ``mean_delta_significant``, None where no seed is
      significant (or they cancel exactly);
    - ``contradicted``: whether ``mean_d_significant`` has the other sign than ``mean_delta_significant``;
    - ``considerable``: whether |``mean_d_significant``| ≥ ``considerable_effect``.
    """
    rows = [
        dict(zip(CELL, keys, strict=True)) | _cell(part, higher_is_better[keys[3]], alpha, considerable_effect)
        for keys, part in disparity.groupby(CELL, sort=False)
    ]
    return pd.DataFrame(rows, columns=SUMMARY.schema.names)


def _cell(part: pd.DataFrame, higher_is_better: bool, alpha: float, considerable_effect: float) -> dict:
    significant = part[part["p"] <= alpha]
    # Positive where the first level has the better explanations, whichever way the metric points.
    advantage = significant["cliffs_delta"] if higher_is_better else -significant["cliffs_delta"]
    mean_advantage = advantage.mean()
    first, d, delta = part.iloc[0], significant["cohens_d"], significant["cliffs_delta"].mean()
    better = first["level_a"] if mean_advantage > 0 else first["level_b"] if mean_advantage < 0 else None
    return {
        "seeds": len(part),
        "significant_seeds": len(significant),
        "significant_seeds_a_better": int((advantage > 0).sum()),
        "significant_seeds_b_better": int((advantage < 0).sum()),
        "mean_d_significant": d.mean(),
        "sd_d_significant": population_sd(d),
        "mean_d": part["cohens_d"].mean(),
        "sd_d": population_sd(part["cohens_d"]),
        "mean_delta_significant": delta,
        "mean_delta": part["cliffs_delta"].mean(),
        "better_group": better,
        "contradicted": bool(np.sign(d.mean()) * np.sign(delta) < 0),
        "considerable": bool(abs(d.mean()) >= considerable_effect),
    }


def seeds_that_disagree(summary: pd.DataFrame) -> tuple[int, int]:
    """Of how many cells at least two seeds are significant, and in how many of these they do not agree.

    They disagree where one significant seed says that the first level is better and another that the second is, by
    ``significant_seeds_a_better`` and ``significant_seeds_b_better`` of :func:`summarise_disparity`.
    """
    both = (summary["significant_seeds_a_better"] > 0) & (summary["significant_seeds_b_better"] > 0)
    return int((summary["significant_seeds"] >= 2).sum()), int(both.sum())


def direction_notes(summary: pd.DataFrame) -> list[str]:
    """What must be said of the directions in a summary: whether seeds agree, and d with its test; a note each."""
    notes = []
    several, opposed = seeds_that_disagree(summary)
    if several:
        notes.append(
            f"of {several:,} cells with at least two significant seeds, {opposed:,} ({opposed / several:.0%}) have "
            "significant seeds in opposite directions (by Cliff's delta)"
        )
    significant = int((summary["significant_seeds"] > 0).sum())
    if contradicted := int(summary["contradicted"].sum()):
        notes.append(
            f"of {significant:,} cells with a significant seed, in {contradicted:,} the mean of Cohen's d over these "
            "seeds has the other direction than that of Cliff's delta, which the test is about"
        )
    return notes


def summarise_scores(study: StudyScores, *, factors: Sequence[str] = ()) -> pd.DataFrame:
    """Mean and population standard deviation over seeds of each seed's mean score.

    Without ``factors`` all that a dataset has. A dataset with none of them has one group, :data:`ALL` texts, of no
    factor. Columns: dataset, model, explainer, factor, group (its level), metric, ``seeds`` (with a defined mean),
    ``mean``, ``sd``, and ``monte_carlo_error``: the standard error of a seed's mean that the metric's own random draws
    leave, mean over seeds (NaN for metrics without draws, or with a single one). Undefined scores are left out of the
    mean of their seed.
    """
    keys = ["dataset", "model", "explainer", "factor", "group", "metric"]
    means = [table for source in study.sources().values() for table in _means_of(source, factors)]
    table = pd.concat(means)
    errors = table.groupby(keys, sort=False, dropna=False)["error"].mean()
    return summarise_over_seeds(table, keys, "score").assign(monte_carlo_error=errors.to_numpy())


def _means_of(study: StudyScores, factors: Sequence[str]) -> Iterator[pd.DataFrame]:
    """The means of every run and explainer, of units of one modality."""
    for run, levels in _levels_of_runs(study, factors):
        for explainer in study.explaining(run.dataset):
            table = read_scores(study.folders["scores"], run, explainer, study.metrics)
            names = {"dataset": run.dataset, "model": run.model, "explainer": explainer}
            for factor, rows in levels.items():
                yield _means(table, rows, study.metrics).assign(**names, factor=factor)


def _levels_of_runs(study: StudyScores, factors: Sequence[str]) -> Iterator[tuple[Run, dict[str | None, pd.DataFrame]]]:
    """Each run with the levels of its scored items, see :func:`_levels`."""
    paths = {dataset: units_path(study.folders["units"], dataset) for dataset in study.datasets}
    units = {dataset: tables.read_table(path, UNITS) for dataset, path in paths.items()}
    for run in study:
        fullest = with_most_texts(study.folders["scores"], run, study.explaining(run.dataset), study.metrics)
        first = read_scores(study.folders["scores"], run, fullest, study.metrics, only_items=True)
        yield run, _levels(units[run.dataset], factors, first)


def grouped_scores(study: StudyScores, factors: Sequence[str] = ()) -> pd.DataFrame:
    """All scores of a study: a row per score, with ``explainer``, ``group``, ``metric`` and ``score``.

    Arguments as for :func:`summarise_scores`; an item has a row for its level of each factor.
    """
    sources = study.sources().values()
    return pd.concat([part for source in sources for part in _grouped(source, factors)], ignore_index=True)


def _grouped(study: StudyScores, factors: Sequence[str]) -> Iterator[pd.DataFrame]:
    """The same of units of one modality."""
    for run, levels in _levels_of_runs(study, factors):
        groups = pd.concat(levels.values()).rename(columns={"level": "group"}).drop_duplicates()
        for explainer in study.explaining(run.dataset):
            table = groups.merge(read_scores(study.folders["scores"], run, explainer, study.metrics), on="item_id")
            table = table.melt(id_vars=["group"], value_vars=list(study.metrics), var_name="metric", value_name="score")
            yield table.assign(explainer=explainer)


def _levels(units: pd.DataFrame, factors: Sequence[str], items: pd.DataFrame) -> dict[str | None, pd.DataFrame]:
    """The levels of the texts (``item_id``, ``level``) by factor; if there are none, all ``items`` under None."""
    rows = {factor: forms_of(units, factor) for factor in factors or units["factor"].unique()}
    levels = {factor: part[["item_id", "level"]].drop_duplicates() for factor, part in rows.items() if len(part)}
    return levels or {None: items[["item_id"]].assign(level=ALL)}


def _means(table: pd.DataFrame, levels: pd.DataFrame, metrics: Mapping[str, str]) -> pd.DataFrame:
    """Mean score and its Monte-Carlo error of each level and metric: group, metric, score, error."""
    with_levels = levels.merge(table, on="item_id").groupby("level")
    parts = []
    for metric in metrics:
        error = f"{metric}{STANDARD_ERROR}"
        parts.append(
            pd.DataFrame(
                {
                    "metric": metric,
                    "score": with_levels[metric].mean(),
                    "error": with_levels[error].agg(_error_of_mean) if error in table else np.nan,
                }
            )
        )
    return pd.concat(parts).rename_axis("group").sort_index(kind="stable").reset_index()


def _error_of_mean(errors: pd.Series) -> float:
    """The standard error of the mean of independent values with these standard errors."""
    known = errors.dropna()
    return float(np.sqrt((known**2).sum()) / len(known)) if len(known) else float("nan")


def summarise_over_seeds(table: pd.DataFrame, keys: list[str], value: str) -> pd.DataFrame:
    """``seeds``, ``mean`` and ``sd`` (divisor n) of the column ``value`` for each combination of ``keys``."""
    grouped = table.groupby(keys, sort=False, dropna=False)[value]
    summary = grouped.agg(seeds="count", mean="mean", sd=lambda values: population_sd(values.dropna()))
    return summary.reset_index()


class SummariseDisparity(Result):
    """Count the seeds with a significant disparity and average their effect sizes: a row per cell."""

    version: ClassVar[int] = 2
    tables: ClassVar[Mapping[str, Contract]] = {"disparity_summary": SUMMARY}
    reads: ClassVar[Mapping[str, Contract]] = {"disparity": DISPARITY}
    of_kinds: ClassVar[Collection[str]] = COMPARING

    result: Literal["summarise_disparity"]
    higher_is_better: dict[str, bool]
    alpha: float
    considerable_effect: float

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """The directions of metrics, and settings of the statistics."""
        return {"higher_is_better": study.higher_is_better()} | super().asked(study)

    def compute(self, inputs: Inputs) -> Computed:
        """The summary, with what is to be said of its directions and of the disparities."""
        summary = summarise_disparity(
            inputs.tables[0],
            higher_is_better=self.higher_is_better,
            alpha=self.alpha,
            considerable_effect=self.considerable_effect,
        )
        return Computed([summary], [*direction_notes(summary), *inputs.notes[0]])


class SummariseScores(OfScores):
    """Average every metric per group over the seeds."""

    tables: ClassVar[Mapping[str, Contract]] = {"scores": SCORE_SUMMARY}
    folders: ClassVar[Sequence[str]] = ("scores", "units")
    minutes: ClassVar[int] = 30

    result: Literal["summarise_scores"]
    factors: list[str] = Field([])

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """All scores, and the factors whose levels are groups."""
        return study.scored() | {"factors": list(study.comparisons())}

    def compute(self, inputs: Inputs) -> Computed:
        """The means."""
        study = inputs.located(self.study)
        return Computed([summarise_scores(study, factors=self.factors)], score_notes(study))
