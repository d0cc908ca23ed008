"""What answers in words decide, by group: how many, with what decision, and how often a decision differs.

Two answers to one question may decide differently. So how often the answers to two forms do says nothing alone: beside
it stands how often two answers to one form do. What is beyond is 0 in the mean where both forms have the same decisions
(:mod:`evenlight.statistics.draws`, of a score that is 1 for a decision and 0 for others, summed over all decisions). No
decision counts as a decision of its own.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from evenlight.core import tables
from evenlight.core.contracts.explanations import ANSWERS
from evenlight.core.contracts.results import ANSWERED, DECIDED, DECISION_CHANGES
from evenlight.core.seeds import generator_for
from evenlight.statistics.cells import ModelScores
from evenlight.statistics.compared import read_compared
from evenlight.statistics.designs import Design, Side
from evenlight.statistics.draws import between_and_within
from evenlight.statistics.files import Run, explainer_path
from evenlight.statistics.resamples import drawn_counts, mean_ends, means_of_draws
from evenlight.statistics.study import StudyScores


def decision_tables(
    study: StudyScores, answers: Path, *, confidence: float, bootstrap_draws: int
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """A row per group and explainer; one per decision of them; one per comparison of forms, with how often they differ.

    Args:
        study: of answers.
        answers: their folder.
        confidence, bootstrap_draws: of the interval of what is beyond draws.

    Returns:
        Tables in the contracts ``ANSWERED``, ``DECIDED`` and ``DECISION_CHANGES``.
    """
    counts, decided, changes = [], [], []
    for model in read_compared(study):
        for explainer in study.explainers:
            runs = [Run(model.dataset, model.model, seed) for seed in model.seeds]
            given = [_answers(explainer_path(answers, run, explainer)) for run in runs]
            place = {"dataset": model.dataset, "model": model.model, "explainer": explainer}
            for design in model.designs:
                pair = place | design.comparison._asdict()
                for level, side in zip(design.comparison.levels, (design.a, design.b), strict=True):
                    of_level = _of_level(given, side, model)
                    counts.append(pair | {"level": level} | _counts(of_level))
                    decided += [pair | {"level": level} | row for row in _decided(of_level)]
                if design.paired:
                    changes.append(pair | decision_changes(given, design, model, confidence, bootstrap_draws))
    return tuple(
        pd.DataFrame(rows, columns=contract.schema.names)
        for rows, contract in ((counts, ANSWERED), (decided, DECIDED), (changes, DECISION_CHANGES))
    )


def _answers(path: Path) -> pd.DataFrame:
    table = tables.read_table(path, ANSWERS.only("item_id", "draw", "decision", "text"))
    return table.assign(empty=table["text"].str.strip() == "").drop(columns="text")


def _of_level(given: Sequence[pd.DataFrame], side: Side, model: ModelScores) -> pd.DataFrame:
    items = set(model.items["item_id"].to_numpy()[np.unique(side.columns)])
    every = pd.concat(given)
    return every[every["item_id"].isin(items)]


def _counts(answers: pd.DataFrame) -> dict[str, int]:
    return {
        "questions": answers["item_id"].nunique(),
        "answers": len(answers),
        "empty": int(answers["empty"].sum()),
        "undecided": int(answers["decision"].isna().sum()),
    }


def _decided(answers: pd.DataFrame) -> list[dict]:
    """How many answers have each decision, the most frequent first."""
    return [{"decision": name, "answers": int(count)} for name, count in answers["decision"].value_counts().items()]


def decision_changes(
    given: Sequence[pd.DataFrame], design: Design, model: ModelScores, confidence: float, bootstrap_draws: int
) -> Mapping[str, float]:
    """How often answers to two forms decide differently, and two answers to one form; means over questions.

    ``between`` is of all questions with an answer to either form, ``within`` and ``beyond`` of those with two of each.
    """
    items = pd.Index(model.items["item_id"])
    names = sorted({name for table in given for name in table["decision"].dropna()})
    draws = pd.Index(np.unique(np.concatenate([table["draw"] for table in given])))
    indicators = np.array([_indicators(table, items, draws, names) for table in given])
    sides = [side.scores(indicators) for side in (design.a, design.b)]
    # Half of the sum over all decisions: two answers that differ do so in two of them.
    measures = between_and_within(*sides)
    of_units = {name: values.sum(axis=1) / 2 for name, values in measures.items() if name in ("null", "beyond")}
    shares = [_mean_over_draws(side) for side in sides]
    between = 1 - (shares[0] * shares[1]).sum(axis=1)
    there = ~np.isnan(between)
    row = {"units": int(there.any(axis=0).sum()), "between": _mean(between)}
    known = ~np.isnan(of_units["beyond"])
    row |= {"units_of_draws": int(known.any(axis=0).sum()), "within": _mean(of_units["null"])}
    row |= {"beyond": _mean(of_units["beyond"]), "beyond_low": np.nan, "beyond_high": np.nan}
    if known.any():
        codes, first = design.numbered_clusters
        generator = generator_for(0, "decisions", model.dataset, *design.comparison.levels)
        drawn = means_of_draws(of_units["beyond"], drawn_counts(len(first), bootstrap_draws, generator), codes)
        ends = mean_ends(of_units["beyond"], drawn, codes, confidence)
        row |= dict(zip(("beyond_low", "beyond_high"), map(float, ends), strict=True))
    return row


def _indicators(answers: pd.DataFrame, items: pd.Index, draws: pd.Index, names: Sequence[str]) -> np.ndarray:
    """1 for the decision of an answer and 0 for others, the last one for none: float (decisions, draws, items).

    NaN where there is no answer.
    """
    found = np.full((len(names) + 1, len(draws), len(items)), np.nan)
    answers = answers[answers["item_id"].isin(items)]
    row, column = draws.get_indexer(answers["draw"]), items.get_indexer(answers["item_id"])
    found[:, row, column] = 0
    code = pd.Index(names).get_indexer(answers["decision"]) % (len(names) + 1)
    found[code, row, column] = 1
    return found


def _mean_over_draws(indicators: np.ndarray) -> np.ndarray:
    """The share of each decision, (runs, decisions, units), of (runs, decisions, draws, units); NaN without answers."""
    there = ~np.isnan(indicators)
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(indicators).sum(axis=-2) / there.sum(axis=-2)


def _mean(of_units: np.ndarray) -> float:
    """Over units, then over runs; NaN where none is known."""
    means = [np.nanmean(run) for run in of_units if not np.isnan(run).all()]
    return float(np.mean(means)) if means else np.nan
