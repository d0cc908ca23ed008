"""Write the audit of a study: one page, the same as JSON, and a section for a model card."""

import argparse
from pathlib import Path

from evenlight.jobs import command_line
from evenlight.reports.audit.audited import manifests_of
from evenlight.reports.audit.content import audit_content, read_found
from evenlight.reports.audit.page import write_audit
from evenlight.statistics.files import Runs


def main(arguments: argparse.Namespace) -> None:
    """Write the files."""
    settings = arguments.settings
    runs = Runs(datasets=list(settings["datasets"]), models=settings["seeds"], only=settings.pop("only", {}))
    manifests = manifests_of(arguments.models, runs)
    found = read_found(arguments.tables, settings.pop("pages"), arguments.datasets)
    content = audit_content(found, manifests, **settings)
    write_audit(content, arguments.output, arguments.json, arguments.card)
    for text in content["warnings"]:
        print(f"warning: {text}", flush=True)


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    command_line.add_folder_flags(parser, "models")
    command_line.add_folder_flags(parser, "datasets", required=False)
    parser.add_argument("--tables", type=Path, required=True, metavar="FOLDER", help="the study's tables")
    parser.add_argument("--output", required=True, metavar="HTML")
    parser.add_argument("--json", required=True, metavar="JSON")
    parser.add_argument("--card", required=True, metavar="MARKDOWN")
    command_line.run(main, parser)
