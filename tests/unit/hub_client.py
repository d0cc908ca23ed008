"""A process that loads from a hub, as the jobs of a study do: the environment names the hub before libraries are
imported, which the client of the hub reads then.

Each line that it reads is a list of jobs that run at the same time, each in a fork: one of :data:`JOBS`, with a cache.
It answers with a line of JSON: what each gave, printed or was refused. So imports are paid once.
"""

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent


@dataclass
class Client:
    """The other end: what the tests hold of that process."""

    process: subprocess.Popen

    @classmethod
    def start(cls, address: str, home: Path) -> "Client":
        """One that speaks to the hub at ``address`` and has its cache in ``home``."""
        variables = {"HF_ENDPOINT": address, "HF_HOME": str(home), "HF_HUB_DISABLE_TELEMETRY": "1"}
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING", "TRANSF"))}
        path = os.pathsep.join([str(HERE), str(HERE.parents[1] / "workflow" / "scripts"), os.environ["PYTHONPATH"]])
        process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=kept | variables | {"PYTHONPATH": path},
        )
        return cls(process)

    def ask(self, *jobs: dict) -> list[dict]:
        """What became of jobs that run at the same time."""
        print(json.dumps(jobs), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def stop(self) -> None:
        """End it."""
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def load(items: str, settings: dict, output: str) -> dict:
    """The rule's command; the manifest that it wrote."""
    from models import load_model

    load_model.main(argparse.Namespace(items=Path(items), settings=settings, output=Path(output)))
    return json.loads((Path(output) / "manifest.json").read_text())


def train(items: str, units: str, settings: dict, output: str) -> dict:
    """Likewise of a model that is trained."""
    from models import train as command

    about = {"versions": {}, "compared": None, "device": "cpu", "threads": 1, "checkpoint_minutes": 0, "history": None}
    paths = {"items": Path(items), "units": Path(units), "output": Path(output)}
    command.main(argparse.Namespace(settings=settings, **paths, **about))
    return json.loads((Path(output) / "manifest.json").read_text())


def read(settings: dict) -> dict:
    """A dataset: its texts and notes."""
    from evenlight.datasets import Reader
    from evenlight.datasets import load as load_dataset

    dataset = load_dataset({}, Reader.parse(settings))
    return {"texts": [" ".join(words) for words in dataset.items["words"]], "notes": dataset.notes}


def convert(source: str, output: str, revision: str) -> list[str]:
    """The command that converts; the files that it wrote."""
    import convert_weights

    convert_weights.main(argparse.Namespace(source=source, output=Path(output), revision=revision))
    return sorted(path.name for path in Path(output).iterdir())


def explained(do: str, given: dict, texts: list[str], explainers: dict, metrics: dict) -> dict:
    """What a study does with a model: it is loaded or trained, explained by each explainer, and scored by each metric.

    Returns:
        ``manifest``; ``probabilities`` (texts, classes); ``tokens``, how many each text has; ``scores``, of each
        explainer the scores of each text's tokens; ``values``, of each explainer and metric one for each text.
    """
    from evenlight import notebook

    manifest = {"load": load, "train": train}[do](**given)
    classifier = notebook.load_classifier(given["output"], device="cpu")
    answer = {"manifest": manifest, "scores": {}, "values": {}}
    answer["probabilities"] = notebook.probabilities(classifier, texts).to_numpy().tolist()
    for name, explainer in explainers.items():
        found = notebook.explain(classifier, texts, explainer["method"], **_without(explainer, "method"))
        answer["scores"][name] = [one.token_score.tolist() for one in found]
        answer["tokens"] = [len(one.token_id) for one in found]
        answer["values"][name] = {
            metric: notebook.score(classifier, found, settings["metric"], **_without(settings, "metric")).tolist()
            for metric, settings in metrics.items()
        }
    return answer


def _without(settings: dict, key: str) -> dict:
    return {name: value for name, value in settings.items() if name != key}


JOBS = {"explained": explained, "load": load, "train": train, "read": read, "convert": convert}


def _set_up(cache: str, offline: bool, token: str | None) -> None:
    """What the environment of a job would say."""
    from huggingface_hub import constants

    import datasets

    constants.HF_HUB_CACHE = os.path.join(cache, "hub")
    datasets.config.HF_DATASETS_CACHE = Path(cache, "datasets")
    constants.HF_HUB_OFFLINE = datasets.config.HF_HUB_OFFLINE = offline
    # Tiny files come in several pieces, as real ones do in pieces of 10 MB.
    constants.DOWNLOAD_CHUNK_SIZE = 2**10
    if token:
        os.environ["HF_TOKEN"] = token


def _run(job: dict) -> dict:
    from evenlight.core.errors import InputError

    said = io.StringIO()
    answer: dict = {}
    with contextlib.redirect_stdout(said):
        _set_up(job["cache"], job.get("offline", False), job.get("token"))
        try:
            answer["gave"] = JOBS[job["do"]](**job["given"])
        except InputError as error:
            answer["refused"] = str(error)
        except Exception:
            answer["failed"] = traceback.format_exc()
    return answer | {"said": said.getvalue()}


def _forked(job: dict) -> tuple[int, int]:
    """The process that runs a job, and where its answer can be read."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    os.close(reading)
    with open(writing, "w") as answer:
        json.dump(_run(job), answer)
    os._exit(0)


def main() -> None:
    """Import, then answer until the input ends."""
    import peft  # noqa: F401
    import transformers.models.bert.modeling_bert  # noqa: F401

    import datasets  # noqa: F401
    import evenlight.engine.training  # noqa: F401

    sys.path.append(str(HERE.parents[1] / "workflow" / "tools"))
    for line in sys.stdin:
        jobs = json.loads(line)
        children = [_forked(job) for job in jobs]
        answers = []
        for child, reading in children:
            with open(reading) as answer:
                answers.append(json.load(answer))
            os.waitpid(child, 0)
        print(json.dumps(answers), flush=True)


if __name__ == "__main__":
    main()
