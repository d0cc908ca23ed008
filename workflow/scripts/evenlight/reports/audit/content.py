"""What an audit says, as JSON values: the page, the section of a model card and the file for programs have the same.

Sentences are put together here, so that all three say the same words.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evenlight.core import tables
from evenlight.core.contracts.results import (
    AUDITED_GROUPS,
    AUDITED_TEXTS,
    BALANCED_ACCURACY,
    BEYOND_RANDOM,
    COST_SUMMARY,
    DIFFERENT_TEXTS,
    DISPARITY,
    EFFECTS,
    EXAMPLES,
    INTERIM_ANALYSES,
    QUALITY,
    TEXTS_NEEDED,
    VERDICT_CONTROL,
    WITHOUT_WORDS,
)
from evenlight.core.contracts.texts import ITEMS
from evenlight.core.factors import JOINT, PLACEBO
from evenlight.core.sources import SOURCES
from evenlight.reports.audit.reliance import RelianceTables, read_reliance, said_of_reliance
from evenlight.reports.pages.effects import VERDICTS, said_of_control
from evenlight.reports.text import json_number, signed, three_digits, too_small
from evenlight.statistics.beyond_random import BOTH, EXPLAINER, GONE, LEFT, MODEL, MOSTLY_MODEL, REVERSED
from evenlight.statistics.cells import CELL
from evenlight.statistics.chance_level import said_of_chance
from evenlight.statistics.files import Run, items_path, manifest_path, runs
from evenlight.statistics.study import Comparison, MetricLabel
from evenlight.statistics.verdicts import CONTROL, EXPLORATORY, UNDECIDABLE, UNDECIDED, is_disparity

NOT_NAMED = "The study did not name this question beforehand: look at other texts before you rely on it. "
# By what questions are told together.
_COMPARED = ["dataset", "model", *Comparison._fields]
# By what costs are told together.
_ON_DEVICE = ["dataset", "model", "device", "threads"]
# Of a finding, these numbers stand in the file for programs.
NUMBERS = (
    *("difference", "models_low", "models_high", "standardised", "standardised_models_low"),
    *("standardised_models_high", "p_models_adjusted", "cliffs_delta"),
)
_OWN_ENDS = {"mean": "", "low": "_models_low", "high": "_models_high"}
# Questions that are not decidable are named where they are no more.
NAMED = 3
# Means that differ by less are equal.
ROUNDING = 1e-9
# What becomes of a disparity beyond random explanations, the lower yardstick, where there is no upper one.
OUTCOMES = {
    LEFT: "It is there beyond that of random explanations, too. What is attainable by this metric is not known, so the "
    "model may make it still.",
    GONE: "Beyond that of random explanations nothing of it is left: texts and model make it, whatever explains.",
    REVERSED: "Beyond that of random explanations it is reversed: the explainer works against it.",
    UNDECIDED: "Whether it is there beyond that of random explanations is undecided.",
    UNDECIDABLE: "Whether it is there beyond that of random explanations cannot be decided with these texts.",
}
# Who makes it, by both yardsticks.
MAKERS = {
    MODEL: "The model, or the metric, makes it: if as much were attainable for both groups, no more than the smallest "
    "disparity of interest would be left, or the opposite.",
    MOSTLY_MODEL: "The model, or the metric, makes more than half of it. Whether the explainer makes a smaller part is "
    "undecided.",
    EXPLAINER: "It is there beyond that of random explanations, and would be if as much were attainable for both "
    "groups, so the explainer has a part in it.",
    BOTH: "The model, or the metric, makes more than half of it; the rest is there beyond that of random explanations, "
    "too, so the explainer has a part in it.",
    UNDECIDED: "Whether the model or the explainer makes it is undecided.",
}


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
    control: pd.DataFrame
    quality: pd.DataFrame
    balanced: pd.DataFrame
    texts: pd.DataFrame
    groups: pd.DataFrame
    different: pd.DataFrame
    needed: pd.DataFrame
    without_words: pd.DataFrame
    costs: pd.DataFrame
    beyond_random: pd.DataFrame | None
    reliance: RelianceTables | None
    examples: pd.DataFrame | None
    words: Mapping[str, pd.Series]
    notes: list[str]
    analyses: Analyses = NO_ANALYSES


def read_found(folder: Path, pages: Collection[str], datasets: Path | None) -> Found:
    """The tables below ``folder``; of those that only some studies have, those of ``pages``.

    ``datasets`` has the texts, where they are shown.

    Notes are those on verdicts and on tests, which tell what could not be compared, too.
    """

    def read(name: str, contract: tables.Contract) -> pd.DataFrame:
        return tables.read_exactly(folder / f"{name}.parquet", contract)

    examples = read("examples", EXAMPLES) if datasets else None
    return Found(
        read("effects", EFFECTS),
        read("verdict_control", VERDICT_CONTROL),
        read("models", QUALITY),
        read("balanced_accuracy", BALANCED_ACCURACY),
        read("audited_texts", AUDITED_TEXTS),
        read("audited_groups", AUDITED_GROUPS),
        read("different_texts", DIFFERENT_TEXTS),
        read("texts_needed", TEXTS_NEEDED),
        read("without_words", WITHOUT_WORDS),
        read("costs", COST_SUMMARY),
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
    equivalence_bound: float,
    smallest_effects: Mapping[str, float],
    power: float,
    reliance: Mapping[str, Any],
    beside: str | None = None,
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
        comparisons: factors to sets of levels.
        target: ``label`` or ``prediction``, the class that is explained.
        alpha, equivalence_bound, smallest_effects, power: of the statistics.
        reliance: what :func:`evenlight.reports.audit.reliance.said_of_reliance` is told beside names and comparisons.
        beside: the page of the study's answers in words, where it has any.
    """
    names = {name: MetricLabel(name, entry["label"], entry["better"] == "higher") for name, entry in metrics.items()}
    labels = Labels(dict(datasets), dict(models), dict(explainers), names)
    found, others = _of_explainers(found, explainers, beside)
    hypotheses = found.effects[found.effects["family"] != CONTROL]
    interest = Interest(equivalence_bound, smallest_effects, power)
    yardsticks = _yardsticks(found.beyond_random)
    different = found.different.set_index(["dataset", *Comparison._fields])
    compared = [
        told_of_comparison(
            part,
            labels,
            interest,
            yardsticks,
            found.needed[(found.needed[_COMPARED] == list(place)).all(axis=1)],
            _different(different, (place[0], *place[2:])),
        )
        for place, part in hypotheses.groupby(_COMPARED, sort=False)
    ]
    audited = [
        _dataset_said(row, found.groups[found.groups["dataset"] == row.dataset], datasets[row.dataset])
        for row in found.texts.itertuples(index=False)
    ]
    defaults = [
        row | {"probability": json_number(row["probability"])} for row in found.without_words.to_dict("records")
    ]
    of_defaults = _defaults_said(defaults, labels)
    controls = [_random_said(found.effects, reliance["random"]), *of_defaults, said_of_control(found.control).strip()]
    of_words = {"datasets": datasets, "models": models, "explainers": explainers, "comparisons": comparisons}
    return {
        "study": study,
        "warnings": [*said_of_chance(found.balanced, datasets, models), *found.analyses.warnings],
        "interim_analyses": list(found.analyses.rows),
        "beside": beside,
        "verdicts": _verdicts(compared, len(found.effects)),
        "audited": {
            "models": [_model_said(name, label, manifests) for name, label in models.items()],
            "datasets": audited,
            "explainers": list(explainers.values()),
            "costs": _costs_said(found.costs, labels),
            "metrics": [metric.label for metric in names.values()],
            "explained": "each text's label" if target == "label" else "the model's prediction for each text",
        },
        "quality": _quality(found.quality, labels, comparisons),
        "found": compared,
        "error": _error_said(found.analyses.level_at_most(alpha), hypotheses),
        "without_words": defaults,
        "controls": [text for text in controls if text],
        "pairs": [] if found.examples is None else _examples(found.examples, found.words, labels),
        "reliance": found.reliance and said_of_reliance(found.reliance, **of_words, **reliance),
        "not_tested": _not_tested(audited, labels, seeds, found.effects, "correctness" in families.values())
        + _not_told(comparisons)
        + others,
        "notes": found.notes,
        "evidence": _evidence(found, comparisons),
    }


def _of_explainers(found: Found, explainers: Mapping[str, str], beside: str | None) -> tuple[Found, list[str]]:
    """What was found of these explainers, and what is said of others, which explain no texts or have a page."""
    named = {"effects": found.effects, "needed": found.needed, "beyond_random": found.beyond_random}
    told = {
        name: table if table is None else table[table["explainer"].isin(list(explainers))]
        for name, table in named.items()
    }
    left_out = len(found.effects) - len(told["effects"])
    asked = _number(left_out, "question")
    where = f"; {beside} tells of those in words" if beside else ""
    said = f"Explanations of changes of a concept, or in words ({asked}); tables/effects.html has them{where}."
    return replace(found, **told), [said] * bool(left_out)


@dataclass(frozen=True)
class Labels:
    """What readers are told in place of names."""

    datasets: Mapping[str, str]
    models: Mapping[str, str]
    explainers: Mapping[str, str]
    metrics: Mapping[str, MetricLabel]


@dataclass(frozen=True)
class Interest:
    """The smallest disparity that matters: ``bound`` standard deviations, of some metrics a number of their own.

    ``power`` is the probability with which it is to be found.
    """

    bound: float
    own: Mapping[str, float]
    power: float

    def in_words(self, cells: pd.DataFrame) -> str:
        """For all of these cells."""
        if cells["metric"].isin(list(self.own)).any():
            return "the smallest one of interest"
        return f"{self.bound:g} standard deviations of the scores"


# What was audited --------------------------------------------------------------------------------------------------


def _model_said(name: str, label: str, manifests: Mapping[Run, Mapping]) -> dict:
    """A model's label and, of each of its runs, where it comes from."""
    origins = {}
    for run, manifest in manifests.items():
        if run.model == name:
            origins.setdefault(_origin(manifest), []).append(f"{run.dataset}, seed {run.seed}")
    return {"name": name, "label": label, "origins": [{"from": text, "runs": of} for text, of in origins.items()]}


def _origin(manifest: Mapping) -> str:
    """Where a model comes from, in words, and the SHA-256 of its files."""
    loaded = manifest.get("loaded")
    if not loaded:
        settings = manifest["settings"].get("model", manifest["settings"])
        start = settings.get("source")
        commit = manifest.get("began_with", {}).get("source", {}).get("commit")
        start = f"{start} at {commit}" if commit else start
        return f"trained in this study ({settings['architecture']}{f', from {start}' if start else ''})"
    version = loaded.get("commit") or loaded.get("revision")
    revision = f" at {version}" if version else ""
    files = "; ".join(f"{name} {sha}" for name, sha in (loaded.get("files") or {}).items())
    return f"{loaded['source']}{revision}{f', SHA-256 of its files: {files}' if files else ''}"


def _dataset_said(row, groups: pd.DataFrame, label: str) -> dict:
    """A dataset's label, digest, classes, and how many texts of its test split each level of each factor has."""
    return {
        "name": row.dataset,
        "label": label,
        "files": [file_said(name, sha) for name, sha in zip(row.files, row.files_sha256, strict=True)],
        "sha256": row.sha256,
        "classes": list(row.classes),
        "texts": row.texts,
        "test_texts": row.test_texts,
        "repeated_texts": row.repeated_texts,
        "repeated_apart": row.repeated_apart,
        "groups": groups[["factor", "level", "texts", "compared"]].to_dict("records"),
        "explained_texts": row.explained_texts,
    }


def file_said(name: str, sha256: str) -> dict[str, str]:
    """A file that a dataset was read from: a published one as it is published, of others not the folder.

    >>> [file_said(name, "ab")["name"] for name in ("my/folder/tickets.csv", "compas/compas-scores-two-years.csv")]
    ['tickets.csv', 'compas/compas-scores-two-years.csv']
    """
    return {"name": name if name in SOURCES else Path(name).name, "sha256": sha256}


def _different(different: pd.DataFrame, place: tuple) -> tuple[int, ...] | None:
    """Different texts of either level of a comparison, or different pairs; None where there are no copies."""
    if place not in different.index:
        return None
    row = different.loc[place]
    return (int(row["different_a"]), int(row["different_b"]))[: 1 if row["paired"] else 2]


def _costs_said(costs: pd.DataFrame, labels: Labels) -> list[str]:
    """What an explanation costs, a sentence for each model, dataset and device; explainers with one time together."""
    known = costs[costs["texts"] > 0].drop_duplicates(["dataset", "model", "together", "device", "threads"])
    told = []
    for (dataset, model, device, threads), part in known.groupby(_ON_DEVICE, sort=False):
        each = [
            f"{' and '.join(labels.explainers.get(name, name) for name in row.together.split(', '))} "
            f"{three_digits(row.seconds)} s and {_number(round(row.rows_asked), 'row')}"
            for row in part.itertuples(index=False)
        ]
        told.append(
            f"Mean cost of a text of {labels.datasets[dataset]} for {labels.models[model]}, on {device} with "
            f"{_number(threads, 'thread')}: {'; '.join(each)}."
        )
    return told


def _quality(quality: pd.DataFrame, labels: Labels, comparisons: Mapping[str, list[list[str]]]) -> list[dict]:
    """The accuracy of each model on each dataset, of all texts and of each compared level."""
    levels = {level for sets in comparisons.values() for of_set in sets for level in of_set}
    shown = quality[(quality["measure"] == "accuracy") & (quality["factor"].isna() | quality["subset"].isin(levels))]
    return [
        {
            "dataset": labels.datasets[row.dataset],
            "model": labels.models[row.model],
            "factor": None if pd.isna(row.factor) else row.factor,
            "texts": row.subset,
            "accuracy": json_number(row.mean),
            "runs": int(row.seeds),
        }
        for row in shown.itertuples(index=False)
    ]


# What was found ------------------------------------------------------------------------------------------------------


def told_of_comparison(
    cells: pd.DataFrame,
    labels: Labels,
    interest: Interest,
    yardsticks: Mapping[tuple, Mapping[str, Any]],
    needed: pd.DataFrame,
    different: Sequence[int] | None = None,
) -> dict:
    """What is said of one model on one dataset and two levels.

    Args:
        cells: their rows of the effects.
        labels: of all that they name.
        interest: the smallest disparity that matters.
        yardsticks: of a cell (its :data:`~evenlight.statistics.cells.CELL`) its row of the table beyond random.
        needed: of the undecided ones, how many texts would decide them.
        different: how many of the pairs, or of either group's texts, are different ones, where there are copies.
    """
    first = cells.iloc[0]
    pair = Comparison(*(first[field] for field in Comparison._fields))
    confirmed = cells["verdict"].str.contains("disparity")
    alike = cells["verdict"].str.contains("equivalent")
    undecided, undecidable = (cells["verdict"] == verdict for verdict in (UNDECIDED, UNDECIDABLE))
    counts = {
        "asked": len(cells),
        "disparity": int(confirmed.sum()),
        "negligible": int(cells["verdict"].str.contains("negligible").sum()),
        "no disparity": int(alike.sum()),
        UNDECIDED: int(undecided.sum()),
        UNDECIDABLE: int(undecidable.sum()),
    }
    order = cells[confirmed].sort_values("p_models_adjusted", kind="stable")
    findings = [_finding(row, labels, yardsticks, different) for row in order.itertuples(index=False)]
    return {
        "dataset": labels.datasets[first["dataset"]],
        "model": labels.models[first["model"]],
        "factor": pair.factor,
        "levels": list(pair.levels),
        "paired": bool(first["paired"]),
        "units": sorted({_units(row, different) for row in cells.itertuples(index=False)}),
        "counts": counts,
        "signs": by_sign(cells["verdict"].value_counts()),
        "said": _said(pair, counts, findings, interest.in_words(cells[alike])),
        "findings": findings,
        "by_look": _by_look(cells, labels),
        "open": open_questions(needed, interest, different) + undecidable_questions(cells[undecidable], labels),
    }


def _by_look(cells: pd.DataFrame, labels: Labels) -> list[str]:
    """Which questions each look of a plan was the first to decide, with their verdicts; empty without a plan."""
    decided = cells[cells["look"].notna()] if "look" in cells else cells.iloc[:0]
    return [
        f"Look {look:.0f}: "
        + ", ".join(
            f"{labels.metrics[row.metric].label} of {labels.explainers[row.explainer]} ({row.verdict})"
            for row in of_look.itertuples()
        )
        for look, of_look in decided.groupby("look")
    ]


def _verdicts(compared: Sequence[Mapping], cells: int) -> dict:
    """The counts of all comparisons together, and what they say; ``cells`` are those of random explanations, too.

    >>> _verdicts([], 0)
    {'counts': {}, 'signs': [], 'said': 'Nothing could be compared: no dataset has both groups with scores.'}
    """
    total, verdicts = Counter(), Counter()
    for of in compared:
        total.update(of["counts"])
        verdicts.update({each["verdict"]: each["count"] for each in of["signs"]})
    if compared:
        said = [counts_in_words(total, question_of(compared))]
        makers = _makers(finding for of in compared for finding in of["findings"])
        if of_model := makers[MODEL] + makers[MOSTLY_MODEL]:
            is_are = "is" if of_model == 1 else "are"
            said.append(
                f"Of the disparities {of_model} {is_are} made by the model, or the metric, at least for the most part."
            )
        return {"counts": dict(total), "signs": by_sign(verdicts), "said": " ".join(said)}
    why = (
        "every explainer is random or every group drawn by chance"
        if cells
        else "no dataset has both groups with scores"
    )
    return {"counts": {}, "signs": [], "said": f"Nothing could be compared: {why}."}


def by_sign(counts: Mapping[str, int]) -> list[dict]:
    """How many questions have each verdict that is there, with its sign, in the order of the page of effects.

    >>> by_sign({"undecided": 4, "disparity for these trained models": 2})[0]
    {'sign': '(≠)', 'verdict': 'disparity for these trained models', 'count': 2}
    """
    return [
        {"sign": sign, "verdict": verdict, "count": int(counts[verdict])}
        for verdict, (sign, _) in VERDICTS.items()
        if verdict in counts
    ]


def question_of(compared: Sequence[Mapping]) -> str:
    """What one question of these comparisons has: an explainer and a metric, and whatever else they differ in.

    >>> levels = [["female", "male"], ["female", "neutral"]]
    >>> question_of([{"dataset": "letters", "model": "mine", "factor": "gender", "levels": pair} for pair in levels])
    'an explainer, a metric and two groups'
    """
    places = [(of["dataset"], of["model"], (of["factor"], *of["levels"])) for of in compared]
    dataset, model, groups = (len(set(of_all)) > 1 for of_all in zip(*places, strict=True))
    parts = ["a dataset"] * dataset + ["a model"] * model + ["an explainer", "a metric"] + ["two groups"] * groups
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def counts_in_words(
    counts: Mapping[str, int],
    question: str = "an explainer and a metric",
    hoped: str = "explanations are equally good",
) -> str:
    """How many questions have which answer, in a sentence; ``counts`` as those of a comparison.

    ``hoped`` is what is not shown where nothing is decided.

    >>> counts_in_words({"asked": 6, "disparity": 0, "no disparity": 0, "undecided": 4, "not decidable": 2})[:84]
    'Of 6 questions, each an explainer and a metric, a disparity is confirmed in 0, one t'
    >>> counts_in_words({"asked": 1, "disparity": 1, "no disparity": 0, "undecided": 0, "not decidable": 0})[:45]
    'Of 1 question, a disparity is confirmed in 1,'
    """
    still_open = counts[UNDECIDED] + counts[UNDECIDABLE]
    several = "" if counts["asked"] == 1 else f" each {question},"
    said = (
        f"Of {_number(counts['asked'], 'question')},{several} a disparity is confirmed in "
        f"{counts['disparity']:,}{too_small(counts.get('negligible', 0))}, one that matters is ruled out in "
        f"{counts['no disparity']:,}, and {still_open:,} "
        f"{'is' if still_open == 1 else 'are'} open."
    )
    if still_open < counts["asked"]:
        return said
    return f"{said} Nothing is decided, which does not show that {hoped}."


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _said(pair: Comparison, counts: Mapping[str, int], findings: Sequence[dict], interest: str) -> str:
    """The comparison in a few sentences.

    >>> pair, found = Comparison("gender", "male", "female"), [{"better": "male"}] * 3
    >>> counts = {"asked": 12, "disparity": 3, "no disparity": 0, "undecided": 9, "not decidable": 0}
    >>> _said(pair, counts, found, "").partition("disparity is ")[2]
    'confirmed in 3, one that matters is ruled out in 0, and 9 are open. In 3, explanations of male texts are better.'
    """
    better = Counter(finding["better"] for finding in findings)
    texts = [counts_in_words(counts)]
    texts += [
        f"In {better[level]}, explanations of {level} texts are better." for level in pair.levels if better[level]
    ]
    makers = _makers(findings)
    if makers:
        texts.append(
            f"For {makers.total()} of them it is known what is attainable. In "
            f"{makers[MODEL] + makers[MOSTLY_MODEL]} the model, or the metric, makes all or most of the disparity. In "
            f"{makers[EXPLAINER] + makers[BOTH]} the explainer is shown to have a part in it, and in "
            f"{makers[UNDECIDED] + makers[UNDECIDABLE]} this is undecided."
        )
    if counts["no disparity"]:
        texts.append(f"In {counts['no disparity']} a disparity of more than {interest} is ruled out.")
    return " ".join(texts)


def _makers(findings: Iterable[Mapping]) -> Counter:
    """How many disparities are made by whom, of those of which it is known what is attainable."""
    return Counter(finding["made_by"] for finding in findings if finding.get("made_by"))


def _finding(
    row, labels: Labels, yardsticks: Mapping[tuple, Mapping[str, Any]], different: Sequence[int] | None
) -> dict:
    """One disparity, with its numbers and as a sentence; ``row`` is a row of the effects."""
    metric = labels.metrics[row.metric]
    first_better = (row.difference > 0) == metric.higher_is_better
    better, worse = (row.level_a, row.level_b) if first_better else (row.level_b, row.level_a)
    held = yardsticks.get(tuple(getattr(row, name) for name in CELL), {})
    of_trainings = is_disparity(pd.Series([row.verdict]), of_trainings=True).item()
    headline = (
        f"{metric.label} of {labels.explainers[row.explainer]}: the explanations of {better} texts are better than "
        f"those of {worse} texts, by {abs(row.standardised):.2f} standard deviations of the scores"
    )
    numbers = (
        f"{abs(row.difference):.3g} in the metric's own units; {_units(row, different)}; adjusted p "
        f"{row.p_models_adjusted:.2g}"
        + ("" if pd.isna(getattr(row, "look", None)) else f"; first found by look {row.look:.0f}")
    )
    behind = (
        ("On average this holds across retraining, too. " if of_trainings else "")
        + ("It is smaller than the smallest disparity of interest. " if row.verdict.startswith("negligible") else "")
        + (NOT_NAMED if row.family == EXPLORATORY else "")
        + _made_said(row, held, metric)
        + _no_better_than_random(row, held, metric, labels.explainers[row.explainer])
    ).strip()
    return {
        "explainer": labels.explainers[row.explainer],
        "metric": metric.label,
        "better": better,
        "worse": worse,
        "verdict": row.verdict,
        "family": row.family,
        "beyond_random": held.get("outcome"),
        "made_by": held.get("made_by"),
        **_attained(row, held),
        **{name: json_number(getattr(row, name)) for name in NUMBERS},
        "units": _units(row, different),
        "headline": f"{headline}.",
        "behind": f"{numbers[0].upper()}{numbers[1:]}. {behind}".strip(),
        "said": f"{headline} ({numbers}). {behind}".strip(),
    }


def _yardsticks(beyond_random: pd.DataFrame | None) -> dict[tuple, dict[str, Any]]:
    """The row of each disparity in the table beyond random, by cell; empty where no explainer is random."""
    if beyond_random is None:
        return {}
    known = beyond_random.dropna(subset="outcome").drop_duplicates(CELL)
    known = known.assign(made_by=known["made_by"].astype(object).where(known["made_by"].notna(), None))
    return {tuple(row[name] for name in CELL): row for row in known.to_dict("records")}


def _made_said(row, held: Mapping[str, Any], metric: MetricLabel) -> str:
    """Who makes a disparity, as far as the yardsticks tell: random explanations, and the best attainable ones."""
    if held.get("made_by") is None:
        return OUTCOMES.get(held.get("outcome"), "")
    (a, low_a, high_a), (b, low_b, high_b) = (
        [signed(held[f"{of}_{end}"]) for of in ("score", "random", "attainable")] for end in "ab"
    )
    said = (
        f"On average {row.level_a} texts have {a}, where random explanations have {low_a} and {high_a} is attainable, "
        f"and {row.level_b} texts {b}, where random ones have {low_b} and {high_b} is attainable. "
    )
    return said + _attainable_gain(row, held, metric) + MAKERS[held["made_by"]]


def _attainable_gain(row, held: Mapping[str, Any], metric: MetricLabel) -> str:
    """How much better than random explanations the best ones are, by group: by this it is said who makes it."""
    sign = 1 if metric.higher_is_better else -1
    a, b = (signed(sign * (held[f"attainable_{end}"] - held[f"random_{end}"])) for end in "ab")
    return f"So {a} beyond random explanations is attainable for {row.level_a} texts, and {b} for {row.level_b} texts. "


def _no_better_than_random(row, held: Mapping[str, Any], metric: MetricLabel, explainer: str) -> str:
    """For which of both groups an explanation says no more than a random one, on average; nothing where it does."""
    sign = 1 if metric.higher_is_better else -1
    ahead = {
        level: sign * (held.get(f"score_{end}", np.nan) - held.get(f"random_{end}", np.nan))
        for level, end in ((row.level_a, "a"), (row.level_b, "b"))
    }
    groups = " and ".join(level for level, by in ahead.items() if by <= ROUNDING)
    return f" Of {groups} texts {explainer} is no better than random explanations are, on average." if groups else ""


def _attained(row, held: Mapping[str, Any]) -> dict:
    """What a finding has of the attainable: both groups' means, and the explainer's own part in standard deviations."""
    if held.get("made_by") is None:
        return {"attainable": None, "own_part": None}
    own = {name: json_number(held[f"own{end}"]) for name, end in _OWN_ENDS.items()}
    attainable = {
        level: {name: json_number(held[f"{name}_{end}"]) for name in ("score", "random", "attainable")}
        for level, end in ((row.level_a, "a"), (row.level_b, "b"))
    }
    return {"attainable": attainable, "own_part": own}


def _units(row, different: Sequence[int] | None) -> str:
    """On what a cell rests."""
    units = f"{row.units_a:,} pairs" if row.paired else f"{row.units_a:,} and {row.units_b:,} texts"
    return units + _copies_in(different)


def _copies_in(different: Sequence[int] | None) -> str:
    """How many are different, where there are copies: equal texts are one cluster, and tell no more than one.

    >>> _copies_in((5, 6)), _copies_in(None)
    (' (5 and 6 different ones)', '')
    """
    return f" ({' and '.join(f'{count:,}' for count in different)} different ones)" if different else ""


def open_questions(needed: pd.DataFrame, interest: Interest, different: Sequence[int] | None) -> list[str]:
    """What these texts would show, and how many would show the smallest disparity that matters."""
    if needed.empty:
        return []
    said = "1 question is undecided." if len(needed) == 1 else f"{len(needed)} questions are undecided."
    known, flat = needed.dropna(subset="detectable"), needed["hardly_varies"].sum()
    if known.empty and not flat:
        return [f"{said} Which disparity these texts would show is not known."]
    if flat:
        said += (
            f" In {flat} of them the scores hardly vary, and one text that nobody saw could change more than all "
            "of these: no number of texts is told."
        )
        if known.empty:
            return [said]
    shown = known["detectable"]
    what = "pairs" if known["paired"].iloc[0] else "texts of the smaller group"
    ends = dict.fromkeys(f"{end:.2f}" for end in (shown.min(), shown.max()))
    range_of = f" (median of the questions; {' to '.join(ends)})" if len(ends) > 1 else ""
    copies = _copies_in(different and [min(different)])
    said += (
        f" With {int(known['units'].median()):,} {what}{copies} a disparity is found with a probability of about "
        f"{interest.power:.0%} where it has {shown.median():.2f} standard deviations of the scores{range_of}. "
    )
    wanted = interest.in_words(known)
    if not (known["needed"] > known["units"]).any():
        return [f"{said}For {wanted} these are enough: what is undecided may be a smaller disparity."]
    others = "" if known["paired"].iloc[0] else ", and of the other group in proportion"
    first, last = _rounded(known["needed"].median()), _rounded(known["needed"].max())
    half = f" for half of the questions, and {last:,} for all of them" if last > first else ""
    return [f"{said}For {wanted} it takes about {first:,} {what}{half}{others}."]


def _rounded(number: float) -> int:
    """Two digits, upwards: more would say that this is known exactly.

    >>> _rounded(24), _rounded(1234), _rounded(99.5)
    (24, 1300, 100)
    """
    unit = 10 ** max(0, len(str(int(np.ceil(number)))) - 2)
    return int(-(-np.ceil(number) // unit) * unit)


def undecidable_questions(cells: pd.DataFrame, labels: Labels) -> list[str]:
    """Why questions are not decidable, the same reason once for all numbers of units and cells."""
    parts = cells["reason"].str.extract(r"^(?P<units>\d+)? ?(?P<reason>.*?)(?: among \d+ cells)?$")
    told = []
    for reason, part in parts.groupby("reason", sort=False):
        units = sorted(part["units"].dropna().astype(int).unique())
        few = " to ".join(str(number) for number in dict.fromkeys((units[0], units[-1]))) + " " if units else ""
        many = "1 question is" if len(part) == 1 else f"{len(part)} questions are"
        asked = [
            f"{labels.metrics[row.metric].label} of {labels.explainers[row.explainer]}"
            for row in cells.loc[part.index].itertuples()
        ]
        which = f" ({', '.join(asked)})" * (len(asked) <= NAMED)
        told.append(f"{many} not decidable{which}: {few}{reason}.")
    return told


def _error_said(alpha: float, hypotheses: pd.DataFrame) -> str:
    apart = ", those named beforehand and the others apart" if hypotheses["family"].nunique() > 1 else ""
    return (
        f"Over all questions of the study{apart}, the chance that any disparity is said where there is none is meant "
        f"to be at most {alpha:.0%}; so is, apart, the chance that one is ruled out where there is one. What is said "
        "holds for these trained models and for texts like these; simulations that show how often it is wrong, and for "
        "which scores more often than that, are in docs/results/verdicts.md of Evenlight."
    )


def _random_said(effects: pd.DataFrame, random: Collection[str]) -> str:
    """What the random explainers and groups show, which are no hypothesis; the attainable is none either."""
    control = effects[effects["family"] == CONTROL]
    control = control[
        control["explainer"].isin(random) | control["factor"].str.split(JOINT).apply(lambda of: PLACEBO in of)
    ]
    if control.empty:
        return ""
    count = int(control["verdict"].str.contains("disparity").sum())
    said = (
        f"Of {_number(len(control), 'question')} about random explanations or groups drawn by chance, "
        f"{count or 'none'} {'show' if count > 1 else 'shows'} a disparity."
    )
    why = " Where explanations know nothing, texts make the difference, or how the model reads changed texts."
    return said + (why if count else "")


# How sentences name what becomes of a hidden word.
HIDING = {"removed": "removed", "mask": "masked", "pad": "replaced by padding"}


def _defaults_said(defaults: Sequence[Mapping], labels: Labels) -> list[str]:
    """The same as sentences, one for each model, dataset and way of hiding."""
    said: dict[tuple, list[str]] = {}
    for of in defaults:
        named = f"{of['class']} (mean probability {of['probability']:.2f})"
        said.setdefault((of["model"], of["dataset"], of["hidden"]), []).append(named)
    return [
        f"Class of a text without words: the model “{labels.models[model]}” takes a text of the dataset "
        f"“{labels.datasets[dataset]}” of which every word is {HIDING[way]} for {' and '.join(dict.fromkeys(named))}. "
        "The surer that is, the less have texts of this class to lose where words are hidden, and to gain where words "
        "are kept, whatever explains."
        for (model, dataset, way), named in said.items()
    ]


# Pairs ---------------------------------------------------------------------------------------------------------------


def _examples(examples: pd.DataFrame, words: Mapping[str, pd.Series], labels: Labels) -> list[dict]:
    """The pairs of each question that is shown, with the words of both texts and their shares."""
    return [
        {
            "dataset": labels.datasets[part["dataset"].iloc[0]],
            "model": labels.models[part["model"].iloc[0]],
            "explainer": labels.explainers[part["explainer"].iloc[0]],
            "metric": labels.metrics[part["metric"].iloc[0]].label_with_direction,
            "verdict": part["verdict"].iloc[0],
            "pairs": [
                {"unit": unit, "texts": [_text_said(row, words[row.dataset]) for row in both.itertuples(index=False)]}
                for unit, both in part.groupby("unit_id", sort=False)
            ],
        }
        for _, part in examples.groupby(CELL, sort=False)
    ]


def _text_said(row, words: pd.Series) -> dict:
    return {
        "level": row.level,
        "score": json_number(row.score),
        "item": row.item_id,
        "words": [str(word) for word in words[row.item_id]],
        "shares": [round(float(share), 2) for share in row.word_shares],
    }


# What was not tested -----------------------------------------------------------------------------------------------


def _not_tested(
    datasets: Sequence[Mapping],
    labels: Labels,
    seeds: Mapping[str, Sequence[int]],
    effects: pd.DataFrame,
    metrics_of_truth: bool,
) -> list[str]:
    """What a reader might take for tested, and was not; ``datasets`` are those of :func:`_dataset_said`.

    A group of which only random explanations were compared was compared; that it is no hypothesis is said elsewhere.
    """
    told = []
    factors = zip(effects["dataset"], effects["factor"], strict=True)
    compared = {(dataset, factor) for dataset, factor in factors if PLACEBO not in factor.split(JOINT)}
    for dataset in datasets:
        where = f"dataset {dataset['label']}"
        if kept := dataset["texts"] - dataset["test_texts"]:
            told.append(
                f"Of the {_number(dataset['texts'], 'text')} of {where} {kept:,} were left out of the test: they are "
                "for training and validation, by the dataset's own split or by test_share."
            )
        if repeated := dataset["repeated_texts"]:
            told.append(
                f"Of the {_number(dataset['test_texts'], 'text')} for the test of {where} {repeated:,} "
                f"{'is a copy of another' if repeated == 1 else 'are copies of others'}. "
                + (
                    "Copies that the dataset counts as different cases are tested as independent."
                    if dataset["repeated_apart"]
                    else "Equal texts are one cluster, and not tested as independent."
                )
            )
        if dataset["explained_texts"] < dataset["test_texts"]:
            told.append(
                f"Of the {dataset['test_texts']:,} texts for the test of {where} {dataset['explained_texts']:,} were "
                "explained."
            )
        groups = pd.DataFrame(dataset["groups"], columns=["factor", "level", "compared"])
        for factor, part in groups.groupby("factor", sort=False):
            left = list(part.loc[~part["compared"], "level"])
            if (dataset["name"], factor) not in compared:
                joined = any(name == dataset["name"] and factor in of.split(JOINT) for name, of in compared)
                alone = " by itself, only together with others" if joined else ", though the texts have it"
                told.append(f"{factor} in {where} was not compared{alone}.")
            elif left:
                told.append(f"Of {factor} in {where} these groups were compared with no other one: {', '.join(left)}.")
    told.append(
        "Groups that the data do not name, and combinations of groups that the configuration does not name, were not "
        "looked at."
    )
    if single := [label for name, label in labels.models.items() if len(seeds[name]) == 1]:
        told.append(f"One run of {', '.join(single)} was audited: nothing is said of models that are trained again.")
    if not metrics_of_truth:
        told.append(
            "No metric holds the explanations against words that people marked: what was scored is how they are "
            "associated with the model and how they look, not whether people would call them right."
        )
    told.append(
        "Whether the model's decisions are fair is another question, of which the accuracies are all that is said. No "
        "law is claimed to be kept; under Evidence stands what lies in which file."
    )
    return told


def _not_told(comparisons: Mapping[str, list[list[str]]]) -> list[str]:
    """What was tested, and has no sentence on the page: more than two groups at once.

    >>> print(*_not_told({"age": [["old", "young"], ["old", "young", "child"]]}))
    Whether old, young, child (age) differ at all was tested too; what was found stands in tables/groups.html only.
    """
    return [
        f"Whether {', '.join(levels)} ({factor}) differ at all was tested too; what was found stands in "
        "tables/groups.html only."
        for factor, sets in comparisons.items()
        for levels in sets
        if len(levels) > 2
    ]


def _evidence(found: Found, comparisons: Mapping[str, list[list[str]]]) -> list[dict]:
    files = {
        "tables/effects.csv": "every question with its effect, interval, adjusted p and verdict",
        "tables/disparity.csv": "the tests of every single run",
        "tables/verdict_control.parquet": "verdicts with the labels of the groups permuted",
        "tables/control.csv": "significant tests with the labels of the groups permuted",
        "tables/covariate_adjusted.csv": "each disparity, adjusted for length, confidence, correctness",
        "tables/models.csv": "accuracy and recall of the models, by group",
        "tables/balanced_accuracy.csv": "accuracy of every run with every class counted alike, beside guessing",
        "tables/costs.csv": "seconds and rows through the model of every explainer",
        "predictions/": "tokens, probabilities and predictions of every text",
        "attributions/": "every explanation",
        "scores/": "every score",
        "datasets/": "texts and groups, as they were read",
        "models/": "the models, with where they come from (manifest.json)",
    }
    if found.beyond_random is not None:
        files["tables/beyond_random.csv"] = "what is left of each disparity beyond random explanations"
    if _not_told(comparisons):
        files["tables/groups.html"] = "tests of more than two groups at once"
    if found.reliance is not None:
        files["tables/reliance.html"] = "on which words the models rely, by group, for every two groups"
    return [{"file": name, "has": text} for name, text in files.items()]


def manifests_of(folder: Path, datasets: Sequence[str], seeds: Mapping[str, Sequence[int]]) -> dict[Run, Mapping]:
    """What the model of each run is; ``folder`` has the models, ``seeds`` gives each its own."""
    texts = {run: manifest_path(folder, run).read_text(encoding="utf-8") for run in runs(datasets, seeds)}
    return {run: json.loads(text) for run, text in texts.items()}
