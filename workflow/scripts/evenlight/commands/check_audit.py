"""``evenlight check-audit``: is a study still the one whose audit was filed?"""

import argparse
import sys
from pathlib import Path

from evenlight.commands import UNUSABLE
from evenlight.commands.audit_pdf import CHECKSUMS
from evenlight.core.errors import InputError
from evenlight.jobs.checksums import checksums_of, differences, read_checksums

DESCRIPTION = """\
Compare a filed audit with its study, by the list of checksums that `evenlight audit-pdf` wrote. The status is 0 where
every file is as it was filed, 1 where one is changed or missing, and 3 where the input cannot be used.
"""


def add_parser(commands) -> None:
    """Add the command to those of the package."""
    parser = commands.add_parser("check-audit", help="compare a filed audit with its study", description=DESCRIPTION)
    parser.add_argument("filed", type=Path, metavar="FILED", help=f"folder with the filed audit and its {CHECKSUMS}")
    parser.add_argument(
        "study", type=Path, nargs="?", metavar="FOLDER", help="folder of the study; default: the same folder"
    )
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> None:
    """Print what differs, and exit with the status."""
    study = arguments.study or arguments.filed
    try:
        if not study.is_dir():
            raise InputError(f"{study}: no such folder; name the folder of the study, such as results/my_audit")
        listed = read_checksums(arguments.filed / CHECKSUMS)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(UNUSABLE)
    # Of what was filed only some files lie in its folder, which were copied there.
    filed = differences(listed, checksums_of(arguments.filed, CHECKSUMS)).changed if study != arguments.filed else []
    found = differences(listed, checksums_of(study, CHECKSUMS))
    for what, names, folder in (
        ("changed since it was filed", filed, arguments.filed),
        ("changed", found.changed, study),
        ("missing", found.missing, study),
        ("not in the list", found.others, study),
    ):
        print(*(f"{what}: {folder / name}" for name in names), sep="\n", end="\n" * bool(names))
    same = len(listed) - len(found.changed) - len(found.missing)
    print(f"Of {len(listed):,} files that were listed {same:,} are as they were.")
    sys.exit(int(bool(filed or found.changed or found.missing)))
