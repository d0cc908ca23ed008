"""Pages as the workflow makes them: their settings, what stands in them, and the files that the script writes."""

import json
import re
import subprocess
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
from commands import run_command

from evenlight.core import tables
from evenlight.reports.html_table import Page
from evenlight.reports.keywords import keywords
from evenlight.reports.page_parts import named

SCRIPTS = Path(__file__).parents[2] / "workflow" / "scripts"
LONGEST = 40  # words of a sentence
# Where a sentence ends, the next begins with anything but a small letter.
END = re.compile(r"(?<=[.?!])(?<! al\.)\s+(?=[^a-z])")
COMPARED = ("datasets", "models", "explainers", "metrics")


def shown(settings: dict, *sections: str, **more: object) -> dict:
    """The settings of a page or figure as its rule gives them: labels in order, directions of metrics, and ``more``."""
    parts = {}
    for section in sections:
        entries = settings[section]
        parts[section] = {name: _label(entries, name) for name in entries}
    if "metrics" in sections:
        parts["metrics"] = {
            name: {"label": entry["label"], "better": entry["better"]} for name, entry in settings["metrics"].items()
        }
    return parts | more


def _label(entries: dict | list, name: str) -> str:
    return entries[name].get("label", name) if isinstance(entries, dict) else name


def page_of(name: str, *frames: pd.DataFrame, **settings: object) -> Page:
    """The page from tables as they are read back from their files; every one must speak plainly."""
    return speaking_plainly(import_module(f"evenlight.reports.pages.{name}").page(*frames, **named(keywords(settings))))


def too_long(text: str) -> list[str]:
    """The sentences of a text that have too many words; code in backticks is one word, a dash is none."""
    sentences = END.split(re.sub(r"`[^`]*`", "code", text))
    return [each for each in sentences if sum(any(map(str.isalnum, word)) for word in each.split()) > LONGEST]


def speaking_plainly(page: Page) -> Page:
    """The page, if introduction and sentences are short, and all else stands in details."""
    assert len(page.introduction.split()) <= 60, page.introduction
    for text in (page.introduction, *(answer for _, answer in page.details)):
        assert too_long(text) == []
    assert page.details or not page.tables
    return page


def run_script(name: str, settings: dict, *arguments: object) -> subprocess.CompletedProcess:
    """Run one command of the workflow with its settings."""
    return run_command(SCRIPTS / name, "--settings", json.dumps(settings), *arguments)


def run_result(name: str, settings: dict, *arguments: object) -> subprocess.CompletedProcess:
    """Compute a result, a class of ``evenlight.statistics``, as its rule does."""
    return run_script("results/compute.py", settings, "--result", name, *arguments)


def run_plot(name: str, settings: dict, *arguments: object) -> subprocess.CompletedProcess:
    """Draw a figure, a module of ``evenlight.reports.plots``, as its rule does."""
    return run_script("figures/draw.py", settings, "--figure", name, *arguments)


def tabulated(folder: Path, name: str, *frames: pd.DataFrame, notes: list[str] | None = None, **settings: object):
    """The HTML and the LaTeX that the script makes of a page's tables."""
    contracts = import_module(f"evenlight.reports.pages.{name}").TABLES
    read = [folder / f"{name}{place}.parquet" for place in range(len(frames))]
    for frame, path, contract in zip(frames, read, contracts, strict=True):
        tables.write_table(frame, path, contract, {"notes": notes or []})
        notes = None
    html, latex = folder / f"{name}.html", folder / f"{name}.tex"
    done = run_script(
        "figures/tabulate.py",
        settings,
        *("--page", name, "--tables", *read, "--html", html, "--latex", latex),
    )
    assert done.returncode == 0, done.stderr
    return SimpleNamespace(html=html.read_text(encoding="utf-8"), latex=latex.read_text(encoding="utf-8"))
