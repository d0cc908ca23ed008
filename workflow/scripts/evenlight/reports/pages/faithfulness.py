"""Faithfulness as a page: each measure of the reasons of each model, beside what reasons in general would have."""

import numpy as np
import pandas as pd

from evenlight.core.contracts.results import EFFECTS, FAITHFULNESS
from evenlight.core.kinds import TEXT
from evenlight.reports.entries import COMPARED, Shown
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.questions import CELL, ELSE, HOLDS, LIMITS, READ, SURE, answered
from evenlight.reports.text import known, with_ends
from evenlight.reports.verdict_words import numbers_of
from evenlight.statistics.comparisons.study import ALL, MetricLabel

TABLES = (FAITHFULNESS, EFFECTS)
OF_CHANGES = {"changed": "decision changed", "moved": "answers moved", "impact": "impact"}
HEADINGS = ["value", "nothing named", "all named", "no effect"]
# What each measure cannot see.
BLIND = {
    "concept_faithfulness": (
        "Causal concept faithfulness ranks effects within a question, and does not see how large they are. Where no "
        "change does anything, it may be far from 0 by chance."
    ),
    "counterfactual_test": (
        "The counterfactual test is won by reasons that name everything, as a copy of the question does."
    ),
    "counterfactual_test_of_all": (
        "Over all changes, the test calls a decision faithful that never changes, whatever the reason says."
    ),
    "mention_gain": "The gain does not see changes that move the answers without turning the decision.",
    "correlational_test": (
        "CCT has no value where all reasons name the same. From few draws the impact is too high: two of them differ, "
        "too."
    ),
    "simulatability_gain": (
        "The simulatability gain is small where few changes turn the decision, however good the reasons are."
    ),
    "normalised_gain": (
        "NSG cannot tell a bad reason from a bad guesser, who here only reads whether a change is mentioned. Where few "
        "changes turn the decision, one mention of another change costs much."
    ),
    "hint_followed": "A hint that moves the model without turning its decision is not seen.",
    "hint_told": (
        "A hint is told where one of some words stands in the reason, whatever is said with it: a reason that repeats "
        "all that was asked tells it, too."
    ),
    "hint_faithfulness": "Hint faithfulness calls a model faithful that follows no hint, whatever its reasons say.",
    "counterfactual_consistency": (
        "Counterfactual consistency does not see how much an edit changes: a new text that says the opposite passes."
    ),
    "redaction_consistency": "Redaction consistency is won by a model that names all words of the text.",
    "redaction_gain": (
        "The redaction gain sees a word only where the decision is lost without it, and not where others say the same."
    ),
    "cc_shap": (
        "CC-SHAP does not read the reason: one that contradicts the decision passes, if the same words make it. In the "
        "last column the words' parts of the reason are in random order."
    ),
    "phi_correlational_test": "phi-CCT falls where few changes turn the decision, however good the reasons are.",
}

VERDICTS = (
    "The last table has verdicts: in how many pairs of questions one group has the better value. The values above are "
    "over all changes together."
)


def shown(study) -> Shown | None:
    """Where metrics ask whether reasons in words are faithful."""
    if not study.faithfulness_metrics():
        return None
    return Shown(
        "Explainers",
        study.shown(*COMPARED, of=TEXT, **study.of_statistics("confidence")),
        tables=TABLES if study.comparisons_of(TEXT) else TABLES[:-1],
        verdicts=True,
    )


def page(
    faithfulness: pd.DataFrame,
    effects: pd.DataFrame | None = None,
    *,
    datasets: dict[str, str],
    models: dict[str, str],
    explainers: dict[str, str],
    metrics: dict[str, MetricLabel],
    confidence: float,
) -> Page:
    """A page from :func:`evenlight.statistics.analyses.faithfulness.faithfulness_table` and the verdicts on its
    metrics."""
    of_all = faithfulness[(faithfulness["factor"] == ALL) & ~faithfulness["measure"].isin(OF_CHANGES)]
    # Whoever follows hints often has no better reasons for it, and of single answers nothing stands beside the value.
    higher = np.array([metrics[name].higher_is_better for name in of_all["metric"]], dtype=bool)
    counted = of_all[higher & of_all["null_high"].notna()]
    # With few draws the last column is a single number, so that the value's own chance counts, too.
    apart = int((counted[["value", "low"]].min(axis=1) > counted["null_high"]).sum())
    left_out = len(of_all) - len(counted)
    several = faithfulness.groupby(["model"])["seed"].nunique().max() > 1 if len(faithfulness) else False
    parts = []
    for dataset, of_dataset in faithfulness.groupby("dataset", sort=False):
        rows = []
        for (model, seed, explainer), of_run in of_dataset.groupby(["model", "seed", "explainer"], sort=False):
            label = f"{models[model]}, {explainers[explainer]}" + (f", seed {seed}" if several else "")
            for (factor, level), of_group in of_run.groupby(["factor", "level"], sort=False):
                group = "all questions" if factor == ALL else f"{factor}: {level}"
                measured = [
                    (_name(row, metrics), [_value(row), *map(_number, (row.silent, row.copier)), _null(row)])
                    for row in of_group.itertuples(index=False)
                ]
                rows.append((f"{label}: {group}", measured))
        parts.append(Table(datasets[dataset], ("Model and questions", "Measure"), [("", HEADINGS)], rows))
    verdicts = _verdicts(effects, faithfulness, datasets, models, explainers, metrics)
    blind = list(dict.fromkeys(_metric_of(row) for row in of_all.itertuples(index=False)))
    introduction = (
        "Do reasons name what moves the answers? "
        f"In {apart:,} of {len(counted):,} rows over all questions the value and its interval are above what it is "
        "where no change, and no further question, does anything. A row begins with the measure and ends with that. "
    )
    if left_out:
        introduction += f"Not counted: {left_out:,} without the last, or better low. "
    details = answered(
        (
            CELL,
            f"The value has its {confidence:.0%} interval in brackets. That of the slope comes from its authors' model "
            "and has a confidence of its own. Beside it stands what reasons would have that name nothing, or all. "
            "In the last column all answers are drawn again from those to the question as it was: the mean, and where "
            "most of these values lie (95%). Of follow-up questions another draw of the question as it was stands "
            "there in the place of the answer.",
        ),
        (
            HOLDS,
            "Intervals are over questions. They hold for further questions like these, answered as often as these, and "
            "not for further changes of the same questions.",
        ),
        (
            SURE,
            "Intervals are not adjusted for how many there are, and of few questions with rare, large values they are "
            "too short. Verdicts are adjusted, and exact. Where the last column reaches the value, chance alone may "
            "make such a value, whatever its interval says.",
        ),
        (
            ELSE,
            "The first rows say what the changes do to the answers, whatever the reasons say. "
            + VERDICTS * bool(verdicts),
        ),
        (LIMITS, " ".join(BLIND[name] for name in blind)),
        READ,
    )
    return Page("Faithfulness of reasons", introduction, parts + verdicts, details=details)


def _metric_of(row) -> str:
    return "concept_faithfulness" if row.measure in ("slope", "correlation") else row.measure


def _name(row, metrics: dict[str, MetricLabel]) -> str:
    """The measure of a row, with its direction."""
    if row.measure in OF_CHANGES:
        return OF_CHANGES[row.measure]
    label = metrics[row.metric].label_with_direction
    return {"slope": f"{label}, slope", "correlation": f"{label}, mean"}.get(row.measure, label)


def _verdicts(effects, faithfulness, datasets, models, explainers, metrics) -> list[Table]:
    """Which group has the better values in the metrics of the page, a table for each dataset."""
    if effects is None:
        return []
    names = list(dict.fromkeys(faithfulness.loc[~faithfulness["measure"].isin(OF_CHANGES), "metric"]))
    shown, tables = effects[effects["metric"].isin(names)], []
    for dataset, of_dataset in shown.groupby("dataset", sort=False):
        rows = []
        for (model, explainer), of_run in of_dataset.groupby(["model", "explainer"], sort=False):
            cells = [
                (
                    f"{metrics[row.metric].label_with_direction}, {row.level_a} against {row.level_b}",
                    [
                        Cell(numbers_of(row.wins, row.losses, row.ties, row.share)),
                        Cell(row.verdict, row.reason if isinstance(row.reason, str) else "", bold=bool(row.side)),
                        Cell(with_ends(row.difference, row.difference_low, row.difference_high)),
                    ],
                )
                for row in of_run.itertuples(index=False)
            ]
            rows.append((f"{models[model]}, {explainers[explainer]}", cells))
        columns = [("", ["wins–losses–ties", "verdict", "mean difference"])]
        tables.append(Table(f"{datasets[dataset]}: groups", ("Model", "Measure"), columns, rows))
    return tables


def _value(row) -> Cell:
    title = f"{row.questions:,} questions; {row.changes:,} changes, concepts or answers"
    return Cell(with_ends(row.value, row.low, row.high), title, bold=row.value > row.null_high)


def _null(row) -> Cell:
    return Cell(with_ends(row.null, row.null_low, row.null_high))


def _number(value: float) -> Cell:
    return Cell(known(value))
