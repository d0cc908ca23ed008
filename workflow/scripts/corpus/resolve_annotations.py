"""Make one annotation per sentence of those of several annotators."""

import argparse

import pyarrow as pa

from evenlight.core.contracts.corpus import ANNOTATIONS
from evenlight.core.errors import InputError
from evenlight.core.tables import write_csv, write_table
from evenlight.corpus.annotation.annotations import read_annotations
from evenlight.corpus.annotation.imports import import_annotations
from evenlight.corpus.annotation.resolution import METHODS, resolve
from evenlight.jobs import command_line


def main(arguments: argparse.Namespace) -> None:
    """Write the resolved annotations, and the disagreements with how each was resolved."""
    if (arguments.method == "adjudication") != (arguments.adjudication is not None):
        raise InputError("--adjudication: name the adjudicator's file with the method adjudication, and only with it")
    annotations = read_annotations(arguments.annotations)
    adjudication = import_annotations([arguments.adjudication]) if arguments.adjudication else None
    resolved, disagreements = resolve(annotations, arguments.method, adjudication)
    if not resolved:
        raise InputError(f"{arguments.annotations}: no sentence is left; resolve disagreements in another way")
    sentences = {row["sentence_id"] for row in annotations}
    notes = [f"{name}: {count}" for name, count in disagreements["resolution"].value_counts().items()]
    notes.append(f"sentences left out: {len(sentences) - len(resolved)} of {len(sentences)}")
    table = pa.Table.from_pylist(resolved, schema=ANNOTATIONS.schema)
    write_table(table, arguments.output, ANNOTATIONS, {"method": arguments.method, "notes": notes})
    write_csv(disagreements, arguments.disagreements)
    print(*notes, sep="\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--annotations", required=True, metavar="PARQUET")
    parser.add_argument("--method", choices=METHODS, required=True)
    parser.add_argument("--adjudication", metavar="FILE", help="what one person decided, in any format of an import")
    parser.add_argument("--output", required=True, metavar="PARQUET")
    parser.add_argument("--disagreements", required=True, metavar="CSV")
    command_line.run(main, parser)
