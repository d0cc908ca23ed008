"""The demo corpus and the datasets that are built from it; digests in test_items.py hold its sentences."""

from itertools import product
from pathlib import Path

import pytest

from evenlight.datasets import Reader, load
from evenlight.datasets.readers import demo
from evenlight.datasets.readers.demo import DEMO
from evenlight.texts.items import check_items

CORPUS = Path(__file__).parents[3] / "resources" / "demo" / "sentences.yaml"
SENTENCES = demo.read_source_sentences(CORPUS)
VARIANTS = list(product(("binary", "three_class"), ("all", "subject")))


def data_set(classes, words):
    return load({DEMO: CORPUS}, Reader.parse({"reader": "demo", "classes": classes, "words": words}))


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


def corpus(folder, train, test=("{He/She/They} {waits/waits/wait} in the rain.",)):
    path = folder / "sentences.yaml"
    lines = ["train:", *(f'  - "{text}"' for text in train), "test:", *(f'  - "{text}"' for text in test)]
    path.write_text("\n".join(lines))
    return path
