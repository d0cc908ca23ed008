"""What every script under ``workflow/scripts`` shares: how it starts and how it fails."""

import argparse
import json
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from evenlight.core.errors import InputError, unwritable

# Where the files of a model lie, and what is made of one.
OF_MODEL = re.compile(r"/[^/]+/(?P<model>[^/]+)/seed\d+")


def settings_argument(text: str) -> dict:
    """Parse the JSON object that a rule passes as ``--settings``."""
    settings = json.loads(text)
    if not isinstance(settings, dict):
        raise argparse.ArgumentTypeError("the settings must be a JSON object")
    return settings


def settings_parser(description: str) -> argparse.ArgumentParser:
    """A parser with ``--settings``; ``description`` is the script's docstring."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--settings", type=settings_argument, required=True, metavar="JSON")
    return parser


def recorded_parser(description: str, output: str) -> argparse.ArgumentParser:
    """The parser of a script that matches recorded answers with the questions of a dataset, and writes ``output``."""
    parser = settings_parser(description)
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet)")
    parser.add_argument("--units", type=Path, required=True, help="table of units (Parquet)")
    parser.add_argument("--table", type=Path, required=True, help="recorded answers (CSV, JSON Lines, JSON, Parquet)")
    parser.add_argument("--output", type=Path, required=True, help=f"table of {output} (Parquet)")
    return parser


def add_folder_flags(parser: argparse.ArgumentParser, *names: str, required: bool = True) -> None:
    """Flags of scripts that read many runs' files, which they find by :mod:`evenlight.statistics.comparisons.files`."""
    for name in names:
        parser.add_argument(f"--{name}", type=Path, required=required, metavar="FOLDER", help=f"<results>/{name}")


def named_folders(arguments: argparse.Namespace, *names: str) -> dict[str, Path]:
    """Those of some folders that were named, by the name of their flag."""
    return {name: folder for name in names if (folder := getattr(arguments, name))}


def add_figure_flag(parser: argparse.ArgumentParser) -> None:
    """The flag of scripts that draw a figure."""
    parser.add_argument(
        "--output", nargs="+", required=True, metavar="PATH", help="one or more, ending in .svg, .pdf or .png"
    )


def add_model_flags(parser: argparse.ArgumentParser, required: bool = True) -> None:
    """Flags of every script that asks a trained model; they change how fast it answers, not what."""
    parser.add_argument("--model", type=Path, required=required, help="folder that train.py wrote")
    parser.add_argument(
        "--tokens-per-batch",
        type=int,
        help="most tokens in one batch, padding included; default: what suits the device",
    )
    add_service_flags(parser)
    add_device_flags(parser)


def add_service_flags(parser: argparse.ArgumentParser) -> None:
    """Flags of scripts that may ask a service; they change how it is asked, not what it answers."""
    parser.add_argument(
        "--asking",
        type=settings_argument,
        default={},
        metavar="JSON",
        help="how each service is asked, by the name of the model: batch, retries and so on",
    )
    parser.add_argument(
        "--answers", type=Path, default=Path("results", "answers"), help="folder where the answers of services are kept"
    )


def add_group_flag(parser: argparse.ArgumentParser) -> None:
    """The flag of scripts that work on groups of items; it changes how much is lost when they are killed."""
    parser.add_argument("--items-per-group", type=int, default=256, help="items computed and stored together")


def add_compared_flag(parser: argparse.ArgumentParser) -> None:
    """The flag of scripts that refuse a study which compares too few texts; it changes no result."""
    parser.add_argument(
        "--compared",
        type=settings_argument,
        metavar="JSON",
        help="what is compared of the texts that are explained: comparisons and strata; samples, by dataset",
    )


def add_device_flags(parser: argparse.ArgumentParser) -> None:
    """Flags of every script that uses torch."""
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto", help="where the model runs")
    parser.add_argument("--threads", type=int, default=1, help="threads for torch")


def run(command: Callable[[argparse.Namespace], None], parser: argparse.ArgumentParser) -> None:
    """Parse the flags and call ``command``; an :class:`InputError` becomes one readable message.

    A job that is told to stop (SIGTERM) ends as by an exception, so that it takes its temporary files with it.
    """
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, _stop)
    try:
        command(arguments)
    except InputError as error:
        # A line each, by which they are found in a log; what other libraries say may have several.
        problems = [" ".join(problem.split()) for problem in error.problems]
        for note in error.notes:
            print(f"note: {note}", file=sys.stderr)
        sys.exit("\n".join(f"error: {_with_names(problem, arguments)}" for problem in problems))
    except OSError as error:
        # Of what is not written as a whole file.
        if (said := unwritable(error)) is None:
            raise
        sys.exit(f"error: {said}")


def _with_names(message: str, arguments: argparse.Namespace) -> str:
    """A message with the names of the model and the explainer in place of ``<model>`` and ``<explainer>``, where a
    script works on one.

    >>> _with_names("models.<model>.classes: which?", argparse.Namespace(output=Path("models/texts/mine/seed0")))
    'models.mine.classes: which?'
    """
    if explainer := getattr(arguments, "settings", {}).get("explainer"):
        message = message.replace("explainers.<explainer>", f"explainers.{explainer}")
    paths = [str(getattr(arguments, flag, None)) for flag in ("model", "output")]
    found = next(filter(None, map(OF_MODEL.search, paths)), None)
    return of_model(message, found["model"]) if found else message


def of_model(message: str, model: str) -> str:
    """A message about ``models.<model>`` with the name of the model."""
    return message.replace("models.<model>", f"models.{model}")


def _stop(number: int, frame: object) -> None:
    # What a shell gives as the status of a command that the signal ended.
    sys.exit(128 + number)
