"""What was audited, what was not tested, and where the numbers are."""

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import pandas as pd

from evenlight.core.factors import JOINT, NEGATIVE_CONTROL
from evenlight.core.sources import SOURCES
from evenlight.reports.index.comparisons import Judged, number
from evenlight.reports.index.found import TABLES
from evenlight.reports.text import three_digits
from evenlight.statistics.comparisons.files import Run, Runs, manifest_path

# By what costs are told together.
_ON_DEVICE = ["dataset", "model", "device", "threads"]


def manifests_of(folder: Path, runs: Runs) -> dict[Run, Mapping]:
    """What the model of each run is; ``folder`` has the models."""
    texts = {run: manifest_path(folder, run).read_text(encoding="utf-8") for run in runs}
    return {run: json.loads(text) for run, text in texts.items()}


def describe_model(name: str, label: str, manifests: Mapping[Run, Mapping]) -> dict:
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


def describe_dataset(row, groups: pd.DataFrame, label: str, what: str = "texts") -> dict:
    """A dataset's label, digest, classes, and how many texts of its test split each level of each factor has.

    ``what``: ``texts`` that are explained, ``questions`` that are answered, or units that have ``scores``.
    """
    return {
        "name": row.dataset,
        "label": label,
        "what": what,
        "files": [describe_file(name, sha) for name, sha in zip(row.files, row.files_sha256, strict=True)],
        "sha256": row.sha256,
        "classes": list(row.classes),
        "texts": row.texts,
        "test_texts": row.test_texts,
        "repeated_texts": row.repeated_texts,
        "repeated_apart": row.repeated_apart,
        "groups": groups[["factor", "level", "texts", "compared"]].to_dict("records") if what != "questions" else [],
        "explained_texts": row.explained_texts,
    }


def describe_file(name: str, sha256: str) -> dict[str, str]:
    """A file that a dataset was read from: a published one as it is published, of others not the folder.

    >>> [describe_file(name, "ab")["name"] for name in ("my/folder/tickets.csv", "compas/compas-scores-two-years.csv")]
    ['tickets.csv', 'compas/compas-scores-two-years.csv']
    """
    return {"name": name if name in SOURCES else Path(name).name, "sha256": sha256}


def describe_costs(costs: pd.DataFrame, judged: Judged) -> list[str]:
    """What an explanation costs, a sentence for each model, dataset and device; explainers with one time together."""
    known = costs[costs["texts"] > 0].drop_duplicates(["dataset", "model", "together", "device", "threads"])
    told = []
    for (dataset, model, device, threads), part in known.groupby(_ON_DEVICE, sort=False):
        each = [
            f"{' and '.join(judged.explainers.get(name, name) for name in row.together.split(', '))} "
            f"{three_digits(row.seconds)} s and {number(round(row.rows_asked), 'row')}"
            for row in part.itertuples(index=False)
        ]
        told.append(
            f"Mean cost of a text of {judged.datasets[dataset]} for {judged.models[model]}, on {device} with "
            f"{number(threads, 'thread')}: {'; '.join(each)}."
        )
    return told


# What was not tested --------------------------------------------------------------------------------------------------


def not_tested(
    datasets: Sequence[Mapping],
    judged: Judged,
    seeds: Mapping[str, Sequence[int]],
    effects: pd.DataFrame,
    metrics_of_truth: bool,
) -> list[str]:
    """What a reader might take for tested, and was not; ``datasets`` are those of :func:`describe_dataset`.

    A group of which only random explanations were compared was compared; that it is no hypothesis is said elsewhere.
    """
    told = []
    factors = zip(effects["dataset"], effects["factor"], strict=True)
    compared = {(dataset, factor) for dataset, factor in factors if NEGATIVE_CONTROL not in factor.split(JOINT)}
    for dataset in datasets:
        where = f"dataset {dataset['label']}"
        if kept := dataset["texts"] - dataset["test_texts"]:
            told.append(
                f"Of the {number(dataset['texts'], 'text')} of {where} {kept:,} were left out of the test: they are "
                "for training and validation, by the dataset's own split or by test_share."
            )
        if repeated := dataset["repeated_texts"]:
            told.append(
                f"Of the {number(dataset['test_texts'], 'text')} for the test of {where} {repeated:,} "
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
    if single := [label for name, label in judged.models.items() if len(seeds[name]) == 1]:
        told.append(f"One run of {', '.join(single)} was audited: nothing is said of models that are trained again.")
    if not metrics_of_truth:
        told.append(
            "No metric holds the explanations against words that people marked: what was scored is how they are "
            "associated with the model and how they look, not whether people would call them right."
        )
    told.append(
        "Whether the model's decisions are fair is another question: they are described by group, and not judged. No "
        "law is claimed to be kept; under Evidence stands what lies in which file."
    )
    return told


# Of scores that were made elsewhere.
NOT_TESTED_OF_SCORES = [
    "What the scores are of, and whether they measure what they are said to, was not looked at: they were made "
    "elsewhere.",
    "Groups that the table does not name, and combinations of groups, were not looked at.",
    "No law is claimed to be kept; under Evidence stands what lies in which file.",
]

# What each folder has; others are not told of.
FOLDERS = {
    "scores": "every score",
    "attributions": "every explanation",
    "answers": "every answer",
    "predictions": "tokens, probabilities and predictions of every text",
    "datasets": "texts and groups, as they were read",
    "models": "the models, with where they come from (manifest.json)",
}


def evidence(sha256: Mapping[str, str], pages: Collection[str], folders: Collection[str]) -> list:
    """Which file has what: ``links``, what it has, and the digest of what this page has read.

    Args:
        sha256: of the Parquet file of each table that the page has read.
        pages: of tables.
        folders: of :data:`FOLDERS`.
    """
    rows = [
        {"links": [f"tables/{name}.{form}" for form in ("parquet", "csv")], "has": TABLES[name][1], "sha256": digest}
        for name, digest in sha256.items()
    ]
    rows += [
        {"links": [f"tables/{name}.html"], "has": f"a page: {name.replace('_', ' ')}", "sha256": None} for name in pages
    ]
    return rows + [{"links": [f"{name}/"], "has": FOLDERS[name], "sha256": None} for name in FOLDERS if name in folders]
