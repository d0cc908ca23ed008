"""Cut the paragraphs into sentences and parse them with a spaCy pipeline."""

import argparse
from dataclasses import asdict

import pandas as pd

from evenlight.core.contracts.corpus import PARAGRAPHS, SENTENCES
from evenlight.core.tables import read_table, write_table
from evenlight.corpus import parsers
from evenlight.jobs import command_line


def main(arguments: argparse.Namespace) -> None:
    """Write one row per sentence, numbered within its paragraph."""
    nlp = parsers.load_parser(arguments.parser)
    paragraphs = read_table(arguments.paragraphs, PARAGRAPHS)
    parsed = parsers.parse_texts(nlp, paragraphs["text"])
    rows = [
        {
            "sentence_id": f"{paragraph.paragraph_id}.{number}",
            "paragraph_id": paragraph.paragraph_id,
            "book_id": paragraph.book_id,
            "author": paragraph.author,
            "text": text,
            **asdict(parse),
        }
        for paragraph, sentences in zip(paragraphs.itertuples(), parsed, strict=True)
        for number, (text, parse) in enumerate(sentences)
    ]
    metadata = {"parser": f"{nlp.meta['lang']}_{nlp.meta['name']} {nlp.meta['version']}"}
    write_table(pd.DataFrame(rows, columns=SENTENCES.schema.names), arguments.output, SENTENCES, metadata)
    print(f"{len(rows):,} sentences of {len(paragraphs):,} paragraphs written to {arguments.output}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--paragraphs", required=True, metavar="PARQUET")
    parser.add_argument("--parser", default="en_core_web_sm", help="name or path of a spaCy pipeline")
    parser.add_argument("--output", required=True, metavar="PARQUET")
    command_line.run(main, parser)
