"""The scores of a study's models, read from its files: items, units, strata, and the scores of each explainer."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from evenlight.core import tables
from evenlight.core.contracts.texts import ITEMS, PREDICTIONS, UNITS
from evenlight.core.errors import InputError
from evenlight.statistics.comparisons.cells import Design, ExplainerScores, ModelScores, designs_of
from evenlight.statistics.comparisons.files import Run, items_path, predictions_path, units_path
from evenlight.statistics.comparisons.score_files import is_of_answers, read_draws, read_scores, with_most_texts
from evenlight.statistics.comparisons.study import DRAWS, TRAININGS, StudyScores
from evenlight.texts.items import check_compared, check_strata, forms_of, sampled_units
from evenlight.texts.predictions import explained_items


def read_models(study: StudyScores) -> Iterator[ModelScores]:
    """The scores of every model on every dataset, in configured order: of all texts first, then of all changes.

    The items are those that the explainer with most scores has under any seed; another explainer with another item is
    refused.
    """
    for of_modality in study.sources().values():
        yield from _read_source(of_modality)


def _read_source(study: StudyScores) -> Iterator[ModelScores]:
    """The same of units of one modality."""
    for dataset in study.datasets:
        units = tables.read_table(units_path(study.folders["units"], dataset), UNITS)
        path = items_path(study.folders["units"], dataset)
        texts = tables.read_table(path, ITEMS.only("item_id", "cluster", "label", "split"))
        # Units are drawn one after the other, so that fewer of them are the first of more.
        test = texts[texts["split"] == "test"]
        drawn = sampled_units(test, units, study.first, study.drawn_by.get(dataset))["item_id"]
        texts = texts.set_index("item_id")
        compared = study.comparisons
        if study.of_several:
            compared = {factor: sets for factor, sets in compared.items() if _can_compare(units, factor, sets)}
        explainers = study.explaining(dataset)
        for model, seeds in study.models_of(dataset).items() if explainers else ():
            runs = [Run(dataset, model, seed) for seed in seeds]
            fullest, asked = explainers[0], explainers[:1]
            if "scores" in study.folders:
                fullest = with_most_texts(study.folders["scores"], runs[0], explainers, study.metrics)
                # A question may have an answer of one explainer and none of another.
                of_answers = is_of_answers(study.folders["scores"], runs[0], fullest, study.metrics)
                asked = explainers if of_answers else [fullest]
            scored = pd.concat([_scored_items(study, run, name) for run in runs for name in asked]).drop_duplicates()
            items = pd.DataFrame({"item_id": scored}).join(texts["cluster"], on="item_id")
            if items["cluster"].isna().any():
                unknown = items.loc[items["cluster"].isna(), "item_id"].iloc[0]
                raise InputError(
                    f"{path}: column 'item_id' has no '{unknown}', which has scores; delete the scores and run the "
                    "workflow again"
                )
            every = items
            if study.first is not None:
                items = items[items["item_id"].isin(drawn)].reset_index(drop=True)
            codes = None
            if dataset in study.strata:
                codes = _strata(study.strata[dataset], items["item_id"], texts["label"], study.folders, runs)
            if study.strata.get(dataset) == "label":
                check_strata(dataset, units, texts["label"].loc[items["item_id"]], compared)
            designs = designs_of(compared, units, items, study.smallest_group, codes)
            yield ModelScores(
                dataset,
                model,
                list(seeds),
                items,
                units,
                designs,
                _explainers(study, runs, fullest, items, set(every["item_id"]).difference(items["item_id"])),
                codes,
                study.smallest_group or 1,
                compared,
            )


def read_values(
    paths: Sequence[Path], contract: tables.Contract, clusters: pd.DataFrame
) -> tuple[pd.DataFrame, list[str], np.ndarray]:
    """What tables with a row for each text say, one table for each seed of a model.

    Args:
        paths: of the tables.
        contract: theirs; the columns beside ``item_id`` are numbers.
        clusters: ``item_id`` and ``cluster`` of the dataset's texts.

    Returns:
        ``item_id`` and ``cluster`` of the texts of any table; the columns; and their values, float (columns, seeds,
        items), NaN where a table does not have the text.
    """
    of_seeds = [tables.read_table(path, contract).set_index("item_id") for path in paths]
    there = pd.concat([table.index.to_frame(index=False) for table in of_seeds]).drop_duplicates()
    items = there.merge(clusters, on="item_id", how="left")
    columns = list(of_seeds[0])
    values = [table.reindex(items["item_id"])[columns].to_numpy(float).T for table in of_seeds]
    return items, columns, np.stack(values, axis=1)


def designs_with_notes(
    dataset: str,
    comparisons: Mapping[str, list[list[str]]],
    units: pd.DataFrame,
    items: pd.DataFrame,
    smallest_group: int | None,
) -> tuple[list[Design], list[str]]:
    """The designs of a dataset (:func:`designs_of`), and what is not compared where there is a smallest group."""
    designs = designs_of(comparisons, units, items, smallest_group)
    if smallest_group is None:
        return designs, []
    return designs, check_compared(dataset, units, items["item_id"], comparisons, smallest_group)


def _scored_items(study: StudyScores, run: Run, explainer: str) -> pd.Series:
    """``item_id`` of what an explainer's scores of a run are of, or, in a study without scores, of what will be."""
    if "scores" not in study.folders:
        return explained_items(predictions_path(study.folders["predictions"], run)).to_pandas()
    return read_scores(study.folders["scores"], run, explainer, study.metrics, only_items=True)["item_id"]


def _can_compare(units: pd.DataFrame, factor: str, sets: list[list[str]]) -> bool:
    """Whether a dataset has both levels of a pair, or three of a larger set."""
    there = set(forms_of(units, factor)["level"])
    return any(len(there.intersection(levels)) >= min(3, len(levels)) for levels in sets)


def _strata(
    kind: str, items: pd.Series, labels: pd.Series, folders: Mapping[str, Path], runs: Sequence[Run]
) -> np.ndarray:
    """The stratum of each item under each run, int (runs, items); -1 where it is not known."""
    rows = []
    for run in runs:
        if kind == "label":
            values = labels
        elif "predictions" not in folders:
            raise InputError(
                f"statistics.strata.{run.dataset}: found {kind}, which the predictions have; name their folder"
            )
        else:
            contract = PREDICTIONS.only("item_id", "predicted")
            values = (
                tables.read_table(predictions_path(folders["predictions"], run), contract)
                .set_index("item_id")["predicted"]
                .dropna()
            )
            if kind == "correct":
                values = values == labels.reindex(values.index)
        rows.append(values.reindex(items).astype(float).fillna(-1).to_numpy(int))
    return np.array(rows)


def _explainers(
    study: StudyScores, runs: Sequence[Run], fullest: str, items: pd.DataFrame, later: Collection[str]
) -> Iterator[ExplainerScores]:
    """The scores of ``items``, which ``fullest`` has; those of ``later`` ones do not count yet."""
    index = pd.Index(items["item_id"])
    for explainer in study.explaining(runs[0].dataset):
        drawn = [read_draws(study.folders["scores"], run, explainer, study.metrics) for run in runs]
        values = np.full((len(study.metrics), len(runs), len(items)), np.nan)
        present = np.zeros((len(runs), len(items)), dtype=bool)
        for row, run in enumerate(runs):
            table = read_scores(study.folders["scores"], run, explainer, study.metrics)
            table = table[~table["item_id"].isin(later)] if later else table
            columns = index.get_indexer(table["item_id"])
            if (columns < 0).any():
                unknown = table["item_id"].to_numpy()[columns < 0][0]
                raise InputError(
                    f"{run}: explainer '{explainer}' has scores of item '{unknown}', explainer "
                    f"'{fullest}' under no seed; delete the scores of both and run the workflow again"
                )
            values[:, row, columns] = table[list(study.metrics)].to_numpy(float).T
            present[row, columns] = True
        first, seeds = runs[0], [run.seed for run in runs]
        scores = ExplainerScores(first.dataset, first.model, explainer, seeds, list(study.metrics), values, present)
        yield scores if drawn[0] is None else _with_draws(scores, drawn, index)


def _with_draws(scores: ExplainerScores, drawn: Sequence[pd.DataFrame], items: pd.Index) -> ExplainerScores:
    """The same with the scores of each answer, from a table of :func:`read_draws` for each seed.

    One training has its draws for repetitions; of several, draws are part of what trainings vary by.
    """
    numbers = pd.Index(np.unique(np.concatenate([table["draw"] for table in drawn])))
    draws = np.full((*scores.values.shape[:2], len(numbers), len(items)), np.nan)
    for seed, table in enumerate(drawn):
        table = table[table["item_id"].isin(items)]
        place = numbers.get_indexer(table["draw"]), items.get_indexer(table["item_id"])
        draws[:, seed, *place] = table[list(scores.metrics)].to_numpy(float).T
    return replace(scores, draws=draws, repeated=DRAWS if len(drawn) == 1 else TRAININGS)
