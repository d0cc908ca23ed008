"""Write a page of computed tables for readers, as HTML and as LaTeX."""

import argparse
from dataclasses import replace
from importlib import import_module

from evenlight.core import tables
from evenlight.jobs import command_line
from evenlight.reports.html_table import write_page
from evenlight.reports.keywords import keywords
from evenlight.reports.latex_table import write_latex
from evenlight.reports.page_parts import named
from evenlight.statistics.analyses.interim_analyses import warnings_of


def main(arguments: argparse.Namespace) -> None:
    """Write the page, with the notes of its tables."""
    module = import_module(f"evenlight.reports.pages.{arguments.page}")
    # A study may do without the last tables of a page.
    read = list(zip(arguments.tables, module.TABLES, strict=False))
    shown = [tables.read_exactly(path, contract) for path, contract in read]
    notes = [note for path, contract in read for note in tables.read_metadata(path, contract).get("notes", [])]
    page = module.page(*shown, **named(keywords(arguments.settings, shown[0])))
    warnings = [text for path in arguments.record for text in warnings_of(path)]
    page = replace(page, notes=[*page.notes, *arguments.note, *notes], warnings=[*page.warnings, *warnings])
    write_page(page, arguments.html)
    write_latex(page, arguments.latex)


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    parser.add_argument("--page", required=True, metavar="NAME", help="a module of evenlight.reports.pages")
    parser.add_argument("--tables", nargs="+", required=True, metavar="PARQUET", help="those that the page reads")
    parser.add_argument("--note", action="append", default=[], help="what readers must know besides")
    parser.add_argument("--record", nargs="*", default=[], metavar="PARQUET", help="of the interim analyses")
    parser.add_argument("--html", required=True)
    parser.add_argument("--latex", required=True)
    command_line.run(main, parser)
