import math
import warnings

import numpy as np
import pytest
from statsmodels.stats import inter_rater
from wording import says

from evenlight.corpus.annotation.agreement import (
    annotator_agreement,
    cohens_kappa,
    disagreements,
    fleiss_kappa,
    krippendorffs_alpha,
)
from evenlight.corpus.annotation.annotations import annotation

SOURCE = ["He", "sees", "his", "son", "."]
_ = -1


def units(*rows: tuple[int, ...]) -> np.ndarray:
    return np.array(rows)


def repeated(*pairs: tuple[tuple[int, int], int]) -> np.ndarray:
    return np.array([pair for pair, times in pairs for _ in range(times)])


# Coefficients ----------------------------------------------------------------------------------------------------


def test_cohens_kappa_by_hand():
    # 35 of 50 agree (.7); chance .5 × .6 + .5 × .4 = .5; so (.7 − .5) / .5.
    ratings = repeated(((1, 1), 20), ((1, 0), 5), ((0, 1), 10), ((0, 0), 15))
    assert cohens_kappa(ratings[:, 0], ratings[:, 1]) == pytest.approx(0.4)


def test_fleiss_kappa_by_hand():
    # Three annotators. Units agree in 1, 1/3, 1, 1/3 of the pairs: 2/3. Shares 7/12 and 5/12: chance 74/144.
    ratings = units((0, 0, 0), (0, 0, 1), (1, 1, 1), (1, 0, 0))
    assert fleiss_kappa(ratings) == pytest.approx((2 / 3 - 74 / 144) / (1 - 74 / 144))


def test_fleiss_kappa_of_the_table_that_textbooks_show():
    counts = [
        (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
        (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
    ]  # fmt: skip
    ratings = np.array([np.repeat(np.arange(5), row) for row in counts])
    assert fleiss_kappa(ratings) == pytest.approx(0.210, abs=5e-4)


def test_krippendorffs_alpha_of_his_examples():
    """Krippendorff (2011): two observers and values, two observers and five values, four observers with gaps."""
    two = np.array([[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]).T
    five = np.array([[0, 0, 1, 1, 3, 2, 2, 2, 4, 3, 3, 0], [1, 0, 1, 1, 1, 2, 2, 2, 4, 3, 3, 3]]).T
    four = np.array(
        [
            [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
            [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
        ]
    ).T
    assert krippendorffs_alpha(two) == pytest.approx(0.095, abs=5e-4)
    assert krippendorffs_alpha(five) == pytest.approx(0.692, abs=5e-4)
    assert krippendorffs_alpha(four) == pytest.approx(0.743, abs=5e-4)


def test_coefficients_equal_another_implementation():
    generator = np.random.default_rng(0)
    for _trial in range(50):
        count, annotators, categories = generator.integers(3, 30), generator.integers(2, 5), generator.integers(2, 5)
        truth = generator.integers(0, categories, (count, 1))
        guesses = generator.integers(0, categories, (count, annotators))
        ratings = np.where(generator.random((count, annotators)) < 0.6, truth, guesses)
        by_unit = np.stack([(ratings == category).sum(axis=1) for category in range(categories)], axis=1)
        crossed = np.zeros((categories, categories))
        np.add.at(crossed, (ratings[:, 0], ratings[:, 1]), 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fleiss, cohen = inter_rater.fleiss_kappa(by_unit), inter_rater.cohens_kappa(crossed, return_results=False)
        assert fleiss_kappa(ratings) == pytest.approx(fleiss, nan_ok=True)
        assert cohens_kappa(ratings[:, 0], ratings[:, 1]) == pytest.approx(cohen, nan_ok=True)


def test_alpha_by_definition():
    """From the matrix of coincidences, which the implementation does without."""
    generator = np.random.default_rng(1)
    for _trial in range(50):
        ratings = generator.integers(-1, 3, (generator.integers(2, 12), 4))
        coincidences = np.zeros((3, 3))
        for row in ratings:
            given = row[row >= 0]
            for i in range(len(given)):
                for j in range(len(given)):
                    if i != j:
                        coincidences[given[i], given[j]] += 1 / (len(given) - 1)
        totals, n = coincidences.sum(axis=1), coincidences.sum()
        differing = n - np.trace(coincidences)
        expected = (n**2 - (totals**2).sum()) / (n - 1) if n else 0
        assert krippendorffs_alpha(ratings) == pytest.approx(
            1 - differing / expected if expected else math.nan, nan_ok=True
        )


def test_complete_agreement_is_one_and_of_one_category_undefined():
    two = units((0, 0), (1, 1), (1, 1))
    one = units((3, 3), (3, 3), (3, 3))
    for coefficient in (lambda ratings: cohens_kappa(*ratings.T), fleiss_kappa, krippendorffs_alpha):
        assert coefficient(two) == pytest.approx(1)
        assert math.isnan(coefficient(one))
        assert math.isnan(coefficient(one[:0]))


# Annotations -----------------------------------------------------------------------------------------------------


def accepted(sentence_id: str, annotator: str, words: list[str], marks: list[int], source: list[str] = SOURCE) -> dict:
    form = {"scope": "all", "group": "female", "words": words, "ground_truth": marks}
    return annotation(sentence_id, annotator, source, [form])


HER_DAUGHTER = ["She", "sees", "her", "daughter", "."]
HER_SON = ["She", "sees", "her", "son", "."]
ANNOTATIONS = [
    accepted("s1", "Kim", HER_DAUGHTER, [1, 0, 1, 1, 0]),
    accepted("s1", "Lee", HER_SON, [1, 0, 1, 0, 0]),
    accepted("s2", "Kim", HER_DAUGHTER, [1, 0, 1, 1, 0]),
    annotation("s2", "Lee", SOURCE, [], reason="odd"),
]


def test_the_table_of_coefficients():
    table = annotator_agreement(ANNOTATIONS).set_index(["kind", "statistic"])
    assert set(table.annotators) == {"Kim, Lee"}
    assert table.units.to_dict()["decision", "Cohen's kappa"] == 2
    assert table.units.to_dict()["word", "Cohen's kappa"] == 5
    # Kim accepts both, Lee one: agreement is just that of chance.
    assert table.value["decision", "Cohen's kappa"] == pytest.approx(0)
    # Five words, four alike; Kim changes three, Lee two: chance .6 × .4 + .4 × .6.
    assert table.observed["changed", "Cohen's kappa"] == pytest.approx(0.8)
    assert table.value["changed", "Cohen's kappa"] == pytest.approx((0.8 - 0.48) / 0.52)
    assert table.value["ground_truth", "Cohen's kappa"] == pytest.approx((0.8 - 0.48) / 0.52)
    # Categories unchanged, She, her, daughter: chance .4 × .6 + .2 × .2 + .2 × .2.
    assert table.value["word", "Cohen's kappa"] == pytest.approx((0.8 - 0.32) / 0.68)


def test_a_word_cut_out_is_not_an_unchanged_one():
    cut = accepted("s1", "Kim", ["", "sees", "his", "son", "."], [0] * 5)
    left = accepted("s1", "Lee", SOURCE, [0] * 5)
    table = annotator_agreement([cut, left]).set_index(["kind", "statistic"])
    assert table.observed["word", "Cohen's kappa"] == pytest.approx(0.8)


def test_undefined_coefficients_are_missing_with_a_note():
    same = [accepted(name, who, SOURCE, [0] * 5) for name in ("s1", "s2") for who in ("Kim", "Lee")]
    table = annotator_agreement(same)
    assert table.value.isna().all()
    assert [*set(table.note)] == [says("all ratings", "one category")]
    assert (table.observed == 1).all()
    # Without a common sentence they have nothing in common, and of one alone there is nothing.
    apart = annotator_agreement([accepted("s1", "Kim", HER_SON, [0] * 5), accepted("s2", "Lee", HER_SON, [0] * 5)])
    assert set(apart.units) == {0}
    assert [*set(apart.note)] == [says("no unit", "in common")]
    assert annotator_agreement(ANNOTATIONS[:1]).empty
    assert disagreements(ANNOTATIONS[:1]).empty


def test_the_pairs_of_three_annotators_and_missing_ones():
    rows = [*ANNOTATIONS, accepted("s1", "Ann", HER_SON, [1, 0, 1, 0, 0])]
    table = annotator_agreement(rows)
    words = table[table.kind == "word"]
    assert list(words.annotators[words.statistic == "Cohen's kappa"]) == ["Ann, Kim", "Ann, Lee", "Kim, Lee"]
    decisions = table[table.kind == "decision"].set_index("statistic")
    assert decisions.units["Fleiss' kappa"] == 1
    assert decisions.units["Krippendorff's alpha"] == 2


def test_disagreements_are_listed():
    listed = disagreements(ANNOTATIONS).to_dict("records")
    place = {"sentence_id": "s1", "scope": "all", "group": "female", "position": 3, "source": "son"}
    nowhere = {"sentence_id": "s2", "scope": "", "group": "", "position": -1, "source": ""}
    assert sorted(listed, key=lambda row: row["kind"]) == [
        {**nowhere, "kind": "decision", "Kim": "accept", "Lee": "reject"},
        {**place, "kind": "ground_truth", "Kim": 1, "Lee": 0},
        {**place, "kind": "word", "Kim": "daughter", "Lee": "son"},
    ]
    # White space around a word is none.
    spaced = accepted("s1", "Lee", ["She ", *HER_DAUGHTER[1:]], [1, 0, 1, 1, 0])
    assert disagreements([ANNOTATIONS[0], spaced]).empty
