"""Write the page of a study, and its words for programs and for a model card."""

import argparse
from pathlib import Path

from evenlight.jobs import command_line
from evenlight.judging.page import scores_page
from evenlight.reports.index.audited import manifests_of
from evenlight.reports.index.content import study_content
from evenlight.reports.index.found import Found, read_found
from evenlight.reports.index.page import write_page
from evenlight.reports.index.store import Store
from evenlight.reports.index.views import Folders
from evenlight.statistics.comparisons.files import Runs


def main(arguments: argparse.Namespace) -> None:
    """Write the files."""
    settings = arguments.settings
    folders = Folders(
        arguments.scores, arguments.datasets, arguments.attributions, arguments.predictions, arguments.answers
    )
    names = settings.pop("tables")
    found = read_found(arguments.tables, names) if names else Found({})
    if "scored" in settings:
        found, further = scores_page(arguments.tables, found, settings.pop("scored"))
        settings |= further
    runs = Runs(datasets=list(settings["datasets"]), models=settings["seeds"], only=settings.get("only", {}))
    manifests = manifests_of(arguments.models, runs) if arguments.models else {}
    store = Store()
    content = study_content(folders, found, store, manifests, **settings)
    as_json, card = arguments.words or (None, None)
    write_page(content, store, arguments.output, as_json, card)


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    command_line.add_folder_flags(
        parser, "scores", "datasets", "attributions", "predictions", "answers", "models", required=False
    )
    parser.add_argument("--tables", type=Path, metavar="FOLDER", help="the study's tables, where it tells verdicts")
    parser.add_argument("--output", required=True, metavar="HTML")
    parser.add_argument("--words", nargs="*", type=Path, metavar="FILE", help="the same words as JSON and as Markdown")
    command_line.run(main, parser)
