"""What the pages of the study share: rows of models and explainers, letters and colours of the levels."""

from collections.abc import Callable

import pandas as pd

from evenlight.reports.html_table import Cell

# Blue for the first group of a pair, orange for the second, at full strength; always beside a letter.
BETTER_COLOURS = ((125, 184, 232), (245, 166, 91))
# Of a model or an explainer that is not for a dataset.
NO_RUN = Cell("", "no such combination in the study")


def initials(level_a: str, level_b: str) -> tuple[str, str]:
    """The shortest beginnings of both names that tell them apart: M and F, or NON and NEU."""
    for length in range(1, max(len(level_a), len(level_b)) + 1):
        start_a, start_b = level_a[:length].upper(), level_b[:length].upper()
        if start_a != start_b:
            return start_a, start_b
    return level_a, level_b


def shade(colour: tuple[int, int, int], share: float) -> str:
    """``colour`` on white as ``#rrggbb``: the stronger, the larger the share of significant seeds."""
    strength = 0.25 + 0.75 * share
    return "#" + "".join(f"{round(255 - strength * (255 - part)):02x}" for part in colour)


def describe_single_runs(table: pd.DataFrame, models: dict[str, str]) -> str:
    """What a page must say of the models (names to labels) that have one run, if any; ``table`` has their ``seeds``.

    >>> table = pd.DataFrame({"model": ["a", "b", "b"], "seeds": [5, 1, 1]})
    >>> describe_single_runs(table, {"a": "A", "b": "B"})
    'One run each: B. What is said of it holds for these weights and not across retraining.'
    """
    most = table.groupby("model")["seeds"].max()
    single = [label for name, label in models.items() if most.get(name) == 1]
    if not single:
        return ""
    them = "it" if len(single) == 1 else "them"
    said = f"What is said of {them} holds for these weights and not across retraining."
    return f"One run each: {', '.join(single)}. {said}"


def models_of(strategies: dict[str, dict[str, str]]) -> dict[str, str]:
    """The models of all strategies, each with what it is called."""
    return {
        model: f"{architecture} {strategy}"
        for architecture, models in strategies.items()
        for strategy, model in models.items()
    }


def rows_by_model(models: dict[str, str], explainers: dict[str, str], cells: Callable[[str, str], list[Cell]]) -> list:
    """The rows of a table of every model and explainer (names to labels), with what ``cells`` gives for their names."""
    return [
        (model_label, [(label, cells(model, explainer)) for explainer, label in explainers.items()])
        for model, model_label in models.items()
    ]
