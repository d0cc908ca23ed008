"""Memory that does not grow with the dataset: reading, explaining and scoring are done and stored group by group."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from dataset_files import write_dataset
from models_for_tests import tiny_classifier

from evenlight.core.contracts.explanations import ATTRIBUTIONS, SCORES
from evenlight.core.contracts.texts import PREDICTIONS
from evenlight.core.tables import count_rows
from evenlight.engine.training import HISTORY, save_classifier

SCRIPTS = Path(__file__).parents[3] / "workflow" / "scripts"
SHORT = [
    ["She", "waits", "."],
    ["He", "waits", "."],
    ["Her", "brother", "sails", "alone", "."],
    ["The", "captain", "."],
]
METHODS = {"grad": {"method": "saliency"}, "gxi": {"method": "input_x_gradient"}}
FAITHFULNESS = {"comprehensiveness": {"metric": "aopc_comprehensiveness", "shares": [0.5]}}
# Runs a script and then says how much memory it had at most, in KiB. getrusage would count the process that started
# it, which is pytest with all that it has loaded.
MEASURED = """
import runpy, sys
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
print(*(line for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc; run it on Linux")


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    save_classifier(tiny_classifier("one_layer_attention"), folder, pd.DataFrame(columns=HISTORY), {})
    return folder


def peak(script: str, *flags: str | Path) -> float:
    """The most memory, in MiB, that a script had."""
    command = [sys.executable, "-c", MEASURED, str(SCRIPTS / script), *map(str, flags)]
    # Else what is measured is how many heaps the threads of the allocator and of Arrow happen to use.
    environment = os.environ | {"OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1", "TOKENIZERS_PARALLELISM": "false"}
    environment["PYTHONPATH"] = str(SCRIPTS)
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split("VmHWM:")[1].split()[0]) / 1024


def peaks(folder: Path, model: Path, count: int) -> dict[str, float]:
    """The peaks of reading, explaining and scoring ``count`` short sentences."""
    folder.mkdir()
    number = np.arange(count)
    items = pd.DataFrame(
        {
            "item_id": [f"item{one}" for one in number],
            "pair_id": [f"pair{one // 2}" for one in number],
            "group": np.where(number % 2, "male", "female"),
            "label": number // 2 % 2,
            "words": [SHORT[one % len(SHORT)] for one in number],
            "ground_truth": [[1] + [0] * (len(SHORT[one % len(SHORT)]) - 1) for one in number],
            "split": "test",
        }
    )
    write_dataset(items, folder)
    limits = {"precision": "float32", "max_tokens": 48}
    read = {"target": "prediction", "pairs": None, "factors": [], "max_tokens": 48, "long_items": "refuse"}
    explained = {"family": "gradient", "explainers": METHODS, "seed": 0} | limits
    scored = {"family": "faithfulness", "metrics": FAITHFULNESS} | limits
    attribution_files = [folder / f"{name}.parquet" for name in METHODS]
    scores = [folder / "scores" / f"{name}.parquet" for name in METHODS]
    common = ["--items", folder / "items.parquet", "--model", model, "--device", "cpu"]
    predictions = folder / "predictions.parquet"
    asked = [*common, "--predictions", predictions]
    costs = [folder / "costs" / path.name for path in attribution_files]
    commands = {
        "models/read_texts.py": [*common, "--units", folder / "units.parquet", "--output", predictions],
        "explanations/attribute.py": [*asked, "--output", *attribution_files, "--costs", *costs],
        "explanations/score.py": [*asked, "--attributions", *attribution_files, "--output", *scores],
    }
    settings = dict(zip(commands, (read, explained, scored), strict=True))
    found = {
        script: peak(script, *flags, "--settings", json.dumps(settings[script])) for script, flags in commands.items()
    }
    assert count_rows(predictions, PREDICTIONS) == count
    assert [count_rows(path, ATTRIBUTIONS) for path in attribution_files] == [count, count]
    assert [count_rows(path, SCORES) for path in scores] == [count, count]
    return found


@pytest.mark.slow
def test_more_sentences_need_no_more_memory(tmp_path, model):
    """Sentences with their scores would be 2 KiB each, 156 MiB more; names and groups are 0.4 KiB.

    Fewer than the first number do not fill what a step works on at once.
    """
    few, many = (peaks(tmp_path / str(count), model, count) for count in (20_000, 100_000))
    assert all(many[script] < few[script] + 60 for script in few), (few, many)
