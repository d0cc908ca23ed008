"""Read what annotators made, in whatever format, check it and write one table of annotations."""

import argparse

import pyarrow as pa

from evenlight.core import sources
from evenlight.core.contracts.corpus import ANNOTATIONS
from evenlight.core.tables import write_table
from evenlight.corpus.annotation.imports import import_annotations
from evenlight.jobs import command_line


def main(arguments: argparse.Namespace) -> None:
    """Write the annotations of all files, or none where one of them cannot be used."""
    rows = import_annotations(arguments.input)
    annotators = sorted({row["annotator"] for row in rows})
    metadata = {"annotators": annotators, "sources": {str(path): sources.digest(path) for path in arguments.input}}
    write_table(pa.Table.from_pylist(rows, schema=ANNOTATIONS.schema), arguments.output, ANNOTATIONS, metadata)
    sentences = {row["sentence_id"] for row in rows}
    rejected = sum(row["decision"] == "reject" for row in rows)
    print(
        f"{len(rows):,} annotations of {len(sentences):,} sentences by {', '.join(annotators)}; {rejected:,} rejections"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--input", nargs="+", required=True, metavar="FILE", help="what the annotators made")
    parser.add_argument("--output", required=True, metavar="PARQUET")
    command_line.run(main, parser)
