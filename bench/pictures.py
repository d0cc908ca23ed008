"""Make the pictures of the documentation, those of docs/gallery.md too, of results that are there.

Pages are photographed with Chromium and its driver, figures are copied. Kinds of figures that no small study has are
drawn of made-up numbers, those of the tests.

bench/README.md says what is run before.
"""

import argparse
import shutil
import sys
from base64 import b64decode
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree

from selenium import webdriver
from selenium.webdriver.support.wait import WebDriverWait

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow" / "scripts"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "unit"))

from every_figure import FIGURES, Names

from evenlight.reports.style import draw
from evenlight.statistics.comparisons.study import MetricLabel


@dataclass(frozen=True)
class Picture:
    """What is seen of a page, or a figure as large as it is.

    Attributes:
        page: below the folder of the results, with the view of the page behind a #.
        width: of the window, in pixels; 0 of a figure.
        first: where the picture begins, a CSS selector; the top of the page without one.
        last: what is the last to be seen, and is seen whole.
    """

    page: str
    width: int = 0
    first: str = ""
    last: str = ""


PICTURES = {
    "audit": Picture("audit_example/index.html", 1100, last="#questions tbody tr:nth-child(6)"),
    "effects": Picture("demo/tables/effects.html", 1000, last="details:last-of-type"),
    "first_audit": Picture("tutorials/results/first_audit/index.html", 1100, last="#questions tbody tr:nth-child(6)"),
    "my_study_scores": Picture("tutorials/results/my_study/tables/scores.html", 900, "table", "table"),
    "my_study_effects": Picture("tutorials/results/my_study/figures/effects/sentences.svg"),
    "my_sentences_pairs": Picture("tutorials/results/my_sentences/index.html", 900, "#pair", "#sides"),
    "gallery/disparity_table": Picture("demo/tables/disparity.html", 1505, last="table"),
    "gallery/scores_table": Picture("demo/tables/scores.html", 1562, last="table"),
    "gallery/questions": Picture("demo/index.html", 1100, last="#questions tbody tr:nth-child(8)"),
    "gallery/report": Picture("demo/report.html", 1100, last="a[data-page^='data:text/plain']"),
    "gallery/review": Picture("demo/corpus/review.html", 1000, last="#forms .forms"),
    "gallery/effects": Picture("demo/figures/effects/demo_books.svg"),
    "gallery/disparity": Picture("demo/figures/disparity/demo_books.svg"),
    "gallery/score_panels": Picture("demo/figures/panels/demo_books/small_bert.svg"),
}
# What is small enough to be copied.
COPIED = {
    "gallery/verdicts": "scores_example/figures/verdicts.svg",
    "gallery/control": "demo/figures/control.svg",
    "gallery/strategies": "gallery/figures/strategies/sentences/mass_accuracy_by_strategy.svg",
    "gallery/agreement": "gallery/figures/agreement/sentences.svg",
    "gallery/randomisation": "gallery/figures/randomisation/sentences.svg",
    "gallery/roc": "gallery/figures/roc/sentences.svg",
    "gallery/associations": "gallery/figures/word_associations/sentences.svg",
    "gallery/sentence": "gallery/figures/sentences/sentences.svg",
}
TOKENS = Names(
    {"reviews": "Reviews", "posts": "Posts"},
    {"bert": "BERT", "lstm": "LSTM"},
    {"ig": "Integrated Gradients", "lime": "LIME", "shap": "SHAP"},
    {
        "released": MetricLabel("released", "Comprehensiveness, released", True),
        "paper": MetricLabel("paper", "Comprehensiveness, paper", True),
    },
    ["male", "female"],
    "Made-up numbers",
)
CONCEPTS = replace(
    TOKENS,
    explainers={"s_learner": "S-Learner", "concept_shap": "ConceptSHAP", "tcav": "TCAV"},
    metrics={
        name: MetricLabel(name, f"{label} error", False) for name, label in {"cosine": "Cosine", "l2": "L2"}.items()
    },
)
MASKED = replace(TOKENS, models={"bert": "BERT", "roberta": "RoBERTa"})
MADE_UP = {
    "specifications": TOKENS,
    "concept_grid": CONCEPTS,
    "masked_words": MASKED,
    "attribution_differences": MASKED,
}
# What is done on a page before it is photographed.
FIRST = {
    "gallery/review": "document.querySelector('#name-dialog input').value = 'Ada';"
    "document.querySelector('#name-dialog button').click();"
    # An empty line for messages, which is fixed to the window's end.
    "document.querySelector('footer').style.display = 'none'",
}
# The page of a study draws itself and says when it is ready; other pages are.
READY = "return !document.getElementById('questions') || 'ready' in document.body.dataset"
THERE = "return document.querySelector(arguments[0]) !== null"
# Where a picture begins and ends, with a margin.
ENDS = """
const side = (selector, name) => scrollY + document.querySelector(selector).getBoundingClientRect()[name];
const [first, last] = arguments;
return [first ? Math.max(0, side(first, "top") - 8) : 0, side(last, "bottom") + 8];
"""
POINT = 96 / 72  # pixels


def main(arguments: argparse.Namespace) -> None:
    """Make all pictures, or say which page is missing."""
    pages = {name: arguments.results / seen.page.partition("#")[0] for name, seen in PICTURES.items()}
    copied = {name: arguments.results / page for name, page in COPIED.items()}
    missing = [str(page) for page in (*pages.values(), *copied.values()) if not page.is_file()]
    if missing:
        sys.exit(f"error: no page {', '.join(missing)}; run what bench/README.md names before")
    (arguments.output / "gallery").mkdir(parents=True, exist_ok=True)
    for name, page in copied.items():
        shutil.copyfile(page, arguments.output / f"{name}.svg")
    for kind, names in MADE_UP.items():
        path = arguments.output / "gallery" / f"{kind}.svg"
        draw([path], lambda kind=kind, names=names: FIGURES[kind][0](names), names.title)
    driver = browser()
    try:
        for name, page in pages.items():
            photograph(driver, page, PICTURES[name], arguments.output / f"{name}.png", FIRST.get(name, ""))
            print(arguments.output / f"{name}.png")
    finally:
        driver.quit()


def browser() -> webdriver.Chrome:
    """Chromium without a window."""
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--hide-scrollbars", "--force-device-scale-factor=1"):
        options.add_argument(flag)
    return webdriver.Chrome(options=options)


def photograph(driver: webdriver.Chrome, page: Path, seen: Picture, output: Path, script: str = "") -> None:
    """Take the picture of a page after a ``script`` on it."""
    width, height = (seen.width, 900) if seen.width else size_of(page)
    window = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", window)
    driver.get("about:blank")  # another view of one page would else be no new page
    driver.get(f"{page.resolve().as_uri()}#{seen.page.partition('#')[2]}")
    wait = WebDriverWait(driver, 30)
    wait.until(lambda _: driver.execute_script(READY), f"{page} was not ready")
    driver.execute_script(script)
    top, bottom = 0, height
    if seen.width:
        wait.until(lambda _: driver.execute_script(THERE, seen.last), f"{page} has no element {seen.last}")
        top, bottom = driver.execute_script(ENDS, seen.first, seen.last)
    part = {"x": 0, "y": top, "width": width, "height": bottom - top, "scale": 1}
    # Not what the window shows: its size is another one than the page is told.
    taken = driver.execute_cdp_cmd("Page.captureScreenshot", {"clip": part, "captureBeyondViewport": True})
    output.write_bytes(b64decode(taken["data"]))


def size_of(figure: Path) -> tuple[int, int]:
    """Width and height of an SVG in pixels."""
    root = ElementTree.parse(figure).getroot()
    width, height = (round(POINT * float(root.get(side).removesuffix("pt"))) for side in ("width", "height"))
    return width, height


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--output", type=Path, default=Path("docs/pictures"))
    main(parser.parse_args())
