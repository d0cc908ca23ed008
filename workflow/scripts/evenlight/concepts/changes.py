"""The changes of a dataset's concepts: from its items and units to what is estimated, and to what is compared."""

from collections.abc import Collection, Mapping, Sequence

import pandas as pd

from evenlight.core.contracts.explanations import CHANGES
from evenlight.core.contracts.texts import ATTRIBUTE, UNITS
from evenlight.core.errors import InputError
from evenlight.datasets import change_name
from evenlight.texts.items import EDIT, FORM, ORIGINAL

# By what changes are compared besides the groups of their texts.
CONCEPT, CHANGE = "concept", "change"


def listed_changes(items: pd.DataFrame, units: pd.DataFrame, concepts: Collection[str]) -> pd.DataFrame:
    """The changes in the columns of ``CHANGES``, by ``change_id``.

    An original and its edit are one change; two forms of a concept are two, one in either direction. ``items`` and
    ``units`` have the columns of ``ITEMS`` and ``UNITS``. The level before a change must be the one that the base has
    as an attribute.
    """
    units = units[units["factor"].isin(list(concepts))]
    first, second = (units.assign(concept=units["factor"]).drop(columns="factor") for _ in range(2))
    pairs = first.merge(second, on=["unit_id", "concept"], suffixes=("", "_after"))
    is_edit = (pairs["role"] == ORIGINAL) & (pairs["role_after"] == EDIT)
    are_forms = (pairs["role"] == FORM) & (pairs["role_after"] == FORM) & (pairs["level"] != pairs["level_after"])
    pairs = pairs[is_edit | are_forms]
    changes = pd.DataFrame(
        {
            "change_id": pairs["unit_id"].where(is_edit[pairs.index], pairs["unit_id"] + "-" + pairs["level"]),
            "split": pairs["item_id"].map(items.set_index("item_id")["split"]),
            "concept": pairs["concept"],
            "before": pairs["level"],
            "after": pairs["level_after"],
            "base": pairs["item_id"],
            "edit": pairs["item_id_after"],
        }
    )
    changes = changes.sort_values("change_id", ignore_index=True)
    if not (changes["split"] == "test").any():
        raise InputError("no change of a concept is in the test split; give the dataset some")
    for concept, part in changes.groupby("concept"):
        said = part["base"].map(items.set_index("item_id")[ATTRIBUTE + concept])
        wrong = part[said != part["before"]]
        if len(wrong):
            change = wrong.iloc[0]
            raise InputError(
                f"change {change.change_id}: {concept} of item {change.base} is '{said[wrong.index[0]]}', "
                f"the unit says '{change.before}'; make them the same"
            )
    return changes[CHANGES.schema.names]


def compared_changes(
    changes: pd.DataFrame, items: pd.DataFrame, groups: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(items, units) in which every change of the test split is an item, so that changes are compared as texts are.

    Factors are :data:`CONCEPT`, :data:`CHANGE` (from what to what) and the attributes in ``groups`` of the base, whose
    words, label and cluster the change has.
    """
    changes = changes[changes["split"] == "test"]
    base = items.set_index("item_id").loc[changes["base"]].reset_index(drop=True)
    levels: Mapping[str, pd.Series] = {
        CONCEPT: changes["concept"],
        CHANGE: pd.Series(map(change_name, changes["before"], changes["after"]), index=changes.index),
        **{group: pd.Series(base[ATTRIBUTE + group].to_numpy(), index=changes.index) for group in groups},
    }
    listed = base[["words", "ground_truth", "label", "split", "cluster"]].assign(
        item_id=changes["change_id"].to_numpy()
    )
    rows = [
        pd.DataFrame({"unit_id": changes["change_id"], "item_id": changes["change_id"], "level": level}).assign(
            role=FORM, factor=factor
        )
        for factor, level in levels.items()
    ]
    return listed, pd.concat(rows, ignore_index=True).dropna()[UNITS.schema.names]
