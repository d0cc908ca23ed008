"""Draw one figure of a study from one of its tables: a module of ``evenlight.reports.plots``."""

import argparse
from importlib import import_module
from pkgutil import iter_modules

from evenlight.core import tables
from evenlight.core.errors import InputError
from evenlight.jobs import command_line
from evenlight.reports import plots
from evenlight.reports.keywords import keywords
from evenlight.reports.style import draw


def main(arguments: argparse.Namespace) -> None:
    """Write the figure, titled by what it shows and, of one dataset, where."""
    module = import_module(f"evenlight.reports.plots.{arguments.figure}")
    title = module.SHOWS
    if arguments.dataset:
        title += f" on {arguments.settings.pop('dataset')}"
        table = tables.read_dataset(arguments.table, module.TABLE, arguments.dataset)
    else:
        table = tables.read_table(arguments.table, module.TABLE)
    settings = keywords(arguments.settings, table)
    figure_of = getattr(module, f"draw_{arguments.figure}")
    try:
        draw(arguments.output, lambda: figure_of(table, **settings, title=title), title)
    except InputError as error:
        raise InputError(f"{arguments.table}: {error}") from None


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    names = [module.name for module in iter_modules(plots.__path__)]
    parser.add_argument("--figure", choices=names, required=True, help="a module of evenlight.reports.plots")
    parser.add_argument("--table", required=True, metavar="PARQUET", help="the table that it is drawn of")
    parser.add_argument("--dataset", metavar="NAME", help="whose rows are drawn; default: all")
    command_line.add_figure_flag(parser)
    command_line.run(main, parser)
