"""Read a model as the workflow will, before anything long runs, and write down what is wrong.

One text is explained by every explainer, and its explanations are scored by every metric.
"""

import argparse
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from evenlight.core import sources
from evenlight.core.contracts.texts import ITEMS, UNITS
from evenlight.core.errors import InputError
from evenlight.core.findings import Findings
from evenlight.core.tables import read_metadata, read_table
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.initial import taken_over, untrained
from evenlight.engine.sentences import ReadingSettings, encoded, unexplained
from evenlight.explainers import Context, explain, training_items
from evenlight.jobs import own_files
from evenlight.jobs.command_line import add_compared_flag, add_device_flags, of_model, run, settings_argument
from evenlight.metrics import Metric, Origin, score
from evenlight.metrics.explanations import explanation_of
from evenlight.metrics.questions import StandIn, with_foils
from evenlight.models import Architecture
from evenlight.models.architectures.service import Asking, Service
from evenlight.models.classifier import Classifier, on_device
from evenlight.models.devices import use_processor
from evenlight.models.service import ServedClassifier, word_tokenizer
from evenlight.models.services.client import Client
from evenlight.models.tokenizers import loaded_tokenizer
from evenlight.models.trainings import recipe_of
from evenlight.texts.items import check_explained
from evenlight.texts.predictions import Sentence
from evenlight.texts.words import texts_in

# Classes of a dataset that cannot be read, for models that any will do.
UNKNOWN = ("one class", "another class")
# So many texts tell whether a model is better than chance.
ASKED = 100
# Most rows, and what takes rows, of an explainer or a metric that is only tried.
BUDGET = {
    "samples": 8,
    "maximum_samples": 8,
    "asked": 4,
    "evaluations": 8,
    "permutations": 2,
    "steps": 2,
    "exact": 2,
    "draws": 2,
    "rounds": 1,
}


# Of a text that no explainer can explain yet: all its tokens count the same.
NO_EXPLAINER = Origin("no explainer", {"method": "uniform_random"})


@dataclass(frozen=True)
class Dataset:
    """The texts that a model is tried with; ``is_stand_in`` where those of the dataset cannot be read."""

    items: pd.DataFrame
    units: pd.DataFrame
    classes: list[str]
    is_stand_in: bool

    def of(self, split: str) -> pd.DataFrame:
        """The items of a split."""
        return self.items[self.items["split"] == split]


def small(settings: dict) -> dict:
    """The settings of an explainer or a metric with as few rows as may be."""
    return {key: min(value, BUDGET[key]) if key in BUDGET and value else value for key, value in settings.items()}


def cheap(family: str, settings: dict) -> dict:
    """The same; what keys of one's own mean nobody knows."""
    return settings if family.startswith(own_files.FAMILY) else small(settings)


def is_loaded(model: dict) -> bool:
    """Whether a model is trained already, and answers here as in the study."""
    return Architecture.entries[model["architecture"]].is_loaded


def opened(arguments: argparse.Namespace, dataset: Dataset, findings: Findings) -> Evaluator | StandIn | None:
    """What answers as the model will, or in its place; None where the classes that it is read with are not known.

    Raises:
        InputError: the model cannot be read, or its labels are not the classes.
    """
    settings = arguments.settings
    model, name = settings["model"], arguments.name
    if model["architecture"] == "service":
        findings.unchecked.append(f"what models.{name} answers, since a question to a service may cost")
        service = Service.parse(model)
        with findings.at(f"models.{name}", arguments.dataset):
            Client(service.address, Asking(**settings["asking"]), service.plain_http).header()
        words = word_tokenizer(texts_in(dataset.of("test")))
        classes = tuple(dataset.classes or UNKNOWN)
        return StandIn(ServedClassifier(service, classes, words, settings["reading"]["max_tokens"]))
    if not is_loaded(model):
        findings.unchecked.append(
            f"what models.{name} learns; its weights are here those that its training begins with"
        )
        classes = len(dataset.classes or UNKNOWN)
        classifier = untrained(*recipe_of(model), dataset.of("train"), classes, settings["seed"], arguments.items)
    elif dataset.classes:
        classifier, _ = taken_over(Architecture.parse(model), dataset.classes, dataset.of("test"))
    else:
        findings.unchecked.append(
            f"labels and explainers of models.{name} on {arguments.dataset}, which cannot be read"
        )
        loaded_tokenizer(model["source"], model["revision"], model["special_tokens"])
        return None
    return Evaluator(on_device(classifier, arguments.device, settings["precision"]), arguments.tokens_per_batch)


def explained_texts(arguments: argparse.Namespace, classifier: Classifier, dataset: Dataset) -> pd.DataFrame:
    """The test texts that are explained.

    Raises:
        InputError: a text is longer than the model reads, or too few can be compared.
    """
    test = dataset.of("test")
    if dataset.is_stand_in:
        return test
    reading = ReadingSettings.model_validate(arguments.settings["reading"])
    reason = unexplained(classifier, test, dataset.units, reading)
    if is_comparable(arguments, dataset):
        check_explained(arguments.dataset, test, reason, dataset.units, arguments.compared)
    return test[np.equal(reason, None)]


def is_comparable(arguments: argparse.Namespace, dataset: Dataset) -> bool:
    """Whether enough texts could be compared, were all of them explained; if not, the check of the dataset says so."""
    test = dataset.of("test")
    try:
        check_explained(arguments.dataset, test, np.full(len(test), None), dataset.units, arguments.compared)
    except InputError:
        return False
    return True


def accuracy_told(
    arguments: argparse.Namespace, texts: pd.DataFrame, evaluator: Evaluator | StandIn, dataset: Dataset
) -> str | None:
    """What is said of a model that is no better than to give always the same answer; None of others."""
    if dataset.is_stand_in or not is_loaded(arguments.settings["model"]):
        return None
    # Tables are often sorted by class.
    some = texts.iloc[np.unique(np.linspace(0, len(texts) - 1, min(len(texts), ASKED)).astype(int))]
    labels = some["label"].to_numpy()
    sentences = encoded(evaluator.classifier, some, labels, arguments.settings["reading"].get("overlap"))
    right = int((evaluator.probabilities([each.row for each in sentences]).argmax(axis=1) == labels).sum())
    counts = some["label"].value_counts()
    chance = counts.iloc[0] / len(some)
    if len(counts) < 2 or right > len(some) * chance + np.sqrt(len(some) * chance * (1 - chance)):
        return None
    return (
        f"models.{arguments.name} on {arguments.dataset}: right about {right} of {len(some)} texts, where always "
        f"'{dataset.classes[counts.index[0]]}' is right about {counts.iloc[0]}, so no better than chance; see whether "
        "its labels are these classes, in this order"
    )


def sentence_of(text: pd.DataFrame, evaluator: Evaluator | StandIn, reading: dict) -> Sentence:
    """A text, the one row of a table, as it is explained, with a foil, whatever that will be."""
    [sentence] = encoded(evaluator.classifier, text, text["label"], reading.get("overlap"))
    if reading["target"] == "prediction":
        sentence = replace(sentence, target=int(evaluator.probabilities([sentence.row])[0].argmax()))
    return with_foils([sentence], evaluator.classifier.classes)[0]


def can_be_tried(explainer: str, method: dict, arguments: argparse.Namespace, findings: Findings) -> bool:
    """Whether an explainer can be asked about a text now; where not, the findings say why."""
    path = method.get("file")
    if path in arguments.made:
        findings.unchecked.append(f"explainers.{explainer}, as the workflow makes {path}")
    elif path and not Path(path).exists():
        raise InputError(sources.missing(path))
    elif path and not is_loaded(arguments.settings["model"]):
        findings.unchecked.append(f"explainers.{explainer} of models.{arguments.name}, which is not there yet")
    else:
        return True
    return False


def check(arguments: argparse.Namespace, dataset: Dataset, findings: Findings) -> None:
    """Read the model, explain a text by every explainer, and score that by every metric."""
    settings, name = arguments.settings, f"models.{arguments.name}"
    tried = []
    for family, methods in settings["explainers"].items():
        for explainer, method in methods.items():
            with findings.at(f"explainers.{explainer} of {name}", arguments.dataset):
                if can_be_tried(explainer, method, arguments, findings):
                    tried.append((explainer, cheap(family, method)))
    made = [path for path in settings["files"] if path in arguments.made]
    if made:
        findings.unchecked.append(f"{name}, as the workflow makes {', '.join(made)}")
        return
    with findings.at(name, arguments.dataset):
        evaluator = opened(arguments, dataset, findings)
        if evaluator is None:
            return
        findings.can_be_read("models", arguments.name)
        texts = dataset.of("test")
        # Where a text is too long or none is explained, the shortest one is tried alone.
        texts = texts.loc[[texts["words"].map(len).idxmin()]]
        with findings.at(name, arguments.dataset):
            texts = explained_texts(arguments, evaluator.classifier, dataset)
        findings.notes += filter(None, [accuracy_told(arguments, texts, evaluator, dataset)])
        length = texts["words"].map(len)
        longest, text = (texts.loc[[place]] for place in (length.idxmax(), length.idxmin()))
        # A model may answer short texts and no long ones.
        evaluator.probabilities([sentence_of(longest, evaluator, settings["reading"]).row])
        sentence = sentence_of(text, evaluator, settings["reading"])
        [truth] = text["ground_truth"]
        explanations = []
        for explainer, method in tried:
            with findings.at(f"explainers.{explainer} of {name}", arguments.dataset):
                origin = Origin(explainer, method, settings["seed"])
                context = Context(evaluator, settings["seed"], training_items(arguments.items, [origin.entry]))
                [attribution] = explain({explainer: origin.entry}, [sentence], context)[explainer].attributions
                explanations.append(explanation_of(sentence, attribution.token_score, truth, origin))
                findings.can_be_read("explainers", explainer)
        explanations = explanations or [explanation_of(sentence, np.ones(len(sentence.token_id)), truth, NO_EXPLAINER)]
        for family, metrics in settings["metrics"].items():
            for metric, method in metrics.items():
                with findings.at(f"metrics.{metric} of {name}", arguments.dataset):
                    score({metric: Metric.parse(cheap(family, method))}, explanations, evaluator)
                    findings.can_be_read("metrics", metric)


def main(arguments: argparse.Namespace) -> None:
    """Check and write."""
    use_processor(arguments.threads)
    metadata = read_metadata(arguments.items, ITEMS)
    dataset = Dataset(
        read_table(arguments.items, ITEMS),
        read_table(arguments.units, UNITS),
        metadata["classes"],
        metadata.get("stand_in", False),
    )
    findings = Findings()
    check(arguments, dataset, findings)
    findings.problems = [[*place, of_model(problem, arguments.name)] for *place, problem in findings.problems]
    findings.write(arguments.output)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True, help="its name")
    parser.add_argument("--name", required=True, help="of the model")
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet)")
    parser.add_argument("--units", type=Path, required=True, help="table of units (Parquet)")
    parser.add_argument("--settings", type=settings_argument, required=True, help="JSON: model, reading, explainers")
    parser.add_argument("--made", nargs="*", default=[], help="files that are not there, since the workflow makes them")
    parser.add_argument("--tokens-per-batch", type=int, help="most tokens in one batch; default: what suits the device")
    add_compared_flag(parser)
    add_device_flags(parser)
    parser.add_argument("--output", type=Path, required=True, help="findings (JSON)")
    run(main, parser)
