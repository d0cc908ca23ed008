"""Word vectors that others trained, as the embeddings that a network begins with."""

from pathlib import Path

import torch
from torch import nn
from transformers import PreTrainedTokenizerBase

from evenlight.core.errors import InputError

# What tokenizers write before a token that begins a word, where they write anything; WordPiece marks all others.
BEGINNINGS = "\N{LATIN CAPITAL LETTER G WITH DOT ABOVE}\N{LOWER ONE EIGHTH BLOCK}"
INSIDE = "##"


def begin_with_vectors(embeddings: nn.Embedding, tokenizer: PreTrainedTokenizerBase, path: str | Path) -> int:
    """Give each token that is spelled as a word of a file this word's vector, in place; how many tokens that are.

    Args:
        embeddings: of the tokens, (vocabulary, width).
        tokenizer: theirs. Pieces from inside of words and special tokens keep their own vectors.
        path: a text with a word and its numbers in each line, as GloVe, word2vec and fastText write it, the latter two
            behind a line with their counts. A word may have spaces. Of words that are there twice, the first counts.

    Raises:
        InputError: for a file that cannot be read or is not such a text, vectors of another width, and a file with
            none of the tokens.
    """
    tokens = _whole_words(tokenizer)
    width = embeddings.embedding_dim
    found: dict[str, torch.Tensor] = {}
    try:
        with open(path, encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, start=1):
                fields = line.rstrip(" \n").split(" ")
                if number == 1 and len(fields) == 2:
                    continue
                # Later on, what is too much are spaces in a word.
                if len(fields) <= width or (number < 3 and len(fields) != width + 1):
                    raise InputError(
                        f"{path}, line {number}: {len(fields) - 1} numbers behind the word, and "
                        f"models.<model>.hidden_size is {width}; make them the same, or name another file as vectors"
                    )
                word = " ".join(fields[:-width])
                if word in tokens and word not in found:
                    found[word] = _numbers(fields[-width:], f"{path}, line {number}")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); correct models.<model>.vectors") from None
    if not found:
        raise InputError(f"{path}: has none of the {len(tokens)} words of the tokenizer; name another file")
    with torch.no_grad():
        for word, vector in found.items():
            embeddings.weight[tokens[word]] = vector
    return sum(len(tokens[word]) for word in found)


def _whole_words(tokenizer: PreTrainedTokenizerBase) -> dict[str, list[int]]:
    """The ids of the tokens that may be a whole word, by its spelling."""
    found: dict[str, list[int]] = {}
    for token, number in tokenizer.get_vocab().items():
        if number not in tokenizer.all_special_ids and not token.startswith(INSIDE):
            found.setdefault(token.lstrip(BEGINNINGS), []).append(number)
    return found


def _numbers(texts: list[str], place: str) -> torch.Tensor:
    try:
        vector = torch.tensor([float(text) for text in texts])
    except ValueError:
        vector = torch.tensor([float("nan")])
    if not vector.isfinite().all():
        raise InputError(f"{place}: what stands behind the word is not all numbers; correct the file")
    return vector
