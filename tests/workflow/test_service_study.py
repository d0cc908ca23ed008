"""A study of a classifier behind an address: alt-profanity-check, which nobody here wrote, on the loopback address."""

import json
import re

import pandas as pd
import pytest
from http_services import serving
from running import copy_of_project, planned_jobs, results, run_study, snakemake
from test_served_studies import CLASSES, DATASET, SAYINGS

jmespath = pytest.importorskip("jmespath", reason="services need jmespath (envs/models.txt)")
profanity_check = pytest.importorskip("profanity_check", reason="alt-profanity-check is asked (envs/tests.txt)")

STUDY = {
    "study": "asked",
    "kind": "description",
    "seeds": [3],
    "device": "cpu",
    "datasets": {"mine": DATASET},
    "models": {"profanity": {"architecture": "service", "asking": {"batch": 16, "key_variable": "PROFANITY_KEY"}}},
    "explainers": {"shap": {"method": "kernel_shap", "evaluations": 20}, "chance": {"method": "uniform_random"}},
    "metrics": {"aopc": {"metric": "aopc_comprehensiveness"}, "gini": {"metric": "gini"}},
}


def offensive(body: dict) -> tuple[int, bytes, dict]:
    """As the endpoint of a text classification pipeline answers."""
    answer = [
        [{"label": "offensive", "score": float(each)}, {"label": "clean", "score": float(1 - each)}]
        for each in profanity_check.predict_prob(body["inputs"])
    ]
    return 200, json.dumps(answer).encode(), {}


def test_a_study_asks_each_text_once_goes_on_after_a_failure_and_is_free_the_second_time(tmp_path):
    project = copy_of_project(tmp_path / "project")
    rows = [
        {"pair": pair, "who": who, "label": CLASSES[1 - pair % 2], "text": f"I think {who} are {saying} ."}
        for pair, saying in enumerate(SAYINGS)
        for who in ("women", "men")
    ]
    pd.DataFrame(rows).to_csv(project / "mine.csv", index=False)
    with serving() as served:
        study = STUDY | {"models": {"profanity": STUDY["models"]["profanity"] | {"address": served.address}}}
        (project / "study.yaml").write_text(json.dumps(study))
        assert "train" not in {rule for rule, _ in planned_jobs(project)}
        # It fails in the middle: what it has answered is kept.
        served.usual = offensive
        served.script = [offensive, offensive, lambda body: (402, b"no credit left", {})]
        stopped = snakemake(project, "--cores", "1", "--until", "score", PROFANITY_KEY="s3cret")
        assert stopped.returncode != 0
        assert "no credit left" in stopped.stdout
        assert "s3cret" not in stopped.stdout
        estimate = "profanity on mine:"
        assert stopped.stdout.index(estimate) < re.search("(failed|done.*): read_texts ", stopped.stdout).start()
        run_study(project, "--until", "score", cores=1, PROFANITY_KEY="s3cret")
        # The request that failed, and what each of the three jobs that ask has asked a second time.
        answered = [text for body in served.bodies for text in body["inputs"]]
        assert len(answered) == len(set(answered)) + 16 + 3 * 8
        predictions = pd.read_parquet(results(project) / "predictions" / "mine" / "profanity" / "seed3.parquet")
        texts = [" ".join(words) for words in predictions["token_text"]]
        assert texts == [row["text"] for row in rows]
        theirs = profanity_check.predict_prob(texts)
        assert [row[1] for row in predictions["probability"]] == pytest.approx(theirs)
        # Another study, other explainers of it: nothing is asked twice, and how it is asked reruns nothing.
        patient = study["models"]["profanity"] | {"asking": {"retries": 9}}
        (project / "study.yaml").write_text(json.dumps(study | {"models": {"profanity": patient}}))
        assert planned_jobs(project, "--until", "score") == set()
        count = len(served.bodies)
        (project / "study.yaml").write_text(json.dumps(study | {"study": "again"}))
        run_study(project, "--until", "score", cores=1)
        assert len(served.bodies) == count
        path = "scores/mine/profanity/seed3/faithfulness/shap.parquet"
        scores = [pd.read_parquet(project / "results" / name / path) for name in ("asked", "again")]
        pd.testing.assert_frame_equal(*scores)
        # An explainer that is changed is asked in the run that makes the estimate again.
        explainers = STUDY["explainers"] | {"shap": {"method": "kernel_shap", "evaluations": 24}}
        more = study | {"study": "again", "explainers": explainers}
        (project / "study.yaml").write_text(json.dumps(more))
        run_study(project, "--until", "score", cores=1, PROFANITY_KEY="s3cret")
        assert planned_jobs(project, "--until", "score") == set()
        assert len(served.bodies) > count
