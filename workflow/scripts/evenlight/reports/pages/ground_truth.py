"""The check of the ground truth as a page: what is marked, what differs, and which words are associated with the
label.
"""

import pandas as pd

from evenlight.core.contracts.results import GROUND_TRUTH, WORD_ASSOCIATIONS
from evenlight.reports.entries import Drawn, Shown
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.questions import CELL, ELSE, LIMITS
from evenlight.reports.text import signed

TABLES = (WORD_ASSOCIATIONS, GROUND_TRUTH)
HEADINGS = {
    "texts": "texts",
    "without_truth": "without ground truth",
    "places": "places that differ",
    "marked_places": "places marked",
    "unmarked_differences": "differ, not marked",
    "marked_equals": "marked, do not differ",
    "unequal_units": "sentences not comparable",
    "words": "words",
    "associated_words": "associated",
    "associated_unmarked": "associated, never marked",
    "marked_unassociated": "marked, not associated",
    "both_ways": "marked here, not there",
}
# Words of each dataset that the page shows; the CSV file has all.
MOST = 10


def shown(study) -> Shown | None:
    """In a study of strategies, of datasets whose words may be told."""
    if study.config["kind"] != "strategies" or not study.datasets_shown():
        return None
    return Shown(
        "Data",
        study.shown("datasets", **study.of_statistics("alpha")),
        figures={
            "associations": Drawn(
                "The words that are associated most with each class, and how far all others do.",
                "word_associations/{dataset}",
                study.drawn_of_dataset(),
                shows="associations of words",
                on={"dataset": study.datasets_shown()},
            )
        },
    )


def page(words: pd.DataFrame, summary: pd.DataFrame, *, datasets: dict[str, str], alpha: float) -> Page:
    """From :func:`evenlight.statistics.analyses.ground_truth.ground_truth_tables`; of each dataset the words with the
    highest correlations, as GECOBench's Figure 3."""
    rows = [
        (datasets[row.dataset], [Cell(f"{getattr(row, name):,}") for name in HEADINGS])
        for row in summary.itertuples(index=False)
    ]
    tables = [Table("Marks and associations", ("", "Dataset"), [("", list(HEADINGS.values()))], [("", rows)])]
    for dataset, label in datasets.items():
        part = words[words["dataset"] == dataset]
        if len(part):
            tables.append(_words_table(f"Words of {label}", part, alpha))
    introduction = (
        "Are the words that are marked as ground truth those that are associated with the label, and no others? "
        f"Over all datasets, {summary['associated_unmarked'].sum():,} associated words are never marked, and "
        f"{summary['marked_unassociated'].sum():,} marked words are not associated. "
        "The first table has counts, the others correlations of a word with a class."
    )
    return Page("Ground truth", introduction, tables, details=_details(alpha))


def _details(alpha: float) -> list[tuple[str, str]]:
    return [
        (
            CELL,
            "Word by word, the forms of a sentence stand beside each other. Where they differ a word should be marked, "
            "and nowhere else.",
        ),
        (
            "When is a word associated with the label?",
            "It is where exchanging the labels among the forms of each sentence makes so strong an association rare. "
            f"That is adjusted for all words (p ≤ {alpha:g}). Words that all forms have cannot be associated. Where "
            "all forms of each sentence have one label, or texts stand alone, the labels of sentences are exchanged. "
            "Then any word can be.",
        ),
        (
            ELSE,
            "Below stand the words with the highest correlation of tf-idf with a class.",
        ),
        (
            LIMITS,
            "Marked words that are not associated are mostly rare ones: few sentences cannot show it. The tf-idf of a "
            "word depends on the other words of its text. So correlations are not exactly 0 where a word has nothing "
            "to do with the class.",
        ),
    ]


def _words_table(caption: str, part: pd.DataFrame, alpha: float) -> Table:
    classes = list(part["class"].unique())
    strength = part.assign(size=part["correlation"].abs()).groupby("word")["size"].max()
    chosen = strength.sort_values(ascending=False, kind="stable").index[:MOST]
    by_name = {
        (row.word, row.name): row for row in part.rename(columns={"class": "name"}).itertuples(index=False, name="Word")
    }
    rows = []
    for word in chosen:
        first = by_name[word, classes[0]]
        of_classes = [_cell(by_name[word, name], alpha) for name in classes]
        rows.append((word, [*of_classes, Cell(f"{first.marked:,}"), Cell(f"{first.unmarked:,}")]))
    columns = [("Correlation with", classes), ("Times", ["marked", "not marked"])]
    return Table(caption, ("", "Word"), columns, [("", rows)])


def _cell(row, alpha: float) -> Cell:
    return Cell(signed(row.correlation), f"z {signed(row.z, 1)}, adjusted p {row.p:.2g}", bold=bool(row.p <= alpha))
