"""Measure what a graphics card changes, in one call of ten minutes: speed, waits, memory, training.

Without a card it tries small shapes. Nothing is downloaded: what a network takes depends on its
sizes, so networks of published sizes with random weights read test sentences of GECO. Ours, in each precision, and each
peer that is there have a process of their own and take turns. What was measured stands in a file as soon as it is
known, one JSON object a line, so that a call that is cut off still has a page.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import torch
from compare import matrix_rate, sentences_of
from protocol import Worker
from report import WORDS, machine, markdown
from shapes import write_shape
from suites import PASSES, SUITES
from torch import nn
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer
from transformers.pytorch_utils import Conv1D
from worker_evenlight import tasks_of

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow" / "scripts"))

from evenlight.configuration import completed_sections
from evenlight.core.tables import replacing
from evenlight.engine.sentences import tokenize
from evenlight.engine.training import save_classifier, train
from evenlight.jobs import command_line
from evenlight.models import Architecture
from evenlight.models.building import new_classifier
from evenlight.models.classifier import Classifier
from evenlight.models.devices import device_name, pick_device, use_processor
from evenlight.models.trainings import Training

HERE = Path(__file__).parent
# Of published sizes: all-MiniLM-L6-v2, bert-base, gpt2, and the smallest Llama 3.2 without its vocabulary. On
# processors blocks of the same kinds, enough to know that all of it works.
SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
SHAPES = {
    "published": {
        "MiniLM": (
            "bert",
            {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536},
        ),
        "BERT": ("bert", {}),
        "GPT-2": ("gpt2", {}),
        "Llama, a billion": (
            "llama",
            {
                "hidden_size": 2048,
                "num_hidden_layers": 16,
                "num_attention_heads": 32,
                "num_key_value_heads": 8,
                "intermediate_size": 8192,
                "max_position_embeddings": 512,
            },
        ),
    },
    "small": {
        "BERT, small": ("bert", SMALL | {"intermediate_size": 64}),
        "GPT-2, small": ("gpt2", SMALL),
        "Llama, small": ("llama", SMALL | {"intermediate_size": 64}),
    },
}
# What is trained from scratch, and how: BERT as it was published, or a small one.
TRAINED = {
    "published": {"layers": 12, "heads": 12, "hidden_size": 768},
    "small": {"layers": 2, "heads": 2, "hidden_size": 32},
}
LEARNING = {"published": {"learning_rate": 0.0001, "warmup_steps": 100}, "small": {"learning_rate": 0.001}}
# Rows and hidden size of the largest product, (rows, hidden) × (hidden, 4 hidden), that a rate is measured by.
LARGEST = {"published": (8192, 4096), "small": (512, 256)}
PRECISIONS = ("float32", "tf32", "bfloat16")
# Those of a training.
TRAINED_IN = ("float32", "bfloat16")
OURS = [f"ours, {precision}" for precision in PRECISIONS]
PARTS = ["training", "speed"]
PEERS = {"ferret": "worker_ferret.py", "captum and lime": "worker_captum.py"}
# Scores of that size say nothing, in float64.
NOISE = 1e-10
# What a peer's time depends on, beside torch.
PACKAGES = {"ferret": ("ferret-xai", "shap", "transformers"), "captum and lime": ("captum", "lime", "transformers")}
VERSIONS = (
    "import sys, importlib.metadata as of; print(', '.join(f'{name} {of.version(name)}' for name in sys.argv[1:]))"
)


# Measuring --------------------------------------------------------------------------------------------------------


class Record:
    """What was measured, in a file that grows by a line as soon as something is known.

    Attributes:
        path: JSON, a line for each row.
        ends: when nothing is begun any more, by the clock of :func:`time.monotonic`.
    """

    def __init__(self, path: Path, minutes: float, goes_on: bool):
        self.path, self.ends = path, time.monotonic() + 60 * minutes
        path.parent.mkdir(parents=True, exist_ok=True)
        if not goes_on:
            path.unlink(missing_ok=True)

    def write(self, kind: str, **row: object) -> None:
        """Add a row of a kind, and print it."""
        line = json.dumps({"kind": kind, **row})
        print(line, flush=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def is_over(self, what: str) -> bool:
        """Whether the minutes are; what is left out for it is written down."""
        if time.monotonic() < self.ends:
            return False
        self.write("left out", what=what, why="the minutes were over")
        return True


def measure_training(record: Record, sizes: str, arguments: argparse.Namespace) -> None:
    """Train a BERT from scratch on all sentences of GECO, once by each precision."""
    table = pd.read_parquet(arguments.items)
    parts = dict(list(table.groupby("split")))
    words = [list(own) for own in parts["train"]["words"]]
    for precision in TRAINED_IN:
        if record.is_over(f"training, {precision}"):
            continue
        training = {"batch_size": 32, "epochs": arguments.epochs, "group_by_length": True, "precision": precision}
        found = completed_sections(
            {
                "trainings": {"scratch": training | LEARNING[sizes]},
                "models": {"bert": {"architecture": "bert", "training": "scratch", **TRAINED[sizes]}},
            }
        )
        settings = found["trainings"]["scratch"] | {"start": "random"}
        recipe = Training.model_validate(settings)
        classifier = new_classifier(
            Architecture.parse(found["models"]["bert"]), recipe, words, table["label"].nunique(), seed=0
        )
        classifier = replace(classifier, network=classifier.network.to(arguments.device))
        texts = {split: tokenize(classifier, own, own["label"], own["item_id"]) for split, own in parts.items()}
        started = time.perf_counter()
        course = train(classifier, texts["train"], texts["test"], recipe, seed=0)
        row = {"seconds": time.perf_counter() - started, "accuracy": float(course["validation_accuracy"].max())}
        parameters = sum(weight.numel() for weight in classifier.network.parameters())
        counts = {"parameters": parameters, "epochs": arguments.epochs, "texts": len(texts["train"])}
        record.write("training", precision=precision, **counts, **row)
        if precision == "float32":
            measure_errors(record, classifier, arguments)


def flops_per_token(network: nn.Module, length: float) -> float:
    """Floating-point operations that a forward pass of a text of ``length`` tokens takes for each, in products.

    Those with weights, two for each number in the weights' matrices, and those of queries with keys and of attention
    weights with values. What the engine leaves out in the last layer is counted.
    """
    matrices = sum(
        module.weight.numel()
        for name, module in network.base_model.named_modules()
        if isinstance(module, nn.Linear | Conv1D) and "pooler" not in name
    )
    config = network.config
    return 2 * matrices + 4 * length * config.hidden_size * getattr(config, "num_hidden_layers", 0)


def flops_of(folder: Path, tokens: float) -> float:
    """Floating-point operations of a forward pass of a row of ``tokens``, were nothing left out."""
    with torch.device("meta"):
        network = AutoModelForSequenceClassification.from_config(AutoConfig.from_pretrained(folder))
    return flops_per_token(network, tokens) * tokens


def pythons_of(options: argparse.Namespace) -> dict[str, str]:
    """The interpreter of each peer that is there."""
    given = {"ferret": options.ferret_python, "captum and lime": options.captum_python}
    return {peer: python for peer, python in given.items() if python}


def versions_of(peer: str, python: str) -> str:
    """The packages of a peer with their versions."""
    command = [python, "-c", VERSIONS, *PACKAGES[peer]]
    return subprocess.run(command, check=True, text=True, capture_output=True).stdout.strip()


def measure_speed(
    record: Record, name: str, folder: Path, sentences: list[dict], rates: dict[str, float], options: argparse.Namespace
) -> None:
    """Time the tasks of every suite whose peer is there: ours by precision and the peer, in turn."""
    pythons = pythons_of(options)
    peers = [peer for peer in PEERS if peer in pythons]
    common = (str(folder), str(options.threads), options.device)

    def started(python: str, script: str, side: str, *flags: str) -> Worker:
        log = record.path.parent / f"card_{side.replace(', ', '_').split()[0]}.log"
        return Worker(python, HERE / script, *common, *flags, log=log)

    workers = {side: started(sys.executable, "worker_evenlight.py", side, side.split(", ")[1], "0") for side in OURS}
    workers |= {peer: started(pythons[peer], PEERS[peer], peer) for peer in peers}
    try:
        for peer in peers:
            for task in SUITES[peer]:
                if not record.is_over(f"{name}, {peer}, {task}"):
                    about = {"model": name, "suite": peer, "task": task}
                    sides = {side: workers[side] for side in (*OURS, peer) if side in workers}
                    for row in timed(record, about, sides, sentences, options):
                        record.write("speed", **about, **with_share(row, task, folder, rates))
    finally:
        for worker in workers.values():
            worker.process.kill()
            worker.process.wait()


def timed(
    record: Record, about: dict, workers: dict[str, Worker], sentences: list[dict], options: argparse.Namespace
) -> Iterator[dict]:
    """A row for each worker of one task, which they do in turn; one that fails is written down."""
    task, asked, answers = about["task"], sentences, {side: [] for side in workers}
    if task == "aopc":
        scores = workers[OURS[0]].ask("path", sentences)["scores"]["igxi"]
        asked = [one | {"scores": own} for one, own in zip(sentences, scores, strict=True)]
    # Peers take one text after the other, so that a few tell as much as many.
    few = asked[:: -(-len(asked) // options.one_by_one)]
    # The first turn is for warming up: a card loads what it computes each shape with when it first sees it.
    for turn in range(-1, options.alternations):
        for side in list(answers):
            try:
                found = workers[side].ask(task, asked if side in OURS else few)
            except (RuntimeError, BrokenPipeError) as error:
                del answers[side]
                record.write("left out", what=", ".join([*about.values(), side]), why=str(error))
                continue
            answers[side] += [found] * (turn >= 0)
    for side, found in answers.items():
        own = asked if side in OURS else few
        row = {"side": side, "seconds": statistics.median(one["seconds"] for one in found) / len(own)}
        if "rows" in found[-1]:
            first = next(iter(found[-1]["scores"].values()))
            row |= {"rows": found[-1]["rows"] / len(own), "tokens": float(np.mean([len(scores) for scores in first]))}
        if options.device == "cuda":
            watched = workers[side].ask(task, own, watched=True)
            row |= {"busy_share": watched["busy"] / watched["seconds"], "peak_mib": found[-1]["peak_mib"]}
        yield row


def size(scores: list) -> float:
    """The root mean square of the scores of some texts."""
    return float(np.sqrt(np.mean(np.concatenate([np.ravel(of_text) for of_text in scores]) ** 2)))


def distance(scores: list, exact: list) -> float:
    """How far scores of some texts are from the exact ones: the size of the difference, over theirs."""
    return size([np.subtract(one, other) for one, other in zip(scores, exact, strict=True)]) / size(exact)


def measure_errors(record: Record, classifier: Classifier, arguments: argparse.Namespace) -> None:
    """How far the scores of a trained model in each precision are from those in float64."""
    asked = sentences_of(arguments.items, arguments.sentences)
    with TemporaryDirectory() as folder:
        save_classifier(classifier, Path(folder), None, {})
        tasks = {
            precision: tasks_of(folder, str(arguments.threads), arguments.device, precision, "0")
            for precision in ("float64", *PRECISIONS)
        }
        for task in dict.fromkeys(task for peer in PEERS for task in SUITES[peer]):
            if task == "aopc":
                scores = tasks["float64"]["path"](asked)["scores"]["igxi"]
                asked = [one | {"scores": own} for one, own in zip(asked, scores, strict=True)]
            exact, *found = [own[task](asked)["scores"] for own in tasks.values()]
            # Those of the mean path gradient are rounding noise.
            for name in (name for name in exact if size(exact[name]) > NOISE):
                errors = [distance(each[name], exact[name]) for each in found]
                record.write("error", scores=name, **dict(zip(PRECISIONS, errors, strict=True)))


def with_share(row: dict, task: str, folder: Path, rates: dict[str, float]) -> dict:
    """A row with the share of its time that its products take at the device's rate, where its rows say so."""
    if "rows" not in row or task not in PASSES:
        return row
    flops = row["rows"] * PASSES[task] * flops_of(folder, row["tokens"])
    return row | {"share_of_rate": flops / row["seconds"] / rates[row["side"].split(", ")[1]]}


def flags_of(arguments: argparse.Namespace) -> str:
    """The flags that say what is measured and how, as the command takes them."""
    names = ("parts", "sentences", "one_by_one", "alternations", "epochs", "minutes", "threads")
    given = {name: getattr(arguments, name) for name in names} | {"parts": " ".join(arguments.parts)}
    return " ".join(f"--{name.replace('_', '-')} {value}" for name, value in given.items())


def measure(arguments: argparse.Namespace) -> None:
    """All measurements, the shorter ones first."""
    use_processor(arguments.threads)
    record = Record(arguments.answers, arguments.minutes, goes_on=arguments.parts != PARTS)
    device = pick_device(arguments.device)
    arguments.device = device.type
    sizes = "published" if device.type == "cuda" else "small"
    record.write(
        "about",
        device=device_name(device),
        machine=machine("torch", "transformers"),
        flags=flags_of(arguments),
        peers={peer: versions_of(peer, python) for peer, python in pythons_of(arguments).items()},
        sentences=arguments.sentences,
        one_by_one=arguments.one_by_one,
        alternations=arguments.alternations,
    )
    rows, hidden = LARGEST[sizes]
    rates = {kind: matrix_rate(hidden, rows, arguments.threads, device.type, kind) for kind in PRECISIONS}
    record.write("rate", **rates)
    if "training" in arguments.parts:
        measure_training(record, sizes, arguments)
    sentences = sentences_of(arguments.items, arguments.sentences)
    tokenizer = AutoTokenizer.from_pretrained(arguments.tokenizer)
    for name, (model_type, shape) in SHAPES[sizes].items() if "speed" in arguments.parts else ():
        with TemporaryDirectory() as folder:
            write_shape(Path(folder), model_type, shape, tokenizer)
            measure_speed(record, name, Path(folder), sentences, rates, arguments)


# The page ---------------------------------------------------------------------------------------------------------


def whole_suites(speed: pd.DataFrame) -> pd.DataFrame:
    """How many times as long as ours a peer takes for the tasks that all sides did."""
    lines = []
    for (model, suite), own in speed.groupby(["model", "suite"], sort=False):
        seconds = own.pivot_table(index="task", columns="side", values="seconds").reindex(columns=[*OURS, suite])
        seconds = seconds.dropna()
        totals = seconds.sum()
        ratios = {side: f"{totals[suite] / totals[side]:.1f}" for side in OURS} if len(seconds) else {}
        lines.append({"model": model, "peer": suite, "tasks": f"{len(seconds)} of {len(SUITES[suite])}"} | ratios)
    return pd.DataFrame(lines).fillna("–")


def task_line(suite: str, task: str, found: pd.DataFrame) -> dict:
    """What was found of one task, as the cells of a line: those of ours by precision, and of the peer."""
    sides = found.set_index("side").reindex([*OURS, suite])

    def cell(column: str, shown: str) -> str:
        values = sides[column] if column in sides else sides["seconds"] * np.nan
        return " / ".join("–" if np.isnan(value) else shown.format(value) for value in values)

    return {
        "peer": suite,
        "task": task,
        "milliseconds": cell("milliseconds", "{:.3g}"),
        "times": cell("times", "{:.1f}"),
        "share of the rate": cell("share_of_rate", "{:.0%}"),
        "busy": cell("busy_share", "{:.0%}"),
        "peak MiB": cell("peak_mib", "{:,.0f}"),
    }


def speed_tables(speed: pd.DataFrame) -> Iterator[str]:
    """A heading and a table for each model."""
    speed = speed.assign(milliseconds=1000 * speed["seconds"])
    for model, own in speed.groupby("model", sort=False):
        lines = []
        for (suite, task), found in own.groupby(["suite", "task"], sort=False):
            peer = found.loc[found["side"] == suite, "seconds"]
            times = float(peer.iloc[0]) / found["seconds"] if len(peer) else np.nan
            lines.append(task_line(suite, task, found.assign(times=times)))
        yield f"### {model}\n\n{markdown(pd.DataFrame(lines))}"


def findings(speed: pd.DataFrame, training: list[dict]) -> str:
    """What was found, in a few sentences."""
    said = []
    for suite, own in whole_suites(speed).groupby("peer", sort=False) if len(speed) else ():
        times = own[OURS[0]][own[OURS[0]] != "–"].astype(float)
        if len(times):
            times_as_long = f"{times.min():g} to {times.max():g} times as long"
            said.append(f"A suite takes {times_as_long} by {suite} as by ours in float32.")
    for row in training:
        if row["precision"] == "float32":
            size = f"{row['parameters'] / 1e6:,.1f} million weights"
            said.append(f"A BERT of {size} learns GECO from scratch in {row['seconds']:.0f} s.")
    return " ".join(said)


def page(answers: list[dict]) -> str:
    """What was found, as Markdown."""
    rows = {kind: [row for row in answers if row["kind"] == kind] for kind in {row["kind"] for row in answers}}
    about, rates = rows["about"][-1], rows["rate"][-1]
    peers = "; ".join(f"{peer} ({versions})" for peer, versions in about["peers"].items())
    commands = ", then ".join(f"`python bench/card.py {row['flags']}`" for row in rows["about"])
    method = " ".join(__doc__.split("\n\n")[1].split())
    rate = ", ".join(f"{rates[name] / 1e12:.3g} TFLOP/s in {name}" for name in PRECISIONS if name in rates)
    speed = pd.DataFrame(rows.get("speed", []))
    if len(speed):
        # What was measured once more counts.
        speed = speed.drop_duplicates(["model", "suite", "task", "side"], keep="last")
    parts = [
        f"# On a card: {about['device']}",
        findings(speed, rows.get("training", [])),
        f"Made by {commands} on {about['device']} beside {about['machine']}. {WORDS}",
        method,
    ]
    if len(speed):
        parts += [
            "## Whole suites",
            f"How many times as long as ours peers take, which compute in float32: {peers}.",
            markdown(whole_suites(speed)),
            "## By task",
            f"Each cell has ours in {', '.join(PRECISIONS)}, and the peer. Milliseconds are of a sentence, medians of "
            f"{about['alternations']} turns with {about['sentences']} sentences. Peers take one after the other, "
            f"{about['one_by_one']} of these. *Times* are how many times ours they take. *Share of the rate* is how "
            f"much of the time the products would take at {rate}, the rates of the largest product here, "
            "had the engine left none out. *Busy* is how much of it a card computes, watched "
            "in a run of its own; the rest is waiting. Memory is the most that a task holds there, with the model.",
            *speed_tables(speed),
        ]
    if "training" in rows:
        training = pd.DataFrame(rows["training"]).drop(columns="kind")
        rate = training["texts"] * training["epochs"] / training["seconds"]
        shown = {"parameters": "{:,}", "texts": "{:,}", "accuracy": "{:.1%}", "seconds": "{:.1f}", "texts/s": "{:,.0f}"}
        training = training.assign(**{"texts/s": rate})
        parts += [
            "## Training from scratch",
            "A BERT with random weights and a tokenizer of its own learns all sentences of GECO to train with, in "
            "batches of 32 of like length. Seconds have a test after each epoch; accuracy is the best of them.",
            markdown(training.assign(**{name: training[name].map(form.format) for name, form in shown.items()})),
        ]
    if "error" in rows:
        errors = pd.DataFrame(rows["error"]).set_index("scores")[list(PRECISIONS)].map("{:.1e}".format).reset_index()
        parts += [
            "## Error of scores",
            "How far the scores of that BERT, as trained in float32, are from those in float64: the root of the mean "
            "square of the difference, over that of the scores.",
            markdown(errors),
        ]
    if "left out" in rows:
        gone = pd.DataFrame(rows["left out"])
        gone[["of", "what"]] = gone["what"].str.rsplit(", ", n=1, expand=True)
        gone = gone.groupby(["of", "why"], sort=False)["what"].agg(", ".join).reset_index()
        parts += ["## Left out", markdown(gone[["of", "what", "why"]])]
    return "\n\n".join(parts) + "\n"


def main(arguments: argparse.Namespace) -> None:
    """Measure, unless that was done, and write the page."""
    if not arguments.only_page:
        measure(arguments)
    answers = [json.loads(line) for line in arguments.answers.read_text(encoding="utf-8").splitlines()]
    with replacing(arguments.output) as path:
        path.write_text(page(answers), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=Path, required=True, help="table of items of GECO")
    parser.add_argument("--tokenizer", type=Path, required=True, help="folder of a tokenizer, such as MiniLM's")
    parser.add_argument("--captum-python", help="interpreter that has captum and lime; without one they are left out")
    parser.add_argument("--ferret-python", help="interpreter of ferret's environment; without one it is left out")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="some, added to what is there")
    parser.add_argument("--sentences", type=int, default=32, help="texts that ours explains together")
    parser.add_argument("--one-by-one", type=int, default=4, help="texts of these that peers explain, one by one")
    parser.add_argument("--alternations", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=10, help="of the training from scratch")
    parser.add_argument("--minutes", type=float, default=9, help="nothing begins later")
    parser.add_argument("--answers", type=Path, default=Path("results/bench/card.jsonl"), help="what was measured")
    parser.add_argument("--only-page", action="store_true", help="write the page of what was measured before")
    parser.add_argument("--output", type=Path, default=Path("results/bench/card.md"), help="the page")
    command_line.add_device_flags(parser)
    command_line.run(main, parser)
