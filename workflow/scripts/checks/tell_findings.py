"""Tell what the checks of a study have found, all of it, once, and fail where there is a problem."""

import argparse
import shutil
from pathlib import Path

from evenlight.core.errors import InputError
from evenlight.core.findings import Findings, describe_others, describe_problems, joined
from evenlight.jobs.command_line import of_model, run, settings_argument
from evenlight.models.architectures.chat import AskingForAnswers
from evenlight.models.services.client import Client
from evenlight.statistics.comparisons.files import Runs


def paths_of(folder: Path, settings: dict) -> list[Path]:
    """The files with the findings, datasets first."""
    runs = Runs(datasets=settings["datasets"], models=settings["models"], only=settings.get("only", {}))
    of_datasets = [folder / dataset / "dataset.json" for dataset in runs.datasets]
    return of_datasets + [folder / run.dataset / run.model / f"seed{run.seed}.json" for run in runs]


def keys_missing(chats: dict) -> list[list[str]]:
    """The problems with keys of language models behind an address, by their names; none is asked, as it may cost."""
    looked_for = Findings()
    for name, chat in chats.items():
        with looked_for.at(f"models.{name}"):
            Client(chat["address"], AskingForAnswers(**chat["asking"]), chat["plain_http"]).header()
    return [[place, "", of_model(problem, place.removeprefix("models."))] for place, _, problem in looked_for.problems]


def main(arguments: argparse.Namespace) -> None:
    """Print the findings, and remove them."""
    findings = joined(paths_of(arguments.folder, arguments.settings))
    shutil.rmtree(arguments.folder)
    findings.problems += keys_missing(arguments.settings["chats"])
    findings.unchecked += arguments.settings["unchecked"]
    print(*describe_others(findings), sep="\n", flush=True)
    if problems := describe_problems(findings):
        what = "1 problem stands" if len(problems) == 1 else f"{len(problems)} problems stand"
        # In the log, which is said where the run ends, below Snakemake's own lines.
        raise InputError(*problems, f"{what} above, with what to do; nothing of the study was run")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="with a folder of findings for each dataset")
    parser.add_argument(
        "--settings",
        type=settings_argument,
        required=True,
        help=(
            "JSON: datasets; models, each with its seeds; only, which of them are for some datasets; chats, which are "
            "models behind an address that only answer; unchecked, what no check looks at, and why"
        ),
    )
    run(main, parser)
