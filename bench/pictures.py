"""Make the pictures of the documentation, those of docs/gallery.md too, of results that are there.

Pages are photographed with Chromium and its driver, figures are copied. Kinds of figures that no small study has are
drawn of made-up numbers, those of the tests.

make gallery    # after `make demo` and `make tutorials`; runs the audit's example and a tiny study of regimes
"""

import argparse
import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree

from selenium import webdriver
from selenium.webdriver.support.wait import WebDriverWait

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow" / "scripts"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "unit"))

from every_figure import FIGURES, Names

from evenlight.reports.style import draw
from evenlight.statistics.study import MetricLabel

# By the name of the picture: the page, with the view of it behind a #; the size that is seen of it, or None where it is
# a figure, as large as that; and what is seen first, where that is not the top.
PICTURES = {
    "audit": ("audit_example/audit.html", (900, 480)),
    "effects": ("demo/tables/effects.html", (1000, 560)),
    "map": ("demo/explorer.html", (900, 720)),
    "verdict": ("demo/explorer.html#dataset=demo_books&model=small_bert&explainer=lime", (1000, 1000)),
    "first_audit": ("tutorials/results/first_audit/audit.html", (900, 380)),
    "my_study_scores": ("tutorials/results/my_study/tables/scores.html", (900, 480), "table"),
    "my_study_effects": ("tutorials/results/my_study/figures/effects/sentences.svg", None),
    "my_sentences_pairs": ("tutorials/results/my_sentences/audit.html", (900, 420), "section.texts"),
    "gallery/disparity_table": ("demo/tables/disparity.html", (1000, 760)),
    "gallery/scores_table": ("demo/tables/scores.html", (1000, 640)),
    "gallery/explorer": ("demo/explorer.html", (1100, 760)),
    "gallery/report": ("demo/report.html", (1100, 700)),
    "gallery/review": ("demo/corpus/review.html", (1000, 640)),
    "gallery/effects": ("demo/figures/effects/demo_books.svg", None),
    "gallery/disparity": ("demo/figures/disparity/demo_books.svg", None),
    "gallery/score_panels": ("demo/figures/panels/demo_books/small_bert.svg", None),
}
# What is small enough to be copied.
COPIED = {
    "gallery/scores": "demo/figures/scores/demo_books/small_bert/mass_accuracy.svg",
    "gallery/control": "demo/figures/control.svg",
    "gallery/regimes": "gallery/figures/regimes/sentences/mass_accuracy_by_regime.svg",
    "gallery/attribution_differences": "gallery/figures/attribution_differences/sentences_sizes.svg",
    "gallery/agreement": "gallery/figures/agreement/sentences.svg",
    "gallery/randomisation": "gallery/figures/randomisation/sentences.svg",
    "gallery/roc": "gallery/figures/roc/sentences.svg",
    "gallery/associations": "gallery/figures/word_associations/sentences.svg",
    "gallery/sentence": "gallery/figures/sentences/sentences.svg",
}
MADE_UP = ("definitions", "specifications", "concepts", "concept_grid", "masked_words")
NAMES = Names(
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
# What is done on a page before it is photographed.
FIRST = {
    "gallery/review": "document.querySelector('#name-dialog input').value = 'Ada';"
    "document.querySelector('#name-dialog button').click()",
}
# The explorer draws itself and says when it is ready; other pages are.
READY = "return !document.getElementById('maps') || 'ready' in document.body.dataset"
POINT = 96 / 72  # pixels


def main(arguments: argparse.Namespace) -> None:
    """Make all pictures, or say which page is missing."""
    pages = {}
    for name, (page, size, *first) in PICTURES.items():
        path, _, view = page.partition("#")
        pages[name] = (arguments.results / path, view, size, *first)
    copied = {name: arguments.results / page for name, page in COPIED.items()}
    missing = [str(page) for page in (*(page for page, *_ in pages.values()), *copied.values()) if not page.is_file()]
    if missing:
        sys.exit(f"error: no page {', '.join(missing)}; run `make demo tutorials` and then `make gallery`")
    (arguments.output / "gallery").mkdir(parents=True, exist_ok=True)
    for name, page in copied.items():
        shutil.copyfile(page, arguments.output / f"{name}.svg")
    for kind in MADE_UP:
        path = arguments.output / "gallery" / f"{kind}.svg"
        draw([path], lambda kind=kind: FIGURES[kind][0](NAMES), "Made-up numbers")
    photograph(pages, arguments.output)


def photograph(pages: dict[str, tuple], output: Path) -> None:
    """A picture of what is seen first of every page: its path, view, size and, where it is not the top, an element."""
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--hide-scrollbars", "--force-device-scale-factor=1"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options)
    try:
        for name, (page, view, size, *first) in pages.items():
            width, height = size or size_of(page)
            seen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", seen)
            driver.get("about:blank")  # another view of one page would else be no new page
            driver.get(f"{page.resolve().as_uri()}#{view}")
            WebDriverWait(driver, 30).until(lambda _: driver.execute_script(READY))
            driver.execute_script(FIRST.get(name, ""))
            if first:
                driver.execute_script("document.querySelector(arguments[0]).scrollIntoView()", *first)
            driver.save_screenshot(str(output / f"{name}.png"))
            print(output / f"{name}.png")
    finally:
        driver.quit()


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
