"""CausaLM: the answer to a representation from which a network of its own has learned to leave a concept out.

Here is what needs no network: the estimate, the concept that is kept, and how much was left out. The training is
:mod:`evenlight.concepts.forgetting`. Where rules are made this is imported, too, so that it waits for no scikit-learn.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from evenlight.concepts.observational import ITERATIONS
from evenlight.concepts.question import UNLABELLED, Question

FOLDS = 5


def causalm(question: Question) -> np.ndarray:
    """The answer of the network that has forgotten the concept, less that of the model (Feder et al. 2021; Eq. 10).

    The same whatever the concept changes to.
    """
    changes = question.changes
    return question.counterfactual[changes.concept, changes.base] - question.asked.probability[changes.base]


def association(first: np.ndarray, second: np.ndarray) -> float:
    """Cramér's V of two concepts by their levels, int (texts,) each, over the texts that have a label of both.

    From 0 to 1, without correction for few texts; 0 where a concept has one level only.

    >>> association(np.array([0, 0, 1, 1, -1]), np.array([2, 2, 0, 0, 1]))
    1.0
    """
    both = (first != UNLABELLED) & (second != UNLABELLED)
    levels = [np.unique(level[both], return_inverse=True) for level in (first, second)]
    shape = tuple(len(there) for there, _ in levels)
    if min(shape) < 2:
        return 0.0
    counts = np.zeros(shape)
    np.add.at(counts, tuple(code for _, code in levels), 1)
    shares = counts / counts.sum()
    expected = np.outer(shares.sum(axis=1), shares.sum(axis=0))
    return float(np.sqrt(((shares - expected) ** 2 / expected).sum() / (min(shape) - 1)))


def control_of(level: np.ndarray, concept: int) -> int | None:
    """The other concept that is associated with one the most, by ``level`` (texts, concepts); None where none does.

    Feder et al. keep the most correlated potential confounder, and so does CEBaB (footnote 3).
    """
    strength = [
        0 if other == concept else association(level[:, concept], level[:, other]) for other in range(level.shape[1])
    ]
    return int(np.argmax(strength)) if max(strength) > 0 else None


def told(representation: np.ndarray, level: np.ndarray, cluster: Sequence[str]) -> float:
    """In how many texts a new linear classifier tells the level of a concept, as a share; NaN of too few texts.

    A logistic regression with scikit-learn's default penalty, learned and asked in five folds, which have the texts of
    a cluster together.

    Args:
        representation: (texts, width).
        level: int (texts,).
        cluster: which texts belong together, (texts,).
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedGroupKFold, cross_val_score

    if len(np.unique(level)) < 2 or len(np.unique(np.asarray(cluster))) < 2 * FOLDS:
        return float("nan")
    folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=0)
    probe = LogisticRegression(max_iter=ITERATIONS)
    return float(cross_val_score(probe, representation, level, groups=cluster, cv=folds).mean())


def forgetting_note(told_of: Mapping[str, Sequence[Mapping]]) -> str:
    """What networks of some seeds have forgotten of each concept, in a sentence.

    ``told_of`` has, by concept, for each seed ``before``, ``after`` (:func:`told`), ``frequent`` (the share of the most
    frequent level), ``right_before``, ``right_after`` (shares of right classes) and ``control``.
    """
    parts = []
    for concept, runs in told_of.items():
        mean = {
            key: f"{np.mean([run[key] for run in runs]):.0%}"
            for key in ("before", "after", "frequent", "right_before", "right_after")
        }
        kept = " and ".join(sorted({run["control"] or "nothing" for run in runs}))
        parts.append(
            f"{concept} {mean['before']} before, {mean['after']} after (most frequent level {mean['frequent']}; "
            f"classes right {mean['right_before']}, {mean['right_after']}; kept {kept})"
        )
    told_by = "how often a new linear classifier tells a concept from the representation that was to forget it"
    return f"{told_by}: {'; '.join(parts)}"
