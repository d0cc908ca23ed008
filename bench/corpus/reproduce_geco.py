"""Build the binary GECO from its annotators' labelling, and explain every difference to the published one."""

import argparse
from pathlib import Path

from evenlight.core.errors import InputError
from evenlight.core.tables import write_csv
from evenlight.datasets.geco_reproduction import compare_with_published
from evenlight.datasets.readers.geco import Geco
from evenlight.jobs import command_line


def main(arguments: argparse.Namespace) -> None:
    """Write and print the counts; write the differences."""
    counts, differences = compare_with_published(arguments.annotation, published_files(arguments.geco))
    write_csv(counts, arguments.output)
    if arguments.differences:
        write_csv(differences, arguments.differences)
    total = counts.iloc[-1]
    for name in counts.columns.drop("scope"):
        print(f"{name}: {total[name]:,} ({total[name] / total.forms:.1%})")


def published_files(folder: Path) -> dict[str, Path]:
    """The paths of the binary GECO's files below ``folder``, by their names."""
    names = [name for words in ("all", "subject") for name in Geco(reader="geco", words=words).sources()]
    files = {name: folder / Path(name).relative_to("geco") for name in names}
    for path in files.values():
        if not path.is_file():
            raise InputError(f"{path}: no such file; --geco must name the folder of the published dataset")
    return files


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--annotation", required=True, metavar="JSON", help="GECO's merged_labelling_v2.json")
    parser.add_argument("--geco", required=True, type=Path, metavar="DIR", help="has binary_gender_all/ and _subj/")
    parser.add_argument("--output", required=True, metavar="CSV", help="the counts")
    parser.add_argument("--differences", metavar="CSV", help="every place that differs, with its reason")
    command_line.run(main, parser)
