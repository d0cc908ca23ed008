"""Time what a training can save: batches of like length, half the bits, adapters; and what checkpoints cost.

It trains a pre-trained encoder on real sentences, once by each recipe in
turn, as often as asked. The texts are those of GECO and of CEBaB, in a folder with the published files (``geco/``,
``cebab/CEBaB-v1.1.zip``); their classes are of no importance here and drawn. Writes a table (CSV), and beside it a page
that shows it (the same name, ``.md``).
"""

import argparse
import json
import sys
import time
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from page_figures import illustrate
from report import WORDS, machine, markdown

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow" / "scripts"))

from evenlight.core.seeds import generator_for
from evenlight.core.tables import replacing
from evenlight.engine.checkpoints import Checkpoint
from evenlight.engine.sentences import tokenize
from evenlight.engine.training import steps_of_epoch, train
from evenlight.jobs import command_line
from evenlight.models.architectures.pretrained import Pretrained
from evenlight.models.building import new_classifier
from evenlight.models.devices import use_processor
from evenlight.models.trainings import Training
from evenlight.texts.predictions import Sentence

RECIPES = {
    "plain": {},
    "group_by_length": {"group_by_length": True},
    "bfloat16": {"precision": "bfloat16"},
    "lora": {"lora": {}},
    "lora, all-linear": {"lora": {"target_modules": "all-linear"}},
    "all three": {"group_by_length": True, "precision": "bfloat16", "lora": {}},
    "plain, 4 x a quarter of a batch": {"gradient_accumulation_steps": 4},
}
MAX_TOKENS = 256
COUNTED_EPOCHS = 20


class OneCheckpoint(Checkpoint):
    """A checkpoint after the first step, which is timed."""

    def __init__(self, path: Path):
        super().__init__(path, minutes=1e9, written=-np.inf)

    def write(self, state: dict) -> None:
        """Write, and note the processor time."""
        started = time.process_time()
        super().write(state)
        self.seconds = time.process_time() - started


def geco(folder: Path) -> list[list[str]]:
    """The words of all sentences to train with, D_A in two forms."""
    lines = (folder / "geco" / "binary_gender_all" / "train.jsonl").read_text(encoding="utf-8").splitlines()
    return [[word for word in json.loads(line)["sentence"] if word.strip()] for line in lines]


def cebab(folder: Path) -> list[list[str]]:
    """The words of all reviews and their edits to train with."""
    with zipfile.ZipFile(folder / "cebab" / "CEBaB-v1.1.zip") as file:
        rows = json.loads(file.read("CEBaB-v1.1/train_inclusive.json"))
    return [words for row in rows if (words := row["description"].split())]


DATASETS = {"GECO": geco, "CEBaB": cebab}


def tokenised(model: Path, settings: Training, words: list[list[str]]) -> tuple:
    """A new classifier of two classes, and the texts as it reads them."""
    about = Pretrained(architecture="pretrained", source=str(model), max_tokens=MAX_TOKENS, training="short")
    classifier = new_classifier(about, settings, words, 2, seed=0)
    items = pd.DataFrame({"item_id": [str(number) for number in range(len(words))], "words": words})
    return classifier, tokenize(classifier, items, generator_for("classes").integers(2, size=len(words)), items.item_id)


def padded_tokens(texts: list[Sentence], size: int, by_length: bool) -> int:
    """Rows by tokens of the batches of an epoch, padding included, as a mean over epochs."""
    lengths = np.array([len(text.token_id) for text in texts])
    epochs = (steps_of_epoch(lengths, size, by_length, 0, epoch) for epoch in range(COUNTED_EPOCHS))
    return round(sum(len(step) * lengths[step].max() for steps in epochs for step in steps) / COUNTED_EPOCHS)


def measured(model: Path, words: list[list[str]], recipe: str, arguments: argparse.Namespace, folder: Path) -> dict:
    """Processor time of an epoch by one recipe, and of its checkpoint beside it, with its size."""
    own = RECIPES[recipe]
    size = arguments.batch_size // own.get("gradient_accumulation_steps", 1)
    settings = Training(learning_rate=1e-5, batch_size=size, epochs=1, **own)
    classifier, texts = tokenised(model, settings, words)
    checkpoint = OneCheckpoint(folder / "checkpoint")
    started = time.process_time()
    # The validation, of one text, takes no time.
    train(classifier, texts, texts[:1], settings, 0, checkpoint)
    seconds = time.process_time() - started - checkpoint.seconds
    size = checkpoint.path.stat().st_size
    return {"seconds": seconds, "checkpoint_seconds": checkpoint.seconds, "checkpoint_bytes": size}


def main(arguments: argparse.Namespace) -> None:
    """Count, time and write."""
    use_processor(arguments.threads)
    rows, counts = [], []
    for dataset, read in DATASETS.items():
        words = read(arguments.data)
        settings = Training(learning_rate=1e-5, batch_size=arguments.batch_size, epochs=1)
        _, texts = tokenised(arguments.model, settings, words)
        tokens = sum(len(text.token_id) for text in texts)
        plain, grouped = (padded_tokens(texts, arguments.batch_size, by_length) for by_length in (False, True))
        counts.append(
            {
                "texts": f"{dataset}, {len(texts):,}",
                "tokens": f"{tokens:,}",
                "with padding, drawn": f"{plain / tokens:.2f}",
                "with padding, of like length": f"{grouped / tokens:.2f}",
                "fewer": f"{1 - grouped / plain:.0%}",
            }
        )
        drawn = generator_for("texts", dataset).permutation(len(words))[: arguments.texts]
        few = [words[place] for place in drawn]
        for repeat in range(arguments.repeats):
            for recipe in RECIPES:
                with TemporaryDirectory() as folder:
                    found = measured(arguments.model, few, recipe, arguments, Path(folder))
                rows.append({"dataset": dataset, "recipe": recipe, "repeat": repeat} | found)
                print(f"{dataset}, {recipe}: {found['seconds']:.1f} s", flush=True)
    table = pd.DataFrame(rows)
    weights = (arguments.model / "model.safetensors").stat().st_size
    with replacing(arguments.output) as path:
        table.to_csv(path, index=False)
    with replacing(arguments.output.with_suffix(".md")) as path:
        path.write_text(page(table, pd.DataFrame(counts), weights, arguments), encoding="utf-8")
    illustrate(arguments.output.with_suffix(".md"), "training")


def page(table: pd.DataFrame, counts: pd.DataFrame, weights: int, arguments: argparse.Namespace) -> str:
    """What was found, as Markdown."""
    times = table.pivot_table(index=["dataset", "repeat"], columns="recipe", values="seconds")
    ratios = times.div(times["plain"], axis=0).groupby("dataset")
    shown = pd.DataFrame(
        [
            {"recipe": recipe}
            | {
                dataset: f"{of[recipe].median():.2f} ({of[recipe].min():.2f}–{of[recipe].max():.2f})"
                for dataset, of in ((dataset, ratios.get_group(dataset)) for dataset in DATASETS)
            }
            for recipe in RECIPES
        ]
    )
    steps = -(-arguments.texts // arguments.batch_size)
    written = (
        table.assign(steps=table["checkpoint_seconds"] / (table["seconds"] / steps)).groupby("recipe").median(True)
    )
    checkpoints = " ".join(
        f"With `{recipe}` it has {written['checkpoint_bytes'][recipe] / weights:.2f} times the size of the model's "
        f"file, and is written in the time of {written['steps'][recipe]:.2f} steps."
        for recipe in ("plain", "lora")
    )
    return f"""# What a training can save

Made by `python bench/training_time.py --data … --model … --texts {arguments.texts} --batch-size {arguments.batch_size}
--repeats {arguments.repeats} --threads {arguments.threads}` on {machine("torch", "transformers", "peft")}.
{WORDS}

Tokens of an epoch, padding included, over those of the texts. Batches are of {arguments.batch_size}, all texts to train
with are counted, and numbers are means of {COUNTED_EPOCHS} epochs.

{markdown(counts)}

Processor time of an epoch of {arguments.texts} of these texts over that of `plain`. Recipes take turns. Numbers are
medians of {arguments.repeats}, with the range.

{markdown(shown)}

A checkpoint is measured in the first epoch, before there is a best one. {checkpoints}
"""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with geco/ and cebab/")
    parser.add_argument("--model", type=Path, required=True, help="folder of a pre-trained encoder")
    parser.add_argument("--texts", type=int, default=256, help="texts of an epoch that is timed")
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output", type=Path, required=True, help="table (CSV)")
    command_line.run(main, parser)
