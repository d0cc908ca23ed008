"""Which departure of GECOBench's released code its OLA-CEA owes its accuracy to.

``make bench-ola-cea`` runs it. It trains the smallest model of the study on the published sentences (``geco/`` in the
folder), as it is trained here and with the departures of the released code: each one alone, all of them, and all but
one. ``--tokenizer`` has BERT's vocabulary, such as the folder of any uncased BERT. Writes a table with a row per
training (CSV), goes on where it was stopped, and beside it a page that shows it (the same name, ``.md``).
"""

import argparse
import sys
import time
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import torch

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "workflow" / "scripts"))

from report import machine, markdown

from evenlight import datasets
from evenlight.configuration.trainings import Training
from evenlight.core.errors import InputError
from evenlight.core.tables import replacing
from evenlight.engine import training
from evenlight.engine.sentences import tokenize
from evenlight.jobs import command_line
from evenlight.models.architectures import new_classifier
from evenlight.models.classifier import Classifier
from evenlight.texts.items import assign_validation, groups_kept_together
from evenlight.texts.predictions import Sentence

# Wilming et al., in percent: mean and standard deviation over five seeds.
PUBLISHED = {
    ("binary", "all"): "95.7 ± 2.7",
    ("binary", "subject"): "77.7 ± 0.4",
    ("three_class", "all"): "99.5 ± 0.2",
    ("three_class", "subject"): "85.1 ± 14.6",
}
DEPARTURES = {
    "padding": "padding is read like words, up to the longest sentence of a split",
    "vocabulary": "BERT's 30,522 tokens in place of 4,000 learned ones",
    "decay": "weight decay of 0.1, in Adam's gradient",
    "kept": "gradients are never cleared, and their sum is shortened behind each step",
    "rate": "the learning rate is the same in all steps",
    "last": "the last epoch is kept",
    "rows": "a fifth of all sentences is the validation split, drawn without regard to pairs",
}
OURS, RELEASED = "as here", "all departures"
SETTINGS = {"optimizer": "adam", "learning_rate": 0.01, "batch_size": 64}
OF_TRAINING = {
    "decay": {"weight_decay": 0.1, "optimizer": "adam_released"},
    "kept": {"gradients": "kept"},
    "rate": {"schedule": "constant", "warmup_share": 0.0},
    "last": {"kept_epoch": "last"},
}
COLUMNS = ["classes", "words", "training", "seed", "accuracy", "validation_loss", "epoch", "seconds"]
MAX_TOKENS = 256


def trainings() -> dict[str, set[str]]:
    """The departures of each training, by its name."""
    every = set(DEPARTURES)
    alone = {f"with {name}": {name} for name in DEPARTURES}
    without = {f"all but {name}": every - {name} for name in DEPARTURES}
    return {OURS: set(), **alone, RELEASED: every, **without}


def items_of(folder: Path, classes: str, words: str, by_rows: bool) -> tuple[pd.DataFrame, list[str]]:
    """The published sentences with a validation split, and the names of their classes."""
    settings = {"reader": "geco", "classes": classes, "words": words}
    names = datasets.reader_for(settings).sources(settings)
    dataset = datasets.load({name: folder / name for name in names}, settings)
    kept_together = list(dataset.items["item_id"]) if by_rows else groups_kept_together(dataset.items, dataset.units)
    return assign_validation(dataset.items, kept_together, 0.2, 0), dataset.classes


def compacted(classifier: Classifier, splits: list[list[Sentence]]) -> list[list[Sentence]]:
    """The sentences by numbers of the tokens that occur, for which alone the table then has rows: 30,522 take long."""
    pad = classifier.special_token("pad")
    used = np.unique(np.concatenate([[pad], *(sentence.token_id for part in splits for sentence in part)]))
    if used[0] != pad:
        raise InputError(f"--tokenizer: its pad token has the id {pad}; take that of a BERT, whose is 0")
    table = classifier.network.embeddings.weight[torch.from_numpy(used)]
    classifier.network.embeddings = torch.nn.Embedding.from_pretrained(table.detach().clone(), freeze=False)
    return [[replace(one, token_id=np.searchsorted(used, one.token_id)) for one in part] for part in splits]


def padded(classifier: Classifier, sentences: list[Sentence]) -> list[Sentence]:
    """The sentences with padding that the model takes for words, up to the longest of them."""
    longest = max(len(sentence.token_id) for sentence in sentences)
    pad = classifier.special_token("pad")

    def to_longest(sentence: Sentence) -> Sentence:
        further = np.full(longest - len(sentence.token_id), pad)
        nothing = np.full(len(further), -1)
        return replace(
            sentence,
            token_id=np.concatenate([sentence.token_id, further]),
            word_id=np.concatenate([sentence.word_id, nothing]),
        )

    return [to_longest(sentence) for sentence in sentences]


def trained(arguments: argparse.Namespace, classes: str, words: str, departures: set[str], seed: int) -> dict:
    """One training, and how it reads the test sentences."""
    items, names = items_of(arguments.data, classes, words, "rows" in departures)
    changes = {key: value for name in departures for key, value in OF_TRAINING.get(name, {}).items()}
    # The best epoch comes early.
    patience = None if "last" in departures else 20
    settings = Training(**SETTINGS, epochs=arguments.epochs, patience=patience).model_dump() | changes
    tokenizer = {"source": str(arguments.tokenizer)} if "vocabulary" in departures else {"vocabulary_size": 4000}
    about = {"architecture": "one_layer_attention", "hidden_size": 64, "dropout": 0.0, "tokenizer": tokenizer}
    parts = [items[items["split"] == split] for split in ("train", "validation", "test")]
    classifier = new_classifier(about | {"max_tokens": MAX_TOKENS}, list(parts[0]["words"]), len(names), seed)
    sentences = [tokenize(classifier, part, part["label"]) for part in parts]
    sentences = compacted(classifier, sentences)
    if "padding" in departures:
        sentences = [padded(classifier, part) for part in sentences]
    started = time.process_time()
    history = training.train(classifier, *sentences[:2], settings, seed)
    seconds = time.process_time() - started
    _, accuracy = training.validate(classifier, sentences[2], 256)
    best = history.iloc[-1] if "last" in departures else history.loc[history["validation_loss"].idxmin()]
    return {
        "accuracy": round(accuracy, 5),
        "validation_loss": round(best["validation_loss"], 5),
        "epoch": int(best["epoch"]),
        "seconds": round(seconds, 1),
    }


def page(table: pd.DataFrame, epochs: int) -> str:
    """The table as it is read: percent of the test sentences, mean and standard deviation over seeds."""
    lines = []
    shown = [key for key in PUBLISHED if (table[["classes", "words"]] == list(key)).all(axis=1).any()]
    for name in trainings():
        line = {"training": name}
        for classes, words in shown:
            found = table[(table["classes"] == classes) & (table["words"] == words) & (table["training"] == name)]
            accuracy = 100 * found["accuracy"]
            spread = f" ± {accuracy.std(ddof=0):.1f}" if len(found) > 1 else ""
            line[f"{classes}, {words}"] = f"{accuracy.mean():.1f}{spread} ({len(found)})" if len(found) else "–"
        lines.append(line)
    lines.append({"training": "published"} | {", ".join(key): PUBLISHED[key] for key in shown})
    return "\n".join(
        [
            "# OLA-CEA and the released code",
            "",
            "Test accuracy in percent, mean and standard deviation over seeds (their number in brackets), "
            f"{epochs} epochs, of the smallest model of GECOBench, as it is trained here and with what its released "
            "code does in another way:",
            "",
            *(f"- *{name}*: {what};" for name, what in DEPARTURES.items()),
            "",
            markdown(pd.DataFrame(lines)),
            "",
            f"Made by `python bench/research/ola_cea.py` on {machine('torch', 'transformers')}.",
            "",
        ]
    )


def main(arguments: argparse.Namespace) -> None:
    """Train what the table has not, and write it after each training."""
    torch.set_num_threads(1)
    # The released code's only other number; with the one that torch takes, a rate of 0.01 differs by little.
    training.OPTIMIZERS["adam_released"] = partial(torch.optim.Adam, eps=1e-5)
    table = pd.read_csv(arguments.output) if arguments.output.exists() else pd.DataFrame(columns=COLUMNS)
    wanted = product(range(arguments.seeds), arguments.datasets, trainings().items())
    for seed, (classes, words), (name, departures) in wanted:
        about = {"classes": classes, "words": words, "training": name, "seed": seed}
        is_done = (table[list(about)] == pd.Series(about)).all(axis=1).any()
        if is_done or (arguments.trainings and name not in arguments.trainings):
            continue
        row = about | trained(arguments, classes, words, departures, seed)
        print(row, flush=True)
        table = pd.concat([table, pd.DataFrame([row])], ignore_index=True)
        with replacing(arguments.output) as temporary:
            table.to_csv(temporary, index=False)
    with replacing(arguments.output.with_suffix(".md")) as temporary:
        Path(temporary).write_text(page(table, arguments.epochs), encoding="utf-8")


def named_dataset(text: str) -> tuple[str, str]:
    """Classes and words of a dataset that is written as ``binary:all``."""
    classes, _, words = text.partition(":")
    if (classes, words) not in PUBLISHED:
        raise argparse.ArgumentTypeError(f"'{text}' is none of {', '.join(':'.join(key) for key in PUBLISHED)}")
    return classes, words


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the published files below geco/")
    parser.add_argument("--tokenizer", type=Path, required=True, help="folder or hub id of a BERT with its vocabulary")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--datasets", type=named_dataset, nargs="+", default=list(PUBLISHED))
    parser.add_argument("--trainings", nargs="+", choices=list(trainings()), help="only these")
    parser.add_argument("--output", type=Path, required=True, help="table (CSV)")
    command_line.run(main, parser)
