"""The study's results as pages of tables: disparity, scores and quality of the models."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import pandas as pd

from evenlight.figures.html_table import Cell, Page, Table
from evenlight.figures.text import mean_sd, signed
from evenlight.statistics.study import (
    Comparison,
    comparisons,
    comparisons_in,
    labels,
    metrics,
    names,
    ordered_groups,
    required,
)

# Blue for the first group of a pair, orange for the second, at full strength; always beside a letter.
BETTER_COLOURS = ((125, 184, 232), (245, 166, 91))


def initials(level_a: str, level_b: str) -> tuple[str, str]:
    """The shortest beginnings of both names that tell them apart: M and F, or NON and NEU."""
    for length in range(1, max(len(level_a), len(level_b)) + 1):
        one, other = level_a[:length].upper(), level_b[:length].upper()
        if one != other:
            return one, other
    return level_a, level_b


def shade(colour: tuple[int, int, int], share: float) -> str:
    """``colour`` on white as ``#rrggbb``: the stronger, the larger the share of significant seeds."""
    strength = 0.25 + 0.75 * share
    return "#" + "".join(f"{round(255 - strength * (255 - part)):02x}" for part in colour)


def disparity_page(summary: pd.DataFrame, settings: dict, notes: list[str]) -> Page:
    """Per pair of groups the table of counts and the table of effect sizes, laid out as Tables 3 and 8 of Dhaini et
    al. (2025), from :func:`evenlight.statistics.summary.summarise_disparity`."""
    pairs = comparisons_in(summary)
    tables = []
    for pair in pairs:
        of_pair = pair.rows(summary)
        versus = f"{pair.level_a} against {pair.level_b}"
        tables += [
            _disparity_table(f"Significant seeds, {versus}", of_pair, settings, _count_text),
            _disparity_table(f"Cohen's d over the significant seeds, {versus}", of_pair, settings, _effect_text),
        ]
    introduction = (
        "Are the explanations of one group better than those of the other? Per seed, the scores of the two groups are "
        "compared by a two-sided Mann–Whitney U test (significant at "
        f"p ≤ {required(settings, 'statistics.alpha'):g}, not corrected for the number of tests) and by Cohen's d. "
        "The first table counts the significant seeds. The second adds mean ± standard deviation of d over these "
        "seeds; d is positive where the first-named group has the higher scores. An arrow beside a metric says which "
        "scores are the better ones, higher (↑) or lower (↓)."
    )
    legend = _legend(pairs, required(settings, "statistics.considerable_effect"))
    return Page("Disparity of explanations", introduction, tables, legend, notes)


def _disparity_table(caption: str, summary: pd.DataFrame, settings: dict, text: Callable[[Any], str]) -> Table:
    compared = set(summary["dataset"])
    datasets = {name: label for name, label in labels(settings, "datasets").items() if name in compared}
    found = {row[:4]: row for row in summary.itertuples(index=False)}

    def cells(model: str, explainer: str) -> list[Cell]:
        keys = [(dataset, model, explainer, metric) for dataset in datasets for metric in names(settings, "metrics")]
        return [_disparity_cell(found.get(key), text) for key in keys]

    headings = [metric.label_with_direction for metric in metrics(settings).values()]
    columns = [(label, headings) for label in datasets.values()]
    return Table(caption, ("Model", "Explainer"), columns, rows_by_model(settings, cells))


def rows_by_model(settings: dict, cells: Callable[[str, str], list[Cell]]) -> list:
    """The rows of a table of every model and explainer, with what ``cells`` returns for their names."""
    return [
        (model_label, [(label, cells(model, explainer)) for explainer, label in labels(settings, "explainers").items()])
        for model, model_label in labels(settings, "models").items()
    ]


def _legend(pairs: list[Comparison], considerable_effect: float) -> list[tuple[Cell, str]]:
    legend = []
    for pair in pairs:
        for group, letters, colour in zip(pair.levels, initials(*pair.levels), BETTER_COLOURS, strict=True):
            other = pair.level_b if group == pair.level_a else pair.level_a
            legend.append((Cell(letters, background=shade(colour, 1)), f"{group} has better explanations than {other}"))
    return [
        *legend,
        (Cell("bold", bold=True), f"considerable effect, |mean d| ≥ {considerable_effect:g}"),
        (Cell("*"), "the significant seeds do not agree on which group is better; letter and colour follow the mean"),
        (Cell("0"), "no significant seed"),
        (Cell("–"), "not tested, the metric is undefined here"),
    ]


def _count_text(row) -> str:
    return str(row.significant_seeds)


def _effect_text(row) -> str:
    return f"({row.significant_seeds}) {mean_sd(row.mean_d_significant, row.sd_d_significant, 2)}"


def _disparity_cell(row, text) -> Cell:
    """One cell; ``row`` is a row of the summary, or None where nothing was tested."""
    if row is None:
        return Cell("–", "not tested: the metric has no defined scores")
    disagree = row.significant_seeds_a_better > 0 and row.significant_seeds_b_better > 0
    mark = "*" if disagree else ""
    title = f"{row.significant_seeds} of {row.seeds} seeds significant"
    effects = f"mean d {signed(row.mean_d)} over all seeds"
    if not isinstance(row.better_group, str):
        return Cell(f"{text(row)}{mark}", f"{title}; {effects}")
    place = (row.level_a, row.level_b).index(row.better_group)
    counts = (
        f"{row.level_a} better in {row.significant_seeds_a_better}, {row.level_b} in {row.significant_seeds_b_better}"
    )
    return Cell(
        f"{text(row)} {initials(row.level_a, row.level_b)[place]}{mark}",
        f"{title}, {counts}; mean d {signed(row.mean_d_significant)} over the significant seeds, {effects}",
        shade(BETTER_COLOURS[place], row.significant_seeds / row.seeds),
        row.considerable,
    )


def score_page(summary: pd.DataFrame, settings: dict, notes: Sequence[str] = ()) -> Page:
    """Mean ± standard deviation over seeds of every metric, one table per dataset, from
    :func:`evenlight.statistics.summary.summarise_scores`."""
    found = {
        (row.dataset, row.model, row.explainer, row.metric, row.group): _score_cell(row)
        for row in summary.itertuples(index=False)
    }
    tables = []
    for dataset, dataset_label in labels(settings, "datasets").items():
        groups = ordered_groups(summary.loc[summary["dataset"] == dataset, "group"], comparisons(settings))
        columns = list(product(names(settings, "metrics"), groups))
        rows = rows_by_model(
            settings, lambda *row, of=dataset, columns=columns: [found[of, *row, *column] for column in columns]
        )
        headings = [(metric.label_with_direction, groups) for metric in metrics(settings).values()]
        tables.append(Table(f"Scores on {dataset_label}", ("Model", "Explainer"), headings, rows))
    introduction = (
        "How good are the explanations of each group? Every seed's mean over the test items, then mean ± standard "
        "deviation over seeds; – where a metric is undefined. An arrow beside a metric says which scores are the "
        "better ones, higher (↑) or lower (↓). Of metrics that draw at random, a cell's title has the error that the "
        "draws leave in a seed's mean."
    )
    return Page("Scores of explanations", introduction, tables, notes=list(notes))


def _score_cell(row) -> Cell:
    drawn = not pd.isna(row.monte_carlo_error)
    title = f"Monte-Carlo error of the mean {row.monte_carlo_error:.4f}" if drawn else ""
    return Cell(mean_sd(row.mean, row.sd, 3), title)


MEASURES = {
    "accuracy": "Accuracy",
    "recall": "Recall",
    "average_prediction_difference": "Average prediction difference",
}


def model_page(summary: pd.DataFrame, settings: dict) -> Page:
    """Mean ± standard deviation over seeds of every measure, from
    :func:`evenlight.statistics.model_quality.summarise_quality`."""
    keys = summary[["dataset", "model", "measure", "subset"]].itertuples(index=False, name=None)
    found = {key: mean_sd(*values, 3) for key, *values in zip(keys, summary["mean"], summary["sd"], strict=True)}
    subsets = {name: list(summary.loc[summary["measure"] == name, "subset"].unique()) for name in MEASURES}
    columns = [(name, subset) for name in MEASURES for subset in subsets[name]]
    rows = [
        (
            dataset_label,
            [
                (label, [Cell(found.get((dataset, model, *column), "–")) for column in columns])
                for model, label in labels(settings, "models").items()
            ],
        )
        for dataset, dataset_label in labels(settings, "datasets").items()
    ]
    headings = [(label, subsets[name]) for name, label in MEASURES.items() if subsets[name]]
    introduction = (
        "How well do the models classify each group? Test items, mean ± standard deviation over seeds; – where a "
        "dataset has no such group, class or pair. Average prediction difference: how far apart, on average, the "
        "probabilities of the true class are in the two forms of one sentence; 0 is equal treatment."
    )
    table = Table("Quality on the test items", ("Dataset", "Model"), headings, rows)
    return Page("Quality of the models", introduction, [table])
