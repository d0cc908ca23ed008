"""What results give of a small folder of scores: two seeds, two explainers, eight pairs.

To hold a result, add a function to :data:`RESULTS` and take its name out of :data:`NOT_YET`.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from study_files import StudyFiles

from evenlight.core.seeds import generator_for
from evenlight.statistics.base import Inputs
from evenlight.statistics.results import Result

PAIRS, SEEDS, METRICS = 8, (0, 1), ("gini", "sparsity")
STUDY = {
    "datasets": ["plots"],
    "models": {"small": list(SEEDS)},
    "explainers": ["lime", "grad"],
    "metrics": dict.fromkeys(METRICS, "complexity"),
    "comparisons": {"gender": [["male", "female"]]},
}
JUDGED = {"alpha": 0.05, "as_often_bound": 0.2, "confidence": 0.95, "bootstrap_draws": 200}
VERDICTS = STUDY | JUDGED | {"smallest_effects": {"gini": 0.1}, "primary": {}, "noise": ["grad"]}
SUMMED = {"higher_is_better": dict.fromkeys(METRICS, True), "alpha": 0.05, "considerable_effect": 0.2}


def study(folder: Path) -> dict[str, Path]:
    """The folders of a study, with scores of which those about men are higher by lime."""
    files = StudyFiles(folder)
    for seed in SEEDS:
        draws = generator_for("golden", "scores", seed)
        rows = [
            {"item_id": f"{pair}-{group}", "pair_id": str(pair), "group": group, "explainer": explainer}
            | dict(zip(METRICS, base + draws.normal(size=2) + (explainer == "lime") * (group == "male"), strict=True))
            for explainer in STUDY["explainers"]
            for pair, base in enumerate(np.linspace(0, 3, PAIRS))
            for group in ("male", "female")
        ]
        files.write(pd.DataFrame(rows), seed)
    return {"scores": files.scores, "datasets": files.datasets}


def made(name: str, folder: Path, settings: dict, tables: Sequence[pd.DataFrame] = ()) -> list[pd.DataFrame]:
    """The tables of a result."""
    inputs = Inputs(study(folder), tables, [[] for _ in tables])
    return list(Result.parse({"result": name, **settings}).compute(inputs).tables)


def _disparity(folder: Path) -> list[pd.DataFrame]:
    return made("measure_disparity", folder, STUDY)


RESULTS: dict[str, Callable[[Path], list[pd.DataFrame]]] = {
    "measure_disparity": _disparity,
    "summarise_scores": lambda folder: made("summarise_scores", folder, STUDY),
    "summarise_disparity": lambda folder: made("summarise_disparity", folder, SUMMED, _disparity(folder)),
    "estimate_effects": lambda folder: made("estimate_effects", folder, VERDICTS),
    "permute_verdicts": lambda folder: made("permute_verdicts", folder, VERDICTS | {"verdict_permutations": 2}),
    "measure_beyond_random": lambda folder: made(
        "measure_beyond_random", folder, VERDICTS | {"random": ["grad"], "attainable": {"gini": "lime"}}
    ),
    "estimate_texts_needed": lambda folder: made(
        *("estimate_texts_needed", folder, {"as_often_bound": 0.2, "power": 0.8}),
        made("estimate_effects", folder, VERDICTS)[:1],
    ),
}

# Results of which nothing is held.
NOT_YET = (
    "adjust_for_covariates",
    "check_ground_truth",
    "check_looks",
    "classify_empty_texts",
    "compare_attributions",
    "compare_challengers",
    "compare_decisions",
    "compare_definitions",
    "compare_draws",
    "compare_published",
    "count_decisions",
    "count_questions",
    "count_texts",
    "find_examples",
    "measure_faithfulness",
    "measure_predictions",
    "measure_quality",
    "measure_reliance",
    "measure_specifications",
    "permute_groups",
    "record_analyses",
    "record_looks",
    "summarise_agreement",
    "summarise_concepts",
    "summarise_costs",
    "summarise_learning_rates",
    "summarise_masked_words",
    "summarise_randomisation",
    "summarise_regimes",
)


def tables_of(name: str, folder: Path) -> dict[str, pd.DataFrame]:
    """The tables of a result by their place."""
    return {f"table {place}": table for place, table in enumerate(RESULTS[name](folder), start=1)}
