"""What an audit of answers in words says, as JSON values: are decisions equal, and are the reasons alike?

Decisions and reasons are two matters. A group may get other decisions with equally long reasons, or the same decisions
with shorter ones. So both are told on one page, each with its verdicts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Any

import pandas as pd

from evenlight.core import tables
from evenlight.core.contracts.results import (
    ANSWERED,
    AUDITED_QUESTIONS,
    DECIDED,
    DECISIONS,
    DRAWS,
    EFFECT_COUNTS,
    EFFECTS,
    TEXTS_NEEDED,
    VERDICT_CONTROL,
)
from evenlight.reports.audit.audited import describe_file
from evenlight.reports.audit.content import NO_ANALYSES, Analyses, judged_of, notes_of, read_analyses_of
from evenlight.reports.audit.document import NOT_FRAMED, describe_frame, who_asks
from evenlight.reports.audit.found import (
    NOT_NAMED,
    VERSION,
    Judged,
    comparisons_told,
    json_row,
    open_comparisons,
    undecidable_comparisons,
    verdicts_told,
)
from evenlight.reports.pages.effects import describe_control
from evenlight.reports.text import json_number, signed, three_digits
from evenlight.reports.verdict_words import HIGHER, LOWER, how_sure, sentences
from evenlight.statistics.decisions import CHANGES
from evenlight.statistics.families import CONTROL, EXPLORATORY
from evenlight.statistics.study import UNDECIDABLE, Comparison

# The metrics that are about decisions; all others are about reasons.
OF_DECISIONS = ("no_decision", "decision", "same_decision", "refusal")
PARTS = ("decisions", "reasons")
_PLACE = ["dataset", "model", "explainer", *Comparison._fields]
# Of so many decisions each group's share is told; what is less frequent is told together.
TOLD = 6
# A decision is named by so many characters.
LONGEST = 60


@dataclass(frozen=True)
class FoundOfAnswers:
    """The tables of a study that an audit of answers tells of."""

    effects: pd.DataFrame
    counts: pd.DataFrame
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
        "effect_counts": EFFECT_COUNTS,
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
    frame: Mapping[str, Any] = NOT_FRAMED,
    alpha: float,
    as_often_bound: float,
    power: float,
) -> dict:
    """What an audit of the answers of a study says (JSON values).

    Args:
        found: its tables.
        study: its name.
        datasets, models, explainers: names to judged.
        metrics: names to ``label`` and ``better``.
        kinds: of each metric, what it measures: by this it is of decisions or of reasons.
        faithfulness: whether metrics ask if reasons are what moved the decision.
        beside: the page of the study's attributions, where it has any.
        frame: what the audit says of itself, the section ``audit`` of the configuration.
        texts: whether words of answers may be shown: else decisions are numbered.
        alpha, as_often_bound, power: of the statistics.
    """
    named = {"datasets": datasets, "models": models, "explainers": explainers, "metrics": metrics}
    judged = judged_of(found, **named, as_often_bound=as_often_bound, power=power)
    of_answers = found.effects["explainer"].isin(list(explainers))
    asked = found.effects[of_answers & (found.effects["family"] != CONTROL)]
    parts = {name: "decisions" if kind in OF_DECISIONS else "reasons" for name, kind in kinds.items()}
    compared = [
        _compared(cells, place, found, judged, parts, texts) for place, cells in asked.groupby(_PLACE, sort=False)
    ]
    level = found.analyses.level_at_most(alpha)
    of_parts = asked["metric"].map(parts)
    told = {part: verdicts_told(asked[of_parts == part], judged, hoped=f"{part} are equal") for part in PARTS}
    return {
        "version": VERSION,
        "study": study,
        "warnings": list(found.analyses.warnings),
        "interim_analyses": list(found.analyses.rows),
        "beside": beside,
        "frame": describe_frame(frame),
        "said": _said(told),
        "verdicts": told,
        "signs": verdicts_told(asked, judged)["signs"],
        "compared": compared,
        "comparisons": comparisons_told(asked),
        "error": f"{how_sure(asked, level)} Changes of decision are a family of their own, with the same chance.",
        "control": describe_control(found.control).strip(),
        "audited": {
            "models": list(models.values()),
            "explainers": list(explainers.values()),
            "metrics": {
                part: [entry["label"] for name, entry in metrics.items() if parts[name] == part] for part in PARTS
            },
            "datasets": [
                {
                    "label": datasets[row.dataset],
                    "files": [describe_file(name, sha) for name, sha in zip(row.files, row.files_sha256, strict=True)],
                    "sha256": row.sha256,
                    "questions": int(row.test_texts),
                    "answered": int(row.explained_texts),
                }
                for row in found.questions.itertuples(index=False)
            ],
        },
        "not_tested": _not_tested(found, faithfulness),
        "notes": found.notes,
        "who_asks": who_asks(by_group=False),
        "evidence": EVIDENCE,
    }


def _compared(
    cells: pd.DataFrame,
    place: tuple,
    found: FoundOfAnswers,
    judged: Judged,
    parts: Mapping[str, str],
    texts: bool,
) -> dict:
    """What is said of the answers of one model to two forms or groups."""
    dataset, model, explainer, factor, *levels = place
    here = {name: _rows(getattr(found, name), place) for name in ("needed", "draws", "answered", "decided", "changes")}
    draws = {row.metric: row for row in here["draws"].itertuples(index=False)}
    once = (here["answered"]["once"] > 0).any()
    told = [_told(row, judged, parts[row.metric], draws.get(row.metric), once) for row in cells.itertuples(index=False)]
    return {
        "dataset": judged.datasets[dataset],
        "model": judged.models[model],
        "explainer": judged.explainers[explainer],
        "factor": factor,
        "levels": levels,
        "comparisons": told,
        "findings": [each["said"] for each in told if each["said"]],
        "groups": [_group(row, here["decided"], texts) for row in here["answered"].itertuples(index=False)],
        "changes": [_describe_changes(row) for row in here["changes"].itertuples(index=False)] or [UNKNOWN_CHANCE],
        "open": open_comparisons(here["needed"], judged, None)
        + undecidable_comparisons(cells[cells["verdict"] == UNDECIDABLE], judged),
    }


def _rows(table: pd.DataFrame, place: tuple) -> pd.DataFrame:
    return table[(table[_PLACE] == list(place)).all(axis=1)]


def _said(told: Mapping[str, Mapping]) -> str:
    """What was found, of decisions and of reasons: the first words of the page."""
    if not any(of["counts"]["asked"] for of in told.values()):
        return (
            "Nothing could be compared: no dataset has answers to both groups. This does not show that they are "
            "treated alike."
        )
    nothing = "no metric of the study is about them, so nothing is said of them."
    return " ".join(
        f"{part.capitalize()}: {of['said'][:1].lower() + of['said'][1:] if of['counts']['asked'] else nothing}"
        for part, of in told.items()
    )


def _told(row, judged: Judged, part: str, draws: Any, once: bool) -> dict:
    """One comparison by one metric: its row, the null of draws, and, where a verdict names a group, sentences."""
    metric = judged.metrics[row.metric]
    counts, *more = sentences(row, judged.sizes[row.family], HIGHER if metric.higher_is_better else LOWER)
    said = [f"{metric.label}: {counts[:1].lower()}{counts[1:]}", *more, _describe_draws(draws, once)]
    said += [NOT_NAMED] * (row.family == EXPLORATORY)
    return {
        **json_row(row, _PLACE),
        "part": part,
        "metric_label": metric.label,
        **{
            name: json_number(getattr(draws, name, float("nan")))
            for name in ("absolute", "null", "beyond", "beyond_low", "beyond_high")
        },
        "said": " ".join(filter(None, said)) if row.side else "",
    }


def _describe_draws(draws, once: bool) -> str:
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


def _describe_changes(row) -> str:
    """How often the decision changes with the form, beside how often it does from draw to draw, and the verdict."""
    said = (
        f"Change of decision: of {row.units:,} questions, an answer to either form decides differently in "
        f"{row.changed:.1%}, and two answers to one form in {row.by_chance:.1%}. The first is more by "
        f"{signed(100 * row.difference)} points"
    )
    if not pd.isna(row.difference_low):
        said += f" ({signed(100 * row.difference_low)} to {signed(100 * row.difference_high)})"
    if row.verdict == CHANGES:
        return f"{said}: the form changes decisions more often than chance (adjusted p {row.p_adjusted:.2g})."
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
    {
        "file": "tables/effects.csv",
        "has": "every comparison with its counts, limits, adjusted p, mean difference and verdict",
    },
    {"file": "tables/draws.csv", "has": "of every comparison, two answers to either form beside two to one form"},
    {"file": "tables/answered.parquet", "has": "answers by group, and how many are empty or decide nothing"},
    {"file": "tables/decided.parquet", "has": "decisions by group"},
    {"file": "tables/decisions.csv", "has": "how often a decision changes with the form, and by draw, with verdicts"},
    {"file": "tables/texts_needed.parquet", "has": "how many questions would decide what is open"},
    {"file": "answers/", "has": "every answer"},
    {"file": "scores/", "has": "every score"},
]
