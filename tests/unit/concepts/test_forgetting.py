"""CausaLM: the reversed gradient by hand, simulations in which a concept is there and then is not, null concepts."""

from copy import deepcopy
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from models_for_tests import items_of, new_model, sentences_of, tiny_classifier
from sklearn.linear_model import LogisticRegression
from torch import nn

from evenlight.concepts import forgetting
from evenlight.concepts.counterfactual import association, control_of, forgetting_note, told
from evenlight.concepts.forgetting import forget, linear_head, reversed_gradient
from evenlight.engine import training
from evenlight.engine.checkpoints import Checkpoint
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.representations import given_to_last_layer, represented
from evenlight.engine.sentences import encoded
from evenlight.models.trainings import Training


def of_a_training(**settings) -> Training:
    """A training with all its defaults."""
    return Training(**{"learning_rate": 0.01, "batch_size": 16, "dropout": False} | settings)


# The reversed gradient ------------------------------------------------------------------------------------------------


def test_the_gradient_is_reversed_between_head_and_network_by_hand():
    """One text, one weight each: with x = 2, w = 3 and the loss a·(w·x), a = 5, dL/da = 6, dL/dw = −λ·a·x."""
    weight, head = torch.tensor(3.0, requires_grad=True), torch.tensor(5.0, requires_grad=True)
    loss = head * reversed_gradient(weight * 2.0, 0.25)
    loss.backward()
    assert loss.item() == 30
    assert head.grad.item() == 6
    assert weight.grad.item() == -0.25 * 5 * 2


def test_the_loss_of_the_heads_by_hand():
    """Each head learns; the network gets the control's gradient, and −λ times that of the treated concept."""
    torch.manual_seed(0)
    given = torch.randn(4, 3, requires_grad=True)
    heads = [nn.Linear(3, 2), nn.Linear(3, 2)]
    level = {"a": [0, 1], "b": [1, -1], "c": [-1, 0], "d": [1, 1]}
    sentences = [type("Text", (), {"item_id": name}) for name in level]
    beside = forgetting.Heads(lambda logits: given, level, heads, 0.5, 0.1)
    loss = beside(sentences, None)
    loss.backward()

    plain = given.detach().requires_grad_()
    parts = []
    for column, head in enumerate(heads):
        log = torch.log_softmax(plain @ head.weight.T + head.bias, dim=1)
        right = [own[column] for own in level.values()]
        known = [row for row, output in enumerate(right) if output >= 0]
        parts.append(-sum(log[row, right[row]] for row in known) / len(known))
    assert loss.item() == pytest.approx((parts[0] + parts[1]).item())
    expected = torch.autograd.grad(parts[1] - 0.5 * parts[0], plain, retain_graph=True)[0]
    assert torch.allclose(given.grad, expected, atol=1e-6)
    for part, head in zip(parts, heads, strict=True):
        own = torch.autograd.grad(part, head.weight, retain_graph=True)[0]
        assert torch.allclose(head.weight.grad, own, atol=1e-6)
    # Nobody knows the level of these.
    assert (
        forgetting.Heads(lambda logits: given, {name: [-1, -1] for name in "abcd"}, heads, 0.5, 0.1)(sentences, None)
        == 0
    )


@pytest.mark.parametrize("levels", [2, 3])
def test_a_head_begins_as_the_logistic_regression(levels):
    random = np.random.default_rng(levels)
    level = random.integers(levels, size=60) * 2
    representation = random.normal(size=(60, 4)) + level[:, None]
    level[:5] = -1
    head, output = linear_head(representation, level)
    assert (output == np.where(level < 0, -1, level // 2)).all()
    model = LogisticRegression(max_iter=1000).fit(representation[5:], level[5:])
    said = head(torch.from_numpy(representation).float()).softmax(dim=1).detach().numpy()
    assert said == pytest.approx(model.predict_proba(representation), abs=1e-4)


# Concepts that are associated -----------------------------------------------------------------------------------------


def test_association_by_hand():
    # χ² of [[20, 10], [10, 20]] is 60 · (20·20 − 10·10)² / 30⁴ = 20/3, and V = √(χ² / 60) = 1/3.
    first = np.repeat([0, 1], 30)
    second = np.concatenate([np.repeat([0, 1], [20, 10]), np.repeat([0, 1], [10, 20])])
    assert association(first, second) == pytest.approx(1 / 3)
    assert association(first, np.zeros(60, int)) == 0
    assert association(first, np.where(first == 0, -1, 1)) == 0
    level = np.stack([first, second, first * 0, 1 - first], axis=1)
    assert [control_of(level, concept) for concept in range(4)] == [3, 0, None, 0]


def test_what_a_new_classifier_tells_is_asked_of_other_clusters():
    random = np.random.default_rng(0)
    level = random.integers(2, size=200)
    assert told(random.normal(size=(200, 5)) + 3 * level[:, None], level, np.arange(200).astype(str)) > 0.95
    # A cluster is told by its own place, which says nothing of others.
    cluster = np.repeat(np.arange(50), 4)
    own = random.integers(2, size=50)[cluster]
    assert told(np.eye(50)[cluster], own, cluster.astype(str)) < 0.7
    assert np.isnan(told(np.eye(4), np.array([0, 1, 0, 1]), list("abcd")))
    assert np.isnan(told(np.zeros((40, 2)), np.zeros(40, int), np.arange(40).astype(str)))


def test_the_note_has_the_mean_over_seeds():
    run = {"before": 0.9, "after": 0.5, "frequent": 0.4, "right_before": 0.8, "right_after": 0.7, "control": "food"}
    note = forgetting_note({"noise": [run, run | {"after": 0.6, "control": None}]})
    assert (
        "noise 90% before, 55% after (most frequent level 40%; classes right 80%, 70%; kept food and nothing)" in note
    )


# Forgetting in small simulations --------------------------------------------------------------------------------------

# What a text says of each concept, in words.
WORDS_OF = {"food": ("bland", "tasty"), "weather": ("rain", "sun"), "noise": ("loud", "quiet")}
FOOD, WEATHER, NOISE = range(3)
SIZES = {
    "lstm_attention": {"architecture": "lstm_attention", "hidden_size": 12, "state_size": 12, "dropout": 0.0},
    "bert": {
        "architecture": "bert",
        "layers": 1,
        "heads": 2,
        "hidden_size": 16,
        "intermediate_size": 32,
        "dropout": 0.0,
    },
}


# Learning rates of the task, and of forgetting.
RATES = {"lstm_attention": (0.01, 0.01), "bert": (0.005, 0.003)}


@cache
def simulation(architecture: str):
    """(a classifier that knows its task, sentences, levels int (texts, concepts)).

    The class of a text is 0 where it says that it rains, and else what it says of the food, 1 or 2; never the noise.
    """
    random = np.random.default_rng(0)
    level = random.integers(2, size=(160, 3))
    told = [[pair[one] for pair, one in zip(WORDS_OF.values(), own, strict=True)] for own in level]
    words = [random.permutation(["we", "said", *own]).tolist() for own in told]
    label = level[:, WEATHER] * (1 + level[:, FOOD])
    settings = SIZES[architecture] | {"max_tokens": 48, "tokenizer": {"vocabulary_size": 200}}
    classifier = new_model(settings, words, 3, seed=0)
    classifier.network.requires_grad_(True)
    sentences = encoded(classifier, items_of(words), label)
    settings = of_a_training(learning_rate=RATES[architecture][0], epochs=20, kept_epoch="last")
    training.train(classifier, sentences, sentences[:20], settings, seed=0)
    classifier.network.requires_grad_(False)
    return classifier, sentences, level


def asked(classifier, sentences):
    """(probabilities, representations)."""
    return represented(Evaluator(classifier), [sentence.row for sentence in sentences])[:2]


def after_forgetting(
    architecture: str, treated: int, control: int | None = None, epochs: int = 30, seed: int = 0, **changes
):
    """(probabilities and representations before, those after, levels)."""
    classifier, sentences, level = simulation(architecture)
    classifier = replace(classifier, network=deepcopy(classifier.network))
    before = asked(classifier, sentences)
    columns = [treated] if control is None else [treated, control]
    recipe = of_a_training(learning_rate=RATES[architecture][1], epochs=epochs)
    how = {"strength": 2.0, "head_speed": 200.0} | changes
    forget(classifier, sentences, sentences[:20], before[1], level[:, columns], recipe, seed, **how)
    return before, asked(classifier, sentences), level


def tells(representation: np.ndarray, level: np.ndarray) -> float:
    return told(representation, level, np.arange(len(level)).astype(str))


def good_and_bad_food(probability: np.ndarray, level: np.ndarray) -> list[float]:
    """The probability of class 1 where the sun shines, of texts with bad and with good food."""
    sun = level[:, WEATHER] == 1
    return [probability[sun & (level[:, FOOD] == food), 1].mean() for food in range(2)]


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["lstm_attention", pytest.param("bert", marks=pytest.mark.slow)])
def test_a_concept_is_there_and_then_is_not_while_the_task_stays(architecture):
    """A network and a head that play against each other swing, so that one seed says little: the median of three."""
    found = []
    for seed in range(3):
        before, after, level = after_forgetting(architecture, FOOD, WEATHER, epochs=90, seed=seed)
        bad, good = good_and_bad_food(after[0], level)
        found.append(
            (
                tells(after[1], level[:, FOOD]),
                tells(after[1], level[:, WEATHER]),
                abs(bad - good),
                ((after[0].argmax(axis=1) > 0) == level[:, WEATHER]).mean(),
            )
        )
    assert tells(before[1], level[:, FOOD]) > 0.8
    # Classes 1 and 2 differ by the food alone.
    bad, good = good_and_bad_food(before[0], level)
    assert bad > 0.9
    assert good < 0.1
    food, weather, difference, right = np.median(found, axis=0)
    assert food < 0.78
    assert weather > 0.9
    assert difference < 0.25
    assert right > 0.9


def test_without_strength_nothing_is_forgotten():
    _, after, level = after_forgetting("lstm_attention", FOOD, WEATHER, strength=1e-9)
    assert tells(after[1], level[:, FOOD]) > 0.95
    bad, good = good_and_bad_food(after[0], level)
    assert bad - good > 0.9


def test_a_concept_without_effect_has_none():
    effects = {}
    for concept in (FOOD, NOISE):
        before, after, _ = after_forgetting("lstm_attention", concept, WEATHER)
        effects[concept] = np.abs(after[0] - before[0]).mean()
    assert effects[NOISE] < 0.03
    assert effects[FOOD] > 5 * effects[NOISE]


def test_the_same_seed_forgets_alike_and_a_stopped_training_goes_on(tmp_path):
    """Also its heads, from which the gradient comes."""

    class Stopped(Exception):
        pass

    def forgotten(checkpoint=None):
        classifier, sentences, level = simulation("lstm_attention")
        classifier = replace(classifier, network=deepcopy(classifier.network))
        representation = asked(classifier, sentences)[1]
        whole = representation, level[:, [0, 1]]
        forget(classifier, sentences, sentences[:20], *whole, of_a_training(epochs=2), 0, 2.0, 200.0, checkpoint)
        return classifier.network.state_dict()

    class Once(Checkpoint):
        """Stops the training after its thirteenth step."""

        steps = 0

        def write(self, state):
            super().write(state)
            self.steps += 1
            if self.steps == 13:
                raise Stopped

    expected = forgotten()
    path = tmp_path / "state.pt"
    with pytest.raises(Stopped):
        forgotten(Once(path, 1e-9))
    for found in (forgotten(), forgotten(Checkpoint(path, 0))):
        assert all(torch.equal(found[name], weight) for name, weight in expected.items())


@pytest.mark.parametrize("architecture", ["gpt2", "llama", "roberta", "one_layer_attention"])
def test_heads_read_what_the_logits_come_from(architecture):
    """Of every row its own token's, with gradients: the layer's answer to it are the logits."""
    classifier = tiny_classifier(architecture)
    classifier.network.requires_grad_(True)
    with given_to_last_layer(classifier) as (layer, given_for):
        token_id, mask = classifier.padded([sentence.row for sentence in sentences_of(classifier)])
        logits = classifier.logits(classifier.embed(token_id), mask)
        given = given_for(logits)
        assert torch.allclose(layer(given), logits, atol=1e-5)
        given.sum().backward()
    assert classifier.network.get_input_embeddings().weight.grad.abs().sum() > 0
