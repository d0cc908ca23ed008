"""What an audit says, as JSON values: the page, the section of a model card and the file for programs have the same."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from evenlight.core import tables
from evenlight.core.contracts.results import (
    AUDITED_GROUPS,
    AUDITED_TEXTS,
    BALANCED_ACCURACY,
    BEYOND_RANDOM,
    COST_SUMMARY,
    DECISION_RATES,
    DIFFERENT_TEXTS,
    DISPARITY,
    EFFECT_COUNTS,
    EFFECTS,
    EXAMPLES,
    INTERIM_ANALYSES,
    QUALITY,
    TEXTS_NEEDED,
    VERDICT_CONTROL,
    WITHOUT_WORDS,
)
from evenlight.core.contracts.texts import ITEMS
from evenlight.reports.audit import audited
from evenlight.reports.audit.document import NOT_FRAMED, describe_decisions, describe_frame, who_asks
from evenlight.reports.audit.found import VERSION, Judged, comparisons_told, number, told_of_comparison, verdicts_told
from evenlight.reports.audit.reliance import RelianceTables, describe_reliance, read_reliance
from evenlight.reports.pages.effects import describe_control
from evenlight.reports.text import json_number
from evenlight.reports.verdict_words import how_sure
from evenlight.statistics.cells import CELL
from evenlight.statistics.chance_level import describe_chance
from evenlight.statistics.families import CONTROL
from evenlight.statistics.files import Run, items_path
from evenlight.statistics.study import Comparison, MetricLabel

# By what comparisons are told together.
_COMPARED = ["dataset", "model", *Comparison._fields]


@dataclass(frozen=True)
class Analyses:
    """The interim analyses behind the verdicts of a study.

    Attributes:
        rows: of :data:`INTERIM_ANALYSES`, as JSON values.
        warnings: what must be read first.
        level: the chance of any wrong verdict at most, where texts were judged several times without a plan.
    """

    rows: Sequence[Mapping[str, Any]] = ()
    warnings: Sequence[str] = ()
    level: float | None = None

    def level_at_most(self, alpha: float) -> float:
        """The chance of any wrong verdict at most, in a study of this level."""
        return alpha if self.level is None else self.level


NO_ANALYSES = Analyses()


@dataclass(frozen=True)
class Found:
    """The tables of a study that an audit tells of.

    ``beyond_random`` is None where no explainer is random, ``reliance`` where the study does not ask for it, and
    ``examples`` where no text is shown; then ``words`` is empty, else it has the words of these texts by dataset.
    """

    effects: pd.DataFrame
    counts: pd.DataFrame
    control: pd.DataFrame
    quality: pd.DataFrame
    balanced: pd.DataFrame
    texts: pd.DataFrame
    groups: pd.DataFrame
    different: pd.DataFrame
    needed: pd.DataFrame
    without_words: pd.DataFrame
    costs: pd.DataFrame
    decisions: pd.DataFrame
    beyond_random: pd.DataFrame | None
    reliance: RelianceTables | None
    examples: pd.DataFrame | None
    words: Mapping[str, pd.Series]
    notes: list[str]
    analyses: Analyses = NO_ANALYSES


def read_found(folder: Path, pages: Collection[str], datasets: Path | None) -> Found:
    """The tables below ``folder``; of those that only some studies have, those of ``pages``.

    ``datasets`` has the texts, where they are shown. Notes are those on verdicts and on tests.
    """

    def read(name: str, contract: tables.Contract) -> pd.DataFrame:
        return tables.read_exactly(folder / f"{name}.parquet", contract)

    examples = read("examples", EXAMPLES) if datasets else None
    return Found(
        read("effects", EFFECTS),
        read("effect_counts", EFFECT_COUNTS),
        read("verdict_control", VERDICT_CONTROL),
        read("models", QUALITY),
        read("balanced_accuracy", BALANCED_ACCURACY),
        read("audited_texts", AUDITED_TEXTS),
        read("audited_groups", AUDITED_GROUPS),
        read("different_texts", DIFFERENT_TEXTS),
        read("texts_needed", TEXTS_NEEDED),
        read("without_words", WITHOUT_WORDS),
        read("costs", COST_SUMMARY),
        read("decision_rates", DECISION_RATES),
        read("beyond_random", BEYOND_RANDOM) if "beyond_random" in pages else None,
        read_reliance(folder) if "reliance" in pages else None,
        examples,
        {} if examples is None else {name: _words(datasets, name) for name in examples["dataset"].unique()},
        notes_of(folder),
        read_analyses_of(folder),
    )


def read_analyses_of(folder: Path) -> Analyses:
    """The interim analyses behind the verdicts, from the record below ``folder``."""
    path = folder / "interim_analyses.parquet"
    record = tables.read_exactly(path, INTERIM_ANALYSES)
    rows = json.loads(record.drop(columns="files").to_json(orient="records"))
    return Analyses(rows, **tables.read_metadata(path, INTERIM_ANALYSES)["present"])


def notes_of(folder: Path) -> list[str]:
    """What is to be said of verdicts and of tests, each once: of a plan of looks the verdicts know alone."""
    of_tables = {"effects": EFFECTS, "disparity": DISPARITY}
    read = [tables.read_metadata(folder / f"{name}.parquet", table) for name, table in of_tables.items()]
    return list(dict.fromkeys(note for metadata in read for note in metadata.get("notes", [])))


def _words(folder: Path, dataset: str) -> pd.Series:
    """The words of each text of a dataset, by its name."""
    return tables.read_table(items_path(folder, dataset), ITEMS.only("item_id", "words")).set_index("item_id")["words"]


def audit_content(
    found: Found,
    manifests: Mapping[Run, Mapping],
    *,
    study: str,
    datasets: Mapping[str, str],
    models: Mapping[str, str],
    explainers: Mapping[str, str],
    metrics: Mapping[str, Mapping[str, str]],
    seeds: Mapping[str, Sequence[int]],
    families: Mapping[str, str],
    comparisons: Mapping[str, list[list[str]]],
    target: str,
    alpha: float,
    as_often_bound: float,
    power: float,
    reliance: Mapping[str, Any],
    beside: str | None = None,
    frame: Mapping[str, Any] = NOT_FRAMED,
) -> dict:
    """What an audit of a study says (JSON values).

    Args:
        found: its tables.
        manifests: of each run, what its model is.
        study: its name.
        datasets, models, explainers: names to labels.
        metrics: names to ``label`` and ``better``, ``higher`` or ``lower``.
        seeds: of each model.
        families: of the metrics.
        comparisons: factors to pairs of levels.
        target: ``label`` or ``prediction``, the class that is explained.
        alpha, as_often_bound, power: of the statistics.
        reliance: what :func:`evenlight.reports.audit.reliance.describe_reliance` is told beside names and comparisons.
        beside: the page of the study's answers in words, where it has any.
        frame: what the audit says of itself, the section ``audit`` of the configuration.
    """
    named = {"datasets": datasets, "models": models, "explainers": explainers}
    judged = judged_of(found, **named, metrics=metrics, as_often_bound=as_often_bound, power=power)
    found, others = _of_explainers(found, explainers, beside)
    asked = found.effects[found.effects["family"] != CONTROL]
    different = found.different.set_index(["dataset", *Comparison._fields])
    compared = [
        told_of_comparison(
            part,
            judged,
            found.beyond_random,
            found.needed[(found.needed[_COMPARED] == list(place)).all(axis=1)],
            _different(different, (place[0], *place[2:])),
        )
        for place, part in asked.groupby(_COMPARED, sort=False)
    ]
    of_datasets = [
        audited.describe_dataset(row, found.groups[found.groups["dataset"] == row.dataset], datasets[row.dataset])
        for row in found.texts.itertuples(index=False)
    ]
    defaults = [
        row | {"probability": json_number(row["probability"])} for row in found.without_words.to_dict("records")
    ]
    controls = [
        audited.describe_random(found.effects, reliance["random"]),
        *audited.describe_defaults(defaults, judged),
        describe_control(found.control).strip(),
    ]
    return {
        "version": VERSION,
        "study": study,
        "warnings": [*describe_chance(found.balanced, datasets, models), *found.analyses.warnings],
        "interim_analyses": list(found.analyses.rows),
        "beside": beside,
        "frame": describe_frame(frame),
        "verdicts": _verdicts(asked, compared, judged, len(found.effects)),
        "audited": {
            "models": [audited.describe_model(name, label, manifests) for name, label in models.items()],
            "datasets": of_datasets,
            "explainers": list(explainers.values()),
            "costs": audited.describe_costs(found.costs, judged),
            "metrics": [metric.label for metric in judged.metrics.values()],
            "explained": "each text's label" if target == "label" else "the model's prediction for each text",
        },
        "quality": audited.describe_quality(found.quality, judged, comparisons),
        "found": compared,
        "comparisons": comparisons_told(asked),
        "error": how_sure(asked, found.analyses.level_at_most(alpha)),
        "without_words": defaults,
        "controls": [text for text in controls if text],
        "decisions": describe_decisions(found.decisions, datasets, models),
        "pairs": [] if found.examples is None else _examples(found.examples, found.words, judged),
        "reliance": found.reliance and describe_reliance(found.reliance, **named, comparisons=comparisons, **reliance),
        "not_tested": audited.not_tested(of_datasets, judged, seeds, found.effects, "correctness" in families.values())
        + others,
        "notes": found.notes,
        "who_asks": who_asks(by_group=True),
        "evidence": audited.evidence(comparisons, found.beyond_random is not None, found.reliance is not None),
    }


def judged_of(found: Any, *, metrics: Mapping[str, Mapping[str, str]], **settings: Any) -> Judged:
    """How a study was judged, from its tables (``effects`` and ``counts``) and what its configuration says."""
    names = {name: MetricLabel(name, entry["label"], entry["better"] == "higher") for name, entry in metrics.items()}
    sizes = found.effects["family"].value_counts().to_dict()
    return Judged(metrics=names, counts=found.counts, sizes=sizes, **settings)


def _of_explainers(found: Found, explainers: Mapping[str, str], beside: str | None) -> tuple[Found, list[str]]:
    """What was found of these explainers, and what is said of others, which explain no texts or have a page."""
    named = {"effects": found.effects, "needed": found.needed}
    told = {name: table[table["explainer"].isin(list(explainers))] for name, table in named.items()}
    left_out = len(found.effects) - len(told["effects"])
    asked = number(left_out, "comparison")
    where = f"; {beside} tells of those in words" if beside else ""
    said = f"Explanations of changes of a concept, or in words ({asked}); tables/effects.html has them{where}."
    return replace(found, **told), [said] * bool(left_out)


def _different(different: pd.DataFrame, place: tuple) -> tuple[int, ...] | None:
    """Different texts of either level of a comparison, or different pairs; None where there are no copies."""
    if place not in different.index:
        return None
    row = different.loc[place]
    return (int(row["different_a"]), int(row["different_b"]))[: 1 if row["paired"] else 2]


def _verdicts(asked: pd.DataFrame, compared: Sequence[Mapping], judged: Judged, cells: int) -> dict:
    """The verdicts of all comparisons together; ``cells`` are those of random explanations, too."""
    if compared:
        return verdicts_told(asked, judged, [finding for of in compared for finding in of["findings"]])
    why = (
        "every explainer is random or every group drawn by chance"
        if cells
        else "no dataset has both groups with scores"
    )
    return {"counts": {}, "signs": [], "said": f"Nothing could be compared: {why}."}


def _examples(examples: pd.DataFrame, words: Mapping[str, pd.Series], judged: Judged) -> list[dict]:
    """The pairs of each question that is shown, with the words of both texts and their shares."""
    return [
        {
            "dataset": judged.datasets[part["dataset"].iloc[0]],
            "model": judged.models[part["model"].iloc[0]],
            "explainer": judged.explainers[part["explainer"].iloc[0]],
            "metric": judged.metrics[part["metric"].iloc[0]].label_with_direction,
            "verdict": part["verdict"].iloc[0],
            "pairs": [
                {
                    "unit": unit,
                    "texts": [_describe_text(row, words[row.dataset]) for row in both.itertuples(index=False)],
                }
                for unit, both in part.groupby("unit_id", sort=False)
            ],
        }
        for _, part in examples.groupby(CELL, sort=False)
    ]


def _describe_text(row, words: pd.Series) -> dict:
    return {
        "level": row.level,
        "score": json_number(row.score),
        "item": row.item_id,
        "words": [str(word) for word in words[row.item_id]],
        "shares": [round(float(share), 2) for share in row.word_shares],
    }
