"""Measure how far annotators agree, and list what they disagree on."""

import argparse

from evenlight.core.tables import write_csv
from evenlight.corpus.annotation.agreement import annotator_agreement, disagreements
from evenlight.corpus.annotation.annotations import read_annotations
from evenlight.jobs import command_line


def main(arguments: argparse.Namespace) -> None:
    """Write both tables; with one annotator they are empty."""
    annotations = read_annotations(arguments.annotations)
    agreement = annotator_agreement(annotations)
    differing = disagreements(annotations)
    write_csv(agreement, arguments.output)
    write_csv(differing, arguments.disagreements)
    print(f"{differing.sentence_id.nunique():,} sentences with {len(differing):,} disagreements")
    for row in agreement[agreement.statistic == "Krippendorff's alpha"].itertuples():
        scope = f", scope {row.scope}" if row.scope else ""
        print(f"{row.kind}{scope}: alpha {row.note or format(row.value, '.3f')} ({row.units:,} units)")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--annotations", required=True, metavar="PARQUET")
    parser.add_argument("--output", required=True, metavar="CSV", help="the coefficients")
    parser.add_argument("--disagreements", required=True, metavar="CSV", help="sentences and words, by annotator")
    command_line.run(main, parser)
