"""What the page holds behind its questions: scores, explanations and texts as small arrays, and a tree that names them.

The page keeps each array once, compressed, and unpacks what a view needs.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from evenlight.core import tables
from evenlight.core.contracts.texts import ITEMS
from evenlight.core.kinds import TEXT, TOKENS
from evenlight.reports.index.answers import MOST_CHARACTERS, answers_of, stored_answers
from evenlight.reports.index.store import Store
from evenlight.reports.text import json_number
from evenlight.reports.verdict_words import sign_of
from evenlight.statistics.arrays.units import mean_of_known
from evenlight.statistics.comparisons.cells import ModelScores
from evenlight.statistics.comparisons.explained_words import (
    Explained,
    Level,
    pairs_and_others,
    relative,
    shown_levels,
    unit_means,
)
from evenlight.statistics.comparisons.files import items_path
from evenlight.statistics.comparisons.reading import read_models
from evenlight.statistics.comparisons.score_files import score_notes
from evenlight.statistics.comparisons.study import StudyScores, comparisons_in

# A score is one of so many steps between the least and the largest of its metric; the last number says "undefined".
STEPS = 2**16 - 2
UNDEFINED = STEPS + 1
# The strongest word of a text has this share.
FULL = 127
# So many pairs of words of a text are shown.
MOST_TOGETHER = 6
# The numbers of a comparison that the page draws.
NUMBERS = ("wins", "losses", "ties", "share", "low", "high", "family_low", "family_high")


@dataclass(frozen=True)
class Folders:
    """Where a study's files lie.

    Where texts are shown, ``attributions`` and ``predictions`` say what explanations of tokens are, and ``answers``
    those in words; else these are None. Scores that were made elsewhere lie in no folder.
    """

    scores: Path | None = None
    datasets: Path | None = None
    attributions: Path | None = None
    predictions: Path | None = None
    answers: Path | None = None

    @property
    def with_texts(self) -> bool:
        """Whether the page shows texts."""
        return self.attributions is not None or self.answers is not None

    @property
    def named(self) -> list[str]:
        """The names of those that the page reads."""
        return [name for name, path in vars(self).items() if path is not None]


# Gives the scores of a study, and what is to be said of them.
Read = Callable[[StudyScores], tuple[Iterable[ModelScores], Sequence[str]]]


def read_files(study: StudyScores) -> tuple[Iterable[ModelScores], Sequence[str]]:
    """The scores of a study from its files, and what is to be said of them."""
    return read_models(study), score_notes(study)


@dataclass(frozen=True)
class Views:
    """What the page shows behind its questions.

    Attributes:
        content: of each dataset its label, comparisons, effects, units, texts and models; arrays by their number.
        in_pairs: of a dataset and two levels of a factor, which texts are in pairs, see
            :func:`~evenlight.statistics.comparisons.explained_words.pairs_and_others`.
        notes: what is to be said of the scores.
        items: of each dataset the texts that have scores.
    """

    content: dict
    in_pairs: dict[tuple, tuple[int, int, int]]
    notes: list[str]
    items: dict[str, list[str]]


def read_views(
    folders: Folders,
    effects: pd.DataFrame,
    told: Sequence[Mapping[str, Any]],
    store: Store,
    *,
    named: Mapping[str, Mapping[str, str]],
    seeds: Mapping[str, Sequence[int]],
    families: Mapping[str, str],
    modalities: Mapping[str, Mapping[str, Sequence[str]]],
    comparisons: Mapping[str, list[list[str]]],
    only: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
    read: Read = read_files,
) -> Views:
    """What is behind every question, read from the study's files into ``store``.

    Args:
        folders: of these files.
        effects: the comparisons of the page.
        told: what is said of each, in the same order.
        store: receives the arrays.
        named: labels of datasets, models and explainers, by name.
        seeds, families, modalities, comparisons, only, read: as of the page.
    """
    datasets, models = named["datasets"], named["models"]
    names = {"datasets": list(datasets), "models": dict(seeds)}
    texts = {dataset: _Texts() for dataset in datasets}
    of_answers = modalities[TEXT]["explainers"] if TEXT in modalities else ()
    content = {name: {"label": label, "comparisons": [], "models": {}} for name, label in datasets.items()}
    offered: dict[str, dict[tuple, None]] = {dataset: {} for dataset in datasets}
    room = MOST_CHARACTERS // max(1, len(datasets) * len(models) * len(of_answers))
    notes: dict[str, None] = {}
    in_pairs: dict[tuple, tuple[int, int, int]] = {}
    for modality, of in modalities.items():
        metrics = {name: families[name] for name in of["metrics"]}
        of_modality = names | {"explainers": list(of["explainers"]), "metrics": metrics, "only": only or {}}
        of_scores = {"scores": folders.scores, "units": folders.datasets}
        scored = StudyScores(folders=of_scores, comparisons=comparisons, **of_modality)
        scores, said = read(scored)
        notes |= dict.fromkeys(said)
        for model in scores:
            levels = shown_levels(model, comparisons)
            in_pairs |= {(model.dataset, *pair): counted for pair, counted in pairs_and_others(levels).items()}
            offered[model.dataset] |= dict.fromkeys(_compared(levels, comparisons))
            content[model.dataset]["models"].setdefault(model.model, {})[modality] = _model(
                _spoken(folders, modality), model, levels, texts[model.dataset], store, metrics, room
            )
    for dataset, of_dataset in content.items():
        is_its = effects["dataset"] == dataset
        # Those of which there is a verdict first.
        pairs = [tuple(pair) for pair in comparisons_in(effects[is_its]) if tuple(pair) in offered[dataset]]
        of_dataset["comparisons"] = [list(pair) for pair in dict.fromkeys(pairs) | offered[dataset]]
        of_dataset["effects"] = store.add([_effect_row(row, told[row.Index]) for row in effects[is_its].itertuples()])
        of_dataset["units"] = store.add(list(texts[dataset].units))
        if folders.with_texts:
            of_dataset |= texts[dataset].stored(items_path(folders.datasets, dataset), store)
    return Views(content, in_pairs, list(notes), {dataset: list(of.items) for dataset, of in texts.items()})


@dataclass
class _Texts:
    """The texts and units of a dataset that its models have scores of, numbered in the order in which they come."""

    items: dict[str, int] = field(default_factory=dict)
    units: dict[str, int] = field(default_factory=dict)

    def stored(self, path: Path, store: Store) -> dict:
        """The words of all texts, and where the second part of a text begins."""
        table = tables.read_arrow(path, ITEMS.only("item_id", "words", "part"))
        rows = pd.Index(table["item_id"].to_pandas()).get_indexer(list(self.items))
        words = table["words"].combine_chunks().take(pa.array(rows))
        numbers = words.flatten().dictionary_encode()
        parts = table["part"].combine_chunks().take(pa.array(rows))
        found = {
            "classes": tables.read_metadata(path, ITEMS).get("classes", []),
            "vocabulary": store.add(numbers.dictionary.to_pylist()),
            "words": store.add(numbers.indices.to_numpy().astype(np.uint32)),
            "lengths": store.add(pc.list_value_length(words).to_numpy().astype(np.uint32)),
        }
        if parts.null_count < len(parts):
            begins = [0 if part is None else part.count(0) for part in parts.to_pylist()]
            found["second"] = store.add(np.array(begins, np.uint32))
        return found


def _numbers(known: dict[str, int], names: Sequence[str]) -> np.ndarray:
    """The number of each name, the next free one where it is new."""
    return np.array([known.setdefault(name, len(known)) for name in names], np.uint32)


def _compared(levels: list[Level], comparisons: Mapping[str, list[list[str]]]) -> list[tuple]:
    """(factor, level, level) of what can be held side by side; the second level is None where there is none."""
    there = {(level.factor, level.name) for level in levels}
    sets = comparisons or {
        factor: [[level.name for level in levels if level.factor == factor]] for factor in {x.factor: 0 for x in levels}
    }
    pairs = [(factor, *pair) for factor, lists in sets.items() for names in lists for pair in combinations(names, 2)]
    pairs = [pair for pair in pairs if {(pair[0], pair[1]), (pair[0], pair[2])} <= there]
    return pairs or [(level.factor, level.name, None) for level in levels]


def _spoken(folders: Folders, modality: str) -> Folders:
    """The folders of a study whose explanations are of one modality alone."""
    others = {TOKENS: {"answers": None}, TEXT: {"attributions": None, "predictions": None}}
    return replace(folders, **others.get(modality, {}))


def _model(
    folders: Folders,
    model: ModelScores,
    levels: list[Level],
    texts: _Texts,
    store: Store,
    families: Mapping[str, str],
    room: int,
) -> dict:
    """What the tree has of a model on a dataset; each explainer's answers have ``room`` characters."""
    items = _numbers(texts.items, model.items["item_id"])
    found: dict = {"items": store.add(items), "levels": {}, "explainers": {}}
    start = 0
    for level in levels:
        first = np.full(len(level.units), -1)
        first[level.side.unit_index[::-1]] = level.side.columns[::-1]
        entry = {
            "start": start,
            "units": store.add(_numbers(texts.units, level.units)),
            "first": store.add(first.astype(np.uint32)),
        }
        counts = np.bincount(level.side.unit_index, minlength=len(level.units))
        if (counts > 1).any():
            entry["counts"] = store.add(counts.astype(np.uint32))
            entry["all"] = store.add(np.unique(level.side.columns).astype(np.uint32))
        found["levels"].setdefault(level.factor, {})[level.name] = entry
        start += len(level.units)
    spoken = (
        Explained(model, folders.attributions, folders.datasets, folders.predictions) if folders.attributions else None
    )
    if spoken:
        found["explained"] = store.add(spoken.classes)
    of_levels, metrics = {}, list(families)
    for scores in model.explainers:
        means = unit_means(scores, levels)
        codes, ranges = stepped(means)
        # Counts of words may differ a thousandfold, so that steps between the least and the largest are too wide.
        kept = codes if scores.draws is None else means.astype(np.float32)
        entry = {"ranges": dict(zip(metrics, ranges, strict=True)), "scores": store.add(kept)}
        of_levels[scores.explainer] = _level_means(means, levels, metrics)
        if spoken:
            entry["shares"] = store.add(_shares(spoken, scores.explainer))
            if together := spoken.pairs(scores.explainer, MOST_TOGETHER):
                of_texts = [[(one, other, round(share, 2)) for one, other, share in pairs] for pairs in together]
                entry["together"] = store.add(of_texts)
        if folders.answers:
            said = answers_of(folders.answers, folders.scores, model, scores.explainer, families)
            entry["answers"] = stored_answers(said, pd.Index(model.items["item_id"]), metrics, store, room)
        found["explainers"][scores.explainer] = entry
    found["means"] = store.add(of_levels)
    return found


def _shares(explained: Explained, explainer: str) -> np.ndarray:
    """Each word's score over the largest absolute one of its text, mean over the runs, int8 (words of all texts,).

    :data:`FULL` is 1.
    """
    of_runs = [relative(sums, explained.starts) for sums in explained.sums(explainer)]
    return np.round(FULL * np.nan_to_num(mean_of_known(np.array(of_runs), axis=0))).astype(np.int8)


def stepped(values: np.ndarray) -> tuple[np.ndarray, list[list[float]]]:
    """Values (rows, columns) as steps between the least and the largest of their row, uint16, and these two.

    >>> stepped(np.array([[0.5, np.nan, 1.5]]))
    (array([[    0, 65535, 65534]], dtype=uint16), [[0.5, 1.5]])
    """
    codes, ranges = np.full(values.shape, UNDEFINED, np.uint16), []
    for row, into in zip(values, codes, strict=True):
        known = ~np.isnan(row)
        low, high = (float(row[known].min()), float(row[known].max())) if known.any() else (0.0, 0.0)
        into[known] = np.round((row[known] - low) / ((high - low) or 1) * STEPS)
        ranges.append([low, high])
    return codes, ranges


def _level_means(means: np.ndarray, levels: list[Level], metrics: Sequence[str]) -> dict:
    """The mean score of each metric and level, by metric, factor and level."""
    ends = np.cumsum([len(level.units) for level in levels])[:-1]
    found: dict = {metric: {} for metric in metrics}
    for level, part in zip(levels, np.split(means, ends, axis=1), strict=True):
        for metric, mean in zip(metrics, mean_of_known(part, axis=1), strict=True):
            found[metric].setdefault(level.factor, {})[level.name] = json_number(mean)
    return found


def _effect_row(row, told: Mapping[str, Any]) -> dict:
    """What is shown of a comparison, of which this is ``told``."""
    sign, colour = sign_of(row.verdict, row.side, row.level_a, row.level_b)
    return (
        {name: getattr(row, name) for name in ("model", "explainer", "metric", "factor", "level_a", "level_b")}
        | {"p": json_number(row.p_adjusted), "benefit": json_number(row.net_benefit)}
        | {name: json_number(getattr(row, name)) for name in NUMBERS}
        | {
            "verdict": row.verdict,
            "side": int(row.side),
            "family": row.family,
            "sign": sign,
            "colour": colour,
        }
        | {name: told[name] for name in ("counts", "won", "mean", "units", "said")}
    )
