"""Write the audit of scores that were made elsewhere: one page, the same as JSON, and a section for a report."""

import argparse
from pathlib import Path

from evenlight.jobs import command_line
from evenlight.judging.audited import read_found_of_scores, scores_audit
from evenlight.reports.audit.page import SCORES, write_audit


def main(arguments: argparse.Namespace) -> None:
    """Write the files."""
    content = scores_audit(read_found_of_scores(arguments.tables), **arguments.settings)
    write_audit(content, arguments.output, arguments.json, arguments.card, SCORES)
    for text in content["warnings"]:
        print(f"warning: {text}", flush=True)


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    parser.add_argument("--tables", type=Path, required=True, metavar="FOLDER", help="the study's tables")
    parser.add_argument("--output", required=True, metavar="HTML")
    parser.add_argument("--json", required=True, metavar="JSON")
    parser.add_argument("--card", required=True, metavar="MARKDOWN")
    command_line.run(main, parser)
