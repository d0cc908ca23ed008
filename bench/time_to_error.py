"""Measure how long each package takes to explain a text with an error of so much: LIME and Shapley values.

An estimate is compared with what its method converges to. Shapley values are exact from all subsets of a short text's
tokens. Of a longer one they are the mean of long runs of permutation sampling, which have no bias. Every LIME has
draws, distances and a penalty of its own, so each is compared with its own run of very many rows. Hidden tokens are
masked, and special ones are kept, but for ferret's and our LIME.

Ours, ferret, and all other packages together have a process with one thread each, which has called every estimator
before. Time is that of the processor, which other work beside changes little. Answers are kept in
``results/bench/error.jsonl``, so that a stopped run goes on where it ended.
"""

import argparse
import inspect
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
from page_figures import illustrate
from protocol import Worker
from report import WORDS, command, machine, markdown
from tokenizers import Tokenizer

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow" / "scripts"))

from evenlight.core.errors import InputError
from evenlight.core.seeds import generator_for
from evenlight.core.tables import replacing
from evenlight.jobs import command_line

HERE = Path(__file__).parent
# Up to so many tokens all subsets are asked.
ENUMERATED = 12
# Tokens by which a longer text may differ from what is asked for.
TOLERANCE = 2
LIMES = ("lime", "lime, asked", "captum Lime", "interpreto Lime", "lime LimeTextExplainer", "ferret LIMEExplainer")
TRUTHS = ("exact", "long run")
OURS = ("leverage", "surrogate", "chosen", "adjusted", "lime", "lime, asked")
OF_PEERS = {
    "captum": ("KernelShap", "ShapleyValueSampling", "Lime"),
    "shap": ("KernelExplainer", "PermutationExplainer"),
    "shapiq": ("kADDSHAP", "KernelSHAP", "SVARM"),
    "interpreto": ("KernelShap", "Lime"),
    "lime": ("LimeTextExplainer",),
    "ferret": ("LIMEExplainer",),
}
KEY = ("model", "tokens", "text", "task", "rows", "seed")
# Seeds of long runs count from here, those of estimates from 0.
LONG = 1_000_000
# Rows of the first call of a task, which imports what it needs.
WARM_UP = 64


def texts_of(items: Path, folder: Path, tokens: int, count: int) -> list[dict]:
    """``count`` texts of about so many tokens, special ones not counted: one test sentence, or several in a row."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    table = pd.read_parquet(items)
    table = table[table["split"] == "test"]
    table = table.iloc[generator_for(0, "time to error").permutation(len(table))]
    tolerance = TOLERANCE if tokens > ENUMERATED else 0
    found, words = [], []
    for own, label in zip(table["words"], table["label"], strict=True):
        words += list(own)
        length = len(tokenizer.encode(words, is_pretokenized=True, add_special_tokens=False).ids)
        if abs(length - tokens) <= tolerance:
            found.append({"words": words, "target": int(label)})
        if length >= tokens - tolerance:
            words = []
        if len(found) == count:
            return found
    raise InputError(f"--items: only {len(found)} texts of {tokens} tokens; lower --texts")


class Answers:
    """What the workers have answered, in a file that grows.

    Attributes:
        path: JSON, a line for each answer.
        known: by the values of :data:`KEY`.
    """

    def __init__(self, path: Path):
        self.path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        answers = [json.loads(line) for line in lines]
        self.known = {self._key(answer): answer for answer in answers}

    def _key(self, answer: dict) -> tuple:
        return tuple(answer[name] for name in KEY)

    def keep(self, worker: Worker, sentence: dict, **key: object) -> None:
        """Ask a worker, where the answer is not known, and write it down."""
        if self._key(key) in self.known:
            return
        answer = worker.ask(str(key["task"]), [sentence | {"rows": key["rows"], "seed": key["seed"]}])
        answer = key | {"seconds": answer["processor_seconds"], "scores": answer["scores"][0]}
        self.known[self._key(answer)] = answer
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(answer) + "\n")


@contextmanager
def workers_of(folder: Path, arguments: argparse.Namespace) -> Iterator[dict[str, Worker]]:
    """A process for ours, one for the packages of each environment, by the task that each can do."""
    log = arguments.answers.parent
    peers = {sys.executable: [name for name in OF_PEERS if name != "ferret"], arguments.ferret_python: ["ferret"]}
    ours = Worker(sys.executable, HERE / "worker_error_evenlight.py", str(folder), "1", log=log / "error_ours.log")
    started, by_task = [ours], dict.fromkeys((*OURS, *TRUTHS), ours)
    for python, packages in peers.items():
        packages = [name for name in packages if name in arguments.packages]
        if packages:
            flags = (",".join(packages), str(folder), "1")
            worker = Worker(python, HERE / "worker_error.py", *flags, log=log / f"error_{packages[0]}.log")
            started.append(worker)
            by_task |= {f"{name} {one}": worker for name in packages for one in OF_PEERS[name]}
    try:
        yield {task: worker for task, worker in by_task.items() if arguments.lime_rows or task not in LIMES}
    finally:
        for worker in started:
            worker.stop()


def ask(name: str, folder: Path, tokens: int, answers: Answers, arguments: argparse.Namespace) -> None:
    """Ask all workers about the texts of a model that have so many tokens."""
    texts = texts_of(arguments.items, folder, tokens, arguments.texts)
    with workers_of(folder, arguments) as by_task:
        for worker in dict.fromkeys(by_task.values()):
            worker.ask("warm up", [texts[0] | {"rows": WARM_UP, "seed": LONG}])
        for task, worker in by_task.items():
            if task not in TRUTHS:
                worker.ask(task, [texts[0] | {"rows": WARM_UP, "seed": LONG}])
        for number, text in enumerate(texts):
            of_text = {"model": name, "tokens": tokens, "text": number}
            truth = "exact" if tokens <= ENUMERATED else "long run"
            for block in range(1 if truth == "exact" else arguments.blocks):
                answers.keep(by_task[truth], text, **of_text, task=truth, rows=0, seed=LONG + block)
            for task, worker in by_task.items():
                if task in LIMES and task != "lime, asked":
                    answers.keep(worker, text, **of_text, task=task, rows=arguments.lime_rows, seed=LONG)
            # What is compared is asked side by side.
            for rows in arguments.rows:
                for seed in range(arguments.seeds):
                    for task, worker in by_task.items():
                        if task not in TRUTHS:
                            answers.keep(worker, text, **of_text, task=task, rows=rows, seed=seed)
            print(f"{name}, {tokens} tokens: {number + 1} of {len(texts)} texts", flush=True)


def errors(answers: Answers) -> pd.DataFrame:
    """One row for each estimate: its task, rows, seconds and relative error."""
    table = pd.DataFrame(answers.known.values())
    known = table[table["scores"].notna()].assign(long=table["seed"] >= LONG)
    found = []
    for key, own in known.groupby(list(KEY[:3]), sort=False):
        long = own[own["long"]]
        longest = long[long["rows"] == long.groupby("task")["rows"].transform("max")]
        runs = {task: np.mean(part["scores"].tolist(), axis=0) for task, part in longest.groupby("task")}
        exact = runs.get("exact", runs.get("long run"))
        for row in own[~own["long"]].itertuples():
            truth = exact if row.task not in LIMES else runs["lime" if row.task == "lime, asked" else row.task]
            error = np.linalg.norm(np.array(row.scores) - truth) / np.linalg.norm(truth)
            line = dict(zip(KEY, (*key, row.task, row.rows, row.seed), strict=True))
            found.append(line | {"seconds": row.seconds, "error": error})
    return pd.DataFrame(found)


def summarised(found: pd.DataFrame) -> pd.DataFrame:
    """Medians of seconds and errors over texts and seeds."""
    keys = ["model", "tokens", "task", "rows"]
    table = found.groupby(keys, sort=False)[["seconds", "error"]].median().reset_index()
    table["runs"] = found.groupby(keys, sort=False).size().to_numpy()
    table["kind"] = np.where(table["task"].isin(OURS), "ours", "peer")
    return table


def seconds_for(own: pd.DataFrame, error: float) -> tuple[str, float]:
    """Seconds in which an estimator's median error falls to ``error``, between its rows by a power law.

    With ``≤`` where the fewest rows already reach it, with ``>`` where the most do not; else with no sign.
    """
    own = own.sort_values("rows")
    seconds, reached = own["seconds"].to_numpy(), np.flatnonzero(own["error"] <= error)
    if not len(reached):
        return "> ", float(seconds[-1])
    last = reached[0]
    if last == 0:
        return "≤ ", float(seconds[0])
    logs = np.log(own[["error", "seconds"]].to_numpy()[last - 1 : last + 1])
    return "", float(np.exp(np.interp(-np.log(error), -logs[:, 0], logs[:, 1])))


def times(table: pd.DataFrame, wanted: list[float], limes: bool) -> pd.DataFrame:
    """Seconds to each error, by estimator, and how many times those of our fastest they are."""
    own = table[table["task"].isin(LIMES) == limes]
    lines = []
    for task, part in own.groupby("task", sort=False):
        lines.append({"estimator": task} | {error: seconds_for(part, error) for error in wanted})
    found = pd.DataFrame(lines)
    for error in wanted:
        mine = found.loc[found["estimator"].isin(OURS), error]
        best = min((seconds for sign, seconds in mine if sign != "> "), default=np.nan)
        found[error] = [_cell(sign, seconds, best) for sign, seconds in found[error]]
    return found.rename(columns={error: f"to {error:g}" for error in wanted})


def _cell(sign: str, seconds: float, best: float) -> str:
    ratio = f" ({sign}{seconds / best:.1f})" if np.isfinite(best) else ""
    return f"{sign}{seconds:.3g}{ratio}"


def compared(table: pd.DataFrame, error: float, limes: bool) -> pd.DataFrame:
    """What ``times`` has of one error, with a column for each model and number of tokens."""
    found = {}
    for (model, tokens), own in table.groupby(["model", "tokens"], sort=False):
        if (own["task"].isin(LIMES) == limes).any():
            found[f"{model}, {tokens} tokens"] = times(own, [error], limes).set_index("estimator").iloc[:, 0]
    return pd.DataFrame(found).fillna("–").rename_axis("estimator").reset_index()


def page(table: pd.DataFrame, arguments: argparse.Namespace) -> str:
    """The page that shows the table."""
    sections = []
    for limes, what in ((False, "Shapley values"), (True, "LIME")):
        if (table["task"].isin(LIMES) == limes).any():
            sections.append(f"## {what}")
            for error in arguments.errors:
                sections.append(f"To an error of {error:g}:\n\n{markdown(compared(table, error, limes))}")
    rows = ", ".join(map(str, sorted(table["rows"].unique())))
    body = f"""\
        # Time to the same error

        {{about}}

        ‖estimate − truth‖ / ‖truth‖ is the error, of which the median over texts and seeds counts. Cells are seconds
        of the processor in which it falls to this error, interpolated by a power law between {rows} rows. In brackets
        stands how many times those of our fastest estimator they are. There is a ≤ where the fewest rows reach the
        error, and a > where the most do not.

        Made by `{command()}` on {machine("torch", "transformers", "captum", "shap", "lime", "numpy")}.
        {WORDS}

        {{sections}}
        """
    about = "\n\n".join(inspect.cleandoc(__doc__).split("\n\n")[1:])
    return inspect.cleandoc(body).format(about=about, sections="\n\n".join(sections)) + "\n"


def main(arguments: argparse.Namespace) -> None:
    """Ask, and write the table and the page."""
    if arguments.output.suffix != ".csv":
        raise InputError(f"--output: '{arguments.output}' must end in .csv; the page is written beside it")
    arguments.answers.parent.mkdir(parents=True, exist_ok=True)
    answers = Answers(arguments.answers)
    for model in arguments.models:
        name, _, folder = model.partition("=")
        for tokens in arguments.tokens:
            ask(name, Path(folder), tokens, answers, arguments)
    table = summarised(errors(answers))
    with replacing(arguments.output) as path:
        table.to_csv(path, index=False, float_format="%.6g")
    with replacing(arguments.output.with_suffix(".md")) as path:
        path.write_text(page(table, arguments), encoding="utf-8")
    illustrate(arguments.output.with_suffix(".md"), "time_to_error")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=[], help="name=folder of each model; none: write the page only")
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet), of which the test split")
    parser.add_argument("--ferret-python", default="", help="interpreter of ferret's environment")
    parser.add_argument("--packages", nargs="+", default=list(OF_PEERS), choices=list(OF_PEERS), help="default: all")
    parser.add_argument(
        "--tokens", nargs="+", type=int, default=[12, 30, 60], help="of a text, special ones not counted"
    )
    parser.add_argument("--texts", type=int, default=8, help="how many of each length")
    parser.add_argument("--seeds", type=int, default=3, help="runs of each estimator per text")
    parser.add_argument("--rows", type=int, nargs="+", default=[32, 64, 128, 256, 512, 1024, 2048])
    parser.add_argument("--blocks", type=int, default=24, help="long runs of a text, whose mean is its truth")
    parser.add_argument("--lime-rows", type=int, default=32768, help="rows of LIME's long runs; 0 leaves LIME out")
    parser.add_argument("--errors", type=float, nargs="+", default=[0.2, 0.1], help="that are to be reached")
    parser.add_argument("--answers", type=Path, default=Path("results/bench/error.jsonl"), help="where a run goes on")
    parser.add_argument("--output", type=Path, required=True, help="table (CSV); the page is written beside it")
    command_line.run(main, parser)
