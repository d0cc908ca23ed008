"""Sets of more than two groups as a page: how many seeds differ, and how much."""

import pandas as pd

from evenlight.core.contracts.results import GROUP_PAIRS, GROUPS
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.page_parts import rows_by_model
from evenlight.reports.questions import CELL, LIMITS, SURE
from evenlight.statistics.study import MetricLabel

TABLES = (GROUPS, GROUP_PAIRS)


def page(
    tests: pd.DataFrame,
    comparisons: pd.DataFrame,
    *,
    datasets: dict[str, str],
    models: dict[str, str],
    explainers: dict[str, str],
    metrics: dict[str, MetricLabel],
    alpha: float,
) -> Page:
    """One table per dataset and set of groups from :func:`evenlight.statistics.groups.group_tables`."""
    introduction = (
        "Is any of more than two groups explained otherwise? "
        f"{_said_of_tests(tests, alpha)}"
        "A cell counts the seeds with a significant test, and has in brackets ε², the share of the ranks' variance "
        "that lies between the groups."
    )
    parts = []
    for (dataset, factor, groups), part in tests.groupby(_SET, sort=False):
        pairs = comparisons[(comparisons[_SET] == [dataset, factor, groups]).all(axis=1)]
        cells = _cells(part, pairs, alpha)
        rows = rows_by_model(
            models, explainers, lambda *row, by_name=cells: [by_name.get((*row, metric), MISSING) for metric in metrics]
        )
        columns = [(datasets[dataset], [metric.label for metric in metrics.values()])]
        parts.append(Table(groups, ("Model", "Explainer"), columns, rows))
    return Page("More than two groups", introduction, parts, details=_details(alpha))


def _said_of_tests(tests: pd.DataFrame, alpha: float) -> str:
    shares = (tests["p"] <= alpha).groupby([tests[name] for name in (*_SET, *_CELL)]).mean()
    if shares.empty:
        return ""
    return f"In {(shares > 0.5).sum():,} of {len(shares):,} cells most seeds say so (bold). "


def _details(alpha: float) -> list[tuple[str, str]]:
    return [
        (
            CELL,
            f"Each cell counts the seeds with a significant Kruskal–Wallis test (p ≤ {alpha:g}). The ε² is the mean "
            "over seeds. The cell's title names the pairs of groups that Dunn's test tells apart in most seeds, the "
            "group with the higher scores first.",
        ),
        (
            "What do F and S count?",
            "Where items come in all groups, F counts the seeds with a significant Friedman test. Where a dataset is "
            "stratified, S counts the seeds that are significant within strata, and so are the pairs of the title. "
            "Texts of one cluster are taken together, but within strata.",
        ),
        (
            SURE,
            "The p of this test is not adjusted, and no p is adjusted for the number of cells. Of groups that are "
            f"alike {alpha:.0%} are significant by chance.",
        ),
        (
            LIMITS,
            "The tests ask whether the scores of all groups have one distribution. Groups whose means are equal, and "
            "whose spread is not, differ too.",
        ),
    ]


_SET = ["dataset", "factor", "groups"]
_CELL = ["model", "explainer", "metric"]
MISSING = Cell("–", "not tested: too few defined scores")


def _cells(tests: pd.DataFrame, pairs: pd.DataFrame, alpha: float) -> dict[tuple, Cell]:
    """The cells of one dataset and set of groups by model, explainer and metric."""
    return {
        key: _cell(part, pairs[(pairs[_CELL] == list(key)).all(axis=1)], alpha)
        for key, part in tests.groupby(_CELL, sort=False)
    }


def _cell(tests: pd.DataFrame, pairs: pd.DataFrame, alpha: float) -> Cell:
    significant = int((tests["p"] <= alpha).sum())
    text = f"{significant} ({tests['epsilon_squared'].mean():.2f})"
    if tests["p_friedman"].notna().any():
        text += f" F{int((tests['p_friedman'] <= alpha).sum())}"
    # By seeds, as Dunn's z: the sign of the statistic says who ranks higher.
    p, direction = "p_dunn_holm", "z"
    if tests["p_stratified"].notna().any():
        text += f" S{int((tests['p_stratified'] <= alpha).sum())}"
        p, direction = "p_stratified_holm", "cliffs_delta_stratified"
    apart = [
        f"{first} > {second}" if part[direction].mean() > 0 else f"{second} > {first}"
        for (first, second), part in pairs.groupby(["level_a", "level_b"], sort=False)
        if 2 * (part[p] <= alpha).sum() > len(tests)
    ]
    return Cell(text, "; ".join(apart), bold=2 * significant > len(tests))
