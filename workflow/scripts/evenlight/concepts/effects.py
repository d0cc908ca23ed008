"""Effects of concepts, how far estimates of them are off, and how sure that is.

Abraham et al. (2022), "CEBaB", Section 3. Effects are differences of probabilities, float (changes, classes).
"""

import numpy as np

from evenlight.concepts.question import Changes

# Effects are compared after rounding, as in the released code.
DECIMALS = 4
Direction = tuple[int, int, int]  # concept, level before, level after


def directions(changes: Changes) -> dict[Direction, np.ndarray]:
    """The numbers of the changes of each concept from one level to another."""
    keys = np.stack([changes.concept, changes.before, changes.after], axis=1)
    return {tuple(map(int, key)): np.flatnonzero((keys == key).all(axis=1)) for key in np.unique(keys, axis=0)}


def average_effects(effects: np.ndarray, changes: Changes) -> dict[Direction, np.ndarray]:
    """The mean effect of each direction, (classes,): CaCE (Definition 4); of differences of labels, the ATE (of
    Definition 5)."""
    return {direction: effects[rows].mean(axis=0) for direction, rows in directions(changes).items()}


def label_effects(label: np.ndarray, changes: Changes) -> np.ndarray:
    """What each change does to the label, in steps from class to class, (changes,): ITE (Definition 5).

    ``label`` is that of each text, int (texts,). Of a model's predicted classes it is the effect in predicted stars.
    """
    return (label[changes.edit] - label[changes.base]).astype(float)


def order_faithfulness(true: np.ndarray, estimated: np.ndarray, changes: Changes) -> np.ndarray:
    """Whether the estimates rank the concepts of each text as the truth does, (texts that say something,).

    After the metric of this name (Toker et al. 2026, arXiv 2601.10700). Two changes of one text that concern different
    concepts are in order where the larger true effect has the larger estimate; sizes are Euclidean norms, so that the
    scale of an explainer does not matter. A text counts the share of its pairs that are in order, equal estimates as
    one half; pairs with equal true effects say nothing. 0.5 is chance.
    """
    sizes = [np.linalg.norm(np.round(effects, DECIMALS), axis=1) for effects in (true, estimated)]
    shares = []
    for base in np.unique(changes.base):
        rows = np.flatnonzero(changes.base == base)
        first, second = np.triu_indices(len(rows), k=1)
        one, other = rows[first], rows[second]
        truly, said = (np.sign(size[one] - size[other]) for size in sizes)
        counts = (changes.concept[one] != changes.concept[other]) & (truly != 0)
        if counts.any():
            shares.append(((truly * said)[counts] / 2 + 0.5).mean())
    return np.array(shares)


def over_seeds(values: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation with divisor n, as in the published tables."""
    return float(np.mean(values)), float(np.std(values))
