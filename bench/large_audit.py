"""Write a table of many texts with several attributes, a tiny model, and the configuration of their audit.

``PYTHONPATH=workflow/scripts python bench/large_audit.py large`` writes into the folder ``large`` of the project, and
says what to run; what it cost stands in ``benchmarks/large_audit/`` then.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow" / "tools"))

from tiny_models import write_model
from transformers import AutoModelForSequenceClassification

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


def main() -> None:
    """Write the three."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--explained", type=int, default=2_000)
    arguments = parser.parse_args()
    folder = arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    table = table_of(arguments.rows)
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
        "study": "large_audit",
        "datasets": {"texts": columns | {"test_share": 1, "attributes": attributes}},
        "models": {"tiny": {"architecture": "trained", "source": str(model)}},
        "explain": {"pairs": arguments.explained},
        "device": "cpu",
        "statistics": STATISTICS,
    }
    (folder / "study.yaml").write_text(yaml.safe_dump(study, sort_keys=False), encoding="utf-8")
    print(f"snakemake --cores 1 audit --configfile {folder}/study.yaml")


if __name__ == "__main__":
    main()
