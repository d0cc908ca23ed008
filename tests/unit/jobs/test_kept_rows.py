"""Which explanations and scores are taken over when a study changes, and which are computed again."""

import argparse
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
import torch
from combinations import spread
from dataset_files import write_dataset
from test_attribution_files import (
    METRICS,
    Killed,
    attribute_arguments,
    costs_of,
    reading_arguments,
    score_arguments,
)
from test_attribution_files import study as study

from evenlight.core.contracts.explanations import ATTRIBUTIONS, COSTS, SCORES
from evenlight.core.contracts.texts import ITEMS, PREDICTIONS
from evenlight.core.tables import read_metadata, read_table, write_table
from evenlight.engine import rounding_of
from evenlight.explainers.families.baseline import PatternVariant
from evenlight.jobs import own_files
from evenlight.metrics import Metric
from evenlight.metrics.families.complexity import Gini
from explanations import attribute, score
from models import read_texts

TEXTS = 12


@pytest.fixture(scope="module")
def explained(study, tmp_path_factory) -> Path:
    """The folder of a study of which all texts are explained and scored."""
    folder = tmp_path_factory.mktemp("explained") / "study"
    shutil.copytree(study, folder)
    for family in ("gradient", "baseline", "shapley_sampling"):
        attribute.main(of_study(folder, family))
    for family in METRICS:
        score.main(scored(folder, family))
    return folder


@pytest.fixture
def copy(explained, tmp_path) -> Path:
    """A copy of it, to be changed."""
    return Path(shutil.copytree(explained, tmp_path / "study"))


def of_study(folder: Path, family: str = "gradient", **changes) -> argparse.Namespace:
    return attribute_arguments(folder, folder / "attributions", family, size=5, **changes)


def scored(folder: Path, family: str) -> argparse.Namespace:
    """The flags that score one explainer with a family of metrics."""
    return score_arguments(folder, [folder / "attributions" / "grad.parquet"], folder / "scores" / family, family, 5)


@pytest.fixture
def done(monkeypatch) -> SimpleNamespace:
    """What the commands explain and score from now on: names of explainers and texts, in order."""
    explain, scores = attribute.explain, score.score
    done = SimpleNamespace(explained=[], scored=[])

    def recording_explain(entries, sentences, context):
        done.explained += [(name, sentence.item_id) for sentence in sentences for name in entries]
        return explain(entries, sentences, context)

    def recording_score(family, explanations, *rest):
        done.scored += [explanation.item_id for explanation in explanations]
        return scores(family, explanations, *rest)

    monkeypatch.setattr(attribute, "explain", recording_explain)
    monkeypatch.setattr(score, "score", recording_score)
    return done


CONTRACTS = {"items": ITEMS, "predictions": PREDICTIONS}


def edit_table(folder: Path, name: str, edit: Callable[[pd.DataFrame], object]) -> None:
    """Write a table of a study again as ``edit`` leaves it."""
    path, contract = folder / f"{name}.parquet", CONTRACTS[name]
    table = read_table(path, contract)
    edit(table)
    write_table(table, path, contract, read_metadata(path, contract) | {"edited": True})


def with_cell(name: str, column: str, value: Callable[[object], object]) -> Callable[[Path], None]:
    """An edit of what a table says of the text ``item3``."""

    def edit(folder: Path) -> None:
        def change(table: pd.DataFrame) -> None:
            [row] = table.index[table["item_id"] == "item3"]
            table.at[row, column] = value(table.at[row, column])

        edit_table(folder, name, change)

    return edit


def renamed(folder: Path) -> None:
    for name in ("items", "predictions"):
        with_cell(name, "item_id", lambda _: "another")(folder)


def with_rows(chosen: Callable[[pd.DataFrame], pd.DataFrame]) -> Callable[[Path], None]:
    """An edit of which texts there are, and in which order."""

    def edit(folder: Path) -> None:
        for name, contract in CONTRACTS.items():
            path = folder / f"{name}.parquet"
            write_table(chosen(read_table(path, contract)), path, contract, read_metadata(path, contract))

    return edit


reversed_order = with_rows(lambda table: table.iloc[::-1])
without_text = with_rows(lambda table: table[table["item_id"] != "item3"])


def with_tokens(**values: int) -> Callable[[Path], None]:
    """An edit by which all tokens of the text ``item3`` have these values."""

    def edit(folder: Path) -> None:
        def change(table: pd.DataFrame) -> None:
            [row] = table.index[table["item_id"] == "item3"]
            for column, value in values.items():
                table[column] = table[column].astype(object)
                table.at[row, column] = np.full(len(table.at[row, "token_id"]), value)

        edit_table(folder, "predictions", change)

    return edit


ONE_WINDOW, TWO_WINDOWS = (with_tokens(first_window=0, last_window=last) for last in (0, 1))


def nothing(folder: Path) -> None:
    """Other notes of the predictions only."""
    edit_table(folder, "predictions", lambda table: None)


def of_training(folder: Path) -> None:
    def change(items: pd.DataFrame) -> None:
        items.loc[items["split"] == "train", "label"] = 1

    edit_table(folder, "items", change)


# What the tables say of texts, and of how many texts the explanations are computed again.
ROWS = {
    "notes": (nothing, 0),
    "order": (reversed_order, 0),
    "a text less": (without_text, 0),
    "labels of the training": (of_training, 0),
    "label": (with_cell("items", "label", lambda label: 1 - label), 0),
    "probability": (with_cell("predictions", "probability", lambda values: values[::-1]), 0),
    "ground truth": (with_cell("items", "ground_truth", lambda truth: 1 - truth), 0),
    "name": (renamed, 1),
    "tokens": (with_cell("predictions", "token_id", lambda tokens: np.r_[tokens[0], tokens[2:], tokens[1]]), 1),
    "words of tokens": (with_cell("predictions", "word_id", lambda words: words[::-1]), 1),
    "texts of tokens": (with_cell("predictions", "token_text", lambda texts: [text.upper() for text in texts]), 1),
    "no types of tokens": (with_cell("predictions", "token_type", lambda _: None), 0),
    "types of tokens": (with_tokens(token_type=1), 1),
    "windows": (ONE_WINDOW, 1),
    "target": (with_cell("predictions", "target", lambda target: 1 - target), 1),
    "foil": (with_cell("predictions", "foil", lambda _: 1.0), 1),
    "words": (with_cell("items", "words", lambda words: [*words[:-1], "?"]), 1),
    "spaces": (with_cell("items", "spaces", lambda _: [" "]), 1),
}


@pytest.mark.parametrize(("edit", "texts"), ROWS.values(), ids=ROWS)
def test_a_text_is_explained_again_by_what_explainers_are_told_of_it(copy, done, edit, texts):
    edit(copy)
    attribute.main(of_study(copy))
    item = "another" if edit is renamed else "item3"
    assert done.explained == [("grad", item), ("gxi", item)] * texts
    left = read_table(copy / "predictions.parquet", PREDICTIONS)["item_id"].tolist()
    for name in ("grad", "gxi"):
        assert read_table(copy / "attributions" / f"{name}.parquet", ATTRIBUTIONS)["item_id"].tolist() == left


@pytest.mark.parametrize(
    ("before", "after"),
    [(with_tokens(token_type=0), with_tokens(token_type=1)), (ONE_WINDOW, TWO_WINDOWS)],
    ids=["types of tokens", "windows"],
)
def test_a_text_that_was_read_otherwise_is_explained_and_scored_again(copy, done, before, after):
    """Other windows and other types are another row, and not only whether a text has any."""
    before(copy)
    attribute.main(of_study(copy))
    score.main(scored(copy, "faithfulness"))
    done.explained.clear()
    done.scored.clear()
    after(copy)
    attribute.main(of_study(copy))
    score.main(scored(copy, "faithfulness"))
    assert done.explained == [("grad", "item3"), ("gxi", "item3")]
    assert done.scored == ["item3"]


def with_settings(**changes) -> Callable[[argparse.Namespace], None]:
    return lambda arguments: arguments.settings.update(changes)


def with_parameter(arguments: argparse.Namespace) -> None:
    """Of one explainer."""
    explainers = arguments.settings["explainers"]
    arguments.settings["explainers"] = explainers | {"gxi": explainers["gxi"] | {"output": "probability"}}


def with_model_file(name: str) -> Callable[[argparse.Namespace], None]:
    def edit(arguments: argparse.Namespace) -> None:
        path = arguments.model / name
        path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        forget_digests(arguments.model)

    return edit


def forget_digests(model: Path) -> None:
    """Let the model pass for one that was written as it is now."""
    (model / "manifest.json").write_text("{}", encoding="utf-8")


def with_weights(arguments: argparse.Namespace) -> None:
    """One number of the model is another."""
    path = arguments.model / "model.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    forget_digests(arguments.model)


def with_history(arguments: argparse.Namespace) -> None:
    (arguments.model / "history.csv").write_text("seconds\n2.5\n", encoding="utf-8")


def with_flag(name: str, value: object) -> Callable[[argparse.Namespace], None]:
    return lambda arguments: setattr(arguments, name, value)


GRAD, GXI = {"grad"}, {"gxi"}
VERSIONS = {"stages": {"attribute": 1}, "explainers": {"saliency": 1, "input_x_gradient": 1}}
# What all texts have in common, and whose explanations are computed again.
COMMON = {
    "seed": (with_settings(seed=1), GRAD | GXI),
    "limit": (with_settings(max_tokens=47), GRAD | GXI),
    "precision": (with_settings(precision="bfloat16"), GRAD | GXI),
    "parameter": (with_parameter, GXI),
    "version of the stage": (with_flag("versions", {"stages": {"attribute": 2}}), GRAD | GXI),
    "version of one": (with_flag("versions", VERSIONS | {"explainers": {"saliency": 1, "input_x_gradient": 2}}), GXI),
    "weights": (with_weights, GRAD | GXI),
    "configuration of the model": (with_model_file("config.json"), GRAD | GXI),
    "tokenizer": (with_model_file("tokenizer.json"), GRAD | GXI),
    "history of the training": (with_history, set()),
    "groups": (with_flag("items_per_group", 2), set()),
    "batches": (with_flag("tokens_per_batch", 64), set()),
    "threads": (with_flag("threads", 2), set()),
    "device": (with_flag("device", "auto"), set()),
}


@pytest.mark.parametrize(("edit", "explainers"), COMMON.values(), ids=COMMON)
def test_all_texts_are_explained_again_by_what_they_have_in_common(copy, done, edit, explainers):
    """Also where a text changes at the same time."""
    ROWS["target"][0](copy)
    arguments = of_study(copy)
    edit(arguments)
    attribute.main(arguments)
    for name in ("grad", "gxi"):
        again = [item for explainer, item in done.explained if explainer == name]
        assert len(again) == (TEXTS if name in explainers else 1)


def test_another_version_of_a_library_makes_nothing_again_and_is_named_where_one_file_has_both(copy, done, monkeypatch):
    before = attribute.library_versions()
    monkeypatch.setattr(attribute, "libraries", lambda arguments: before | {"torch": "1.0"})
    ROWS["target"][0](copy)
    attribute.main(of_study(copy))
    assert len(done.explained) == 2
    assert libraries_of(copy) == [before | {"torch": f"{before['torch']}, 1.0"}] * 2


def libraries_of(folder: Path) -> list[dict[str, str]]:
    """The versions that both attribution files say of themselves."""
    files = [folder / "attributions" / f"{name}.parquet" for name in ("grad", "gxi")]
    return [read_metadata(path, ATTRIBUTIONS)["libraries"] for path in files]


@pytest.mark.parametrize("edit", [without_text, reversed_order])
def test_a_version_of_a_library_that_computed_no_row_is_not_named(copy, done, monkeypatch, edit):
    before = attribute.library_versions()
    monkeypatch.setattr(attribute, "libraries", lambda arguments: before | {"torch": "1.0"})
    edit(copy)
    attribute.main(of_study(copy))
    assert not done.explained
    assert libraries_of(copy) == [before] * 2


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_devices_count_where_they_do_more_than_add_in_another_order(monkeypatch, precision):
    def found(device, has_gpu=False, model="model"):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: has_gpu)
        settings = {"precision": precision}
        return rounding_of(argparse.Namespace(model=model, settings=settings, device=device))

    assert (found("cpu") == found("cuda", True)) == (precision == "float32")
    assert found("auto") == found("cpu")
    assert found("auto", True) == found("cuda", True)
    # Who asks no model computes in numpy.
    assert found("cpu", model=None) == ""


@pytest.mark.parametrize("tag", ["needs_other_texts", "needs_training"])
def test_who_learns_from_other_texts_explains_all_again_when_one_changes(copy, done, tag, monkeypatch):
    """The random explainer of the same family does not."""
    monkeypatch.setattr(PatternVariant, "needs_other_texts", tag == "needs_other_texts")
    arguments = of_study(copy, "baseline")
    attribute.main(arguments)
    done.explained.clear()
    ROWS["target"][0](copy)
    attribute.main(arguments)
    assert [item for name, item in done.explained if name == "random"] == ["item3"]
    assert len([item for name, item in done.explained if name == "pattern"]) == TEXTS


def test_explanations_that_were_made_elsewhere_are_read_again(copy, done, tmp_path):
    """From a file that says something else of a text."""
    rows = read_table(copy / "predictions.parquet", PREDICTIONS)
    words = read_table(copy / "items.parquet", ITEMS).set_index("item_id")["words"]
    given = pd.DataFrame({"item_id": rows["item_id"], "words": [list(words[item]) for item in rows["item_id"]]})
    given["scores"] = given["words"].map(lambda some: [1.0] * len(some))
    arguments = of_study(copy, explainers={"mine": {"method": "imported", "file": str(tmp_path / "mine.jsonl")}})
    arguments.settings |= {"family": "imported"}
    arguments.output, arguments.costs = [tmp_path / "mine.parquet"], [tmp_path / "costs" / "mine.parquet"]
    for factor in (1.0, 2.0):
        given["scores"] = given["scores"].map(lambda some, factor=factor: [factor * each for each in some])
        given.to_json(tmp_path / "mine.jsonl", orient="records", lines=True)
        attribute.main(arguments)
        found = read_table(tmp_path / "mine.parquet", ATTRIBUTIONS)["token_score"]
        assert max(map(max, found)) <= factor
        assert max(map(max, found)) > 0.5 * factor - 1e-9
    assert len(done.explained) == 2 * TEXTS


# Growing ---------------------------------------------------------------------------------------------------------


def sampled(folder: Path, pairs: int | None) -> None:
    read_texts.main(reading_arguments(folder, folder / "predictions.parquet", pairs=pairs))


def numbers_of(path: Path) -> tuple[list[str], np.ndarray, dict]:
    """The texts of an attribution file, all scores, and what it says of itself but for what it is made of."""
    table, about = read_table(path, ATTRIBUTIONS), read_metadata(path, ATTRIBUTIONS)
    return table["item_id"].tolist(), np.concatenate(table["token_score"].to_list()), about


@pytest.mark.parametrize("family", ["path", "shapley_sampling", "baseline"])
def test_a_study_that_grew_is_that_of_one_run(study, tmp_path, done, family):
    """Scores, remarks, draws, and what is explained twice: texts are explained anew that were not, or are not now."""
    grown, at_once = (Path(shutil.copytree(study, tmp_path / name)) for name in ("grown", "at_once"))
    sampled(grown, 3)
    attribute.main(of_study(grown, family))
    first = {item for _, item in done.explained}
    assert len(first) == 6
    draws = family == "shapley_sampling"
    twice = attribute.drawn_of(of_study(grown, family)) if draws else set()
    sampled(grown, None)
    done.explained.clear()
    attribute.main(of_study(grown, family))
    new = {item for name, item in done.explained if name != "pattern"}
    twice_now = attribute.drawn_of(of_study(grown, family)) if draws else set()
    assert new & first == (twice ^ twice_now) & first
    assert len(new) < TEXTS
    attribute.main(of_study(at_once, family))
    for path in of_study(grown, family).output:
        (items, scores, about), (expected_items, expected, said) = (
            numbers_of(each) for each in (path, at_once / "attributions" / path.name)
        )
        assert items == expected_items
        np.testing.assert_allclose(scores, expected, rtol=1e-6, atol=1e-6)
        again, expected_again = about.pop("explained_again"), said.pop("explained_again")
        assert [each["error"] for each in again] == pytest.approx([each["error"] for each in expected_again], rel=0.01)
        assert about == said


def test_a_corrected_text_alone_is_explained_and_scored_again(copy, done):
    """From its words on, through the tokenizer; the model was not trained here."""
    items = read_table(copy / "items.parquet", ITEMS)
    rows = items.rename(columns={"attribute.gender": "group", "cluster": "pair_id"})
    [place] = rows.index[rows["item_id"] == "item3"]
    rows.at[place, "words"] = [*rows.at[place, "words"][1:], rows.at[place, "words"][0]]
    before = {name: (copy / f"{name}.parquet").read_bytes() for name in ("items", "predictions")}
    write_dataset(rows.drop(columns=["part", "carries", "spaces"]), copy)
    sampled(copy, None)
    assert all((copy / f"{name}.parquet").read_bytes() != content for name, content in before.items())
    attribute.main(of_study(copy))
    assert done.explained == [("grad", "item3"), ("gxi", "item3")]
    for family in METRICS:
        done.scored.clear()
        score.main(scored(copy, family))
        assert done.scored == ["item3"]


# Scores ----------------------------------------------------------------------------------------------------------


def with_explanations(change: Callable[[pd.DataFrame], object] = lambda table: None, **about) -> Callable[[Path], None]:
    """An edit of the explanations, or of what their file says of itself."""

    def edit(folder: Path) -> None:
        path = folder / "attributions" / "grad.parquet"
        table, before = read_table(path, ATTRIBUTIONS), read_metadata(path, ATTRIBUTIONS)
        change(table)
        write_table(table, path, ATTRIBUTIONS, before | about)

    return edit


def stretched(table: pd.DataFrame) -> None:
    """One explanation is another."""
    table.at[3, "token_score"] = table.at[3, "token_score"] * [1.0, *[2.0] * (len(table.at[3, "token_score"]) - 1)]


OTHERS_VERSION = {"stages": {"score": 1}, "explainers": {"saliency": 2, "input_x_gradient": 1}}
SCORED = {
    "notes": (nothing, lambda arguments: None, 0),
    "history of the training": (lambda folder: with_history(of_study(folder)), lambda arguments: None, 0),
    "versions of the explanations": (with_explanations(versions={}), lambda arguments: None, 0),
    "ground truth": (ROWS["ground truth"][0], lambda arguments: None, 1),
    "target": (ROWS["target"][0], lambda arguments: None, 1),
    "explanation": (with_explanations(stretched), lambda arguments: None, 1),
    # From which metrics draw, too.
    "seed": (with_explanations(seed=1), lambda arguments: None, TEXTS),
    "version": (nothing, with_flag("versions", {"stages": {"score": 2}}), TEXTS),
    "version of the explainer": (nothing, with_flag("versions", OTHERS_VERSION), TEXTS),
    "settings": (nothing, lambda arguments: arguments.settings.update(more=1), TEXTS),
}


@spread("family, name", ["complexity", "faithfulness"], SCORED)
def test_a_text_is_scored_again_by_what_metrics_are_told(copy, done, family, name):
    edit, change, texts = SCORED[name]
    edit(copy)
    arguments = scored(copy, family)
    change(arguments)
    score.main(arguments)
    assert len(done.scored) == texts
    [path] = arguments.output
    assert read_table(path, SCORES)[list(METRICS[family])].notna().all().all()


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json"])
def test_scores_that_ask_a_model_hold_for_that_model(copy, done, name):
    nothing(copy)
    for family, texts in (("complexity", 0), ("faithfulness", TEXTS)):
        arguments = scored(copy, family)
        with_model_file(name)(argparse.Namespace(model=copy / "model"))
        score.main(arguments)
        assert len(done.scored) == texts


def test_scores_by_an_explainer_that_needs_other_texts_are_not_taken_over(copy):
    """By metrics that explain again."""
    path = copy / "attributions" / "grad.parquet"
    about = read_metadata(path, ATTRIBUTIONS)
    write_table(read_table(path, ATTRIBUTIONS), path, ATTRIBUTIONS, about | {"settings": {"method": "pattern_variant"}})
    score.main(scored(copy, "complexity"))
    gone = copy / "attributions" / "gone.parquet"
    write_table(read_table(path, ATTRIBUTIONS), gone, ATTRIBUTIONS, about | {"settings": {"method": "gone.py:Gone"}})
    assert not score.needs_other_texts(Metric.parse_all({"it": {"metric": "gini"}}), gone)
    for metric in ("gini", "worst_change"):
        assert score.needs_other_texts(Metric.parse_all({"it": {"metric": metric}}), path) == (metric == "worst_change")


def test_a_metric_that_needs_other_texts_scores_all_again_when_one_changes(copy, done, monkeypatch):
    arguments = scored(copy, "complexity")
    monkeypatch.setattr(Gini, "needs_other_texts", True)
    score.main(arguments)
    done.scored.clear()
    ROWS["target"][0](copy)
    score.main(arguments)
    assert len(done.scored) == TEXTS


# What it has cost ------------------------------------------------------------------------------------------------


def test_rows_that_are_taken_over_keep_their_time(study, tmp_path, monkeypatch):
    """Parts stay as they were measured, as long as one of their texts is there."""
    folder = Path(shutil.copytree(study, tmp_path / "study"))

    def explained_on(machine: str, pairs: int | None) -> pd.DataFrame:
        sampled(folder, pairs)
        monkeypatch.setattr(attribute, "device_used", lambda evaluator: machine)
        attribute.main(of_study(folder))
        parts, together = costs_of(of_study(folder))["grad"]
        assert together == ["grad", "gxi"]
        return parts

    explained_on("the first", 3)
    whole = explained_on("the second", None)
    assert whole.groupby("device")["texts"].sum().to_dict() == {"the first": 6, "the second": 6}
    left = explained_on("the third", 1)
    rows = set(read_table(folder / "attributions" / "grad.parquet", ATTRIBUTIONS)["made_of"])
    has_rows = [not rows.isdisjoint(part) for part in whole["made_of"]]
    assert 0 < sum(has_rows) < len(whole)
    columns = ["device", "texts", "seconds", "rows"]
    pd.testing.assert_frame_equal(left[columns], whole.loc[has_rows, columns].reset_index(drop=True))


def test_a_record_is_kept_once_when_the_job_dies_behind_it(copy, monkeypatch):
    """The record is written before the attribution file."""
    ROWS["target"][0](copy)
    arguments = of_study(copy)
    with monkeypatch.context() as patch:
        patch.setattr("evenlight.jobs.parts.write_groups", Mock(side_effect=Killed))
        with pytest.raises(Killed):
            attribute.main(arguments)
    attribute.main(arguments)
    for parts, _ in costs_of(arguments).values():
        assert parts["texts"].tolist() == [5, 5, 2, 1]


def test_a_record_that_cannot_be_read_is_told_and_not_made_up(copy, capsys):
    ROWS["target"][0](copy)
    arguments = of_study(copy)
    arguments.costs[0].write_bytes(b"PAR1")
    attribute.main(arguments)
    assert [len(read_table(path, COSTS)) for path in arguments.costs] == [1, 4]
    assert re.search(r"rows.*cost.*not known", capsys.readouterr().out)


def test_a_metric_of_ones_own_reads_the_words_and_what_stands_between_them(explained, own_parts):
    """In a study as in a notebook; without them it would score every text as one without words."""
    (own_parts / "parts" / "lengths.py").write_text(
        """from typing import ClassVar

from evenlight.own import Metric


class Lengths(Metric):
    title: ClassVar[str] = "Words"
    better: ClassVar[str] = "higher"

    def score(self, explanation, evaluator):
        words = explanation.words
        return len(words) + 1000 * (explanation.sentence.words == words and len(words.spaces) == len(words) + 1)
""",
        encoding="utf-8",
    )
    copy = Path(shutil.copytree(explained, own_parts / "copy"))
    with_spaces = {"spaces": lambda table: [["", *[" "] * len(words)] for words in table["words"]]}
    edit_table(copy, "items", lambda table: table.update(table.assign(**with_spaces)))
    name = "parts/lengths.py:Lengths"
    own_files.locate({"metrics": {"lengths": {"metric": name}}}, [own_parts])
    arguments = scored(copy, "complexity")
    arguments.settings |= {"family": own_files.own_family(name), "metrics": {"lengths": {"metric": name}}}
    score.main(arguments)
    scores = read_table(arguments.output[0], SCORES.only("item_id", "lengths")).set_index("item_id")["lengths"]
    words = read_table(copy / "items.parquet", ITEMS).set_index("item_id")["words"]
    assert len(scores)
    assert scores.to_dict() == {item: 1000 + len(words[item]) for item in scores.index}
