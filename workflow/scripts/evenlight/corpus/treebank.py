"""A grammar of plot summaries that writes its sentences with their trees, to train the demo's parser on.

Trees follow Universal Dependencies as English EWT applies it, in CoNLL-U. Besides what a filter should keep the grammar
makes what it should throw out: past tense, plural subjects, questions, direct speech, "it".
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import yaml

from evenlight.errors import InputError
from evenlight.seeds import generator_for


@dataclass(frozen=True)
class Node:
    """A word with what depends on it, on its left and on its right, in the order of the sentence."""

    form: str
    pos: str
    tag: str
    features: str = ""
    relation: str = "root"
    before: tuple["Node", ...] = ()
    after: tuple["Node", ...] = ()

    def having(self, *after: "Node", before: Sequence["Node"] = ()) -> "Node":
        """The same with more dependents, outside of those that it has."""
        return replace(self, before=(*before, *self.before), after=(*self.after, *after))

    def being(self, relation: str) -> "Node":
        """The same with another relation to its head."""
        return replace(self, relation=relation)


PRESENT, PAST, PLURAL, BASE = "present", "past", "plural", "base"
_VERB = {
    PRESENT: ("VBZ", "Mood=Ind|Number=Sing|Person=3|Tense=Pres|VerbForm=Fin"),
    PAST: ("VBD", "Mood=Ind|Number=Sing|Person=3|Tense=Past|VerbForm=Fin"),
    PLURAL: ("VBP", "Mood=Ind|Number=Plur|Person=3|Tense=Pres|VerbForm=Fin"),
    BASE: ("VB", "VerbForm=Inf"),
    "participle": ("VBN", "Tense=Past|VerbForm=Part"),
    "gerund": ("VBG", "VerbForm=Ger"),
}
_AUXILIARIES = {
    "be": {PRESENT: "is", PAST: "was", PLURAL: "are", BASE: "be"},
    "have": {PRESENT: "has", PAST: "had", PLURAL: "have"},
    "do": {PRESENT: "does", PAST: "did", PLURAL: "do"},
}
_PRONOUNS = {
    "Masc": {"Nom": "he", "Acc": "him", "Gen": "his", "Reflex": "himself"},
    "Fem": {"Nom": "she", "Acc": "her", "Gen": "her", "Reflex": "herself"},
    "Neut": {"Nom": "it", "Acc": "it", "Gen": "its", "Reflex": "itself"},
}


@dataclass(frozen=True)
class Grammar:
    """The words to choose from and the generator that chooses; every method makes one kind of phrase."""

    words: Mapping[str, list[str]]
    draw: np.random.Generator
    invented: float = 0.15  # share of names, nouns and verbs that are made up, so that endings and places must do
    _syllables: Sequence[str] = field(
        default=tuple(a + b for a in "bdfglmnprstvw" for b in ("a", "e", "i", "o", "u", "ar", "en", "il", "om", "ut"))
    )

    def chance(self, share: float) -> bool:
        """True in that share of cases."""
        return bool(self.draw.random() < share)

    def one(self, options: Sequence):
        """One of the options."""
        return options[self.draw.integers(len(options))]

    def word(self, kind: str) -> str:
        """A word of that list, or now and then an invented one."""
        if kind in _OPEN and self.chance(self.invented):
            stem = "".join(self.one(self._syllables) for _ in range(self.draw.integers(2, 4))) + self.one("bdgkmnprt")
            return stem.capitalize() if kind in _NAMES else stem
        return self.one(self.words[kind])

    # Noun phrases

    def name(self) -> Node:
        """A person's name: first name, with a surname, or title and surname."""
        first = self.word(self.one(("male_names", "female_names")))
        if self.chance(0.6):
            return _proper(first)
        if self.chance(0.4):
            return _proper(first).having(_proper(self.word("surnames")).being("flat"))
        title = self.word(self.one(("male_titles", "female_titles", "titles")))
        return _proper(self.word("surnames")).having(before=[_proper(title).being("nmod:desc")])

    def noun(self, kind: str, plural: bool = False) -> Node:
        """A noun with a determiner, a number or a possessor, and perhaps an adjective."""
        word = self.word(kind)
        head = _plural(word) if plural else Node(word, "NOUN", "NN", "Number=Sing")
        if self.chance(0.35):
            head = head.having(before=[Node(self.word("adjectives"), "ADJ", "JJ", "Degree=Pos", "amod")])
        if kind == "matters" and self.chance(0.4):
            return head
        return head.having(before=[self.determiner(plural, head)])

    def determiner(self, plural: bool, head: Node) -> Node:
        """An article, a pronoun or a number before a noun."""
        if self.chance(0.3):
            return _pronoun(self.one(("Masc", "Fem", "Fem", "Masc", "Neut")), "Gen")
        if plural and self.chance(0.4):
            return Node(self.one(("two", "three", "four")), "NUM", "CD", "NumForm=Word|NumType=Card", "nummod")
        if plural or self.chance(0.55):
            return Node("the", "DET", "DT", "Definite=Def|PronType=Art", "det")
        if self.chance(0.15):
            return Node(self.one(("every", "another", "this", "no")), "DET", "DT", "", "det")
        first = (head.before[0] if head.before else head).form
        article = "an" if first[0] in "aeiou" else "a"
        return Node(article, "DET", "DT", "Definite=Ind|PronType=Art", "det")

    def person(self, deep: bool = True) -> Node:
        """Somebody in the singular, not a pronoun; ``deep`` allows phrases and clauses inside."""
        draw = self.draw.random()
        if draw < 0.4:
            return self.name()
        if draw < 0.6:
            kin = Node(self.word("kin"), "NOUN", "NN", "Number=Sing")
            if self.chance(0.2):
                kin = kin.having(before=[Node(self.word("adjectives"), "ADJ", "JJ", "Degree=Pos", "amod")])
            if self.chance(0.15):
                owner = self.name().being("nmod:poss").having(Node("'s", "PART", "POS", "", "case"))
                return kin.having(before=[owner])
            kin = kin.having(before=[_pronoun(self.one(("Masc", "Fem")), "Gen")])
            return kin.having(self.name().being("appos")) if self.chance(0.25) else kin
        head = self.noun("people")
        if deep and self.chance(0.12):
            return head.having(
                Node("named", "VERB", "VBN", "Tense=Past|VerbForm=Part", "acl", after=(self.object_name(),))
            )
        if deep and self.chance(0.15):
            return head.having(self.relative())
        if deep and self.chance(0.2):
            return head.having(self.phrase("of", self.someone_else()).being("nmod"))
        return head

    def object_name(self) -> Node:
        """A name after "named"."""
        return _proper(self.word(self.one(("male_names", "female_names")))).being("xcomp")

    def someone_else(self) -> Node:
        """Whom another noun belongs to."""
        return self.noun(self.one(("people", "people", "things"))) if self.chance(0.7) else self.name()

    def thing(self, deep: bool = True) -> Node:
        """Something that is no person."""
        head = self.noun(self.one(("things", "things", "matters")), plural=self.chance(0.2))
        if deep and self.chance(0.25):
            preposition = "of" if self.chance(0.7) else self.word("prepositions")
            return head.having(self.phrase(preposition, self.inside()).being("nmod"))
        if deep and self.chance(0.07):
            return head.having(self.relative(pronoun="that"))
        return head

    def inside(self) -> Node:
        """What stands in a phrase below a noun."""
        return self.person(deep=False) if self.chance(0.5) else self.noun(self.one(("things", "places")))

    def anything(self) -> Node:
        """The object of a verb."""
        draw = self.draw.random()
        if draw < 0.25:
            return _pronoun(self.one(("Masc", "Fem", "Neut")), "Acc")
        if draw < 0.28:
            return _pronoun(self.one(("Masc", "Fem")), "Reflex")
        if draw < 0.31:
            return Node(self.one(("everything", "nothing", "something")), "PRON", "NN", "Number=Sing|PronType=Ind")
        if draw < 0.55:
            return self.coordinated(self.person(deep=False), self.person, 0.05)
        return self.coordinated(self.thing(), self.thing, 0.08)

    def coordinated(self, first: Node, other: Callable[..., Node], share: float) -> Node:
        """Now and then two in place of one."""
        if not self.chance(share):
            return first
        return first.having(other(deep=False).having(before=[_and()]).being("conj"))

    def subject(self, tense: str) -> Node:
        """A subject that fits the tense: several people for the plural, else mostly one person."""
        if tense == PLURAL:
            if self.chance(0.35):
                return Node("they", "PRON", "PRP", "Case=Nom|Number=Plur|Person=3|PronType=Prs")
            if self.chance(0.5):
                return self.coordinated(self.person(deep=False), self.person, 1.0)
            return self.noun("people", plural=True)
        draw = self.draw.random()
        if draw < 0.35:
            return _pronoun(self.one(("Masc", "Fem")), "Nom")
        if draw < 0.4:
            return _pronoun("Neut", "Nom")
        return self.person() if draw < 0.92 else self.thing()

    # Phrases beside the verb

    def phrase(self, preposition: str, noun: Node) -> Node:
        """A prepositional phrase; two prepositions ("out of") hang from the noun one after the other."""
        return noun.having(before=[Node(word, "ADP", "IN", "", "case") for word in preposition.split()])

    def where(self) -> Node:
        """A phrase of place, time or manner after a verb."""
        draw = self.draw.random()
        if draw < 0.15:
            return Node(self.word("late_adverbs"), "ADV", "RB", "", "advmod")
        if draw < 0.25:
            return self.phrase(self.one(("in", "before", "after", "at")), self.time()).being("obl")
        if draw < 0.32:
            every = Node(self.one(("every", "one", "that")), "DET", "DT", "", "det")
            return Node(self.word("times"), "NOUN", "NN", "Number=Sing", "obl:unmarked", before=(every,))
        if draw < 0.6:
            return self.phrase(self.word("ways"), self.noun(self.one(("places", "things")))).being("obl")
        return self.phrase(self.word("prepositions"), self.inside()).being("obl")

    def time(self) -> Node:
        """A noun of time."""
        head = Node(self.word("times"), "NOUN", "NN", "Number=Sing")
        if self.chance(0.5):
            return head
        return head.having(before=[Node("the", "DET", "DT", "Definite=Def|PronType=Art", "det")])

    def places(self) -> tuple[Node, ...]:
        """No, one or two such phrases."""
        return tuple(self.where() for _ in range(self.draw.choice(3, p=(0.45, 0.42, 0.13))))

    # Verb phrases: a predicate without its subject

    def verb(self, kind: str, form: str) -> Node:
        """A verb of that list in the form, with its particle where it has one."""
        return _inflected(self.word(kind), form)

    def predicate(self, tense: str) -> Node:
        """A verb, adjective or noun with its auxiliaries and complements, ready for a subject."""
        draw = self.draw.random()
        if draw < 0.42:
            return self.active(tense)
        if draw < 0.58:
            return self.verb("intransitive", tense).having(*self.places())
        if draw < 0.66:
            return self.being(tense)
        if draw < 0.72:
            return self.reporting(tense)
        if draw < 0.78:
            to = Node("to", "PART", "TO", "", "mark")
            return self.verb("wants", tense).having(self.active(BASE).having(before=[to]).being("xcomp"))
        if draw < 0.84:
            return self.giving(tense)
        if draw < 0.87:
            return self.verb("becomes", tense).having(self.state().being("xcomp"), *self.places()[:1])
        if draw < 0.9:
            return _split(self.verb("phrasal", tense), self.anything())
        if draw < 0.95:
            return self.helped(tense)
        return self.passive(tense)

    def active(self, form: str) -> Node:
        """A transitive verb with its object."""
        verb = self.verb("transitive", form).having(self.anything().being("obj"))
        if form in (PRESENT, PAST) and self.chance(0.08):
            verb = verb.having(before=[Node(self.word("adverbs"), "ADV", "RB", "", "advmod")])
        return verb.having(*self.places())

    def giving(self, form: str) -> Node:
        """A verb with receiver and object: "gives her the key", "gives the key to her"."""
        verb, receiver = self.verb("ditransitive", form), self.receiver()
        if self.chance(0.6):
            return verb.having(receiver.being("iobj"), self.thing(deep=False).being("obj"))
        return verb.having(self.thing(deep=False).being("obj"), self.phrase("to", receiver).being("obl"))

    def receiver(self) -> Node:
        """Who is given something."""
        return _pronoun(self.one(("Masc", "Fem")), "Acc") if self.chance(0.4) else self.person(deep=False)

    def reporting(self, form: str) -> Node:
        """A verb with a clause as its object."""
        clause = self.clause(self.one((PRESENT, PRESENT, PAST)))
        mark = [Node("that", "SCONJ", "IN", "", "mark")] if self.chance(0.85) else []
        return self.verb("says", form).having(clause.having(before=mark).being("ccomp"))

    def being(self, tense: str) -> Node:
        """A copula with what it says of the subject, which is the head."""
        not_ = [_not()] if self.chance(0.08) else []
        adverb = [Node(self.word("adverbs"), "ADV", "RB", "", "advmod")] if self.chance(0.1) else []
        return self.state().having(before=[_auxiliary("be", tense, "cop"), *not_, *adverb])

    def state(self) -> Node:
        """What somebody is: an adjective, a noun or a place."""
        draw = self.draw.random()
        if draw < 0.45:
            head = Node(self.word("states"), "ADJ", "JJ", "Degree=Pos")
            return head.having(*self.places()[:1])
        if draw < 0.85:
            head = self.noun("people")
            return head.having(self.phrase("of", self.someone_else()).being("nmod")) if self.chance(0.5) else head
        return self.phrase(self.word("prepositions"), self.noun("places"))

    def helped(self, tense: str) -> Node:
        """A verb after an auxiliary: negated, modal, perfect or progressive."""
        draw = self.draw.random()
        base = self.one((self.active, lambda form: self.verb("intransitive", form).having(*self.places())))
        if draw < 0.4:
            return base(BASE).having(before=[_auxiliary("do", tense), _not()])
        if draw < 0.65:
            modal = Node(self.one(("can", "will", "must", "may")), "AUX", "MD", "VerbForm=Fin", "aux")
            return base(BASE).having(before=[modal, *([_not()] if self.chance(0.4) else [])])
        if draw < 0.85:
            return base("participle").having(before=[_auxiliary("have", tense)])
        return base("gerund").having(before=[_auxiliary("be", tense)])

    def passive(self, tense: str) -> Node:
        """A passive, perhaps with the one who does it."""
        verb = self.verb("transitive", "participle")
        agent = [self.phrase("by", self.person(deep=False)).being("obl:agent")] if self.chance(0.5) else []
        return verb.having(*agent, *self.places()[:1], before=[_auxiliary("be", tense, "aux:pass")])

    # Clauses

    def clause(self, tense: str) -> Node:
        """A subject with its predicate."""
        return _with_subject(self.predicate(tense), self.subject(tense))

    def relative(self, pronoun: str = "who") -> Node:
        """A clause about the noun before it."""
        tag = "WP" if pronoun == "who" else "WDT"
        subject = Node(pronoun, "PRON", tag, "PronType=Rel")
        predicate = (
            self.active(PRESENT) if self.chance(0.6) else self.verb("intransitive", PRESENT).having(self.where())
        )
        return _with_subject(predicate, subject).being("acl:relcl")

    def subordinate(self, word: str) -> Node:
        """A clause of time or reason."""
        mark = Node(word, "SCONJ", "IN" if word != "when" else "WRB", "", "mark")
        return self.clause(self.one((PRESENT, PRESENT, PRESENT, PAST))).having(before=[mark]).being("advcl")

    def main(self, tense: str) -> Node:
        """A main clause with what may stand before, after and beside it."""
        predicate = self.predicate(tense)
        if self.chance(0.4):
            comma = [_comma()] if self.chance(0.15) else []
            predicate = predicate.having(self.predicate(tense).having(before=[*comma, _and()]).being("conj"))
        clause = _with_subject(predicate, self.subject(tense))
        draw = self.draw.random()
        if draw < 0.08:
            second = self.clause(self.one((PRESENT, PRESENT, PLURAL, PAST)))
            clause = clause.having(second.having(before=[_comma(), _and(self.one(("and", "but")))]).being("conj"))
        elif draw < 0.18:
            comma = [_comma()] if self.chance(0.2) else []
            clause = clause.having(
                *comma, self.subordinate(self.one(("because", "while", "until", "when", "before", "after")))
            )
        return clause.having(before=self.front()) if self.chance(0.3) else clause

    def front(self) -> list[Node]:
        """What may stand before the subject."""
        draw = self.draw.random()
        comma = [_comma()]
        if draw < 0.25:
            return [Node(self.word("fronts"), "ADV", "RB", "", "advmod"), *comma]
        if draw < 0.45:
            numeral = Node("one", "NUM", "CD", "NumForm=Word|NumType=Card", "nummod")
            time = Node(self.word("times"), "NOUN", "NN", "Number=Sing", "obl:unmarked", before=(numeral,))
            return [time, *(comma if self.chance(0.3) else [])]
        if draw < 0.8:
            phrase = self.phrase(self.one(("in", "at", "after", "on", "during")), self.one((self.time, self.inside))())
            return [phrase.being("obl"), *(comma if self.chance(0.7) else [])]
        return [self.subordinate(self.one(("when", "after", "while", "because"))), *comma]

    def question(self) -> Node:
        """A question, with inversion."""
        subject = self.subject(PRESENT)
        if self.chance(0.35):
            predicate = self.noun("people").having(before=[subject.being("nsubj")])
            asked = predicate.having(before=[_auxiliary("be", PRESENT, "cop")])
        else:
            predicate = _with_subject(self.active(BASE), subject)
            asked = predicate.having(before=[_auxiliary("do", self.one((PRESENT, PAST)))])
        if self.chance(0.5):
            asked = asked.having(
                before=[Node(self.one(("why", "how", "when")), "ADV", "WRB", "PronType=Int", "advmod")]
            )
        return asked.having(_stop("?"))

    def speech(self) -> Node:
        """Direct speech with who says it."""
        said = self.clause(self.one((PRESENT, PAST))).being("ccomp")
        verb = self.verb("says", PRESENT)
        speaker = _pronoun(self.one(("Masc", "Fem")), "Nom") if self.chance(0.5) else self.person(deep=False)
        opening = Node('"', "PUNCT", "``", "", "punct")
        closing = Node('"', "PUNCT", "''", "", "punct")
        said = said.having(_comma(), closing, before=[opening])
        return verb.having(_stop(), before=[said, speaker.being("nsubj")])

    def sentence(self) -> Node:
        """One whole sentence."""
        draw = self.draw.random()
        if draw < 0.03:
            return self.question()
        if draw < 0.06:
            return self.speech()
        tense = PRESENT if draw < 0.82 else PAST if draw < 0.91 else PLURAL
        return self.main(tense).having(_stop())


_NAMES = frozenset({"male_names", "female_names", "surnames"})
_OPEN = _NAMES | {"people", "things", "matters", "places", "transitive", "intransitive", "ditransitive"}


def _proper(form: str) -> Node:
    return Node(form, "PROPN", "NNP", "Number=Sing")


def _plural(noun: str) -> Node:
    forms = {"man": "men", "woman": "women", "child": "children", "gentleman": "gentlemen", "wife": "wives"}
    return Node(forms.get(noun, _with_s(noun)), "NOUN", "NNS", "Number=Plur")


def _pronoun(gender: str, case: str) -> Node:
    form = _PRONOUNS[gender][case]
    features = f"Gender={gender}|Number=Sing|Person=3"
    if case == "Gen":
        return Node(form, "PRON", "PRP$", f"Case=Gen|{features}|Poss=Yes|PronType=Prs", "nmod:poss")
    if case == "Reflex":
        return Node(form, "PRON", "PRP", f"Case=Acc|{features}|PronType=Prs|Reflex=Yes")
    return Node(form, "PRON", "PRP", f"Case={case}|{features}|PronType=Prs")


def _auxiliary(verb: str, tense: str, relation: str = "aux") -> Node:
    tag, features = _VERB[tense]
    return Node(_AUXILIARIES[verb][tense], "AUX", tag, features, relation)


def _and(form: str = "and") -> Node:
    return Node(form, "CCONJ", "CC", "", "cc")


def _not() -> Node:
    return Node("not", "PART", "RB", "Polarity=Neg", "advmod")


def _comma() -> Node:
    return Node(",", "PUNCT", ",", "", "punct")


def _stop(form: str = ".") -> Node:
    return Node(form, "PUNCT", ".", "", "punct")


def _with_subject(predicate: Node, subject: Node) -> Node:
    passive = any(child.relation == "aux:pass" for child in predicate.before)
    return predicate.having(before=[subject.being("nsubj:pass" if passive else "nsubj")])


def _split(verb: Node, noun: Node) -> Node:
    """The object between a verb and its particle, "takes *him* in", or after both, where it is no pronoun."""
    obj = noun.being("obj")
    return replace(verb, after=(obj, *verb.after) if noun.pos == "PRON" else (*verb.after, obj))


def _inflected(entry: str, form: str) -> Node:
    """The verb of an entry "base", "base past", "base past participle", with a particle as the last word if any."""
    base, *past_forms = entry.split()
    particle = past_forms.pop() if past_forms and past_forms[-1] in _PARTICLES else None
    past = past_forms[0] if past_forms else _with_ed(base)
    forms = {
        PRESENT: _with_s(base),
        PAST: past,
        PLURAL: base,
        BASE: base,
        "participle": past_forms[1] if len(past_forms) > 1 else past,
        "gerund": (base[:-1] if base.endswith("e") and not base.endswith("ee") else base) + "ing",
    }
    tag, features = _VERB[form]
    verb = Node(forms[form], "VERB", tag, features)
    return verb.having(Node(particle, "ADP", "RP", "", "compound:prt")) if particle else verb


_PARTICLES = frozenset({"in", "out", "away", "up", "off", "behind"})


def _with_s(word: str) -> str:
    if word.endswith(("s", "sh", "ch", "x", "z")):
        return word + "es"
    return word[:-1] + "ies" if word.endswith("y") and word[-2] not in "aeiou" else word + "s"


def _with_ed(word: str) -> str:
    if word.endswith("e"):
        return word + "d"
    return word[:-1] + "ied" if word.endswith("y") and word[-2] not in "aeiou" else word + "ed"


def rows(sentence: Node) -> list[tuple[str, str, str, str, int, str]]:
    """(form, part of speech, Penn tag, features, head counted from 1 or 0, relation) of each word, in order."""
    order: list[tuple[Node, int]] = []  # each with its number in `heads`
    heads: list[int] = []

    def lay_out(node: Node, head: int) -> None:
        number = len(heads)
        heads.append(head)
        for child in node.before:
            lay_out(child, number)
        order.append((node, number))
        for child in node.after:
            lay_out(child, number)

    lay_out(sentence, -1)
    positions = {number: position for position, (_, number) in enumerate(order, 1)}
    first = next(index for index, (node, _) in enumerate(order) if node.pos != "PUNCT")
    return [
        (
            node.form[0].upper() + node.form[1:] if index == first else node.form,
            node.pos,
            node.tag,
            "|".join(sorted(node.features.split("|"))),
            positions.get(heads[number], 0),
            node.relation,
        )
        for index, (node, number) in enumerate(order)
    ]


def treebank(grammar: str | Path, sentences: int, seed: int) -> Iterator[str]:
    """The sentences of a treebank in CoNLL-U, one block each; the words come from the YAML file ``grammar``."""
    words = yaml.safe_load(Path(grammar).read_text(encoding="utf-8"))
    for number in range(sentences):
        table = rows(Grammar(words, generator_for(seed, "treebank", number)).sentence())
        lines = [f"# sent_id = {number}", f"# text = {written([row[0] for row in table])}"]
        glued = _glued([row[0] for row in table])
        for position, (form, pos, tag, features, head, relation) in enumerate(table, 1):
            misc = "SpaceAfter=No" if position < len(table) and glued[position] else "_"
            lines.append(
                "\t".join((str(position), form, "_", pos, tag, features or "_", str(head), relation, "_", misc))
            )
        yield "\n".join(lines) + "\n\n"


def written(words: Sequence[str]) -> str:
    """The words as a text, without space before punctuation and inside quotation marks."""
    glued = _glued(words)
    return "".join(word if glued[i] or i == 0 else f" {word}" for i, word in enumerate(words))


def _glued(words: Sequence[str]) -> list[bool]:
    """Whether each word stands right after the one before."""
    opening = {i for n, i in enumerate(i for i, word in enumerate(words) if word == '"') if n % 2 == 0}
    return [
        i > 0 and (word in (",", ".", "?", "'s") or (word == '"' and i not in opening) or i - 1 in opening)
        for i, word in enumerate(words)
    ]


@dataclass(frozen=True)
class Tree:
    """A sentence of a treebank: its words, whether a space follows each, and their gold analysis."""

    words: tuple[str, ...]
    spaces: tuple[bool, ...]
    lemmas: tuple[str, ...]
    pos: tuple[str, ...]
    tags: tuple[str, ...]
    features: tuple[str, ...]
    heads: tuple[int, ...]  # the root is its own head
    relations: tuple[str, ...]


def read_conllu(path: str | Path) -> list[Tree]:
    """The trees of a CoNLL-U file (https://universaldependencies.org/format.html), without empty nodes.

    Of tokens in several words ("don't") the words are read. Raises :class:`InputError` with the line where the file
    is not in that format.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not a readable text file ({error}); give a treebank in CoNLL-U") from None
    trees, block = [], []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if line.strip():
            if not line.startswith("#"):
                block.append((number, line.split("\t")))
        elif block:
            trees.append(_tree(path, block))
            block = []
    if not trees:
        raise InputError(f"{path}: no sentence; give a treebank in CoNLL-U")
    return trees


def _tree(path: str | Path, block: list[tuple[int, list[str]]]) -> Tree:
    for number, fields in block:
        if len(fields) != 10:
            raise InputError(
                f"{path}: line {number} has {len(fields)} fields, CoNLL-U has 10 with tabs between; mend the line"
            )
    words = [(number, fields) for number, fields in block if fields[0].isdigit()]
    for index, (number, fields) in enumerate(words, 1):
        if fields[0] != str(index) or not fields[6].isdigit() or int(fields[6]) > len(words):
            raise InputError(
                f"{path}: line {number}: word '{fields[0]}' with head '{fields[6]}' in a sentence of {len(words)} "
                "words; words count from 1, and the head is one of them or 0"
            )
    columns = list(zip(*(fields for _, fields in words), strict=True))
    heads = tuple(index if head == "0" else int(head) - 1 for index, head in enumerate(columns[6]))
    return Tree(
        words=columns[1],
        spaces=tuple("SpaceAfter=No" not in misc for misc in columns[9]),
        lemmas=tuple("" if lemma == "_" else lemma for lemma in columns[2]),
        pos=columns[3],
        tags=columns[4],
        features=tuple("" if features == "_" else features for features in columns[5]),
        heads=heads,
        relations=columns[7],
    )
