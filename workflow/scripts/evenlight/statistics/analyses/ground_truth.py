"""Is the ground truth of a dataset true? Which words are associated with the label, and which are marked.

GECOBench takes the words that people changed for the only ones with a statistical association with the label
(Wilming et al. 2024, Definition 3.1), and shows the correlations of words with it (Figure 3). Here that is tested, and
the marks are held against the words that really differ between the forms of a sentence.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
import scipy

from evenlight.core import tables
from evenlight.core.contracts.results import GROUND_TRUTH, WORD_ASSOCIATIONS
from evenlight.core.contracts.texts import ITEMS, UNITS
from evenlight.core.seeds import generator_for
from evenlight.core.tables import Contract
from evenlight.statistics.analyses.base import Computed, Inputs, Result
from evenlight.statistics.comparisons.files import items_path, units_path
from evenlight.texts.matching import small

# Permutations that are computed together.
BLOCK = 100


def word_associations(
    items: pd.DataFrame, units: pd.DataFrame, classes: Sequence[str], permutations: int, dataset: str
) -> pd.DataFrame:
    """How each word is associated with each class, of two classes with the second.

    Words are lower-case. Columns: ``word``, ``class``, ``texts`` (that have the word), ``marked`` and ``unmarked`` (how
    often it is ground truth and how often not), ``correlation`` (Pearson's, of the word's tf-idf with "the label is the
    class"), ``z`` and ``p``.

    The test is of how often the word stands in texts, not of tf-idf, whose scale depends on the other words of a text.
    Labels are exchanged among the texts of a unit, as if its forms had none of their own: words that all forms have
    cannot be associated. Where no unit has texts of different labels, as where each text stands alone, whole units are
    exchanged, each with the mean of its texts, and any word can be. ``z`` is the covariance of the number of
    occurrences with the class over its standard deviation under all exchanges; ``p`` is adjusted for all words and
    classes: the share of exchanges, the real one included, in which any of them has so large a |z| (Westfall & Young
    1993).
    """
    texts = [[small(word) for word in words] for words in items["words"]]
    vocabulary = {word: column for column, word in enumerate(sorted({word for text in texts for word in text}))}
    counts = _counts(texts, vocabulary)
    shown = range(len(classes)) if len(classes) > 2 else [1]
    labels = items["label"].to_numpy()
    target = np.stack([labels == label for label in shown], axis=1).astype(float)
    tested, centred, unit = counts, target, _unit_of(items["item_id"], units)
    of_units = _means(target, unit)
    if np.array_equal(of_units[unit], target):
        tested, centred, unit = _averaging(unit) @ counts, of_units, np.zeros(len(of_units), dtype=int)
        of_units = _means(centred, unit)
    centred = centred - of_units[unit]
    # Exchanges within units leave what units have in common: each unit's part has a known variance.
    variance = _variance(tested, centred, unit)
    statistic = tested.T @ centred
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(variance > 1e-12, statistic / np.sqrt(variance), 0.0)
        largest = np.concatenate(
            [[np.abs(z).max(initial=0)], _largest(tested, centred, unit, variance, permutations, dataset)]
        )
    # Of equal sums in another order the last digits differ.
    p = np.array([[(largest >= abs(value) - 1e-9).mean() for value in row] for row in z])
    marked = Counter(
        word
        for text, truth in zip(texts, items["ground_truth"], strict=True)
        if truth is not None
        for word, is_true in zip(text, truth, strict=True)
        if is_true
    )
    total = np.asarray(counts.sum(axis=0)).ravel()
    correlation = _correlations(tf_idf(counts), target)
    parts = [
        pd.DataFrame(
            {
                "word": list(vocabulary),
                "class": classes[label],
                "texts": np.diff(counts.tocsc().indptr),
                "marked": [marked[word] for word in vocabulary],
                "unmarked": [int(total[column]) - marked[word] for word, column in vocabulary.items()],
                "correlation": correlation[:, place],
                "z": z[:, place],
                "p": p[:, place],
            }
        )
        for place, label in enumerate(shown)
    ]
    return pd.concat(parts, ignore_index=True)


def tf_idf(counts: "scipy.sparse.csr_matrix") -> "scipy.sparse.csr_matrix":
    """Counts (texts, words) times 1 + ln((1 + texts) / (1 + texts with the word)), each text of length 1.

    As scikit-learn's ``TfidfVectorizer`` has it by default, which ``pattern_variant`` uses.
    """
    texts = counts.shape[0]
    weighted = counts @ scipy.sparse.diags(1 + np.log((1 + texts) / (1 + np.diff(counts.tocsc().indptr))))
    lengths = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
    return scipy.sparse.diags(1 / np.where(lengths > 0, lengths, 1)) @ weighted


def marked_places(items: pd.DataFrame, units: pd.DataFrame) -> dict[str, int]:
    """Where the texts of a unit differ, and where they are marked; see :class:`CheckGroundTruth`."""
    texts = items.set_index("item_id")
    empty = [truth is None or not np.any(truth) for truth in texts["ground_truth"]]
    found = Counter(texts=len(items), without_truth=sum(empty))
    for _, names in units.drop_duplicates(["unit_id", "item_id"]).groupby("unit_id", sort=False)["item_id"]:
        if len(names) < 2:
            continue
        found["units"] += 1
        forms = texts.loc[names]
        if forms["words"].map(len).nunique() > 1:
            found["unequal_units"] += 1
            continue
        words = np.array([[small(word) for word in form] for form in forms["words"]], dtype=object)
        truths = [truth for truth in forms["ground_truth"] if truth is not None]
        if not words.shape[1] or not truths:
            continue
        differ, marked = (words != words[0]).any(axis=0), (np.array(truths) == 1).any(axis=0)
        found["places"] += int(differ.sum())
        found["marked_places"] += int(marked.sum())
        found["unmarked_differences"] += int((differ & ~marked).sum())
        found["marked_equals"] += int((~differ & marked).sum())
    names = ("texts", "without_truth", "units", "unequal_units", "places", "marked_places")
    return {name: found[name] for name in (*names, "unmarked_differences", "marked_equals")}


def counted_words(found: pd.DataFrame, alpha: float) -> dict[str, int]:
    """How many words are associated with a class, and how many are marked."""
    words = found.groupby("word").agg(p=("p", "min"), marked=("marked", "first"), unmarked=("unmarked", "first"))
    associated, marked = words["p"] <= alpha, words["marked"] > 0
    return {
        "words": len(words),
        "associated_words": int(associated.sum()),
        "associated_unmarked": int((associated & ~marked).sum()),
        "marked_words": int(marked.sum()),
        "marked_unassociated": int((marked & ~associated).sum()),
        "both_ways": int((marked & (words["unmarked"] > 0)).sum()),
    }


def _counts(texts: Sequence[Sequence[str]], vocabulary: Mapping[str, int]) -> "scipy.sparse.csr_matrix":
    rows = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    columns = [vocabulary[word] for text in texts for word in text]
    ones = np.ones(len(columns))
    return scipy.sparse.coo_matrix((ones, (rows, columns)), shape=(len(texts), len(vocabulary))).tocsr()


def _unit_of(item_id: pd.Series, units: pd.DataFrame) -> np.ndarray:
    """The number of each text's first unit; a text in none is one of its own."""
    first = units.drop_duplicates("item_id").set_index("item_id")["unit_id"]
    names = first.reindex(item_id).to_numpy(object)
    own = [f"text {item}" if pd.isna(name) else f"unit {name}" for name, item in zip(names, item_id, strict=True)]
    return np.unique(own, return_inverse=True)[1]


def _averaging(unit: np.ndarray) -> "scipy.sparse.csr_matrix":
    """The matrix (units, texts) that makes means of units of values of texts."""
    share = 1 / np.bincount(unit)[unit]
    return scipy.sparse.coo_matrix((share, (unit, np.arange(len(unit))))).tocsr()


def _means(values: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """The means (units, columns) of values (texts, columns)."""
    return _averaging(unit) @ values


def _variance(counts: "scipy.sparse.csr_matrix", centred: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """The variance (words, classes) of the covariance with the classes under exchanges of labels within units.

    In a unit of n texts it is Σ (x − x̄)² Σ (y − ȳ)² / (n − 1); ``centred`` is y − ȳ, (texts, classes).
    """
    sizes = np.bincount(unit)
    # Of units, so that the matrix of counts without its means need not be written out.
    mean_square, mean = (_averaging(unit) @ part for part in (counts.multiply(counts), counts))
    squares = scipy.sparse.diags(sizes.astype(float)) @ (mean_square - mean.power(2))
    spread = np.stack([np.bincount(unit, column**2) for column in centred.T], axis=1)
    return squares.T @ (spread / np.maximum(sizes - 1, 1)[:, None])


def _largest(
    counts: "scipy.sparse.csr_matrix",
    centred: np.ndarray,
    unit: np.ndarray,
    variance: np.ndarray,
    permutations: int,
    dataset: str,
) -> np.ndarray:
    """The largest |z| of all words and classes in each of some exchanges, (permutations,)."""
    generator = generator_for(0, "word_associations", dataset)
    order = np.argsort(unit, kind="stable")
    deviation = np.sqrt(np.where(variance > 1e-12, variance, np.inf))
    found = []
    for first in range(0, permutations, BLOCK):
        drawn = []
        for _ in range(first, min(first + BLOCK, permutations)):
            # Sorted by unit and then by a random number, the texts of a unit change places among themselves.
            shuffled = np.lexsort((generator.random(len(unit)), unit))
            exchanged = np.empty_like(centred)
            exchanged[order] = centred[shuffled]
            drawn.append(exchanged)
        sums = counts.T @ np.concatenate(drawn, axis=1)
        z = np.abs(sums.reshape(len(variance), len(drawn), -1)) / deviation[:, None]
        found.append(z.max(axis=(0, 2), initial=0))
    return np.concatenate(found) if found else np.empty(0)


def _correlations(features: "scipy.sparse.csr_matrix", target: np.ndarray) -> np.ndarray:
    """Pearson's correlation (words, classes) of every word's column with every class; NaN where one is constant."""
    texts = len(target)
    means = np.asarray(features.mean(axis=0)).ravel()
    squares = np.asarray(features.multiply(features).sum(axis=0)).ravel() - texts * means**2
    centred = target - target.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        sizes = np.sqrt(np.maximum(squares, 0)[:, None] * (centred**2).sum(axis=0))
        return np.where(sizes > 1e-12, (features.T @ centred) / sizes, np.nan)


class CheckGroundTruth(Result):
    """Hold the ground truth of the datasets against the words that are associated with their labels.

    Of datasets with ground truth, over all their texts. See :func:`word_associations`; a word is associated where its
    adjusted p is at most ``alpha``. The table of datasets has

    - ``texts``, ``without_truth``: the texts, and those that have no word of the ground truth;
    - ``units``, ``unequal_units``: units with several texts, and those whose texts have different numbers of words;
    - ``places``, ``marked_places``: word by word in the other units, the places whose words differ, and those that are
      marked; ``unmarked_differences``, ``marked_equals``: that differ and are not marked, or are marked and equal;
    - ``words``, ``associated_words``; ``associated_unmarked``: associated and never marked;
    - ``marked_words``, ``marked_unassociated``: marked somewhere, and of these not associated; ``both_ways``: marked in
      one place and not in another.
    """

    tables: ClassVar[Mapping[str, Contract]] = {"ground_truth": GROUND_TRUTH, "word_associations": WORD_ASSOCIATIONS}
    of_kinds: ClassVar[Collection[str]] = ("strategies",)
    folders: ClassVar[Sequence[str]] = ("datasets",)
    minutes: ClassVar[int] = 30
    alone: ClassVar[bool] = True

    result: Literal["check_ground_truth"]
    datasets: list[str]
    permutations: int
    alpha: float

    @classmethod
    def is_made(cls, study) -> bool:
        """Where words of a dataset may be told."""
        return bool(super().is_made(study) and study.datasets_shown())

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """The datasets whose words a table may have."""
        return super().asked(study) | {"datasets": study.datasets_shown(), "permutations": 1000}

    def compute(self, inputs: Inputs) -> Computed:
        """A row per dataset, and the table of words."""
        words, rows = [], []
        for dataset in self.datasets:
            path = items_path(inputs.folders["datasets"], dataset)
            items = tables.read_table(path, ITEMS.only("item_id", "words", "ground_truth", "label"))
            if items["ground_truth"].isna().all():
                continue
            classes = tables.read_metadata(path, ITEMS)["classes"]
            units = tables.read_table(units_path(inputs.folders["datasets"], dataset), UNITS)
            found = word_associations(items, units, classes, self.permutations, dataset)
            words.append(found.assign(dataset=dataset))
            rows.append({"dataset": dataset, **marked_places(items, units), **counted_words(found, self.alpha)})
        empty = [pd.DataFrame(columns=WORD_ASSOCIATIONS.schema.names)]
        of_words = pd.concat(words or empty, ignore_index=True)[WORD_ASSOCIATIONS.schema.names]
        summary = pd.DataFrame(rows, columns=GROUND_TRUTH.schema.names)
        return Computed([summary, of_words], said=[summary.to_string(index=False)])
