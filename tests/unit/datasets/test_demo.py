"""The demo corpus: its grammar and balance, the datasets built from it, and the refusal of damaged files."""

import re
from collections import Counter
from itertools import product
from pathlib import Path

import pytest

from evenlight.core.errors import InputError
from evenlight.corpus.annotation import GROUPS
from evenlight.datasets import Reader, load
from evenlight.datasets.readers import demo
from evenlight.datasets.readers.demo import DEMO
from evenlight.texts.items import check_items

CORPUS = Path(__file__).parents[3] / "resources" / "demo" / "sentences.yaml"
SENTENCES = demo.read_source_sentences(CORPUS)
VARIANTS = list(product(("binary", "three_class"), ("all", "subject")))

# The closed classes of the language, written out here so that the corpus is not checked against itself.
PRONOUNS = {
    ("he", "she", "they"),
    ("him", "her", "them"),
    ("his", "her", "their"),
    ("his", "hers", "theirs"),
    ("himself", "herself", "themself"),
}
NOUNS = {
    ("actor", "actress", "performer"),
    ("boy", "girl", "child"),
    ("brother", "sister", "sibling"),
    ("duke", "duchess", "noble"),
    ("father", "mother", "parent"),
    ("fiancé", "fiancée", "betrothed"),
    ("grandfather", "grandmother", "grandparent"),
    ("husband", "wife", "spouse"),
    ("king", "queen", "monarch"),
    ("man", "woman", "person"),
    ("mr.", "mrs.", "mx."),
    ("prince", "princess", "heir"),
    ("son", "daughter", "child"),
    ("stepfather", "stepmother", "stepparent"),
}
MALE, FEMALE, NEUTRAL = (set(words) for words in zip(*(PRONOUNS | NOUNS), strict=True))
IRREGULAR_PLURALS = {"is": "are", "has": "have", "does": "do", "goes": "go", "dies": "die", "lies": "lie"}


def forms(word):
    return tuple(word.forms[group].lower() for group in GROUPS)


def plural(verb):
    """The form of a verb after "they", by the spelling rules of English."""
    if verb in IRREGULAR_PLURALS:
        return IRREGULAR_PLURALS[verb]
    if verb.endswith("ies"):
        return verb[:-3] + "y"
    return re.sub(r"(?<=ch|sh|ss)es$|s$", "", verb)


def lowered(sentence, group, words="all"):
    return [word.lower() for word in sentence.variant(group, words)]


def data_set(classes, words):
    return load({DEMO: CORPUS}, Reader.parse({"reader": "demo", "classes": classes, "words": words}))


# The language of the corpus; whatever changes it changes the digests in test_items.py, too


def test_marked_words_are_known_triples_or_agreeing_verbs():
    for sentence in SENTENCES:
        for word in sentence.words:
            if word.role != "fixed" and forms(word) not in PRONOUNS | NOUNS:
                male, female, neutral = forms(word)
                assert male == female, f"sentence {sentence.number}"
                assert neutral == plural(male), f"sentence {sentence.number}"


def test_no_gendered_word_is_left_unmarked():
    for sentence in SENTENCES:
        fixed = {word.source.lower() for word in sentence.words if word.role == "fixed"}
        assert not fixed & (MALE | FEMALE | NEUTRAL), f"sentence {sentence.number}"
        assert not set(lowered(sentence, "male")) & (FEMALE | NEUTRAL), f"sentence {sentence.number}"
        assert not set(lowered(sentence, "female")) & (MALE | NEUTRAL), f"sentence {sentence.number}"
        assert not set(lowered(sentence, "neutral")) & (MALE | FEMALE), f"sentence {sentence.number}"


def test_neutral_variant_is_neutral_except_for_other_persons():
    for sentence in SENTENCES:
        for word in sentence.words:
            if word.role != "other":
                assert word.form("neutral", "subject").lower() not in MALE | FEMALE, f"sentence {sentence.number}"


@pytest.mark.parametrize("split", ["train", "test"])
def test_source_sentences_are_balanced_over_the_other_persons_gender(split):
    """Otherwise the words that stay in the subject variants would make one class easier than another."""
    sentences_of = Counter()
    for sentence in SENTENCES:
        persons = [word for word in sentence.words if word.role == "other" and len(set(forms(word))) == 3]
        genders = {group for word in persons for group in GROUPS if word.forms[group] == word.source}
        assert len(genders) <= 1, f"sentence {sentence.number} has other persons of several genders"
        if sentence.split == split:
            sentences_of.update(genders)
    assert set(sentences_of) == set(GROUPS)
    assert max(sentences_of.values()) - min(sentences_of.values()) <= 2


# The datasets built from it


@pytest.mark.parametrize(("classes", "words"), VARIANTS)
def test_items_keep_their_contract(classes, words):
    dataset = data_set(classes, words)
    items = dataset.items
    check_items(items, dataset.units, f"demo_{classes}_{words}")
    assert dataset.classes == ["female", "male", "neutral"][: len(dataset.classes)]
    assert len(items) == len(SENTENCES) * len(dataset.classes)
    assert items.item_id.is_unique
    assert (items.groupby("cluster").split.nunique() == 1).all()
    assert all(
        dataset.classes[label] == group for label, group in zip(items.label, items["attribute.gender"], strict=True)
    )


@pytest.mark.parametrize(("classes", "words"), VARIANTS)
def test_ground_truth_is_where_the_variants_differ(classes, words):
    for _, pair in data_set(classes, words).items.groupby("cluster"):
        assert pair.words.map(len).nunique() == 1
        differs = [int(len(set(position)) > 1) for position in zip(*pair.words, strict=True)]
        assert sum(differs) > 0
        assert all(ground_truth == differs for ground_truth in pair.ground_truth)


@pytest.mark.parametrize("classes", ["binary", "three_class"])
def test_subject_words_are_a_subset_of_all_words(classes):
    everyone = data_set(classes, "all").items
    subject = data_set(classes, "subject").items
    assert list(everyone.item_id) == list(subject.item_id)
    smaller = 0
    for all_truth, subject_truth in zip(everyone.ground_truth, subject.ground_truth, strict=True):
        assert all(in_subject <= in_all for in_subject, in_all in zip(subject_truth, all_truth, strict=True))
        smaller += sum(subject_truth) < sum(all_truth)
    assert smaller >= len(everyone) / 3


def test_agreeing_verbs_count_with_three_classes_only(tmp_path):
    path = corpus(tmp_path, ["{He/She/They} {opens/opens/open} [his/her*/their] door."])
    sentence = demo.read_source_sentences(path)[0]

    def truth(classes, words):
        return demo.items_of(sentence, classes, words)[0]["ground_truth"]

    assert truth(["female", "male"], "all") == [1, 0, 1, 0, 0]
    assert truth(["female", "male"], "subject") == [1, 0, 0, 0, 0]
    assert truth(["female", "male", "neutral"], "all") == [1, 1, 1, 0, 0]
    assert truth(["female", "male", "neutral"], "subject") == [1, 1, 0, 0, 0]


def test_words_are_tokenised_like_geco(tmp_path):
    text = "{Mr./Mrs./Mx.} Hale, {a prince/a princess/an heir}, breaks [his/her/their*] well-known sister-ship's mast."
    sentence = demo.read_source_sentences(corpus(tmp_path, [text]))[0]
    neutral = "Mx. Hale , an heir , breaks their well-known sister-ship 's mast ."
    assert sentence.variant("neutral", "all") == neutral.split()
    assert sentence.variant("male", "subject") == neutral.replace("Mx.", "Mr.").replace("an heir", "a prince").split()


# Files that cannot be used

GOOD = "{He/She/They} {walks/walks/walk} home with [his/her*/their] dog."


def corpus(folder, train, test=("{He/She/They} {waits/waits/wait} in the rain.",)):
    path = folder / "sentences.yaml"
    lines = ["train:", *(f'  - "{text}"' for text in train), "test:", *(f'  - "{text}"' for text in test)]
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{He/She/They} {goes/goes/go away} home.", "unequal numbers"),
        ("{He/She/They} {must/must/must} sleep.", "all equal"),
        ("{He/She} {walks/walks/walk} home.", "misses a form"),
        ("{He/She/} walks home.", "misses a form"),
        ("The sun warms [him/her*/them].", r"no word.*subject"),
        ("Rain {falls/falls/fall} on [him/her*/them].", "forms for two"),
        ("{He/She/They} {walks/walks/walk} home", "period"),
        ("{He/She/They} {sees/sees/see} [him/her/them].", "one star"),
        ("{He/She/They} {sees/sees/see} [him*/her*/them].", "one star"),
        ("{He/She*/They} must sleep.", "no star"),
        ("{He/She/They} {walks/walks/walk home.", "bracket or star"),
        ("{He/She/They} {walk/walk/walks}ing home.", "touches another word"),
        (GOOD, "same as sentence 1"),
        (GOOD.replace("her*", "her").replace("their", "their*"), "same as sentence 1"),
    ],
)
def test_a_wrong_sentence_is_refused_by_file_number_and_remedy(tmp_path, text, message):
    path = corpus(tmp_path, [GOOD, text])
    with pytest.raises(InputError, match=rf"^{re.escape(str(path))}: sentence 2 .*{message}.*[;,]") as raised:
        demo.read_source_sentences(path)
    assert raised.value.__cause__ is None
    if text == GOOD:  # also on the other side of the split
        with pytest.raises(InputError, match=r"sentence 2 .* same as sentence 1"):
            demo.read_source_sentences(corpus(tmp_path, [GOOD], test=[GOOD]))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("train: [", "no YAML"),
        ("- a list", "two keys"),
        ("train: ['x.']", "two keys"),
        ("train: []\ntest: ['x.']", "'train' must be"),
        ("train: ['x.']\ntest: [1]", "'test' must be"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path, content, message):
    path = tmp_path / "sentences.yaml"
    path.write_text(content)
    with pytest.raises(InputError, match=message) as raised:
        demo.read_source_sentences(path)
    assert str(raised.value).startswith(str(path))
