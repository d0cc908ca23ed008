"""Disparities beside those of random explanations, as a page."""

import pandas as pd

from evenlight.core.contracts.results import BEYOND_RANDOM
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.page_parts import rows_by_model, said_of_single_runs
from evenlight.reports.pages.effects import FAMILIES, VERDICTS, legend_of
from evenlight.reports.questions import CELL, HOLDS, LIMITS, READ, SURE, answered
from evenlight.reports.text import signed
from evenlight.statistics.beyond_random import BOTH, EXPLAINER, GONE, LEFT, MODEL, MOSTLY_MODEL, REVERSED
from evenlight.statistics.study import MetricLabel, comparisons_in
from evenlight.statistics.verdicts import CONTROL, UNDECIDABLE, UNDECIDED, is_disparity

TABLES = (BEYOND_RANDOM,)
MAKERS = [MODEL, MOSTLY_MODEL, BOTH, EXPLAINER]
SAID_OF_ATTAINABLE = (
    "There a pointer on a cell tells three things more. The first is what share of the way from random to attainable "
    "each group's mean score goes. The second is the explainer's own part: what would be left if as much were "
    "attainable for both groups. The third is who is shown to make the disparity."
)
COUNTS = [
    ("Cells", ["all", "with a disparity"]),
    ("Of these, beyond random", [LEFT, REVERSED, GONE, UNDECIDED]),
    ("Of the others", ["disparity beyond random"]),
    ("Shown to make it", MAKERS),
    ("Median of absolute values, in units of the metric", ["difference", "random", "beyond random"]),
]


def page(
    table: pd.DataFrame,
    *,
    datasets: dict[str, str],
    models: dict[str, str],
    explainers: dict[str, str],
    metrics: dict[str, MetricLabel],
    equivalence_bound: float,
    confidence: float,
) -> Page:
    """What is left of the disparities, counted by dataset and metric, and a table of cells for each dataset.

    ``table`` comes from :func:`evenlight.statistics.beyond_random.beyond_random_table`.
    """
    shown = {name: label for name, label in explainers.items() if name in set(table["explainer"])}
    parts = []
    for pair in comparisons_in(table):
        of_pair = pair.rows(table)
        versus = f"{pair.level_a} against {pair.level_b}"
        parts.append(_summary(f"What is left beyond random explanations, {versus}", of_pair, datasets, metrics))
        for dataset, label in datasets.items():
            for family, called in FAMILIES.items():
                cells = of_pair[(of_pair["dataset"] == dataset) & (of_pair["family"] == family)]
                if len(cells):
                    parts.append(_table(f"{label}, {versus}{called}", cells, models, shown, metrics))
    introduction = (
        "Which disparities are the explainers', and which are the model's whatever is explained? "
        f"{_said_of_outcomes(table[table['family'] != CONTROL])}"
        "A cell has the difference of the groups and, behind the arrow, that of what is beyond random."
    )
    legend = [*legend_of(equivalence_bound), (Cell("bold", bold=True), "a disparity that is left beyond random")]
    details = _details(table, models, confidence)
    return Page("Disparities beyond random explanations", introduction, parts, legend, details=details)


def _said_of_outcomes(cells: pd.DataFrame) -> str:
    """What becomes of the disparities of cells that ask a question.

    >>> _said_of_outcomes(pd.DataFrame({"outcome": [LEFT, GONE, None, UNDECIDED]}))
    'Of 4 cells, 3 have a disparity: beyond random it is left in 1, reversed in 0, gone in 1 and undecided in 1. '
    """
    found = cells["outcome"].dropna()
    decided = [int((found == outcome).sum()) for outcome in (LEFT, REVERSED, GONE)]
    left, reversed_, gone = decided
    if found.empty:
        return f"None of {len(cells):,} cells has a disparity. " if len(cells) else ""
    return (
        f"Of {len(cells):,} cells, {len(found):,} {'has' if len(found) == 1 else 'have'} a disparity: beyond random it "
        f"is left in {left:,}, reversed in {reversed_:,}, gone in {gone:,} and undecided in "
        f"{len(found) - sum(decided):,}. "
    )


def _details(table: pd.DataFrame, models: dict[str, str], confidence: float) -> list[tuple[str, str]]:
    attainable = bool(table["reached_a"].notna().any())
    return answered(
        (
            CELL,
            "The first number is the mean difference of the groups' scores. The number behind the arrow is the same of "
            "what is beyond random. That is each score less the mean score of the random explainers for the same text. "
            "Both are in standard deviations of the explainer's scores, so that they differ by what random "
            "explanations have. They are positive where the first-named group has the higher scores. Where these "
            "scores hardly vary the numbers are large. A pointer on the cell tells them in units of the metric. Before "
            "each number stands its verdict.",
        ),
        (
            "Why are random explanations beside it?",
            "Random explanations know nothing. So a disparity of their scores comes from how the model reads the "
            "changed texts of either group.",
        ),
        (
            "When is a disparity left, and when is it gone?",
            "It is left where there is one beyond random, in the same direction. It is reversed where there is one in "
            "the other direction. It is gone where what is beyond random is smaller than the smallest effect of "
            "interest. Where none of these can be said it is undecided.",
        ),
        (
            HOLDS,
            "A verdict in brackets is about these trained models. Intervals are for these trained models and further "
            f"sentences. {said_of_single_runs(table, models)}",
        ),
        (
            SURE,
            f"A pointer on a cell tells its {confidence:.0%} intervals. Verdicts on the differences, and verdicts "
            "beyond random, are adjusted over all cells of a family, each by themselves. Of each kind of claim, the "
            f"chance that any is wrong is the study's level. {_said_of_draws(table['draws_share'])}",
        ),
        ("What is said where the best attainable explanations are known?", SAID_OF_ATTAINABLE if attainable else ""),
        (
            LIMITS,
            "What is not significant beyond random need not be gone. An explainer may be as good as can be for both "
            "groups, as often in sufficiency. Then what is beyond random is the disparity of the random explanations "
            "reversed: the room that they leave."
            + (" Where the explainer is shown to make a disparity, the model may make a part, too." * attainable),
        ),
        READ,
    )


def _said_of_draws(shares: pd.Series) -> str:
    """What the number of random explainers adds to the error, from its share of the variance in each cell.

    >>> _said_of_draws(pd.Series([0.01, 0.2, 0.02]))
    'The draws of the random explanations are 2 % of the variance of what is beyond random in the median cell, and at \
most 20 %. More random explainers would make that smaller. All intervals contain it.'
    """
    if shares.notna().any():
        return (
            f"The draws of the random explanations are {100 * shares.median():.0f} % of the variance of what is beyond "
            f"random in the median cell, and at most {100 * shares.max():.0f} %. More random explainers would make "
            "that smaller. All intervals contain it."
        )
    return (
        "What the draws of a single random explainer add to the error is in all intervals, but cannot be told apart. "
        "That takes two."
    )


def _summary(caption: str, table: pd.DataFrame, datasets: dict[str, str], metrics: dict[str, MetricLabel]) -> Table:
    rows = []
    for dataset, label in datasets.items():
        lines = []
        for metric in metrics.values():
            cells = table[(table["dataset"] == dataset) & (table["metric"] == metric.name)]
            # Yardsticks have no disparity of their own to tell of.
            cells = cells[cells["family"] != CONTROL]
            if len(cells):
                lines.append((metric.label, _summary_cells(cells)))
        if lines:
            rows.append((label, lines))
    return Table(caption, ("Dataset", "Metric"), COUNTS, rows)


def _summary_cells(cells: pd.DataFrame) -> list[Cell]:
    there = cells["outcome"].notna()
    decided = [(cells["outcome"] == outcome).sum() for outcome in (LEFT, REVERSED, GONE)]
    other = ~there & is_disparity(cells["beyond_verdict"], False)
    counts = [len(cells), there.sum(), *decided, there.sum() - sum(decided), other.sum()]
    known = cells["made_by"].notna().any()
    counts += [(cells["made_by"] == maker).sum() if known else "–" for maker in MAKERS]
    medians = [f"{cells[f'{part}_difference'].abs().median():.3g}" for part in ("plain", "random", "beyond")]
    return [Cell(str(text)) for text in (*counts, *medians)]


def _table(
    caption: str,
    cells: pd.DataFrame,
    models: dict[str, str],
    explainers: dict[str, str],
    metrics: dict[str, MetricLabel],
) -> Table:
    by_names = {(row.model, row.explainer, row.metric): row for row in cells.itertuples(index=False)}
    rows = rows_by_model(models, explainers, lambda *row: [_cell(by_names.get((*row, metric))) for metric in metrics])
    columns = [("Difference → beyond random", [metric.label_with_direction for metric in metrics.values()])]
    return Table(caption, ("Model", "Explainer"), columns, rows)


def _cell(row) -> Cell:
    """One cell; ``row`` is a row of the table, or None where nothing was compared."""
    if row is None:
        return Cell("–", "not compared: no scores")
    said = [_said("difference", row, "plain"), _said("random", row, "random"), _said("beyond random", row, "beyond")]
    said.append(f"in units of the metric {row.plain_difference:.3g} and beyond random {row.beyond_difference:.3g}")
    if not pd.isna(row.reached_a):
        ends = f"[{signed(row.reached_difference_low)}, {signed(row.reached_difference_high)}]"
        said.append(
            f"reached of what is attainable: {row.level_a} {signed(row.reached_a)}, {row.level_b} "
            f"{signed(row.reached_b)}, difference {signed(row.reached_difference)} {ends}"
        )
    if not pd.isna(row.own_verdict):
        maker = "" if pd.isna(row.made_by) else f"; made by: {row.made_by}"
        said.append(_said("the explainer's own part", row, "own") + maker)
    signs = [VERDICTS[verdict][0] for verdict in (row.plain_verdict, row.beyond_verdict)]
    text = f"{signs[0]} {signed(row.plain)} → {signs[1]} {signed(row.beyond)}"
    return Cell(text, "; ".join(said), VERDICTS[row.beyond_verdict][1], bold=row.outcome == LEFT)


def _said(name: str, row, part: str) -> str:
    """A difference with its interval for these trained models and, if it was judged, its verdict and adjusted p."""
    value, low, high = (getattr(row, f"{part}{end}") for end in ("", "_models_low", "_models_high"))
    said = f"{name} {signed(value)}" + (f" [{signed(low)}, {signed(high)}]" if pd.notna(low) else "")
    if part == "random":
        return said
    verdict = getattr(row, f"{part}_verdict")
    if verdict == UNDECIDABLE:
        return f"{said}, {verdict}: {getattr(row, f'{part}_reason')}"
    p, within = (getattr(row, f"{part}_p_models{claim}_adjusted") for claim in ("", "_equivalence"))
    return f"{said}, {verdict}, adjusted p for these trained models {p:.2g}, of equivalence {within:.2g}"
