"""The looks of a study that grows as a page: when each was made, with how many texts, and what it has spent."""

import pandas as pd

from evenlight.core.contracts.results import LOOKS
from evenlight.core.kinds import SCORES
from evenlight.reports.entries import Shown
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.questions import CELL, LIMITS, READ

TABLES = (LOOKS,)


def shown(study) -> Shown | None:
    """In a study of disparity, or of a table of scores, that plans looks."""
    if study.config["kind"] not in ("disparity", SCORES) or not study.planned_looks:
        return None
    settings = study.shown(plan=study.config["statistics"]["plan"], planned=study.planned_looks)
    return Shown(study.kind.category, settings, verdicts=True)


def page(looks: pd.DataFrame, *, plan: str, planned: list[int]) -> Page:
    """The looks of ``plan``, with the pairs of each (``planned``), from the record of looks."""
    made = looks[looks["plan"] == plan].set_index("look")
    rows = [(f"look {number}", _look(number, pairs, made)) for number, pairs in enumerate(planned, start=1)]
    introduction = (
        f"Which looks were made? {len(made):,} of {len(planned):,} looks were made. A row has how many pairs, or "
        "texts, a look has, when it was made, and what is spent of the level."
    )
    details = [
        (CELL, "What is spent is the part of the study's level that is used up to and including this look."),
        (
            LIMITS,
            "Verdicts of effects.html hold over all looks that were made. What a look has found stays found, and the "
            "page of effects names the look that found it.",
        ),
        READ,
    ]
    table = Table("Looks", ("Plan", "Look"), [("", ["pairs, or texts", "made", "spent"])], [(plan, rows)])
    return Page("Looks", introduction, [table], details=details)


def _look(number: int, pairs: int, made: pd.DataFrame) -> list[Cell]:
    if number not in made.index:
        return [Cell(f"{pairs:,}"), Cell("–"), Cell("–")]
    row = made.loc[number]
    return [Cell(f"{pairs:,}"), Cell(row["made"]), Cell(f"{row['spent']:.2g}")]
