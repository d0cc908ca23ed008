"""The effects over all seeds as pages: intervals and verdicts, and what each way of testing finds."""

from collections.abc import Mapping, Sequence

import pandas as pd

from evenlight.core.contracts.results import BALANCED_ACCURACY, EFFECTS, TEST_COUNTS, VERDICT_CONTROL
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.page_parts import rows_by_model, said_of_single_runs
from evenlight.reports.questions import CELL, ELSE, HOLDS, READ, SURE, answer, answered
from evenlight.reports.text import signed, three_digits
from evenlight.statistics.chance_level import said_of_chance
from evenlight.statistics.intervals import share_interval
from evenlight.statistics.study import (
    DRAWS,
    FURTHER,
    REPETITIONS,
    TRAININGS,
    Comparison,
    MetricLabel,
    comparisons_in,
    factor_in_brackets,
    repeated_in,
)
from evenlight.statistics.verdicts import CONTROL, EXPLORATORY, PRIMARY, STUDY, UNDECIDABLE, UNDECIDED

TABLES = (EFFECTS, TEST_COUNTS, VERDICT_CONTROL, BALANCED_ACCURACY)
# A sign and a colour each (Okabe and Ito, lightened), so that neither stands alone; for these trained models, or these
# answers, alone in brackets.
FOR_THESE = {
    "disparity": ("(≠)", "#fbe8d6"),
    "negligible disparity": ("(≈)", "#f9ecf3"),
    "equivalent": ("(=)", "#e3f2fb"),
}
VERDICTS = {
    "disparity": ("≠", "#f5c9a0"),
    "negligible disparity": ("≈", "#f0d4e3"),
    "equivalent": ("=", "#b5dcf3"),
    **{f"{claim} for {these}": sign for these in REPETITIONS.values() for claim, sign in FOR_THESE.items()},
    # Grey: white would look like a test that was passed.
    UNDECIDED: ("?", "#d0d4d9"),
    UNDECIDABLE: ("–", "#d0d4d9"),
}


HEADINGS = {
    "mann_whitney": "Mann–Whitney",
    "mann_whitney_bh": "…, Benjamini–Hochberg",
    "mann_whitney_holm": "…, Holm",
    "van_elteren": "within strata",
    "signed_rank": "signed-rank",
    "signed_rank_bh": "…, Benjamini–Hochberg",
    "signed_rank_holm": "…, Holm",
    "sign_flip": "sign-flip",
    "mean_d_significant": "mean |d|, significant",
    "mean_d_all": "mean |d|, all",
}


# Among which cells the control by permuted labels counts disparities.
CLAIMS = {
    STUDY: "among the study's questions",
    PRIMARY: "among primary hypotheses",
    EXPLORATORY: "among exploratory questions",
    CONTROL: "among random or attainable explanations and groups by chance, which are no question",
}
# What the caption of a table says of its family of cells.
FAMILIES = {
    STUDY: "",
    PRIMARY: ", primary hypothesis",
    EXPLORATORY: ", exploratory",
    CONTROL: ", random explanations or groups (a control)",
}


def page(
    effects: pd.DataFrame,
    counts: pd.DataFrame,
    control: pd.DataFrame,
    balanced: pd.DataFrame | None = None,
    *,
    datasets: dict[str, str],
    models: dict[str, str],
    explainers: dict[str, str],
    metrics: dict[str, MetricLabel],
    equivalence_bound: float,
    confidence: float,
) -> Page:
    """A page from :func:`evenlight.statistics.effects.effect_table`,
    :func:`evenlight.statistics.counts.count_tests` and
    :func:`evenlight.statistics.verdict_control.permuted_verdicts`: what the tests find, then every cell.

    First stands which models only guess, from :func:`evenlight.statistics.model_quality.balanced_accuracies`; None
    where models predict nothing.
    """
    single = (effects["seeds"] <= 1).all()
    introduction = (
        "How far are the scores of two groups apart? "
        f"{answer(effects.loc[effects['family'] != CONTROL, 'verdict'])}"
        f"A cell has its verdict, the mean difference in standard deviations, the {confidence:.0%} interval, and n."
    )
    parts = [_count_table(counts, datasets, metrics)]
    pairs = comparisons_in(effects)
    for (dataset, *compared), of_dataset in effects.groupby(["dataset", "factor", "level_a", "level_b"], sort=False):
        pair = Comparison(*compared)
        for family in FAMILIES:
            cells = of_dataset[of_dataset["family"] == family]
            if len(cells):
                versus = f"{pair.level_a} against {pair.level_b}{factor_in_brackets(pair, pairs)}"
                caption = f"Pooled effect, {versus}{FAMILIES[family]}"
                names = ({name: label for name, label in explainers.items() if name in set(cells["explainer"])},)
                names += ({name: metric for name, metric in metrics.items() if name in set(cells["metric"])},)
                parts.append(_effect_table(caption, datasets[dataset], cells, models, *names))
    title = "Effects" if single else "Effects over all seeds"
    warnings = [] if balanced is None else said_of_chance(balanced, datasets, models)
    details = _details(effects, control, models, confidence)
    return Page(
        title,
        introduction,
        parts,
        legend_of(equivalence_bound, repeated_in(effects)),
        warnings=warnings,
        details=details,
    )


def _details(
    effects: pd.DataFrame, control: pd.DataFrame, models: dict[str, str], confidence: float
) -> list[tuple[str, str]]:
    of_these = these(repeated_in(effects))
    return answered(
        (
            CELL,
            "The sign is the verdict. The number is the mean difference in standard deviations of the scores, over all "
            "runs of a model. It is positive where the first-named group has the higher scores. In square brackets "
            f"stands its {confidence:.0%} interval for {of_these} and further sentences. The number n says on how many "
            "pairs it rests. Without pairs, n is the number of texts in the first and in the second group. Variants of "
            "one text count once. Copies of a text count each, though equal texts are one cluster.",
        ),
        *about_verdicts(effects, models),
        ("What does chance alone find?", said_of_control(control, repeated_in(effects))),
        (
            ELSE,
            f"The first table counts significant tests of single seeds, for {of_these}. A pointer on a cell of the "
            "other tables tells its robustness against an unmeasured confounder (Cinelli and Hazlett 2020). Such a "
            "confounder is associated with the group and with the scores. Robustness is the share that it would "
            "have to explain of the variance of the group, and of what is left of the scores. With that share the "
            "effect would be none, or, for the robustness of significance, not significant.",
        ),
    )


# What a verdict without brackets takes.
TAKES = {
    TRAININGS: "That takes several runs, and with few of them large effects. ",
    DRAWS: (
        "Scores of a question are means of its answers. A verdict for further answers takes several of each form, and "
        "with few of them large effects. What answers vary by from question to question, the intervals always have. "
    ),
}


# In which simulated studies claims are wrong as often as they are meant to be.
SIMULATED = {
    TRAININGS: (
        "For these trained models it is so in all simulated studies, drawn from real scores or made. Across retraining "
        "it is so where runs differ as normal numbers do. Where one run in ten goes wrong, most studies of a few runs "
        "have a wrong claim."
    ),
    DRAWS: (
        "For these answers, and for further ones, it is so in all simulated studies of counts, shares and skewed "
        "scores, whether or not draws have something in common."
    ),
}


def about_verdicts(effects: pd.DataFrame, models: dict[str, str]) -> list[tuple[str, str]]:
    """For what the verdicts of the effects hold, how sure they are, and which of them are a hypothesis."""
    repeated = repeated_in(effects)
    trained = effects[effects["repeated"].fillna(TRAININGS) == TRAININGS] if "repeated" in effects else effects
    further = these(repeated, FURTHER)
    of_runs = "" if trained.empty else f"{_said_of_runs(trained)}{said_of_single_runs(trained, models)}"
    return answered(
        (
            HOLDS,
            f"A verdict in brackets holds for {these(repeated)}. One without brackets holds for {further}. "
            f"{''.join(TAKES[name] for name in repeated)}{of_runs}",
        ),
        (
            SURE,
            "An interval is of each cell alone. A pointer on a cell tells the one that holds for all cells at once. "
            "Intervals have a reserve for units that nobody saw. Verdicts are adjusted over all cells of a family. "
            "Of each kind of claim, the chance that any is wrong is meant to be the study's level. "
            f"{' '.join(SIMULATED[name] for name in repeated)}",
        ),
        ("Which cells are a hypothesis?", _said_of_families(effects)),
        READ,
    )


def legend_of(equivalence_bound: float, repeated: Sequence[str] = (TRAININGS,)) -> list[tuple[Cell, str]]:
    """What the signs of the verdicts say, where this is ``repeated``."""
    said = meanings(equivalence_bound)
    return [
        (Cell(sign, background=colour), f"{verdict}: {said[verdict]}" if verdict in said else verdict)
        for verdict, (sign, colour) in VERDICTS.items()
        if verdict in said or verdict.endswith(tuple(REPETITIONS[name] for name in repeated))
    ]


def these(repeated: Sequence[str], words: Mapping[str, str] = REPETITIONS) -> str:
    """The repetitions that a study has, or further ones (:data:`evenlight.statistics.study.FURTHER`), in words.

    >>> these(["draws"]), these(["trainings", "draws"])
    ('these answers', 'these trained models or these answers')
    """
    return " or ".join(words[name] for name in repeated)


def meanings(equivalence_bound: float) -> dict[str, str]:
    """What verdicts say; those for these trained models say the same, of fewer models."""
    within = f"smaller than {equivalence_bound:g} standard deviations, or than the metric's own bound"
    return {
        "disparity": "the effect is not zero",
        "negligible disparity": f"not zero, and {within}",
        "equivalent": f"{within}, in either direction",
        UNDECIDED: "this study is too small to tell",
        UNDECIDABLE: "scores that are all the same, or too few units that differ",
    }


def _said_of_families(effects: pd.DataFrame) -> str:
    counts = effects["family"].value_counts()
    undecidable = int((effects["verdict"] == UNDECIDABLE).sum())
    said = ""
    if PRIMARY in counts:
        said += (
            f"The primary hypothesis has {counts[PRIMARY]:,} cells, which were named beforehand. The "
            f"{counts.get(EXPLORATORY, 0):,} others are exploratory, and what they show has to be shown again. "
        )
    if CONTROL in counts:
        said += (
            f"The {counts[CONTROL]:,} cells of random explanations or groups are no hypothesis, and a family apart. "
        )
    return said + (f"{undecidable:,} of {len(effects):,} cells are not decidable. " if undecidable else "")


def _said_of_runs(effects: pd.DataFrame) -> str:
    """In how many cells one run lies apart, where there are runs enough to see that."""
    several = effects[(effects["seeds"] > 2) & effects["trainings_error"].notna()]
    if several.empty:
        return ""
    return (
        f"In {several['apart_seed'].notna().sum():,} of {len(several):,} cells one run lies apart from the others "
        "(Grubbs' test, at the study's level). Of runs that differ normally as large a share lies apart by chance. "
        "There a statement about retraining stands on little. "
    )


def said_of_control(control: pd.DataFrame, repeated: Sequence[str] = (TRAININGS,)) -> str:
    """In how many permutations of the labels there is a verdict of disparity, by family, and what that does not tell.

    >>> said_of_control(pd.DataFrame({"family": "study", "cells": 9, "disparities_of_models": [0, 2]}))[:95]
    "With the labels of the groups permuted, 1 of 2 studies has any disparity among the study's ques"
    """
    said = []
    for family, part in control.groupby("family", sort=False):
        found = part["disparities_of_models"]
        count = int((found > 0).sum())
        low, high = share_interval(count, len(part))
        has = "has" if count == 1 else "have"
        said.append(
            f"{count} of {len(part)} studies {has} any disparity {CLAIMS[family]} ({low:.0%} to {high:.0%}; "
            f"{found.sum():,} of {part['cells'].sum():,} cells). "
        )
    if not said:
        return ""
    return (
        f"With the labels of the groups permuted, {''.join(said)}In brackets stands the 95% interval of the share that "
        "so few permutations leave open. Permuted labels are exchangeable, and no repetition differs between them. So "
        f"this control is of statements about {these(repeated)}. It sees nothing of what repetitions do to the others. "
    )


def _count_table(counts: pd.DataFrame, datasets: dict[str, str], metrics: dict[str, MetricLabel]) -> Table:
    measures = [column for column in counts.columns if column not in ("dataset", "metric")]
    headings = [HEADINGS.get(column, column.replace("_", " ")) for column in measures]
    rows = []
    for dataset, label in datasets.items():
        part = counts[counts["dataset"] == dataset].set_index("metric")
        cells = [
            (metric.label, [_count_cell(column, part.loc[name, column]) for column in measures])
            for name, metric in metrics.items()
            if name in part.index
        ]
        if cells:
            rows.append((label, cells))
    return Table(
        "Tests of single seeds, all models and explainers", ("Dataset", "Metric"), [("Counts", headings)], rows
    )


def _count_cell(column: str, value: float) -> Cell:
    if pd.isna(value):
        return Cell("–", "no test is significant" if column == "mean_d_significant" else "no pairs")
    return Cell(signed(value) if column.startswith("mean") else str(int(value)))


def _effect_table(
    caption: str,
    dataset: str,
    effects: pd.DataFrame,
    models: dict[str, str],
    explainers: dict[str, str],
    metrics: dict[str, MetricLabel],
) -> Table:
    by_names = {(row.model, row.explainer, row.metric): row for row in effects.itertuples(index=False)}
    rows = rows_by_model(
        models, explainers, lambda *row: [effect_cell(by_names.get((*row, metric))) for metric in metrics]
    )
    columns = [(dataset, [metric.label for metric in metrics.values()])]
    return Table(caption, ("Model", "Explainer"), columns, rows)


def effect_cell(row) -> Cell:
    """One cell; ``row`` is a row of the effects, or None where nothing was tested."""
    if row is None:
        return Cell("–", "not tested: the metric has no defined scores")
    sign, colour = VERDICTS[row.verdict]
    of_draws = getattr(row, "repeated", None) == DRAWS
    if row.verdict == UNDECIDABLE:
        return Cell(sign, f"{row.verdict}: {row.reason}", colour)
    units = f"{row.units_a:,}" if row.paired else f"{row.units_a:,} + {row.units_b:,}"
    ends = (row.difference, row.models_low, row.models_high, row.family_low, row.family_high)
    of_scores = [three_digits(value) for value in ends]
    interval = f"[{signed(row.standardised_models_low)}, {signed(row.standardised_models_high)}]"
    title = (
        f"{row.verdict}; difference {of_scores[0]} [{of_scores[1]}, {of_scores[2]}], of all cells "
        f"at once [{of_scores[3]}, {of_scores[4]}]; Cliff's delta {signed(row.cliffs_delta)}; adjusted p "
        f"for {REPETITIONS[DRAWS if of_draws else TRAININGS]} {row.p_models_adjusted:.2g}, of equivalence "
        f"{row.p_models_equivalence_adjusted:.2g}; {_about_trainings(row, of_draws)}smallest detectable effect "
        f"{signed(row.detectable_pooled)}; robustness {row.robustness:.0%}, of significance "
        f"{row.robustness_significance:.0%}{_contradiction(row)}"
    )
    bold = row.verdict.startswith("disparity")
    if not pd.isna(getattr(row, "look", None)):
        title += f"; first found by look {row.look:.0f}"
    if row.left_out_seeds:
        title += f"; left out, with too few scores: seed {row.left_out_seeds}"
    return Cell(f"{sign} {signed(row.standardised)} {interval} n {units}", title, colour, bold)


def _about_trainings(row, of_draws: bool) -> str:
    if pd.isna(row.p_adjusted):
        return ""
    runs = f"; single runs {three_digits(row.lowest_seed)} to {three_digits(row.highest_seed)}{_apart(row)}"
    return (
        f"for {FURTHER[DRAWS if of_draws else TRAININGS]} "
        f"[{signed(row.standardised_low)}, {signed(row.standardised_high)}], "
        f"adjusted p {row.p_adjusted:.2g}, of equivalence {row.p_equivalence_adjusted:.2g}{'' if of_draws else runs}; "
    )


def _apart(row) -> str:
    return "" if pd.isna(row.apart_seed) else f", seed {row.apart_seed} apart from the others"


def _contradiction(row) -> str:
    """What is to be said where the mean and the ranks point in opposite directions."""
    opposite = row.difference * row.cliffs_delta < 0
    return "; the mean and Cliff's delta point in opposite directions" if opposite else ""
