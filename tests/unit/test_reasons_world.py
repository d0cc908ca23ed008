"""The world of reasons: what is dialled is there, and nothing else."""

from pathlib import Path

import pandas as pd
import pytest
from scipy.stats import binomtest

from evenlight.core.errors import InputError
from evenlight.datasets.readers.causal_world import CAUSAL_CONCEPTS, CONCEPTS, WORLD_LANGUAGES
from evenlight.datasets.reasons_world import DECIDED, DIALS, FILLERS, FRAMES, HEDGES, NOTHING, REFUSED, WRITERS, answers
from evenlight.datasets.world_texts import read_language
from evenlight.texts.matching import mentions

ENGLISH = read_language(Path(__file__).parents[2] / WORLD_LANGUAGES["english"], CONCEPTS, CAUSAL_CONCEPTS)
UNITS = 80


def table(writer: str = "oracle", units: int = UNITS, draws: int = 1, **dials) -> pd.DataFrame:
    return answers(writer, ENGLISH, units, draws, dials)


def originals(rows: pd.DataFrame, level: str) -> pd.DataFrame:
    return rows[rows["concept"].isna() & (rows["level"] == level)].reset_index(drop=True)


def share_is(values, expected: float) -> bool:
    """Whether a share is what it must be, but for the chance of one in 100,000."""
    values = list(values)
    return binomtest(sum(values), len(values), expected).pvalue > 1e-5


@pytest.fixture(scope="module")
def plain() -> pd.DataFrame:
    return table()


def test_every_question_and_draw_has_a_row():
    rows = table(units=3, draws=2)
    assert len(rows) == 3 * 2 * (1 + len(CONCEPTS)) * 2
    assert not rows.duplicated(["unit", "level", "concept", "draw"]).any()


def test_without_dials_the_groups_have_the_same_answers(plain):
    men, women = originals(plain, "male"), originals(plain, "female")
    assert (men["decision"] == women["decision"]).all()
    assert (men["true"] == women["true"]).all()
    assert (men["question"] != women["question"]).all()
    assert (men["implied"] == women["implied"]).all()


def test_true_concepts_are_those_whose_change_turns_the_decision(plain):
    """Found a second time, from the rows of changed questions."""
    keys = ["unit", "level"]
    before = plain[plain["concept"].isna()].set_index(keys)
    for row in plain[plain["concept"].notna()].itertuples():
        original = before.loc[(row.unit, row.level)]
        assert (row.concept in original["true"]) == (row.decision != original["decision"])
    assert set().union(*before["true"]) == set(CAUSAL_CONCEPTS)


def test_a_reason_mentions_what_it_names_and_no_more(plain):
    words = {name: {word for of in ENGLISH.concepts[name].strong for word in of} for name in CONCEPTS}
    for row in plain.itertuples():
        told = {name for name, of in words.items() if mentions(row.text, list(of))}
        assert told == set(row.implied)


def test_no_sentence_of_a_writer_tells_a_concept():
    words = [word for concept in ENGLISH.concepts.values() for of in concept.strong for word in of]
    sentences = [*FRAMES, *FILLERS, *DECIDED.values(), *HEDGES, NOTHING, REFUSED]
    assert [sentence for sentence in sentences if mentions(sentence, words)] == []


def test_the_copier_copies_and_the_empty_writer_is_silent():
    copied, empty = table("copier", units=5), table("empty", units=5)
    assert (copied["text"] == copied["question"]).all()
    assert (empty["text"] == "").all()


@pytest.mark.parametrize("dial", sorted(set(DIALS) - {"decision", "noise"}))
def test_a_dial_of_the_reasons_changes_the_second_group_alone(plain, dial):
    turned = table(**{dial: 1.0})
    assert originals(turned, "male").equals(originals(plain, "male"))
    women, before = originals(turned, "female"), originals(plain, "female")
    assert (women["text"] != before["text"]).mean() > 0.4
    assert (women["question"] == before["question"]).all()
    if dial != "refused":
        assert (women["decision"] == before["decision"]).all()


def test_longer_reasons_are_as_many_as_dialled(plain):
    women = originals(table(longer=0.3), "female")
    longer = women["text"].str.endswith(" ".join(FILLERS))
    assert share_is(longer, 0.3)
    assert (women["text"].str.removesuffix(" " + " ".join(FILLERS)) == originals(plain, "female")["text"]).all()


def test_hedged_sentences_are_as_many_as_dialled():
    women = originals(table(hedged=0.4), "female")
    sentences = [sentence for text in women["text"] for sentence in text.removesuffix(".").split(". ")]
    assert share_is([sentence.startswith(HEDGES) for sentence in sentences], 0.4)
    assert {hedge for hedge in HEDGES for sentence in sentences if sentence.startswith(hedge)} == set(HEDGES)


def test_refusals_are_as_many_as_dialled():
    rows = table(refused=0.2)
    women = originals(rows, "female")
    assert share_is(women["decision"].isna(), 0.2)
    assert (women["decision"].isna() == (women["text"] == REFUSED)).all()
    assert women.loc[women["decision"].isna(), "implied"].map(len).eq(0).all()
    assert originals(rows, "male")["decision"].notna().all()


def test_sentences_are_alike_where_dialled(plain):
    def frames(rows: pd.DataFrame) -> list[int]:
        """How many different frames a reason has that names several concepts."""
        begun = {frame.partition(" {}")[0] for frame in FRAMES}
        several = rows[rows["implied"].map(len) > 1]["text"]
        return [len({start for start in begun if start in text}) for text in several]

    assert set(frames(originals(table(monotonous=1.0), "female"))) == {1}
    assert min(frames(originals(plain, "female"))) > 1


def test_unfaithful_reasons_are_at_random_and_as_many_as_dialled(plain):
    women, before = originals(table(unfaithful=0.5), "female"), originals(plain, "female")
    wrong = women["implied"] != before["implied"]
    # A random set of six is the true one with the chance 1 in 64.
    assert share_is(wrong, 0.5 * 63 / 64)
    assert (women["true"] == before["true"]).all()


def test_the_gender_decides_where_dialled():
    rows = table(decision=0.4)
    men, women = originals(rows, "male"), originals(rows, "female")
    alone = men["true"].map(lambda true: true == ["gender"])
    assert (men.loc[alone, "decision"] == "promoted").all()
    assert (women.loc[alone, "decision"] == "declined").all()
    # The gender moves no decision of the others, and where it decides nothing else does.
    assert (men["true"] == women["true"]).all()
    assert share_is(alone, 0.4)
    assert (men.loc[~alone, "decision"] == women.loc[~alone, "decision"]).all()
    told = [mentions(text, ["woman", "lady", "she", "her"]) for text in women.loc[alone, "text"]]
    assert all(told)


def test_draws_differ_as_dialled():
    rows = table(units=20, draws=5, noise=0.2)
    rule = table(units=20).set_index(["unit", "level", "concept"])["decision"].to_dict()
    other = [
        row.decision != rule[row.unit, row.level, row.concept] for row in rows[rows["concept"].notna()].itertuples()
    ]
    assert share_is(other, 0.2)


def test_another_seed_is_another_world(plain):
    other = answers("oracle", ENGLISH, 20, seed=1)
    assert (other["question"] != plain["question"][: len(other)]).mean() > 0.9
    assert table(units=20).equals(plain[: len(other)])


def test_what_there_is_not_is_refused():
    with pytest.raises(InputError, match=r"no writer 'poet';.*oracle, random, copier"):
        table("poet")
    with pytest.raises(InputError, match=r"dial length 0.5: .*longer, hedged"):
        table(length=0.5)
    with pytest.raises(InputError, match=r"dial longer 1.5: .* a share between 0 and 1"):
        table(longer=1.5)
    assert list(WRITERS) == ["oracle", "random", "copier", "empty"]
