"""On which words models rely, by group, as a page."""

import pandas as pd

from evenlight.core.contracts.results import GROUP_RELIANCE, PAIR_INVARIANCE, WORDS_BY_GROUP
from evenlight.core.kinds import TOKENS
from evenlight.reports.entries import Shown
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.page_parts import describe_single_runs
from evenlight.reports.questions import CELL, HOLDS, SURE, answered
from evenlight.reports.text import signed

TABLES = (PAIR_INVARIANCE, GROUP_RELIANCE, WORDS_BY_GROUP)
UNKNOWN = Cell("–")


def shown(study) -> Shown | None:
    """Where a study asks for reliance, and explains texts."""
    if not (study.config["reliance"] and study.explainers):
        return None
    settings = {"words_shown": study.config["reliance"]["words"], **study.of_statistics("confidence")}
    return Shown("Explainers", study.shown("datasets", "models", "explainers", of=TOKENS, **settings))


def page(
    pairs: pd.DataFrame,
    names: pd.DataFrame,
    words: pd.DataFrame,
    *,
    datasets: dict[str, str],
    models: dict[str, str],
    explainers: dict[str, str],
    words_shown: int,
    confidence: float,
) -> Page:
    """From :func:`evenlight.statistics.analyses.reliance.measure_reliance`; of each explainer the ``words_shown`` words
    with the largest mean shares, while the CSV file has all."""
    shown = []
    for dataset, dataset_label in datasets.items():
        for model, model_label in models.items():
            head = f"{dataset_label}, {model_label}"
            parts = [_of(table, dataset=dataset, model=model) for table in (pairs, names, words)]
            if len(parts[0]):
                shown.append(_pairs_table(f"{head}: the forms of a text", parts[0], explainers))
            if len(parts[1]):
                shown += _names_tables(head, parts[1], explainers)
            for explainer, explainer_label in explainers.items():
                part = _of(parts[2], explainer=explainer)
                if len(part):
                    shown += _words_tables(f"{head}, {explainer_label}", part, words_shown)
    introduction = (
        "On which words does a model rely, and is it the same for every group? "
        f"{_said_of_forms(pairs)}{_said_of_names(names)}"
        "A word's share is its score over the sum of the absolute scores of its text."
    )
    return Page("Words and groups", introduction, shown, details=_details(pairs, models, confidence))


def _said_of_forms(pairs: pd.DataFrame) -> str:
    known = pairs["beyond_null_low"].dropna()
    if known.empty:
        return ""
    return f"In {(known > 0).sum():,} of {len(known):,} rows, forms of a text differ more than repeated explanations. "


def _said_of_names(names: pd.DataFrame) -> str:
    largest = names["absolute"].max()
    if pd.isna(largest):
        return ""
    return f"Words that name the group have at most {signed(largest)} of a group's absolute scores. "


def _details(pairs: pd.DataFrame, models: dict[str, str], confidence: float) -> list[tuple[str, str]]:
    return answered(
        (
            CELL,
            f"Cells have means over texts of means over seeds. In brackets stand the {100 * confidence:g} % intervals.",
        ),
        (
            "What do the tables of forms have?",
            "They say how far the shares of the words that both forms have are apart: 0 where they are equal, and at "
            "most 1. They say their rank correlation, too. Words that name the group are left out. Beside it stands "
            "the same for the same text explained again with other random draws, and the distance beyond that. An "
            "explainer that draws nothing has 0 and 1 there. A cell has – where the study has no second explainer with "
            "the same settings.",
        ),
        (
            "What do the tables of words that name the group have?",
            "They have the share of these words in the absolute scores, and the share with its sign. With its sign, "
            "what speaks for the explained class is positive. A pointer tells what equal scores of all tokens would "
            "have.",
        ),
        (
            "What do the tables of words have?",
            "They have the mean share of a word over the texts of a group that have it, with the number of texts.",
        ),
        (HOLDS, describe_single_runs(pairs, models)),
        (
            SURE,
            "In the intervals, texts of one cluster are not taken for independent. Nothing is adjusted for the number "
            "of cells.",
        ),
    )


def _of(table: pd.DataFrame, **values: str) -> pd.DataFrame:
    for name, value in values.items():
        table = table[table[name] == value]
    return table


def _cell(row, name: str, title: str = "") -> Cell:
    value, low, high = (getattr(row, f"{name}{end}") for end in ("", "_low", "_high"))
    if pd.isna(value):
        return UNKNOWN
    ends = "" if pd.isna(low) else f" ({signed(low)} to {signed(high)})"
    return Cell(signed(value) + ends, title)


def _number(value: float) -> Cell:
    return UNKNOWN if pd.isna(value) else Cell(signed(value))


def _pairs_table(caption: str, rows: pd.DataFrame, explainers: dict[str, str]) -> Table:
    groups = []
    for (_, level_a, level_b), part in rows.groupby(["factor", "level_a", "level_b"], sort=False):
        lines = [
            (
                explainers[row.explainer],
                [
                    _cell(row, "distance", f"{row.pairs} pairs, {row.words:.1f} words in common"),
                    _number(row.null_distance),
                    _cell(row, "beyond_null"),
                    _cell(row, "rank_correlation"),
                    _number(row.null_rank_correlation),
                ],
            )
            for row in part.itertuples(index=False)
        ]
        groups.append((f"{level_a}, {level_b}", lines))
    columns = [("Distance", ["of forms", "repeated", "beyond"]), ("Rank correlation", ["of forms", "repeated"])]
    return Table(caption, ("Groups", "Explainer"), columns, groups)


def _names_tables(head: str, rows: pd.DataFrame, explainers: dict[str, str]) -> list[Table]:
    found = []
    for name, what in (("absolute", "absolute share"), ("signed", "share with its sign")):
        columns = [(factor, list(part["level"].unique())) for factor, part in rows.groupby("factor", sort=False)]
        lines = [
            (
                label,
                [
                    _names_cell(_of(rows, explainer=explainer, factor=factor, level=level), name)
                    for factor, levels in columns
                    for level in levels
                ],
            )
            for explainer, label in explainers.items()
        ]
        found.append(Table(f"{head}: words that name the group, {what}", ("", "Explainer"), columns, [("", lines)]))
    return found


def _names_cell(rows: pd.DataFrame, name: str) -> Cell:
    if not len(rows):
        return UNKNOWN
    row = next(rows.itertuples(index=False))
    return _cell(row, name, f"{row.texts} texts; {signed(row.tokens)} of the tokens")


def _words_tables(head: str, rows: pd.DataFrame, most: int) -> list[Table]:
    found = []
    for factor, part in rows.groupby("factor", sort=False):
        levels = list(part["level"].unique())
        groups = []
        for name, of_class in part.groupby("class", sort=False):
            largest = (
                of_class["share"].abs().groupby(of_class["word"]).max().sort_values(ascending=False, kind="stable")
            )
            by_word = {(row.word, row.level): row for row in of_class.itertuples(index=False)}
            lines = [
                (word, [_words_cell(by_word.get((word, level))) for level in levels]) for word in largest.index[:most]
            ]
            groups.append((name, lines))
        found.append(Table(f"{head}: words", ("Explained class", "Word"), [(factor, levels)], groups))
    return found


def _words_cell(row) -> Cell:
    if row is None:
        return UNKNOWN
    cell = _cell(row, "share")
    return Cell(f"{cell.text}, {row.texts}")
