"""spaCy pipelines: loaded by name or path, asked for sentences, their answers put into plain values."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span

from evenlight.core.errors import InputError
from evenlight.corpus.mending import mended
from evenlight.corpus.parse import Parse

# Labels that only one of the schemes has.
_LABELS = {"ud": {"obj", "obl"}, "clear": {"dobj", "pobj"}}


def load_parser(name_or_path: str | Path) -> Language:
    """The spaCy pipeline of that name or in that folder, without what only costs time here.

    Raises :class:`InputError` where there is none, or where it has no tagger or no parser.
    """
    try:
        nlp = spacy.load(name_or_path, exclude=["ner"])
    except (OSError, ValueError) as error:
        raise InputError(
            f"parser '{name_or_path}': no pipeline that spaCy {spacy.__version__} can load ({error}); install it with "
            f"`python -m spacy download {name_or_path}`, or give the path of a pipeline's folder"
        ) from None
    for component in ("tagger", "parser"):
        if not nlp.has_pipe(component):
            raise InputError(
                f"parser '{name_or_path}': it has no {component}, only {', '.join(nlp.pipe_names) or 'nothing'}; "
                "give a pipeline that tags and parses, such as en_core_web_sm"
            )
    return nlp


def scheme_of(nlp: Language) -> str:
    """``ud`` or ``clear``, by the labels that the pipeline's parser knows."""
    labels = {label.lower() for label in nlp.get_pipe("parser").labels}
    schemes = [scheme for scheme, telling in _LABELS.items() if telling & labels]
    if len(schemes) != 1:
        raise InputError(
            f"parser '{nlp.meta['name']}': its labels ({', '.join(sorted(labels))}) are neither those of Universal "
            "Dependencies (obj, obl) nor ClearNLP's (dobj, pobj); give a pipeline in one of the two schemes"
        )
    return schemes[0]


def from_doc(span: Span | Doc, scheme: str) -> Parse:
    """The plain values of one parsed sentence; tokens of white space, which spaCy keeps, are left out."""
    tokens = [token for token in span if not token.is_space]
    position = {token.i: i for i, token in enumerate(tokens)}

    def head_of(token) -> int:
        # Above white space or the border of the span there is nothing of this sentence: the word is its own head.
        return position.get(token.head.i, position[token.i])

    # The rules know Penn's tags; those of other languages are theirs alone, so UD's parts of speech stand in.
    english = span.vocab.lang == "en"
    return Parse(
        words=tuple(token.text for token in tokens),
        lemmas=tuple(token.lemma_ for token in tokens),
        tags=tuple(token.tag_ if english else token.pos_ for token in tokens),
        features=tuple(str(token.morph) for token in tokens),
        heads=tuple(head_of(token) for token in tokens),
        relations=tuple(token.dep_.lower() for token in tokens),
        scheme=scheme,
    )


def parse_texts(nlp: Language, texts: Iterable[str]) -> Iterator[list[tuple[str, Parse]]]:
    """For each text, its sentences in order: the sentence as it was written and its parse, :func:`mended`."""
    scheme = scheme_of(nlp)
    for doc in nlp.pipe(texts):
        sentences = [(sentence.text.strip(), mended(from_doc(sentence, scheme))) for sentence in doc.sents]
        yield [(text, parse) for text, parse in sentences if len(parse)]
