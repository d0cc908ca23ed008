"""captum and lime, one sentence after the other, with the calls and numbers of samples of GECOBench."""

import sys
from pathlib import Path

import numpy as np
import torch
from captum.attr import (
    DeepLift,
    GradientShap,
    GuidedBackprop,
    InputXGradient,
    KernelShap,
    LayerIntegratedGradients,
    Saliency,
)
from lime.lime_text import LimeTextExplainer
from protocol import serve
from torch import nn
from transformers import AutoModelForSequenceClassification, AutoTokenizer

folder, threads, device = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
torch.set_num_threads(threads)
tokenizer = AutoTokenizer.from_pretrained(folder)
model = AutoModelForSequenceClassification.from_pretrained(folder).to(device).eval()
# The embedding block; decoders without positions have the table of words alone.
embeddings = getattr(model.base_model, "embeddings", model.get_input_embeddings())


class Probability(nn.Module):
    """The probabilities of the classes, from embeddings."""

    def __init__(self):
        super().__init__()
        self.model = model

    def forward(self, embedding: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """(rows, classes), from embeddings (rows, tokens, hidden) and the mask (rows, tokens)."""
        return self.model(inputs_embeds=embedding, attention_mask=mask).logits.softmax(-1)


def from_ids(token_id, mask):
    """The same, from ids."""
    return model(input_ids=token_id, attention_mask=mask).logits.softmax(-1)


class Rows:
    """One sentence as captum takes it: ids and their baseline, the embedding block's output of both, the mask."""

    def __init__(self, sentence: dict):
        encoded = tokenizer(
            [sentence["words"]], is_split_into_words=True, return_tensors="pt", return_special_tokens_mask=True
        )
        special = encoded["special_tokens_mask"].bool()
        self.token_id = encoded["input_ids"].to(device)
        self.baseline_id = torch.where(special, encoded["input_ids"], tokenizer.pad_token_id).to(device)
        self.options = {"target": sentence["target"], "additional_forward_args": (torch.ones_like(self.token_id),)}

    def embedding(self) -> torch.Tensor:
        """What the embedding block makes of the ids, (1, tokens, hidden)."""
        return embeddings(self.token_id).detach().requires_grad_()

    def baseline(self) -> torch.Tensor:
        """Likewise of the baseline."""
        return embeddings(self.baseline_id).detach()


def deeplift(rows: Rows) -> torch.Tensor:
    """With the number of each token as its baseline in all dimensions, and multipliers alone."""
    embedding = rows.embedding()
    numbers = rows.baseline_id[:, :, None].expand(-1, -1, embedding.shape[2])
    return DeepLift(Probability(), multiply_by_inputs=None, eps=1e-10).attribute(embedding, numbers, **rows.options)


GRADIENTS = {
    "saliency": lambda rows: Saliency(Probability()).attribute(rows.embedding(), **rows.options),
    "input_x_gradient": lambda rows: InputXGradient(Probability()).attribute(rows.embedding(), **rows.options),
    "deeplift": deeplift,
    "guided_backprop": lambda rows: GuidedBackprop(Probability()).attribute(rows.embedding(), **rows.options),
    "integrated_gradients": lambda rows: LayerIntegratedGradients(from_ids, embeddings).attribute(
        rows.token_id, rows.baseline_id, n_steps=200, **rows.options
    ),
    "gradient_shap": lambda rows: GradientShap(Probability()).attribute(
        rows.embedding(), rows.baseline(), n_samples=5, stdevs=0.0, **rows.options
    ),
}


def gradients(*names: str):
    """A task that explains with the named methods, each on its own; scores are summed over the hidden dimension."""

    def explained(name: str, sentence: dict) -> list[float]:
        return GRADIENTS[name](Rows(sentence))[0].sum(-1).tolist()

    return lambda sentences: {"scores": {name: [explained(name, one) for one in sentences] for name in names}}


@torch.no_grad()
def kernel_shap(sentences: list[dict]) -> dict:
    """25 samples on token ids."""
    scores = []
    for one in sentences:
        rows = Rows(one)
        found = KernelShap(from_ids).attribute(rows.token_id, baselines=rows.baseline_id, n_samples=25, **rows.options)
        scores.append(found[0].tolist())
    return {"scores": {"kernel_shap": scores}}


@torch.no_grad()
def ask_texts(texts: list[str]) -> np.ndarray:
    """Probabilities of whole texts, as lime asks for them."""
    encoded = tokenizer(texts, padding=True, return_tensors="pt").to(device)
    return model(**encoded).logits.softmax(-1).cpu().numpy()


def word_lime(sentences: list[dict]) -> dict:
    """100 samples on the words of the decoded text, class 1; a token scores the first word that contains it."""
    scores = []
    for one in sentences:
        token_id = Rows(one).token_id[0].tolist()
        text = tokenizer.decode(token_id, skip_special_tokens=True)
        explanation = LimeTextExplainer(random_state=0).explain_instance(
            text, ask_texts, labels=(1,), num_features=len(text), num_samples=100
        )
        words = explanation.as_list(label=1)
        spelling = [tokenizer.decode([number]).replace(" ", "") for number in token_id]
        scores.append([next((value for word, value in words if token in word), 0.0) for token in spelling])
    return {"scores": {"word_lime": scores}}


serve(
    {
        "saliency": gradients("saliency", "input_x_gradient"),
        **{name: gradients(name) for name in list(GRADIENTS)[2:]},
        "kernel_shap": kernel_shap,
        "word_lime": word_lime,
    }
)
