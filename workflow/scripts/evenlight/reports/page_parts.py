"""What the pages of the study share: rows of models and explainers, letters and colours of the levels."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import pandas as pd

from evenlight.reports.html_table import Cell
from evenlight.reports.text import span
from evenlight.statistics.comparisons.study import MetricLabel

# Blue for the first group of a pair, orange for the second, at full strength; always beside a letter.
BETTER_COLOURS = ((125, 184, 232), (245, 166, 91))
# Of a model or an explainer that is not for a dataset.
NO_RUN = Cell("", "no such combination in the study")


@dataclass(frozen=True)
class Names:
    """What a page has, in its order: names to labels."""

    datasets: Mapping[str, str] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    explainers: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, MetricLabel] = field(default_factory=dict)


def named(told: Mapping[str, Any]) -> dict[str, Any]:
    """What a page is told, with its labels, if it has any, as one value, ``names``.

    >>> named({"models": {"a": "A"}, "alpha": 0.05})["names"].models, named({"alpha": 0.05})
    ({'a': 'A'}, {'alpha': 0.05})
    """
    sections = {each.name for each in fields(Names)}
    labels = {name: value for name, value in told.items() if name in sections}
    others = {name: value for name, value in told.items() if name not in sections}
    return others | ({"names": Names(**labels)} if labels else {})


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


def describe_single_runs(table: pd.DataFrame, models: Mapping[str, str]) -> str:
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


def describe_accuracies(quality: pd.DataFrame, percent: bool = False) -> str:
    """Where the accuracies of all models lie, from rows of ``QUALITY``; empty where none is known."""
    means = quality.loc[(quality["measure"] == "accuracy") & (quality["subset"] == "all"), "mean"].dropna()
    if means.empty:
        return ""
    said = f"{span(100 * means, 1)} %" if percent else span(means, 3)
    return f"The accuracy on all texts is {said}. "


def models_of(strategies: dict[str, dict[str, str]]) -> dict[str, str]:
    """The models of all strategies, each with what it is called."""
    return {
        model: f"{architecture} {strategy}"
        for architecture, models in strategies.items()
        for strategy, model in models.items()
    }


def grouped_rows(
    groups: Mapping[str, str], rows: Mapping[str, str], cells: Callable[[str, str], list[Cell]]
) -> list[tuple[str, list[tuple[str, list[Cell]]]]]:
    """The same rows in every group of a table (names to labels), with what ``cells`` gives for the names of both."""
    return [
        (group_label, [(label, cells(group, row)) for row, label in rows.items()])
        for group, group_label in groups.items()
    ]
