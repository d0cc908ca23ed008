"""Parses for tests: written down by hand, or of words that a parser keeps as one sentence."""

from collections.abc import Iterable, Iterator, Sequence

from evenlight.corpus.mending import mended
from evenlight.corpus.parse import Parse


def parse_words(nlp, sentences: Iterable[Sequence[str]]) -> Iterator[Parse]:
    """The parse of each sentence that is given as words."""
    from spacy.tokens import Doc

    from evenlight.corpus.parsers import from_doc, scheme_of

    docs = (Doc(nlp.vocab, words=list(words), sent_starts=[i == 0 for i in range(len(words))]) for words in sentences)
    return (mended(from_doc(doc, scheme_of(nlp))) for doc in nlp.pipe(docs))


def hand_made(text: str, scheme: str = "ud") -> Parse:
    """The parse in a text of ``word/tag/head/relation``, heads counted from 1, 0 for the root."""
    words, tags, heads, relations = zip(*(entry.rsplit("/", 3) for entry in text.split()), strict=True)
    return Parse(
        words=words,
        lemmas=("",) * len(words),
        tags=tags,
        features=("",) * len(words),
        heads=tuple(int(head) - 1 if head != "0" else i for i, head in enumerate(heads)),
        relations=relations,
        scheme=scheme,
    )
