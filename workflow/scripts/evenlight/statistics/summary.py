"""From one row per seed to one row per cell of the published tables."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from evenlight.errors import InputError
from evenlight.statistics.score_files import STANDARD_ERROR, read_scores, with_error
from evenlight.statistics.study import SCORE_LAYOUT, Metric, metrics, names, required, study_runs

CELL = ["dataset", "model", "explainer", "metric", "factor", "level_a", "level_b"]
COMPUTED = [
    "seeds",
    "significant_seeds",
    "significant_seeds_a_better",
    "significant_seeds_b_better",
    "mean_d_significant",
    "sd_d_significant",
    "mean_d",
    "sd_d",
    "better_group",
    "considerable",
]


def population_sd(values: pd.Series) -> float:
    """The standard deviation with divisor n, as in the published tables (one seed gives 0); NaN without values or
    with an infinite one."""
    return float(np.std(values.to_numpy())) if len(values) and np.isfinite(values).all() else float("nan")


def summarise_disparity(disparity: pd.DataFrame, settings: dict) -> pd.DataFrame:
    """One row per dataset, model, explainer, metric and pair of groups, from a disparity table.

    ``alpha`` and ``considerable_effect`` are those of ``statistics``. Besides the names in :data:`CELL`:

    - ``seeds``, ``significant_seeds``: runs tested, and of these runs with p ≤ ``alpha``;
    - ``significant_seeds_a_better``, ``significant_seeds_b_better``: by the direction of the metric;
    - ``mean_d_significant``, ``sd_d_significant``: Cohen's d over the significant seeds, which is what Dhaini et al.
      (2025) print in Tables 8-11, and ``mean_d``, ``sd_d`` over all seeds, which have no such selection;
    - ``better_group``: the group with the better explanations by ``mean_d_significant``, None where no seed is
      significant (or they cancel exactly);
    - ``considerable``: whether |``mean_d_significant``| ≥ ``considerable_effect``.
    """
    configured = metrics(settings)
    alpha = required(settings, "statistics.alpha")
    considerable_effect = required(settings, "statistics.considerable_effect")
    unknown = set(disparity["metric"]) - set(configured)
    if unknown:
        listing = ", ".join(sorted(unknown))
        raise InputError(
            f"disparity table: metric {listing} is not in 'metrics' of the configuration; "
            "make the table again (rule measure_disparity)"
        )
    rows = [
        dict(zip(CELL, keys, strict=True)) | _cell(part, configured[keys[3]], alpha, considerable_effect)
        for keys, part in disparity.groupby(CELL, sort=False)
    ]
    return pd.DataFrame(rows, columns=CELL + COMPUTED)


def _cell(part: pd.DataFrame, metric: Metric, alpha: float, considerable_effect: float) -> dict:
    significant = part.loc[part["p"] <= alpha, "cohens_d"]
    # Positive where the first group has the better explanations, whichever way the metric points.
    advantage = significant if metric.higher_is_better else -significant
    mean_advantage = advantage.mean()
    first = part.iloc[0]
    better = first["level_a"] if mean_advantage > 0 else first["level_b"] if mean_advantage < 0 else None
    return {
        "seeds": len(part),
        "significant_seeds": len(significant),
        "significant_seeds_a_better": int((advantage > 0).sum()),
        "significant_seeds_b_better": int((advantage < 0).sum()),
        "mean_d_significant": significant.mean(),
        "sd_d_significant": population_sd(significant),
        "mean_d": part["cohens_d"].mean(),
        "sd_d": population_sd(part["cohens_d"]),
        "better_group": better,
        "considerable": bool(abs(significant.mean()) >= considerable_effect),
    }


def summarise_scores(paths: Iterable[str | Path], settings: dict) -> pd.DataFrame:
    """Mean and population standard deviation over seeds of each seed's mean score.

    Columns: dataset, model, explainer, group, metric, ``seeds`` (with a defined mean), ``mean``, ``sd``, and
    ``monte_carlo_error``: the standard error of a seed's mean that the metric's own random draws leave, mean over
    seeds (NaN for metrics without draws, or with a single one). Undefined scores are left out of the mean of their
    seed.
    """
    keys = ["dataset", "model", "explainer", "group", "metric"]
    means = []
    for run, files in study_runs(paths, SCORE_LAYOUT, settings).items():
        explainers, drawn = names(settings, "explainers"), with_error(files, names(settings, "metrics"))
        scores = read_scores(files, names(settings, "metrics"), explainers)
        of_run = scores.groupby(CELL_OF_GROUP)["score"].mean().to_frame()
        errors = read_scores(files, [f"{metric}{STANDARD_ERROR}" for metric in drawn], explainers)
        errors = errors.assign(metric=errors["metric"].astype(str).str.removesuffix(STANDARD_ERROR))
        of_run["error"] = errors.groupby(CELL_OF_GROUP, observed=True)["score"].agg(_error_of_mean)
        means.append(of_run.reset_index().assign(dataset=run.dataset, model=run.model, seed=run.seed))
    table = pd.concat(means)
    errors = table.groupby(keys, sort=False)["error"].mean()
    return summarise_over_seeds(table, keys, "score").assign(monte_carlo_error=errors.to_numpy())


CELL_OF_GROUP = ["explainer", "group", "metric"]


def _error_of_mean(errors: pd.Series) -> float:
    """The standard error of the mean of independent values with these standard errors."""
    known = errors.dropna()
    return float(np.sqrt((known**2).sum()) / len(known)) if len(known) else float("nan")


def summarise_over_seeds(table: pd.DataFrame, keys: list[str], value: str) -> pd.DataFrame:
    """``seeds``, ``mean`` and ``sd`` (divisor n) of the column ``value`` for each combination of ``keys``."""
    grouped = table.groupby(keys, sort=False)[value]
    summary = grouped.agg(seeds="count", mean="mean", sd=lambda values: population_sd(values.dropna()))
    return summary.reset_index()
