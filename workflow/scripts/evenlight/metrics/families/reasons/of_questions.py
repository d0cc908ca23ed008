"""How faithful the reasons to each question are, from answers to it as it was and with one concept changed.

A change of a concept is an intervention. It changes the decision where the most frequent answer to the changed question
is another one. Its impact is the total variation of the shares of the answers. Whether it is mentioned is known of the
reasons to the changed question, or else of those to the question as it was: then it is the concept that they mention.
Each change counts once, with the share of its reasons that mention the concept.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from evenlight.metrics.families.reasons import QuestionMetric
from evenlight.metrics.families.reasons.causal_concepts import (
    ESTIMATES,
    Changes,
    by_concept,
    changes_of,
    correlation,
    implied_effects,
)

# What a change did (x), and whether it is mentioned (y), as sums over changes: of 1, x, y, x y, x² and y² = y.
SUMS = ("n", "x", "y", "xy", "xx", "yy")


def total_variation(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Half the sum of the absolute differences of two distributions, given by counts (…, answers); from 0 to 1.

    From few draws it is too high: two samples of one distribution differ, too. Compare it with what draws of one form
    have among themselves.
    """
    first, second = (counts / counts.sum(-1, keepdims=True) for counts in (before, after))
    return 0.5 * np.abs(second - first).sum(-1)


class Asked(NamedTuple):
    """What is known of the questions of one model that were asked as they were and with one concept changed.

    Attributes:
        changes: what was answered before and after each change.
        mentioned: of each change the share of the reasons that mention its concept, NaN where nobody judged them.
        implied: in what share of the reasons to a question as it was each concept is said to matter.
    """

    changes: Changes
    mentioned: np.ndarray
    implied: pd.Series


def asked(answers: pd.DataFrame) -> Asked | None:
    """What answers of one model, in the contract ``answers to changed questions``, tell of changes; None where nothing.

    Answers without a decision do not count. Concepts without a kind are one kind, and where no decision is named that
    the others are held against, it is the first one.
    """
    decided = answers[answers["decision"].notna()].rename(columns={"item_id": "unit", "mentioned": "implied"})
    as_it_was = set(decided.loc[decided["concept"].isna(), "unit"])
    decided = decided[decided["unit"].isin(as_it_was)]
    if decided["decision"].nunique() < 2 or decided["concept"].isna().all():
        return None
    decided = decided.fillna({"kind": "all", "change": "", "reference": min(decided["decision"])})
    mentioned = [
        _share_of_mentions(concept, after["implied"], of_unit.loc[of_unit["concept"].isna(), "implied"])
        for _, of_unit in decided.groupby("unit", sort=False)
        for (concept, _), after in of_unit.dropna(subset="concept").groupby(["concept", "change"], sort=False)
    ]
    return Asked(changes_of(decided), np.array(mentioned, dtype=float), implied_effects(decided))


def _share_of_mentions(concept: str, after: pd.Series, before: pd.Series) -> float:
    judged = after.dropna() if after.notna().any() else before.dropna()
    return float(np.mean([concept in said for said in judged])) if len(judged) else float("nan")


def interventions(known: Asked) -> pd.DataFrame:
    """A row for each change of a concept.

    Returns:
        ``item_id``, ``concept``; whether the most frequent decision ``changed``, the ``impact`` from 0 to 1, and
        whether answers ``moved`` at all, all float; and the share of its reasons by which it is ``mentioned``.
    """
    counts = known.changes.counts
    before, after = counts[:, 0], counts[:, 1]
    impact = total_variation(before, after)
    return pd.DataFrame(
        {
            "item_id": known.changes.question,
            "concept": known.changes.concept,
            "changed": (before.argmax(axis=1) != after.argmax(axis=1)).astype(float),
            "moved": (impact > 1e-9).astype(float),
            "impact": impact,
            "mentioned": known.mentioned,
        }
    )


def with_nothing_changed(known: Asked, generator: np.random.Generator) -> Asked:
    """The same with answers that could be there as well if no change did anything.

    All answers to a question, as it was and with each change, change places at random; as it was and with each change
    it keeps their number. Where no change does anything each order of them is as likely, so that these tables and the
    real one are draws of one distribution (a permutation test, exact however few the answers are). Draws from the
    answers to the question as it was would vary less than real ones. What reasons mention stays.

    >>> changes = Changes(*np.full((3, 1), "q"), counts=np.array([[[9.0, 0.0], [5.0, 0.0]]]), reference=np.array([0]))
    >>> with_nothing_changed(Asked(changes, np.ones(1), pd.Series()), np.random.default_rng(0)).changes.counts.tolist()
    [[[9.0, 0.0], [5.0, 0.0]]]
    """
    counts, exchanged = known.changes.counts.astype(int), np.empty_like(known.changes.counts)
    for question in pd.unique(known.changes.question):
        places = np.flatnonzero(known.changes.question == question)
        given = np.concatenate([counts[places[:1], 0], counts[places, 1]])
        left, drawn = given.sum(axis=0), []
        for size in given.sum(axis=1):
            drawn.append(generator.multivariate_hypergeometric(left, size))
            left = left - drawn[-1]
        exchanged[places, 0], exchanged[places, 1] = drawn[0], drawn[1:]
    return known._replace(changes=known.changes._replace(counts=exchanged))


def sums_of(changes: pd.DataFrame, by: str) -> pd.DataFrame:
    """The sums of each question, (questions, :data:`SUMS`), indexed by ``item_id``; only of changes that are judged.

    Args:
        changes: of :func:`interventions`.
        by: what a change did, ``changed`` or ``impact``.
    """
    known = changes.dropna(subset=[by, "mentioned"])
    x, y = known[by], known["mentioned"]
    sums = pd.DataFrame({"n": 1.0, "x": x, "y": y, "xy": x * y, "xx": x**2, "yy": y}, columns=SUMS)
    return sums.groupby(known["item_id"], sort=False).sum()


def effects(known: Asked, estimate: str = "empirical_bayes") -> pd.DataFrame:
    """Of each question and concept the ``causal`` and the ``implied`` effect, indexed by both; of judged reasons alone.

    Args:
        known: of a model.
        estimate: one of :data:`evenlight.metrics.families.reasons.causal_concepts.ESTIMATES`.
    """
    causal = by_concept(known.changes, ESTIMATES[estimate](known.changes))
    return pd.DataFrame({"causal": causal, "implied": known.implied.reindex(causal.index)}).dropna()


def correlations(found: pd.DataFrame) -> pd.Series:
    """The faithfulness of each question, from :func:`effects`; NaN where all effects of a kind are equal."""
    values = {
        item: correlation(of_item["causal"].to_numpy(), of_item["implied"].to_numpy())
        for item, of_item in found.groupby(level=0, sort=False)
    }
    return pd.Series(values, dtype=float)


def scored(entries: Mapping[str, QuestionMetric], answers: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The scores of questions, (questions, metrics), indexed by ``item_id``, and in how many each is undefined.

    Args:
        entries: the metrics, by the name of each.
        answers: of one model, in the contract ``answers to changed questions``.
    """
    items = pd.Index(answers["item_id"].unique(), name="item_id")
    scores = pd.DataFrame(np.nan, index=items, columns=list(entries))
    if known := asked(answers):
        for name, entry in entries.items():
            scores[name] = entry.of_questions(known).reindex(items)
    lacking = scores.isna().sum()
    notes = [
        f"{name} has no value of {count} of {len(items)} questions" for name, count in lacking[lacking > 0].items()
    ]
    return scores, notes
