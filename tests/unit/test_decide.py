"""What the command says that asks until all is decided."""

import decide
import pandas as pd
import pytest
from wording import says

from evenlight.core import tables
from evenlight.core.contracts.explanations import COSTS
from evenlight.core.errors import InputError
from evenlight.statistics.cells import CELL
from evenlight.statistics.planning import pairs_for

STATISTICS = {"as_often_bound": 0.2, "power": 0.8}


@pytest.fixture
def results(tmp_path):
    """What three explainers have cost with 20 pairs, of which two were computed together."""
    for explainer, seconds, together in (
        ("igxi", 600.0, ["igxi", "ig"]),
        ("ig", 600.0, ["igxi", "ig"]),
        ("lime", 2400.0, ["lime"]),
    ):
        row = {"texts": 40, "seconds": seconds, "rows": 1, "rows_asked": 1, "device": "cpu", "threads": 1}
        table = pd.DataFrame([row | {"together": together, "made_of": ["a"]}])
        tables.write_table(table, tmp_path / "costs" / "plots" / "small" / "seed0" / f"{explainer}.parquet", COSTS)
    return tmp_path


def test_the_next_look_costs_what_its_new_pairs_cost(results):
    # 3,000 seconds for 20 pairs; the time of explainers that were computed together counts once.
    assert decide.said_before(results, 20, 50).startswith("about 75.0 minutes to explain 30 more pairs")
    assert "not known" in decide.said_before(results, 0, 20)
    assert "not known" in decide.said_before(results / "elsewhere", 20, 50)
    assert "missing" in decide.said_before(results, 50, 50)


def test_a_look_that_was_begun_goes_on(tmp_path):
    looks = [50, 100, 200]
    assert decide.begun(tmp_path, "first", looks) == 0
    (tmp_path / decide.OVERLAY).write_text("explain: {pairs: 50}\nstatistics: {plan: first}\n")
    assert decide.begun(tmp_path, "first", looks) == 50
    # Another plan begins with its own first look, and so does one of which nothing is said.
    assert decide.begun(tmp_path, "second", looks) == 0
    # Nor does one whose numbers have changed since skip its first look.
    assert decide.begun(tmp_path, "first", [20, 50, 200]) == 0
    (tmp_path / decide.OVERLAY).write_text("explain: {pairs: 50}\n")
    assert decide.begun(tmp_path, "first", looks) == 0


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("", "is null"),
        ("- a", 'is \\["a"\\]'),
        ("a: [1", "no YAML"),
        ("explain: {pairs: many}", 'explain.pairs: found "many"'),
        ("statistics: first", 'statistics: found "first"'),
    ],
)
def test_a_look_that_was_edited_is_refused(tmp_path, written, said):
    (tmp_path / decide.OVERLAY).write_text(written)
    with pytest.raises(InputError, match=rf"(?s)^{tmp_path}/look\.yaml: {said}.*; delete this"):
        decide.begun(tmp_path, "first", [50, 100])


@pytest.mark.parametrize(
    ("study", "said"),
    [
        ("", r"study\.yaml: is null.*mapping"),
        ("a: [1", "study.yaml: no YAML"),
        ("statistics: {looks: 100}", "statistics.looks: found 100; allowed is"),
        ("statistics: [looks]", 'statistics: found \\["looks"\\]; allowed is'),
        ("{statistics: {looks: [50, 100]}, explain: all}", 'explain: found "all"; allowed is'),
    ],
)
def test_a_study_without_a_sound_plan_is_refused(tmp_path, study, said):
    path = tmp_path / "study.yaml"
    with pytest.raises(InputError, match=r"study\.yaml: no such file"):
        decide.read_plan(path)
    path.write_text(study)
    with pytest.raises(InputError, match=said):
        decide.read_plan(path)


def test_pages_are_named_that_are_there(results):
    """A study of regimes has no page of looks."""
    assert decide.where_to_read(results) == f"what was found: {results}/tables/effects.html"
    (results / "tables").mkdir()
    (results / "tables" / "looks.html").touch()
    assert decide.where_to_read(results).endswith(f"{results}/tables/looks.html")


def effects(**columns: object) -> pd.DataFrame:
    """Cells of the effects: of an open question of 60 pairs, but for what ``columns`` say."""
    table = pd.DataFrame([[f"{name}" for name in CELL]], columns=CELL)
    usual = {"verdict": "undecided", "family": "study", "paired": True, "unit": "pairs", "units_a": 60, "units_b": 60}
    usual |= {"ties": 12, "reason": None, "level": 0.05}
    return (
        table.loc[table.index.repeat(max([1, *(len(of) for of in columns.values() if isinstance(of, list))]))]
        .assign(**usual | columns)
        .reset_index(drop=True)
    )


def test_open_are_undecided_primary_questions_that_more_texts_could_decide():
    verdicts = ["undecided", "male more often", "as often", "not decidable", "undecided"]
    assert list(decide.open_questions(effects(verdict=verdicts))) == [True, False, False, True, True]
    families = ["primary", "exploratory", "control", "study"]
    assert list(decide.open_questions(effects(family=families))) == [True, False, False, True]
    # Of a metric that ties all pairs, more of them decide nothing; texts without pairs have no ties.
    ties = pd.array([60, 59, None], dtype="Int64")
    assert list(decide.open_questions(effects(verdict=["not decidable"] * 3).assign(ties=ties))) == [False, True, True]


def test_what_is_open_is_said_with_how_many_pairs_would_decide_it():
    table = effects()
    *lines, last = decide.said_of_open(table, table, STATISTICS)
    pairs = pairs_for(0.2, 0.8, ties=0.2, comparisons=1, alpha=0.05)
    assert lines == [says("  dataset, model, explainer, metric, level_a and level_b", f"about {pairs:,} pairs")]
    assert "0.8" in last
    assert "20 of 100" in last
    texts = effects(paired=False, unit="texts", ties=float("nan"))
    assert decide.said_of_open(texts, texts, STATISTICS)[0].endswith("each group would tell")
    few = effects(ties=60, verdict="not decidable", reason="0 decided pairs are too few")
    [line] = decide.said_of_open(few, few, STATISTICS)
    assert line.endswith("are too few")
    many = effects(metric=[f"metric{number}" for number in range(decide.TOLD + 3)])
    assert decide.said_of_open(many, many, STATISTICS)[-2].startswith("  and 3 more")
