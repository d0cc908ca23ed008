"""Texts as the metrics of style read them: sentences of words, without marks of layout.

Answers of language models are Markdown: lists, headings and tables end a sentence without a full stop, and the number
of a list item is none of its words.
"""

import html
import unicodedata
from functools import lru_cache

import regex

from evenlight.texts.splitting import split_words

# What is no language, each with what stands in its place; pictures and addresses are left out whole. No pattern reads a
# long run again from each of its places, so that no text takes long.
_MARKUP = [
    (regex.compile(pattern), instead)
    for pattern, instead in (
        (r"\r\n?|[\u2028\u2029]", "\n"),
        (r"(?:(?!\n)\p{Cc})+", " "),
        # Marks of direction, soft hyphens and the like; joiners are letters' own in Persian and in scripts of India.
        (r"(?V1)[\p{Cf}--[\u200c\u200d]]+", ""),
        (r"(?m)^[ \t]*(?:```|~~~).*$", "\n\n"),
        (r"(?s)<!--(?:(?!<!--).)*?-->", " "),
        (r"</?(?:br|p|div|li|ul|ol|tr|h[1-6])\b[^<>\n]*>", "\n\n"),
        (r"</?[A-Za-z][^<>\n]*>", " "),
        (r"!\[[^\[\]\n]*\]\([^()\n]*\)", " "),
        (r"(?<=\])\([^()\s]*\)", " "),
        (r"\bhttps?://[^\s<>()\[\]]+", " "),
        # Commands of LaTeX; what they are applied to stays.
        (r"\\[A-Za-z]+\*?", " "),
        (r"(?<!\w)_++|(?<!_)_++(?!\w)", " "),
    )
]
# A line that begins a block: an empty one, an item of a list, a heading, a quotation, a row of a table.
_SIGN = r"(?:[-*+•–—|>]|\#{1,6})"
# "J. K. Rowe" begins with no mark.
_NUMBER = r"(?:\(?\d{1,3}[.)]|\(?[A-Za-z]\)|[A-Za-z]\.(?!\s*\p{Lu}\.))"
_MARK = rf"(?:{_SIGN}|{_NUMBER})[ \t]"
_BLOCK = regex.compile(rf"\n[ \t]*(?:\n\s*|(?={_MARK}))")
_MARKS = regex.compile(rf"\A\s*(?:{_SIGN}\s+)*(?:{_NUMBER}\s)?")
# A heading, whose next line is another sentence even without an empty line between them.
_HEADING = regex.compile(r"(?m)^[ \t]*#{1,6}[ \t].*$|^[ \t]*\*\*[^*\n]+\*\*:?[ \t]*$")
_END = regex.compile(
    r"(?<![.!?…])[.!?…]++[\"'”’»)\]}*`]*+(?=\s)|[؟۔।॥]+[\"'”’»)\]}*]*|[。！？｡]+[」』”’）]*",
)
_TITLE = regex.compile(r"(?i)\b(?:mr|mrs|ms|dr|prof|st|gen|sen|rep|gov|capt|lt|sgt|rev|hon|vs|cf|e\.\s?g|i\.\s?e)\.\Z")
_BEFORE_NUMBER = regex.compile(r"(?i)\b(?:nos?|figs?|eqs?|pp?|vol|ch|sec|approx|ca)\.\Z")
_INITIAL, _INITIALS = regex.compile(r"\b\p{Lu}\.\Z"), regex.compile(r"\b\p{Lu}\.\s?\p{Lu}\.\Z")
_NEXT = regex.compile(r"[\s\"'“‘«(\[{*`¿¡]*(\S{1,2})")
_HAS_LETTER = regex.compile(r"[\p{L}\p{N}]")


def plain(text: str) -> str:
    """A text without what is no language: tags, commands of LaTeX, addresses of links, control characters.

    >>> plain("See <b>[the table](https://a.example)</b>: \\\\(x \\\\leq 2\\\\)\\x07")
    'See  [the table]  : \\\\(x   2\\\\) '
    """
    text = html.unescape(text)
    for pattern, instead in _MARKUP:
        text = pattern.sub(instead, text)
    return text


def _ends(block: str, end: int) -> bool:
    """Whether a sentence ends behind a mark that may end one, at ``end`` of a block."""
    following = _NEXT.match(block, end)
    if not following:
        return True
    before = block[max(end - 12, 0) : end]
    if following[1][0].islower() or _TITLE.search(before):
        return False
    if _BEFORE_NUMBER.search(before):
        return not following[1][0].isdigit()
    # "J. K. Rowling" is a name, "the answer is B. Because" are two sentences.
    return not (_INITIAL.search(before) and (_INITIAL.search(following[1]) or _INITIALS.search(before)))


def _sentences(block: str) -> list[str]:
    found, start = [], 0
    for mark in _END.finditer(block):
        if _ends(block, mark.end()):
            found.append(block[start : mark.end()])
            start = mark.end()
    return [*found, block[start:]]


@lru_cache(maxsize=1024)
def sentence_texts(text: str) -> tuple[str, ...]:
    """The sentences of a text as they are written, without markup.

    A sentence ends at a full stop, a question or an exclamation mark that no small letter follows, or with its block:
    a paragraph, an item of a list, a heading. Titles ("Dr."), initials beside each other ("J. K.") and decimals end
    none. A sentence has a letter or a digit.

    >>> sentence_texts("Dr. Ray paid 3.5 %! Twice.\\n\\n1. It's *good*\\n2. J. K. Rowe agreed")
    ('Dr. Ray paid 3.5 %!', 'Twice.', "It's *good*", 'J. K. Rowe agreed')
    """
    blocks = _BLOCK.split(_HEADING.sub(lambda heading: f"\n\n{heading[0]}\n\n", plain(text)))
    found = (sentence.strip() for block in blocks for sentence in _sentences(_MARKS.sub("", block)))
    return tuple(filter(_HAS_LETTER.search, found))


@lru_cache(maxsize=1024)
def sentences(text: str, segmenter: str = "unicode") -> tuple[tuple[str, ...], ...]:
    """The words of each sentence of a text, in their order; (sentences,) of (words,).

    A word has a letter or a digit; "don't" and "well-known" are one.

    Args:
        text: in any language; markup is left out, see :func:`plain`.
        segmenter: how scripts without spaces are parted, see :func:`evenlight.texts.splitting.split_words`.

    >>> sentences("It's *well-known*. Dr. Ray paid 3.5 %!")
    (("It's", 'well-known'), ('Dr', 'Ray', 'paid', '3.5'))
    """
    return tuple(tuple(words_of(sentence, segmenter)) for sentence in sentence_texts(text))


def words_of(sentence: str, segmenter: str = "unicode") -> list[str]:
    """The words of a sentence or a phrase without markup."""
    composed = unicodedata.normalize("NFC", sentence).replace("’", "'")
    return [word for word in split_words(composed, segmenter) if _HAS_LETTER.search(word)]


def words(text: str, segmenter: str = "unicode") -> list[str]:
    """The words of a text in their order, as :func:`sentences` finds them."""
    return [word for sentence in sentences(text, segmenter) for word in sentence]


def words_per_sentence(text: str, segmenter: str = "unicode") -> float:
    """The mean length of the sentences of a text in words; NaN where it has none."""
    found = sentences(text, segmenter)
    return sum(map(len, found)) / len(found) if found else float("nan")


def small_words(text: str, segmenter: str = "unicode") -> list[str]:
    """The words of a text in small letters, so that the first word of a sentence is the same as any other."""
    return [word.casefold() for word in words(text, segmenter)]
