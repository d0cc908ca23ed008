"""captum and lime, called one sentence after the other with GECOBench's settings."""

import sys
from pathlib import Path

import numpy as np
import torch
from captum.attr import GradientShap, GuidedBackprop, InputXGradient, KernelShap, LayerIntegratedGradients, Saliency
from lime.lime_text import LimeTextExplainer
from protocol import serve
from torch import nn
from transformers import AutoModelForSequenceClassification, AutoTokenizer

folder, threads, device = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
torch.set_num_threads(threads)
tokenizer = AutoTokenizer.from_pretrained(folder)
model = AutoModelForSequenceClassification.from_pretrained(folder).to(device).eval()
block = model.base_model.embeddings


class FromEmbeddings(nn.Module):
    """Target probabilities from what GECOBench hands in as embeddings."""

    def __init__(self):
        super().__init__()
        self.model = model

    def forward(self, embeddings, mask):
        """Probabilities (rows, classes)."""
        return self.model(inputs_embeds=embeddings, attention_mask=mask).logits.softmax(-1)


class FromIds(nn.Module):
    """Target probabilities from token ids."""

    def forward(self, token_id, mask):
        """Probabilities (rows, classes)."""
        return model(input_ids=token_id, attention_mask=mask).logits.softmax(-1)


from_embeddings, from_ids = FromEmbeddings(), FromIds()
methods = {
    "saliency": Saliency(from_embeddings),
    "input_x_gradient": InputXGradient(from_embeddings),
    "guided_backprop": GuidedBackprop(from_embeddings),
    "gradient_shap": GradientShap(from_embeddings),
}
integrated = LayerIntegratedGradients(from_ids, block)
kernel_shap = KernelShap(from_ids)
lime = LimeTextExplainer(class_names=list(range(model.config.num_labels)))


def encoded(sentence: dict) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Ids, mask and the baseline's ids."""
    text = tokenizer([sentence["words"]], is_split_into_words=True, return_tensors="pt").to(device)
    token_id = text["input_ids"]
    baseline = torch.full_like(token_id, tokenizer.pad_token_id)
    baseline[:, 0], baseline[:, -1] = token_id[:, 0], token_id[:, -1]
    return token_id, text["attention_mask"], baseline


def by_gradient(name: str, sentence: dict) -> list[float]:
    """Scores of a method that changes embeddings."""
    token_id, mask, baseline = encoded(sentence)
    with torch.no_grad():
        start, embedded = block(input_ids=baseline), block(input_ids=token_id)
    more = {"baselines": start, "n_samples": 5} if name == "gradient_shap" else {}
    found = methods[name].attribute(
        embedded.requires_grad_(), target=sentence["target"], additional_forward_args=(mask,), **more
    )
    return found.sum(-1)[0].tolist()


def by_path(sentence: dict) -> list[float]:
    """Integrated Gradients at the embedding layer, 200 steps on the probability."""
    token_id, mask, baseline = encoded(sentence)
    found = integrated.attribute(
        token_id, baseline, target=sentence["target"], additional_forward_args=(mask,), n_steps=200
    )
    return found.sum(-1)[0].tolist()


def by_subsets(sentence: dict) -> list[float]:
    """Kernel SHAP with 25 samples."""
    token_id, mask, baseline = encoded(sentence)
    found = kernel_shap.attribute(
        token_id, baseline, target=sentence["target"], additional_forward_args=(mask,), n_samples=25
    )
    return found[0].tolist()


@torch.no_grad()
def probabilities(texts: list[str]) -> np.ndarray:
    """Class probabilities of texts."""
    batch = tokenizer(texts, padding=True, return_tensors="pt").to(device)
    return model(**batch).logits.softmax(-1).cpu().numpy()


def by_words(sentence: dict) -> list[float]:
    """LIME's word scores with 100 samples, in the words' order, for class 1 as released."""
    text = " ".join(sentence["words"])
    found = dict(
        lime.explain_instance(text, probabilities, num_features=len(sentence["words"]), num_samples=100).as_list()
    )
    return [float(found.get(word, 0.0)) for word in sentence["words"]]


def each(explain, *arguments):
    """A task that explains sentence by sentence."""
    return lambda sentences: {"scores": [explain(*arguments, sentence) for sentence in sentences]}


serve(
    {name: each(by_gradient, name) for name in methods}
    | {"integrated_gradients": each(by_path), "kernel_shap": each(by_subsets), "lime": each(by_words)}
)
