"""A recurrent classifier: embedding, one LSTM, attention over its states, from scratch or with given word vectors."""

from contextlib import nullcontext
from pathlib import Path

import torch
from torch import nn
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    PretrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.modeling_outputs import SequenceClassifierOutput

from evenlight.core.errors import InputError

# What tokenizers write before a token that begins a word, where they write anything; WordPiece marks all others.
BEGINNINGS = "\N{LATIN CAPITAL LETTER G WITH DOT ABOVE}\N{LOWER ONE EIGHTH BLOCK}"
INSIDE = "##"


def begin_with_vectors(embeddings: nn.Embedding, tokenizer: PreTrainedTokenizerBase, path: str | Path) -> int:
    """Give each token that is spelled as a word of a file this word's vector, in place; how many tokens that are.

    Args:
        embeddings: of the tokens, (vocabulary, width).
        tokenizer: theirs. Pieces from inside of words and special tokens keep their own vectors.
        path: a text with a word and its numbers in each line, as GloVe, word2vec and fastText write it, the latter two
            behind a line with their counts. A word may have spaces. Of words that are there twice, the first counts.

    Raises:
        InputError: for a file that cannot be read or is not such a text, vectors of another width, and a file with
            none of the tokens.
    """
    tokens = _whole_words(tokenizer)
    width = embeddings.embedding_dim
    found: dict[str, torch.Tensor] = {}
    try:
        with open(path, encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, start=1):
                fields = line.rstrip(" \n").split(" ")
                if number == 1 and len(fields) == 2:
                    continue
                # Later on, what is too much are spaces in a word.
                if len(fields) <= width or (number < 3 and len(fields) != width + 1):
                    raise InputError(
                        f"{path}, line {number}: {len(fields) - 1} numbers behind the word, and "
                        f"models.<model>.hidden_size is {width}; make them the same, or name another file as vectors"
                    )
                word = " ".join(fields[:-width])
                if word in tokens and word not in found:
                    found[word] = _numbers(fields[-width:], f"{path}, line {number}")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); correct models.<model>.vectors") from None
    if not found:
        raise InputError(f"{path}: has none of the {len(tokens)} words of the tokenizer; name another file")
    with torch.no_grad():
        for word, vector in found.items():
            embeddings.weight[tokens[word]] = vector
    return sum(len(tokens[word]) for word in found)


def _whole_words(tokenizer: PreTrainedTokenizerBase) -> dict[str, list[int]]:
    """The ids of the tokens that may be a whole word, by its spelling."""
    found: dict[str, list[int]] = {}
    for token, number in tokenizer.get_vocab().items():
        if number not in tokenizer.all_special_ids and not token.startswith(INSIDE):
            found.setdefault(token.lstrip(BEGINNINGS), []).append(number)
    return found


def _numbers(texts: list[str], place: str) -> torch.Tensor:
    try:
        vector = torch.tensor([float(text) for text in texts])
    except ValueError:
        vector = torch.tensor([float("nan")])
    if not vector.isfinite().all():
        raise InputError(f"{place}: what stands behind the word is not all numbers; correct the file")
    return vector


class LstmAttentionConfig(PretrainedConfig):
    """Sizes of a :class:`LstmAttention` model."""

    model_type = "lstm_attention"

    def __init__(
        self,
        vocab_size: int = 4000,
        hidden_size: int = 64,
        state_size: int = 64,
        dropout: float = 0.0,
        pad_token_id: int | None = 0,
        **rest,
    ):
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.state_size = state_size
        self.dropout = dropout
        super().__init__(pad_token_id=pad_token_id, **rest)


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
