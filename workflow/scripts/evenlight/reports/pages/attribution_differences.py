"""How differently the forms of a sentence are explained as a page: sizes, and how many runs a test finds."""

import pandas as pd

from evenlight.core.contracts.results import ATTRIBUTION_DIFFERENCES
from evenlight.reports.entries import Drawn, Shown
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.questions import CELL, SURE
from evenlight.reports.text import signed
from evenlight.statistics.comparisons.study import comparisons_in

TABLES = (ATTRIBUTION_DIFFERENCES,)


def shown(study) -> Shown | None:
    """In a study of strategies that compares forms of texts."""
    if study.config["kind"] != "strategies" or not study.comparisons():
        return None
    settings = {"strategies": study.config["statistics"]["strategies"], **study.of_statistics("alpha")}
    return Shown(
        "Strategies",
        study.shown("datasets", "explainers", **settings),
        at_one_look=True,
        figures={
            "attribution_differences": Drawn(
                "Differences between forms on one dataset: how large they are, or a map of their p-values by run.",
                "attribution_differences/{dataset}_{view}",
                lambda wildcards: study.shown(
                    "explainers",
                    dataset=study.label("datasets", wildcards.dataset),
                    view=wildcards.view,
                    **settings,
                ),
                shows="attribution differences, {view}",
                on={"view": ["sizes", "tests"]},
                views="sizes|tests",
            )
        },
    )


def page(
    table: pd.DataFrame,
    *,
    datasets: dict[str, str],
    explainers: dict[str, str],
    strategies: dict[str, dict[str, str]],
    alpha: float,
) -> Page:
    """A table per dataset and pair of levels, from
    :func:`evenlight.statistics.analyses.word_attributions.attribution_differences`; the CSV file has every run."""
    tables = [
        _table(f"{' and '.join(pair.levels)} on {label}", pair.rows(part), explainers, strategies, alpha)
        for dataset, label in datasets.items()
        for part in [table[table["dataset"] == dataset]]
        for pair in comparisons_in(part)
    ]
    introduction = (
        "How differently are the words of the ground truth explained in two forms of a sentence? "
        f"Of {len(table):,} comparisons of forms, one for each run, a test of words finds a difference in "
        f"{(table['p_holm'] <= alpha).sum():,}, and one of sentences in {(table['p_pairs_holm'] <= alpha).sum():,}. "
        "A cell has the mean absolute difference and in how many runs either test finds one."
    )
    return Page("Differences between forms", introduction, tables, details=_details(alpha))


def _details(alpha: float) -> list[tuple[str, str]]:
    return [
        (
            CELL,
            "A word's score is its share in the absolute scores of the sentence. A cell has the mean absolute "
            "difference over words and runs. Then it has in how many runs Wilcoxon's signed-rank test of the words "
            f"finds a difference at {alpha:g}. In brackets stands the same of pairs of sentences, each with the mean "
            "over its words. A pointer on a cell tells the mean difference with its sign.",
        ),
        (
            SURE,
            "Tests are adjusted over the pairs of forms where there are several. They are not adjusted for the number "
            "of explainers, strategies and runs. The test of words takes words of one sentence for independent. The "
            "test of sentences does not.",
        ),
    ]


def _table(
    caption: str, rows: pd.DataFrame, explainers: dict[str, str], strategies: dict[str, dict[str, str]], alpha: float
) -> Table:
    of_names = dict(iter(rows.groupby(["model", "explainer"])))
    of_architectures = [
        (
            architecture,
            [
                (strategy, [_cell(of_names.get((model, explainer)), alpha) for explainer in explainers])
                for strategy, model in models.items()
            ],
        )
        for architecture, models in strategies.items()
    ]
    return Table(caption, ("Architecture", "Strategy"), [("Explainer", list(explainers.values()))], of_architectures)


def _cell(rows: pd.DataFrame | None, alpha: float) -> Cell:
    if rows is None:
        return Cell("–", "no pairs with scores")
    words, pairs = ((rows[name] <= alpha).sum() for name in ("p_holm", "p_pairs_holm"))
    title = f"mean difference {signed(rows['mean_difference'].mean(), 4)}; {rows['words'].iloc[0]:,} words"
    text = f"{signed(rows['mean_absolute'].mean(), 3)}, {words} ({pairs}) of {len(rows)} runs"
    return Cell(text, title, bold=bool(words == len(rows)))
