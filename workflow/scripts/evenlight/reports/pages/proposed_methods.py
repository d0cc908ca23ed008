"""Explainers that challenge all others as a page: the verdict on each, and how often it is better than each other."""

from collections.abc import Mapping

import pandas as pd

from evenlight.core.contracts.results import PROPOSED_METHOD_PAIRS, PROPOSED_METHODS
from evenlight.reports.entries import Shown
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.page_parts import BETTER_COLOURS, Names, models_of, shade
from evenlight.reports.questions import CELL, HOLDS, LIMITS, SURE
from evenlight.reports.text import percent, signed
from evenlight.reports.verdict_words import GREY, numbers_of
from evenlight.statistics.analyses.proposed_methods import BEHIND, BEST
from evenlight.statistics.arrays.exact_tests import of_hundred
from evenlight.statistics.comparisons.study import ALL

TABLES = (PROPOSED_METHODS, PROPOSED_METHOD_PAIRS)
ALL_MODELS = "all models together"


def shown(study) -> Shown | None:
    """In a study of strategies that holds explainers against all others."""
    if study.config["kind"] != "strategies" or not study.proposed_methods():
        return None
    settings = study.of_statistics("proposed_methods", "strategies", "confidence")
    return Shown("Strategies", study.shown("datasets", "explainers", "metrics", **settings), verdicts=True)


def page(
    verdicts: pd.DataFrame,
    pairs: pd.DataFrame,
    *,
    names: Names,
    proposed_methods: list[str],
    strategies: dict[str, dict[str, str]],
    confidence: float,
) -> Page:
    """A table per dataset and metric, from
    :class:`evenlight.statistics.analyses.proposed_methods.CompareProposedMethods`."""
    models = {ALL: ALL_MODELS} | models_of(strategies)
    keys = ["dataset", "metric", "explainer", "model"]
    rows = {tuple(getattr(row, key) for key in keys): row for row in verdicts.itertuples(index=False)}
    beside = {tuple(getattr(row, key) for key in [*keys, "other"]): row for row in pairs.itertuples(index=False)}
    others = [name for name in names.explainers if name not in proposed_methods]
    columns = [
        ("", ["verdict", "mean", "best rival"]),
        ("Better, worse and as good as", [names.explainers[other] for other in others]),
    ]

    def lines(dataset: str, metric: str, proposed_method: str) -> list[tuple[str, list[Cell]]]:
        places = {(dataset, metric, proposed_method, model): said for model, said in models.items()}
        return [
            (said, _cells(rows[place], [beside.get((*place, other)) for other in others], names.explainers))
            for place, said in places.items()
            if place in rows
        ]

    tables = []
    for dataset, label in names.datasets.items():
        for name, metric in names.metrics.items():
            found = [(names.explainers[proposed], lines(dataset, name, proposed)) for proposed in proposed_methods]
            caption = f"{metric.label_with_direction} on {label}"
            tables.append(Table(caption, ("Explainer", "Model"), columns, [each for each in found if each[1]]))
    introduction = (
        "Is an explainer better than all others that ask the model? "
        f"{_said_of_verdicts(verdicts['verdict'])}"
        "A row has the verdict, the explainer's mean, its best rival, and how often it is better, worse and as good."
    )
    return Page("Proposed methods", introduction, tables, details=_details(confidence))


def _said_of_verdicts(verdicts: pd.Series) -> str:
    """How often each verdict is given.

    >>> _said_of_verdicts(pd.Series([BEST, BEST, "undecided"]))
    'Of 3 times that this is asked, it is in 2, it is not the best in 0, and the answer is open in 1. '
    """
    best, behind = (int((verdicts == claim).sum()) for claim in (BEST, BEHIND))
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
            "Beside each other explainer stand the texts that this one explains better, those that it explains worse, "
            "and ties. A text is explained better by the explainer whose score is better by more than the margin. "
            "Where texts share a cluster, the cluster has one vote. Counts are bold where the "
            f"{percent(confidence)} limits of the share of wins have no half. A pointer on a cell tells them, with the "
            "p of this pair alone.",
        ),
        (
            "When is an explainer better than all others?",
            "It is where it is better more often than each of them, so that the least convincing of these comparisons "
            "decides. It is not the best where any of them is better more often, which is adjusted for their number. "
            "Random explanations and references stand beside it and do not count.",
        ),
        (HOLDS, "All is said for these trained models and further texts."),
        (
            SURE,
            "For all models together in the primary metrics, the p of a verdict is adjusted over proposed methods and "
            "datasets, by Holm's method. All other verdicts are adjusted together, as exploratory.",
        ),
        (
            LIMITS,
            "An explainer that is better more often need not be so in the mean. The best rival is the one with the "
            "best mean.",
        ),
    ]


def _cells(row, pairs: list, explainers: Mapping[str, str]) -> list[Cell]:
    best = next(pair for pair in pairs if pair is not None and pair.other == row.best_other)
    title = (
        f"better than all others: p {row.p_best:.3g}; not the best: {row.p_behind:.3g}; adjusted {row.p_adjusted:.3g}"
    )
    colour = shade(BETTER_COLOURS[0 if row.side > 0 else 1], 0.5) if row.side else GREY
    return [
        Cell(row.verdict, f"{row.family}; {title}", colour),
        Cell(signed(best.mean, 3), f"{best.texts:,} texts, {best.seeds} seeds"),
        Cell(f"{explainers[row.best_other]}, {signed(best.mean_other, 3)}"),
        *map(_counts, pairs),
    ]


def _counts(pair) -> Cell:
    if pair is None:
        return Cell("–", "no texts with both scores")
    votes = pair.wins + pair.losses + pair.ties
    unit = "texts" if votes == pair.texts else "clusters of texts"
    said = f"better in {pair.wins:,} of {votes:,} {unit}, worse in {pair.losses:,}"
    if pair.wins + pair.losses:
        low, high = of_hundred(pair.low, pair.high)
        said += f"; in {low} to {high} of 100 decided ones"
    said += f"; p of better {pair.p_better:.3g}, of worse {pair.p_worse:.3g}; mean difference "
    said += f"{signed(pair.difference, 3)} [{signed(pair.difference_low, 3)}, {signed(pair.difference_high, 3)}]"
    apart = pair.low > 0.5 or pair.high < 0.5
    return Cell(numbers_of(pair.wins, pair.losses, pair.ties, pair.share), said, None, apart)
