"""Architectures that this project was not made with: how each is asked, and that it is trained, kept and explained.

The whole table of them is docs/architectures.md; what is held here is a small part of it, and what was found with it.
"""

import json
from dataclasses import replace

import measure_prompts
import numpy as np
import pytest
import torch
from combinations import few
from measure_classifiers import MAX_TOKENS, MODEL, TEXTS, TRAINING, explainers, sentences_for
from models_for_tests import by_hand, context_of, new_model, own_probabilities
from tiny_models import write_model
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from evenlight.core.errors import InputError
from evenlight.engine import training
from evenlight.engine.evaluator import Evaluator
from evenlight.explainers import Explainer, explain
from evenlight.metrics import Metric, Origin, score
from evenlight.metrics.explanations import explanation_of
from evenlight.metrics.families.worst_change.balls import WithVectors
from evenlight.models.classifier import Classifier, load_saved
from evenlight.models.model_inputs import ModelInputs
from evenlight.models.networks import embedded

WORDS = [text.split() for text in TEXTS]
# (padding on the left, asked with ids besides, reads padding), by type.
TYPES = {
    "modernbert": (False, False, False),
    "deberta-v2": (False, False, False),
    "electra": (False, False, False),
    "roc_bert": (False, False, False),
    "xlnet": (True, False, False),
    "bloom": (True, False, False),
    "falcon": (True, False, False),
    "gpt_neox": (True, False, False),
    "ctrl": (True, False, False),
    "modernbert-decoder": (True, False, False),
    "bart": (False, True, False),
    "t5": (False, True, False),
    "fnet": (False, False, True),
}


@pytest.fixture(scope="module")
def classifier_of(tmp_path_factory):
    """A type to a new classifier and the folder of its source; each is made once."""
    made = {}

    def make(model_type: str) -> tuple[Classifier, dict]:
        if model_type not in made:
            folder = tmp_path_factory.mktemp(model_type)
            special = write_model(model_type, folder, WORDS)
            settings = MODEL | {"source": str(folder), "special_tokens": special}
            classifier = new_model(settings | {"training": TRAINING}, WORDS, 2, seed=0)
            # As rule train does; of two classes without names nothing would be kept.
            classifier.network.config.id2label = {0: "no", 1: "yes"}
            made[model_type] = classifier, settings
        return made[model_type]

    return make


@pytest.mark.parametrize("model_type", TYPES)
def test_texts_in_batches_are_read_as_transformers_reads_each(model_type, classifier_of):
    classifier, _ = classifier_of(model_type)
    way = classifier.model_inputs
    assert (way.pads_left, way.stand_ins is not None, way.reads_padding) == TYPES[model_type]
    sentences = sentences_for(classifier)
    rows = [sentence.token_id for sentence in sentences]
    assert len(set(map(len, rows))) > 4
    expected = own_probabilities(classifier.network, rows)
    assert np.ptp(expected, axis=0).min() > 1e-3
    assert Evaluator(classifier, 4096).probabilities(rows) == pytest.approx(expected, abs=3e-6)
    # One token more on the other side, and it would be seen.
    if not way.reads_padding:
        wrong = replace(classifier, model_inputs=replace(way, pads_left=not way.pads_left, counts_positions=False))
        assert np.abs(Evaluator(wrong, 4096).probabilities(rows) - expected).max() > 1e-5


# RoCBert changes the output of a layer in place, and Falcon has linear layers of its own.
@pytest.mark.parametrize("model_type", few(["roc_bert", "falcon", "bart", "fnet", "gte"], ("falcon", "bart")))
def test_it_is_trained_kept_and_explained(model_type, classifier_of, tmp_path):
    classifier, _ = classifier_of(model_type)
    sentences = sentences_for(classifier)
    history = training.train(classifier, sentences, sentences, TRAINING, 0)
    before = Evaluator(classifier, 4096).probabilities([sentence.token_id for sentence in sentences])
    training.save_classifier(classifier, tmp_path / "trained", history, {})
    trained = load_saved(tmp_path / "trained", MAX_TOKENS)
    assert trained.model_inputs == classifier.model_inputs
    after = Evaluator(trained, 4096).probabilities([sentence.token_id for sentence in sentences])
    assert after == pytest.approx(before, abs=3e-6)
    rough = load_saved(tmp_path / "trained", MAX_TOKENS, precision="bfloat16")
    rounded = Evaluator(rough, 4096).probabilities([sentence.token_id for sentence in sentences])
    assert rounded == pytest.approx(after, abs=0.05)
    methods = explainers()
    for name in ("saliency", "integrated_gradients", "kernel_shap", "occlusion"):
        _, settings = methods[name]
        results = [
            explain(Explainer.parse_all({name: settings}), sentences[:3], context_of(trained, tokens))[
                name
            ].attributions
            for tokens in (1, 4096)
        ]
        for alone, among in zip(*results, strict=True):
            assert np.isfinite(alone.token_score).all()
            assert alone.token_score == pytest.approx(among.token_score, abs=1e-4 * np.abs(alone.token_score).max())
            assert alone.token_score.any()


def test_embeddings_are_not_changed_by_who_reads_them(classifier_of):
    classifier, _ = classifier_of("electra")
    [sentence] = sentences_for(classifier)[:1]
    token_id, mask = classifier.padded([sentence.token_id])
    embedding = classifier.embed(token_id).detach()
    kept = embedding.clone()

    def change(module, arguments, keywords):
        keywords["inputs_embeds"].add_(1)

    handle = classifier.network.register_forward_pre_hook(change, with_kwargs=True)
    try:
        classifier.logits(embedding, mask)
        leaf = embedding.clone().requires_grad_()
        assert torch.autograd.grad(classifier.logits(leaf, mask).sum(), leaf)[0].abs().sum() > 0
    finally:
        handle.remove()
    assert torch.equal(embedding, kept)


@pytest.mark.parametrize("model_type", ["ibert", "lilt"])
def test_embedding_blocks_that_give_more_than_embeddings(model_type, classifier_of):
    """LiLT's gives positions, too; I-BERT's, and its activations, the scale of its integers."""
    classifier, _ = classifier_of(model_type)
    sentences = sentences_for(classifier)[:3]
    token_id, mask = classifier.padded([sentence.token_id for sentence in sentences])
    embedding_layer = classifier.embedding_layer("embedding_output")
    with torch.no_grad():
        values = embedding_layer.embed(token_id, mask)
        assert values.shape == classifier.embed(token_id).shape
        assert not torch.equal(values, classifier.embed(token_id))
        expected = classifier.logits(classifier.embed(token_id), mask)
        assert torch.allclose(embedding_layer.logits(values, mask), expected, atol=1e-6)
        assert not torch.allclose(embedding_layer.logits(values + 1, mask), expected, atol=1e-3)
    _, settings = explainers()["deeplift"]
    explained = explain(Explainer.parse_all({"deeplift": settings}), sentences, context_of(classifier))["deeplift"]
    assert all(abs(one.completeness_gap) < 1e-4 for one in explained.attributions)


def test_moved_embeddings_are_explained_where_the_table_is_quantised(classifier_of):
    """I-BERT's has neither num_embeddings nor embedding_dim, and gives the scale of its integers, too."""
    classifier, _ = classifier_of("ibert")
    sentences = sentences_for(classifier)[:2]
    rows = len(classifier.network.get_input_embeddings().weight)
    [vector] = torch.randn(1, classifier.network.config.hidden_size)
    extended = WithVectors(
        classifier.network, classifier.tokenizer, MAX_TOKENS, model_inputs=classifier.model_inputs, vectors=vector[None]
    )
    ids = torch.tensor([[3, rows, 5]])
    found = extended.embed(ids)
    assert torch.equal(found[0, 1], vector)
    assert torch.equal(found[:, [0, 2]], classifier.embed(ids[:, [0, 2]]))
    settings = {"method": "saliency", "layer": "word_embeddings", "definition": "paper", "output": "logit"}
    [explained] = explain(Explainer.parse_all({"grad": settings}), sentences, context_of(classifier)).values()
    explanations = [
        explanation_of(sentence, one.token_score, origin=Origin("grad", settings, 0))
        for sentence, one in zip(sentences, explained.attributions, strict=True)
    ]
    ball = {"radius": 0.1, "norm": "linf", "relative": True}
    metrics = {
        "worst": ball | {"metric": "worst_change", "steps": 2},
        "most": ball | {"metric": "max_sensitivity", "draws": 2, "rounds": 1},
        "still": ball | {"metric": "max_sensitivity", "draws": 2, "rounds": 1, "radius": 1e-7},
    }
    scores = score(Metric.parse_all(metrics), explanations, Evaluator(classifier, 1000))
    assert (scores["still"] < 1e-3).all()
    assert (scores["worst"] > 1e-3).all()
    assert (scores["most"] > 1e-3).all()
    soft = {"soft": {"metric": "soft_comprehensiveness", "draws": 2, "kept": None, "against_random": False}}
    assert np.isfinite(score(Metric.parse_all(soft), explanations, Evaluator(classifier, 1000))["soft"]).all()


@pytest.mark.parametrize("model_type", ["bart", "t5"])
def test_embeddings_of_a_text_reach_encoder_and_decoder(model_type, classifier_of):
    """The gradient of its own ids' embeddings, by their table, is that of the embeddings that are given."""
    classifier, _ = classifier_of(model_type)
    network = classifier.network.eval()
    [sentence] = sentences_for(classifier)[3:4]
    token_id, mask = classifier.padded([sentence.token_id])
    leaf = classifier.embed(token_id).detach().requires_grad_()
    given = torch.autograd.grad(classifier.logits(leaf, mask)[0, 1], leaf)[0][0]
    table = network.get_input_embeddings()
    weight = torch.autograd.grad(network(input_ids=token_id).logits[0, 1], table.weight)[0]
    expected = weight / (getattr(table, "embed_scale", None) or 1.0)
    ids, times = np.unique(sentence.token_id, return_counts=True)
    once = [int(token) for token, count in zip(ids, times, strict=True) if count == 1]
    # The token that the decoder begins with has a gradient of its own, and no text has it.
    once = [token for token in once if token != network.config.decoder_start_token_id]
    assert len(once) > 5
    for token in once:
        place = int(np.flatnonzero(sentence.token_id == token)[0])
        assert given[place] == pytest.approx(expected[token], abs=1e-5 * float(expected.abs().max()))


def test_weights_that_are_parts_of_others_are_kept(classifier_of):
    """Published files of these have queries, keys and values as one matrix, of which loading makes views."""
    classifier, settings = classifier_of("gte")
    for weight in classifier.network.parameters():
        assert weight.untyped_storage().nbytes() == weight.nbytes
    network = AutoModelForSequenceClassification.from_pretrained(settings["source"])
    assert any(weight.untyped_storage().nbytes() > weight.nbytes for weight in network.parameters())


def test_what_cannot_be_asked_is_refused_before_training(tmp_path):
    for model_type, said in {
        "canine": "CanineTokenizer has no fast version",
        "xmod": r"a xmod model cannot be asked \(ValueError: Input language unknown.*config.json what it needs",
        "reformer": "a reformer model does not give the logits by word embeddings that it gives by token ids",
        "t5gemma": "does not give the logits by word embeddings that it gives by token ids",
        "markuplm": "MarkupLMTokenizer does not read plain texts",
    }.items():
        folder = tmp_path / model_type
        special = write_model(model_type, folder, WORDS)
        if model_type == "xmod":
            config = json.loads((folder / "config.json").read_text())
            (folder / "config.json").write_text(json.dumps(config | {"default_language": None}))
        if model_type == "canine":
            (folder / "tokenizer_config.json").write_text("{}")
        settings = MODEL | {"source": str(folder), "special_tokens": special}
        with pytest.raises(InputError, match=said):
            new_model(settings | {"training": TRAINING}, WORDS, 2, seed=0)


def test_batches_of_a_network_that_reads_padding_have_one_length(classifier_of):
    classifier, _ = classifier_of("fnet")
    lengths = [5, 3, 5, 4, 3, 5]
    batches = [batch.tolist() for batch in Evaluator(classifier, 4096).batches(lengths)]
    assert batches == [[1, 4], [3], [0, 2, 5]]
    assert len(list(Evaluator(by_hand({"a": (1.0,)}, None), 4096).batches(lengths))) == 1


def test_rows_that_are_too_short_are_filled_up(classifier_of):
    """Funnel halves a text again and again, and ends in an error where nothing is left."""
    classifier, _ = classifier_of("funnel")
    assert classifier.model_inputs.shortest > 1
    alone = Evaluator(classifier, 4096).probabilities([np.array([5]), np.array([5, 6])])
    assert np.isfinite(alone).all()
    token_id, mask = classifier.padded([np.array([5])])
    assert mask.sum() == 1
    assert token_id.shape == (1, classifier.model_inputs.shortest)
    unfilled = torch.tensor([[5]])
    with pytest.raises(RuntimeError), torch.no_grad():
        ModelInputs().logits(classifier.network, embedded(classifier.network, unfilled), torch.ones_like(unfilled))


# Language models with a prompt ---------------------------------------------------------------------------------------

# How many tokens before the text are read once for all, by type; None where it is refused.
PROMPTED = {
    "qwen3.decoder": 3,
    "mixtral.decoder": 4,
    "mamba.decoder": 0,
    "gptj.decoder": 3,
    "bert.decoder": None,
    "electra.masked": 0,
    "fnet.masked": 0,
}


@pytest.mark.parametrize("name", few(PROMPTED, ("qwen3.decoder", "mamba.decoder", "bert.decoder", "electra.masked")))
def test_a_language_model_of_a_type_answers_as_transformers_does(name, tmp_path):
    """What the second table has of it: equal probabilities, scores that do not depend on the batch, or a reason."""
    row = measure_prompts.measured(name, tmp_path)
    if PROMPTED[name] is None:
        assert row["outcome"] == "refused", row
        assert row["reason"].startswith("models.<model>")
        return
    assert row["outcome"] == "works", row
    assert row["difference"] < measure_prompts.CLOSE < row["spread"] / 10
    assert row["odds_difference"] < measure_prompts.CLOSE_ODDS * row["odds_spread"]
    assert row["shared"] == PROMPTED[name]
    assert row.get("difference_of_sharing", 0) < measure_prompts.CLOSE
    assert {name: answer["verdict"] for name, answer in row["explainers"].items()} == {
        "saliency": "holds",
        "kernel_shap": "holds",
    }
    # With another template it would be seen.
    source = tmp_path / "source"
    kind = row["kind"]
    network = measure_prompts.plain_network(source, kind)
    tokenizer = AutoTokenizer.from_pretrained(source)
    usual, other = measure_prompts.TEMPLATES[kind], measure_prompts.TEMPLATES[kind].replace("Who returns", "He returns")
    answers = [measure_prompts.their_logits(network, tokenizer, kind, template) for template in (usual, other)]
    assert np.abs(answers[0] - answers[1]).max() > 1e-4
