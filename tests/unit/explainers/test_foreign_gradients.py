"""Explainers that take gradients, on architectures that normalise otherwise than BERT does.

Elsewhere, word embeddings go straight into a normalisation (ModernBERT, DeBERTa, BLOOM, Funnel), or nothing is added to
them before the first one (Llama's kind), and the pad token's embedding is zero.
"""

from dataclasses import replace

import numpy as np
import pytest
import torch
from combinations import spread
from foreign_classifiers import FOREIGN, any_classifier
from models_for_tests import by_hand, context_of, parsed_alike, sentences_of, three_targets, tiny_classifier
from wording import says

from evenlight.core.errors import InputError
from evenlight.engine.batches import Batch
from evenlight.explainers import explain
from evenlight.explainers.attribution import remarks_on_items
from evenlight.explainers.baselines import probes
from evenlight.explainers.families.deeplift import paper
from evenlight.models.classifier import prepared
from evenlight.models.tokenizers import token_ids

# Their word embeddings go into a normalisation and nowhere else.
NORMALISED_AT_ONCE = ("modernbert", "deberta-v2", "bloom", "funnel")
# Where a path that begins without embeddings begins in a jump.
JUMPING = (*NORMALISED_AT_ONCE, "llama", "qwen2", "qwen3", "gemma", "gemma2", "mistral", "gpt_neox")
KNOWN = ("one_layer_attention", "bert", "roberta", "distilbert", "gpt2")
DEEPLIFT = {"method": "deeplift"}
GXI = {"method": "input_x_gradient"}
IG = {"method": "integrated_gradients", "steps": 200}
FAMILIES = {
    "path": IG,
    "adaptive_path": {"method": "adaptive_integrated_gradients", "absolute_bound": 0.0, "maximum_steps": 1025},
    "gradient_shap": {"method": "gradient_shap", "samples": 3},
}


def classifier_of(architecture, **options):
    return any_classifier(architecture, classes=3, **options)


def explained(settings, classifier, sentences=None):
    sentences = sentences or three_targets(classifier)
    return explain(parsed_alike({"it": settings}), sentences, context_of(classifier))["it"]


def words_by(rule, worth=None):
    """A network that asks a rule for its second class's logit, from the worth of each word."""

    def logits(embedding, mask):
        total = rule(embedding[..., 0], mask)
        return torch.stack([torch.zeros_like(total), total], dim=-1)

    return by_hand(worth or dict.fromkeys("abcdefgh", (1.0,)), logits)


def missing(classifier, output):
    """How much of the change DeepLIFT misses where the model is tried out."""
    entry = parsed_alike({"it": DEEPLIFT | {"output": output}})["it"]
    return paper.tried_out(entry, context_of(classifier).evaluator)[0]


def sizes(explanations):
    return np.array([np.abs(one.token_score).sum() for one in explanations.attributions])


# Where explainers take hold --------------------------------------------------------------------------------------


@pytest.mark.parametrize("architecture", FOREIGN)
def test_what_leaves_the_embedding_layer_can_be_put_back(architecture):
    classifier = classifier_of(architecture)
    batch = Batch.of(three_targets(classifier), classifier)
    embedding_layer = classifier.embedding_layer("embedding_output")
    words = classifier.embed(batch.token_id)
    block = embedding_layer.embed(batch.token_id, batch.mask)
    expected = classifier.logits(words, batch.mask)
    torch.testing.assert_close(embedding_layer.logits(block, batch.mask), expected)
    assert not torch.allclose(embedding_layer.logits(block.flip(-1), batch.mask), expected)
    with_layer_of_its_own = architecture in (*NORMALISED_AT_ONCE, "electra")
    assert (words.shape == block.shape and torch.equal(words, block)) != with_layer_of_its_own
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in classifier.network.modules())


# Input × gradient -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("architecture", NORMALISED_AT_ONCE)
def test_input_x_gradient_of_what_is_normalised_at_once_is_a_remainder(architecture):
    """Scaling an embedding changes nothing but what the normalisation's ε leaves; behind it, the scores are real."""
    classifier = classifier_of(architecture)
    paths = sizes(explained(IG, classifier))
    words = explained(GXI, classifier)
    assert np.median(sizes(words) / paths) < 1e-3
    assert words.note.startswith("the scores of 8 of 8")
    assert words.note.endswith("take layer 'embedding_output'")
    behind = explained(GXI | {"layer": "embedding_output"}, classifier)
    assert behind.note == ""
    assert 0.1 < np.median(sizes(behind) / paths) < 10
    # Norms have no sign and saliency has no input: neither cancels out.
    assert explained(GXI | {"aggregation": "l2"}, classifier).note == ""
    assert explained(GXI | {"method": "saliency", "aggregation": "l1"}, classifier).note == ""


def test_without_an_embedding_layer_a_path_is_the_suggested_method():
    classifier = classifier_of("gemma", spread=0.02)  # whose layers hardly add to the embeddings
    note = explained(GXI, classifier).note
    assert "a remainder" in note
    assert note.endswith("such as integrated_gradients")


def test_the_suggested_method_is_the_same_for_all_groups_of_texts():
    """Also where the embedding layer turns the embeddings of some texts only, here of those with an even length."""
    classifier = classifier_of("gemma", spread=0.02)

    def turn(module, arguments, keywords):
        hidden = keywords["hidden_states"] if not arguments else arguments[0]
        turned = hidden.flip(-1) if hidden.shape[1] % 2 == 0 else hidden
        return (turned, *arguments[1:]), {name: value for name, value in keywords.items() if name != "hidden_states"}

    classifier.network.base_model.layers[0].register_forward_pre_hook(turn, with_kwargs=True)
    context, ways = context_of(classifier), set()
    texts = three_targets(classifier)
    assert {len(text.token_id) % 2 for text in texts} == {0, 1}
    for text in texts:
        note = explain(parsed_alike({"it": GXI}), [text], context)["it"].note
        ways |= {note.split("; ")[-1]} if note else set()
    assert len(ways) == 1


@pytest.mark.parametrize("architecture", [*KNOWN, "electra"])
def test_input_x_gradient_is_no_remainder_where_positions_are_added(architecture):
    assert explained(GXI, classifier_of(architecture)).note == ""


# Where paths begin ------------------------------------------------------------------------------------------------


@spread("architecture, family", JUMPING, FAMILIES)
def test_no_path_begins_where_the_output_jumps(architecture, family):
    classifier = classifier_of(architecture)
    found = explained(FAMILIES[family], classifier)
    assert found.note == says("path", f"token {classifier.tokenizer.mask_token}", "'pad'")
    at_mask = explained(FAMILIES[family] | {"baseline": "mask"}, classifier)
    assert "begins" not in at_mask.note
    for one, other in zip(found.attributions, at_mask.attributions, strict=True):
        np.testing.assert_array_equal(one.token_score, other.token_score)
        if one.completeness_gap is not None:
            change = one.token_score.sum() - one.completeness_gap
            assert abs(one.completeness_gap) < 0.01 * max(abs(change), 0.01)


@spread("architecture, baseline", (*KNOWN, "electra"), ("pad", "mask", "zero"))
def test_paths_begin_without_embeddings_where_positions_are_added(architecture, baseline):
    classifier = classifier_of(architecture)
    classifier.network.get_input_embeddings().weight[classifier.special_token("pad")] = 0
    note = explained(IG | {"baseline": baseline}, classifier).note
    assert "begins" not in note


def test_a_full_stop_is_the_last_resort():
    classifier = classifier_of("llama")
    weight = classifier.network.get_input_embeddings().weight
    weight[classifier.tokenizer.all_special_ids] = 0
    stop = int(token_ids(classifier.tokenizer, [["."]])[0][-1])
    found = explained(IG, classifier)
    assert found.note == says("path", f"token {classifier.tokenizer.convert_ids_to_tokens(stop)} and")
    weight[stop] = 0
    with pytest.raises(InputError, match=r"jumps.*'pad'"):
        explained(IG, classifier)


@pytest.mark.parametrize("architecture", ["llama", "modernbert"])
def test_the_texts_that_try_a_model_out_are_framed_as_its_own(architecture):
    classifier = classifier_of(architecture)
    [text] = sentences_of(classifier, [["a"]])
    for probe in probes(classifier):
        np.testing.assert_array_equal(probe.token_id[probe.is_special], text.token_id[text.is_special])
        assert not set(probe.token_id[~probe.is_special]) & set(classifier.tokenizer.all_special_ids)
        assert (~probe.is_special).sum() == 8
        assert probe.is_special[0] == probe.is_special[-1] == (architecture == "modernbert")


def test_no_model_is_tried_out_with_tokens_that_it_does_not_know():
    """A tokenizer may have been given tokens, and the model no embeddings for them."""
    classifier = classifier_of("bert")
    before = [probe.token_id.tolist() for probe in probes(classifier)]
    rows = len(classifier.network.get_input_embeddings().weight)
    assert classifier.tokenizer.add_tokens([f"new{number}" for number in range(50)]) == 50
    assert len(classifier.tokenizer) > rows
    assert [probe.token_id.tolist() for probe in probes(classifier)] == before
    assert explained(IG, classifier).note == ""


@pytest.mark.parametrize("method", ["integrated_gradients", "path_gradient"])
def test_paths_with_too_few_steps_are_counted(method):
    classifier = classifier_of("distilbert")
    sentences = three_targets(classifier)
    exact = explained(IG | {"steps": 1}, classifier).attributions
    gaps = [abs(one.completeness_gap) / abs(one.token_score.sum() - one.completeness_gap) for one in exact]
    missed = sum(gap > 0.05 for gap in gaps)
    assert 0 < missed <= len(sentences)
    note = explained(IG | {"steps": 1, "method": method}, classifier).note
    assert f"paths of {missed} of 8 items" in note


# DeepLIFT ---------------------------------------------------------------------------------------------------------


@spread("architecture, baseline", FOREIGN, ("pad", "mask"))
def test_deeplift_adds_up_whatever_the_normalisation(architecture, baseline):
    """In single precision and from words without embedding, where scales of a thousand meet differences of nothing."""
    classifier = classifier_of(architecture)
    found = explained(DEEPLIFT | {"baseline": baseline}, classifier)
    assert found.note == ""
    for one in found.attributions:
        assert abs(one.completeness_gap) < 1e-4 * np.abs(one.token_score).sum()


def test_deeplift_that_does_not_add_up_is_refused(monkeypatch):
    """As with the mean of both scales, the rule for other products."""
    monkeypatch.setattr(paper, "_harmonic", paper._half)
    with pytest.raises(InputError, match=r"explainers\.it:.*DeepLIFT.*'pad'"):
        explained(DEEPLIFT, classifier_of("llama"))


def test_whether_deeplift_is_refused_does_not_depend_on_the_group_of_texts():
    """The multiplier of 'storm' is −1, and what it adds is its worth, 10: its score misses the change by 2 times 10."""

    def rule(worth, mask):
        return (torch.where(worth > 5, 2 * worth.detach() - worth, worth) * mask).sum(-1)

    classifier = words_by(rule, {"storm": (10.0,), "sea": (1.0,), "ship": (2.0,)})
    texts = sentences_of(classifier, [["storm"], ["sea", "ship"], ["storm", "sea"]], targets=[1, 1, 1])
    whole = explained(DEEPLIFT, classifier, texts)
    assert [one.token_score.sum() for one in whole.attributions] == pytest.approx([-10, 3, -9])
    assert "2 of 3 items do" in whole.note
    for text, among in zip(texts, whole.attributions, strict=True):
        [alone] = explained(DEEPLIFT, classifier, [text]).attributions
        np.testing.assert_allclose(alone.token_score, among.token_score)
        assert alone.completeness_gap == pytest.approx(among.completeness_gap)


@pytest.mark.parametrize("output", ["logit", "probability"])
def test_a_class_whose_output_is_constant_hides_no_refusal(output):
    """As where one label was made two classes."""
    missed = missing(words_by(lambda worth, mask: ((2 * worth.detach() - worth) * mask).sum(-1)), output)
    assert missed == pytest.approx(2, rel=1e-5) if output == "logit" else missed > 1


@pytest.mark.parametrize("definition", ["paper", "released"])
def test_operations_without_a_rule_are_said_of_the_model_and_not_of_texts(definition):
    """Texts that are explained with others, which take another way through the network, say the same as alone."""

    def rule(worth, mask):
        # As a network that folds what is longer than four tokens.
        return (worth * mask).sum(-1) + 1e-6 * (worth.amax(1) if mask.shape[1] > 4 else worth.amin(1))

    classifier = words_by(rule)
    texts = sentences_of(classifier, [["a"], ["b", "c", "d", "e"]], targets=[1, 1])

    def said(some):
        return remarks_on_items(explained(DEEPLIFT | {"definition": definition}, classifier, some).remarks, len(some))

    assert said(texts) == said(texts[:1]) + said(texts[1:])
    assert "plain gradient: amax" in str(said(texts))


@pytest.mark.parametrize("output", ["logit", "probability"])
@pytest.mark.parametrize("missed", [0.9, 0.2, 0.05])
@pytest.mark.parametrize(("size", "certainty"), [(1, 15), (1e-4, 0), (1, 0)])
def test_deeplift_may_miss_a_tenth_of_the_change_and_says_so(output, missed, size, certainty):
    """Also where the model is sure, as a fine-tuned one, and where nothing that it reads matters much."""

    def rule(worth, mask):
        return certainty + size * (((1 - missed) * worth + missed * worth.detach()) * mask).sum(-1)

    classifier = words_by(rule)
    assert missing(classifier, output) == pytest.approx(missed)
    [text] = sentences_of(classifier, [["a", "b"]], targets=[1])
    if missed < 0.1:
        explanations = explained(DEEPLIFT | {"output": output}, classifier, [text])
        assert "1 of 1 items do" in explanations.note
        if (output, size, certainty) == ("logit", 1, 0):
            assert explanations.attributions[0].completeness_gap == pytest.approx(-0.1)
    else:
        with pytest.raises(InputError, match=rf"miss.*{missed}"):
            explained(DEEPLIFT | {"output": output}, classifier, [text])


@pytest.mark.parametrize("output", ["logit", "probability"])
def test_deeplift_is_judged_by_its_rules_where_a_transformer_is_sure(monkeypatch, output):
    """Its probabilities change by less than their rounding, and the difference of its logits does not."""
    classifier = tiny_classifier("bert")
    classifier.network.classifier.bias.data = torch.tensor([-25.0, 25.0])
    sure = context_of(classifier).evaluator.probabilities([probe.row for probe in probes(classifier)])
    assert sure.max(axis=1).min() > 0.9999
    assert missing(classifier, output) < 1e-4
    monkeypatch.delitem(paper.STAND_INS, "layer_norm")
    assert missing(classifier, output) > paper.MOST_MISSED


@pytest.mark.parametrize("steps", [2, 64])
def test_paths_with_too_few_steps_are_counted_where_a_model_is_sure(steps):
    """Its probabilities change by little, of which the scores may miss as large a share as elsewhere."""
    classifier = tiny_classifier("bert")
    classifier.network.classifier.bias.data = torch.tensor([0.0, 7.0])
    sentences = [replace(sentence, target=1) for sentence in sentences_of(classifier)]
    settings = {"method": "integrated_gradients", "steps": steps, "output": "probability"}
    explanations = explained(settings, classifier, sentences)
    gaps = np.array([one.completeness_gap for one in explanations.attributions])
    changes = np.array([one.token_score.sum() for one in explanations.attributions]) - gaps
    missed = int((np.abs(gaps) > 0.05 * np.abs(changes)).sum())
    assert np.abs(changes).max() < 0.01
    assert missed == 0 if steps == 64 else missed > 5
    assert (f"the paths of {missed} of 8 items" in explanations.note) == (missed > 0)


def test_deeplift_without_finite_scores_is_refused_as_such():
    classifier = words_by(lambda worth, mask: ((worth * mask).sum(-1) - 100).log())
    with pytest.raises(InputError, match=r"tried.*choose"):
        explained(DEEPLIFT, classifier, sentences_of(classifier, [["a", "b"]], targets=[1]))


def test_deeplift_of_a_model_whose_changes_drown_in_bfloat16_is_refused_with_the_precision():
    """As fresh weights are: every layer changes little, and half the bits round it away."""
    classifier = tiny_classifier("bert")
    for weight in classifier.network.requires_grad_(False).parameters():
        if weight.dim() > 1:
            torch.nn.init.normal_(weight, std=0.02, generator=torch.Generator().manual_seed(0))
    explained(DEEPLIFT, classifier, sentences_of(classifier))
    rounded = replace(classifier, network=prepared(classifier.network, "bfloat16"), precision="bfloat16")
    with pytest.raises(InputError, match=r"explain\.precision.*float32.*baseline"):
        explained(DEEPLIFT, rounded, sentences_of(rounded))


def test_in_place_products_of_two_changing_values_are_named():
    both = torch.tensor([[2.0, 3.0], [0.0, 1.0]], requires_grad=True)
    with paper.Operations(paper.STAND_INS) as operations:
        (both * 2).mul_(3.0).div_(2.0)
        assert operations.unhandled == set()
        (both * 2).mul_(both)
        (both * 2).div_(both)
    assert operations.unhandled == {"mul", "div"}
