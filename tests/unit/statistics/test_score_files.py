"""Reading the scores of one run: columns of several files side by side, what is refused, and what explainers say."""

import pandas as pd
import pytest
from wording import says

from evenlight.core import tables
from evenlight.core.contracts.explanations import SCORES
from evenlight.core.errors import InputError
from evenlight.statistics.comparisons.files import Run, Runs, score_path
from evenlight.statistics.comparisons.score_files import explainer_notes, left_out_notes, read_scores, score_notes
from evenlight.statistics.comparisons.study import StudyScores

NAN = float("nan")
RUN = Run("plots", "small", 3)
RUNS = Runs(datasets=[RUN.dataset], models={RUN.model: [RUN.seed]})
METRICS = {"gini": "complexity", "soft": "asked", "sparsity": "complexity"}


def write(folder, family: str, run: Run = RUN, explainer: str = "lime", metadata: dict | None = None, **columns):
    """A score file of the items in ``item_id``, by default a, b and c."""
    table = pd.DataFrame({"item_id": ["a", "b", "c"]} | columns)
    path = score_path(folder, run, family, explainer)
    contract = SCORES.only("item_id", *table.columns[1:])
    tables.write_table(table, path, contract, metadata)
    return path


def test_metrics_of_all_families_stand_beside_their_items(tmp_path):
    """Whatever the order of the items in the second file, with their standard errors and nothing that is not asked."""
    write(tmp_path, "complexity", gini=[0.1, NAN, 0.3], sparsity=[1.0, 2.0, 3.0], other=[9.0, 9.0, 9.0])
    write(tmp_path, "asked", item_id=["c", "a", "b"], soft=[0.7, 0.5, 0.6], soft_standard_error=[0.03, 0.01, NAN])
    expected = {
        "item_id": ["a", "b", "c"],
        "gini": [0.1, NAN, 0.3],
        "sparsity": [1.0, 2.0, 3.0],
        "soft": [0.5, 0.6, 0.7],
        "soft_standard_error": [0.01, NAN, 0.03],
    }
    found = read_scores(tmp_path, RUN, "lime", METRICS)
    pd.testing.assert_frame_equal(found, pd.DataFrame(expected), check_dtype=False)
    # A metric that is not asked for is not there, nor is the error of one.
    found = read_scores(tmp_path, RUN, "lime", {"sparsity": "complexity"})
    assert list(found.columns) == ["item_id", "sparsity"]


def test_items_alone_are_those_of_the_first_family(tmp_path):
    """No other file is read, and no metric of it asked for."""
    write(tmp_path, "complexity", gini=[0.1, 0.2, 0.3])
    found = read_scores(tmp_path, RUN, "lime", METRICS, only_items=True)
    assert found.to_dict("list") == {"item_id": ["a", "b", "c"]}
    with pytest.raises(InputError, match="'sparsity'"):
        read_scores(tmp_path, RUN, "lime", METRICS)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"other": [1.0, 2.0, 3.0]}, "no column 'soft'; rule score"),
        ({"item_id": ["a", "b", "b"], "soft": [1.0, 2.0, 3.0]}, "item 'b' has two rows"),
        ({"soft": [1.0, float("-inf"), NAN]}, "column 'soft' has infinite"),
        ({"item_id": ["a", "b", "x"], "soft": [1.0, 2.0, 3.0]}, "column 'item_id' has other items"),
    ],
)
def test_what_is_wrong_is_named_with_its_file(tmp_path, columns, message):
    write(tmp_path, "complexity", gini=[0.1, 0.2, 0.3], sparsity=[0.1, 0.2, 0.3])
    path = write(tmp_path, "asked", **columns)
    with pytest.raises(InputError, match=rf"^{path}: {message}.*delete the file"):
        read_scores(tmp_path, RUN, "lime", METRICS)


def test_a_file_that_is_not_there_is_named_with_its_rule(tmp_path):
    for read in (
        lambda: read_scores(tmp_path, RUN, "lime", METRICS),
        lambda: left_out_notes(tmp_path, RUNS, ["lime"], METRICS),
    ):
        with pytest.raises(InputError, match=r"complexity/lime\.parquet: no such file.*rule score"):
            read()


def test_notes_name_the_runs_of_each_explainer(tmp_path):
    """Each text of an explainer once, in the order in which it is met; the first family of metrics has them all."""
    study = Runs(datasets=["plots", "films"], models={"small": [2, 1], "large": [2, 1]})
    for run in study:
        lime, grad = {"note": "noise"}, {"note": "noise" if run.seed == 1 else "no rectifier"}
        write(tmp_path, "complexity", run, "lime", lime if run.dataset == "plots" else None, gini=[1.0] * 3)
        write(tmp_path, "complexity", run, "grad", grad, gini=[1.0] * 3)
        write(tmp_path, "complexity", run, "shap", gini=[1.0] * 3)
    assert explainer_notes(tmp_path, study, ["shap", "lime"], METRICS) == [
        "explainer 'lime': noise (dataset 'plots': 'small', 'large')"
    ]
    with pytest.raises(InputError, match=r"shapley\.parquet: no such file.*rule score"):
        explainer_notes(tmp_path, study, ["lime", "shapley"], METRICS)
    where = "; ".join(f"dataset '{name}': 'small' with seed %d, 'large' with seed %d" for name in ("plots", "films"))
    assert explainer_notes(tmp_path, study, ["grad"], METRICS) == [
        f"explainer 'grad': no rectifier ({where % (2, 2, 2, 2)})",
        f"explainer 'grad': noise ({where % (1, 1, 1, 1)})",
    ]


def test_a_remark_is_a_note_of_all_runs_and_explainers_that_have_it(tmp_path):
    """One file may have several remarks, with numbers that are each run's own."""
    study = Runs(datasets=["plots"], models={"small": [0, 1], "large": [0]})
    for run, missed in zip(study, (2, 3, 0), strict=True):
        steps = [f"too few steps for {missed} of 8 items: by more than 5 %"] * bool(missed)
        notes = {
            "ig": ["rounding noise: zero for every token", *steps],
            "igxi": steps,
            "lrp": [f"the tokens have {missed + 7}% of the relevance; the rest: bias {90 - missed}%"],
            "grad": [f"the scores of {missed + 1} of 8 items are a remainder; take layer 'embedding_output'"],
        }
        for explainer, texts in notes.items():
            write(tmp_path, "complexity", run, explainer, {"note": "; ".join(texts)}, gini=[1.0] * 3)
    assert explainer_notes(tmp_path, study, list(notes), METRICS) == [
        says("explainer 'ig': rounding noise", "zero"),
        says("explainers 'ig', 'igxi'", "5 of 16", "more than 5 % (dataset 'plots': 'small')"),
        says("explainer 'lrp'", "7% to 10%", "bias 87% to 90%"),
        says("explainer 'grad'", "8 of 24 items", "remainder", "'embedding_output'"),
    ]


def test_notes_of_a_table_tell_of_left_out_texts_and_of_chance(tmp_path):
    """Texts are left out of a run, whatever the explainer; how much is chance is said over all runs of one."""
    models = {"small": [0, 1], "large": [0]}
    for run in Runs(datasets=["plots"], models=models):
        size = 0.1 if run.model == "small" else 0.3
        metadata = {
            "lime": {"left_out": ["2 of 8 pairs"], "explained_again": [{"error": size, "rank": 0.9}] * 2},
            "grad": {"left_out": ["2 of 8 pairs"], "note": "no rectifier"},
            "shap": {"left_out": ["2 of 8 pairs"], "explained_again": [{"error": 0.8, "rank": None}]},
        }
        for explainer, of_file in metadata.items():
            write(tmp_path, "complexity", run, explainer, of_file, gini=[1.0] * 3)
    names = {"datasets": ["plots"], "models": models, "explainers": ["lime", "grad", "shap"], "metrics": METRICS}
    notes = score_notes(StudyScores(folders={"scores": tmp_path}, **names))
    assert notes == [
        "dataset 'plots', models 'small', 'large': 2 of 8 pairs",
        "explainer 'grad': no rectifier",
        says("explainer 'lime'", "6 explanations", "0.10 (0.10 to 0.30)", "0.90 (0.90 to 0.90)"),
        says("explainer 'shap'", "3 explanations", "0.80 (0.80 to 0.80)", "mostly chance"),
    ]
    # Nothing is said where nothing is left out.
    write(tmp_path, "complexity", gini=[1.0] * 3)
    assert left_out_notes(tmp_path, RUNS, ["lime"], METRICS) == []
