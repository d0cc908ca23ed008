"""The forms of a sentence, one per scope and group, drafted by rule before a person sees them.

The conventions are those of GECO (Wilming et al., "GECOBench", appendix A.1.2): in the scope ``all`` every gendered
word changes, in the scope ``subject`` those that refer to the grammatical subject; names give way to pronouns, titles
and family names stay; the neutral form has singular "they", and the verbs agree with it. A form has a word for every
word of the source. A word that has no counterpart, such as the second of a name that became a pronoun, is left empty;
a word may stand for several ("parent's sibling").
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evenlight.core.seeds import generator_for
from evenlight.corpus.annotation import GROUPS, SCOPES
from evenlight.corpus.annotation.grammar import gender_of_pronoun, plural_verb, pronoun, pronoun_case, redrafted_pronoun
from evenlight.corpus.annotation.lexicon import GenderedLexicon, counterpart
from evenlight.corpus.annotation.reference import is_gendered_noun, same_person, words_of_subject
from evenlight.corpus.parse import Parse, has_relation, parse_of, subjects

# (name, group) → the name to stand in its place.
Draw = Callable[[str, str], str]

_POSSESSIVE_MARKS = ("'s", "’s", "'", "’")
# How the words of a name hang together, beside "flat"; a name that hangs so from a noun after it describes that noun.
_IN_NAMES = ("compound", "amod", "nn")
_OPENING = frozenset({"``", "-LRB-", "''", ":", '"', "(", "“", "‘"})


@dataclass(frozen=True)
class DraftedForm:
    """One form of a sentence; both lists have an entry per word of the source."""

    words: tuple[str, ...]  # "" where the form leaves out a word of the source
    ground_truth: tuple[int, ...]  # 1 where the word is not the same in the forms of all groups, else 0


def drafts(
    parse: Parse, subject: Sequence[int], scope: str, lexicon: GenderedLexicon, draw: Draw | None = None
) -> dict[str, DraftedForm]:
    """The forms of one scope, by group.

    ``subject`` holds the indices of the subject's words, the head first, and may be empty where it is not known.
    With ``draw`` names give way to other names, without it to pronouns.
    """
    forms = {group: drafted_words(parse, subject, scope, group, lexicon, draw) for group in GROUPS}
    ground_truth = tuple(int(len(set(column)) > 1) for column in zip(*forms.values(), strict=True))
    return {group: DraftedForm(words, ground_truth) for group, words in forms.items()}


def drafted_words(
    parse: Parse, subject: Sequence[int], scope: str, group: str, lexicon: GenderedLexicon, draw: Draw | None = None
) -> tuple[str, ...]:
    """The words of one form alone; see :func:`drafts`."""
    words = list(parse.words)
    they: set[int] = set()
    of_subject = words_of_subject(parse, subject, lexicon) if scope == "subject" else None
    for i in range(len(parse)) if of_subject is None else sorted(of_subject):
        gender = gender_of_pronoun(parse.words[i])
        if gender and gender != group:
            words[i] = redrafted_pronoun(parse, i, group)
            if pronoun_case(parse, i) == "subject":
                they.add(i)
        elif not gender:
            words[i] = _other_noun(parse, i, group, lexicon)
    for name in _names(parse, subject, scope, lexicon):
        if draw:
            words[name[0]] = draw(parse.words[name[0]], group)
        else:
            they |= _replace_by_pronoun(words, parse, name, group, lexicon)
    if group == "neutral":
        for verb in _verbs_of(parse, they):
            words[verb] = plural_verb(parse, verb)
    return tuple(words)


def name_drawer(lexicon: GenderedLexicon, seed: int, sentence_id: str) -> Draw:
    """Draws a given name for a name: the same one wherever the name comes up in the sentence, and never itself."""

    def draw(name: str, group: str) -> str:
        other_names = [candidate for candidate in lexicon.names[group] if candidate != name]
        return str(generator_for(seed, sentence_id, name, group, "name").choice(other_names or [name]))

    return draw


def draft_rows(
    sentences: Sequence[Mapping], lexicon: GenderedLexicon, names: str = "pronoun", seed: int = 0
) -> Iterator[dict[str, object]]:
    """Rows of the DRAFTS contract, six for each row of CANDIDATES: two scopes of three groups.

    ``names`` is ``pronoun`` or ``drawn``; drawn names depend on ``seed`` and ``sentence_id``.
    """
    for sentence in sentences:
        parse = parse_of(sentence)
        draw = name_drawer(lexicon, seed, sentence["sentence_id"]) if names == "drawn" else None
        for scope in SCOPES:
            for group, form in drafts(parse, sentence["subject"], scope, lexicon, draw).items():
                yield {
                    "sentence_id": sentence["sentence_id"],
                    "scope": scope,
                    "group": group,
                    "words": list(form.words),
                    "ground_truth": list(form.ground_truth),
                }


def _other_noun(parse: Parse, word: int, group: str, lexicon: GenderedLexicon) -> str:
    """The gendered noun, title or adjective at ``word`` for another group; any other word as it is."""
    text = parse.words[word]
    if lexicon.entry(text, group) and group != "neutral":
        return text
    for source in ("male", "female"):
        if is_gendered_noun(parse, word, lexicon, source):
            return counterpart(lexicon, text, source, group) or text
    return text


def _names(parse: Parse, subject: Sequence[int], scope: str, lexicon: GenderedLexicon) -> list[list[int]]:
    """The names of persons that the form replaces, each as the indices of its words.

    Persons are the subject, the listed given names, other subjects, and whoever has a name of these. Without a list
    of places there is no telling "London" from "Darcy" elsewhere, so other names are left for a person to edit.
    """
    runs = list(_runs(parse, lexicon))
    subject_words = set(same_person(parse, subject))
    subject_runs = [run for run in runs if subject_words & set(run)]
    if scope == "subject":
        persons = subject_runs
    else:
        persons = [run for run in runs if run in subject_runs or _is_person(parse, run, lexicon)]
    called = {parse.words[i] for run in persons for i in run}
    persons = [run for run in runs if called & {parse.words[i] for i in run}]
    return [run for run in persons if not _is_family_name(parse, run, lexicon)]


def _runs(parse: Parse, lexicon: GenderedLexicon) -> Iterator[list[int]]:
    """Sequences of proper nouns that may name a person, without the titles before them.

    "The Rachel" is a ship and the "Longbourn estate" a place: names of persons have no article and describe no noun.
    """
    run: list[int] = []
    for i in range(len(parse) + 1):
        inside = i < len(parse) and parse.tags[i] in ("NNP", "PROPN") and not lexicon.is_title(parse.words[i])
        # Taggers also take "Hers" and "Mother" for names.
        inside = inside and not (gender_of_pronoun(parse.words[i]) or _is_any_noun(parse, i, lexicon))
        if run and not (inside and _go_together(parse, run, i)):
            head = _head_of(parse, run)
            describes = has_relation(parse, head, _IN_NAMES) and parse.heads[head] > head
            if not describes and not (run[0] and parse.tags[run[0] - 1] in ("DT", "DET")):
                yield run
            run = []
        if inside:
            run.append(i)


def _go_together(parse: Parse, run: Sequence[int], word: int) -> bool:
    """Whether ``word`` goes on with the name ``run``: "Yesterday Anna" are two."""
    if parse.heads[word] in run or any(parse.heads[i] == word for i in run):
        return True
    same_head = parse.heads[word] == parse.heads[run[-1]] > word
    return same_head and all(has_relation(parse, i, _IN_NAMES) for i in (run[-1], word))


def _head_of(parse: Parse, run: Sequence[int]) -> int:
    """The word of a sequence that hangs from outside of it."""
    return next((i for i in run if parse.heads[i] not in run or parse.heads[i] == i), run[0])


def _is_any_noun(parse: Parse, word: int, lexicon: GenderedLexicon) -> bool:
    """Whether the word is a gendered noun of either group."""
    return any(is_gendered_noun(parse, word, lexicon, group) for group in ("male", "female"))


def _is_person(parse: Parse, run: Sequence[int], lexicon: GenderedLexicon) -> bool:
    is_subject = any(has_relation(parse, i, ("nsubj", "nsubjpass")) for i in run)
    return is_subject or lexicon.is_given_name(parse.words[run[0]])


def _is_family_name(parse: Parse, run: Sequence[int], lexicon: GenderedLexicon) -> bool:
    """Whether a title stands before the name and changes in its stead: "Mr. Darcy".

    In "Uncle John" it does not suffice, but there the title is a noun as well and can stand for the whole.
    """
    title = parse.words[run[0] - 1] if run[0] else ""
    if not lexicon.is_title(title):
        return False
    noun = any(lexicon.entry(title.lower(), group) for group in ("male", "female"))
    return not (noun and lexicon.gender_of_name(parse.words[run[0]]))


def _replace_by_pronoun(
    words: list[str], parse: Parse, name: Sequence[int], group: str, lexicon: GenderedLexicon
) -> set[int]:
    """Put a pronoun in the place of a name, and return the words that are subjects now."""
    first, end = name[0], name[-1] + 1
    for i in name:
        words[i] = ""
    if first > 0 and _is_any_noun(parse, first - 1, lexicon):
        # "Her brother John": the noun already says who.
        return set()
    owner = end < len(parse) and parse.words[end] in _POSSESSIVE_MARKS and parse.tags[end] in ("POS", "PART")
    case = "possessive" if owner else _case_of_name(parse, name)
    form = pronoun(case, group)
    begins = all(tag in _OPENING for tag in parse.tags[:first])
    words[first] = form.capitalize() if begins else form
    if owner:
        words[end] = ""
    return set(name) if case == "subject" else set()


def _case_of_name(parse: Parse, name: Sequence[int]) -> str:
    """``subject`` or ``object``, by the arc to the name's head; in a coordination, by that of its first member."""
    head = _head_of(parse, name)
    while has_relation(parse, head, ("conj",)) and parse.heads[head] != head:
        head = parse.heads[head]
    return "subject" if has_relation(parse, head, ("nsubj", "nsubjpass", "root")) else "object"


def _verbs_of(parse: Parse, they: set[int]) -> set[int]:
    """The verbs that agree with one of the words ``they``: by the arcs, and next to it where these have gone wrong."""
    agreeing = {verb for subject, verbs in subjects(parse) if subject in they for verb in verbs}
    for word in they:
        following = next((i for i in range(word + 1, len(parse)) if parse.tags[i] != "RB"), None)
        if following is not None and _shows_number(parse, following):
            agreeing.add(following)
    # A verb with a coordinated subject is plural already; only what is singular changes.
    return {verb for verb in agreeing if _shows_number(parse, verb)}


def _shows_number(parse: Parse, verb: int) -> bool:
    return parse.tags[verb] in ("VBZ", "AUX", "VERB") or parse.words[verb].lower() == "was"
