"""The stereotypes dataset: its size and balance, what alone tells the label and what must not, and damaged files."""

import re
from collections import Counter, defaultdict
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from evenlight.core.errors import InputError
from evenlight.datasets import Reader, load
from evenlight.datasets.readers import stereotypes
from evenlight.texts.items import assign_validation, check_items, groups_kept_together

REPOSITORY = Path(__file__).parents[3]
CORPUS = REPOSITORY / stereotypes.THEMES
CONTENT = yaml.safe_load(CORPUS.read_text(encoding="utf-8"))
PAIRS = stereotypes.read_stereotype_pairs(CORPUS)

# The closed class of gendered words, written out here so that the corpus is not checked against itself.
GENDERED = {
    *[("he", "she"), ("him", "her"), ("his", "her"), ("male", "female"), ("masculine", "feminine")],
    *[("man", "woman"), ("men", "women"), ("boy", "girl"), ("boys", "girls"), ("father", "mother")],
    *[("fathers", "mothers"), ("son", "daughter"), ("sons", "daughters"), ("brother", "sister")],
    *[("brothers", "sisters"), ("husband", "wife"), ("boyfriend", "girlfriend"), ("uncle", "aunt")],
    *[("uncles", "aunts"), ("nephew", "niece"), ("grandfather", "grandmother"), ("actor", "actress")],
    *[("grandfathers", "grandmothers"), ("grandsons", "granddaughters"), ("hero", "heroine")],
    *[("king", "queen"), ("prince", "princess")],
}
# Further words that must not stand unmarked, and endings of words that hide a gender.
UNMARKED = {"lady", "gentleman", "lord", "bride", "groom", "guy", "guys", "hers", "herself", "himself", "landlord"}
HIDDEN = re.compile(r"\w+(?:man|men|boy|boys|girl|girls|lady)$")


@cache
def data_set(split_by="pair", seed=0):
    settings = {"reader": "stereotypes", "split_by": split_by, "test_share": 0.2, "split_seed": seed}
    return load({stereotypes.THEMES: CORPUS}, Reader.parse(settings))


# Size and balance


def test_both_genders_are_stereotyped_equally_often_in_every_kind():
    counts = Counter((pair.match.split("-")[0], pair.stereotyped) for pair in PAIRS)
    assert counts == {(kind, gender): 220 for kind in stereotypes.FORMS for gender in stereotypes.GENDERS}


def test_every_frame_serves_both_genders_equally_often_and_all_are_used():
    frames = [frame for kind in CONTENT["frames"].values() for frame in kind]
    assert len(frames) == len(set(frames)) == 4 * 27
    themes = {
        name: theme for kind in CONTENT["themes"].values() for part in kind.values() for name, theme in part.items()
    }
    uses = Counter()
    for pair in PAIRS:
        for frame in CONTENT["frames"][pair.match.split("-")[0]]:
            filled = frame
            for name, form in themes[pair.theme]["forms"].items():
                filled = filled.replace(f"<{name}>", form).replace(f"<{name.title()}>", form[0].upper() + form[1:])
            uses[frame, pair.stereotyped] += filled == pair.text
    assert all(uses[frame, "male"] == uses[frame, "female"] and uses[frame, "male"] in (6, 7) for frame in frames)


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


# Language


def test_variants_differ_in_gendered_words_only():
    for pair in PAIRS:
        items = {item["attribute.gender"]: item for item in stereotypes.items_of(pair)}
        male, female = items["male"], items["female"]
        differing = [(m, f) for m, f in zip(male["words"], female["words"], strict=True) if m != f]
        assert {(m.lower(), f.lower()) for m, f in differing} <= GENDERED, pair.text
        assert all(m[0].isupper() == f[0].isupper() for m, f in differing), pair.text
        assert male["ground_truth"] == female["ground_truth"]
        assert sum(male["ground_truth"]) == len(differing) >= 1


def test_no_gendered_word_is_left_unmarked():
    known = {form for forms in GENDERED for form in forms} | UNMARKED
    for pair in PAIRS:
        item = stereotypes.items_of(pair)[0]
        fixed = {word.lower() for word, mark in zip(item["words"], item["ground_truth"], strict=True) if not mark}
        assert not fixed & known, pair.text
        assert not {word for word in fixed if HIDDEN.match(word)}, pair.text


def test_form_of_the_sentences():
    for pair in PAIRS:
        words = pair.variant("female")
        assert 8 <= len(words) <= 28, pair.text
        assert words[0][0].isupper(), pair.text
        assert words[-1] == ".", pair.text
        assert not re.search(r"\ba [aeiou]|\ban [^aeiouh]", " ".join(words)), pair.text
        assert not any(one == two for one, two in pairwise(words)), pair.text


def test_no_two_pairs_are_near_duplicates():
    """Jaccard similarity of word trigrams below 0.7."""
    # Themes in the same frame differ in the theme alone, and one word within a sentence is part of three trigrams. The
    # bound holds frames to that: one word may differ only where it stands inside of a sentence of at most 18 words.
    trigrams, holders = [], defaultdict(list)
    for number, pair in enumerate(PAIRS):
        words = [word.lower() for word in pair.variant("female")]
        trigrams.append({tuple(words[i : i + 3]) for i in range(len(words) - 2)})
        shared = Counter(other for trigram in trigrams[-1] for other in holders[trigram])
        for other, count in shared.items():
            similarity = count / (len(trigrams[-1]) + len(trigrams[other]) - count)
            assert similarity < 0.7, f"{pair.text} and {PAIRS[other].text}"
        for trigram in trigrams[-1]:
            holders[trigram].append(number)


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


# The reader


def test_a_pair_by_hand():
    pair = stereotypes.StereotypePair("fishing", 3, "male", "activity-04", "{He/She} fishes, {his/her} aunt's hobby.")
    male, female = stereotypes.items_of(pair)
    assert male["words"] == ["He", "fishes", ",", "his", "aunt", "'s", "hobby", "."]
    assert female["words"] == ["She", "fishes", ",", "her", "aunt", "'s", "hobby", "."]
    assert male["ground_truth"] == female["ground_truth"] == [1, 0, 0, 1, 0, 0, 0, 0]
    assert (male["label"], female["label"]) == (1, 0)
    assert (male["item_id"], male["unit_id"], male["cluster"]) == ("fishing-03-male", "fishing-03", "fishing")


def small(**changes):
    """The content of a small, correct file with ``changes`` to the theme under female occupations."""
    forms = {"occupation": ("one", "many"), "trait": ("adjective", "noun")}
    forms |= {"activity": ("do", "doing"), "behaviour": ("do", "does")}
    frames, themes = {}, {}
    for kind, names in forms.items():
        frames[kind] = [f"{{He/She}} is <{names[0]}> in {kind}."]
        themes[kind] = {
            gender: {
                f"{kind} {gender}": {
                    "forms": {name: f"{kind} {gender} {name}" for name in names},
                    "sentences": [f"{{He/She}} {kind} {gender} {place}." for place in ("here", "there")],
                }
            }
            for gender in stereotypes.GENDERS
        }
    themes["occupation"]["female"]["occupation female"].update(changes)
    return {"frames": frames, "themes": themes}


def written(tmp_path, content):
    path = tmp_path / "themes.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return path


def test_small_file_is_read(tmp_path):
    pairs = stereotypes.read_stereotype_pairs(written(tmp_path, small()))
    assert len(pairs) == 4 * 2 * 3
    assert pairs[2].text == "{He/She} is occupation male one in occupation."


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sentences": ["{He/She} works."]}, "a list of 2"),
        ({"forms": {"one": "a nurse"}}, "'forms' must have"),
        ({"label": 1}, "the two keys 'forms' and 'sentences'"),
        ({"sentences": ["Nurses work.", "{He/She} works."]}, "no gendered word"),
        ({"sentences": ["{He/She works.", "{He/She} works."]}, "no gendered word"),
        ({"sentences": ["{He/She} knows {her mother/his father}.", "{He/She} works."]}, "a bracket outside"),
        ({"sentences": ["{He/He} works.", "{He/She} works."]}, "marking are equal"),
        ({"sentences": ["{He/She} works", "{He/She} rests."]}, "end with a period"),
        ({"sentences": ["{He/She} works.", "{He/She} works."]}, "is there twice"),
    ],
)
def test_wrong_theme_is_refused(tmp_path, changes, message):
    path = written(tmp_path, small(**changes))
    with pytest.raises(InputError, match=re.escape(message)) as refusal:
        stereotypes.read_stereotype_pairs(path)
    assert str(path) in str(refusal.value)
    assert "occupation female" in str(refusal.value)


def test_frame_without_its_form_is_refused(tmp_path):
    content = small()
    content["frames"]["trait"][0] = "{He/She} is <one>."
    with pytest.raises(InputError, match=r"no form <one>.*adjective"):
        stereotypes.read_stereotype_pairs(written(tmp_path, content))


def test_unequal_numbers_of_themes_are_refused(tmp_path):
    content = small()
    content["themes"]["trait"]["male"] = {}
    with pytest.raises(InputError, match="trait has 0 male and 1 female themes"):
        stereotypes.read_stereotype_pairs(written(tmp_path, content))


@pytest.mark.parametrize(("text", "message"), [("frames: {", "no YAML"), ("frames: {}", "two keys")])
def test_wrong_file_is_refused(tmp_path, text, message):
    path = tmp_path / "themes.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        stereotypes.read_stereotype_pairs(path)
