"""How far several annotators agree: on whole sentences, on the words they wrote, and on the ground truth they marked.

A *unit* is what several annotators rate: a sentence for its decision, a word of a form for everything else. Ratings
are nominal. The coefficients are computed from the ratings themselves, not from a table of units by categories, which
would be large where the categories are words.
"""

import math
from itertools import combinations

import numpy as np
import pandas as pd

UNIT = ["sentence_id", "kind", "scope", "group", "position", "source"]
KINDS = ("decision", "changed", "word", "ground_truth")


def cohens_kappa(first: np.ndarray, second: np.ndarray) -> float:
    """Agreement of two annotators beyond chance (Cohen 1960, Eq. 1).

    ``first`` and ``second`` are their ratings of the same units as codes, int (units,). NaN where chance agreement
    is complete, because both use one and the same category throughout, and where there are no units.
    """
    if not len(first):
        return math.nan
    size = max(first.max(), second.max()) + 1
    chance = _shares(first, size) @ _shares(second, size)
    return _beyond_chance(np.mean(first == second), chance)


def fleiss_kappa(ratings: np.ndarray) -> float:
    """Agreement of several annotators beyond chance (Fleiss 1971, Eq. 3 to 7).

    ``ratings`` are codes, int (units, annotators), none missing. NaN as in :func:`cohens_kappa`, and with fewer than
    two annotators.
    """
    if not len(ratings) or ratings.shape[1] < 2:
        return math.nan
    shares = _shares(ratings.ravel(), ratings.max() + 1)
    return _beyond_chance(np.mean(_agreeing_pairs(ratings)), shares @ shares)


def krippendorffs_alpha(ratings: np.ndarray) -> float:
    """Agreement of several annotators, each of whom may have left out units (Krippendorff 2011, nominal data).

    ``ratings`` are codes, int (units, annotators), -1 where there is none; units with fewer than two ratings say
    nothing and are left out. NaN where all remaining ratings are of one category, or none remain.
    """
    ratings = ratings[(ratings >= 0).sum(axis=1) >= 2]
    given = ratings[ratings >= 0]
    if not len(given):
        return math.nan
    counts = (ratings >= 0).sum(axis=1)
    observed = np.sum((1 - _agreeing_pairs(ratings)) * counts)
    sizes = np.bincount(given)
    # In integers, so that one category gives exactly zero.
    expected = (len(given) ** 2 - np.sum(sizes**2)) / (len(given) - 1)
    return 1 - float(observed / expected) if expected else math.nan


def _agreeing_pairs(ratings: np.ndarray) -> np.ndarray:
    """Share of the pairs of annotators who rated a unit (two or more) that rated it alike, float (units,)."""
    equal = np.zeros(len(ratings))
    for first, second in combinations(range(ratings.shape[1]), 2):
        equal += (ratings[:, first] == ratings[:, second]) & (ratings[:, first] >= 0)
    counts = (ratings >= 0).sum(axis=1)
    return equal / (counts * (counts - 1) / 2)


def _shares(codes: np.ndarray, size: int) -> np.ndarray:
    return np.bincount(codes, minlength=size) / len(codes)


def _beyond_chance(observed: float, chance: float) -> float:
    return math.nan if math.isclose(chance, 1, abs_tol=1e-12) else float((observed - chance) / (1 - chance))


# Ratings ---------------------------------------------------------------------------------------------------------


def ratings_table(annotations: list[dict]) -> pd.DataFrame:
    """One row per unit and one column per annotator (in alphabetical order), None where there is no rating.

    The index has the levels ``UNIT``. Kind ``decision`` has accept or reject; ``word`` the word of a form and
    ``ground_truth`` its mark, for accepted sentences. ``position`` counts from 0; it, scope, group and source are
    empty for decisions.
    """
    ratings: dict[tuple, dict[str, str | int]] = {}
    for row in annotations:
        annotator, sentence_id = row["annotator"], row["sentence_id"]
        ratings.setdefault((sentence_id, "decision", "", "", -1, ""), {})[annotator] = row["decision"]
        for form in row["forms"]:
            for kind, values in (("word", form["words"]), ("ground_truth", form["ground_truth"])):
                for position, (source, value) in enumerate(zip(row["source"], values, strict=True)):
                    unit = (sentence_id, kind, form["scope"], form["group"], position, source)
                    ratings.setdefault(unit, {})[annotator] = value
    annotators = sorted({row["annotator"] for row in annotations})
    index = pd.MultiIndex.from_tuples(ratings, names=UNIT)
    values = [[given.get(name) for name in annotators] for given in ratings.values()]
    return pd.DataFrame(values, index=index, columns=annotators, dtype=object)


def disagreements(annotations: list[dict]) -> pd.DataFrame:
    """The rows of :func:`ratings_table` in which annotators differ, the index as columns.

    Words count as different where they differ in anything but the white space around them.
    """
    table = ratings_table(annotations)
    differ = [len({_rating(value) for value in row if value is not None}) > 1 for row in table.to_numpy()]
    return table[differ].reset_index()


def _rating(value: str | int) -> str | int:
    return value.strip() if isinstance(value, str) else value


def annotator_agreement(annotations: list[dict]) -> pd.DataFrame:
    """Cohen's kappa of every pair of annotators, Fleiss' kappa and Krippendorff's alpha of all, by kind and scope.

    Kinds: ``decision``; ``changed``, whether a word of a form differs from the source; ``word``, with which word,
    where all unchanged words are one category; ``ground_truth``. Columns: kind, scope, statistic, annotators, units
    (how many could be used: for kappa those that the named annotators all rated, for alpha those that two or more
    did), observed (the share of pairs of ratings that agree), value (missing where it is undefined) and note.
    """
    table = ratings_table(annotations)
    rows = []
    for kind in KINDS:
        units = table[table.index.get_level_values("kind") == ("word" if kind == "changed" else kind)]
        for scope in sorted(set(units.index.get_level_values("scope"))):
            part = units[units.index.get_level_values("scope") == scope]
            rows += [
                {"kind": kind, "scope": scope, **row} for row in _agreement(_codes(part, kind), list(part.columns))
            ]
    return pd.DataFrame(
        rows, columns=["kind", "scope", "statistic", "annotators", "units", "observed", "value", "note"]
    )


def _codes(units: pd.DataFrame, kind: str) -> np.ndarray:
    """The ratings as codes, int (units, annotators), -1 where there is none."""
    sources = units.index.get_level_values("source")
    codes: dict[object, int] = {None: -1}
    rated = np.empty(units.shape, dtype=np.int64)
    for i, (source, row) in enumerate(zip(sources, units.to_numpy(), strict=True)):
        for j, value in enumerate(row):
            category = None if value is None else _category(_rating(value), source.strip(), kind)
            rated[i, j] = codes.setdefault(category, len(codes) - 1)
    return rated


def _category(value: str | int, source: str, kind: str) -> str | int | bool:
    if kind == "changed":
        return value != source
    # A word that was cut out has no letters and is no unchanged one.
    return ("unchanged" if value == source else f"to {value}") if kind == "word" else value


def _agreement(ratings: np.ndarray, annotators: list[str]) -> list[dict]:
    """One row per coefficient for units of one kind."""
    rows = []
    for pair in combinations(range(len(annotators)), 2):
        both = ratings[:, pair]
        both = both[(both >= 0).all(axis=1)]
        named = ", ".join(annotators[i] for i in pair)
        rows.append(_row("Cohen's kappa", named, both, cohens_kappa(both[:, 0], both[:, 1])))
    everybody = ", ".join(annotators)
    complete = ratings[(ratings >= 0).all(axis=1)]
    several = ratings[(ratings >= 0).sum(axis=1) >= 2]
    if len(annotators) > 1:
        rows.append(_row("Fleiss' kappa", everybody, complete, fleiss_kappa(complete)))
        rows.append(_row("Krippendorff's alpha", everybody, several, krippendorffs_alpha(several)))
    return rows


def _row(statistic: str, annotators: str, ratings: np.ndarray, value: float) -> dict:
    note = ""
    if not len(ratings):
        note = "no unit that these annotators rated in common"
    elif math.isnan(value):
        note = "undefined: all ratings are of one category, so agreement by chance is complete"
    counts = (ratings >= 0).sum(axis=1)
    # Pairs of ratings, each unit by the number of its own.
    pairs = counts * (counts - 1) / 2
    observed = float(np.sum(_agreeing_pairs(ratings) * pairs) / np.sum(pairs)) if len(ratings) else math.nan
    return {
        "statistic": statistic,
        "annotators": annotators,
        "units": len(ratings),
        "observed": observed,
        "value": value,
        "note": note,
    }
