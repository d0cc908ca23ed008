"""Explainers that challenge all others as a page: the verdict on each, and its difference from every other one."""

import math

import pandas as pd

from evenlight.core.contracts.results import CHALLENGER_PAIRS, CHALLENGERS
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.questions import CELL, HOLDS, LIMITS, SURE
from evenlight.reports.text import signed
from evenlight.statistics.challengers import BEHIND, BEST
from evenlight.statistics.study import ALL, MetricLabel

TABLES = (CHALLENGERS, CHALLENGER_PAIRS)
ALL_MODELS = "all models together"


def page(
    verdicts: pd.DataFrame,
    pairs: pd.DataFrame,
    *,
    datasets: dict[str, str],
    explainers: dict[str, str],
    metrics: dict[str, MetricLabel],
    challengers: list[str],
    regimes: dict[str, dict[str, str]],
    confidence: float,
) -> Page:
    """A table per dataset and metric, from :func:`evenlight.statistics.challengers.challenger_tables`."""
    models = {ALL: ALL_MODELS} | {
        model: f"{architecture} {regime}" for architecture, of in regimes.items() for regime, model in of.items()
    }
    keys = ["dataset", "metric", "explainer", "model"]
    rows = {tuple(getattr(row, key) for key in keys): row for row in verdicts.itertuples(index=False)}
    beside = {tuple(getattr(row, key) for key in [*keys, "other"]): row for row in pairs.itertuples(index=False)}
    others = [name for name in explainers if name not in challengers]
    tables = []
    for dataset, label in datasets.items():
        for name, metric in metrics.items():
            of_challengers = []
            for challenger in challengers:
                of_models = [
                    (said, _cells(rows.get(cell), [beside.get((*cell, other)) for other in others], explainers))
                    for model, said in models.items()
                    for cell in [(dataset, name, challenger, model)]
                    if cell in rows
                ]
                of_challengers += [(explainers[challenger], of_models)] if of_models else []
            columns = [
                ("", ["verdict", "mean", "best rival"]),
                ("Difference from", [explainers[o] for o in others]),
            ]
            caption = f"{metric.label_with_direction} on {label}"
            tables.append(Table(caption, ("Explainer", "Model"), columns, of_challengers))
    introduction = (
        "Is an explainer better than all others that ask the model? "
        f"{_said_of_verdicts(verdicts['verdict'])}"
        "A row has the verdict, the explainer's mean, its best rival, and its difference from every other explainer."
    )
    return Page("Challengers", introduction, tables, details=_details(confidence))


def _said_of_verdicts(verdicts: pd.Series) -> str:
    """How often each verdict is given.

    >>> _said_of_verdicts(pd.Series([BEST, f"{BEST} for these trained models", "undecided"]))
    'Of 3 times that this is asked, it is in 2, it is not the best in 0, and the answer is open in 1. '
    """
    best, behind = (int(verdicts.str.startswith(claim).sum()) for claim in (BEST, BEHIND))
    if verdicts.empty:
        return ""
    return (
        f"Of {len(verdicts):,} times that this is asked, it is in {best:,}, it is not the best in {behind:,}, and the "
        f"answer is open in {len(verdicts) - best - behind:,}. "
    )


def _details(confidence: float) -> list[tuple[str, str]]:
    return [
        (
            CELL,
            "Differences are of the same texts, run by run. They are bold where the "
            f"{confidence:.0%} interval in brackets has not 0. A pointer on a cell tells the p of this pair alone, or "
            "those of a verdict.",
        ),
        (
            "When is an explainer better than all others?",
            "It is where it is better than each of them, so that the least convincing of these comparisons decides. It "
            "is not the best where any of them is better, which is adjusted for their number. Random explanations and "
            "yardsticks stand beside it and do not count.",
        ),
        (HOLDS, "Intervals are for these trained models and further texts."),
        (
            SURE,
            "For all models together in the primary metrics, the p of a verdict is adjusted over challengers and "
            "datasets. All other verdicts are adjusted together, as exploratory.",
        ),
        (LIMITS, "Not decidable is what so few texts could not show among so many rows."),
    ]


def _cells(row, pairs: list, explainers: dict[str, str]) -> list[Cell]:
    best = next(pair for pair in pairs if pair is not None and pair.other == row.best_other)
    title = (
        f"better than all others: p {_p(row.p_best_models_adjusted)} for these trained models, "
        f"{_p(row.p_best_adjusted)} across retraining; not the best: {_p(row.p_behind_models_adjusted)}, "
        f"{_p(row.p_behind_adjusted)}"
    )
    return [
        Cell(row.verdict, f"{row.family}; {title}"),
        Cell(signed(best.mean, 3), f"{best.texts:,} texts, {best.seeds} seeds"),
        Cell(f"{explainers[row.best_other]}, {signed(best.mean_other, 3)}"),
        *map(_difference, pairs),
    ]


def _difference(pair) -> Cell:
    if pair is None:
        return Cell("–", "no texts with both scores")
    ends = f" [{signed(pair.models_low, 3)}, {signed(pair.models_high, 3)}]"
    text = signed(pair.difference, 3) + ("" if math.isnan(pair.models_low) else ends)
    title = f"p {_p(pair.p_models)} for these trained models, {_p(pair.p)} across retraining"
    return Cell(text, title, None, pair.models_low > 0 or pair.models_high < 0)


def _p(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3g}"
