"""Attribution files in parts: killed jobs go on where they were, and results do not depend on how the items were
grouped.
"""

import argparse
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import torch
from dataset_files import write_dataset
from models_for_tests import WORDS, tiny_classifier
from scipy.stats import spearmanr
from wording import says

from evenlight.core.contracts.explanations import ATTRIBUTIONS, COSTS, RANDOMISED, SCORES
from evenlight.core.contracts.texts import ITEMS, PREDICTIONS, UNITS
from evenlight.core.errors import InputError
from evenlight.core.tables import read_metadata, read_table, write_table
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.progress import Progress
from evenlight.engine.sentences import ReadingSettings, left_out, tokenize
from evenlight.engine.training import HISTORY, save_classifier
from evenlight.explainers import Context, Explainer, explain
from evenlight.explainers.attribution import Remark, note_of, remarks_on_items
from evenlight.explainers.costs import device_used, processor, write_cost
from evenlight.explainers.derivatives import remarks_on_cancelling, remarks_on_gaps, remarks_on_scaling
from evenlight.explainers.families.relevance.rules import shares_remark
from evenlight.explainers.randomisation import stages
from evenlight.jobs.parts import Rows
from evenlight.models import classifier as classifiers
from evenlight.models.classifier import load_saved
from evenlight.models.layers import layers_of, randomise
from evenlight.texts.items import groups_kept_together
from evenlight.texts.predictions import SPECIAL
from explanations import attribute, randomise_layers, score
from models import read_texts

SCRIPTS = Path(attribute.__file__).parents[1]
FAMILIES = {
    "gradient": {"grad": {"method": "saliency"}, "gxi": {"method": "input_x_gradient"}},
    "path": {"ig": {"method": "path_gradient", "steps": 4}, "igxi": {"method": "integrated_gradients", "steps": 4}},
    "baseline": {"random": {"method": "uniform_random"}, "pattern": {"method": "pattern_variant"}},
    "shapley_sampling": {"shapley": {"method": "shapley_sampling", "permutations": 2}},
}
METRICS = {
    "faithfulness": {"comprehensiveness": {"metric": "aopc_comprehensiveness", "shares": [0.2, 0.5]}},
    "complexity": {"gini": {"metric": "gini"}, "gini_of_words": {"metric": "gini", "special_tokens": "excluded"}},
    "correctness": {"mass_accuracy": {"metric": "mass_accuracy"}},
}
COMPUTING = {"tokens_per_batch": 0, "device": "cpu", "threads": 1}
# Every sentence twice, in pairs, and some that are for training only.
SENTENCES = [*WORDS, *WORDS[::-1]]


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Path:
    """A folder with a dataset, a model and how it reads the texts."""
    folder = tmp_path_factory.mktemp("study")
    count = len(SENTENCES)
    test = pd.DataFrame(
        {
            "item_id": [f"item{index}" for index in range(count)],
            "pair_id": [f"pair{index // 2}" for index in range(count)],
            "group": ["female", "male"] * (count // 2),
            "label": [index // 2 % 2 for index in range(count)],
            "words": SENTENCES,
            "ground_truth": [[1] + [0] * (len(words) - 1) for words in SENTENCES],
            "split": ["train" if index % 8 > 5 else "test" for index in range(count)],
        }
    )
    write_dataset(test, folder)
    save_classifier(tiny_classifier("bert"), folder / "model", pd.DataFrame(columns=HISTORY), {})
    read_texts.main(reading_arguments(folder, folder / "predictions.parquet"))
    return folder


def reading_arguments(study: Path, output: Path, **changes) -> argparse.Namespace:
    """The flags of read_texts.py; ``changes`` are of its settings."""
    settings = {"target": "label", "pairs": None, "factors": ["gender"], "max_tokens": 48, "long_items": "refuse"}
    tables = {name: study / f"{name}.parquet" for name in ("items", "units")}
    more = {"model": study / "model", "settings": settings | changes, "compared": None, "output": output}
    return argparse.Namespace(**tables, **more, **COMPUTING)


def attribute_arguments(study: Path, output: Path, family: str = "gradient", size: int = 3, **changes):
    """The flags of attribute.py; ``changes`` are of its settings."""
    settings = {"family": family, "explainers": FAMILIES[family], "seed": 0, "precision": "float32", "max_tokens": 48}
    return argparse.Namespace(
        items=study / "items.parquet",
        predictions=study / "predictions.parquet",
        model=study / "model",
        settings=settings | changes,
        versions={"stages": {"attribute": 1}, "explainers": {each["method"]: 1 for each in FAMILIES[family].values()}},
        items_per_group=size,
        output=[output / f"{name}.parquet" for name in FAMILIES[family]],
        costs=[output / "costs" / f"{name}.parquet" for name in FAMILIES[family]],
        **COMPUTING,
    )


def command(arguments: argparse.Namespace) -> list[str]:
    """The command line of attribute.py with these flags."""
    return [sys.executable, str(SCRIPTS / "explanations/attribute.py"), *_flags(arguments)]


def _flags(arguments: argparse.Namespace) -> list[str]:
    flags = []
    for name, value in vars(arguments).items():
        if isinstance(value, bool) or value is None:
            continue
        flags.append(f"--{name.replace('_', '-')}")
        values = value if isinstance(value, list) else [json.dumps(value) if isinstance(value, dict) else value]
        flags += map(str, values)
    return flags


def score_arguments(study: Path, attribution_files: list[Path], output: Path, family: str, size: int):
    """The flags of score.py; ``output`` is a folder."""
    needs_model = family == "faithfulness"
    limits = {"precision": "float32", "max_tokens": 48} if needs_model else {}
    return argparse.Namespace(
        items=study / "items.parquet",
        predictions=study / "predictions.parquet",
        attributions=attribution_files,
        model=study / "model" if needs_model else None,
        settings={"family": family, "metrics": METRICS[family]} | limits,
        versions={"stages": {"score": 1}, "explainers": {"saliency": 1, "input_x_gradient": 1}},
        items_per_group=size,
        output=[output / path.name for path in attribution_files],
        **COMPUTING,
    )


def attribution_files(folder: Path) -> dict[str, bytes]:
    """The content of all files below a folder, hidden ones included, but for times."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.parent.name != "costs"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


class Killed(BaseException):
    """As if the job had been killed here."""


def kill_before_part(monkeypatch, module, number: int, arguments: argparse.Namespace) -> None:
    """Run a job that dies before it writes this part."""
    write, numbers = module.write_part, itertools.count()

    def write_part(*given):
        if next(numbers) == number:
            raise Killed
        write(*given)

    with monkeypatch.context() as patch:
        patch.setattr(module, "write_part", write_part)
        with pytest.raises(Killed):
            module.main(arguments)


# Grouping --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_attribution_files_do_not_depend_on_the_groups(study, tmp_path, family):
    """Against all sentences at once, explained without the script."""
    arguments = attribute_arguments(study, tmp_path)
    items = read_table(arguments.items, ITEMS)
    test, training = (items[items["split"] == split] for split in ("test", "train"))
    classifier = load_saved(arguments.model, 48)
    sentences = tokenize(classifier, test, test["label"])
    expected = explain(Explainer.parse_all(FAMILIES[family]), sentences, Context(Evaluator(classifier), 0, training))
    for size in (1, 5):
        attribute.main(attribute_arguments(study, tmp_path / str(size), family, size))
        for name, explanations in expected.items():
            path = tmp_path / str(size) / f"{name}.parquet"
            found = read_table(path, ATTRIBUTIONS)
            assert found["item_id"].tolist() == test["item_id"].tolist()
            assert pq.ParquetFile(path).num_row_groups == -(-len(test) // size)
            assert read_metadata(path, ATTRIBUTIONS)["note"] == explanations.note
            for score_, attribution in zip(found["token_score"], explanations.attributions, strict=True):
                if name != "ig":  # whose scores are noise
                    np.testing.assert_allclose(score_, attribution.token_score, rtol=1e-4, atol=1e-6)


def test_a_model_is_loaded_once_for_all_of_its_random_layers(study, tmp_path, monkeypatch):
    """The scores at each stage are those of a model that is loaded for it alone."""
    flags = attribute_arguments(study, tmp_path)
    attribute.main(flags)
    method = FAMILIES["gradient"]["gxi"]
    flags.settings |= {"explainer": "gxi", "method": method}
    flags.settings |= {"orders": ["cascading", "independent"], "texts": 1}
    flags.attributions, flags.output = tmp_path / "gxi.parquet", tmp_path / "randomised.parquet"
    loaded = []
    monkeypatch.setattr(classifiers, "load_saved", lambda *given: loaded.append(given) or load_saved(*given))
    randomise_layers.main(flags)
    assert len(loaded) == 1
    found = read_table(flags.output, RANDOMISED).set_index(["item_id", "order", "stage"])["rank_correlation"]
    scores = read_table(flags.attributions, ATTRIBUTIONS).set_index("item_id")["token_score"]
    test = read_table(flags.items, ITEMS).set_index("item_id", drop=False)
    for (name, order, stage), expected in found.items():
        classifier = load_saved(study / "model", 48)
        layers = layers_of(classifier.network)
        *_, random = list(stages(layers, order))[stage]
        randomise(classifier.network, random, 0)
        [sentence] = tokenize(classifier, test.loc[[name]], test.loc[[name], "label"])
        context = Context(Evaluator(classifier), 0, None)
        [again] = explain(Explainer.parse_all({"it": method}), [sentence], context)["it"].attributions
        inside = ~sentence.is_special
        correlation = spearmanr(scores[name][inside], again.token_score[inside]).statistic
        assert expected == pytest.approx(correlation, abs=1e-6)


def test_some_items_are_explained_again_whatever_the_groups(study, tmp_path):
    """What the attribution file says of them goes with the scores."""
    found = []
    for size in (1, 5, 1000):
        output = tmp_path / str(size)
        attribute.main(attribute_arguments(study, output, "shapley_sampling", size))
        found.append(read_metadata(output / "shapley.parquet", ATTRIBUTIONS)["explained_again"])
    assert len(found[0]) == 4
    assert all(item["error"] > 0.01 for item in found[0])
    for other in found[1:]:
        assert [item["error"] for item in other] == pytest.approx([item["error"] for item in found[0]], rel=0.01)
    score.main(score_arguments(study, [output / "shapley.parquet"], tmp_path / "scores", "complexity", 4))
    assert read_metadata(tmp_path / "scores" / "shapley.parquet", SCORES)["explained_again"] == found[-1]


def read(study: Path, output: Path, **changes) -> pd.DataFrame:
    """The table of predictions with other settings, by item."""
    read_texts.main(reading_arguments(study, output, **changes))
    return read_table(output, PREDICTIONS).set_index("item_id")


def test_predictions_say_how_the_model_reads_the_test_texts(study, tmp_path):
    classifier = load_saved(study / "model", 48)
    items = read_table(study / "items.parquet", ITEMS)
    test = items[items["split"] == "test"]
    found = read(study, tmp_path / "predictions.parquet")
    assert list(found.index) == list(test["item_id"])
    assert set(found["split"]) == {"test"}
    assert found["left_out"].isna().all()
    probability = Evaluator(classifier).probabilities([row.astype(np.int64) for row in found["token_id"]])
    np.testing.assert_allclose(np.stack(found["probability"]), probability, atol=1e-6)
    assert found["predicted"].tolist() == probability.argmax(1).tolist()
    assert found["target"].tolist() == test["label"].tolist()
    for row, sentence in zip(found.itertuples(), tokenize(classifier, test, test["label"]), strict=True):
        assert row.token_id.tolist() == sentence.token_id.tolist()
        assert [-1 if np.isnan(word) else int(word) for word in row.word_id] == sentence.word_id.tolist()
        assert tuple(row.token_text) == sentence.token_text
        pieces = [""] * len(sentence.words)
        for word, piece in zip(sentence.word_id, row.token_text, strict=True):
            assert (word == SPECIAL) == (piece == "")
            if word != SPECIAL:
                pieces[word] += piece
        assert pieces == list(sentence.words)


def test_a_long_text_takes_its_pair_along(study, tmp_path, capsys):
    found = read(study, tmp_path / "predictions.parquet")
    items = read_table(study / "items.parquet", ITEMS)
    pair_id = groups_kept_together(items, read_table(study / "units.parquet", UNITS)).set_axis(items["item_id"])[
        found.index
    ]
    # A limit that parts a pair.
    of_pairs = found["token_id"].map(len).groupby(pair_id).agg(["min", "max"])
    limit = int(of_pairs.loc[of_pairs["min"] < of_pairs["max"], "min"].max())
    with pytest.raises(InputError, match=rf"longer.*models\.<model>\.max_tokens = {limit}"):
        read(study, tmp_path / "predictions.parquet", max_tokens=limit)
    found = read(study, tmp_path / "predictions.parquet", max_tokens=limit, long_items="drop")
    is_long = found["token_id"].map(len) > limit
    assert is_long.any()
    assert found["left_out"].eq("too_long").equals(is_long)
    in_long_pair = pair_id.isin(pair_id[is_long])
    assert (in_long_pair & ~is_long).any()
    assert found["left_out"].eq("counterpart_too_long").equals(in_long_pair & ~is_long)
    assert found["target"].isna().equals(in_long_pair)
    assert found["probability"].isna().equals(is_long)
    assert found["predicted"].isna().equals(is_long)
    dropped = pair_id[in_long_pair].nunique()
    pairs = "pair" if dropped == 1 else "pairs"
    assert f"left out {dropped} {pairs}" in capsys.readouterr().out
    [note] = read_metadata(tmp_path / "predictions.parquet", PREDICTIONS)["notes"]
    assert note == says(f"{dropped} of {pair_id.nunique()} pairs", f"more than {limit} tokens", "left out")


def test_long_texts_are_read_and_explained_in_windows(study, tmp_path):
    """Their pairs stay; the windows stand in the table, from where the explainers have them."""
    whole = read(study, tmp_path / "whole.parquet")
    lengths = whole["token_id"].map(len)
    limit = int(lengths.max()) - 2
    found = read(study, tmp_path / "predictions.parquet", max_tokens=limit, long_items="windows", overlap=3)
    is_long = lengths > limit
    assert found["left_out"].isna().all()
    assert found["first_window"].notna().equals(is_long)
    assert found["last_window"].notna().equals(is_long)
    [note] = read_metadata(tmp_path / "predictions.parquet", PREDICTIONS)["notes"]
    assert note == says(f"{is_long.sum()} of {len(found)} texts", f"more than {limit} tokens", "windows")
    np.testing.assert_allclose(np.stack(found["probability"])[~is_long], np.stack(whole["probability"])[~is_long])
    classifier = load_saved(study / "model", limit)
    items = read_table(study / "items.parquet", ITEMS).set_index("item_id")
    sentences = tokenize(classifier, items.loc[found.index].reset_index(), found["target"], overlap=3)
    assert [sentence.windows is not None for sentence in sentences] == is_long.tolist()
    probability = Evaluator(classifier).probabilities([sentence.row for sentence in sentences])
    np.testing.assert_allclose(np.stack(found["probability"]), probability, atol=1e-6)
    assert np.abs(np.stack(whole["probability"]) - probability)[is_long].max() > 1e-5
    arguments = attribute_arguments(study, tmp_path)
    arguments.predictions, arguments.settings["max_tokens"] = tmp_path / "predictions.parquet", limit
    attribute.main(arguments)
    expected = explain(Explainer.parse_all(FAMILIES["gradient"]), sentences, Context(Evaluator(classifier), 0, None))
    scores = read_table(tmp_path / "gxi.parquet", ATTRIBUTIONS)["token_score"]
    for score_, attribution in zip(scores, expected["gxi"].attributions, strict=True):
        np.testing.assert_allclose(score_, attribution.token_score, rtol=1e-4, atol=1e-6)


def test_predicted_classes_and_sampled_units(study, tmp_path):
    found = read(study, tmp_path / "predictions.parquet", target="prediction", pairs=2)
    is_explained = found["left_out"].isna()
    assert is_explained.sum() == 4
    assert set(found.loc[~is_explained, "left_out"]) == {"not_sampled"}
    assert found.loc[is_explained, "target"].tolist() == found.loc[is_explained, "predicted"].tolist()
    assert found["probability"].notna().all()
    pairs = len(found) // 2
    [note] = read_metadata(tmp_path / "predictions.parquet", PREDICTIONS)["notes"]
    assert note == says(f"2 of {pairs} pairs", "(explain.pairs)")
    # Only what is drawn is explained, whatever the size of the groups.
    arguments = attribute_arguments(study, tmp_path, size=1)
    arguments.predictions = tmp_path / "predictions.parquet"
    attribute.main(arguments)
    explained = read_table(tmp_path / "grad.parquet", ATTRIBUTIONS)["item_id"]
    assert explained.tolist() == found.index[is_explained].tolist()


def test_too_few_explained_texts_are_refused_before_they_are_explained(study, tmp_path):
    """Of two sampled pairs, one is too long."""
    arguments = reading_arguments(study, tmp_path / "predictions.parquet", pairs=2, long_items="drop")
    arguments.compared = {"comparisons": {"gender": [["male", "female"]]}, "strata": {}}
    read_texts.main(arguments)
    found = read_table(arguments.output, PREDICTIONS)
    longest = found.loc[found["left_out"].isna(), "token_id"].map(len).max()
    arguments.settings["max_tokens"] = int(longest) - 1
    with pytest.raises(InputError, match=r"one unit.*gender 'f?e?male'"):
        read_texts.main(arguments)


def test_strata_that_compare_nothing_are_refused_before_texts_are_explained(study, tmp_path):
    """Where the label of the texts is their gender."""
    arguments = reading_arguments(study, tmp_path / "predictions.parquet")
    items = read_table(arguments.items, ITEMS)
    metadata = read_metadata(arguments.items, ITEMS)
    arguments.items = tmp_path / "items.parquet"
    gender = (items["attribute.gender"] == "male").astype(int)
    write_table(items.assign(label=gender), arguments.items, ITEMS, metadata)
    strata = {arguments.items.parent.name: "label"}
    arguments.compared = {"comparisons": {"gender": [["male", "female"]]}, "strata": strata}
    with pytest.raises(InputError, match=r"found label.*gender 'male' and 'female'"):
        read_texts.main(arguments)


def test_nothing_is_left_where_every_sampled_pair_is_too_long(study, tmp_path):
    found = read(study, tmp_path / "predictions.parquet", pairs=1)
    longest = found.loc[found["left_out"].isna(), "token_id"].map(len).max()
    with pytest.raises(InputError, match="every sampled pair"):
        read(study, tmp_path / "predictions.parquet", pairs=1, max_tokens=int(longest) - 1, long_items="drop")


def test_texts_without_counterparts_are_not_called_pairs(capsys):
    """Rows of a table of single texts, then of one where two are a pair."""
    test = pd.DataFrame({"item_id": ["a", "b", "c", "d"]})
    units = pd.DataFrame({"unit_id": test["item_id"], "item_id": test["item_id"], "factor": "all", "level": "all"})
    tokens, reading = np.array([3, 4, 5, 90]), ReadingSettings(long_items="drop", pairs=2, factors=[], max_tokens=48)
    _, notes = left_out(test, units, tokens, reading)
    assert notes[0] == says("1 of 4 texts", "more than 48 tokens", "left out")
    assert re.fullmatch(r"[12] of 4 texts.*\(explain\.pairs\).*", notes[1])
    assert "left out 1 text" in capsys.readouterr().out
    with pytest.raises(InputError, match="every text"):
        left_out(test, units, tokens + 90, reading)
    paired = units.assign(unit_id=["a", "b", "c", "c"])
    _, notes = left_out(test, paired, tokens, reading)
    assert notes[0] == says("1 of 3 pairs", "more than 48 tokens", "left out")


def test_predictions_of_other_items_are_refused(study, tmp_path):
    arguments = attribute_arguments(study, tmp_path)
    items = read_table(arguments.items, ITEMS)
    arguments.items = tmp_path / "items.parquet"
    for changed in (items.iloc[1:], items.iloc[::-1]):
        write_table(changed, arguments.items, ITEMS)
        with pytest.raises(InputError, match=r"predictions\.parquet: column 'item_id'.*other items.*items"):
            attribute.main(arguments)


def test_attribution_files_of_other_texts_are_refused(study, tmp_path):
    attribute.main(attribute_arguments(study, tmp_path))
    path = tmp_path / "grad.parquet"
    table, metadata = read_table(path, ATTRIBUTIONS), read_metadata(path, ATTRIBUTIONS)
    for other in (table.iloc[1:], table.iloc[::-1]):
        write_table(other, path, ATTRIBUTIONS, metadata)
        with pytest.raises(InputError, match="does not have the items that are"):
            score.main(score_arguments(study, [path], tmp_path / "scores", "complexity", 4))


def test_scores_do_not_depend_on_the_groups(study, tmp_path):
    attribute.main(attribute_arguments(study, tmp_path))
    paths = [tmp_path / f"{name}.parquet" for name in ("grad", "gxi")]
    for family in METRICS:
        written = {}
        for size in (1, 4, 1000):
            output = tmp_path / str(size) / family
            score.main(score_arguments(study, paths, output, family, size))
            assert attribution_files(output).keys() == {path.name for path in paths}
            for path in paths:
                table = read_table(output / path.name, SCORES)
                assert list(table.columns) == [*SCORES.schema.names, *METRICS[family]]
                assert table["item_id"].tolist() == read_table(path, ATTRIBUTIONS)["item_id"].tolist()
                assert not table.isna().any().any()
                numbers = table[["item_id", *METRICS[family]]].round(5)
                written.setdefault(path.stem, set()).add(numbers.to_csv())
        assert {name: len(tables) for name, tables in written.items()} == dict.fromkeys(written, 1)


def test_explainers_share_the_questions_of_one_item(study, tmp_path, capsys):
    """The whole text is asked once for all explainers, not once for each."""
    attribute.main(attribute_arguments(study, tmp_path))
    paths = [tmp_path / f"{name}.parquet" for name in ("grad", "gxi")]
    rows = []
    for given_paths in ([paths[0]], [paths[0], shutil.copy(paths[0], tmp_path / "again.parquet")]):
        capsys.readouterr()
        score.main(score_arguments(study, given_paths, tmp_path / str(len(given_paths)), "faithfulness", 4))
        rows.append(capsys.readouterr().out.split(" rows,")[0].split(", ")[-1])
    assert rows[0] == rows[1]


# Interruption ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("family", "number"), [("path", 0), ("path", 1), ("path", 3), ("shapley_sampling", 2)])
def test_interrupted_job_goes_on_and_gives_the_same_bytes(study, tmp_path, monkeypatch, capsys, family, number):
    attribute.main(attribute_arguments(study, tmp_path / "whole", family))
    arguments = attribute_arguments(study, tmp_path / "interrupted", family)
    kill_before_part(monkeypatch, attribute, number, arguments)
    assert not any(path.exists() for path in arguments.output)
    capsys.readouterr()
    attribute.main(arguments)
    said = capsys.readouterr().out
    assert f"{12 - 3 * number} items, " in said
    assert (f"{3 * number} items done before" in said) == (number > 0)
    assert attribution_files(tmp_path / "interrupted") == attribution_files(tmp_path / "whole")
    if number == 1:
        whole, interrupted = (
            score_arguments(study, arguments.output, tmp_path / name / "scores", "faithfulness", 5)
            for name in ("whole", "interrupted")
        )
        score.main(whole)
        kill_before_part(monkeypatch, score, 1, interrupted)
        capsys.readouterr()
        score.main(interrupted)
        assert "14 items, " in capsys.readouterr().out
        assert attribution_files(tmp_path / "interrupted") == attribution_files(tmp_path / "whole")


def test_a_part_without_all_members_of_the_family_is_made_again(study, tmp_path, monkeypatch):
    arguments = attribute_arguments(study, tmp_path)
    kill_before_part(monkeypatch, attribute, 2, arguments)
    parts = tmp_path.glob(".gradient.parts/*.gxi.parquet")
    [part] = [path for path in parts if "item3" in read_table(path, ATTRIBUTIONS)["item_id"].tolist()]
    part.unlink()
    explained = []
    original = attribute.explain
    monkeypatch.setattr(attribute, "explain", lambda *given: explained.append(given[1]) or original(*given))
    attribute.main(arguments)
    assert [sentences[0].item_id for sentences in explained] == ["item3", "item8", "item11"]


@pytest.mark.parametrize("change", ["settings", "versions", "model", "predictions"])
def test_parts_of_another_job_are_not_taken_over(study, tmp_path, monkeypatch, capsys, change):
    folder = Path(shutil.copytree(study, tmp_path / "study"))
    arguments = attribute_arguments(folder, tmp_path / "attribution_files")
    kill_before_part(monkeypatch, attribute, 2, arguments)
    match change:
        case "settings":
            arguments.settings["seed"] = 1
        case "versions":
            arguments.versions = {"stages": {"attribute": 2}}
        case "model":
            config = folder / "model" / "config.json"
            config.write_text(config.read_text() + "\n")
            # As of another model, whose files are whole.
            (folder / "model" / "manifest.json").unlink()
        case "predictions":
            table, about = (read(folder / "predictions.parquet", PREDICTIONS) for read in (read_table, read_metadata))
            write_table(table.assign(target=1 - table["target"]), folder / "predictions.parquet", PREDICTIONS, about)
    stale = set((tmp_path / "attribution_files").glob(".gradient.parts/*"))
    assert len(stale) == 4
    capsys.readouterr()
    kill_before_part(monkeypatch, attribute, 0, arguments)
    assert not any(path.exists() for path in stale)
    attribute.main(arguments)
    assert "done before" not in capsys.readouterr().out


def test_parts_that_vanish_are_made_again(study, tmp_path, monkeypatch):
    """By a job that outlived its killed workflow and finished the same work."""
    arguments = attribute_arguments(study, tmp_path / "attribution_files")
    attribute.main(attribute_arguments(study, tmp_path / "whole"))
    write = attribute.write_part

    def write_part(missing, numbers, *rest):
        if numbers[0] == 6:
            monkeypatch.setattr(attribute, "write_part", write)
            attribute.main(arguments)
        write(missing, numbers, *rest)

    monkeypatch.setattr(attribute, "write_part", write_part)
    attribute.main(arguments)
    assert attribution_files(tmp_path / "attribution_files") == attribution_files(tmp_path / "whole")


def test_killed_process_goes_on(study, tmp_path):
    """SIGKILL, at whatever moment it comes after the first part."""
    attribute.main(attribute_arguments(study, tmp_path / "whole", "path", size=1))
    arguments = attribute_arguments(study, tmp_path / "killed", "path", size=1)
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    job = subprocess.Popen(command(arguments), env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    started = time.monotonic()
    while not list((tmp_path / "killed").glob(".path.parts/*.igxi.parquet")) and job.poll() is None:
        assert time.monotonic() - started < 600
        time.sleep(0.002)
    job.send_signal(signal.SIGKILL)
    job.communicate()
    attribute.main(arguments)
    assert attribution_files(tmp_path / "killed") == attribution_files(tmp_path / "whole")


# What it has cost --------------------------------------------------------------------------------------------------


def costs_of(arguments: argparse.Namespace) -> dict[str, tuple[pd.DataFrame, list[str]]]:
    """The records, by explainer: their parts, and who was computed together."""
    found = {}
    for path in arguments.costs:
        parts = read_table(path, COSTS)
        found[path.stem] = parts, sorted({name for names in parts["together"] for name in names})
    return found


def test_explainers_of_a_family_have_one_time_and_rows_of_their_own(study, tmp_path, capsys):
    arguments = attribute_arguments(study, tmp_path)
    started = time.monotonic()
    attribute.main(arguments)
    elapsed = time.monotonic() - started
    (rows, seconds) = re.search(r"12 items, ([\d,]+) rows, ([\d.]+) s", capsys.readouterr().out).groups()
    costs = costs_of(arguments)
    for name, (parts, together) in costs.items():
        assert together == ["grad", "gxi"]
        assert list(parts["texts"]) == [3, 3, 3, 3]
        own = read_table(tmp_path / f"{name}.parquet", ATTRIBUTIONS)["forward_rows"]
        assert parts["rows"].sum() == own.sum() == 12
        assert parts["rows_asked"].sum() == int(rows)
        assert 0 < parts["seconds"].sum() <= elapsed
        assert parts["seconds"].sum() <= float(seconds) + 0.1
        assert set(parts["threads"]) == {1}
    assert costs["grad"][0]["seconds"].equals(costs["gxi"][0]["seconds"])


def test_the_time_of_a_job_that_goes_on_is_that_of_all_its_parts(study, tmp_path, monkeypatch):
    """Each part keeps its own time and device; of the part that was lost nothing is known."""
    arguments = attribute_arguments(study, tmp_path)
    monkeypatch.setattr(attribute, "device_used", lambda evaluator: "the first machine")
    kill_before_part(monkeypatch, attribute, 2, arguments)
    assert not any(path.exists() for path in arguments.costs)
    monkeypatch.setattr(attribute, "device_used", lambda evaluator: "the second machine")
    attribute.main(arguments)
    for parts, _ in costs_of(arguments).values():
        assert list(parts["texts"]) == [3, 3, 3, 3]
        assert list(parts["device"]) == ["the first machine"] * 2 + ["the second machine"] * 2


def test_what_is_taken_over_keeps_its_record_and_without_one_its_cost_is_not_known(study, tmp_path):
    arguments = attribute_arguments(study, tmp_path)
    attribute.main(arguments)
    before = [inode_and_date(path) for path in arguments.output]
    costs = [path.read_bytes() for path in arguments.costs]
    attribute.main(arguments)
    assert [inode_and_date(path) for path in arguments.output] == before
    assert [path.read_bytes() for path in arguments.costs] == costs
    # A study from before times were kept; and a record of an earlier attribution file.
    arguments.costs[0].unlink()
    write_cost(arguments.costs[1], costs_of_one_part())
    attribute.main(arguments)
    assert [inode_and_date(path) for path in arguments.output] == before
    assert {name: len(parts) for name, (parts, _) in costs_of(arguments).items()} == {"grad": 0, "gxi": 0}


@pytest.mark.parametrize(("method", "parts"), [({"method": "imported", "file": "a.jsonl"}, 0), ({"method": "lime"}, 1)])
def test_to_read_explanations_that_were_made_elsewhere_is_no_cost_of_them(tmp_path, method, parts):
    path = tmp_path / "mine.parquet"
    write_cost(path, costs_of_one_part())
    arguments = argparse.Namespace(costs=[path], output=[], explainers=Explainer.parse_all({"mine": method}))
    rows = Rows(np.array(["digest of a row"], "S32"), ATTRIBUTIONS, [], np.array([[-1, -1]]))
    attribute.write_cost_of(arguments, "mine", rows)
    assert len(read_table(path, COSTS)) == parts


def costs_of_one_part() -> list[dict]:
    numbers = {"texts": 3, "seconds": 1.0, "rows": 3, "rows_asked": 3}
    return [numbers | {"device": "cpu", "threads": 1, "together": ["mine"], "made_of": ["digest of a row"]}]


@pytest.mark.parametrize(
    ("device", "name"),
    [("cuda:1", "a GPU 1"), ("https://example.org/classify", "https://example.org/classify"), ("cpu", processor())],
)
def test_a_device_has_a_name_that_means_something_elsewhere(monkeypatch, device, name):
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: f"a GPU {device.index}")
    device = device if "/" in device else torch.device(device)
    assert device_used(SimpleNamespace(classifier=SimpleNamespace(device=device))) == name
    assert device_used(None) == processor()


# Notes -----------------------------------------------------------------------------------------------------------


def test_remarks_on_items_are_one_note():
    counted = Remark("{missed:.0f} of {items} items missed", {"missed": [1.0, 0.0]})
    plain = remarks_on_items([Remark("plain")], 5)
    nothing = remarks_on_items([], 1)
    assert note_of(remarks_on_items([counted, Remark("plain")], 2) + plain + nothing) == (
        "1 of 8 items missed; plain (7 of 8 items)"
    )
    assert note_of(remarks_on_items([Remark("{a} in braces")], 3)) == "{a} in braces"
    shares = Remark("{share[tokens]:.0%} tokens", {"tokens": [1, 2], "rest": [3, 2]})
    assert note_of(remarks_on_items([shares], 2)) == "38% tokens"
    # What counts none is not said, but where shares are told.
    assert note_of(remarks_on_items([Remark("{missed} missed", {"missed": [0.0]})], 1)) == ""
    assert note_of(remarks_on_items([Remark(shares.text, {"tokens": [0.0]})], 1)) == "0% tokens"
    assert note_of(nothing) == note_of([]) == ""


def of_scaling(along: list[np.ndarray]) -> list[Remark]:
    return remarks_on_scaling(along, lambda: "take another")


@pytest.mark.parametrize(
    ("remarks", "of_items"),
    [
        (remarks_on_cancelling, [1e-6, 0.5, 1e-5]),
        (of_scaling, [np.array([1e-6, 1e-5]), np.array([1.0, 0.5])]),
        (remarks_on_gaps, [(0.1, 1.0), (0.01, 1.0)]),
        (lambda taken: [shares_remark(np.array(taken))], [[3.0, 0.0, 0.0, 1.0], [1.0, 2.0, 0.5, 0.0]]),
    ],
    ids=["cancelling", "scaling", "gaps", "shares"],
)
def test_what_is_said_of_an_item_does_not_depend_on_those_beside_it(remarks, of_items):
    """Or a file that grew would say something else than one of one run."""
    together = remarks_on_items(remarks(of_items), len(of_items))
    alone = [remarks_on_items(remarks([of_item]), 1)[0] for of_item in of_items]
    assert together == alone
    assert note_of(together)


def test_notes_of_texts_and_of_explainers_are_carried_to_the_scores(study, tmp_path):
    predictions = tmp_path / "predictions.parquet"
    read_texts.main(reading_arguments(study, predictions, pairs=2))
    explained = attribute_arguments(study, tmp_path / "attribution_files", "path")
    scored = score_arguments(study, explained.output, tmp_path / "scores", "complexity", 1000)
    explained.predictions = scored.predictions = predictions
    attribute.main(explained)
    score.main(scored)
    ig, igxi = (read_metadata(path, SCORES) for path in scored.output)
    assert ig["note"] == says("4 of 4 items", "rounding noise")
    assert igxi["note"] == ""
    assert ig["left_out"] == read_metadata(predictions, PREDICTIONS)["notes"] != []


# Taking over -----------------------------------------------------------------------------------------------------


def said_unchanged(said: str) -> set[str]:
    """The explainers whose files a job left as they were."""
    return {line.removesuffix(": unchanged") for line in said.splitlines() if line.endswith(": unchanged")}


def inode_and_date(path: Path) -> tuple[int, int]:
    """What writing a file changes; reading it changes its time of access only."""
    return path.stat().st_ino, path.stat().st_mtime_ns


def test_a_new_explainer_of_a_family_computes_itself_alone(study, tmp_path, capsys):
    arguments = attribute_arguments(study, tmp_path, explainers={"grad": FAMILIES["gradient"]["grad"]})
    arguments.output, arguments.costs = arguments.output[:1], arguments.costs[:1]
    attribute.main(arguments)
    before = inode_and_date(tmp_path / "grad.parquet")
    capsys.readouterr()
    attribute.main(attribute_arguments(study, tmp_path))
    said = capsys.readouterr().out
    assert said_unchanged(said) == {"grad"}
    assert "12 items with gxi" in said
    assert inode_and_date(tmp_path / "grad.parquet") == before
    attribute.main(attribute_arguments(study, tmp_path / "together"))
    alone, together = (read_table(folder / "gxi.parquet", ATTRIBUTIONS) for folder in (tmp_path, tmp_path / "together"))
    for expected, found in zip(together["token_score"], alone["token_score"], strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-8)


def test_a_job_with_nothing_to_do_loads_no_model(study, tmp_path, monkeypatch):
    arguments = attribute_arguments(study, tmp_path)
    attribute.main(arguments)
    paths = arguments.output
    scores = score_arguments(study, paths, tmp_path / "scores", "faithfulness", 4)
    score.main(scores)
    for module in (attribute, score):
        monkeypatch.setattr(module, "open_evaluator", None)
    before = attribution_files(tmp_path)
    # The size of the groups changes results by rounding only.
    arguments.items_per_group = scores.items_per_group = 2
    attribute.main(arguments)
    score.main(scores)
    assert attribution_files(tmp_path) == before


def test_a_remark_in_other_words_reaches_the_scores_and_scores_nothing_again(study, tmp_path, monkeypatch, capsys):
    attributed = attribute_arguments(study, tmp_path)
    attribute.main(attributed)
    arguments = score_arguments(study, attributed.output, tmp_path / "scores", "complexity", 4)
    score.main(arguments)
    first, second = arguments.output
    tables_before = [read_table(path, SCORES) for path in arguments.output]
    second_before = second.read_bytes()
    table, metadata = (read(attributed.output[0], ATTRIBUTIONS) for read in (read_table, read_metadata))
    write_table(table, attributed.output[0], ATTRIBUTIONS, metadata | {"note": "in other words"})
    monkeypatch.setattr(score, "score", None)
    capsys.readouterr()
    score.main(arguments)
    assert said_unchanged(capsys.readouterr().out) == {"grad", "gxi"}
    assert read_metadata(first, SCORES)["note"] == "in other words"
    for path, before in zip(arguments.output, tables_before, strict=True):
        pd.testing.assert_frame_equal(read_table(path, SCORES), before)
    assert second.read_bytes() == second_before
    # The file is that of scoring all of it again.
    said_anew = first.read_bytes()
    monkeypatch.undo()
    first.unlink()
    score.main(arguments)
    assert first.read_bytes() == said_anew


def test_families_that_ask_no_model_run_without_torch(study, tmp_path):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("raise RuntimeError('torch is imported')")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(SCRIPTS)])}
    explained = attribute_arguments(study, tmp_path, "baseline")
    explained.model = None
    scored = score_arguments(study, explained.output, tmp_path / "scores", "complexity", 4)
    for name, arguments in (("attribute", explained), ("score", scored)):
        flags = [str(SCRIPTS / f"explanations/{name}.py"), *_flags(arguments)]
        done = subprocess.run([sys.executable, *flags], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert all(path.exists() for path in arguments.output)


# Progress --------------------------------------------------------------------------------------------------------


def test_progress_in_plain_lines_now_and_then(capsys):
    """Of jobs whose rows nobody can plan."""
    now = [0.0]
    progress = Progress(100, seconds_between=10, clock=lambda: now[0])
    progress.count_items(20, done_before=True)
    for _ in range(4):
        now[0] += 4
        progress.count_rows(400)
    now[0] += 10
    progress.count_items(40)
    assert capsys.readouterr().out.splitlines() == [
        "20 of 100 items, 100 rows/s",
        "20 of 100 items, 100 rows/s",
        "60 of 100 items, 62 rows/s, about 26 s left",
    ]
    assert progress.summary() == "40 items, 1,600 rows, 26.0 s, 62 rows/s, 20 items done before"


def test_rows_and_the_time_left_are_told_from_the_first_batch_on(study, tmp_path, monkeypatch, capsys):
    """With all texts in one group; explanations of a text are scored side by side."""
    monkeypatch.setattr("evenlight.engine.progress.FIRST_LINE", 0.0)
    attributed = attribute_arguments(study, tmp_path, "shapley_sampling", size=1000)
    for module, arguments in (
        (attribute, attributed),
        (score, score_arguments(study, attributed.output, tmp_path / "scores", "faithfulness", 1000)),
    ):
        capsys.readouterr()
        module.main(arguments)
        lines = capsys.readouterr().out.splitlines()
        said = [line for line in lines if "rows/s" in line]
        found = re.fullmatch(r"0 of \d+ items, [\d,]+ of about ([\d,]+) rows, [\d,]+ rows/s, about .+ left", said[0])
        asked = re.search(r" items, ([\d,]+) rows, ", said[-1])
        planned, counted = (int(match[1].replace(",", "")) for match in (found, asked))
        assert planned == pytest.approx(counted, rel=0.5)
