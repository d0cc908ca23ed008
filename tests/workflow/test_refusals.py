"""What cannot work is refused with one message that says where the fault is and what to do, without a traceback."""

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml
from running import (
    CONFIGURATION,
    PROJECT,
    SMALLER,
    TINY,
    all_jobs,
    chosen,
    configure,
    copy_of_project,
    edited,
    planned_jobs,
    results,
    snakemake,
    use_as_module,
)
from wording import says


def refusal(project: Path, *arguments: str, **variables: str) -> str:
    """What a run says that must fail, with line breaks and indentation taken out."""
    done = snakemake(project, *arguments, **variables)
    assert done.returncode != 0, done.stdout
    assert "Traceback" not in done.stdout, done.stdout
    return " ".join(done.stdout.split())


def test_configuration(project):
    """What is wrong with it is said at once, where jobs are planned; tests/unit holds each message."""
    study = edited(TINY, "explainers", "lime", "method", value="lima")
    configure(project, edited(study, "models", "small_bert", "heads", value=3))
    said = refusal(project, "--dry-run")
    for message in (
        'explainers.lime.method: found "lima"; allowed is',
        "models.small_bert.heads: found 3, which does not divide hidden_size (8)",
    ):
        assert message in said


def test_a_target_of_a_model_that_is_not_for_its_dataset(project):
    other = TINY["datasets"]["demo"] | {"words": "subject"}
    study = edited(TINY, "datasets", "other", value=other)
    configure(project, edited(study, "models", "ola_cea", "datasets", value=["demo"]))
    target = "results/tiny/predictions/{}/ola_cea/seed0.parquet"
    assert planned_jobs(project, target.format("demo"))
    refused = snakemake(project, "--dry-run", target.format("other"))
    assert refused.returncode != 0
    assert says(refused.stdout, "models.ola_cea.datasets", "found demo, without other")


def test_a_name_that_stands_twice_is_refused_though_snakemake_has_read_the_file(project):
    path = project / CONFIGURATION
    path.write_text(path.read_text() + "models: {}\n", encoding="utf-8")
    said = refusal(project, "--dry-run")
    assert f"{path}, line" in said
    assert "models stands there" in said


TABLE = {
    **{"reader": "table", "text": "said", "label": "kind", "classes": ["no", "yes"]},
    "attributes": {"gender": {"column": "who", "levels": ["male", "female"]}},
}


@pytest.fixture(params=["here", "module"])
def folder(request, project, tmp_path) -> Path:
    """The project, or an empty folder that uses it as a module, beside a rule of its own."""
    if request.param == "here":
        return project
    own = 'rule own:\n    output:\n        "own.csv",\n    shell:\n        "touch {output}"\n'
    use_as_module(tmp_path, project, after=own)
    return tmp_path


def test_a_table_that_is_not_there_is_named_with_the_nearest_name(folder, project):
    """Before anything runs, and for all datasets at once; also in a module, where any rule may make it."""
    (folder / "reviews.csv").write_text("said,kind,who\n")
    tables = {"near": TABLE | {"file": "revews.csv"}, "far": TABLE | {"file": "nowhere/texts.csv"}}
    tables["own"] = TABLE | {"file": "own.csv"}
    explainers = {"other": {"method": "imported", "file": "{dataset}_{model}_{seed}.jsonl"}}
    configure(folder, TINY | {"datasets": tables, "explainers": explainers})
    said = refusal(folder, "--dry-run")
    assert said == says("datasets.near: revews.csv: no such file", "mean reviews.csv?")
    assert said == says("datasets.far: nowhere/texts.csv: no such file", "no nowhere")
    assert "explainers: near_small_bert_0.jsonl: no such file" in said
    assert ("datasets.own: own.csv: no such file" in said) == (folder == project)
    assert "MissingInputException" not in said


def test_a_mistyped_file_is_named_where_the_results_of_another_are_there(folder):
    """Snakemake has nothing to do then, and would let the results of one table be taken for those of another."""
    (folder / "reviews.csv").write_text("said,kind,who\n")
    (folder / "mine").mkdir(exist_ok=True)
    study = TINY | {"datasets": {"reviews": TABLE | {"file": "reviews.csv"}}}
    study["models"] = {"mine": {"architecture": "trained", "source": "./mine"}}
    made = [results_of(folder, "datasets", "reviews", f"{name}.parquet") for name in ("items", "units")]
    configure(folder, study)
    assert planned_jobs(folder, *made) == set()
    configure(folder, edited(study, "datasets", "reviews", "file", value="revews.csv"))
    assert refusal(folder, "-n", *made) == says("datasets.reviews: revews.csv: no such file", "mean reviews.csv?")
    # The target that tells all at once is not refused before it does.
    assert ("check_dataset", frozenset({("dataset", "reviews")})) in planned_jobs(folder, "check")
    configure(folder, edited(study, "models", "mine", "source", value="./mien"))
    assert refusal(folder, "-n", *made) == says("models.mine: ./mien: no such file", "mean mine?")


def results_of(folder: Path, *path: str) -> str:
    """An empty file that is there as a result of the tiny study, by its path in the folder."""
    made = folder.joinpath("results", "tiny", *path)
    made.parent.mkdir(parents=True, exist_ok=True)
    made.touch()
    return str(made.relative_to(folder))


def test_lists_of_words_that_are_not_there_are_named(project):
    (project / "persons.txt").write_text("aunt\n")
    demo = yaml.safe_load((PROJECT / "config" / "demo.yaml").read_text(encoding="utf-8"))
    configure(project, edited(demo, "corpus", "filter", value={"lexicon": "person.txt"}))
    said = refusal(project, "--dry-run")
    assert said == says("corpus.filter.lexicon: person.txt: no such file", "mean persons.txt?")
    simulation = {"reader": "causal_simulation", "training_pairs": 20, "concept_counterfactuals": ["care"]}
    words = {"method": "summed_attributions", "explainer": {"method": "input_x_gradient"}, "lexicon": "person.yaml"}
    study = TINY | {"kind": "concepts", "datasets": {"simulation": simulation}, "explainers": {"words": words}}
    configure(project, study | {"metrics": {"error": {"metric": "icace_error"}}, "statistics": {}})
    assert "explainers.words.lexicon: person.yaml: no such file" in refusal(project, "--dry-run")


def test_a_table_that_a_rule_makes_need_not_be_there(project, tmp_path):
    configure(project, yaml.safe_load((PROJECT / "config" / "demo.yaml").read_text(encoding="utf-8")))
    done = snakemake(project, "--dry-run", "results/demo/datasets/demo_books/items.parquet")
    assert "resolve_annotations" in done.stdout, done.stdout


@pytest.mark.parametrize("way", ["profile", "no profile", "module"])
def test_the_message_of_a_failed_job_is_the_last_that_is_said(tmp_path, way):
    """Two jobs fail, and each message stands at the end once, whether or not the profile shows logs above."""
    table = {"reader": "table", "file": "people.csv", "text": "said", "label": "kind", "classes": ["x", "y"]}
    people = table | {"attributes": {"origin": {"column": "origin", "levels": ["a", "b"]}}}
    compared = {"statistics": {"compare": {"origin": [["a", "b"]]}}}
    study = SMALLER | {"datasets": {"people": people, "others": people | {"file": "others.csv"}}} | compared
    project = folder = copy_of_project(tmp_path / "project", study)
    if way == "module":
        folder = tmp_path / "empty"
        folder.mkdir()
        configure(folder, study)
        use_as_module(folder, project, before="use rule train from evenlight as again\n")
    for name in ("people", "others"):
        (folder / f"{name}.csv").write_text("origin,kind,words\na,x,Number one waits.\n")
    targets = [f"results/tiny/datasets/{name}/items.parquet" for name in ("people", "others")]
    without = ["--workflow-profile", "none"] if way == "no profile" else []
    said = snakemake(folder, "--cores", "1", "--keep-going", *without, *targets).stdout
    ending = said[said.index("Exiting because a job execution failed") :]
    told = [line for line in ending.splitlines() if line.startswith("error:")]
    assert sorted("people.csv" in line for line in told) == [False, True], said
    assert all("said" in line for line in told)
    # Above stands the end of each log; where the workflow is a module, Snakemake shows none, as there is no profile.
    assert said.count("error:") == (2 if way == "module" else 4)


@pytest.mark.slow
def test_a_group_that_is_too_small_is_refused_before_anything_is_trained(tmp_path):
    """People of whom the test split has one of 'c'; then 'c' is not compared, and then too few are explained."""
    lines = [f"{split},{level},y" for split in ("train", "test") for level in "ab" * 6] + ["train,c,x", "test,c,x"]
    texts = "".join(f"{line},Number {number} waits.\n" for number, line in enumerate(lines))
    table = {"reader": "table", "file": "people.csv", "text": "said", "label": "kind", "classes": ["x", "y"]}
    attributes = {"origin": {"column": "origin", "levels": ["a", "b", "c"]}}
    people = {"people": table | {"split": "part", "attributes": attributes}}
    study = SMALLER | {"datasets": people, "statistics": {"compare": {"origin": [["a", "c"]]}}}
    project = copy_of_project(tmp_path / "project", study)
    (project / "people.csv").write_text(f"part,origin,kind,said\n{texts}", encoding="utf-8")
    said = refusal(project, "--cores", "2")
    assert said == says("error: dataset 'people'", "one unit only", "origin 'c'", "at least 2")
    assert not (results(project) / "models").exists()

    # Few enough are explained to leave one alone.
    compared = edited(study, "statistics", "compare", value={"origin": [["a", "b"]]})
    configure(project, edited(compared, "explain", "pairs", value=3))
    assert "raise explain.pairs" in refusal(project, "--cores", "1", "--until", "train")
    configure(project, compared)
    assert snakemake(project, "--cores", "1", "--until", "train").returncode == 0


def test_damaged_attribution_file(finished_smaller, copy_of):
    project = copy_of(finished_smaller)
    for part in ("scores", "tables", "figures"):
        shutil.rmtree(results(project) / part)
    attribution_file = results(project) / "attributions" / "demo" / "ola_cea" / "seed0" / "lime.parquet"
    content = attribution_file.read_bytes()
    attribution_file.write_bytes(content[: len(content) // 2])
    said = refusal(project, "--cores", "2")
    assert f"error: {attribution_file.relative_to(project)}: not" in said
    assert "rule attribute makes" in said
    # What is advised helps.
    attribution_file.unlink()
    assert planned_jobs(project) >= chosen(all_jobs(SMALLER), "attribute_lime", "score", "measure_disparity", "draw_")


def pretrained_without(role: str, model: Path, folder: Path) -> dict:
    """The configuration of a pretrained model, a copy of ``model`` in ``folder`` whose tokenizer lacks a token."""
    shutil.copytree(model, folder)
    path = folder / "tokenizer_config.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    del settings[f"{role}_token"]
    path.write_text(json.dumps(settings), encoding="utf-8")
    return {"architecture": "pretrained", "source": str(folder), "training": "small"}


def test_models_in_folders_that_are_not_there(folder, tmp_path):
    trained, small = {"architecture": "trained"}, TINY["models"]["small_bert"]
    models = {
        "pretrained": {"architecture": "pretrained", "training": "small", "source": f"{tmp_path}/nothing"},
        "below": trained | {"source": "./nothing"},
        "elsewhere": trained | {"source": "no/such/folder"},
        "adapted": trained | {"source": "owner/model", "adapter": "../nothing"},
        "tokenized": small | {"tokenizer": {"source": "not/a/tokenizer"}},
    }
    configure(folder, edited(SMALLER, "models", value=models))
    (folder / "nothings").mkdir(exist_ok=True)
    said = refusal(folder, "-n")
    paths = (f"{tmp_path}/nothing", "./nothing", "no/such/folder", "../nothing", "not/a/tokenizer")
    for name, path in zip(models, paths, strict=True):
        assert f"models.{name}: {path}: no such file" in said, name
    assert "MissingInputException" not in said
    assert re.search(r"models\.below: \S+ no such file\S* did you mean nothings\?", said)
    assert said.count("mean nothings?") == 1


def test_models_that_cannot_read_or_hide(finished, tmp_path):
    """A model that is too short for the sentences, and two that have no token to pad or to mask with."""
    model = results(finished) / "models" / "demo" / "small_bert" / "seed0"
    models = {
        "short": TINY["models"]["ola_cea"] | {"max_tokens": 5},
        "without_pad": pretrained_without("pad", model, tmp_path / "without_pad"),
        "without_mask": pretrained_without("mask", model, tmp_path / "without_mask"),
    }
    project = copy_of_project(tmp_path / "project", SMALLER | {"models": models})
    said = refusal(project, "--cores", "2")

    assert "models.short.max_tokens = 5 (item " in said
    assert "set models.short.long_items to 'windows' or 'drop'" in said
    for role in ("pad", "mask"):
        assert f"model has no {role} token" in said
        assert f"models.without_{role}.special_tokens.{role}" in said
    # Those that train refuses leave no model behind.
    assert [path.name for path in (results(project) / "models" / "demo").glob("*/seed0")] == ["seed0"]
    # What needs no mask is explained all the same.
    assert (results(project) / "attributions" / "demo" / "without_mask" / "seed0" / "igxi.parquet").is_file()
