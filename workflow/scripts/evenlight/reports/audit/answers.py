"""What an audit of answers in words says, as JSON values: are decisions equal, and are the reasons alike?

Decisions and reasons are two matters. A group may get other decisions with equally long reasons, or the same decisions
with shorter ones. So both are told on one page, each with its verdicts.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten

import pandas as pd

from evenlight.core import tables
from evenlight.core.contracts.results import (
    ANSWERED,
    AUDITED_QUESTIONS,
    DECIDED,
    DECISIONS,
    DRAWS,
    EFFECTS,
    TEXTS_NEEDED,
    VERDICT_CONTROL,
)
from evenlight.reports.audit.content import (
    NO_ANALYSES,
    Analyses,
    Interest,
    Labels,
    by_sign,
    counts_in_words,
    file_said,
    notes_of,
    open_questions,
    question_of,
    read_analyses_of,
    undecidable_questions,
)
from evenlight.reports.pages.effects import said_of_control
from evenlight.reports.text import json_number, signed, three_digits
from evenlight.statistics.study import Comparison, MetricLabel, repeated_in
from evenlight.statistics.verdicts import CONTROL, EXPLORATORY, UNDECIDABLE, UNDECIDED

# The metrics that are about decisions; all others are about reasons.
OF_DECISIONS = ("no_decision", "decision", "same_decision", "refusal")
PARTS = {"decisions": "decisions", "reasons": "reasons"}
_PLACE = ["dataset", "model", "explainer", *Comparison._fields]
# Of so many decisions each group's share is told; what is less frequent is told together.
TOLD = 6
# A decision is named by so many characters.
LONGEST = 60


@dataclass(frozen=True)
class FoundOfAnswers:
    """The tables of a study that an audit of answers tells of."""

    effects: pd.DataFrame
    control: pd.DataFrame
    questions: pd.DataFrame
    needed: pd.DataFrame
    draws: pd.DataFrame
    answered: pd.DataFrame
    decided: pd.DataFrame
    changes: pd.DataFrame
    notes: list[str]
    analyses: Analyses = NO_ANALYSES


def read_found_of_answers(folder: Path) -> FoundOfAnswers:
    """The tables below ``folder``."""
    contracts = {
        "effects": EFFECTS,
        "verdict_control": VERDICT_CONTROL,
        "audited_questions": AUDITED_QUESTIONS,
        "texts_needed": TEXTS_NEEDED,
        "draws": DRAWS,
        "answered": ANSWERED,
        "decided": DECIDED,
        "decisions": DECISIONS,
    }
    read = [tables.read_exactly(folder / f"{name}.parquet", contract) for name, contract in contracts.items()]
    return FoundOfAnswers(*read, notes_of(folder), read_analyses_of(folder))


def answers_content(
    found: FoundOfAnswers,
    *,
    study: str,
    datasets: Mapping[str, str],
    models: Mapping[str, str],
    explainers: Mapping[str, str],
    metrics: Mapping[str, Mapping[str, str]],
    kinds: Mapping[str, str],
    texts: bool,
    faithfulness: bool,
    beside: str | None = None,
    alpha: float,
    equivalence_bound: float,
    smallest_effects: Mapping[str, float],
    power: float,
) -> dict:
    """What an audit of the answers of a study says (JSON values).

    Args:
        found: its tables.
        study: its name.
        datasets, models, explainers: names to labels.
        metrics: names to ``label`` and ``better``.
        kinds: of each metric, what it measures: by this it is of decisions or of reasons.
        faithfulness: whether metrics ask if reasons are what moved the decision.
        beside: the page of the study's attributions, where it has any.
        texts: whether words of answers may be shown: else decisions are numbered.
        alpha, equivalence_bound, smallest_effects, power: of the statistics.
    """
    names = {name: MetricLabel(name, entry["label"], entry["better"] == "higher") for name, entry in metrics.items()}
    labels = Labels(datasets, models, explainers, names)
    interest = Interest(equivalence_bound, smallest_effects, power)
    of_answers = found.effects["explainer"].isin(list(explainers))
    asked = found.effects[of_answers & (found.effects["family"] != CONTROL)]
    parts = {name: "decisions" if kind in OF_DECISIONS else "reasons" for name, kind in kinds.items()}
    compared = [
        _compared(cells, place, found, labels, interest, parts, texts)
        for place, cells in asked.groupby(_PLACE, sort=False)
    ]
    return {
        "study": study,
        "warnings": list(found.analyses.warnings),
        "interim_analyses": list(found.analyses.rows),
        "beside": beside,
        "said": _said(compared),
        "signs": by_sign(asked["verdict"].value_counts()),
        "compared": compared,
        "error": (
            f"Over all questions of the study, the chance that any difference is said where there is none is meant to "
            f"be at most {found.analyses.level_at_most(alpha):.0%}. So is, apart, the chance that one is ruled out "
            "where there is one. Verdicts for "
            "these answers hold for further questions like these. Changes of decision are a family of their "
            "own, with the same two chances."
        ),
        "control": said_of_control(found.control, repeated_in(asked)).strip(),
        "audited": {
            "models": list(models.values()),
            "explainers": list(explainers.values()),
            "metrics": {part: [names[name].label for name in names if parts[name] == part] for part in PARTS},
            "datasets": [
                {
                    "label": datasets[row.dataset],
                    "files": [file_said(name, sha) for name, sha in zip(row.files, row.files_sha256, strict=True)],
                    "sha256": row.sha256,
                    "questions": int(row.test_texts),
                    "answered": int(row.explained_texts),
                }
                for row in found.questions.itertuples(index=False)
            ],
        },
        "not_tested": _not_tested(found, faithfulness),
        "notes": found.notes,
        "evidence": EVIDENCE,
    }


def _compared(
    cells: pd.DataFrame,
    place: tuple,
    found: FoundOfAnswers,
    labels: Labels,
    interest: Interest,
    parts: Mapping[str, str],
    texts: bool,
) -> dict:
    """What is said of the answers of one model to two forms or groups."""
    dataset, model, explainer, factor, *levels = place
    here = {name: _rows(getattr(found, name), place) for name in ("needed", "draws", "answered", "decided", "changes")}
    draws = {row.metric: row for row in here["draws"].itertuples(index=False)}
    once = (here["answered"]["once"] > 0).any()
    told = [
        _question(row, labels, parts[row.metric], draws.get(row.metric), once) for row in cells.itertuples(index=False)
    ]
    return {
        "dataset": labels.datasets[dataset],
        "model": labels.models[model],
        "explainer": labels.explainers[explainer],
        "factor": factor,
        "levels": levels,
        "counts": {part: _counts(cells[cells["metric"].map(parts) == part]) for part in PARTS},
        "questions": told,
        "findings": [each["said"] for each in told if each["said"]],
        "groups": [_group(row, here["decided"], texts) for row in here["answered"].itertuples(index=False)],
        "changes": [_changes_said(row) for row in here["changes"].itertuples(index=False)] or [UNKNOWN_CHANCE],
        "open": open_questions(here["needed"], interest, None)
        + undecidable_questions(cells[cells["verdict"] == UNDECIDABLE], labels),
    }


def _rows(table: pd.DataFrame, place: tuple) -> pd.DataFrame:
    return table[(table[_PLACE] == list(place)).all(axis=1)]


def _counts(cells: pd.DataFrame) -> dict[str, int]:
    verdict = cells["verdict"]
    return {
        "asked": len(cells),
        "disparity": int(verdict.str.contains("disparity").sum()),
        "negligible": int(verdict.str.contains("negligible").sum()),
        "no disparity": int(verdict.str.contains("equivalent").sum()),
        UNDECIDED: int((verdict == UNDECIDED).sum()),
        UNDECIDABLE: int((verdict == UNDECIDABLE).sum()),
    }


def _said(compared: Sequence[Mapping]) -> str:
    """What was found, of decisions and of reasons: the first words of the page.

    >>> _said([])
    'Nothing could be compared: no dataset has answers to both groups. This does not show that they are treated alike.'
    """
    if not compared:
        return (
            "Nothing could be compared: no dataset has answers to both groups. This does not show that they are "
            "treated alike."
        )
    said = []
    for part, name in PARTS.items():
        total = Counter()
        for of in compared:
            total.update(of["counts"][part])
        if total["asked"]:
            words = counts_in_words(total, question_of(compared), f"{name} are equal")
            said.append(f"{name.capitalize()}: {words[0].lower()}{words[1:]}")
        else:
            said.append(f"{name.capitalize()}: no metric of the study is about them, so nothing is said of them.")
    return " ".join(said)


def _question(row, labels: Labels, part: str, draws, once: bool) -> dict:
    """One question: a metric, with its verdict, its numbers, and the null of draws."""
    metric, confirmed = labels.metrics[row.metric], "disparity" in row.verdict
    higher, lower = (row.level_a, row.level_b) if row.difference > 0 else (row.level_b, row.level_a)
    said = (
        f"{metric.label}: higher for {higher} than for {lower}, by {three_digits(abs(row.difference))} on average, "
        f"which is {abs(row.standardised):.2f} standard deviations of single answers (adjusted p "
        f"{row.p_models_adjusted:.2g}). {_draws_said(draws, once)}"
    )
    if row.family == EXPLORATORY:
        said += " The study did not name this question beforehand: look at other questions before you rely on it."
    return {
        "part": part,
        "metric": metric.label,
        "verdict": row.verdict,
        "reason": None if pd.isna(row.reason) else row.reason,
        **{
            name: json_number(getattr(row, name))
            for name in ("difference", "standardised", "standardised_models_low", "standardised_models_high")
        },
        "p": json_number(row.p_models_adjusted),
        **{name: json_number(getattr(draws, name, float("nan"))) for name in ("absolute", "null", "beyond")},
        "beyond_low": json_number(getattr(draws, "beyond_low", float("nan"))),
        "beyond_high": json_number(getattr(draws, "beyond_high", float("nan"))),
        "said": said.strip() if confirmed else "",
    }


def _draws_said(draws, once: bool) -> str:
    """How far two answers to one form differ; nothing where a score is of all answers to a question."""
    if draws is None or pd.isna(draws.null):
        unknown = (
            "How far two answers to one question differ is not known, since no question has two answers to either form."
        )
        return unknown if once else ""
    return (
        f"An answer to one form and one to the other differ by {three_digits(draws.absolute)} on average, and two "
        f"answers to one form by {three_digits(draws.null)}."
    )


def _group(row, decided: pd.DataFrame, texts: bool) -> dict:
    """What the answers to one group decide; shares are of all its answers."""
    own = decided[decided["level"] == row.level]
    # The same decisions of both groups, the most frequent of both first.
    names = list(decided.groupby("decision")["answers"].sum().sort_values(ascending=False, kind="stable").index)
    counts = own.set_index("decision")["answers"].reindex(names, fill_value=0)
    shares = [
        {
            "decision": shorten(name, LONGEST) if texts else f"decision {place}",
            "share": int(counts[name]) / max(row.answers, 1),
        }
        for place, name in enumerate(names[:TOLD], 1)
    ]
    if len(names) > TOLD:
        others = int(counts[names[TOLD:]].sum()) / max(row.answers, 1)
        shares.append({"decision": f"{len(names) - TOLD} others", "share": others})
    return {
        "level": row.level,
        **{name: int(getattr(row, name)) for name in ("questions", "answers", "empty", "undecided")},
        "shares": shares,
    }


UNKNOWN_CHANCE = (
    "Change of decision: no question has two decisions on either form, so it is not known how often two answers to one "
    "form decide differently. Whether the form changes decisions is open."
)


def _changes_said(row) -> str:
    """How often the decision changes with the form, beside how often it does from draw to draw, and the verdict."""
    said = (
        f"Change of decision: of {row.units:,} questions, an answer to either form decides differently in "
        f"{row.changed:.1%}, and two answers to one form in {row.by_chance:.1%}. The first is more by "
        f"{signed(100 * row.difference)} points"
    )
    if not pd.isna(row.models_low):
        said += f" ({signed(100 * row.models_low)} to {signed(100 * row.models_high)})"
    if "disparity" in row.verdict:
        matters = " Too little to matter, by the study's bound." if "negligible" in row.verdict else ""
        return f"{said}: the form changes decisions (adjusted p {row.p_models_adjusted:.2g}).{matters}"
    if "equivalent" in row.verdict:
        return f"{said}: that the form changes decisions by more than the study's bound is ruled out."
    why = f" ({row.reason})" if row.verdict == UNDECIDABLE and not pd.isna(row.reason) else ""
    return f"{said}: whether the form changes decisions is open{why}, which does not show that it does not."


def _not_tested(found: FoundOfAnswers, faithfulness: bool) -> list[str]:
    told = []
    if (found.answered["once"] > 0).any():
        told.append("Some questions were answered once only. So chance from answer to answer is not told apart there.")
    if not faithfulness:
        told.append("Whether a reason is what moved the decision (faithfulness) was not tested, but how reasons look.")
    told += [
        "Whether decisions are right was not tested, and no law is claimed to be kept.",
        "Groups that the questions or the configuration do not name were not looked at.",
        "A metric of style has no better side. More words or hedges are another answer, and not by themselves a worse "
        "one.",
    ]
    return told


EVIDENCE = [
    {"file": "tables/effects.csv", "has": "every question with its effect, interval, adjusted p and verdict"},
    {"file": "tables/draws.csv", "has": "of every question, two answers to either form beside two to one form"},
    {"file": "tables/answered.parquet", "has": "answers by group, and how many are empty or decide nothing"},
    {"file": "tables/decided.parquet", "has": "decisions by group"},
    {"file": "tables/decisions.csv", "has": "how often a decision changes with the form, and by draw, with verdicts"},
    {"file": "tables/texts_needed.parquet", "has": "how many questions would decide what is open"},
    {"file": "answers/", "has": "every answer"},
    {"file": "scores/", "has": "every score"},
]
