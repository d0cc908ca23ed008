"""From several annotators' versions of a sentence to one: by majority, by an adjudicator, or not at all."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

import pandas as pd

from evenlight.core.errors import InputError
from evenlight.corpus.annotation import SCOPES
from evenlight.corpus.annotation.agreement import UNIT, disagreements
from evenlight.corpus.annotation.annotations import check_sources

ANNOTATOR = "resolved"  # of the rows that come out
METHODS = ("majority", "adjudication", "leave_out")


def resolve(
    annotations: list[dict], method: str, adjudication: list[dict] | None = None
) -> tuple[list[dict], pd.DataFrame]:
    """One annotation per sentence, and what the annotators disagreed on with how it was resolved.

    What all annotators of a sentence gave alike is taken; so is what only one of them gave. Where they differ,

    - ``majority`` takes the decision, and then the word and the mark of each place in a form, that more annotators
      gave than any other. After a tie the forms of that scope are left out, and where the votes mark a place
      in one group's form only; after a tie on the decision the sentence is left out;
    - ``adjudication`` takes the sentence as it stands in the rows ``adjudication`` (of one person), and leaves out
      what is not there;
    - ``leave_out`` leaves out the forms of the scope, or the sentence.

    A sentence of which no form remains is left out. The table has the columns of
    :func:`evenlight.corpus.annotation.agreement.disagreements`, then ``resolution`` and ``value``, what was taken
    (missing where nothing was). Raises InputError where the adjudication shows another source or is of several people.
    """
    adjudicated = _by_sentence(adjudication or [])
    check_sources(
        [(row, "the annotations") for row in annotations] + [(row, "the adjudication") for row in adjudication or []]
    )
    for sentence_id, rows in adjudicated.items():
        if len(rows) > 1:
            names = ", ".join(row["annotator"] for row in rows)
            raise InputError(f"the adjudication: sentence '{sentence_id}' is by {names}; keep one of them")
    disputed = disagreements(annotations)
    in_dispute = set(disputed["sentence_id"])
    agree = majority if method == "majority" else unanimous
    resolved = {}
    for sentence_id, rows in _by_sentence(annotations).items():
        if method == "adjudication" and sentence_id in in_dispute:
            row = {**adjudicated[sentence_id][0], "annotator": ANNOTATOR} if sentence_id in adjudicated else None
        else:
            row = _together(rows, agree)
        if row is not None:
            resolved[sentence_id] = row
    annotators = [name for name in disputed.columns if name not in UNIT]
    outcomes = [_outcome(row, annotators, resolved, method) for row in disputed.to_dict("records")]
    disputed[["resolution", "value"]] = pd.DataFrame(outcomes, columns=["resolution", "value"], dtype=object)
    return list(resolved.values()), disputed


def majority(values: Iterable) -> object | None:
    """The value that occurs more often than any other; None after a tie."""
    (value, count), *less_common = Counter(values).most_common()
    return None if less_common and less_common[0][1] == count else value


def unanimous(values: Iterable) -> object | None:
    """The value that all have; None where there are several."""
    different = set(values)
    return different.pop() if len(different) == 1 else None


def _by_sentence(rows: list[dict]) -> dict[str, list[dict]]:
    grouped: dict[str, list[dict]] = {}
    for row in rows:
        grouped.setdefault(row["sentence_id"], []).append(row)
    return grouped


def _together(rows: Sequence[dict], agree: Callable[[Iterable], object | None]) -> dict | None:
    """One annotation from those of several annotators; None where they do not ``agree``."""
    decision = agree(row["decision"] for row in rows)
    rows = [row for row in rows if row["decision"] == decision]
    if not rows:
        return None
    resolved = {**rows[0], "annotator": ANNOTATOR}
    if decision == "reject":
        return resolved | {"reason": "; ".join(dict.fromkeys(row["reason"] for row in rows))}
    forms = sorted((form for row in rows for form in row["forms"]), key=_form_name)
    versions = [list(same) for _, same in groupby(forms, key=_form_name)]
    together = [_one_form(same, agree) for same in versions]
    open_scopes = {same[0]["scope"] for same, form in zip(versions, together, strict=True) if form is None}
    if len(rows) > 1:
        # Votes form by form may mark a word in one group's form and not in another's.
        by_scope = {scope: [form for form in together if form and form["scope"] == scope] for scope in SCOPES}
        open_scopes |= {scope for scope, forms in by_scope.items() if not _marked_alike(forms)}
    kept = [form for form in together if form is not None and form["scope"] not in open_scopes]
    return resolved | {"forms": kept} if kept else None


def _marked_alike(forms: list[dict]) -> bool:
    """Whether every place is marked in all of the forms of one scope, or in none."""
    return all(len(set(marks)) == 1 for marks in zip(*(form["ground_truth"] for form in forms), strict=True))


def _form_name(form: dict) -> tuple[str, str]:
    return form["scope"], form["group"]


def _one_form(versions: list[dict], agree: Callable[[Iterable], object | None]) -> dict | None:
    """The form that annotators' versions agree on, place by place; None where they do not in one of them."""
    words = [agree(word.strip() for word in votes) for votes in zip(*(form["words"] for form in versions), strict=True)]
    marks = [agree(votes) for votes in zip(*(form["ground_truth"] for form in versions), strict=True)]
    if None in words or None in marks:
        return None
    return {**versions[0], "words": words, "ground_truth": marks}


def _outcome(
    disagreement: dict, annotators: list[str], resolved: dict[str, dict], method: str
) -> tuple[str, str | int | None]:
    """How one disagreement was resolved, and the value that was taken."""
    row = resolved.get(disagreement["sentence_id"])
    if disagreement["kind"] == "decision" and row is not None:
        return method, row["decision"]
    if row is not None and row["decision"] == "reject":
        return f"{method}: sentence rejected", None
    for form in row["forms"] if row is not None else []:
        if _form_name(form) == (disagreement["scope"], disagreement["group"]):
            values = form["words" if disagreement["kind"] == "word" else "ground_truth"]
            return method, values[disagreement["position"]]
    if method == "adjudication":
        return "left out: not adjudicated", None
    given = [disagreement[name] for name in annotators if disagreement[name] is not None]
    if method == "majority" and majority(given) is not None:
        return "left out: a tie elsewhere", None
    return ("left out: tie" if method == "majority" else "left out"), None
