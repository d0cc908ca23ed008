"""Self-contained HTML pages of tables with two levels of headers on both sides."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenlight.core.tables import replacing

if TYPE_CHECKING:
    from jinja2 import Environment

HERE = Path(__file__).parent
INK = "#1a1a1a"


@dataclass(frozen=True)
class Cell:
    """One cell: its text, what a pointer on it tells, its background colour, and whether it stands out."""

    text: str
    title: str = ""
    background: str | None = None
    bold: bool = False


@dataclass(frozen=True)
class Table:
    """A table: columns in labelled groups, rows in labelled groups; ``corner`` names the two columns of row headers, or
    the one of rows where their groups have no label.

    ``columns``: (group, its columns) each; ``rows``: (group, (row, cells) each) each, with one cell per column.
    """

    caption: str
    corner: tuple[str, ...]
    columns: list[tuple[str, list[str]]]
    rows: list[tuple[str, list[tuple[str, list[Cell]]]]]


@dataclass(frozen=True)
class Page:
    """A page: a title, what must be read first, an introduction, a legend (example cell, meaning), tables and notes.

    The introduction has the question, the answer and how to read a cell, in at most 60 words; ``details`` has the rest,
    as (a question of a reader, its answer).
    """

    title: str
    introduction: str
    tables: list[Table]
    legend: list[tuple[Cell, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    details: list[tuple[str, str]] = field(default_factory=list)


def templates(folder: Path, autoescape: bool, **syntax: Any) -> "Environment":
    """The templates of a folder, in which no name may be undefined."""
    # Who judges a table in Python may never ask for a page.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    look = {"undefined": StrictUndefined, "keep_trailing_newline": True} | syntax
    return Environment(loader=FileSystemLoader(folder), autoescape=autoescape, **look)


def render(page: Page) -> str:
    """The page as HTML; all text is escaped."""
    return templates(HERE, autoescape=True).get_template("table_page.html").render(page=page, ink=INK)


def write_page(page: Page, path: str | Path) -> None:
    """Write the page, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(render(page), encoding="utf-8", newline="\n")
