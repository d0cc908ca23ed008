"""Take the plot's paragraphs out of the stored articles; needs neither a network nor a browser."""

import argparse
from pathlib import Path

from evenlight.core.contracts.corpus import ARTICLES, BOOKS, PARAGRAPHS
from evenlight.core.tables import read_table, write_table
from evenlight.corpus import wikipedia
from evenlight.corpus.pages import stored
from evenlight.jobs import command_line

REMEDY = "run again with --forcerun find_articles, which fetches what is missing"


def main(arguments: argparse.Namespace) -> None:
    """Write the paragraphs table and print which books have none."""
    books = read_table(arguments.books, BOOKS)
    articles = read_table(arguments.articles, ARTICLES)
    pages = stored(arguments.pages_store, REMEDY)
    paragraphs, notes = wikipedia.paragraphs_of(books, articles, pages, **arguments.settings)
    write_table(paragraphs, arguments.output, PARAGRAPHS, {"notes": notes})
    for note in notes:
        print(f"note: {note}")
    print(f"{len(paragraphs)} paragraphs of {paragraphs['book_id'].nunique()} books written to {arguments.output}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--settings", type=command_line.settings_argument, required=True, help="JSON object: headings, without_plot"
    )
    parser.add_argument("--books", required=True, metavar="PARQUET")
    parser.add_argument("--articles", required=True, metavar="PARQUET")
    parser.add_argument("--pages-store", type=Path, required=True, metavar="DIR", help="where pages are kept")
    parser.add_argument("--output", required=True, metavar="PARQUET")
    command_line.run(main, parser)
