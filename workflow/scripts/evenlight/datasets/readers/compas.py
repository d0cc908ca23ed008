"""COMPAS: people of whom a risk score was asked, as short texts, and whether they were arrested again in two years.

Larson et al. (ProPublica, 2016), "How We Analyzed the COMPAS Recidivism Algorithm"; the texts are in the form of
Dhaini et al. (2025), Section 4.1 and Table 1: "3 priors, score factor 1, under 45, under 25, African American, male,
misdemeanor".

Of that form only three examples are published. The score factor is that of ProPublica's regressions: 0 for a low score,
1 for a medium or high one. What the examples show: the plural stands for one prior, too; ``under 45`` stands beside
``under 25``; a felony is not mentioned (one example, a Hispanic man under 25 with one prior and a low score who was
arrested again, has felonies only in the data). What they leave open is ours: ``over 45`` and ``over 25`` for older
people, ``Caucasian``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from evenlight.core.factors import ATTRIBUTE
from evenlight.datasets.base import Dataset, Reader
from evenlight.datasets.fields import SplitSeed, TestShare, ValidationShare
from evenlight.settings import Different, Text, refusal, shown
from evenlight.texts.splitting import text_columns
from evenlight.texts.table_rows import PUBLISHED, csv_rows

if TYPE_CHECKING:
    import pandas as pd

COMPAS = "compas/compas-scores-two-years.csv"
COMPAS_LEVELS = {
    "gender": ("male", "female"),
    "race": ("african_american", "asian", "caucasian", "hispanic", "native_american", "other"),
}

CLASSES = ["no_recidivism", "recidivism"]  # within two years, in the order of the labels in the file
LABELS = {"0": 0, "1": 1}
DAYS = 30  # most days between the arrest and the screening, or it may be for another arrest
SCORE_FACTORS = {"Low": 0, "Medium": 1, "High": 1}
AGES = {
    "Less than 25": "under 45, under 25",
    "25 - 45": "under 45, over 25",
    "Greater than 45": "over 45, over 25",
}
RACES = {
    "African-American": "African American",
    "Asian": "Asian",
    "Caucasian": "Caucasian",
    "Hispanic": "Hispanic",
    "Native American": "Native American",
    "Other": "other race",
}
GENDERS = {"Female": "female", "Male": "male"}
CHARGES = {"F": "", "M": ", misdemeanor"}
# What texts may be matched by, as numbers; the values that the text has and no others, since a model sees no more.
COVARIATES = {
    "priors": ("priors_count", None),
    "age": ("age_cat", {name: number for number, name in enumerate(AGES)}),
    "score": ("score_text", SCORE_FACTORS),
    "charge": ("c_charge_degree", {name: number for number, name in enumerate(CHARGES)}),
}
COLUMNS = {"gender": ("sex", GENDERS), "race": ("race", {name: re.sub(r"\W", "_", name.lower()) for name in RACES})}
FILTERED = ("days_b_screening_arrest", "is_recid", "c_charge_degree", "score_text")
FIELDS = ("id", "priors_count", "age_cat", "race", "sex", "two_year_recid", *FILTERED)


class Compas(Reader):
    """People of whom the COMPAS risk score was asked (ProPublica's table and filter), each as a short text; the class
    is whether they were arrested again within two years.
    """

    title: ClassVar[str] = "COMPAS"
    english: ClassVar[bool] = True

    reader: Literal["compas"]
    test_share: TestShare = None
    validation_share: ValidationShare = 0.1
    split_seed: SplitSeed = 0
    match: Annotated[Different[Text], Field(min_length=2, max_length=2)] | None = Field(
        None,
        description=(
            "Two levels of gender or of race, such as `[male, female]`, of which people of the test split are made "
            "pairs: with the same label, and alike in `match_on`. Then they are compared as the forms of a sentence "
            "are, and `explain.pairs` counts pairs. `null` compares the groups as they are."
        ),
    )
    match_on: Annotated[
        Different[Literal["priors", "age", "score", "charge", "gender", "race"]], Field(min_length=1)
    ] = Field(
        ["priors", "age"],
        description=(
            "What the two of a pair have in common. The number of `priors` is within 0.2 standard deviations. Exactly "
            "the same are the `age` group, the `score` factor, the degree of the `charge`, and the other attribute, "
            "`gender` or `race`, as the text has them."
        ),
    )

    @model_validator(mode="after")
    def _matched_levels(self) -> Self:
        if self.match is None:
            return self
        factors = [name for name, levels in COMPAS_LEVELS.items() if set(self.match) <= set(levels)]
        if not factors:
            said = f"found {shown(self.match)}; allowed are two levels of one of "
            raise refusal(
                (("match",), said + "; ".join(f"{name}: {', '.join(of)}" for name, of in COMPAS_LEVELS.items()))
            )
        if factors[0] in self.match_on:
            raise refusal((("match_on",), f'found "{factors[0]}", in which the pairs differ; leave it out'))
        return self

    def sources(self) -> list[str]:
        """ProPublica's table."""
        return [COMPAS]

    def factors(self) -> dict[str, list[str]]:
        """Gender and race."""
        return {name: list(levels) for name, levels in COMPAS_LEVELS.items()}

    def has_pairs(self) -> bool:
        """Where people are matched."""
        return self.match is not None

    def read(self, files: Mapping[str, Path]) -> Dataset:
        """One item per person whom ProPublica's filter keeps, each a pair of its own and without ground truth.

        A person has a gender and a race. ``test_share`` of the people of each class are drawn for the test split by
        ``split_seed``. No word is right or wrong as a reason for an arrest, so the ground truth is null. ``match``
        makes pairs of people of the test split, see :func:`with_matched_pairs`.
        """
        import pandas as pd

        from evenlight.texts.items import assign_test, separated

        items, covariates, removed = [], [], 0
        for _, row in csv_rows(files[COMPAS], FIELDS, PUBLISHED):
            if not is_kept(row):
                removed += 1
                continue
            items.append(
                {
                    "item_id": row["id"].zfill(5),
                    "unit_id": row["id"].zfill(5),
                    **text_columns(text_of(row)),
                    "ground_truth": None,
                    "label": LABELS[row["two_year_recid"]],
                    "split": "train",
                    "cluster": row["id"].zfill(5),
                }
                | {f"attribute.{name}": choices[row[column]] for name, (column, choices) in COLUMNS.items()}
            )
            covariates.append(covariates_of(row))
        by_class = pd.DataFrame(items).groupby("label")
        classes = [assign_test(part, part["unit_id"], self.test_share, self.split_seed) for _, part in by_class]
        notes = [f"people whom ProPublica's filter left out: {removed}"]
        rows = pd.concat(classes).sort_index()
        items, units = separated(rows, self.factors())
        if self.match:
            items, units, note = with_matched_pairs(items, units, pd.DataFrame(covariates), self.match, self.match_on)
            notes.append(note)
        return Dataset(items, units, CLASSES, notes)


def covariates_of(row: dict[str, str]) -> dict[str, float]:
    """What a person may be matched by, as numbers."""
    return {
        name: float(row[field] if choices is None else choices[row[field]])
        for name, (field, choices) in COVARIATES.items()
    }


def with_matched_pairs(
    items: pd.DataFrame, units: pd.DataFrame, covariates: pd.DataFrame, match: Sequence[str], match_on: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame, str]:
    """Items and units of which two levels of a factor are pairs in the test split, and a note on their balance.

    ``covariates`` has the rows of ``items``, ``match`` the two levels. Pairs have the same label and are alike in what
    ``match_on`` names, see :mod:`evenlight.datasets.matching`: numbers within the caliper, other attributes exactly. In
    the factor that is matched a pair is one unit, in others each person remains one.
    """
    import pandas as pd

    from evenlight.datasets.matching import balance, matched_pairs

    factor = next(name for name, levels in COMPAS_LEVELS.items() if set(match) <= set(levels))
    exact = ["label", *(ATTRIBUTE + name for name in match_on if name in COMPAS_LEVELS)]
    table = pd.concat([items[exact], covariates[[name for name in match_on if name in COVARIATES]]], axis=1)
    in_test = items["split"] == "test"
    a, b = (table[in_test & (items[ATTRIBUTE + factor] == level)] for level in match)
    pairs = matched_pairs(a, b, exact)
    first, second = (items.loc[part.index, "item_id"].to_numpy() for part in (a, b))
    names = {item: f"{first[i]}+{second[j]}" for i, j in pairs for item in (first[i], second[j])}
    in_pair = (units["factor"] == factor) & units["item_id"].isin(names)
    units = units.assign(unit_id=units["unit_id"].mask(in_pair, units["item_id"].map(names)))
    items = items.assign(cluster=items["item_id"].map(names).fillna(items["cluster"]))
    numbers = [part.drop(columns=exact[1:]) for part in (a, b)]
    level_a, level_b = match
    return (
        items,
        units,
        f"test: {len(pairs)} pairs of {len(a)} {level_a} and {len(b)} {level_b}, matched by label and "
        f"{', '.join(match_on)}; standardised mean differences: {balance(*numbers, pairs)}",
    )


def is_kept(row: dict[str, str]) -> bool:
    """Whether ProPublica's filter keeps the person.

    It leaves out people who were screened more than 30 days before or after the arrest, or of whom this is not known;
    those of whom no case was found (``is_recid`` -1); ordinary traffic offences (charge degree O); and those without a
    score.
    """
    days = row["days_b_screening_arrest"]
    return (
        days != ""
        and abs(int(days)) <= DAYS
        and row["is_recid"] != "-1"
        and row["c_charge_degree"] != "O"
        and row["score_text"] != "N/A"
    )


def text_of(row: dict[str, str]) -> str:
    """The person's row as text."""
    return (
        f"{row['priors_count']} priors, score factor {SCORE_FACTORS[row['score_text']]}, {AGES[row['age_cat']]}, "
        f"{RACES[row['race']]}, {GENDERS[row['sex']]}{CHARGES[row['c_charge_degree']]}"
    )
