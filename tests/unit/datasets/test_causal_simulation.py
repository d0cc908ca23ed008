"""The simulation with known causes: its equations, its counterfactuals, its texts, and words that are refused."""

import re
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.stats import binomtest

from evenlight import configuration
from evenlight.core.contracts.texts import ITEMS
from evenlight.core.errors import InputError
from evenlight.datasets import Reader, load
from evenlight.datasets.readers.causal_simulation import (
    CAUSAL_CONCEPTS,
    CONCEPTS,
    LEVELS,
    SIMULATION_LANGUAGES,
    CausalSimulation,
    noise_of,
    text,
    variables,
)
from evenlight.datasets.simulation_texts import read_language
from evenlight.texts.items import assign_validation, check_items, groups_kept_together, units_of

ROOT = Path(__file__).parents[3]
FILES = {name: ROOT / name for name in SIMULATION_LANGUAGES.values()}
SETTINGS = Reader.model_validate({"reader": "causal_simulation", "training_pairs": 40, "test_pairs": 30}).model_dump()
PARAMETERS = ("base_rates", "confounding", "shared_cause", "label_effect", "label_noise")
WORDING = ("longer_texts", "more_evidence", "late_evidence", "weak_evidence")
LANGUAGES = {name: read_language(FILES[path], CONCEPTS, CAUSAL_CONCEPTS) for name, path in SIMULATION_LANGUAGES.items()}
UNITS_OF_TESTS = 3000

# What each variable changes, written down a second time: the graph of docs/causal_simulation.md.
CHILDREN = {
    "gender": {"care", "pace", "manner", "label"},
    "care": {"label"},
    "pace": {"label"},
    "manner": {"label"},
    "dress": set(),
    "hobby": set(),
}


def simulated(**parameters) -> CausalSimulation:
    """A simulation whose other parameters are 0."""
    return CausalSimulation(reader="causal_simulation", training_forms="observed", **parameters)


NOUGHT = simulated()


@cache
def simulations(**parameters) -> list[dict[str, bool]]:
    return [variables(noise, simulated(**parameters)) for noise in noises()]


@cache
def noises() -> list:
    return [noise_of(0, f"unit {number}") for number in range(UNITS_OF_TESTS)]


def simulation(**changes):
    return load(FILES, Reader.parse(SETTINGS | changes))


def share_is(values: list[bool], expected: float) -> bool:
    """Whether a share is what it must be, but for the chance of one in 100,000."""
    return binomtest(sum(values), len(values), expected).pvalue > 1e-5


def written(language: str, noise, **parameters) -> list[tuple]:
    return text(noise, variables(noise, simulated(**parameters)), simulated(**parameters), LANGUAGES[language])


# The equations


@pytest.mark.parametrize("name", [*CHILDREN, "label"])
def test_without_dials_every_variable_is_a_fair_coin(name):
    assert share_is([simulation[name] for simulation in simulations()], 0.5)


@pytest.mark.parametrize(
    ("parameter", "pairs"),
    [
        ("base_rates", [("gender", concept) for concept in CAUSAL_CONCEPTS]),
        ("confounding", [("gender", "hobby")]),
        ("shared_cause", [("care", "dress")]),
    ],
)
def test_a_parameter_is_the_correlation_of_what_it_ties_and_ties_nothing_else(parameter, pairs):
    values = simulations(**{parameter: 0.6})
    names = list(CHILDREN)
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            agree = [simulation[one] == simulation[other] for simulation in values]
            # Two causes of which each agrees with the gender in a share of 0.8 agree with one another, too.
            through_gender = parameter == "base_rates" and {one, other} <= set(CAUSAL_CONCEPTS)
            correlation = 0.6 if (one, other) in pairs else 0.36 if through_gender else 0.0
            assert share_is(agree, (1 + correlation) / 2), (one, other)


def test_a_shared_cause_ties_what_does_not_follow_the_gender():
    """With base rates b a share b of `care` follows the gender, and of the others alone the cause is shared."""
    for rates, expected in ((0.4, 0.3), (0.8, 0.1)):
        agree = [value["care"] == value["dress"] for value in simulations(base_rates=rates, shared_cause=0.5)]
        assert share_is(agree, (1 + expected) / 2)
        assert not share_is(agree, (1 + 0.5) / 2)


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_the_label_follows_the_gender_in_the_share_that_the_dial_says_and_else_most_causes(share):
    decided = [noise("label", "follows", "gender") < share for noise in noises()]
    assert share_is(decided, share)
    for is_decided, value in zip(decided, simulations(label_effect=share, shared_cause=0.5), strict=True):
        majority = sum(value[concept] for concept in CAUSAL_CONCEPTS) >= 2
        assert value["label"] == (value["gender"] if is_decided else majority)


def test_label_noise_turns_as_many_labels_as_it_says():
    turned = [a["label"] != b["label"] for a, b in zip(simulations(), simulations(label_noise=0.2), strict=True)]
    assert share_is(turned, 0.2)
    assert all(a | {"label": b["label"]} == b for a, b in zip(simulations(), simulations(label_noise=0.2), strict=True))


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("label_noise", 0.5, "found 0.5"),
        # Nothing would show it.
        ("confounding", 0.5, "found 0.5, .* set training_forms to observed"),
    ],
)
def test_misspelt_dials_are_refused(key, value, message):
    study = yaml.safe_load((ROOT / "config/demo.yaml").read_text())
    study["datasets"] = {"simulation": {"reader": "causal_simulation", key: value}}
    with pytest.raises(InputError, match=rf"datasets.simulation.{key}: {message}"):
        configuration.complete(study)
    if "observed" in message:
        study["datasets"]["simulation"]["training_forms"] = "observed"
        configuration.complete(study)


# Counterfactuals


@pytest.mark.parametrize("name", CHILDREN)
def test_setting_a_variable_changes_it_and_what_it_causes_only(name):
    parameters = simulated(**dict.fromkeys(PARAMETERS, 0.4))
    changed = set()
    for noise in noises()[:500]:
        as_it_is = variables(noise, parameters)
        other = variables(noise, parameters, {name: not as_it_is[name]})
        changed |= {variable for variable in as_it_is if as_it_is[variable] != other[variable]}
    assert changed == {name} | CHILDREN[name]


def test_setting_a_variable_to_its_own_value_or_twice_changes_nothing():
    parameters = simulated(**dict.fromkeys((*PARAMETERS, *WORDING), 0.4))
    for noise in noises()[:200]:
        as_it_is = variables(noise, parameters)
        for name in CHILDREN:
            assert variables(noise, parameters, {name: as_it_is[name]}) == as_it_is
        flipped = variables(noise, parameters, {"gender": not as_it_is["gender"]})
        # Nothing but the gender and the numbers decides, so the way back leads to where it began.
        assert variables(noise, parameters, {"gender": not flipped["gender"]}) == as_it_is


@pytest.mark.parametrize("parameter", WORDING)
def test_wording_changes_texts_of_the_second_group_only_and_no_variable(parameter):
    changed = 0
    for noise in noises()[:200]:
        before, after = written("english", noise), written("english", noise, **{parameter: 1.0})
        value = variables(noise, NOUGHT)
        assert variables(noise, simulated(**{parameter: 1.0})) == value
        assert before == after or not value["gender"]
        changed += before != after
    assert changed > 50


def test_wording_does_what_it_says():
    women = [noise for noise in noises()[:300] if not variables(noise, NOUGHT)["gender"]]
    weak = {
        word for concept in LANGUAGES["english"].concepts.values() for words in concept.weak or () for word in words
    }
    misleading = []
    for noise in women:
        plain, longer = written("english", noise), written("english", noise, longer_texts=1.0)
        assert Counter(w for w, _ in plain) <= Counter(w for w, _ in longer)
        assert sum(word == "." for word, _ in longer) == sum(word == "." for word, _ in plain) + 2
        more = Counter(variable for _, variable in written("english", noise, more_evidence=1.0))
        assert [more[concept] for concept in CAUSAL_CONCEPTS] == [2, 2, 2]
        late = [variable for _, variable in written("english", noise, late_evidence=1.0)]
        last_other = max(place for place, variable in enumerate(late) if variable in ("dress", "hobby"))
        assert all(place > last_other for place, variable in enumerate(late) if variable in CAUSAL_CONCEPTS)
        weakened = written("english", noise, weak_evidence=1.0)
        assert all((word.lower() in weak) == (variable in CAUSAL_CONCEPTS) for word, variable in weakened)
        words = {variable: word.lower() for word, variable in weakened}
        for concept in CAUSAL_CONCEPTS:
            is_first = variables(noise, NOUGHT)[concept]
            misleading.append(words[concept] not in LANGUAGES["english"].concepts[concept].weak[not is_first])
    assert share_is(misleading, 0.25)


# Texts and their ground truth


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", CHILDREN)
def test_setting_a_variable_rewrites_the_words_that_carry_it_and_no_other(language, name):
    """So a word that is marked tells its variable, and the rest of the text says nothing of it."""
    for noise in noises()[:300]:
        value = variables(noise, NOUGHT)
        texts = [text(noise, value | {name: level}, NOUGHT, LANGUAGES[language]) for level in (True, False)]
        carriers = [[variable for _, variable in words] for words in texts]
        assert carriers[0] == carriers[1]
        assert name in carriers[0]
        for (one, variable), (other, _) in zip(*texts, strict=True):
            assert (one.lower() != other.lower()) == (variable == name)


@pytest.mark.parametrize("language", LANGUAGES)
def test_form_of_the_texts(language):
    for noise in noises()[:300]:
        words = [word for word, _ in written(language, noise, longer_texts=0.5)]
        line = " ".join(words)
        assert words[-1] == "."
        assert all(words[place + 1][0].isupper() for place, word in enumerate(words[:-1]) if word == ".")
        assert words[0][0].isupper()
        assert not re.search(r"\ba [aeiou]|\ban [^aeiou]|[<>{}/]", line, re.IGNORECASE), line
        assert not any(one == two for one, two in pairwise(words)), line
        assert 25 <= len(words) <= 75


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_text_tells_the_group_by_words_with_one_counterpart(name):
    """So that exchanging these words makes a simulation of men and women out of one of women and men."""
    language = LANGUAGES[name]
    concepts = language.concepts.values()
    frames = [*language.openings, *language.fillers, *(frame for concept in concepts for frame in concept.frames)]
    pairs = {tuple(pair.lower().split("/")) for frame in frames for pair in re.findall(r"{([^}]*)}", frame)}
    men, women = ([pair[side] for pair in pairs] for side in (0, 1))
    others = " ".join(re.sub(r"{[^}]*}", " ", frame) for frame in frames).lower()
    evidence = {word for concept in concepts for words in (*concept.strong, *(concept.weak or ())) for word in words}
    assert len(set(men)) == len(set(women)) == len(pairs) == len({*men, *women}) / 2
    assert not {*men, *women} & ({*re.findall(r"\w+", others)} | evidence)


def accuracy(features) -> float:
    """On fresh texts, of a logistic regression on bags of ``features(item)``."""
    linear_model = pytest.importorskip("sklearn.linear_model")
    hasher = pytest.importorskip("sklearn.feature_extraction").FeatureHasher(2**14, input_type="string")
    items = simulation(training_pairs=500, test_pairs=150).items
    bags = hasher.transform([features(item) for item in items.itertuples()])
    train, test = ((items.split == part).to_numpy() for part in ("train", "test"))
    model = linear_model.LogisticRegression(C=10, max_iter=1000).fit(bags[train], items.label[train])
    return model.score(bags[test], items.label[test])


def words_with(mark):
    return lambda item: [w.lower() for w, m in zip(item.words, item.ground_truth, strict=True) if m == mark]


def test_the_marked_words_alone_tell_the_label():
    """Neither length nor frames nor the order of the concepts give it away."""
    assert accuracy(words_with(1)) > 0.97
    assert abs(accuracy(words_with(0)) - 0.5) < 0.1
    assert abs(accuracy(lambda item: [f"{n} {v}" for n, v in enumerate(item.carries)]) - 0.5) < 0.1


# The reader


def test_size_split_and_columns():
    dataset = simulation()
    items = dataset.items
    assert Counter(items.split) == {"train": 80, "test": 60}
    assert dataset.classes == ["declined", "promoted"]
    assert set(dataset.units.groupby("unit_id")["level"].agg(tuple)) == {("male", "female")}
    assert set(items.columns) == {*ITEMS.schema.names, *(f"attribute.{name}" for name in LEVELS)} - {"part", "spaces"}
    notes = check_items(
        assign_validation(items, groups_kept_together(items, dataset.units), 0.1, 0), dataset.units, "simulation"
    )
    assert not any("ground truth" in note or "no gender" in note for note in notes)
    too_many = items.assign(carries=[[*carried, None] for carried in items.carries])
    with pytest.raises(InputError, match=r"item train-00000-male: (\d+) words but \d+ in carries"):
        check_items(too_many, dataset.units, "simulation")
    german = simulation(language="german").items
    assert {"Er", "Sie"} & {words[0] for words in german.words}
    assert np.mean([len(words) for words in german.words]) > 25


def test_without_dials_pairs_differ_in_words_of_the_gender_only_and_not_in_the_label():
    items = simulation().items
    for _, pair in items.groupby("cluster"):
        man, woman = pair.itertuples()
        assert man.label == woman.label
        assert man.ground_truth == woman.ground_truth
        assert man.carries == woman.carries
        assert all((m != w) == (v == "gender") for m, w, v in zip(man.words, woman.words, man.carries, strict=True))


def test_ground_truth_is_what_carries_a_parent_of_the_label():
    for effect, marked in ((0.0, set(CAUSAL_CONCEPTS)), (0.2, {*CAUSAL_CONCEPTS, "gender"})):
        for item in simulation(label_effect=effect).items.itertuples():
            assert [int(variable in marked) for variable in item.carries] == list(item.ground_truth)


def test_columns_say_what_the_words_do():
    words = {
        word: (name, value)
        for name, concept in LANGUAGES["english"].concepts.items()
        for value, of_value in zip(CONCEPTS[name], concept.strong, strict=True)
        for word in of_value
    }
    for item in simulation().items.rename(columns=lambda name: name.removeprefix("attribute.")).itertuples():
        for word, variable in zip(item.words, item.carries, strict=True):
            if variable in CONCEPTS:
                assert words[word.lower()] == (variable, getattr(item, variable))


def test_equal_seeds_give_equal_tables_and_another_test_seed_fresh_test_texts():
    one, again, fresh, other = simulation(), simulation(), simulation(test_seed=1), simulation(seed=1)
    assert one.items.equals(again.items)
    assert one.units.equals(again.units)

    def lines(dataset, split):
        return {" ".join(words) for words in dataset.items.words[dataset.items.split == split]}

    assert lines(one, "train") == lines(fresh, "train")
    assert not lines(one, "test") & lines(fresh, "test")
    assert not lines(one, "train") & lines(other, "train")
    assert lines(one, "test") == lines(other, "test")


def test_more_texts_leave_those_that_there_are():
    few, many = simulation().items, simulation(training_pairs=60, test_pairs=50).items
    shared = many[many.item_id.isin(few.item_id)].reset_index(drop=True)
    assert shared.equals(few)


def test_observed_training_texts_are_single_and_show_the_confounding():
    dataset = simulation(training_forms="observed", confounding=0.8, training_pairs=1000)
    train = dataset.items[dataset.items.split == "train"]
    assert len(train) == train.cluster.nunique() == 1000
    agree = (train["attribute.gender"] == "male") == (train["attribute.hobby"] == "sport")
    assert share_is(agree.tolist(), 0.9)
    for _, pair in dataset.items[dataset.items.split == "test"].groupby("cluster"):
        assert pair["attribute.hobby"].nunique() == 1
        assert set(pair["attribute.gender"]) == {"male", "female"}
    check_items(dataset.items, dataset.units, "simulation")


def test_concept_counterfactuals_are_pairs_that_differ_in_the_concept():
    dataset = simulation(concept_counterfactuals=["care", "hobby"], label_effect=0.2, base_rates=0.2)
    check_items(dataset.items, dataset.units, "simulation")
    items = dataset.items.set_index("item_id")
    assert Reader.parse(SETTINGS | {"concept_counterfactuals": ["care"]}).factors() == {
        "gender": ["male", "female"],
        "care": ["careful", "careless"],
    }
    for concept, changes_label in (("care", True), ("hobby", False)):
        rows = units_of(dataset.units, concept)
        assert rows.unit_id.nunique() == 60
        labels = set()
        for _, unit in rows.groupby("unit_id"):
            assert set(unit["level"]) == set(CONCEPTS[concept])
            one, other = (items.loc[name] for name in unit.item_id)
            assert one.split == other.split == "test"
            assert one["attribute.gender"] == other["attribute.gender"]
            for word, its, variable in zip(one.words, other.words, one.carries, strict=True):
                assert (word != its) == (variable == concept)
            labels.add(one.label != other.label)
        assert labels == ({True, False} if changes_label else {False})
    assert units_of(dataset.units, "gender").unit_id.nunique() == 70


# Files of words that are wrong


def content(**changes) -> dict:
    read = yaml.safe_load((ROOT / SIMULATION_LANGUAGES["english"]).read_text())
    return read | changes


def with_care(**changes) -> dict:
    read = content()
    read["concepts"]["care"] |= changes
    return read


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"openings": []}, "keys concepts, fillers, joined_by, openings"),
        (content(concepts={}), "pace, manner, dress,"),
        (content(openings="He."), "openings: must"),
        (content(openings=["It rains."]), "no word"),
        (content(openings=["{He/He} works."]), "marking are equal"),
        (content(openings=["{He/She} works"]), "end with a period"),
        (content(fillers=["It {rains."]), "bracket outside"),
        (content(fillers=["He keeps careful books."]), "'careful', a word"),
        (content(fillers=["It rains.", "It rains."]), "text twice"),
        (with_care(frames=["{He/She} writes."]), "<word> stands there 0 times; write it 1 times"),
        (with_care(frames=["{He/She} writes <b> <word>."]), "<b> has no meaning"),
        (with_care(frames=["{He/She} keeps <a> good <word>."]), "<a> must stand before <word>"),
        (with_care(careful=["careful"]), "careful and 8 of careless"),
        (with_care(careful=["careful"], careless=["careless"]), "at least 2"),
        (with_care(careful=["exact", "good"], careless=["careless", "bad"]), "take different articles"),
        (with_care(careful=["careful", "good"], careless=["careless", "slow"]), "'slow' is a word"),
        (with_care(careful=["careful", "good"], careless=["careless", "careful"]), "'careful' is there twice"),
        (with_care(careful=["careful", "well made"], careless=["careless", "bad"]), "'well made': not one word"),
        (with_care(weak={"careful": ["plain", "brief"]}), "careful and careless"),
    ],
)
def test_wrong_files_are_refused(tmp_path, wrong, message):
    path = tmp_path / "words.yaml"
    path.write_text(yaml.safe_dump(wrong))
    with pytest.raises(InputError, match=re.escape(message)) as refused:
        load(FILES | {str(path): path}, Reader.parse(SETTINGS | {"file": str(path)}))
    assert str(path) in str(refused.value)


def test_a_file_of_ones_own_is_read(tmp_path):
    path = tmp_path / "words.yaml"
    path.write_text(yaml.safe_dump(content(openings=["{He/She} is back."])))
    items = load(FILES | {str(path): path}, Reader.parse(SETTINGS | {"file": str(path)})).items
    assert {tuple(words[:3]) for words in items.words} == {("He", "is", "back"), ("She", "is", "back")}
