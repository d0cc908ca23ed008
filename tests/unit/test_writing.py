"""Answers that decoders write, against Transformers' own ``generate``, prompt by prompt."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from hub_tokenizers import write_tokenizer
from models_for_tests import WORDS
from transformers import AutoConfig, AutoModelForCausalLM

from evenlight.engine.writing import Asked, Writer
from evenlight.models.decoder import load_decoder

SIZES = {"vocab_size": 700, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2}
SIZES |= {"num_attention_heads": 2, "max_position_embeddings": 128}
GROUPED = SIZES | {"num_key_value_heads": 1}
# Type, tokenizer, sizes. GPT-2's and Llama's tokenizers have no token for padding, Qwen's and Gemma's have.
DECODERS = {
    "gpt2": ("gpt2", "gpt2", {"vocab_size": 700, "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 128}),
    "llama": ("llama", "llama3", GROUPED),
    "mistral": ("mistral", "mistral", GROUPED | {"sliding_window": 8}),
    "qwen2": ("qwen2", "qwen2", GROUPED),
    "gemma2": ("gemma2", "gemma", GROUPED | {"head_dim": 8, "sliding_window": 8}),
    "bloom": ("bloom", "bloom", {"vocab_size": 700, "hidden_size": 16, "n_layer": 2, "n_head": 2}),
}
# Keeps a state and no keys: read again with each token.
RECURRENT = {
    "mamba": ("mamba", "gpt_neox", {"vocab_size": 700, "hidden_size": 16, "num_hidden_layers": 2, "state_size": 4})
}
CHAT = (
    "{{ bos_token }}{% for m in messages %}<{{ m['role'] }}> {{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>\n{% endif %}"
)
PROMPTS = ["They say : He returns .", "They say : one harbour before dawn , brother . Why ?", "They say : won't"]
PROMPTS += [" ".join(["They say : the"] + WORDS[0] * 3)]
MOST = 12


@pytest.fixture(scope="session")
def folder_of(tmp_path_factory):
    """A folder for each type, with random weights, saved by Transformers alone."""
    root = tmp_path_factory.mktemp("decoders")

    def made(name: str) -> Path:
        model_type, tokenizer, sizes = (DECODERS | RECURRENT)[name]
        torch.manual_seed(5)
        network = AutoModelForCausalLM.from_config(AutoConfig.for_model(model_type, **sizes))
        for weight in network.parameters():
            if weight.dim() > 1 and name not in RECURRENT:
                torch.nn.init.normal_(weight, std=0.6)
        folder = root / name
        network.save_pretrained(folder)
        return write_tokenizer(tokenizer, folder, [*WORDS, ["They", "say", ":", "Why"]])

    return cache(made)


@pytest.fixture(scope="session")
def decoder_of(folder_of):
    return cache(lambda name: load_decoder(str(folder_of(name))))


def generated(folder: Path, row: np.ndarray, ends: list[int]) -> list[int]:
    """What Transformers writes behind one prompt, without the token that ends it."""
    network = AutoModelForCausalLM.from_pretrained(folder)
    token_id = torch.tensor(row[None])
    [written] = network.generate(
        token_id,
        attention_mask=torch.ones_like(token_id),
        max_new_tokens=MOST,
        do_sample=False,
        eos_token_id=ends,
        pad_token_id=ends[0],
    )
    written = written[len(row) :].tolist()
    return written[:-1] if written[-1] in ends else written


@pytest.mark.parametrize("name", [*DECODERS, *RECURRENT])
def test_greedy_answers_are_those_of_transformers(name, folder_of, decoder_of):
    decoder = decoder_of(name)
    assert decoder.keeps == (name in DECODERS)
    rows = decoder.rows(PROMPTS)
    ends = sorted(decoder.ends)
    expected = [generated(folder_of(name), row, ends) for row in rows]
    assert len({tuple(answer) for answer in expected}) > 1
    together = Writer(decoder, MOST).written([Asked(row) for row in rows])
    alone = [Writer(decoder, MOST).written([Asked(row)])[0] for row in rows]
    assert [list(answer.token_id) for answer in together] == expected
    assert [list(answer.token_id) for answer in alone] == expected
