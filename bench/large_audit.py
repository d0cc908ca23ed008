"""What an audit of many texts costs: processor time and memory of each kind of job.

It writes a table of texts with several attributes, a tiny model and the configuration of
their audit into a folder, runs the audit, and adds up what Snakemake noted of its jobs.
"""

import argparse
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "unit"))

from report import machine, markdown
from tiny_models import write_model
from transformers import AutoModelForSequenceClassification

STUDY = "large_audit"
CLASSES = ["bad", "good"]
FIRST, SECOND = ("ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu"), ("ran", "tel", "mis", "pon", "dus")
WORDS = [first + second for first in FIRST for second in SECOND]
STATISTICS = {
    "compare": {
        "gender": [["women", "men"]],
        "age": [["young", "old"]],
        "region": [["north", "west"]],
        "gender+region": [["women+north", "men+west"], ["men+north", "women+west"], ["women+north", "women+west"]],
    }
}


def table_of(rows: int) -> pd.DataFrame:
    """Texts of 5 to 40 words; in 2 % the region is not known."""
    random = np.random.default_rng(1)
    region = random.choice(["north", "south", "east", "west"], rows, p=[0.5, 0.3, 0.15, 0.05])
    return pd.DataFrame(
        {
            "text": [" ".join(random.choice(WORDS, length)) for length in random.integers(5, 41, rows)],
            "label": random.choice(CLASSES, rows),
            "gender": random.choice(["women", "men"], rows, p=[0.45, 0.55]),
            "age": random.integers(18, 90, rows),
            "region": np.where(random.random(rows) < 0.02, "", region),
        }
    )


def write_study(folder: Path, rows: int, explained: int) -> Path:
    """Write the three; the path of the configuration."""
    folder.mkdir(parents=True, exist_ok=True)
    table = table_of(rows)
    table.to_csv(folder / "texts.csv", index=False)
    model = folder / "model"
    write_model("bert", model, [text.split() for text in table["text"].head(2000)])
    names = dict(enumerate(CLASSES))
    AutoModelForSequenceClassification.from_pretrained(
        model, id2label=names, label2id={name: label for label, name in names.items()}, ignore_mismatched_sizes=True
    ).save_pretrained(model)
    attributes = {
        "gender": {"column": "gender", "levels": ["women", "men"]},
        "age": {"column": "age", "levels": ["young", "middle", "old"], "cuts": [35, 60]},
        "region": {"column": "region", "levels": ["north", "south", "east", "west"]},
    }
    columns = {"reader": "table", "file": f"{folder}/texts.csv", "text": "text", "label": "label", "classes": CLASSES}
    study = {
        "study": STUDY,
        "datasets": {"texts": columns | {"test_share": 1, "attributes": attributes}},
        "models": {"tiny": {"architecture": "trained", "source": str(model)}},
        "explain": {"pairs": explained},
        "device": "cpu",
        "statistics": STATISTICS,
    }
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(study, sort_keys=False), encoding="utf-8")
    return path


def costs(benchmarks: Path) -> pd.DataFrame:
    """Jobs, processor seconds and highest memory in MiB of each rule, and of each family of explainers and metrics."""
    jobs = []
    for path in sorted(benchmarks.rglob("*.tsv")):
        rule, *rest = path.relative_to(benchmarks).with_suffix("").parts
        job = f"{rule} {rest[-1]}" if rule in ("attribute", "score") else rule
        jobs.append(pd.read_csv(path, sep="\t")[["cpu_time", "max_rss"]].assign(job=job))
    of_job = pd.concat(jobs).groupby("job")
    table = of_job.agg(jobs=("cpu_time", "size"), seconds=("cpu_time", "sum"), memory=("max_rss", "max"))
    return table.sort_values("seconds", ascending=False).reset_index()


def main(arguments: argparse.Namespace) -> None:
    """Write the study, run its audit, and print the table."""
    configuration = write_study(arguments.folder, arguments.rows, arguments.explained)
    flags = ["--cores", arguments.cores, "--forceall", "audit", "--configfile", str(configuration)]
    subprocess.run([sys.executable, "-m", "snakemake", *flags], check=True)
    table = costs(Path("benchmarks") / STUDY)
    table["seconds"] = table["seconds"].map("{:,.1f}".format)
    table["memory"] = table["memory"].map("{:,.0f} MiB".format)
    print(markdown(table.rename(columns={"seconds": "processor seconds", "memory": "highest memory"})))
    print(f"\n{arguments.rows:,} texts (`explain.pairs`: {arguments.explained:,}) on {machine('torch', 'pandas')}.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="where table, model and study are written")
    parser.add_argument("--rows", type=int, default=100_000, help="texts")
    parser.add_argument("--explained", type=int, default=2_000, help="`explain.pairs`")
    parser.add_argument("--cores", default="all")
    main(parser.parse_args())
