"""Read Project Gutenberg's list of the most popular books and write the books table."""

import argparse

from evenlight.core.contracts.corpus import BOOKS
from evenlight.core.errors import InputError
from evenlight.core.tables import write_table
from evenlight.corpus import browser, gutenberg
from evenlight.jobs import command_line


def main(arguments: argparse.Namespace) -> None:
    """Fetch the list unless the page store has it, and write its books."""
    with browser.fetching_as_told(arguments) as fetch:
        page = fetch(gutenberg.URL)
    if page.status != 200:
        raise InputError(
            f"{page.url}: status {page.status}; the list has moved, evenlight.corpus.gutenberg must follow"
        )
    books = gutenberg.read_top_list(page.html, **arguments.settings)
    write_table(books, arguments.output, BOOKS, {"url": page.url})
    print(f"{len(books)} books written to {arguments.output}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--settings", type=command_line.settings_argument, required=True, help="JSON object: period, limit"
    )
    browser.add_flags(parser)
    parser.add_argument("--output", required=True, metavar="PARQUET")
    command_line.run(main, parser)
