"""The one-layer attention model of GECOBench."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from evenlight.models.base import FromScratch
from evenlight.models.fields import Dropout

if TYPE_CHECKING:
    from torch import nn


class OneLayerAttention(FromScratch):
    """The one-layer attention model of GECOBench (Wilming et al.): embedding, one self-attention layer and a linear
    classifier, all trained from scratch.
    """

    title: ClassVar[str] = "One-layer attention (OLA-CEA)"

    architecture: Literal["one_layer_attention"]
    hidden_size: int = Field(64, ge=1, description="Dimensions of the token embeddings.")
    dropout: Dropout = 0.0

    def network(self, **common: int | None) -> nn.Module:
        """OLA-CEA, with random weights."""
        from evenlight.models import one_layer_attention as ola

        return ola.OneLayerAttention(ola.OneLayerAttentionConfig(dropout=self.dropout, **common))
