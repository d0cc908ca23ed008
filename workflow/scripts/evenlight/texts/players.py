"""Players: what of a text is hidden together when a model is asked about parts of it, and shares one score."""

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from evenlight.texts.predictions import Tokenised

# Quotes and brackets that close belong to the sentence before them.
_ENDS_SENTENCE = re.compile(r"""[.!?…。！？।؟]["'”’»)\]]*$""")
_CLOSES = re.compile(r"""["'”’»)\]]+$""")


@dataclass(frozen=True)
class Players:
    """The players of a text.

    Attributes:
        of_token: the player of each token, numbered by first occurrence, −1 where it is never hidden; int64 (tokens,).
    """

    of_token: np.ndarray

    @property
    def count(self) -> int:
        """How many there are."""
        return int(self.of_token.max(initial=-1)) + 1

    @property
    def token_index(self) -> np.ndarray:
        """Indices of the tokens that may be hidden, int64 (hideable,)."""
        return np.flatnonzero(self.of_token >= 0)

    def tokens_shown(self, shown: np.ndarray) -> np.ndarray:
        """Which tokens of :attr:`token_index` are shown with some players, bool (rows, players) to (rows, hideable)."""
        return shown[:, self.of_token[self.token_index]]

    def token_scores(self, value: np.ndarray) -> np.ndarray:
        """Scores (tokens,) of values (players,), each shared equally by its player's tokens."""
        index = self.token_index
        player = self.of_token[index]
        score = np.zeros(len(self.of_token))
        score[index] = (value / np.bincount(player, minlength=self.count))[player]
        return score


def players_of(sentence: Tokenised, features: str, special_tokens: str) -> Players:
    """The players of a text.

    Args:
        sentence: what is explained; where the players are sentences with its ``words``, or its ``token_text``.
        features: ``token``, ``word``, whose pieces are hidden together, or ``sentence``.
        special_tokens: ``included`` where they are players, each by itself. Tokens of a prompt never are.
    """
    names = _names(sentence, features)
    never = sentence.is_prompt if special_tokens == "included" else sentence.is_special
    return numbered([None if stays else name for stays, name in zip(never, names, strict=True)])


def numbered(names: Sequence[Hashable | None]) -> Players:
    """The players by a name for each token; None is never hidden.

    >>> numbered([None, "the", "cat", "the", None]).of_token.tolist()
    [-1, 0, 1, 0, -1]
    """
    number: dict[Hashable, int] = {}
    return Players(
        np.array([-1 if name is None else number.setdefault(name, len(number)) for name in names], dtype=np.int64)
    )


def _names(sentence: Tokenised, features: str) -> list[Hashable]:
    """Who each token is, special tokens and single tokens by their place."""
    word = sentence.word_id.tolist()
    if features == "token":
        return [("token", place) for place in range(len(word))]
    # A special token between words parts two texts, and no sentence goes on behind it.
    part = np.cumsum(sentence.is_special).tolist()
    words = _written_words(sentence)
    group = sentence_numbers(words) if features == "sentence" else range(len(words))
    return [
        ("token", place) if of_word < 0 else (features, part[place] if features == "sentence" else 0, group[of_word])
        for place, of_word in enumerate(word)
    ]


def _written_words(sentence: Tokenised) -> list[str]:
    """The words of a text, or what its tokens stand for where the words are not known."""
    if sentence.words:
        return list(sentence.words)
    words = [""] * (int(sentence.word_id.max(initial=-1)) + 1)
    for word, written in zip(sentence.word_id.tolist(), sentence.token_text, strict=False):
        if word >= 0:
            words[word] += written
    return words


def sentence_numbers(words: Sequence[str]) -> list[int]:
    """The number of the sentence that each word of a text stands in, (words,).

    A sentence ends with ``.``, ``!``, ``?`` or ``…`` and what closes behind it, unless the next word begins in lower
    case. So the full stop of an abbreviation before a name ends one, too.

    >>> sentence_numbers(["Is", "it", "?", '"', "Yes", ",", "e.g.", "now", "."])
    [0, 0, 0, 0, 1, 1, 1, 1, 1]
    """
    numbers: list[int] = []
    number, ended = 0, False
    for word in words:
        if ended and not _CLOSES.match(word):
            number += not word[:1].islower()
            ended = False
        numbers.append(number)
        ended = bool(_ENDS_SENTENCE.search(word)) or ended
    return numbers
