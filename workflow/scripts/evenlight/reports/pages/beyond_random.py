"""Who is explained better more often, beside what is so beyond random explanations, as a page."""

import pandas as pd

from evenlight.core.contracts.results import BEYOND_RANDOM
from evenlight.reports.entries import COMPARED, Shown
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.page_parts import rows_of_cells
from evenlight.reports.questions import CELL, HOLDS, LIMITS, READ, SURE, answered
from evenlight.reports.text import signed
from evenlight.reports.verdict_words import (
    EXPLAINED,
    FAMILIES,
    Words,
    capitalised,
    describe_adjustment,
    legend_of,
    numbers_of,
    sign_of,
    won,
)
from evenlight.statistics.analyses.beyond_random import EXPLAINED_AWAY, EXPLAINER, MODEL, PERSISTS, REVERSED
from evenlight.statistics.comparisons.study import CONTROL, MetricLabel, comparisons_in
from evenlight.statistics.comparisons.verdicts import UNDECIDED

TABLES = (BEYOND_RANDOM,)
MAKERS = [MODEL, EXPLAINER]
REACHED = Words("reaches more", "less", "higher")
SAID_OF_UPPER_BOUND = (
    "There a pointer on a cell tells three things more. The first is what share of the way from random to attainable "
    "each group's mean score goes. The second is the explainer's own part: in how many pairs it reaches more of the "
    "attainable for one group. The third is who is shown to make the disparity. It is the explainer where its own part "
    "is better for the same group. It is the model, or the metric, where that is so as often, or for the other group."
)
COUNTS = [
    ("Comparisons", ["all", "one group more often"]),
    ("Of these, beyond random", [PERSISTS, REVERSED, EXPLAINED_AWAY, UNDECIDED]),
    ("Of the others", ["more often beyond random"]),
    ("Shown to make it", MAKERS),
    ("Median of absolute mean differences", ["scores", "random", "beyond random"]),
]


def shown(study) -> Shown | None:
    """In a study of disparity that has random explainers beside others."""
    from evenlight import configuration

    if study.config["kind"] != "disparity" or not configuration.beyond_random(study.config):
        return None
    settings = study.of_statistics("as_often_bound", "confidence")
    return Shown("Disparity", study.shown(*COMPARED, **settings), verdicts=True)


def page(
    table: pd.DataFrame,
    *,
    datasets: dict[str, str],
    models: dict[str, str],
    explainers: dict[str, str],
    metrics: dict[str, MetricLabel],
    as_often_bound: float,
    confidence: float,
) -> Page:
    """What is left of the disparities, counted by dataset and metric, and a table of cells for each dataset.

    ``table`` comes from :func:`evenlight.statistics.analyses.beyond_random.beyond_random_table`.
    """
    pairs, parts = comparisons_in(table), []
    for pair in pairs:
        of_pair = pair.rows(table)
        versus = f"{pair.level_a} against {pair.level_b}"
        parts.append(_summary(f"What is left beyond random explanations, {versus}", of_pair, datasets, metrics))
        for dataset, label in datasets.items():
            for family, called in FAMILIES.items():
                cells = of_pair[(of_pair["dataset"] == dataset) & (of_pair["family"] == family)]
                if len(cells):
                    parts.append(_table(f"{label}, {versus}{called}", cells, models, explainers, metrics, confidence))
    introduction = (
        "Which disparities are the explainers', and which are the model's whatever is explained? "
        f"{_said_of_outcomes(table[table['family'] != CONTROL])}"
        "A cell has the counts of the scores and, behind the arrow, those beyond random."
    )
    legend = [*legend_of(pairs, as_often_bound), (Cell("bold", bold=True), "a disparity that persists beyond random")]
    return Page(
        "Disparities beyond random explanations", introduction, parts, legend if pairs else [], details=_details(table)
    )


def _said_of_outcomes(cells: pd.DataFrame) -> str:
    """What becomes of the disparities of cells that ask a question.

    >>> _said_of_outcomes(pd.DataFrame({"outcome": [PERSISTS, EXPLAINED_AWAY, None, UNDECIDED]}))
    'In 3 of 4 comparisons one group is explained better more often. Beyond random it persists in 1, is reversed \
in 0, explained away in 1 and undecided in 1. '
    """
    found = cells["outcome"].dropna()
    decided = [int((found == outcome).sum()) for outcome in (PERSISTS, REVERSED, EXPLAINED_AWAY)]
    persists, reversed_, explained_away = decided
    if found.empty:
        return f"In none of {len(cells):,} comparisons one group is explained better more often. " if len(cells) else ""
    return (
        f"In {len(found):,} of {len(cells):,} comparisons one group is explained better more often. Beyond random it "
        f"persists in {persists:,}, is reversed in {reversed_:,}, explained away in {explained_away:,} and "
        f"undecided in {len(found) - sum(decided):,}. "
    )


def _details(table: pd.DataFrame) -> list[tuple[str, str]]:
    upper_bound = bool(table["reached_a"].notna().any())
    return answered(
        (
            CELL,
            "The first counts are those of the scores. Those behind the arrow are of what is beyond random. That is "
            "each score less the mean score of the random explainers for the same text. Before each stands its "
            "verdict. A pointer on the cell tells them in sentences, with mean differences in units of the metric.",
        ),
        (
            "Why are random explanations beside it?",
            "Random explanations know nothing. So a disparity of their scores comes from how the model reads the "
            "changed texts of either group.",
        ),
        (
            "When does a disparity persist, and when is it explained away?",
            "It persists where the same group is better more often beyond random, too. It is reversed where the other "
            "group is. It is explained away where both are as often. Where none of these can be said it is undecided.",
        ),
        (HOLDS, "All is said for further texts like these, and for these trained models."),
        (
            SURE,
            "Verdicts on the scores, and verdicts beyond random, are adjusted over all comparisons of a family, each "
            f"by themselves. {describe_adjustment(table)} Of each kind the chance that any names a wrong side is at "
            "most the study's level.",
        ),
        ("What is said where the best attainable explanations are known?", SAID_OF_UPPER_BOUND if upper_bound else ""),
        (
            LIMITS,
            "What is undecided beyond random need not be gone. An explainer may be as good as can be for both groups, "
            "as often in sufficiency. Then what is beyond random is the disparity of the random explanations "
            "reversed: the room that they leave."
            + (" Where the explainer is shown to make a disparity, the model may make a part, too." * upper_bound),
        ),
        READ,
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
    decided = [(cells["outcome"] == outcome).sum() for outcome in (PERSISTS, REVERSED, EXPLAINED_AWAY)]
    other = ~there & (cells["beyond_side"] != 0)
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
    confidence: float,
) -> Table:
    rows = rows_of_cells(cells, models, explainers, metrics, lambda row: _cell(row, confidence))
    columns = [("Scores → beyond random", [metric.label_with_direction for metric in metrics.values()])]
    return Table(caption, ("Model", "Explainer"), columns, rows)


def _cell(row, confidence: float) -> Cell:
    """One cell; ``row`` is a row of the table, or None where nothing was compared."""
    if row is None:
        return Cell("–", "not compared: no scores")
    said = [_said("Scores", row, "plain", confidence), _said("Beyond random", row, "beyond", confidence)]
    said.append(f"Mean difference of random explanations: {signed(row.random_difference, 3)}.")
    if not pd.isna(row.reached_a):
        said.append(
            f"Reached of what is attainable, in the mean: “{row.level_a}” {row.reached_a:.0%}, “{row.level_b}” "
            f"{row.reached_b:.0%}."
        )
    if not pd.isna(row.own_verdict):
        said.append(_said("More of the attainable is reached", row, "own", confidence))
    if not pd.isna(row.made_by):
        said.append(f"Made by: {row.made_by}.")
    signs = [
        sign_of(getattr(row, f"{part}_verdict"), getattr(row, f"{part}_side"), row.level_a, row.level_b)
        for part in ("plain", "beyond")
    ]
    text = " → ".join(
        f"{sign} {numbers_of(*_counts(row, part))}" for (sign, _), part in zip(signs, ("plain", "beyond"), strict=True)
    )
    return Cell(text, " ".join(said), signs[1][1], bold=row.outcome == PERSISTS)


def _counts(row, part: str) -> list[float]:
    return [getattr(row, f"{part}_{count}") for count in ("wins", "losses", "ties", "share")]


def _said(name: str, row, part: str, confidence: float) -> str:
    """The verdict on a part with its counts and adjusted p and, where it has one, its mean difference."""
    said = f"{name}: {getattr(row, f'{part}_verdict')}"
    reason, p = (getattr(row, f"{part}_{column}") for column in ("reason", "p_adjusted"))
    said += f" ({reason})" if pd.notna(reason) else ""
    words = REACHED if part == "own" else EXPLAINED
    said += f". {capitalised(won((row.level_a, row.level_b), *_counts(row, part), words=words))}; adjusted p {p:.2g}."
    if part == "own":
        return said
    value, low, high = (signed(getattr(row, f"{part}_difference{end}"), 3) for end in ("", "_low", "_high"))
    return f"{said} Mean difference {value}, {confidence:.0%} interval [{low}, {high}]."
