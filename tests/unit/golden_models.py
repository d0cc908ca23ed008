"""What every architecture gives: a short training of those that are trained here, and what others say of texts."""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
from http_services import serving
from models_for_tests import new_model, sentences_of, tiny_classifier
from test_prompted import DECODER_TEMPLATE, LABEL_WORDS
from test_prompted import saved as saved_language_model
from test_ready import saved as saved_classifier
from test_ready import settings_for, taken_over

from evenlight.configuration import completed_entry
from evenlight.engine import open_evaluator, training
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import encoded
from evenlight.models import Architecture
from evenlight.models.prompted import prompted_classifier
from evenlight.models.service import save_service
from evenlight.models.trainings import Training

Words = Sequence[Sequence[str]]

SMALL = {"hidden_size": 16, "max_tokens": 48, "tokenizer": {"vocabulary_size": 200}, "dropout": 0.1}
BERT = {"layers": 2, "heads": 2, "intermediate_size": 32}
TRAINED_HERE = {"one_layer_attention": {}, "lstm_attention": {"state_size": 8}, "bert": BERT, "pretrained": {}}

# No attention sees the bias of its keys: its gradient is rounding alone, which the optimizer makes as large as any.
UNSEEN = "key.bias"


def trained(architecture: str, words: Words, folder: Path) -> dict:
    """Losses by epoch, the norm of each weight, and what the model then says of the texts.

    Weights of some thousand numbers are told by their norms: what a step does to any of them shows in the losses.
    """
    settings = TRAINED_HERE[architecture] | ({} if architecture == "pretrained" else SMALL)
    if architecture == "pretrained":
        training.save_classifier(tiny_classifier("bert", classes=3), folder / "encoder", None, {})
        settings = {"source": str(folder / "encoder"), "max_tokens": 48}
    given = {"architecture": architecture, "training": "short"} | settings
    recipe = Training(learning_rate=0.005, batch_size=4, epochs=3, weight_decay=0.1, kept_epoch="last")
    settings = completed_entry("models", "it", given) | {"training": recipe}
    network = new_model(settings, list(words), 2, seed=0)
    texts = sentences_of(network, words)
    history = training.train(network, texts, texts[:4], recipe, seed=0)
    weights = {name: weight for name, weight in network.network.named_parameters() if not name.endswith(UNSEEN)}
    norms = {name: weight.norm().item() for name, weight in weights.items()}
    return {"history": history.drop(columns="seconds"), "norms": norms, "probabilities": asked(network, texts)}


def asked(network, texts) -> np.ndarray:
    """Probabilities of the classes, (texts, classes)."""
    return Evaluator(network).probabilities([text.row for text in texts])


def ready(words: Words, folder: Path) -> dict[str, np.ndarray]:
    """What a classifier says that was trained elsewhere, whose labels have another order."""
    folder = saved_classifier(folder / "their_model", labels=("LABEL_0", "LABEL_1"))
    network, _ = taken_over(settings_for(folder, classes={"no": "LABEL_1", "yes": "LABEL_0"}), ["no", "yes"])
    return {"probabilities": asked(network, sentences_of(network, words))}


def prompted(words: Words, folder: Path) -> dict[str, np.ndarray]:
    """What a language model says that is asked by a prompt, with and without a correction of its prior."""
    folder = saved_language_model(folder / "gpt2", "gpt2")
    label_words = {name: LABEL_WORDS[name] for name in ("sea", "land")}
    found = {}
    for name, content_free in {"plain": [], "corrected": ["N/A", ""]}.items():
        given = {"architecture": "prompted", "source": str(folder), "template": DECODER_TEMPLATE}
        given |= {"label_words": label_words, "content_free": content_free, "max_tokens": 128}
        settings = completed_entry("models", "it", given | {"special_tokens": {"pad": "<|endoftext|>"}})
        network, _ = prompted_classifier(Architecture.parse(settings), list(label_words), list(words))
        found[name] = asked(network, sentences_of(network, words))
    return found


def served(words: Words, folder: Path) -> dict[str, np.ndarray]:
    """What a classifier behind an address says, which here goes by the letter e."""
    with serving() as service:
        entry = Architecture.parse({"architecture": "service", "address": service.address})
        save_service(folder / "mine" / "seed0", entry, ["eager", "dull"], words)
        asking = {"mine": {"batch": 7, "asked_again": 0}}
        flags = {"model": folder / "mine" / "seed0", "settings": {"max_tokens": 48}, "asking": asking}
        evaluator = open_evaluator(SimpleNamespace(**flags, answers=folder / "answers", threads=1))
        items = pd.DataFrame({"item_id": list(map(str, range(len(words)))), "words": list(words)})
        texts = encoded(evaluator.classifier, items, [0] * len(words))
        return {"probabilities": evaluator.probabilities([text.row for text in texts])}


ASKED: dict[str, Callable[[Words, Path], dict]] = {"trained": ready, "prompted": prompted, "service": served}

# Those whose answers are nobody's here.
NOT_HELD = {
    "answers": "it asks nobody: its answers are those of a table, which explainers/recorded holds",
    "chat": "its answers are a service's; what is asked and read of them explainers/asked holds",
    "decoder": "it writes answers alone, which explainers/generated holds",
}
