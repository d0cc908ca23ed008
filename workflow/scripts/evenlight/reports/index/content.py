"""What the page of a study has: its words, as audit.json and audit.md have them, and the views behind its questions."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from evenlight.core.kinds import SCORES, TEXT, TOKENS
from evenlight.reports.index import audited, certainty, opening
from evenlight.reports.index.comparisons import Judged, number, tell_comparisons, tell_open
from evenlight.reports.index.decisions import OF_DECISIONS, not_tested_of_answers, tell_decisions
from evenlight.reports.index.document import describe_frame, describe_rates, who_asks
from evenlight.reports.index.found import Found
from evenlight.reports.index.reliance import describe_reliance
from evenlight.reports.index.since import describe_since, opening_of
from evenlight.reports.index.store import Store
from evenlight.reports.index.views import Folders, Read, read_files, read_views
from evenlight.reports.text import json_number
from evenlight.reports.verdict_words import EXPLAINED, SCORED
from evenlight.statistics.analyses.audit_changes import text_digests
from evenlight.statistics.comparisons.cells import CELL
from evenlight.statistics.comparisons.chance_level import describe_chance, guessing
from evenlight.statistics.comparisons.files import Run, notes_of_datasets
from evenlight.statistics.comparisons.study import CONTROL, MetricLabel

# The version of what audit.json says for programs (``workflow/schemas/audit.schema.yaml``).
VERSION = 2


@dataclass(frozen=True)
class Content:
    """What a page has.

    Attributes:
        told: words and numbers, as JSON values.
        tree: what is behind each question, for the page's script: names, and numbers of arrays.
    """

    told: dict[str, Any]
    tree: dict[str, Any]


def study_content(
    folders: Folders,
    found: Found,
    store: Store,
    manifests: Mapping[Run, Mapping] | None = None,
    *,
    study: str,
    datasets: Mapping[str, str],
    models: Mapping[str, str],
    explainers: Mapping[str, str],
    metrics: Mapping[str, Mapping[str, str]],
    kinds: Mapping[str, str],
    seeds: Mapping[str, Sequence[int]],
    families: Mapping[str, str],
    modalities: Mapping[str, Mapping[str, Sequence[str]]],
    comparisons: Mapping[str, list[list[str]]],
    target: str,
    formats: Sequence[str],
    alpha: float,
    as_often_bound: float,
    confidence: float,
    power: float,
    random: Sequence[str] = (),
    faithfulness: bool = False,
    frame: Mapping[str, Any] | None = None,
    pages: Collection[str] = (),
    only: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
    read: Read = read_files,
) -> Content:
    """All that the page of a study has.

    Args:
        folders: of the study's files.
        found: its tables; where it tells no verdicts, there are no effects.
        store: receives the arrays.
        manifests: of each run, what its model is.
        study: its name.
        datasets, models, explainers: names to labels, in the order in which they are offered.
        metrics: names to ``label`` and ``better``, ``higher`` or ``lower``.
        kinds: of each metric, what it measures: by this one of answers is of decisions or of reasons.
        seeds: of each model.
        families: of the metrics.
        modalities: what the explanations are, of the same units, with the ``explainers`` and ``metrics`` of each.
        comparisons: factors to pairs of levels; where there are none, all levels of every factor stand side by side.
        target: ``label`` or ``prediction``, the class that is explained.
        formats: of the study's figures.
        alpha, as_often_bound, confidence, power: of the statistics.
        random: the explainers that know nothing.
        faithfulness: whether metrics ask if reasons in words are what moved the decision.
        frame: what an audit says of itself, the section ``audit`` of the configuration; None where the study is none.
        pages: tables that the study has as pages.
        only: what of the models and explainers is for some datasets, see :class:`Runs`.
        read: gives the scores of each model, and what is to be said of them.
    """
    named = {"datasets": datasets, "models": models, "explainers": explainers}
    labels = {name: MetricLabel(name, each["label"], each["better"] == "higher") for name, each in metrics.items()}
    whole = found["effects"]
    judged = Judged(
        **named,
        metrics=labels,
        in_words=modalities[TEXT]["explainers"] if TEXT in modalities else (),
        words=SCORED if SCORES in modalities else EXPLAINED,
        sizes=whole["family"].value_counts().to_dict(),
        as_often_bound=as_often_bound,
        power=power,
        guessing=guessing(found["balanced_accuracy"]),
    )
    # Of every table of comparisons those that the page shows; only sizes of families are of the whole study.
    shown = named | {"metrics": families}
    of_page = {
        name: opening.of_the_page(table, shown) if set(CELL) <= set(table) else table
        for name, table in found.tables.items()
    }
    found = replace(found, tables=of_page)
    effects = found["effects"].reset_index(drop=True)
    told = tell_comparisons(effects, judged, found)
    asked = effects[effects["family"] != CONTROL]
    views = read_views(
        folders, effects, told, store, named=named, seeds=seeds, families=families, modalities=modalities,
        comparisons=comparisons, only=only, read=read,
    )  # fmt: skip
    of_datasets = _datasets(found, datasets, "scores" if SCORES in modalities else "texts")
    level = found.analyses.level_at_most(alpha)
    audited_models = [audited.describe_model(name, label, manifests or {}) for name, label in models.items()]
    since = describe_since(found, judged, audited_models, alpha)
    answer = opening.opening(
        effects,
        found["effect_counts"] if "effects" in found else None,
        told,
        judged,
        lambda row: _part(row, judged, kinds),
    )
    said = {
        "version": VERSION,
        "study": study,
        "question": opening.question_of(modalities),
        "warnings": [*describe_chance(found["balanced_accuracy"], datasets, models), *found.analyses.warnings],
        "opening": [*answer[:1], *([opening_of(since)] if since else []), *answer[1:]],
        "verdicts": opening.verdicts(effects),
        "comparisons": [each for each in told if each["family"] != CONTROL],
        "open": tell_open(asked, judged, found),
        "error": certainty.describe_error(asked, level),
        "controls": certainty.describe_controls(found, judged, random) if "effects" in found else [],
        # Notes say which units of a table have no partner.
        "left_out": [] if SCORES in modalities else certainty.describe_left_out(asked, views.in_pairs, judged),
        "interim_analyses": list(found.analyses.rows),
        "analyses": certainty.describe_analyses(found.analyses.rows, judged),
        "without_words": [
            row | {"probability": json_number(row["probability"])} for row in found["without_words"].to_dict("records")
        ],
        "decisions": tell_decisions(found, judged, folders.answers is not None) if "answered" in found else [],
        "decision_rates": describe_rates(found["decision_rates"], datasets, models),
        "reliance": describe_reliance(found, judged, random),
        "audited": {
            "models": audited_models,
            "datasets": of_datasets,
            "explainers": list(explainers.values()),
            "metrics": [metric.label for metric in labels.values()],
            "costs": audited.describe_costs(found["costs"], judged),
            "explained": _explained(target, modalities),
        },
        "not_tested": _not_tested(found, of_datasets, judged, seeds, families, modalities, faithfulness)
        + _others(len(whole) - len(effects)),
        "notes": list(dict.fromkeys([*found.notes, *views.notes, *notes_of_datasets(only or {})])),
        "frame": [] if frame is None else describe_frame(frame),
        "who_asks": [] if frame is None else who_asks(),
        "since": since,
        "judged": {"alpha": alpha, "confidence": confidence},
        "texts": {} if frame is None else _digests(folders, views.items),
        "evidence": audited.evidence(found.sha256, pages, folders.named) if "effects" in found else [],
    }
    tree = {
        "study": study,
        "first": _first(opening.clearest(opening.asked_first(effects))),
        "legend": opening.legend(effects, as_often_bound, modalities),
        "families": opening.KINDS,
        "models": dict(models),
        "explainers": dict(explainers),
        "metrics": {name: dict(entry) for name, entry in metrics.items()},
        "runs": {name: len(of_model) for name, of_model in seeds.items()},
        "content": views.content,
        "texts": folders.with_texts,
        "modalities": {
            name: {"label": opening.MODALITIES[name], **{key: list(entry) for key, entry in names.items()}}
            for name, names in modalities.items()
        },
        "target": target,
        "formats": list(formats),
    }
    return Content(said, tree)


def _digests(folders: Folders, items: Mapping[str, Collection[str]]) -> dict[str, list[str]]:
    """Of each dataset the digests of the texts that have scores, where its texts may be shown, for the next audit."""
    if not folders.with_texts:
        return {}
    found = {}
    for dataset, scored in items.items():
        texts = text_digests(folders.datasets, dataset)
        found[dataset] = sorted(set(texts["digest"][texts["item_id"].isin(scored)]))
    return found


def _part(row: Any, judged: Judged, kinds: Mapping[str, str]) -> str:
    """What a comparison is about."""
    if row.explainer not in judged.in_words:
        return opening.EXPLANATIONS if judged.words == EXPLAINED else opening.SCORED_ELSEWHERE
    return opening.DECISIONS if kinds.get(row.metric) in OF_DECISIONS else opening.REASONS


def _first(row: pd.Series | None) -> dict:
    """What the page shows where nobody has chosen: the clearest comparison, or what comes first."""
    if row is None:
        return {}
    names = {name: row[name] for name in ("dataset", "model", "explainer", "metric")}
    return names | {"groups": " / ".join(row[["factor", "level_a", "level_b"]])}


def _datasets(found: Found, datasets: Mapping[str, str], texts: str) -> list[dict]:
    """The datasets whose texts were explained, or scored elsewhere, and those whose questions were answered.

    ``texts``: what the texts are, ``texts`` or ``scores``.
    """
    groups = found["audited_groups"]
    return [
        audited.describe_dataset(row, groups[groups["dataset"] == row.dataset], datasets[row.dataset], what)
        for name, what in (("audited_texts", texts), ("audited_questions", "questions"))
        for row in found[name].itertuples(index=False)
        if row.dataset in datasets
    ]


def _explained(target: str, modalities: Collection[str]) -> str:
    if TOKENS not in modalities:
        return ""
    return "each text's label" if target == "label" else "the model's prediction for each text"


def _not_tested(
    found: Found,
    datasets: Sequence[Mapping],
    judged: Judged,
    seeds: Mapping[str, Sequence[int]],
    families: Mapping[str, str],
    modalities: Collection[str],
    faithfulness: bool,
) -> list[str]:
    if "effects" not in found:
        return []
    if SCORES in modalities:
        return audited.NOT_TESTED_OF_SCORES
    of_texts = [each for each in datasets if each["what"] == "texts"]
    told = []
    if TEXT not in modalities or len(modalities) > 1:
        told += audited.not_tested(of_texts, judged, seeds, found["effects"], "correctness" in families.values())
    return told + (not_tested_of_answers(found, faithfulness, beside=bool(told)) if TEXT in modalities else [])


def _others(count: int) -> list[str]:
    """That the study has comparisons of explanations which the page does not show, where it has."""
    return [f"{number(count, 'comparison')} of other explanations: tables/effects.html has them."] * bool(count)
