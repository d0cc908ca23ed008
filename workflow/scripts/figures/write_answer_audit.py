"""Write the audit of answers in words: one page, the same as JSON, and a section for a model card."""

import argparse
from pathlib import Path

from evenlight.jobs import command_line
from evenlight.reports.audit.answers import answers_content, read_found_of_answers
from evenlight.reports.audit.page import ANSWERS, write_audit


def main(arguments: argparse.Namespace) -> None:
    """Write the files."""
    content = answers_content(read_found_of_answers(arguments.tables), **arguments.settings)
    write_audit(content, arguments.output, arguments.json, arguments.card, of=ANSWERS)


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    parser.add_argument("--tables", type=Path, required=True, metavar="FOLDER", help="the study's tables")
    parser.add_argument("--output", required=True, metavar="HTML")
    parser.add_argument("--json", required=True, metavar="JSON")
    parser.add_argument("--card", required=True, metavar="MARKDOWN")
    command_line.run(main, parser)
