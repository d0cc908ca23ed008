"""How correct explanations are in every strategy as a page: by explainer, and relative to the baseline."""

import math
from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from evenlight.core.contracts.results import STRATEGIES
from evenlight.reports.entries import Drawn, Shown
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.page_parts import Names
from evenlight.reports.questions import CELL, ELSE, HOLDS, LIMITS, SURE
from evenlight.reports.text import percent, signed

TABLES = (STRATEGIES,)
SUBSETS = {"all": "all texts", "right": "read rightly", "all_right": "read rightly by all models"}


def shown(study) -> Shown | None:
    """In a study of strategies."""
    if study.config["kind"] != "strategies":
        return None
    views = ["by_strategy", "relative"]
    return Shown(
        "Strategies",
        study.strategies_shown(**study.of_statistics("confidence")),
        figures={
            "strategies": Drawn(
                "One metric in every strategy on one dataset: means, or ratios to those of the baseline.",
                "strategies/{dataset}/{metric}_{view}",
                lambda wildcards: study.strategies_shown(
                    dataset=study.label("datasets", wildcards.dataset), metric=wildcards.metric, view=wildcards.view
                ),
                shows="{view}",
                on={"metric": study.correctness_metrics() or list(study.metrics), "view": views},
                views="|".join(views),
            )
        },
        further={"draw_sentence": {"dataset": study.datasets_shown()}},
    )


def page(
    table: pd.DataFrame,
    *,
    names: Names,
    strategies: dict[str, dict[str, str]],
    confidence: float,
) -> Page:
    """Means and ratios of every metric (:class:`evenlight.statistics.analyses.strategy_summary.SummariseStrategies`).

    Of the metrics that have an expectation of random scores, which are those of mass accuracy, all subsets are shown
    and the ratios; of others all texts. The CSV file has everything.
    """
    with_ratio = set(table.loc[table["expected"].notna(), "metric"]) or set(list(names.metrics)[:1])
    shown = {name: label for name, label in names.explainers.items() if name in set(table["explainer"])}
    tables = []
    for dataset, dataset_label in names.datasets.items():
        for name, metric in names.metrics.items():
            for subset in SUBSETS if name in with_ratio else ["all"]:
                of_table = {"dataset": dataset, "metric": name, "subset": subset}
                part = table[(table[list(of_table)] == list(of_table.values())).all(axis=1)]
                words = f"{metric.label_with_direction} on {dataset_label}, {SUBSETS[subset]}"
                tables.append(_table(words, part, strategies, shown, _mean_cells, ["random scores, expected"]))
                if name in with_ratio:
                    tables.append(_table(f"{words}, relative to the baseline", part, strategies, shown, _ratio_cells))
    introduction = (
        "How correct are the explanations in every strategy, which is a way to train a model? "
        f"{_said_of_ratios(table[table['metric'].isin(with_ratio)])}"
        f"A cell has the mean over texts and seeds with its {percent(confidence)} interval."
    )
    return Page("Correctness by strategy", introduction, tables, details=_details())


def _said_of_ratios(rows: pd.DataFrame) -> str:
    compared = rows[rows["ratio_low"].notna()]
    if compared.empty:
        return ""
    return (
        f"Of {len(compared):,} means relative to the baseline, {(compared['ratio_low'] > 1).sum():,} are above 1 and "
        f"{(compared['ratio_high'] < 1).sum():,} below, with all of their interval. "
    )


def _details() -> list[tuple[str, str]]:
    return [
        (
            CELL,
            "A cell has every seed's mean over the test texts, then the mean over seeds. Relative is the mean over "
            "that of the first strategy, the baseline. A cell has – where there is no value. A pointer on a cell tells "
            "the spread over seeds and the number of texts. On a ratio, it tells the mean of log(ratio − 1) over the "
            "texts where it is defined, as the released code has it.",
        ),
        (
            HOLDS,
            "Intervals are for these trained models and further texts. A text is read rightly where the strategy's "
            "model "
            "predicts its label. It is read rightly by all models where every model of the study does so, in every "
            "run, for all forms of its sentence.",
        ),
        (
            SURE,
            "For an interval whole pairs are drawn again, with all their seeds, in all strategies alike. Of few texts "
            "with rare, large scores it is too short.",
        ),
        (
            ELSE,
            "The column of random scores says what mass accuracy expects of scores that know nothing: the share of "
            "tokens that are ground truth.",
        ),
        (LIMITS, "Whether a difference can be claimed, the page of effects says."),
    ]


def _table(
    caption: str,
    table: pd.DataFrame,
    strategies: Mapping[str, Mapping[str, str]],
    explainers: Mapping[str, str],
    cells: Callable[[list], list[Cell]],
    further: Sequence[str] = (),
) -> Table:
    by_names = {(row.architecture, row.strategy, row.explainer): row for row in table.itertuples(index=False)}

    def line(architecture: str, strategy: str) -> list[Cell]:
        return cells([by_names.get((architecture, strategy, name)) for name in explainers])

    rows = [(group, [(name, line(group, name)) for name in models]) for group, models in strategies.items()]
    return Table(caption, ("Architecture", "Strategy"), [("Explainer", [*explainers.values(), *further])], rows)


def _mean_cells(row: list) -> list[Cell]:
    """The means of each explainer, and what is expected of random scores."""
    known = [cell.expected for cell in row if cell is not None and not math.isnan(cell.expected)]
    return [*map(_mean_cell, row), Cell(signed(sum(known) / len(known), 3) if known else "–")]


def _ratio_cells(row: list) -> list[Cell]:
    return [*map(_ratio_cell, row)]


def _mean_cell(row) -> Cell:
    if row is None or math.isnan(row.mean):
        return Cell("–", "no defined scores")
    title = f"standard deviation over {row.seeds} seeds {row.sd:.3f}; {row.texts:,.0f} texts"
    if math.isnan(row.low):
        return Cell(signed(row.mean, 3), f"{title}; no interval: too few texts vary")
    return Cell(f"{signed(row.mean, 3)} [{signed(row.low, 3)}, {signed(row.high, 3)}]", title)


def _ratio_cell(row) -> Cell:
    if row is None or math.isnan(row.ratio):
        return Cell("–", "no defined scores")
    if math.isnan(row.ratio_low):
        return Cell(signed(row.ratio, 2), "the baseline")
    title = f"mean log(ratio − 1) {signed(row.log_excess, 2)}, defined in {row.log_excess_share:.0%} of the texts"
    bold = row.ratio_low > 1 or row.ratio_high < 1
    return Cell(f"{signed(row.ratio, 2)} [{signed(row.ratio_low, 2)}, {signed(row.ratio_high, 2)}]", title, None, bold)
