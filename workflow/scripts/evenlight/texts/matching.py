"""Where a text has a phrase, and texts without it: in every script, whatever the case and the normal form.

Letters, digits and marks are compared, and nothing that stands between them. Marks are part of a word: without its
vowel signs, the Hindi word for a girl is that for a boy. Where a phrase has an emoji or another symbol, symbols are
compared, too; likewise the points of Arabic and Hebrew, which most texts leave away.
"""

import unicodedata
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

import regex

from evenlight.texts.splitting import spaces_around, split_words

if TYPE_CHECKING:
    import numpy as np

# Emoji, dingbats and the like, with the signs that colour them or make a flag of them.
_SYMBOLS = r"\p{So}\p{Extended_Pictographic}\p{Emoji_Modifier}\U000E0020-\U000E007F"
_SYMBOL = regex.compile(rf"[{_SYMBOLS}]")
_POINT = regex.compile(r"[\u0591-\u05c7\u064b-\u0652\u0670]")
# Joiners, selectors of variants, soft hyphens, and the line that stretches Arabic words.
_NOT_COMPARED = regex.compile(
    rf"(?V1)[[^\p{{L}}\p{{M}}\p{{N}}{_SYMBOLS}][\p{{Default_Ignorable_Code_Point}}--[\U000E0020-\U000E007F]]\u0640]"
)
_AROUND = regex.compile(rf"^[^\w{_SYMBOLS}]+|[^\w{_SYMBOLS}]+$")
_JOINT = regex.compile(r"(['’_-]+)")
REDACTED = "[REDACTED]"
_COMMA = regex.compile(r"[,;\n，、；،؛]")
_NUMBERED = regex.compile(rf"(?:^|(?<={_COMMA.pattern}))\s*\(?\d+[.)．）、:]\s*(?!\d)")


def folded(text: str) -> str:
    """A text in a form that is the same for the same letters, whatever their case, width and normal form; not to show.

    Unicode's caseless matching for compatibility; the dot of a Turkish capital i is that of a small one.

    >>> folded("STRASSE") == folded("straße"), folded("e\\u0301") == folded("É"), folded("İl") == folded("il")
    (True, True, True)
    """
    letters = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return letters.replace("i\u0307", "i")


def small(word: str) -> str:
    """A word in small letters and one normal form, as it is counted and shown.

    >>> small("E\\u0301te\\u0301") == "\\u00e9t\\u00e9"
    True
    """
    return unicodedata.normalize("NFC", word.lower())


def bare(word: str) -> str:
    """A word as :func:`small` has it, without punctuation around it.

    >>> bare('"Great!!"'), bare("staff's"), bare("..."), bare("«खाना»")
    ('great', "staff's", '', 'खाना')
    """
    return _AROUND.sub("", small(word))


def pieces_of(text: str) -> list[str]:
    """The words of a text, parted at hyphens and apostrophes, too; they are where a phrase may begin and end.

    >>> pieces_of("She's well-known.")
    ['She', "'", 's', 'well', '-', 'known', '.']
    """
    return [piece for word in split_words(text) for piece in _JOINT.split(word) if piece]


def is_word(piece: str) -> bool:
    """Whether a piece of a text has something that is compared, as a letter, a digit or an emoji; white space has not.

    >>> is_word("I"), is_word("👍"), is_word("...")
    (True, True, False)
    """
    return bool(_compared(piece))


def places_of(phrase: str, words: Sequence[str]) -> list[range]:
    """The runs of ``words`` that are a phrase; none where it is not there, or not from a word's beginning to an end.

    >>> places_of("don't rush", ["Do", "n't", "rush", ",", "I", "said"]), places_of("us", ["bus"])
    ([range(0, 3)], [])
    >>> places_of("लड़का", ["लड़की", "है"]), places_of("❤", ["love", "❤️", "!"])
    ([], [range(1, 2)])
    """
    left_out = [kind for kind in (_SYMBOL, _POINT) if not kind.search(folded(phrase))]
    wanted = _compared(phrase, left_out)
    of_words = [_compared(word, left_out) for word in words]
    text = "".join(of_words)
    # The word of each letter, and one beyond the last.
    owner = [number for number, letters in enumerate(of_words) for _ in letters] + [len(words)]
    found = []
    start = text.find(wanted) if wanted else -1
    while start >= 0:
        end = start + len(wanted)
        begins = start == 0 or owner[start - 1] != owner[start]
        if begins and owner[end - 1] != owner[end]:
            found.append(range(owner[start], owner[end - 1] + 1))
        start = text.find(wanted, start + 1)
    return found


def _compared(text: str, left_out: Sequence[regex.Pattern] = ()) -> str:
    """What is compared of a text: nothing of a full stop."""
    letters = _NOT_COMPARED.sub("", folded(text))
    for kind in left_out:
        letters = kind.sub("", letters)
    return letters


def spans_of(phrases: Sequence[str], text: str) -> list[tuple[int, int]]:
    """Where a text has any of the phrases, as first and last character + 1, in order; those that overlap are one.

    >>> spans_of(["very good", "good thing"], "A very good thing, good.")
    [(2, 17)]
    """
    pieces = pieces_of(text)
    ends = _ends(text, pieces)
    runs = [run for phrase in phrases for run in places_of(phrase, pieces)]
    spans: list[tuple[int, int]] = []
    for start, end in sorted((ends[run[0]] - len(pieces[run[0]]), ends[run[-1]]) for run in runs):
        if spans and start < spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return spans


def _ends(text: str, pieces: Sequence[str]) -> list[int]:
    """Where each piece of a text ends, (pieces,)."""
    lengths = (len(space) + len(piece) for space, piece in zip(spaces_around(text, pieces), pieces, strict=False))
    return list(accumulate(lengths))


def mentions(text: str, words: Sequence[str]) -> bool:
    """Whether a text has one of the words, or of the phrases, as whole words.

    It knows no stems and no synonyms, so that a reason in other words counts as silent.

    >>> mentions("She is Careful.", ["careful"]), mentions("carefully", ["careful"]), mentions("", ["care"])
    (True, False, False)
    """
    pieces = pieces_of(text)
    return any(places_of(word, pieces) for word in words)


def is_begun(text: str, prefix: str) -> bool:
    """Whether a text begins so, in whatever normal form, within a word or not."""
    return _decomposed(text).startswith(_decomposed(prefix))


def _decomposed(text: str) -> str:
    return unicodedata.normalize("NFD", text)


def begins_with(text: str, word: str) -> bool:
    """Whether a text begins with a whole word, as it is written but for its normal form.

    >>> begins_with("No, never", "No"), begins_with("Not sure", "No"), begins_with("是的", "是")
    (True, False, True)
    """
    text, word = _decomposed(text), _decomposed(word)
    return text.startswith(word) and len(word) in _ends(text, pieces_of(text))


def phrases_of(listed: str) -> list[str]:
    """The words and phrases of a list that a model wrote, with commas or ends of lines between them, in their order.

    >>> phrases_of('1. "very good"\\n2. kind, and *warm*.'), phrases_of("大雨、晴天")
    (['very good', 'kind', 'and *warm'], ['大雨', '晴天'])
    """
    parts = (_AROUND.sub("", part) for part in _COMMA.split(_NUMBERED.sub("", listed)))
    return [part for part in parts if part]


def redacted(text: str, words: Sequence[str], mask: str = REDACTED) -> str:
    """The text with a mask for each of the words and phrases, see :func:`places_of`.

    >>> redacted("Good, very good.", ["good"])
    '[REDACTED], very [REDACTED].'
    """
    for start, end in reversed(spans_of(words, text)):
        text = text[:start] + mask + text[end:]
    return text


def random_words(text: str, phrases: Sequence[str], generator: "np.random.Generator") -> list[str]:
    """As many different words of the text as ``phrases`` name in it, chosen at random."""
    pieces = pieces_of(text)
    every = {folded(piece): small(piece) for piece in pieces if is_word(piece)}
    named = {folded(pieces[place]) for phrase in phrases for run in places_of(phrase, pieces) for place in run}
    drawn = generator.choice(len(every), len(named & every.keys()), replace=False) if named else []
    return [list(every.values())[place] for place in sorted(drawn)]
