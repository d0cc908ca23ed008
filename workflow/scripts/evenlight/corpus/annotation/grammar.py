"""English pronouns and the verbs that agree with them, word by word."""

from evenlight.corpus.annotation.lexicon import like
from evenlight.corpus.parse import Parse, has_relation

_CASES = ("subject", "object", "possessive", "independent", "reflexive")
# One person, so "themself": the form that GECO's annotators chose, too.
_PRONOUNS = {
    "male": ("he", "him", "his", "his", "himself"),
    "female": ("she", "her", "her", "hers", "herself"),
    "neutral": ("they", "them", "their", "theirs", "themself"),
}
_GENDERS = {word: group for group in ("male", "female") for word in _PRONOUNS[group]}
# "he's" as one word, as other tokenizers than spaCy's leave it; "he's" may be "he is" or "he has", the first by far.
_CONTRACTIONS = {"'s": "'re", "’s": "’re"}

_IRREGULAR = {"is": "are", "was": "were", "has": "have", "does": "do", "goes": "go", "undergoes": "undergo"}
_ENDING_IN_IE = {"dies", "lies", "ties", "vies", "belies", "unties", "underlies"}
# Verbs in -e before the s, where the rules for -es would take the e away, too.
_ENDING_IN_E = {"aches", "caches", "axes", "shoes", "tiptoes", "toes", "hoes", "canoes"}
_ENDING_IN_S = {"focuses", "biases", "gases", "buses", "canvases", "quizzes", "whizzes", "fizzes"}
_DOUBLED = {"quizzes": "quiz", "gasses": "gas"}

_NOUNS = ("NN", "NNS")
_BEFORE_NOUNS = ("JJ", "JJR", "JJS", "VBN", "VBG", "RBS", "RBR", "CD", "``", "-LRB-", "-RRB-", ",")
# After these "her" is who does it, not whose: "makes her fall".
_CAUSATIVES = {"make", "let", "see", "watch", "hear", "help", "have", "feel", "notice"}


def gender_of_pronoun(word: str) -> str | None:
    """``male`` or ``female`` for a form of he or she, contracted ones included, else None."""
    return _GENDERS.get(_split(word)[0].lower())


def pronoun(case: str, group: str) -> str:
    """The pronoun of a group; ``case`` is subject, object, possessive, independent ("hers") or reflexive."""
    return _PRONOUNS[group][_CASES.index(case)]


def redrafted_pronoun(parse: Parse, word: int, group: str) -> str:
    """The pronoun at ``word`` for another group: in the same case, capitalised alike, its contraction kept."""
    stem, contraction = _split(parse.words[word])
    if group == "neutral":
        contraction = _CONTRACTIONS.get(contraction, contraction)
    # "I" apart, a pronoun of one letter does not exist: a capital is that of a sentence, unless all are.
    return like(stem, pronoun(pronoun_case(parse, word), group)) + contraction


def pronoun_case(parse: Parse, word: int) -> str:
    """The case of the form of he or she at ``word``; see :func:`pronoun`.

    "His" and "her" stand for two cases each, between which tag, arc and the following word decide.
    """
    form = _split(parse.words[word])[0].lower()
    if form == "his":
        followed = word + 1 < len(parse) and not _ends_phrase(parse, word + 1)
        return "possessive" if followed or parse.relations[word] in ("nmod:poss", "poss") else "independent"
    if form == "her":
        return "possessive" if _is_possessive(parse, word) else "object"
    return next(
        case for group in ("male", "female") for case, i in zip(_CASES, _PRONOUNS[group], strict=True) if i == form
    )


def plural_verb(parse: Parse, verb: int) -> str:
    """The verb at ``verb`` as it agrees with "they": is → are, has → have, tries → try; other forms stay."""
    word = parse.words[verb]
    if word.lower() == "was":
        return like(word, "were")
    if word in ("'s", "’s"):
        return word[0] + ("ve" if _stands_for_has(parse, verb) else "re")
    if parse.tags[verb] not in ("VBZ", "AUX", "VERB"):
        return word
    return like(word, _base_form(word.lower()))


def _base_form(verb: str) -> str:
    """The base form of a verb in the third person singular, by the rules of spelling."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb in _DOUBLED:
        return _DOUBLED[verb]
    if verb in _ENDING_IN_IE or verb in _ENDING_IN_E or not verb.endswith("s") or verb.endswith("ss"):
        return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb
    if verb.endswith("ies"):
        return verb[:-3] + "y"
    if verb in _ENDING_IN_S or verb.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")):
        return verb[:-2]
    return verb[:-1]


def _split(word: str) -> tuple[str, str]:
    """A word before and from its apostrophe: "he's" → "he", "'s"."""
    apostrophe = max(word.find("'"), word.find("’"))
    return (word[:apostrophe], word[apostrophe:]) if apostrophe > 0 else (word, "")


def _stands_for_has(parse: Parse, verb: int) -> bool:
    """Whether "'s" is "has": before "been" and "got", or as the auxiliary of an active participle."""
    following = {word.lower() for word in parse.words[verb + 1 : verb + 3]}
    head = parse.heads[verb]
    active = parse.tags[head] == "VBN" and parse.relations[verb] == "aux" and head != verb
    return bool(following & {"been", "got"}) or active


def _ends_phrase(parse: Parse, word: int) -> bool:
    tag = parse.tags[word]
    return tag in (".", ",", ":", "CC", "IN", "TO", "-RRB-", "''", "VBZ", "VBD", "VBP", "WDT", "WP", "PUNCT")


def _is_possessive(parse: Parse, word: int) -> bool:
    """Whether "her" is whose rather than whom.

    Taggers know it best from what follows: a noun, perhaps behind adjectives. Where that is a word of another kind,
    the tag decides, and where the tagger may have taken a noun for a verb ("her cause"), what stands before.
    """
    tagged = parse.tags[word] == "PRP$"
    if word + 1 >= len(parse):
        return False
    following = parse.tags[word + 1]
    if following in _NOUNS:
        # "takes her home" against "leaves her home": an adverb in the form of a noun.
        return tagged or parse.words[word + 1].lower() != "home"
    if following in ("JJ", "JJR", "JJS", "RBS"):
        return tagged or _reaches_noun(parse, word + 1)
    if following in ("VB", "VBP", "MD"):
        before = parse.words[word - 1].lower() if word else ""
        return tagged or _base_form(before) not in _CAUSATIVES
    if following in ("VBN", "VBG"):
        return tagged or (has_relation(parse, word, ("nmod", "poss")) and _reaches_noun(parse, word + 1))
    return tagged


def _reaches_noun(parse: Parse, word: int) -> bool:
    """Whether a noun comes next, behind nothing but what describes it."""
    while word < len(parse) and parse.tags[word] in _BEFORE_NOUNS:
        word += 1
    return word < len(parse) and parse.tags[word] in _NOUNS
