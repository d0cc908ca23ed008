"""The scripts of bench/, as modules for the tests, and what they read: a tiny trained model and test texts."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pandas as pd
import torch
from dataset_files import write_dataset
from models_for_tests import WORDS
from tiny_models import write_model
from transformers import AutoConfig, AutoModelForSequenceClassification

ROOT = Path(__file__).parents[2]
BENCH = ROOT / "bench"


def script(name: str) -> ModuleType:
    """A script of bench/, or of a folder in it, as a module of its own."""
    [path] = BENCH.rglob(f"{name}.py")
    specification = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def write_bert(folder: Path, **sizes: int) -> Path:
    """A tiny BERT with random weights that differ enough for explanations to differ."""
    write_model("bert", folder, WORDS)
    config = AutoConfig.from_pretrained(folder, num_labels=2, initializer_range=0.3, **sizes)
    torch.manual_seed(7)
    AutoModelForSequenceClassification.from_config(config).save_pretrained(folder)
    return folder


def write_texts(folder: Path) -> Path:
    """Pairs of test texts and one pair to train with; the path of the table of items."""
    groups = [group for _ in range(len(WORDS) // 2 + 1) for group in ("male", "female")]
    pairs = [str(place // 2) for place in range(len(groups))]
    rows = pd.DataFrame({"pair_id": pairs, "group": groups, "words": [*WORDS, ["a"], ["b"]]})
    split = ["test"] * len(WORDS) + ["train"] * 2
    labels = [0, 1] * (len(groups) // 2)
    item_id = rows["pair_id"] + rows["group"]
    write_dataset(rows.assign(item_id=item_id, label=labels, split=split, ground_truth=None), folder)
    return folder / "items.parquet"
