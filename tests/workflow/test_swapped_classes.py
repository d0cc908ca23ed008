"""Classes in the other order: what is explained for the class of a text is what it was."""

import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import torch
from hub_tokenizers import write_tokenizer
from running import copy_of_project, planned_jobs, results, run_study
from transformers import AutoModelForCausalLM, BertConfig, BertForSequenceClassification, GPT2Config

TEXTS = [
    f"A {opinion} {thing} of {place} , and the end is {opinion}"
    for opinion in ("good", "bad", "usual")
    for thing in ("film", "book")
    for place in ("today", "Rome")
]
CLASSES = ["positive", "negative", "neutral"]
READER = {
    "reader": "table", "file": "reviews.csv", "text": "text", "label": "sentiment", "classes": CLASSES,
    "attributes": {}, "test_share": 1,
}  # fmt: skip
STUDY = {
    "study": "swapped",
    "kind": "description",
    "seeds": [0],
    "device": "cpu",
    "datasets": {"reviews": READER, "reviews_swapped": READER | {"swap_classes": True}},
    "models": {
        "ready": {"architecture": "trained", "source": "ready"},
        "prompted": {
            "architecture": "prompted",
            "source": "prompted",
            "special_tokens": {"pad": "<|endoftext|>", "mask": "<|endoftext|>"},
            "template": "{text} It was {label}",
            "label_words": {"positive": ["good"], "negative": ["bad"], "neutral": ["usual"]},
            "content_free": ["N/A"],
        },
    },
    "explainers": {
        "igxi": {"method": "integrated_gradients", "steps": 5},
        "contrast": {"method": "input_x_gradient", "output": "contrast"},
        "occlusion": {"method": "occlusion", "hidden_token": "removed"},
        "lime": {"method": "lime", "samples": 30},
    },
    "metrics": {
        "comprehensiveness": {"metric": "aopc_comprehensiveness"},
        "eraser": {"metric": "aopc_sufficiency", "definition": "eraser"},
        "gini": {"metric": "gini"},
    },
}


def of_run(project, stage: str, dataset: str, model: str, *rest: str) -> pd.DataFrame:
    path = results(project).joinpath(stage, dataset, model, *rest).with_suffix(".parquet")
    return pq.read_table(path).to_pandas().set_index("item_id").sort_index()


@pytest.mark.slow
def test_explanations_do_not_depend_on_the_order_of_the_classes(tmp_path):
    """Of a model with its own head, and of a language model whose label words are associated with the classes."""
    project = copy_of_project(tmp_path / "project", STUDY)
    sentiment = [name for name in CLASSES for _ in range(4)]
    pd.DataFrame({"text": TEXTS, "sentiment": sentiment}).to_csv(project / "reviews.csv", index=False)
    torch.manual_seed(0)
    sizes = {"vocab_size": 500, "hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 2}
    labels = dict(enumerate(["neutral", "positive", "negative"]))
    bert = BertConfig(**sizes, num_hidden_layers=1, initializer_range=1.0, id2label=labels)
    gpt2 = AutoModelForCausalLM.from_config(GPT2Config(vocab_size=500, n_embd=16, n_layer=1, n_head=2))
    for weight in gpt2.parameters():
        torch.nn.init.normal_(weight, std=0.4)
    for name, network, kind in (("ready", BertForSequenceClassification(bert), "bert"), ("prompted", gpt2, "gpt2")):
        network.save_pretrained(project / name)
        write_tokenizer(kind, project / name, [text.split() for text in TEXTS])

    # What is not swapped is imported as ever.
    imports = {dict(wildcards)["dataset"]: rule for rule, wildcards in planned_jobs(project) if "import" in rule}
    assert imports == {"reviews": "import_dataset", "reviews_swapped": "import_in_order"}
    run_study(project, "--until", "score")

    for model in STUDY["models"]:
        there, here = (of_run(project, "predictions", name, model, "seed0") for name in STUDY["datasets"])
        np.testing.assert_allclose(np.stack(here["probability"]), np.stack(there["probability"])[:, ::-1], atol=1e-6)
        assert (here["target"] == 2 - there["target"]).all()
        assert set(there["target"]) == {0, 1, 2}
        manifests = [
            json.loads((results(project) / "models" / name / model / "seed0" / "manifest.json").read_text())
            for name in STUDY["datasets"]
        ]
        if model == "prompted":
            priors = [manifest["prior"] for manifest in manifests]
            np.testing.assert_allclose(*([prior[name] for name in CLASSES] for prior in priors), atol=1e-6)
        for explainer in STUDY["explainers"]:
            attribution_files = [
                of_run(project, "attributions", name, model, "seed0", explainer) for name in STUDY["datasets"]
            ]
            scores = [
                np.concatenate(attribution_file["token_score"].to_list()) for attribution_file in attribution_files
            ]
            assert np.abs(scores[0]).max() > 0
            np.testing.assert_allclose(scores[1], scores[0], rtol=1e-3, atol=1e-4 * np.abs(scores[0]).max())
            # Tokens whose scores differ by rounding only may be ranked in either order.
            ranks = [
                [np.argsort(values).tolist() for values in attribution_file["token_score"]]
                for attribution_file in attribution_files
            ]
            alike = np.array([first == second for first, second in zip(*ranks, strict=True)])
            assert alike.mean() > 0.5
            for family, texts in (("faithfulness", alike), ("complexity", slice(None))):
                there, here = (
                    of_run(project, "scores", name, model, "seed0", family, explainer)[texts].astype(float)
                    for name in STUDY["datasets"]
                )
                np.testing.assert_allclose(here, there, atol=1e-4)
