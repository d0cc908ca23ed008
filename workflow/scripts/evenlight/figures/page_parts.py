"""What the pages of the study share: rows of models and explainers, letters and colours of the levels."""

from collections.abc import Callable

from evenlight.figures.html_table import Cell

# Blue for the first group of a pair, orange for the second, at full strength; always beside a letter.
BETTER_COLOURS = ((125, 184, 232), (245, 166, 91))


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


def rows_by_model(models: dict[str, str], explainers: dict[str, str], cells: Callable[[str, str], list[Cell]]) -> list:
    """The rows of a table of every model and explainer (names to labels), with what ``cells`` gives for their names."""
    return [
        (model_label, [(label, cells(model, explainer)) for explainer, label in explainers.items()])
        for model, model_label in models.items()
    ]
