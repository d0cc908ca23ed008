"""Load, explain, score and show in a few lines: the functions behind the rules, for notebooks and scripts.

``from evenlight import load_classifier, explain, score, compare, plot`` gives the functions of this module;
docs/notebook.md has an example. Names of explainers and metrics, their parameters and defaults are those of
config/README.md.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from evenlight import configuration, explainers, metrics
from evenlight.configuration import asks_model, completed_entry, family_of
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import encoded
from evenlight.errors import InputError
from evenlight.figures.word_scores import Page, word_scores_page
from evenlight.metrics import Explanation, Origin, explanation_of
from evenlight.models import classifier as classifiers
from evenlight.models.classifier import Classifier
from evenlight.models.service import is_service
from evenlight.models.two_parts import require_reads_parts
from evenlight.readings import Sentence, runner_up
from evenlight.statistics.one_cell import one_cell

Text = str | Sequence[str]


def load_classifier(folder: str | Path, device: str = "auto", precision: str = "float32") -> Classifier:
    """The classifier that rule ``train`` or ``load_model`` wrote.

    It is in the folder ``results/<study>/models/<dataset>/<model>/seed<n>``.

    Args:
        folder: the model's.
        device: ``auto``, ``cpu`` or ``cuda``.
        precision: ``float32`` or ``bfloat16``, as ``explain.precision`` of the configuration.

    Raises:
        InputError: the folder is none that they wrote.
    """
    folder = Path(folder).expanduser()
    manifest = folder / "manifest.json"
    if not manifest.exists():
        raise InputError(f"{manifest}: no such file; name a folder that rule train or load_model made")
    if is_service(folder):
        raise InputError(
            f"{folder}: a classifier behind an address, and a notebook has none to ask; explain it by a study, whose "
            "attributions and readings are tables (results/<study>/attributions/, readings/), or name a folder that "
            "rule train or load_model made"
        )
    settings = json.loads(manifest.read_text(encoding="utf-8"))["settings"]
    # Those of a training are of the model and of its seed.
    return classifiers.load_classifier(folder, settings.get("model", settings)["max_tokens"], device, precision)


def probabilities(
    classifier: Classifier, texts: Sequence[Text], *, second: Sequence[Text] | None = None, overlap: int | None = None
) -> np.ndarray:
    """What the classifier says of some texts, float64 (texts, classes); all arguments are as for :func:`explain`."""
    return _probabilities(classifier, _sentences(classifier, texts, second, overlap))


def explain(
    classifier: Classifier,
    texts: Sequence[Text],
    method: str,
    *,
    second: Sequence[Text] | None = None,
    overlap: int | None = None,
    targets: Sequence[int] | None = None,
    foils: Sequence[int] | None = None,
    ground_truth: Sequence[Sequence[int] | None] | None = None,
    training: pd.DataFrame | None = None,
    seed: int = 0,
    **parameters: object,
) -> list[Explanation]:
    """One explanation per text, by an explainer of the registry.

    Args:
        classifier: of :func:`load_classifier`.
        texts: each a list of words, or one string, whose words stand between spaces.
        method: name of the explainer, such as ``integrated_gradients``.
        second: the second part of each text, such as the hypothesis behind a premise; words of both parts are
            explained.
        overlap: reads texts that are longer than the classifier's ``max_tokens`` in windows that have so many tokens in
            common, at least (``long_items: windows`` of the configuration); without it they are refused.
        targets: the class to explain, one per text; by default what the classifier predicts.
        foils: the class that the target is held against, one per text, where ``output`` is ``contrast``; by default the
            most probable of the others.
        ground_truth: for metrics of correctness, 1 where a word carries the label, (words,) per text.
        training: training texts for explainers of the data: a table with ``words`` and ``label``, such as the
            training split of ``items.parquet``.
        seed: from which every draw of an explainer derives its own generator.
        **parameters: of the explainer; those that are left out have their defaults.

    Raises:
        InputError: there is no such explainer, parameter or class, a value is not allowed, there is not one value per
            text, a text is too long or cannot be divided into windows, or the model does not read texts of two parts.
    """
    settings = _completed("explainers", "method", method, parameters)
    family = family_of("explainers", method)
    if method in explainers.NEED_TRAINING.get(family, ()) and training is None:
        raise InputError(f"{method} explains from the training texts; give them as training=")
    sentences = _sentences(classifier, texts, second, overlap)
    if targets is None:
        targets = _probabilities(classifier, sentences).argmax(axis=1)
    _check_classes("targets", targets, classifier, len(sentences))
    sentences = [replace(sentence, target=int(target)) for sentence, target in zip(sentences, targets, strict=True)]
    if settings.get("output") == "contrast":
        if foils is None:
            foils = runner_up(_probabilities(classifier, sentences), np.asarray(targets))
        _check_classes("foils", foils, classifier, len(sentences))
        sentences = [replace(sentence, foil=int(foil)) for sentence, foil in zip(sentences, foils, strict=True)]
    truths = [None] * len(sentences) if ground_truth is None else ground_truth
    _check_one_per_text("ground_truth", truths, len(sentences))
    context = explainers.Context(Evaluator(classifier), seed, training)
    attributions = explainers.explain(family, sentences, {method: settings}, context)[method].attributions
    origin = Origin(method, settings, seed, family)
    return [
        explanation_of(sentence, attribution.token_score, truth, origin)
        for sentence, attribution, truth in zip(sentences, attributions, truths, strict=True)
    ]


def score(classifier: Classifier, explanations: Sequence[Explanation], metric: str, **parameters: object) -> np.ndarray:
    """One value per explanation by a metric of the registry, float64 (explanations,); NaN where it is undefined.

    Args:
        classifier: the one that was explained.
        explanations: of :func:`explain`, by any explainers.
        metric: its name, such as ``aopc_comprehensiveness``.
        **parameters: of the metric; those that are left out have their defaults.

    Raises:
        InputError: there is no such metric or parameter, or a value is not allowed.
    """
    settings = _completed("metrics", "metric", metric, parameters)
    family = family_of("metrics", metric)
    evaluator = Evaluator(classifier) if asks_model("metrics", family) else None
    return metrics.score(family, list(explanations), {metric: settings}, evaluator)[metric]


def compare(
    scores_a: Sequence[float],
    scores_b: Sequence[float],
    *,
    paired: bool = True,
    equivalence_bound: float = 0.2,
    alpha: float = 0.05,
    draws: int = 2000,
) -> pd.Series:
    """What can be said of the scores of two groups of texts: the one cell of a study with one run, by its code.

    Args:
        scores_a, scores_b: a number for each text, NaN where a score is undefined.
        paired: whether text i of both is one text in two forms; else all texts are different.
        equivalence_bound: the largest difference that is none, in standard deviations of the scores.
        alpha: the level of the verdict; the interval covers one less it.
        draws: resamples.

    Returns:
        ``difference`` (mean a less mean b) with the ends ``low`` and ``high``; the same ``standardised``; ``pairs`` or
        ``texts_a`` and ``texts_b``; ``p``; ``verdict``, and its ``reason`` where nothing can be decided. Of several
        cells every verdict is one: adjust their ``p``, as a study does.

    Raises:
        InputError: there are no numbers, or pairs with one form.
    """
    values = [np.asarray(scores, dtype=float) for scores in (scores_a, scores_b)]
    for name, of_level in zip(("scores_a", "scores_b"), values, strict=True):
        if of_level.ndim != 1 or not len(of_level):
            raise InputError(f"{name}: found an array of shape {of_level.shape}; give one number for each text")
    if paired and len(values[0]) != len(values[1]):
        raise InputError(
            f"scores_a has {len(values[0])} numbers and scores_b {len(values[1])}; of pairs give as many, or write "
            "paired=False"
        )
    return one_cell(*values, paired, bound=equivalence_bound, alpha=alpha, draws=draws)


def plot(explanation: Explanation, classifier: Classifier | None = None) -> Page:
    """The explained text with each word in the colour of its score, the sum over its tokens; shown by notebooks.

    With the ``classifier`` that was explained, the title names the class; else it has the number.

    Raises:
        InputError: it is no explanation.
    """
    if not isinstance(explanation, Explanation):
        raise InputError(
            f"plot shows one explanation, found {type(explanation).__name__}; give one of a list, as explanations[0]"
        )
    names = classifier.network.config.id2label if classifier else {}
    explained = names.get(explanation.target, f"class {explanation.target}")
    text = Sentence(
        explanation.item_id, explanation.words, explanation.token_id, explanation.word_id, explanation.target
    )
    scores = text.word_sums(explanation.token_score)
    return word_scores_page(explanation.words, scores, f"{explanation.origin.explainer}, {explained}")


def _completed(section: str, key: str, name: str, parameters: dict) -> dict:
    entry = {key: name, **parameters}
    if name in configuration.REGISTRIES[section].entries and family_of(section, name) == "concepts":
        raise InputError(f"{name} is about changes of a concept and not about tokens; use evenlight.concepts")
    return configuration.without_labels({name: completed_entry(section, name, entry)})[name]


def _words(name: str, texts: Sequence[Text], text: str) -> list[list[str]]:
    """The words of each of the texts that the argument ``name`` gives, each of which messages call ``text``."""
    if isinstance(texts, str):
        raise InputError(f"{name} is one string; give a list of texts, here a list of one")
    words = [given.split() if isinstance(given, str) else list(given) for given in texts]
    if not words:
        raise InputError(f"{name} is empty; give at least one text")
    if [] in words:
        raise InputError(f"{text} {words.index([])} has no words; give it some, or leave it out")
    return words


def _items(texts: Sequence[Text], second: Sequence[Text] | None) -> pd.DataFrame:
    """The texts as rows of the contract ``items``."""
    words = _words("texts", texts, "text")
    items = pd.DataFrame({"item_id": [f"text {number}" for number in range(len(words))], "words": words})
    if second is None:
        return items
    behind = _words("second", second, "the second part of text")
    _check_one_per_text("second", behind, len(words))
    parts = [[0] * len(first) + [1] * len(more) for first, more in zip(words, behind, strict=True)]
    return items.assign(words=[first + more for first, more in zip(words, behind, strict=True)], part=parts)


def _sentences(
    classifier: Classifier, texts: Sequence[Text], second: Sequence[Text] | None, overlap: int | None
) -> list[Sentence]:
    """The texts in tokens, with class 0 as target; refuse what the classifier does not read."""
    items = _items(texts, second)
    if overlap is not None and overlap not in range(classifier.max_tokens // 2 + 1):
        half = f"from 0 to half of the {classifier.max_tokens} tokens that this classifier reads"
        raise InputError(f"overlap: found {overlap!r}; allowed is a whole number {half}")
    try:
        if second is not None:
            require_reads_parts(classifier, items["words"][0], items["part"][0])
        sentences = encoded(classifier, items, [0] * len(items), overlap)
    except InputError as error:
        # The remedies are those of a study.
        said = str(error).removeprefix("models.<model>: ").partition("; ")[0]
        raise InputError(f"{said}; change the texts or the overlap, or load another model") from None
    for sentence in sentences:
        if sentence.windows is None and len(sentence.token_id) > classifier.max_tokens:
            raise InputError(
                f"{sentence.item_id} has {len(sentence.token_id)} tokens and this classifier reads at most "
                f"{classifier.max_tokens}; have it read in windows, by overlap={classifier.max_tokens // 4}, or load a "
                "model with a larger max_tokens"
            )
    return sentences


def _check_one_per_text(name: str, values: Sequence, texts: int) -> None:
    if len(values) != texts:
        raise InputError(f"{name} has {len(values)} entries for {texts} texts; give one per text")


def _check_classes(name: str, values: Sequence[int], classifier: Classifier, texts: int) -> None:
    _check_one_per_text(name, values, texts)
    for value in values:
        if not isinstance(value, int | np.integer) or not 0 <= value < classifier.classes:
            labels = classifier.network.config.id2label
            listing = ", ".join(f"{number} ({labels.get(number, 'no name')})" for number in range(classifier.classes))
            raise InputError(f"{name}: found {value!r}, the classes of this classifier are {listing}; give the number")


def _probabilities(classifier: Classifier, sentences: Sequence) -> np.ndarray:
    return Evaluator(classifier).probabilities([sentence.row for sentence in sentences])
