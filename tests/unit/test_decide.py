"""What the command says that asks until all is decided."""

import decide
import pandas as pd
import pytest
from study_files import StudyFiles, asked, called
from test_effects import SETTINGS, scores

from evenlight.core import tables
from evenlight.core.contracts.explanations import COSTS
from evenlight.core.errors import InputError
from evenlight.statistics.closed_records import is_open, questions
from evenlight.statistics.effects import effect_table


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
    assert decide.said_before(results, 20, 50, {}).startswith("about 75.0 minutes to explain 30 more pairs")
    # Of explainers that are asked no more, nothing.
    lime = {"plots": {"small": {"lime": 20}}}
    said = decide.said_before(results, 20, 50, lime)
    assert said.startswith("about 15.0 minutes to explain 30 more pairs")
    assert "no more questions to lime (plots, small)" in said
    igxi = {"plots": {"small": {"lime": 20, "igxi": 20}}}
    assert decide.said_before(results, 20, 50, igxi).startswith("about 15.0 minutes")
    every = {"plots": {"small": {"lime": 20, "igxi": 20, "ig": 20}}}
    assert decide.said_before(results, 20, 50, every).startswith("about 0.0 minutes")
    assert "not known" in decide.said_before(results, 0, 20, {})
    assert "not known" in decide.said_before(results / "elsewhere", 20, 50, {})


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
    with pytest.raises(InputError, match=rf"(?s)^{tmp_path}/look\.yaml: {said}.*; delete this file, and the last look"):
        decide.begun(tmp_path, "first", [50, 100])


@pytest.mark.parametrize(
    ("study", "said"),
    [
        ("", "study.yaml: is null; it must be a mapping"),
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
    """A study of regimes closes nothing, and has no page of that."""
    assert decide.where_to_read(results) == f"what was found: {results}/tables/effects.html"
    (results / "tables").mkdir()
    (results / "tables" / "looks.html").touch()
    assert decide.where_to_read(results).endswith(f"; what each look has closed: {results}/tables/looks.html")


def test_what_is_open_is_said_with_how_many_pairs_would_decide_it(tmp_path):
    files = StudyFiles(tmp_path)
    for seed in SETTINGS["seeds"]:
        files.write(scores(seed), seed, "any")
    effects = called(effect_table, *files.folders, **asked(effect_table, SETTINGS))
    left = questions(effects)[is_open(questions(effects))]
    [line] = decide.said_of_open(left, effects, SETTINGS["statistics"])
    assert line.startswith("  plots, small, lime, noisy, male and female: about ")
    needed = float(line.split("about ")[1].split(" pairs")[0].replace(",", ""))
    [row] = left.itertuples()
    # What 60 pairs show shrinks with the root of their number; the reserve for what nobody saw shrinks faster.
    assert 60 < needed <= 60 * (row.detectable_pooled / 0.2) ** 2 + 1
    # Where so many have been asked, more of them are no remedy that is known.
    enough = SETTINGS["statistics"] | {"equivalence_bound": 5.0}
    [line] = decide.said_of_open(left, effects, enough)
    assert line.endswith(": 60 pairs mostly show the smallest effect of interest; they left this one open")
    # Of what is not paired, so many of each group.
    [line] = decide.said_of_open(left, effects.assign(paired=False), SETTINGS["statistics"])
    assert line.endswith(f"about {needed:,.0f} texts of each group would show the smallest effect of interest")
    few = left.assign(verdict="not decidable", reason="7 units are too few")
    [line] = decide.said_of_open(few, effects.assign(verdict="not decidable"), SETTINGS["statistics"])
    assert line.endswith("noisy, male and female: 7 units are too few")
    many = pd.concat([left] * (decide.TOLD + 3), ignore_index=True)
    many["metric"] = [f"metric{number}" for number in range(len(many))]
    assert decide.said_of_open(many, effects, SETTINGS["statistics"])[-1].startswith("  and 3 more")
