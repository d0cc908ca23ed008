"""Draft the forms of every candidate sentence by rule, for people to review."""

import argparse

import pandas as pd

from evenlight.core.contracts.corpus import CANDIDATES, DRAFTS
from evenlight.core.tables import read_arrow, write_table
from evenlight.corpus.annotation.drafting import draft_rows
from evenlight.corpus.annotation.lexicon import read_gendered_lexicon
from evenlight.jobs import command_line


def main(arguments: argparse.Namespace) -> None:
    """Write the drafts: six forms for each sentence."""
    settings = arguments.settings
    lexicon = read_gendered_lexicon(arguments.words, arguments.names)
    sentences = read_arrow(arguments.candidates, CANDIDATES).to_pylist()
    rows = draft_rows(sentences, lexicon, settings["names"], settings["seed"])
    drafted = pd.DataFrame(rows, columns=DRAFTS.schema.names)
    write_table(drafted, arguments.output, DRAFTS, {"settings": settings})
    print(f"{len(drafted):,} forms of {len(sentences):,} sentences written to {arguments.output}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--settings",
        type=command_line.settings_argument,
        required=True,
        metavar="JSON",
        help="names (pronoun or drawn), seed (of drawn names)",
    )
    parser.add_argument("--candidates", required=True, metavar="PARQUET")
    parser.add_argument("--words", required=True, metavar="YAML", help="gendered words, as in resources/lexicons")
    parser.add_argument("--names", required=True, metavar="YAML", help="given names, as in resources/lexicons")
    parser.add_argument("--output", required=True, metavar="PARQUET")
    command_line.run(main, parser)
