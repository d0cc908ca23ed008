"""Texts as a notebook has them, in words and in tokens."""

from collections.abc import Iterable, Sequence

import pandas as pd

from evenlight.core.errors import InputError
from evenlight.core.files import refuse_half_characters
from evenlight.engine.sentences import encoded
from evenlight.models.building import longest_text
from evenlight.models.classifier import Classifier
from evenlight.models.readable import require_reads_parts
from evenlight.notebook.arguments import in_order_of, listed, one_for_each, words_given
from evenlight.notebook.loading import AskedService
from evenlight.texts.predictions import Sentence
from evenlight.texts.splitting import text_columns
from evenlight.texts.words import Words, spaces_of, texts_in

Text = str | Sequence[str]
# Words of a text that a message shows.
SHOWN = 20


def words_of(text: Text) -> Words:
    """The words of one text: as a study splits a string, which is read as it stands, or a list that has them already.

    >>> words_of("She failed, again.")
    ('She', 'failed', ',', 'again', '.')
    """
    if not isinstance(text, str):
        return Words(text, getattr(text, "spaces", None))
    return Words(**text_columns(text))


def texts_of(texts: Sequence[Text], second: Sequence[Text] | None = None) -> tuple[list[Words], list[Words] | None]:
    """The words of each text that a notebook gives, and of its second part where there are such.

    Raises:
        InputError: they are a table or a record, one is no text, or there is not a second part for each.
    """
    words = _words("texts", texts, "text")
    if second is None:
        return words, None
    behind = _words("second", in_order_of("second", second, "texts", texts), "the second part of text")
    return words, one_for_each("second", behind, "texts", len(words))


def read_sentences(
    classifier: Classifier | AskedService, texts: list[Words], second: list[Words] | None, overlap: int | None
) -> list[Sentence]:
    """Texts of :func:`texts_of` in tokens, with class 0 as target; refuse what the classifier does not read."""
    items = _items(texts, second)
    is_served = isinstance(classifier, AskedService)
    if is_served:
        if second is not None or overlap is not None:
            name = "second" if overlap is None else "overlap"
            raise InputError(f"{name}: a service is asked about one text at a time, as it stands; leave {name} out")
        classifier.learn(texts_in(items))
    elif overlap is not None and overlap not in range(classifier.max_tokens // 2 + 1):
        half = f"from 0 to half of the {classifier.max_tokens} tokens that this classifier reads"
        raise InputError(f"overlap: found {overlap!r}; allowed is a whole number {half}")
    try:
        if second is not None:
            require_reads_parts(classifier, items["words"][0], items["part"][0])
        if not is_served and classifier.check_texts:
            classifier.check_texts(texts_in(items))
        sentences = encoded(classifier, items, [0] * len(items), overlap)
    except InputError as error:
        # The remedies are those of a study.
        said = str(error).removeprefix("models.<model>: ").partition("; ")[0]
        raise InputError(f"{said}; change the texts or the overlap, or load another model") from None
    for sentence in sentences:
        if sentence.windows is None and len(sentence.token_id) > classifier.max_tokens:
            unit = "words" if is_served else "tokens"
            windows = "" if is_served else f"have it read in windows, by overlap={classifier.max_tokens // 4}, or "
            raise InputError(
                f"{sentence.item_id} has {len(sentence.token_id)} {unit} and this classifier reads at most "
                f"{classifier.max_tokens}; {windows}{_reading_more(classifier, len(sentence.token_id))}"
            )
    return sentences


def _reading_more(classifier: Classifier | AskedService, tokens: int) -> str:
    """What to do about a text that is too long, by whether the model could read it."""
    if isinstance(classifier, AskedService) or longest_text(classifier.network, classifier.tokenizer, tokens) >= tokens:
        return f"load the classifier with max_tokens={tokens} or more"
    return "shorten it, since the model reads no more"


def check_marks(truths: Sequence[Sequence[int] | None], sentences: Sequence[Sentence]) -> None:
    """Refuse ground truth that has not a 0 or 1 for each word of its text."""
    for number, (truth, sentence) in enumerate(zip(truths, sentences, strict=True)):
        marks = _once(truth)
        fit = isinstance(marks, list) and [mark in (0, 1) for mark in marks] == [True] * len(sentence.words)
        if marks is not None and not fit:
            words = ", ".join(map(repr, sentence.words[:SHOWN])) + ", …" * (len(sentence.words) > SHOWN)
            raise InputError(
                f"ground_truth: found {marks!r} for text {number}, whose {len(sentence.words)} words are {words}; give "
                "a 0 or 1 for each of them"
            )


def _once(given: object) -> object:
    """A list of what can be gone over; what cannot, as it is."""
    return list(given) if isinstance(given, Iterable) else given


def _words(name: str, texts: Sequence[Text], text: str) -> list[Words]:
    """The words of each of the texts that the argument ``name`` gives, each of which messages call ``text``."""
    words = []
    for number, given in enumerate(listed(name, texts, "texts")):
        read = given if isinstance(given, str | Words) else words_given(given)
        if read is None:
            raise InputError(f"{text} {number}: found {given!r}; give a string, or a list of its words")
        refuse_half_characters(read, f"{text} {number}")
        words.append(words_of(read))
    if not words:
        raise InputError(f"{name} is empty; give at least one text")
    if () in words:
        raise InputError(f"{text} {words.index(())} has no words; give it some, or leave it out")
    return words


def _items(words: list[Words], behind: list[Words] | None) -> pd.DataFrame:
    """The texts as rows of the contract ``items``."""
    items = pd.DataFrame({"item_id": [f"text {number}" for number in range(len(words))]})
    if behind is None:
        return items.assign(words=words, spaces=list(map(spaces_of, words)))
    parts = [[0] * len(first) + [1] * len(more) for first, more in zip(words, behind, strict=True)]
    both = list(zip(words, behind, strict=True))
    spaces = [spaces_of(first) + spaces_of(more) for first, more in both]
    return items.assign(words=[first + more for first, more in both], spaces=spaces, part=parts)
