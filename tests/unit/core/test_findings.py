"""What is checked before a study runs: every problem is found, and none hides another."""

import json
from argparse import Namespace
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from models_for_tests import WORDS, context_of, items_of, sentences_of, tiny_classifier
from test_planned_rows import METHODS, counted
from wording import says

from checks import check_dataset, check_model, tell_findings
from evenlight.configuration import BUILTIN, completed_entry, family_of, without_labels
from evenlight.core.contracts.texts import ITEMS, UNITS
from evenlight.core.errors import InputError, all_of, reworded, unless
from evenlight.core.findings import Findings, describe_others, describe_problems, joined
from evenlight.core.kinds import TOKENS
from evenlight.core.tables import read_metadata, read_table
from evenlight.engine.evaluator import Evaluator
from evenlight.explainers import Explainer, explain
from evenlight.jobs import own_files
from evenlight.metrics import Metric

TABLE = {
    **{"dataset": "people", "reader": "table", "file": "people.csv", "text": "said", "words": None, "second": None},
    **{"label": "kind", "classes": ["no", "yes"], "split": None, "pair": None, "cluster": None, "item": None},
    **{"ground_truth": None, "segmenter": "unicode", "test_share": 1.0, "split_seed": 0},
    "attributes": {"gender": {"column": "who", "levels": ["male", "female"], "balanced": False}},
}


LIME = {"lime": {"lime": Explainer.parse({"method": "lime"}).model_dump(exclude={"label"})}}
COMPARED = {"comparisons": {"gender": [["male", "female"]]}, "strata": {}}


def people(*further: str) -> str:
    """A table of four texts, and further lines."""
    lines = [f"Number {number} waits.,{'no' if number % 2 else 'yes'},male\n" for number in range(4)]
    return "said,kind,who\n" + "".join(lines) + "".join(further)


def refuse(*problems: str):
    raise InputError(*problems)


def test_what_is_refused_in_one_place_hides_nothing_elsewhere(capsys):
    findings = Findings()
    with findings.at("models.one", "texts"):
        refuse("first", "second")
    with findings.at("models.other"):
        findings.can_be_read("models", "other")
    with findings.at("explainers.lime"):
        {}["unforeseen"]
    assert findings.problems == [
        ["models.one", "texts", "first"],
        ["models.one", "texts", "second"],
        ["explainers.lime", "", says("KeyError: 'unforeseen'", "log")],
    ]
    assert "Traceback" in capsys.readouterr().err
    assert describe_others(findings) == [says("1 model can")]
    # Notes of a refusal are no problems.
    findings, error = Findings(), InputError("a.csv: no words")
    error.add_note("a.csv: two rows are in no group")
    with findings.at("datasets.a"):
        raise error
    assert findings.problems == [["datasets.a", "", "a.csv: no words"]]
    assert findings.notes == [says("datasets.a", "a.csv", "no group")]


def test_findings_of_several_checks_are_told_together(tmp_path):
    first = Findings([["models.a", "x", "gone"]], ["b"], [], {"models": ["c"], "files": ["x.csv"]})
    second = Findings(
        [["models.a", "y", "gone"], ["datasets.y", "", "empty"]], ["b"], ["datasets.y: few"], {"models": ["c", "d"]}
    )
    paths = [tmp_path / "first.json", tmp_path / "second.json"]
    for path, findings in zip(paths, (first, second), strict=True):
        findings.write(path)
    every = joined(paths)
    assert describe_problems(Findings([["datasets.x", "", "not YAML:\n  line 1,\n  column 2"]])) == [
        "datasets.x: not YAML: line 1, column 2"
    ]
    assert describe_problems(every) == [says("models.a on x, y: gone"), "datasets.y: empty"]
    assert describe_others(every) == ["note: datasets.y: few", "not checked: b", says("2 models, 1 file")]
    assert describe_others(Findings()) == [says("nothing could")]


@pytest.mark.parametrize("key", ["s3cret", None])
def test_the_key_of_a_language_model_behind_an_address_is_looked_for(tmp_path, monkeypatch, key):
    (tmp_path / "a").mkdir()
    Findings().write(tmp_path / "a" / "dataset.json")
    monkeypatch.delenv("KEY_OF_TESTS", raising=False)
    if key:
        monkeypatch.setenv("KEY_OF_TESTS", key)
    chat = {"address": "http://127.0.0.1:9/", "plain_http": False, "asking": {"key_variable": "KEY_OF_TESTS"}}
    settings = {"datasets": ["a"], "models": {}, "chats": {"gpt": chat}, "unchecked": []}
    message = r"models\.gpt:.*KEY_OF_TESTS.*models\.gpt\.asking\.key_variable\).*not set.*let"
    with nullcontext() if key else pytest.raises(InputError, match=message):
        tell_findings.main(Namespace(folder=tmp_path, settings=settings))


@pytest.mark.parametrize("problem", ["two", ""])
def test_what_is_told_is_in_the_order_of_the_study_and_fails_by_its_problems(tmp_path, capsys, problem):
    folder = tmp_path / "checks"
    for name, found in (("a/dataset", problem), ("b/dataset", ""), ("a/m/seed3", ""), ("b/m/seed3", problem)):
        file = folder / f"{name}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        Findings([[name, "", found]] if found else [], [name]).write(file)
    settings = {"datasets": ["b", "a"], "models": {"m": [3]}, "chats": {}, "unchecked": ["metrics"]}
    with pytest.raises(InputError) if problem else nullcontext() as refused:
        tell_findings.main(Namespace(folder=folder, settings=settings))
    told = ("b/dataset", "a/dataset", "b/m/seed3", "a/m/seed3", "metrics")
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("not ")] == [f"not checked: {name}" for name in told]
    if problem:
        *problems, last = refused.value.problems
        assert problems == ["a/dataset: two", "b/m/seed3: two"]
        assert last.startswith("2 problems stand above")
    assert not folder.exists()


def test_refusals_are_gathered_asked_for_first_and_said_in_other_words():
    assert all_of({"one": lambda: 1, "two": lambda: "b"}) == {"one": 1, "two": "b"}
    with pytest.raises(InputError) as refused:
        all_of({"one": lambda: refuse("a"), "two": lambda: 2, "three": lambda: refuse("b", "c")})
    assert refused.value.problems == ("a", "b", "c")
    assert str(refused.value) == "a\nb\nc"
    done, problems = [], [None, InputError("ours"), None]
    work = unless(lambda text, *, more: done.append(text + more), lambda: problems.pop(0))
    work("a", more="1")
    with pytest.raises(InputError, match="ours"):
        work("b", more="2")
    work("c", more="3")
    assert done == ["a1", "c3"]

    def raising(text: str, *, error: type[Exception] | None = None):
        if error:
            raise error(text)
        return text

    in_ours = reworded(raising, KeyError, lambda: InputError("ours"))
    assert in_ours("done") == "done"
    with pytest.raises(InputError, match="ours"):
        in_ours("theirs", error=KeyError)
    with pytest.raises(ValueError, match="theirs"):
        in_ours("theirs", error=ValueError)
    with pytest.raises(KeyError, match="theirs"):
        reworded(raising, KeyError, lambda: None)("theirs", error=KeyError)


# Every method that attributes scores to tokens, and the ways of some that ask otherwise.
TRIED = {name: given for name, (given, _) in METHODS.items() if name != "kernel_shap of all"} | {
    method: {"method": method}
    for method, entry in Explainer.entries.items()
    if entry.modality == TOKENS and not entry.external and method not in ("pattern_variant", *METHODS)
}
TRIED |= {
    f"{method} {estimator}": {"method": method, "estimator": estimator}
    for method, estimators in (
        ("kernel_shap", ("paired", "leverage", "surrogate", "chosen")),
        ("shapley_sampling", ("adjusted",)),
    )
    for estimator in estimators
}


@pytest.mark.parametrize("name", TRIED)
def test_every_explainer_can_be_tried_with_few_rows(name):
    few = Explainer.parse(check_model.small(Explainer.parse(TRIED[name]).model_dump()))
    sentences = sentences_of(tiny_classifier("bert"), [WORDS[0], WORDS[1]])
    assert counted(few, sentences) <= 150
    explained = explain({"it": few}, sentences, context_of(tiny_classifier("bert")))["it"]
    lengths = [len(attribution.token_score) for attribution in explained.attributions]
    assert lengths == [len(sentence.token_id) for sentence in sentences]


def checked(folder: Path, monkeypatch: pytest.MonkeyPatch, made: Sequence[str] = (), **settings) -> dict:
    """The findings about a table in a folder."""
    monkeypatch.chdir(folder)
    there = [Path(name) for name in ("people.csv",) if Path(name).exists()]
    arguments = Namespace(settings=TABLE | settings, resource=there, made=list(made), items=folder / "items.parquet")
    arguments.units, arguments.output = folder / "units.parquet", folder / "findings.json"
    arguments.compared = COMPARED
    check_dataset.main(arguments)
    return json.loads(arguments.output.read_text(encoding="utf-8"))


def test_a_table_that_can_be_read_is_counted_and_handed_on(tmp_path, monkeypatch):
    (tmp_path / "people.csv").write_text(people().replace("male", "female", 2))
    found = checked(tmp_path, monkeypatch)
    assert found == {
        "problems": [],
        "unchecked": [],
        "notes": [
            "datasets.people: test: 4 items in 4 units (gender: female 2, male 2)",
            says("datasets.people: test: 4 of 4", "ground truth"),
        ],
        "read": {"datasets": ["people"], "files": ["people.csv"]},
    }
    assert len(read_table(tmp_path / "items.parquet", ITEMS)) == 4
    assert not read_metadata(tmp_path / "items.parquet", ITEMS).get("stand_in")


def test_of_a_table_that_cannot_be_read_models_get_another_text_with_its_classes(tmp_path, monkeypatch):
    (tmp_path / "people.csv").write_text("says,kind\nHe waits.,yes\n")
    found = checked(tmp_path, monkeypatch, second="answer")
    [[place, dataset, problem]] = found["problems"]
    assert (place, dataset, found["read"]) == ("datasets.people", "", {})
    assert "no column 'said', 'answer' or 'who'" in problem
    items = read_table(tmp_path / "items.parquet", ITEMS)
    assert set(items["split"]) == {"train", "test"}
    assert all(set(part) == {0, 1} for part in items["part"])
    assert read_table(tmp_path / "units.parquet", UNITS).empty
    metadata = read_metadata(tmp_path / "items.parquet", ITEMS)
    assert (metadata["stand_in"], metadata["classes"]) == (True, ["no", "yes"])


def test_a_table_that_is_not_there_is_a_problem_and_one_that_will_be_made_is_none(tmp_path, monkeypatch):
    (tmp_path / "peple.csv").touch()
    [[_, _, problem]] = checked(tmp_path, monkeypatch)["problems"]
    assert "mean peple.csv?" in problem
    found = checked(tmp_path, monkeypatch, made=["people.csv"])
    assert found["problems"] == []
    assert found["unchecked"] == [says("datasets.people", "workflow", "people.csv")]


def found_of_model(folder: Path, classes: list[str] | None, model: dict, **settings) -> dict:
    """The findings about a model where no text of the dataset can be read."""
    paths = {name: folder / f"{name}.parquet" for name in ("items", "units")}
    check_dataset.write_stand_in(SimpleNamespace(classes=classes), **paths)
    completed = completed_entry("models", "mine", model)
    if "training" in completed:
        # As rules give it: the training itself in the place of its name.
        completed["training"] = {"learning_rate": 0.01, "batch_size": 8, "epochs": 1}
    reading = {"target": "prediction", "max_tokens": 16, "long_items": "refuse", "pairs": None, "factors": []}
    gini = {"complexity": {"gini": completed_entry("metrics", "gini", {"metric": "gini"})}}
    given = {"model": completed, "files": [], "reading": reading, "seed": 0, "precision": "float32", "explainers": LIME}
    given |= {"metrics": gini, "asking": completed.pop("asking", {})}
    flags = {"dataset": "people", "name": "mine", "made": [], "device": "cpu", "threads": 1, "tokens_per_batch": None}
    arguments = Namespace(**paths, **flags, settings=given | settings, output=folder / "findings.json", compared={})
    check_model.main(arguments)
    return json.loads(arguments.output.read_text(encoding="utf-8"))


def test_a_service_is_not_asked_and_its_key_is_looked_for(tmp_path, monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    asking = {"key_variable": "NO_SUCH_KEY"}
    model = {"architecture": "service", "address": "https://example.invalid/x", "asking": asking}
    found = found_of_model(tmp_path, ["no", "yes"], model)
    [[place, dataset, problem]] = found["problems"]
    assert (place, dataset) == ("models.mine", "people")
    assert "the environment variable NO_SUCH_KEY (models.mine.asking.key_variable) is not set" in problem
    assert found["unchecked"] == [says("models.mine", "cost")]
    assert (found["read"]["explainers"], found["read"]["metrics"]) == (["lime"], ["gini"])
    monkeypatch.setenv("NO_SUCH_KEY", "key")
    assert found_of_model(tmp_path, ["no", "yes"], model)["problems"] == []


def test_a_model_is_looked_for_where_its_classes_are_not_known(tmp_path):
    model = {"architecture": "trained", "source": str(tmp_path / "none")}
    found = found_of_model(tmp_path, None, model)
    [[_, _, problem]] = found["problems"]
    assert problem.endswith("as models.mine.source")
    assert found["unchecked"] == [says("models.mine", "people")]
    assert found["read"] == {}


def test_explanations_of_other_tools_are_looked_for_and_not_read_of_a_model_that_is_to_be_trained(tmp_path):
    model = {"architecture": "one_layer_attention", "training": "small"}
    imported = {"imported": {"other": {"method": "imported", "file": str(tmp_path / "other.jsonl")}}}
    for there in (False, True):
        found = found_of_model(tmp_path, ["no", "yes"], model, explainers=imported)
        assert [place for place, *_ in found["problems"]] == ["explainers.other of models.mine"] * (not there)
        assert (says("explainers.other of models.mine", "yet") in found["unchecked"]) == there
        # Metrics are tried with a text that nothing explains.
        assert found["read"] == {"models": ["mine"], "metrics": ["gini"]}
        (tmp_path / "other.jsonl").touch()


METRICS_TRIED = {
    name: entry for name, entry in Metric.entries.items() if entry.modality == TOKENS and name in BUILTIN["metrics"]
}


@pytest.mark.parametrize("architecture", ["bert", "gpt2"])
def test_every_metric_scores_the_text_and_one_that_cannot_is_named(tmp_path, own_parts, architecture):
    (own_parts / "parts" / "broken.py").write_text(
        """from typing import ClassVar

from evenlight.own import Metric


class Broken(Metric):
    title: ClassVar[str] = "Broken"
    better: ClassVar[str] = "higher"

    def score(self, explanation, evaluator):
        return len(explanation.words) / 0
""",
        encoding="utf-8",
    )
    model, classifier = tmp_path / "model", tiny_classifier(architecture)
    classifier.network.save_pretrained(model)
    classifier.tokenizer.save_pretrained(model)
    own = "parts/broken.py:Broken"
    own_files.locate({"metrics": {"mine": {"metric": own}}}, [own_parts])
    metrics: dict[str, dict] = {}
    for name in METRICS_TRIED:
        completed = without_labels({name: completed_entry("metrics", name, {"metric": name})})
        metrics.setdefault(family_of("metrics", name), {}).update(completed)
    metrics[own_files.own_family(own)] = {"mine": {"metric": own}}
    labels = {name: name for name in ("LABEL_0", "LABEL_1")}
    source = {"architecture": "trained", "source": str(model), "classes": labels, "max_tokens": 48}
    found = found_of_model(tmp_path, list(labels), source, metrics=metrics)
    [[place, dataset, problem]] = found["problems"]
    assert (place, dataset) == ("metrics.mine of models.mine", "people")
    assert "broken.py, line 11: ZeroDivisionError" in problem
    assert set(found["read"]["metrics"]) == set(METRICS_TRIED)


def test_what_cannot_be_compared_is_said_of_the_table_and_not_of_each_model(tmp_path, monkeypatch):
    (tmp_path / "people.csv").write_text(people("She waits.,no,female\n"))
    found = checked(tmp_path, monkeypatch)
    [[place, _, problem]] = found["problems"]
    assert place == "datasets.people"
    assert "gender 'female'" in problem
    assert found["read"]["datasets"] == ["people"]
    read = [read_table(tmp_path / f"{name}.parquet", of) for name, of in (("items", ITEMS), ("units", UNITS))]
    dataset = check_model.Dataset(*read, ["no", "yes"], False)
    arguments = Namespace(dataset="people", compared=COMPARED)
    assert not check_model.is_comparable(arguments, dataset)
    both = pd.concat([dataset.units.tail(1).assign(unit_id="b", item_id="000001"), dataset.units.iloc[1:]])
    assert check_model.is_comparable(arguments, check_model.Dataset(read[0], both, ["no", "yes"], False))


def test_a_text_that_is_too_long_hides_no_explainer(monkeypatch):
    """Beyond the model's limit it cannot even be asked."""
    items = items_of([["He", *["waits"] * number] for number in (1, 2, 3, 2000)], [0, 1, 0, 1])
    items = items.assign(split="test", ground_truth=None)
    units = items[["item_id"]].assign(unit_id=items["item_id"], role="form", factor="a", level="b")
    monkeypatch.setattr(check_model, "opened", lambda *_: Evaluator(tiny_classifier("bert")))
    monkeypatch.setattr(check_model, "training_items", lambda *_: None)
    reading = {"target": "label", "max_tokens": 16, "long_items": "refuse", "pairs": None, "factors": []}
    settings = {"model": {"architecture": "trained"}, "files": [], "reading": reading, "seed": 0}
    settings |= {"explainers": LIME, "metrics": {}}
    flags = {"dataset": "people", "name": "mine", "made": [], "items": None}
    arguments = Namespace(settings=settings, **flags, compared={"comparisons": {}, "strata": {}})
    findings = Findings()
    check_model.check(arguments, check_model.Dataset(items, units, ["no", "yes"], False), findings)
    [[place, _, problem]] = findings.problems
    assert (place, "raise max_tokens" in problem) == ("models.mine", True)
    assert findings.read == {"models": ["mine"], "explainers": ["lime"]}


@pytest.mark.parametrize(("wrong", "told"), [(0, False), (3, False), (9, True), (20, True)])
def test_a_model_that_is_no_better_than_one_answer_is_told(wrong, told):
    """Of 20 texts ten are of either class, and one standard deviation is 2.2 texts."""
    classifier = tiny_classifier("bert")
    labels = np.arange(20) % 2
    items = items_of([["He", *["waits"] * number] for number in range(20)], labels.tolist())
    answers = np.eye(2)[np.where(np.arange(20) < wrong, 1 - labels, labels)]
    evaluator = SimpleNamespace(classifier=classifier, probabilities=lambda rows: answers)
    settings = {"model": {"architecture": "trained"}, "reading": {}}
    arguments = Namespace(settings=settings, name="mine", dataset="people")
    dataset = check_model.Dataset(items, None, ["no", "yes"], False)
    said = check_model.accuracy_told(arguments, items, evaluator, dataset)
    assert bool(said) == told
    if told:
        assert f"people: right about {20 - wrong} of 20" in said
    trained_here = Namespace(settings=settings | {"model": {"architecture": "bert"}}, name="mine", dataset="people")
    assert check_model.accuracy_told(trained_here, items, evaluator, dataset) is None
