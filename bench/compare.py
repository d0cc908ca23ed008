"""Time this engine against its peers: same machine, same model, same sentences, in alternation.

``make bench`` runs it; ``docs/performance.md`` explains what it prints. Timing is of the work alone: every worker
is started beforehand and has warmed up.
"""

import argparse
import csv
import json
import platform
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import torch
from protocol import Worker
from scipy.stats import spearmanr

HERE = Path(__file__).parent
TASKS = {"gradient": ["grad", "gxi"], "path": ["ig", "igxi"], "lime": ["lime"], "shap": ["shap"], "aopc": ["aopc"]}
COLUMNS = [
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
    kind = getattr(torch, precision)
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
    return max(rates)


def flops_per_row(folder: Path, tokens: float) -> float:
    """Floating-point operations of one forward pass of a row: matrix products of the layers and of the attention."""
    config = json.loads((folder / "config.json").read_text())
    hidden, layers = config["hidden_size"], config["num_hidden_layers"]
    inner = config["intermediate_size"]
    return layers * tokens * (2 * (4 * hidden**2 + 2 * hidden * inner) + 4 * tokens * hidden)


# Forward passes that a row costs: a backward pass to the embeddings computes each product once more.
PASSES = {"gradient": 2, "path": 2, "lime": 1, "shap": 1, "aopc": 1}


def agreement(task: str, ours: dict, theirs: dict) -> float:
    """Median over sentences of the rank correlation (scores), or the largest difference (metrics)."""
    if task == "aopc":
        return float(np.median(np.abs(np.array(ours["aopc"]) - np.array(theirs["aopc"]))))
    # The mean path gradient is rounding noise (docs/definitions.md), so the other method of its family speaks.
    name = TASKS[task][-1]
    return float(np.median([spearmanr(a, b).statistic for a, b in zip(ours[name], theirs[name], strict=True)]))


def compared(name: str, folder: Path, sentences: list[dict], arguments: argparse.Namespace, precision: str):
    """Rows of the table for one model and precision; the peer always runs in float32."""
    common = (str(folder), str(arguments.threads), arguments.device)
    log = arguments.output.parent
    ours = Worker(
        sys.executable,
        HERE / "worker_evenlight.py",
        *common,
        precision,
        str(arguments.tokens_per_batch),
        log=log / "bench_evenlight.log",
    )
    peer = Worker(arguments.peer_python, HERE / "worker_ferret.py", *common, log=log / "bench_ferret.log")
    config = json.loads((folder / "config.json").read_text())
    rate = matrix_rate(config["hidden_size"], 2048, arguments.threads, arguments.device, precision)
    totals = {"ours": [0.0] * arguments.alternations, "peer": [0.0] * arguments.alternations}
    try:
        for task in TASKS:
            asked = sentences
            if task == "aopc":
                scores = ours.ask("path", sentences)["scores"]["igxi"]
                asked = [one | {"scores": own} for one, own in zip(sentences, scores, strict=True)]
            warm = asked[:2]
            ours.ask(task, warm), peer.ask(task, warm)
            our_times, peer_times = [], []
            for alternation in range(arguments.alternations):
                mine, theirs = ours.ask(task, asked), peer.ask(task, asked)
                our_times.append(mine["seconds"])
                peer_times.append(theirs["seconds"])
                totals["ours"][alternation] += mine["seconds"]
                totals["peer"][alternation] += theirs["seconds"]
            ratios = [theirs / mine for mine, theirs in zip(our_times, peer_times, strict=True)]
            tokens = (
                np.mean([len(scores) for scores in next(iter(mine["scores"].values()))]) if task != "aopc" else None
            )
            seconds = statistics.median(our_times)
            share = None
            if tokens:
                share = mine["rows"] * PASSES[task] * flops_per_row(folder, tokens) / seconds / rate
            yield {
                "model": name,
                "precision": precision,
                "task": task,
                "sentences": len(asked),
                "our_seconds_per_sentence": seconds / len(asked),
                "peer_seconds_per_sentence": statistics.median(peer_times) / len(asked),
                "ratio": statistics.median(ratios),
                "ratio_low": min(ratios),
                "ratio_high": max(ratios),
                "rows_per_second": mine["rows"] / seconds,
                "matrix_share": share,
                "agreement": agreement(task, mine["scores"], theirs["scores"]),
                "our_peak_mib": mine["peak_mib"],
                "peer_peak_mib": theirs["peak_mib"],
            }
        ratios = [theirs / mine for mine, theirs in zip(totals["ours"], totals["peer"], strict=True)]
        yield {
            "model": name,
            "precision": precision,
            "task": "whole suite",
            "sentences": len(sentences),
            "our_seconds_per_sentence": statistics.median(totals["ours"]) / len(sentences),
            "peer_seconds_per_sentence": statistics.median(totals["peer"]) / len(sentences),
            "ratio": statistics.median(ratios),
            "ratio_low": min(ratios),
            "ratio_high": max(ratios),
        }
    finally:
        ours.stop()
        peer.stop()


def markdown(rows: list[dict]) -> str:
    """The table for people."""
    head = (
        "| model | precision | task | ours, s/sentence | ferret, s/sentence | ratio (spread) | ro"
        "ws/s | matrix share | agreement | peak MiB, ours / ferret |"
    )
    lines = [head, "| --- " * 10 + "|"]
    for row in rows:
        share = "–" if row.get("matrix_share") is None else f"{row['matrix_share']:.0%}"
        rows_per_second = "–" if row.get("rows_per_second") is None else f"{row['rows_per_second']:,.0f}"
        same = "–" if row.get("agreement") is None else f"{row['agreement']:.3g}"
        peak = "–" if row.get("our_peak_mib") is None else f"{row['our_peak_mib']:.0f} / {row['peer_peak_mib']:.0f}"
        lines.append(
            f"| {row['model']} | {row['precision']} | {row['task']} | {row['our_seconds_per_sentence']:.4f} "
            f"| {row['peer_seconds_per_sentence']:.4f} | **{row['ratio']:.2f}** "
            f"({row['ratio_low']:.2f}–{row['ratio_high']:.2f}) | {rows_per_second} | {share} | {same} | {peak} |"
        )
    return "\n".join(lines) + "\n"


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
    machine = f"{platform.machine()}, {arguments.threads} threads, torch {torch.__version__}, device {arguments.device}"
    arguments.output.with_suffix(".md").write_text(
        f"{markdown(rows)}\n`make bench` on {machine}; {arguments.sentences} test sentences of GECO, "
        f"{arguments.alternations} alternations; ratio is the median of the alternations' ratios.\n"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", required=True, help="name=folder that train.py wrote, each")
    parser.add_argument("--items", type=Path, required=True, help="table of items whose test sentences are explained")
    parser.add_argument("--peer-python", required=True, help="interpreter of the peer's environment")
    parser.add_argument("--sentences", type=int, default=24)
    parser.add_argument("--alternations", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", nargs="+", default=["float32", "bfloat16"])
    parser.add_argument("--tokens-per-batch", type=int, default=0, help="0: as the engine chooses")
    parser.add_argument("--output", type=Path, default=Path("results/bench/bench"), help="without suffix")
    main(parser.parse_args())
