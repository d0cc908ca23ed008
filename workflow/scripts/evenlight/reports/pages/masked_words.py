"""How probable masked language models find the words of texts as a page: by regime and group."""

import math

import pandas as pd

from evenlight.core.contracts.results import MASKED_SUMMARY
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.plots.masked_words import LABELS
from evenlight.reports.text import signed

TABLES = (MASKED_SUMMARY,)


def page(
    table: pd.DataFrame, *, datasets: dict[str, str], regimes: dict[str, dict[str, str]], confidence: float
) -> Page:
    """A table per dataset and score, from :func:`evenlight.statistics.masked_words.masked_summary`."""
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
                (name, [(regime, [_cell(rows[model, *key]) for key in [*means, *pairs]]) for regime, model in asked])
                for name, models in regimes.items()
                if (asked := [(regime, model) for regime, model in models.items() if (part["model"] == model).any()])
            ]
            columns = [
                ("Mean", [level for level, _ in means]),
                ("Difference", [f"{level_a} − {level_b}" for level_a, level_b in pairs]),
            ]
            if of_architectures:
                caption = f"{said} on {label}"
                tables.append(Table(caption, ("Architecture", "Regime"), columns, of_architectures))
    introduction = (
        "How improbable does a masked language model find the words of a text that are no ground truth, each masked in "
        "turn, in nats? The body of a model that was trained to classify stands below the head of the masked language "
        "model that it began as. The first score is of the words that are there, token by token (CrowS-Pairs); "
        "the second is how unsure the model is of whatever it would put there, as GECOBench's released code has it. "
        "Means "
        f"over texts and seeds with the {confidence:.0%} interval for these trained models and further texts; a "
        "difference is bold where its interval has not 0, and a pointer on it tells its p, which is not adjusted."
    )
    return Page("Masked words", introduction, tables)


def _cell(row) -> Cell:
    text = signed(row.value, 2)
    if not math.isnan(row.models_low):
        text += f" [{signed(row.models_low, 2)}, {signed(row.models_high, 2)}]"
    if pd.isna(row.level_b):
        return Cell(text, f"{row.units:,} texts, {row.seeds} seeds")
    title = f"p {row.p_models:.3g} for these trained models, {row.p:.3g} across retraining; {row.units:,} pairs"
    return Cell(text, title, None, row.models_low > 0 or row.models_high < 0)
