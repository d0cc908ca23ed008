"""A classifier behind an address as the rest of Evenlight sees it: tokens are words, rows are texts.

A token is a word with what stands before it in its text, so that rows are texts as they came, and those of which words
were left out keep what stands before the others.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from evenlight.core.errors import InputError
from evenlight.models.architectures.service import Service
from evenlight.models.labels import in_a_line
from evenlight.models.model_inputs import ModelInputs
from evenlight.models.tokenizers import BEGINNING, BY_WORDS, pieces_of
from evenlight.texts.rows import Rows, ids_of

# What rule ``describe_service`` writes: the service, the words of the texts that it is asked about, and for readers, as
# of any model, where it is from.
DESCRIPTION, WORDS, MANIFEST = "service.json", "tokenizer.json", "manifest.json"
# The token of a hidden word. No word, and so no piece of a text, is white space alone.
HIDDEN, HIDDEN_ID = " ", 0


@dataclass(frozen=True, repr=False)
class ServedClassifier:
    """What is known of a classifier that answers with probabilities alone.

    Attributes:
        service: which it is, and how its requests and answers look.
        class_names: of the dataset, in the order of its labels.
        tokenizer: has a token for each word.
        max_tokens: longest text that it is given, in words.
    """

    service: Service
    class_names: tuple[str, ...]
    tokenizer: PreTrainedTokenizerBase
    max_tokens: int

    def __repr__(self) -> str:
        """What it is, in a line."""
        return in_a_line(self, self.service.address, f"texts of at most {self.max_tokens} words")

    def learn(self, sentences: Sequence[Sequence[str]]) -> None:
        """Give the words of further texts a token each; those that have one keep it."""
        known = self.tokenizer.get_vocab()
        pieces = sorted(known.keys() - {HIDDEN}, key=known.get)
        object.__setattr__(self, "tokenizer", _tokenizer_of([*pieces, *_all_pieces(sentences)]))
        self.__dict__.pop("_words", None)

    @property
    def classes(self) -> int:
        """How many classes it tells apart."""
        return len(self.class_names)

    @property
    def device(self) -> str:
        """Where it runs."""
        return self.service.address

    # A text of two parts is refused by the configuration, and of its words nothing is to be found out.
    takes_types = False
    model_inputs = ModelInputs()

    def special_token(self, role: str) -> int:
        """The id of the token that stands for a hidden word (``mask``).

        Raises:
            InputError: another one is asked for.
        """
        if role != "mask":
            raise InputError(f"a service has no {role} token; hide words by 'mask', or let them be 'removed'")
        return HIDDEN_ID

    @cached_property
    def _words(self) -> np.ndarray:
        words = np.empty(len(self.tokenizer), dtype=object)
        for word, token_id in self.tokenizer.get_vocab().items():
            words[token_id] = word
        hidden = self.service.hidden_word
        words[HIDDEN_ID] = None if hidden is None else f" {hidden}"
        return words

    def texts(self, rows: Rows | Sequence[np.ndarray]) -> list[str]:
        """The texts of rows (:mod:`evenlight.texts.rows`): their words, and what stands before each.

        Hidden words are what the settings say, behind a space, or left out. A text that lacks its first word does not
        begin with a space. One without any word is ``empty_text``.
        """
        of_rows = ("".join(word for word in self._words[ids_of(row)] if word is not None) for row in rows)
        return [_begun(text) or self.service.empty_text for text in of_rows]


def word_tokenizer(sentences: Sequence[Sequence[str]]) -> PreTrainedTokenizerBase:
    """A tokenizer with a token for each word of ``sentences`` and what stands before it, see :func:`pieces_of`."""
    return _tokenizer_of(_all_pieces(sentences))


def _all_pieces(sentences: Sequence[Sequence[str]]) -> Iterator[str]:
    return chain.from_iterable(map(pieces_of, sentences))


def _tokenizer_of(pieces: Iterable[str]) -> PreTrainedTokenizerBase:
    vocabulary = {HIDDEN: HIDDEN_ID} | {piece: number for number, piece in enumerate(dict.fromkeys(pieces), start=1)}
    return PreTrainedTokenizerFast(tokenizer_object=Tokenizer(WordLevel(vocabulary)), **{BY_WORDS: True})


def _begun(text: str) -> str:
    """A text without the mark of its beginning, or without the space before what has become its first word."""
    return text.removeprefix(BEGINNING) if text.startswith(BEGINNING) else text.lstrip()


def save_service(folder: Path, service: Service, class_names: Sequence[str], sentences: Sequence) -> None:
    """Write what :func:`load_service` reads, the service, the classes and the words of the texts; and a manifest."""
    folder.mkdir(parents=True, exist_ok=True)
    word_tokenizer(sentences).backend_tokenizer.save(str(folder / WORDS))
    described = {"settings": service.model_dump(exclude_unset=True), "classes": list(class_names)}
    loaded = {"source": service.address, "revision": service.version}
    for name, content in ((DESCRIPTION, described), (MANIFEST, described | {"loaded": loaded})):
        text = json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False)
        (folder / name).write_text(f"{text}\n", encoding="utf-8")


def is_service(folder: Path) -> bool:
    """Whether the folder of a model describes a service."""
    return (folder / DESCRIPTION).exists()


def load_service(folder: Path, max_tokens: int) -> ServedClassifier:
    """The service that a folder describes.

    Raises:
        InputError: a file is not there or cannot be read.
    """
    try:
        described = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / WORDS), **{BY_WORDS: True})
    except Exception as error:  # see models.tokenizers
        remedy = "delete the folder and run the workflow again, rule describe_service makes it"
        raise InputError(f"{folder}: no readable description of a service ({error}); {remedy}") from None
    return ServedClassifier(Service.parse(described["settings"]), tuple(described["classes"]), tokenizer, max_tokens)
