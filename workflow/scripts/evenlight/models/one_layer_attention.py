"""OLA-CEA of GECOBench: embedding, one attention layer, classification, all trained from scratch."""

import torch
from torch import nn
from torch.nn import functional
from transformers import AutoConfig, AutoModelForSequenceClassification, PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import SequenceClassifierOutput
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from evenlight.models.attention import attention_weights, weighted_values


class OneLayerAttentionConfig(PretrainedConfig):
    """Sizes of a :class:`OneLayerAttention` model."""

    model_type = "one_layer_attention"
    vocab_size: int = 4000
    hidden_size: int = 64
    dropout: float = 0.0
    pad_token_id: int | None = 0


def _attention(module, query, key, value, attention_mask, scaling, dropout):
    """Attention weights with dropout, and what they make of the values; see :mod:`evenlight.models.attention`."""
    _, weight = attention_weights(query, key, attention_mask, scaling)
    weight = functional.dropout(weight, dropout, module.training)
    return weighted_values(weight, value), weight


class OneLayerAttention(PreTrainedModel):
    """The vanilla one-layer attention classifier (Wilming et al., Section 3.3.5; 64 dimensions, Table 5).

    One head attends over the words' embeddings, without positions; the output at the first token passes a
    dense layer with tanh, as in BERT's pooler, and a linear classifier. Unlike the released code, padding
    is hidden from the attention, so that a sentence's logits do not depend on its batch.
    """

    config_class = OneLayerAttentionConfig

    def __init__(self, config: OneLayerAttentionConfig):
        super().__init__(config)
        size = config.hidden_size
        self.embeddings = nn.Embedding(config.vocab_size, size)
        self.query = nn.Linear(size, size)
        self.key = nn.Linear(size, size)
        self.value = nn.Linear(size, size)
        self.pooler = nn.Linear(size, size)
        self.classifier = nn.Linear(size, config.num_labels)
        self.post_init()

    def _init_weights(self, module: nn.Module) -> None:
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight)
        elif isinstance(module, nn.Linear):
            module.reset_parameters()

    def get_input_embeddings(self) -> nn.Embedding:
        """The word embeddings (vocabulary, hidden)."""
        return self.embeddings

    def forward(self, input_ids=None, attention_mask=None, inputs_embeds=None, **_) -> SequenceClassifierOutput:
        """Logits (batch, classes) from ids (batch, tokens) or embeddings (batch, tokens, hidden)."""
        embedded = self.embeddings(input_ids) if inputs_embeds is None else inputs_embeds
        if attention_mask is not None:
            hidden = embedded.new_full((), torch.finfo(embedded.dtype).min)
            attention_mask = torch.where(attention_mask[:, None, None] == 0, hidden, 0)
        # From Transformers' registry, so that explainers see the attention of this model as that of any other.
        attend = ALL_ATTENTION_FUNCTIONS.get_interface(self.config._attn_implementation, _attention)
        attended, _ = attend(
            self,
            # Only the first token's output is used, so only its query is needed. There is one head.
            self.query(embedded[:, None, :1]),
            self.key(embedded[:, None]),
            self.value(embedded[:, None]),
            attention_mask,
            scaling=self.config.hidden_size**-0.5,
            dropout=self.config.dropout,
        )
        pooled = torch.tanh(self.pooler(attended[:, 0, 0]))
        return SequenceClassifierOutput(logits=self.classifier(pooled))


AutoConfig.register(OneLayerAttentionConfig.model_type, OneLayerAttentionConfig)
AutoModelForSequenceClassification.register(OneLayerAttentionConfig, OneLayerAttention)
