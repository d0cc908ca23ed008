"""Trainings: steps and batches, half the bits, adapters, and what is left of one that was stopped."""

import argparse
import json
import shutil
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import torch
from combinations import few
from dataset_files import write_dataset
from models_for_tests import MAX_TOKENS, NETWORKS, WORDS, items_of, new_model, sentences_of, tiny_classifier
from safetensors.torch import load_file
from tiny_models import write_model
from torch.nn import functional
from torch.optim.lr_scheduler import LambdaLR

from evenlight.core.errors import InputError
from evenlight.core.seeds import generator_for
from evenlight.engine import checkpoints, training
from evenlight.models import adapters
from evenlight.models.classifier import load_saved
from evenlight.models.devices import device_name
from evenlight.models.trainings import Training
from models import train

# Ten texts of 3 to 21 words.
TEXTS = [*WORDS, WORDS[0][:3], WORDS[6][::-1]]
NOT_AT_ONCE = 1e-9  # minutes; every step is written


def of_a_training(**settings) -> Training:
    """A training with all its defaults."""
    return Training(**{"learning_rate": 0.01, "batch_size": 4, "epochs": 3} | settings)


def trainable(architecture: str = "bert", dtype: torch.dtype = torch.float32, dropout: float = 0.0):
    """A classifier with random weights, and ten texts."""
    classifier = tiny_classifier(architecture, dtype=dtype)
    classifier.network.requires_grad_(True)
    for part in classifier.network.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = dropout
    return classifier, sentences_of(classifier, TEXTS)


def weights_of(classifier) -> dict[str, torch.Tensor]:
    return {name: weight.detach().clone() for name, weight in classifier.network.state_dict().items()}


def assert_same(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> None:
    assert first.keys() == second.keys()
    assert [name for name in first if not torch.equal(first[name], second[name])] == []


def logits_of(classifier, sentences) -> torch.Tensor:
    """In one batch, (sentences, classes)."""
    token_id, mask = classifier.padded([sentence.token_id for sentence in sentences])
    with torch.no_grad():
        return classifier.logits(classifier.embed(token_id), mask)


# Steps ---------------------------------------------------------------------------------------------------------------


def test_the_defaults_are_the_plain_loop():
    """A training as it is written in any textbook, with our draws: the same weights to the last bit."""
    settings = of_a_training(weight_decay=0.1)
    classifier, texts = trainable(dropout=0.1)
    history = training.train(classifier, texts, texts[:3], settings, seed=5)

    plain, texts = trainable(dropout=0.1)
    torch.manual_seed(5)
    network = plain.network
    optimizer = torch.optim.AdamW(network.parameters(), lr=0.01, weight_decay=0.1)
    scheduler = LambdaLR(optimizer, lambda step: training.learning_rate_factor(step, 9, 0, "linear"))
    best, losses = (np.inf, None), []
    for epoch in range(3):
        order = generator_for(5, "training order", epoch).permutation(10)
        network.train()
        for batch in ([texts[index] for index in order[start : start + 4]] for start in (0, 4, 8)):
            token_id, mask = plain.padded([text.token_id for text in batch])
            logits = network(inputs_embeds=network.get_input_embeddings()(token_id), attention_mask=mask).logits
            loss = functional.cross_entropy(logits, torch.tensor([text.target for text in batch]))
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
        network.eval()
        losses.append(
            functional.cross_entropy(logits_of(plain, texts[:3]), torch.tensor([text.target for text in texts[:3]]))
        )
        if losses[-1] < best[0]:
            best = (losses[-1], weights_of(plain))
    assert_same(weights_of(classifier), best[1])
    assert history["validation_loss"].tolist() == pytest.approx([loss.item() for loss in losses], rel=1e-6)


LENGTHS = generator_for("lengths").integers(5, 60, 1000)


@pytest.mark.parametrize("by_length", [False, True])
@pytest.mark.parametrize(("texts", "size"), [(1000, 8), (1000, 7), (30, 8), (5, 8), (1, 1)])
def test_every_text_is_in_one_step_of_an_epoch(texts, size, by_length):
    steps = training.steps_of_epoch(LENGTHS[:texts], size, by_length, seed=0, epoch=0)
    assert sorted(np.concatenate(steps)) == list(range(texts))
    assert len(steps) == -(-texts // size)
    assert sorted(map(len, steps))[1:] == [size] * (len(steps) - 1)


def test_steps_of_like_length():
    """The texts of a step differ by little, while the order of steps and their mates are drawn in each epoch."""
    steps, again, next_epoch, other_seed = (
        training.steps_of_epoch(LENGTHS, 8, True, seed, epoch) for seed, epoch in ((0, 0), (0, 0), (0, 1), (1, 0))
    )
    spread = [np.ptp(LENGTHS[step]) for step in steps]
    assert np.mean(spread) < 5
    shuffled = training.steps_of_epoch(LENGTHS, 8, False, 0, 0)
    assert np.mean([np.ptp(LENGTHS[step]) for step in shuffled]) > 40
    assert all(np.array_equal(*pair) for pair in zip(steps, again, strict=True))
    for different in (next_epoch, other_seed):
        assert {frozenset(step) for step in steps}.isdisjoint({frozenset(step) for step in different})
    means = [LENGTHS[step].mean() for step in steps]
    assert abs(np.corrcoef(means[1:], means[:-1])[0, 1]) < 0.2


@pytest.mark.parametrize(("batch_size", "steps", "by_length"), [(1, 4, True), (3, 2, False), (4, 2, True)])
def test_accumulated_batches_are_one_batch(batch_size, steps, by_length):
    """Ten texts: the last step has two or four, and its last batch may have one. With dropout, draws would differ."""
    trained = []
    for size, accumulated in ((batch_size, steps), (batch_size * steps, 1)):
        classifier, texts = trainable(dtype=torch.float64)
        settings = of_a_training(
            batch_size=size, gradient_accumulation_steps=accumulated, group_by_length=by_length, learning_rate=0.001
        )
        history = training.train(classifier, texts, texts, settings, seed=1)
        trained.append((weights_of(classifier), history.drop(columns="seconds").to_numpy()))
    (weights, history), (at_once, history_at_once) = trained
    np.testing.assert_allclose(history, history_at_once, rtol=1e-9)
    for name, weight in weights.items():
        torch.testing.assert_close(weight, at_once[name], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("by_length", [False, True])
def test_the_steps_of_a_training_have_texts_of_like_length_on_request(by_length, monkeypatch):
    """Texts of two lengths, four in a step, buckets of four steps: by length, at most one step of each has both."""
    classifier, _ = trainable()
    texts = sentences_of(classifier, [WORDS[1], WORDS[2]] * 32)
    steps, take_step = [], training._take_step

    def watched(classifier, optimizer, sentences, settings, beside):
        steps.append([len(sentence.token_id) for sentence in sentences])
        return take_step(classifier, optimizer, sentences, settings, beside)

    monkeypatch.setattr(training, "_take_step", watched)
    training.train(classifier, texts, texts[:2], of_a_training(group_by_length=by_length, epochs=1), seed=0)
    assert np.sort(np.concatenate(steps)).tolist() == sorted(len(text.token_id) for text in texts)
    mixed = np.mean([len(set(step)) > 1 for step in steps])
    assert mixed <= 1 / 4 if by_length else mixed > 1 / 2


# Half the bits -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("architecture", few(NETWORKS, ("bert", "gpt2", "one_layer_attention")))
def test_bfloat16_is_in_the_layers_of_a_training_alone(architecture, monkeypatch):
    classifier, texts = trainable(architecture)
    seen, validating = set(), []
    for layer in classifier.network.modules():
        if isinstance(layer, torch.nn.Linear):
            layer.register_forward_hook(lambda layer, _, output: seen.add((bool(validating), output.dtype)))
    real = training.validate

    def validate(*arguments):
        validating.append(True)
        found = real(*arguments)
        validating.clear()
        return found

    monkeypatch.setattr(training, "validate", validate)
    plain, _ = trainable(architecture)
    losses = []
    for trained, precision in ((classifier, "bfloat16"), (plain, "float32")):
        settings = of_a_training(precision=precision, learning_rate=0.001)
        losses.append(training.train(trained, texts, texts, settings, seed=0)["validation_loss"])
    assert {dtype for is_validated, dtype in seen if is_validated} == {torch.float32}
    assert {dtype for is_validated, dtype in seen if not is_validated} == {torch.bfloat16}
    assert {weight.dtype for weight in classifier.network.state_dict().values()} <= {torch.float32, torch.int64}
    assert losses[0].tolist() == pytest.approx(losses[1].tolist(), abs=0.02)
    assert losses[0].tolist() != losses[1].tolist()


def test_asking_leaves_the_autocast_of_a_training_on():
    """On a graphics card; the switch can be read without one."""
    classifier, texts = trainable()
    seen = []
    classifier.network.register_forward_hook(lambda *_: seen.append(torch.is_autocast_enabled("cuda")))
    torch.set_autocast_enabled("cuda", True)
    try:
        logits_of(classifier, texts)
    finally:
        torch.set_autocast_enabled("cuda", False)
    logits_of(classifier, texts)
    assert seen == [True, False]


def test_a_network_that_mixes_types_is_refused():
    classifier, texts = trainable()
    inside = classifier.network.bert.encoder.layer[0].output.dense

    def write_into_another(layer, arguments, output):
        values = torch.zeros(output.shape)
        values[:, [0]] = output[:, [0]]
        return values

    inside.register_forward_hook(write_into_another)
    with pytest.raises(InputError, match=r"precision: .*bert model.*\(RuntimeError: .*\).*float32"):
        training.train(classifier, texts, texts, of_a_training(precision="bfloat16"), seed=0)
    assert len(training.train(classifier, texts, texts, of_a_training(), seed=0)) == 3


# Adapters ------------------------------------------------------------------------------------------------------------

LORA = {"rank": 2, "alpha": 6}
# Some linear layers of each; peft lists none for DistilBERT.
TARGETS = {
    "bert": None,
    "roberta": ["query", "dense"],
    "distilbert": ["q_lin", "v_lin"],
    "gpt2": None,
    "llama": r".*\.layers\.1\..*proj",
}
HEADS = {
    "bert": ("classifier.", "bert.pooler."),
    "roberta": ("classifier.",),
    "distilbert": ("pre_classifier.", "classifier."),
    "gpt2": ("score.",),
    "llama": ("score.",),
}


def lora(architecture: str, **changes) -> dict:
    return of_a_training(lora=LORA | {"target_modules": TARGETS[architecture]} | changes).lora


def with_random_adapters(architecture: str):
    """A classifier with adapters that are not zero, texts, and what merges them."""
    classifier, texts = trainable(architecture)
    merge = adapters.add_adapters(classifier.network, lora(architecture))
    with torch.no_grad():
        for name, weight in classifier.network.named_parameters():
            if ".lora_" in name:
                weight.normal_(0, 0.3)
    return classifier, texts, merge


@pytest.mark.parametrize("architecture", TARGETS)
def test_merged_adapters_give_the_logits_of_pefts_own_model(architecture, tmp_path):
    from peft import LoraConfig, get_peft_model

    classifier, texts, merge = with_random_adapters(architecture)
    adapted = weights_of(classifier)
    apart = logits_of(classifier, texts)
    theirs, _ = trainable(architecture)
    before = logits_of(theirs, texts)
    get_peft_model(
        theirs.network,
        LoraConfig(task_type="SEQ_CLS", r=2, lora_alpha=6, target_modules=lora(architecture).target_modules),
    )
    names = {name for name in theirs.network.state_dict() if ".lora_" in name}
    assert names == {name for name in adapted if ".lora_" in name}
    theirs.network.load_state_dict({name: adapted[name] for name in names}, strict=False)
    theirs.network.eval()
    assert (apart - before).abs().max() > 0.01
    torch.testing.assert_close(apart, logits_of(theirs, texts), rtol=1e-5, atol=1e-5)
    merge()
    torch.testing.assert_close(logits_of(classifier, texts), apart, rtol=1e-5, atol=1e-5)
    # What is kept is a model like any other, whose layers are then made faster.
    assert weights_of(classifier).keys() == weights_of(trainable(architecture)[0]).keys()
    training.save_classifier(classifier, tmp_path, None, {})
    loaded = load_saved(tmp_path, MAX_TOKENS)
    torch.testing.assert_close(logits_of(loaded, texts), apart, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("architecture", TARGETS)
def test_a_training_with_adapters_changes_what_it_says(architecture):
    classifier, texts = trainable(architecture)
    before = weights_of(classifier)
    settings = of_a_training(lora=lora(architecture), weight_decay=0.1)
    history = training.train(classifier, texts, texts, settings, seed=0)
    after = weights_of(classifier)
    assert history["training_loss"].iloc[-1] < history["training_loss"].iloc[0]
    assert after.keys() == before.keys()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    head = {name for name in changed if name.startswith(HEADS[architecture])}
    assert head == {name for name in before if name.startswith(HEADS[architecture])}
    in_base = changed - head
    expected = {
        "bert": [f"bert.encoder.layer.{n}.attention.self.{part}.weight" for n in (0, 1) for part in ("query", "value")],
        "distilbert": [
            f"distilbert.transformer.layer.{n}.attention.{part}_lin.weight" for n in (0, 1) for part in "qv"
        ],
        "gpt2": [f"transformer.h.{n}.attn.c_attn.weight" for n in (0, 1)],
    }
    if architecture in expected:
        assert in_base == set(expected[architecture])
    elif architecture == "roberta":
        assert len(in_base) == 2 * 4  # query, and the three layers whose names end in dense
    else:
        assert len(in_base) == 7
        assert all(name.startswith("model.layers.1.") for name in in_base)
    for name in in_base:
        assert torch.linalg.matrix_rank((after[name] - before[name]).double(), rtol=1e-4) == 2


def test_dropout_and_alpha_are_those_of_the_settings():
    classifier, _ = trainable()
    adapters.add_adapters(classifier.network, lora("bert", dropout=0.3))
    layer = classifier.network.bert.encoder.layer[0].attention.self.query
    assert layer.lora_dropout["default"].p == 0.3
    assert layer.scaling["default"] == 3
    assert layer.lora_A["default"].weight.shape == (2, 16)


@pytest.mark.parametrize(
    ("targets", "reason"),
    [
        (None, "peft.*distilbert model"),
        (["querry"], "no linear layers.*outside its head"),
        (["pre_classifier"], "no linear layers.*outside its head"),
        (["sa_layer_norm"], r"distilbert model \(.*LayerNorm.*\)"),
    ],
)
def test_what_takes_no_adapters_is_told_which_layers_do(targets, reason):
    classifier, texts = trainable("distilbert")
    settings = of_a_training(lora={"target_modules": targets})
    said = rf"lora: .*{reason}.*; name target_modules: all-linear, .* linear layers, k_lin, lin1, lin2, out_lin"
    with pytest.raises(InputError, match=said):
        training.train(classifier, texts, texts, settings, seed=0)


def test_a_model_without_linear_layers_is_told_to_be_trained_as_a_whole():
    """Such as I-BERT, whose layers are of a class of its own."""
    network = tiny_classifier("bert").network
    network.bert.encoder, network.bert.pooler = torch.nn.Identity(), None
    with pytest.raises(InputError, match=r"outside its head.*trains all"):
        adapters.add_adapters(network, lora("bert"))


@pytest.mark.parametrize(
    ("model_type", "refused"),
    [
        # A block that several layers use: adapters of each use would be merged into all.
        ("zamba", r"lora: .*zamba model.*model\.layers\.\d\..*in common"),
        # A layer that chooses experts is a linear one that gives several values.
        ("phimoe", r"lora: .*phimoe model.*\(AttributeError: .*\).*target_modules"),
        ("mixtral", None),
    ],
)
def test_adapters_of_layers_with_ways_of_their_own(model_type, refused, tmp_path):
    special = write_model(model_type, tmp_path, WORDS)
    targets = None if model_type == "mixtral" else "all-linear"
    settings = of_a_training(lora=LORA | {"target_modules": targets}, epochs=1)
    model = {"architecture": "pretrained", "source": str(tmp_path), "revision": None, "special_tokens": special}
    classifier = new_model(model | {"training": settings, "max_tokens": MAX_TOKENS}, WORDS, 2, seed=0)
    texts = sentences_of(classifier)
    if refused:
        with pytest.raises(InputError, match=refused):
            training.train(classifier, texts, texts, settings, seed=0)
    else:
        before = weights_of(classifier)
        training.train(classifier, texts, texts, settings, seed=0)
        changed = {name for name, weight in weights_of(classifier).items() if not torch.equal(weight, before[name])}
        assert {name.split(".")[-2] for name in changed} == {"q_proj", "v_proj", "score"}


# Stopped trainings ---------------------------------------------------------------------------------------------------

RECIPES = {
    "defaults": {},
    "adam, some weights, kept gradients": {
        "optimizer": "adam",
        "trained": ["embeddings", "head"],
        "gradients": "kept",
        "kept_epoch": "last",
    },
    "by length, accumulated, half the bits": {
        "group_by_length": True,
        "gradient_accumulation_steps": 2,
        "batch_size": 2,
        "precision": "bfloat16",
    },
    "adapters": {"lora": LORA | {"dropout": 0.2}},
    "patience": {"patience": 1, "learning_rate": 0.3, "epochs": 8},
}


class Stopped(Exception):
    """As a killed process, of which nothing is left but files."""


def run(settings: Training, folder: Path, minutes: float = NOT_AT_ONCE, architecture: str = "bert"):
    """A whole training with dropout, by a new process as far as we are concerned: weights and untimed history."""
    torch.manual_seed(len(list(folder.parent.rglob("*"))))  # whatever was drawn before
    classifier, texts = trainable(architecture, dropout=0.2)
    digest = training.digest_of_training(classifier, texts, texts[:4], {"settings": settings.model_dump()})
    checkpoint = checkpoints.open_checkpoint(folder, digest, minutes)
    history = training.train(classifier, texts, texts[:4], settings, seed=2, checkpoint=checkpoint)
    return weights_of(classifier), history.drop(columns="seconds"), checkpoint


def watch_steps(monkeypatch, stop: int | None = None) -> list:
    """A list that grows with every step; the training is killed when it begins a further one after ``stop``."""
    real, done = training._take_step, []

    def take_step(*arguments):
        if len(done) == stop:
            raise Stopped
        done.append(None)
        return real(*arguments)

    monkeypatch.setattr(training, "_take_step", take_step)
    return done


def run_until(steps: int, settings: Training, folder: Path, monkeypatch) -> None:
    """A training that is killed after so many steps."""
    with monkeypatch.context() as patched:
        watch_steps(patched, steps)
        with pytest.raises(Stopped):
            run(settings, folder)


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_stopped_training_goes_on_to_the_same_weights(recipe, tmp_path, monkeypatch):
    settings = of_a_training(**RECIPES[recipe])
    weights, history, _ = run(settings, tmp_path / "through", minutes=0)
    # The last time, the best epoch with patience is over.
    for stops in ([1], [3], [5], [1, 1, 2], [3 * len(history) - 1]):
        folder = tmp_path / f"stopped {stops}"
        for steps in stops:
            run_until(steps, settings, folder, monkeypatch)
        with monkeypatch.context() as patched:
            done = watch_steps(patched)
            again, history_again, checkpoint = run(settings, folder)
        assert len(done) + sum(stops) == 3 * len(history)
        assert_same(weights, again)
        assert history.equals(history_again)
        checkpoint.remove()
        assert not list(tmp_path.rglob("*.checkpoint"))


def test_a_training_that_was_stopped_in_the_last_validation_goes_on(tmp_path, monkeypatch):
    settings = of_a_training(epochs=1)
    weights, history, _ = run(settings, tmp_path / "through", minutes=0)

    def validate(*_):
        raise Stopped

    with monkeypatch.context() as patched:
        patched.setattr(training, "validate", validate)
        with pytest.raises(Stopped):
            run(settings, tmp_path / "stopped")
    done = watch_steps(monkeypatch)
    again, history_again, _ = run(settings, tmp_path / "stopped")
    assert done == []
    assert_same(weights, again)
    assert history.equals(history_again)


def test_a_checkpoint_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    """Killed while the third one is being written: the second one stays, and nothing of the third."""
    settings = of_a_training()
    weights, *_ = run(settings, tmp_path / "through", minutes=0)
    written = []

    def save(state, path):
        written.append(None)
        if len(written) == 3:
            Path(path).write_bytes(b"half")
            raise Stopped
        real(state, path)

    real = torch.save
    with monkeypatch.context() as patched:
        patched.setattr(torch, "save", save)
        with pytest.raises(Stopped):
            run(settings, tmp_path / "model")
    [path] = (tmp_path / ".model.checkpoint").iterdir()
    assert torch.load(path, weights_only=True)["course"]["step"] == 2
    # SIGKILL leaves the half that was written, under another name.
    path.with_name(f".{path.name}.half").write_bytes(b"half")
    again, *_ = run(settings, tmp_path / "model")
    assert_same(weights, again)
    assert [path] == list(path.parent.iterdir())


@pytest.mark.parametrize("damage", [lambda content: content[: len(content) // 2], lambda content: b"", lambda _: b"no"])
def test_a_damaged_checkpoint_is_not_taken(damage, tmp_path, monkeypatch, capsys):
    settings = of_a_training()
    weights, *_ = run(settings, tmp_path / "through", minutes=0)
    run_until(4, settings, tmp_path / "model", monkeypatch)
    [path] = (tmp_path / ".model.checkpoint").iterdir()
    path.write_bytes(damage(path.read_bytes()))
    again, *_ = run(settings, tmp_path / "model")
    assert_same(weights, again)
    assert "training begins again" in capsys.readouterr().out


def test_a_disk_that_is_full_stops_no_training(tmp_path, monkeypatch, capsys):
    settings = of_a_training()
    weights, *_ = run(settings, tmp_path / "through", minutes=0)

    def save(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(torch, "save", save)
    again, *_ = run(settings, tmp_path / "model")
    assert_same(weights, again)
    assert "goes on without" in capsys.readouterr().out


def test_nothing_is_written_before_it_is_time(tmp_path, monkeypatch):
    monkeypatch.setattr(torch, "save", None)
    for minutes in (0, 10):
        run(of_a_training(), tmp_path / "model", minutes)
    now = checkpoints.time.monotonic()
    monkeypatch.setattr(checkpoints.time, "monotonic", lambda: now + 599)
    assert not checkpoints.Checkpoint(tmp_path, 10, now).is_due()
    monkeypatch.setattr(checkpoints.time, "monotonic", lambda: now + 601)
    assert checkpoints.Checkpoint(tmp_path, 10, now).is_due()
    assert not checkpoints.Checkpoint(tmp_path, 0, now).is_due()


def test_a_checkpoint_of_anything_else_is_removed(tmp_path):
    """Of other settings, texts, weights, validation or code; each begins again."""
    classifier, texts = trainable()
    digests = {training.digest_of_training(classifier, texts, texts, {"seed": seed}) for seed in (0, 1)}
    digests.add(training.digest_of_training(classifier, texts[1:], texts, {"seed": 0}))
    digests.add(training.digest_of_training(classifier, texts, texts[1:], {"seed": 0}))
    relabelled = sentences_of(classifier, TEXTS, targets=[1] * 10)
    digests.add(training.digest_of_training(classifier, relabelled, texts, {"seed": 0}))
    reworded = [replace(texts[0], token_id=texts[0].token_id[::-1]), *texts[1:]]
    digests.add(training.digest_of_training(classifier, reworded, texts, {"seed": 0}))
    assert len(digests) == 6
    assert training.digest_of_training(classifier, texts, texts, {"seed": 0}) in digests
    with torch.no_grad():
        classifier.network.classifier.bias[0] += 1e-6
    digests.add(training.digest_of_training(classifier, texts, texts, {"seed": 0}))
    classifier.network.config.hidden_dropout_prob = 0.5
    digests.add(training.digest_of_training(classifier, texts, texts, {"seed": 0}))
    assert len(digests) == 8
    for digest in digests:
        checkpoint = checkpoints.open_checkpoint(tmp_path / "model", digest, 1)
        assert checkpoint.read() is None
        checkpoint.write({"course": digest})
        assert [checkpoint.path] == [path for path in tmp_path.rglob("*") if path.is_file()]
    assert checkpoints.open_checkpoint(tmp_path / "model", digest, 1).read() == {"course": digest}


def test_all_that_a_training_is_told_is_in_what_its_checkpoint_is_named_after():
    usual = {"settings": {"seed": 0}, "versions": {"train": 1}, "threads": 1}
    changes = {"settings": {"seed": 1}, "versions": {"train": 2}, "threads": 2}
    told = [
        checkpoints.describe_training(argparse.Namespace(**usual | change), device, uses_peft)
        for change in ({}, *({name: value} for name, value in changes.items()))
        for device in ("cpu", "cuda (H100)")
        for uses_peft in (False, True)
    ]
    assert all(one != other for one, other in combinations(told, 2))


def test_a_graphics_card_of_another_kind_is_another_device(monkeypatch):
    assert device_name(torch.device("cpu")) == "cpu"
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "H100")
    assert device_name(torch.device("cuda")) == "cuda (H100)"


def items_in_splits(last: list[str] | None = None):
    """Twenty texts, of which ``last`` stands in the place of the last one."""
    words = [[pronoun, *text] for text in TEXTS for pronoun in ("he", "she")]
    words[-1] = last or words[-1]
    splits = ["train"] * 10 + ["validation"] * 4 + ["test"] * 6
    return items_of(words).assign(split=splits, group="male", ground_truth=None)


def test_the_command_goes_on_with_its_own_texts_only(tmp_path, monkeypatch, capsys):
    training.save_classifier(tiny_classifier("bert"), tmp_path / "encoder", None, {})
    items = items_in_splits()
    write_dataset(items, tmp_path)
    write_dataset(items.assign(label=1 - items["label"]), tmp_path / "relabelled")
    model = {"architecture": "pretrained", "source": str(tmp_path / "encoder"), "revision": None, "special_tokens": {}}
    model |= {"max_tokens": MAX_TOKENS, "long_items": "refuse", "training": of_a_training(lora=LORA).model_dump()}
    usual = {
        "items": tmp_path / "items.parquet",
        "units": tmp_path / "units.parquet",
        "settings": {"model": model, "seed": 0},
        "versions": {},
        "threads": 1,
        "device": "cpu",
        "compared": None,
        "checkpoint_minutes": NOT_AT_ONCE,
    }
    train.main(argparse.Namespace(**usual | {"checkpoint_minutes": 0}, output=tmp_path / "through"))
    assert "peft" in json.loads((tmp_path / "through" / "manifest.json").read_text())["libraries"]
    stopped = tmp_path / "stopped"
    with monkeypatch.context() as patched:
        watch_steps(patched, 5)
        with pytest.raises(Stopped):
            train.main(argparse.Namespace(**usual, output=stopped / "model"))
    assert len(list((stopped / ".model.checkpoint").iterdir())) == 1
    assert not (stopped / "model").exists()
    for name, change in (("relabelled", {"items": tmp_path / "relabelled" / "items.parquet"}), ("same", {})):
        folder = shutil.copytree(stopped, tmp_path / f"again {name}")
        capsys.readouterr()
        train.main(argparse.Namespace(**usual | change, output=folder / "model"))
        assert ("step 2 of epoch 1" in capsys.readouterr().out) == (name == "same")
        assert not (folder / ".model.checkpoint").exists()
    expected, again = (load_file(made / "model.safetensors") for made in (tmp_path / "through", folder / "model"))
    assert_same(again, expected)


def refused(monkeypatch, folder, items, model, said, compared=None):
    """Rule train refuses these items for a pre-trained encoder, with what is ``said``, and trains nothing."""
    write_dataset(items, folder)
    training.save_classifier(tiny_classifier("bert"), folder / "encoder", None, {})
    usual = {"architecture": "pretrained", "source": str(folder / "encoder"), "revision": None, "special_tokens": {}}
    usual |= {"max_tokens": MAX_TOKENS, "training": of_a_training().model_dump()}
    monkeypatch.setattr(train, "train", lambda *arguments: pytest.fail("was trained"))
    arguments = argparse.Namespace(
        items=folder / "items.parquet",
        units=folder / "units.parquet",
        settings={"model": usual | model, "seed": 0},
        versions={},
        threads=1,
        device="cpu",
        compared=compared,
        checkpoint_minutes=0,
        output=folder / "model",
    )
    with pytest.raises(InputError, match=said):
        train.main(arguments)


@pytest.mark.parametrize(
    ("model", "word", "said"),
    [
        (
            {"long_items": "refuse"},
            "boat " * MAX_TOKENS,
            r"1 of 6 sentences are longer than models\.<model>\.max_tokens",
        ),
        (
            {"long_items": "drop", "max_tokens": 3},
            "boat",
            r"every pair has a sentence of more than models\.<model>\.max_tokens = 3",
        ),
        (
            {"long_items": "windows", "overlap": 4},
            "a" * 2 * MAX_TOKENS,
            r"cannot be divided between words into windows",
        ),
    ],
)
def test_test_texts_that_cannot_be_read_are_refused_before_the_training(tmp_path, monkeypatch, model, word, said):
    refused_items = items_in_splits(["he", *word.split()])
    refused(monkeypatch, tmp_path, refused_items, model, rf"items\.parquet, split test: .*{said}")


def test_strata_that_compare_nothing_are_refused_before_the_training(tmp_path, monkeypatch):
    items = items_in_splits().assign(group=["male", "female"] * 10, label=[1, 0] * 10)
    compared = {"comparisons": {"gender": [["male", "female"]]}, "samples": {}, "strata": {tmp_path.name: "label"}}
    said = r"found label, but no label has explained texts of gender 'male' and 'female'"
    refused(monkeypatch, tmp_path, items, {"long_items": "refuse"}, said, compared)
