"""A dataset of one's own: the resolved annotations of sentences, as items in the style of GECO.

The file is a table of :data:`evenlight.core.contracts.corpus.ANNOTATIONS` with one accepted row per sentence; what
stands in its rejected rows is not used.
"""

from pathlib import Path

import pandas as pd

from evenlight.core.errors import InputError
from evenlight.corpus.annotation.annotations import read_annotations
from evenlight.datasets import GECO_LABELS, SCOPES, Dataset, reader_for, setting
from evenlight.texts.items import assign_test, separated


def read(files: dict[str, Path], settings: dict) -> Dataset:
    """The dataset that ``settings`` describe: one item per sentence and group.

    ``settings["file"]`` names the annotations, ``settings["classes"]`` (binary, three_class) the groups,
    ``settings["words"]`` (all, subject) the scope. ``settings["test_share"]`` of the sentences are drawn for the test
    split by ``settings["split_seed"]``. The notes count the sentences that lack a form.
    """
    reader = reader_for(settings)
    path = files[reader.files(settings)[0]]
    groups = reader.factors(settings)["gender"]
    scope = setting(settings, "words", SCOPES)
    accepted = [row for row in read_annotations(path) if row["decision"] == "accept"]
    _check_resolved(accepted, path)
    items = [item for row in accepted for item in items_of(row, groups, scope)]
    if not items:
        raise InputError(
            f"{path}: no accepted sentence has the forms {', '.join(groups)} of scope {scope}; choose other 'classes' "
            "or 'words', or have these forms annotated"
        )
    rows = pd.DataFrame(items)
    rows = assign_test(rows, rows["unit_id"], settings["test_share"], settings["split_seed"])
    lacking = len(accepted) - len(items) // len(groups)
    notes = [f"accepted sentences without all forms of scope {scope}, left out: {lacking}"] if lacking else []
    return Dataset(*separated(rows, ["gender"]), [name for name in GECO_LABELS if name in groups], notes)


def items_of(annotation: dict, groups: list[str], scope: str) -> list[dict]:
    """The items of an accepted sentence in the order of ``groups``, all for training; none where a form is missing.

    Rows as :func:`evenlight.texts.items.separated` takes them.

    Words lose the white space around them, and empty ones are left out together with their ground truth. A mark is
    taken away where these groups' words are the same and only the form of another group differs: verbs that agree
    with *they* tell three groups apart, but not two (as in GECO).
    """
    forms = {
        form["group"]: form | {"words": [word.strip() for word in form["words"]]}
        for form in annotation["forms"]
        if form["scope"] == scope
    }
    if not set(groups) <= set(forms):
        return []
    positions = range(len(annotation["source"]))
    equal = [len({forms[group]["words"][i] for group in groups}) == 1 for i in positions]
    elsewhere = [equal[i] and len({form["words"][i] for form in forms.values()}) > 1 for i in positions]
    items = []
    for group in groups:
        words = forms[group]["words"]
        marks = [0 if elsewhere[i] else forms[group]["ground_truth"][i] for i in positions]
        items.append(
            {
                "item_id": f"{annotation['sentence_id']}-{group}",
                "unit_id": annotation["sentence_id"],
                "words": [words[i] for i in positions if words[i]],
                "ground_truth": [marks[i] for i in positions if words[i]],
                "label": [name for name in GECO_LABELS if name in groups].index(group),
                "split": "train",
                "cluster": annotation["sentence_id"],
                "attribute.gender": group,
            }
        )
    return items


def _check_resolved(accepted: list[dict], path: Path) -> None:
    first: dict[str, str] = {}
    for row in accepted:
        annotator = first.setdefault(row["sentence_id"], row["annotator"])
        if annotator != row["annotator"]:
            raise InputError(
                f"{path}: sentence '{row['sentence_id']}' is there of {annotator} and of {row['annotator']}; resolve "
                "the annotations first (rule resolve_annotations)"
            )
