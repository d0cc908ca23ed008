"""The words of the reader ``causal_simulation``: a file of frames and words in one language, and what fills frames.

A frame is one sentence. ``{He/She}`` is a word of the group in its two forms, ``<word>`` the place of a concept's
evidence, and ``<a>`` an article that goes with the word after it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evenlight.core.errors import InputError
from evenlight.core.files import read_yaml
from evenlight.texts.splitting import split_words

GROUP = "gender"  # the variable that the words of a marking carry
EVIDENCE, ARTICLE = "<word>", "<a>"
KEYS = {"joined_by", "openings", "fillers", "concepts"}
OPTIONAL_KEYS = {"article", "vowels"}

MARKING = re.compile(r"\{(\w+)/(\w+)\}")  # a word in its male and its female form
_PIECE = re.compile(r"(\{[^{}]*\}|<[^<>]*>)")

# A word of a text, and the variable that it carries: a concept, the group, or None.
Carried = tuple[str, str | None]


@dataclass(frozen=True)
class Concept:
    """The frames of a concept and its words.

    ``strong`` and ``weak`` have the words of either value; ``weak`` is None where there are none.
    """

    frames: list[str]
    strong: tuple[list[str], list[str]]
    weak: tuple[list[str], list[str]] | None


@dataclass(frozen=True)
class Language:
    """What a file holds, in the order of the file."""

    openings: list[str]
    fillers: list[str]
    concepts: dict[str, Concept]
    joined_by: str
    article: tuple[str, str] | None
    vowels: str

    def sentence(self, frame: str, is_first: bool, concept: str | None = None, evidence: Sequence[str] = ()) -> list:
        """The words of a frame as :data:`Carried`, for the first or the second group, and with the concept's words."""
        words: list[Carried] = []
        for piece in _PIECE.split(frame):
            marking = MARKING.fullmatch(piece)
            if marking:
                words.append((marking[1 if is_first else 2], GROUP))
            elif piece == EVIDENCE:
                for position, word in enumerate(evidence):
                    words += [(self.joined_by, None)] * (position > 0) + [(word, concept)]
            elif piece == ARTICLE:
                words.append((self._article_before(evidence[0]), None))
            else:
                words += [(word, None) for word in split_words(piece)]
        (first, variable), *others = words
        return [(first[0].upper() + first[1:], variable), *others]

    def _article_before(self, word: str) -> str:
        return self.article[word[0].lower() in self.vowels]


def read_language(path: str | Path, concepts: dict[str, tuple[str, str]], weak: Sequence[str]) -> Language:
    """The language file at ``path``, checked; an :class:`InputError` names the file, the place and the remedy.

    ``concepts`` gives the two values of every concept that the file must have, ``weak`` the concepts with weak words.
    """
    content = read_yaml(path, "restore it, or put each sentence in double quotes")
    if not isinstance(content, dict) or not KEYS <= set(content) <= KEYS | OPTIONAL_KEYS:
        raise InputError(
            f"{path}: must have the keys {', '.join(sorted(KEYS))} and may have {', '.join(sorted(OPTIONAL_KEYS))}"
        )
    if not isinstance(content["concepts"], dict) or set(content["concepts"]) != set(concepts):
        raise InputError(f"{path}: 'concepts' must have {', '.join(concepts)} and no other")
    article = content.get("article")
    for key in ("openings", "fillers"):
        for frame in _texts(content[key], f"{path}: {key}"):
            _check_frame(frame, f"{path}: {key}, '{frame}'", evidence=0, article=False)
    for opening in content["openings"]:
        if not MARKING.search(opening):
            raise InputError(f"{path}: openings, '{opening}': no word of the group; mark one, such as {{he/she}}")
    read = {
        name: _concept(content["concepts"][name], values, name in weak, bool(article), f"{path}: concept '{name}'")
        for name, values in concepts.items()
    }
    language = Language(
        content["openings"],
        content["fillers"],
        read,
        content["joined_by"],
        tuple(article) if article else None,
        content.get("vowels", ""),
    )
    _check_words(language, path)
    return language


def _concept(content: object, values: tuple[str, str], has_weak: bool, has_article: bool, location: str) -> Concept:
    keys = {"frames", *values} | ({"weak"} if has_weak else set())
    if not isinstance(content, dict) or set(content) != keys:
        raise InputError(f"{location}: must have the keys {', '.join(sorted(keys))}")
    for frame in _texts(content["frames"], f"{location}, frames"):
        _check_frame(frame, f"{location}, '{frame}'", evidence=1, article=has_article)
    weak = content.get("weak")
    if has_weak and (not isinstance(weak, dict) or set(weak) != set(values)):
        raise InputError(f"{location}, weak: must have the keys {' and '.join(values)}")
    return Concept(
        content["frames"],
        _both(content, values, 2, location),
        _both(weak, values, 2, f"{location}, weak") if has_weak else None,
    )


def _both(content: dict, values: tuple[str, str], least: int, location: str) -> tuple[list[str], list[str]]:
    """The words of both values, as many of one as of the other."""
    first, second = (_texts(content[value], f"{location}, {value}") for value in values)
    if len(first) != len(second) or len(first) < least:
        raise InputError(
            f"{location}: {len(first)} words of {values[0]} and {len(second)} of {values[1]}; give both the same "
            f"number, at least {least}"
        )
    return first, second


def _texts(content: object, location: str) -> list[str]:
    if not isinstance(content, list) or not content or not all(isinstance(text, str) and text for text in content):
        raise InputError(f"{location}: must be a list of texts; put each one in double quotes")
    if len(set(content)) < len(content):
        raise InputError(f"{location}: has a text twice; delete one of them")
    return content


def _check_frame(frame: str, location: str, evidence: int, article: bool) -> None:
    if not frame.endswith("."):
        raise InputError(f"{location}: does not end with a period; add one")
    pieces = [piece for piece in _PIECE.findall(frame) if not MARKING.fullmatch(piece)]
    allowed = [EVIDENCE, ARTICLE] if article else [EVIDENCE]
    for piece in pieces:
        if piece not in allowed:
            raise InputError(f"{location}: {piece} has no meaning here; write {{he/she}} or {' or '.join(allowed)}")
    if re.search(r"[{}<>]", _PIECE.sub("", frame)):
        raise InputError(f"{location}: a bracket outside of a marking; write whole ones, {{he/she}} or {EVIDENCE}")
    if any(one == other for one, other in MARKING.findall(frame)):
        raise InputError(f"{location}: the forms of a marking are equal; leave the brackets away")
    if pieces.count(EVIDENCE) != evidence:
        raise InputError(
            f"{location}: {EVIDENCE} stands there {pieces.count(EVIDENCE)} times; write it {evidence} times"
        )
    if ARTICLE in pieces and f"{ARTICLE} {EVIDENCE}" not in frame:
        raise InputError(f"{location}: {ARTICLE} must stand before {EVIDENCE}, which it goes with")


def _check_words(language: Language, path: str | Path) -> None:
    """A word must tell one value of one concept, and nothing else may tell it, neither frames nor articles."""
    place_of: dict[str, str] = {}
    for name, concept in language.concepts.items():
        for kind, both in (("", concept.strong), ("weak ", concept.weak or ([], []))):
            for words in both:
                for word in words:
                    if split_words(word) != [word]:
                        raise InputError(f"{path}: concept '{name}', '{word}': not one word; choose another")
                    if place_of.setdefault(word.lower(), name) != name or words.count(word) > 1:
                        raise InputError(f"{path}: '{word}' is a word of {place_of[word.lower()]} and of {name}")
            for one, other in zip(*both, strict=True):
                if language.article and language._article_before(one) != language._article_before(other):
                    raise InputError(
                        f"{path}: concept '{name}', {kind}words '{one}' and '{other}' stand in the same place of both "
                        "lists but take different articles; order them alike"
                    )
        values = [
            word.lower() for both in (concept.strong, concept.weak or ([], [])) for words in both for word in words
        ]
        if len(set(values)) < len(values):
            word = next(word for word in values if values.count(word) > 1)
            raise InputError(f"{path}: concept '{name}', '{word}' is there twice; delete one of them")
    frames = [*language.openings, *language.fillers, *(f for c in language.concepts.values() for f in c.frames)]
    for frame in frames:
        for word in split_words(_PIECE.sub(" ", frame)):
            if word.lower() in place_of:
                raise InputError(f"{path}: '{frame}' has '{word}', a word of {place_of[word.lower()]}; choose another")
