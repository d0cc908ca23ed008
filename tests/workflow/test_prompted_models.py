"""Language models that are asked by a prompt: a study of them, from folders to tables."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import torch
import yaml
from hub_tokenizers import write_tokenizer
from models_for_tests import spread_weights
from running import PROJECT, copy_of_project, edited, planned_jobs, results, run_study
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer, BertConfig, GPT2Config

TEXTS = [
    f"A {opinion} {thing} of {place} , and the end is {opinion}"
    for opinion in ("good", "bad")
    for thing in ("film", "book")
    for place in ("today", "Rome", "rare hope")
]
SENTIMENT = ["positive"] * 6 + ["negative"] * 6


def write_model(kind: str, config, tokenizer: str, folder: Path) -> Path:
    torch.manual_seed(0)
    network = kind.from_config(config)
    spread_weights(network, 0.4)
    network.save_pretrained(folder)
    return write_tokenizer(tokenizer, folder, [text.split() for text in TEXTS])


def log_odds(folder: Path, text: str, template: str) -> float:
    """Of `good` against `bad`, each one token, by one plain call."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    filled = template.replace("{text}", text)
    if tokenizer.mask_token is None:
        prompt = tokenizer(filled.removesuffix(" {label}"), return_tensors="pt")
        logits = AutoModelForCausalLM.from_pretrained(folder)(**prompt).logits[0, -1]
        words = ["Ġgood", "Ġbad"]
    else:
        prompt = tokenizer(filled.replace("{label}", "[MASK]"), return_tensors="pt")
        slot = prompt["input_ids"][0].tolist().index(tokenizer.mask_token_id)
        logits = AutoModelForMaskedLM.from_pretrained(folder)(**prompt).logits[0, slot]
        words = ["good", "bad"]
    positive, negative = logits[tokenizer.convert_tokens_to_ids(words)].tolist()
    return positive - negative


@pytest.mark.slow
def test_the_guide_describes_a_study_of_language_models(tmp_path):
    """The example of docs/models.md with a prompt as it is printed, but for the models, which are made here."""
    examples = re.findall(r"```yaml\n(.*?)```", (PROJECT / "docs" / "models.md").read_text(), re.DOTALL)
    [models] = [yaml.safe_load(example) for example in examples if "architecture: prompted" in example]
    study = edited(yaml.safe_load(examples[0]), "models", value=models["models"])
    folders = {}
    for name, model in study["models"].items():
        model["source"] = name
        folders[name] = tmp_path / "project" / name
    study["explainers"] = {
        "igxi": {"method": "integrated_gradients", "steps": 5},
        "occlusion": {"method": "occlusion", "hidden_token": "removed"},
        "lime": {"method": "lime", "features": "word", "samples": 30},
    }
    study["metrics"] |= {"sparsity": {"metric": "sparsity"}}
    project = copy_of_project(tmp_path / "project", study)
    pd.DataFrame({"text": TEXTS, "sentiment": SENTIMENT}).to_csv(project / "reviews.csv", index=False)
    sizes = {"vocab_size": 500, "hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 2}
    write_model(
        AutoModelForCausalLM, GPT2Config(vocab_size=500, n_embd=16, n_layer=1, n_head=2), "gpt2", folders["gpt2"]
    )
    write_model(AutoModelForMaskedLM, BertConfig(**sizes, num_hidden_layers=1), "bert", folders["bert"])

    assert {rule for rule, _ in planned_jobs(project)}.isdisjoint({"train", "fetch_source"})
    run_study(project)

    quality = pd.read_csv(results(project) / "tables" / "models.csv")
    scores = pd.read_csv(results(project) / "tables" / "scores.csv")
    for name, folder in folders.items():
        template = study["models"][name]["template"]
        odds = np.array([log_odds(folder, text, template) for text in TEXTS])
        manifest = json.loads((results(project) / "models" / "reviews" / name / "seed0" / "manifest.json").read_text())
        if prior := manifest["prior"]:
            odds -= np.log(prior["positive"] / prior["negative"])
        predictions = pq.read_table(results(project) / "predictions" / "reviews" / name / "seed0.parquet").to_pydict()
        expected = np.stack([1 / (1 + np.exp(odds)), 1 / (1 + np.exp(-odds))], axis=1)
        np.testing.assert_allclose(predictions["probability"], expected, atol=1e-5)
        correct = np.mean((odds > 0) == (np.array(SENTIMENT) == "positive"))
        [accuracy] = quality.loc[(quality["measure"] == "accuracy") & (quality["model"] == name), "mean"]
        assert accuracy == np.round(correct, 6) or np.isclose(accuracy, correct)
        # Scores stand at the words of the text alone.
        attribution_file = pq.read_table(
            results(project) / "attributions" / "reviews" / name / "seed0" / "igxi.parquet"
        ).to_pydict()
        for word_id, token_score in zip(predictions["word_id"], attribution_file["token_score"], strict=True):
            is_prompt = np.array(word_id) == -2
            assert is_prompt.any()
            assert not np.array(token_score)[is_prompt].any()
            assert np.array(token_score)[~is_prompt].any()
    assert set(scores["model"]) == set(folders)
    assert set(scores["explainer"]) == set(study["explainers"])
    assert scores["mean"].notna().all()
