"""The review page in a real browser, driven by keyboard: decisions, progress, export and import, and who can use it."""

import json
import re
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator, FormatChecker
from reading import PATIENCE, Reader, colours, wait_until_painted
from review_samples import candidate_rows, draft_rows, write_samples
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

from evenlight.corpus.annotation.imports import import_annotations
from evenlight.corpus.annotation.review_page import review_sentences, write_review_page
from evenlight.reports.contrast import contrast_ratio

REPOSITORY = Path(__file__).parents[2]
SCHEMA = yaml.safe_load((REPOSITORY / "config/schemas/review_export.schema.yaml").read_text(encoding="utf-8"))


class Reviewer(Reader):
    """A person with a keyboard before the page."""

    def open(self, name: str = "Ada") -> "Reviewer":
        self.driver.get(self.page.as_uri())
        self.driver.execute_script("document.getElementById('name').value = ''")
        return self.enter(name)

    def enter(self, *name: str) -> "Reviewer":
        """Give the name that the page asks for first, or keep the known one."""
        wait_until_painted(self.driver)
        self.press(*name, Keys.ENTER)
        entered = WebDriverWait(self.driver, PATIENCE, 0.05)
        entered.until(lambda _: self.text("#progress-text"), "no name was entered")
        return self

    def press_with(self, modifier: str, key: str) -> "Reviewer":
        ActionChains(self.driver, duration=0).key_down(modifier).send_keys(key).key_up(modifier).perform()
        return self

    def hears(self, message: str) -> None:
        """Wait until the live region has the message."""
        heard = WebDriverWait(self.driver, PATIENCE, 0.05)
        heard.until(lambda _: message in self.text("#status"), f"not said: {message}")

    def words(self, form: int) -> list[str]:
        cells = self.driver.find_elements(By.CSS_SELECTOR, f"[data-cell^='{form}.']")
        return [cell.get_attribute("textContent") for cell in cells]

    def focused(self) -> str:
        return self.ask("document.activeElement.getAttribute('data-cell') || document.activeElement.id")

    def exported(self) -> dict:
        self.press("x")
        export = json.loads(self.ask("document.getElementById('exported').value"))
        self.press(Keys.ESCAPE)
        Draft202012Validator(SCHEMA, format_checker=FormatChecker()).validate(export)
        return export


@pytest.fixture
def reviewer(driver, tmp_path):
    """Somebody before a page of three sentences, in a browser that knows nothing yet."""
    page = tmp_path / "review.html"
    write_review_page(review_sentences(*write_samples(tmp_path)), "Review of <samples>", "en", page)
    driver.get(page.as_uri())
    driver.execute_script("localStorage.clear()")
    return Reviewer(driver, page).resize(1400)


def test_print_has_the_sentence_and_no_controls(reviewer):
    """Also where the page waits for a name."""
    shown = "[...document.querySelectorAll(arguments[0])].filter((box) => box.checkVisibility()).length"
    controls = "button, input, select, dialog, nav, footer, progress"
    reviewer.driver.get(reviewer.page.as_uri())
    try:
        assert reviewer.ask(shown, controls) > 0
        reviewer.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        assert reviewer.ask(shown, controls) == 0
        reviewer.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
        reviewer.open()
        reviewer.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        assert reviewer.ask(shown, controls) == 0
        assert reviewer.ask(shown, "h1, #progress-text, #heading, #source, .form, .legend") > 8
    finally:
        reviewer.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_review_from_the_first_key_to_the_import(reviewer, tmp_path):
    reviewer.open()
    assert reviewer.text("#progress-text") == "0 of 3 decided: 0 accepted, 0 rejected"
    assert reviewer.focused() == "heading"

    # The first sentence: "aunt" of the neutral form, all words (5.3), is edited; "house" (5.5) becomes ground truth.
    reviewer.press("w", *[Keys.ARROW_DOWN] * 5, *[Keys.ARROW_RIGHT] * 3)
    assert reviewer.focused() == "5.3"
    reviewer.press(Keys.ENTER, "parent’s  <i>sibling</i>", Keys.ENTER)
    reviewer.hears("parent's sibling is now parent’s <i>sibling</i>.")
    assert reviewer.focused() == "5.3"
    reviewer.press(*[Keys.ARROW_RIGHT] * 2, "g")
    reviewer.hears("house is ground truth.")
    assert reviewer.focused() == "5.5"
    reviewer.press("a")
    reviewer.hears("b1-1 accepted. Now b1-2, 2 of 3.")
    assert reviewer.focused() == "heading"

    # The second one is rejected, for the fourth of the common reasons and one in own words.
    reviewer.press("r", *[Keys.ARROW_DOWN] * 3, Keys.TAB, "no king", Keys.ENTER)
    reviewer.hears("b1-2 rejected. Now b2-1, 3 of 3.")

    # The third is edited and left open.
    reviewer.press("w", "e", "Paul", Keys.ENTER)
    reviewer.hears("He is now Paul.")
    before = reviewer.exported()

    reviewer.driver.refresh()
    reviewer.enter()  # the name is known
    assert reviewer.text("#progress-text") == "2 of 3 decided: 1 accepted, 1 rejected"
    assert reviewer.text("#heading").startswith("Sentence 3 of 3, b2-1")
    assert reviewer.words(0) == ["Paul", "waits", "."]
    export = reviewer.exported()
    assert export | {"exported": ""} == before | {"exported": ""}

    assert (export["annotator"], export["open"]) == ("Ada", 1)
    assert [(row["sentence_id"], row["decision"], row["reason"]) for row in export["sentences"]] == [
        ("b1-1", "accept", None),
        ("b1-2", "reject", "subject is no person: no king"),
    ]
    forms = draft_rows()[:6]
    forms[5]["words"][3] = "parent’s <i>sibling</i>"
    forms[5]["ground_truth"][5] = 1
    assert export["sentences"][0]["forms"] == [without_id(form) for form in forms]
    assert [row["source"] for row in export["sentences"]] == [row["words"] for row in candidate_rows()[:2]]
    assert [row["sentence_id"] for row in export["unfinished"]] == ["b2-1"]
    assert export["unfinished"][0]["forms"][0]["words"] == ["Paul", "waits", "."]

    file = tmp_path / "export.json"
    file.write_text(json.dumps(export), encoding="utf-8")
    rows = import_annotations([file])
    assert [(row["sentence_id"], row["annotator"], row["decision"]) for row in rows] == [
        ("b1-1", "Ada", "accept"),
        ("b1-2", "Ada", "reject"),
    ]
    assert rows[0]["forms"] == export["sentences"][0]["forms"]


def without_id(row: dict) -> dict:
    return {name: value for name, value in row.items() if name != "sentence_id"}


def test_undo_and_opening_again(reviewer):
    reviewer.open().press("w", "G")
    reviewer.hears("He is not ground truth in all groups.")
    assert reviewer.ask("formsOf(sentences[0]).map((form) => form.ground_truth[0])") == [0, 0, 0, 1, 1, 1]
    reviewer.press(" ").hears("He is ground truth.")
    reviewer.press("e", Keys.BACKSPACE, Keys.ENTER).hears("He is now nothing.")
    assert reviewer.words(0)[0] == "∅"
    reviewer.press("a").hears("b1-1 accepted.")
    reviewer.press("p", "o").hears("b1-1 is open again.")
    for _ in range(4):
        reviewer.press("u").hears("Undone: b1-1.")
    assert reviewer.words(0)[0] == "He"
    reviewer.press_with(Keys.CONTROL, "z")
    assert reviewer.ask("entries.size") == 0
    reviewer.press("u").hears("Nothing to undo.")
    assert reviewer.exported()["unfinished"] == []


def test_edit_can_be_discarded_and_needs_a_word(reviewer):
    reviewer.open().press("w", Keys.ENTER, "nonsense", Keys.ESCAPE)
    assert reviewer.words(0)[0] == "He"
    assert reviewer.focused() == "0.0"
    reviewer.press("n", "n", "w")
    for _ in range(3):
        reviewer.press("e", Keys.BACKSPACE, Keys.ENTER, Keys.ARROW_RIGHT)
    reviewer.hears("A form needs a word; nothing has changed.")
    assert reviewer.words(0) == ["∅", "∅", "."]


def test_rejecting_needs_a_reason(reviewer):
    reviewer.open().press("r", Keys.ENTER)
    assert reviewer.text("#reject-message") == "Choose or write a reason."
    assert reviewer.focused() == "details"
    reviewer.press(Keys.ESCAPE)
    assert reviewer.ask("entries.size") == 0


def test_work_goes_on_elsewhere(reviewer, tmp_path):
    reviewer.open().press("a", "w", "g", "r", " ", Keys.ENTER)
    export = reviewer.exported()
    assert [row["decision"] for row in export["sentences"]] == ["accept", "reject"]
    assert len(export["unfinished"]) == 1
    reviewer.driver.execute_script("localStorage.clear()")
    reviewer.open()
    assert reviewer.text("#progress-text").startswith("0 of 3")
    give(reviewer, tmp_path, export)
    reviewer.hears("2 sentences imported.")
    assert reviewer.exported() | {"exported": ""} == export | {"exported": ""}
    reviewer.press("u")
    assert reviewer.text("#progress-text").startswith("0 of 3")


def give(reviewer: Reviewer, folder: Path, content) -> None:
    """Import a file; the system's dialog to choose it is the one thing that keys cannot reach from here."""
    path = folder / "given.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    reviewer.press("i")
    reviewer.driver.find_element(By.ID, "import-file").send_keys(str(path))


def test_export_of_another_version_gives_what_fits(reviewer, tmp_path):
    export = reviewer.open().press("a", "a").exported()
    export["digest"] = "0" * 64
    export["sentences"][0]["source"][0] = "Anne"
    reviewer.press("u", "u")
    give(reviewer, tmp_path, export)
    reviewer.hears("1 sentences imported. 1 left out.")
    assert "from another version" in reviewer.text("#notice")
    assert reviewer.text("#notice").endswith("same words: b1-1.")
    assert [row["sentence_id"] for row in reviewer.exported()["sentences"]] == ["b1-2"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "This file is not JSON."),
        ({"format": "evenlight-review", "version": 2}, "This is no export of a review page."),
        ({"annotator": "Ben"}, "This is work of Ben, and you are Ada. Change the annotator to go on with it."),
        ({"annotator": "Ada"}, "The file has nothing that fits this page."),
    ],
)
def test_file_that_does_not_fit_changes_nothing(reviewer, tmp_path, content, message):
    if isinstance(content, dict):
        content = {"format": "evenlight-review", "version": 1, "sentences": [], "unfinished": []} | content
    reviewer.open()
    give(reviewer, tmp_path, content)
    WebDriverWait(reviewer.driver, 5, 0.05).until(lambda _: reviewer.text("#import-message") == message)
    reviewer.press(Keys.ESCAPE)
    assert reviewer.ask("entries.size") == 0


def test_work_on_another_version_is_told(reviewer, tmp_path):
    reviewer.open().press("a")
    rows = draft_rows()
    rows[0]["words"][0] = "Paul"
    write_review_page(review_sentences(*write_samples(tmp_path, drafts=rows)), "Review", "en", reviewer.page)
    reviewer.open("Ben")
    assert reviewer.text("#notice") == ""
    reviewer.open("Ada")
    assert "work of Ada" in reviewer.text("#notice")
    assert reviewer.text("#progress-text").startswith("0 of 3")


def test_annotators_do_not_share_progress(reviewer):
    reviewer.open("Ada").press("a")
    reviewer.open(" Ben ")
    assert reviewer.text("#progress-text").startswith("0 of 3")
    assert reviewer.exported()["annotator"] == "Ben"
    reviewer.open("Ada")
    assert reviewer.text("#progress-text").startswith("1 of 3")


def test_two_tabs_do_not_overwrite_each_other(reviewer):
    reviewer.open()
    first = reviewer.driver.current_window_handle
    reviewer.driver.switch_to.new_window("tab")
    reviewer.open().press("a").hears("b1-1 accepted.")
    reviewer.driver.close()
    reviewer.driver.switch_to.window(first)
    reviewer.hears("Taken over from another tab.")
    reviewer.press("n", "a")
    assert [row["decision"] for row in reviewer.exported()["sentences"]] == ["accept", "accept"]


def test_browser_that_keeps_nothing_is_told(reviewer):
    reviewer.open()
    reviewer.driver.execute_script("Storage.prototype.setItem = () => { throw new DOMException('', 'Full'); }")
    reviewer.press("a")
    assert (
        reviewer.text("#notice")
        == "This browser cannot keep your progress (Full): export it before you close the page."
    )
    assert len(reviewer.exported()["sentences"]) == 1


def test_download_is_the_export(reviewer, tmp_path):
    folder = {"behavior": "allow", "downloadPath": str(tmp_path)}
    reviewer.driver.execute_cdp_cmd("Browser.setDownloadBehavior", folder)
    reviewer.open("Ada L.").press("a", "x", Keys.ENTER)
    text = reviewer.ask("document.getElementById('exported').value")
    files = WebDriverWait(reviewer.driver, PATIENCE, 0.1).until(lambda _: list(tmp_path.glob("review_*.json")))
    assert re.fullmatch(r"review_Ada_L__[0-9a-f]{8}\.json", files[0].name)
    assert files[0].read_text(encoding="utf-8") == text


def test_filter_search_and_list(reviewer):
    reviewer.open().press("a", "/", "FAÇADE", Keys.ENTER)
    assert reviewer.text("#heading").startswith("Sentence 2 of 3, b1-2")
    reviewer.press("/", "b", Keys.ESCAPE)
    assert reviewer.text("#found") == "3 sentences, page 1 of 1"
    reviewer.press("f", "open", Keys.ESCAPE, "p").hears("No sentence before this one.")
    assert reviewer.text("#found") == "2 sentences, page 1 of 1"
    reviewer.press("f", Keys.TAB, Keys.TAB, Keys.END, Keys.ENTER)
    assert reviewer.text("#heading").startswith("Sentence 3 of 3, b2-1")


def test_text_of_the_sentences_stays_text(reviewer):
    reviewer.open().press("n")
    assert "The young kingsubject" not in reviewer.text("#source")
    assert "king</script> subject [sic] “façade” 🙂 sleeps verb." in reviewer.text("#source")
    assert reviewer.words(1)[2] == "queen<b>"
    assert reviewer.driver.find_elements(By.CSS_SELECTOR, "#forms b, #source b") == []
    assert reviewer.text("h1") == "Review of <samples>"
    assert reviewer.ask("performance.getEntriesByType('resource').length") == 0


def test_large_sets_show_one_sentence_and_one_page_of_the_list(driver, tmp_path):
    candidates, drafts = candidate_rows()[0], draft_rows()[:6]
    ids = [f"{number:05d}" for number in range(1610)]
    tables = (
        [candidates | {"sentence_id": name} for name in ids],
        [draft | {"sentence_id": name} for name in ids for draft in drafts],
    )
    write_review_page(review_sentences(*write_samples(tmp_path, *tables)), "Many", "en", tmp_path / "many.html")
    reviewer = Reviewer(driver, tmp_path / "many.html").open("Grace")
    assert reviewer.ask("document.querySelectorAll('*').length") < 600
    reviewer.press("a", "a").hears("Now 00002, 3 of 1610.")
    assert reviewer.text("#found") == "1610 sentences, page 1 of 33"
    assert reviewer.exported()["open"] == 1608


# Who can use it ---------------------------------------------------------------------------------------------------


def test_contrast_is_sufficient(reviewer):
    reviewer.open().press("a", "r", " ", Keys.ENTER)
    for more in ((), ("?",)):
        pieces = colours(reviewer.press(*more) if more else reviewer)
        assert len(pieces) > 50
        assert [(text, ink, ground) for text, ink, ground in pieces if contrast_ratio(ink, ground) < 4.5] == []


def tree(reviewer: Reviewer) -> list[dict]:
    """The page as screen readers get it: (role, name, properties) of every node that is not ignored."""
    nodes = reviewer.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    return [
        {
            "role": node["role"]["value"],
            "name": node.get("name", {}).get("value", "").strip(),
            "properties": {entry["name"]: entry["value"].get("value") for entry in node.get("properties", [])},
        }
        for node in nodes
        if not node["ignored"]
    ]


@pytest.mark.parametrize("dialog", ["", "r", "x", "i", "?"])
def test_everything_that_can_be_used_has_a_name(reviewer, dialog):
    reviewer.open()
    if dialog:
        reviewer.press(dialog)
    found = tree(reviewer)
    usable = [node for node in found if node["properties"].get("focusable") and node["role"] != "RootWebArea"]
    assert len(usable) > 1
    assert [node for node in usable if not node["name"].strip()] == []
    named = {(node["role"], node["name"]) for node in found}
    if not dialog:
        assert named >= {
            ("button", "Accept"),
            ("combobox", "Show"),
            ("textbox", "Search an id or words"),
            ("progressbar", "0 of 3 decided: 0 accepted, 0 rejected"),
            ("grid", "Every gendered word changes"),
            ("row", "neutral: They visit their parent's sibling's house."),
            ("gridcell", "parent's sibling, for aunt, ground truth"),
        }
        assert {"main", "navigation", "banner", "contentinfo", "status"} <= {node["role"] for node in found}
        (status,) = [node for node in found if node["role"] == "status"]
        assert status["properties"]["live"] == "polite"
    else:
        assert any(node["role"] == "dialog" and node["name"] for node in found)


def test_tab_passes_through_everything_in_reading_order(reviewer):
    reviewer.open().press("n")
    order = []
    for _ in range(40):
        reviewer.press(Keys.TAB)
        here = reviewer.ask(
            "document.activeElement.dataset.key ?? document.activeElement.dataset.cell ?? "
            "document.activeElement.dataset.number ?? document.activeElement.id"
        )
        if not here or here == "heading":
            break
        order.append(here)
    else:
        pytest.fail(f"Tab does not get out of {order}")
    # From the heading on: what can be decided now, one word, what can be done with it, the list.
    assert order == ["a", "r", "p", "n", "0.2", "e", "g", "G", "filter", "search", "1"]


def test_a_page_without_single_keys(reviewer):
    reviewer.open().press("?", Keys.TAB, " ", Keys.ESCAPE, "a")
    assert reviewer.ask("entries.size") == 0
    reviewer.press(Keys.TAB, Keys.ENTER)
    assert reviewer.text("#progress-text").startswith("1 of 3 decided")
