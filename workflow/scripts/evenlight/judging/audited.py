"""What an audit says of scores that were made elsewhere, as JSON values: what was found, left open and not tested."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from evenlight.core import tables
from evenlight.core.contracts.results import EFFECT_COUNTS, EFFECTS, JUDGED_SCORES, TEXTS_NEEDED
from evenlight.reports.audit.content import Analyses, read_analyses_of
from evenlight.reports.audit.found import (
    NOT_NAMED,
    VERSION,
    Judged,
    comparisons_told,
    json_row,
    open_comparisons,
    undecidable_comparisons,
    verdicts_told,
)
from evenlight.reports.scored import joined, scored_names
from evenlight.reports.verdict_words import SCORED, how_sure, sentences
from evenlight.statistics.families import EXPLORATORY
from evenlight.statistics.study import UNDECIDABLE, Comparison

_PLACE = ["dataset", "model", *Comparison._fields]
NOT_TESTED = [
    "What the scores are of, and whether they measure what they are said to, was not looked at: they were made "
    "elsewhere.",
    "Groups that the table does not name, and combinations of groups, were not looked at.",
    "No law is claimed to be kept.",
]
EVIDENCE = {
    "tables/effects.csv": "every comparison with its counts, limits, adjusted p, mean difference and verdict",
    "tables/effect_counts.csv": "in how many comparisons groups differ, at least, for sets of them",
    "tables/judged_scores.parquet": "every score",
    "tables/interim_analyses.parquet": "when and with which units each comparison was judged",
}


@dataclass(frozen=True)
class FoundOfScores:
    """The tables of a study that an audit of scores tells of, and ``about``, which file they were read from."""

    scores: pd.DataFrame
    effects: pd.DataFrame
    counts: pd.DataFrame
    needed: pd.DataFrame
    notes: list[str]
    analyses: Analyses
    about: Mapping[str, Any]


def read_found_of_scores(folder: Path) -> FoundOfScores:
    """The tables below ``folder``."""
    contracts = {
        "judged_scores": JUDGED_SCORES,
        "effects": EFFECTS,
        "effect_counts": EFFECT_COUNTS,
        "texts_needed": TEXTS_NEEDED,
    }
    read = [tables.read_exactly(folder / f"{name}.parquet", contract) for name, contract in contracts.items()]
    notes = tables.read_metadata(folder / "effects.parquet", EFFECTS).get("notes", [])
    about = tables.read_metadata(folder / "judged_scores.parquet", JUDGED_SCORES)
    return FoundOfScores(*read, notes, read_analyses_of(folder), about)


def scores_audit(
    found: FoundOfScores,
    *,
    study: str,
    scored: Mapping[str, Any],
    alpha: float,
    as_often_bound: float,
    power: float,
) -> dict:
    """What an audit of the scores of a study says (JSON values).

    Args:
        found: its tables.
        study: its name.
        scored: directions of metrics and the name of the dataset (:func:`evenlight.reports.scored.scored_names`).
        alpha, as_often_bound, power: of the statistics.
    """
    effects = found.effects
    names = scored_names(effects, **scored)
    del names["words"]
    sizes = effects["family"].value_counts().to_dict()
    judged = Judged(counts=found.counts, sizes=sizes, as_often_bound=as_often_bound, power=power, **names)
    compared = [_compared(part, found.needed, judged) for _, part in effects.groupby(_PLACE, sort=False)]
    return {
        "version": VERSION,
        "study": study,
        "warnings": list(found.analyses.warnings),
        "interim_analyses": list(found.analyses.rows),
        "verdicts": verdicts_told(effects, judged, hoped="groups are alike"),
        "found": compared,
        "comparisons": comparisons_told(effects),
        "error": how_sure(effects, found.analyses.level_at_most(alpha)),
        "audited": {
            "file": {"name": found.about["file"], "sha256": found.about["sha256"]},
            **{section: list(names[section].values()) for section in ("datasets", "models", "explainers")},
            "metrics": [metric.label_with_direction for metric in judged.metrics.values()],
            "groups": _groups(found.scores, judged),
        },
        "not_tested": NOT_TESTED,
        "notes": found.notes,
        "evidence": [{"file": name, "has": text} for name, text in EVIDENCE.items()],
    }


def _compared(cells: pd.DataFrame, needed: pd.DataFrame, judged: Judged) -> dict:
    """What is said of one model on one dataset and two groups."""
    first = cells.iloc[0]
    here = needed[(needed[_PLACE] == first[_PLACE]).all(axis=1)]
    named = cells[cells["side"] != 0].sort_values("p_adjusted", kind="stable")
    findings = [_finding(row, judged) for row in named.itertuples(index=False)]
    return {
        "dataset": judged.datasets[first["dataset"]],
        "model": judged.models[first["model"]],
        "factor": first["factor"],
        "levels": [first["level_a"], first["level_b"]],
        **verdicts_told(cells, judged, hoped="groups are alike"),
        "findings": findings,
        "open": open_comparisons(here, judged, None)
        + undecidable_comparisons(cells[cells["verdict"] == UNDECIDABLE], judged),
    }


def _finding(row, judged: Judged) -> dict:
    """One comparison in which a verdict names a group: its row, and sentences."""
    name = joined(judged.metrics[row.metric].label, judged.explainers[row.explainer], by=" of ")
    counts, *more = sentences(row, judged.sizes[row.family], SCORED)
    headline = f"{name}: {counts[:1].lower()}{counts[1:]}"
    behind = " ".join([*more, NOT_NAMED] if row.family == EXPLORATORY else more)
    return {**json_row(row, ()), "name": name, "headline": headline, "behind": behind, "said": f"{headline} {behind}"}


def _groups(scores: pd.DataFrame, judged: Judged) -> list[dict]:
    """How many units each group has."""
    units = scores.drop_duplicates(["dataset", "level", "unit_id"]).groupby(["dataset", "level"], sort=False).size()
    return [
        {"dataset": judged.datasets.get(dataset, dataset), "group": level, "units": int(count)}
        for (dataset, level), count in units.items()
    ]
