"""Disparities as a page: how many seeds are significant, and how large the effect is."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import pandas as pd

from evenlight.core.contracts.results import SUMMARY
from evenlight.reports.entries import COMPARED, Drawn, Shown
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.page_parts import BETTER_COLOURS, Names, describe_single_runs, grouped_rows, initials, shade
from evenlight.reports.questions import CELL, HOLDS, SURE, answered
from evenlight.reports.text import mean_sd, signed
from evenlight.statistics.analyses.summary import seeds_that_disagree
from evenlight.statistics.comparisons.study import (
    CONTROL,
    Comparison,
    comparisons_in,
    factor_in_brackets,
    hypothesis_family,
)

TABLES = (SUMMARY,)
DISAGREE, CONTRADICTED = "*", "†"
# Of a cell that is not significant: white would look like a test that was passed.
OPEN = "#e4e6e9"
_CONTROLS = "The {:,} cells of random or attainable explanations, or of groups by chance, are a control."


def shown(study) -> Shown | None:
    """Where a study compares; drawn in one of disparity."""
    from evenlight import configuration

    if not study.is_comparing:
        return None
    of_all = study.names_compared()
    return Shown(
        study.kind.category,
        study.shown(
            *COMPARED,
            **of_all,
            noise=configuration.no_hypotheses(study.config),
            **study.of_statistics("alpha", "considerable_effect"),
        ),
        at_one_look=True,
        figures={
            "disparity": Drawn(
                "Map of the effect sizes on one dataset: explainers by metrics, significant cells marked.",
                "disparity/{dataset}",
                study.drawn_of_dataset(
                    *("models", "explainers", "metrics"),
                    **of_all,
                    **study.modalities_drawn(),
                    **study.of_statistics("considerable_effect"),
                ),
                shows="disparity",
                on={"dataset": study.compared_datasets()} if study.config["kind"] == "disparity" else None,
            )
        },
    )


def page(
    summary: pd.DataFrame,
    *,
    names: Names,
    alpha: float,
    considerable_effect: float,
    noise: Collection[str],
) -> Page:
    """Per pair of groups the table of counts and the table of effect sizes, laid out as Tables 3 and 8 of Dhaini et
    al. (2025), from :func:`evenlight.statistics.analyses.summary.summarise_disparity`.

    ``noise``: the explainers that are references, whose cells ask no question.
    """
    pairs = comparisons_in(summary)
    parts = []
    for pair in pairs:
        of_pair = pair.rows(summary)
        versus = f"{pair.level_a} against {pair.level_b}{factor_in_brackets(pair, pairs)}"
        parts += [
            _disparity_table(f"Significant seeds, {versus}", of_pair, names, _count_text),
            _disparity_table(f"Cohen's d over the significant seeds, {versus}", of_pair, names, _effect_text),
        ]
    asked = summary[[hypothesis_family(cell, {}, noise) != CONTROL for cell in summary.to_dict("records")]]
    introduction = (
        "Are the explanations of one group better than those of the other? "
        f"{_said_of_seeds(asked)}"
        "A cell counts the significant seeds, and its letter names the group that they find better."
    )
    details = _details(summary, len(summary) - len(asked), names.models, alpha)
    return Page("Disparity of explanations", introduction, parts, _legend(pairs, considerable_effect), details=details)


def _said_of_seeds(summary: pd.DataFrame) -> str:
    significant = summary["significant_seeds"]
    if summary.empty:
        return ""
    return (
        f"Of {len(summary):,} cells, {(significant > 0).sum():,} have a significant seed, and in "
        f"{(2 * significant > summary['seeds']).sum():,} most seeds are significant. "
    )


def _details(summary: pd.DataFrame, controls: int, models: Mapping[str, str], alpha: float) -> list[tuple[str, str]]:
    return answered(
        (
            CELL,
            "Per seed, the scores of the two groups are compared by a two-sided Mann–Whitney U test (significant at "
            f"p ≤ {alpha:g}). The first table counts the significant seeds. The second adds mean ± standard deviation "
            "of Cohen's d over these seeds, as the published study prints it. A d is positive where the first-named "
            "group has the higher mean. Which group is better follows the ranks as the test does, by Cliff's delta. "
            "An arrow beside a metric says which scores are the better ones, higher (↑) or lower (↓).",
        ),
        ("Which cells are not counted?", _CONTROLS.format(controls) if controls else ""),
        (HOLDS, describe_single_runs(summary, models)),
        (
            SURE,
            "The tests are not corrected for their number. Of tests without any disparity a share as large as the "
            f"level ({alpha:g}) would be significant. {_agreement_of_seeds(summary)}",
        ),
        (
            "Where are adjusted p-values?",
            "P-values adjusted by Holm stand in the table of single seeds. Their family is all of its rows: every "
            "dataset, model, seed, explainer and metric. Definitions of one and the same metric and deliberate "
            "repetitions are included.",
        ),
    )


def _agreement_of_seeds(summary: pd.DataFrame) -> str:
    several, opposed = seeds_that_disagree(summary)
    if not several:
        return ""
    return (
        f"Of {several:,} cells with at least two significant seeds, {opposed:,} have significant seeds in opposite "
        f"directions ({opposed / several:.0%})."
    )


def _disparity_table(caption: str, summary: pd.DataFrame, names: Names, text: Callable[[Any], str]) -> Table:
    compared = set(summary["dataset"])
    datasets = {name: label for name, label in names.datasets.items() if name in compared}
    by_names = {row[:4]: row for row in summary.itertuples(index=False)}

    def cells(model: str, explainer: str) -> list[Cell]:
        keys = [(dataset, model, explainer, metric) for dataset in datasets for metric in names.metrics]
        return [_disparity_cell(by_names.get(key), text) for key in keys]

    headings = [metric.label_with_direction for metric in names.metrics.values()]
    columns = [(label, headings) for label in datasets.values()]
    return Table(caption, ("Model", "Explainer"), columns, grouped_rows(names.models, names.explainers, cells))


def _legend(pairs: list[Comparison], considerable_effect: float) -> list[tuple[Cell, str]]:
    legend = []
    for pair in pairs:
        for group, letters, colour in zip(pair.levels, initials(*pair.levels), BETTER_COLOURS, strict=True):
            level = pair.level_b if group == pair.level_a else pair.level_a
            legend.append((Cell(letters, background=shade(colour, 1)), f"{group} has better explanations than {level}"))
    return [
        *legend,
        (Cell("bold", bold=True), f"considerable effect, |mean d| ≥ {considerable_effect:g}"),
        (Cell(DISAGREE), "the significant seeds do not agree on which group is better; letter and colour: mean delta"),
        (
            Cell(CONTRADICTED),
            "the mean of d has the other direction than that of delta, which letter and colour follow",
        ),
        (Cell("0", background=OPEN), "no significant seed, which does not show that there is no disparity"),
        (Cell("–"), "not tested, the metric is undefined here"),
    ]


def _count_text(row) -> str:
    return str(row.significant_seeds)


def _effect_text(row) -> str:
    return f"({row.significant_seeds}) {mean_sd(row.mean_d_significant, row.sd_d_significant, 2)}"


def _disparity_cell(row, text) -> Cell:
    """One cell; ``row`` is a row of the summary, or None where nothing was tested."""
    if row is None:
        return Cell("–", "not tested: the metric has no defined scores, or scores other explanations")
    disagree = row.significant_seeds_a_better > 0 and row.significant_seeds_b_better > 0
    mark = (DISAGREE if disagree else "") + (CONTRADICTED if row.contradicted else "")
    title = f"{row.significant_seeds} of {row.seeds} seeds significant"
    effects = f"over all seeds mean d {signed(row.mean_d)}, delta {signed(row.mean_delta)}"
    if not isinstance(row.better_group, str):
        return Cell(f"{text(row)}{mark}", f"{title}; {effects}", OPEN if row.significant_seeds == 0 else None)
    side = (row.level_a, row.level_b).index(row.better_group)
    counts = (
        f"{row.level_a} better in {row.significant_seeds_a_better}, {row.level_b} in {row.significant_seeds_b_better}"
    )
    return Cell(
        f"{text(row)} {initials(row.level_a, row.level_b)[side]}{mark}",
        f"{title}, {counts}; over the significant seeds mean d {signed(row.mean_d_significant)}, delta "
        f"{signed(row.mean_delta_significant)}; {effects}",
        shade(BETTER_COLOURS[side], row.significant_seeds / row.seeds),
        row.considerable,
    )
