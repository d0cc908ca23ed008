"""The tables of a study that its page tells of."""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from evenlight.core import tables
from evenlight.core.contracts import results

# By the names of their files.
CONTRACTS = {
    "answered": results.ANSWERED,
    "audit_changes": results.AUDIT_CHANGES,
    "audited_groups": results.AUDITED_GROUPS,
    "audited_questions": results.AUDITED_QUESTIONS,
    "audited_texts": results.AUDITED_TEXTS,
    "balanced_accuracy": results.BALANCED_ACCURACY,
    "beyond_random": results.BEYOND_RANDOM,
    "costs": results.COST_SUMMARY,
    "decided": results.DECIDED,
    "decision_rates": results.DECISION_RATES,
    "decisions": results.DECISIONS,
    "different_texts": results.DIFFERENT_TEXTS,
    "draws": results.DRAWS,
    "effect_counts": results.EFFECT_COUNTS,
    "effects": results.EFFECTS,
    "group_reliance": results.GROUP_RELIANCE,
    "interim_analyses": results.INTERIM_ANALYSES,
    "judged_scores": results.JUDGED_SCORES,
    "models": results.QUALITY,
    "pair_invariance": results.PAIR_INVARIANCE,
    "texts_needed": results.TEXTS_NEEDED,
    "verdict_control": results.VERDICT_CONTROL,
    "without_words": results.WITHOUT_WORDS,
}


@dataclass(frozen=True)
class Analyses:
    """The interim analyses behind the verdicts of a study.

    Attributes:
        rows: of :data:`~evenlight.core.contracts.results.INTERIM_ANALYSES`, as JSON values.
        warnings: what must be read first.
        level: the chance of any wrong verdict at most, where texts were judged several times without a plan.
    """

    rows: Sequence[Mapping[str, Any]] = ()
    warnings: Sequence[str] = ()
    level: float | None = None

    def level_at_most(self, alpha: float) -> float:
        """The chance of any wrong verdict at most, in a study of this level."""
        return alpha if self.level is None else self.level


@dataclass(frozen=True)
class Found:
    """The tables that a study has, of :data:`CONTRACTS`; another one is empty.

    Attributes:
        tables: by name.
        notes: what is to be said of verdicts and of tests.
        analyses: the interim analyses.
        sha256: of the files of the tables.
        last: of an audit that is compared with an earlier one, what this was.
    """

    tables: Mapping[str, pd.DataFrame]
    notes: Sequence[str] = ()
    analyses: Analyses = Analyses()
    sha256: Mapping[str, str] = field(default_factory=dict)
    last: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> pd.DataFrame:
        there = self.tables.get(name)
        return CONTRACTS[name].schema.empty_table().to_pandas() if there is None else there

    def __contains__(self, name: str) -> bool:
        return name in self.tables


def read_found(folder: Path, names: Collection[str]) -> Found:
    """The tables below ``folder`` that have these names.

    Raises:
        InputError: one is not there, or does not keep to its contract.
    """
    paths = {name: folder / f"{name}.parquet" for name in names}
    return Found(
        {name: tables.read_exactly(path, CONTRACTS[name]) for name, path in paths.items()},
        _notes(folder) if "effects" in paths else [],
        read_analyses(paths["interim_analyses"]) if "interim_analyses" in paths else Analyses(),
        {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in paths.items()},
        _last(paths["audit_changes"]) if "audit_changes" in paths else {},
    )


def _last(path: Path) -> Mapping[str, Any]:
    return tables.read_metadata(path, results.AUDIT_CHANGES)["last"]


def read_analyses(path: Path) -> Analyses:
    """The interim analyses behind the verdicts, from their record."""
    record = tables.read_exactly(path, results.INTERIM_ANALYSES)
    rows = json.loads(record.drop(columns="files").to_json(orient="records"))
    return Analyses(rows, **tables.read_metadata(path, results.INTERIM_ANALYSES)["present"])


def _notes(folder: Path) -> list[str]:
    """What is to be said of verdicts and, where there are, of tests, each once: the verdicts alone know of looks."""
    of_tables = {folder / f"{table.name}.parquet": table for table in (results.EFFECTS, results.DISPARITY)}
    read = [tables.read_metadata(path, table) for path, table in of_tables.items() if path.is_file()]
    return list(dict.fromkeys(note for metadata in read for note in metadata.get("notes", [])))
