"""Networks that predict the levels of a concept: what they learn from, what they are asked, and that they do so
again.
"""

import json
import runpy
import shutil
import signal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evenlight import configuration
from evenlight.core.contracts.texts import ITEMS
from evenlight.core.tables import write_table
from evenlight.engine.checkpoints import Checkpoint

SCRIPT = Path(__file__).parents[3] / "workflow/scripts/models/predict_levels.py"
WORDS = {"negative": "bad", "positive": "good", "unknown": "some"}
LEVELS = list(WORDS)
STUDY = {
    "study": "levels",
    "datasets": {"reviews": {"reader": "cebab"}},
    "trainings": {"some": {"learning_rate": 0.02, "batch_size": 8, "epochs": 12}},
    "models": {
        "one_layer": {
            "architecture": "one_layer_attention",
            "hidden_size": 8,
            "tokenizer": {"vocabulary_size": 100},
            "training": "some",
        },
        "lstm": {"architecture": "lstm_attention", "hidden_size": 8, "state_size": 8, "training": "some"},
    },
    "kind": "concepts",
    "explainers": {"conexp": {"method": "conexp"}},
    "metrics": {"cosine": {"metric": "icace_error"}},
}
CONFIG = configuration.complete(STUDY)


def items_of(texts: int = 120) -> pd.DataFrame:
    """Reviews whose food is told by one word, among words that say nothing; some have no label of it."""
    draw = np.random.default_rng(0)
    level = draw.choice(LEVELS, texts)
    return pd.DataFrame(
        {
            "item_id": [f"item{number}" for number in range(texts)],
            "words": [[*draw.choice(["we", "came", "they", "went"], 3), WORDS[name], "food"] for name in level],
            "ground_truth": None,
            # What the model of the study learns has nothing to do with the food.
            "label": draw.integers(2, size=texts),
            "split": ["train"] * (texts // 2) + ["validation"] * (texts // 4) + ["test"] * (texts - texts * 3 // 4),
            "cluster": [f"item{number}" for number in range(texts)],
            "attribute.food": np.where(np.arange(texts) % 9 == 0, "no majority", level),
            "truth": level,
        }
    )


def predicted(folder: Path, items: pd.DataFrame, model: str = "one_layer", **flags: str) -> pd.DataFrame | str:
    """What the script writes of the food of ``items``, or what it says where it fails."""
    write_table(items.drop(columns="truth"), folder / "items.parquet", ITEMS, {"classes": ["a", "b"], "notes": []})
    recipe = configuration.recipe(CONFIG, model, "reviews")
    settings = json.dumps({"model": recipe, "concept": "food", "levels": LEVELS, "seed": 0})
    named = {"items": str(folder / "items.parquet"), "settings": settings, "versions": "{}", "device": "cpu"} | flags
    named["output"] = str(folder / "food.parquet")
    command = [str(SCRIPT), *(part for name, value in named.items() for part in (f"--{name}", value))]
    handler = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.argv", command)
            runpy.run_path(str(SCRIPT), run_name="__main__")
    except SystemExit as end:
        return str(end)
    finally:
        signal.signal(signal.SIGTERM, handler)
    return pd.read_parquet(folder / "food.parquet")


@pytest.mark.parametrize("model", STUDY["models"])
def test_levels_are_told_from_the_words_for_them(tmp_path, model):
    items = items_of()
    table = predicted(tmp_path, items, model)
    test = items[items["split"] == "test"]
    assert table["item_id"].tolist() == test["item_id"].tolist()
    assert table["level"].tolist() == test["truth"].tolist()
    # Nothing of the training is left.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["food.parquet", "items.parquet"]


def test_only_texts_with_a_label_are_learned_from_and_the_test_is_not_looked_at(tmp_path):
    """And in batches of one text, the same is told."""
    items = items_of(80)
    first = predicted(tmp_path, items)
    others = items.copy()
    others.loc[others["split"] == "test", "attribute.food"] = "negative"
    is_unlabelled = (others["attribute.food"] == "no majority") & (others["split"] != "test")
    others.loc[is_unlabelled, "words"] = others.loc[is_unlabelled, "words"].map(lambda words: [*words, "bad", "good"])
    assert predicted(tmp_path, others, **{"tokens-per-batch": "1"})["level"].tolist() == first["level"].tolist()


def test_a_network_that_was_stopped_goes_on(tmp_path, monkeypatch, capsys):
    items, write, written = items_of(80), Checkpoint.write, []

    def stop_after_three(checkpoint: Checkpoint, state: dict) -> None:
        write(checkpoint, state)
        written.append(checkpoint.path)
        if len(written) == 3:
            raise KeyboardInterrupt

    whole = predicted(tmp_path, items)
    monkeypatch.setattr(Checkpoint, "write", stop_after_three)
    with pytest.raises(KeyboardInterrupt):
        predicted(tmp_path, items, **{"checkpoint-minutes": "1e-9"})
    monkeypatch.undo()
    assert written[-1].is_file()
    kept = shutil.copytree(written[-1].parent, tmp_path / "kept")
    capsys.readouterr()
    assert predicted(tmp_path, items)["level"].tolist() == whole["level"].tolist()
    assert "step 3 of epoch 0" in capsys.readouterr().out
    assert not written[-1].parent.exists()
    # Of other texts nothing goes on.
    kept.rename(written[-1].parent)
    predicted(tmp_path, items.assign(words=items["words"].map(lambda words: words[::-1])))
    assert "goes on" not in capsys.readouterr().out


def test_what_cannot_be_learned_is_refused_and_one_level_needs_no_network(tmp_path):
    items = items_of(40)
    for split, said in (("train", "training"), ("validation", "validation")):
        none = items.assign(**{"attribute.food": items["attribute.food"].mask(items["split"] == split)})
        assert f"concept food: no {said} text" in predicted(tmp_path, none)
    long = items.copy()
    long.at[39, "words"] = ["good"] * 600
    assert "item39 has 602 tokens" in predicted(tmp_path, long)
    single = predicted(tmp_path, items.assign(**{"attribute.food": "positive"}))
    assert set(single["level"]) == {"positive"}
    assert len(single) == 10
