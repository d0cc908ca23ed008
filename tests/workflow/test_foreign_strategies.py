"""The study of strategies on other architectures than BERT, by configuration alone: three encoders and a decoder.

Each is a folder with the tokenizer files and the head that published models have. Everything runs, from the training to
the tables: zero-shot models, trained ones, scores of masked words, and an explainer that challenges the others.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from hub_tokenizers import write_tokenizer
from running import PROJECT, TINY, copy_of_project, metadata, results, run_study
from transformers import (
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForPreTraining,
    DistilBertConfig,
    ElectraConfig,
    GPT2Config,
    RobertaConfig,
)

from evenlight.datasets import Reader, load

SIZES = {"hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 2, "num_hidden_layers": 1}
# As published: RoBERTa and DistilBERT with the head of a masked language model, ELECTRA's discriminator without.
SOURCES = {
    "roberta": (
        AutoModelForMaskedLM,
        "roberta",
        RobertaConfig(vocab_size=500, pad_token_id=1, max_position_embeddings=514, **SIZES),
    ),
    "distilbert": (
        AutoModelForMaskedLM,
        "bert",
        DistilBertConfig(vocab_size=500, dim=16, n_layers=1, n_heads=2, hidden_dim=16),
    ),
    "electra": (AutoModelForPreTraining, "bert", ElectraConfig(vocab_size=500, embedding_size=8, **SIZES)),
    "gpt2": (AutoModelForCausalLM, "gpt2", GPT2Config(vocab_size=500, n_embd=16, n_layer=1, n_head=2)),
}
PROMPT = {"architecture": "prompted", "label_words": {"female": ["she"], "male": ["he"]}}
STUDY = TINY | {
    "study": "foreign",
    "kind": "strategies",
    "seeds": [0],
    "trainings": {
        "c": {"learning_rate": 0.01, "batch_size": 16, "epochs": 1, "trained": ["head"]},
        "ce": {
            "learning_rate": 0.01,
            "batch_size": 16,
            "epochs": 1,
            "trained": ["embeddings", "head"],
            "fresh": ["embeddings"],
        },
    },
    "models": {
        "roberta_zs": PROMPT | {"source": "roberta", "template": "Now {label}. {text}"},
        "gpt2_zs": PROMPT | {"source": "gpt2", "template": "{text} So it is {label}", "special_tokens": {"pad": "!"}},
        **{
            f"{source}_{training}": {
                "architecture": "pretrained",
                "source": source,
                "training": training,
                **({"special_tokens": {"pad": "!"}} if source == "gpt2" else {}),
            }
            for source in SOURCES
            for training in ("c", "ce")
        },
    },
    "explainers": {
        "grad": {"method": "saliency"},
        "gxi": {"method": "input_x_gradient", "layer": "embedding_output"},
        "uniform_random": {"method": "uniform_random"},
    },
    "explain": {"pairs": 8},
    "metrics": {"mass_accuracy": {"metric": "mass_accuracy"}},
    "masked_words": True,
    "statistics": {
        "compare": {"gender": [["male", "female"]]},
        "strategies": {
            "roberta": {"ZS": "roberta_zs", "C": "roberta_c", "CE": "roberta_ce"},
            "distilbert": {"C": "distilbert_c", "CE": "distilbert_ce"},
            "electra": {"C": "electra_c", "CE": "electra_ce"},
            "gpt2": {"ZS": "gpt2_zs", "C": "gpt2_c", "CE": "gpt2_ce"},
        },
        "proposed_methods": ["gxi"],
        "bootstrap_draws": 200,
        "verdict_permutations": 1,
    },
    "figures": {"formats": ["svg"]},
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    settings = STUDY["datasets"]["demo"]
    path = PROJECT / "resources" / "demo" / "sentences.yaml"
    items = load({"resources/demo/sentences.yaml": path}, Reader.parse(settings)).items
    texts = [list(words) for words in items["words"]] + [["Now", "he", ".", "she", "So", "it", "is", "!"]] * 20
    project = copy_of_project(tmp_path_factory.mktemp("foreign") / "project", STUDY)
    for name, (kind, tokenizer, config) in SOURCES.items():
        torch.manual_seed(0)
        kind.from_config(config).save_pretrained(project / name)
        write_tokenizer(tokenizer, project / name, texts)
    run_study(project)
    return project


@pytest.mark.slow
def test_every_strategy_is_explained_and_summed_up(finished):
    table = pd.read_csv(results(finished) / "tables" / "strategies.csv")
    of_all = table[(table["subset"] == "all") & (table["explainer"] == "grad")]
    assert set(zip(of_all["architecture"], of_all["strategy"], strict=True)) == {
        (architecture, strategy) for architecture, of in STUDY["statistics"]["strategies"].items() for strategy in of
    }
    assert of_all["mean"].between(0, 1).all()
    # Of a decoder too, the mean of random scores is about what is expected of them.
    drawn = table[(table["subset"] == "all") & (table["explainer"] == "uniform_random")]
    assert (drawn["mean"] - drawn["expected"]).abs().max() < 0.1


@pytest.mark.slow
def test_masked_words_are_scored_where_there_is_a_head_and_others_are_named(finished):
    table = pd.read_csv(results(finished) / "tables" / "masked_words.csv")
    assert set(table["model"]) == {
        *("roberta_zs", "roberta_c", "roberta_ce"),
        *("distilbert_c", "distilbert_ce"),
    }
    values = table.set_index(["model", "score", "level_a", "level_b"])["value"]
    for score in ("likelihood", "released"):
        for level in ("male", "female"):
            # A training of the head alone leaves the language model what it was.
            zero_shot, head, embeddings = (values.loc[(f"roberta_{name}", score, level)] for name in ("zs", "c", "ce"))
            assert head.iloc[0] == pytest.approx(zero_shot.iloc[0], rel=1e-4)
            assert abs(embeddings.iloc[0] - head.iloc[0]) > 1e-3
    means = table[table["level_b"].isna()].pivot(index=["model", "score"], columns="level_a", values="value")
    differences = table[table["level_b"].notna()].set_index(["model", "score"])["value"]
    np.testing.assert_allclose(means["male"] - means["female"], differences.loc[means.index], atol=1e-6)
    notes = str(metadata(results(finished) / "tables" / "masked_words.parquet")["notes"])
    assert "electra was published" in notes
    assert "names GPT2LMHeadModel" in notes
    assert "no masked words" in notes
    assert (results(finished) / "figures" / "masked_words" / "demo.svg").stat().st_size > 1000


@pytest.mark.slow
def test_a_proposed_method_is_held_against_the_others(finished):
    table = pd.read_csv(results(finished) / "tables" / "proposed_methods.csv")
    assert set(table["explainer"]) == {"gxi"}
    assert set(table["model"]) == {"all", *STUDY["models"]}
    # Random scores are no rival.
    assert set(table["others"]) == {1}
    # It does not count in the mean of all methods, which then is that of a single one.
    strategies = pd.read_csv(results(finished) / "tables" / "strategies.csv")
    assert "all" not in set(strategies["explainer"])
