"""Time this engine against its peers: same machine, same model, same sentences, in alternation.

``docs/performance.md`` explains what it prints. Timing is of the work alone: every worker
is started beforehand and has warmed up.
"""

import argparse
import csv
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import torch
from protocol import Worker
from report import machine
from scipy.stats import spearmanr
from suites import PASSES, SUITES
from transformers import AutoConfig

HERE = Path(__file__).parent
COLUMNS = [
    "peer",
    "model",
    "precision",
    "task",
    "sentences",
    "our_seconds_per_sentence",
    "peer_seconds_per_sentence",
    "ratio",
    "ratio_low",
    "ratio_high",
    "rows_per_second",
    "matrix_share",
    "agreement",
    "our_peak_mib",
    "peer_peak_mib",
]


def sentences_of(items: Path, count: int) -> list[dict]:
    """``count`` test sentences, spread evenly over a table of items."""
    import pandas as pd

    table = pd.read_parquet(items)
    table = table[table["split"] == "test"]
    chosen = table.iloc[np.linspace(0, len(table) - 1, count).astype(int)]
    return [
        {"words": list(words), "target": int(label)}
        for words, label in zip(chosen["words"], chosen["label"], strict=True)
    ]


def matrix_rate(hidden: int, tokens: int, threads: int, device: str, precision: str) -> float:
    """FLOP/s of this machine at the model's largest product, (tokens, hidden) × (hidden, 4 hidden), the best way."""
    torch.set_num_threads(threads)
    kind = torch.bfloat16 if precision == "bfloat16" else torch.float32
    torch.backends.cuda.matmul.fp32_precision = "tf32" if precision == "tf32" else "ieee"
    left, right = (torch.randn(*shape, device=device, dtype=kind) for shape in ((tokens, hidden), (hidden, 4 * hidden)))

    products = [lambda: left @ right]
    if device == "cpu" and precision == "float32" and hasattr(torch.ops.mkldnn, "_linear_pointwise"):
        # On some processors oneDNN multiplies float32 matrices faster than what torch calls by itself.
        weight = right.t().contiguous()
        products.append(lambda: torch.ops.mkldnn._linear_pointwise(left, weight, None, "none", [], ""))

    def seconds(product, repeats: int) -> float:
        started = time.perf_counter()
        for _ in range(repeats):
            product()
        if device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter() - started

    rates = []
    for product in products:
        repeats = max(1, int(0.2 / max(seconds(product, 2) / 2, 1e-6)))
        rates.append(2 * tokens * hidden * 4 * hidden * repeats / min(seconds(product, repeats) for _ in range(5)))
    torch.backends.cuda.matmul.fp32_precision = "ieee"
    return max(rates)


def flops_per_row(folder: Path, tokens: float) -> float:
    """Floating-point operations of one forward pass of a row: what the products of matrices take in the engine.

    The last layer ends with one token, which in BERT's alone asks in its attention, see
    ``evenlight.models.fast_layers``; types other than BERT and GPT-2 have gates.
    """
    config = AutoConfig.from_pretrained(folder)
    hidden, layers = config.hidden_size, config.num_hidden_layers
    is_bert = config.model_type == "bert"
    width = config.n_inner if config.model_type == "gpt2" else config.intermediate_size
    inner = (2 if config.model_type in ("bert", "gpt2") else 3) * hidden * width
    whole = layers * tokens * (2 * (4 * hidden**2 + inner) + 4 * tokens * hidden)
    asking = is_bert * (4 * hidden**2 + 4 * tokens * hidden)
    return whole - (tokens - 1) * (asking + 2 * inner)


def agreement(suite: str, task: str, ours: dict, theirs: dict) -> float:
    """Median over sentences of the rank correlation (scores), or of the difference (metrics)."""
    if task == "aopc":
        return float(np.median(np.abs(np.array(ours["aopc"]) - np.array(theirs["aopc"]))))
    # The mean path gradient is rounding noise (docs/definitions.md), so the other method of its family speaks.
    name = SUITES[suite][task][-1]
    # Where all scores of a sentence are equal, nothing can agree.
    return float(np.nanmedian([spearmanr(a, b).statistic for a, b in zip(ours[name], theirs[name], strict=True)]))


def spread(times: dict[str, list[float]], sentences: int) -> dict:
    """Medians of the seconds per sentence and of the alternations' ratios, with the ratios' range."""
    ratios = [theirs / mine for mine, theirs in zip(times["ours"], times["peer"], strict=True)]
    return {
        "our_seconds_per_sentence": statistics.median(times["ours"]) / sentences,
        "peer_seconds_per_sentence": statistics.median(times["peer"]) / sentences,
        "ratio": statistics.median(ratios),
        "ratio_low": min(ratios),
        "ratio_high": max(ratios),
    }


def timed(
    suite: str,
    tasks: list[str],
    folder: Path,
    sentences: list[dict],
    workers: dict[str, Worker],
    alternations: int,
    rate: float,
):
    """Rows of the table for one suite: a row per task, and where all are wanted one for all of them together."""
    totals = {"ours": np.zeros(alternations), "peer": np.zeros(alternations)}
    for task in tasks:
        asked = sentences
        if task == "aopc":
            scores = workers["ours"].ask("path", sentences)["scores"]["igxi"]
            asked = [one | {"scores": own} for one, own in zip(sentences, scores, strict=True)]
        for worker in workers.values():
            worker.ask(task, asked[:2])
        times: dict[str, list[float]] = {"ours": [], "peer": []}
        for _ in range(alternations):
            answers = {side: worker.ask(task, asked) for side, worker in workers.items()}
            for side, answer in answers.items():
                times[side].append(answer["seconds"])
        for side, seconds in times.items():
            totals[side] += seconds
        mine, theirs = answers["ours"], answers["peer"]
        seconds = statistics.median(times["ours"])
        share = None
        if task in PASSES:
            tokens = np.mean([len(scores) for scores in next(iter(mine["scores"].values()))])
            share = mine["rows"] * PASSES[task] * flops_per_row(folder, tokens) / seconds / rate
        yield {
            "task": task,
            **spread(times, len(asked)),
            "rows_per_second": mine["rows"] / seconds,
            "matrix_share": share,
            "agreement": agreement(suite, task, mine["scores"], theirs["scores"]),
            "our_peak_mib": mine["peak_mib"],
            "peer_peak_mib": theirs["peak_mib"],
        }
    if len(tasks) == len(SUITES[suite]):
        yield {"task": "whole suite", **spread(totals, len(sentences))}


def compared(name: str, folder: Path, sentences: list[dict], arguments: argparse.Namespace, precision: str):
    """Rows of the table for one model and precision, beside each peer; the peers always run in float32."""
    common = (str(folder), str(arguments.threads), arguments.device)
    log = arguments.output.parent
    peers = {
        "ferret": (arguments.peer_python, "worker_ferret.py"),
        "captum and lime": (sys.executable, "worker_captum.py"),
        "interpreto": (arguments.interpreto_python, "worker_interpreto.py"),
    }
    hidden = AutoConfig.from_pretrained(folder).hidden_size
    ours = (precision, str(arguments.tokens_per_batch))
    for suite in arguments.peers:
        tasks = [task for task in SUITES[suite] if not arguments.tasks or task in arguments.tasks]
        python, script = peers[suite]
        # Before the workers start, whose start would slow it down. The rate is that of float32 in every row: a share
        # above 1 is what the other precision gains.
        rate = matrix_rate(hidden, 2048, arguments.threads, arguments.device, "float32")
        workers = {
            "ours": Worker(sys.executable, HERE / "worker_evenlight.py", *common, *ours, log=log / "bench_ours.log"),
            "peer": Worker(python, HERE / script, *common, log=log / "bench_peer.log"),
        }
        try:
            for row in timed(suite, tasks, folder, sentences, workers, arguments.alternations, rate):
                yield {"peer": suite, "model": name, "precision": precision, "sentences": len(sentences), **row}
        finally:
            for worker in workers.values():
                worker.stop()


def markdown(rows: list[dict]) -> str:
    """The table for people."""
    head = (
        "| peer | model | precision | task | ours, s/sentence | peer, s/sentence | ratio (spread) | rows/s "
        "| matrix share | agreement | peak MiB, ours / peer |"
    )
    lines = [head, "| --- " * 11 + "|"]
    for row in rows:
        share = "–" if row.get("matrix_share") is None else f"{row['matrix_share']:.0%}"
        rows_per_second = "–" if row.get("rows_per_second") is None else f"{row['rows_per_second']:,.0f}"
        same = "–" if row.get("agreement") is None else f"{row['agreement']:.3g}"
        peak = "–" if row.get("our_peak_mib") is None else f"{row['our_peak_mib']:.0f} / {row['peer_peak_mib']:.0f}"
        seconds = f"{row['our_seconds_per_sentence']:.4f} | {row['peer_seconds_per_sentence']:.4f}"
        ratio = f"**{row['ratio']:.2f}** ({row['ratio_low']:.2f}–{row['ratio_high']:.2f})"
        cells = [*(row[name] for name in COLUMNS[:4]), seconds, ratio, rows_per_second, share, same, peak]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def row_of_machine(rows: list[dict], name: str) -> str:
    """The ratios of whole suites as one row, which stands beside those of other machines in README.md."""
    totals = [row for row in rows if row["task"] == "whole suite"]
    head = [f"{row['peer']}: {row['model']}, {row['precision']}" for row in totals]
    ratios = [f"{row['ratio']:.1f}" for row in totals]
    return "\n".join(
        f"| {' | '.join(cells)} |" for cells in (["machine", *head], ["---"] * (1 + len(head)), [name, *ratios])
    )


def main(arguments: argparse.Namespace) -> None:
    """Compare, print and write."""
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    sentences = sentences_of(arguments.items, arguments.sentences)
    rows = []
    for model in arguments.models:
        name, _, folder = model.partition("=")
        for precision in arguments.precision:
            for row in compared(name, Path(folder), sentences, arguments, precision):
                rows.append(row)
                print(markdown([row]).splitlines()[-1], flush=True)
    with arguments.output.with_suffix(".csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    about = f"{machine('torch', 'transformers')}, {arguments.threads} threads"
    if arguments.device == "cuda":
        about = f"{torch.cuda.get_device_name()} beside {about}"
    arguments.output.with_suffix(".md").write_text(
        f"{markdown(rows)}\n{row_of_machine(rows, about.partition(',')[0])}\n\n`bench/compare.py` on {about}; "
        f"{arguments.sentences} test sentences of GECO, {arguments.alternations} alternations; ratio is the median of "
        "the alternations' ratios.\n"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", required=True, help="name=folder that train.py wrote, each")
    parser.add_argument("--items", type=Path, required=True, help="table of items whose test sentences are explained")
    parser.add_argument("--peer-python", required=True, help="interpreter of ferret's environment")
    parser.add_argument("--interpreto-python", required=True, help="interpreter of interpreto's environment")
    parser.add_argument("--peers", nargs="+", default=list(SUITES), choices=list(SUITES))
    parser.add_argument("--tasks", nargs="+", default=[], help="some of the peers' tasks; default: all")
    parser.add_argument("--sentences", type=int, default=24)
    parser.add_argument("--alternations", type=int, default=5)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="default: what torch takes here")
    parser.add_argument(
        "--device", default="cuda" if torch.cuda.is_available() else "cpu", help="default: what is here"
    )
    parser.add_argument("--precision", nargs="+", default=["float32", "bfloat16"])
    parser.add_argument("--tokens-per-batch", type=int, default=0, help="0: as the engine chooses")
    parser.add_argument("--output", type=Path, default=Path("results/bench/bench"), help="without suffix")
    main(parser.parse_args())
