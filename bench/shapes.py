"""Write models of further shapes for the benchmark, with random weights: blocks of ModernBERT, Llama and GPT-2.

    python bench/shapes.py --like results/pretrained/minilm --output results/pretrained/shapes

What a network takes depends on its blocks and sizes and not on its weights, so nothing is trained for times alone. All
are as wide and as deep as the model that is named, and have its tokenizer, so that each reads the same tokens.
"""

import argparse
import sys
from pathlib import Path

import torch
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer, PreTrainedTokenizerBase

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow" / "scripts"))

from evenlight.jobs.command_line import run

SHAPES = {"modernbert": "modernbert", "decoder": "llama", "gpt2": "gpt2"}
SIZES = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "max_position_embeddings")


def write_shape(folder: Path, model_type: str, sizes: dict, tokenizer: PreTrainedTokenizerBase) -> None:
    """Write a classifier of these sizes with random weights, and its tokenizer, to a folder."""
    config = AutoConfig.for_model(
        model_type,
        vocab_size=len(tokenizer),
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.cls_token_id,
        eos_token_id=tokenizer.sep_token_id,
        **sizes,
    )
    torch.manual_seed(0)
    AutoModelForSequenceClassification.from_config(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def main(arguments: argparse.Namespace) -> None:
    """Write a folder for each shape."""
    like = AutoConfig.from_pretrained(arguments.like)
    tokenizer = AutoTokenizer.from_pretrained(arguments.like)
    for name, model_type in SHAPES.items():
        sizes = {size: getattr(like, size) for size in SIZES}
        if model_type == "gpt2":
            # Its name for the width of the feed-forward network has no other.
            sizes["n_inner"] = sizes.pop("intermediate_size")
        else:
            # Gates have a third matrix, which two thirds of the width make up for, as published models have it.
            sizes["intermediate_size"] = sizes["intermediate_size"] * 2 // 3
        write_shape(arguments.output / name, model_type, sizes, tokenizer)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--like", type=Path, required=True, help="folder of a model, for its sizes and its tokenizer")
    parser.add_argument("--output", type=Path, required=True, help="folder for a folder of each shape")
    run(main, parser)
