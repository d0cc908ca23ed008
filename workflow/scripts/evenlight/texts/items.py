"""Texts and units: what must hold of every dataset, the parts of its split, and what is compared.

An *item* is one text. A *unit* is what a comparison looks at: the forms of one sentence, an original and its edit, or a
text alone. The rows of a unit say in which ``role`` an item stands in it and which ``level`` of which ``factor`` it has
(``male`` of ``gender``). Splits are made of whole units, so that a model is never tested on a variant of a sentence
that it was trained on. ``cluster`` is what items share beyond a unit, such as the theme; it holds whole units.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce

import numpy as np
import pandas as pd

from evenlight.core.contracts.texts import ATTRIBUTE, UNITS
from evenlight.core.errors import InputError
from evenlight.core.factors import CONTROL_LEVELS, JOINT, NEGATIVE_CONTROL
from evenlight.core.files import refuse_half_characters
from evenlight.core.seeds import generator_for

# Texts that are aside are neither learned from nor tested on: counterparts of training texts that a model must not see.
ASIDE = "aside"
SPLITS = ("train", "validation", "test", ASIDE)
FORM, ORIGINAL, EDIT = ROLES = ("form", "original", "edit")
# Units and rows that a message names.
MOST = 10


# Making -------------------------------------------------------------------------------------------------------------


def separated(rows: pd.DataFrame, factors: Collection[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(items, units) from rows of items that name their unit, too.

    ``rows`` has the columns of :data:`evenlight.core.contracts.texts.ITEMS`, with those of all ``factors``
    (``attribute.<factor>``), and ``unit_id``. Every item is a form in its unit, at the level that its attribute
    names; where the attribute is null, the item has no row for this factor. :class:`InputError` where an item of a
    unit with several has no level at all, since then nothing would say that they belong together.
    """
    parts = []
    for factor in factors:
        part = rows[["unit_id", "item_id"]].assign(role=FORM, factor=factor, level=rows[ATTRIBUTE + factor])
        parts.append(part[part["level"].notna()])
    units = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=UNITS.schema.names, dtype=object)
    if problems := lost_problems(rows, factors, {}):
        raise InputError(*problems)
    return rows.drop(columns="unit_id"), units


def lost_items(rows: pd.DataFrame, factors: Collection[str]) -> pd.DataFrame:
    """Those of some rows of :func:`separated` that have no level, and stand in a unit with others."""
    known = rows[[ATTRIBUTE + factor for factor in factors]].notna().any(axis=1)
    return rows[rows["unit_id"].duplicated(keep=False) & ~known]


def lost_problems(rows: pd.DataFrame, factors: Collection[str], placed: Mapping[str, list[str]]) -> list[str]:
    """What is said of them, by the rows of a file in which items stand; nothing where there are none."""
    lost = lost_items(rows, factors)
    if lost.empty:
        return []
    named = [f"{item}{_rows(placed, [item])}" for item in lost["item_id"][:MOST]]
    others = f"; {len(lost):,} items have this: {', '.join(named)}{', …' * (len(lost) > MOST)}" * (len(lost) > 1)
    return [
        f"item {named[0]}: no level of {', '.join(factors) or 'any factor'}, but other items in its unit "
        f"{lost['unit_id'].iloc[0]}; give it a level, or a unit of its own{others}"
    ]


def groups_kept_together(items: pd.DataFrame, units: pd.DataFrame) -> pd.Series:
    """What must stay together with each of ``items``, by their index: its unit, as text.

    Units that share an item, as two edits of one original do, are one group, named by the first of their names. An item
    that is in no unit is a group by itself, named by its ``item_id``.
    """
    # `Series.isin` needs ten times the memory.
    known = pd.Index(items["item_id"].unique()).get_indexer(units["item_id"]) >= 0
    linked = units.loc[known, ["unit_id", "item_id"]].drop_duplicates(ignore_index=True)
    if linked.empty:
        return items["item_id"]
    kept_together = linked["unit_id"]
    while linked["item_id"].duplicated().any():
        wider = kept_together.groupby(linked["item_id"]).transform("min")
        wider = wider.groupby(linked["unit_id"]).transform("min")
        if wider.equals(kept_together):
            break
        kept_together = wider
    group_of_item = pd.Series(kept_together.to_numpy(), index=linked["item_id"]).groupby(level=0).first()
    return items["item_id"].map(group_of_item).fillna(items["item_id"])


def joined_clusters(items: pd.DataFrame) -> pd.Series:
    """The cluster of each of ``items``, where clusters that have a text in common are one, named by the first of them.

    Copies of a text say nothing new, so they are neither independent of each other nor on both sides of a split.

    >>> joined_clusters(pd.DataFrame({"words": [["a"], ["b"], ["a"]], "cluster": ["1", "2", "3"]})).tolist()
    ['1', '2', '1']
    """
    text = text_keys(items)
    cluster = items["cluster"]
    while True:
        wider = cluster.groupby(text).transform("min")
        wider = wider.groupby(items["cluster"]).transform("min")
        if wider.equals(cluster):
            return cluster
        cluster = wider


def text_keys(items: pd.DataFrame) -> pd.Series:
    """What is equal for equal texts: the words of each of ``items``, those of a second part apart."""
    words = items["words"].map(tuple)
    if "part" not in items:
        return words
    parts = items["part"].map(lambda part: tuple(part) if is_known(part) else ())
    return pd.Series(list(zip(words, parts, strict=True)), index=items.index)


def clusters_kept_together(items: pd.DataFrame, units: pd.DataFrame) -> pd.Series:
    """What must stay together with each of ``items`` where clusters do: its cluster, or, if this has one group, that.

    So the draws of a dataset whose clusters are its units are those of :func:`groups_kept_together`.
    """
    kept_together = groups_kept_together(items, units)
    alone = kept_together.groupby(items["cluster"]).transform("nunique") == 1
    return kept_together.where(alone, items["cluster"])


def assign_validation(items: pd.DataFrame, kept_together: Sequence[str], share: float, seed: int) -> pd.DataFrame:
    """Items with ``share`` (0 to 1) of the training groups moved to the validation split, if there are any.

    ``kept_together`` says of each item what stays together with it, see :func:`groups_kept_together` and
    :func:`clusters_kept_together`.
    """
    if not (items["split"] == "train").any():
        return items
    return _moved(items, kept_together, "validation", share, seed, "validation_share")


def assign_test(items: pd.DataFrame, kept_together: Sequence[str], share: float, seed: int) -> pd.DataFrame:
    """Items with ``share`` (0 to 1) of the training groups moved to the test split; 1 leaves nothing to train on.

    For a dataset without a published test split; use it before :func:`assign_validation`.
    """
    if share == 1:
        return items.assign(split=items["split"].replace("train", "test"))
    return _moved(items, kept_together, "test", share, seed, "test_share")


def _moved(
    items: pd.DataFrame, kept_together: Sequence[str], split: str, share: float, seed: int, key: str
) -> pd.DataFrame:
    """Items with ``share`` of the training groups, to the nearest one, moved to ``split``.

    Each group draws a number of its own and those with the lowest move. Which of them move is therefore a matter
    of the seed and their names alone, and a larger share moves the same ones and more.
    """
    training = items["split"] == "train"
    kept_together = pd.Series(list(kept_together), index=items.index)
    names = kept_together[training].unique()
    count = round(share * len(names))
    if not 0 < count < len(names):
        raise InputError(
            f"{key}: {share} of {len(names)} training pairs, or clusters of texts, is {count}; choose a share that "
            "moves at least one and leaves at least one. Clusters that have a text in common count as one"
        )
    chosen = sorted(names, key=lambda name: (generator_for(seed, name, "split").random(), name))[:count]
    return items.assign(split=items["split"].mask(training & kept_together.isin(chosen), split))


def sampled_units(
    items: pd.DataFrame, units: pd.DataFrame, count: int | None, factors: Collection[str] | None = None
) -> pd.DataFrame:
    """Those of ``items`` that are in ``count`` units, drawn at random; all where ``count`` is None or there are fewer.

    The same units in every call, so that models and their seeds are compared on the same texts. Units with most levels,
    which are those with all variants, come first, however many texts a level has. Where no unit has two levels, as many
    are drawn of each, while there are some: the comparison of a small group with a large one is no better than the
    small one's number. With several factors as many are drawn of each combination of their levels. ``factors`` are
    those that count, by default all.
    """
    if count is None:
        return items
    kept_together = groups_kept_together(items, units)
    levels = items["item_id"].map(_combinations(units if factors is None else units[units["factor"].isin(factors)]))
    strata = levels.fillna("").groupby(kept_together).agg(lambda levels: tuple(sorted(levels)))
    drawn = sorted(strata.index, key=lambda name: (generator_for(0, name, "sample").random(), name))
    strata = strata[drawn]
    variants = strata.map(lambda levels: len(set(levels)))
    turn = strata.groupby(strata).cumcount() if variants.max() == 1 else -variants
    chosen = turn.sort_values(kind="stable").index[:count]
    return items[kept_together.isin(chosen)]


def _combinations(units: pd.DataFrame) -> pd.Series:
    """The levels of every item in all factors, as one text, by ``item_id``."""
    levels = units[["item_id", "factor", "level"]].drop_duplicates().sort_values(["item_id", "factor", "level"])
    return (levels["factor"] + "=" + levels["level"]).groupby(levels["item_id"]).agg(" ".join)


# Asking -------------------------------------------------------------------------------------------------------------


def units_of(units: pd.DataFrame, factor: str) -> pd.DataFrame:
    """The rows of one factor, in the columns of :data:`evenlight.core.contracts.texts.UNITS`.

    A name with ``+`` (``gender+race``) is an intersection: an item has its levels of both in the same unit and role,
    joined in this order (``female+asian``). Items without a level of one of them are left out. The negative control is
    drawn for each unit from its name, the same in every run; a dataset's own factor of this name goes before.

    >>> levels = [("gender", "female"), ("race", "asian")]
    >>> units = pd.DataFrame([("u", "i", "form", *level) for level in levels], columns=UNITS.schema.names)
    >>> units_of(units, "gender+race").level.tolist()
    ['female+asian']

    Raises :class:`InputError` where there is no such factor.
    """
    if NEGATIVE_CONTROL in factor.split(JOINT):
        units = _with_negative_control(units)
    there = units["factor"].unique()
    for name in factor.split(JOINT):
        if name not in there:
            raise InputError(f"factor '{name}': no unit has it; there are {', '.join(there) or 'none'}")
    keys = ["unit_id", "item_id", "role"]
    parts = [units.loc[units["factor"] == name, [*keys, "level"]] for name in factor.split(JOINT)]
    joined = reduce(lambda left, right: _joined(left.merge(right, on=keys, suffixes=("", "_right"))), parts)
    return joined.assign(factor=factor)[[*keys, "factor", "level"]]


def forms_of(units: pd.DataFrame, factor: str) -> pd.DataFrame:
    """The rows of a dataset's units that a comparison by ``factor`` looks at: its forms; none without such a factor."""
    if not {NEGATIVE_CONTROL, *units["factor"]}.issuperset(factor.split(JOINT)) or units.empty:
        return units.iloc[:0]
    rows = units_of(units, factor)
    return rows[rows["role"] == FORM]


def _with_negative_control(units: pd.DataFrame) -> pd.DataFrame:
    if (units["factor"] == NEGATIVE_CONTROL).any():
        return units
    rows = units[["unit_id", "item_id", "role"]].drop_duplicates()
    # Under the word that was used first, so that units stay in their group.
    levels = {name: CONTROL_LEVELS[generator_for(0, name, "placebo").integers(2)] for name in rows["unit_id"].unique()}
    drawn = rows.assign(factor=NEGATIVE_CONTROL, level=rows["unit_id"].map(levels))
    return pd.concat([units, drawn], ignore_index=True)


def _joined(merged: pd.DataFrame) -> pd.DataFrame:
    return merged.assign(level=merged["level"] + JOINT + merged["level_right"]).drop(columns="level_right")


def known_levels(items: pd.DataFrame, split: str, factor: str, levels: Collection[str]) -> pd.Series:
    """The level of a factor of each text of a split that has one of ``levels``, by the index of ``items``."""
    level = items.loc[items["split"] == split, ATTRIBUTE + factor]
    return level[level.isin(list(levels))]


def learned_levels(items: pd.DataFrame, split: str, concept: str, levels: Collection[str]) -> pd.Series:
    """The same of a split that something is learned from: :class:`InputError` where no text has a level."""
    known = known_levels(items, split, concept, levels)
    if known.empty:
        said = {"train": "training", "validation": "validation"}[split]
        raise InputError(f"concept {concept}: no {said} text has a label of it; give the dataset some")
    return known


# Checking -----------------------------------------------------------------------------------------------------------


def check_items(
    items: pd.DataFrame,
    units: pd.DataFrame,
    name: str,
    unbalanced: Collection[str] = (),
    places: Sequence[str] = (),
) -> list[str]:
    """Refuse items and units that would make a study wrong; return notes on what is unusual but allowed.

    ``items`` and ``units`` have the columns of ``ITEMS`` and ``UNITS`` in :mod:`evenlight.core.contracts.texts`;
    ``name`` is the dataset's, and ``places`` says of each item in which row of its file it stands, where that is known.
    ``ground_truth`` may be null (not known) or without a 1 (no word is marked): both are counted in the notes. An
    :class:`InputError` names the items that are wrong, or else the units.

    What a unit must have follows from the roles in it:

    - forms: one item, which is a text without counterpart; or else exactly one item of each level of the factor, so
      that every comparison finds a pair. In the factors that ``unbalanced`` names, a unit may have any number of items
      of a level, none included: the factor does not vary inside the unit, or there are several variants of a level. The
      unit then only says which texts belong together; who compares pairs leaves out units that have none;
    - an original and its edits: one original, and at least one edit.
    """
    location, placed = f"dataset {name}", rows_by_item(items["item_id"], places)
    _check_identifiers(items, location, placed)
    for item in items.itertuples():
        _check_words(item, f"{location}, item {item.item_id}{_rows(placed, [item.item_id])}")
    _check_rows(items, units, location)
    unknown = items[~items["split"].isin(SPLITS)]
    if len(unknown):
        item = unknown.iloc[0]
        raise InputError(f"{location}, item {item.item_id}: split '{item.split}'; use one of {', '.join(SPLITS)}")
    problems = unit_problems(items, units, location, unbalanced, placed)
    # The other splits are for models that are trained here, and looked at there.
    if not (items["split"] == "test").any():
        problems.append(f"{location}: no items in split test; put some there, or have a share of them moved")
    if problems:
        raise InputError(*problems)
    return [note for split in SPLITS for note in _notes(items[items["split"] == split], units, split)]


def rows_by_item(item_ids: Iterable[str], places: Sequence[str]) -> dict[str, list[str]]:
    """The rows in which each item stands; none where no places are known."""
    placed: dict[str, list[str]] = {}
    for item, place in zip(item_ids, places, strict=False):
        placed.setdefault(item, []).append(place)
    return placed


def unit_problems(
    items: pd.DataFrame,
    units: pd.DataFrame,
    location: str,
    unbalanced: Collection[str],
    placed: Mapping[str, list[str]],
) -> list[str]:
    """What is wrong with units: each fault once, with all units that have it and their rows."""
    forms, edits = units[units["role"] == FORM], units[units["role"] != FORM]
    members = units.groupby("unit_id")["item_id"].unique()
    problems = []
    for factor, factor_units in forms.groupby("factor", sort=False):
        if factor not in unbalanced:
            problems += _wrong_forms(factor_units)
    problems += [*_wrong_edits(edits), *_wrong_clusters(items, units), *_wrong_splits(items, units)]
    return [_of_units(location, *problem, members, placed) for problem in problems]


def _of_units(
    location: str, wrong: Sequence[str], problem: str, remedy: str, members: pd.Series, placed: Mapping[str, list[str]]
) -> str:
    """What is said of a fault that some units have."""
    named = [f"{unit}{_rows(placed, members[unit]) if unit in members else ''}" for unit in wrong[:MOST]]
    others = f"; {len(wrong):,} units have this: {', '.join(named)}{', …' * (len(wrong) > MOST)}"
    return f"{location}, unit {named[0]}: {problem}; {remedy}{others * (len(wrong) > 1)}"


def _rows(placed: Mapping[str, list[str]], items: Iterable[str]) -> str:
    """Where some items stand in their file, such as `` (rows 3, 7)``; empty where that is not known."""
    rows = [row for item in items for row in placed.get(item, ())]
    return f" (row{'s' * (len(rows) > 1)} {', '.join(rows[:MOST])}{', …' * (len(rows) > MOST)})" if rows else ""


def check_compared(
    dataset: str,
    units: pd.DataFrame,
    explained: Collection[str],
    comparisons: Mapping[str, list[list[str]]],
    smallest: int | None = None,
) -> list[str]:
    """Notes on the compared pairs of levels that a dataset lacks, and on levels with fewer units than ``smallest``.

    ``explained`` are texts (``item_id``), ``units`` those of the dataset, ``comparisons`` factor to pairs of levels.
    :class:`InputError` where a level of a pair has one unit only and ``smallest`` is None, and where no pair is there.
    """
    units = units[units["item_id"].isin(list(explained))]
    there = {factor: forms_of(units, factor).groupby("level")["unit_id"].nunique() for factor in comparisons}
    sets = [(factor, levels) for factor, sets in comparisons.items() for levels in sets]
    large = {factor: counts[counts >= (smallest or 1)] for factor, counts in there.items()}
    lacking = []
    for factor, levels in sets:
        missing = [level for level in levels if level not in there[factor]]
        small = [
            f"'{level}' ({there[factor][level]})"
            for level in levels
            if level in there[factor].drop(large[factor].index)
        ]
        if small:
            lacking.append(
                f"dataset '{dataset}': {factor} {', '.join(small)} not compared, fewer explained units than "
                f"statistics.smallest_group ({smallest})"
            )
            continue
        if missing:
            lacking.append(
                f"dataset '{dataset}': '{levels[0]}' and '{levels[1]}' are not compared, no explained text has "
                f"{factor} {' or '.join(map(repr, missing))}"
            )
        elif there[factor][levels].min() < 2:
            raise InputError(
                f"dataset '{dataset}': one unit only of {factor} '{there[factor][levels].idxmin()}' is explained, and "
                "a comparison needs at least 2; give the test split more texts, raise explain.pairs, or take the pair "
                "of levels out of 'statistics.compare'"
            )
    if sets and not any(set(levels) <= set(large[factor].index) for factor, levels in sets):
        factors = units.groupby("factor", sort=False)["level"].unique()
        listing = "; ".join(f"{factor}: {', '.join(sorted(levels))}" for factor, levels in factors.items())
        compared = "; ".join(f"{factor} {', '.join(levels)}" for factor, levels in sets)
        compared += f", of at least {smallest} explained units each (statistics.smallest_group)" if smallest else ""
        raise InputError(
            f"dataset '{dataset}': nothing can be compared; it has {listing}, and 'statistics.compare' asks for "
            f"{compared}; name two of its levels there, or take the dataset out of the study"
        )
    return lacking


def check_explained(dataset: str, test: pd.DataFrame, reason: np.ndarray, units: pd.DataFrame, compared: dict) -> None:
    """Refuse a dataset of whose explained texts too few can be compared.

    Args:
        dataset: its name.
        test: the texts, with ``item_id`` and ``label``.
        reason: why each is not explained, None where it is.
        units: table of the contract ``units``.
        compared: the study's ``comparisons``, and its ``strata`` by dataset.
    """
    explained = test[np.equal(reason, None)].set_index("item_id")
    check_compared(dataset, units, explained.index, compared["comparisons"], compared.get("smallest_group"))
    if compared["strata"].get(dataset) == "label":
        check_strata(dataset, units, explained["label"], compared["comparisons"])


def check_strata(
    dataset: str, units: pd.DataFrame, labels: pd.Series, comparisons: Mapping[str, list[list[str]]]
) -> None:
    """Refuse to compare within labels where every label has texts of one level only.

    ``labels`` are those of the texts that are explained, by ``item_id``; ``units`` and ``comparisons`` as for
    :func:`check_compared`. Pairs of levels of which one is not there are passed over.
    """
    for factor, sets in comparisons.items():
        forms = forms_of(units, factor)
        forms = forms[forms["item_id"].isin(labels.index)]
        by_level = forms["item_id"].map(labels).groupby(forms["level"]).agg(set)
        for levels in sets:
            there = [by_level[level] for level in levels if level in by_level]
            if len(levels) == len(there) == 2 and not there[0] & there[1]:
                raise InputError(
                    f"statistics.strata.{dataset}: found label, but no label has explained texts of {factor} "
                    f"'{levels[0]}' and '{levels[1]}', so that nothing can be compared within labels; leave the "
                    "dataset out"
                )


def _check_identifiers(items: pd.DataFrame, location: str, placed: Mapping[str, list[str]]) -> None:
    if items.empty:
        raise InputError(f"{location}: no items; check the files that it is read from")
    repeated = items["item_id"][items["item_id"].duplicated()].unique()
    if len(repeated):
        raise InputError(
            *(
                f"{location}: item_id {item} occurs twice{_rows(placed, [item])}; give every item an id of its own"
                for item in repeated[:MOST]
            )
        )


def _check_words(item, location: str) -> None:
    if len(item.words) == 0:
        raise InputError(f"{location}: no words; remove the item or restore its text")
    refuse_half_characters(" ".join(item.words), location)
    blank = [position for position, word in enumerate(item.words) if not word.strip()]
    if blank:
        raise InputError(f"{location}: word {blank[0]} (from 0) is empty; remove it together with its ground truth")
    part = getattr(item, "part", None)
    if is_known(part) and (len(part) != len(item.words) or sorted(set(part)) != [0, 1] or list(part) != sorted(part)):
        raise InputError(f"{location}: part is {list(part)}; give each word 0 or 1, first those of the first part")
    spaces = getattr(item, "spaces", None)
    if is_known(spaces):
        expected = len(item.words) + (2 if is_known(part) else 1)
        if len(spaces) != expected or any(space.strip() for space in spaces):
            raise InputError(
                f"{location}: spaces are {list(spaces)[:8]}; give the white space before each word and behind "
                f"the last, of each part: {expected} for {len(item.words)} words"
            )
    carries = getattr(item, "carries", None)
    if is_known(carries) and len(carries) != len(item.words):
        raise InputError(f"{location}: {len(item.words)} words but {len(carries)} in carries; give each word one")
    if not is_known(item.ground_truth):
        return
    if len(item.ground_truth) != len(item.words):
        raise InputError(
            f"{location}: {len(item.words)} words but {len(item.ground_truth)} values of ground truth; "
            "give each word one value"
        )
    wrong = [value for value in item.ground_truth if value not in (0, 1)]
    if wrong:
        raise InputError(f"{location}: ground truth {wrong[0]}; mark a word with 1 or 0")


def is_known(values) -> bool:
    """Whether there is a list: pandas may hold a missing one as None or as NaN."""
    return values is not None and not isinstance(values, float)


def _check_rows(items: pd.DataFrame, units: pd.DataFrame, location: str) -> None:
    """Every row of the units must be about an item that there is, and say nothing that another one contradicts."""
    for wrong, problem in _faulty_rows(items, units):
        if wrong.any():
            row = units[wrong].iloc[0]
            raise InputError(f"{location}, unit {row.unit_id}, item {row.item_id}: {problem.format(**row)}")


def _faulty_rows(items: pd.DataFrame, units: pd.DataFrame) -> Iterator[tuple[pd.Series, str]]:
    """(which rows of ``units`` are wrong, what is to be said of the first)."""
    yield ~units["item_id"].isin(items["item_id"]), "there is no such item; name one of the items"
    yield ~units["role"].isin(ROLES), f"role '{{role}}'; use one of {', '.join(ROLES)}"
    twice = units.duplicated(["unit_id", "item_id", "factor"])
    yield twice, "has two rows for {factor}; give an item one level of a factor in each unit"
    for column in ("factor", "level"):
        yield (
            units[column].str.contains(JOINT, regex=False),
            f"{column} '{{{column}}}': {JOINT} joins the names of intersections; choose another name",
        )
    attributes = items.set_index("item_id")
    for factor in units["factor"].unique():
        if ATTRIBUTE + factor in items.columns:
            said = units["item_id"].map(attributes[ATTRIBUTE + factor])
            contradicts = (units["factor"] == factor) & (units["role"] == FORM) & (said != units["level"])
            yield (
                contradicts,
                f"level '{{level}}', but another one in the item's attribute.{factor}; make them the same",
            )


# Of each fault of units: which have it, what it is, and what to do about it.
Faults = Iterator[tuple[Sequence[str], str, str]]


def _wrong_forms(units: pd.DataFrame) -> Faults:
    """A unit with several forms must have one of each level of the factor; ``units`` are the rows of one factor."""
    several = units[units.duplicated("unit_id", keep=False)]
    if several.empty:
        return
    counts = several.groupby(["unit_id", "level"]).size().unstack(fill_value=0)
    counts = counts.reindex(columns=sorted(units["level"].unique()), fill_value=0)
    for wrong, problem in ((counts > 1, "has more than one item"), (counts == 0, "has no item")):
        for level in counts.columns:
            if wrong[level].any():
                yield (
                    list(counts.index[wrong[level]]),
                    f"{problem} of {units['factor'].iloc[0]} {level}",
                    f"give each unit one item of each of {', '.join(counts.columns)}, or leave the unit out; a table "
                    "of your own may declare such units by balanced: false",
                )


def _wrong_edits(units: pd.DataFrame) -> Faults:
    """A unit with an original or an edit must have one original and at least one edit."""
    members = units.drop_duplicates(["unit_id", "item_id", "role"])
    counts = members.groupby(["unit_id", "role"]).size().unstack(fill_value=0)
    counts = counts.reindex(columns=[ORIGINAL, EDIT], fill_value=0)
    wrong = counts[(counts[ORIGINAL] != 1) | (counts[EDIT] == 0)]
    for (originals, edits), alike in wrong.groupby([ORIGINAL, EDIT]):
        remedy = "give each unit one original and at least one edit of it"
        yield list(alike.index), f"{originals} originals and {edits} edits", remedy


def _wrong_clusters(items: pd.DataFrame, units: pd.DataFrame) -> Faults:
    divided = _divided(items, units, "cluster")
    if len(divided):
        several = " and ".join(divided.iloc[0])
        yield list(divided.index), f"its items have several clusters ({several})", "put all items of a unit in one"


def _wrong_splits(items: pd.DataFrame, units: pd.DataFrame) -> Faults:
    divided = _divided(items, units, "split")
    if len(divided):
        sides = " and ".join(divided.iloc[0])
        yield list(divided.index), f"is on both sides of the split ({sides})", "put all items of a unit in one split"


def _divided(items: pd.DataFrame, units: pd.DataFrame, column: str) -> pd.Series:
    """The values of ``column`` in each whole that has more than one of them."""
    values = items[column].groupby(groups_kept_together(items, units)).unique()
    return values[values.map(len) > 1]


def _notes(items: pd.DataFrame, units: pd.DataFrame, split: str) -> list[str]:
    """What a reader of the results should know about the items of one split."""
    if items.empty:
        return []
    units = units[units["item_id"].isin(items["item_id"])]
    notes = [f"{split}: {len(items)} items in {groups_kept_together(items, units).nunique()} units{_counts(units)}"]
    known = items["ground_truth"][items["ground_truth"].map(is_known)]
    unknown, unmarked = len(items) - len(known), sum(not any(marks) for marks in known)
    if unknown:
        notes.append(f"{split}: {unknown} of {len(items)} items have no ground truth")
    if unmarked:
        notes.append(f"{split}: {unmarked} of {len(items)} items have an empty ground truth (no word is marked)")
    for factor, factor_units in units.groupby("factor", sort=False):
        without = len(items) - factor_units["item_id"].nunique()
        if without:
            notes.append(f"{split}: {without} of {len(items)} items have no {factor}")
        sizes = factor_units.groupby("unit_id").size()
        if sizes.max() > 1 and sizes.min() == 1:
            alone = (sizes == 1).sum()
            notes.append(
                f"{split}: {alone} of {len(sizes)} units have one item only, without a counterpart in {factor}"
            )
    return notes


def _counts(units: pd.DataFrame) -> str:
    """How many items have each level, such as `` (gender: female 4, male 4)``."""
    rows = units.drop_duplicates(["item_id", "factor", "level"])
    texts = []
    for factor, levels in rows.groupby("factor", sort=False)["level"]:
        counts = levels.value_counts().sort_index()
        texts.append(f"{factor}: {', '.join(f'{level} {count}' for level, count in counts.items())}")
    return f" ({'; '.join(texts)})" if texts else ""
