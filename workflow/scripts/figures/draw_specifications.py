"""Draw the specification curve of one kind of metric on one dataset."""

import argparse

from evenlight.core import tables
from evenlight.core.contracts.results import SPECIFICATION_CURVES, SPECIFICATIONS
from evenlight.jobs import command_line
from evenlight.reports.keywords import keywords
from evenlight.reports.plots.specifications import draw_specifications
from evenlight.reports.style import draw


def main(arguments: argparse.Namespace) -> None:
    """Write the figure."""
    settings = keywords(arguments.settings)
    title = f"{arguments.kind.replace('_', ' ').capitalize()} on {settings.pop('dataset')}: every specification"
    specifications, curves = (
        table[(table["dataset"] == arguments.dataset) & (table["kind"] == arguments.kind)]
        for table in (
            tables.read_table(arguments.specifications, SPECIFICATIONS),
            tables.read_table(arguments.curves, SPECIFICATION_CURVES),
        )
    )
    draw(arguments.output, lambda: draw_specifications(specifications, curves, **settings, title=title), title)


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    for table in ("specifications", "curves"):
        parser.add_argument(f"--{table}", required=True, metavar="PARQUET")
    for part in ("dataset", "kind"):
        parser.add_argument(f"--{part}", required=True, metavar="NAME")
    command_line.add_figure_flag(parser)
    command_line.run(main, parser)
