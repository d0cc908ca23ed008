"""ferret, as its users call it: one sentence after the other. Runs in the environment of envs/ferret.txt."""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from ferret import (
    AOPC_Comprehensiveness_Evaluation,
    AOPC_Sufficiency_Evaluation,
    GradientExplainer,
    IntegratedGradientExplainer,
    LIMEExplainer,
    SHAPExplainer,
)
from ferret.explainers.explanation import Explanation
from protocol import serve
from suites import SUITES
from transformers import AutoModelForSequenceClassification, PreTrainedTokenizerFast

folder, threads, device = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
torch.set_num_threads(threads)
special = json.loads((folder / "tokenizer_config.json").read_text())
tokenizer = PreTrainedTokenizerFast(
    tokenizer_file=str(folder / "tokenizer.json"),
    model_max_length=128,
    **{name: special[name] for name in ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")},
)
model = AutoModelForSequenceClassification.from_pretrained(folder).to(device).eval()

EXPLAINERS = {
    "grad": GradientExplainer(model, tokenizer, multiply_by_inputs=False),
    "gxi": GradientExplainer(model, tokenizer, multiply_by_inputs=True),
    "ig": IntegratedGradientExplainer(model, tokenizer, multiply_by_inputs=False),
    "igxi": IntegratedGradientExplainer(model, tokenizer, multiply_by_inputs=True),
    "lime": LIMEExplainer(model, tokenizer),
    "shap": SHAPExplainer(model, tokenizer),
}
AOPC = [AOPC_Comprehensiveness_Evaluation(model, tokenizer), AOPC_Sufficiency_Evaluation(model, tokenizer)]


def explained(name: str, sentence: dict) -> list[float]:
    """Scores of one sentence."""
    # ferret's IG asks with steps beside each other; its other explainers take no such argument.
    return EXPLAINERS[name](" ".join(sentence["words"]), sentence["target"]).scores.tolist()


def explaining(*names: str):
    """A task that explains with the named explainers, each on its own, as ferret does."""
    return lambda sentences: {"scores": {name: [explained(name, one) for one in sentences] for name in names}}


def aopc(sentences: list[dict]) -> dict:
    """Both AOPC metrics of the scores that the request brings along."""
    values = []
    for one in sentences:
        text = " ".join(one["words"])
        tokens = tokenizer.convert_ids_to_tokens(tokenizer(text)["input_ids"])
        explanation = Explanation(text, tokens, np.array(one["scores"]), "given", one["target"])
        values.append([float(metric.compute_evaluation(explanation, one["target"]).score) for metric in AOPC])
    return {"scores": {"aopc": values}}


tasks = {task: explaining(*names) for task, names in SUITES["ferret"].items() if task != "aopc"}
serve(tasks | {"aopc": aopc})
