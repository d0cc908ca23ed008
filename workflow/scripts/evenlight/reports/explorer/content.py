"""What the explorer holds of a study: scores, explanations and texts as small arrays, and a tree that names them.

The page keeps each array once, compressed, and unpacks what a view needs.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from evenlight.core import tables
from evenlight.core.contracts.results import EFFECTS
from evenlight.core.contracts.texts import ITEMS
from evenlight.core.kinds import SCORES, TEXT, TOKENS
from evenlight.reports.explorer import overview
from evenlight.reports.explorer.answers import MOST_CHARACTERS, answers_of, stored_answers
from evenlight.reports.explorer.store import Store
from evenlight.reports.verdict_words import (
    EXPLAINED,
    HIGHER,
    LOWER,
    SCORED,
    Words,
    numbers_of,
    sentences,
    sign_of,
    won_of_hundred,
)
from evenlight.statistics.cells import ModelScores, read_models
from evenlight.statistics.explained_words import Explained, Level, known_mean, relative, shown_levels, unit_means
from evenlight.statistics.files import items_path, notes_of_datasets
from evenlight.statistics.score_files import score_notes
from evenlight.statistics.study import StudyScores, comparisons_in

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


# Gives the scores of a study, and what is to be said of them.
Read = Callable[[StudyScores], tuple[Iterable[ModelScores], Sequence[str]]]


def _read(study: StudyScores) -> tuple[Iterable[ModelScores], Sequence[str]]:
    return read_models(study), score_notes(study)


def study_content(
    folders: Folders,
    effects: pd.DataFrame | None,
    effect_counts: pd.DataFrame | None,
    store: Store,
    *,
    study: str,
    datasets: Mapping[str, str],
    models: Mapping[str, str],
    explainers: Mapping[str, str],
    metrics: Mapping[str, Mapping[str, str]],
    seeds: Mapping[str, Sequence[int]],
    families: Mapping[str, str],
    modalities: Mapping[str, Mapping[str, Sequence[str]]],
    comparisons: Mapping[str, list[list[str]]],
    target: str,
    formats: Sequence[str],
    as_often_bound: float,
    alpha: float,
    only: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
    warnings: Sequence[str] = (),
    read: Read = _read,
) -> dict:
    """The tree of a study's explorer (JSON values); numbers of arrays are those in ``store``, which is filled.

    Args:
        folders: of the study's files.
        effects, effect_counts: of the contracts of these names; None where the study tells no verdicts.
        store: receives the arrays.
        study: its name.
        datasets, models, explainers: names to labels, in the order in which they are offered.
        metrics: names to ``label`` and ``better``, ``higher`` or ``lower``.
        seeds: of each model.
        families: of the metrics.
        modalities: what the explanations are, of the same units, with the ``explainers`` and ``metrics`` of each.
        comparisons: factors to pairs of levels; where there are none, all levels of every factor stand side by side.
        target: ``label`` or ``prediction``, the class that is explained.
        formats: of the study's figures.
        as_often_bound, alpha: of the verdicts.
        only: what of the models and explainers is for some datasets, see :class:`Runs`.
        warnings: what must be read before these.
        read: gives the scores of each model, and what is to be said of them.
    """
    named = {
        "datasets": list(datasets),
        "models": dict(seeds),
        "explainers": list(explainers),
        "metrics": dict(families),
    }
    texts = {dataset: _Texts() for dataset in datasets}
    of_answers = modalities[TEXT]["explainers"] if TEXT in modalities else ()
    higher = {name: entry["better"] == "higher" for name, entry in metrics.items()}

    def words_of(row) -> Words:
        """How a group wins; of answers, which have a style, by the direction of the metric."""
        if SCORES in modalities:
            return SCORED
        return EXPLAINED if row.explainer not in of_answers else HIGHER if higher[row.metric] else LOWER

    content = {name: {"label": label, "comparisons": [], "models": {}} for name, label in datasets.items()}
    labels = {"dataset": datasets, "model": models, "explainer": explainers}
    labels["metric"] = {name: entry["label"] for name, entry in metrics.items()}
    whole = EFFECTS.schema.empty_table().to_pandas() if effects is None else effects
    sizes = whole["family"].value_counts()
    effects = overview.of_the_page(whole, named)
    offered: dict[str, dict[tuple, None]] = {dataset: {} for dataset in datasets}
    room = MOST_CHARACTERS // max(1, len(datasets) * len(models) * len(of_answers))
    notes: dict[str, None] = {}
    for modality, names in modalities.items():
        metrics_of = {name: families[name] for name in names["metrics"]}
        of_modality = named | {"explainers": list(names["explainers"]), "metrics": metrics_of, "only": only or {}}
        scored = StudyScores(scores=folders.scores, units=folders.datasets, comparisons=comparisons, **of_modality)
        scores_of_models, said = read(scored)
        notes |= dict.fromkeys(said)
        for model in scores_of_models:
            levels = shown_levels(model, comparisons)
            offered[model.dataset] |= dict.fromkeys(_compared(levels, comparisons))
            content[model.dataset]["models"].setdefault(model.model, {})[modality] = _model(
                _spoken(folders, modality), model, levels, texts[model.dataset], store, metrics_of, room
            )
    for dataset, of_dataset in content.items():
        # Those of which there is a verdict first.
        told = effects[effects["dataset"] == dataset]
        pairs = [tuple(pair) for pair in comparisons_in(told) if tuple(pair) in offered[dataset]]
        pairs = list(dict.fromkeys(pairs) | offered[dataset])
        of_dataset["comparisons"] = [list(pair) for pair in pairs]
        of_dataset["effects"] = store.add(
            [_effect_row(row, sizes[row.family], words_of(row)) for row in told.itertuples(index=False)]
        )
        of_dataset["units"] = store.add(texts[dataset].units)
        if folders.with_texts:
            of_dataset |= texts[dataset].stored(items_path(folders.datasets, dataset), store)
    return {
        "study": study,
        "first": _first(overview.clearest(overview.asked_first(effects))),
        "opening": overview.opening(effects, effect_counts, modalities, labels, words_of),
        "details": overview.details(effects, whole, alpha),
        "legend": overview.legend(effects, as_often_bound, modalities),
        "families": overview.KINDS,
        "models": dict(models),
        "explainers": dict(explainers),
        "metrics": {name: dict(entry) for name, entry in metrics.items()},
        "runs": {name: len(of_model) for name, of_model in seeds.items()},
        "content": content,
        "texts": folders.with_texts,
        "modalities": {
            name: {"label": overview.MODALITIES[name], **{key: list(entry) for key, entry in names.items()}}
            for name, names in modalities.items()
        },
        "target": target,
        "formats": list(formats),
        "warnings": list(warnings),
        "notes": [*notes, *notes_of_datasets(only or {})],
    }


def _first(row: pd.Series | None) -> dict:
    """What the page shows where nobody has chosen: the clearest comparison, or what comes first."""
    if row is None:
        return {}
    names = {name: row[name] for name in ("dataset", "model", "explainer", "metric")}
    return names | {"groups": " / ".join(row[["factor", "level_a", "level_b"]])}


class _Texts:
    """The texts and units of a dataset that its models have scores of, numbered in the order in which they come."""

    def __init__(self) -> None:
        self._items: dict[str, int] = {}
        self._units: dict[str, int] = {}

    def items_of(self, names: pd.Series) -> np.ndarray:
        return _numbers(self._items, names)

    def units_of(self, names: pd.Index) -> np.ndarray:
        return _numbers(self._units, names)

    @property
    def units(self) -> list[str]:
        return list(self._units)

    def stored(self, path: Path, store: Store) -> dict:
        """The words of all texts, and where the second part of a text begins."""
        table = tables.read_arrow(path, ITEMS.only("item_id", "words", "part"))
        rows = pd.Index(table["item_id"].to_pandas()).get_indexer(list(self._items))
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
    items = texts.items_of(model.items["item_id"])
    found: dict = {"items": store.add(items), "levels": {}, "explainers": {}}
    start = 0
    for level in levels:
        first = np.full(len(level.units), -1)
        first[level.side.unit_index[::-1]] = level.side.columns[::-1]
        entry = {
            "start": start,
            "units": store.add(texts.units_of(level.units)),
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
    return np.round(FULL * np.nan_to_num(known_mean(np.array(of_runs), axis=0))).astype(np.int8)


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
        for metric, mean in zip(metrics, known_mean(part, axis=1), strict=True):
            found[metric].setdefault(level.factor, {})[level.name] = _number(mean)
    return found


def _effect_row(row, size: int, words: Words) -> dict:
    """What is shown of a comparison of ``size``, in these words."""
    sign, colour = sign_of(row.verdict, row.side, row.level_a, row.level_b)
    return (
        {name: getattr(row, name) for name in ("model", "explainer", "metric", "factor", "level_a", "level_b")}
        | {"p": _number(row.p_adjusted), "benefit": _number(row.net_benefit)}
        | {name: _number(getattr(row, name)) for name in NUMBERS}
        | {
            "verdict": row.verdict,
            "side": int(row.side),
            "family": row.family,
            "mark": f"{sign} {numbers_of(row.wins, row.losses, row.ties, row.share)}",
            "colour": colour,
            "won": won_of_hundred(row.share, row.family_low, row.family_high),
            "said": sentences(row, size, words),
        }
    )


def _number(value: float) -> float | None:
    """A number that JSON has, rounded to what can be drawn."""
    return round(float(value), 5) if np.isfinite(value) else None
