"""Explainers of several packages on one text, with so many rows: what `bench/time_to_error.py` asks.

    python bench/worker_error.py PACKAGES MODEL THREADS

``PACKAGES`` are names of :data:`PACKAGES`, with commas, of those that are installed where this runs. A task's name is
that of a package and of its estimator; a sentence says with how many ``rows`` and which ``seed`` it is to be explained.
What reads values of subsets asks for them here as users of these packages do: by Transformers, in batches of the size
that is the fastest for the model.
"""

import importlib
import json
import sys
import time
from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import torch
from protocol import serve
from transformers import AutoModelForSequenceClassification, PreTrainedTokenizerFast

BATCHES = (16, 64, 256)
# Rows of a text by which the batch is chosen.
TRIED = 256


class Model:
    """A model of Transformers with its tokenizer, read from the files that every version of the library knows."""

    def __init__(self, folder: Path, device: str = "cpu"):
        special = json.loads((folder / "tokenizer_config.json").read_text())
        names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
        self.tokenizer = PreTrainedTokenizerFast(
            tokenizer_file=str(folder / "tokenizer.json"),
            model_max_length=128,
            **{name: special[name] for name in names if special.get(name)},
        )
        self.network = AutoModelForSequenceClassification.from_pretrained(folder).to(device).eval()
        self.batch = BATCHES[0]

    @torch.inference_mode()
    def probabilities(self, token_id: np.ndarray) -> np.ndarray:
        """(rows, classes) of ids (rows, tokens), in batches."""
        parts = torch.from_numpy(token_id).to(self.network.device).split(self.batch)
        answers = [self.network(part, attention_mask=torch.ones_like(part)).logits.softmax(-1) for part in parts]
        return torch.cat(answers).cpu().numpy()

    def choose_batch(self, text: "Text") -> None:
        """Take the batch that is the fastest."""
        rows = np.repeat(text.token_id[None], TRIED, axis=0)
        spent = {}
        for self.batch in BATCHES:
            started = time.process_time()
            self.probabilities(rows)
            spent[self.batch] = time.process_time() - started
        self.batch = min(spent, key=spent.get)


class Text:
    """A text whose tokens, without the special ones, are hidden by mask tokens."""

    def __init__(self, model: Model, sentence: dict):
        encoded = model.tokenizer(
            [sentence["words"]], is_split_into_words=True, return_tensors="np", return_special_tokens_mask=True
        )
        self.model, self.target = model, sentence["target"]
        self.rows, self.seed = sentence["rows"], sentence["seed"]
        self.written = " ".join(sentence["words"])
        self.token_id = encoded["input_ids"][0]
        self.places = np.flatnonzero(encoded["special_tokens_mask"][0] == 0)

    @cached_property
    def whole(self) -> torch.Tensor:
        """All tokens shown, (1, players)."""
        return torch.ones(1, len(self.places))

    def rows_of(self, shown: np.ndarray) -> np.ndarray:
        """The ids of copies that show some tokens, bool (rows, players) to (rows, tokens)."""
        rows = np.repeat(self.token_id[None], len(shown), axis=0)
        rows[:, self.places] = np.where(shown, self.token_id[self.places], self.model.tokenizer.mask_token_id)
        return rows

    def ask(self, shown: np.ndarray) -> np.ndarray:
        """The target's probabilities (rows,) of copies that show some tokens, (rows, players)."""
        return self.model.probabilities(self.rows_of(np.atleast_2d(shown) > 0.5))[:, self.target]

    def as_captum(self, shown: torch.Tensor) -> torch.Tensor:
        """The same of tensors."""
        return torch.from_numpy(self.ask(shown.numpy()))


def captum_kernel(text: Text) -> np.ndarray:
    """captum's KernelShap."""
    attr = importlib.import_module("captum.attr")
    torch.manual_seed(text.seed)
    options = {"n_samples": text.rows, "perturbations_per_eval": text.model.batch}
    return attr.KernelShap(text.as_captum).attribute(text.whole, baselines=0 * text.whole, **options)[0].numpy()


def captum_sampling(text: Text) -> np.ndarray | None:
    """captum's ShapleyValueSampling, with as many orders as the rows allow."""
    attr = importlib.import_module("captum.attr")
    torch.manual_seed(text.seed)
    orders = (text.rows - 1) // len(text.places)
    if not orders:
        return None
    options = {"n_samples": orders, "perturbations_per_eval": len(text.places)}
    return (
        attr.ShapleyValueSampling(text.as_captum).attribute(text.whole, baselines=0 * text.whole, **options)[0].numpy()
    )


def captum_lime(text: Text) -> np.ndarray:
    """captum's Lime with its own draws and distance. Its default penalty sets every score of a probability to 0."""
    attr = importlib.import_module("captum.attr")
    linear = importlib.import_module("captum._utils.models.linear_model")
    torch.manual_seed(text.seed)
    options = {"n_samples": text.rows, "perturbations_per_eval": text.model.batch}
    explainer = attr.Lime(text.as_captum, interpretable_model=linear.SkLearnLinearRegression())
    return explainer.attribute(text.whole, baselines=0 * text.whole, **options)[0].numpy()


def shap_kernel(text: Text) -> np.ndarray:
    """shap's KernelExplainer without its selection of features; two of its rows are the ends."""
    shap = importlib.import_module("shap")
    np.random.seed(text.seed)
    players = len(text.places)
    explainer = shap.KernelExplainer(text.ask, np.zeros((1, players)), silent=True)
    return explainer.shap_values(np.ones((1, players)), nsamples=text.rows - 2, l1_reg=False, silent=True)[0]


def shap_permutation(text: Text) -> np.ndarray | None:
    """shap's PermutationExplainer, each order also backwards."""
    shap = importlib.import_module("shap")
    players = len(text.places)
    if text.rows < 2 * players + 1:
        return None
    explainer = shap.PermutationExplainer(text.ask, np.zeros((1, players)), seed=text.seed)
    return explainer(np.ones((1, players)), max_evals=text.rows, silent=True).values[0]


def by_shapiq(name: str, text: Text, **settings: object) -> np.ndarray:
    """An estimator of shapiq's, by its name there."""
    players = len(text.places)
    make = getattr(importlib.import_module("shapiq"), name)
    found = make(n=players, random_state=text.seed, **settings).approximate(budget=text.rows, game=text.ask)
    return np.array([found[(player,)] for player in range(players)])


def by_interpreto(name: str, text: Text) -> np.ndarray:
    """interpreto's KernelShap or Lime of tokens, which its perturbations hide by mask tokens."""
    interpreto = importlib.import_module("interpreto")
    modes = importlib.import_module("interpreto.attributions").InferenceModes
    torch.manual_seed(text.seed)
    explainer = getattr(interpreto, name)(
        text.model.network,
        text.model.tokenizer,
        batch_size=text.model.batch,
        granularity=interpreto.Granularity.TOKEN,
        inference_mode=modes.SOFTMAX,
        n_perturbations=text.rows,
    )
    [found] = explainer(text.written, targets=torch.tensor([text.target]))
    return found.attributions.reshape(-1).numpy()


def lime_package(text: Text) -> np.ndarray:
    """The package of LIME's authors on numbers in place of words, each place a feature."""
    lime = importlib.import_module("lime.lime_text")
    players = len(text.places)

    def ask(texts: list[str]) -> np.ndarray:
        shown = np.array([[word != "UNKWORDZ" for word in one.split()] for one in texts])
        return text.model.probabilities(text.rows_of(shown))

    explainer = lime.LimeTextExplainer(bow=False, feature_selection="none", random_state=text.seed)
    found = explainer.explain_instance(
        " ".join(map(str, range(players))), ask, labels=[text.target], num_features=players, num_samples=text.rows
    )
    return np.array([coefficient for _, coefficient in sorted(found.as_map()[text.target])])


def ferret_lime(text: Text) -> np.ndarray:
    """ferret's LIME, which hides special tokens, too; their scores are left out."""
    ferret = importlib.import_module("ferret")
    np.random.seed(text.seed)
    explainer = ferret.LIMEExplainer(text.model.network, text.model.tokenizer)
    call_args = {"num_samples": text.rows, "batch_size": text.model.batch}
    found = explainer(text.written, text.target, call_args=call_args, init_args={"random_state": text.seed})
    return np.array(found.scores)[text.places]


PACKAGES: dict[str, dict[str, Callable[[Text], np.ndarray | None]]] = {
    "captum": {"KernelShap": captum_kernel, "ShapleyValueSampling": captum_sampling, "Lime": captum_lime},
    "shap": {"KernelExplainer": shap_kernel, "PermutationExplainer": shap_permutation},
    "shapiq": {
        "kADDSHAP": partial(by_shapiq, "kADDSHAP", max_order=2, pairing_trick=True),
        "KernelSHAP": partial(by_shapiq, "KernelSHAP", pairing_trick=True),
        "SVARM": partial(by_shapiq, "SVARM"),
    },
    "interpreto": {"KernelShap": partial(by_interpreto, "KernelShap"), "Lime": partial(by_interpreto, "Lime")},
    "lime": {"LimeTextExplainer": lime_package},
    "ferret": {"LIMEExplainer": ferret_lime},
}


def tasks_of(packages: list[str], folder: Path) -> dict[str, Callable[[list[dict]], dict]]:
    """The tasks of some packages for a model, see :func:`protocol.serve`; ``scores`` are of tokens, or null."""
    model = Model(folder)

    def task(estimate: Callable[[Text], np.ndarray | None], sentences: list[dict]) -> dict:
        found = [estimate(Text(model, one)) for one in sentences]
        return {"scores": [None if one is None else np.asarray(one, dtype=float).tolist() for one in found]}

    def warm_up(sentences: list[dict]) -> dict:
        model.choose_batch(Text(model, sentences[0]))
        return {"batch": model.batch}

    named = {f"{name} {one}": estimate for name in packages for one, estimate in PACKAGES[name].items()}
    return {"warm up": warm_up} | {name: partial(task, estimate) for name, estimate in named.items()}


if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[3]))
    serve(tasks_of(sys.argv[1].split(","), Path(sys.argv[2])))
