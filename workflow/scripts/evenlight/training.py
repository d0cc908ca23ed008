"""Training a classifier, and keeping it."""

import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from safetensors.torch import save_model
from torch import nn
from torch.nn import functional
from torch.optim.lr_scheduler import LambdaLR
from tqdm import tqdm

from evenlight.engine.sentences import Sentence
from evenlight.errors import InputError
from evenlight.models.classifier import Classifier
from evenlight.seeds import generator_for

OPTIMIZERS = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}
WEIGHTS = "model.safetensors"
HISTORY = ["epoch", "training_loss", "validation_loss", "validation_accuracy", "learning_rate", "seconds"]


def learning_rate_factor(step: int, steps: int, warmup: int, schedule: str) -> float:
    """Factor on the learning rate at ``step`` of ``steps``: a linear rise over ``warmup`` steps, then constant or a
    linear fall to zero. A rise that is longer than the training is not completed."""
    if step < warmup:
        return (step + 1) / warmup
    return 1.0 if schedule == "constant" else (steps - step) / (steps - warmup)


def _loss(classifier: Classifier, sentences: Sequence[Sentence], reduction: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Cross-entropy against the sentences' targets, and the logits."""
    token_id, mask = classifier.padded([sentence.token_id for sentence in sentences])
    label = torch.tensor([sentence.target for sentence in sentences], device=classifier.device)
    logits = classifier.logits(classifier.embed(token_id), mask)
    return functional.cross_entropy(logits, label, reduction=reduction), logits


@torch.no_grad()
def validate(classifier: Classifier, sentences: Sequence[Sentence], batch_size: int) -> tuple[float, float]:
    """Mean cross-entropy and accuracy on ``sentences`` whose targets are the labels."""
    classifier.network.eval()
    loss, correct = 0.0, 0
    for start in range(0, len(sentences), batch_size):
        batch = sentences[start : start + batch_size]
        batch_loss, logits = _loss(classifier, batch, "sum")
        loss += batch_loss.item()
        correct += sum(
            predicted == sentence.target for predicted, sentence in zip(logits.argmax(-1).tolist(), batch, strict=True)
        )
    return loss / len(sentences), correct / len(sentences)


def train(
    classifier: Classifier, training: Sequence[Sentence], validation: Sequence[Sentence], settings: dict, seed: int
) -> pd.DataFrame:
    """Train in place; afterwards the weights are those of the epoch with the lowest validation loss.

    The same seed gives the same weights on the same kind of device: the weights' initialisation, the order
    of the items and the dropout all derive from it.

    Args:
        classifier: new, see :func:`evenlight.models.architectures.new_classifier`.
        training: tokenised items whose targets are the labels.
        validation: likewise, to choose the epoch by.
        settings: the training of ``configuration.recipe``.
        seed: the study seed.

    Returns:
        One row per epoch: losses (nats per item), accuracy (share), learning rate after it, seconds.

    Raises:
        InputError: the validation loss is not a number in any epoch.
    """
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True, warn_only=True)
    network, size = classifier.network, settings["batch_size"]
    optimizer = OPTIMIZERS[settings["optimizer"]](
        network.parameters(), lr=settings["learning_rate"], weight_decay=settings["weight_decay"]
    )
    steps = settings["epochs"] * -(-len(training) // size)
    warmup = settings["warmup_steps"]
    if warmup is None:
        warmup = int(settings["warmup_share"] * steps)
    if warmup >= steps:
        print(f"warm-up: {warmup} steps, but the training has only {steps}, so the rate never is at its highest")
    scheduler = LambdaLR(optimizer, lambda step: learning_rate_factor(step, steps, warmup, settings["schedule"]))
    history: list[dict] = []
    best_epoch, best_loss, best_weights = 0, np.inf, None
    progress = tqdm(range(settings["epochs"]), desc="epochs", mininterval=5)
    for epoch in progress:
        started, total = time.perf_counter(), 0.0
        network.train()
        order = generator_for(seed, "training order", epoch).permutation(len(training))
        for start in range(0, len(order), size):
            batch = [training[index] for index in order[start : start + size]]
            loss, _ = _loss(classifier, batch, "mean")
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            if settings["gradient_clipping"] is not None:
                nn.utils.clip_grad_norm_(network.parameters(), settings["gradient_clipping"])
            optimizer.step()
            scheduler.step()
            total += loss.item() * len(batch)
        validation_loss, accuracy = validate(classifier, validation, size)
        seconds = time.perf_counter() - started
        rate = scheduler.get_last_lr()[0]
        history.append(
            dict(zip(HISTORY, (epoch, total / len(order), validation_loss, accuracy, rate, seconds), strict=True))
        )
        progress.set_postfix(validation_loss=f"{validation_loss:.4f}", accuracy=f"{accuracy:.3f}")
        if validation_loss < best_loss:
            best_epoch, best_loss = epoch, validation_loss
            best_weights = {name: weight.detach().clone() for name, weight in network.state_dict().items()}
        if settings["patience"] is not None and epoch - best_epoch >= settings["patience"]:
            break
    if best_weights is None:
        raise InputError(
            "training diverged: the validation loss was never a number; lower trainings.<training>.learning_rate"
        )
    network.load_state_dict(best_weights)
    network.eval()
    return pd.DataFrame(history, columns=HISTORY)


def save_classifier(classifier: Classifier, folder: Path, history: pd.DataFrame | None, manifest: dict) -> None:
    """Write weights, tokenizer, history and manifest; the weights, which readers ask for, come last.

    Every file is replaced whole: a killed workflow may leave a job behind that writes the same model once more
    while its successor is already read.

    Args:
        classifier: trained.
        folder: what else it holds is deleted.
        history: as :func:`train` returns it; None where nothing was trained.
        manifest: JSON values: settings, data digest, versions.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as temporary:
        unfinished = Path(temporary)
        # A model that was loaded from such a folder is written as it was: nothing says where it was loaded from.
        classifier.network.config.dtype = classifier.network.dtype
        for loading in ("is_local", "local_files_only"):
            classifier.tokenizer.init_kwargs.pop(loading, None)
        classifier.network.config.save_pretrained(unfinished)
        classifier.tokenizer.save_pretrained(unfinished)
        if history is not None:
            history.to_csv(unfinished / "history.csv", index=False)
        (unfinished / "manifest.json").write_text(json.dumps(manifest, indent=2, sort_keys=True) + "\n")
        # Shared weights are stored once; load_network ties them again.
        save_model(classifier.network, str(unfinished / WEIGHTS), metadata={"format": "pt"})
        (unfinished / WEIGHTS).chmod(0o644)  # safetensors lets nobody but the owner read it
        names = sorted((path.name for path in unfinished.iterdir()), key=lambda name: (name == WEIGHTS, name))
        for path in folder.iterdir():
            # A file that another tokenizer left here would be read together with these.
            if path.is_file() and path.name not in names:
                path.unlink(missing_ok=True)
        for name in names:
            (unfinished / name).replace(folder / name)
