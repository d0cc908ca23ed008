"""The record of interim analyses: which texts the verdicts of a study have judged, when, and at which level.

Whoever judges, adds texts and judges again has several chances to be wrong. A plan
(:class:`evenlight.statistics.arrays.multiple_testing.Looks`) divides one level among its analyses. Analyses without a
plan spend a whole level each, so that the chance of any wrong verdict is at most the sum of their levels (Bonferroni's
inequality). The record knows all of them, however a verdict is made. Rules import this module, so that it waits for no
library of statistics.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from evenlight.core import tables
from evenlight.core.contracts.results import INTERIM_ANALYSES
from evenlight.core.errors import InputError
from evenlight.core.sources import digest
from evenlight.statistics.arrays.multiple_testing import LEAST_PLANNED

COMPARISON = ["dataset", "model", "factor", "level_a", "level_b"]
# A plan may begin after so many analyses without one.
MOST_BEFORE_A_PLAN = 1


def describe_lost(path: Path) -> list[str]:
    """What is said where verdicts are there, of which the table beside the record has some, and the record is not."""
    effects = path.with_name("effects.parquet")
    if path.is_file() or not effects.is_file():
        return []
    return [
        f"{path}: is no longer there, and {effects} has verdicts. How often these texts were judged before is not "
        "known, so that the levels told may be too low; put the record back, such as from an archive of the study"
    ]


def warnings_of(path: Path) -> list[str]:
    """What must be read before the present verdicts, from the record."""
    return tables.read_metadata(path, INTERIM_ANALYSES)["present"]["warnings"]


def with_analyses(
    record: pd.DataFrame,
    judged: pd.DataFrame,
    *,
    plan: str,
    level: float,
    pairs: Mapping[str, int | None],
    files: Mapping[str, str],
    made: str,
) -> pd.DataFrame:
    """The record with the present analysis of each comparison; texts that were judged before are no new one.

    Args:
        record: rows of :data:`INTERIM_ANALYSES`.
        judged: as :func:`evenlight.statistics.analyses.judged_texts.judged_texts` gives it.
        plan: the name of the plan, empty without one.
        level: of the present verdicts.
        pairs, files: what the study says of each dataset, as the record has them.
        made: when, as text.
    """
    rows = record.to_dict("records")
    for present in judged.to_dict("records"):
        place = {name: present[name] for name in COMPARISON}
        before = [row for row in rows if all(row[name] == place[name] for name in COMPARISON)]
        known = next((row for row in before if (row["plan"], row["texts"]) == (plan, present["texts"])), None)
        if known is None:
            known = present | {"analysis": len(before) + 1, "plan": plan, "level": level, "made": made}
            rows.append(known)
        known["level"] = max(known["level"], level)
        known["pairs"], known["files"] = pairs[place["dataset"]], files[place["dataset"]]
    return pd.DataFrame(rows, columns=INTERIM_ANALYSES.schema.names).astype({"pairs": "Int64"})


def levels_at_most(record: pd.DataFrame) -> pd.DataFrame:
    """How often each comparison was judged, and the chance of any wrong verdict, at most.

    The analyses of a plan share its level, so that they count once.

    Returns:
        A row per comparison: :data:`COMPARISON`, ``planned`` (plans), ``unplanned`` (analyses without one), ``level``.
    """
    spent = record.assign(share=record["analysis"].astype(str).where(record["plan"] == "", record["plan"]))
    spent = spent.groupby([*COMPARISON, "plan", "share"], sort=False, as_index=False)["level"].max()
    spent = spent.assign(unplanned=spent["plan"] == "", planned=spent["plan"] != "")
    counts = spent.groupby(COMPARISON, sort=False, as_index=False)[["unplanned", "planned", "level"]].sum()
    return counts.assign(level=counts["level"].astype(float).clip(upper=1.0))


def of_present(record: pd.DataFrame, judged: pd.DataFrame) -> pd.DataFrame:
    """The rows of a record that are about comparisons of the present study."""
    return record.merge(judged[COMPARISON], on=COMPARISON)


def describe_repeated(record: pd.DataFrame) -> dict[str, Any]:
    """What the present verdicts are to be read with, as JSON values.

    Args:
        record: of the comparisons that the study has.

    Returns:
        ``warnings``, what must be read first where texts were judged several times without one plan; and ``level``, the
        chance of any wrong verdict at most, None where it is that of the study.
    """
    levels = levels_at_most(record)
    levels = levels[levels["unplanned"] + levels["planned"] > 1]
    said: dict[str, list[str]] = {}
    for dataset, of_dataset in levels.groupby("dataset", sort=False):
        worst = of_dataset.loc[of_dataset["level"].idxmax()]
        rows = record[(record[COMPARISON] == worst[COMPARISON]).all(axis=1)]
        said.setdefault(_said(worst, rows), []).append(f"'{dataset}'")
    warnings = [f"Texts of {' and '.join(datasets)} {sentence}" for sentence, datasets in said.items()]
    return {"warnings": warnings, "level": float(levels["level"].max()) if said else None}


def _said(levels: pd.Series, rows: pd.DataFrame) -> str:
    first, last = rows.iloc[0], rows.iloc[-1]
    plans = f", and by {_plans(levels['planned'])}" if levels["planned"] else ""
    return (
        f"were judged again after some were added or changed: {_analyses(levels['unplanned'])} without a plan{plans}, "
        f"the first on {first['made']} ({_units(first)}), the last on {last['made']} ({_units(last)}). The chance that "
        f"any verdict is wrong is no longer {last['level']:g}. It is at most {levels['level']:g}, the sum of the "
        "levels of these analyses (Bonferroni)."
    )


def _analyses(number: int) -> str:
    return f"{number:,} interim {'analysis' if number == 1 else 'analyses'}"


def _plans(number: int) -> str:
    return "a plan" if number == 1 else f"{number:,} plans"


def _units(row: pd.Series) -> str:
    counts = dict.fromkeys((int(row["units_a"]), int(row["units_b"])))
    return " and ".join(f"{count:,}" for count in counts) + " units"


def refuse_late_plan(record: pd.DataFrame, plan: str) -> None:
    """Refuse a plan that begins after several analyses without one.

    Raises:
        InputError: with what to do instead.
    """
    before = record[(record["plan"] == "") & ~record["dataset"].isin(record.loc[record["plan"] == plan, "dataset"])]
    for row in levels_at_most(before).itertuples():
        if row.unplanned > MOST_BEFORE_A_PLAN:
            raise InputError(
                f"statistics.looks: a plan, after {_analyses(row.unplanned)} of '{row.dataset}' without one, which "
                f"spent a whole level each ({row.level:g} together); leave statistics.looks out, and pages say so, or "
                "plan a study of another name (study), with texts that nobody has judged"
            )


def foresee(
    record: pd.DataFrame, *, plan: str, level: float, pairs: Mapping[str, int | None], paths: Mapping[str, Mapping]
) -> list[str]:
    """What is said before a run that may judge other texts than before, without a plan.

    Args:
        record: rows of :data:`INTERIM_ANALYSES`.
        plan: the name of the plan, empty without one.
        level: of the verdicts.
        pairs: of each dataset, None for all.
        paths: of each dataset its own files that are there, name to path.
    """
    said = []
    for dataset, before in record.groupby("dataset", sort=False):
        of_plan = before[before["plan"] == plan]
        if dataset not in pairs or (plan and len(of_plan)):
            continue
        rows = of_plan.to_dict("records")
        changes = _changes(rows, pairs[dataset], paths.get(dataset, {})) if rows else _begun(plan)
        if not changes:
            continue
        levels = levels_at_most(before)
        worst = levels.loc[levels["level"].idxmax()]
        together, offer = min(1.0, worst["level"] + level), "" if plan else _offer(worst, pairs[dataset])
        said.append(
            f"{changes}, since verdicts of '{dataset}' were made on {before['made'].iloc[-1]}. If other texts are "
            "judged now, or by another plan, this is one more interim analysis. The chance that any verdict is wrong "
            f"is then at most {together:g}, the sum of the levels of all analyses (Bonferroni), not {level:g}.{offer}"
        )
    return said


def _begun(plan: str) -> str:
    return f"statistics.looks: plan '{plan}' begins" if plan else "statistics.looks: is no longer there"


def _changes(before: Sequence[Mapping], pairs: int | None, paths: Mapping[str, Path]) -> str:
    """What of a dataset is other than at each analysis ``before``, in words; empty where nothing is."""
    digests = {name: digest(path) for name, path in paths.items()}

    def differing(row: Mapping) -> list[str]:
        had, own = None if pd.isna(row["pairs"]) else row["pairs"], json.loads(row["files"])
        number = [f"explain.pairs: {pairs or 'all'}, was {had or 'all'}"] if had != pairs else []
        # Of changes of concepts no file is known.
        return number + [f"{paths[name]}: changed" for name in digests if own and own.get(name) != digests[name]]

    differences = [differing(row) for row in before]
    return "; ".join(differences[-1]) if all(differences) else ""


def _offer(levels: pd.Series, pairs: int | None) -> str:
    """How the level can be kept from now on."""
    if levels["unplanned"] > MOST_BEFORE_A_PLAN or pairs is None:
        return (
            " To keep a level over several analyses, write a plan (statistics.looks) before the first one, in a study "
            "of another name with texts that nobody has judged (docs/looks.md)."
        )
    first = max(pairs, LEAST_PLANNED)
    return (
        f" A plan keeps it there however often you look, such as statistics: {{looks: [{first}, {2 * first}]}}; "
        "without one each analysis adds a level (docs/looks.md)."
    )
