"""`snakemake check`: what cannot work is said before anything long runs, all of it at once."""

import json
from collections.abc import Sequence
from pathlib import Path

import torch
from hub_tokenizers import write_tokenizer
from running import (
    SMALLER,
    configure,
    copy_of_project,
    edited,
    planned_jobs,
    results,
    run_study,
    snakemake,
    use_as_module,
)
from transformers import BertConfig, BertForSequenceClassification

from evenlight.jobs import kept_records

TABLE = {
    **{"reader": "table", "text": "said", "label": "kind", "classes": ["no", "yes"], "test_share": 0.5},
    "attributes": {"gender": {"column": "who", "levels": ["male", "female"]}},
}
ROWS = [f"Number {number} waits,{'no' if number % 3 else 'yes'},{'fe' * (number % 2)}male\n" for number in range(40)]


def write_table(path: Path, header: str = "said,kind,who", rows: Sequence[str] = ROWS) -> None:
    path.write_text("\n".join([header, "".join(rows)]), encoding="utf-8")


def save_classifier(folder: Path, labels: Sequence[str]) -> None:
    """A tiny BERT with random weights, as Transformers keeps it."""
    write_tokenizer("bert", folder, [row.split(",")[0].split() for row in ROWS])
    torch.manual_seed(0)
    sizes = {"vocab_size": 500, "hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 2}
    of_labels = {"id2label": dict(enumerate(labels)), "label2id": {label: n for n, label in enumerate(labels)}}
    network = BertForSequenceClassification(BertConfig(**sizes, **of_labels, num_hidden_layers=1))
    network.save_pretrained(folder)


def without_mask(folder: Path) -> None:
    """Take the mask from a model, which LIME hides words by."""
    tokens = {"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]", "unk_token": "[UNK]"}
    settings = json.dumps(tokens | {"tokenizer_class": "PreTrainedTokenizerFast"})
    (folder / "tokenizer_config.json").write_text(settings, encoding="utf-8")


def told(said: str) -> list[str]:
    """What the check says, line by line, without what Snakemake says around it; problems are where the run ends."""
    *around, end = said.split("Exiting because a job execution failed.")
    lines = [line for line in "".join(around or [said]).splitlines() if line.startswith("not checked:")]
    return [line.removeprefix("error: ") for line in end.splitlines() if line.startswith("error: ")] + lines


def test_all_that_is_broken_is_said_in_one_run(tmp_path):
    """From an empty folder, so without the profile's --keep-going; the files of a module too."""
    tables = {name: TABLE | {"file": f"{name}.csv"} for name in ("whole", "column", "level")}
    trained = {"architecture": "trained", "source": "classifiers/good"}
    models = {
        "good": trained,
        "gone": trained | {"source": "./classifiers/god"},
        "labels": trained | {"source": "classifiers/labels"},
        "bare": trained | {"source": "classifiers/bare"},
        "learner": SMALLER["models"]["ola_cea"],
    }
    study = SMALLER | {"datasets": tables | {"gone": TABLE | {"file": "wole.csv"}}, "models": models}
    study["statistics"] = {"compare": {"gender": [["male", "female"]]}}
    configure(tmp_path, study)
    use_as_module(tmp_path)
    write_table(tmp_path / "whole.csv")
    write_table(tmp_path / "column.csv", header="says,kind,whom")
    write_table(tmp_path / "level.csv", rows=[row.replace("female", "femal").replace("yes", "yess") for row in ROWS])
    for name, labels in (("good", ("no", "yes")), ("labels", ("high", "low")), ("bare", ("yes", "no"))):
        save_classifier(tmp_path / "classifiers" / name, labels)
    without_mask(tmp_path / "classifiers" / "bare")

    done = snakemake(tmp_path, "--cores", "1", "check")
    assert done.returncode == 1, done.stdout
    everywhere = "on whole, column, level, gone"
    expected = {
        "datasets.column: column.csv: no column 'said' or 'who'; the columns are says, kind, whom;",
        "datasets.level: level.csv, row 2: field 'kind' is 'yess', not one of 'no', 'yes';",
        "datasets.level: level.csv, row 3: field 'who' is 'femal', not one of 'male', 'female';",
        "datasets.gone: wole.csv: no such file; did you mean whole.csv?",
        f"models.gone {everywhere}: model ./classifiers/god: cannot be loaded (there is no such folder; did you mean",
        f"models.labels {everywhere}: models.labels.classes: the labels and the classes have different names.",
        f"explainers.lime of models.bare {everywhere}: the tokenizer of this bert model has no mask token",
        "not checked: what models.learner learns;",
        "7 problems stand above, with what to do; nothing of the study was run",
        "not checked: statistics,",
    }
    lines = told(done.stdout)
    found = {beginning: [line for line in lines if line.startswith(beginning)] for beginning in expected}
    assert {beginning: len(of) for beginning, of in found.items()} == dict.fromkeys(expected, 1), done.stdout
    assert len(lines) == len(expected), lines
    assert "1 dataset, 1 file, 3 models, 2 explainers, 2 metrics" in done.stdout
    # Nothing of the study was run.
    assert {path.name for path in results(tmp_path).iterdir()} <= {"checks", kept_records.KEPT}


def test_a_study_that_can_run_is_counted_and_looked_at_again_each_time(tmp_path):
    models = {"good": {"architecture": "trained", "source": "classifiers/good"}}
    study = SMALLER | {"datasets": {"whole": TABLE | {"file": "whole.csv"}}, "models": models}
    del study["trainings"]
    project = copy_of_project(tmp_path / "project", study)
    write_table(project / "whole.csv", rows=[*ROWS, ROWS[0]])
    save_classifier(project / "classifiers" / "good", ("no", "yes"))
    assert {rule for rule, _ in planned_jobs(project, "check")} == {"check_dataset", "check_model", "check"}
    stdout = run_study(project, "check", cores=1)
    assert told(stdout) == ["not checked: statistics, which begin where scores are there"]
    assert "note: datasets.whole: 1 of 41 texts" in stdout
    assert "1 dataset, 1 file, 1 model, 2 explainers, 2 metrics" in stdout
    assert {path.name for path in results(project).rglob("*.*")} == {kept_records.KEPT}

    # What the workflow cannot see has changed: a setting of the tokenizer that is no input of the model.
    configure(project, edited(study, "statistics", value={"compare": {"gender": [["male", "female"]]}}))
    without_mask(project / "classifiers" / "good")
    for _ in range(2):
        done = snakemake(project, "--cores", "1", "check")
        assert done.returncode == 1, done.stdout
        problem, last, *_ = told(done.stdout)
        assert last.startswith("1 problem stands above")
        assert problem.startswith("explainers.lime of models.good on whole:")
    write_tokenizer("bert", project / "classifiers" / "good", [row.split(",")[0].split() for row in ROWS])
    assert snakemake(project, "--cores", "1", "check").returncode == 0
