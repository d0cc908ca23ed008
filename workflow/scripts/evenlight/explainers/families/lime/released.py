"""LIME on words as GECOBench's code has it."""

import re

import numpy as np

from evenlight.core.errors import InputError
from evenlight.engine.evaluator import Question
from evenlight.engine.sentences import Sentence
from evenlight.explainers.attribution import Attribution
from evenlight.explainers.families.lime import Lime
from evenlight.explainers.families.lime.paper import bag_of_words, coefficients
from evenlight.models.classifier import Classifier
from evenlight.models.model_inputs import types_around
from evenlight.models.tokenizers import token_ids
from evenlight.texts.rows import row_of


def on_words(lime: Lime, sentence: Sentence, classifier: Classifier, generator: np.random.Generator) -> Question:
    """Words of the decoded text, tokenised again; class 1; scores by substring.

    A token scores the coefficient of the first word that contains its spelling, in the order of falling absolute
    coefficients, so that "he" may score what "she" does, and a piece "##s" nothing.
    """
    tokenizer = classifier.tokenizer
    if tokenizer.backend_tokenizer.decoder is None:
        raise InputError(
            "LIME's definition 'released' works on text, and this model's tokenizer cannot turn tokens into text (its "
            "tokenizer.json has no decoder); set explainers.<name>.definition to 'paper'"
        )
    if sentence.windows is not None:
        raise InputError(
            f"item {sentence.item_id} is read in windows, and LIME's definition 'released' works on a text as a whole; "
            "set explainers.<name>.definition to 'paper'"
        )
    tokens = np.flatnonzero(~sentence.is_special)
    first, last = (tokens[0], tokens[-1] + 1) if len(tokens) else (0, 0)
    # Types say it where nothing stands between the parts; some models are told those of a single text, too.
    types = sentence.token_type
    if sentence.is_special[first:last].any() or (types is not None and len(set(types[tokens])) > 1):
        raise InputError(
            f"item {sentence.item_id} has two parts, and LIME's definition 'released' makes one text of them; set "
            "explainers.<name>.definition to 'paper'"
        )
    types_of = types_around(types, first, len(sentence.token_id) - last)
    text = str(tokenizer.decode(sentence.token_id[~sentence.is_special]))
    # Words and what stands between them in turn, as the package splits, so that they join to the text again.
    pieces = re.split(r"(\W+)", text)
    feature = bag_of_words(pieces)
    words = list(dict.fromkeys(piece for piece, number in zip(pieces, feature, strict=True) if number >= 0))

    def rows(kept: np.ndarray) -> list[np.ndarray]:
        stays = np.concatenate([kept, np.ones((len(kept), 1), dtype=bool)], axis=1)[:, feature]
        texts = ["".join(piece for piece, here in zip(pieces, row, strict=True) if here).split() for row in stays]
        reduced = token_ids(tokenizer, texts)
        if (longest := max(map(len, reduced))) > classifier.max_tokens:
            raise InputError(
                f"item {sentence.item_id}: LIME's definition 'released' tokenises changed texts again, and one became "
                f"{longest} tokens long, beyond models.<model>.max_tokens = {classifier.max_tokens}; raise max_tokens "
                "or set explainers.<name>.definition to 'paper'"
            )
        return [
            row_of(row, token_type=types_of and types_of(len(row)), is_padding=classifier.model_inputs.padding_in(row))
            for row in reduced
        ]

    coefficient, asked, _ = yield from coefficients(len(words), rows, lambda answer: answer[:, 1], lime, generator)
    by_size = sorted(zip(words, coefficient, strict=True), key=lambda pair: -abs(pair[1]))
    spelling = [str(tokenizer.decode([token_id])).replace(" ", "") for token_id in sentence.token_id.tolist()]
    score = [next((value for word, value in by_size if token in word), 0.0) for token in spelling]
    return Attribution(np.array(score), asked)
