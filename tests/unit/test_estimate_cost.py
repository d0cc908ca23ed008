"""The estimate of a study's cost: sizes of the published models, passes counted against formulas, sums by hand."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from bench_scripts import script
from transformers import AutoConfig

from evenlight.configuration import complete
from evenlight.core.errors import InputError
from evenlight.models.trainings import Training

STUDIES = Path(__file__).parents[2] / "config" / "studies"


@pytest.fixture(scope="module")
def cost():
    """The script as a module."""
    return script("estimate_cost")


def study(**changes) -> dict:
    return complete(
        {
            "study": "some",
            "seeds": [0, 1],
            "datasets": {"geco_all": {"reader": "geco"}, "compas": {"reader": "compas"}},
            "models": {
                "tinybert": {
                    "architecture": "pretrained",
                    "source": "huawei-noah/TinyBERT_General_4L_312D",
                    "training": "some",
                }
            },
            "trainings": {
                "some": {"learning_rate": 1e-3, "batch_size": 4, "epochs": {"default": 3, "compas": 1}},
            },
            "explainers": {"grad": {"method": "saliency"}, "random": {"method": "uniform_random"}},
            "metrics": {"gini": {"metric": "gini"}},
            "statistics": {"compare": {"gender": [["male", "female"]]}},
        }
        | changes
    )


# Published numbers of parameters (Dhaini et al. 2025, Table 6). GPT-2 was counted there with one more token of 768
# numbers, RoBERTa without its output layer of 2 × 1,024 weights and 2 biases.
@pytest.mark.parametrize(
    ("source", "published", "difference"),
    [
        ("huawei-noah/TinyBERT_General_4L_312D", 14_350_874, 0),
        ("facebook/FairBERTa", 124_647_170, 0),
        ("nlptown/bert-base-multilingual-uncased-sentiment", 167_357_954, 0),
        ("openai-community/gpt2", 124_442_112, -768),
        ("FacebookAI/roberta-large", 355_359_744, 2050),
    ],
)
def test_the_networks_have_the_published_sizes(cost, source, published, difference):
    with torch.device("meta"):
        network = cost.network_of(source)
    assert sum(weight.numel() for weight in network.parameters()) == published + difference


def test_every_model_of_the_shipped_studies_is_known(cost):
    for name in ("disparity", "disparity_from_scratch"):
        models = yaml.safe_load((STUDIES / f"{name}.yaml").read_text(encoding="utf-8"))["models"]
        assert {model["source"] for model in models.values()} <= set(cost.SIZES)


def test_products_by_hand(cost):
    """BERT base: 12 layers of 4 × 768² and 2 × 768 × 3,072 weights; 2 × 20 × 768 multiplications of attention."""
    with torch.device("meta"):
        network = cost.network_of("nlptown/bert-base-multilingual-uncased-sentiment")
        gpt2 = cost.network_of("openai-community/gpt2")
    expected = 12 * (2 * (4 * 768**2 + 2 * 768 * 3072) + 2 * 2 * 20 * 768)
    assert cost.flops_per_token(network, 20) == cost.flops_per_token(gpt2, 20) == expected


LENGTHS = (6, 9, 12)


@pytest.fixture(scope="module")
def work(cost):
    config = study(
        explainers={
            "grad": {"method": "saliency"},
            "igxi": {"method": "integrated_gradients", "steps": 7},
            "lime": {"method": "lime", "samples": 11},
            "random": {"method": "uniform_random"},
        },
        metrics={
            "soft": {"metric": "soft_comprehensiveness", "draws": 5},
            "gini": {"metric": "gini"},
            "released": {"metric": "flip_area", "definition": "released", "label": "Released"},
            "worst": {"metric": "worst_change", "steps": 2},
        },
    )
    return cost.work_of(config, LENGTHS)


def test_passes_are_those_of_the_methods(work):
    """Without padding: the sentences' mean length, 9 tokens, times the passes. Padded, at most the longest, 12."""
    # What never asks the model is not there.
    assert list(work) == [
        "explain gradient",
        "explain path",
        "explain lime",
        "score soft",
        "score released",
        "score worst",
    ]
    gradient, path, lime = (work[f"explain {family}"] for family in ("gradient", "path", "lime"))
    assert 9 <= gradient.gradient <= 12
    assert gradient.forward == 0
    assert 7 * 9 <= path.gradient <= 7 * 12
    # Some copies are equal, and are asked once.
    assert 0.5 * 11 * 9 <= lime.forward <= 11 * 12
    # Four explanations, the random one among them, five draws each, and the whole sentence.
    assert 21 * 9 <= work["score soft"].forward <= 21 * 12
    worst = work["score worst"]
    assert 2 * lime.forward * 0.8 <= worst.forward <= 2 * (lime.forward + path.forward) * 1.2
    # A gradient for each step and what the gradient methods ask at each of two points.
    assert 2 * (1 + 1 + 7) * 9 <= worst.gradient <= 2 * (1 + 1 + 7) * 12
    # Five steps, ten halvings, sets of one to three tokens, of three explanations.
    assert 0 < work["score released"].gradient <= (5 * 10 * 9 + 1) * 12
    assert all(one.host_seconds > 0 for one in work.values())


def test_sentences_have_the_lengths(cost):
    _, sentences = cost.small_classifier(LENGTHS)
    assert [len(one.token_id) for one in sentences] == list(LENGTHS)
    assert all(one.is_special.sum() == 2 for one in sentences)


def test_a_speed_is_measured(cost, monkeypatch):
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    monkeypatch.setitem(cost.SIZES, "small", ("bert", sizes | {"vocab_size": 100}))
    training = Training(learning_rate=1e-3, batch_size=4, epochs=1).model_dump()
    speed = cost.speed_of("small", 8, training, torch.device("cpu"), least=0.0)
    assert set(speed.seconds) == set(cost.PRODUCTS)
    assert all(seconds > 0 for seconds in speed.seconds.values())
    assert speed.flops == 2 * (4 * 16**2 + 2 * 16 * 16) + 4 * 8 * 16


def test_steps_are_timed_as_the_recipe_has_them(cost, monkeypatch):
    """Adapters alone are trained, three batches make a step, and products are in half the bits."""
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    monkeypatch.setitem(cost.SIZES, "small", ("bert", sizes | {"vocab_size": 100}))
    recipe = {"lora": {}, "precision": "bfloat16", "gradient_accumulation_steps": 3}
    training = Training.model_validate({"learning_rate": 1e-3, "batch_size": 4, "epochs": 1} | recipe).model_dump()
    weights, rows, kinds = [], [], set()

    class Watched(torch.optim.AdamW):
        def __init__(self, given, **options):
            weights.extend(tuple(weight.shape) for weight in given)
            super().__init__(given, **options)

        def step(self, closure=None):
            rows.append("step")
            return super().step(closure)

    def watch(module, given, output):
        if torch.is_grad_enabled() and module.weight.shape == (16, 16):
            rows.append(given[0].shape[0])
            kinds.add(output.dtype)

    monkeypatch.setitem(cost.OPTIMIZERS, "adamw", Watched)
    handle = torch.nn.modules.module.register_module_forward_hook(
        lambda module, given, output: watch(module, given, output) if type(module) is torch.nn.Linear else None
    )
    try:
        speed = cost.speed_of("small", 8, training, torch.device("cpu"), least=0.0)
    finally:
        handle.remove()
    assert (8, 16) in weights
    assert (100, 16) not in weights
    assert kinds == {torch.bfloat16}
    of_step = rows[: rows.index("step")]
    assert set(of_step) == {4}
    assert len(of_step) % 3 == 0
    # What is timed afterwards is the plain network again.
    assert set(speed.seconds) == set(cost.PRODUCTS)


def test_texts_of_like_length_have_less_padding(cost):
    """Four texts of 4 tokens and four of 8, two at a time."""
    size = cost.Dataset(8, 0, 0, (4, 8))
    model = {"long_items": "refuse", "max_tokens": 10, "overlap": None}
    training = {"group_by_length": False, "batch_size": 2, "gradient_accumulation_steps": 2}
    assert size.tokens_of_epoch(model, training) == 8 * 8
    grouped = size.tokens_of_epoch(model, training | {"group_by_length": True})
    assert 4 * 4 + 4 * 8 <= grouped < 8 * 8


def test_texts_in_windows_are_counted_window_by_window(cost):
    """Texts of 20 tokens, of which 18 are of words, in windows of 10 with 2 in common: three of 2 + 7 or 8 tokens."""
    model = {"long_items": "windows", "max_tokens": 10, "overlap": 2}
    rows, longest = cost.windows_of((8, 20), model)
    assert rows.tolist() == [1, 3]
    assert longest.tolist() == [8, 10]
    size = cost.Dataset(4, 0, 0, (8, 20))
    assert size.tokens_of_epoch(model, {"group_by_length": False}) == (2 * 1 + 2 * 3) * 10
    config = study(explainers={"grad": {"method": "saliency"}}, metrics={"gini": {"metric": "gini"}})
    [gradient] = cost.work_of(config, (20,), 10, 2).values()
    assert 18 + 2 * 2 + 3 * 2 <= gradient.gradient <= 3 * 10


def test_what_is_left_out_is_said(cost):
    assert "`patience`" not in cost.left_out(study())
    training = {"learning_rate": 1e-3, "batch_size": 4, "epochs": 1, "patience": 2}
    said = cost.left_out(study(trainings={"some": training}, randomisation={}))
    assert "whatever `patience`" in said
    assert "Left out is `randomisation`" in said


def test_sums_by_hand(cost):
    config = study()
    datasets = {"geco_all": cost.Dataset(10, 2, 5, (4, 6)), "compas": cost.Dataset(100, 20, 50, (8,))}
    own = {"explain gradient": cost.Work(0, 6, 0.5), "score soft": cost.Work(30, 0, 0)}
    speed = cost.Speed(1000, {"forward": 1.0, "gradient": 2.0, "training": 4.0}, 100)
    work = {(dataset, "tinybert"): own for dataset in datasets}
    table = cost.estimated(config, datasets, work, {"tinybert": speed})
    table = table.set_index(["dataset", "task"])
    train = table.loc["geco_all", "train"]
    # Two seeds, three epochs, every batch as long as the longest item; validated after each epoch.
    assert (train["training"], train["forward"]) == (2 * 3 * 10 * 6, 2 * 3 * 2 * 6)
    assert train["hours"] == pytest.approx((360 * 4 + 72 * 1) / 3600)
    assert train["flops"] == (3 * 360 + 72) * 100
    assert table.loc[("compas", "train"), "training"] == 2 * 1 * 100 * 8
    assert table.loc[("geco_all", "read_texts"), "forward"] == 2 * 5 * 5
    explain = table.loc["geco_all", "explain gradient"]
    assert (explain["gradient"], explain["host_hours"]) == (2 * 5 * 6, 2 * 5 * 0.5 / 3600)
    assert explain["hours"] == pytest.approx((60 * 2 + 5) / 3600)
    assert explain["flops"] == 60 * 2 * 100
    assert table.loc[("compas", "score soft"), "forward"] == 2 * 50 * 30

    text = cost.markdown(table.reset_index(), {"tinybert": speed}, config, "About.")
    *_, last = text.strip().splitlines()
    assert last.startswith("| **all** |")
    assert float(last.split("|")[7].replace(",", "")) == pytest.approx(table["hours"].sum(), abs=0.005)
    assert sum(float(cell) for cell in last.split("|")[3:7]) == pytest.approx(table["hours"].sum(), abs=0.02)


def test_models_and_explainers_for_one_dataset_are_counted_there_alone(cost, monkeypatch):
    models, explainers = study()["models"], study()["explainers"]
    config = study(
        models=models | {"second": models["tinybert"] | {"datasets": ["compas"]}},
        explainers=explainers | {"lime": {"method": "lime", "datasets": ["geco_all"]}},
    )
    monkeypatch.setattr(cost, "work_of", lambda config, lengths, *windows: list(config["explainers"]))
    found = cost.work_of_runs(config, dict.fromkeys(config["datasets"], cost.Dataset(10, 2, 5, (4, 6))))
    assert found == {
        ("geco_all", "tinybert"): ["grad", "random", "lime"],
        ("compas", "tinybert"): ["grad", "random"],
        ("compas", "second"): ["grad", "random"],
    }


def test_models_that_are_trained_already_have_their_runs_and_no_training(cost, tmp_path):
    ready = {"architecture": "trained", "source": str(tmp_path)}
    config = study(seeds=[3, 7, 9], models={"one": ready, "two": ready | {"source": [str(tmp_path), "other"]}})
    datasets = {"geco_all": cost.Dataset(10, 2, 5, (4, 6))}
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    AutoConfig.for_model("bert", vocab_size=100, **sizes).save_pretrained(tmp_path)
    speed = cost.speed_of(str(tmp_path), 8, None, torch.device("cpu"), least=0.0)
    assert set(speed.seconds) == {"forward", "gradient"}
    own = {"explain gradient": cost.Work(0, 6, 0.5)}
    work = {("geco_all", model): own for model in config["models"]}
    table = cost.estimated(config, datasets, work, dict.fromkeys(config["models"], speed))
    assert set(table["task"]) == {"read_texts", "explain gradient"}
    gradient = table[table["task"] == "explain gradient"].set_index("model")["gradient"]
    assert gradient.to_dict() == {"one": 5 * 6, "two": 2 * 5 * 6}
    text = cost.markdown(table, dict.fromkeys(config["models"], speed), config, "About.")
    [line] = [line for line in text.splitlines() if line.startswith("| one |")]
    assert line.split("|")[5].strip() == "–"


def test_documented_sizes_and_items(cost, tmp_path, monkeypatch):
    config = study()
    geco = cost.documented("geco_all", config["datasets"]["geco_all"])
    assert (geco.training, geco.validation, geco.test) == (2318, 258, 644)
    words = [["a"] * count for count in (1, 2, 3, 9)]
    items = pd.DataFrame({"words": words, "split": ["test", "train", "validation", "test"]})
    monkeypatch.setattr(cost, "read_table", lambda path, contract: items)

    def tokenizer(texts, **options):
        return {"input_ids": [[0, *(1 for _ in text.split()), 0] for text in texts]}

    tokenizer.init_kwargs = {}
    monkeypatch.setattr(cost, "loaded_tokenizer", lambda source: tokenizer)
    size = cost.measured(tmp_path, "any")
    assert (size.training, size.validation, size.test) == (1, 1, 2)
    # Texts of 3 and 11 tokens: the percentiles lie between.
    assert size.lengths == tuple((3 + 8 * np.arange(5, 100, 10) / 100).astype(int))


def test_refusals(cost):
    with pytest.raises(InputError, match=r"datasets\.mine: .*size.*not documented.*--items mine=PATH"):
        cost.documented("mine", {"reader": "table"})
    with pytest.raises(InputError, match=r"the sizes of 'other/model' are not known"):
        cost.network_of("other/model")


def test_a_study_of_concepts(cost):
    """Of CEBaB: what all texts are read for, and what networks take that forget each of four concepts."""
    concepts = yaml.safe_load((STUDIES / "cebab.yaml").read_text(encoding="utf-8"))
    assert {model.get("source", "lstm_attention") for model in concepts["models"].values()} <= {
        *cost.SIZES,
        "lstm_attention",
    }
    config = complete(concepts | {"seeds": [0, 1]})
    config["explainers"]["causalm"] |= {"texts": 320, "epochs": 2}
    assert cost.work_of(config, LENGTHS) == {}
    size = cost.documented("two_way", config["datasets"]["two_way"])
    speed = cost.Speed(10, {"forward": 1.0, "gradient": 2.0, "training": 3.0}, 5.0)
    table = cost.estimated(config, {"two_way": size}, {("two_way", "bert"): {}}, {"bert": speed}).set_index("task")
    # Lengths are those of batches in any order, which have the longest text, 48 tokens.
    assert table.loc["explain causalm", "training"] == 2 * 4 * 2 * 320 * 48
    mean = np.mean(size.lengths)
    assert table.loc["explain causalm", "forward"] == pytest.approx(2 * (485 + 391 + 301 + 271) * mean)
    assert table.loc["represent_texts", "forward"] == pytest.approx(2 * (1072 + 1221 + 1228 + 6172) * mean)
    # Networks that predict levels are four, whatever the seeds: as those of the study, and asked about the test texts.
    told, trained = table.loc["predict_levels"], table.loc["train"]
    assert told["training"] == 4 * trained["training"] / 2
    assert told["forward"] == pytest.approx(4 * (trained["forward"] / 2 + 1228 * mean))
    assert {cost.column_of(task, config) for task in table.index} == {"training", "explaining"}
    assert "are summed up" in cost.left_out(config)


def test_an_lstm_by_hand(cost):
    """Gates: 4 × 64 × (64 + 64) weights; attention: 64² and 64 weights; and the classifier's 2 × 64."""
    with torch.device("meta"):
        network = cost.network_of("lstm_attention")
    assert cost.flops_per_token(network, 20) == 2 * (4 * 64 * 128 + 64 * 64 + 64 + 2 * 64)
