"""The sanity check by random layers, on cases that are known by hand."""

from contextlib import contextmanager, nullcontext

import numpy as np
import pandas as pd
import pytest
from models_for_tests import context_of, items_of, sentences_of, tiny_classifier
from scipy.stats import spearmanr
from study_files import result_of
from torch import nn
from wording import says

from evenlight.core import tables
from evenlight.core.chance import rank_correlation
from evenlight.core.contracts.explanations import RANDOMISED
from evenlight.core.contracts.results import RANDOMISATION
from evenlight.core.errors import InputError
from evenlight.engine.evaluator import Evaluator
from evenlight.explainers import Context, Explainer, explain
from evenlight.explainers.randomisation import randomisation_rows, randomised_items, stages
from evenlight.models.classifier import on_device
from evenlight.models.layers import Layer, layers_of, randomise, randomised
from evenlight.reports.plots.randomisation import draw_randomisation
from evenlight.statistics.comparisons.files import Run, explainer_path

ORDERS = ["cascading", "independent"]


@pytest.mark.parametrize(
    ("architecture", "expected"),
    [
        ("bert", ["embeddings", "bert.encoder.layer.0", "bert.encoder.layer.1", "head"]),
        ("roberta", ["embeddings", "roberta.encoder.layer.0", "roberta.encoder.layer.1", "head"]),
        ("distilbert", ["embeddings", "distilbert.transformer.layer.0", "distilbert.transformer.layer.1", "head"]),
        ("gpt2", ["embeddings", "transformer.h.0", "transformer.h.1", "head"]),
        ("llama", ["embeddings", "model.layers.0", "model.layers.1", "head"]),
        ("one_layer_attention", ["embeddings", "query", "key", "value", "pooler", "classifier"]),
    ],
)
def test_layers_from_the_words_to_the_answer(architecture, expected):
    network = tiny_classifier(architecture).network
    layers = layers_of(network)
    assert [layer.name for layer in layers] == expected
    parameters = [name for layer in layers for name in layer.parameters]
    assert parameters == [name for name, _ in network.named_parameters()]


def test_of_lists_in_lists_the_outer_one_counts():
    inner = nn.ModuleDict({"experts": nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])})
    network = nn.ModuleDict({"words": nn.Embedding(3, 2), "layers": nn.ModuleList([inner]), "out": nn.Linear(2, 2)})
    assert [layer.name for layer in layers_of(network)] == ["embeddings", "layers.0", "head"]


def numbers(network):
    return {name: parameter.clone() for name, parameter in network.named_parameters()}


def test_random_layers_keep_their_numbers_and_lose_their_order():
    network = tiny_classifier("bert").network
    before = numbers(network)
    layers = layers_of(network)
    randomise(network, layers[1:2], seed=3)
    after = numbers(network)
    for name, parameter in after.items():
        assert parameter.flatten().sort().values.equal(before[name].flatten().sort().values)
        # Biases and normalisations of an untrained network are all alike.
        moved = name in layers[1].parameters and before[name].unique().numel() > 1
        assert parameter.equal(before[name]) != moved


def test_a_layer_is_random_in_the_same_way_whatever_else_is():
    first, second, other = (tiny_classifier("bert").network for _ in range(3))
    layers = layers_of(first)
    randomise(first, layers[2:], seed=3)
    randomise(second, layers[:1], seed=3)
    randomise(second, layers[3:], seed=3)
    randomise(other, layers[3:], seed=4)
    weights = [network.classifier.weight for network in (first, second, other)]
    assert weights[0].equal(weights[1])
    assert not weights[0].equal(weights[2])


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_network_that_is_fast_is_as_random_as_another_and_then_as_it_was(precision):
    classifier, other = on_device(tiny_classifier("bert"), precision=precision), tiny_classifier("bert")
    layers, before = layers_of(other.network), numbers(classifier.network)
    assert layers_of(classifier.network) == layers
    randomise(other.network, layers[1:], seed=3)
    expected = numbers(on_device(other, precision=precision).network)
    with randomised(classifier.network, layers[1:], seed=3):
        assert all(each.equal(expected[name]) for name, each in numbers(classifier.network).items())
        assert not classifier.network.classifier.weight.equal(before["classifier.weight"])
    assert all(each.equal(before[name]) for name, each in numbers(classifier.network).items())


def test_stages():
    layers = [Layer(name, ()) for name in ("embeddings", "middle", "head")]
    found = {
        order: [(stage, name, [layer.name for layer in chosen]) for stage, name, chosen in stages(layers, order)]
        for order in ORDERS
    }
    assert found == {
        "cascading": [
            (0, "none", []),
            (1, "head", ["head"]),
            (2, "middle", ["head", "middle"]),
            (3, "embeddings", ["head", "middle", "embeddings"]),
        ],
        "independent": [
            (0, "none", []),
            (1, "head", ["head"]),
            (2, "middle", ["middle"]),
            (3, "embeddings", ["embeddings"]),
        ],
    }


def test_rank_correlation_is_spearmans():
    random = np.random.default_rng(0)
    for _ in range(20):
        first, second = random.integers(0, 5, (2, 9)).astype(float)
        assert rank_correlation(first, second) == pytest.approx(spearmanr(first, second).statistic, abs=1e-12)
    assert np.isnan(rank_correlation(np.ones(3), np.arange(3.0)))
    assert np.isnan(rank_correlation(np.arange(3.0), np.ones(3)))
    assert np.isnan(rank_correlation(np.ones(1), np.ones(1)))


def test_items_are_drawn_by_name():
    names = [f"item{index}" for index in range(20)]
    drawn = randomised_items(names, 5, seed=1)
    assert len(drawn) == 5
    assert drawn == randomised_items(names[::-1], 5, seed=1)
    assert drawn != randomised_items(names, 5, seed=2)
    assert randomised_items(names, 50, seed=1) == set(names)


def correlations_of(method, make, sentences, orders=ORDERS, training=None, seed=0):
    """The rows of an explainer by its settings, ``make`` building the classifier again."""
    entry = Explainer.parse(method)
    classifier = make()

    @contextmanager
    def context_with(layers):
        with randomised(classifier.network, layers, seed):
            yield Context(Evaluator(classifier, 4096), seed, training)

    with context_with([]) as context:
        explained = explain({"it": entry}, sentences, context)["it"].attributions
    before = [attribution.token_score for attribution in explained]
    layers = layers_of(classifier.network)
    rows, notes = randomisation_rows("it", entry, sentences, before, orders, layers, context_with)
    return pd.DataFrame(rows), notes


@pytest.mark.parametrize("method", ["uniform_random", "pattern_variant"])
def test_an_explainer_that_does_not_look_at_the_model_stays_as_it_is(method):
    classifier = tiny_classifier("bert")
    items = items_of([*map(str.split, ("Mara leaves the harbour", "He waits for the sea", "She sails alone"))])
    sentences = sentences_of(classifier, list(items["words"]))
    rows, notes = correlations_of({"method": method}, lambda: tiny_classifier("bert"), sentences, training=items)
    assert notes == []
    assert len(rows) == len(sentences) * 2 * 5
    assert rows["rank_correlation"].notna().any()
    assert rows["rank_correlation"].dropna().to_numpy() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("architecture", ["bert", "gpt2"])
def test_gradients_change_with_the_weights(architecture):
    """Asked again about the same model they are the same; of the head alone another model, of all layers nothing."""
    make = lambda: tiny_classifier(architecture)  # noqa: E731
    sentences = sentences_of(make())
    rows, _ = correlations_of({"method": "saliency"}, make, sentences)
    mean = rows.groupby(["order", "stage"])["rank_correlation_absolute"].mean()
    for order in ORDERS:
        assert mean[order, 0] == pytest.approx(1, abs=1e-12)
        assert (mean[order].iloc[1:] < 0.999).all()
    assert mean["cascading", 4] < 0.6
    # The first stage of both orders is the head alone.
    first = rows[rows["stage"] == 1]
    of_orders = [first.loc[first["order"] == order, "rank_correlation"].to_numpy() for order in ORDERS]
    np.testing.assert_array_equal(*of_orders)


def test_each_random_model_is_made_and_asked_once():
    """Of three layers: none, the head, which both orders begin with, and two further stages of either."""
    made = []

    def context_with(layers):
        made.append([layer.name for layer in layers])
        return nullcontext(Context(None, 0, None))

    sentences = sentences_of(tiny_classifier("bert"))[:1]
    layers = [Layer(name, ()) for name in ("embeddings", "middle", "head")]
    before = [np.arange(len(sentence.token_id), dtype=float) for sentence in sentences]
    entry = Explainer.parse({"method": "uniform_random"})
    rows, _ = randomisation_rows("it", entry, sentences, before, ORDERS, layers, context_with)
    assert len(rows) == 2 * 4
    assert made == [[], ["head"], ["head", "middle"], ["head", "middle", "embeddings"], ["middle"], ["embeddings"]]


def test_a_random_model_that_is_refused_has_no_correlation_and_a_note():
    classifier = tiny_classifier("bert")
    sentences = sentences_of(classifier)[:2]
    entry = Explainer.parse({"method": "saliency"})

    def context_with(layers):
        if layers:
            raise InputError("this model adds nothing up")
        return nullcontext(context_of(classifier))

    before = [np.arange(len(sentence.token_id), dtype=float) for sentence in sentences]
    layers = layers_of(classifier.network)[-1:]
    rows, notes = randomisation_rows("it", entry, sentences, before, ["cascading"], layers, context_with)
    found = pd.DataFrame(rows).set_index("stage")["rank_correlation"]
    assert found[0].notna().all()
    assert found[1].isna().all()
    assert notes == [says("cascading randomisation, layer head", "this model adds")]


# Over all runs ------------------------------------------------------------------------------------------------------

NAN = float("nan")


@pytest.fixture
def summary(tmp_path):
    """Two seeds of an explainer: of the first seed two texts, of the second one is undefined at stage 1."""
    values = {0: {0: [1.0, 1.0], 1: [0.2, 0.4], 2: [0.0, NAN]}, 1: {0: [1.0, 1.0], 1: [0.5, NAN], 2: [NAN, NAN]}}
    for seed, by_stage in values.items():
        rows = [
            {
                "item_id": f"item{index}",
                "order": "cascading",
                "stage": stage,
                "layer": ("none", "head", "embeddings")[stage],
                "rank_correlation": value,
                "rank_correlation_absolute": value / 2,
            }
            for stage, both in by_stage.items()
            for index, value in enumerate(both)
        ]
        path = explainer_path(tmp_path, Run("plots", "small", seed), "grad")
        notes = ["layer x: not explained"] if seed else []
        tables.write_table(pd.DataFrame(rows), path, RANDOMISED, {"notes": notes})
    names = {"datasets": ["plots"], "models": {"small": [0, 1]}, "explainers": ["grad"]}
    found = result_of("summarise_randomisation", {"randomised": tmp_path}, **names)
    assert found.notes == ["dataset 'plots', model 'small': explainer 'grad': layer x: not explained"]
    path = tmp_path / "summary.parquet"
    tables.write_table(found.tables[0], path, RANDOMISATION)
    return tables.read_exactly(path, RANDOMISATION)


def test_means_are_over_texts_and_then_over_seeds(summary):
    found = summary.set_index("stage")
    assert found["rank_correlation"].tolist() == pytest.approx([1, (0.3 + 0.5) / 2, 0])
    assert found["rank_correlation_sd"].tolist() == pytest.approx([0, 0.1, 0])
    assert found["rank_correlation_absolute"].tolist() == pytest.approx([0.5, 0.2, 0])
    assert found["texts"].tolist() == [2, 2, 1]
    assert found["seeds"].tolist() == [2, 2, 2]
    assert found["layer"].tolist() == ["none", "head", "embeddings"]


def test_the_figure_has_a_line_for_each_explainer(summary):
    figure = draw_randomisation(summary, {"small": "Small"}, {"grad": "Grad", "lime": "LIME"}, "Random layers on Plots")
    [axes] = figure.axes
    line = axes.get_lines()[0]
    assert line.get_label() == "Grad"
    np.testing.assert_allclose(line.get_ydata(), [0.5, 0.2, 0.0])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["none", "head", "embeddings"]
