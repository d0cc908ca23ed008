"""What is said of answers in words beside their scores: what they decide, by group, and whether the form changes it.

Decisions and reasons are two matters. A group may get other decisions with equally long reasons, or the same decisions
with shorter ones.
"""

from textwrap import shorten

import pandas as pd

from evenlight.reports.index.comparisons import Judged
from evenlight.reports.index.found import Found
from evenlight.reports.text import signed
from evenlight.statistics.analyses.decisions import CHANGES
from evenlight.statistics.comparisons.study import CONTROL, UNDECIDABLE, Comparison

# The metrics that are about decisions; all others are about reasons.
OF_DECISIONS = ("no_decision", "decision", "same_decision", "refusal")
_PLACE = ["dataset", "model", "explainer", *Comparison._fields]
# Of so many decisions each group's share is told; what is less frequent is told together.
TOLD = 6
# A decision is named by so many characters.
LONGEST = 60


def tell_decisions(found: Found, judged: Judged, texts: bool) -> list[dict]:
    """Of the answers of each model to two forms or groups: what each group's decide, and how often the form changes it.

    ``texts``: whether words of answers may be shown; else decisions are numbered.
    """
    effects, told = found["effects"], []
    asked = effects[effects["explainer"].isin(list(judged.in_words)) & (effects["family"] != CONTROL)]
    for place in asked[_PLACE].drop_duplicates().itertuples(index=False, name=None):
        dataset, model, explainer, _, *levels = place
        answered, decided, changes = (_rows(found[name], place) for name in ("answered", "decided", "decisions"))
        told.append(
            {
                "place": f"{judged.explainers[explainer]}, {judged.place(dataset, model, *levels)}",
                "groups": [_group(row, decided, texts) for row in answered.itertuples(index=False)],
                "changes": [_describe_changes(row) for row in changes.itertuples(index=False)] or [UNKNOWN_CHANCE],
            }
        )
    return told


def _rows(table: pd.DataFrame, place: tuple) -> pd.DataFrame:
    return table[(table[_PLACE] == list(place)).all(axis=1)]


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


def not_tested_of_answers(found: Found, faithfulness: bool, beside: bool = False) -> list[str]:
    """What a reader might take for tested of answers, and was not.

    Args:
        found: the tables of the study.
        faithfulness: whether metrics ask for it.
        beside: whether what was not tested of attributions is told, too.
    """
    told = []
    if (found["answered"]["once"] > 0).any():
        told.append("Some questions were answered once only. So chance from answer to answer is not told apart there.")
    if not faithfulness:
        told.append("Whether a reason is what moved the decision (faithfulness) was not tested, but how reasons look.")
    if beside:
        told.append("Whether the decisions of answers are right was not tested.")
    else:
        told += [
            "Whether decisions are right was not tested, and no law is claimed to be kept.",
            "Groups that the questions or the configuration do not name were not looked at.",
        ]
    told.append(
        "A metric of style has no better side. More words or hedges are another answer, and not by themselves a worse "
        "one."
    )
    return told
