"""Write a model whose weights are a pickle (`pytorch_model.bin`) again as safetensors, which the workflow reads.

    python workflow/tools/convert_weights.py huawei-noah/TinyBERT_General_4L_312D results/pretrained/tinybert

The folder is then the model's `source`. A pickle can hold a program. It is read by torch's restricted reader, which
builds tensors and plain values and refuses everything else; still convert only files of authors whom you trust.
"""

import argparse
import shutil
from pathlib import Path

import torch
from huggingface_hub import snapshot_download
from safetensors.torch import save_file

from evenlight.core.errors import InputError, first_line
from evenlight.core.sources import tokenizer_files
from evenlight.core.tables import replacing
from evenlight.jobs import command_line

# Of a whole model and of an adapter of peft.
NAMES = {"pytorch_model*.bin": "model.safetensors", "adapter_model.bin": "adapter_model.safetensors"}
CONFIGURATIONS = ("adapter_config.json", "generation_config.json")


def weights_of(path: Path) -> dict[str, torch.Tensor]:
    """The tensors of a file by name, each in memory of its own. Raises InputError for a file with anything else."""
    try:
        weights = torch.load(path, map_location="cpu", weights_only=True)
    # A file may be damaged in any way, and torch raises nothing more precise.
    except Exception as error:
        raise InputError(
            f"{path}: is damaged or holds more than weights ({first_line(error)}); do not use it"
        ) from None
    if not isinstance(weights, dict) or not all(isinstance(value, torch.Tensor) for value in weights.values()):
        raise InputError(f"{path}: holds other things than tensors by name; name a file of weights")
    return {name: weight.clone().contiguous() for name, weight in weights.items()}


def convert(source: Path, output: Path) -> None:
    """Write the model in ``source`` to ``output``. Raises InputError where there are no such weights."""
    found = {name: sorted(source.glob(pattern)) for pattern, name in NAMES.items()}
    if not any(found.values()):
        raise InputError(f"{source}: has none of {', '.join(NAMES)}; nothing is to be converted")
    output.mkdir(parents=True, exist_ok=True)
    for name, paths in found.items():
        if paths:
            weights = {key: weight for path in paths for key, weight in weights_of(path).items()}
            with replacing(output / name) as temporary:
                save_file(weights, temporary, {"format": "pt"})
    for path in [*tokenizer_files(source), *(source / name for name in CONFIGURATIONS)]:
        if path.is_file():
            shutil.copyfile(path, output / path.name)


def main(arguments: argparse.Namespace) -> None:
    """Convert a folder, or what the hub has."""
    source = Path(arguments.source)
    if not source.is_dir():
        patterns = [*NAMES, "*.json", "*.txt", "*.model"]
        source = Path(snapshot_download(arguments.source, revision=arguments.revision, allow_patterns=patterns))
    convert(source, arguments.output)
    print(f"written to {arguments.output}; give this folder as models.<model>.source (or adapter)")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", help="folder, or id on the hub")
    parser.add_argument("output", type=Path, help="new folder")
    parser.add_argument("--revision", help="commit or tag on the hub")
    command_line.run(main, parser)
