"""How the published binary GECO follows from its annotators' labelling, and where it does not.

The published sentences were corrected after the labelling. Nearly all corrections are at words that the labelling tags
as names, where a pronoun stands: it got another case. The others are listed here, each with its reason.
"""

from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path

import pandas as pd

from evenlight.corpus.annotation.geco_annotation import GENDERS, named_positions, read_labelling
from evenlight.datasets.readers.annotated import items_of
from evenlight.datasets.readers.geco import Geco

COLUMNS = [
    "sentence_id",
    "scope",
    "group",
    "split",
    "position",
    "source",
    "labelling",
    "published",
    "at_names",
    "reason",
]
PRONOUN_CASES = ({"he", "him", "his"}, {"she", "her"})

_TITLE = "title before a name: cut out, since it cannot stand before the name's pronoun"
_ATTRIBUTE = "words that describe a name: cut out, since they cannot stand before the name's pronoun"
_APPOSITION = "name that explains the noun before it: cut out with what joined them, since a pronoun cannot explain"
_ALTERED = "word before a name: cut out, which leaves the sentence without it; no reason to be seen in the files"

# By sentence: the words of the source in whose place the published forms differ, and why.
REVISIONS = {
    "00179": ("torment", _ALTERED),
    "00308": ("a man named Fauchelevent", _APPOSITION),
    "00455": ("Uncle", "name of a character that was not tagged as one: replaced by a pronoun, as other names"),
    "00644": ("Lady Catherine", _TITLE),
    "00682": ("a distraught", _ATTRIBUTE),
    "00779": ("Mrs Joe dies and", "clause about another person with title and name: cut out"),
    "00930": ("Prince Andrei", _TITLE),
    "01004": ("Munchkins Dorothy", _ALTERED),
    "01085": ("the mercy", _ALTERED),
    "01131": ("the disguised", _ATTRIBUTE),
    "01168": ("a humiliated Emma", _ATTRIBUTE),
    "01174": (", Anna Arkadyevna", _APPOSITION),
    "01235": ("dust-covered", _ATTRIBUTE),
    "01245": ("A despondent Guevarra", _ATTRIBUTE),
    "01267": ("Mr Brownlow", _TITLE),
    "01289": ("The streetwise Eliza", _ATTRIBUTE),
    "01294": ("the", "article before a name: cut out, since it cannot stand before the name's pronoun"),
    "01295": ("A tired Eliza", _ATTRIBUTE),
    "01333": ("Colonel Brandon", _TITLE),
    "01409": ("Mr Peggotty", _TITLE),
    "01419": ("the youthful", _ATTRIBUTE),
    "01439": ("disillusioned", _ATTRIBUTE),
    "01471": ("by Hyde", "name after a preposition: cut out with it"),
    "01537": ("a softened", _ATTRIBUTE),
    "01605": (", Anne Marie", _APPOSITION),
    "01606": ("named Riborg", _APPOSITION),
}


def compare_with_published(labelling: str | Path, published: dict[str, Path]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The binary dataset built from the labelling, held against the published one.

    ``published`` maps the names of GECO's binary files (``geco/binary_gender_all/train.jsonl``, ...) to paths. Gives
    two tables. *Counts*, in forms, per scope and for both: all, those that only one side has, identical words, other
    words only where the labelling tags names, other words elsewhere with a reason given, other words unexplained,
    identical ground truth, another one in a sentence with other words, another one unexplained. *Differences*: one
    row per place where a form differs, with sentence_id, scope, group, split, position (of the first word, from 0)
    and words of the source, the words of the labelling's form and of the published one, whether all of them are
    tagged as names, and the reason ("" where there is none).
    """
    annotations = {row["sentence_id"]: row for row in read_labelling(labelling)}
    named = named_positions(labelling)
    counts, differences = [], []
    for scope in ("all", "subject"):
        items = Geco(reader="geco", classes="binary", words=scope).read(published).items
        theirs = {item["item_id"]: item for item in items.to_dict("records")}
        ours = {item["item_id"]: item for row in annotations.values() for item in items_of(row, GENDERS, scope)}
        differing = [
            row
            for name in sorted(set(ours) & set(theirs))
            for row in _differences(annotations[theirs[name]["cluster"]], scope, theirs[name], named)
        ]
        counts.append({"scope": scope, **_counts(ours, theirs, differing)})
        differences += differing
    counts = pd.DataFrame(counts)
    both = {"scope": "both", **counts.drop(columns="scope").sum()}
    return pd.concat([counts, pd.DataFrame([both])], ignore_index=True), pd.DataFrame(differences, columns=COLUMNS)


def _counts(ours: dict[str, dict], theirs: dict[str, dict], differences: list[dict]) -> dict[str, int]:
    common = set(ours) & set(theirs)
    by_form: dict[tuple[str, str], list[dict]] = {}
    for row in differences:
        by_form.setdefault((row["sentence_id"], row["group"]), []).append(row)
    explained = {form: all(row["reason"] for row in rows) for form, rows in by_form.items()}
    at_names = {form: all(row["at_names"] for row in rows) for form, rows in by_form.items()}
    # The ground truth follows from both forms of a sentence.
    changed = {sentence_id for sentence_id, _ in by_form}
    other_marks = [name for name in common if ours[name]["ground_truth"] != theirs[name]["ground_truth"]]
    return {
        "forms": len(theirs),
        "in_one_only": len(set(ours) ^ set(theirs)),
        "identical_words": sum(ours[name]["words"] == theirs[name]["words"] for name in common),
        "other_words_at_names_only": sum(explained[form] and at_names[form] for form in by_form),
        "other_words_with_reason": sum(explained[form] and not at_names[form] for form in by_form),
        "other_words_unexplained": sum(not explained[form] for form in by_form),
        "identical_ground_truth": len(common) - len(other_marks),
        "other_ground_truth_as_words": sum(theirs[name]["cluster"] in changed for name in other_marks),
        "other_ground_truth_unexplained": sum(theirs[name]["cluster"] not in changed for name in other_marks),
    }


def _differences(annotation: dict, scope: str, published: dict, named: dict[str, frozenset[int]]) -> Iterator[dict]:
    """The places where a published form differs from the one that the labelling gives."""
    sentence_id, source = annotation["sentence_id"], annotation["source"]
    form = next(f for f in annotation["forms"] if (f["scope"], f["group"]) == (scope, published["attribute.gender"]))
    # As the items have them: without empty words. `positions` leads back to the source.
    positions = [i for i, word in enumerate(form["words"]) if word.strip()]
    ours, theirs = [form["words"][i].strip() for i in positions], published["words"]
    ends = [-1, *positions, len(source)]
    for operation, start, stop, first, last in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if operation == "equal":
            continue
        # With the words around it that the form left empty.
        span = range(ends[start] + 1, ends[stop + 1])
        labelled, printed = ours[start:stop], theirs[first:last]
        at_names = set(span) <= named[sentence_id]
        words = " ".join(source[i] for i in span)
        yield {
            "sentence_id": sentence_id,
            "scope": scope,
            "group": published["attribute.gender"],
            "split": published["split"],
            "position": span.start,
            "source": words,
            "labelling": " ".join(labelled),
            "published": " ".join(printed),
            "at_names": at_names,
            "reason": _reason_at_names(labelled, printed) if at_names else _listed_reason(sentence_id, words),
        }


def _listed_reason(sentence_id: str, words: str) -> str:
    expected, reason = REVISIONS.get(sentence_id, ("", ""))
    return reason if words == expected else ""


def _reason_at_names(labelled: list[str], published: list[str]) -> str:
    """What happened to words tagged as names; "" where it is nothing known."""
    if not published:
        return "pronoun of the name: cut out"
    if not labelled:
        return "word that the labelling had emptied: put back"
    if len(labelled) != 1 or len(published) != 1:
        return ""
    before, after = labelled[0].lower(), published[0].lower()
    if any({before, after} <= cases for cases in PRONOUN_CASES):
        return "pronoun of the name: other case"
    known = set().union(*PRONOUN_CASES)
    return "pronoun of the name: other gender" if {before, after} <= known else ""
