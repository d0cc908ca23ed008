"""Words that speak of concepts, and sums of what is attributed to them: by hand, and in a linear model of words."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from wording import says

from evenlight import configuration
from evenlight.concepts.attributed import read_attributed, sampled_texts, summed_attributions, texts_to_attribute
from evenlight.concepts.question import Attributed, Changes, Question, ReadTexts, true_effects
from evenlight.concepts.words import ConceptLexicon, learned_lexicon, read_concept_lexicon, shares
from evenlight.core.contracts.explanations import WORD_ATTRIBUTIONS
from evenlight.core.contracts.texts import ITEMS
from evenlight.core.errors import InputError
from evenlight.core.tables import write_table
from evenlight.datasets.readers.causal_simulation import CONCEPTS
from evenlight.datasets.readers.cebab import ASPECTS

RESOURCES = Path(__file__).parents[3] / "resources"
LEXICON = ConceptLexicon((frozenset({"food", "tast*"}), frozenset({"waiter"})), frozenset({"but"}))


def test_words_and_clauses_by_hand():
    text = re.split(" ", 'Tasty Food, "and" a rude waiter. Nice food and waiter but far')
    assert shares(text, LEXICON, "word").T.tolist() == [
        [1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0],
    ]
    half = [0.5] * 4
    assert shares(text, LEXICON, "clause").T.tolist() == [
        [1, 1, 0, 0, 0, 0, *half, 0, 0],
        [0, 0, 1, 1, 1, 1, *half, 0, 0],
    ]
    assert shares([], LEXICON, "clause").shape == (0, 2)


def test_lexicons_that_come_with_the_project():
    aspects = read_concept_lexicon(RESOURCES / "lexicons/restaurants.yaml", ASPECTS)
    said = {"Waitresses": "service", "delicious!": "food", "decor,": "ambiance", "loud.": "noise", "great": None}
    for word, aspect in said.items():
        assert [name for name, there in zip(ASPECTS, aspects.concepts_of(word), strict=True) if there] == (
            [aspect] if aspect else []
        )
    known = read_concept_lexicon(RESOURCES / "causal_simulation/english.yaml", CONCEPTS)
    assert [len(words) for words in known.words] == [16 + 6] * 3 + [16] * 2
    assert not any(" " in word or "<" in word for words in known.words for word in words)


def test_no_word_of_the_shipped_lexicon_speaks_of_two_aspects():
    aspects = read_concept_lexicon(RESOURCES / "lexicons/restaurants.yaml", ASPECTS)
    for word in frozenset().union(*aspects.words):
        assert aspects.concepts_of(word.rstrip("*")).sum() == 1, word


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("- food", "no mapping 'concepts'"),
        ("concepts: {food: [a b]}", r"no word.*concept food"),
        ("concepts: {noise: [loud]}", r"no word.*concept food"),
        ("concepts: [", "no YAML .*lexicon"),
    ],
)
def test_lexicons_that_are_refused(tmp_path, content, message):
    (tmp_path / "words.yaml").write_text(content)
    with pytest.raises(InputError, match=message):
        read_concept_lexicon(tmp_path / "words.yaml", ["food"])


def reviews(texts: int, follows: float = 0.0) -> tuple[list[list[str]], np.ndarray]:
    """Texts with a word for each level of two concepts, and words on nothing; the second concept follows the first."""
    random = np.random.default_rng(0)
    level = random.integers(2, size=(texts, 2))
    same = random.random(texts) < follows
    level[same, 1] = level[same, 0]
    words = [
        [["bland", "Tasty!"][food], *random.choice(list("abcdefgh"), 4).tolist(), ["rude,", "kind"][service]]
        for food, service in level
    ]
    return words, level


@pytest.mark.parametrize("follows", [0.0, 0.6])
def test_learned_words_are_those_of_the_concept_also_where_concepts_go_together(follows):
    words, level = reviews(400, follows)
    level[:40] = -1
    assert learned_lexicon(words, level).words == (frozenset({"bland", "tasty"}), frozenset({"rude", "kind"}))


def test_nothing_is_learned_of_labels_drawn_by_lot():
    words, _ = reviews(400)
    found = [learned_lexicon(words, np.random.default_rng(draw).integers(2, size=(400, 1))) for draw in range(60)]
    # One in a hundred would be expected; four in sixty come with a chance of 0.003.
    assert sum(bool(lexicon.words[0]) for lexicon in found) < 4


def test_learning_without_labels():
    words, level = reviews(20)
    assert learned_lexicon(words, np.full_like(level, -1)).words == (frozenset(), frozenset())


def test_sampled_texts_go_by_names():
    names = [f"t{number}" for number in range(30)]
    level = np.arange(30)[:, None] % 3
    drawn = sampled_texts(names, level, 4, 5)
    assert [len(drawn[0, value]) for value in range(4)] == [5, 5, 5, 0]
    back = sampled_texts(names[::-1], level[::-1], 4, 5)
    assert [names[row] for row in drawn[0, 1]] == [names[::-1][row] for row in back[0, 1]]
    assert set(sampled_texts(names, level, 4, 2)[0, 1]) < set(drawn[0, 1])


# A model whose logits are sums over words.
ADDS = {"bland": [1.0, -1.0, 0.3], "tasty!": [-1.0, 1.5, 0.0], "rude,": [0.5, 0.0, -0.2], "kind": [-0.4, 0.3, 0.0]}


def scores(words: list[str]) -> np.ndarray:
    """What each word adds to each class, (words, classes)."""
    return np.array([ADDS.get(word.lower(), [0.0, 0.0, 0.0]) for word in words])


def test_sums_recover_effects_where_logits_are_sums_over_words(tmp_path):
    """From the tables on: real counterfactuals are the texts with the concept's word exchanged."""
    train_words, train_level = reviews(80)
    asked_words = [["Tasty!", "a", "rude,"], ["bland", "a", "rude,"], ["Tasty!", "a", "kind"]]
    asked_level = np.array([[1, 0], [0, 0], [1, 1]])
    names = [f"train{row}" for row in range(80)], ["x", "food", "service"]

    def texts(name, words, level):
        probability = softmax([scores(text).sum(axis=0) for text in words], axis=1)
        return ReadTexts(name, probability, probability, level)

    train, asked = texts(names[0], train_words, train_level), texts(names[1], asked_words, asked_level)
    changes = Changes(*np.array([[0, 1], [1, 0], [0, 1], [0, 0], [1, 2]]))
    question = Question(train, asked, changes, levels=2)
    concepts = {"food": ["bad", "good"], "service": ["bad", "good"]}
    items = pd.DataFrame(
        {"item_id": [*names[0], *names[1]], "words": [*train_words, *asked_words], "ground_truth": None, "label": 0}
    ).assign(split=["train"] * 80 + ["test"] * 3, cluster="a")
    for place, concept in enumerate(concepts):
        level = np.concatenate([train_level, asked_level])[:, place]
        items[f"attribute.{concept}"] = np.array(concepts[concept])[level]
    listed = pd.DataFrame({"split": ["test", "test"], "base": ["x", "x"]})
    attributed = texts_to_attribute(items, listed, concepts, 5)
    assert 5 <= len(attributed) - 1 <= 20
    assert attributed["item_id"].iloc[-1] == "x"
    rows = [
        {"item_id": row.item_id, "class": label, "word_score": scores(row.words)[:, label]}
        for row in attributed.itertuples()
        for label in (2, 0, 1)
    ]
    write_table(pd.DataFrame(rows), tmp_path / "words.parquet", WORD_ATTRIBUTIONS)
    write_table(items, tmp_path / "items.parquet", ITEMS)

    def told(**settings) -> tuple[Attributed, list[str]]:
        settings = {"lexicon": None, "reach": "word", "texts": 5} | settings
        return read_attributed(tmp_path / "words.parquet", tmp_path / "items.parquet", question, concepts, **settings)

    sums, notes = told()
    assert "2 of food, 2 of service" in notes[0]
    assert sums.asked[0] == pytest.approx(np.array([ADDS["tasty!"], ADDS["rude,"]]))
    assert np.isnan(sums.asked[1:]).all()
    learned = Question(train, asked, changes, 2, attributed=sums)
    true = true_effects(asked, changes)
    assert np.abs(true).max() > 0.1
    assert summed_attributions(learned, "logit") == pytest.approx(true, abs=1e-9)
    # Of probabilities the sums themselves are the estimate.
    assert summed_attributions(learned, "probability")[0] == pytest.approx(np.array(ADDS["bland"]) - ADDS["tasty!"])
    (tmp_path / "own.yaml").write_text("concepts: {food: [tasty], service: [kind]}")
    sums, notes = told(lexicon=tmp_path / "own.yaml")
    assert sums.asked[0, 1] == pytest.approx(np.zeros(3))
    assert notes == [says("attributed texts: food ")]


SETTINGS = {"method": "summed_attributions", "explainer": {"method": "integrated_gradients", "steps": "7"}}


def completed(**changed) -> dict:
    return configuration.completed_entry("explainers", "sums", SETTINGS | changed)


def test_the_explainer_that_is_summed_up_is_completed():
    explainer = completed()["explainer"]
    assert (explainer["steps"], explainer["output"], explainer["baseline"]) == (7, "logit", "pad")
    assert "label" not in explainer


@pytest.mark.parametrize(
    ("explainer", "message"),
    [
        ({"method": "saliency"}, 'explainers.sums.explainer.method: found "saliency";'),
        ({}, "explainers.sums.explainer.method: found null"),
        ({"method": "occlusion", "stepps": 3}, "explainers.sums.explainer: stepps: unknown key"),
        ({"method": "integrated_gradients", "steps": 0}, "steps: found 0;"),
        ({"method": "occlusion", "output": "contrast"}, 'explainers.sums.explainer.output: found "contrast"'),
        ({"method": "input_x_gradient", "aggregation": "l2"}, 'explainer.aggregation: found "l2"; allowed is sum'),
    ],
)
def test_explainers_that_cannot_be_summed_up_are_refused(explainer, message):
    with pytest.raises(InputError) as refused:
        completed(explainer=explainer)
    assert message in str(refused.value)
