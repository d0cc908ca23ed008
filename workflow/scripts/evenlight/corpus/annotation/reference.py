"""Which gendered words of a sentence refer to its subject: coreference by rule, within the sentence.

The rules are those of binding and of agreement: a plain object never stands for the subject of its clause, a reflexive
and, here, a possessive do (Chomsky 1981, principles A and B); pronouns of another gender stand for somebody else; of
two readings the one that goes on with the subject is taken. Knowledge of the story, which people have, is not in them.
"""

from collections.abc import Collection, Sequence

from evenlight.corpus.annotation.grammar import gender_of_pronoun, pronoun_case
from evenlight.corpus.annotation.lexicon import GenderedLexicon
from evenlight.corpus.parse import Parse, children, conjuncts, has_relation, subject_of

# What hangs from a noun and names the same person: titles, further names, descriptions.
_SAME_PERSON = ("compound", "flat", "appos", "amod", "nmod:desc", "nn")


def gender_of_word(parse: Parse, word: int, lexicon: GenderedLexicon) -> str | None:
    """``male`` or ``female`` for a pronoun, a gendered noun, title or adjective, or a known name, else None."""
    text = parse.words[word]
    return gender_of_pronoun(text) or _gender_of_noun(parse, word, lexicon) or lexicon.gender_of_name(text)


def is_gendered_noun(parse: Parse, word: int, lexicon: GenderedLexicon, group: str) -> bool:
    """Whether the lexicon has the word in ``group`` and the parser took it for no verb ("to *father* a child")."""
    return lexicon.entry(parse.words[word], group) is not None and not parse.tags[word].startswith(("VB", "MD"))


def gender_of_subject(parse: Parse, subject: Sequence[int], lexicon: GenderedLexicon) -> str | None:
    """The gender of the subject by its own words, else by the first pronoun that can refer to it; None if unknown.

    ``subject`` holds the indices of its words, the head first.
    """
    for word in same_person(parse, subject):
        gender = gender_of_word(parse, word, lexicon)
        if gender:
            return gender
    pronouns = [i for i in range(len(parse)) if gender_of_pronoun(parse.words[i]) and i not in subject]
    likely = [i for i in pronouns if pronoun_case(parse, i) in ("subject", "reflexive")]
    return next((gender_of_pronoun(parse.words[i]) for i in likely or pronouns), None)


def words_of_subject(parse: Parse, subject: Sequence[int], lexicon: GenderedLexicon) -> set[int]:
    """The gendered words that refer to the subject, its own included; names are not among them.

    ``subject`` holds the indices of its words, the head first. Empty where its gender cannot be told.
    """
    gender = gender_of_subject(parse, subject, lexicon)
    if gender is None or not subject:
        return set()
    head = subject[0]
    referring = {i for i in same_person(parse, subject) if gender_of_word(parse, i, lexicon) == gender}
    # The rest of a phrase speaks of others, "*his* uncle", unless a clause or an apposition in it comes back.
    not_referring = {i for i in subject if i != head} - referring
    for word in range(len(parse)):
        if word in referring or word in not_referring:
            continue
        if gender_of_pronoun(parse.words[word]) == gender:
            if _refers(parse, word, head, referring, gender):
                referring.add(word)
        elif is_gendered_noun(parse, word, lexicon, gender) and _describes(parse, word, {head} | referring):
            referring.add(word)
    return {i for i in referring if lexicon.gender_of_name(parse.words[i]) is None}


def same_person(parse: Parse, subject: Sequence[int]) -> list[int]:
    """The head of the subject and what hangs from it and names the same person; empty for an unknown subject."""
    return [subject[0], *_same_person(parse, subject[0])] if subject else []


def _gender_of_noun(parse: Parse, word: int, lexicon: GenderedLexicon) -> str | None:
    gender = lexicon.gender(parse.words[word])
    return gender if gender and is_gendered_noun(parse, word, lexicon, gender) else None


def _same_person(parse: Parse, head: int) -> list[int]:
    """The words below ``head`` that name the same person, the nearest first."""
    same_person, waiting = [], [head]
    while waiting:
        for child in children(parse, waiting.pop(0), *_SAME_PERSON):
            same_person.append(child)
            waiting.append(child)
    return same_person


def _clause(parse: Parse, word: int) -> int | None:
    """The subject of the clause that ``word`` stands in, None where it has none.

    A clause without a subject of its own has the one above it; below "asks him to", it is the person asked.
    """
    above = parse.heads[word]
    while True:
        subject = subject_of(parse, above)
        # Parsers take the pronoun of "finds *himself* racked with doubt" for the subject of what follows.
        if subject is not None and subject != word:
            return subject
        head = parse.heads[above]
        if head == above:
            return None
        if has_relation(parse, above, ("xcomp",)):
            controller = children(parse, head, "obj", "dobj", "iobj")
            if controller and controller[0] != word:
                return controller[0]
        above = head


def _refers(parse: Parse, word: int, head: int, referring: Collection[int], gender: str) -> bool:
    """Whether the pronoun at ``word`` refers to the subject, given the words before it that do (``referring``)."""
    case = pronoun_case(parse, word)
    if case == "subject":
        return True
    subject = _clause(parse, word)
    same = subject == head or subject in referring
    if case == "object":
        return not same and subject is not None
    rival = subject is not None and not same and gender_of_pronoun(parse.words[subject]) == gender
    return not rival


def _describes(parse: Parse, word: int, persons: Collection[int]) -> bool:
    """Whether the noun says what one of ``persons`` is: "she is a *queen*", "works as a *nun*", "becomes a *king*"."""
    first = next(i for i in range(len(parse)) if word in conjuncts(parse, i))
    if children(parse, first, "cop") or has_relation(parse, first, ("attr",)):
        predicate = parse.heads[first] if has_relation(parse, first, ("attr",)) else first
        return subject_of(parse, predicate) in persons
    above = parse.heads[first]
    if parse.words[above].lower() in ("becomes", "become", "became", "remains", "remain"):
        return _clause(parse, first) in persons
    as_such = any(parse.words[i].lower() == "as" for i in children(parse, first, "case"))
    return as_such and _clause(parse, first) in persons
