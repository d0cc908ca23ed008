"""The control with permuted labels as a page: the real share of significant cells beside that of chance."""

import pandas as pd

from evenlight.core.contracts.results import CONTROL
from evenlight.reports.entries import Drawn, Shown
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.questions import LIMITS, SURE
from evenlight.reports.text import TESTS
from evenlight.statistics.comparisons.study import ALL

TABLES = (CONTROL,)
HEADINGS = ["Cells", "Real", "Permuted", "95 % of permutations", "p of the study"]


def shown(study) -> Shown | None:
    """In a study of disparity; drawn where a dataset has both levels of a pair."""
    if study.config["kind"] != "disparity":
        return None
    return Shown(
        "Disparity",
        study.shown("datasets", "models", **study.of_statistics("alpha", "control_draws")),
        at_one_look=True,
        figures={
            "control": Drawn(
                "How many cells are significant, beside how many are with the groups' labels permuted.",
                "control",
                study.shown("datasets"),
                shows="control",
                on={} if study.compared_datasets(study.controlled) else None,
            )
        },
    )


def page(
    table: pd.DataFrame, *, datasets: dict[str, str], models: dict[str, str], alpha: float, control_draws: int
) -> Page:
    """One table of every dataset, model and test, from :func:`evenlight.statistics.analyses.control.permuted_rates`."""
    introduction = (
        "Are there more significant disparities than chance gives? "
        f"{_said_of_shares(table[table['cells'] > 0], alpha)}"
        "Each has the real share of significant cells beside that with permuted groups. "
        "A cell is one explainer, metric and pair of groups in one run of a model."
    )
    tests = [test for test in TESTS if test in set(table["test"])]
    by_names = {(row.dataset, row.model, row.test): row for row in table.itertuples(index=False)}
    rows = []
    for dataset, dataset_label in (datasets | {ALL: "All datasets"}).items():
        lines = [
            (label, [cell for test in tests for cell in _cells(by_names.get((dataset, model, test)))])
            for model, label in (models | {ALL: "All models"}).items()
            if any((dataset, model, test) in by_names for test in tests)
        ]
        if lines:
            rows.append((dataset_label, lines))
    columns = [(TESTS[test], HEADINGS) for test in tests]
    legend = [
        (Cell("bold", bold=True), f"more significant cells than chance gives: p of the study ≤ {alpha:g}"),
        (Cell("–"), "no test: the dataset has no pairs"),
    ]
    return Page(
        "Control with permuted groups",
        introduction,
        [Table("Share of significant cells", ("Dataset", "Model"), columns, rows)],
        legend,
        details=_details(alpha, control_draws),
    )


def _said_of_shares(compared: pd.DataFrame, alpha: float) -> str:
    found = (compared["study_p"] <= alpha).sum()
    return f"In {found:,} of {len(compared):,} comparisons there are (bold). " if len(compared) else ""


def _details(alpha: float, control_draws: int) -> list[tuple[str, str]]:
    return [
        (
            "What are the shares?",
            f"Real is the share of cells with p ≤ {alpha:g}. Permuted is the same share after the two forms of random "
            "pairs have exchanged their groups. In datasets without pairs, the groups were shuffled. It is the mean "
            f"over {control_draws:,} permutations. A valid test finds {alpha:.0%}, or fewer where scores are often "
            "equal.",
        ),
        (
            SURE,
            "The p of the study is the share of permutations with at least as many significant cells as there really "
            "are. The real labels are counted as one of them. Cells are not independent of one another, so that the "
            "share varies much from one permutation to the next.",
        ),
        (
            LIMITS,
            "The Mann–Whitney test takes the forms of a pair for independent. It finds fewer where their scores are "
            "positively correlated: it then misses disparities.",
        ),
    ]


def _cells(row) -> list[Cell]:
    if row is None or row.cells == 0:
        return [Cell("–") for _ in HEADINGS]
    return [
        Cell(f"{row.cells:,}"),
        Cell(f"{row.real_rate:.1%}", bold=row.study_p <= row.alpha),
        Cell(f"{row.null_rate:.1%}"),
        Cell(f"{row.null_low:.1%} – {row.null_high:.1%}"),
        Cell(f"{row.study_p:.3f}"),
    ]
