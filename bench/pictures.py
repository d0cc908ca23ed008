"""Photograph pages of runs that are there, for the documentation, with Chromium and its driver.

make pictures    # after `make demo` and `make tutorials`; runs the audit's example
"""

import argparse
import sys
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.support.wait import WebDriverWait

# By the name of the picture: the page, with the view of it behind a #; the size of the window; and, where that is not
# the top, what the picture begins with.
PICTURES = {
    "audit": ("audit_example/audit.html", (900, 620)),
    "effects": ("demo/tables/effects.html", (1000, 700)),
    "map": ("demo/explorer.html", (900, 720)),
    "verdict": ("demo/explorer.html#dataset=demo_books&model=small_bert&explainer=lime", (1000, 1000)),
    "first_audit": ("tutorials/results/first_audit/audit.html", (900, 380)),
    "my_study_scores": ("tutorials/results/my_study/tables/scores.html", (900, 480), "table"),
    "my_study_effects": ("tutorials/results/my_study/figures/effects/sentences.svg", (740, 560)),
    "my_sentences_pairs": ("tutorials/results/my_sentences/audit.html", (900, 420), "section.texts"),
}
# The explorer draws itself and says when it is ready; other pages are.
READY = "return !document.getElementById('maps') || 'ready' in document.body.dataset"


def main(arguments: argparse.Namespace) -> None:
    """Write all pictures, or say which page is missing."""
    pages = {name: (*page.partition("#")[::2], *more) for name, (page, *more) in PICTURES.items()}
    missing = {str(arguments.results / page) for page, *_ in pages.values() if not (arguments.results / page).is_file()}
    if missing:
        sys.exit(
            f"error: no page {', '.join(sorted(missing))}; run `make demo tutorials` and the audit's example first"
        )
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--hide-scrollbars", "--force-device-scale-factor=1"):
        options.add_argument(flag)
    arguments.output.mkdir(parents=True, exist_ok=True)
    driver = webdriver.Chrome(options=options)
    try:
        for name, (page, view, size, *begin) in pages.items():
            driver.set_window_size(*size)
            driver.get("about:blank")  # another view of one page would else be no new page
            driver.get(f"{(arguments.results / page).resolve().as_uri()}#{view}")
            WebDriverWait(driver, 30).until(lambda _: driver.execute_script(READY))
            if begin:
                driver.execute_script("document.querySelector(arguments[0]).scrollIntoView()", *begin)
            driver.save_screenshot(str(arguments.output / f"{name}.png"))
            print(arguments.output / f"{name}.png")
    finally:
        driver.quit()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--output", type=Path, default=Path("docs/pictures"))
    main(parser.parse_args())
