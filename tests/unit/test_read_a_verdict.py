"""The guide to verdicts: short, with every word that the code has for one, and linked where a reader meets one."""

import hashlib
import re
from pathlib import Path

import pandas as pd
import pytest

from evenlight import configuration
from evenlight.reports.pages.effects import VERDICTS, effect_cell
from evenlight.reports.questions import READ, answer
from evenlight.reports.text import signed
from evenlight.statistics.verdicts import CONTROL

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "read_a_verdict.md"
ENDING = (" for these trained models", " for these answers")
# Another kind of processor trains another model. That of the guide is of an AMD EPYC (family 26, model 2).
MODEL = "models/demo_subj/small_bert/seed0/model.safetensors"
SHA256 = "f8db13ce98687226d9f58144707ae6ec1673d03070dcadc4f1b385c4d19c5a86"


def test_it_has_at_most_700_words_in_short_sentences():
    text = re.sub(r"\]\([^)]*\)", "]", GUIDE.read_text(encoding="utf-8"))
    assert len([word for word in text.split() if re.search(r"\w", word)]) <= 700
    prose = " ".join(line for line in text.splitlines() if line and line[0] not in "#|!")
    assert max(len(sentence.split()) for sentence in re.split(r"(?<=[.:?])\s", prose)) <= 25


def test_its_table_has_the_words_and_signs_of_the_code():
    rows = [line.split(" | ")[:2] for line in GUIDE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    told = {verdict: sign.removeprefix("| ") for sign, verdict in rows}
    signs = {verdict: sign for verdict, (sign, _) in VERDICTS.items()}
    assert {verdict: told.get(verdict) for verdict in signs if not verdict.endswith(ENDING)} == {
        verdict: sign for verdict, sign in signs.items() if not verdict.endswith(ENDING)
    }
    # The others are said in one sentence.
    said = GUIDE.read_text(encoding="utf-8")
    assert all(f"{sign}" in said for verdict, sign in signs.items() if verdict.endswith(ENDING))


@pytest.mark.parametrize("page", ["README.md", "docs/use.md", "docs/audit.md", "docs/explorer.md"])
def test_who_meets_a_verdict_finds_it(page):
    links = re.findall(r"\]\(([^)#]*)", (ROOT / page).read_text(encoding="utf-8"))
    assert GUIDE in [((ROOT / page).parent / link).resolve() for link in links]


def test_pages_name_a_file_that_is_there():
    named = re.findall(r"docs/\w+\.md", READ[1])
    assert len(named) == 2
    assert all((ROOT / name).is_file() for name in named)


def test_the_demo_has_as_many_questions_as_the_guide_says():
    demo = configuration.of_file(ROOT / "config" / "demo.yaml")
    yardsticks = configuration.no_hypotheses(demo)
    pairs = sum(len(sets) for sets in demo["statistics"]["compare"].values())
    places = len(demo["datasets"]) * len(demo["models"]) * len(demo["metrics"]) * pairs
    guide = GUIDE.read_text(encoding="utf-8")
    questions = re.findall(r"[Oo]f (\d+) (?:cells|questions)|has (\d+) such questions", guide)
    assert len(questions) == 3
    asked = places * (len(demo["explainers"]) - len(yardsticks))
    assert {int(first or second) for first, second in questions} == {asked}
    assert re.findall(r"Its (\d+) cells of random", guide) == [str(places * len(yardsticks))]


@pytest.fixture(scope="module")
def effects():
    """The effects of the demo, where it was run here, and its model is that of the guide."""
    demo = ROOT / "results" / "demo"
    if not (demo / "tables" / "effects.parquet").exists():
        pytest.skip("the numbers of the guide are not compared, since the demo was not run here (make demo)")
    if hashlib.sha256((demo / MODEL).read_bytes()).hexdigest() != SHA256:
        pytest.skip("the numbers of the guide are not compared, since the models trained here are other ones")
    return pd.read_parquet(demo / "tables" / "effects.parquet")


def test_the_numbers_of_the_guide_are_those_of_the_demo(effects):
    guide = GUIDE.read_text(encoding="utf-8")
    asked = effects[effects["family"] != CONTROL]
    said = answer(asked["verdict"])
    confirmed, still_open = re.search(r"confirmed in (\d+), .* and (\d+) are open", said).groups()
    assert f"of {len(asked)} cells a disparity is confirmed in {confirmed}, and {still_open} are open" in guide
    assert f"can be decided, here {asked['reason'].isna().sum()};" in guide
    cells = effects[effects["dataset"] == "demo_books"].set_index(["model", "explainer", "metric"])
    for place in (("small_bert", "lime", "comprehensiveness"), ("ola_cea", "lime", "gini")):
        sign, number, interval = effect_cell(cells.loc[place]).text.split(" n ")[0].split(" ", 2)
        row = re.search(rf"^\| {re.escape(sign)} \|.* `{place[0]}`, `{place[1]}`, {place[2]}: .*$", guide, re.M | re.I)
        assert f": {number} {interval}" in row[0]
    lime = cells.loc["small_bert", "lime", "comprehensiveness"]
    assert f"here from {signed(lime['standardised_low'])} to {signed(lime['standardised_high'])}" in guide
    assert f"it is {cells.loc['ola_cea', 'lime', 'gini']['p_models_adjusted']:.2g}." in guide
    random = cells.loc["small_bert", "uniform_random", "comprehensiveness"]
    assert f"(`small_bert`, comprehensiveness: {signed(random['standardised'])}, dashed in the map)" in guide
    decidable = asked[asked["reason"].isna()]
    width = decidable["standardised_models_high"] - decidable["standardised_models_low"]
    low, high = decidable.loc[width.idxmin(), ["standardised_models_low", "standardised_models_high"]]
    assert f"[{signed(low)}, {signed(high)}], is too wide" in guide
