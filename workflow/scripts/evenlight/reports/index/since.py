"""What has changed since the last audit, in words: of every question that both have, then, now, and the change."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from evenlight.reports.index.comparisons import Judged, json_row, number
from evenlight.reports.index.document import NOT_STATED
from evenlight.reports.index.found import Found
from evenlight.reports.text import percent
from evenlight.reports.verdict_words import families_apart, numbers_of
from evenlight.statistics.comparisons.study import UNDECIDABLE, UNDECIDED

# Of a model that was loaded this names its files.
_KNOWN = "SHA-256"


def describe_since(found: Found, judged: Judged, models: Sequence[Mapping[str, Any]], alpha: float) -> dict | None:
    """What has changed since the last audit; None where there is none.

    Args:
        found: the tables of the study.
        judged: how it was judged.
        models: of this audit, as :func:`evenlight.reports.index.audited.describe_model` gives them.
        alpha: the level.

    Returns:
        ``study`` and ``date`` of the last audit, ``said`` of both, and ``questions``, a row each.
    """
    if "audit_changes" not in found:
        return None
    changes, last = found["audit_changes"], found.last
    both = changes[changes["verdict_before"].notna()]
    return {
        "study": last["study"],
        "date": None if last["date"] == NOT_STATED else last["date"],
        "said": [_counted(both, len(changes) - len(both)), *_models(models, last["models"]), _how_sure(both, alpha)],
        "questions": [_question(row, judged) for row in _clearest_first(changes).itertuples(index=False)],
    }


def _counted(both: pd.DataFrame, alone: int) -> str:
    """In how many questions that both audits ask a change is shown; ``alone`` are asked by this one only."""
    changed, undecidable = (int(rows.sum()) for rows in (both["side"] != 0, both["change"] == UNDECIDABLE))
    said = f"Of {number(len(both), 'question')} that both audits ask, a change is shown in {changed or 'none'}."
    if changed < len(both):
        said += " Where none is shown, there may be one."
    if undecidable:
        said += f" {undecidable:,} cannot be decided; each says why."
    if alone:
        said += f" {number(alone, 'question')} {'is' if alone == 1 else 'are'} asked by this audit alone."
    return said


def _clearest_first(changes: pd.DataFrame) -> pd.DataFrame:
    """The rows with a change before the others, of each the smallest p first."""
    order = changes.assign(open=changes["side"] == 0).sort_values(["open", "p_adjusted", "p"], kind="stable")
    return changes.loc[order.index]


def opening_of(since: Mapping[str, Any]) -> str:
    """The same in a sentence for the answer."""
    when = f" of {since['date']}" if since["date"] else ""
    return f"Since the last audit{when}: {since['said'][0][:1].lower()}{since['said'][0][1:]}"


def _models(models: Sequence[Mapping[str, Any]], before: Mapping[str, Sequence[str]]) -> list[str]:
    """Whether the models are those of the last audit, as far as their files tell."""
    told = []
    for model in models:
        now, then = [origin["from"] for origin in model["origins"]], before.get(model["name"])
        if then is None:
            continue
        if now != then:
            told.append(f"Model {model['label']} is another one than then: a change may be that of texts, or its own.")
        elif now and all(_KNOWN in origin for origin in now):
            told.append(f"Model {model['label']} has the same files as then: a change is that of the texts.")
        else:
            told.append(f"Whether model {model['label']} is the same as then is not known: its files have no digest.")
    return told


def _how_sure(changes: pd.DataFrame, alpha: float) -> str:
    return (
        "Compared are the wins that the last audit filed with those of texts that it did not judge. A text of both, "
        f"and what shares a cluster with one, is left out. Over all questions of both audits{families_apart(changes)}, "
        f"the chance that any change is wrong is at most {percent(alpha)}, by itself: verdicts of this audit have "
        "their own level. The method is Fisher's exact test, of texts without pairs an asymptotic one, adjusted by "
        "Holm's method."
    )


def _question(row: Any, judged: Judged) -> dict[str, Any]:
    change = f"{row.change}: {row.reason}" if row.change == UNDECIDABLE else row.change
    return {
        **json_row(row),
        "question": judged.question(row),
        "place": judged.place(row.dataset, row.model, row.level_a, row.level_b),
        "counts_before": numbers_of(row.wins_before, row.losses_before, row.ties_before, row.share_before),
        "counts": numbers_of(row.wins, row.losses, row.ties, row.share),
        "said": "no change is shown" if row.change == UNDECIDED else change,
    }
