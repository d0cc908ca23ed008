"""Changes of decision as a page: between two forms of a question, and between two answers to one form."""

import pandas as pd

from evenlight.core.contracts.results import DECISIONS
from evenlight.core.kinds import TEXT
from evenlight.reports.entries import Shown
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.page_parts import rows_by_model
from evenlight.reports.questions import CELL, HOLDS, LIMITS, READ, SURE, answered
from evenlight.reports.text import signed
from evenlight.reports.verdict_words import SIGNS
from evenlight.statistics.analyses.decisions import CHANGES
from evenlight.statistics.comparisons.study import UNDECIDABLE, UNDECIDED, comparisons_in, factor_in_brackets

TABLES = (DECISIONS,)
HEADINGS = ["changed", "by chance", "beyond", "verdict"]
UNKNOWN = Cell("–", "no question has two decisions on either form")
LOOKS = {CHANGES: ("≠", "#f7d9b5"), UNDECIDED: SIGNS[UNDECIDED], UNDECIDABLE: SIGNS[UNDECIDABLE]}


def shown(study) -> Shown | None:
    """Where answers in words are compared."""
    if not study.comparisons_of(TEXT):
        return None
    settings = study.of_statistics("confidence")
    return Shown("Disparity", study.shown("datasets", "models", "explainers", of=TEXT, **settings), verdicts=True)


def page(
    decisions: pd.DataFrame,
    *,
    datasets: dict[str, str],
    models: dict[str, str],
    explainers: dict[str, str],
    confidence: float,
) -> Page:
    """A page from :func:`evenlight.statistics.analyses.decisions.decision_table`, a table for each dataset."""
    introduction = (
        "Does the form of a question change the decision more often than chance does? "
        f"{_answer(decisions['verdict'])}A row has both shares, what is beyond chance, and its verdict."
    )
    pairs, parts = comparisons_in(decisions), []
    for dataset, of_dataset in decisions.groupby("dataset", sort=False):
        there = comparisons_in(of_dataset)
        by_names = {
            (row.model, row.explainer, (row.factor, row.level_a, row.level_b)): row
            for row in of_dataset.itertuples(index=False)
        }
        rows = rows_by_model(
            models,
            explainers,
            lambda *row, found=by_names, there=there: [
                cell for pair in there for cell in _cells(found.get((*row, pair)))
            ],
        )
        headings = [
            (f"{pair.level_a} against {pair.level_b}{factor_in_brackets(pair, pairs)}", HEADINGS) for pair in there
        ]
        parts.append(Table(datasets[dataset], ("Model", "Explainer"), headings, rows))
    details = answered(
        (
            CELL,
            "Changed is the share of pairs of answers, one to either form of a question, that decide otherwise. By "
            "chance is the same share of two answers to one form, in the mean of both forms. Beyond is the one less "
            f"the other. In square brackets stands its {confidence:.0%} interval.",
        ),
        (
            "How does this differ from the other verdicts?",
            "An unfair decision and an unequal explanation are different things. This page asks whether decisions "
            "depend on the form, in whichever direction. The effects say which decision a group gets more often, and "
            "whose reasons are longer or clearer.",
        ),
        (
            HOLDS,
            "A verdict says that there are questions whose decision depends on the form, for this model as it answers. "
            "The interval is for further questions. Answers without a decision are left out, and so are questions with "
            "fewer than two decisions on a form.",
        ),
        (
            SURE,
            "Answers to a question are exchanged at random between its forms, as they could be where the form does not "
            "matter. The p is how often what is beyond is then as large. Verdicts have Holm's adjustment over all rows "
            "of a family, at the study's level beside that of the effects. An interval is of each row alone.",
        ),
        (
            LIMITS,
            "What is beyond may come from decisions that go the other way, or that vary more for one form. A form that "
            "is never decided has no row: see how often there is no decision.",
        ),
        READ,
    )
    legend = [(Cell(sign, background=colour), verdict) for verdict, (sign, colour) in LOOKS.items()]
    return Page("Changes of decision", introduction, parts, legend, details=details)


def _answer(verdicts: pd.Series) -> str:
    """In how many rows the decision changes.

    >>> _answer(pd.Series([CHANGES, "undecided", "not decidable"]))
    'Of 3 comparisons, it does in 1, and 2 are open (grey). '
    """
    found = int((verdicts == CHANGES).sum())
    still_open = len(verdicts) - found
    if verdicts.empty:
        return ""
    are = "is" if still_open == 1 else "are"
    return f"Of {len(verdicts):,} comparisons, it does in {found:,}, and {still_open:,} {are} open (grey). "


def _cells(row) -> list[Cell]:
    if row is None:
        return [UNKNOWN] * len(HEADINGS)
    sign, colour = LOOKS[row.verdict]
    title = (
        f"{row.units:,} questions; {row.draws_a:.3g} and {row.draws_b:.3g} decisions on each form; family {row.family}"
    )
    ends = (
        "" if pd.isna(row.difference_low) else f" [{signed(row.difference_low, 3)}, {signed(row.difference_high, 3)}]"
    )
    why = f": {row.reason}" if pd.notna(row.reason) else ""
    return [
        Cell(f"{row.changed:.3f}", title),
        Cell(f"{row.by_chance:.3f}", title),
        Cell(f"{signed(row.difference, 3)}{ends}"),
        Cell(sign, f"{row.verdict}{why}; adjusted p {row.p_adjusted:.2g}", background=colour),
    ]
