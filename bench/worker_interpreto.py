"""interpreto, all texts at once, in batches of the best size for the model; needs the packages of envs/peers.txt."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import interpreto
import numpy as np
import torch
from interpreto.attributions import InferenceModes
from protocol import serve
from suites import SUITES
from worker_error import Model, Text

SOFTMAX = {"inference_mode": InferenceModes.SOFTMAX}
EXPLAINERS = {
    "token_gxi": interpreto.Saliency,
    "token_igxi": partial(interpreto.IntegratedGradients, n_perturbations=50),
    "token_lime": partial(interpreto.Lime, n_perturbations=400, **SOFTMAX),
    "token_kernel_shap": partial(interpreto.KernelShap, n_perturbations=400, **SOFTMAX),
    "token_occlusion": partial(interpreto.Occlusion, **SOFTMAX),
}


def tasks_of(folder: Path, device: str) -> dict[str, Callable[[list[dict]], dict]]:
    """The tasks for a model, each of one explainer, see :func:`protocol.serve`."""
    model = Model(folder, device)
    chosen = []

    def explained(name: str, sentences: list[dict]) -> dict:
        texts = [Text(model, one | {"rows": 0, "seed": 0}) for one in sentences]
        if not chosen:
            model.choose_batch(texts[0])
            chosen.append(model.batch)
        explainer = EXPLAINERS[name](
            model.network, model.tokenizer, batch_size=model.batch, granularity=interpreto.Granularity.TOKEN
        )
        found = explainer([text.written for text in texts], targets=torch.tensor([text.target for text in texts]))
        scores = []
        for text, one in zip(texts, found, strict=True):
            score = np.zeros(len(text.token_id))
            score[text.places] = one.attributions.reshape(-1).float().cpu().numpy()
            scores.append(score.tolist())
        return {"scores": {name: scores}}

    return {task: partial(explained, name) for task, [name] in SUITES["interpreto"].items()}


if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[2]))
    serve(tasks_of(Path(sys.argv[1]), sys.argv[3]))
