"""The configuration: what is accepted, how it is completed, and what a refusal says."""

import copy
import json
import re
import subprocess
import sys
from datetime import date
from functools import cache
from pathlib import Path
from typing import ClassVar, Literal

import pytest
import yaml
from commands import run_command
from document_configuration import with_own
from hypothesis import given, settings
from hypothesis import strategies as some
from jsonschema import Draft202012Validator
from pydantic import Field
from snakemake.cli import parse_config
from snakemake.exceptions import WorkflowError
from snakemake.utils import validate
from wording import says

from evenlight.configuration import (
    REGISTRIES,
    Study,
    checkpoint,
    complete,
    explainer_families,
    family_of,
    has_scores,
    metric_annotations,
    metric_families,
    recipe,
    seeds_of,
    versions_of,
    without_labels,
)
from evenlight.configuration.combinations import SCORE_COLUMNS
from evenlight.core.contracts.explanations import ANSWER_SCORES, SCORES
from evenlight.core.errors import InputError
from evenlight.core.kinds import TEXT
from evenlight.datasets import Reader
from evenlight.explainers import Explainer
from evenlight.jobs import own_files
from evenlight.settings.schema import schema_of

ROOT = Path(__file__).parents[3]
SHIPPED = sorted([*ROOT.glob("config/*.yaml"), *ROOT.glob("config/studies/*.yaml"), *ROOT.glob("bench/*.yaml")])

SMALLEST = {
    "study": "small",
    "datasets": {"geco_all": {"reader": "geco"}},
    "models": {"tiny": {"architecture": "bert", "layers": 2, "heads": 2, "hidden_size": 64, "training": "short"}},
    "trainings": {"short": {"learning_rate": 0.001, "batch_size": 32, "epochs": 20}},
    "explainers": {"grad": {"method": "saliency"}},
    "metrics": {"gini": {"metric": "gini"}},
    "statistics": {"compare": {"gender": [["male", "female"]]}},
}
MISSING = object()


def changed(*changes: tuple[str, object]) -> dict:
    """The smallest configuration with other values at some dotted keys; MISSING takes a key out."""
    config = copy.deepcopy(SMALLEST)
    for key, value in changes:
        *path, last = key.split(".")
        place = config
        for step in path:
            place = place.setdefault(step, {})
        if value is MISSING:
            del place[last]
        else:
            place[last] = value
    return config


def refusal(*changes: tuple[str, object]) -> list[str]:
    """The problems that a changed configuration is refused for."""
    with pytest.raises(InputError) as raised:
        complete(changed(*changes))
    return str(raised.value).split("\n  ")[1:]


# Completion ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_configurations_are_complete_after_completion_and_editors_accept_both(path):
    config = yaml.safe_load(path.read_text())
    completed = complete(config)
    assert complete(completed) == completed
    json.dumps(completed, allow_nan=False)
    for each in (config, completed):
        validator().validate(each)


def test_the_shipped_default_is_the_cpu_study_on_any_device_with_five_seeds():
    default, study = (
        complete(yaml.safe_load((ROOT / "config" / name).read_text()))
        for name in ("config.yaml", "studies/geco_cpu.yaml")
    )
    assert default == study | {"study": "geco", "seeds": [0, 1, 2, 3, 4], "device": "auto"}


def test_defaults_are_filled_in_at_every_depth():
    """Some of each depth; all of them stand in the schema, which is held against the classes."""
    given_config = changed()
    completed = complete(given_config)
    assert given_config == SMALLEST
    assert completed["seeds"] == [0, 1, 2, 3, 4]
    assert completed["datasets"]["geco_all"].items() >= {"words": "all", "validation_share": 0.1}.items()
    assert completed["models"]["tiny"]["tokenizer"] == {"vocabulary_size": 4000}
    short = {"epochs": 20, "start": "published", "lora": None, "fresh": [], "warmup_share": 0.1}
    assert completed["trainings"]["short"].items() >= short.items()
    assert completed["explain"].items() >= {"target": "label", "pairs": None, "pairs_on": {}}.items()
    assert completed["figures"] == {"formats": ["svg", "pdf"], "sentences": {}}
    assert completed["explainers"]["grad"]["output"] == "logit"


def test_a_tokenizer_is_learned_or_taken_from_elsewhere():
    completed = complete(changed(("models.tiny.tokenizer", {"source": "bert-base-uncased"})))
    assert completed["models"]["tiny"]["tokenizer"] == {"source": "bert-base-uncased", "revision": None}
    [problem] = refusal(("models.tiny.tokenizer", {"source": "bert-base-uncased", "vocabulary_size": 100}))
    assert problem == says("models.tiny.tokenizer: found {", "vocabulary_size or source/revision")


def test_labels_are_the_name_of_an_explainer_and_the_title_of_a_metric():
    completed = complete(changed(("explainers.gxi", {"method": "input_x_gradient", "label": "G × I"})))
    assert {name: entry["label"] for name, entry in completed["explainers"].items()} == {"gxi": "G × I", "grad": "grad"}
    assert completed["metrics"]["gini"]["label"] == "Gini"
    assert without_labels(completed["metrics"]) == {"gini": {"metric": "gini", "special_tokens": "included"}}


@pytest.mark.parametrize(
    ("key", "spelled", "value"),
    [
        ("trainings.short.learning_rate", "1e-3", 0.001),
        ("trainings.short.learning_rate", "+.5E-2", 0.005),
        ("trainings.short.epochs", "1e1", 10),
        ("trainings.short.epochs", {"default": "1e1", "geco_all": 2.0}, {"default": 10, "geco_all": 2}),
        ("trainings.short.patience", "null", None),
        ("metrics.gini", {"metric": "aopc_sufficiency", "shares": ["5e-1", 1]}, [0.5, 1.0]),
        ("metrics.gini", {"metric": "aopc_sufficiency", "positive_only": "false"}, False),
    ],
)
def test_spellings_of_one_number_are_one_setting(key, spelled, value):
    found = complete(changed((key, spelled)))
    for step in key.split("."):
        found = found[step]
    if key.startswith("metrics"):
        found = found[list(spelled)[-1]]
    assert json.dumps(found) == json.dumps(value)


def test_what_snakemake_reads_from_file_and_command_line_is_understood():
    from_file = yaml.safe_load("{learning_rate: 1e-3, batch_size: 32, epochs: 1_0}")
    assert from_file["learning_rate"] == "1e-3"  # the reason for the conversion
    from_command_line = parse_config(["seeds=[0, 1]", "mirror=null", "explain={pairs: null, target: prediction}"])
    assert from_command_line["seeds"] == ["0", "1"]
    completed = complete(changed(("trainings.short", from_file)) | from_command_line)
    assert completed["trainings"]["short"]["learning_rate"] == 0.001
    assert completed["trainings"]["short"]["epochs"] == 10
    assert completed["seeds"] == [0, 1]
    assert completed["mirror"] is None
    assert completed["explain"] == complete(SMALLEST)["explain"] | {"target": "prediction"}


# Refusals --------------------------------------------------------------------------------------------------------

LEARNING_RATE, GENDER = "trainings.short.learning_rate", "statistics.compare.gender"
SHORT = {"learning_rate": 1, "batch_size": 1, "epochs": 1}
THEIRS = {"method": "imported"}
TABLE = {"reader": "table", "file": "a.csv", "text": "t", "label": "l", "classes": ["a", "b"]}


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("study", "My Study", r'study: found "My Study".*small letters'),
        ("study", "sources", r'study: found "sources", where .*choose another name'),
        ("seeds", [], r"seeds: found \[\].*at least 1"),
        ("seeds", [3, 1, 0, 1], r"seeds: found \[3, 1, 0, 1\].*1 stands.*more than once$"),
        ("seeds", 3, r"seeds: found 3.*list"),
        ("device", "gpu", r'device:.*"gpu".*auto.*mean cpu'),
        ("mirror", 5, r"mirror: found 5.*null.*text.*quotes"),
        ("mirror", "", r'mirror: found "".*null.*not empty'),
        ("sedes", [0], r"sedes: unknown key.*mean seeds"),
        ("datasets", {}, r"datasets: is empty.*at least 1"),
        ("datasets.geco_all.reader", "gecco", r'reader: found "gecco".*table or winobias.*mean geco'),
        ("datasets.geco_all.reader", MISSING, r"datasets\.geco_all\.reader: is missing.*geco.*table or winobias"),
        ("datasets.geco_all.reader", ["geco"], r'datasets\.geco_all\.reader: found \["geco"\].*demo, geco'),
        ("models.tiny", "bert", r"a mapping.*such as {architecture: bert, training: \.\.\., layers: \.\.\., "),
        ("models.Tiny", SMALLEST["models"]["tiny"], r'models\.Tiny: the name "Tiny".*small letters'),
        ("models.tiny.heads", 3, r"models\.tiny\.heads:.*3.*not divide hidden_size \(64\)"),
        ("models.tiny.layers", MISSING, r"models\.tiny\.layers: is missing.*integer.*at least 1"),
        ("trainings.short.learning_rat", 1, r"learning_rat: unknown key; .*did you mean learning_rate\?"),
        (LEARNING_RATE, "fast", r'trainings\.short\.learning_rate:.*"fast".*above 0'),
        (LEARNING_RATE, float("nan"), r"learning_rate:.*NaN.*above 0"),
        ("trainings.short.epochs", [5], r"short\.epochs:.*\[5\].*integer.*1"),
        ("trainings.short.epochs", {"geco_all": 5}, r"epochs\.default: is missing.*number of epochs"),
        ("trainings.short.epochs", {"default": 9, "geco": 5}, r"epochs\.geco: no such dataset.*geco_all"),
        (
            "trainings.short",
            SHORT | {"start": "random", "lora": {}},
            r"^trainings\.short\.lora:.*`start` is random.*take",
        ),
        ("trainings.short.lora", {}, r"^trainings\.short\.lora: adapts.*models\.tiny \(bert\).*random.*name another"),
        ("trainings.short.trained", [], r"short\.trained: found \[\].*null.*list of at least 1"),
        ("trainings.short.fresh", ["head"], r'fresh\[0\]: found "head".*layers or pooler'),
        ("trainings.short.fresh", ["embeddings"], r'short\.fresh: found \["embeddings"\].*models\.tiny \(bert\).*name'),
        ("trainings.short", SHORT | {"start": "random", "fresh": ["layers"]}, r'fresh: found \["layers"\].*`start` is'),
        ("trainings.short", SHORT | {"lora": {}, "trained": ["head"]}, r'trained: found \["head"\].*`lora`.*take one'),
        ("models.tiny.training", "shrt", r'training: found "shrt", no such training.*short.*mean'),
        ("trainings", MISSING, r'^models\.tiny\.training: found "short", no such training.*none.*trainings$'),
        ("explain.pairs_on", {"compas": 5}, r"explain\.pairs_on\.compas: no such dataset.*geco_all$"),
        ("statistics.strata", {"compas": "label"}, r"^statistics\.strata\.compas: no such dataset.*geco"),
        ("explainers.grad.method", "lyme", r'explainers\.grad\.method: found "lyme".*mean lime'),
        ("explainers.grad.steps", 5, r"explainers\.grad\.steps: unknown key.*method, label, datasets, output"),
        ("explainers.theirs", THEIRS | {"file": "{dataset}-{model}.json"}, r"file: has no {seed}.*0, 1, 2, 3, 4"),
        ("explainers.theirs", THEIRS | {"file": "{dataset}/{sed}.json"}, r"file: found {sed};.* {model}, {seed}$"),
        ("explainers.again", {"method": "lime", "label": "grad"}, r'again\.label: "grad".*explainers'),
        ("metrics.again", {"metric": "gini"}, r'metrics\.again\.label: "Gini".*metrics\.gini'),
        ("metrics.item_id", {"metric": "sparsity"}, r"metrics\.item_id: .*column.*score table"),
        ("metrics.gini", {"metric": "aopc_sufficiency", "shares": [0.2, 0.1]}, r"shares: .*ascending"),
        ("metrics.gini", {"metric": "aopc_sufficiency", "positive_only": 1}, r"found 1;.*null.*true or false"),
        (GENDER, [["male", "male"]], r'gender\[0\]: found \["male", "male"\]; allowed .* different values'),
        (GENDER, [["male", "female"], ["female", "male"]], r'gender\[1\]: found \["female", "male"\].*gender\[0\]'),
        ("statistics.smallest_effects", {"ginni": 0.1}, r"smallest_effects\.ginni: no such metric; .*mean gini"),
        ("statistics.primary", {"explainers": ["gard"]}, r'primary\.explainers: found "gard", no such.*mean grad'),
        ("statistics.primary", {"factors": ["age"]}, r'primary\.factors: found "age".*not compared.*gender'),
        ("statistics.primary", {"explainer": ["lime"]}, r"primary\.explainer: .*did you mean explainers"),
        ("statistics.alpha", 0.0001, r"bootstrap_draws:.*2000.*1/2001.*statistics"),
        ("statistics.published", {"mini": "BERT"}, r"published\.mini: no such model.*tiny"),
        (GENDER, [["male", "femal"]], r'gender\[0\]: found "femal".*datasets\.geco_all.*male, female.*mean'),
        ("statistics.compare", {"gendr": [["male", "female"]]}, r"compare\.gendr: no dataset.*geco_all.*mean gender"),
        ("statistics.compare", [["male", "female"]], r"compare: found \[\[.*mapping.*{<name>: \[\[\.\.\., \.\.\.\]\]}"),
        ("explainers.grad", "lime", r'grad: found "lime".*mapping.*such as {method: lime}'),
        ("explainers.grad", "lyme", r'grad: found "lyme".*mapping.*such as {method: adaptive_'),
        (
            "datasets.geco_all",
            TABLE | {"attributes": ["age"]},
            r'found \["age"\]; .*{<name>: {column: \.\.\., levels: ',
        ),
        ("explainers", ["lime"], r"explainers: found .*, such as {<name>: {method: adaptive_integrated_gradients}}"),
        ("statistics.compare", {}, r"statistics\.compare: is missing.*kind disparity"),
    ],
)
def test_a_refusal_names_key_value_and_what_is_allowed(key, value, message):
    problems = refusal((key, value))
    assert len(problems) == 1, problems
    assert re.search(message, problems[0]), problems[0]


def test_two_factors_can_be_compared_together_and_the_negative_control_on_every_dataset():
    people = ("datasets.people", {"reader": "compas"})
    both = {"gender": [["male", "female"]], "gender+race": [["female+asian", "male+asian"]]}
    both["negative_control"] = [["control_a", "control_b"]]
    assert complete(changed(people, ("statistics.compare", both)))["statistics"]["compare"] == both
    [problem] = refusal(people, ("statistics.compare", {"gender+race": [["asian", "male+asian"]]}))
    assert problem.startswith('statistics.compare.gender+race[0]: found "asian",')
    [problem] = refusal(("statistics.compare", both))
    assert problem.startswith("statistics.compare.gender+race: no dataset")


def test_two_factors_of_a_dataset_share_no_level():
    levels = {"moved": ["yes", "no"], "married": ["yes", "?"]}
    asked = {name: {"column": "answer", "levels": of} for name, of in levels.items()}
    survey = ("datasets.survey", TABLE | {"attributes": asked})
    [problem] = refusal(survey, ("statistics.compare", {name: [of] for name, of in levels.items()}))
    assert problem.startswith('datasets.survey: "yes"')
    # What is not compared stands in no table.
    complete(changed(survey, ("statistics.compare", {"moved": [["yes", "no"]]})))


def test_a_date_as_a_name_is_refused_with_its_key():
    problem, *_ = refusal(("statistics.compare", {date(2000, 1, 1): [None]}))
    assert problem.startswith("statistics.compare.")
    assert 'the name "2000-01-01" is not allowed' in problem


def test_a_name_is_short_enough_for_the_name_of_a_file():
    [problem] = refusal(("explainers", {"a" * 81: {"method": "saliency"}}))
    assert "at most 80 characters" in problem
    complete(changed(("explainers", {"a" * 80: {"method": "saliency"}})))


def test_a_pair_of_levels_must_be_in_one_dataset(monkeypatch):
    other = {"gender": ["other", "female"], "age": ["young", "old"]}
    monkeypatch.setattr(Reader.entries["demo"], "factors", lambda self: other)
    both = ("datasets.other", {"reader": "demo"})
    compare = {"gender": [["male", "female"]], "age": [["young", "old"]]}
    assert complete(changed(both, ("statistics.compare", compare)))["statistics"]["compare"] == compare
    [problem] = refusal(both, ("statistics.compare", {"gender": [["male", "other"]]}))
    assert problem.startswith('statistics.compare.gender[0]: found ["male", "other"],')


def test_all_problems_are_listed_at_once():
    problems = refusal(
        ("seeds", [0, -1, "x"]),
        ("device", "gpu"),
        ("models.tiny.heads", 3),
        ("datasets.geco_all.words", "some"),
        ("explainers.more", {"method": "shap"}),
        ("typo", 1),
    )
    keys = [problem.split(":")[0] for problem in problems]
    expected = "datasets.geco_all.words device explainers.more.method models.tiny.heads seeds[1] seeds[2] typo"
    assert sorted(keys) == expected.split()


def test_what_is_no_mapping_is_refused():
    with pytest.raises(InputError, match=r'configuration is \["study"\].*mapping'):
        complete(["study"])
    with pytest.raises(InputError, match=r"study: is missing.*small letters"):
        complete({})


def test_a_training_has_its_epochs_on_each_dataset_and_only_published_weights_can_be_the_start():
    """Of another architecture a changed start must not train again."""
    epochs = ("trainings.short.epochs", {"default": 9, "compas": 5})
    fine = ("models.fine", {"architecture": "pretrained", "source": "gpt2", "training": "short"})
    more = ("datasets.compas", {"reader": "compas"}), epochs, fine
    published, config = (
        complete(changed(("trainings.short.start", start), *more)) for start in ("published", "random")
    )
    own = {"training": config["trainings"]["short"] | {"epochs": 9}}
    assert recipe(config, "fine", "geco_all") == config["models"]["fine"] | own
    assert recipe(config, "fine", "compas")["training"]["epochs"] == 5
    assert recipe(complete(SMALLEST), "tiny", "geco_all")["training"]["epochs"] == 20
    assert recipe(published, "tiny", "geco_all") == recipe(config, "tiny", "geco_all")
    assert recipe(config, "tiny", "geco_all")["training"]["start"] == "random"


# Models that are trained already ------------------------------------------------------------------------------------

TRAINED = {"architecture": "trained", "source": "someone/model"}


def of_trained(seeds: list[int], **settings) -> dict:
    """A complete configuration with the model ``ready``, beside one that is trained here."""
    return complete(changed(("seeds", seeds), ("models.ready", TRAINED | settings)))


@pytest.mark.parametrize(
    ("settings", "runs"),
    [
        ({}, {4: ("someone/model", None)}),
        ({"source": ["a", "b"]}, {4: ("a", None), 2: ("b", None)}),
        ({"source": ["a", "b"], "revision": "v1"}, {4: ("a", "v1"), 2: ("b", "v1")}),
        (
            {"revision": ["v1", "v2", "v3"]},
            {4: ("someone/model", "v1"), 2: ("someone/model", "v2"), 9: ("someone/model", "v3")},
        ),
        ({"source": "{dataset}/{seed}"}, {4: ("geco_all/4", None), 2: ("geco_all/2", None), 9: ("geco_all/9", None)}),
        (
            {"revision": "seed-{seed}", "source": ["{dataset}"] * 3},
            {seed: ("geco_all", f"seed-{seed}") for seed in (4, 2, 9)},
        ),
    ],
)
def test_a_trained_model_has_a_run_for_each_checkpoint(settings, runs):
    config = of_trained([4, 2, 9], **settings)
    assert seeds_of(config, "tiny") == [4, 2, 9]
    assert seeds_of(config, "ready") == list(runs)
    for seed, (source, revision) in runs.items():
        of_run = checkpoint(config, "ready", "geco_all", seed)
        assert (of_run["source"], of_run["revision"]) == (source, revision)
        assert of_run["max_tokens"] == 128


PROMPT = {"architecture": "prompted", "source": "one", "label_words": {"yes": ["yes"]}}


@pytest.mark.parametrize(
    ("template", "runs"),
    [
        ("{text} {label}", {4: "{text} {label}"}),
        (["{text} {label}", "{label}: {text}"], {4: "{text} {label}", 2: "{label}: {text}"}),
        ({"default": "a {text} {label}", "geco_all": ["{text} {label}"] * 2}, dict.fromkeys((4, 2), "{text} {label}")),
    ],
)
def test_a_prompt_has_a_run_for_each_wording_and_is_that_of_its_dataset(template, runs):
    config = complete(SMALLEST | {"seeds": [4, 2, 9], "models": {"asked": PROMPT | {"template": template}}})
    assert seeds_of(config, "asked") == list(runs)
    assert {seed: checkpoint(config, "asked", "geco_all", seed)["template"] for seed in runs} == runs


@pytest.mark.parametrize(
    ("template", "said"),
    [
        (["{text} {label}"] * 4, "asked.template: has 4 entries"),
        ({"default": ["{text} {label}"] * 4}, "asked.template.default: has 4 entries"),
        ({"geco_all": "{text} {label}"}, "asked.template.default: is missing"),
        ({"default": "{text} {label}", "geco": "{label} {text}"}, "asked.template.geco: no such dataset"),
        (
            {"default": ["{text} {label}"] * 2, "geco_all": ["{text} {label}"] * 3},
            "template.geco_all: has 3 entries, and template.default has 2",
        ),
        (["{text} {label}", "{text}"], 'asked.template: found {label} 0 times in "{text}"; write it once'),
    ],
)
def test_wordings_that_do_not_fit_are_refused(template, said):
    with pytest.raises(InputError) as refused:
        complete(SMALLEST | {"seeds": [4, 2, 9], "models": {"asked": PROMPT | {"template": template}}})
    assert said in str(refused.value)


def test_a_second_part_of_texts_is_refused_where_there_is_room_for_one():
    table = TABLE | {"second": "hypothesis", "attributes": {}}
    study = SMALLEST | {"kind": "description", "statistics": {}, "datasets": {"pairs": table}}
    study |= {"models": {"gpt": PROMPT | {"template": "{text} {label}"}}}
    study |= {"explainers": {"lime": {"method": "lime", "features": "word", "definition": "released"}}}
    with pytest.raises(InputError) as refused:
        complete(study)
    assert str(refused.value) == says("models.gpt.template", "one text", "datasets.pairs.second")
    assert str(refused.value) == says('explainers.lime.definition: found "released"', "datasets.pairs.second")
    study["datasets"] = {"texts": table | {"second": None}}
    assert complete(study)["models"]["gpt"]["source"] == "one"


def test_the_home_folder_may_be_written_as_in_a_shell(monkeypatch):
    monkeypatch.setenv("HOME", "/somewhere")
    bert = SMALLEST["models"]["tiny"] | {"tokenizer": {"source": "~/tokenizer"}}
    ready = {"architecture": "trained", "source": ["~/first", "owner/second"], "adapter": "~/adapter"}
    table = TABLE | {"file": "~/texts.csv"}
    study = {
        "seeds": [0, 1],
        "mirror": "~/mirror",
        "models": {"bert": bert, "ready": ready},
        "datasets": {"own": table | {"attributes": {"gender": {"column": "gender", "levels": ["male", "female"]}}}},
    }
    completed = complete(SMALLEST | study)
    assert completed["mirror"] == "/somewhere/mirror"
    assert completed["datasets"]["own"]["file"] == "/somewhere/texts.csv"
    assert completed["models"]["bert"]["tokenizer"] == {"source": "/somewhere/tokenizer", "revision": None}
    assert completed["models"]["ready"]["source"] == ["/somewhere/first", "owner/second"]
    assert completed["models"]["ready"]["adapter"] == "/somewhere/adapter"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"training": "short"}, r"ready\.training: unknown key.*architecture, datasets, source"),
        ({"source": 3}, r"ready\.source: found 3.*text.*list.*quotes"),
        ({"source": ["a"] * 3}, r"ready\.source: has 3 entries.*there are 2"),
        ({"source": ["a", "b"], "revision": ["v"]}, r"ready\.revision: has 1 entries.*2"),
        ({"source": ["{seed}"]}, r"ready\.source: has 1 entries.*{seed}.*2"),
        ({"classes": {False: "x"}}, r'ready\.classes\.false: .*not allowed.*quotes.*"no"'),
        ({"classes": {"yes": 1}}, r"ready\.classes\.yes: found 1.*null or text.*quotes"),
    ],
)
def test_what_is_wrong_with_a_trained_model_is_named(settings, message):
    [problem] = refusal(("seeds", [0, 1]), ("models.ready", TRAINED | settings))
    assert re.search(message, problem)


def outcome(config: dict) -> tuple[dict | None, str]:
    """The completed configuration, or None and what the refusal says."""
    try:
        return complete(config), ""
    except InputError as error:
        return None, str(error)


def places(config: dict, path: tuple = ()) -> list[tuple]:
    """The paths of all keys of a nested dict."""
    found = []
    for key, value in config.items():
        found.append((*path, key))
        if isinstance(value, dict):
            found.extend(places(value, (*path, key)))
    return found


anything = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text(max_size=5) | some.dates(),
    lambda inner: (
        some.lists(inner, max_size=3)
        | some.dictionaries(some.text(max_size=5) | some.integers() | some.dates(), inner, max_size=3)
    ),
    max_leaves=5,
)


@settings(max_examples=25, deadline=None)
@given(some.sampled_from(places(complete(SMALLEST))), anything)
def test_any_value_at_any_key_is_completed_or_refused_with_its_key(path, value):
    config = complete(SMALLEST)
    place = config
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    completed, message = outcome(config)
    if completed is None:
        assert ".".join(path[:-1]) in message
        assert path[-1] in message
    else:
        assert complete(completed) == completed
        json.dumps(completed, allow_nan=False)


# The registries -------------------------------------------------------------------------------------------------------


def test_families_and_annotations_of_the_demo():
    config = complete(yaml.safe_load((ROOT / "config/demo.yaml").read_text()))
    assert explainer_families(config) == {
        "gradient": ["grad", "gxi"],
        "path": ["ig", "igxi"],
        "lime": ["lime"],
        "partition_shap": ["shap"],
        "baseline": ["uniform_random", "pattern_variant"],
    }
    assert metric_families(config) == {
        "faithfulness": ["comprehensiveness", "sufficiency"],
        "complexity": ["gini", "sparsity"],
        "correctness": ["mass_accuracy"],
    }
    annotations = metric_annotations(config)
    of_gini = {"metric": "gini", "label": "Gini", "better": "higher", "family": "complexity", "from_probability": False}
    assert annotations["gini"] == of_gini
    assert annotations["comprehensiveness"]["from_probability"]
    assert {name: annotation["better"] for name, annotation in annotations.items()} == {
        "comprehensiveness": "higher",
        "sufficiency": "lower",
        "gini": "higher",
        "sparsity": "lower",
        "mass_accuracy": "higher",
    }


def test_another_explainer_is_one_class(monkeypatch):
    monkeypatch.setattr(Explainer, "entries", dict(Explainer.entries))
    config = changed(("explainers.hide", {"method": "erasure"}))
    with pytest.raises(InputError, match="erasure"):
        complete(config)

    class Erasure(Explainer):
        """Hides tokens."""

        title: ClassVar[str] = "Erasure"
        family: ClassVar[str] = "erasure"

        method: Literal["erasure"]
        width: int = Field(1, ge=1, description="Tokens.")

    completed = complete(config)
    assert completed["explainers"]["hide"] == {"method": "erasure", "label": "hide", "width": 1}
    assert explainer_families(completed)["erasure"] == ["hide"]
    [problem] = refusal(("explainers.hide", {"method": "erasure", "width": 0}))
    assert problem == says("explainers.hide.width: found 0", "integer", "at least 1")


def test_every_entry_of_a_registry_names_itself_and_what_it_computes():
    for section, registry in REGISTRIES.items():
        for name, entry in registry.entries.items():
            assert entry.model_fields[registry.key].annotation == Literal[name]
            assert entry.title
            assert entry.__doc__.strip().endswith(".")
            if section in ("explainers", "metrics"):
                assert family_of(section, name) == entry.family
            assert (getattr(entry, "better", None) in {"higher", "lower"}) == (section == "metrics")


def test_columns_agree_with_the_library():
    assert {*SCORES.schema.names, *ANSWER_SCORES.schema.names} == set(SCORE_COLUMNS)


# The JSON Schema -------------------------------------------------------------------------------------------------


SCHEMA = ROOT / "workflow/schemas/config.schema.yaml"


@cache
def validator() -> Draft202012Validator:
    """What an editor has: the file that is shipped."""
    return Draft202012Validator(yaml.safe_load(SCHEMA.read_text()))


def test_workflows_of_others_validate_with_snakemake():
    """Without its defaults: Snakemake 9 cannot set those below a mapping that may be null."""
    config = yaml.safe_load((ROOT / "config/demo.yaml").read_text())
    validate(config, SCHEMA, set_default=False)
    with pytest.raises(WorkflowError, match="sedes"):
        validate(config | {"sedes": [0]}, SCHEMA, set_default=False)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("sedes", [0]),
        ("seeds", [0, 0]),
        ("datasets.Geco", {"reader": "geco"}),
        ("datasets.geco_all.reader", "gecco"),
        ("models.tiny.layers", 0),
        ("models.tiny.tokenizer", {"source": "bert-base-uncased", "vocabulary_size": 100}),
        ("explainers.grad.steps", 5),
        ("statistics.alpha", 1),
        ("corpus", {"scrapes": {}}),
    ],
)
def test_editors_refuse_what_the_configuration_refuses(key, value):
    assert refusal((key, value))
    assert not validator().is_valid(changed((key, value)))
    assert validator().is_valid(changed())


def mappings(part: dict):
    """Every mapping with fixed keys that the schema describes below ``part``."""
    for alternative in part.get("oneOf", []):
        yield from mappings(alternative)
    if isinstance(part.get("additionalProperties"), dict):
        yield from mappings(part["additionalProperties"])
    if "properties" in part:
        yield part
        for inner in part["properties"].values():
            yield from mappings(inner)


def test_every_key_is_described_and_required_or_has_a_default_that_is_allowed():
    seen = 0
    for mapping in mappings(schema_of(Study)):
        assert mapping["additionalProperties"] is False
        for name, part in mapping["properties"].items():
            if "const" in part:
                assert name in mapping["required"]
                continue
            seen += 1
            assert part["description"].endswith((".", "?"))
            assert ("default" in part) != (name in mapping.get("required", [])), name
            if "default" in part:
                Draft202012Validator(part).validate(part["default"])
    assert seen > 60


# What is generated -----------------------------------------------------------------------------------------------


def documenting(*flags: str | Path) -> subprocess.CompletedProcess:
    return run_command(ROOT / "workflow/tools/document_configuration.py", *flags)


def test_page_and_schema_agree_with_the_classes():
    checked = documenting("--check")
    assert checked.returncode == 0, checked.stderr


def resolved(part, definitions: dict):
    """The schema of the file without references."""
    if isinstance(part, list):
        return [resolved(inner, definitions) for inner in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        part = definitions[part["$ref"].removeprefix("#/$defs/")] | {k: v for k, v in part.items() if k != "$ref"}
    return {key: resolved(inner, definitions) for key, inner in part.items() if key != "$defs"}


def without_references(part: dict):
    """What the workflow catalog reads: keys, keys of these, and so on."""
    yield part
    for inner in part.get("properties", {}).values():
        yield from without_references(inner)


def test_the_file_defines_once_what_entries_have_alike():
    """Resolved it is the schema itself, and the catalog, which resolves nothing, finds type and description."""
    schema = validator().schema
    definitions = schema["$defs"]
    found = resolved(schema, definitions)
    assert {key: value for key, value in found.items() if key not in ("$schema", "title")} == {
        key: value for key, value in with_own(schema_of(Study)).items() if key != "title"
    }
    assert len(definitions) > 40
    assert all("$ref" not in part and {"type", "description"} <= part.keys() for part in without_references(schema))


def test_a_file_that_disagrees_is_noticed(tmp_path):
    paths = [tmp_path / "page", tmp_path / "schema"]
    files = ["--readme", paths[0], "--schema", paths[1]]
    assert documenting("--check", *files).returncode == 1
    assert documenting(*files).returncode == 0
    assert documenting("--check", *files).returncode == 0
    for path in paths:
        right = path.read_text()
        path.write_text(right.replace("threads", "thread"))
        checked = documenting("--check", *files)
        assert checked.returncode == 1
        assert f"{path}: does not agree" in checked.stderr
        assert "run python workflow/tools/document_configuration.py" in checked.stderr
        path.write_text(right)


EXAMPLES = [
    pytest.param(example, id=f"{path.relative_to(ROOT)}-{number}")
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    for number, example in enumerate(re.findall(r"```yaml\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL))
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_of_the_documentation_are_accepted(example, own_parts):
    """In the place of what the demo has under the same keys; its trainings stay, which its models name."""
    demo, part = yaml.safe_load((ROOT / "config/demo.yaml").read_text()), yaml.safe_load(example)
    if has_scores(part):  # a study that has nothing of the demo
        complete(part)
        return
    if not any(dataset.get("attributes", True) for dataset in part.get("datasets", {}).values()) and "datasets" in part:
        demo = {key: value for key, value in demo.items() if key != "statistics"} | {"kind": "description"}
    methods = {explainer["method"] for explainer in part.get("explainers", {}).values()}
    if methods & {name for name, entry in Explainer.entries.items() if entry.modality == TEXT}:
        # Those of the demo are of tokens.
        demo["metrics"] = {"words": {"metric": "words"}}
    # Margins are those of the demo's metrics.
    demo.get("statistics", {}).pop("smallest_effects", None)
    own_files.locate(part, [own_parts])
    complete(demo | part | {"trainings": demo["trainings"] | part.get("trainings", {})})


@pytest.mark.parametrize("counts", [False, True])
def test_versions_of_libraries_count_where_a_study_asks_for_it(counts):
    """But not of what only renders."""
    config = {"rerun_on_new_libraries": counts}
    found = versions_of(config, "attribute", explainers=["lime"])
    assert (found["stages"], found["explainers"]) == ({"attribute": 1}, {"lime": 1})
    assert ("torch" in found.get("libraries", {})) == counts
    assert versions_of(config, "draw", files={"demo": ROOT / "config/demo.yaml"}).keys() == {"stages", "files"}


def test_neither_the_configuration_nor_versions_nor_entries_of_results_bring_what_computes():
    code = (
        "import sys, yaml; from evenlight import configuration;"
        f"config = configuration.complete(yaml.safe_load(open({str(ROOT / 'config/demo.yaml')!r})));"
        "assert configuration.versions_of(config, 'train', models=['bert'])['models'] == {'bert': 1};"
        "assert not {'torch', 'numpy', 'pandas', 'pyarrow', 'scipy'} & set(sys.modules);"
        # Rules are made of them, too; tables they need.
        "from evenlight.statistics.results import Result; assert Result.entries['estimate_effects'].version > 1;"
        "assert not {'torch', 'scipy.special', 'scipy.stats', 'sklearn', 'statsmodels'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT / "workflow/scripts", check=True)


# The corpus ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("corpus", "problem"),
    [
        ({}, r"corpus\.fetch\.contact: is missing"),
        ({"annotation": {"resolution": "adjudication"}}, r"corpus\.annotation\.adjudication: found null"),
        ({"annotation": {"adjudication": "eva.json"}}, r'adjudication: found "eva.json" with resolution "majority"'),
        ({"parser": {"language": "en; rm"}}, r"corpus\.parser\.language: found"),
    ],
)
def test_a_corpus_that_cannot_work_is_refused(corpus, problem):
    with pytest.raises(InputError, match=problem):
        complete(SMALLEST | {"corpus": corpus})


@pytest.mark.parametrize(("language", "is_known"), [("en", True), ("es", False)])
def test_annotated_sentences_have_the_language_of_the_corpus(language, is_known):
    """The Spanish *he* ("I have") is no pronoun of a man."""
    books = {"reader": "annotated", "file": "results/small/corpus/resolved.parquet"}
    corpus = {"fetch": {"browser": "none"}, "parser": {"language": language}}
    config = complete(SMALLEST | {"corpus": corpus, "datasets": {"books": books, "geco": {"reader": "geco"}}})
    language = config["corpus"]["parser"]["language"]
    known = [name for name, of in config["datasets"].items() if Reader.parse(of).is_english(language)]
    assert known == ["books"] * is_known + ["geco"]


def test_one_file_is_enough_for_a_model_with_one_run():
    """A model that is trained already has one run, and needs no training."""
    theirs = ("explainers.theirs", THEIRS | {"file": "theirs.jsonl"})
    completed = complete(changed(("models", {"tiny": TRAINED}), ("trainings", MISSING), theirs))
    assert completed["explainers"]["theirs"]["file"] == "theirs.jsonl"
    assert completed["trainings"] == completed["models"]["tiny"]["classes"] == {}
