"""How many rows several jobs of a study ask the same model, and what it costs to keep answers on disk for them.

The jobs of one model are done one after the other, as a study does them: predictions, each family of explainers, the
metrics that ask. A row counts as asked twice where an earlier job asked it too; within a job equal rows are computed
once already. All rows with their answers are then written into an SQLite file, and looked up again, in one transaction
each. It prints a table and two times beside the time of the rows themselves, all of them processor time.
"""

import argparse
import sqlite3
import sys
import time
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import yaml

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "workflow" / "scripts"))

from report import machine, markdown
from texts import add_items_flag, draw, read_by, test_texts

from evenlight import explainers, metrics
from evenlight.configuration import complete, explainer_families, family_of
from evenlight.engine.evaluator import Evaluator
from evenlight.jobs import command_line
from evenlight.metrics import explanation_of
from evenlight.models.classifier import load_saved
from evenlight.models.processor import use_processor


class Recording(Evaluator):
    """An evaluator that keeps the answers of a job, and how long they took."""

    def __init__(self, classifier):
        super().__init__(classifier)
        self.answers: dict[bytes, np.ndarray] = {}
        self.seconds = 0.0

    def probabilities(self, rows: list[np.ndarray]) -> np.ndarray:
        """See :meth:`Evaluator.probabilities`."""
        started = time.process_time()
        found = super().probabilities(rows)
        self.seconds += time.process_time() - started
        self.answers |= {row.tobytes(): answer for row, answer in zip(rows, found, strict=True)}
        return found


def jobs(study: dict, classifier, sentences: list, training: pd.DataFrame):
    """The name of each job that asks, and its recording evaluator."""
    evaluator = Recording(classifier)
    evaluator.probabilities([sentence.row for sentence in sentences])
    yield "predictions", evaluator
    explained = []
    for family, names in explainer_families(study).items():
        evaluator = Recording(classifier)
        settings = {name: study["explainers"][name] for name in names}
        context = explainers.Context(evaluator, 0, training)
        found = explainers.explain(family, sentences, settings, context)
        for result in found.values():
            pairs = zip(sentences, result.attributions, strict=True)
            explained += [explanation_of(sentence, one.token_score, None) for sentence, one in pairs]
        yield family, evaluator
    families: dict[str, dict] = {}
    for name, settings in study["metrics"].items():
        families.setdefault(family_of("metrics", settings["metric"]), {})[name] = settings
    for family, settings in families.items():
        evaluator = Recording(classifier)
        metrics.score(family, explained, settings, evaluator)
        yield family, evaluator


def on_disk(answers: dict[bytes, np.ndarray]) -> tuple[float, float]:
    """Processor time of writing the answers and of looking them up."""
    with TemporaryDirectory() as folder, sqlite3.connect(Path(folder) / "answers.sqlite") as store:
        started = time.process_time()
        store.execute("create table answers (row blob primary key, answer blob) without rowid")
        digests = {blake2b(row, digest_size=16).digest(): answer.tobytes() for row, answer in answers.items()}
        store.executemany("insert into answers values (?, ?)", digests.items())
        store.commit()
        written = time.process_time()
        for row in answers:
            digest = blake2b(row, digest_size=16).digest()
            store.execute("select answer from answers where row = ?", (digest,)).fetchone()
        return written - started, time.process_time() - written


def main(arguments: argparse.Namespace) -> None:
    """Count and print."""
    use_processor(1)
    study = complete(yaml.safe_load(arguments.study.read_text(encoding="utf-8")))
    classifier = load_saved(arguments.model, arguments.max_tokens)
    texts = test_texts(arguments.items)
    sentences = read_by(classifier, draw(texts, arguments.texts, "rows across jobs"))
    known: dict[bytes, np.ndarray] = {}
    table, seconds = [], 0.0
    for job, evaluator in jobs(study, classifier, sentences, texts):
        again = [row for row in evaluator.answers if row in known]
        table.append({"job": job, "rows": len(evaluator.answers), "asked before by another job": len(again)})
        seconds += evaluator.seconds
        known |= evaluator.answers
    found = pd.DataFrame(table)
    print(markdown(found))
    rows, again = found["rows"].sum(), found["asked before by another job"].sum()
    write, look = on_disk(known)
    print(
        f"\n{len(sentences)} texts: {again} of {rows} rows are asked twice ({again / rows:.2%}). The rows take "
        f"{seconds:.2f} s, {seconds / rows * 1e6:.0f} µs each; a file of {len(known)} answers takes {write:.2f} s to "
        f"write and {look:.2f} s to look up.\nOn {machine('torch', 'transformers')}."
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", type=Path, default=Path("config/studies/geco_cpu.yaml"), help="the study's settings")
    parser.add_argument("--model", type=Path, required=True, help="folder of a trained model of the study")
    add_items_flag(parser)
    parser.add_argument("--texts", type=int, default=20, help="how many test texts are explained")
    parser.add_argument("--max-tokens", type=int, default=64, help="longest text that the model is given")
    command_line.run(main, parser)
