"""Covariate-adjusted disparities, as a page."""

from collections.abc import Mapping

import pandas as pd

from evenlight.core.contracts.results import COVARIATE_ADJUSTED
from evenlight.reports.entries import Shown
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.page_parts import Names
from evenlight.reports.questions import CELL, HOLDS, LIMITS, SURE
from evenlight.reports.text import percent, signed
from evenlight.statistics.analyses.covariate_adjusted import CALIPER, FEWEST
from evenlight.statistics.comparisons.study import comparisons_in

TABLES = (COVARIATE_ADJUSTED,)
TITLE = "Covariate-adjusted disparities"
COVARIATES = {
    "tokens": "number of tokens",
    "ground_truth_tokens": "tokens of ground-truth words",
    "confidence": "confidence",
    "correct": "correct prediction",
}
# Why a cell is not split.
UNDECIDED = {
    "hardly varies": "not decidable: the covariate hardly varies, between the forms of a pair or between texts",
    "no overlap": "not decidable: too few pairs or texts of both groups have equal values of the covariate",
    "part of the metric": "the probability is part of the metric itself",
    "constant scores": "the scores are constant",
    "mostly equal": "too few scores differ from the commonest one",
    "too few": "too few scores",
}


def shown(study) -> Shown | None:
    """In a study of disparity that explains texts: changes have no tokens and no predictions, by which to adjust."""
    if study.config["kind"] != "disparity" or not study.explainers:
        return None
    settings = study.of_statistics("confidence")
    return Shown("Disparity", study.shown("datasets", **settings), at_one_look=True)


def page(table: pd.DataFrame, *, names: Names, confidence: float) -> Page:
    """A table for each pair of groups, by dataset and covariate, from
    :class:`evenlight.statistics.analyses.covariate_adjusted.AdjustForCovariates`; the CSV file has every cell."""
    parts = [
        _summary(f"{TITLE}, {pair.level_a} against {pair.level_b}", pair.rows(table), names.datasets)
        for pair in comparisons_in(table)
    ]
    introduction = (
        "How large is a disparity between texts that are equal in a covariate, such as their length? "
        f"{_said_of_found(table[table['seeds'] > 0])}"
        "A row counts them, and has means of their absolute values."
    )
    legend = [(Cell(reason), said) for reason, said in UNDECIDED.items()]
    return Page(TITLE, introduction, parts, legend, details=_details(confidence))


def _details(confidence: float) -> list[tuple[str, str]]:
    return [
        (
            CELL,
            "Of pairs, the mean difference of all pairs stands beside that of the pairs whose forms are equal in the "
            f"covariate. Equal is within {CALIPER:g} of its usual difference. There must be at least {FEWEST} such "
            "pairs, and as many that are not equal. Texts without counterparts are taken by strata of the covariate. "
            "Differences within strata stand beside differences of the strata's shares (Kitagawa 1955). Numbers are in "
            "standard deviations of the scores, as Cohen’s d, and means over seeds. In the CSV file they are positive "
            "where the first-named group has the higher scores.",
        ),
        (HOLDS, "Intervals hold for further texts and these trained models."),
        (
            SURE,
            f"The {percent(confidence)} intervals are by the jackknife, each by itself. They are too short where few "
            "texts are equal and large scores are rare: of mostly zero scores 95% intervals held in 60% of studies. "
            "The control shuffles the covariate over the texts: then nothing is "
            "associated with it.",
        ),
        (
            LIMITS,
            "Each covariate is taken by itself: the parts do not add up. It is no causal claim. Confidence is the "
            "model’s own output and may pass a disparity on. What is associated with length may be due to something "
            "else that long texts have.",
        ),
    ]


def _found(split: pd.DataFrame, part: str) -> int:
    """In how many of the cells the interval of a part is without 0."""
    ends = split[[f"{part}_low", f"{part}_high"]]
    return int(((ends > 0).all(axis=1) | (ends < 0).all(axis=1)).sum())


def _said_of_found(split: pd.DataFrame) -> str:
    if split.empty:
        return "No cell could be split. "
    return (
        f"Of {len(split):,} cells that could be split, the covariate has a part in "
        f"{_found(split, 'covariate_part'):,}, and the adjusted disparity is not 0 in {_found(split, 'adjusted'):,}. "
    )


def _summary(caption: str, table: pd.DataFrame, datasets: Mapping[str, str]) -> Table:
    rows = []
    for dataset, label in datasets.items():
        lines = []
        for covariate, heading in COVARIATES.items():
            cells = table[(table["dataset"] == dataset) & (table["covariate"] == covariate)]
            if len(cells):
                lines.append((heading, _summary_cells(cells)))
        if lines:
            rows.append((label, lines))
    columns = [
        ("Cells, each tested by itself", ["split", "covariate part is not 0", "adjusted is not 0"]),
        ("Mean of absolute values", ["disparity of all", "covariate part", "when shuffled", "adjusted"]),
        ("Not split", list(UNDECIDED)),
    ]
    return Table(caption, ("Dataset", "Covariate"), columns, rows)


def _summary_cells(cells: pd.DataFrame) -> list[Cell]:
    split = cells[cells["seeds"] > 0]
    counts = [len(split), _found(split, "covariate_part"), _found(split, "adjusted")]
    means = [signed(split[name].abs().mean()) for name in ("total", "covariate_part", "shuffled", "adjusted")]
    reasons = cells["undecided"].value_counts()
    return [Cell(str(text)) for text in (*counts, *means, *(reasons.get(reason, 0) for reason in UNDECIDED))]
