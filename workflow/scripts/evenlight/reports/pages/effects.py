"""Who is explained better more often, as a page: wins, losses and ties of every comparison."""

import pandas as pd

from evenlight.core.contracts.results import BALANCED_ACCURACY, EFFECT_COUNTS, EFFECTS, VERDICT_CONTROL
from evenlight.reports.entries import COMPARED, Drawn, Shown
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.page_parts import Names, grouped_rows
from evenlight.reports.questions import CELL, LIMITS, READ, SURE, answered
from evenlight.reports.scored import NOTHING, told_rows
from evenlight.reports.text import percent, signed
from evenlight.reports.verdict_words import (
    EXPLAINED,
    FAMILIES,
    Words,
    describe_adjustment,
    describe_counts,
    describe_scope,
    legend_of,
    numbers_of,
    sentences,
    sign_of,
    without_seeds,
)
from evenlight.statistics.arrays.exact_tests import share_limits
from evenlight.statistics.comparisons.chance_level import describe_chance
from evenlight.statistics.comparisons.study import (
    CONTROL,
    EXPLORATORY,
    PRIMARY,
    STUDY,
    Comparison,
    comparisons_in,
    factor_in_brackets,
)
from evenlight.statistics.comparisons.wins import ALONE

TABLES = (EFFECTS, EFFECT_COUNTS, VERDICT_CONTROL, BALANCED_ACCURACY)
# Among which cells the control by permuted labels counts disparities.
CLAIMS = {
    STUDY: "among the study's questions",
    PRIMARY: "among primary hypotheses",
    EXPLORATORY: "among exploratory questions",
    CONTROL: "among random or attainable explanations and groups by chance, which are no question",
}


def shown(study) -> Shown | None:
    """Where a study compares: who is explained better more often, and how far apart scores are."""
    if study.has_scores:
        return _of_scores(study)
    if not study.is_comparing:
        return None
    of_all = study.names_compared()
    return Shown(
        study.kind.category,
        study.shown(*COMPARED, **of_all, **study.of_statistics("as_often_bound", "confidence")),
        # Beside verdicts, which models only guess.
        tables=TABLES[:-1] if study.answers_only else TABLES,
        verdicts=True,
        figures={
            "effects": Drawn(
                "Wins, ties and losses of every comparison on one dataset, with verdicts.",
                "effects/{dataset}",
                study.drawn_of_dataset(
                    *("models", "explainers", "metrics"),
                    **of_all,
                    **study.effects_drawn(),
                    **study.modalities_drawn(),
                    **study.of_statistics("confidence"),
                ),
                shows="effects",
                on={"dataset": study.compared_datasets()} if study.config["kind"] == "disparity" else {},
            )
        },
    )


def _of_scores(study) -> Shown:
    """The verdicts on a table of scores, without what only explanations and models have."""
    about = "Wins, ties and losses of every comparison, the largest surplus first."
    return Shown(
        study.kind.category,
        study.scores_told("as_often_bound", "confidence"),
        tables=TABLES[:3],
        verdicts=True,
        figures={"verdicts": Drawn(about, "verdicts", study.scores_told(), shows="verdicts")},
    )


def page(
    effects: pd.DataFrame,
    effect_counts: pd.DataFrame,
    control: pd.DataFrame | None = None,
    balanced: pd.DataFrame | None = None,
    *,
    names: Names,
    as_often_bound: float,
    confidence: float,
    words: Words = EXPLAINED,
) -> Page:
    """A page from :func:`evenlight.statistics.analyses.effects.effect_tables`: the counts, then every comparison.

    Behind them stands what permuted labels do
    (:func:`evenlight.statistics.analyses.verdict_control.permuted_verdicts`). Before them stands which models only
    guess (:func:`evenlight.statistics.analyses.model_quality.balanced_accuracy`), None where models predict nothing.
    Of a table of scores there are only the first three. ``words`` say how a group wins.
    """
    pairs = comparisons_in(effects)
    parts = []
    for (dataset, *compared), of_dataset in effects.groupby(["dataset", "factor", "level_a", "level_b"], sort=False):
        pair = Comparison(*compared)
        for family, said in FAMILIES.items():
            rows = of_dataset[of_dataset["family"] == family]
            if len(rows):
                versus = f"{pair.level_a} against {pair.level_b}{factor_in_brackets(pair, pairs)}{said}"
                size = int((effects["family"] == family).sum())
                parts.append(_verdict_table(versus, names.datasets[dataset], rows, names, size, words))
    return Page(
        f"Who {words.is_better} more often?",
        answer_of(effects, effect_counts, words),
        parts,
        legend_of(pairs, as_often_bound, words, set(effects["unit"])) if pairs else [],
        warnings=[] if balanced is None else describe_chance(balanced, names.datasets, names.models),
        details=_details(effects, control, confidence, words) if pairs else [],
    )


def answer_of(effects: pd.DataFrame, effect_counts: pd.DataFrame, words: Words = EXPLAINED) -> str:
    """The counts of all comparisons that are a question, in words; of those that were named beforehand, if any were."""
    question = f"Which group {words.is_better} more often?"
    family = next((name for name in (PRIMARY, STUDY, EXPLORATORY) if name in set(effect_counts["family"])), None)
    if family is None:
        return f"{question} Nothing was compared."
    asked = effects[effects["family"] == family]
    found = asked[asked["side"] != 0]
    apart = int(found["apart"].sum())
    return (
        f"{question} {describe_counts(asked, effect_counts, 'primary ' if family == PRIMARY else '')} A verdict names "
        f"{len(found):,}. " + (f"In {apart:,} of these the mean points the other way." if apart else "")
    ).strip()


def _verdict_table(versus: str, dataset: str, verdicts: pd.DataFrame, names: Names, size: int, words: Words) -> Table:
    columns = {name: metric for name, metric in names.metrics.items() if name in set(verdicts["metric"])}
    by_names = {(row.model, row.explainer, row.metric): row for row in verdicts.itertuples(index=False)}
    there = {name: label for name, label in names.explainers.items() if name in set(verdicts["explainer"])}
    rows = grouped_rows(
        names.models, there, lambda *row: [effect_cell(by_names.get((*row, name)), size, words) for name in columns]
    )
    headings = [metric.label_with_direction for metric in columns.values()]
    corner, rows = told_rows(("Model", "Explainer"), rows)
    columns = [("Metric" if dataset == NOTHING else dataset, headings)]
    return Table(f"Who {words.is_better}: {versus}", corner, columns, rows)


def effect_cell(row, size: int, words: Words = EXPLAINED) -> Cell:
    """One comparison of ``size``; ``row`` is a row of the effects, or None where nothing was compared."""
    if row is None:
        return Cell("–", "not compared: the metric has no defined scores")
    sign, colour = sign_of(row.verdict, row.side, row.level_a, row.level_b)
    numbers = numbers_of(row.wins, row.losses, row.ties, row.share)
    robust = f" Robustness {row.robustness:.0%}, of significance {row.robustness_significance:.0%}."
    robust = "" if pd.isna(row.robustness) else robust
    said = " ".join([f"{row.verdict}.", *sentences(row, size, words), f"Cliff's delta {signed(row.cliffs_delta)}."])
    return Cell(f"{sign} {numbers}", f"{said}{robust}{without_seeds(row)}", colour, bool(row.side))


def _details(
    effects: pd.DataFrame, control: pd.DataFrame | None, confidence: float, words: Words
) -> list[tuple[str, str]]:
    """How the cells are read, and how sure they are; what each comparison says stands in its cell."""
    asked = effects[effects["family"] != CONTROL]
    alone = asked["unit"].isin(ALONE)
    of_pairs = (
        "The letter is the verdict. Beside it stand the pairs that the first group wins, those that the second wins, "
        f"and ties. A pair is won by the {words.side} whose score is better by more than the margin. Where pairs share "
        "a cluster, the cluster has one vote. "
    )
    of_others = (
        "Without pairs, the number says how often, of a random one of the first group and one of the second, the first "
        f"{words.is_better}. It is no share of pairs. "
    )
    return answered(
        (
            CELL,
            of_pairs * bool((~alone).any()) + of_others * bool(alone.any()) + "A pointer on a cell tells it in "
            f"sentences. There stands the mean difference, too, with its {percent(confidence)} interval and no "
            "verdict. Its robustness is what an unmeasured confounder would have to explain (Cinelli and Hazlett "
            "2020).",
        ),
        (
            SURE,
            f"Verdicts are adjusted over both sides of all comparisons of a family. {describe_adjustment(effects)} "
            "Limits with all comparisons considered hold at the same level. Counts have it once more, and hold "
            f"together for every set of comparisons. {describe_scope(effects)}",
        ),
        ("What does chance alone find?", "" if control is None else describe_control(control)),
        (
            LIMITS,
            "Rare, large losses are invisible to a count of wins, as small, frequent ones are to a mean. Without a "
            f"margin that matters ({words.margin}), a tiny but regular difference is found in the end.",
        ),
        READ,
    )


def describe_control(control: pd.DataFrame) -> str:
    """In how many permutations of the labels there is a verdict of disparity, by family, and what that does not tell.

    >>> describe_control(pd.DataFrame({"family": "study", "cells": 9, "disparities": [0, 2]}))[:93]
    "With the labels of the groups permuted, 1 of 2 studies has any verdict among the study's ques"
    """
    said = []
    for family, part in control.groupby("family", sort=False):
        found = part["disparities"]
        count = int((found > 0).sum())
        low, high = share_limits(count, len(part), 0.025)
        has = "has" if count == 1 else "have"
        said.append(
            f"{count} of {len(part)} studies {has} any verdict {CLAIMS[family]} ({low:.0%} to {high:.0%}; "
            f"{found.sum():,} of {part['cells'].sum():,} cells). "
        )
    if not said:
        return ""
    return (
        f"With the labels of the groups permuted, {''.join(said)}In brackets stands the 95% interval of the share that "
        "so few permutations leave open. "
    )
