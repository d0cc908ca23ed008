"""Snakemake's report in a real browser: everything that it lists opens, and its introduction can be read."""

import re
from pathlib import Path

import pandas as pd
import pytest
import yaml
from reading import PATIENCE, PHONE, Reader
from running import CONFIGURATION, configure, copy_of_project, environment, results, run_study
from selenium.webdriver.support.wait import WebDriverWait
from warm_snakemake import run

from evenlight.core.contracts.results import INTERIM_ANALYSES
from evenlight.core.tables import write_table
from evenlight.statistics.comparisons.look_plans import record_digest

TABLE = "<!DOCTYPE html><title>made</title><p>made</p>"
EMPTY = pd.DataFrame(columns=INTERIM_ANALYSES.schema.names)
CODE = "</script><script>window.ran = true</script>"
# Taller than any page.
FIGURE = '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="2000"><rect width="300" height="2000"/></svg>'


class Report(Reader):
    """A person before the report of a study."""

    def wait(self) -> "Report":
        made = "typeof app === 'object' && app.state !== null"
        WebDriverWait(self.driver, PATIENCE, 0.02).until(lambda _: self.ask(made))
        # The report makes its style sheet while it is already seen, and everything moves once more.
        drawn = "[...document.querySelectorAll('body *')].map((one) => one.getBoundingClientRect().toJSON())"
        before = None

        def still(_) -> bool:
            nonlocal before
            last, before = before, self.ask(f"document.readyState === 'complete' && {drawn}")
            return bool(before) and before == last

        WebDriverWait(self.driver, PATIENCE, 0.1).until(still)
        return self

    def problems(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]

    def click(self, selector: str, text: str = "") -> "Report":
        """Press the first element that has the text."""
        found = "[...document.querySelectorAll(arguments[0])].find((one) => one.textContent.includes(arguments[1]))"
        self.ask(f"{found}.click()", selector, text)
        return self

    def box(self, selector: str) -> dict:
        return self.ask("document.querySelector(arguments[0]).getBoundingClientRect().toJSON()", selector)


def made_up(project: Path, configfile: str, target: str) -> Path:
    """The report of a study that was never run: everything that it would make stands there, with nothing to be read."""

    def asked(*arguments: str) -> str:
        done = run([target, "--configfile", configfile, *arguments], project, environment())
        assert done.returncode == 0, done.stdout
        return done.stdout

    _, *summary = [line for line in asked("--summary").splitlines() if "\t" in line]
    for line in summary:
        path = project / line.split("\t")[0]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text({".svg": FIGURE, ".html": TABLE}.get(path.suffix, "made"))
    # What a run reads before it begins.
    for record in project.glob("results/*/tables/interim_analyses.parquet"):
        write_table(EMPTY, record, INTERIM_ANALYSES, {"digest": record_digest(EMPTY, INTERIM_ANALYSES)})
    path = project / f"{target}.html"
    asked("--report", path.name)
    return path


@pytest.fixture(scope="module")
def never_run(tmp_path_factory) -> dict[str, Path]:
    project = copy_of_project(tmp_path_factory.mktemp("never_run") / "project")
    demo = made_up(project, "config/demo.yaml", "all")
    # It audits a model of the demo. A heading is code, as if no configuration were refused for it.
    settings = project / "workflow/scripts/evenlight/settings/__init__.py"
    text = settings.read_text(encoding="utf-8")
    assert text.count("[^<>") == 1
    settings.write_text(text.replace("[^<>", "[^"), encoding="utf-8")
    study = yaml.safe_load((project / "config" / "studies" / "audit_example.yaml").read_text(encoding="utf-8"))
    study["explainers"] = {"lime": {"method": "lime", "label": CODE}}
    configure(project, study)
    return {"demo": demo, "audit": made_up(project, CONFIGURATION, "audit")}


@pytest.fixture(scope="module")
def finished_report(finished, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    run_study(finished, "--report", str(path))
    return path


@pytest.fixture(params=["demo", "audit"])
def of_shipped_study(request, driver, never_run) -> Report:
    return Report(driver, never_run[request.param])


@pytest.fixture
def report(driver, finished_report) -> Report:
    return Report(driver, finished_report)


def test_everything_in_every_category_opens(of_shipped_study):
    report = of_shipped_study.open()
    listed = report.ask("categories")
    # An audit makes only the pages that it names, and so no scores.
    assert "Disparity" in listed
    for category, subcategories in listed.items():
        # Snakemake calls the only category, as that of an audit, by another name.
        report.open().click("nav a", category if len(listed) > 1 else "Results")
        shown = report.ask("[...document.querySelectorAll('nav tbody tr')].map((row) => row.textContent)")
        assert report.problems() == [], category
        assert len(set(shown)) == len(shown) == sum(map(len, subcategories.values())), category
        opened = set()
        for place in range(len(shown)):
            report.ask("document.querySelectorAll('nav tbody tr')[arguments[0]].querySelector('a').click()", place)
            opened.add(report.ask("app.state.resultPath"))
        assert report.problems() == [], category
        paths = {path for paths in subcategories.values() for path in paths}
        # Other files are downloaded.
        assert opened - {None} == {path for path in paths if path.endswith((".svg", ".html"))}


def test_no_name_of_a_study_is_run(driver, never_run):
    # It stands in the commands of jobs, which the report tells.
    assert "u003ewindow.ran = true" in never_run["audit"].read_text(encoding="utf-8")
    report = Report(driver, never_run["audit"]).open()
    assert report.ask("window.ran") is None
    assert report.problems() == []


def test_a_figure_that_is_taller_than_the_page_can_be_seen_from_its_top(driver, never_run):
    report = Report(driver, never_run["demo"]).open().click("nav a", "Scores").click("nav tbody tr:nth-child(2) a")
    figure = "#app > div > :last-child img"
    WebDriverWait(driver, PATIENCE, 0.02).until(lambda _: report.box(figure)["height"] > report.ask("innerHeight"))
    assert report.box(figure)["top"] >= 0


@pytest.mark.parametrize("width", [1366, PHONE])
def test_the_introduction_can_be_read_from_its_beginning(report, finished, width):
    report.open(width=width)
    text, page, menu = report.box(".prose"), report.box("#app > div > :last-child"), report.box("nav")
    assert page["top"] <= text["top"] < page["top"] + 100
    assert 0 <= text["left"] < text["right"] <= width
    said = " ".join(report.ask("document.querySelector('.prose').textContent").split())
    effects = pd.read_csv(results(finished) / "tables" / "effects.csv")
    count = (effects["family"] != "control").sum()
    assert re.search(
        rf"Study tiny\. Are the explanations .* another\? .* Of {count:,} comparisons at least \d+ differ", said
    )
    # The graph of the rules comes after all that is said.
    assert report.box("#rulegraph")["top"] >= text["bottom"]
    report.ask("document.querySelector('.prose details').open = true")
    # Nor does a digest stand out of its list.
    beyond = "(one) => one.getBoundingClientRect().right > arguments[0] + 1"
    digests = "[...document.querySelectorAll('.prose li tt')].filter((one) => one.textContent.length === 64)"
    assert report.ask(f"{digests}.length")
    assert report.ask(f"{digests}.filter({beyond}).length", text["right"]) == 0
    # Nothing lies upon it.
    assert menu["right"] <= text["left"] or menu["bottom"] <= text["top"]
    assert page["bottom"] - page["top"] > 400
    assert report.problems() == []


def test_what_it_says_to_open_first_opens(of_shipped_study):
    report = of_shipped_study.open().click(".prose a", "effects")
    WebDriverWait(report.driver, PATIENCE, 0.02).until(lambda _: report.ask("document.querySelector('iframe')"))
    report.driver.switch_to.frame(report.driver.find_element("tag name", "iframe"))
    assert report.text("p") == "made"
    report.driver.switch_to.default_content()
    assert report.problems() == []


def test_the_configuration_has_a_page_of_its_own(report, finished):
    report.open()
    assert "vocabulary_size" not in report.text(".prose")
    report.click(".prose a", "configuration")
    report.driver.switch_to.frame(report.driver.find_element("tag name", "iframe"))
    told = yaml.safe_load(report.ask("document.body.innerText"))
    report.driver.switch_to.default_content()
    assert told["study"] == results(finished).name
    assert told["models"]["small_bert"]["tokenizer"]["vocabulary_size"] == 300
    assert 0 < told["statistics"]["as_often_bound"] < 1  # a default
    assert report.problems() == []
