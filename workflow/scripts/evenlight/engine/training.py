"""Training a classifier, and keeping it."""

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copyfile

import numpy as np
import pandas as pd
import torch
from safetensors.torch import save_model
from torch import nn
from torch.nn import functional
from torch.optim.lr_scheduler import LambdaLR
from tqdm import tqdm

from evenlight.core.errors import InputError, writing
from evenlight.core.seeds import generator_for
from evenlight.engine.checkpoints import Checkpoint
from evenlight.engine.sentences import Sentence, encoded
from evenlight.models.adapters import add_adapters
from evenlight.models.classifier import Classifier, load_saved
from evenlight.models.devices import fetched, sent
from evenlight.models.layers import train_only
from evenlight.models.model_inputs import reason_of
from evenlight.models.networks import as_it_came, evaluating
from evenlight.models.saved_files import FILES, MANIFEST, digests_of, keep_inputs
from evenlight.models.trainings import Training

OPTIMIZERS = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}
# Steps in whose texts like lengths are looked for.
BUCKET = 50
WEIGHTS = "model.safetensors"
# So many texts, of items of which so many are looked at, say whether a copy is one; what rounding may change.
SAMPLED, LOOKED_AT, COPIED = 6, 256, 1e-4
HISTORY = ["epoch", "training_loss", "validation_loss", "validation_accuracy", "learning_rate", "seconds"]


def make_reproducible() -> None:
    """Called before a device is used, lets CUDA's matrix products be the same from run to run."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")


def learning_rate_factor(step: int, steps: int, warmup: int, schedule: str) -> float:
    """Factor on the learning rate at ``step`` of ``steps``: a linear rise over ``warmup`` steps, then constant or a
    linear fall to zero. A rise that is longer than the training is not completed."""
    if step < warmup:
        return (step + 1) / warmup
    return 1.0 if schedule == "constant" else (steps - step) / (steps - warmup)


def steps_of_epoch(lengths: Sequence[int], size: int, by_length: bool, seed: int, epoch: int) -> list[np.ndarray]:
    """The texts of each step of an epoch, as positions; every text is in one step, and the order is drawn.

    Args:
        lengths: tokens of each text.
        size: texts of a step; one step has what is left over.
        by_length: whether the texts of a step are of like length. As Transformers' ``group_by_length`` does, texts are
            sorted within buckets that are drawn at random, of :data:`BUCKET` steps or a quarter of a smaller dataset;
            other than there, the steps then come in an order of their own, so that long texts do not come in a row.
        seed: the study seed.
        epoch: counted from 0.
    """
    order = generator_for(seed, "training order", epoch).permutation(len(lengths))
    if not by_length:
        return _in_pieces(order, size)
    length = np.asarray(lengths)
    buckets = _in_pieces(order, size * max(1, min(BUCKET, len(order) // (4 * size))))
    order = np.concatenate([bucket[length[bucket].argsort(kind="stable")] for bucket in buckets])
    steps = _in_pieces(order, size)
    return [steps[place] for place in generator_for(seed, "order of steps", epoch).permutation(len(steps))]


def _in_pieces(values: Sequence, size: int) -> list:
    return [values[start : start + size] for start in range(0, len(values), size)]


def _loss(
    classifier: Classifier, sentences: Sequence[Sentence], reduction: str, precision: str = "float32"
) -> tuple[torch.Tensor, torch.Tensor]:
    """Cross-entropy against the sentences' targets, and the logits."""
    token_id, mask = classifier.padded([sentence.row for sentence in sentences])
    label = sent([sentence.target for sentence in sentences], classifier.device)
    mixed = precision != "float32"
    with torch.autocast(classifier.device.type, torch.bfloat16, enabled=mixed):
        logits = classifier.logits(classifier.embed(token_id), mask)
    logits = logits.float() if mixed else logits
    return functional.cross_entropy(logits, label, reduction=reduction), logits


@torch.no_grad()
def validate(classifier: Classifier, sentences: Sequence[Sentence], batch_size: int) -> tuple[float, float]:
    """Mean cross-entropy and accuracy on ``sentences`` whose targets are the labels."""
    classifier.network.eval()
    found = [_loss(classifier, batch, "sum") for batch in _in_pieces(sentences, batch_size)]
    *losses, predicted = fetched([*(loss for loss, _ in found), torch.cat([logits for _, logits in found]).argmax(-1)])
    correct = np.equal(predicted, [sentence.target for sentence in sentences])
    return float(sum(losses)) / len(sentences), float(correct.mean())


class Diverged(InputError):
    """A training whose validation loss is not a number in any epoch; ``history`` is that of :func:`train`."""

    def __init__(self, history: pd.DataFrame):
        super().__init__(
            "training diverged: the validation loss was never a number; lower trainings.<training>.learning_rate"
        )
        self.history = history


class Beside(nn.Module):
    """What is trained along with a network: weights of its own, and its part of the loss.

    Attributes:
        learning_rate: highest of its own weights; it has the course of the network's.
    """

    learning_rate: float

    def forward(self, sentences: Sequence[Sentence], logits: torch.Tensor) -> torch.Tensor:
        """What is added to the mean loss of a batch, whose logits (batch, classes) the network has just given."""
        raise NotImplementedError


@dataclass
class Course:
    """Where a training is, beside which it has weights, optimizer, learning rate and generators.

    Attributes:
        epoch: that is going on, from 0.
        step: how many of its steps are done.
        loss: over the texts of these steps, as a sum (nats); on the device, where no step waits for it.
        seconds: that they took.
        best_epoch: the epoch with the lowest validation loss.
        best_loss: that loss.
        history: a row per epoch that is over.
    """

    epoch: int = 0
    step: int = 0
    loss: float | torch.Tensor = 0.0
    seconds: float = 0.0
    best_epoch: int = 0
    best_loss: float = float("inf")
    history: list[dict] = field(default_factory=list)


def train(
    classifier: Classifier,
    training: Sequence[Sentence],
    validation: Sequence[Sentence],
    recipe: Training,
    seed: int,
    checkpoint: Checkpoint | None = None,
    beside: Beside | None = None,
) -> pd.DataFrame:
    """Train in place; afterwards the weights are those of the epoch with the lowest validation loss, or of the last.

    The same seed gives the same weights on the same kind of device: the weights' initialisation, the order
    of the items and the dropout all derive from it. They are the same where a training was stopped and goes on.

    Adapters are merged into the weights in the end. In ``bfloat16``, torch's autocast chooses what is computed in half
    the bits; weights, gradients and optimizer are float32, and so is the validation, as the model is used.

    Args:
        classifier: new, see :func:`evenlight.models.building.new_classifier`.
        training: tokenised items whose targets are the labels.
        validation: likewise, to choose the epoch by.
        recipe: how, with a number of epochs.
        seed: the study seed.
        checkpoint: where the training goes on, if it was stopped, and what it writes for the next time.
        beside: what is trained along with the network, and its part of the loss.

    Returns:
        One row per epoch: losses (nats per item; that of the training with the part of ``beside``), accuracy (share),
        learning rate after it, seconds.

    Raises:
        Diverged: the validation loss is not a number in any epoch.
        InputError: the network takes no adapters or no bfloat16, or has not the parts that are to be trained.
    """
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True, warn_only=True)
    network = classifier.network
    merge = add_adapters(network, recipe.lora) if recipe.lora else None
    if recipe.trained:
        train_only(network, recipe.trained)
    _refuse_recipe(classifier, training[:1], recipe)
    optimizer, scheduler = _optimizer(network, recipe, len(training), beside)
    size = recipe.batch_size * recipe.gradient_accumulation_steps
    lengths = [len(sentence.token_id) for sentence in training]
    course, kept_weights = Course(), None
    if checkpoint and (state := checkpoint.read()):
        network.load_state_dict(state["weights"], strict=False)
        if beside is not None:
            beside.load_state_dict(state["beside"])
        optimizer.load_state_dict(state["optimizer"])
        scheduler.load_state_dict(state["scheduler"])
        for name, weight in network.named_parameters():
            weight.grad = state["gradients"].get(name)
        _set_generators(classifier.device, state["generators"])
        course, kept_weights = Course(**state["course"]), state["kept_weights"]
        print(f"goes on after step {course.step} of epoch {course.epoch}", flush=True)
    progress = tqdm(
        range(course.epoch, recipe.epochs),
        desc="epochs",
        mininterval=5,
        initial=course.epoch,
        total=recipe.epochs,
    )
    for epoch in progress:
        course.epoch, started = epoch, time.perf_counter() - course.seconds
        network.train(recipe.dropout)
        of_steps = steps_of_epoch(lengths, size, recipe.group_by_length, seed, epoch)
        for texts in of_steps[course.step :]:
            course.loss += _take_step(classifier, optimizer, [training[text] for text in texts], recipe, beside)
            scheduler.step()
            course.step += 1
            course.seconds = time.perf_counter() - started
            if checkpoint and checkpoint.is_due():
                checkpoint.write(
                    {
                        "weights": _trained_weights(network),
                        "beside": {} if beside is None else beside.state_dict(),
                        "optimizer": optimizer.state_dict(),
                        "scheduler": scheduler.state_dict(),
                        "gradients": _gradients(network) if recipe.gradients == "kept" else {},
                        "generators": _generators(classifier.device),
                        "course": vars(course) | {"loss": float(course.loss)},
                        "kept_weights": kept_weights,
                    }
                )
        validation_loss, accuracy = validate(classifier, validation, recipe.batch_size)
        seconds = time.perf_counter() - started
        rate = scheduler.get_last_lr()[0]
        row = (epoch, float(course.loss) / len(training), validation_loss, accuracy, rate, seconds)
        course.history.append(dict(zip(HISTORY, row, strict=True)))
        progress.set_postfix(validation_loss=f"{validation_loss:.4f}", accuracy=f"{accuracy:.3f}")
        course.step, course.loss, course.seconds = 0, 0.0, 0.0
        is_best = validation_loss < course.best_loss
        if is_best:
            course.best_epoch, course.best_loss = epoch, validation_loss
        if is_best or (recipe.kept_epoch == "last" and np.isfinite(validation_loss)):
            kept_weights = {name: weight.detach().clone() for name, weight in _trained_weights(network).items()}
        if recipe.patience is not None and epoch - course.best_epoch >= recipe.patience:
            break
    history = pd.DataFrame(course.history, columns=HISTORY)
    if kept_weights is None:
        raise Diverged(history)
    network.load_state_dict(kept_weights, strict=False)
    network.eval()
    if merge:
        merge()
    return history


def _optimizer(
    network: nn.Module, recipe: Training, texts: int, beside: Beside | None
) -> tuple[torch.optim.Optimizer, LambdaLR]:
    """The optimizer of what is trained of the network, and the course of its learning rate."""
    weights = [{"params": [weight for weight in network.parameters() if weight.requires_grad]}]
    if beside is not None:
        weights.append({"params": list(beside.parameters()), "lr": beside.learning_rate})
    optimizer = OPTIMIZERS[recipe.optimizer](
        weights,
        lr=recipe.learning_rate,
        weight_decay=recipe.weight_decay,
    )
    steps = recipe.epochs * -(-texts // (recipe.batch_size * recipe.gradient_accumulation_steps))
    warmup = recipe.warmup_steps
    if warmup is None:
        warmup = int(recipe.warmup_share * steps)
    if warmup >= steps:
        print(f"warm-up: {warmup} steps, but the training has only {steps}, so the rate never is at its highest")
    return optimizer, LambdaLR(optimizer, lambda step: learning_rate_factor(step, steps, warmup, recipe.schedule))


def _take_step(
    classifier: Classifier,
    optimizer: torch.optim.Optimizer,
    sentences: Sequence[Sentence],
    recipe: Training,
    beside: Beside | None,
) -> torch.Tensor:
    """Change the weights once, by the mean loss over all sentences, in batches; the loss as a sum, on the device."""
    are_kept, longest = recipe.gradients == "kept", recipe.gradient_clipping
    if not are_kept:
        optimizer.zero_grad(set_to_none=True)
    total = torch.zeros((), dtype=torch.float64, device=classifier.device)
    for batch in _in_pieces(sentences, recipe.batch_size):
        loss, logits = _loss(classifier, batch, "mean", recipe.precision)
        if beside is not None:
            loss = loss + beside(batch, logits)
        # The mean over texts, of which the last batch may have fewer.
        (loss * (len(batch) / len(sentences))).backward()
        total += loss.detach().double() * len(batch)
    # Behind a step, only gradients that are kept have a use for it.
    if longest is not None and not are_kept:
        nn.utils.clip_grad_norm_(classifier.network.parameters(), longest)
    optimizer.step()
    if longest is not None and are_kept:
        nn.utils.clip_grad_norm_(classifier.network.parameters(), longest)
    return total


@torch.no_grad()
def _refuse_recipe(classifier: Classifier, sentences: Sequence[Sentence], recipe: Training) -> None:
    """Refuse adapters of layers that do more than they are called for, and half the bits where types are mixed."""
    classifier.network.eval()
    for key, precision, remedy in (
        ("lora", "float32", "name other target_modules"),
        ("precision", "bfloat16", "set it to float32"),
    ):
        if getattr(recipe, key) in (None, "float32"):
            continue
        try:
            _loss(classifier, sentences, "mean", precision)
        except Exception as error:  # whatever a foreign network says
            network = f"this {classifier.network.config.model_type} model does not work with it ({reason_of(error)})"
            raise InputError(f"trainings.<training>.{key}: {network}; {remedy}") from None


def _trained_weights(network: nn.Module) -> dict[str, torch.Tensor]:
    """The weights that a training changes, and buffers, by name."""
    frozen = {name for name, weight in network.named_parameters(remove_duplicate=False) if not weight.requires_grad}
    return {name: weight for name, weight in network.state_dict().items() if name not in frozen}


def _gradients(network: nn.Module) -> dict[str, torch.Tensor]:
    return {name: weight.grad for name, weight in network.named_parameters() if weight.grad is not None}


def _generators(device: torch.device) -> dict[str, torch.Tensor]:
    """The state of torch's generators, from which dropout is drawn."""
    states = {"cpu": torch.get_rng_state()}
    return states | ({"cuda": torch.cuda.get_rng_state(device)} if device.type == "cuda" else {})


def _set_generators(device: torch.device, states: dict[str, torch.Tensor]) -> None:
    torch.set_rng_state(states["cpu"])
    if "cuda" in states:
        torch.cuda.set_rng_state(states["cuda"], device)


def digest_of_training(
    classifier: Classifier, training: Sequence[Sentence], validation: Sequence[Sentence], about: dict
) -> str:
    """SHA-256 (hexadecimal) of everything that the weights after a training depend on.

    ``about`` are JSON values: settings, seed, versions, device, threads.
    """
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    digest.update(classifier.network.config.to_json_string().encode())
    for sentences in (training, validation):
        texts = [(sentence.row.tolist(), sentence.target) for sentence in sentences]
        digest.update(json.dumps(texts).encode())
    for name, weight in classifier.network.state_dict().items():
        digest.update(name.encode())
        digest.update(weight.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
    return digest.hexdigest()


@contextmanager
def _beside(folder: Path) -> Iterator[str]:
    """A folder that is made, and a temporary one beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as temporary:
        yield temporary


def save_classifier(
    classifier: Classifier,
    folder: Path,
    history: pd.DataFrame | None,
    manifest: dict,
    unchanged: Sequence[Path] = (),
) -> None:
    """Write weights, tokenizer, history and manifest; the weights, which readers ask for, come last.

    Every file is replaced whole: a killed workflow may leave a job behind that writes the same model once more
    while its successor is already read.

    Args:
        classifier: trained.
        folder: what else it holds is deleted.
        history: as :func:`train` returns it; None where nothing was trained.
        manifest: JSON values: settings, data digest, versions; digests of the files are added to it.
        unchanged: files that say what the classifier is, of its configuration and weights, which are copied.
    """
    copied = {path.name: path for path in unchanged}
    with writing(folder), _beside(folder) as temporary:
        unfinished = Path(temporary)
        # A model that was loaded from such a folder is written as it was: nothing says where it was loaded from.
        classifier.network.config.dtype = classifier.network.dtype
        for loading in ("is_local", "local_files_only"):
            classifier.tokenizer.init_kwargs.pop(loading, None)
        with as_it_came(classifier.network):
            classifier.network.config.save_pretrained(unfinished)
        classifier.tokenizer.save_pretrained(unfinished)
        for name, path in copied.items():
            copyfile(path, unfinished / name)
        if WEIGHTS not in copied:
            # Shared weights are stored once; load_network ties them again.
            save_model(classifier.network, str(unfinished / WEIGHTS), metadata={"format": "pt"})
        (unfinished / WEIGHTS).chmod(0o644)  # safetensors lets nobody but the owner read it
        told = manifest | {FILES: digests_of(unfinished)}
        (unfinished / MANIFEST).write_text(json.dumps(told, indent=2, sort_keys=True) + "\n")
        if history is not None:
            history.to_csv(unfinished / "history.csv", index=False)
        names = sorted((path.name for path in unfinished.iterdir()), key=lambda name: (name == WEIGHTS, name))
        for path in folder.iterdir():
            # A file that another tokenizer left here would be read together with these.
            if path.is_file() and path.name not in names:
                path.unlink(missing_ok=True)
        for name in names:
            (unfinished / name).replace(folder / name)


@dataclass(frozen=True)
class Sample:
    """A few texts and what a model says of them, by which a copy of it is known.

    Attributes:
        rows: as the model reads them.
        probability: of the classes, (texts, classes).
    """

    rows: list[np.ndarray]
    probability: np.ndarray

    @classmethod
    def of(cls, classifier: Classifier, items: pd.DataFrame) -> "Sample":
        """The shortest and the longest of some items that it reads, and some between them."""
        texts = encoded(classifier, items, [0] * len(items)) if len(items) else ()
        rows = sorted((text.row for text in texts if len(text.token_id) <= classifier.max_tokens), key=len)
        chosen = np.unique(np.linspace(0, len(rows) - 1, min(SAMPLED, len(rows))).astype(int))
        rows = [rows[index] for index in chosen]
        return cls(rows, _probabilities(classifier, rows))

    def require_copy(self, folder: Path, max_tokens: int) -> None:
        """Refuse, and make useless, a model in a folder that says something else; of any other keep how it is asked.

        Raises:
            InputError: it does.
        """
        copy = load_saved(folder, max_tokens)
        found = _probabilities(copy, self.rows)
        difference = np.abs(found - self.probability).max(initial=0)
        if not difference <= COPIED:
            (folder / WEIGHTS).unlink()
            raise InputError(
                f"{folder}: the copy of the model gives a text another probability than the model itself, by "
                f"{difference:.2g}, since Transformers does not keep its configuration or its weights as they are; "
                "name another model or, if this one was trained here, another architecture"
            )
        keep_inputs(folder, copy.model_inputs, max_tokens)


@torch.inference_mode()
def _probabilities(classifier: Classifier, rows: Sequence[np.ndarray]) -> np.ndarray:
    """Those of the classes, a text at a time, (texts, classes)."""
    with evaluating(classifier.network):
        asked = (classifier.padded([row]) for row in rows)
        found = [classifier.logits(classifier.embed(token_id), mask).double().softmax(-1) for token_id, mask in asked]
    return np.concatenate(fetched(found)) if found else np.zeros((0, classifier.classes))
