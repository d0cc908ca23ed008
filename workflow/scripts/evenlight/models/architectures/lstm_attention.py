"""A recurrent network with attention."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from evenlight.models.base import FromScratch
from evenlight.models.fields import Dropout

if TYPE_CHECKING:
    from torch import nn


class LstmAttention(FromScratch):
    """A recurrent network: embedding, an LSTM and attention over its states, trained from scratch."""

    title: ClassVar[str] = "LSTM with attention"

    architecture: Literal["lstm_attention"]
    hidden_size: int = Field(64, ge=1, description="Dimensions of the token embeddings.")
    state_size: int = Field(64, ge=1, description="Dimensions of the LSTM's states.")
    dropout: Dropout = 0.1

    def network(self, **common: int | None) -> nn.Module:
        """An LSTM with attention, with random weights."""
        from evenlight.models import lstm_attention as lstm

        return lstm.LstmAttention(lstm.LstmAttentionConfig(state_size=self.state_size, dropout=self.dropout, **common))
