"""Strategies: which weights of which networks move in a step, and which are initialised again."""

import pytest
import torch
from combinations import few, spread
from foreign_classifiers import foreign_classifier
from models_for_tests import MAX_TOKENS, WORDS, new_model, sentences_of, tiny_classifier
from test_training import assert_same, of_a_training, weights_of
from tiny_models import tiny_configuration, write_model
from transformers import AutoModelForSequenceClassification, OPTConfig, OPTForSequenceClassification

from evenlight.core.errors import InputError
from evenlight.engine import training
from evenlight.models import layers
from evenlight.models.classifier import Classifier

# What the published strategies train, and what of it is initialised again.
STRATEGIES = {
    "C": (["head"], []),
    "CE": (["embeddings", "head"], ["embeddings"]),
    "CEf": (["embeddings", "head"], []),
    "CEfAf": (None, []),
    "CEf, released": (["embeddings"], []),
}
# By hand, from the code of each network: the beginnings of the names of all weights of a part.
PARTS = {
    "bert": {
        "embeddings": [f"bert.embeddings.{part}" for part in ("word", "position", "token_type", "LayerNorm")],
        "layers": ["bert.encoder.layer."],
        "pooler": ["bert.pooler."],
        "head": ["classifier."],
    },
    "roberta": {
        "embeddings": ["roberta.embeddings."],
        "layers": ["roberta.encoder.layer."],
        "head": ["classifier.dense.", "classifier.out_proj."],
    },
    "distilbert": {
        "embeddings": ["distilbert.embeddings."],
        "layers": ["distilbert.transformer.layer."],
        "head": ["pre_classifier.", "classifier."],
    },
    # Its tables are narrower than its layers, and what makes them wider is read before these.
    "electra": {
        "embeddings": ["electra.embeddings.", "electra.embeddings_project."],
        "layers": ["electra.encoder.layer."],
        "head": ["classifier.dense.", "classifier.out_proj."],
    },
    "modernbert": {
        "embeddings": ["model.embeddings.tok_embeddings.", "model.embeddings.norm."],
        "layers": ["model.layers.", "model.final_norm."],
        "head": ["head.", "classifier."],
    },
    "gpt2": {
        "embeddings": ["transformer.wte.", "transformer.wpe."],
        "layers": ["transformer.h.", "transformer.ln_f."],
        "head": ["score."],
    },
    "llama": {"embeddings": ["model.embed_tokens."], "layers": ["model.layers.", "model.norm."], "head": ["score."]},
    "bloom": {
        "embeddings": ["transformer.word_embeddings.", "transformer.word_embeddings_layernorm."],
        "layers": ["transformer.h.", "transformer.ln_f."],
        "head": ["score."],
    },
    "one_layer_attention": {
        "embeddings": ["embeddings."],
        "layers": ["query.", "key.", "value.", "pooler."],
        "head": ["classifier."],
    },
    # One table for encoder and decoder, by three names.
    "bart": {
        "embeddings": ["model.shared.", "model.encoder.embed_positions."],
        "layers": ["model.encoder.layers.", "model.encoder.layernorm_embedding.", "model.decoder."],
        "head": ["classification_head."],
    },
}


def network_of(architecture: str):
    """A classifier whose weights may all be changed, without dropout."""
    hand_made = ("electra", "modernbert", "bloom")
    classifier = foreign_classifier(architecture) if architecture in hand_made else tiny_classifier(architecture)
    classifier.network.requires_grad_(True)
    return classifier


def beginning_with(names, beginnings) -> set[str]:
    return {name for name in names if name.startswith(tuple(beginnings))}


@pytest.mark.parametrize("architecture", PARTS)
def test_every_weight_is_in_the_part_that_it_is(architecture):
    if architecture == "bart":
        network = AutoModelForSequenceClassification.from_config(tiny_configuration("bart"))
    else:
        network = network_of(architecture).network
    names = {name for name, _ in network.named_parameters()}
    expected = {part: beginning_with(names, beginnings) for part, beginnings in PARTS[architecture].items()}
    assert {part: set(found) for part, found in layers.weights_by_part(network).items()} == expected
    assert sum(map(len, expected.values())) == len(names)


def test_what_is_called_behind_the_layers_is_no_embedding():
    """OPT has its last normalisation and projection before the layers, and in front of what is read before them."""
    sizes = {"hidden_size": 16, "ffn_dim": 32, "word_embed_proj_dim": 8, "num_hidden_layers": 2}
    config = OPTConfig(vocab_size=50, num_attention_heads=2, max_position_embeddings=32, **sizes)
    network = OPTForSequenceClassification(config).train()
    names = {name for name, _ in network.named_parameters()}
    parts = {name: set(found) for name, found in layers.weights_by_part(network).items()}
    read = [f"model.decoder.{name}." for name in ("embed_tokens", "embed_positions", "project_in")]
    behind = [f"model.decoder.{name}." for name in ("layers", "final_layer_norm", "project_out")]
    assert parts == {
        "embeddings": beginning_with(names, read),
        "layers": beginning_with(names, behind),
        "head": {"score.weight"},
    }
    # The network is left as it was.
    assert network.training
    assert not any(module._forward_pre_hooks for module in network.modules())


@spread("architecture, strategy", [name for name in PARTS if name != "bart"], STRATEGIES)
def test_a_step_moves_what_the_strategy_trains_and_nothing_else(architecture, strategy):
    classifier = network_of(architecture)
    texts = sentences_of(classifier)
    before = weights_of(classifier)
    trained = STRATEGIES[strategy][0]
    settings = of_a_training(
        trained=trained, epochs=1, batch_size=len(texts), learning_rate=0.001, weight_decay=0.1, warmup_share=0.0
    )
    training.train(classifier, texts, texts, settings, seed=0)
    after = weights_of(classifier)
    parts = PARTS[architecture]
    moving = [beginning for part in trained or parts for beginning in parts[part]]
    expected = beginning_with(before, moving)
    assert {name for name in before if not torch.equal(before[name], after[name])} == expected
    # Adam's first step has the length of the learning rate, and the decay takes a share of it besides.
    for name in expected:
        assert (after[name] - before[name]).abs().max() <= 0.001 * (1 + 0.1 * before[name].abs().max()) * 1.01


def test_one_table_by_several_names_is_one_weight():
    network = AutoModelForSequenceClassification.from_config(tiny_configuration("bart"))
    layers.train_only(network, ["embeddings"])
    assert network.model.decoder.embed_tokens.weight is network.model.shared.weight
    assert network.model.decoder.embed_tokens.weight.requires_grad
    assert not network.model.decoder.embed_positions.weight.requires_grad
    layers.train_only(network, ["layers", "head"])
    assert not network.model.decoder.embed_tokens.weight.requires_grad


def new_pretrained(source, seed: int = 0, **settings) -> tuple[Classifier, dict]:
    recipe = of_a_training(**settings)
    model = {"architecture": "pretrained", "source": str(source), "revision": None, "special_tokens": {}}
    return new_model(model | {"training": recipe, "max_tokens": MAX_TOKENS}, WORDS, 2, seed), recipe


@pytest.mark.parametrize(
    "architecture",
    few(
        [name for name in PARTS if name not in ("bart", "one_layer_attention")],
        ("bert", "modernbert", "gpt2"),
    ),
)
def test_what_begins_anew_is_as_in_a_new_network(architecture, tmp_path):
    """Encoders and decoders as published, in CE: embeddings that were far from new, and others that stay."""
    special = write_model(architecture, tmp_path, WORDS)
    model = {"architecture": "pretrained", "source": str(tmp_path), "revision": None, "special_tokens": special}

    def weights(seed: int = 0, **settings) -> dict[str, torch.Tensor]:
        recipe = {"training": of_a_training(**settings), "max_tokens": MAX_TOKENS}
        return weights_of(new_model(model | recipe, WORDS, 2, seed))

    published, fresh, again, other = weights(), *(weights(seed, fresh=["embeddings"]) for seed in (0, 0, 1))
    new = weights(start="random")
    initialised_again = {name for name in published if not torch.equal(published[name], fresh[name])}
    tables = {
        name for name in beginning_with(published, PARTS[architecture]["embeddings"]) if published[name].dim() > 1
    }
    # Normalisation is new where it was trained; in those models it is new already.
    assert tables <= initialised_again <= beginning_with(published, PARTS[architecture]["embeddings"])
    assert_same(fresh, again)
    assert all(not torch.equal(fresh[name], other[name]) for name in tables)
    for name in tables:
        assert fresh[name].std().item() == pytest.approx(new[name].std().item(), rel=0.3)


def test_a_pooler_that_the_model_came_without_belongs_to_the_head(tmp_path):
    source = tiny_classifier("bert")
    source.network.bert.pooler = None
    training.save_classifier(source, tmp_path, None, {})
    network = new_pretrained(tmp_path)[0].network
    assert layers.weights_by_part(network)["head"] == [
        *("bert.pooler.dense.weight", "bert.pooler.dense.bias"),
        *("classifier.weight", "classifier.bias"),
    ]
    with pytest.raises(InputError, match=r"trained: .*bert model.*no pooler.*embeddings"):
        layers.train_only(network, ["pooler", "head"])


def test_a_part_that_a_network_has_not_is_refused_by_its_name(tmp_path):
    training.save_classifier(tiny_classifier("distilbert"), tmp_path, None, {})
    said = r"fresh: .*distilbert model.*no pooler.*embeddings, layers, head\."
    with pytest.raises(InputError, match=said):
        new_pretrained(tmp_path, fresh=["pooler"])
    classifier, recipe = new_pretrained(tmp_path, trained=["pooler", "head"])
    texts = sentences_of(classifier)
    with pytest.raises(InputError, match=said.replace("fresh", "trained")):
        training.train(classifier, texts, texts, recipe, seed=0)


# The released code ---------------------------------------------------------------------------------------------------


def test_without_dropout_the_loss_of_a_step_is_that_of_the_model_as_it_is_used():
    losses = {}
    for dropout in (True, False):
        classifier = network_of("bert")
        texts = sentences_of(classifier)
        loss, _ = training.validate(classifier, texts, len(texts))
        settings = of_a_training(dropout=dropout, epochs=1, batch_size=len(texts))
        losses[dropout] = training.train(classifier, texts, texts, settings, seed=0)["training_loss"].item()
    assert losses[False] == pytest.approx(loss, rel=1e-6)
    assert losses[True] != pytest.approx(loss, rel=1e-3)


def trained_by_hand(clear: bool, clipping: float | None, steps: int = 4) -> dict[str, torch.Tensor]:
    """The loop of the released code: forward, backward, step, and only then the gradients are shortened."""
    classifier = network_of("one_layer_attention")
    texts = sentences_of(classifier)
    optimizer = torch.optim.Adam(classifier.network.parameters(), lr=0.01, weight_decay=0.1)
    token_id, mask = classifier.padded([text.token_id for text in texts])
    label = torch.tensor([text.target for text in texts])
    classifier.network.eval()
    for _ in range(steps):
        if clear:
            optimizer.zero_grad()
        torch.nn.functional.cross_entropy(classifier.network(token_id, mask).logits, label).backward()
        optimizer.step()
        if clipping:
            torch.nn.utils.clip_grad_norm_(classifier.network.parameters(), clipping)
    return weights_of(classifier)


@pytest.mark.parametrize(
    ("clear", "clipping", "keys"),
    [
        (True, 0.01, {"gradient_clipping": None}),
        (False, 0.01, {"gradients": "kept", "gradient_clipping": 0.01}),
        (False, None, {"gradients": "kept", "gradient_clipping": None}),
    ],
)
def test_gradients_that_are_shortened_behind_a_step(clear, clipping, keys):
    """Where they are cleared, that changes nothing; where they are kept, it bounds what is kept."""
    classifier = network_of("one_layer_attention")
    texts = sentences_of(classifier)
    settings = {"optimizer": "adam", "weight_decay": 0.1, "schedule": "constant", "warmup_share": 0.0, "dropout": False}
    settings |= {"epochs": 4, "batch_size": len(texts), "kept_epoch": "last"}
    # One batch of all texts, whose order is drawn.
    training.train(classifier, texts, texts, of_a_training(**settings, **keys), seed=0)
    for name, weight in trained_by_hand(clear, clipping).items():
        torch.testing.assert_close(weights_of(classifier)[name], weight, rtol=1e-3, atol=1e-4)
    if clipping:
        assert any(
            (weight - weights_of(classifier)[name]).abs().max() > 1e-3
            for name, weight in trained_by_hand(not clear, clipping).items()
        )
