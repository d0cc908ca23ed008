"""What it takes to go from 50 to 100 pairs of a study, beside 50 new pairs by themselves.

Six explainers and both AOPC metrics (those of ferret's benchmark) explain and score pairs of test texts. First 50 pairs
are done, then the study grows to 100, of which 50 are taken over. A second study has the 50 new pairs alone. Seconds
are those of the processor, without the start of Python; each job opens the model. The peak is that of the process until
then.
"""

import argparse
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
from report import machine, markdown, parser_of_models
from suites import SUITES
from worker_evenlight import FAMILY, STUDY

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow" / "scripts"))

from evenlight.core.contracts.texts import PREDICTIONS
from evenlight.core.tables import read_exactly, read_metadata, write_table
from evenlight.texts.predictions import NOT_SAMPLED
from explanations import attribute, score
from models import read_texts

*EXPLAINING, _ = SUITES["ferret"].values()
NAMES = [name for names in EXPLAINING for name in names]
SCORED = "faithfulness"
LIMITS = {"precision": "float32", "max_tokens": 128}


class Study:
    """Explanations and scores of some pairs, in a folder of their own."""

    def __init__(self, folder: Path, model: Path, items: Path):
        self.folder, self.model, self.items = folder, model, items
        self.predictions = folder / "predictions.parquet"
        self.attributions = [folder / "attributions" / f"{name}.parquet" for name in NAMES]
        self.scores = [folder / "scores" / path.name for path in self.attributions]

    def flags(self, settings: dict, **flags) -> argparse.Namespace:
        """What all commands are told, and ``flags``."""
        common = {"model": self.model, "items": self.items, "device": "cpu", "threads": 1}
        groups = {"tokens_per_batch": 0, "items_per_group": STUDY["explain"]["items_per_group"]}
        return argparse.Namespace(**common, **groups, settings=settings, **flags)

    def read(self, pairs: int, without: "Study | None" = None) -> None:
        """Sample some pairs, and leave those of another study out."""
        settings = {"target": "label", "pairs": pairs, "factors": [], "long_items": "drop"}
        settings["max_tokens"] = LIMITS["max_tokens"]
        units = self.items.with_name("units.parquet")
        read_texts.main(self.flags(settings, units=units, compared=None, output=self.predictions))
        if without:
            table, known = (read_exactly(path, PREDICTIONS) for path in (self.predictions, without.predictions))
            is_known = known["left_out"].isna().to_numpy()
            table.loc[is_known, "left_out"] = NOT_SAMPLED
            table.loc[is_known, ["target", "foil"]] = None
            write_table(table, self.predictions, PREDICTIONS, read_metadata(self.predictions, PREDICTIONS))

    def run(self) -> float:
        """Explain and score what is not there; how many seconds of the processor it takes."""
        started = time.process_time()
        for names in EXPLAINING:
            self._explain(names)
        settings = {"family": SCORED, "metrics": STUDY["metrics"], **LIMITS}
        score.main(
            self.flags(
                settings,
                versions={},
                predictions=self.predictions,
                attributions=self.attributions,
                output=self.scores,
            )
        )
        return time.process_time() - started

    def _explain(self, names: list[str]) -> None:
        methods = {name: STUDY["explainers"][name] for name in names}
        settings = {"family": FAMILY[names[0]], "explainers": methods, "seed": 0, **LIMITS}
        output = [path for path in self.attributions if path.stem in names]
        costs = [self.folder / "costs" / path.name for path in output]
        attribute.main(self.flags(settings, versions={}, predictions=self.predictions, output=output, costs=costs))

    def size(self) -> float:
        """KiB of explanations and scores."""
        return sum(path.stat().st_size for path in [*self.attributions, *self.scores]) / 1024


def peak() -> float:
    """The most memory that this process had until now, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured(folder: Path, model: Path, items: Path, pairs: int) -> pd.DataFrame:
    """Seconds, size and memory of ``pairs`` pairs, of twice as many, and of those that are new by themselves."""
    first, grown, new = (Study(folder / name, model, items) for name in ("first", "grown", "new"))
    # What is done once in a process.
    warm = Study(folder / "warm", model, items)
    warm.read(2)
    warm.run()
    rows = []

    def measure(name: str, study: Study) -> None:
        rows.append({"pairs": name, "seconds": study.run(), "KiB": study.size(), "peak MiB": peak()})

    first.read(pairs)
    measure(f"{pairs}", first)
    new.read(2 * pairs, without=first)
    measure(f"{pairs} new ones by themselves", new)
    shutil.copytree(first.folder, grown.folder)
    grown.read(2 * pairs)
    measure(f"{pairs}, and {pairs} taken over", grown)
    return pd.DataFrame(rows)


def main(arguments: argparse.Namespace) -> None:
    """Measure and print: the table of each model, and the ratio."""
    for name, model in arguments.models:
        with tempfile.TemporaryDirectory() as folder:
            table = measured(Path(folder), model, arguments.items, arguments.pairs)
        _, new, grown = table["seconds"]
        print(f"{name}:\n\n{markdown(table.round(1))}\n")
        print(f"To grow takes {grown / new:.2f} times what the new pairs take by themselves.\n", flush=True)
    print(f"Once, on one core of {machine('torch', 'transformers')}.")


if __name__ == "__main__":
    parser = parser_of_models(__doc__)
    parser.add_argument("--pairs", type=int, default=50, help="before the study grows to twice as many")
    main(parser.parse_args())
