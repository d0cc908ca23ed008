"""A small classifier without attention whose non-linear layers are modules that captum knows."""

from types import SimpleNamespace

import torch
from models_for_tests import MAX_TOKENS, tiny_tokenizer
from torch import nn

from evenlight.models.classifier import Classifier


class Layered(nn.Module):
    """Two layers on every token, their mean over the tokens, two more layers."""

    def __init__(self, vocabulary: int, classes: int, activation: type[nn.Module]):
        super().__init__()
        size = 12
        self.embeddings = nn.Embedding(vocabulary, size)
        self.tokens = nn.Sequential(nn.Linear(size, size), activation(), nn.Linear(size, size), nn.Tanh())
        self.sentence = nn.Sequential(nn.Linear(size, size), activation(), nn.Linear(size, classes))
        self.config = SimpleNamespace(num_labels=classes, model_type="layered")

    @property
    def base_model(self) -> nn.Module:
        """As Transformers' models have it."""
        return self

    @property
    def device(self) -> torch.device:
        return self.embeddings.weight.device

    @property
    def dtype(self) -> torch.dtype:
        return self.embeddings.weight.dtype

    def get_input_embeddings(self) -> nn.Embedding:
        """The embeddings (vocabulary, hidden)."""
        return self.embeddings

    def forward(self, input_ids=None, attention_mask=None, inputs_embeds=None):
        """Logits (rows, classes)."""
        inputs_embeds = self.embeddings(input_ids) if inputs_embeds is None else inputs_embeds
        mask = attention_mask[..., None]
        mean = (self.tokens(inputs_embeds) * mask).sum(1) / mask.sum(1)
        return SimpleNamespace(logits=self.sentence(mean))


def layered_classifier(classes: int = 3, activation: type[nn.Module] = nn.ReLU, dtype=torch.float32) -> Classifier:
    """With random weights, large enough for the layers to bend."""
    torch.manual_seed(11)
    tokenizer = tiny_tokenizer()
    network = Layered(len(tokenizer), classes, activation).to(dtype).eval()
    for parameter in network.parameters():
        parameter.data *= 1.5
    network.requires_grad_(False)
    return Classifier(network, tokenizer, MAX_TOKENS)
