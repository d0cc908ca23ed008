"""The page of a study in a real browser: what it shows, held against the study, who can use it, how fast it opens."""

import base64
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from page_study import LABELS, PageStudy
from reading import AXE, DESK, PATIENCE, PHONE, StudyPage, colours
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.common.print_page_options import PrintOptions
from selenium.webdriver.support.wait import WebDriverWait
from test_page_words import AuditedStudy

from evenlight.core import tables
from evenlight.core.contracts.explanations import ATTRIBUTIONS, SCORES
from evenlight.core.contracts.texts import UNITS
from evenlight.reports.contrast import contrast_ratio
from evenlight.reports.index.page import write_page
from evenlight.statistics.comparisons.files import Run, attribution_path, score_path, units_path

HOSTILE = "</script><img/src=x/onerror=alert(1)>"


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> PageStudy:
    return PageStudy(tmp_path_factory.mktemp("study"))


@pytest.fixture(scope="module")
def page(study) -> Path:
    return study.write(study.folders.scores.parent / "index.html", study.effects())


@pytest.fixture
def reader(driver, page) -> StudyPage:
    return StudyPage(driver, page)


def pair_scores(study: PageStudy, explainer: str, metric: str) -> pd.DataFrame:
    """The scores of both forms of each pair, mean over the runs, and their difference, the largest first."""
    runs = [
        tables.read_table(
            score_path(study.folders.scores, Run("plots", "small", seed), "made", explainer), SCORES
        ).set_index("item_id")[metric]
        for seed in study.seeds
    ]
    scores = study.units.assign(score=study.units["item_id"].map(pd.concat(runs, axis=1).mean(axis=1)))
    pairs = scores.pivot(index="unit_id", columns="level", values="score")
    pairs["difference"] = pairs["male"] - pairs["female"]
    return pairs.sort_values("difference", key=np.abs, ascending=False)


def word_shares(study: PageStudy, explainer: str) -> pd.DataFrame:
    """A row for each word of each text: item, level, word and what stands above it."""
    parts = []
    for seed in study.seeds:
        path = attribution_path(study.folders.attributions, Run("plots", "small", seed), explainer)
        attribution_file = tables.read_table(path, ATTRIBUTIONS).set_index("item_id")["token_score"]
        for item, words in zip(study.items["item_id"], study.items["words"], strict=True):
            scores = attribution_file[item]
            # The first word has two tokens, and a token stands around the text on either side.
            sums = np.r_[scores[1] + scores[2], scores[3:-1]]
            parts.append(
                pd.DataFrame({"item": item, "place": range(len(words)), "word": words, "share": sums / abs(sums).max()})
            )
    shares = pd.concat(parts).groupby(["item", "place", "word"], as_index=False)["share"].mean()
    return shares.assign(level=shares["item"].map(study.units.set_index("item_id")["level"]))


def number(text: str) -> float:
    return float(text.replace("−", "-").replace(",", ""))


def test_the_first_view_is_whole_and_asks_nothing_of_the_network(reader, study):
    reader.open()
    assert reader.messages() == []
    asked = [json.loads(entry["message"])["message"] for entry in reader.driver.get_log("performance")]
    addresses = {entry["params"]["request"]["url"] for entry in asked if entry["method"] == "Network.requestWillBeSent"}
    assert {address for address in addresses if not address.startswith(("data:", "about:"))} <= {reader.page.as_uri()}
    cell = study.effects().query("explainer == 'ig' and metric == 'comprehensiveness'").iloc[0]
    counts = f"{cell['wins']}–{cell['losses']}–{cell['ties']}"
    assert reader.text("#badge") == f"{cell['verdict']} {counts}"
    won = f"In {cell['wins']} of 30 pairs “male”"
    assert reader.text("#meaning").startswith(won)
    assert "with all 4 comparisons considered." in reader.text("#meaning")
    difference = f"{cell['difference']:.3g}".replace("-", "−")
    listed = reader.ask("[...document.querySelectorAll('#said li')].map((item) => item.textContent)")
    assert any(f": {difference} [" in text for text in listed)
    assert reader.text("#status").endswith(": male more often")
    for chart in ("effects", "scores", "differences"):
        assert reader.ask("document.querySelectorAll(arguments[0]).length", f"#{chart} svg path") > 3
    assert reader.ask("[...document.querySelectorAll('#effects svg text')].map((text) => text.textContent)")[0:3]
    labels = reader.ask("[...document.querySelectorAll('#effects svg text')].map((text) => text.textContent)")
    assert {"Integrated gradients ◂", "LIME"} <= set(labels)


QUESTIONS = """[...document.querySelectorAll("#questions tbody tr")].map((row) =>
  [row.querySelector(".question").textContent, row.cells[2].textContent, row.cells[3].textContent,
   row.querySelector(".bar").ariaLabel,
   [...row.querySelectorAll(".bar i")].map((part) => part.getBoundingClientRect().width),
   row.querySelector("small").textContent])
"""


def test_the_page_opens_with_the_answer_and_every_question(reader, study):
    reader.open()
    effects = study.effects()
    assert reader.text("h1") == "Are explanations equally good for every group?"
    seen = {name: rest for name, *rest in reader.ask(QUESTIONS)}
    assert len(seen) == len(effects) == 4
    arrows = {"comprehensiveness": "↑", "gini": "↓"}
    for cell in effects.itertuples():
        name = f"{cell.metric.capitalize()} {arrows[cell.metric]} of {LABELS[cell.explainer]}"
        numbers, verdict, label, widths, units = seen[name]
        assert units == "Small BERT on plots: male against female (gender); 30 pairs"
        assert numbers == label == f"{cell.wins}–{cell.losses}–{cell.ties}"
        assert verdict == f"{ {1: 'M', 0: '?', -1: 'F'}[cell.side] } {cell.verdict}"
        # The parts of a bar are as long as the numbers are large: losses, ties, wins.
        counts = [cell.losses, cell.ties, cell.wins]
        assert [width / sum(widths) for width in widths] == pytest.approx([n / sum(counts) for n in counts], abs=0.01)
    # What names a group stands first, the smallest p before; and that is what the page shows at first.
    decided = effects[effects["side"] != 0].sort_values("p_adjusted")
    first = decided.iloc[0]
    assert reader.text("#opening p").startswith(f"{LABELS[first['explainer']]} explains")
    assert next(iter(seen)).startswith(f"{first['metric'].capitalize()} {arrows[first['metric']]} of")
    assert f"{LABELS[first['explainer']]} · {first['metric'].capitalize()}" in reader.text("#view")
    assert reader.ask("document.getElementById('opening').getBoundingClientRect().top") < 250


def test_a_question_leads_to_what_is_behind_it_and_back(reader):
    reader.open()
    last = reader.ask("[...document.querySelectorAll('.question')].map((link) => link.textContent)").index(
        "Gini ↓ of LIME"
    )
    reader.driver.find_elements(By.CSS_SELECTOR, ".question")[last].click()
    reader.until("document.activeElement.id === 'verdict-title'")
    assert reader.wait().text("#view") == "plots · Small BERT (3 runs) · LIME · Gini ↓ · male against female (gender)"
    assert abs(reader.ask("document.getElementById('cell').getBoundingClientRect().top")) < 5
    # Chosen once more, it leads there again, though the address stays.
    reader.driver.find_element(By.ID, "back").click()
    assert reader.focused() == reader.text("#questions [aria-current] .question")
    reader.press(Keys.ENTER)
    reader.until("document.activeElement.id === 'verdict-title'")
    # Who opens the address of a question is at it, with all questions above.
    other = StudyPage(reader.driver, reader.page).open(reader.ask("location.hash"))
    assert abs(other.ask("document.getElementById('cell').getBoundingClientRect().top")) < 5
    assert other.text("#questions [aria-current] .question") == "Gini ↓ of LIME"


def test_questions_are_filtered_sorted_and_told_in_words(reader, study):
    reader.open()
    listed = "[...document.querySelectorAll('.question')].map((link) => link.textContent)"
    reader.ask("document.querySelector('#filters summary').click()")
    # What all have alike is no choice.
    assert reader.ask("[...document.querySelectorAll('#question-filter label')].map((label) => label.hidden)") == [
        *(True, True, False, False, True, False, True),
    ]
    reader.choose("of-explainer", "lime")
    assert sorted(reader.ask(listed)) == ["Comprehensiveness ↑ of LIME", "Gini ↓ of LIME"]
    assert reader.text("#questions-found") == "2 questions of 4."
    reader.choose("of-metric", "gini")
    assert reader.ask(listed) == ["Gini ↓ of LIME"]
    reader.choose("of-metric", "").choose("of-explainer", "")
    reader.driver.find_element(By.CSS_SELECTOR, "#questions th[data-sort=question] button").click()
    assert reader.ask(listed) == sorted(reader.ask(listed))
    assert reader.ask("document.querySelector('th[data-sort=question]').ariaSort") == "ascending"
    reader.driver.find_element(By.CSS_SELECTOR, "#questions th[data-sort=wins] button").click()
    by_wins = study.effects().sort_values("net_benefit", ascending=False)
    assert [name.split(" of ")[1] for name in reader.ask(listed)] == [LABELS[name] for name in by_wins["explainer"]]
    reader.driver.find_element(By.CSS_SELECTOR, "#questions details summary").click()
    assert "pairs" in reader.text("#questions details p")


def many(study: PageStudy, factors: int) -> tuple[pd.DataFrame, dict]:
    """The effects of a study once for each of some factors, of which each has all texts; and what is compared."""
    one, names = study.effects(), [f"factor {number}" for number in range(factors)]
    units = tables.read_table(units_path(study.folders.datasets, "plots"), UNITS)
    more = pd.concat([units.assign(factor=name) for name in names])
    tables.write_table(more, units_path(study.folders.datasets, "plots"), UNITS)
    effects = pd.concat([one.assign(factor=name) for name in names], ignore_index=True)
    return effects, {name: [["male", "female"]] for name in names}


def test_thousands_of_questions_open_in_two_seconds(driver, tmp_path):
    metrics, explainers = [f"metric {number}" for number in range(12)], [f"e{number}" for number in range(12)]
    study = PageStudy(tmp_path, pairs=12, explainers=tuple(explainers), seeds=(0,), metrics=tuple(metrics))
    effects, comparisons = many(study, 20)
    page = study.write(tmp_path / "index.html", effects, comparisons=comparisons)
    assert page.stat().st_size < 3e6
    driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    reader = StudyPage(driver, page).open(f"#groups={comparison_name('factor 9')}", width=PHONE)
    spent = {
        metric["name"]: metric["value"] for metric in driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    }
    driver.execute_cdp_cmd("Performance.disable", {})
    assert 0.05 < spent["TaskDuration"] < 2, spent
    assert "all 2,880 questions" in reader.text("#opening")
    assert reader.ask("document.documentElement.scrollWidth") <= PHONE
    assert reader.text("#questions-found") == "2,880 questions of 2,880."
    rows = "document.querySelectorAll('#questions tbody tr').length"
    few = reader.ask(rows)
    assert few < 100
    reader.ask("document.getElementById('more-questions').click()")
    assert reader.ask(rows) == 2 * few
    reader.choose("of-groups", "factor 12 / male / female")
    assert reader.text("#questions-found") == "144 questions of 2,880."
    assert reader.messages() == []


def comparison_name(factor: str) -> str:
    return f"{factor} / male / female".replace(" ", "+").replace("/", "%2F")


def test_the_summary_has_the_groups_quartiles(reader, study):
    reader.open("#metric=gini&explainer=lime")
    pairs = pair_scores(study, "lime", "gini")
    for row, level in zip(reader.rows("summary"), ("male", "female"), strict=True):
        assert row[:2] == [level, "30"]
        expected = [pairs[level].mean(), *pairs[level].quantile([0.25, 0.5, 0.75])]
        assert [number(cell) for cell in row[2:]] == pytest.approx(expected, rel=6e-3)


def test_pairs_that_differ_most_come_first_and_can_be_filtered(reader, study):
    reader.open()
    pairs = pair_scores(study, "ig", "comprehensiveness")
    listed = reader.rows("list")
    assert [row[0] for row in listed] == list(pairs.index[:20])
    for row, expected in zip(listed, pairs.itertuples(), strict=False):
        assert [number(cell) for cell in row[1:]] == pytest.approx(
            [expected.male, expected.female, expected.difference], rel=6e-3, abs=1e-4
        )
    reader.driver.find_element(By.ID, "more-pairs").click()
    assert len(reader.rows("list")) == 30
    reader.choose("share", "10")
    assert [row[0] for row in reader.rows("list")] == list(pairs.index[:3])
    reader.choose("share", "100").choose("order", "second")
    assert [row[0] for row in reader.rows("list")] == list(pairs.sort_values("difference").index[:20])
    reader.choose("find", "QUEE")
    with_queen = set(study.units.loc[study.items["words"].str[0] == "queen", "unit_id"])
    assert {row[0] for row in reader.rows("list")} == with_queen
    assert reader.text("#found") == f"{len(with_queen)} pairs of 30"


def test_a_pair_stands_side_by_side_with_its_words_coloured(reader, study):
    reader.open("#pair=p7&explainer=lime")
    shares = word_shares(study, "lime")
    assert reader.text("#pair-title").startswith("Pair p7, ")
    sides = reader.driver.find_elements(By.CSS_SELECTOR, "#sides > div")
    boxes = [side.rect for side in sides]
    assert boxes[0]["y"] == boxes[1]["y"]
    assert boxes[0]["x"] < boxes[1]["x"]
    for side, item, level in zip(sides, ("m7", "f7"), ("male", "female"), strict=True):
        expected = shares[shares["item"] == item]
        words = side.find_elements(By.CLASS_NAME, "word")
        seen = [
            reader.ask(
                "((word) => [word.firstChild.data, word.className, word.style.getPropertyValue('--share')])"
                "(arguments[0])",
                word,
            )
            for word in words
        ]
        assert [word for word, _, _ in seen] == list(expected["word"])
        assert [float(strength) for _, _, strength in seen] == pytest.approx(list(abs(expected["share"])), abs=0.005)
        assert ["against" in look for _, look, _ in seen] == [share < -0.004 for share in expected["share"]]
        assert ["different" in look for _, look, _ in seen] == [True] + [False] * (len(seen) - 1)
        assert side.find_element(By.TAG_NAME, "h5").text == level
        assert f"the class “{('male', 'female')[level == 'female']}”" in side.text


def test_interactions_stand_below_the_text_whose_words_they_are_of(driver, tmp_path):
    study = PageStudy(tmp_path, pairs=2, seeds=(0,))
    study.keep_pairs("ig", 0, {"m0": [(0, 2, 0.5), (1, 2, -0.25)]})
    reader = StudyPage(driver, study.write(tmp_path / "index.html", study.effects()))
    reader.open("#pair=p0")
    listed = "[...document.querySelectorAll('#sides > div')].map((side) => [...side.querySelectorAll('.together li')]"
    first, second = reader.ask(listed + ".map((line) => line.textContent))")
    words = study.items.set_index("item_id").loc["m0", "words"]
    assert [line.split(":")[0] for line in first] == [f"“{words[one]}” and “{words[2]}”" for one in (0, 1)]
    strong, weak = (number(line.split(": ")[1]) for line in first)
    assert strong > 0 > weak
    assert strong == pytest.approx(-2 * weak, abs=0.03)
    assert second == []
    reader.open("#pair=p0&explainer=lime")
    assert reader.ask(listed + ".length)") == [0, 0]


@pytest.mark.parametrize("order", ["often", "difference"])
def test_words_have_count_and_mean_by_group(reader, study, order):
    reader.open(f"#least=1&word-order={order}")
    shares = word_shares(study, "ig").assign(word=lambda table: table["word"].str.lower())
    expected = shares.groupby(["word", "level"])["share"].agg(["size", "mean"]).unstack("level")
    rows = reader.rows("words")
    assert len(rows) == 20
    for word, male, male_mean, female, female_mean, difference in rows:
        for count, mean, level in ((male, male_mean, "male"), (female, female_mean, "female")):
            size = expected.loc[word, ("size", level)]
            assert int(count) == (0 if np.isnan(size) else size)
            if int(count):
                assert number(mean) == pytest.approx(expected.loc[word, ("mean", level)], abs=0.011)
        if int(male) and int(female):
            both = expected.loc[word, "mean"]
            assert number(difference) == pytest.approx(both["male"] - both["female"], abs=0.011)
    if order == "often":
        counts = [int(row[1]) + int(row[3]) for row in rows]
        assert counts == sorted(counts, reverse=True)
    else:
        differences = [abs(number(row[5])) for row in rows if row[5] != "–"]
        assert differences == sorted(differences, reverse=True)
    assert reader.choose("word", "aun").rows("words")[0][0] == "aunt"


def test_the_address_names_the_view(reader):
    reader.open().choose("explainer", "lime").choose("metric", "gini").choose("order", "first").choose("find", "house")
    reader.driver.find_elements(By.CSS_SELECTOR, "#list tbody button")[2].click()
    reader.wait()
    address = reader.ask("location.hash")
    seen = reader.text("#badge"), reader.rows("list"), reader.text("#sides"), reader.rows("words")
    other = StudyPage(reader.driver, reader.page).open(address)
    assert (other.text("#badge"), other.rows("list"), other.text("#sides"), other.rows("words")) == seen
    assert other.text("#view") == "plots · Small BERT (3 runs) · LIME · Gini ↓ · male against female (gender)"
    other.driver.execute_script("location.hash = ''")
    assert other.wait().text("#view").count("Integrated gradients · Comprehensiveness ↑") == 1
    other.driver.back()
    assert other.wait().rows("list") == seen[1]
    # What is not there is the first, or the default; nothing breaks.
    other.open("#dataset=none&explainer=__proto__&share=7&order=toString&pair=none&least=x&groups=%")
    assert other.text("#pair-title").endswith("1 of 30")
    assert other.messages() == []


def test_a_keyboard_is_enough(reader):
    reader.open()
    order = []
    for _ in range(50):
        reader.press(Keys.TAB)
        order.append(reader.focused())
        if order[-1] == "Next":
            break
    named = [
        name
        for name in order
        if name in ("dataset", "model", "explainer", "metric", "groups", "order", "share", "find")
    ]
    assert order[:3] == ["Skip to the answer", "Answer", "Every question"]
    assert {"What do these words mean?", "How do I read a row?", "Filter", "back"} <= set(order[3:])
    assert named == ["dataset", "model", "explainer", "metric", "groups", "order", "share", "find"]

    reader.open().press(Keys.TAB, Keys.ENTER)
    assert reader.focused() == "answer-title"
    # A way to a section is none to another view.
    reader.driver.find_element(By.CSS_SELECTOR, "nav li:last-child a").click()
    assert (reader.focused(), reader.ask("location.hash")) == ("evidence-title", "")
    reader.open().ask("document.getElementById('model').focus()")
    reader.press(Keys.TAB, Keys.ARROW_DOWN).wait()
    assert reader.focused() == "explainer"
    assert "LIME" in reader.text("#view")
    button = reader.driver.find_elements(By.CSS_SELECTOR, "#list tbody button")[3]
    name = button.text
    reader.driver.execute_script("arguments[0].focus()", button)
    reader.press(Keys.ENTER).wait()
    assert (reader.focused(), reader.text("#pair-title")) == ("pair-title", f"Pair {name}, 4 of 30")
    reader.press(Keys.TAB, Keys.TAB, Keys.ENTER).wait()
    assert (reader.focused(), reader.text("#pair-title")[-7:]) == ("next", "5 of 30")
    assert reader.ask("document.querySelectorAll('#list [aria-current]').length") == 1


@pytest.fixture(scope="module")
def audited(tmp_path_factory) -> Path:
    """A page with all of its sections."""
    study = AuditedStudy(tmp_path_factory.mktemp("audited"), length=60)
    told = study.audit(study.effects())
    write_page(told.content, told.store, study.folders.scores.parent / "index.html", None, None)
    return study.folders.scores.parent / "index.html"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, DESK])
def test_everybody_can_use_a_page_with_all_sections(driver, audited, axe, width, scheme):
    reader = StudyPage(driver, audited).open(width=width, scheme=scheme)
    for part in ("sure", "untested", "notes", "evidence"):
        assert reader.ask("document.getElementById(arguments[0]).checkVisibility()", f"{part}-title"), part
    reader.ask("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    driver.set_script_timeout(PATIENCE)
    driver.execute_script(axe)
    found = driver.execute_async_script(AXE)
    assert [(each["id"], each["nodes"][0]["html"][:300]) for each in found["violations"]] == []
    # Nothing is cut: what is wider than the window scrolls by itself, and no two tables have one caption.
    assert reader.ask("document.documentElement.scrollWidth") <= width
    captions = reader.ask("[...document.querySelectorAll('caption')].map((caption) => caption.textContent)")
    assert len(captions) == len(set(captions)) > 2
    ends = "[...document.querySelectorAll('caption')].map((caption) => caption.getBoundingClientRect().right)"
    assert max(reader.ask(ends)) <= width
    assert reader.messages() == []


def test_it_is_printed_whole(driver, audited):
    reader = StudyPage(driver, audited).open(width=720, media="print")
    assert reader.ask("document.documentElement.scrollWidth") <= 720
    flows = "[...document.querySelectorAll('.scroll')].map((box) => getComputedStyle(box).overflowX)"
    assert set(reader.ask(flows)) == {"visible"}
    assert not reader.ask("document.querySelector('.skip').checkVisibility()")
    assert reader.ask("[...document.querySelectorAll('details p')].every((answer) => answer.checkVisibility())")
    assert base64.b64decode(reader.driver.print_page(PrintOptions())).startswith(b"%PDF")


def test_no_number_of_a_question_is_cut(reader):
    """A table where there is room for it, else a card for each."""
    reader.open()
    ends = "[...document.querySelectorAll('#questions :is(td, th)')].map((cell) => cell.getBoundingClientRect().right)"
    for width in (PHONE, 768, 1025, 1366):
        reader.resize(width)
        assert max(reader.ask(ends)) <= width
        shown = reader.ask("getComputedStyle(document.querySelector('#questions tr')).display")
        assert shown == ("table-row" if width > 1024 else "flex")


def test_no_choice_is_cut(reader):
    """Each select is as wide as its longest name wants."""
    reader.open()
    narrower = """[...document.querySelectorAll("select")].filter((select) => {
      const free = select.cloneNode(true);
      free.style.cssText = "position: absolute; width: max-content";
      select.after(free);
      const cut = select.getBoundingClientRect().width < free.getBoundingClientRect().width - 1;
      free.remove();
      return cut;
    }).map((select) => select.id)"""
    for width in (PHONE, 768, 1366):
        assert reader.resize(width).ask(narrower) == [], width


def test_a_phone_shows_that_a_table_goes_on(reader):
    """The edge fades where more is to the right, until one is there; nowhere where all of it is seen."""
    faded = "getComputedStyle(document.querySelector('#words').parentElement).maskImage !== 'none'"
    reader.open(width=PHONE)
    reader.until(faded)
    reader.ask("document.querySelector('#words').parentElement.scrollTo({ left: 9999, behavior: 'instant' })")
    reader.until(f"!({faded})")
    reader.open()
    assert not reader.ask("document.querySelector('.scroll.more')")


def test_a_word_and_its_number_stay_on_one_line(driver, tmp_path):
    subjects = dict.fromkeys(("male", "female"), ("misdemeanour", "counterrevolutionaries"))
    study = PageStudy(tmp_path, pairs=6, seeds=(0,), words=subjects, length=40)
    reader = StudyPage(driver, study.write(tmp_path / "index.html", None))
    # The lines of each text node: of words, and of the numbers above them.
    lines = """[...document.querySelectorAll("#sides .word, #sides .word rt")].map((element) => {
      const range = document.createRange();
      range.selectNodeContents(element.firstChild);
      return range.getClientRects().length;
    })"""
    reader.open(width=PHONE)
    for width in range(PHONE, PHONE + 200, 8):
        found = reader.resize(width).ask(lines)
        assert len(found) > 20
        assert set(found) == {1}
    assert reader.ask("document.documentElement.scrollWidth") <= width


def test_long_words_and_small_numbers_widen_no_table(driver, tmp_path):
    study = PageStudy(tmp_path, pairs=6, seeds=(0,), words=dict.fromkeys(("male", "female"), ("x" * 120, "queen")))
    path = score_path(study.folders.scores, Run("plots", "small", 0), "made", "ig")
    scores = tables.read_table(path, SCORES)
    tables.write_table(scores.assign(comprehensiveness=scores["comprehensiveness"] * 1e-6), path, SCORES)
    reader = StudyPage(driver, study.write(tmp_path / "index.html", None))
    scrolled = "[...document.querySelectorAll('.scroll')].filter((box) => box.scrollWidth > box.clientWidth + 1)"
    lines = """((cell) => {
      const range = document.createRange();
      range.selectNodeContents(cell);
      return range.getClientRects().length;
    })([...document.querySelectorAll("#words th")].find((cell) => cell.textContent === "queen"))"""
    for media, width in (("screen", 390), ("screen", 1366), ("print", 720)):
        reader.open("#least=1", width=width, media=media)
        assert reader.ask(f"{scrolled}.map((box) => box.ariaLabel)") == []
        # A word that has room is not broken.
        assert reader.ask(lines) == 1
    assert re.fullmatch(r"−?\d\.\d\de−\d", reader.rows("summary")[0][2])


def test_no_word_is_cut_at_the_edge_of_its_card(driver, tmp_path):
    subjects = dict.fromkeys(("male", "female"), ("misdemeanour", "counterrevolutionaries" * 3))
    study = PageStudy(tmp_path, pairs=6, seeds=(0,), words=subjects, length=40)
    reader = StudyPage(driver, study.write(tmp_path / "index.html", None))
    beyond = """((text) => [...text.querySelectorAll(".word, rt")].filter((word) =>
      word.getBoundingClientRect().right > text.getBoundingClientRect().right + 1).map((word) => word.textContent))"""
    for pair in ("p0", "p1"):
        reader.open(f"#pair={pair}")
        for width in (PHONE, 768, 1024, 1280, 1366):
            reader.resize(width)
            assert reader.ask("document.querySelectorAll('.marked .word').length") > 8
            assert reader.ask(f"[...document.querySelectorAll('.marked')].flatMap({beyond})") == [], width


def test_the_chart_has_the_share_and_the_limits_of_the_table(reader, study):
    reader.open()
    drawn = "[...document.querySelectorAll('#effects svg [role=graphics-symbol]')].map((one) => one.ariaLabel)"
    labels = [label for label in reader.ask(drawn) if "explainer: " in label]
    for cell in study.effects().query("metric == 'comprehensiveness'").itertuples():
        own = [label for label in labels if f"explainer: {LABELS[cell.explainer]}" in label]
        found = [[float(part) for part in re.findall(r": ([\d.]+)", label)] for label in own]
        ends = [[cell.family_low, cell.family_high], [cell.low, cell.high], [cell.share]]
        for numbers, expected in zip(sorted(found, key=len, reverse=True), ends, strict=True):
            assert numbers == pytest.approx([100 * value for value in expected], abs=2e-3)


@pytest.mark.parametrize(("media", "scheme"), [("screen", "light"), ("screen", "dark"), ("print", "dark")])
def test_all_text_can_be_read(reader, media, scheme):
    reader.open(media=media, scheme=scheme)
    pieces = colours(reader)
    assert len(pieces) > 100
    assert [(text, ink, ground) for text, ink, ground in pieces if contrast_ratio(ink, ground) < 4.5] == []
    ground = reader.ask("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(20, 23, 26)" if (media, scheme) == ("screen", "dark") else "rgb(255, 255, 255)")


def test_print_has_the_view_and_no_controls(reader):
    reader.open("#explainer=lime", media="print", scheme="dark")
    assert (
        reader.ask("[...document.querySelectorAll('select, input, [data-save]')].some((box) => box.checkVisibility())")
        is False
    )
    assert reader.driver.find_element(By.ID, "view").is_displayed()
    assert "LIME" in reader.text("#view")
    assert reader.ask("getComputedStyle(document.querySelector('#scores svg text')).fill") == "rgb(0, 0, 0)"


def test_every_question_of_every_kind_is_on_paper_whatever_is_listed(driver, tmp_path):
    """The page lists primary questions first, and of those so many; afterwards it has what it had."""
    study = PageStudy(tmp_path, pairs=12, seeds=(0,))
    effects, comparisons = many(study, 10)
    families = {"lime": "primary", "ig": "exploratory"}
    effects = effects.assign(family=effects["explainer"].map(families))
    page = study.write(tmp_path / "index.html", effects, comparisons=comparisons)
    reader = StudyPage(driver, page).open()
    rows, counts = "document.querySelectorAll('#questions tbody tr').length", []
    for event in ("", "beforeprint", "afterprint"):
        if event:
            reader.ask("window.dispatchEvent(new Event(arguments[0]))", event)
        counts.append((reader.ask(rows), reader.text("#questions-found")))
    assert counts == [(20, "20 questions of 40."), (40, "40 questions of 40."), (20, "20 questions of 40.")]


def test_a_chart_is_saved_as_a_vector_file(reader, tmp_path):
    reader.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    reader.open()
    reader.driver.find_element(By.CSS_SELECTOR, "[data-save=effects]").click()
    file = tmp_path / "effects.svg"
    WebDriverWait(reader.driver, PATIENCE, 0.05).until(lambda _: file.exists())
    assert "<svg" in file.read_text(encoding="utf-8")
    assert "Integrated gradients" in file.read_text(encoding="utf-8")
    assert [
        link.get_attribute("href") for link in reader.driver.find_elements(By.CSS_SELECTOR, "#effects-files a")
    ] == [(reader.page.parent / f"figures/effects/plots.{form}").as_uri() for form in ("svg", "pdf")]


def test_markup_in_the_data_is_shown_as_text(driver, tmp_path):
    subjects = {"male": (HOSTILE, "king"), "female": ("<b>queen</b>", HOSTILE)}
    study = PageStudy(tmp_path, pairs=6, seeds=(0,), words=subjects)
    labels = {"study": HOSTILE, "models": {"small": HOSTILE}, "explainers": {"ig": HOSTILE, "lime": "LIME"}}
    reader = StudyPage(driver, study.write(tmp_path / "index.html", study.effects(), **labels)).open("#pair=p0&least=1")
    assert reader.messages() == []
    assert HOSTILE in reader.text(".about")
    assert reader.ask("document.images.length") == 0
    words = reader.ask("[...document.querySelectorAll('#sides .word')].map((word) => word.firstChild.data)")
    assert {HOSTILE, "<b>queen</b>"} <= set(words)
    assert HOSTILE in [row[0] for row in reader.rows("words")]
    # A script that comes in all the same does not run.
    driver.execute_script(
        "const box = document.createElement('div'); box.innerHTML = '<img src=x onerror=\"window.ran = 1\">';"
        "document.body.append(box); const code = document.createElement('script');"
        "code.textContent = 'window.ran = 1'; document.body.append(code);"
    )
    assert driver.execute_async_script("setTimeout(() => arguments[0](window.ran ?? null), 200)") is None


LONG = "a label of three hundred characters " * 9


@pytest.mark.parametrize("width", [390, 768, DESK])
def test_long_labels_emoji_and_texts_from_right_to_left_stay_whole(driver, tmp_path, width):
    words = {"male": ("מלך", "הוא"), "female": ("👩‍👩‍👧", "היא")}
    study = PageStudy(tmp_path, pairs=6, seeds=(0,), words=words)
    labels = {"models": {"small": LONG[:300]}, "explainers": {"ig": LONG[:300], "lime": "שלום"}}
    page = study.write(tmp_path / "index.html", study.effects(), datasets={"plots": "😀 طعام"}, **labels)
    reader = StudyPage(driver, page).open("#pair=p1", width=width)
    assert reader.messages() == []
    assert reader.ask("document.documentElement.scrollWidth") <= width
    # A text that begins from the right is read from there, word by word.
    directions = "[...document.querySelectorAll('.marked')].map((text) => getComputedStyle(text).direction)"
    assert reader.ask(directions) == ["rtl", "rtl"]
    places = "[...document.querySelectorAll('.marked')[0].children].map((word) => word.getBoundingClientRect().left)"
    first, second, *_ = reader.ask(places)
    assert first > second


def test_fifty_models_and_a_group_without_a_text(driver, tmp_path):
    study, names = PageStudy(tmp_path, pairs=4, seeds=(0,)), [f"model{number}" for number in range(50)]
    for name in names:
        study.folders.scores.joinpath("plots", name).symlink_to("small")
        for folder in (study.folders.attributions, study.folders.predictions):
            folder.joinpath("plots", name).symlink_to("small")
    effects = pd.concat([study.effects().assign(model=name) for name in names], ignore_index=True)
    of_models = {"models": {name: name.capitalize() for name in names}, "seeds": {name: [0] for name in names}}
    compared = {"gender": [["male", "female"], ["male", "nobody"]]}
    page = study.write(tmp_path / "index.html", effects, comparisons=compared, **of_models)
    reader = StudyPage(driver, page).open(width=PHONE)
    assert reader.messages() == []
    assert "all 200 questions" in reader.text("#opening")
    assert reader.ask("document.getElementById('model').options.length") == 50
    assert reader.ask("document.getElementById('of-model').options.length") == 51
    # What has no text is no choice.
    assert reader.ask("document.getElementById('groups').options.length") == 1
    assert reader.ask("document.documentElement.scrollWidth") <= PHONE


@pytest.mark.parametrize("how", ["unpaired", "described", "without texts"])
def test_studies_of_other_shapes(driver, tmp_path, how):
    study = PageStudy(tmp_path, pairs=15, seeds=(0,), unpaired=how == "unpaired")
    changed = {"comparisons": {}} if how == "described" else {}
    effects = None if how == "described" else study.effects()
    page = study.write(tmp_path / "index.html", effects, texts=how != "without texts", **changed)
    reader = StudyPage(driver, page).open()
    assert reader.messages() == []
    assert reader.ask("document.getElementById('pairs-title').hidden") == (how == "unpaired")
    assert ("no verdict" in reader.text("#badge")) == (how == "described")
    assert ("no verdict" in reader.text("#opening")) == (how == "described")
    assert reader.ask("document.getElementById('sure-title') === null") == (how == "described")
    if how == "described":
        summary = [number(row[2]) for row in reader.rows("summary")]
        means = dict(reader.rows("questions"))
        [of_view] = [mark for name, mark in means.items() if name.startswith("Comprehensiveness ↑ of Integrated")]
        assert [number(part) for part in of_view.split(" / ")] == pytest.approx(summary, rel=6e-3)
    assert reader.driver.find_element(By.ID, "effects").is_displayed() == (how != "described")
    shown = (
        reader.driver.find_element(By.ID, "pair").is_displayed(),
        reader.driver.find_element(By.ID, "words").is_displayed(),
    )
    assert shown == (how != "without texts",) * 2
    if how == "unpaired":
        listed = reader.rows("list")
        assert all(sum(cell == "–" for cell in row) == 1 for row in listed)
        assert len(reader.driver.find_elements(By.CSS_SELECTOR, "#sides > div")) == 1
        assert reader.text("#found") == "30 texts of 30"


def test_a_dataset_offers_its_own_models_and_explainers(driver, tmp_path):
    study = PageStudy(tmp_path, pairs=5, seeds=(0,))
    explainers, (*kept, left) = [LABELS[name] for name in study.explainers], study.explainers
    of_runs = (study.folders.scores, study.folders.attributions, study.folders.predictions)
    for folder in (*of_runs, study.folders.datasets):
        shutil.copytree(folder / "plots", folder / "films")
    for folder in of_runs:
        shutil.copytree(folder / "films" / "small", folder / "films" / "large")
        for path in (folder / "films").rglob(f"{left}.parquet"):
            path.unlink()
    page = study.write(
        tmp_path / "index.html",
        None,
        datasets={"plots": "Plots", "films": "Films"},
        models={"small": "Small", "large": "Large"},
        seeds={"small": [0], "large": [0]},
        only={"models": {"large": ["films"]}, "explainers": {left: ["plots"]}},
    )
    reader = StudyPage(driver, page).open(f"#explainer={left}")
    offered = "return [...document.querySelectorAll(`#${arguments[0]} option`)].map((each) => each.textContent)"
    shown = [[driver.execute_script(offered, name) for name in ("model", "explainer")]]
    reader.choose("dataset", "films")
    shown.append([driver.execute_script(offered, name) for name in ("model", "explainer")])
    assert shown == [[["Small"], explainers], [["Small", "Large"], [LABELS[name] for name in kept]]]
    assert reader.messages() == []
    assert f"explainer '{left}' is for dataset 'plots' only" in reader.text("body")


@pytest.mark.slow
def test_ten_thousand_pairs_and_six_explainers_open_in_two_seconds(driver, tmp_path):
    metrics = ("comprehensiveness", "sufficiency", "gini", "sparsity", "mass_accuracy")
    explainers = ("grad", "gxi", "ig", "igxi", "lime", "shap")
    study = PageStudy(tmp_path, pairs=10_000, explainers=explainers, seeds=(0,), length=40, metrics=metrics)
    page = study.write(tmp_path / "index.html", None)
    assert page.stat().st_size < 10e6
    reader = StudyPage(driver, page)
    # Of the processor and not of the clock, which runs on while the machine of a test is busy with others. What is more
    # than the page's own, such as that of a blank page before it, counts against it.
    driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    reader.open()
    metrics = driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    seconds = {metric["name"]: metric["value"] for metric in metrics}
    driver.execute_cdp_cmd("Performance.disable", {})
    assert 0.05 < seconds["TaskDuration"] < 2, seconds
    assert reader.text("#found") == "10,000 pairs of 10,000"
    assert reader.messages() == []
    differences = [row[-1] for row in reader.choose("word-order", "often").rows("words")]
    assert "0.00" in differences
    assert "−0.00" not in differences
    assert reader.choose("explainer", "shap").choose("find", "king").rows("list")
