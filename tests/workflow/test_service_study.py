"""A study of a classifier behind an address: alt-profanity-check, which nobody here wrote, on the loopback address."""

import json
import re
import time
from pathlib import Path

import pandas as pd
import pytest
from http_services import Reply, serving
from running import configure, copy_of_project, edited, planned_jobs, results, run_study, snakemake

jmespath = pytest.importorskip("jmespath", reason="services need jmespath (envs/models.txt)")
profanity_check = pytest.importorskip("profanity_check", reason="alt-profanity-check is asked (envs/tests.txt)")

SAYINGS = ["stupid idiots", "lovely people", "damn liars", "kind neighbours"]
CLASSES = ["clean", "offensive"]
DATASET = {
    "reader": "table",
    "file": "mine.csv",
    "text": "text",
    "label": "label",
    "classes": CLASSES,
    "attributes": {"who": {"column": "who", "levels": ["women", "men"]}},
    "pair": "pair",
    "test_share": 1.0,
}

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


@pytest.fixture
def project(tmp_path) -> Path:
    """A project with what is said of women and of men, in pairs."""
    project = copy_of_project(tmp_path / "project")
    rows = [
        {"pair": pair, "who": who, "label": CLASSES[1 - pair % 2], "text": f"I think {who} are {saying} ."}
        for pair, saying in enumerate(SAYINGS)
        for who in ("women", "men")
    ]
    pd.DataFrame(rows).to_csv(project / "mine.csv", index=False)
    return project


def test_a_study_asks_each_text_once_goes_on_after_a_failure_and_is_free_the_second_time(project):
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
        assert texts == pd.read_csv(project / "mine.csv")["text"].tolist()
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


@pytest.mark.slow
def test_the_estimate_asks_nothing_and_what_reruns_follows_from_what_the_answers_depend_on(project):
    with serving() as served, serving() as other:
        model = {"architecture": "service", "address": served.address, "asking": {"batch": 16, "retries": 1}}
        explainers = {"occlusion": {"method": "occlusion"}, "chance": {"method": "uniform_random"}}
        study = STUDY | {"models": {"served": model}, "explainers": explainers, "metrics": {"gini": {"metric": "gini"}}}
        configure(project, study)
        stdout = run_study(project, "questions", cores=1)
        assert f"questions to {served.address}, of which about 0 are answered" in stdout
        assert served.bodies == []
        estimated = int(re.search(r"about ([\d,]+) questions", stdout)[1].replace(",", ""))

        # It is slow, and says something else each time.
        calls = iter(range(10**6))

        def moody(body: dict) -> Reply:
            time.sleep(0.05)
            drift = 0.01 * next(calls)
            answer = [{"label": "clean", "score": 0.7 - drift}, {"label": "offensive", "score": 0.3 + drift}]
            return 200, json.dumps([answer] * len(body["inputs"])).encode(), {}

        served.usual = other.usual = moody
        run_study(project, "--until", "tabulate_scores", cores=1)
        asked = len(set(served.texts))
        assert estimated == pytest.approx(asked, rel=0.2)
        page = (results(project) / "tables" / "scores.html").read_text(encoding="utf-8")
        assert "changes its answers" in page

        count = len(served.bodies)
        everything = {"describe_service", "read_texts", "attribute_occlusion", "score"}
        for change, expected in (
            ({"asking": {"key_variable": "ANOTHER", "batch": 3}}, set()),
            ({"address": other.address}, everything),
            ({"answers": "[*]"}, everything),
            ({"version": "June"}, everything),
            ({"hidden_word": "..."}, everything),
        ):
            configure(project, edited(study, "models", "served", value=model | change))
            planned = {rule for rule, _ in planned_jobs(project, "--until", "score")}
            assert planned - {"estimate_questions"} >= expected, change
            assert bool(planned) == bool(expected), (change, planned)
            assert not planned & {"import_dataset", "fetch_source"}, change
        # Another address is asked about everything; the first one, again, about nothing.
        configure(project, edited(study, "models", "served", "address", value=other.address))
        run_study(project, "--until", "score", cores=1)
        assert len(set(other.texts)) == asked
        configure(project, study)
        run_study(project, "--until", "score", cores=1)
        assert len(served.bodies) == count
