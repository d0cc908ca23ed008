"""Load, explain, score and show in a few lines: the functions behind the rules, for notebooks and scripts.

``from evenlight import load_classifier, explain, score, plot`` gives the functions of this module;
docs/notebook.md has an example. Names of explainers and metrics, their parameters and defaults are those of
config/README.md.
"""

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from evenlight import configuration, explainers, metrics
from evenlight.configuration import beyond_probabilities, completed_entry
from evenlight.core.errors import InputError, suggestion
from evenlight.core.kinds import EFFECTS, MODALITIES, TEXT, TOKENS
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.service import ServiceEvaluator
from evenlight.metrics import Metric, Origin
from evenlight.metrics.explanations import Explanation, explanation_of
from evenlight.models.classifier import Classifier
from evenlight.models.readable import WithoutAnswer
from evenlight.notebook.arguments import in_order_of, one_for_each
from evenlight.notebook.explained import Explanations, TextExplanation, explanations_given, note_on_undefined
from evenlight.notebook.explained import plot as plot
from evenlight.notebook.loading import AskedService, notebook_call
from evenlight.notebook.loading import load_classifier as load_classifier
from evenlight.notebook.progress_bar import ProgressBar, progress
from evenlight.notebook.reading import Text, check_marks, read_sentences, texts_of
from evenlight.settings import Entry
from evenlight.texts.predictions import Sentence, runner_up
from evenlight.texts.words import joined_text

Asked = Classifier | AskedService


@notebook_call()
def probabilities(
    classifier: Asked, texts: Sequence[Text], *, second: Sequence[Text] | None = None, overlap: int | None = None
) -> pd.DataFrame:
    """What the classifier says of some texts: a row for each, a column for each class under its name.

    All arguments are as for :func:`explain`; texts that are given as words stand joined by spaces beside their rows.
    """
    texts, second = texts_of(texts, second)
    values = _probabilities(classifier, read_sentences(classifier, texts, second, overlap))
    parts = {"text": texts, "second": second} if second else {"text": texts}
    shown = [pd.Index(list(map(joined_text, part)), name=name) for name, part in parts.items()]
    index = pd.MultiIndex.from_arrays(shown) if second else shown[0]
    return pd.DataFrame(values, index=index, columns=list(classifier.class_names))


@notebook_call()
def explain(
    classifier: Asked,
    texts: Sequence[Text],
    method: str | Entry | type[Entry],
    *,
    second: Sequence[Text] | None = None,
    overlap: int | None = None,
    targets: Sequence[int | str] | None = None,
    foils: Sequence[int | str] | None = None,
    ground_truth: Sequence[Sequence[int] | None] | None = None,
    training: pd.DataFrame | None = None,
    seed: int = 0,
    **parameters: object,
) -> Explanations:
    """One explanation per text, by an explainer of the registry; what takes over two seconds shows its progress.

    Args:
        classifier: of :func:`load_classifier`.
        texts: each a string, which is read as it stands, or a list of its words.
        method: name of the explainer, such as ``integrated_gradients``, or an explainer of your own, a class of
            :class:`evenlight.own.Explainer` or an instance of one.
        second: the second part of each text, such as the hypothesis behind a premise; words of both parts are
            explained.
        overlap: reads texts that are longer than the classifier's ``max_tokens`` in windows that have so many tokens in
            common, at least (``long_items: windows`` of the configuration); without it they are refused.
        targets: the class to explain, by its number or name, one per text; by default what the classifier predicts.
        foils: the class that the target is held against, one per text, where ``output`` is ``contrast``; by default the
            most probable of the others.
        ground_truth: for metrics of correctness, 1 where a word carries the label, (words,) per text.
        training: training texts for explainers of the data: a table with ``words`` and ``label``, such as the
            training split of ``items.parquet``.
        seed: from which every draw of an explainer derives its own generator.
        **parameters: of the explainer; those that are left out have their defaults.

    Raises:
        InputError: there is no such explainer, parameter or class, a value is not allowed, texts are a table, there is
            not one value per text, a text is too long or cannot be divided into windows, the model does not read texts
            of two parts, or a service is to be looked into.
    """
    method, settings = _completed("explainers", method, parameters)
    _refuse_beyond(classifier, "explainers", settings)
    origin = Origin(method, settings, seed)
    if origin.entry.needs_training and training is None:
        raise InputError(f"{method} explains from the training texts; give them as training=")
    ground_truth, targets, foils = (
        in_order_of(name, given, "texts", texts)
        for name, given in (("ground_truth", ground_truth), ("targets", targets), ("foils", foils))
    )
    sentences = read_sentences(classifier, *texts_of(texts, second), overlap)
    truths = [None] * len(sentences)
    if ground_truth is not None:
        truths = one_for_each("ground_truth", ground_truth, "marks", len(sentences), dimensions=2)
        check_marks(truths, sentences)
    if targets is not None:
        targets = _class_numbers("targets", targets, classifier, len(sentences))
    if foils is not None:
        foils = _class_numbers("foils", foils, classifier, len(sentences))
    probability = _probabilities(classifier, sentences)
    if targets is None:
        targets = probability.argmax(axis=1)
    sentences = [replace(sentence, target=int(target)) for sentence, target in zip(sentences, targets, strict=True)]
    if settings.get("output") == "contrast":
        foils = runner_up(probability, np.asarray(targets)) if foils is None else foils
        sentences = [replace(sentence, foil=int(foil)) for sentence, foil in zip(sentences, foils, strict=True)]
    with progress(method, len(sentences)) as bar:
        context = explainers.Context(_evaluator(classifier, bar), seed, training)
        attributions = [
            attribution
            for group in bar.groups(sentences)
            for attribution in explainers.explain({method: origin.entry}, group, context)[method].attributions
        ]
    return Explanations(
        TextExplanation(
            **vars(explanation_of(sentence, attribution.token_score, truth, origin)),
            text=number,
            class_name=classifier.class_names[sentence.target],
            probability=float(probability[number, sentence.target]),
            tokens=tuple(classifier.tokenizer.convert_ids_to_tokens(sentence.token_id.tolist())),
            pairs=attribution.pairs,
        )
        for number, (sentence, attribution, truth) in enumerate(zip(sentences, attributions, truths, strict=True))
    )


@notebook_call()
def score(
    classifier: Asked, explanations: Sequence[Explanation], metric: str | Entry | type[Entry], **parameters: object
) -> np.ndarray:
    """One value per explanation by a metric of the registry, float64 (explanations,); NaN, of which a warning tells,
    where it is undefined.

    Args:
        classifier: the one that was explained.
        explanations: of :func:`explain`, by any explainers.
        metric: its name, such as ``aopc_comprehensiveness``, or a metric of your own (:class:`evenlight.own.Metric`).
        **parameters: of the metric; those that are left out have their defaults.

    Raises:
        InputError: there is no such metric or parameter, a value is not allowed, or something else is no explanation.
    """
    metric, settings = _completed("metrics", metric, parameters)
    _refuse_beyond(classifier, "metrics", settings)
    entry = Metric.parse(settings)
    explanations = explanations_given("explanations", explanations, "score takes")
    with progress(metric, len(explanations)) as bar:
        evaluator = _evaluator(classifier, bar) if entry.needs_model else None
        values = [metrics.score({metric: entry}, group, evaluator)[metric] for group in bar.groups(explanations)]
    found = np.concatenate([np.zeros(0), *values])
    if note := note_on_undefined(metric, explanations, found):
        warnings.warn(note, stacklevel=3)
    return found


@notebook_call()
def check_alone(
    classifier: Asked,
    texts: Sequence[Text],
    part: str | Entry | type[Entry],
    *,
    seed: int = 0,
    tolerance: float = 1e-3,
    **parameters: object,
) -> None:
    """Refuse an explainer or a metric that says of a text something else beside other texts than alone.

    This is what ``needs_other_texts = False`` promises of a class of your own, as far as some texts can show it. They
    are asked together, in reverse order, and one by one.

    Args:
        classifier: as for :func:`explain`.
        texts: two or more, of different lengths, as for :func:`explain`.
        part: an explainer or a metric, by its name or of your own.
        seed: as for :func:`explain`.
        tolerance: what values may differ by, in parts of the largest: batches of other texts round otherwise.
        **parameters: of the part.

    Raises:
        InputError: a value differs; the message names the text.
    """
    is_metric = part in Metric.entries if isinstance(part, str) else part.key == "metric"
    section = "metrics" if is_metric else "explainers"
    name, settings = _completed(section, part, parameters)
    _refuse_beyond(classifier, section, settings)
    method = {name: (Metric if is_metric else explainers.Explainer).parse(settings)}
    texts, _ = texts_of(texts)
    sentences = read_sentences(classifier, texts, None, None)
    targets = _probabilities(classifier, sentences).argmax(axis=1)
    sentences = [replace(sentence, target=int(target)) for sentence, target in zip(sentences, targets, strict=True)]
    explanations = explain(classifier, texts, "uniform_random", seed=seed) if is_metric else ()
    with progress(name, 3 * len(sentences)) as bar:
        evaluator = _evaluator(classifier, bar)

        def asked(places: Sequence[int]) -> list[np.ndarray]:
            """What it says of some texts, which are asked together."""
            if is_metric:
                return list(metrics.score(method, [explanations[place] for place in places], evaluator)[name])
            context = explainers.Context(evaluator, seed, None)
            found = explainers.explain(method, [sentences[place] for place in places], context)[name]
            return [each.token_score for each in found.attributions]

        places = range(len(sentences))
        together, backwards = asked(places), asked(places[::-1])[::-1]
        alone = [asked([place])[0] for place in places]
    for place, (value, *others) in enumerate(zip(together, backwards, alone, strict=True)):
        bound = tolerance * np.nan_to_num(np.abs([value, *others])).max()
        for other, how in zip(others, ("in another order", "alone"), strict=True):
            if not np.allclose(value, other, rtol=0, atol=bound, equal_nan=True):
                raise InputError(
                    f"{name}: says of text {place} something else {how} than beside the others, so that "
                    "needs_other_texts = False does not hold; take the tag out, or let nothing pass from text to text"
                )


def _completed(section: str, named: str | Entry | type[Entry], parameters: dict) -> tuple[str, dict]:
    """The name of an explainer or metric, and its settings with all defaults."""
    if isinstance(named, Entry):
        parameters = named.model_dump(exclude={named.key, "label"}) | parameters
        named = type(named)
    if not isinstance(named, type | str):
        example = next(iter(configuration.REGISTRIES[section].entries))
        raise InputError(f"{section}: found {named!r}; give one name, such as {example!r}, or one class of your own")
    name = configuration.kept(section, named) if isinstance(named, type) else named
    registry = configuration.REGISTRIES[section]
    entry_of = registry.entries.get(name)
    if entry_of and entry_of.modality != TOKENS:
        where = {EFFECTS: "use evenlight.concepts", TEXT: "a study has them (docs/answers.md)"}[entry_of.modality]
        raise InputError(f"{name} is about {MODALITIES[entry_of.modality].about} and not about tokens; {where}")
    # Names of entries have small letters.
    completed = completed_entry(section, name.lower(), {registry.key: name, **parameters})
    return name, configuration.without_labels({name: completed})[name]


def _refuse_beyond(classifier: Asked, section: str, settings: dict) -> None:
    """Refuse to ask a service for more than it says."""
    why = "and a service gives probabilities alone"
    for key, problem in beyond_probabilities(section, settings, why) if isinstance(classifier, AskedService) else ():
        raise InputError(f"{key}: {problem}")


def _class_numbers(name: str, values: Sequence[int | str], classifier: Asked, texts: int) -> list[int]:
    """The numbers of classes that are given by number or name."""
    names = classifier.class_names
    values = one_for_each(name, values, "classes", texts)
    numbers = [names.index(value) if value in names else value for value in values]
    for value in numbers:
        if not isinstance(value, int | np.integer) or not 0 <= value < classifier.classes:
            listing = ", ".join(f"{number} ({each})" for number, each in enumerate(names))
            raise InputError(
                f"{name}: found {value!r}, the classes of this classifier are {listing}; give the number or the name"
                f"{suggestion(value, names)}"
            )
    return numbers


def _evaluator(classifier: Asked, bar: ProgressBar) -> Evaluator | ServiceEvaluator:
    if isinstance(classifier, AskedService):
        return ServiceEvaluator(classifier, classifier.answers_folder, classifier.policy, bar.count_rows)
    return Evaluator(replace(classifier, on_rows=bar.count_rows))


def _probabilities(classifier: Asked, sentences: Sequence[Sentence]) -> np.ndarray:
    """Those of the classes, float64 (texts, classes)."""
    with progress("probabilities", len(sentences)) as bar:
        evaluator, found = _evaluator(classifier, bar), []
        for group in bar.groups(sentences):
            try:
                found.append(evaluator.probabilities([each.row for each in group]))
            except WithoutAnswer as error:
                raise error.about(group[error.row].item_id) from None
    return np.concatenate(found)
