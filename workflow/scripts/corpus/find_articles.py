"""Find each book's Wikipedia article, and list the doubtful ones for a person to decide."""

import argparse
from pathlib import Path

from evenlight.core.contracts.corpus import ARTICLES, BOOKS
from evenlight.core.tables import read_table, replacing, write_table
from evenlight.corpus import browser, wikipedia
from evenlight.jobs import command_line


def main(arguments: argparse.Namespace) -> None:
    """Write the articles table and, as CSV, the alternatives of doubtful and missing ones."""
    books = read_table(arguments.books, BOOKS)
    decisions = wikipedia.read_decisions(arguments.decisions) if arguments.decisions else {}
    strangers = sorted(set(decisions) - set(books["book_id"]))
    if strangers:
        print(f"note: {arguments.decisions} decides about books that are not on the list: {strangers}")
    with browser.fetching_as_told(arguments) as fetch:
        articles, doubtful = wikipedia.find_articles(books, fetch, wikipedia.Finding(**arguments.settings), decisions)
    with replacing(arguments.doubtful) as temporary:
        doubtful.to_csv(temporary, index=False, float_format="%.3f")
    write_table(articles, arguments.output, ARTICLES)
    counts = articles["status"].value_counts()
    print(*(f"{status}: {counts.get(status, 0)}" for status in ("matched", "doubtful", "missing")), sep=", ")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--settings",
        type=command_line.settings_argument,
        required=True,
        help="JSON object: resolvers, candidates, matched, doubtful",
    )
    parser.add_argument("--books", required=True, metavar="PARQUET")
    parser.add_argument("--decisions", type=Path, metavar="CSV", help="a person's decisions: book_id, article")
    browser.add_flags(parser)
    parser.add_argument("--doubtful", required=True, metavar="CSV", help="for a person to look at")
    parser.add_argument("--output", required=True, metavar="PARQUET")
    command_line.run(main, parser)
