"""Sentences as the model reads them: token ids, the word that each token belongs to, the class to explain."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from evenlight.errors import InputError
from evenlight.models.classifier import Classifier
from evenlight.readings import SPECIAL, Sentence


def token_counts(classifier: Classifier, items: pd.DataFrame) -> np.ndarray:
    """How many tokens each item has, special tokens included; int64 (items,)."""
    encoded = classifier.tokenizer([list(words) for words in items["words"]], is_split_into_words=True)
    return np.array([len(token_id) for token_id in encoded["input_ids"]], dtype=np.int64)


def wholes_to_drop(
    item_id: Sequence[str], wholes: Sequence[str], tokens: np.ndarray, max_tokens: int, drop_long: bool
) -> set[str]:
    """The units with an item beyond the limit, which are left out as a whole, so that groups stay balanced.

    Args:
        item_id: names of the items, (items,).
        wholes: what must stay together with each, see :func:`evenlight.items.wholes`; (items,).
        tokens: of each item, (items,).
        max_tokens: the limit.
        drop_long: whether such units may be left out, with a note.

    Raises:
        InputError: they may not, or nothing would be left.
    """
    is_long = tokens > max_tokens
    if is_long.any() and not drop_long:
        worst = int(tokens.argmax())
        raise InputError(
            f"{is_long.sum()} of {len(tokens)} sentences are longer than models.<model>.max_tokens = {max_tokens} "
            f"(item {list(item_id)[worst]} has {tokens[worst]} tokens); raise max_tokens up to the model's "
            "limit, or set models.<model>.long_items to 'drop'"
        )
    dropped = {whole for whole, long in zip(wholes, is_long, strict=True) if long}
    if dropped and dropped.issuperset(wholes):
        raise InputError(
            f"every pair has a sentence of more than models.<model>.max_tokens = {max_tokens} tokens; raise max_tokens "
            "up to the model's limit"
        )
    if dropped:
        print(f"left out {len(dropped)} pairs with a sentence of more than {max_tokens} tokens")
    return dropped


def encoded(classifier: Classifier, items: pd.DataFrame, targets: Sequence[int]) -> list[Sentence]:
    """Tokenise items, however long they are; one target class per item."""
    encoding = classifier.tokenizer(
        [list(words) for words in items["words"]], is_split_into_words=True, return_offsets_mapping=True
    )
    sentences = []
    for row, (item_id, words, target) in enumerate(zip(items["item_id"], items["words"], targets, strict=True)):
        word_id = [SPECIAL if word is None else word for word in encoding.word_ids(row)]
        # Not the vocabulary's spelling: uncased tokenizers do not tell "But" from "but".
        token_text = tuple(
            "" if word == SPECIAL else words[word][first:last]
            for word, (first, last) in zip(word_id, encoding["offset_mapping"][row], strict=True)
        )
        token_id = np.array(encoding["input_ids"][row], dtype=np.int64)
        sentences.append(
            Sentence(item_id, tuple(words), token_id, np.array(word_id, dtype=np.int64), int(target), token_text)
        )
    return sentences


def tokenize(
    classifier: Classifier,
    items: pd.DataFrame,
    targets: Sequence[int],
    wholes: Sequence[str] | None = None,
) -> list[Sentence]:
    """Tokenise items of the contract ``items`` that the model can read; one target class per item.

    Args:
        classifier: gives tokenizer and limit.
        items: the rows, in the order wanted.
        targets: class to explain, one per row.
        wholes: what must stay together with each row, see :func:`evenlight.items.wholes`. Where it is given, items
            beyond the limit are left out with all of their unit, with a note, instead of being refused.

    Raises:
        InputError: an item has more tokens than the model reads.
    """
    sentences = encoded(classifier, items, targets)
    lengths = np.array([len(sentence.token_id) for sentence in sentences])
    together = items["item_id"] if wholes is None else wholes
    dropped = wholes_to_drop(items["item_id"], together, lengths, classifier.max_tokens, wholes is not None)
    return [sentence for sentence, whole in zip(sentences, together, strict=True) if whole not in dropped]
