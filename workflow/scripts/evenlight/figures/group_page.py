"""Sets of more than two groups as a page: how many seeds differ, and how much."""

import pandas as pd

from evenlight.figures.html_table import Cell, Page, Table
from evenlight.figures.result_pages import rows_by_model
from evenlight.statistics.study import labels, metrics, names, required


def group_page(tests: pd.DataFrame, comparisons: pd.DataFrame, settings: dict, notes: list[str]) -> Page:
    """One table per dataset and set of groups from :func:`evenlight.statistics.groups.group_tables`."""
    alpha = required(settings, "statistics.alpha")
    introduction = (
        "Is any of more than two groups explained better or worse? Each cell counts the seeds with a significant "
        f"Kruskal–Wallis test (p ≤ {alpha:g}, not adjusted) and gives ε², the share of the ranks' variance that lies "
        "between the groups, mean over seeds. Its title names the pairs of groups that Dunn's test tells apart in most "
        "seeds, the group with the higher scores first. Where items come in all groups, F counts the seeds with a "
        "significant Friedman test."
    )
    tables = [
        _table(place, part, comparisons, settings) for place, part in tests.groupby(["dataset", "groups"], sort=False)
    ]
    return Page("More than two groups", introduction, tables, notes=notes)


def _table(place: tuple[str, str], tests: pd.DataFrame, comparisons: pd.DataFrame, settings: dict) -> Table:
    dataset, groups = place
    pairs = comparisons[(comparisons["dataset"] == dataset) & (comparisons["groups"] == groups)]
    cells = {
        key: _cell(part, pairs[(pairs[["model", "explainer", "metric"]] == list(key)).all(axis=1)], settings)
        for key, part in tests.groupby(["model", "explainer", "metric"], sort=False)
    }
    missing = Cell("–", "not tested: too few defined scores")
    rows = rows_by_model(
        settings, lambda *row: [cells.get((*row, metric), missing) for metric in names(settings, "metrics")]
    )
    columns = [(labels(settings, "datasets")[dataset], [metric.label for metric in metrics(settings).values()])]
    return Table(groups, ("Model", "Explainer"), columns, rows)


def _cell(tests: pd.DataFrame, pairs: pd.DataFrame, settings: dict) -> Cell:
    alpha = required(settings, "statistics.alpha")
    significant = int((tests["p"] <= alpha).sum())
    text = f"{significant} ({tests['epsilon_squared'].mean():.2f})"
    if tests["p_friedman"].notna().any():
        text += f" F{int((tests['p_friedman'] <= alpha).sum())}"
    apart = [
        f"{one} > {other}" if part["z"].mean() > 0 else f"{other} > {one}"
        for (one, other), part in pairs.groupby(["level_a", "level_b"], sort=False)
        if 2 * (part["p_dunn_holm"] <= alpha).sum() > len(tests)
    ]
    return Cell(text, "; ".join(apart), bold=2 * significant > len(tests))
