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

# By the names of their files: the contract of each table, and what it has.
TABLES = {
    "answered": (results.ANSWERED, "answers by group, and how many are empty or decide nothing"),
    "audit_changes": (results.AUDIT_CHANGES, "every comparison, at the last audit and in texts new since then"),
    "audited_groups": (results.AUDITED_GROUPS, "texts of each group"),
    "audited_questions": (results.AUDITED_QUESTIONS, "datasets with their files, and how many questions have answers"),
    "audited_texts": (results.AUDITED_TEXTS, "datasets with their files, and how many texts were explained"),
    "balanced_accuracy": (results.BALANCED_ACCURACY, "accuracy of every run, classes counted alike, beside guessing"),
    "beyond_random": (results.BEYOND_RANDOM, "what is left of each verdict beyond random explanations"),
    "costs": (results.COST_SUMMARY, "seconds and rows through the model of every explainer"),
    "decided": (results.DECIDED, "decisions by group"),
    "decision_rates": (results.DECISION_RATES, "how often each group gets each decision, and how often that is right"),
    "decisions": (results.DECISIONS, "how often a decision changes with the form, and by draw, with verdicts"),
    "different_texts": (results.DIFFERENT_TEXTS, "different texts, where some are copies"),
    "draws": (results.DRAWS, "of every comparison, two answers to either form beside two to one form"),
    "effect_counts": (results.EFFECT_COUNTS, "in how many comparisons groups differ, at least, for sets of them"),
    "effects": (results.EFFECTS, "every comparison with its counts, limits, adjusted p, mean difference and verdict"),
    "group_reliance": (results.GROUP_RELIANCE, "the part of the words that name the group"),
    "interim_analyses": (results.INTERIM_ANALYSES, "which texts or units were judged, when, and at which level"),
    "judged_scores": (results.JUDGED_SCORES, "every score, as it was read"),
    "pair_invariance": (results.PAIR_INVARIANCE, "how alike the forms of a text are explained"),
    "texts_needed": (results.TEXTS_NEEDED, "how many texts or units would decide what is open"),
    "verdict_control": (results.VERDICT_CONTROL, "verdicts with the labels of the groups permuted"),
    "without_words": (results.WITHOUT_WORDS, "the class of a text without words"),
}
CONTRACTS = {name: contract for name, (contract, _) in TABLES.items()}


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
        tables.read_metadata(last, results.AUDIT_CHANGES)["last"] if (last := paths.get("audit_changes")) else {},
    )


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
