"""What the commands have in common that draw a table's rows of one dataset."""

import argparse
from collections.abc import Callable

from matplotlib.figure import Figure

from evenlight import command_line
from evenlight.figures.settings import keywords
from evenlight.figures.style import draw
from evenlight.tables import Contract, read_dataset


def dataset_parser(description: str, table: str) -> argparse.ArgumentParser:
    """The flags of such a command; ``table`` is that of its table, ``description`` the script's docstring."""
    parser = command_line.settings_parser(description)
    parser.add_argument(f"--{table}", dest="table", required=True, metavar="PARQUET")
    parser.add_argument("--dataset", required=True, metavar="NAME")
    command_line.add_figure_flag(parser)
    return parser


def draw_dataset(
    arguments: argparse.Namespace, contract: Contract, shows: str, figure_of: Callable[..., Figure]
) -> None:
    """Write what ``figure_of(rows, title=…, **settings)`` draws, titled by what it ``shows`` and where."""
    settings = keywords(arguments.settings)
    title = f"{shows} on {settings.pop('dataset')}"
    rows = read_dataset(arguments.table, contract, arguments.dataset)
    draw(arguments.output, lambda: figure_of(rows, **settings, title=title), title)
