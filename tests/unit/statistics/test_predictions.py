"""What models take for what, against scikit-learn; the page and the figures that show it."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from dataset_files import write_dataset
from rendering import page_of
from sklearn.metrics import confusion_matrix, roc_auc_score, roc_curve
from study_files import made

from evenlight.core import tables
from evenlight.core.contracts.texts import PREDICTIONS
from evenlight.core.errors import InputError
from evenlight.reports.plots.roc import draw_roc
from evenlight.reports.plots.sentence import draw_sentence
from evenlight.statistics.analyses.word_attributions import chosen_sentence
from evenlight.statistics.comparisons.files import Run, Runs, predictions_path

CLASSES = ("female", "male", "neutral")
TEXTS = 30
LABELS = np.arange(TEXTS) % 3


def probabilities(seed: int, classes: int = 3) -> np.ndarray:
    """Rounded, so that some are equal."""
    drawn = np.random.default_rng(seed).dirichlet(np.ones(classes), TEXTS) + np.eye(classes)[LABELS % classes] / 2
    return np.round(drawn / drawn.sum(axis=1, keepdims=True), 1)


def study(folder, classes=CLASSES):
    labels = LABELS % len(classes)
    rows = pd.DataFrame({"item_id": [f"t{n}" for n in range(TEXTS)], "pair_id": [f"{n // 3}" for n in range(TEXTS)]})
    if len(classes) == 2:
        rows["pair_id"] = [f"{n // 2}" for n in range(TEXTS)]
    rows = rows.assign(group=[classes[label] for label in labels], label=labels, split="test")
    write_dataset(rows.assign(words=[["a"]] * TEXTS, ground_truth=None), folder / "datasets" / "plots", classes=classes)
    for seed in (0, 1):
        row = dict.fromkeys(PREDICTIONS.schema.names) | {"split": "test", "target": 0}
        row |= {"token_id": [1], "word_id": [0], "token_text": ["a"]}
        probability = probabilities(seed, len(classes))
        predictions = [
            row | {"item_id": f"t{n}", "probability": list(probability[n]), "predicted": int(probability[n].argmax())}
            for n in range(TEXTS)
        ]
        tables.write_table(
            pd.DataFrame(predictions),
            predictions_path(folder / "predictions", Run("plots", "small", seed)),
            PREDICTIONS,
        )
    return folder / "datasets", folder / "predictions"


RUNS = Runs(datasets=["plots"], models={"small": [0, 1]})


def measured(folder: Path, classes=CLASSES) -> Sequence[pd.DataFrame]:
    folders = dict(zip(("datasets", "predictions"), study(folder, classes), strict=True))
    return made("measure_predictions", folders, **vars(RUNS))


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return measured(tmp_path_factory.mktemp("three"))


def test_confusions_and_curves_are_scikit_learn_s(found):
    confusions, curves = found
    for seed in (0, 1):
        probability = probabilities(seed)
        part = confusions.query("seed == @seed")
        matrix = confusion_matrix(LABELS, probability.argmax(axis=1))
        assert part["texts"].tolist() == matrix.ravel().tolist()
        np.testing.assert_allclose(part["share"], (matrix / matrix.sum(axis=1, keepdims=True)).ravel())
        for number, name in enumerate(CLASSES):
            row = curves[(curves["seed"] == seed) & (curves["class"] == name)].iloc[0]
            truth, score = number == LABELS, probability[:, number]
            assert row["auc"] == pytest.approx(roc_auc_score(truth, score))
            false, true, _ = roc_curve(truth, score, drop_intermediate=False)
            np.testing.assert_allclose(row["false_positives"], false)
            np.testing.assert_allclose(row["true_positives"], true)


def test_of_two_classes_there_is_the_curve_of_the_second(tmp_path):
    _, curves = measured(tmp_path, CLASSES[:2])
    assert list(curves["class"]) == ["male", "male"]


def test_the_page_has_published_values_beside_strategies_of_their_names(found, tmp_path):
    folders = study(tmp_path)
    paths = dict(zip(("datasets", "predictions"), folders, strict=True))
    quality = made("measure_quality", paths, **vars(RUNS), comparisons={"gender": [["male", "female"]]})[0]
    strategies = {"minilm": {"CE": "small", "ZS": "other"}, "ola_small": {"CEA": "small"}}
    published = [
        {"architecture": "BERT", "strategy": "CE", "measure": "accuracy", "mean": 99.8, "sd": 0.1},
        {"architecture": "BERT", "strategy": "CE", "measure": "average_prediction_difference", "mean": 1.6, "sd": 0.87},
        {"architecture": "OLA", "strategy": "CEA", "measure": "male", "mean": 97.5, "sd": 0.02},
    ]
    page = page_of(
        "predictions",
        found[1],
        quality,
        datasets={"plots": "Plots"},
        strategies=strategies,
        published={"plots": published},
    )
    [models] = page.tables
    headings = [name for name, _ in models.columns]
    assert headings[:3] == ["Accuracy", "Accuracy, male", "Accuracy, female"]
    assert headings[3:6] == ["Accuracy, neutral", "Average prediction difference, male – female", "AUC, female"]
    (_, ((_, here), (_, missing))), (_, ((_, ola),)) = models.rows
    accuracies = [100 * (probabilities(seed).argmax(axis=1) == LABELS).mean() for seed in (0, 1)]
    assert here[0].text == f"{np.mean(accuracies):.1f} ± {np.std(accuracies):.1f}"
    assert [cell.text for cell in (here[1], here[3], here[9])] == ["99.8 ± 0.1", "–", "1.6 ± 0.87"]
    assert [ola[1].text, ola[3].text] == ["–", "97.5 ± 0.02"]
    assert missing[0].text == "–"


def test_published_rates_make_the_published_accuracies():
    """Half of the sentences are male, so that the accuracy is the mean of both rates: they are of the same models."""
    table = pd.read_csv(Path(__file__).parents[3] / "resources" / "published" / "gecobench.csv")
    keys = ["classes", "words", "architecture", "strategy"]
    means = table.set_index([*keys, "measure"])["mean"].unstack()
    assert means["accuracy"].notna().all()
    rates = means.loc["binary", ["male", "female"]]
    assert len(rates) == 10
    np.testing.assert_allclose(rates.mean(axis=1), means.loc["binary", "accuracy"], atol=0.0501)


def test_the_curves_have_a_panel_per_strategy(found):
    figure = draw_roc(found[1], {"bert": {"C": "small", "CE": "none"}}, "T")
    [axes] = figure.axes
    assert len(axes.lines) == 2 * 3 + 1
    assert axes.get_title(loc="left") == f"bert C\nAUC {found[1]['auc'].mean():.3f}"


def test_a_sentence_is_drawn_in_every_strategy():
    shares = {("LIME", "bert C"): np.array([0.75, np.nan, 0.25]), ("LIME", "bert CE"): np.array([1.0, 0.0, 0.0])}
    figure = draw_sentence(["She", "—", "sails"], [1, 0, 0], shares, "T")
    first, second = figure.axes
    assert [patch.get_width() for patch in first.patches] == [0.75, 0, 0.25]
    assert [patch.get_width() for patch in second.patches] == [1, 0, 0]
    assert first.patches[0].get_facecolor() != first.patches[1].get_facecolor()


def test_a_sentence_is_the_first_with_ground_truth_or_the_named_one():
    items = pd.DataFrame({"item_id": ["a", "b", "c"], "ground_truth": [[0, 0], None, [0, 1]]})
    assert chosen_sentence(items, {"a", "c"}, "plots", None)["item_id"] == "c"
    assert chosen_sentence(items, {"a", "b"}, "plots", None)["item_id"] == "a"
    for named in ("a", "c"):
        assert chosen_sentence(items, {"a", "c"}, "plots", named)["item_id"] == named
    for named, found in [("b", "not explained for all models"), ("z", "no text of the dataset")]:
        with pytest.raises(InputError, match=f"^figures.sentences.plots: '{named}' is {found}.*such as a, c$"):
            chosen_sentence(items, {"a", "c"}, "plots", named)
    with pytest.raises(InputError, match=r"no text.*all models"):
        chosen_sentence(items, set(), "plots", "a")
