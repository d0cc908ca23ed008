"""Answers in words: recorded tables, their questions, scores, and what is said of draws."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml
from study_files import StudyFiles, called
from wording import says

from evenlight import configuration, datasets
from evenlight.core import sources, tables
from evenlight.core.contracts.explanations import ANSWER_SCORES, ANSWERS
from evenlight.core.errors import InputError
from evenlight.core.kinds import TEXT
from evenlight.datasets.importing import import_dataset
from evenlight.explainers import Explainer
from evenlight.explainers.answering import LONG
from evenlight.explainers.families.from_table.tables import read_answers
from evenlight.metrics import Metric
from evenlight.metrics.families.answers.scored import scored
from evenlight.statistics.analyses.draws import between_and_within, draw_table
from evenlight.statistics.analyses.effects import effect_tables
from evenlight.statistics.comparisons.cells import Design, ExplainerScores, Side
from evenlight.statistics.comparisons.files import Run
from evenlight.statistics.comparisons.score_files import read_draws, read_scores
from evenlight.statistics.comparisons.study import Comparison, VerdictSettings
from evenlight.statistics.comparisons.wins import P_SIDES, counted_wins
from evenlight.texts.table_rows import read_rows

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "config" / "studies" / "answers_example.yaml"


@pytest.fixture
def example(monkeypatch) -> dict:
    """The example's configuration, read where its paths begin."""
    monkeypatch.chdir(ROOT)
    return configuration.of_file(EXAMPLE)


# What the example says of its questions.
WRITTEN = ("reader", "text", "unit", "level", "factor", "levels", "balanced")

# The questions of a table ------------------------------------------------------------------------------------------

ASKED = [
    {"q": f"q{number}", "dialect": level, "asked": f"{level} words {number}?", "draw": draw, "said": "Yes, as it is."}
    for number in range(3)
    for level in ("one", "two")
    for draw in range(2)
]
READER = {"reader": "questions", "text": "asked", "unit": "q", "level": "dialect"}
READER |= {"factor": "dialect", "levels": ["one", "two"]}


def write(rows: list[dict], path: Path) -> Path:
    """A table of answers, as its name says it is written."""
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    elif path.suffix == ".csv":
        pd.DataFrame(rows).to_csv(path, index=False)
    else:
        pd.DataFrame(rows).to_parquet(path)
    return path


def questions_of(path: Path, **settings) -> datasets.Dataset:
    entry = READER | {"file": str(path)} | settings
    entry = configuration.completed_entry("datasets", "asked", entry)
    return datasets.load({path.as_posix(): path}, datasets.Reader.parse(entry))


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_question_is_an_item_however_often_it_is_answered(tmp_path, suffix):
    dataset = questions_of(write(ASKED, tmp_path / f"answers.{suffix}"))
    assert dataset.items["item_id"].tolist() == ["q0/one", "q0/two", "q1/one", "q1/two", "q2/one", "q2/two"]
    assert dataset.items["words"].iloc[0] == ["one", "words", "0", "?"]
    assert (dataset.items["split"] == "test").all()
    assert dataset.units[["unit_id", "level"]].to_numpy().tolist()[:2] == [["q0", "one"], ["q0", "two"]]


def test_other_wordings_levels_and_empty_fields_are_refused(tmp_path):
    path = tmp_path / "answers.csv"
    with pytest.raises(InputError, match=r"row 14: question 'q0/one'.*other words.*row 2;"):
        questions_of(write([*ASKED, ASKED[0] | {"asked": "other words?"}], path))
    with pytest.raises(InputError, match=r"row 3: field 'dialect' \(level\) is empty"):
        questions_of(write([ASKED[0], ASKED[1] | {"dialect": " "}], path))
    write([*ASKED, ASKED[0] | {"dialect": "thre"}], path)
    with pytest.raises(InputError, match="'thre', not one of 'one', 'two'"):
        questions_of(path)
    assert questions_of(path, other_levels="drop").notes == [says("1 rows", "dialect", "left out: 'thre'")]


# Recorded answers ---------------------------------------------------------------------------------------------------

COLUMNS = {"method": "from_table", "unit": "q", "level": "dialect", "text": "said", "draw": "draw"}


def recorded(rows: list[dict], path: Path, called: str = "m", **settings) -> tuple[pd.DataFrame, list[str]]:
    """The answers of a table to the questions of ``ASKED``, of the model that it has under this name."""
    asked = questions_of(write(ASKED, path.with_name("asked.csv")))
    columns = {key: value for key, value in (COLUMNS | settings).items() if value is not None}
    entry = Explainer.parse(columns | {"file": "any.csv"})
    answers, notes = read_answers(write(rows, path), entry, asked.items, asked.units, called)
    tables.write_table(answers, path.with_name("answers.parquet"), ANSWERS)
    return answers, notes


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_answers_are_the_same_from_every_kind_of_file(tmp_path, suffix):
    rows = [row | {"choice": "A" if row["draw"] else "", "warm": 0.5, "seconds": 2} for row in ASKED[::-1]]
    settings = {"decision": "choice", "temperature": "warm", "seconds": "seconds"}
    answers, notes = recorded(rows, tmp_path / f"table.{suffix}", **settings)
    assert answers["item_id"].tolist() == [f"{row['q']}/{row['dialect']}" for row in ASKED]
    assert answers["draw"].tolist() == [0, 1] * 6
    assert answers["decision"].fillna("none").tolist() == ["none", "A"] * 6
    assert answers[["model", "temperature", "seconds"]].drop_duplicates().to_numpy().tolist() == [["m", 0.5, 2.0]]
    assert answers[["prompt", "seed", "tokens"]].isna().all().all()
    assert notes == ["12 answers, 2 to a question", "of 12 answers 6 without a decision"]
    unnumbered, _ = recorded(ASKED, tmp_path / f"table.{suffix}", draw=None)
    assert unnumbered["draw"].tolist() == [0, 1] * 6


def test_texts_stay_as_they_came_and_what_is_unusual_is_counted(tmp_path):
    said = ["", "<b>No</b>", "right\u202eleft", "a\x07b", "a < b and c > d", "word " * (LONG + 1)]
    rows = [row | {"said": text} for row, text in zip(ASKED[:9], [*said, *["Fine."] * 3], strict=True)]
    answers, notes = recorded(rows, tmp_path / "table.jsonl")
    assert answers["text"].tolist() == [*said, *["Fine."] * 3]
    assert notes == [
        "9 answers, 1 to 2 to a question",
        "of 9 answers 9 without a decision, 1 empty, 1 longer than 10,000 words, 1 with markup, "
        "2 with control characters",
        "of 6 questions 1 unanswered, 1 with fewer than 2 answers",
    ]


def test_only_the_rows_of_the_model_count(tmp_path):
    rows = [row | {"who": who} for row in ASKED for who in ("gpt-x", 7)]
    answers, _ = recorded(rows, tmp_path / "table.jsonl", called="gpt-x", model="who")
    assert len(answers) == 12


@pytest.mark.parametrize(
    ("change", "settings", "message"),
    [
        ({"dialect": "three"}, {}, r"no question.*'q0'.*'three'.*unit"),
        ({"q": "q9"}, {}, r"no question.*'q9'.*'one'"),
        ({"q": ""}, {}, r"field 'q' \(unit\) is empty"),
        ({"draw": 1}, {}, r"second answer.*'q0/one' of draw 1"),
        ({"draw": None}, {}, r"field 'draw' \(draw\) is empty"),
        ({"draw": 0.5}, {}, "field 'draw' is 0.5, no whole number"),
        ({"draw": [0]}, {}, r"field 'draw' \(draw\) is \[0\].*one value"),
        ({"what": ["yes"]}, {"decision": "what"}, r"field 'what' \(decision\) is \['yes'\].*one value"),
        ({"said": ["a"]}, {}, r"field 'said' \(text\) is \['a'\], no text"),
        ({"warm": "hot"}, {"temperature": "warm"}, "field 'warm' is 'hot', no number"),
        ({}, {"level": None}, r"2 questions.*'q0' \(q0/one, q0/two\).*column of levels"),
    ],
)
def test_a_wrong_row_has_its_place_and_a_remedy(tmp_path, change, settings, message):
    rows = [ASKED[0] | change, *ASKED[1:]]
    with pytest.raises(InputError, match=rf"row [12]: .*{message}|row [12]: {message}"):
        recorded(rows, tmp_path / "table.jsonl", **settings)


def test_json_lines_end_with_a_line_feed_alone(tmp_path):
    """A text of a language model may have other separators of lines; a byte order mark may stand before all."""
    said = "One\u2028two\u0085three\x0bfour"
    path = tmp_path / "table.jsonl"
    lines = [json.dumps(row | {"said": said}, ensure_ascii=False) for row in ASKED]
    path.write_text("\ufeff" + "\r\n\n".join(lines), encoding="utf-8", newline="")
    rows = read_rows(path)
    assert [row["said"] for row in rows] == [said] * len(ASKED)
    assert rows[0]["q"] == "q0"


def test_a_line_that_is_no_json_has_its_place(tmp_path):
    path = write(ASKED, tmp_path / "table.jsonl")
    path.write_text(path.read_text() + '{"q": ')
    with pytest.raises(InputError, match=r"table.jsonl, row 13: not JSON \(.*\); write it again"):
        read_rows(path)
    path.write_text("[" * 100_000)
    with pytest.raises(InputError, match="row 1: not JSON"):
        read_rows(path)


def test_answers_to_other_questions_are_counted_where_the_study_says_so(tmp_path):
    rows = [*ASKED, ASKED[0] | {"q": "q9"}]
    answers, notes = recorded(rows, tmp_path / "table.csv", other_questions="drop")
    assert len(answers) == 12
    assert notes[-1] == says("1 further answers", "1 to questions")


def test_a_table_without_the_model_or_a_column_is_refused(tmp_path):
    rows = [row | {"who": "m"} for row in ASKED]
    with pytest.raises(InputError, match=r"no answer.*'other'.*rows of 'm'"):
        recorded(rows, tmp_path / "table.csv", called="other", model="who")
    with pytest.raises(InputError, match="no column 'said'"):
        recorded([{"q": "q0", "dialect": "one", "draw": 0}], tmp_path / "other.csv")


# Scores ------------------------------------------------------------------------------------------------------------


def test_metrics_by_hand():
    answers = pd.DataFrame(
        {"item_id": list("abc"), "text": ["", " one  two\nthree ", "No."], "decision": [None, "yes", "no"]}
    )
    asked = {"words": {"metric": "words"}, "undecided": {"metric": "no_decision"}}
    asked["yes"] = {"metric": "decision", "decision": "yes"}
    found, notes = scored(Metric.parse_all(asked | {"variety": {"metric": "mtld", "threshold": 0.72}}), answers)
    assert notes == [says("variety", "1 (no word)", "of 3 answers")]
    assert np.isnan(found["variety"]).all()
    assert found["words"].tolist() == [0, 3, 1]
    assert found["undecided"].tolist() == [1, 0, 0]
    assert np.array_equal(found["yes"], [np.nan, 1, 0], equal_nan=True)


class AnswerFiles(StudyFiles):
    """Files of a study whose scores are of answers; ``draws`` is float (draws, units, levels)."""

    def write_answers(self, draws: np.ndarray, seed: int = 0, explainer: str = "reasons", model: str = "small") -> Path:
        rows = [
            {"item_id": f"{unit}{level}", "pair_id": f"u{unit}", "group": level, "explainer": explainer, "words": 0.0}
            for unit in range(draws.shape[1])
            for level in ("female", "male")
        ]
        [path] = self.write(pd.DataFrame(rows), seed, "answers", model=model)
        scores = [
            {"item_id": row["item_id"], "draw": draw, "words": draws[draw, number // 2, number % 2]}
            for draw in range(len(draws))
            for number, row in enumerate(rows)
        ]
        tables.write_table(pd.DataFrame(scores).dropna(), path, ANSWER_SCORES, {"note": "as written"})
        return path


JUDGED = {"alpha": 0.05, "as_often_bound": 0.2, "smallest_effects": {}, "confidence": 0.95, "bootstrap_draws": 100}
JUDGED |= {"primary": {}, "noise": []}


STUDY = {"datasets": ["plots"], "models": {"small": (0,)}, "explainers": ["reasons"], "metrics": {"words": "answers"}}
STUDY |= {"comparisons": {"gender": [["male", "female"]]}}


def effects_of(files: AnswerFiles, **study) -> pd.DataFrame:
    return called(effect_tables, *files.folders, **STUDY | study, **JUDGED)[0]


def test_scores_of_an_item_are_the_mean_of_its_answers(tmp_path):
    files = AnswerFiles(tmp_path)
    draws = np.array([[[1.0, 4.0]], [[3.0, np.nan]]])
    path = files.write_answers(draws)
    run, names = Run("plots", "small", 0), {"words": "answers"}
    assert read_scores(files.scores, run, "reasons", names).to_numpy().tolist() == [["0female", 2.0], ["0male", 4.0]]
    assert read_scores(files.scores, run, "reasons", names, only_items=True)["item_id"].tolist() == ["0female", "0male"]
    assert read_draws(files.scores, run, "reasons", names).to_numpy().tolist() == [
        ["0female", 0, 1.0],
        ["0male", 0, 4.0],
        ["0female", 1, 3.0],
    ]
    twice = pd.concat([tables.read_table(path, ANSWER_SCORES)] * 2)
    tables.write_table(twice, path, ANSWER_SCORES)
    with pytest.raises(InputError, match=r"'0female'.*draw 0"):
        read_draws(files.scores, run, "reasons", names)


# What is said of draws ---------------------------------------------------------------------------------------------


def test_wins_are_of_means_of_as_many_draws_of_either_form(tmp_path):
    """A mean of few skewed draws is smaller than one of many in most questions, though neither form has more words."""
    files = AnswerFiles(tmp_path)
    draws = np.full((3, 20, 2), np.nan)
    # The first form has one answer of a word, the other one that, too, and two long ones; of five questions both have
    # two, and of these the first form has more words.
    draws[0], draws[1:, :, 1] = 1, 9
    draws[1, :5, 0] = 12
    files.write_answers(draws)
    [row] = effects_of(files).itertuples()
    assert [row.level_a, row.wins, row.losses, row.ties] == ["male", 0, 5, 15]
    assert (row.repeated, row.seeds) == ("draws", 1)


def test_verdicts_hold_for_these_answers_and_across_trainings_for_these_models(tmp_path):
    files = AnswerFiles(tmp_path)
    generator = np.random.default_rng(4)
    files.write_answers(generator.normal(0, 1, (6, 60, 2)) + np.array([0.0, 4.0]))
    [row] = effects_of(files).itertuples()
    assert (row.side, row.repeated, row.seeds) == (1, "draws", 1)
    assert row.difference == pytest.approx(4, abs=0.6)
    files.write_answers(generator.normal(0, 1, (6, 60, 2)) + np.array([0.0, 4.0]), seed=1)
    [row] = effects_of(files, models={"small": (0, 1)}).itertuples()
    assert (row.side, row.repeated, row.seeds, row.seeds_agree) == (1, "trainings", 2, 2)


def test_chance_alone_is_found_rarely():
    """Of forms without a difference, of which one was asked more often, and whose scores are skewed."""
    generator = np.random.default_rng(3)
    draws = np.exp(2 * generator.normal(0, 1, (2000, 1, 3, 60)))
    draws[:, :, 1:, 30:][generator.random((2000, 1, 2, 30)) < 0.7] = np.nan
    assert found_among(draws).mean() <= 0.05


def found_among(draws: np.ndarray) -> np.ndarray:
    """Which metrics have a verdict, of draws (metrics, seeds, draws, both forms of the questions)."""
    count = draws.shape[-1] // 2
    units = np.array([f"u{number}" for number in range(count)], dtype=object)
    names, scored = [f"m{number}" for number in range(len(draws))], np.ones((1, 2 * count), dtype=bool)
    values = np.nanmean(draws, axis=2)
    scores = ExplainerScores("plots", "small", "reasons", [0], names, values, scored, draws=draws)
    sides = [Side(units, units, start + np.arange(count), np.arange(count)) for start in (0, count)]
    judging = VerdictSettings.plain(alpha=0.05, as_often_bound=0.2, confidence=0.95, bootstrap_draws=2)
    [found] = counted_wins([scores], [Design(Comparison("gender", "male", "female"), True, *sides)], judging)
    return found.rows[P_SIDES].min(axis=1).to_numpy() <= 0.025


def test_what_draws_of_one_number_share_is_not_found():
    generator = np.random.default_rng(7)
    draws = generator.normal(0, 1, (1000, 1, 4, 60)) + generator.normal(0, 2, (1000, 1, 4, 1))
    draws[:, :, 0, 30:] = np.nan
    assert found_among(draws).mean() <= 0.06
    # Forms without a common number have as many draws, the first ones.
    apart = np.full((1, 1, 5, 60), np.nan)
    apart[..., :2, :30], apart[..., 2:, 30:] = 1.0, np.array([0.0, 2.0, 9.0])[:, None]
    assert not found_among(apart).any()


def test_explainers_may_have_answered_other_questions(tmp_path):
    files = AnswerFiles(tmp_path)
    generator = np.random.default_rng(5)
    whole = generator.normal(0, 1, (3, 40, 2))
    whole[:, :4] = np.nan
    files.write_answers(whole)
    files.write_answers(generator.normal(0, 1, (3, 40, 2)), explainer="others")
    assert effects_of(files, explainers=["reasons", "others"])["units_a"].tolist() == [36, 40]


# Draws against draws -----------------------------------------------------------------------------------------------


def test_between_and_within_by_hand():
    a, b = np.array([[0.0], [2.0], [4.0]]), np.array([[1.0], [1.0], [np.nan]])
    found = {name: value.tolist() for name, value in between_and_within(a, b).items()}
    # Pairs of a: 2, 4, 2; of b: 0. Between: 1, 1, 1, 1, 3, 3.
    assert found["difference"] == [1.0]
    assert found["absolute"] == pytest.approx([10 / 6])
    assert found["null"] == pytest.approx([(8 / 3 + 0) / 2])
    assert found["beyond"] == pytest.approx([10 / 6 - 8 / 6])
    assert np.isnan(between_and_within(a, b[:1])["beyond"]).all()


def test_forms_that_are_answered_alike_have_nothing_beyond():
    """However many draws there are, and however unlike their numbers; a difference is found as large as it is."""
    generator = np.random.default_rng(7)
    a, b = generator.gamma(2.0, size=(3, 20000)), generator.gamma(2.0, size=(7, 20000))
    b[2:, ::2] = np.nan
    found = between_and_within(a, b)
    assert found["beyond"].mean() == pytest.approx(0, abs=0.02)
    assert found["absolute"].mean() > 1
    far = between_and_within(a, b + 100)
    assert far["beyond"].mean() == pytest.approx(100 - found["null"].mean(), abs=0.1)


def test_real_answers_differ_as_much_as_their_draws(mirror):
    """Ten answers to each of 56 questions in two dialects (arXiv 2503.04099), counted in another way before: two draws
    differ by 63 words, and the dialects by 67.
    """
    words = {}
    for form in ("sae", "aave"):
        files = [
            mirror / "dialect" / "uncertainty" / "gpt-3.5" / f"{form}_uncertainty_{draw}.csv" for draw in range(10)
        ]
        read = [pd.read_csv(path).set_index("pure_question")["answer"].str.split().map(len) for path in files]
        words[form] = pd.concat(read, axis=1).sort_index().to_numpy(float).T
    found = between_and_within(words["sae"], words["aave"])
    assert found["absolute"].shape == (56,)
    assert found["absolute"].mean() == pytest.approx(67, abs=0.5)
    assert found["null"].mean() == pytest.approx(63.5, abs=0.5)
    assert found["difference"].mean() == pytest.approx(words["sae"].mean() - words["aave"].mean())


def test_forms_that_are_answered_alike_differ_as_two_draws_do(tmp_path):
    files = AnswerFiles(tmp_path)
    generator = np.random.default_rng(8)
    files.write_answers(generator.normal(0, 1, (5, 40, 2)))
    table = called(draw_table, *files.folders, **STUDY, confidence=0.95, bootstrap_draws=400)
    [row] = table.itertuples()
    assert (row.units, row.draws_a) == (40, 5)
    assert row.difference_low < 0 < row.difference_high
    assert row.absolute == pytest.approx(row.null, rel=0.15)
    assert row.beyond == pytest.approx(row.absolute - row.null)


# The study ---------------------------------------------------------------------------------------------------------


def test_the_example_is_read_as_it_was_written(example, tmp_path):
    """From its table to scores, against a plain reading of the file."""
    path = ROOT / "resources" / "answers" / "made.csv"
    reader = datasets.Reader.parse(example["datasets"]["cases"])
    import_dataset({reader.file: path}, reader, "cases", tmp_path / "items.parquet", tmp_path / "units.parquet")
    items, units = (pq.read_table(tmp_path / f"{name}.parquet").to_pandas() for name in ("items", "units"))
    plain = pd.read_csv(path)
    for model in example["models"].values():
        reasons = Explainer.parse(example["explainers"]["reasons"])
        answers, _ = read_answers(path, reasons, items, units, model["called"])
        of_model = plain[plain["model"] == model["called"]]
        assert len(answers) == len(of_model)
        metrics = {"undecided": {"metric": "no_decision"}, "words": {"metric": "words"}}
        scores, _ = scored(Metric.parse_all(metrics), answers)
        assert scores["undecided"].mean() == pytest.approx(of_model["decision"].isna().mean())
        # Tags are no words.
        untagged = of_model["reasons"].fillna("").str.replace("<[^>]*>", "", regex=True)
        assert scores["words"].sum() == untagged.str.split().map(len).sum()


TABLE = {"method": "from_table", "file": "a.csv", "text": "t"}
SERVICE = {"architecture": "service", "address": "https://host/x"}


def test_a_model_that_only_answers_needs_nothing(example):
    assert configuration.answers_only(example) == ["plain", "uneven"]
    assert configuration.seeds_of(example, "plain") == [0]
    assert not configuration.is_trained_here(example, "plain")
    assert configuration.modalities(example) == [TEXT]
    assert not configuration.needs_model("explainers", "from_table")
    assert not configuration.needs_model("metrics", "answers")


@pytest.mark.parametrize(
    ("model", "asked"),
    [
        ({"architecture": "answers"}, r"\{method: from_table, file: made\.csv, \.\.\.\}"),
        ({"architecture": "chat", "address": "https://h/v1"}, r"\{method: from_api, \.\.\.\}"),
        ({"architecture": "decoder", "source": "a/b"}, r"\{method: local_generation, \.\.\.\}"),
    ],
)
@pytest.mark.parametrize("metrics", [{}, {"metrics": {"words": {"metric": "words"}}}])
def test_answers_without_explainers_are_refused_by_what_is_missing_alone(example, model, asked, metrics):
    cases = {key: value for key, value in example["datasets"]["cases"].items() if key in WRITTEN} | {"file": "made.csv"}
    config = {"study": "mine", "datasets": {"cases": cases}, "models": {"it": model}, **metrics}
    config["statistics"] = {"compare": {"gender": [["male", "female"]]}}
    with pytest.raises(InputError, match=rf"has 1 problem .*\n  explainers: missing.*models\.it .*{asked}"):
        configuration.complete(config)
    # What else is wrong is still told, once.
    with pytest.raises(InputError, match=r"has 2 problems [^\n]*\n  seeds\[0\]: .*\n  explainers: missing"):
        configuration.complete(config | {"seeds": ["x"]})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"explainers": {"lime": {"method": "lime"}}}, 'explainers.lime.method: found "lime", and of models.plain'),
        ({"randomisation": {}}, "randomisation: makes layers"),
        ({"explain": {"pairs": 4}}, "explain.pairs: answers are"),
        ({"statistics": {"strata": {"cases": "correct"}}}, 'statistics.strata.cases: found "correct", and of'),
        ({"metrics": {"gini": {"metric": "gini"}}}, "about answers"),
        ({"models": {"net": SERVICE}}, "models.net: datasets.cases has questions"),
        ({"explainers": {"own": TABLE}}, "exactly one of"),
        ({"explainers": {"own": TABLE | {"item": "i", "level": "l"}}}, "names a form"),
        ({"explainers": {"own": TABLE | {"unit": "u"}}}, "explainers.own.file: has no {model}"),
        ({"explainers": {"own": TABLE | {"file": "https://h/a.csv", "item": "i"}}}, "of which sha256"),
    ],
)
def test_what_does_not_go_together_is_refused(monkeypatch, change, message):
    monkeypatch.chdir(ROOT)
    config = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))
    config |= {
        key: {**config.get(key, {}), **value} if key in ("statistics", "models") else value
        for key, value in change.items()
    }
    with pytest.raises(InputError) as refused:
        configuration.complete(config)
    assert message in str(refused.value)


def test_a_file_with_an_address_is_known_by_its_digest(tmp_path):
    url = "https://host.example/a folder/answers.csv?raw=1"
    content = tmp_path / "answers.csv"
    content.write_text("q,said\n", encoding="utf-8")
    name = sources.addressed(url, sources.digest(content))
    assert sources.source(name) == sources.Source(url, sources.digest(content))
    mirrored = tmp_path / "mirror" / name
    mirrored.parent.mkdir(parents=True)
    mirrored.write_bytes(content.read_bytes())
    sources.fetch(name, tmp_path / "fetched.csv", tmp_path / "mirror")
    assert (tmp_path / "fetched.csv").read_bytes() == content.read_bytes()
    mirrored.write_text("other", encoding="utf-8")
    with pytest.raises(InputError, match="wrong checksum"):
        sources.fetch(name, tmp_path / "fetched.csv", tmp_path / "mirror")
    assert sources.source("no/such/file") is None
