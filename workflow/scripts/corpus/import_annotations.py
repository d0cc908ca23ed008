"""Read what annotators made, in whatever format, check it and write one table of annotations."""

import argparse
from functools import partial

import pyarrow as pa

from evenlight.core import sources
from evenlight.core.contracts.corpus import ANNOTATIONS
from evenlight.core.errors import InputError
from evenlight.core.tables import write_table
from evenlight.corpus.annotation.geco_annotation import NameLists, read_labelling, read_name_list
from evenlight.corpus.annotation.imports import READERS, import_annotations
from evenlight.jobs import command_line


def main(arguments: argparse.Namespace) -> None:
    """Write the annotations of all files, or none where one of them cannot be used."""
    readers = {}
    if arguments.names:
        if arguments.seed is None:
            raise InputError("--names: needs --seed, so that the same names are drawn again")
        lists = NameLists(*(read_name_list(path) for path in arguments.names), seed=arguments.seed)
        readers["geco_labelling"] = partial(read_labelling, names=lists)
    rows = import_annotations(arguments.input, arguments.format, readers)
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
    parser.add_argument("--format", choices=READERS, help="format of all files; default: what each file shows")
    parser.add_argument(
        "--names",
        nargs=3,
        metavar=("FEMALE", "MALE", "SURNAMES"),
        help="lists of names, one on each line; draw from them for words that GECO's labelling tags as names",
    )
    parser.add_argument("--seed", type=int, help="seed of that draw")
    parser.add_argument("--output", required=True, metavar="PARQUET")
    command_line.run(main, parser)
