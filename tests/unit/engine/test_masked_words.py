"""Scores of masked words, held against Transformers' own logits of one masked copy at a time."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from commands import run_command
from dataset_files import write_dataset
from models_for_tests import WORDS, items_of, spread_weights
from scipy.stats import ttest_1samp
from study_files import StudyFiles, result_of
from test_compared_strategies import STUDY, items_of_pairs
from tiny_models import write_model
from transformers import (
    AutoModelForMaskedLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertConfig,
    GPT2Config,
    GPT2LMHeadModel,
)
from wording import says

from evenlight.configuration import complete
from evenlight.core.contracts.texts import MASKED_WORDS, PREDICTIONS
from evenlight.core.errors import InputError
from evenlight.core.tables import read_table, write_table
from evenlight.engine.masked_words import LIKELIHOOD, RELEASED, masked_evaluator, masked_scores, why_without_head
from evenlight.models.classifier import name_classes
from evenlight.models.tokenizers import loaded_tokenizer, read_words, set_prompt
from evenlight.reports.plots.masked_words import draw_masked_words
from evenlight.statistics.comparisons.files import Run, run_path

SCRIPT = Path(__file__).parents[3] / "workflow/scripts/models/score_masked_words.py"
KINDS = ("bert", "roberta", "distilbert", "electra")
TEXTS = WORDS[:4]
# The first and the third word; nothing of the second text; no ground truth of the third; all words of the fourth.
TRUTH = [[int(place in (0, 2)) for place in range(len(TEXTS[0]))], [0] * len(TEXTS[1]), None, [1] * len(TEXTS[3])]


@pytest.fixture(scope="module", params=KINDS)
def folders(request, tmp_path_factory):
    """A masked language model as the hub has it, and a classifier that was trained from it: with another body.

    Both are of three classes, as where GECOBench has neutral sentences, too.
    """
    kind = request.param
    source, trained = (tmp_path_factory.mktemp(f"{kind}_{name}") for name in ("source", "trained"))
    write_model(kind, source, WORDS, task=AutoModelForMaskedLM)
    classifier = AutoModelForSequenceClassification.from_pretrained(source)
    torch.manual_seed(1)
    spread_weights(classifier.base_model, 0.4)
    name_classes(classifier, ["female", "male", "neutral"])
    classifier.save_pretrained(trained)
    # Learned a second time it would number the pieces in another way.
    for file in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(source / file, trained)
    return source, trained


def oracle(network, tokenizer, words, truth) -> tuple[float, float]:
    """One masked copy at a time, by the ids of its own text; words beside the ground truth alone."""
    whole = tokenizer(" ".join(words), return_offsets_mapping=True)
    starts = np.cumsum([0, *(len(word) + 1 for word in words)])
    likelihood, released = [], []
    for word in range(len(words)):
        if truth is not None and truth[word]:
            continue
        for place, (start, end) in enumerate(whole["offset_mapping"]):
            if start < end and starts[word] < end < starts[word + 1]:
                ids = list(whole["input_ids"])
                token, ids[place] = ids[place], tokenizer.mask_token_id
                logits = network(torch.tensor([ids])).logits[0, place]
                likelihood.append(-logits.log_softmax(-1)[token].item())
        ids = tokenizer(" ".join([*words[:word], tokenizer.mask_token, *words[word + 1 :]]))["input_ids"]
        logits = network(torch.tensor([ids])).logits[0, ids.index(tokenizer.mask_token_id)]
        released.append(-logits.log_softmax(-1).max().item())
    return sum(likelihood), sum(released)


@pytest.mark.parametrize("is_trained", [True, False])
@torch.no_grad()
def test_scores_are_those_of_one_copy_at_a_time(folders, is_trained):
    source, trained = folders
    network = AutoModelForMaskedLM.from_pretrained(source).eval()
    if is_trained:
        body = AutoModelForSequenceClassification.from_pretrained(trained).eval()
        setattr(network, network.base_model_prefix, body.base_model)
    asked = (str(trained), str(source)) if is_trained else (str(source), None)
    evaluator = masked_evaluator(*asked, None, 48, "cpu", tokens_per_batch=64)
    scores = masked_scores(evaluator, read_words(evaluator.classifier.tokenizer, TEXTS), TRUTH)
    tokenizer = AutoTokenizer.from_pretrained(source)
    for place, (words, truth) in enumerate(zip(TEXTS, TRUTH, strict=True)):
        if truth and all(truth):
            assert np.isnan([scores[LIKELIHOOD][place], scores[RELEASED][place]]).all()
            continue
        likelihood, released = oracle(network, tokenizer, words, truth)
        assert scores[LIKELIHOOD][place] == pytest.approx(likelihood, rel=1e-4)
        assert scores[RELEASED][place] == pytest.approx(released, rel=1e-4)
        assert released > 0


@pytest.mark.parametrize("folders", ["bert"], indirect=True)
def test_a_prompt_does_not_stand_around_the_texts(folders, tmp_path):
    """The zero-shot model is asked about the sentence alone, as its trained counterparts are."""
    source, _ = folders
    tokenizer = loaded_tokenizer(source)
    plain = masked_evaluator(str(source), None, None, 48, "cpu")
    set_prompt(tokenizer, "Female or male: [MASK] . ", "")
    prompted = tmp_path / "prompted"
    AutoModelForMaskedLM.from_pretrained(source).save_pretrained(prompted)
    tokenizer.save_pretrained(prompted)
    asked = masked_evaluator(str(prompted), None, None, 48, "cpu")
    rows = [read_words(evaluator.classifier.tokenizer, TEXTS) for evaluator in (plain, asked)]
    for before, after in zip(*rows, strict=True):
        np.testing.assert_array_equal(before.token_id, after.token_id)


def test_what_has_no_head_is_told(tmp_path):
    BertConfig(architectures=["BertModel"]).save_pretrained(tmp_path / "encoder")
    assert "names BertModel)" in why_without_head("", str(tmp_path / "encoder"), None)
    GPT2LMHeadModel(GPT2Config(vocab_size=50, n_embd=8, n_layer=1, n_head=2)).save_pretrained(tmp_path / "decoder")
    assert "names GPT2LMHeadModel" in why_without_head("", str(tmp_path / "decoder"), None)
    BertConfig(architectures=["BertForMaskedLM"]).save_pretrained(tmp_path / "masked")
    assert why_without_head("", str(tmp_path / "masked"), None) is None
    # Asked by a prompt, a model is what its configuration says of the prompt.
    for kind in ("decoder", "masked"):
        GPT2Config(prompt={"kind": kind}).save_pretrained(tmp_path / kind)
    assert why_without_head(str(tmp_path / "decoder"), None, None) == says("decoder", "no masked words")
    assert why_without_head(str(tmp_path / "masked"), None, None) is None


# Over all runs --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def summary(tmp_path_factory):
    """Two models of two runs; female forms are 0.5 more improbable; a third has no head, a fourth is not asked."""
    folder = tmp_path_factory.mktemp("study")
    items = items_of_pairs()
    files = StudyFiles(folder)
    files.write(items.assign(explainer="grad", mass=0.5), 0, "correctness")
    shift = items["group"].map({"male": 0.0, "female": 0.5}).to_numpy()
    for model in ("c", "ce"):
        for seed in (0, 1):
            noise = np.random.default_rng([seed, len(model)]).normal(0, 0.1, len(items))
            scores = 10 + len(model) + seed + shift + noise
            table = pd.DataFrame({"item_id": items["item_id"], "likelihood": scores, "released": scores / 2})
            write_table(table, run_path(folder, Run("plots", model, seed)), MASKED_WORDS, {"notes": []})
    empty = pd.DataFrame(columns=MASKED_WORDS.schema.names)
    write_table(empty, run_path(folder, Run("plots", "mini", 0)), MASKED_WORDS, {"notes": ["mini has no head"]})
    found = result_of(
        "summarise_masked_words",
        {"masked_words": folder, "datasets": files.datasets},
        datasets=["plots"],
        models={"c": [0, 1], "ce": [0, 1], "mini": [0]},
        comparisons={"gender": [["male", "female"]]},
        confidence=0.95,
        bootstrap_draws=999,
        without=["scratch"],
    )
    return found.tables[0], found.notes


def test_the_summary_has_means_and_paired_differences(summary):
    table, notes = summary
    rows = table.set_index(["model", "score", "level_a", "level_b"])
    assert len(rows) == 2 * 2 * 3
    items = items_of_pairs()
    shift = items["group"].map({"male": 0.0, "female": 0.5}).to_numpy()
    values = pd.DataFrame(
        [11 + seed + shift + np.random.default_rng([seed, 1]).normal(0, 0.1, len(items)) for seed in (0, 1)],
        columns=[items["pair_id"], items["group"]],
    ).mean()
    male, female = values.xs("male", level="group"), values.xs("female", level="group")
    row = rows.loc[("c", "likelihood", "male", "female")]
    assert row["value"] == pytest.approx((male - female).mean())
    # About Student's interval, from resamples of pairs.
    student = ttest_1samp((male - female).to_numpy(), 0).confidence_interval(0.95)
    assert row["high"] - row["low"] == pytest.approx(student.high - student.low, rel=0.25)
    assert row["low"] < row["value"] < row["high"]
    mean = rows.sort_index().loc[("c", "likelihood", "female")].iloc[0]
    assert (mean["value"], mean["seeds"], mean["units"]) == (pytest.approx(female.mean()), 2, 20)
    student = ttest_1samp(female.to_numpy(), 0).confidence_interval(0.95)
    assert mean["high"] - mean["low"] == pytest.approx(student.high - student.low, rel=0.25)
    assert notes == [
        says("dataset 'plots', model 'mini'", "no head"),
        says("models 'scratch'", "no masked language"),
    ]


def test_the_figure_shows_every_mean(summary):
    figure = draw_masked_words(summary[0], {"bert": {"C": "c", "CE": "ce"}}, "T")
    for axes, score in zip(figure.axes, ("likelihood", "released"), strict=True):
        rows = summary[0].query(f"score == '{score}' and level_a == 'male' and level_b.isna()").set_index("model")
        means = rows.loc[["c", "ce"], "value"].to_numpy()
        assert axes.containers[0][0].get_ydata() == pytest.approx(means)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"kind": "description", "statistics": {}}, r"masked_words: .*kind description"),
        ({}, r"masked_words: no model.*pretrained or prompted"),
    ],
)
def test_masked_words_belong_to_strategies_of_language_models(changes, problem):
    study = STUDY | {"masked_words": True, "statistics": {"strategies": {"ola": {"C": "c", "CE": "ce"}}}}
    with pytest.raises(InputError, match=problem):
        complete(study | changes)


@pytest.mark.parametrize("folders", ["bert"], indirect=True)
def test_the_command_scores_the_texts_that_are_explained(folders, tmp_path):
    source, trained = folders
    items = items_of(TEXTS).assign(split="test", group="male", ground_truth=None)
    write_dataset(items, tmp_path)
    (trained / "manifest.json").write_text("{}")
    row = dict.fromkeys(PREDICTIONS.schema.names) | {"split": "test", "predicted": 0, "target": 0}
    row |= {"token_id": [1], "token_text": ["a"], "word_id": [0], "probability": [0.5, 0.5]}
    predictions = pd.DataFrame([row | {"item_id": name} for name in items["item_id"][:2]])
    write_table(predictions, tmp_path / "predictions.parquet", PREDICTIONS)
    settings = {"source": str(source), "revision": None, "max_tokens": 48}
    done = run_command(
        SCRIPT,
        *("--items", tmp_path / "items.parquet", "--predictions", tmp_path / "predictions.parquet"),
        *("--model", trained, "--settings", json.dumps(settings), "--device", "cpu", "--threads", 1),
        *("--output", tmp_path / "scores.parquet"),
    )
    assert done.returncode == 0, done.stderr
    found = read_table(tmp_path / "scores.parquet", MASKED_WORDS)
    assert found["item_id"].tolist() == items["item_id"][:2].tolist()
    evaluator = masked_evaluator(str(trained), str(source), None, 48, "cpu")
    scores = masked_scores(evaluator, read_words(evaluator.classifier.tokenizer, TEXTS[:2]), [None, None])
    np.testing.assert_allclose(found[LIKELIHOOD], scores[LIKELIHOOD], rtol=1e-5)
