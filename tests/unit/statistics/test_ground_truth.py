"""The check of the ground truth: associations of words against scikit-learn, scipy and all exchanges; marks by hand."""

from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from dataset_files import as_dataset, write_dataset
from scipy import sparse
from scipy.stats import pearsonr
from sklearn.feature_extraction.text import TfidfVectorizer
from study_files import made

from evenlight.core.contracts.results import GROUND_TRUTH, WORD_ASSOCIATIONS
from evenlight.reports.plots.associations import WORDS, draw_associations
from evenlight.statistics.analyses.ground_truth import (
    counted_words,
    marked_places,
    tf_idf,
    word_associations,
)

CLASSES = ("female", "male", "neutral")
PRONOUNS = {"female": "She", "male": "He", "neutral": "They"}
THINGS = ("ship", "tree", "house", "book", "lamp", "gate", "hill", "door", "well", "road")


def sentences(classes=CLASSES, marked=True) -> pd.DataFrame:
    """Ten sentences with one form per class; the pronoun differs, and in the first three another word does too."""
    rows = []
    for n, thing in enumerate(THINGS):
        for label, level in enumerate(classes):
            words = [PRONOUNS[level], "sees", "the", thing, "and", "a", f"{level}x" if n < 3 else "he"]
            truth = [int(marked), 0, 0, 0, 0, 0, 0]
            rows.append((f"{level}{n}", f"{n}", level, label, words, truth))
    names = ["item_id", "pair_id", "group", "label", "words", "ground_truth"]
    return pd.DataFrame(rows, columns=names).assign(split="test")


def found(classes=CLASSES, permutations=200, **changes) -> pd.DataFrame:
    items, units = as_dataset(sentences(classes, **changes))
    return word_associations(items, units, classes, permutations, "plots").set_index(["word", "class"])


def test_tf_idf_and_correlations_are_those_of_other_libraries():
    items, _ = as_dataset(sentences())
    vectorizer = TfidfVectorizer(analyzer=lambda words: [word.lower() for word in words])
    features = vectorizer.fit_transform(items["words"]).toarray()
    words = list(vectorizer.get_feature_names_out())
    texts = [[word.lower() for word in text] for text in items["words"]]
    counts = np.array([[text.count(word) for word in words] for text in texts])
    np.testing.assert_allclose(tf_idf(sparse.csr_matrix(counts.astype(float))).toarray(), features)
    table = found()
    for word, column in zip(words, features.T, strict=True):
        for label, name in enumerate(CLASSES):
            expected = pearsonr(column, items["label"] == label).statistic
            assert table.loc[(word, name), "correlation"] == pytest.approx(expected, abs=1e-9)


def test_only_what_differs_between_forms_is_associated():
    table = found()
    # In each of ten sentences (1 - 1/3) of a covariance with the variance (2/3)(2/3)/2.
    assert table.loc[("she", "female"), "z"] == pytest.approx(np.sqrt(20))
    assert table.loc[("she", "male"), "z"] < 0
    assert table.loc[("she", "female"), "p"] == pytest.approx(1 / 201)
    # In all forms alike, whatever the other words of the forms are.
    for word in ("sees", "the", "ship", "a"):
        assert (table.xs(word)["z"] == 0).all()
        assert (table.xs(word)["p"] == 1).all()
    # Three sentences are not enough.
    assert table.loc[("femalex", "female"), "p"] > 0.05
    counted = {"words": 20, "associated_words": 3, "associated_unmarked": 0, "marked_words": 3}
    assert counted_words(table.reset_index(), 0.05) == counted | {"marked_unassociated": 0, "both_ways": 1}
    unmarked = counted_words(found(marked=False).reset_index(), 0.05)
    assert (unmarked["associated_unmarked"], unmarked["marked_words"]) == (3, 0)


def test_of_two_classes_there_is_the_second():
    table = found(("female", "male"))
    assert list(table.index.get_level_values("class").unique()) == ["male"]
    assert table.loc[("he", "male"), ["texts", "marked", "unmarked"]].tolist() == [17, 10, 14]


def test_z_is_the_covariance_over_its_deviation_under_all_exchanges():
    """Two sentences of three forms: 36 exchanges of the labels."""
    rows = sentences().query("pair_id in ['0', '1']").reset_index(drop=True)
    items, units = as_dataset(rows)
    table = word_associations(items, units, CLASSES, 2000, "plots").set_index(["word", "class"])
    labels = items["label"].to_numpy()
    places = [np.flatnonzero(rows["pair_id"] == pair) for pair in ("0", "1")]
    exchanged = []
    for orders in product(permutations(range(3)), repeat=2):
        labels_of = labels.copy()
        for place, order in zip(places, orders, strict=True):
            labels_of[place] = labels[place][list(order)]
        exchanged.append(labels_of)
    z_of = {}
    for word, name in table.index:
        count = np.array([[each.lower() for each in words].count(word) for words in items["words"]])
        sums = np.array([((labels_of == CLASSES.index(name)) - 1 / 3) @ count for labels_of in exchanged])
        z_of[word, name] = sums / sums.std() if sums.std() > 1e-9 else np.zeros(36)
        assert table.loc[(word, name), "z"] == pytest.approx(z_of[word, name][0])
    largest = np.abs(np.array(list(z_of.values()))).max(axis=0)
    for key, z in z_of.items():
        exact = (largest >= abs(z[0]) - 1e-9).mean()
        assert table.loc[key, "p"] == pytest.approx(exact, abs=0.04)


def lone_texts(label_of_pair=None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both forms of each sentence as texts of their own, or with one label for both."""
    rows = sentences(("female", "male"))
    if label_of_pair is None:
        return as_dataset(rows.assign(pair_id=rows["item_id"]))
    return as_dataset(rows.assign(label=rows["pair_id"].map(label_of_pair)))


def test_of_texts_that_stand_alone_all_labels_are_exchanged():
    items, units = lone_texts()
    table = word_associations(items, units, ("female", "male"), 300, "plots").set_index("word")
    label = items["label"].to_numpy()
    for word in ("she", "he", "malex", "ship"):
        count = [[each.lower() for each in words].count(word) for words in items["words"]]
        # Of all exchanges r has the variance 1 / (n - 1), of any numbers.
        assert table.loc[word, "z"] == pytest.approx(pearsonr(count, label).statistic * np.sqrt(len(label) - 1))
    assert table.loc[["she", "he"], "p"].max() <= 0.01
    assert table.loc[["malex", "ship"], "p"].min() > 0.1


def test_where_forms_have_one_label_sentences_are_exchanged():
    """As of a rating that does not depend on the form: words are compared between sentences, and forms are no units."""
    items, units = lone_texts({str(n): int(n < 5) for n in range(10)})
    table = word_associations(items, units, ("low", "high"), 300, "plots").set_index("word")
    assert table.loc["she", "z"] == 0
    label = np.array([1] * 5 + [0] * 5)
    femalex = np.array([0.5] * 3 + [0] * 7)
    assert table.loc["femalex", "z"] == pytest.approx(pearsonr(femalex, label).statistic * 3)


@pytest.mark.slow
@pytest.mark.parametrize("alone", [False, True])
def test_words_without_any_association_are_seldom_associated(alone):
    """In worlds where no word has to do with the label; each association of any word is an error."""
    random = np.random.default_rng(4)
    vocabulary = np.array(list("abcdefgh"))
    errors = 0
    for world in range(200):
        words = [list(random.choice(vocabulary, 4)) for _ in range(24)]
        label = random.permuted(np.tile([0, 1], (12, 1)), axis=1).ravel()
        pair = np.arange(24) if alone else np.repeat(np.arange(12), 2)
        names = {"item_id": [f"{n}" for n in range(24)], "pair_id": [f"{n}" for n in pair], "group": "x"}
        rows = pd.DataFrame(names | {"label": label, "words": words, "split": "test"})
        rows = rows.assign(group=[("female", "male")[n] for n in label], ground_truth=[[0] * 4] * 24)
        items, units = as_dataset(rows)
        errors += word_associations(items, units, ("female", "male"), 39, f"{world}")["p"].min() <= 0.1
    assert 0.03 < errors / 200 < 0.17


def test_marks_are_held_against_what_differs():
    rows = sentences(("female", "male"))
    rows.at[0, "ground_truth"] = [0, 1, 0, 0, 0, 0, 0]  # "sees", which both forms have
    rows.at[4, "words"] = rows.at[4, "words"][:-1]
    rows.at[4, "ground_truth"] = [0] * 6
    items, units = as_dataset(rows)
    # Sentence 2 has forms of different lengths; of nine others two have another word that differs.
    assert marked_places(items, units) == {
        "texts": 20,
        "without_truth": 1,
        "units": 10,
        "unequal_units": 1,
        "places": 9 + 2,
        "marked_places": 9 + 1,
        "unmarked_differences": 2,
        "marked_equals": 1,
    }


def test_tables_are_of_the_datasets_with_ground_truth(tmp_path):
    write_dataset(sentences(), tmp_path / "plots", classes=CLASSES)
    write_dataset(sentences().assign(ground_truth=None), tmp_path / "bare", classes=CLASSES)
    asked = {"datasets": ["bare", "plots"], "permutations": 100, "alpha": 0.05}
    summary, words = made("check_ground_truth", {"datasets": tmp_path}, **asked)
    assert list(words.columns) == WORD_ASSOCIATIONS.schema.names
    assert list(summary.columns) == GROUND_TRUTH.schema.names
    assert list(summary["dataset"]) == ["plots"]
    largest = words["correlation"].abs().groupby(words["word"]).max().nlargest(3)
    assert set(largest.index) == {"he", "she", "they"}


def test_the_figure_names_the_words_that_go_along_most_and_counts_the_others():
    words = [f"word{number}" for number in range(30)]
    strength = np.linspace(0.9, -0.02, 30) * np.where(np.arange(30) % 2, 1, -1)
    of_word = {"dataset": "plots", "class": "female", "texts": 9, "marked": 5, "unmarked": 1, "z": 1.0, "p": 0.5}
    table = pd.DataFrame({"word": words, "correlation": strength} | of_word)
    table.loc[3, ["word", "marked", "unmarked"]] = ["$price$", 1, 5]
    table.loc[29, "correlation"] = np.nan
    figure = draw_associations(table.sample(frac=1, random_state=0), "Words")
    (axes,) = figure.axes
    labels = [label.get_text().replace("\\", "") for label in axes.get_yticklabels()]
    assert labels == ["word0", "word1", "word2", "$price$", *words[4:WORDS]]
    bars = axes.patches[:WORDS]
    assert [bar.get_width() for bar in bars] == pytest.approx(list(strength[:WORDS]))
    colours = [bar.get_facecolor() for bar in bars]
    assert colours.count(colours[0]) == WORDS - 1
    assert colours[3] != colours[0]
    band = axes.patches[WORDS].get_extents().transformed(axes.transData.inverted())
    others = strength[WORDS:29]
    assert (band.x0, band.x1) == pytest.approx((others.min(), others.max()))
    assert axes.get_title(loc="left") == "female\nin grey 14 more words"
    figure.canvas.draw()
    assert "no text has ground truth" in draw_associations(table.iloc[:0], "Words").get_suptitle()
