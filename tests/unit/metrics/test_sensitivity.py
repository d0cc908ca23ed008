"""Flip area and worst change against values worked out on paper and the released search written down a second time."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from captum.metrics import sensitivity_max
from combinations import spread
from foreign_classifiers import foreign_classifier
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from models_for_tests import by_hand, context_of, sentences_of, tiny_classifier

from evenlight.configuration import completed_entry
from evenlight.core.errors import InputError
from evenlight.engine.evaluator import Evaluator
from evenlight.explainers import Explainer, baselines, explain
from evenlight.metrics import Metric, Origin, score
from evenlight.metrics.explanations import Explanation, explanation_of
from evenlight.metrics.families.worst_change.balls import ascent, draws_in_ball, into_ball, radii_of
from evenlight.metrics.perturbed_inputs import Input, Moved, loss_gradients
from evenlight.models.classifier import prepared
from evenlight.models.fast_layers import whole_last_layer

RELEASED = {"metric": "flip_area", "definition": "released", "steps": 4, "tokens": 3}
CORRECTED = RELEASED | {"definition": "corrected"}
WORST = {"metric": "worst_change", "steps": 4, "radius": 0.1, "norm": "linf", "relative": False}
MAXIMUM = {"metric": "max_sensitivity", "draws": 4, "rounds": 1, "radius": 0.1, "norm": "linf", "relative": False}
RADIUS = 2.0**-10
SALIENCY, GXI, OCCLUSION = ({"method": method} for method in ("saliency", "input_x_gradient", "occlusion"))


def linear(worth):
    """Logit of class 1 = the worth of all tokens, that of class 0 is zero: k tokens flip where radius · k > the sum."""
    return by_hand(
        {word: (value,) for word, value in worth.items()},
        lambda embedding, mask: torch.stack([(total := (embedding[..., 0] * mask).sum(-1)) * 0, total], dim=-1),
    )


def of_words(classifier, words, word_score, origin=None, target=1):
    """An explanation by one score per word."""
    [sentence] = sentences_of(classifier, [words], targets=[target])
    values = np.array([0.0 if word < 0 else word_score[word] for word in sentence.word_id])
    origin = origin or Origin("grad", SALIENCY, 0)
    return Explanation("item", target, sentence.token_id, sentence.word_id, values, None, tuple(words), origin)


def sensitivity(classifier, explanations, settings, tokens_per_batch=4096):
    evaluator = Evaluator(classifier, tokens_per_batch)
    return score(Metric.parse_all({"it": settings}), explanations, evaluator)["it"]


# Moved inputs ----------------------------------------------------------------------------------------------------


def test_the_gradient_of_a_row_is_its_own_whatever_is_asked_beside_it():
    """Of the cross-entropy −log P(target), worked out for a row alone; the direction as well as the size."""
    classifier = tiny_classifier("bert", dtype=torch.float64)
    rows, expected = [], []
    for number, sentence in enumerate(sentences_of(classifier)[:3]):
        vectors = classifier.embed(torch.from_numpy(sentence.token_id)[None])[0].detach()
        places = torch.arange(1, len(vectors) - 1)[: number + 2]
        rows.append(Moved(Input(vectors, number % 2), places, torch.tensor(0.01 * number)))
        start = rows[-1].vectors()[None].requires_grad_()
        mask = torch.ones(1, len(vectors), dtype=torch.int64)
        classifier.logits(start, mask).log_softmax(-1)[0, number % 2].neg().backward()
        expected.append(start.grad[0, places])
    for tokens_per_batch in (1, 1000):
        found = loss_gradients(rows, Evaluator(classifier, tokens_per_batch))
        torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-12)


# The smallest flip -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("worth", "released", "corrected"),
    [
        # Radii 0.3, 0.15, 0.1: both definitions agree where nothing is out of reach.
        (0.1, (0.3 + 0.15) / 2 + (0.15 + 0.1) / 2, (0.3 + 0.15) / 2 + (0.15 + 0.1) / 2),
        # Radii 0.6, 0.3, 0.2: five steps of 0.1 never reach 0.6, which reads as the most fragile case.
        (0.2, (0 + 0.3) / 2 + (0.3 + 0.2) / 2, (0.6 + 0.3) / 2 + (0.3 + 0.2) / 2),
        # Radii 1.2, 0.6, 0.4: one token never flips, and counts as the largest radius.
        (0.4, (0 + 0) / 2 + (0 + 0.4) / 2, (1 + 0.6) / 2 + (0.6 + 0.4) / 2),
        # Nothing flips.
        (4.0, 0, 2),
    ],
)
def test_a_linear_model_by_hand(worth, released, corrected):
    classifier = linear({"sea": worth})
    one = of_words(classifier, ["sea"] * 3, [3, 1, 2])
    for settings, expected in ((RELEASED, released), (CORRECTED, corrected)):
        [found] = sensitivity(classifier, [one], settings)
        # The search stops within one part in 1,024, above the radius that flips.
        assert expected - 1e-6 <= found <= expected + 2 * RADIUS


def test_one_token_and_none():
    classifier = linear({"sea": 0.1})
    one = of_words(classifier, ["sea"], [1])
    assert sensitivity(classifier, [one], RELEASED) == [0]
    assert np.isnan(sensitivity(classifier, [one], CORRECTED)).all()
    nothing = replace(one, word_id=np.full(len(one.word_id), -1))
    assert np.isnan(sensitivity(classifier, [nothing, nothing], RELEASED)).all()


def naive(classifier, one, definition):
    """The search of a definition, one attack and one sentence at a time, nothing remembered."""
    released = definition == "released"
    inner = np.flatnonzero(~one.is_special)
    token_id = torch.from_numpy(one.token_id[inner] if released else one.token_id)[None]
    mask = torch.ones_like(token_id)
    embedding = classifier.embed(token_id).detach()
    base = classifier.network.base_model
    start = base(input_ids=token_id, attention_mask=mask).last_hidden_state.detach() if released else embedding
    predicted = classifier.logits(embedding, mask).argmax(-1)
    radii = []
    for count in range(1, min(len(inner), 3) + 1):
        top = np.argsort(np.abs(one.token_score[inner]), kind="stable")[-count:]
        chosen = torch.zeros(token_id.shape[1], 1, dtype=start.dtype)
        chosen[top if released else inner[top]] = 1
        low, high, best = 0.0, 1.0, 0.0 if released else 1.0
        while high - low >= 1e-3:
            middle = (low + high) / 2
            steps, step = (5, 0.1) if released else (4, 2.5 * middle / 4)
            vectors = start.clone()
            for _ in range(steps):
                vectors = vectors.detach().requires_grad_()
                loss = torch.nn.functional.cross_entropy(classifier.logits(vectors, mask), predicted)
                sign = torch.autograd.grad(loss, vectors)[0].sign() * chosen
                vectors = start + (vectors + step * sign - start).clamp(-middle, middle)
            if classifier.logits(vectors, mask).argmax(-1) != predicted:
                best = high = middle
            else:
                low = middle
        radii.append(best)
    return float(np.trapezoid(radii))


def of_sentences(classifier, count=4):
    """Explanations of some sentences, the scores having nothing to do with the model."""
    return [
        Explanation(
            one.item_id, one.target, one.token_id, one.word_id, np.sin(7.0 * np.arange(len(one.token_id)) + place)
        )
        for place, one in enumerate(sentences_of(classifier)[:count])
    ]


@spread("architecture, settings", ("bert", "gpt2"), (RELEASED, CORRECTED))
def test_the_search_written_down_a_second_time(architecture, settings):
    """In double precision, with what the search remembers and without."""
    classifier = tiny_classifier(architecture, dtype=torch.float64)
    explanations = of_sentences(classifier)
    expected = [naive(classifier, one, settings["definition"]) for one in explanations]
    assert sensitivity(classifier, explanations, settings) == pytest.approx(expected, abs=1e-9)
    assert len(set(expected)) > 2


def test_a_network_whose_embeddings_are_shorter_than_its_states_is_refused():
    classifier = foreign_classifier("electra")
    explanations = of_sentences(classifier, 1)
    with pytest.raises(InputError, match=r"<flip_area>\.definition.*'released'.*16.*electra model has 8; use 'corr"):
        sensitivity(classifier, explanations, RELEASED)
    assert np.isfinite(sensitivity(classifier, explanations, CORRECTED)).all()


def test_fast_last_layer_is_whole_where_its_output_is_read():
    """Fast layers compute the last layer for the first token only."""
    plain = tiny_classifier("bert")
    explanations = of_sentences(plain, 2)
    expected = sensitivity(plain, explanations, RELEASED)
    fast = replace(plain, network=prepared(plain.network))
    kinds = [type(module) for module in fast.network.modules()]
    with whole_last_layer(fast.network):
        assert [type(module) for module in fast.network.modules()] != kinds
    assert [type(module) for module in fast.network.modules()] == kinds
    assert sensitivity(fast, explanations, RELEASED) == pytest.approx(expected, abs=2 * RADIUS)


@spread("architecture, settings", ("bert", "gpt2"), (RELEASED, CORRECTED, WORST, MAXIMUM | {"rounds": 2}))
def test_values_do_not_depend_on_the_batch(architecture, settings):
    rows = []
    classifier = replace(tiny_classifier(architecture, dtype=torch.float64), on_rows=rows.append)
    explanations = [replace(one, origin=Origin("grad", SALIENCY, 0)) for one in of_sentences(classifier, 3)]
    whole = sensitivity(classifier, explanations, settings)
    assert max(rows) > 1
    rows.clear()
    assert whole == pytest.approx(sensitivity(classifier, explanations[::-1], settings, 1)[::-1], abs=1e-9)
    assert max(rows) == 1


def test_explainers_share_what_depends_on_the_tokens_alone():
    classifier = tiny_classifier("bert")
    rows = []
    counting = replace(classifier, on_rows=rows.append)
    explanations = of_sentences(classifier, 2)
    once = sensitivity(counting, explanations, RELEASED)
    needed = sum(rows)
    rows.clear()
    others = [replace(one, origin=Origin("lime"), token_score=-2 * one.token_score) for one in explanations]
    assert sensitivity(counting, explanations + others, RELEASED).tolist() == [*once, *once]
    assert sum(rows) == needed


def test_an_attack_does_not_move_where_the_gradient_is_zero():
    """The logit of class 1 is flat up to 1, where it begins to fall: from 0.3 no attack sees the way there."""

    def rule(embedding, mask):
        beyond = (torch.relu(embedding[..., 0] - 1) * mask).sum(-1)
        return torch.stack([beyond, 0.05 - beyond], dim=-1)

    classifier = by_hand({"sea": (0.3,)}, rule)
    one = of_words(classifier, ["sea", "sea"], [1, 2])
    assert sensitivity(classifier, [one], CORRECTED) == [1]
    assert sensitivity(classifier, [one], RELEASED) == [0]


def test_an_attack_that_a_ball_has_stopped_leaves_no_signs_to_others():
    """The loss is highest at 0.04, so the attack is at 0.1, 0, 0.1, 0, 0.1, and only near 0.1 the prediction flips."""
    # A ball of less than 0.1 stops the first step. Its further steps are within it, but no way of a larger ball.

    def rule(embedding, mask):
        moved = embedding[:, 0, 0]
        notch = torch.relu(2 - 10_000 * torch.relu((moved - 0.1).abs() - 0.0001))
        margin = 1 + (moved - 0.04).abs() - notch
        return torch.stack([torch.zeros_like(margin), margin], dim=-1)

    classifier = by_hand({"sea": (0.0,)}, rule)
    [found] = sensitivity(classifier, [of_words(classifier, ["sea", "sea"], [2, 1])], RELEASED)
    assert 0.1 <= found <= 0.1 + RADIUS


# The worst change of the explanation -----------------------------------------------------------------------------


def squares():
    """Logit of class 1 = Σ x²: the saliency of a token is |2x|, its input × gradient 2x²."""
    return by_hand(
        {"sea": (1.0,), "ship": (2.0,)},
        lambda embedding, mask: torch.stack([(total := (embedding[..., 0] ** 2 * mask).sum(-1)) * 0, total], dim=-1),
    )


@pytest.mark.parametrize(("norm", "radius"), [("linf", 0.1), ("l2", 0.5)])
def test_the_worst_change_by_hand(norm, radius):
    """The attack lowers both numbers, 1 and 2: in the corner of the cube; on the sphere along the gradient."""
    classifier = squares()
    start = np.array([1.0, 2.0])
    moved = start - radius if norm == "linf" else start * (1 - radius / np.linalg.norm(start))
    words = ["sea", "ship"]
    explanations = [
        of_words(classifier, words, [1, 2], Origin("theirs", {"method": "imported", "file": "theirs.jsonl"}, 0)),
        of_words(classifier, words, [1, 2], Origin("random", {"method": "uniform_random"}, 0)),
        of_words(classifier, words, 2 * start, Origin("grad", SALIENCY, 0)),
        of_words(classifier, words, 2 * start**2, Origin("gxi", GXI, 0)),
        of_words(classifier, words, [0, 0], Origin("grad", SALIENCY, 0)),
    ]
    found = sensitivity(classifier, explanations, WORST | {"norm": norm, "radius": radius})
    expected = [
        np.nan,  # there is no explanation of the moved text
        0,
        np.linalg.norm(moved - start) / np.linalg.norm(start),
        np.linalg.norm(moved**2 - start**2) / np.linalg.norm(start**2),
        np.nan,
    ]
    assert found == pytest.approx(expected, abs=1e-6, nan_ok=True)


@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_steps_of_the_attack_by_hand(norm):
    """2.5 radii in four steps, along a gradient that is the same everywhere: the second reaches the end of the ball."""
    classifier = linear({"sea": 0.3, "ship": 0.5})
    vectors = torch.tensor([[9.0], [0.3], [0.5]])
    metric = Metric.parse(WORST | {"norm": norm})
    [path] = ascent([Input(vectors, 1)], [torch.tensor([1, 2])], metric, Evaluator(classifier, 1000))
    size = np.array([0.0625, 0.1, 0.1, 0.1]) / (np.sqrt(2) if norm == "l2" else 1)
    assert torch.stack(path).squeeze(-1).numpy() == pytest.approx(-np.stack([size, size], axis=1), abs=1e-7)


@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_without_a_gradient_nothing_moves(norm):
    classifier = linear({"sea": 0.3})
    flat = replace(classifier, network=by_hand({"sea": (0.3,)}, lambda embedding, mask: embedding.sum((1, 2))[:, None]
                                               * torch.zeros(2)).network)  # fmt: skip
    one = of_words(flat, ["sea"], [2.0])
    vectors = flat.embed(torch.from_numpy(one.token_id)[None])[0].detach()
    metric = Metric.parse(WORST | {"norm": norm})
    [path] = ascent([Input(vectors, 1)], [torch.tensor([1])], metric, Evaluator(flat, 1000))
    assert not torch.stack(path).any()


def test_explainers_that_hide_tokens_see_the_moved_embeddings():
    """P = 1 / (1 + exp(−Σ x)) without a token, which is masked (x = 0), at 0.3 and 0.5 and moved down by 0.1 each."""
    classifier = linear({"sea": 0.3, "ship": 0.5})

    def shapes(sea, ship):
        probability = 1 / (1 + np.exp(-np.array([sea + ship, ship, sea])))
        return probability[0] - probability[1:]

    own, moved = shapes(0.3, 0.5), shapes(0.2, 0.4)
    one = of_words(classifier, ["sea", "ship"], own, Origin("occlusion", OCCLUSION, 0))
    expected = np.linalg.norm(moved - own) / np.linalg.norm(own)
    assert sensitivity(classifier, [one], WORST) == pytest.approx([expected], abs=1e-5)


@pytest.mark.parametrize("architecture", ["bert", "gpt2"])
def test_a_ball_of_no_size_changes_nothing_and_a_larger_one_more(architecture):
    """Also where an explainer draws at random, the same for the moved sentence, and where it reads the words."""
    classifier = tiny_classifier(architecture, dtype=torch.float64)
    sentences = sentences_of(classifier)[:2]
    methods = [
        SALIENCY,
        {"method": "shapley_sampling", "permutations": 3},
        {"method": "lime", "features": "word", "samples": 20},
        {"method": "partition_shap", "evaluations": 20},
    ]
    explanations = []
    for method in methods:
        name, settings = method["method"], completed_entry("explainers", "it", method)
        found = explain(Explainer.parse_all({name: settings}), sentences, context_of(classifier))[name]
        explanations += [
            explanation_of(s, one.token_score, origin=Origin(name, settings, 0))
            for s, one in zip(sentences, found.attributions, strict=True)
        ]
    found = [sensitivity(classifier, explanations, WORST | {"radius": radius}) for radius in (1e-12, 1e-3, 0.1)]
    assert (found[0] < 1e-4).all()
    assert (found[1] < found[2]).all()


@pytest.mark.parametrize("norm", ["l2", "linf"])
def test_a_relative_radius_is_a_share_of_the_embeddings(norm):
    """The norm of the numbers of (3, 0) and (0, 4) together is 5, and the largest number 4."""
    classifier = by_hand({"sea": (3.0, 0.0), "ship": (0.0, 4.0)}, lambda embedding, mask: embedding[:, 0])
    text = of_words(classifier, ["sea", "ship"], [1, 1])
    start = Input(classifier.embed(torch.from_numpy(text.token_id)), 1)
    places = torch.from_numpy(np.flatnonzero(~text.is_special))
    metric = Metric.parse(WORST | {"norm": norm, "radius": 0.5, "relative": True})
    # Where nothing moves there is nothing to be relative to.
    radii = radii_of([start, start], [places, places[:0]], metric)
    assert radii == pytest.approx([0.5 * (5 if norm == "l2" else 4), 0.5])
    assert radii_of([start], [places], metric.model_copy(update={"relative": False})) == [0.5]


# Max-sensitivity -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", ["l2", "linf"])
@pytest.mark.parametrize("architecture", ["bert", "gpt2"])
def test_max_sensitivity_is_captum_s_with_the_same_draws(architecture, norm):
    """Of the saliency that autograd has, at the embeddings moved by our draws, one sentence at a time."""
    classifier = tiny_classifier(architecture, dtype=torch.float64)
    sentences = sentences_of(classifier)[:3]
    settings = MAXIMUM | {"norm": norm}
    [found] = [explain(Explainer.parse_all({"grad": SALIENCY}), sentences, context_of(classifier))["grad"]]
    explanations = [
        explanation_of(sentence, one.token_score, origin=Origin("grad", SALIENCY, 3))
        for sentence, one in zip(sentences, found.attributions, strict=True)
    ]
    for one, ours in zip(explanations, sensitivity(classifier, explanations, settings), strict=True):
        vectors = classifier.embed(torch.from_numpy(one.token_id)[None])
        inside = torch.from_numpy(~one.is_special)

        def saliency(moved, one=one):
            # The sentence itself comes as a tuple, and its explanation must be one.
            is_tuple = isinstance(moved, tuple)
            moved = (moved[0] if is_tuple else moved).detach()
            with torch.enable_grad():
                moved.requires_grad_()
                mask = torch.ones(moved.shape[:2], dtype=torch.int64)
                logit = classifier.logits(moved, mask)[:, one.target].sum()
                scores = torch.autograd.grad(logit, moved)[0].abs().sum(-1)
            return (scores,) if is_tuple else scores

        def perturbed(inputs, radius, one=one, inside=inside):
            moved = inputs.clone()
            moved[:, inside] += torch.stack(draws_in_ball(one, moved[0, inside], Metric.parse(settings), radius, 0))
            return moved

        theirs = sensitivity_max(
            saliency, vectors, perturb_func=perturbed, perturb_radius=settings["radius"], n_perturb_samples=4
        )
        assert ours == pytest.approx(theirs.item(), rel=1e-9)


@pytest.mark.parametrize("norm", ["l2", "linf"])
def test_draws_fill_the_ball_and_are_those_of_the_item(norm):
    classifier = tiny_classifier("bert", dtype=torch.float64)
    one, other = of_sentences(classifier, 2)
    like = torch.zeros(1, 3, dtype=torch.float64)
    settings = Metric.parse(MAXIMUM | {"norm": norm, "draws": 4000})
    draws = torch.stack(draws_in_ball(one, like, settings, 2.0, 0)).flatten(1)
    order = 2 if norm == "l2" else float("inf")
    length = torch.linalg.vector_norm(draws, order, dim=1)
    assert length.max() <= 2
    # Half of the volume of a ball in three dimensions lies within 0.5^(1/3) of its radius.
    assert (length < 2 * 0.5 ** (1 / 3)).double().mean() == pytest.approx(0.5, abs=0.03)
    assert draws.mean(0).abs().max() < 0.1
    # One number alone is anywhere between the ends.
    number = torch.stack(draws_in_ball(one, like[:, :1], settings, 2.0, 0)).abs()
    assert (number < 1).double().mean() == pytest.approx(0.5, abs=0.03)
    again = torch.stack(draws_in_ball(replace(one, origin=Origin("lime")), like, settings, 2.0, 0)).flatten(1)
    assert (again == draws).all()
    another_seed = replace(one, origin=Origin("grad", seed=1))
    for explanation, search in ((one, 1), (other, 0), (another_seed, 0)):
        changed = torch.stack(draws_in_ball(explanation, like, settings, 2.0, search)).flatten(1)
        assert not (changed == draws).any()


def test_explainers_share_the_first_round():
    """Two of a family ask the model for no more gradients than one; from the second round on each goes its own way."""
    classifier = linear({"sea": 0.3, "ship": 0.5, "calm": -0.1})
    rows = []
    counting = replace(classifier, on_rows=rows.append)
    words = ["sea", "ship", "calm"]
    explanations = [
        of_words(counting, words, scores, Origin(name, settings, 0))
        for name, settings, scores in (("grad", SALIENCY, [0.1, 0.2, 0.3]), ("gxi", GXI, [3, 2, 1]))
    ]
    asked = {}
    for rounds, count in ((1, 1), (1, 2), (2, 1), (2, 2)):
        rows.clear()
        sensitivity(counting, explanations[:count], MAXIMUM | {"rounds": rounds})
        asked[rounds, count] = sum(rows)
    assert asked[1, 1] == asked[1, 2] > 0
    assert asked[2, 1] < asked[2, 2]


@given(arrays(np.float64, (2, 3), elements=st.floats(-5, 5)), st.sampled_from(["l2", "linf"]))
def test_into_ball_goes_to_its_nearest_point(offset, norm):
    moved = into_ball(torch.from_numpy(offset), 1.0, norm).numpy()
    length = np.linalg.norm(offset)
    nearest = np.clip(offset, -1, 1) if norm == "linf" else offset / max(1.0, length)
    np.testing.assert_allclose(moved, nearest, rtol=1e-12, atol=1e-300)
    if length <= 1:
        assert (moved == offset).all()


def test_further_rounds_come_near_a_worst_corner_of_the_ball():
    """The saliency is 2x: in a cube it changes most in any corner, by r √2 / √5."""
    # 2x² does in (1.1, 2.1), but the search may end in the next best corner, (0.9, 1.9). Each explainer is attacked by
    # itself.
    classifier = squares()
    start = np.array([1.0, 2.0])
    explanations = [
        of_words(classifier, ["sea", "ship"], 2 * start, Origin("grad", SALIENCY, 0)),
        of_words(classifier, ["sea", "ship"], 2 * start**2, Origin("gxi", GXI, 0)),
    ]
    rounds = [sensitivity(classifier, explanations, MAXIMUM | {"rounds": number}) for number in (1, 2, 40)]
    assert (rounds[0] <= rounds[1]).all()
    corners = [np.linalg.norm((start + move) ** 2 - start**2) / np.linalg.norm(start**2) for move in (-0.1, 0.1)]
    assert rounds[2][0] == pytest.approx(0.1 * 2**0.5 / 5**0.5, rel=0.01)
    assert 0.99 * corners[0] < rounds[2][1] <= corners[1] + 1e-9
    nothing = replace(explanations[0], token_score=np.zeros(len(explanations[0].token_score)))
    assert np.isnan(sensitivity(classifier, [nothing], MAXIMUM)).all()


def test_explainers_that_cannot_explain_moved_embeddings_are_named():
    classifier = squares()
    text = of_words(classifier, ["sea"], [1], Origin("lime_text", {"method": "lime", "definition": "released"}, 0))
    message = r"^explainers\.lime_text.*'released'.*'worst_change' and 'max_sensitivity'.*'flip_area'$"
    with pytest.raises(InputError, match=message):
        sensitivity(classifier, [text], WORST)
    with pytest.raises(InputError, match="explainer grad has no known"):
        sensitivity(classifier, [of_words(classifier, ["sea"], [1], Origin("grad"))], WORST)


IG = {"method": "integrated_gradients", "steps": 2}


@pytest.mark.parametrize("settings", [WORST, MAXIMUM | {"rounds": 2}], ids=["worst", "maximum"])
def test_the_model_is_tried_out_once(monkeypatch, settings):
    """However few sentences are explained together; and what is remembered holds none of their vectors."""
    classifier = tiny_classifier("bert")
    rows, tried = [], []
    counting = replace(classifier, on_rows=rows.append)
    explanations = [replace(each, origin=Origin("ig", IG, 0)) for each in of_sentences(classifier, 4)]
    original = baselines.share_of_the_start
    monkeypatch.setattr(baselines, "share_of_the_start", lambda *given: tried.append(1) or original(*given))
    together = sensitivity(counting, explanations, settings)
    assert len(tried) == 1
    needed = sum(rows)
    rows.clear()
    monkeypatch.setattr("evenlight.metrics.families.worst_change.balls.SENTENCES_AT_ONCE", 1)
    evaluator = Evaluator(counting, 4096)
    one_by_one = score(Metric.parse_all({"it": settings}), explanations, evaluator)["it"]
    assert len(tried) == 2
    assert sum(rows) == needed
    assert one_by_one == pytest.approx(together, rel=1e-4)
    assert set(map(type, evaluator.found_out.values())) <= {str, int, float, bool}
    # Another model is tried out again.
    sensitivity(tiny_classifier("bert"), explanations[:1], settings)
    assert len(tried) == 3
