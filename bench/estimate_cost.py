"""What a study with the published models costs on the device at hand: passes counted, and passes per second measured.

    python bench/estimate_cost.py --configfile config/studies/disparity.yaml --output results/bench/cost

Nothing is downloaded: a network's time depends on its sizes, not on its weights, so networks of the published sizes
with random weights are timed. How much a task asks of them is counted by running it, with the study's settings, on a
network that is too small to take time, for twenty sentences with the lengths of a dataset's test split; the time of
that run is what a task costs beside the network. What depends on the weights (how soon an attack succeeds, whether two
explainers agree) is thus that of random ones. Steps of a training are timed as its recipe has them: with adapters, half
the bits, the gradients of several batches. Texts in windows are counted window by window. What is left out stands in
the output.
"""

import argparse
import platform
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import torch
import yaml
from torch import nn
from torch.nn import functional
from transformers import AutoConfig, AutoModelForSequenceClassification, BertConfig, BertForSequenceClassification
from transformers.pytorch_utils import Conv1D

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow" / "scripts"))

from evenlight import configuration
from evenlight.core.contracts.texts import ITEMS
from evenlight.core.errors import InputError
from evenlight.core.tables import read_table, replacing
from evenlight.engine.evaluator import Evaluator, fitting_tokens
from evenlight.engine.sentences import Sentence, tokenize
from evenlight.engine.training import OPTIMIZERS, steps_of_epoch
from evenlight.explainers import Context, Explainer, explain
from evenlight.jobs.command_line import add_device_flags, run
from evenlight.metrics import Metric, Origin, score
from evenlight.metrics.explanations import explanation_of
from evenlight.models.adapters import add_adapters
from evenlight.models.classifier import Classifier, pick_device, prepared
from evenlight.models.lstm_attention import LstmAttentionConfig
from evenlight.models.processor import use_processor
from evenlight.models.regimes import train_only
from evenlight.models.tokenizers import learned_tokenizer, loaded_tokenizer, token_ids
from evenlight.models.trainings import Lora
from evenlight.models.windows import windows_of_text
from evenlight.statistics.files import Runs
from evenlight.texts.predictions import SPECIAL

# The sizes in the published configurations. Those of a model in a folder are read there.
SIZES = {
    "bert-base-uncased": ("bert", {}),
    "gpt2": ("gpt2", {}),
    "roberta-base": ("roberta", {"vocab_size": 50265, "max_position_embeddings": 514, "type_vocab_size": 1}),
    "huawei-noah/TinyBERT_General_4L_312D": (
        "bert",
        {"hidden_size": 312, "num_hidden_layers": 4, "intermediate_size": 1200, "vocab_size": 30522},
    ),
    "openai-community/gpt2": ("gpt2", {}),
    "nlptown/bert-base-multilingual-uncased-sentiment": ("bert", {"vocab_size": 105879}),
    "facebook/FairBERTa": ("roberta", {"max_position_embeddings": 514, "type_vocab_size": 1}),
    "FacebookAI/roberta-large": (
        "roberta",
        {
            "hidden_size": 1024,
            "num_hidden_layers": 24,
            "num_attention_heads": 16,
            "intermediate_size": 4096,
            "max_position_embeddings": 514,
            "type_vocab_size": 1,
        },
    ),
}
# Products of matrices that a pass takes, by those of a forward pass: a backward pass has as many again for the
# gradients of what goes in, and as many again for those of the weights.
PRODUCTS = {"forward": 1, "gradient": 2, "training": 3}
# With adapters, next to none for those of the weights.
PRODUCTS_WITH_LORA = PRODUCTS | {"training": 2}
# Sentences of each length that are explained to count passes. With fewer, batches are smaller and have more padding
# than those of a study.
COPIES = 2
# Families of metrics that attack the model.
ATTACKS = ("flip_area", "worst_change")
# What the small network reads.
LONGEST = 512
HOURS = 3600


@dataclass(frozen=True)
class Dataset:
    """How much there is of a dataset.

    Attributes:
        training: items of the training split, without those of the validation split.
        validation: items of that.
        test: items of the test split.
        lengths: tokens of ten test items, special ones included: the 5th, 15th … 95th percentile.
        aside: items of no split, which a study of concepts reads all the same.
        changing: items of the test split in which each concept changes, where concepts do.
    """

    training: int
    validation: int
    test: int
    lengths: tuple[int, ...]
    aside: int = 0
    changing: tuple[int, ...] = ()

    @property
    def mean_length(self) -> float:
        """Tokens of an item."""
        return float(np.mean(self.lengths))

    def tokens_of_epoch(self, model: dict, training: dict) -> float:
        """Tokens that pass in an epoch, padding included.

        A batch has the length of its longest item, which is the longest of all where items come in any order.
        """
        lengths = np.resize(self.lengths, self.training)
        rows, longest = windows_of(lengths, model)
        if not training["group_by_length"]:
            return float(rows.sum() * longest.max())
        size = training["batch_size"]
        steps = steps_of_epoch(lengths, size * training["gradient_accumulation_steps"], True, seed=0, epoch=0)
        batches = [step[start : start + size] for step in steps for start in range(0, len(step), size)]
        return float(sum(rows[batch].sum() * longest[batch].max() for batch in batches))


def window_settings(model: dict) -> tuple[int, int | None]:
    """The longest row that the network reads, and the overlap of windows; without windows, all are read as they are."""
    return (model["max_tokens"], model["overlap"]) if model["long_items"] == "windows" else (LONGEST, None)


def windows_of(lengths: Sequence[int], model: dict) -> tuple[np.ndarray, np.ndarray]:
    """How many rows each text is for the network, and the tokens of the longest of them; (texts,) each."""
    most, overlap = window_settings(model)
    rows, longest = [], []
    for length in lengths:
        rows.append(1)
        longest.append(length)
        if overlap is not None and length > most:
            # Two special tokens, and words of one token each.
            first, last = windows_of_text(np.array([SPECIAL, *range(length - 2), SPECIAL]), most, overlap).T
            rows[-1] = last.max() + 1
            longest[-1] = max(((first <= window) & (window <= last)).sum() for window in range(rows[-1]))
    return np.array(rows), np.array(longest)


# Items to train with, items to test with, and lengths, in the English uncased vocabulary of BERT (TinyBERT's own).
DOCUMENTED = {
    "geco": (2576, 644, (12, 15, 17, 19, 21, 22, 24, 26, 28, 31)),
    "stereotypes": (2816, 704, (14, 16, 17, 17, 18, 19, 20, 21, 21, 24)),
    "compas": (4937, 1235, (19, 19, 19, 20, 20, 20, 24, 24, 25, 25)),
}


# CEBaB by its classes: with two of them, reviews of three stars are left out.
CEBAB_LENGTHS = (9, 13, 17, 20, 24, 27, 32, 36, 41, 48)
CEBAB_FIVE = Dataset(1463, 1673, 1689, CEBAB_LENGTHS, aside=8385, changing=(729, 552, 439, 382))
CEBAB = {
    "five": CEBAB_FIVE,
    "three": CEBAB_FIVE,
    "two": Dataset(1072, 1221, 1228, CEBAB_LENGTHS, aside=6172, changing=(485, 391, 301, 271)),
}


def documented(name: str, settings: dict) -> Dataset:
    """What is known of a dataset of the configuration without its table of items."""
    if settings["reader"] == "cebab":
        return CEBAB[settings["classes"]]
    if settings["reader"] not in DOCUMENTED:
        raise InputError(f"datasets.{name}: its size is not documented here; give its table, --items {name}=PATH")
    items, test, lengths = DOCUMENTED[settings["reader"]]
    validation = round(items * settings["validation_share"])
    return Dataset(items - validation, validation, test, lengths)


def measured(path: Path, tokenizer: str) -> Dataset:
    """The same from a table of items, tokenised by the tokenizer of a hub id or folder."""
    items = read_table(path, ITEMS.only("words", "split"))
    count = items["split"].value_counts()
    words = items.loc[items["split"] == "test", "words"]
    lengths = [len(own) for own in token_ids(loaded_tokenizer(tokenizer), words)]
    percentiles = np.percentile(lengths, np.arange(5, 100, 10)).astype(int).tolist()
    return Dataset(count["train"], count["validation"], count["test"], tuple(percentiles))


# What a task asks --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Work:
    """What a task takes for one sentence.

    Attributes:
        forward: tokens that pass through the network without a gradient, padding included.
        gradient: tokens that do with one.
        host_seconds: time beside the network, and at most as much again for the small one.
    """

    forward: float
    gradient: float
    host_seconds: float


def small_classifier(
    lengths: tuple[int, ...], most: int = LONGEST, overlap: int | None = None
) -> tuple[Classifier, list[Sentence]]:
    """A network that takes next to no time, and sentences of these lengths, two tokens of each being special.

    Those of more than ``most`` tokens are in windows with an ``overlap``.
    """
    words = [chr(first) + chr(second) for first in range(97, 123) for second in range(97, 123)]
    tokenizer = learned_tokenizer([words], 2000, LONGEST)
    torch.manual_seed(0)
    # Large weights, so that explanations and predictions differ from sentence to sentence.
    network = BertForSequenceClassification(
        BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=32,
            initializer_range=0.3,
            pad_token_id=tokenizer.pad_token_id,
        )
    )
    classifier = Classifier(network.eval().requires_grad_(False), tokenizer, most)
    generator = np.random.default_rng(0)
    items = pd.DataFrame(
        {
            "item_id": [f"item{place}" for place in range(len(lengths))],
            "words": [generator.choice(words, length - 2).tolist() for length in lengths],
        }
    )
    return classifier, tokenize(classifier, items, np.arange(len(lengths)) % 2, overlap=overlap)


def counted(task: Callable[[], object], classifier: Classifier, sentences: int) -> tuple[object, Work]:
    """What ``task`` gives back, and what it took for each of ``sentences``."""
    tokens = {True: 0, False: 0}

    def count(network: nn.Module, arguments: tuple, named: dict) -> None:
        rows, longest = named["inputs_embeds"].shape[:2]
        tokens[torch.is_grad_enabled()] += rows * longest

    hook = classifier.network.base_model.register_forward_pre_hook(count, with_kwargs=True)
    started = time.perf_counter()
    try:
        result = task()
    finally:
        hook.remove()
    seconds = time.perf_counter() - started
    return result, Work(tokens[False] / sentences, tokens[True] / sentences, seconds / sentences)


def work_of(config: dict, lengths: tuple[int, ...], most: int = LONGEST, overlap: int | None = None) -> dict[str, Work]:
    """What explaining and scoring take for a sentence, by task: each family, and each metric that attacks.

    Sentences of more than ``most`` tokens are read in windows with an ``overlap``.
    """
    classifier, sentences = small_classifier(lengths * COPIES, most, overlap)
    context = Context(Evaluator(classifier), 0, None)
    found: dict[str, Work] = {}
    explanations = []
    for family, names in configuration.explainer_families(config).items():
        if family == "concepts":
            continue
        asks = configuration.asks_model("explainers", family)
        # Others need a study's data, but for those that draw; what they name is scored.
        names = names if asks else [name for name in names if name in configuration.random_explainers(config)]
        if not names:
            continue
        methods = {name: config["explainers"][name] for name in names}
        explained, work = counted(
            lambda family=family, methods=methods: explain(Explainer.parse_all(methods), sentences, context),
            classifier,
            len(sentences),
        )
        if asks:
            found[f"explain {family}"] = work
        explanations += [
            explanation_of(one, own.token_score, origin=Origin(name, methods[name], 0))
            for name in names
            for one, own in zip(sentences, explained[name].attributions, strict=True)
        ]
    for family, names in configuration.metric_families(config).items():
        if not configuration.asks_model("metrics", family):
            continue
        # Metrics that attack share nothing, and each costs more than all others.
        attacks = family in ATTACKS
        for some in [[name] for name in names] if attacks else [names]:
            metrics = {name: config["metrics"][name] for name in some}
            _, found[f"score {some[0] if attacks else family}"] = counted(
                lambda family=family, metrics=metrics: score(
                    Metric.parse_all(metrics), explanations, context.evaluator
                ),
                classifier,
                len(sentences),
            )
    return found


def work_of_runs(config: dict, datasets: dict[str, Dataset]) -> dict[tuple[str, str], dict[str, Work]]:
    """The same by (dataset, model), of those that the study has."""
    runs = Runs(datasets=list(datasets), models=config["models"], only=configuration.for_some_datasets(config))
    # Datasets with the same explainers and equally long sentences ask models with the same windows for the same.
    like = {name: alike[0] for alike in runs.sets_of(config["explainers"]).values() for name in alike}
    work_for = cache(lambda lengths, windows, name: work_of(explaining(config, name), lengths, *windows))
    return {
        (name, model): work_for(size.lengths, window_settings(settings), like[name])
        for name, size in datasets.items()
        for model, settings in runs.models_of(name).items()
    }


def explaining(config: dict, dataset: str) -> dict:
    """The same configuration with the explainers of one dataset alone."""
    only = configuration.for_some_datasets(config).get("explainers", {})
    entries = config["explainers"].items()
    return config | {"explainers": {name: of for name, of in entries if dataset in only.get(name, [dataset])}}


# How fast the networks are -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Speed:
    """What a network takes for a token, by kind of pass (:data:`PRODUCTS`).

    Attributes:
        parameters: numbers in the network.
        seconds: of each kind of pass.
        flops: floating-point operations of a forward pass.
    """

    parameters: int
    seconds: dict[str, float]
    flops: float


def network_of(source: str) -> nn.Module:
    """A network of the published sizes, with random weights."""
    if source == LstmAttentionConfig.model_type:
        config = LstmAttentionConfig(num_labels=2)
    elif source in SIZES:
        kind, sizes = SIZES[source]
        config = AutoConfig.for_model(kind, num_labels=2, **sizes)
    elif (Path(source) / "config.json").exists():
        config = AutoConfig.from_pretrained(source)
    else:
        raise InputError(
            f"models: the sizes of '{source}' are not known here, only those of folders and of {', '.join(SIZES)}"
        )
    # Without it, GPT-2's head refuses batches.
    config.pad_token_id = 0 if config.pad_token_id is None else config.pad_token_id
    return AutoModelForSequenceClassification.from_config(config, dtype=torch.float32)


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
    # Each state's gates come from what goes in and from the state before.
    matrices += sum(
        weight.numel()
        for module in network.modules()
        if isinstance(module, nn.LSTM)
        for weight in module.parameters()
        if weight.ndim == 2
    )
    config = network.config
    return 2 * matrices + 4 * length * config.hidden_size * getattr(config, "num_hidden_layers", 0)


def seconds_of(task: Callable[[], object], device: torch.device, least: float) -> float:
    """Seconds of ``task`` once it is warm: the mean over at least ``least`` seconds."""

    def once() -> float:
        started = time.perf_counter()
        task()
        if device.type == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter() - started

    once()
    times = [once()]
    while sum(times) < least:
        times.append(once())
    return float(np.mean(times))


def speed_of(
    source: str,
    length: int,
    training: dict | None,
    device: torch.device,
    precision: str = "float32",
    least: float = 1.0,
) -> Speed:
    """Time passes of texts of ``length`` tokens: in batches as the engine makes them, and steps of the training.

    A model that is trained already has no ``training``, and no speed of it.
    """
    network = network_of(source).to(device).train()
    parameters = sum(weight.numel() for weight in network.parameters())
    flops = flops_per_token(network, length)
    # Rows of embeddings need a tokenizer for nothing.
    classifier = Classifier(network, None, length)
    generator = torch.Generator().manual_seed(0)

    def batch(rows: int) -> tuple[torch.Tensor, torch.Tensor]:
        token_id = torch.randint(10, network.config.vocab_size, (rows, length), generator=generator).to(device)
        return token_id, torch.ones_like(token_id)

    def trained() -> float:
        merge = add_adapters(network, Lora(**training["lora"])) if training["lora"] else None
        if training["trained"]:
            train_only(network, training["trained"])
        weights = [weight for weight in network.parameters() if weight.requires_grad]
        optimizer = OPTIMIZERS[training["optimizer"]](weights, lr=1e-6)
        batches = [batch(training["batch_size"]) for _ in range(training["gradient_accumulation_steps"])]
        label = torch.zeros(training["batch_size"], dtype=torch.int64, device=device)
        mixed = training["precision"] != "float32"

        def step() -> None:
            optimizer.zero_grad(set_to_none=True)
            for token_id, mask in batches:
                with torch.autocast(device.type, torch.bfloat16, enabled=mixed):
                    logits = classifier.logits(classifier.embed(token_id), mask)
                loss = functional.cross_entropy(logits.float(), label) / len(batches)
                loss.backward()
                loss.item()
            nn.utils.clip_grad_norm_(weights, 1.0)
            optimizer.step()

        seconds = seconds_of(step, device, least) / sum(token_id.numel() for token_id, _ in batches)
        # What the other passes need no memory for.
        optimizer.zero_grad(set_to_none=True)
        if merge:
            merge()
        return seconds

    seconds = {"training": trained()} if training else {}
    network.eval().requires_grad_(False)
    classifier = Classifier(prepared(network, precision), None, length, precision)
    token_id, mask = batch(max(1, fitting_tokens(classifier) // length))

    def forward() -> None:
        with torch.inference_mode():
            classifier.logits(classifier.embed(token_id), mask).softmax(-1).cpu()

    def gradient() -> None:
        embedding = classifier.embed(token_id).requires_grad_()
        torch.autograd.grad(classifier.logits(embedding, mask)[:, 0].sum(), embedding)[0].sum(-1).cpu()

    seconds["forward"] = seconds_of(forward, device, least) / token_id.numel()
    seconds["gradient"] = seconds_of(gradient, device, least) / token_id.numel()
    return Speed(parameters, seconds, flops)


# Both together -----------------------------------------------------------------------------------------------------


def estimated(
    config: dict, datasets: dict[str, Dataset], work: dict[tuple[str, str], dict[str, Work]], speeds: dict[str, Speed]
) -> pd.DataFrame:
    """A row per (dataset, model, task), all runs together.

    Args:
        config: completed.
        datasets: by name.
        work: of explaining and scoring a sentence, by (dataset, model), where a model is for a dataset, and task.
        speeds: by name of the model.

    Returns:
        ``dataset``, ``model``, ``task``; tokens that pass ``forward``, with a ``gradient`` and in ``training``;
        ``host_hours``; floating-point operations ``flops``; ``hours`` in all.
    """
    rows = []
    for (dataset, model), of_run in work.items():
        size, speed = datasets[dataset], speeds[model]
        runs = len(configuration.seeds_of(config, model))
        tasks, products = {}, PRODUCTS
        rows_of_text, longest = windows_of(size.lengths, config["models"][model])
        if configuration.is_trained_here(config, model):
            recipe = configuration.recipe(config, model, dataset)
            training = recipe["training"]
            of_epoch = {
                "training": size.tokens_of_epoch(recipe, training),
                "forward": size.validation * rows_of_text.mean() * longest.max(),
            }
            tasks["train"] = {kind: training["epochs"] * tokens for kind, tokens in of_epoch.items()}
            products = PRODUCTS_WITH_LORA if training["lora"] else PRODUCTS
        of_text = float((rows_of_text * longest).mean())
        tasks["read_texts"] = {"forward": size.test * of_text}
        if configuration.explains_effects(config):
            everything = size.training + size.validation + size.test + size.aside
            tasks["represent_texts"] = {"forward": everything * of_text}
            tasks |= forgetting(explaining(config, dataset), model, size, of_text)
            if config["explain"]["levels_by"] == model:
                # One for each concept; texts without a label of it are counted, too.
                asked = {"training": 0, "forward": size.test * of_text}
                tasks["predict_levels"] = {
                    kind: len(size.changing) * (tasks["train"][kind] + tokens) for kind, tokens in asked.items()
                }
        host = {}
        for task, own in of_run.items():
            tasks[task] = {"forward": size.test * own.forward, "gradient": size.test * own.gradient}
            host[task] = size.test * own.host_seconds / HOURS
        for task, tokens in tasks.items():
            # Levels of concepts are predicted once for all seeds.
            times = 1 if task == "predict_levels" else runs
            tokens = {kind: times * tokens.get(kind, 0) for kind in PRODUCTS}
            host_hours = runs * host.get(task, 0)
            passing = sum(tokens[kind] * seconds for kind, seconds in speed.seconds.items()) / HOURS
            flops = sum(tokens[kind] * products[kind] for kind in PRODUCTS) * speed.flops
            about = {"dataset": dataset, "model": model, "task": task}
            rows.append(about | tokens | {"host_hours": host_hours, "flops": flops, "hours": passing + host_hours})
    return pd.DataFrame(rows)


def forgetting(config: dict, model: str, size: Dataset, of_text: float) -> dict[str, dict[str, float]]:
    """Tokens of the networks that forget a concept, by task, in a run of a model; a text has ``of_text`` of them."""
    tasks = {}
    for name, explainer in config["explainers"].items():
        if explainer["method"] == "causalm":
            training = config["trainings"][explainer["training"] or config["models"][model]["training"]]
            texts = replace(size, training=min(explainer["texts"] or size.training, size.training))
            of_epoch = texts.tokens_of_epoch(config["models"][model], training)
            tasks[f"explain {name}"] = {
                "training": len(size.changing) * explainer["epochs"] * of_epoch,
                "forward": sum(size.changing) * of_text,
            }
    return tasks


def column_of(task: str, config: dict) -> str:
    """The column of the summary that a task belongs to."""
    kind, _, name = task.partition(" ")
    if kind == "score":
        return "sensitivity" if name in config["metrics"] else "other metrics"
    return {"explain": "explaining"}.get(kind, "training")


def markdown(table: pd.DataFrame, speeds: dict[str, Speed], config: dict, about: str) -> str:
    """The estimate for people: speeds, hours by dataset, model and part, and totals."""
    columns = ["training", "explaining", "other metrics", "sensitivity"]
    lines = [
        about,
        "",
        "| model | parameters | tokens/s forward | with gradient | in training | TFLOP/s forward |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, speed in speeds.items():
        rates = " | ".join(f"{1 / speed.seconds[kind]:,.0f}" if kind in speed.seconds else "–" for kind in PRODUCTS)
        lines.append(
            f"| {name} | {speed.parameters:,} | {rates} | {speed.flops / speed.seconds['forward'] / 1e12:.3g} |"
        )
    part = table["task"].map(lambda task: column_of(task, config))
    hours = table.pivot_table(index=["dataset", "model"], columns=part, values="hours", aggfunc="sum", sort=False)
    hours = hours.reindex(columns=columns, fill_value=0.0)
    flops = table.groupby(["dataset", "model"], sort=False)["flops"].sum()
    head = " | ".join(["dataset", "model", *(f"{name}, h" for name in columns), "total, h", "10¹⁵ FLOP"])
    lines += ["", f"| {head} |", "| --- " * 8 + "|"]

    def line(names: tuple[str, str], own: pd.Series, operations: float) -> str:
        cells = [*names, *(f"{value:,.2f}" for value in [*own, own.sum()]), f"{operations / 1e15:,.3g}"]
        return f"| {' | '.join(cells)} |"

    lines += [line(names, own, flops[names]) for names, own in hours.iterrows()]
    lines.append(line(("**all**", ""), hours.sum(), flops.sum()))
    return "\n".join(lines) + "\n"


LEFT_OUT = "Left out are attributions that are summed up, and explainers by concepts that ask no network."


def left_out(config: dict) -> str:
    """What the estimate of a study is without, and what it counts in full."""
    models, trainings = config["models"].values(), config["trainings"].values()
    said = {
        "Left out are the start of each job, tables and figures, and a sixteenth of the items, which random explainers "
        "explain twice.": True,
        "Left out is the writing of checkpoints.": bool(trainings and config["checkpoint_minutes"]),
        "Left out is `randomisation`, which explains some texts again and again.": config["randomisation"],
        "Left out are templates and heads of language models, which are timed as classifiers.": any(
            model["architecture"] == "prompted" for model in models
        ),
        "All epochs are counted, whatever `patience` saves.": any(training["patience"] for training in trainings),
        "Long texts are counted, also where `long_items: drop` leaves them out.": any(
            model["long_items"] == "drop" for model in models
        ),
        "Nothing is compiled.": config["explain"]["compile"],
        LEFT_OUT: configuration.explains_effects(config),
    }
    return " ".join(sentence for sentence, is_so in said.items() if is_so)


def device_name(device: torch.device, threads: int) -> str:
    """What readers call the device."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{platform.processor() or platform.machine()} processor, {threads} threads"


def main(arguments: argparse.Namespace) -> None:
    """Measure, estimate, print and write."""
    config = configuration.complete(yaml.safe_load(arguments.configfile.read_text(encoding="utf-8")))
    if config["explain"]["pairs"] or config["explain"]["pairs_on"]:
        raise InputError(f"{arguments.configfile}: explain.pairs names a sample; the estimate is of whole test splits")
    device = pick_device(arguments.device)
    tables = dict(arguments.items)
    datasets = {
        name: measured(tables[name], arguments.tokenizer) if name in tables else documented(name, settings)
        for name, settings in config["datasets"].items()
    }
    # More threads only get into each other's way in so small a network.
    use_processor(1)
    work = work_of_runs(config, datasets)
    print("counted the passes", flush=True)
    use_processor(arguments.threads)
    precisions = arguments.precision or [config["explain"]["precision"]]
    for precision in precisions:
        folder = arguments.output / precision if len(precisions) > 1 else arguments.output
        write_estimate(config, datasets, work, precision, device, folder, arguments)


def write_estimate(
    config: dict,
    datasets: dict[str, Dataset],
    work: dict[tuple[str, str], dict[str, Work]],
    precision: str,
    device: torch.device,
    folder: Path,
    arguments: argparse.Namespace,
) -> None:
    """Time the models in a precision, print the estimate and write it to a folder."""
    length = round(np.mean([size.mean_length for size in datasets.values()]))
    speeds = {}
    for name, settings in config["models"].items():
        if configuration.is_trained_here(config, name):
            source, training = settings.get("source", settings["architecture"]), settings["training"]
        else:
            # The sizes are those of every checkpoint.
            source = configuration.checkpoint(config, name, next(iter(datasets)), config["seeds"][0])["source"]
            training = None
        recipe = training and config["trainings"][training]
        longest = min(length, window_settings(settings)[0])
        speeds[name] = speed_of(source, longest, recipe, device, precision, arguments.seconds)
        print(f"timed {name}", flush=True)
    table = estimated(config, datasets, work, speeds)
    about = (
        f"Study `{config['study']}`, {len(config['seeds'])} seeds, on {device_name(device, arguments.threads)}; timed "
        f"on texts of {length} tokens, explained and scored in {precision}. {left_out(config)}"
    )
    text = markdown(table, speeds, config, about)
    print(text)
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(folder / "cost.csv") as unfinished:
        table.to_csv(unfinished, index=False, lineterminator="\n")
    with replacing(folder / "cost.md") as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def named_table(text: str) -> tuple[str, Path]:
    """Split ``name=path``."""
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form name=path")
    return name, Path(path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configfile", type=Path, required=True, help="the study")
    parser.add_argument(
        "--items",
        type=named_table,
        action="append",
        default=[],
        help="name=path of a dataset's table of items, in place of its documented size; may be repeated",
    )
    parser.add_argument("--tokenizer", default="google-bert/bert-base-uncased", help="hub id or folder, for --items")
    parser.add_argument("--seconds", type=float, default=1.0, help="least time of each measurement")
    parser.add_argument("--precision", nargs="+", help="in place of the study's; several have a folder each")
    add_device_flags(parser)
    parser.add_argument("--output", type=Path, required=True, help="folder for cost.csv and cost.md")
    run(main, parser)
