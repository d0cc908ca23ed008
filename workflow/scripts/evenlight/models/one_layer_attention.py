"""OLA-CEA of GECOBench: embedding, one attention layer, classification, all trained from scratch."""

import torch
from torch import nn
from torch.nn import functional
from transformers import AutoConfig, AutoModelForSequenceClassification, PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import SequenceClassifierOutput


class OneLayerAttentionConfig(PretrainedConfig):
    """Sizes of a :class:`OneLayerAttention` model."""

    model_type = "one_layer_attention"

    def __init__(
        self,
        vocab_size: int = 4000,
        hidden_size: int = 64,
        dropout: float = 0.0,
        pad_token_id: int | None = 0,
        **rest,
    ):
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.dropout = dropout
        super().__init__(pad_token_id=pad_token_id, **rest)


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
        self.dropout = nn.Dropout(config.dropout)
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
        # Only the first token's output is used, so only its query is needed.
        query = self.query(embedded[:, :1])
        scores = query @ self.key(embedded).transpose(1, 2) / self.config.hidden_size**0.5
        if attention_mask is not None:
            scores = scores.masked_fill(attention_mask[:, None] == 0, float("-inf"))
        attention = self.dropout(functional.softmax(scores, dim=-1))
        pooled = torch.tanh(self.pooler((attention @ self.value(embedded))[:, 0]))
        return SequenceClassifierOutput(logits=self.classifier(pooled))


AutoConfig.register(OneLayerAttentionConfig.model_type, OneLayerAttentionConfig)
AutoModelForSequenceClassification.register(OneLayerAttentionConfig, OneLayerAttention)
