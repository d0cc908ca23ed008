"""What results give of the study of golden_study.py.

To hold a result, add what it is asked to :data:`RESULTS`.
"""

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from golden_study import (
    ANSWERING,
    CHANGE_METRICS,
    CONCEPTS,
    ESTIMATING,
    EXPLAINERS,
    METRICS,
    RATES,
    SEEDS,
    drawn,
    rows_of,
    write_study,
)

from evenlight.core import tables
from evenlight.core.contracts.results import QUALITY, SUMMARY
from evenlight.core.seeds import generator_for
from evenlight.judging.results import Result
from evenlight.statistics.analyses.base import Computed, Inputs

GROUPS = ("male", "female")
# What is compared: pairs, pairs and texts alone, more than two groups, and groups by two factors.
PAIRS = {"comparisons": {"gender": [list(GROUPS)]}}
COMPARED = {"comparisons": {"gender": [list(GROUPS)], "source": [["paper", "radio"]]}}
THREE = {"comparisons": {"gender": [["male", "female", "other"]]}}
JOINT = {"comparisons": COMPARED["comparisons"] | {"gender+source": [["male+paper", "female+radio"]]}}
# Runs of both datasets, and scores of one.
RUNS = {"datasets": ["plots", "news"], "models": {"small": list(SEEDS)}}
SCORED = RUNS | {"explainers": ["lime", "grad"], "metrics": dict.fromkeys(METRICS, "complexity")}
NEWS = SCORED | COMPARED | {"datasets": ["news"]}
JUDGED = {"alpha": 0.05, "as_often_bound": 0.2, "confidence": 0.95, "bootstrap_draws": 200}
VERDICTS = {"smallest_effects": {"gini": 0.1}, "primary": {}, "noise": ["grad"]} | JUDGED
DRAWN = {"confidence": 0.95, "bootstrap_draws": 100}
STRATEGIES = NEWS | {
    "models": {"small": list(SEEDS), "large": list(SEEDS)},
    "strategies": {"bert": {"C": "small", "CE": "large"}},
    "explainers": list(EXPLAINERS),
    "comparisons": {},
}
ANSWERS = NEWS | {"explainers": [ANSWERING], "metrics": {"words": "answers", "refusal": "answers"}}
ANSWERS |= PAIRS
PLANNED = {"looks": {"looks": [10, 20], "plan": "first", "spending": "pocock", "spending_shares": [], "settings": ""}}
PUBLISHED = {"dataset": ["geco_all", "compas"], "model": ["base", "fresh"], "explainer": ["grad", "lime"]}
TABLE = {"reader": "scores", "file": "scores.csv", "unit": "pair", "group": "gender", "cell": ["metric"]}
TABLE |= {"better": {"loss": "lower"}, "margin": 0.1}
# The same with texts without pairs, a dataset of their own.
JUDGED_TABLE = TABLE | {"file": "judged.csv", "cell": ["dataset", "metric"], "stratum": "topic"}
LEVELS = JUDGED | {"adjustment": "holm"}
# Metrics of changed and of follow-up questions.
OF_ANSWERS = {
    "questions": ["concept_faithfulness", "phi_correlational_test"],
    "follow_ups": ["hint_told", "redaction_consistency"],
}


@cache
def _folder() -> tempfile.TemporaryDirectory:
    """A folder that is there as long as this process is."""
    return tempfile.TemporaryDirectory()


@cache
def study() -> Mapping[str, Path]:
    """The folders of the study; a table of scores lies beside those of its runs."""
    folders = write_study(Path(_folder().name))
    rows = rows_of(pair=[f"pair{number:02}" for number in range(14)], gender=list(GROUPS), metric=["gini", "loss"])
    scores = generator_for("golden", "table of scores").normal((rows["gender"] == "male") * 0.8)
    folder = Path(_folder().name)
    # Strata whose names are not in the order of the rows.
    topic = ["baa"[row // 4 % 3] for row in range(len(rows))]
    rows = rows.assign(score=scores.round(2), topic=topic)
    rows.to_csv(folder / TABLE["file"], index=False)
    texts = rows.assign(pair=rows["pair"] + rows["gender"], dataset="texts")
    pd.concat([rows.assign(dataset="pairs"), texts]).to_csv(folder / JUDGED_TABLE["file"], index=False)
    return {**folders, "score_table": folder, "baseline": folder}


@dataclass(frozen=True)
class Asked:
    """What a result is asked.

    Attributes:
        settings: as its rule gives them.
        reads: makes the tables that it reads.
        earlier: where there is a record, what was other when a result that adds to its table was made before.
    """

    settings: Mapping[str, Any]
    reads: Callable[[], list[pd.DataFrame]] = list
    earlier: Mapping[str, Any] | None = None


def compute(name: str, settings: Mapping[str, Any], read: Sequence[pd.DataFrame] = ()) -> Computed:
    """What a result gives: the one place that knows how it is called."""
    inputs = Inputs(study(), read, [[] for _ in read])
    return Result.parse({"result": name, **settings}).compute(inputs)


@cache
def made(name: str) -> list[pd.DataFrame]:
    """The tables of a result."""
    asked = RESULTS[name]
    read, record = asked.reads(), study()["results"] / f"{name}.parquet"
    settings = {"record": str(record)} if asked.earlier is not None else {}
    if asked.earlier:
        before = compute(name, asked.settings | asked.earlier | settings, read)
        [contract] = Result.entries[name].tables.values()
        tables.write_table(before.tables[0], record, contract, before.about)
    return list(compute(name, asked.settings | settings, read).tables)


def judged_pairs() -> pd.DataFrame:
    """The effects of the table of pairs alone."""
    settings = {"table": TABLE | {"stratum": "topic"}, "verdict_permutations": 0} | LEVELS
    return compute("judge_scores", settings).tables[0]


def effects_of_both() -> list[pd.DataFrame]:
    """The effects of both datasets; the clearest are no hypothesis."""
    return list(compute("estimate_effects", SCORED | COMPARED | VERDICTS | {"noise": ["lime"]}).tables[:1])


def effects_since_an_audit() -> list[pd.DataFrame]:
    """The effects, and a filed audit of other texts in which the groups had each other's wins."""
    [effects] = made("estimate_effects")[:1]
    exchanged = {"wins": effects["losses"], "losses": effects["wins"], "share": 1 - effects["share"]}
    exchanged |= {"low": 1 - effects["high"], "high": 1 - effects["low"]}
    told = {"study": "last", "frame": [], "audited": {"models": []}, "judged": {"confidence": 0.95}}
    told |= {"texts": {"news": []}, "comparisons": json.loads(effects.assign(**exchanged).to_json(orient="records"))}
    (study()["baseline"] / "audit.json").write_text(json.dumps(told), encoding="utf-8")
    return [effects]


def cells_beside_published() -> list[pd.DataFrame]:
    """A summary of disparities, and the quality of models."""
    names = rows_of(**PUBLISHED, metric=[*METRICS, "comprehensiveness"], factor=["gender"])
    compared = [GROUPS, GROUPS, GROUPS, GROUPS[::-1], ("male", "other")]
    level_a, level_b = zip(*(compared[row % len(compared)] for row in names.index), strict=True)
    draws = generator_for("golden", "cells")
    summary = drawn(
        SUMMARY,
        names,
        "beside published",
        level_a=level_a,
        level_b=level_b,
        seeds=3,
        significant_seeds=draws.integers(0, 4, len(names)),
    )
    quality = rows_of(
        **{part: PUBLISHED[part] for part in ("dataset", "model")},
        subset=["male", "female", "recidivism", "female – male"],
    )
    measure = quality["subset"].map({"recidivism": "recall", "female – male": "average_prediction_difference"})
    return [summary, drawn(QUALITY, quality, "beside published", measure=measure.fillna("accuracy"))]


# Results about verdicts, and what is asked of the same cells.
RESULTS = {
    "measure_disparity": Asked(NEWS | {"strata": {"news": "label"}}),
    "summarise_scores": Asked(NEWS | {"factors": ["gender", "source"]}),
    "summarise_disparity": Asked(
        {"higher_is_better": dict.fromkeys(METRICS, True), "alpha": 0.05, "considerable_effect": 0.2},
        lambda: made("measure_disparity"),
    ),
    "estimate_effects": Asked(NEWS | VERDICTS),
    # Of few cells at a high level, else hardly any permutation has a verdict.
    "permute_verdicts": Asked(NEWS | VERDICTS | PAIRS | {"alpha": 0.9, "verdict_permutations": 6}),
    "measure_beyond_random": Asked(
        NEWS
        | VERDICTS
        | {"random": ["grad"], "upper_bound": {"gini": "lime", "sparsity": "grad"}}
        | {"higher_is_better": {"gini": True, "sparsity": False}}
    ),
    "compare_proposed_methods": Asked(
        STRATEGIES
        | VERDICTS
        | {"proposed_methods": ["lime"], "rivals": ["grad", "again"], "primary_metrics": ["gini"]}
        | {"higher_is_better": {"gini": True, "sparsity": False}}
    ),
    "record_analyses": Asked(
        NEWS | {"plan": "", "pairs": {"news": 20}, "alpha": 0.05}, earlier={"first": 10, "alpha": 0.1}
    ),
    "check_looks": Asked(NEWS | VERDICTS | PLANNED | {"pairs": 20}, earlier={}),
    "record_looks": Asked(
        NEWS | VERDICTS | PLANNED | {"pairs": 20}, lambda: made("check_looks"), earlier={"pairs": 10}
    ),
    "adjust_for_covariates": Asked(
        NEWS
        | {"explainers": ["lime", "again"]}
        | {"confidence": 0.95, "control_draws": 20, "from_probability": ["sparsity"]}
    ),
    "permute_groups": Asked(NEWS | {"strata": {"news": "label"}, "alpha": 0.05, "control_draws": 20}),
    "measure_specifications": Asked(
        NEWS
        | {
            "models": STRATEGIES["models"],
            "explainers": ["lime", "again"],
            "comparisons": {"gender": [["male", "female"]]},
        }
        | {"kinds": {"complexity": list(METRICS)}, "methods": {"lime": "lime", "again": "lime"}}
        | {"higher_is_better": {"gini": True, "sparsity": False}, "alpha": 0.05, "control_draws": 50}
    ),
    "compare_definitions": Asked({"disputed": {"complexity": list(METRICS)}}, lambda: cells_beside_published()[:1]),
    "compare_published": Asked(
        {f"{part}s": names for part, names in PUBLISHED.items()}
        | {"metrics": [*METRICS, "comprehensiveness"], "beside": {"base": "BERT", "fresh": "BERT from scratch"}},
        cells_beside_published,
    ),
    # Of strategies, of models and of texts.
    "summarise_strategies": Asked(
        STRATEGIES
        | DRAWN
        | {"together": ["lime", "grad"], "mass_accuracies": {"gini": "paper", "sparsity": "released"}}
    ),
    "summarise_masked_words": Asked(RUNS | COMPARED | DRAWN),
    "measure_quality": Asked(RUNS | COMPARED),
    "measure_predictions": Asked(RUNS),
    "describe_decisions": Asked(RUNS),
    "classify_empty_texts": Asked(RUNS | {"hidden": ["mask", "delete"]}),
    "check_ground_truth": Asked({"datasets": RUNS["datasets"], "permutations": 50, "alpha": 0.05}),
    "count_texts": Asked(RUNS | JOINT | {"family": "complexity", "explainers": ["lime", "grad"]}),
    # Of explanations.
    "compare_attributions": Asked(RUNS | THREE | {"explainers": ["lime", "grad"]}),
    "measure_reliance": Asked(
        RUNS
        | COMPARED
        | {"explainers": {"lime": "again", "again": None, "grad": "grad"}}
        | {"words_of": ["news"], "texts": 12, "confidence": 0.95}
    ),
    "summarise_agreement": Asked(RUNS | COMPARED | {"alpha": 0.05}),
    "summarise_randomisation": Asked(RUNS | {"explainers": ["lime", "grad"]}),
    "summarise_concepts": Asked(
        {"datasets": ["reviews"], "models": RUNS["models"], "concepts": {"reviews": CONCEPTS}, "forgetting": []}
        | {"explainers": list(ESTIMATING), "metrics": list(CHANGE_METRICS)}
        | DRAWN
    ),
    # Of answers in words.
    "compare_draws": Asked(ANSWERS | DRAWN),
    "compare_decisions": Asked(
        ANSWERS | VERDICTS | {"comparisons": {"gender": [["male", "female"], ["other", "female"]]}}
    ),
    "count_decisions": Asked(ANSWERS),
    "count_questions": Asked(
        {part: ANSWERS[part] for part in ("datasets", "models", "explainers", "comparisons")} | {"family": "answers"}
    ),
    "measure_faithfulness": Asked(
        {"datasets": ["news"], "models": {"small": [0]}, "explainers": [ANSWERING], "factors": ["source"]}
        | {part: {name: {"metric": name} for name in names} for part, names in OF_ANSWERS.items()}
        | DRAWN
    ),
    # Of scores that were made elsewhere.
    "read_scores": Asked({"table": TABLE}),
    "judge_scores": Asked({"table": JUDGED_TABLE, "verdict_permutations": 3} | LEVELS),
    "record_score_looks": Asked(
        PLANNED | {"alpha": 0.05, "file": TABLE["file"]}, lambda: made("read_scores"), earlier={}
    ),
    "record_score_analyses": Asked(
        {"plan": "", "alpha": 0.05, "file": TABLE["file"]},
        lambda: [*made("read_scores"), judged_pairs()],
        earlier={"alpha": 0.1},
    ),
    # Of costs and plans.
    "summarise_costs": Asked(RUNS | {"explainers": list(EXPLAINERS)}),
    "summarise_learning_rates": Asked({"datasets": ["plots"], "models": {"small": list(RATES)}}),
    "compare_audits": Asked(NEWS | VERDICTS | {"baseline": "audit.json"}, effects_since_an_audit),
    "estimate_texts_needed": Asked({"as_often_bound": 0.2, "power": 0.8}, lambda: made("estimate_effects")[:1]),
}

# What is not held of a table: when it was made, and digests of Parquet files, whose bytes depend on pyarrow's version.
NOT_HELD = ["made", "sha256"]


def rows_held(table: pd.DataFrame) -> pd.DataFrame:
    """What is held of a table, in an order of rows that follows from its names and counts."""
    kept = table.drop(columns=NOT_HELD, errors="ignore")
    keys = [name for name in kept if kept[name].map(lambda value: isinstance(value, (str, int, type(None)))).all()]
    return kept.sort_values(keys, key=lambda column: column.astype(str), kind="stable") if keys else kept


def tables_of(name: str) -> dict[str, pd.DataFrame]:
    """What is held of the tables of a result, by their place."""
    return {f"table {place}": rows_held(table) for place, table in enumerate(made(name), start=1)}
