"""Do explainers say the same of a text? Agreement of every two of them, and whether it differs between groups.

Krishna et al. (2024), "The Disagreement Problem in Explainable Machine Learning", Section 3: feature agreement, sign
agreement and rank correlation. Scores are read from the attribution files, so that no model is asked.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import scipy

from evenlight.core import tables
from evenlight.core.contracts.explanations import AGREEMENT, EXPLAINED
from evenlight.core.contracts.results import AGREEMENT_SUMMARY
from evenlight.core.contracts.texts import ITEMS, UNITS
from evenlight.core.errors import InputError
from evenlight.core.kinds import TOKENS
from evenlight.core.tables import Contract
from evenlight.statistics.analyses.base import Computed, Inputs, OfRuns
from evenlight.statistics.analyses.summary import population_sd
from evenlight.statistics.arrays.effect_sizes import cohens_d, defined
from evenlight.statistics.arrays.rank_sum import mann_whitney
from evenlight.statistics.comparisons.cells import Design
from evenlight.statistics.comparisons.files import Run, items_path, run_path, units_path
from evenlight.statistics.comparisons.reading import designs_with_notes, read_values
from evenlight.texts.predictions import Sentence, explained_items, read_explained, sentences_of

RANK, TOP, SIGN = MEASURES = ("rank_correlation", "top_agreement", "sign_agreement")
# Between the names in a column: two explainers and a measure.
BETWEEN = "|"
# Texts that are read together.
ROWS = 2**12


def agreements(scores: np.ndarray, top: int) -> dict[str, np.ndarray]:
    """How explanations of one text agree with each other, (explainers, explainers) for each of :data:`MEASURES`.

    ``rank_correlation`` is Spearman's, of the signed scores. Of the ``top`` features with the highest absolute scores
    (of equal ones the later; those with a score of 0 are not named), ``top_agreement`` is the share that two
    explanations have in common, and ``sign_agreement`` the share that they have in common with the same sign; where one
    names fewer, of as many as the other names. NaN where an explanation has no order, or scores every token 0.

    Two random explanations agree in ``top`` / tokens of the features: short texts have more in common by chance.

    Args:
        scores: (explainers, tokens).
        top: how many features are compared.

    >>> found = agreements(np.array([[3.0, -2, 1, 0], [3.0, 2, 0, 1]]), top=2)
    >>> [float(found[measure][0, 1].round(3)) for measure in MEASURES]
    [0.2, 1.0, 0.5]
    """
    tokens = scores.shape[1]
    ranks = scipy.stats.rankdata(scores, axis=1) - (tokens + 1) / 2
    spread = np.sqrt((ranks**2).sum(axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = ranks @ ranks.T / np.outer(spread, spread)
    is_top = np.zeros(scores.shape, dtype=bool)
    order = np.argsort(np.abs(scores), axis=1, kind="stable")[:, ::-1][:, :top]
    np.put_along_axis(is_top, order, True, axis=1)
    is_top &= scores != 0
    named = is_top.sum(axis=1)
    signs = np.sign(scores)
    common = is_top[:, None] & is_top[None]
    says_nothing = ~np.any(scores, axis=1)
    undefined = says_nothing[:, None] | says_nothing[None]
    with np.errstate(invalid="ignore"):
        shares = {
            TOP: common.sum(axis=2) / np.maximum.outer(named, named),
            SIGN: (common & (signs[:, None] == signs[None])).sum(axis=2) / np.maximum.outer(named, named),
        }
    return {RANK: correlation, **{name: np.where(undefined, np.nan, share) for name, share in shares.items()}}


def agreement_by_text(predictions: Path, items: Path, attribution_files: Mapping[str, Path], top: int) -> pa.Table:
    """The agreement of every two explainers on every explained text of a run, in the contract ``agreement``.

    Args:
        predictions: table of the contract ``predictions``.
        items: table of the contract ``items``.
        attribution_files: an explainer's name to its attribution file.
        top: see :func:`agreements`.

    Raises:
        InputError: an attribution file has other texts, or another number of scores, than the predictions. It may have
            some of them only, where a look has closed its explainer; of the others no agreement is defined.
    """
    pairs = list(combinations(range(len(attribution_files)), 2))
    item_ids: list[str] = []
    rows: list[np.ndarray] = []
    explained = explained_items(predictions)
    there = [_those_there(path, explained) for path in attribution_files.values()]
    rows_of = [_token_scores(path) for path in attribution_files.values()]
    for texts in read_explained(predictions, items, ROWS):
        for sentence in sentences_of(texts):
            number = len(item_ids)
            # Scores of 0 say nothing, and agree with none.
            token_scores = [
                next(scores) if known[number] else [0.0] * len(sentence.token_id)
                for scores, known in zip(rows_of, there, strict=True)
            ]
            found = agreements(_of_words(sentence, token_scores, attribution_files), top)
            item_ids.append(sentence.item_id)
            rows.append(np.array([found[measure][pair] for pair in pairs for measure in MEASURES]))
    names = list(attribution_files)
    columns = [BETWEEN.join((names[a], names[b], measure)) for a, b in pairs for measure in MEASURES]
    values = np.array(rows).reshape(len(rows), len(columns))
    return pa.table({"item_id": pa.array(item_ids, pa.string())} | dict(zip(columns, values.T, strict=True)))


def _those_there(path: Path, explained: pa.ChunkedArray) -> np.ndarray:
    """Which of the explained texts have explanations in a file, bool (texts,)."""
    names = tables.read_arrow(path, EXPLAINED.only("item_id"))["item_id"]
    there = pc.is_in(explained, value_set=names)
    if not explained.filter(there).equals(names):
        raise InputError(
            f"{path}: column 'item_id' has other texts than the predictions; delete the file and run the workflow again"
        )
    return np.asarray(there)


def _token_scores(path: Path) -> Iterator[list[float]]:
    """The scores of each text of a file, in its order."""
    for table in tables.read_groups(path, EXPLAINED, ROWS):
        yield from table["token_score"].to_pylist()


def _of_words(
    sentence: Sentence, token_scores: Sequence[Sequence[float]], attribution_files: Mapping[str, Path]
) -> np.ndarray:
    """The scores of the tokens of words, (explainers, tokens)."""
    for path, scores in zip(attribution_files.values(), token_scores, strict=True):
        if len(scores) != len(sentence.token_id):
            raise InputError(
                f"{path}: column 'token_score' has {len(scores)} scores for item {sentence.item_id}, which the model "
                f"reads as {len(sentence.token_id)} tokens; delete the file and run the workflow again"
            )
    return np.array(token_scores, dtype=float)[:, ~sentence.is_special]


# Over all runs ------------------------------------------------------------------------------------------------------


def _means(values: np.ndarray) -> pd.Series:
    """The means of what is defined, over the last axis of (seeds, items); without seeds that have nothing defined."""
    return pd.DataFrame(values).mean(axis=1).dropna()


def _over_seeds(values: np.ndarray) -> dict:
    """Of all texts, (seeds, items)."""
    means = _means(values)
    return {"seeds": len(values), "mean": means.mean(), "sd": population_sd(means)}


def _compared(names: Sequence[dict], values: np.ndarray, design: Design, alpha: float) -> Iterator[dict]:
    """Of two levels, (columns, seeds, items)."""
    sides = [side.scores(values) for side in (design.a, design.b)]
    for cell, a, b in zip(names, *sides, strict=True):
        known = [(defined(first), defined(second)) for first, second in zip(a, b, strict=True)]
        effects = pd.Series([cohens_d(*both) for both in known if min(map(len, both)) > 1], dtype=float)
        yield cell | {
            **design.comparison._asdict(),
            "seeds": len(a),
            "mean_a": _means(a).mean(),
            "mean_b": _means(b).mean(),
            "mean_d": effects.mean(),
            "sd_d": population_sd(effects),
            "significant_seeds": int((mann_whitney(a, b).p[0] <= alpha).sum()),
        }


class SummariseAgreement(OfRuns):
    """Sum up how far the explainers agree, over texts and seeds and between groups.

    Of all texts, ``factor`` is missing, and ``mean`` and ``sd`` are over the seeds' means. Of two levels, ``mean_a``
    and ``mean_b`` are means over seeds, ``mean_d`` and ``sd_d`` are Cohen's d over the seeds that have one, and
    ``significant_seeds`` counts Mann–Whitney's p ≤ ``alpha``, as in the tables of disparities.
    """

    tables: ClassVar[Mapping[str, Contract]] = {"agreement": AGREEMENT_SUMMARY}
    modality: ClassVar[str] = TOKENS
    folders: ClassVar[Sequence[str]] = ("agreement", "datasets")
    minutes: ClassVar[int] = 60
    alone: ClassVar[bool] = True

    result: Literal["summarise_agreement"]
    comparisons: dict[str, list[list[str]]]
    alpha: float
    smallest_group: int | None = None

    @classmethod
    def is_made(cls, study) -> bool:
        """Where a study asks for agreement, and a dataset has several explainers."""
        return bool(super().is_made(study) and study.config["agreement"] and study.datasets_of_several_explainers())

    def compute(self, inputs: Inputs) -> Computed:
        """The summary."""
        agreement, datasets = (inputs.folders[name] for name in self.folders)
        rows: list[dict] = []
        notes: list[str] = []
        for dataset in self.runs.datasets:
            units = tables.read_table(units_path(datasets, dataset), UNITS)
            clusters = tables.read_table(items_path(datasets, dataset), ITEMS.only("item_id", "cluster"))
            for model, seeds in self.runs.models_of(dataset).items():
                paths = [run_path(agreement, Run(dataset, model, seed)) for seed in seeds]
                items, columns, values = read_values(paths, AGREEMENT, clusters)
                names = [
                    {"dataset": dataset, "model": model}
                    | dict(zip(("explainer_a", "explainer_b", "measure"), column.split(BETWEEN), strict=True))
                    for column in columns
                ]
                rows += [cell | _over_seeds(of_cell) for cell, of_cell in zip(names, values, strict=True)]
                about = dataset, self.comparisons, units, items, self.smallest_group
                designs, left_out = designs_with_notes(*about)
                notes += left_out
                for design in designs:
                    rows += _compared(names, values, design, self.alpha)
        table = pd.DataFrame(rows, columns=AGREEMENT_SUMMARY.schema.names).replace({np.nan: None})
        return Computed([table], list(dict.fromkeys(notes)))
