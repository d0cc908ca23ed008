"""The trainings with several learning rates as a page."""

import pandas as pd

from evenlight.core.contracts.results import LEARNING_RATES
from evenlight.reports.entries import Shown
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.questions import CELL, LIMITS, SURE

TABLES = (LEARNING_RATES,)


def shown(study) -> Shown | None:
    """Where several learning rates are tried of models that are trained here."""
    if not (study.config["learning_rates"] and study.trained_here):
        return None
    return Shown("Models", study.shown("datasets", "models"))


def page(tried: pd.DataFrame, *, datasets: dict[str, str], models: dict[str, str]) -> Page:
    """Validation accuracy and loss by learning rate, from
    :func:`evenlight.statistics.analyses.learning_rates.learning_rates`; the best of a model is bold."""
    rates = sorted(tried["learning_rate"].unique(), reverse=True)
    by_names = {(row.dataset, row.model, row.learning_rate): row for row in tried.itertuples(index=False)}

    def cell(*names) -> Cell:
        row = by_names.get(names)
        if row is None:
            return Cell("–")
        if pd.isna(row.epoch):
            return Cell("diverged")
        title = f"validation loss {row.validation_loss:.4f} in epoch {row.epoch:.0f}"
        return Cell(f"{100 * row.validation_accuracy:.1f}", title=title, bold=bool(row.chosen))

    trained = [name for name in models if name in set(tried["model"])]
    rows = [
        (label, [(models[model], [cell(dataset, model, rate) for rate in rates]) for model in trained])
        for dataset, label in datasets.items()
    ]
    introduction = (
        "Which learning rate suits each model? "
        f"Of {len(tried):,} trainings, {tried['epoch'].isna().sum():,} diverged. "
        "A cell has the accuracy on the validation split in percent. "
        "Bold is the highest of a model; of several that with the lowest loss."
    )
    details = [
        (CELL, "The accuracy is of the epoch with the lowest validation loss."),
        (SURE, "There is one training each, with the first seed."),
        (LIMITS, "The rates of the study are those of its trainings, whatever stands here."),
    ]
    table = Table("By learning rate", ("Dataset", "Model"), [("Learning rate", [f"{rate:g}" for rate in rates])], rows)
    return Page("Learning rates", introduction, [table], details=details)
