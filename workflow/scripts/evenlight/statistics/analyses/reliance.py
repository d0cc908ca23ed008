"""On which words a model relies, by group.

How alike are the forms of a text explained, what share of the scores have the words that name the group, and what has
each word? Scores are read from the attribution files, so that no model is asked. A word's share is the sum of its
tokens' scores over the sum of the absolute scores of all words' tokens, with its sign, or of absolute scores.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from evenlight.core import tables
from evenlight.core.chance import rank_correlation
from evenlight.core.contracts.results import GROUP_RELIANCE, PAIR_INVARIANCE, WORDS_BY_GROUP
from evenlight.core.contracts.texts import ITEMS, PREDICTIONS, UNITS
from evenlight.core.factors import JOINT
from evenlight.core.kinds import TOKENS
from evenlight.core.tables import Contract
from evenlight.metrics.explanations import Explanation
from evenlight.statistics.analyses.base import Computed, Inputs, OfRuns
from evenlight.statistics.analyses.word_attributions import forms_together, pairs_of_forms, read_explanations
from evenlight.statistics.arrays.units import clustered_variance, mean_of_known
from evenlight.statistics.comparisons.files import Run, items_path, predictions_path, units_path
from evenlight.statistics.comparisons.study import ALL
from evenlight.texts.items import forms_of
from evenlight.texts.matching import small

# Fewest words that two forms must share for a rank correlation.
LEAST_WORDS = 3
# What a null is made of: the same explainer with other draws, or nothing, since without draws nothing changes.
REPEATED, FIXED = "repeated", "fixed"


@dataclass(frozen=True)
class Shares:
    """The shares of the words of one explained text, each (words,); NaN where a word has no token, or all scores are 0.

    ``tokens`` is how many tokens each word has.
    """

    signed: np.ndarray
    absolute: np.ndarray
    tokens: np.ndarray


def shares_of(explanation: Explanation, words: int) -> Shares:
    """The shares of an explained text of so many ``words``."""
    inside = explanation.word_id >= 0
    word, score = explanation.word_id[inside], explanation.token_score[inside]
    tokens = np.bincount(word, minlength=words)
    total = np.abs(score).sum() or np.nan
    signed, absolute = (
        np.where(tokens > 0, np.bincount(word, weights, words) / total, np.nan) for weights in (score, np.abs(score))
    )
    return Shares(signed, absolute, tokens)


def clustered_mean(values: ArrayLike, clusters: ArrayLike, confidence: float) -> tuple[float, float, float]:
    """The mean of what is defined, and the ends of its interval, which takes values of one cluster for dependent.

    The variance is that of :func:`evenlight.statistics.arrays.units.clustered_variance` of the residuals, the quantile
    that of Student's t with G − 1 degrees of freedom for G clusters. No interval from a single cluster.

    >>> clustered_mean([1.0, 3.0], ["a", "a"], 0.95)
    (2.0, nan, nan)
    """
    values = np.asarray(values, dtype=float)
    known = ~np.isnan(values)
    if not known.any():
        return (np.nan,) * 3
    cluster = np.asarray(clusters, dtype=str)[known]
    mean, independent = values[known].mean(), len(np.unique(cluster))
    if independent < 2:
        return float(mean), np.nan, np.nan
    error = np.sqrt(clustered_variance(values[known] - mean, cluster)) / known.sum()
    half = scipy.stats.t.ppf((1 + confidence) / 2, independent - 1) * error
    return float(mean), float(mean - half), float(mean + half)


def shared_words(first: Sequence[str], second: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """The places of the words that two texts share in the same order, int (shared words,) in either; case aside.

    >>> [places.tolist() for places in shared_words(["She", "is", "here"], ["Now", "he", "is", "here"])]
    [[1, 2], [2, 3]]
    """
    lower = [[small(word) for word in words] for words in (first, second)]
    blocks = SequenceMatcher(None, lower[0], lower[1], autojunk=False).get_matching_blocks()
    shared = [(block.a + n, block.b + n) for block in blocks for n in range(block.size)]
    places = np.array(shared, dtype=int).reshape(-1, 2)
    return places[:, 0], places[:, 1]


def words_naming(items: pd.DataFrame, units: pd.DataFrame, factor: str) -> dict[str, np.ndarray]:
    """Which words of a text name its level of a factor, bool (words,), by ``item_id``; without texts of which it is not
    known.

    They are those that carry the factor, in a dataset that says what words carry; in others those in which a form
    differs from another one of its unit that has another level. Of texts without forms nothing is known then.

    Args:
        items: ``item_id``, ``words`` and ``carries`` of a dataset.
        units: of the dataset.
        factor: its name; of an intersection, words that name any of its factors.
    """
    parts = set(factor.split(JOINT))
    carries = items.set_index("item_id")["carries"].dropna()
    named = {item: np.array([what in parts for what in its]) for item, its in carries.items()}
    if any(its.any() for its in named.values()):
        return named
    words = items.set_index("item_id")["words"]
    forms = forms_of(units, factor)
    named = {}
    for _, unit in forms[forms["item_id"].isin(words.index)].groupby("unit_id", sort=False):
        texts = list(unit[["item_id", "level"]].itertuples(index=False, name=None))
        for item, level in texts:
            for other, other_level in texts:
                if level != other_level:
                    differs = named.setdefault(item, np.zeros(len(words[item]), dtype=bool))
                    is_shared = np.zeros(len(differs), dtype=bool)
                    is_shared[shared_words(words[item], words[other])[0]] = True
                    differs |= ~is_shared
    return named


def distance(first: np.ndarray, second: np.ndarray) -> float:
    """How far two explanations of the same words are apart, (words,) each: 0 where they are equal, at most 1.

    The sum of absolute differences over the sum of absolute scores; 1 where no word has scores of one sign in both. NaN
    where all are 0.

    >>> distance(np.array([0.5, -0.5]), np.array([0.5, 0.0])), distance(np.array([1.0]), np.array([-0.2]))
    (0.3333333333333333, 1.0)
    """
    total = np.abs(first).sum() + np.abs(second).sum()
    return float(np.abs(first - second).sum() / total) if total else np.nan


def compared(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """Distance and rank correlation of two explanations of the same words, of those that have scores in both."""
    known = ~np.isnan(first) & ~np.isnan(second)
    first, second = first[known], second[known]
    return distance(first, second), rank_correlation(first, second) if len(first) >= LEAST_WORDS else np.nan


# Of a whole study ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TextsOfDataset:
    """The texts of a dataset: their words, clusters, units, and which class is explained of each under each run."""

    items: pd.DataFrame
    units: pd.DataFrame
    classes: Sequence[str]

    def cluster(self, names: Iterable[str]) -> np.ndarray:
        """The clusters of some texts."""
        return self.items["cluster"].reindex(list(names)).to_numpy(object)


def read_texts(datasets_folder: str | Path, dataset: str) -> TextsOfDataset:
    """Texts and units of a dataset."""
    path = items_path(datasets_folder, dataset)
    items = tables.read_table(path, ITEMS.only("item_id", "words", "carries", "cluster"))
    units = tables.read_table(units_path(datasets_folder, dataset), UNITS)
    classes = tables.read_metadata(path, ITEMS)["classes"]
    return TextsOfDataset(items.set_index("item_id", drop=False), units, classes)


def _levels(
    known: TextsOfDataset, comparisons: Mapping[str, Sequence[Sequence[str]]]
) -> dict[tuple[str, str], list[str]]:
    """The texts of every level that is compared, each text once; all texts where nothing is compared."""
    if not comparisons:
        return {(ALL, ALL): list(known.items.index)}
    found = {}
    for factor, sets in comparisons.items():
        rows = forms_of(known.units, factor)
        for level in dict.fromkeys(level for levels in sets for level in levels):
            found[factor, level] = list(dict.fromkeys(rows.loc[rows["level"] == level, "item_id"]))
    return found


def _targets(predictions: str | Path, run: Run) -> dict[str, int]:
    table = tables.read_table(predictions_path(predictions, run), PREDICTIONS.only("item_id", "target")).dropna()
    return dict(zip(table["item_id"], table["target"].astype(int), strict=True))


def _pair_rows(
    forms: Sequence[tuple[str, str]],
    mine: Sequence[Mapping[str, Shares]],
    twin: Sequence[Mapping[str, Shares]] | None,
    known: TextsOfDataset,
    naming: Mapping[str, np.ndarray],
) -> pd.DataFrame:
    """Of every pair of forms the distance and rank correlation of its shared words, and those of repeated explanation.

    Means over the runs that explain both; words that name the group in either form are not shared.
    """
    rows = []
    for a, b in forms:
        places = shared_words(known.items["words"][a], known.items["words"][b])
        kept = np.ones(len(places[0]), dtype=bool)
        for item, its in zip((a, b), places, strict=True):
            if item in naming:
                kept &= ~naming[item][its]
        in_a, in_b = (its[kept] for its in places)
        of_runs, of_repeats = [], []
        for number, run in enumerate(mine):
            if a not in run or b not in run or not len(in_a):
                continue
            of_runs.append(compared(run[a].signed[in_a], run[b].signed[in_b]))
            if twin is not None:
                for item, its in ((a, in_a), (b, in_b)):
                    of_repeats.append(compared(run[item].signed[its], twin[number][item].signed[its]))
        if of_runs:
            null = _means(of_repeats) if of_repeats else (np.nan, np.nan)
            rows.append((a, len(in_a), *_means(of_runs), *null))
    columns = ["item_id", "words", "distance", "rank_correlation", "null_distance", "null_rank_correlation"]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(cluster=known.cluster(table["item_id"]))


def _means(values: Sequence[tuple[float, float]]) -> tuple[float, ...]:
    return tuple(pd.DataFrame(values).mean())


def _invariance(rows: pd.DataFrame, null: str | None, confidence: float) -> dict:
    if null == FIXED:
        rows = rows.assign(null_distance=0.0, null_rank_correlation=1.0)
    rows = rows.assign(beyond_null=rows["distance"] - rows["null_distance"])
    found = {"pairs": len(rows), "words": rows["words"].mean()}
    for name in ("distance", "rank_correlation", "beyond_null"):
        found |= _interval(name, rows[name], rows["cluster"], confidence)
    return found | {name: rows[name].mean() for name in ("null_distance", "null_rank_correlation")}


def _interval(name: str, values: ArrayLike, clusters: ArrayLike, confidence: float) -> dict[str, float]:
    ends = clustered_mean(values, clusters, confidence)
    return dict(zip((name, f"{name}_low", f"{name}_high"), ends, strict=True))


def _reliance(
    items: Sequence[str],
    runs: Sequence[Mapping[str, Shares]],
    naming: Mapping[str, np.ndarray],
    known: TextsOfDataset,
    confidence: float,
) -> dict | None:
    """The shares of the words that name the group, over the texts that have such; None where there are none.

    Of a text they are means over the runs in which its scores are not all 0.
    """
    rows = []
    for item in items:
        of_runs = [run[item] for run in runs if item in run]
        if of_runs and item in naming and (name := naming[item] & (of_runs[0].tokens > 0)).any():
            sums = np.array([[shares.signed[name].sum(), shares.absolute[name].sum()] for shares in of_runs])
            signed, absolute = mean_of_known(sums)
            counts = of_runs[0].tokens
            if not np.isnan(absolute):
                rows.append((item, signed, absolute, counts[name].sum() / counts.sum()))
    if not rows:
        return None
    names, signed, absolute, tokens = zip(*rows, strict=True)
    clusters = known.cluster(names)
    return {
        "texts": len(rows),
        "tokens": float(np.mean(tokens)),
        **_interval("absolute", absolute, clusters, confidence),
        **_interval("signed", signed, clusters, confidence),
    }


def _words(
    items: Sequence[str],
    runs: Sequence[Mapping[str, Shares]],
    targets: Sequence[Mapping[str, int]],
    known: TextsOfDataset,
    least: int,
    confidence: float,
) -> Iterator[dict]:
    """Every word that at least ``least`` texts of a level and explained class have, by class and then by frequency."""
    rows = []
    for item in items:
        words = [small(word) for word in known.items["words"].get(item, ())]
        by_class: dict[int, list[np.ndarray]] = {}
        for run, classes in zip(runs, targets, strict=True):
            if item in run and item in classes:
                by_class.setdefault(classes[item], []).append(run[item].signed)
        for target, of_runs in by_class.items():
            shares = pd.Series(mean_of_known(np.array(of_runs)), index=words).dropna()
            rows += [(target, word, item, share) for word, share in shares.groupby(level=0).mean().items()]
    table = pd.DataFrame(rows, columns=["class", "word", "item_id", "share"])
    table = table.assign(cluster=known.cluster(table["item_id"]))
    found = [
        {"class": known.classes[target], "word": word, "texts": len(part)}
        | _interval("share", part["share"], part["cluster"], confidence)
        for (target, word), part in table.groupby(["class", "word"])
        if len(part) >= least
    ]
    yield from sorted(found, key=lambda row: (row["class"], -row["texts"], row["word"]))


class MeasureReliance(OfRuns):
    """On which words a model relies, by group: pairs of forms, words that name the group, and a table of words.

    Attributes:
        explainers: names to the explainer that does the same with other draws; to themselves where nothing is drawn, to
            None where there is no other.
        words_of: the datasets whose words may stand in a table.
        texts: fewest texts of a level with a word that stands in the table.
        confidence: of the intervals, which are over clusters of texts; values are means over seeds.
    """

    version: ClassVar[int] = 2
    tables: ClassVar[Mapping[str, Contract]] = {
        "pair_invariance": PAIR_INVARIANCE,
        "group_reliance": GROUP_RELIANCE,
        "words_by_group": WORDS_BY_GROUP,
    }
    modality: ClassVar[str] = TOKENS
    folders: ClassVar[Sequence[str]] = ("attributions", "datasets", "predictions")
    minutes: ClassVar[int] = 60
    alone: ClassVar[bool] = True

    result: Literal["measure_reliance"]
    explainers: dict[str, str | None]
    comparisons: dict[str, list[list[str]]]
    words_of: list[str]
    texts: int
    confidence: float

    @classmethod
    def is_made(cls, study) -> bool:
        """Where a study asks for reliance."""
        return bool(super().is_made(study) and study.config["reliance"])

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """The runs, by what each explainer is repeated, and which texts may be told."""
        from evenlight import configuration

        return super().asked(study) | {
            "explainers": {name: configuration.repeated_by(study.config, name) for name in study.explainers},
            "words_of": study.datasets_shown(),
            "texts": study.config["reliance"]["texts"],
        }

    def compute(self, inputs: Inputs) -> Computed:
        """How alike the forms are explained, what the words get that name the group, and what all words get."""
        attributions, datasets, predictions = (inputs.folders[name] for name in self.folders)
        invariance, reliance, words = [], [], []
        pairs, confidence = pairs_of_forms(self.comparisons), self.confidence
        for dataset in self.runs.datasets:
            known = read_texts(datasets, dataset)
            levels, items = _levels(known, self.comparisons), known.items.reset_index(drop=True)
            naming = {factor: words_naming(items, known.units, factor) for factor, _ in levels}
            together = [(pair, forms_together(known.units, pair)) for pair in pairs]
            here = self.runs.explainers_of(dataset, self.explainers)
            for model, seeds in self.runs.models_of(dataset).items():
                of_model = [Run(dataset, model, seed) for seed in seeds]
                shares = {
                    explainer: [
                        {
                            text.item_id: shares_of(text, count)
                            for text, count in read_explanations(attributions, datasets, predictions, run, explainer)
                        }
                        for run in of_model
                    ]
                    for explainer in here
                }
                targets = [_targets(predictions, run) for run in of_model]
                for explainer in here:
                    other = self.explainers[explainer] if self.explainers[explainer] in here else None
                    names: dict[str, Any] = {"dataset": dataset, "model": model, "explainer": explainer}
                    mine, twin = shares[explainer], shares[other] if other else None
                    for pair, forms in together:
                        rows = _pair_rows(forms, mine, None if other == explainer else twin, known, naming[pair.factor])
                        if len(rows):
                            null = FIXED if other == explainer else REPEATED if other else None
                            cell = names | pair._asdict() | {"seeds": len(seeds), "null": null}
                            invariance.append(cell | _invariance(rows, null, confidence))
                    for (factor, level), of_level in levels.items():
                        cell = names | {"factor": factor, "level": level}
                        if found := _reliance(of_level, mine, naming[factor], known, confidence):
                            reliance.append(cell | found)
                        if dataset in self.words_of:
                            of_words = _words(of_level, mine, targets, known, self.texts, confidence)
                            words += [cell | row for row in of_words]
        rows_of = zip((invariance, reliance, words), self.tables.values(), strict=True)
        made = (pd.DataFrame(rows, columns=contract.schema.names) for rows, contract in rows_of)
        return Computed([table.replace({np.nan: None}) for table in made])
