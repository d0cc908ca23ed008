"""A recurrent classifier: embedding, one LSTM, attention over its states, all trained from scratch."""

from contextlib import nullcontext

import torch
from torch import nn
from transformers import AutoConfig, AutoModelForSequenceClassification, PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import SequenceClassifierOutput


class LstmAttentionConfig(PretrainedConfig):
    """Sizes of a :class:`LstmAttention` model."""

    model_type = "lstm_attention"
    vocab_size: int = 4000
    hidden_size: int = 64
    state_size: int = 64
    dropout: float = 0.0
    pad_token_id: int | None = 0


class LstmAttention(PreTrainedModel):
    """An LSTM (Hochreiter & Schmidhuber 1997) whose states are added up by attention (Yang et al. 2016, Eq. 5 to 7).

    The weight of a state h is the softmax over the text's tokens of u · tanh(W h + b); a linear classifier reads the
    weighted sum. The LSTM reads from left to right and padding stands on the right, hidden from the attention, so that
    a sentence's logits do not depend on its batch.
    """

    config_class = LstmAttentionConfig

    def __init__(self, config: LstmAttentionConfig):
        super().__init__(config)
        self.embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.lstm = nn.LSTM(config.hidden_size, config.state_size, batch_first=True)
        self.attention = nn.Linear(config.state_size, config.state_size)
        self.context = nn.Linear(config.state_size, 1, bias=False)
        self.dropout = nn.Dropout(config.dropout)
        self.classifier = nn.Linear(config.state_size, config.num_labels)
        self.post_init()

    def _init_weights(self, module: nn.Module) -> None:
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight)
        elif isinstance(module, nn.Linear | nn.LSTM):
            module.reset_parameters()

    def get_input_embeddings(self) -> nn.Embedding:
        """The word embeddings (vocabulary, hidden)."""
        return self.embeddings

    def forward(self, input_ids=None, attention_mask=None, inputs_embeds=None, **_) -> SequenceClassifierOutput:
        """Logits (batch, classes) from ids (batch, tokens) or embeddings (batch, tokens, hidden)."""
        embedded = self.embeddings(input_ids) if inputs_embeds is None else inputs_embeds
        # cuDNN has gradients of an LSTM in training mode only, and explainers ask for them outside of it.
        with nullcontext() if self.training else torch.backends.cudnn.flags(enabled=False):
            state, _ = self.lstm(self.dropout(embedded))
        score = self.context(torch.tanh(self.attention(state)))[..., 0]
        if attention_mask is not None:
            score = score.masked_fill(attention_mask == 0, torch.finfo(score.dtype).min)
        weighted = (score.softmax(dim=-1)[..., None] * state).sum(dim=1)
        return SequenceClassifierOutput(logits=self.classifier(self.dropout(weighted)))


AutoConfig.register(LstmAttentionConfig.model_type, LstmAttentionConfig)
AutoModelForSequenceClassification.register(LstmAttentionConfig, LstmAttention)
