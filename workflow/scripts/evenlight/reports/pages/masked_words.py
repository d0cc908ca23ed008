"""How probable masked language models find the words of texts as a page: by strategy and group."""

import math

import pandas as pd

from evenlight.core.contracts.results import MASKED_SUMMARY
from evenlight.reports.entries import Drawn, Shown
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.questions import CELL, HOLDS, SURE
from evenlight.reports.text import signed

TABLES = (MASKED_SUMMARY,)
LABELS = {
    "likelihood": "−Σ log p of the words' tokens",
    "released": "−Σ log of the largest p (released code)",
}


def shown(study) -> Shown | None:
    """In a study of strategies that asks for masked words, and has models that may be masked language models."""
    if study.config["kind"] != "strategies" or not (study.config["masked_words"] and study.masked_models()):
        return None
    strategies = study.config["statistics"]["strategies"]
    return Shown(
        "Models",
        study.shown("datasets", strategies=strategies, **study.of_statistics("confidence")),
        figures={
            "masked_words": Drawn(
                "How probable the words of the texts are before and after each training, by group.",
                "masked_words/{dataset}",
                study.drawn_of_dataset(strategies=strategies),
                shows="masked words",
            )
        },
    )


def page(
    table: pd.DataFrame, *, datasets: dict[str, str], strategies: dict[str, dict[str, str]], confidence: float
) -> Page:
    """A table per dataset and score, from :func:`evenlight.statistics.analyses.masked_words.masked_summary`."""
    tables = []
    for dataset, label in datasets.items():
        for score, said in LABELS.items():
            part = table[(table["dataset"] == dataset) & (table["score"] == score)]
            means = list(dict.fromkeys((level, None) for level in part.loc[part["level_b"].isna(), "level_a"]))
            both = part[part["level_b"].notna()]
            pairs = list(dict.fromkeys(zip(both["level_a"], both["level_b"], strict=True)))
            rows = {
                (row.model, row.level_a, None if pd.isna(row.level_b) else row.level_b): row
                for row in part.itertuples(index=False)
            }
            of_architectures = [
                (
                    name,
                    [(strategy, [_cell(rows[model, *key]) for key in [*means, *pairs]]) for strategy, model in asked],
                )
                for name, models in strategies.items()
                if (
                    asked := [(strategy, model) for strategy, model in models.items() if (part["model"] == model).any()]
                )
            ]
            columns = [
                ("Mean", [level for level, _ in means]),
                ("Difference", [f"{level_a} − {level_b}" for level_a, level_b in pairs]),
            ]
            if of_architectures:
                caption = f"{said} on {label}"
                tables.append(Table(caption, ("Architecture", "Strategy"), columns, of_architectures))
    introduction = (
        "How improbable does a masked language model find the words of a text that are no ground truth? "
        f"{_said_of_differences(table)}"
        f"A cell has a mean in nats, or a difference of two groups, with its {confidence:.0%} interval."
    )
    return Page("Masked words", introduction, tables, details=DETAILS)


DETAILS = [
    (
        CELL,
        "Each word is masked in turn. The first score is of the words that are there, token by token (CrowS-Pairs). "
        "The second is how unsure the model is of whatever it would put there, as GECOBench's released code has it. "
        "Cells have means over texts and seeds.",
    ),
    (
        "Which models are asked?",
        "The body of a model that was trained to classify stands below the head of the masked language model that it "
        "began as.",
    ),
    (HOLDS, "Intervals are for these trained models and further texts."),
    (SURE, "A difference is bold where its interval has not 0."),
]


def _said_of_differences(table: pd.DataFrame) -> str:
    ends = table.loc[table["level_b"].notna(), ["low", "high"]].dropna()
    if ends.empty:
        return ""
    apart = ((ends["low"] > 0) | (ends["high"] < 0)).sum()
    return f"Of {len(ends):,} differences between groups, {apart:,} have an interval without 0 (bold). "


def _cell(row) -> Cell:
    text = signed(row.value, 2)
    if not math.isnan(row.low):
        text += f" [{signed(row.low, 2)}, {signed(row.high, 2)}]"
    if pd.isna(row.level_b):
        return Cell(text, f"{row.units:,} texts, {row.seeds} seeds")
    return Cell(text, f"{row.units:,} pairs", None, row.low > 0 or row.high < 0)
