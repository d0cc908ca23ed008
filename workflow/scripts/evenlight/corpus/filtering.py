"""The rules that leave of all sentences those worth a person's time, and the count of what each removed.

They follow the description in GECOBench's three-class paper (appendix, "Data Generation"): third person singular in the
main clause, a human subject, one whole sentence of a plot. A *rule* tells of each sentence whether it may stay.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import pandas as pd

from evenlight.core.contracts.corpus import SENTENCES
from evenlight.core.errors import InputError
from evenlight.core.tables import read_table
from evenlight.corpus import parse as syntax
from evenlight.corpus.parse import Parse, parse_of


@dataclass(frozen=True)
class ParsedSentence:
    """A parsed sentence, the text as it was written, and where it comes from."""

    parse: Parse
    text: str
    book: int
    author: str

    @cached_property
    def clause(self) -> int:
        """The predicate that is judged: the first main clause with subject and third person singular, else the root."""
        clauses = syntax.main_clauses(self.parse)
        return next((clause for clause in clauses if _is_third_with_subject(self.parse, clause)), clauses[0])

    @cached_property
    def verb(self) -> int | None:
        """The finite verb of that clause."""
        return syntax.finite_verb(self.parse, self.clause)

    @cached_property
    def subject(self) -> int | None:
        """The head of that clause's subject."""
        return syntax.subject_of(self.parse, self.clause)


def _is_third_with_subject(parse: Parse, clause: int) -> bool:
    verb = syntax.finite_verb(parse, clause)
    has_subject = syntax.subject_of(parse, clause) is not None
    return has_subject and verb is not None and syntax.is_third_person_singular(parse, verb)


@dataclass(frozen=True)
class FilterContext:
    """What a rule needs to know beside the sentence: the settings, and what all sentences together tell."""

    max_words: int
    similarity: float  # from where on two sentences count as the same, see `distinct`
    person_nouns: frozenset[str]
    names: Mapping[int, Counter]  # of each book, how often each of its names occurs


def context_of(
    sentences: Sequence[ParsedSentence], person_nouns: frozenset[str], max_words: int = 30, similarity: float = 0.7
) -> FilterContext:
    """The context of the rules; names are counted over all the sentences of a book."""
    names: dict[int, Counter] = {}
    certain: set[tuple[int, str]] = set()
    for book, parse in ((sentence.book, sentence.parse) for sentence in sentences):
        capitalised = [i for i in range(len(parse)) if _is_capitalised(parse.words[i])]
        names.setdefault(book, Counter()).update(parse.words[i] for i in capitalised)
        # The first word has its capital from its place: it is a name only if the tagger says so.
        certain |= {(book, parse.words[i]) for i in capitalised if i > 0 or syntax.is_proper_noun(parse, i)}
    for book, counts in names.items():
        names[book] = Counter({word: count for word, count in counts.items() if (book, word) in certain})
    return FilterContext(max_words, similarity, person_nouns, names)


def _is_capitalised(word: str) -> bool:
    return word[:1].isupper()


# Words that stand for a noun or count it, in Penn's tags and UD's.
_CLOSED = frozenset({"PRP", "PRP$", "DT", "PDT", "WDT", "WP", "EX", "CD", "PRON", "DET", "NUM"})


def third_person_singular(sentence: ParsedSentence, context: FilterContext) -> bool:
    """The main clause has a finite verb in the third person singular: its predicate, copula or first auxiliary."""
    return sentence.verb is not None and syntax.is_third_person_singular(sentence.parse, sentence.verb)


def has_subject(sentence: ParsedSentence, context: FilterContext) -> bool:
    """A subject hangs from the predicate of the main clause."""
    return sentence.subject is not None


def subject_is_not_it(sentence: ParsedSentence, context: FilterContext) -> bool:
    """The subject is not "it"."""
    return sentence.subject is None or sentence.parse.words[sentence.subject].lower() != "it"


def short_enough(sentence: ParsedSentence, context: FilterContext) -> bool:
    """At most ``max_words`` tokens, punctuation counted."""
    return len(sentence.parse) <= context.max_words


def ends_with_period(sentence: ParsedSentence, context: FilterContext) -> bool:
    """The last token is a period, not a question mark, a colon or an ellipsis."""
    return sentence.parse.words[-1] == "."


def starts_with_capital(sentence: ParsedSentence, context: FilterContext) -> bool:
    """Its first letter is a capital: what starts in lower case is the rest of a sentence cut in two."""
    first = next((letter for letter in sentence.text if letter.isalpha()), "")
    return first.isupper()


_QUOTED = re.compile(r'"([^"]*)"|“([^”]*)”|‘([^’]*)’(?!\w)|``(.*?)\'\'')
_MARKS = re.compile(r'["“”]|``|\'\'')


def no_quotation(sentence: ParsedSentence, context: FilterContext) -> bool:
    """No direct speech: nothing between quotation marks that has a finite verb, and no mark without its partner.

    Single words and titles in quotation marks may stay, as in GECO.
    """
    parse = sentence.parse
    if _MARKS.search(_QUOTED.sub("", sentence.text)):
        return False
    finite = {parse.words[i] for i in range(len(parse)) if syntax.is_finite(parse, i)}
    quoted = " ".join("".join(part for part in match if part) for match in _QUOTED.findall(sentence.text))
    return finite.isdisjoint(re.findall(r"\w+", quoted))


_CITATION = re.compile(
    r"\[[^\]]*\]"  # [1], [citation needed]
    r"|\bet al\b|\bibid\b|\bop\. cit\b|\bpp?\. ?\d|\bISBN\b|\bdoi\b|https?://|www\."
    r"|\([^()]*\b(1[5-9]|20)\d\d\b[^()]*\)",  # (Miller 1984, 12)
    re.IGNORECASE,
)


def no_citation(sentence: ParsedSentence, context: FilterContext) -> bool:
    """No mark of a citation: brackets with a number, "et al.", page numbers, addresses, a year in parentheses."""
    return not _CITATION.search(sentence.text)


_HEADING = re.compile(
    r"^(chapter|part|book|volume|act|scene|section)\s+([ivxlc]+|\d+|\w+)\s*[.:–-]|\[ ?edit|={2,}", re.I
)


def no_heading(sentence: ParsedSentence, context: FilterContext) -> bool:
    """No heading, alone or run into the sentence: "Chapter IV: ...", an edit link, a line break inside."""
    return not _HEADING.search(sentence.text) and "\n" not in sentence.text


def no_author(sentence: ParsedSentence, context: FilterContext) -> bool:
    """The surname of the book's author is not mentioned: such sentences are about the book, not of its plot.

    First names do not count, since characters share them.
    """
    return surname(sentence.author) not in sentence.parse.words


def surname(author: str) -> str:
    """The surname in "Jane Austen" and in "Austen, Jane"; additions such as "Jr." are passed over."""
    words = author.partition(",")[0].split()
    while len(words) > 1 and words[-1].rstrip(".") in ("Jr", "Sr", "I", "II", "III"):
        words.pop()
    return words[-1] if words else ""


def human_subject(sentence: ParsedSentence, context: FilterContext) -> bool:
    """The subject is a name, a personal pronoun with a gender (he, she), or a noun of the lexicon of people."""
    if sentence.subject is None:
        return False
    parse, subject = sentence.parse, sentence.subject
    word = parse.words[subject]
    return (
        word.lower() in ("he", "she")
        or (
            syntax.feature(parse, subject, "PronType") == "Prs" and syntax.feature(parse, subject, "Gender") in _GENDERS
        )
        or word.lower() in context.person_nouns
        or _is_name(sentence, context)
    )


_GENDERS = ("Masc", "Fem", "Fem,Masc")


def _is_name(sentence: ParsedSentence, context: FilterContext) -> bool:
    """Whether the subject is a name: so tagged, or another word with a capital that is a name elsewhere in the book."""
    parse, subject = sentence.parse, sentence.subject
    if syntax.is_proper_noun(parse, subject):
        return True
    # Taggers take names that they have not met for other words: "Odysseus", "Mr. Collins", "Marlow".
    return parse.tags[subject] not in _CLOSED and context.names[sentence.book][parse.words[subject]] > 0


def recurring_name(sentence: ParsedSentence, context: FilterContext) -> bool:
    """A subject that is a name occurs at least twice in the book's sentences; others are rarely of the plot.

    Of a name in several words ("Mr. Bingley", "Eliza Thorne") one that is not a title suffices.
    """
    if sentence.subject is None or not _is_name(sentence, context):
        return True
    parse, subject = sentence.parse, sentence.subject
    parts = [subject, *syntax.children(parse, subject, "flat", "compound", "nmod", "appos", "nn")]
    parts = [parse.words[i] for i in parts if _is_capitalised(parse.words[i]) and not parse.words[i].endswith(".")]
    return any(context.names[sentence.book][word] >= 2 for word in parts)


def distinct(sentences: Sequence[ParsedSentence], context: FilterContext) -> list[bool]:
    """Whether no earlier sentence that stays is the same or nearly so.

    Two sentences are nearly the same when the Jaccard index of their sets of word pairs (neighbours in lower case,
    the borders counted as words, punctuation left out) is at least ``similarity``: 0.7 tolerates one other word in
    twelve. Sentences are compared only where they share one of their rarest pairs; with sets of n pairs the rarest
    n − ⌈similarity · n⌉ + 1 must meet in any such two (prefix filtering; Chaudhuri, Ganti and Kaushik 2006).
    """
    pairs = [_word_pairs(sentence.parse) for sentence in sentences]
    frequency = Counter(pair for word_pairs in pairs for pair in word_pairs)
    kept: dict[tuple[str, str], list[int]] = {}
    verdicts = []
    for i, word_pairs in enumerate(pairs):
        needed = math.ceil(context.similarity * len(word_pairs) - 1e-9)
        rarest = sorted(word_pairs, key=lambda pair: (frequency[pair], pair))[: len(word_pairs) - needed + 1]
        alike = {j for pair in rarest for j in kept.get(pair, ())}
        new = not any(len(word_pairs & pairs[j]) >= context.similarity * len(word_pairs | pairs[j]) for j in alike)
        verdicts.append(new)
        if new:
            for pair in rarest:
                kept.setdefault(pair, []).append(i)
    return verdicts


def _word_pairs(parse: Parse) -> frozenset[tuple[str, str]]:
    words = ["", *(word.lower() for word in parse.words if any(map(str.isalnum, word))), ""]
    return frozenset(pairwise(words))


Rule = Callable[[Sequence[ParsedSentence], FilterContext], list[bool]]


def of_each(rule: Callable[[ParsedSentence, FilterContext], bool]) -> Rule:
    """A rule over all sentences from one that looks at each by itself."""
    return lambda sentences, context: [rule(sentence, context) for sentence in sentences]


_EACH = (
    third_person_singular,
    has_subject,
    subject_is_not_it,
    short_enough,
    ends_with_period,
    starts_with_capital,
    no_quotation,
    no_citation,
    no_heading,
    no_author,
    human_subject,
    recurring_name,
)
# In the order of application; `distinct` is last, so that a sentence is not lost to a twin that another rule removes.
RULES: dict[str, Rule] = {rule.__name__: of_each(rule) for rule in _EACH} | {"distinct": distinct}

# What is published of GECO: sentences found, left after the filter, and left after people had looked at them; the last
# became 4,830 forms.
PUBLISHED = {"all": "over 19,500", "candidates": "over 7,800", "accepted by people": "1,610"}


def apply_rules(sentences: Sequence[ParsedSentence], context: FilterContext) -> tuple[list[int], pd.DataFrame]:
    """The places of the sentences that pass every rule, and what each rule did.

    The table has a row per rule in the order of :data:`RULES`, between rows for the published numbers, with columns
    ``rule``, ``removed_first`` (sentences that passed all rules before and fail this one), ``removed_alone`` (sentences
    that this rule would remove if it were the only one), ``left`` (after it) and ``published``.
    """
    left = list(range(len(sentences)))
    rows = [{"rule": "all", "left": len(left)}]
    for name, rule in RULES.items():
        verdicts = rule([sentences[i] for i in left], context)
        staying = [i for i, stays in zip(left, verdicts, strict=True) if stays]
        alone = rule(sentences, context).count(False)
        rows.append(
            {"rule": name, "removed_first": len(left) - len(staying), "removed_alone": alone, "left": len(staying)}
        )
        left = staying
    rows += [{"rule": "candidates", "left": len(left)}, {"rule": "accepted by people"}]
    table = pd.DataFrame(rows, columns=["rule", "removed_first", "removed_alone", "left"]).astype(
        {"removed_first": "Int64", "removed_alone": "Int64", "left": "Int64"}
    )
    return left, table.assign(published=table["rule"].map(PUBLISHED))


def read_person_lexicon(path: str | Path) -> frozenset[str]:
    """The nouns of a lexicon, in lower case: one a line, comments after ``#``.

    Raises :class:`InputError` where the file is missing, or a line holds more than one word.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not a readable lexicon ({error}); give a text file with one noun a line") from None
    nouns = set()
    for number, line in enumerate(lines, 1):
        entry = line.partition("#")[0].strip()
        if len(entry.split()) > 1:
            raise InputError(f"{path}: line {number}, '{entry}', holds several words; write one noun a line")
        if entry:
            nouns.add(entry.lower())
    if not nouns:
        raise InputError(f"{path}: no noun in it; write one noun a line")
    return frozenset(nouns)


def read_sentences(path: str | Path) -> tuple[pd.DataFrame, list[ParsedSentence]]:
    """The table of sentences and the same as values, row by row."""
    table = read_table(path, SENTENCES)
    sentences = [
        ParsedSentence(parse_of(row), row["text"], row["book_id"], row["author"]) for row in table.to_dict("records")
    ]
    return table, sentences


def candidates(table: pd.DataFrame, sentences: Sequence[ParsedSentence], rows: Sequence[int]) -> pd.DataFrame:
    """The ``rows`` of ``table``, given by their numbers, with the finite verb and the subject that the rules found."""
    chosen = [sentences[i] for i in rows]
    return table.iloc[list(rows)].assign(
        root=[sentence.verb for sentence in chosen],
        subject=[syntax.noun_phrase(sentence.parse, sentence.subject) for sentence in chosen],
    )
