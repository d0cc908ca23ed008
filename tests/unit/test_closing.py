"""Questions that are closed: who is asked no more, and that the others' verdicts stay right."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from rendering import page_of
from study_files import StudyFiles, asked, called
from test_effects import SETTINGS, scores
from test_looks import grown

from evenlight.core import tables
from evenlight.core.contracts.explanations import SCORES
from evenlight.core.contracts.results import CLOSED
from evenlight.core.errors import InputError
from evenlight.statistics.cells import CELL, read_models
from evenlight.statistics.closed_records import closed_said, is_open, with_closed
from evenlight.statistics.closing import P_VALUES, continued, without_closed
from evenlight.statistics.effects import effect_table
from evenlight.statistics.look_plans import closed_before, read_closed
from evenlight.statistics.looks import POCOCK, Looks, boundaries, found
from evenlight.statistics.study import StudyScores

EMPTY = pd.DataFrame(columns=CLOSED.schema.names)
LOOKS = Looks((20, 40, 60), (0, 1, 2), POCOCK)


# Who is asked no more ---------------------------------------------------------------------------------------------


def table_of(verdicts: dict[tuple[str, str], tuple[str, str]], reason: str | None = None) -> pd.DataFrame:
    """Effects of cells, from (explainer, metric) to (family, verdict)."""
    rows = [
        dict(zip(CELL, ("plots", "small", *names, "gender", "male", "female"), strict=True))
        | {"family": family, "verdict": verdict, "reason": reason if verdict == "not decidable" else None}
        for names, (family, verdict) in verdicts.items()
    ]
    return pd.DataFrame(rows)


FIRST = {
    ("lime", "gini"): ("primary", "disparity for these trained models"),
    ("lime", "aopc"): ("primary", "equivalent"),
    ("lime", "mass"): ("exploratory", "undecided"),
    ("shap", "gini"): ("primary", "disparity"),
    ("shap", "aopc"): ("primary", "undecided"),
    ("grad", "gini"): ("exploratory", "undecided"),
    ("random", "gini"): ("control", "undecided"),
}


def closed_by(record: pd.DataFrame, verdicts: dict, look: tuple = ("first", 1, 20)) -> pd.DataFrame:
    return with_closed(record, table_of(verdicts), look, ["random"])


def test_an_explainer_is_closed_when_all_that_counts_is_decided():
    record = closed_by(EMPTY, FIRST)
    # With its questions that do not count, and so is one that has no other; the yardstick goes on with the others.
    assert record[["explainer", "metric"]].to_numpy().tolist() == [
        ["lime", "gini"],
        ["lime", "aopc"],
        ["lime", "mass"],
        ["grad", "gini"],
    ]
    assert set(record["look"]) == {1}
    assert record["verdict"].tolist()[:2] == ["disparity for these trained models", "equivalent"]


def test_what_a_look_has_closed_stays_closed_as_it_was():
    first = closed_by(EMPTY, FIRST)
    # At the next look all else is decided, and something of the closed explainer reads otherwise.
    later = FIRST | {("shap", "aopc"): ("primary", "equivalent"), ("lime", "aopc"): ("primary", "undecided")}
    second = closed_by(first, later, ("first", 2, 40))
    pd.testing.assert_frame_equal(second.iloc[: len(first)], first)
    assert second.iloc[len(first) :][["explainer", "look"]].to_numpy().tolist() == [
        ["shap", 2],
        ["shap", 2],
        ["random", 2],
    ]
    # The same look again says the same, and what it said before is not there twice.
    pd.testing.assert_frame_equal(closed_by(second, later, ("first", 2, 40)), second)
    # Another plan begins with all.
    other = closed_by(second, FIRST, ("second", 1, 20))
    assert other["plan"].value_counts().to_dict() == {"first": 7, "second": 4}


def test_without_questions_that_count_nothing_is_closed():
    assert closed_by(EMPTY, {("grad", "gini"): ("exploratory", "disparity")}).empty


@pytest.mark.parametrize(
    ("reason", "is_left"),
    [
        ("7 units are too few", True),
        ("a look that spends so little finds nothing among 4 cells", True),
        ("what varies rests on one or two units", True),
        ("all scores are the same", False),
    ],
)
def test_what_cannot_be_decided_keeps_an_explainer_at_work_only_where_texts_may_help(reason, is_left):
    table = table_of({("lime", "gini"): ("study", "not decidable")}, reason)
    assert is_open(table).tolist() == [is_left]


def test_a_look_reads_what_looks_before_it_have_closed(tmp_path):
    path = tmp_path / "closed.parquet"
    later = FIRST | {("shap", "aopc"): ("primary", "equivalent")}
    tables.write_table(closed_by(closed_by(EMPTY, FIRST), later, ("first", 2, 40)), path, CLOSED)
    # The look that closes an explainer has asked it, also when it is run again.
    record = read_closed(path)
    assert closed_before(record, "first", 20) == {}
    assert closed_before(record, "first", 40) == {"plots": {"small": {"lime": 20, "grad": 20}}}
    assert closed_before(record, "first", 60)["plots"]["small"] == {"lime": 20, "grad": 20, "shap": 40, "random": 40}
    assert closed_before(record, "second", 60) == {}
    # Before a look has closed anything there is no file.
    assert closed_before(read_closed(tmp_path / "none.parquet"), "first", 60) == {}
    [of_lime, _] = closed_said(closed_before(record, "first", 40))
    assert of_lime.startswith("explainer 'lime' was asked no more after 20 pairs (dataset 'plots', model 'small')")


# The others' verdicts ---------------------------------------------------------------------------------------------


def test_a_closed_cell_goes_on_as_an_open_one_would():
    resampled = np.random.default_rng(5).normal(size=(2, 40_000, 3)).astype(np.float32)
    second, third = continued(resampled, [20, 40, 80])
    for claim in range(2):
        for cell in range(3):
            looks = np.stack([each[claim, :, cell] for each in (resampled, second, third)])
            # The correlation of looks at growing samples, √(nᵢ / nⱼ), and a variance of 1.
            expected = np.sqrt([[1, 1 / 2, 1 / 4], [1 / 2, 1, 1 / 2], [1 / 4, 1 / 2, 1]])
            np.testing.assert_allclose(np.cov(looks), expected, atol=0.03)


def test_the_level_holds_whatever_closes_the_others():
    """The worst that texts can do: all cells are closed but the one that is nearest to being found."""
    looks, draws, studies, cells, level = Looks((50, 100), (0, 1), POCOCK), 199, 2000, 8, 0.2
    random, hits = np.random.default_rng(4), {"goes on": 0, "left out": 0}
    for _ in range(studies):
        steps = random.normal(size=(2, 1 + draws, cells))
        first, second = steps[0], (steps[0] + steps[1]) / np.sqrt(2)
        others = np.arange(cells) != first[0].argmax()
        for how, of_resamples in (
            ("goes on", continued(first[1:, others], looks.units)[0]),
            ("left out", np.full((draws, cells - 1), -np.inf)),
        ):
            later = second.copy()
            later[0, others], later[1:, others] = -np.inf, of_resamples
            hits[how] += (found([first, later], looks.spent(level)) > 0).any()
    # Half of the level, since resamples have their sign, and four standard errors.
    error = 4 * np.sqrt(0.1 * 0.9 / studies)
    assert hits["goes on"] / studies <= 0.1 + error
    assert hits["left out"] / studies > 0.1 + error


def closing_study(random: np.random.Generator, differences: np.ndarray, bound: float, level: float) -> np.ndarray:
    """What a study that grows says of each cell, where a cell is closed once a look has found anything of it.

    Args:
        random: draws the study, whose cells have a correlation of one half.
        differences: of the cells, in standard errors at the last look.
        bound: the smallest one of interest, likewise.
        level: of either claim.

    Returns:
        Whether a disparity and whether an equivalence was found, bool (2, cells).
    """
    cells, shares = len(differences), np.array(LOOKS.units) / LOOKS.units[-1]
    tables_of = [pd.DataFrame({name: np.zeros(cells) for name in (*P_VALUES, "reason", "few", "rarest")})] * len(shares)
    paths = np.zeros((200, cells))
    statistics, last = [], np.full(cells, len(shares) - 1)
    for number, (share, before) in enumerate(zip(shares, np.r_[0, shares[:-1]], strict=True)):
        noise = (random.normal(size=(200, cells)) + random.normal(size=(200, 1))) / np.sqrt(2)
        paths = paths + np.sqrt(share - before) * noise
        deviates = paths / np.sqrt(share)
        seen = np.abs(deviates[0] + np.sqrt(share) * differences)
        of_look = np.stack([deviates, deviates])
        of_look[:, 0] = seen, np.sqrt(share) * bound - seen
        statistics.append(of_look)
        made = replace(LOOKS, made=tuple(range(number + 1)))
        ended = np.minimum(last, number)
        _, asked_of = without_closed(tables_of[: number + 1], statistics, made.units, ended)
        claims = np.stack([found([each[claim] for each in asked_of], made.spent(level)) > 0 for claim in range(2)])
        last[claims.any(axis=0) & (last > number)] = number
    return claims


@pytest.mark.parametrize(("differences", "claim"), [([5, 5, 5, 0, 0, 0], 0), ([7, 7, 0, 0, 3.5, 3.5], 1)])
def test_the_level_holds_where_questions_are_closed_one_after_the_other(differences, claim):
    """Of questions without a difference, or with one at the bound, beside others that are soon decided."""
    studies, level, wrong, right = 400, 0.1, 0, 0.0
    differences, random = np.array(differences, dtype=float), np.random.default_rng(6)
    null = differences == (0 if claim == 0 else 3.5)
    for _ in range(studies):
        claims = closing_study(random, differences, 3.5, level)
        wrong += claims[claim, null].any()
        right += claims[0, differences > 3.5].mean() / studies
    assert wrong / studies <= level + 4 * np.sqrt(level * (1 - level) / studies)
    # They are tested, and the others found.
    assert wrong > 0
    assert right > 0.8


def test_a_closed_cell_is_not_found_by_a_later_look():
    """Though its statistic, which no more changes, lies beyond the lower boundary of that look."""
    looks, statistics = replace(LOOKS, spending="obrien_fleming"), grown(2, LOOKS, 1999)
    bounds = boundaries(np.array([of_look[1:].max(axis=1) for of_look in statistics]), looks.spent(0.05))
    for of_look in statistics:
        of_look[0] = [(bounds[1] + bounds[2]) / 2, 0]
    both = [np.stack([of_look, of_look]) for of_look in statistics]
    names = [*P_VALUES, "reason", "few", "rarest"]
    cells = [pd.DataFrame({name: [number, number] for name in names}) for number in (0.1, 0.2, 0.3)]
    for last, at_look in (([2, 2], 3), ([1, 2], 0)):
        seen, asked_of = without_closed(cells, both, looks.units, np.array(last))
        assert found([of_look[0] for of_look in asked_of], looks.spent(0.05)).tolist() == [at_look, 0]
    # It has no p there, and the number of its units is that of its last look; nothing that was given has changed.
    assert seen[2][P_VALUES].isna().to_numpy().tolist() == [[True] * 4, [False] * 4]
    assert seen[2]["few"].tolist() == [0.2, 0.3]
    assert cells[2].notna().all(axis=None)
    assert np.isfinite(both[2]).all()


BOTH = SETTINGS | {"explainers": {"lime": {"label": "LIME"}, "shap": {"label": "SHAP"}}}


@pytest.fixture
def files(tmp_path) -> StudyFiles:
    """Two explainers of the same texts, of which the first has only those of the first look."""
    files, settings = StudyFiles(tmp_path), asked(effect_table, BOTH)
    for seed in SETTINGS["seeds"]:
        files.write(pd.concat([scores(seed), scores(seed).assign(explainer="shap")]), seed, "any")
    known = {name: value for name, value in settings.items() if name in StudyScores.__annotations__}
    [model] = read_models(StudyScores(scores=files.scores, units=files.datasets, first=20, **known))
    for path in files.scores.rglob("lime.parquet"):
        table = tables.read_table(path, SCORES)
        tables.write_table(table[table["item_id"].isin(model.items["item_id"])], path, SCORES)
    return files


def effects(files: StudyFiles, **more) -> pd.DataFrame:
    table = called(effect_table, *files.folders, **asked(effect_table, BOTH), **more)
    return table.set_index(["explainer", "metric"])


def test_a_closed_explainer_stays_as_it_was_decided(files):
    at_first = effects(files, first=20, looks=replace(LOOKS, made=(0,)))
    at_last = effects(files, looks=LOOKS, closed={"plots": {"small": {"lime": 20}}})
    for name in ("verdict", "look", "units_a", "difference", "p_models"):
        pd.testing.assert_series_equal(at_last.loc["lime", name], at_first.loc["lime", name])
    assert at_last.loc[("lime", "shifted"), "verdict"] == "disparity"
    assert at_last.loc["shap", "units_a"].eq(60).all()
    # Its interval holds at the boundary of its own look, which lies farther out than that of the last one.
    open_one = effects(files, looks=LOOKS)
    width = (at_last["family_high"] - at_last["family_low"]) / (open_one["family_high"] - open_one["family_low"])
    assert width[("lime", "noisy")] > 1.005
    # What is open is held against all, whether they go on or not.
    assert at_last.loc[("shap", "noisy"), "p_models_adjusted"] == pytest.approx(
        open_one.loc[("shap", "noisy"), "p_models_adjusted"], abs=0.2
    )


def test_a_record_that_was_edited_is_refused(files, tmp_path):
    with pytest.raises(
        InputError, match=r"'lime' was closed with 30 units, and looks were made with 20, 40, 60; delete"
    ):
        effects(files, looks=LOOKS, closed={"plots": {"small": {"lime": 30}}})
    tables.write_table(closed_by(EMPTY, FIRST), tmp_path / "closed.parquet", CLOSED)
    table = pd.read_parquet(tmp_path / "closed.parquet").drop(columns="units")
    table.to_parquet(tmp_path / "closed.parquet")
    with pytest.raises(InputError, match=r"closed\.parquet.*units.*close_questions"):
        read_closed(tmp_path / "closed.parquet")


# The page ---------------------------------------------------------------------------------------------------------


def test_the_page_says_when_each_look_was_made_and_what_it_has_closed(snapshot):
    made = [("first", 1, 20, 0.031, "2026-11-24 10:00 UTC"), ("first", 2, 40, 0.043, "2026-11-25 10:00 UTC")]
    made += [("second", 1, 20, 0.05, "2026-11-26 10:00 UTC")]
    looks = pd.DataFrame(made, columns=["plan", "look", "units", "spent", "made"]).assign(planned="", settings="{}")
    later = FIRST | {("shap", "aopc"): ("primary", "equivalent")}
    closed = closed_by(closed_by(EMPTY, FIRST), later, ("first", 2, 40))
    names = {
        "datasets": {"plots": "Plots"},
        "models": {"small": "Small BERT"},
        "explainers": {name: name.upper() for name in ("lime", "shap", "grad", "random")},
        "metrics": {name: {"label": name.title(), "better": "higher"} for name in ("gini", "aopc", "mass", "other")},
    }
    page = page_of("looks", looks, closed, plan="first", planned=[20, 40, 60], **names)
    snapshot(page.introduction)
    plan, questions = page.tables
    [(_, rows)] = plan.rows
    assert [[cell.text for cell in cells] for _, cells in rows] == [
        ["20", "2026-11-24 10:00 UTC", "0.031", "4"],
        ["40", "2026-11-25 10:00 UTC", "0.043", "3"],
        ["60", "–", "–", "–"],
    ]
    [(dataset, rows)] = questions.rows
    assert dataset == "Plots"
    # A metric that no closed question has is not there.
    assert [label.split("\N{NO-BREAK SPACE}")[0] for label in questions.columns[0][1]] == ["Gini", "Aopc", "Mass"]
    shown = {name: [cell.text for cell in cells] for name, cells in rows}
    assert shown["Small BERT, SHAP, male against female"] == ["disparity (look 2)", "equivalent (look 2)", "–"]
    assert shown["Small BERT, GRAD, male against female"] == ["undecided (look 1)", "–", "–"]
    # Before anything is closed, the looks stand alone.
    assert len(page_of("looks", looks, EMPTY, plan="first", planned=[20, 40, 60], **names).tables) == 1
