"""Write the page on which a person reviews the drafted forms of the candidate sentences."""

import argparse

from evenlight.corpus.annotation.review_page import review_sentences, write_review_page
from evenlight.jobs import command_line


def main(arguments: argparse.Namespace) -> None:
    """Write the page."""
    sentences = review_sentences(arguments.candidates, arguments.drafts)
    write_review_page(sentences, arguments.title, arguments.language, arguments.output)
    print(f"{len(sentences):,} sentences to review; open {arguments.output} in a browser")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--candidates", required=True, metavar="PARQUET", help="the candidate sentences")
    parser.add_argument("--drafts", required=True, metavar="PARQUET", help="their drafted forms")
    parser.add_argument("--title", required=True, help="what the page is called")
    parser.add_argument("--language", default="en", help="language tag of the sentences")
    parser.add_argument("--output", required=True, metavar="HTML")
    command_line.run(main, parser)
