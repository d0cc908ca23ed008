"""A table of many texts from its file to the effects: the cost grows with the number of texts and not with its square.

Times are those of the processor. Four times as many texts take about four times as long, and sixteen times where
something looks at each text for each other one.
"""

import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from study_files import StudyFiles, called

from evenlight import datasets
from evenlight.datasets import Dataset
from evenlight.statistics.analyses.effects import effect_tables
from evenlight.texts.items import assign_validation, check_compared, check_items, clusters_kept_together, sampled_units

FEW, MANY = 3_000, 12_000
COMPARISONS = {
    "gender": [["women", "men"]],
    "age": [["young", "old"]],
    "gender+region": [["women+north", "men+west"], ["men+north", "women+west"]],
}
SETTINGS = {
    **dict.fromkeys(("words", "second", "pair", "cluster", "item", "split", "ground_truth")),
    "reader": "table",
    "text": "text",
    "label": "label",
    "classes": ["bad", "good"],
    "segmenter": "unicode",
    "test_share": 0.9,
    "split_seed": 0,
    "attributes": {
        "gender": {"column": "gender", "levels": ["women", "men"], "balanced": False},
        "age": {"column": "age", "levels": ["young", "middle", "old"], "cuts": [35, 60], "balanced": False},
        "region": {"column": "region", "levels": ["north", "south", "west"], "balanced": False},
    },
}


def table_of(rows: int, paired: bool) -> pd.DataFrame:
    random = np.random.default_rng(0)
    words = np.array(["bad", "good", "the", "old", "house", "stands", "far", "off", "and", "waits"])
    return pd.DataFrame(
        {
            "text": [" ".join(random.choice(words, length)) for length in random.integers(5, 41, rows)],
            "label": random.choice(["bad", "good"], rows),
            "gender": np.resize(["women", "men"], rows),
            "age": random.integers(18, 90, rows).astype(str),
            "region": np.where(random.random(rows) < 0.02, "", random.choice(["north", "south", "west"], rows)),
            "pair": np.arange(rows) // 2 if paired else np.arange(rows),
        }
    )


class Clock:
    """Seconds of the processor since the last look, by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.process_time()

    def stop(self, stage: str) -> None:
        self.seconds[stage], self._last = time.process_time() - self._last, time.process_time()


def costs(folder: Path, rows: int, paired: bool) -> dict[str, float]:
    """Seconds of each stage for a table of so many rows."""
    path = folder / f"{rows}.csv"
    table_of(rows, paired).to_csv(path, index=False)
    settings = SETTINGS | {"file": path.as_posix(), "pair": "pair" if paired else None}
    clock = Clock()
    dataset: Dataset = datasets.load({path.as_posix(): path}, datasets.Reader.parse(settings))
    clock.stop("read")
    whole = clusters_kept_together(dataset.items, dataset.units)
    items = assign_validation(dataset.items, whole, 0.1, 0)
    clock.stop("split")
    check_items(items, dataset.units, "large", list(settings["attributes"]))
    clock.stop("check")
    test = items[items["split"] == "test"]
    drawn = sampled_units(test, dataset.units, rows // 4, ["gender", "age", "region"])
    check_compared("large", dataset.units, drawn["item_id"], COMPARISONS)
    clock.stop("draw")
    files = StudyFiles(folder / str(rows))
    scores = np.random.default_rng(1).normal(size=len(test))
    files.write(test[["item_id"]].assign(pair_id=test["item_id"], group="women", explainer="made", gini=scores))
    files.write_dataset(items, dataset.units)
    clock.stop("write")
    effects, *_ = called(
        effect_tables,
        *files.folders,
        datasets=["plots"],
        models={"small": [0]},
        explainers=["made"],
        metrics={"gini": "complexity"},
        comparisons=COMPARISONS,
        **{"alpha": 0.05, "as_often_bound": 0.2, "smallest_effects": {}, "primary": {}, "noise": []},
        **{"confidence": 0.95, "bootstrap_draws": 100},
    )
    assert len(effects) == 4
    clock.stop("effects")
    return clock.seconds


@pytest.mark.slow
@pytest.mark.parametrize("paired", [False, True])
def test_four_times_as_many_texts_take_about_four_times_as_long(tmp_path, paired):
    few, many = (costs(tmp_path, rows, paired) for rows in (FEW, MANY))
    # What takes next to no time has no ratio.
    grown = {stage: many[stage] / max(few[stage], 0.1) for stage in few}
    assert {stage: ratio for stage, ratio in grown.items() if ratio > 8} == {}, (few, many)
