"""What explanations give to words: their shares in a text, and how these differ between the forms of a sentence.

The difference of the forms of a pair over the words of the ground truth is GECOBench's (Wilming et al. 2024, first
version, Section 3.1 and Figures 7 and 8). Scores are read from the attribution files, so that no model is asked.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from evenlight.core import tables
from evenlight.core.contracts.explanations import EXPLAINED
from evenlight.core.contracts.results import ATTRIBUTION_DIFFERENCES
from evenlight.core.contracts.texts import ITEMS, UNITS
from evenlight.core.errors import InputError
from evenlight.core.kinds import TOKENS
from evenlight.core.tables import Contract
from evenlight.metrics.explanations import Explanation, explanations_of
from evenlight.statistics.analyses.base import Computed, Inputs, OfRuns
from evenlight.statistics.arrays.multiple_testing import holm
from evenlight.statistics.arrays.paired_tests import signed_rank_p
from evenlight.statistics.arrays.units import differences
from evenlight.statistics.comparisons.files import Run, attribution_path, items_path, predictions_path, units_path
from evenlight.statistics.comparisons.study import Comparison
from evenlight.texts.items import forms_of
from evenlight.texts.predictions import explained_items, read_explained

# Texts that are read together.
ROWS = 2**12


def word_shares(token_score: np.ndarray, word_id: np.ndarray, words: int) -> np.ndarray:
    """The share of each word in the absolute scores of all words' tokens, (words,); NaN where a word has no token.

    Sub-words are added up by word, as for mass accuracy. All NaN where every score is 0.

    >>> word_shares(np.array([9.0, -1, 2, 1]), np.array([-1, 0, 0, 2]), 3)
    array([0.75,  nan, 0.25])
    """
    inside = word_id >= 0
    weights = np.abs(token_score[inside])
    if not weights.any():
        return np.full(words, np.nan)
    share = np.bincount(word_id[inside], weights, words) / weights.sum()
    return np.where(np.bincount(word_id[inside], minlength=words) > 0, share, np.nan)


def read_explanations(
    attributions: str | Path, datasets_folder: str | Path, predictions: str | Path, run: Run, explainer: str
) -> Iterator[tuple[Explanation, int]]:
    """The explanation of every text that an explainer has explained in a run, and how many words the text has."""
    path, items = attribution_path(attributions, run, explainer), items_path(datasets_folder, run.dataset)
    read = predictions_path(predictions, run)
    # One that a look has closed explains some of them.
    there = tables.read_arrow(path, EXPLAINED.only("item_id"))["item_id"]
    wanted = np.asarray(pc.is_in(explained_items(read), value_set=there))
    attributions_in_groups = tables.read_groups(path, EXPLAINED, ROWS)
    texts_in_groups = read_explained(read, items, ROWS, "ground_truth", "words", wanted=wanted)
    for texts, attributed in zip(texts_in_groups, attributions_in_groups, strict=True):
        words = [len(each) for each in texts["words"].to_pylist()]
        yield from zip(explanations_of(texts, attributed, path), words, strict=True)


def read_word_shares(
    attributions: str | Path, datasets_folder: str | Path, predictions: str | Path, run: Run, explainer: str
) -> Iterator[tuple[str, np.ndarray]]:
    """The same texts with the shares of their words, :func:`word_shares`."""
    for explanation, count in read_explanations(attributions, datasets_folder, predictions, run, explainer):
        yield explanation.item_id, word_shares(explanation.token_score, explanation.word_id, count)


def chosen_sentence(items: pd.DataFrame, explained: set[str], dataset: str, named: str | None) -> pd.Series:
    """The row of the sentence that is named, else of the first with ground truth, where the dataset has any.

    Args:
        items: with ``item_id`` and ``ground_truth``.
        explained: the sentences that are explained for all models.
        dataset: its name, for messages.
        named: ``item_id`` of a sentence, or None.

    Raises:
        InputError: it is not explained, or none is.
    """
    there = items[items["item_id"].isin(explained)]
    if there.empty:
        raise InputError(f"dataset '{dataset}': no text is explained for all models; explain more texts")
    if named is None:
        return there.iloc[int(there["ground_truth"].map(has_truth).to_numpy().argmax())]
    if named not in explained:
        is_there = (items["item_id"] == named).any()
        found = "not explained for all models" if is_there else "no text of the dataset that is explained"
        listing = ", ".join(there["item_id"].head(3))
        raise InputError(
            f"figures.sentences.{dataset}: '{named}' is {found}; name one of those that are, such as {listing}"
        )
    return there[there["item_id"] == named].iloc[0]


def has_truth(truth: list[int] | None) -> bool:
    """Whether a text has a word of the ground truth."""
    return truth is not None and any(truth)


def pairs_of_forms(comparisons: Mapping[str, Sequence[Sequence[str]]]) -> list[Comparison]:
    """Every two levels that stand in one set, each pair once, in configured order.

    >>> [pair.levels for pair in pairs_of_forms({"gender": [["male", "female", "neutral"], ["female", "male"]]})]
    [('male', 'female'), ('male', 'neutral'), ('female', 'neutral')]
    """
    found: dict[frozenset, Comparison] = {}
    for factor, sets in comparisons.items():
        for levels in sets:
            for pair in combinations(levels, 2):
                found.setdefault(frozenset((factor, *pair)), Comparison(factor, *pair))
    return list(found.values())


def forms_together(units: pd.DataFrame, pair: Comparison) -> list[tuple[str, str]]:
    """The texts of both levels of every unit that has one of each, in the order of the units."""
    rows = forms_of(units, pair.factor)
    columns = [
        rows[rows["level"] == level].drop_duplicates("unit_id").set_index("unit_id")["item_id"] for level in pair.levels
    ]
    together = pd.concat(columns, axis=1, keys=range(2), sort=False).dropna()
    return list(together.itertuples(index=False, name=None))


def paired_words(
    pairs: Sequence[tuple[str, str]], shares: Mapping[str, np.ndarray], truth: Mapping[str, Sequence[int]]
) -> tuple[np.ndarray, np.ndarray, int]:
    """The shares of the words that count, float (2, words), the pair of each, int (words,), and how many pairs have
    forms of different lengths.
    """
    numbers, of_pair, unequal = [np.empty((2, 0))], [np.empty(0, dtype=int)], 0
    for index, (a, b) in enumerate(pairs):
        if a not in shares or b not in shares or a not in truth or b not in truth:
            continue
        if len(shares[a]) != len(shares[b]):
            unequal += 1
            continue
        both = np.stack([shares[a], shares[b]])
        counts = ((np.array(truth[a]) == 1) | (np.array(truth[b]) == 1)) & ~np.isnan(both).any(axis=0)
        numbers.append(both[:, counts])
        of_pair.append(np.full(counts.sum(), index))
    return np.concatenate(numbers, axis=1), np.concatenate(of_pair), unequal


def compared_words(numbers: np.ndarray, of_pair: np.ndarray) -> dict:
    """Means and tests of the shares of words in both forms, (2, words), of which ``of_pair`` names the pair."""
    difference = differences(*numbers)
    _, place, counts = np.unique(of_pair, return_inverse=True, return_counts=True)
    means = np.stack([np.bincount(place, form) for form in numbers]) / counts
    return {
        "pairs": len(counts),
        "words": len(of_pair),
        "mean_absolute": float(np.abs(difference).mean()),
        "mean_difference": float(difference.mean()),
        "p": signed_rank_p(difference).item(),
        "p_pairs": signed_rank_p(differences(*means)).item(),
    }


class CompareAttributions(OfRuns):
    """Compare what explanations give to the ground-truth words of both forms of a sentence, run by run.

    Words of both forms stand in the same places; those count that are ground truth in one of them and have tokens in
    both.

    - ``pairs``, ``words``: how many there are;
    - ``mean_absolute``, ``mean_difference``: mean over words of |s(a) − s(b)| and of s(a) − s(b);
    - ``p``: Wilcoxon's signed-rank test of the words, as GECOBench's code has it, which takes words of one sentence for
      independent; ``p_pairs``: of the pairs, each with the mean over its words;
    - ``p_holm``, ``p_pairs_holm``: Holm's, over the pairs of levels of one factor, as of three forms.
    """

    tables: ClassVar[Mapping[str, Contract]] = {"attribution_differences": ATTRIBUTION_DIFFERENCES}
    of_kinds: ClassVar[Collection[str]] = ("strategies",)
    modality: ClassVar[str] = TOKENS
    folders: ClassVar[Sequence[str]] = ("attributions", "datasets", "predictions")
    minutes: ClassVar[int] = 60
    alone: ClassVar[bool] = True

    result: Literal["compare_attributions"]
    explainers: list[str]
    comparisons: dict[str, list[list[str]]]

    @classmethod
    def is_made(cls, study) -> bool:
        """Where forms of texts are compared."""
        return bool(super().is_made(study) and study.comparisons())

    def compute(self, inputs: Inputs) -> Computed:
        """A row per run, explainer and pair of levels."""
        attributions, datasets, predictions = (inputs.folders[name] for name in self.folders)
        rows = []
        notes: dict[str, None] = {}
        for dataset in self.runs.datasets:
            truth = tables.read_table(items_path(datasets, dataset), ITEMS.only("item_id", "ground_truth"))
            truth = truth.set_index("item_id")["ground_truth"].dropna()
            units = tables.read_table(units_path(datasets, dataset), UNITS)
            forms = [(pair, forms_together(units, pair)) for pair in pairs_of_forms(self.comparisons)]
            for run in self.runs.of(dataset):
                for explainer in self.runs.explainers_of(dataset, self.explainers):
                    shares = dict(read_word_shares(attributions, datasets, predictions, run, explainer))
                    for pair, pairs in forms:
                        numbers, of_pair, unequal = paired_words(pairs, shares, truth)
                        if unequal:
                            words = f"{unequal} pairs whose forms have different numbers of words are left out"
                            notes[f"dataset '{dataset}', {' and '.join(pair.levels)}: {words}"] = None
                        if len(of_pair):
                            names = {"dataset": dataset, "model": run.model, "seed": run.seed, "explainer": explainer}
                            rows.append(names | pair._asdict() | compared_words(numbers, of_pair))
        table = pd.DataFrame(rows, columns=ATTRIBUTION_DIFFERENCES.schema.names)
        of_factor = table.groupby(["dataset", "model", "seed", "explainer", "factor"], sort=False)
        for name in ("p", "p_pairs"):
            table[f"{name}_holm"] = of_factor[name].transform(holm)
        return Computed([table], list(notes))
