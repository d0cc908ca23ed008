"""The drafts, rule by rule: sentences parsed by hand, with the forms that a person would write."""

from pathlib import Path

import pytest
import yaml

from evenlight.core.errors import InputError
from evenlight.corpus.annotation import GROUPS, SCOPES
from evenlight.corpus.annotation.drafting import drafted_words, drafts, name_drawer
from evenlight.corpus.annotation.grammar import gender_of_pronoun, plural_verb, pronoun_case
from evenlight.corpus.annotation.lexicon import GenderedLexicon, counterpart, like, read_gendered_lexicon
from evenlight.corpus.annotation.reference import gender_of_subject, is_gendered_noun, words_of_subject
from evenlight.corpus.filtering import ParsedSentence
from evenlight.corpus.parse import Parse, noun_phrase
from evenlight.datasets.base import load
from evenlight.datasets.readers.geco import Geco

ROOT = Path(__file__).parents[3]
WORDS, NAMES = (ROOT / "resources" / "lexicons" / name for name in ("gendered_words.yaml", "given_names.yaml"))
LEXICON = read_gendered_lexicon(WORDS, NAMES)
CASES = yaml.safe_load((Path(__file__).parents[1] / "drafting_cases.yaml").read_text(encoding="utf-8"))


def parsed(text: str, scheme: str = "ud") -> Parse:
    """A parse written as "word/tag/head/relation", heads counted from 0; the root is its own head."""
    rows = [word.rsplit("/", 3) for word in text.split(" ")] if text else []
    words, tags, heads, relations = (tuple(column) for column in zip(*rows, strict=True)) if rows else [()] * 4
    blank = ("",) * len(rows)
    return Parse(words, blank, tags, blank, tuple(map(int, heads)), relations, scheme)


def tagged(text: str) -> Parse:
    """A parse of words and tags alone, "word/tag"; every word hangs from the first."""
    pairs = [word.rsplit("/", 1) for word in text.split(" ")]
    return parsed(" ".join(f"{word}/{tag}/0/{'dep' if i else 'root'}" for i, (word, tag) in enumerate(pairs)))


def can_be_subject(parse: Parse, word: int, lexicon: GenderedLexicon) -> bool:
    if gender_of_pronoun(parse.words[word]):
        return pronoun_case(parse, word) == "subject"
    return any(is_gendered_noun(parse, word, lexicon, group) for group in ("male", "female"))


def grammatical_subject(parse: Parse, lexicon: GenderedLexicon) -> list[int]:
    """The words of the subject of the main clause, the head first; where there is none, of a person in its place."""
    head = ParsedSentence(parse, "", 0, "").subject if len(parse) else None
    if head is None or parse.tags[head] in ("WP", "WDT"):
        head = next((i for i in range(len(parse)) if can_be_subject(parse, i, lexicon)), None)
    return [] if head is None else noun_phrase(parse, head)


def text_of(parse: Parse, group: str, scope: str = "all") -> str:
    words = drafted_words(parse, grammatical_subject(parse, LEXICON), scope, group, LEXICON)
    return " ".join(word for word in words if word)


ALL_CASES = [(rule, case) for rule, cases in CASES.items() for case in cases]


@pytest.mark.parametrize(("rule", "case"), ALL_CASES, ids=[case["parse"][:40] for _, case in ALL_CASES])
def test_every_rule_of_grammar(rule, case):
    parse = parsed(case["parse"])
    scope = "subject" if rule == "reference" else "all"
    for group in set(case) & set(GROUPS):
        assert text_of(parse, group, scope) == case[group]


PARSES = [parsed(case["parse"]) for _, case in ALL_CASES]


@pytest.mark.parametrize("scope", SCOPES)
def test_forms_have_a_word_and_a_mark_for_every_word(scope):
    for parse in PARSES:
        forms = drafts(parse, grammatical_subject(parse, LEXICON), scope, LEXICON)
        assert {len(form.words) for form in forms.values()} == {len(parse)}
        assert len({form.ground_truth for form in forms.values()}) == 1
        for i, mark in enumerate(forms["male"].ground_truth):
            assert mark == (len({form.words[i] for form in forms.values()}) > 1)


@pytest.mark.parametrize("group", ["male", "female"])
def test_a_form_drafted_for_its_own_group_stays_and_comes_back_from_the_other(group):
    other = {"male": "female", "female": "male"}[group]
    for parse in PARSES:
        once = drafted_words(parse, grammatical_subject(parse, LEXICON), "all", group, LEXICON)
        assert redrafted(once, parse, group) == once
        if group == "male":
            # The tags are the source's, which "her" for "his" or "him" may contradict.
            assert as_one(redrafted(redrafted(once, parse, other), parse, group)) == as_one(once)


def redrafted(words: tuple[str, ...], parse: Parse, group: str) -> tuple[str, ...]:
    changed = Parse(words, parse.lemmas, parse.tags, parse.features, parse.heads, parse.relations, parse.scheme)
    return drafted_words(changed, [], "all", group, LEXICON)


def test_the_other_scheme():
    nun = parsed("She/PRP/1/nsubj is/VBZ/1/root a/DT/3/det nun/NN/1/attr ././1/punct", "clear")
    assert text_of(nun, "male", "subject") == "He is a monk ."
    assert text_of(nun, "neutral", "subject") == "They are a monastic ."
    seen = parsed("Anna/NNP/2/nsubjpass is/VBZ/2/auxpass seen/VBN/2/root by/IN/2/agent him/PRP/3/pobj", "clear")
    assert text_of(seen, "neutral") == "They are seen by them"
    assert text_of(seen, "male", "subject") == "He is seen by him"
    owner = parsed("Her/PRP$/1/poss wife/NN/2/nsubj waits/VBZ/2/root", "clear")
    assert text_of(owner, "male") == "His husband waits"
    assert text_of(owner, "male", "subject") == "Her husband waits"


@pytest.mark.parametrize(
    ("verb", "plural"),
    [
        ("carries", "carry"), ("lies", "lie"), ("echoes", "echo"), ("tiptoes", "tiptoe"), ("fetches", "fetch"),
        ("aches", "ache"), ("kisses", "kiss"), ("loses", "lose"), ("buzzes", "buzz"), ("quizzes", "quiz"),
        ("says", "say"), ("DOES", "DO"), ("Has", "Have"), ("promises", "promise"), ("focuses", "focus"),
        # A form that shows no number stays.
        ("pass/VBP", "pass"), ("must/MD", "must"), ("walks/NNS", "walks"),
    ],
)  # fmt: skip
def test_verbs_for_they(verb, plural):
    verb = verb if "/" in verb else f"{verb}/VBZ"
    assert plural_verb(tagged(f"they/PRP {verb}"), 1) == plural


def test_the_scope_subject_leaves_others_as_they_are():
    parse = parsed("He/PRP/1/nsubj loves/VBZ/1/root his/PRP$/3/nmod:poss mother/NN/1/obj ././1/punct")
    forms = drafts(parse, [0], "subject", LEXICON)
    assert forms["female"].words == ("She", "loves", "her", "mother", ".")
    assert forms["neutral"].words == ("They", "love", "their", "mother", ".")
    assert forms["male"].ground_truth == (1, 1, 1, 0, 0)


def test_a_subject_without_gender_takes_it_from_the_next_pronoun():
    parse = parsed("The/DT/1/det doctor/NN/2/nsubj finds/VBZ/2/root her/PRP$/4/nmod:poss hat/NN/2/obj ././2/punct")
    assert gender_of_subject(parse, [1, 0], LEXICON) == "female"
    assert words_of_subject(parse, [1, 0], LEXICON) == {3}
    assert words_of_subject(parse, [], LEXICON) == set()


def test_unicode_and_empty_sentences():
    letters = parsed("Élodie/NNP/1/nsubj ’s/VBZ/1/root née/JJ/1/xcomp 愛/NNP/1/obj 🙂/SYM/1/discourse")
    assert text_of(letters, "neutral") == "They ’re née 愛 🙂"
    fiancee = parsed("His/PRP$/1/nmod:poss fiancée/NN/2/nsubj weeps/VBZ/2/root")
    assert text_of(fiancee, "male") == "His fiancé weeps"
    for scope in SCOPES:
        assert {form.words for form in drafts(parsed(""), [], scope, LEXICON).values()} == {()}


def test_capitals_are_taken_over():
    assert like("FATHER", "parent") == "PARENT"
    assert like("Uncle", "parent's sibling") == "Parent's Sibling"
    assert counterpart(LEXICON, "Uncles", "male", "neutral") == "Parents' Siblings"
    assert counterpart(LEXICON, "count", "male", "female") == "countess"
    assert counterpart(LEXICON, "table", "male", "female") is None
    assert LEXICON.gender("heir") is None
    assert LEXICON.gender("heiress") == "female"


def test_drawn_names_are_those_of_the_group_and_of_the_seed():
    parse = parsed("Jane/NNP/1/nsubj loves/VBZ/1/root Jane/NNP/4/nmod:poss 's/POS/2/case cat/NN/1/obj")
    draw = name_drawer(LEXICON, 0, "s1")
    forms = drafts(parse, [0], "all", LEXICON, draw)
    for group, form in forms.items():
        assert form.words[0] == form.words[2] != "Jane"
        assert form.words[0] in LEXICON.names[group]
        assert form.words[1:2] + form.words[3:] == ("loves", "'s", "cat")
    assert drafts(parse, [0], "all", LEXICON, name_drawer(LEXICON, 0, "s1")) == forms
    assert drafts(parse, [0], "all", LEXICON, name_drawer(LEXICON, 1, "s1")) != forms


def test_names_that_are_no_persons_stay():
    ship = parsed("The/DT/1/det Rachel/NNP/2/nsubj sails/VBZ/2/root ././2/punct")
    assert text_of(ship, "neutral") == "The Rachel sails ."
    estate = parsed("Longbourn/NNP/1/compound estate/NN/2/nsubj burns/VBZ/2/root ././2/punct")
    assert text_of(estate, "female") == "Longbourn estate burns ."


def test_word_lists_have_no_row_twice_and_no_word_of_both_genders():
    sections = yaml.safe_load(WORDS.read_text(encoding="utf-8"))
    rows = [tuple(row) for rows in sections.values() for row in rows]
    assert len(rows) == len(set(rows))
    both = {row[0] for row in rows if row[0] != row[1]} & {row[1] for row in rows if row[0] != row[1]}
    assert both == set()


@pytest.mark.parametrize(
    ("words", "names", "message"),
    [
        ("kinship:\n  - [father, mother]\n", None, r"words\.yaml: kinship, row 1 is .*three texts"),
        ("- father\n", None, r"words\.yaml: must name sections"),
        ("kinship: [", None, r"words.yaml: no YAML"),
        (None, "male: [Paul]\nfemale: [Anna]\n", r"names\.yaml: 'neutral'.*list"),
    ],
)
def test_wrong_word_lists_are_refused(tmp_path, words, names, message):
    (tmp_path / "words.yaml").write_text(words or "kinship: []\n")
    (tmp_path / "names.yaml").write_text(names or NAMES.read_text(encoding="utf-8"))
    with pytest.raises(InputError, match=message):
        read_gendered_lexicon(tmp_path / "words.yaml", tmp_path / "names.yaml")
    with pytest.raises(InputError, match="no such file"):
        read_gendered_lexicon(tmp_path / "elsewhere.yaml", NAMES)


def test_published_forms_keep_their_gender_and_most_come_back(mirror):
    # Word order and tags of the published male forms, without a parser: pronouns and nouns alone.
    reader = Geco(reader="geco", classes="three_class", words="all")
    dataset = load({name: mirror / name for name in reader.sources()}, reader)
    males = dataset.units.loc[dataset.units["level"] == "male", "item_id"]
    items = dataset.items[(dataset.items["split"] == "train") & dataset.items["item_id"].isin(males)]
    parses = [tagged(" ".join(f"{word.replace(' ', '_')}/NN" for word in words)) for words in items["words"]]
    stays = [drafted_words(parse, [], "all", "male", LEXICON) == parse.words for parse in parses]
    back = [redrafted(redrafted(parse.words, parse, "female"), parse, "male") for parse in parses]
    same = [as_one(words) == as_one(parse.words) for words, parse in zip(back, parses, strict=True)]
    assert sum(stays) / len(stays) > 0.97
    assert sum(same) / len(same) > 0.95


def as_one(words: tuple[str, ...]) -> list[str]:
    return ["his" if word.lower() == "him" else word.lower() for word in words]
