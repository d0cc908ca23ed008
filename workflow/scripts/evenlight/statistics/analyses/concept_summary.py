"""Tables of concept effects and of the errors of their estimates, over the seeds of each model."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from evenlight.concepts.counterfactual import forgetting_note
from evenlight.concepts.effects import (
    average_effects,
    label_effects,
    order_faithfulness,
    over_seeds,
)
from evenlight.concepts.files import changes_of, peoples_levels, represented_texts
from evenlight.concepts.question import Changes, ReadTexts, true_effects
from evenlight.core import kinds
from evenlight.core.contracts.explanations import (
    CHANGE_EFFECTS,
    CHANGES,
    CONCEPT_LABELS,
    COUNTERFACTUALS,
    REPRESENTATIONS,
    SCORES,
)
from evenlight.core.contracts.results import CONCEPT_EFFECTS, CONCEPT_ERRORS
from evenlight.core.contracts.texts import ITEMS
from evenlight.core.seeds import generator_for
from evenlight.core.tables import Contract, read_metadata, read_table
from evenlight.datasets import change_name
from evenlight.statistics.analyses.base import Computed, Inputs, OfRuns
from evenlight.statistics.arrays.mean import limits_over_texts
from evenlight.statistics.comparisons.files import (
    Run,
    Runs,
    explainer_path,
    items_path,
    run_path,
    score_path,
)
from evenlight.statistics.comparisons.study import ALL

# Not an error, and of texts, not of changes: more is better.
ORDER = "order_faithfulness"


def notes_of_explainers(folders: Mapping[str, Path], runs: Runs, explainers: Sequence[str]) -> list[str]:
    """What readers must know of the estimates of a study."""
    notes: dict[tuple[str, str, str], None] = {}
    for dataset in runs.datasets:
        for explainer, run in product(runs.explainers_of(dataset, explainers), runs.of(dataset)):
            path = explainer_path(folders["concept_effects"], run, explainer)
            for note in read_metadata(path, CHANGE_EFFECTS)["notes"]:
                notes.setdefault((dataset, explainer, note), None)
    return [f"dataset '{dataset}', explainer '{explainer}': {note}" for dataset, explainer, note in notes]


def forgetting_notes(
    folders: Mapping[str, Path],
    runs: Runs,
    concepts: Mapping[str, Mapping[str, Sequence[str]]],
    explainers: Sequence[str],
) -> list[str]:
    """What the networks of ``explainers`` have forgotten of each concept."""
    notes = []
    for dataset, levels in concepts.items():
        forgetting = runs.explainers_of(dataset, explainers)
        for explainer, (model, seeds) in product(forgetting, runs.models_of(dataset).items()):
            found = {}
            for concept in levels:
                of_model = [f"seed{seed}/{explainer}/{concept}.parquet" for seed in seeds]
                paths = [folders["counterfactuals"] / dataset / model / run for run in of_model]
                found[concept] = [read_metadata(path, COUNTERFACTUALS)["forgotten"] for path in paths]
            notes.append(f"explainer '{explainer}', dataset '{dataset}', model '{model}': {forgetting_note(found)}")
    return notes


def error_rows(
    values: Mapping[str, np.ndarray], changes: pd.DataFrame, cluster: np.ndarray, confidence: float, draws: int
) -> Iterator[dict]:
    """A row for each metric and part of the changes, from scores (seeds, changes) by metric.

    ``changes`` has the columns of ``CHANGES``; ``cluster`` is the original of each.
    """
    kind = pd.Series(map(change_name, changes["before"], changes["after"]), index=changes.index)
    for concept in (ALL, *changes["concept"].unique()):
        for change in (ALL, *sorted(kind.unique())):
            chosen = ((changes["concept"] == concept) | (concept == ALL)) & ((kind == change) | (change == ALL))
            chosen = np.flatnonzero(chosen.to_numpy())
            for metric, of_metric in values.items() if len(chosen) else ():
                part = of_metric[:, chosen]
                mean, sd = over_seeds(part.mean(axis=1))
                generator = generator_for("concepts", metric, concept, change)
                low, high = mean_interval(part.mean(axis=0), cluster[chosen], confidence, draws, generator)
                names = {"metric": metric, "concept": concept, "change": change}
                counts = {"changes": len(chosen), "seeds": len(part)}
                yield names | counts | {"mean": mean, "sd": sd, "low": low, "high": high}


def _order_row(order: Sequence[np.ndarray]) -> dict:
    means = np.array([of_seed.mean() for of_seed in order if len(of_seed)])
    mean, sd = over_seeds(means) if len(means) else (np.nan, np.nan)
    names = {"metric": ORDER, "concept": ALL, "change": ALL}
    return names | {"changes": max(map(len, order)), "seeds": len(means), "mean": mean, "sd": sd}


def effect_rows(
    texts: Sequence[ReadTexts], changes: Changes, label: pd.Series, concepts: Mapping[str, Sequence[str]]
) -> Iterator[dict]:
    """A row for each direction, from the texts as each seed's model reads them (CEBaB, Tables 3d and 4).

    ``label`` is the class of each text by ``item_id``. ``label_effect`` is the ATE and ``predicted_effect`` the effect
    on the predicted class, both in steps from class to class; ``effect`` is CaCE, and ``moved`` the share of the
    probability that changes its class, whatever the direction.
    """
    own = label.loc[list(texts[0].name)].to_numpy()
    of_labels = average_effects(label_effects(own, changes)[:, None], changes)
    effects = [true_effects(of_seed, changes) for of_seed in texts]
    of_seeds = [average_effects(of_seed, changes) for of_seed in effects]
    # Effects of opposite sign do not cancel here.
    moved = [average_effects(np.abs(of_seed), changes) for of_seed in effects]
    predicted = [
        average_effects(label_effects(of_seed.probability.argmax(axis=1), changes)[:, None], changes)
        for of_seed in texts
    ]
    names = list(concepts)
    for direction, of_label in of_labels.items():
        concept, before, after = direction
        name = names[concept]
        mean, sd = over_seeds(np.array([of_seed[direction][0] for of_seed in predicted]))
        count = (changes.concept == concept) & (changes.before == before) & (changes.after == after)
        yield {
            "concept": name,
            "before": concepts[name][before],
            "after": concepts[name][after],
            "changes": int(count.sum()),
            "seeds": len(texts),
            "label_effect": of_label[0],
            "predicted_effect": mean,
            "predicted_effect_sd": sd,
            "moved": float(np.mean([of_seed[direction].sum() / 2 for of_seed in moved])),
            "effect": np.mean([of_seed[direction] for of_seed in of_seeds], axis=0),
        }


def mean_interval(
    values: np.ndarray, cluster: np.ndarray, confidence: float, draws: int, generator: np.random.Generator
) -> tuple[float, float]:
    """The interval of the mean of ``values`` (changes,), of :func:`evenlight.statistics.arrays.mean.limits_over_texts`.

    ``cluster`` names what each change belongs to, (changes,): its original review. All changes of one original share
    its texts. NaN where too few originals vary.
    """
    codes = np.unique(cluster, return_inverse=True)[1]
    low, high = limits_over_texts(values[None], codes, confidence, draws, generator)
    return float(low), float(high)


class SummariseConcepts(OfRuns):
    """Sum up what concepts do to every model, and how far every explainer's estimates of it are off.

    Errors have a row for all changes, for those of each concept, of each kind, and of each kind of each concept; order
    faithfulness (:func:`evenlight.concepts.effects.order_faithfulness`) one for all. Means are over changes and then
    over seeds, sd is that of seeds with divisor n, as CEBaB prints it. Intervals are those of the mean over these
    trained models, for further originals.

    Attributes:
        concepts: of each dataset, with their levels.
        forgetting: the explainers that train networks of their own.
    """

    version: ClassVar[int] = 2
    tables: ClassVar[Mapping[str, Contract]] = {"concept_errors": CONCEPT_ERRORS, "concept_effects": CONCEPT_EFFECTS}
    modality: ClassVar[str] = kinds.EFFECTS
    minutes: ClassVar[int] = 60

    result: Literal["summarise_concepts"]
    concepts: dict[str, dict[str, list[str]]]
    explainers: list[str]
    metrics: list[str]
    forgetting: list[str]
    confidence: float
    bootstrap_draws: int

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """The runs, and what of them is about changes of concepts."""
        concepts = {dataset: study.concepts_of(dataset) for dataset in study.config["datasets"]}
        about = {"concepts": concepts, "forgetting": study.forgetting}
        return super().asked(study) | study.modalities[cls.modality] | about

    @classmethod
    def files_of_runs(cls, study) -> dict[str, list[str]]:
        """The estimates, their scores and what they are about."""
        estimated = ("concept_effects", "representations", "datasets")
        return study.files_of_runs(*estimated, of=cls.modality) | study.files_of_changes()

    def compute(self, inputs: Inputs) -> Computed:
        """Errors and effects; how good the predicted levels are, and what networks have forgotten, is written beside
        them.
        """
        folders = inputs.folders
        errors, effects = [], []
        for dataset, levels in self.concepts.items():
            items = read_table(items_path(folders["datasets"], dataset), ITEMS)
            listed = read_table(folders["changes"] / dataset / "changes.parquet", CHANGES)
            listed = listed[listed["split"] == "test"].reset_index(drop=True)
            label, people = items.set_index("item_id")["label"], peoples_levels(items, levels)
            for model, seeds in self.runs.models_of(dataset).items():
                names, of_model = {"dataset": dataset, "model": model}, [Run(dataset, model, seed) for seed in seeds]
                read = [read_table(run_path(folders["representations"], run), REPRESENTATIONS) for run in of_model]
                texts = [represented_texts(table[table["split"] == "test"], people, levels) for table in read]
                changes = changes_of(listed, texts[0], levels)
                effects += [names | row for row in effect_rows(texts, changes, label, levels)]
                true = [true_effects(of_seed, changes) for of_seed in texts]
                for explainer in self.runs.explainers_of(dataset, self.explainers):
                    rows = self._errors(folders, of_model, explainer, items, listed, changes, true)
                    errors += [names | {"explainer": explainer} | row for row in rows]
        notes = [
            f"dataset '{dataset}': {note}"
            for dataset in self.runs.datasets
            for note in read_metadata(folders["changes"] / dataset / "labels.parquet", CONCEPT_LABELS)["notes"]
        ]
        notes += notes_of_explainers(folders, self.runs, self.explainers)
        notes += forgetting_notes(folders, self.runs, self.concepts, self.forgetting)
        tables_of = [
            pd.DataFrame(errors, columns=CONCEPT_ERRORS.schema.names),
            pd.DataFrame(effects, columns=CONCEPT_EFFECTS.schema.names),
        ]
        return Computed(tables_of, notes)

    def _errors(
        self,
        folders: Mapping[str, Path],
        runs: Sequence[Run],
        explainer: str,
        items: pd.DataFrame,
        listed: pd.DataFrame,
        changes: Changes,
        true: Sequence[np.ndarray],
    ) -> Iterator[dict]:
        """The rows of an explainer of a model: ``listed`` changes, and their ``true`` effects in each of the runs."""
        names, columns, order = listed["change_id"], list(self.metrics), []
        scores = [read_table(score_path(folders["scores"], run, "concepts", explainer), SCORES) for run in runs]
        values = np.stack([table.set_index("item_id").loc[names, columns].to_numpy() for table in scores])
        by_metric = dict(zip(columns, np.moveaxis(values, 2, 0), strict=True))
        cluster = listed["base"].map(items.set_index("item_id")["cluster"]).to_numpy()
        yield from error_rows(by_metric, listed, cluster, self.confidence, self.bootstrap_draws)
        for run, of_seed in zip(runs, true, strict=True):
            said = read_table(explainer_path(folders["concept_effects"], run, explainer), CHANGE_EFFECTS)
            estimated = np.stack(said.set_index("change_id").loc[names, "effect"])
            order.append(order_faithfulness(of_seed, estimated, changes))
        yield _order_row(order)
