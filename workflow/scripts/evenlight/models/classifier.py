"""A text classifier as the rest of Evenlight sees it: tokens in, logits out, by one path for all models."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from torch import nn
from transformers import AutoModelForSequenceClassification, PreTrainedTokenizerBase

from evenlight.errors import InputError
from evenlight.models import one_layer_attention  # noqa: F401 (registers the architecture)
from evenlight.models.tokenizers import cannot_load, loaded_tokenizer


@dataclass(frozen=True)
class Classifier:
    """A sequence classification network with its tokenizer.

    Every forward pass goes through the word embeddings: ids are embedded first and the network reads
    embeddings. Explainers thus see the same function whether they change ids or embeddings, and no
    network guesses from the ids where the padding is (GPT-2's takes masked tokens for padding).
    """

    network: nn.Module
    tokenizer: PreTrainedTokenizerBase
    max_tokens: int

    @property
    def device(self) -> torch.device:
        """Where the network's weights are."""
        return self.network.device

    @property
    def classes(self) -> int:
        """How many classes the network tells apart."""
        return self.network.config.num_labels

    @property
    def pads_left(self) -> bool:
        """Whether padding stands before the text, as decoders need it, whose last token is what the head reads."""
        # So Transformers names the head that reads the last token; those that read the first one are "classifier".
        return hasattr(self.network, "score")

    def special_token(self, role: str) -> int:
        """The id of the ``pad``, ``mask``, ``cls`` or ``sep`` token.

        Raises:
            InputError: the tokenizer has no such token.
        """
        token = getattr(self.tokenizer, f"{role}_token_id")
        if token is None:
            raise InputError(
                f"the tokenizer of this {self.network.config.model_type} model has no {role} token, which is needed "
                f"here; name one of its tokens in the configuration as models.<model>.special_tokens.{role}"
            )
        return token

    def padded(self, rows: list[np.ndarray]) -> tuple[torch.Tensor, torch.Tensor]:
        """Token ids and attention mask, both (rows, longest), on the network's device.

        A row without tokens, which only a tokenizer without special tokens can give, is read as one pad token.
        """
        fill = self.special_token("pad")
        rows = [row if len(row) else [fill] for row in rows]
        longest = max(map(len, rows))
        token_id = np.full((len(rows), longest), fill, dtype=np.int64)
        mask = np.zeros((len(rows), longest), dtype=np.int64)
        for index, row in enumerate(rows):
            place = slice(longest - len(row), None) if self.pads_left else slice(len(row))
            token_id[index, place] = row
            mask[index, place] = 1
        return torch.from_numpy(token_id).to(self.device), torch.from_numpy(mask).to(self.device)

    def embed(self, token_id: torch.Tensor) -> torch.Tensor:
        """Word embeddings (rows, tokens, hidden) of ids (rows, tokens), before positions and normalisation."""
        return self.network.get_input_embeddings()(token_id)

    def logits(self, embedding: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Logits (rows, classes) of word embeddings (rows, tokens, hidden) under an attention mask."""
        positions = {}
        if self.pads_left:
            # Counted from the first real token, so that padding does not move a text.
            positions["position_ids"] = (mask.cumsum(1) - 1).clamp(min=0)
        return self.network(inputs_embeds=embedding, attention_mask=mask, **positions).logits


def pick_device(device: str) -> torch.device:
    """The device that the configuration names; ``auto`` takes a GPU where there is one."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError("device is 'cuda', but torch finds no GPU; use 'auto' or 'cpu', or install torch with CUDA")
    return torch.device(device)


def load_network(source: str | Path, **options) -> nn.Module:
    """A sequence classification network from a hub id or a folder, in float32."""
    try:
        return AutoModelForSequenceClassification.from_pretrained(source, dtype=torch.float32, **options)
    except (OSError, ValueError, SafetensorError) as error:
        raise InputError(cannot_load(source, error)) from None


def load_classifier(folder: str | Path, max_tokens: int, device: str = "cpu") -> Classifier:
    """The classifier that :func:`evenlight.models.training.save_classifier` wrote to ``folder``, ready to be asked."""
    folder = Path(folder)
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        if not (folder / name).exists():
            raise InputError(f"{folder / name}: no such file; rule train makes it")
    try:
        network, loading = AutoModelForSequenceClassification.from_pretrained(
            folder, dtype=torch.float32, output_loading_info=True
        )
    except (OSError, ValueError, SafetensorError) as error:
        raise InputError(f"{folder}: not a readable model ({error}); delete it and run the workflow again") from None
    if loading["missing_keys"] or loading["mismatched_keys"]:
        missing = sorted(map(str, [*loading["missing_keys"], *loading["mismatched_keys"]]))
        raise InputError(
            f"{folder / 'model.safetensors'}: no weights for {missing[0]}; delete the folder and run the workflow "
            "again, rule train makes it"
        )
    network = network.to(pick_device(device)).eval()
    network.requires_grad_(False)
    return Classifier(network, loaded_tokenizer(folder), max_tokens)
