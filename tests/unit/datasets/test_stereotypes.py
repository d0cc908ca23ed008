"""The stereotypes dataset: its size and balance, and what alone tells the label; digests in test_items.py hold it."""

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from evenlight.datasets import Reader, load
from evenlight.datasets.readers import stereotypes
from evenlight.texts.items import assign_validation, check_items, groups_kept_together

REPOSITORY = Path(__file__).parents[3]
CORPUS = REPOSITORY / stereotypes.THEMES
PAIRS = stereotypes.read_stereotype_pairs(CORPUS)


@cache
def data_set(split_by="pair", seed=0):
    settings = {"reader": "stereotypes", "split_by": split_by, "test_share": 0.2, "split_seed": seed}
    return load({stereotypes.THEMES: CORPUS}, Reader.parse(settings))


def test_both_genders_are_stereotyped_equally_often_in_every_kind():
    counts = Counter((pair.match.split("-")[0], pair.stereotyped) for pair in PAIRS)
    assert counts == {(kind, gender): 220 for kind in stereotypes.KINDS for gender in stereotypes.GENDERS}


@pytest.mark.parametrize(("split_by", "seed"), [("pair", 0), ("theme", 1)])
def test_split_is_balanced_and_whole(split_by, seed):
    items, units = data_set(split_by, seed).items, data_set(split_by, seed).units
    test = items[items.split == "test"]
    assert len(test) == 0.2 * len(items)
    assert set(test.groupby(["attribute.gender", "label"]).size()) == {len(test) // 4}
    theme = items.cluster
    if split_by == "theme":
        assert items.split.groupby(theme).nunique().eq(1).all()
        assert theme[items.split == "test"].nunique() == 32
    else:
        assert theme[items.split == "train"].nunique() == 160
    notes = check_items(assign_validation(items, groups_kept_together(items, units), 0.1, seed), units, "stereotypes")
    assert not any("ground truth" in note for note in notes)


# What tells the label


def accuracy(features, split_by="pair"):
    """Test accuracy, mean over two splits, of a logistic regression on bags of ``features(item)``."""
    sklearn = pytest.importorskip("sklearn.linear_model")
    vectorizer = pytest.importorskip("sklearn.feature_extraction").FeatureHasher(2**16, input_type="string")
    found = []
    for seed in range(2):
        items = data_set(split_by, seed).items
        bags = vectorizer.transform(
            [features(item) for item in items.rename(columns={"attribute.gender": "gender"}).itertuples()]
        )
        train, test = (items.split == part for part in ("train", "test"))
        model = sklearn.LogisticRegression(solver="liblinear").fit(bags[train.to_numpy()], items.label[train])
        found.append(model.score(bags[test.to_numpy()], items.label[test]))
    return sum(found) / len(found)


def words_with(mark):
    return lambda item: [w.lower() for w, m in zip(item.words, item.ground_truth, strict=True) if m == mark]


def all_words(item):
    return [word.lower() for word in item.words]


def words_by_gender(item):
    return [f"{item.gender} {word}" for word in words_with(0)(item)]


def test_without_gendered_words_the_label_is_at_chance():
    assert accuracy(words_with(0)) == 0.5


def test_gendered_words_alone_or_added_do_not_tell_the_label():
    assert abs(accuracy(words_with(1)) - 0.5) < 0.04
    assert abs(accuracy(all_words) - 0.5) < 0.04


def test_words_together_with_the_gender_tell_the_label_of_known_themes():
    assert accuracy(words_by_gender) > 0.9


def test_words_together_with_the_gender_do_not_tell_the_label_of_unknown_themes():
    assert accuracy(words_by_gender, "theme") < 0.6


def test_a_pair_by_hand():
    pair = stereotypes.StereotypePair("fishing", 3, "male", "activity-04", "{He/She} fishes, {his/her} aunt's hobby.")
    male, female = stereotypes.items_of(pair)
    assert male["words"] == ["He", "fishes", ",", "his", "aunt", "'s", "hobby", "."]
    assert female["words"] == ["She", "fishes", ",", "her", "aunt", "'s", "hobby", "."]
    assert male["ground_truth"] == female["ground_truth"] == [1, 0, 0, 1, 0, 0, 0, 0]
    assert (male["label"], female["label"]) == (1, 0)
    assert (male["item_id"], male["unit_id"], male["cluster"]) == ("fishing-03-male", "fishing-03", "fishing")
