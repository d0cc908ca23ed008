"""A language model's words beside its attributions, from a study file to tables."""

import json
import re

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import torch
from hub_tokenizers import write_tokenizer
from models_for_tests import spread_weights
from running import chosen, configure, copy_of_project, edited, planned_jobs, results, run_study, snakemake
from scipy.spatial.distance import cosine
from transformers import AutoModelForCausalLM, AutoTokenizer, GPT2Config

PERSON = {"male": ["He", "his"], "female": ["She", "her"]}
PLACES = ("harbour", "library", "market", "museum", "forest", "theatre")
ROWS = [
    {"case": place, "gender": gender, "text": f"{who} {verb} the {place} and {whose} friend .", "liked": liked}
    for place in PLACES
    for verb, liked in (("likes", "good"),)
    for gender, (who, whose) in PERSON.items()
]
ASKED = "They say : {text} Why is it so ?"
STUDY = {
    "study": "words",
    "seeds": [0],
    "device": "cpu",
    "datasets": {
        "people": {
            "reader": "table",
            "file": "people.csv",
            "text": "text",
            "label": "liked",
            "classes": ["bad", "good"],
            "attributes": {"gender": {"column": "gender", "levels": ["male", "female"]}},
            "pair": "case",
            "test_share": 1,
        }
    },
    "models": {
        "tiny": {
            "architecture": "prompted",
            "source": "tiny",
            "special_tokens": {"pad": "<|endoftext|>", "mask": "<|endoftext|>"},
            "template": "They say : {text} Why is it so ? {label}",
            "label_words": {"bad": ["bad"], "good": ["good"]},
        }
    },
    "explainers": {
        "lime": {"method": "lime", "samples": 20},
        "reasons": {
            "method": "local_generation",
            "template": ASKED,
            "answers": 2,
            "max_tokens": 12,
            "decision": {"words": {"bad": ["bad"], "good": ["good"]}},
        },
    },
    "metrics": {
        "gini": {"metric": "gini"},
        "words": {"metric": "words"},
        "praise": {"metric": "decision", "decision": "good"},
        "follows": {"metric": "hint_followed"},
        "turned": {"metric": "counterfactual_consistency"},
        "parts": {"metric": "cc_shap"},
    },
    "explain": {"items_per_group": 8},
    "statistics": {
        "compare": {"gender": [["male", "female"]]},
        "bootstrap_draws": 100,
        "control_draws": 20,
        "verdict_permutations": 1,
    },
}
TABLES = [f"results/words/tables/{name}" for name in ("effects.html", "draws.csv", "faithfulness.html")]


def write_decoder(folder) -> None:
    torch.manual_seed(0)
    network = AutoModelForCausalLM.from_config(GPT2Config(vocab_size=500, n_embd=16, n_layer=1, n_head=2))
    spread_weights(network, 0.4)
    network.save_pretrained(folder)
    write_tokenizer("gpt2", folder, [*(row["text"].split() for row in ROWS), ["good", "bad"], ASKED.split()])


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project after the tables of the study."""
    project = copy_of_project(tmp_path_factory.mktemp("words") / "project", STUDY)
    pd.DataFrame(ROWS).to_csv(project / "people.csv", index=False)
    write_decoder(project / "tiny")
    run_study(project, *TABLES)
    return project


def answers_of(project, model: str = "tiny", explainer: str = "reasons", folder: str = "answers") -> pd.DataFrame:
    path = results(project) / folder / "people" / model / "seed0" / f"{explainer}.parquet"
    return pq.read_table(path).to_pandas().set_index(["item_id", "draw"]).sort_index()


def test_words_and_attributions_of_one_model_stand_side_by_side(project):
    answers = answers_of(project)
    assert len(answers) == 2 * len(ROWS)
    effects = pd.read_csv(results(project) / "tables" / "effects.csv").set_index(["explainer", "metric"])
    of_words = {("reasons", name) for name in ("words", "praise", "follows", "turned", "parts")}
    assert set(effects.index) == {("lime", "gini")} | of_words
    read = pq.read_table(results(project) / "datasets" / "people" / "units.parquet").to_pandas()
    level = read.set_index("item_id")["level"]
    words = answers["text"].str.split().map(len).groupby("item_id").mean()
    means = words.groupby(level).mean()
    assert effects.loc[("reasons", "words"), "difference"] == pytest.approx(means["male"] - means["female"])
    draws = pd.read_csv(results(project) / "tables" / "draws.csv").set_index("metric")
    assert draws.loc["words", "difference"] == pytest.approx(means["male"] - means["female"])


def test_one_page_has_both_modalities(project):
    planned = {rule for rule, _ in planned_jobs(project, "audit")}
    assert {"write_page", "count_texts", "count_questions"} <= planned
    run_study(project, "results/words/index.html")
    page = (results(project) / "index.html").read_text(encoding="utf-8")
    assert f"{len(ROWS)} questions, each form" in page
    told = json.loads((results(project) / "audit.json").read_text(encoding="utf-8"))
    assert [each["what"] for each in told["audited"]["datasets"]] == ["texts", "questions"]
    asked = {(each["explainer"], each["metric"]) for each in told["comparisons"]}
    assert ("reasons", "words") in asked
    assert {metric for explainer, metric in asked if explainer != "reasons"} == {"gini"}
    assert re.match(r"Explanations: .*\nDecisions: .*\nReasons: ", told["opening"][0])


def test_the_decision_is_that_of_the_predictions(project):
    predicted = pq.read_table(results(project) / "predictions" / "people" / "tiny" / "seed0.parquet").to_pandas()
    expected = predicted.set_index("item_id")["predicted"].map({0: "bad", 1: "good"})
    decisions = answers_of(project)["decision"]
    assert decisions.groupby("item_id").nunique().eq(1).all()
    assert decisions.groupby("item_id").first().to_dict() == expected.to_dict()


def test_every_answer_is_followed(project):
    answers, asked = answers_of(project), answers_of(project, folder="follow_ups").reset_index()
    by_about = asked.set_index(["item_id", "draw", "about"]).unstack()
    assert by_about.index.equals(answers.index)
    assert set(asked["about"]) == {"hint", "counterfactual", "contributions"}
    parts = asked[asked["about"] == "contributions"]
    cosines = [1 - cosine(*row) for row in parts[["of_decision", "of_reason"]].to_numpy()]
    asked = asked[asked["about"] != "contributions"]
    expected = asked["expected"].str[0].tolist()
    before = answers["decision"].reindex(pd.MultiIndex.from_frame(asked[["item_id", "draw"]]))
    assert expected == before.map({"good": "bad", "bad": "good"}).tolist()
    table = pd.read_csv(results(project) / "tables" / "faithfulness.csv")
    values = table[table["level"] == "all"].set_index("measure")["value"]
    agrees = (asked["decision"] == expected).groupby(asked["about"]).mean()
    assert values["cc_shap"] == pytest.approx(np.mean(cosines))
    assert values["hint_followed"] == pytest.approx(agrees["hint"])
    assert values["counterfactual_consistency"] == pytest.approx(agrees["counterfactual"])


def test_only_new_answers_are_written(project, copy_of):
    project = copy_of(project)
    assert planned_jobs(project, *TABLES) == set()
    before, followed_before = answers_of(project), answers_of(project, folder="follow_ups")
    configure(project, edited(STUDY, "explainers", "reasons", "answers", value=3))
    planned = planned_jobs(project, *TABLES)
    assert chosen(planned, "generate_answers", explainer="reasons")
    assert {"attribute_lime", "read_texts", "load_model"}.isdisjoint({rule for rule, _ in planned})
    run_study(project, *TABLES)
    after = answers_of(project)
    assert len(after) == 3 * len(ROWS)
    # Its seconds, too: nothing was written again.
    pd.testing.assert_frame_equal(after.loc[before.index], before)
    followed = answers_of(project, folder="follow_ups")
    assert len(followed) == 3 * 3 * len(ROWS)
    pd.testing.assert_frame_equal(followed.loc[before.index], followed_before)
    log = (project / "logs" / "words" / "generate_answers" / "people" / "tiny" / "seed0" / "reasons.log").read_text()
    assert f"{2 * len(ROWS)} of {3 * len(ROWS)} rows" in log
    assert f"writing {len(ROWS)} answers" in log


def test_a_model_that_only_answers_needs_no_prediction(project, copy_of):
    """Greedy, against Transformers' own writing."""
    project = copy_of(project)
    model = {"only": {"architecture": "decoder", "source": "tiny"}}
    reasons = STUDY["explainers"]["reasons"] | {"answers": 1, "temperature": 0, "decision": None}
    metrics = {"words": STUDY["metrics"]["words"]}
    study = STUDY | {"models": model, "explainers": {"reasons": reasons}, "metrics": metrics}
    configure(project, study)
    wanted = "results/words/tables/effects.html"
    assert {"load_model", "read_texts"}.isdisjoint({rule for rule, _ in planned_jobs(project, wanted)})
    run_study(project, wanted)
    answers = answers_of(project, "only").reset_index("draw")
    tokenizer = AutoTokenizer.from_pretrained(project / "tiny")
    network = AutoModelForCausalLM.from_pretrained(project / "tiny")
    items = pq.read_table(results(project) / "datasets" / "people" / "items.parquet").to_pandas()
    for item in items.itertuples():
        prompt = tokenizer(ASKED.replace("{text}", " ".join(item.words)), return_tensors="pt")
        written = network.generate(**prompt, max_new_tokens=12, do_sample=False, pad_token_id=0)[0]
        expected = tokenizer.decode(written[prompt["input_ids"].shape[1] :], skip_special_tokens=True)
        assert answers.loc[item.item_id, "text"] == expected
    assert np.isnan(answers["seed"]).all()
    # Refused before anything is written, with the key that says it.
    configure(project, edited(study, "explainers", "reasons", "max_tokens", value=2000))
    done = snakemake(project, "--cores", "2", wanted)
    assert done.returncode != 0
    assert "explainers.reasons.max_tokens is 2000" in done.stdout
