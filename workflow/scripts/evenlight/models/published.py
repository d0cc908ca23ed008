"""What the files of a classifier say of it, without torch and without its weights."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evenlight.core.errors import InputError, first_line
from evenlight.core.files import read_text
from evenlight.core.sources import nearest_folder, refused_by_hub
from evenlight.models.labels import MULTI_LABEL, label_names
from evenlight.models.location import located, missing_folder

# What tokenizers that allow any length say is larger.
NO_LIMIT = 10**6


@dataclass(frozen=True)
class Published:
    """What the files of a classifier say of it, of which its weights are not read.

    Attributes:
        labels: their names, in the order of the logits.
        excluding: whether a text has exactly one of them.
        special_tokens: ``mask`` and ``pad``, where the tokenizer has none and another token may stand in.
        limit: the longest text in tokens, where the files say it.
        tokenizer: the file of the tokenizer, where there is one.
    """

    labels: list[str]
    excluding: bool
    special_tokens: dict[str, str]
    limit: int | None = None
    tokenizer: Path | None = None

    def tokens(self, texts: Sequence[str]) -> np.ndarray | None:
        """How many tokens each text has, with those around it; None where that is not known."""
        if self.tokenizer is None:
            return None
        # Here, since it takes long to load.
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_file(str(self.tokenizer))
        # The library in Rust raises nothing more precise; what is wrong is said where the model is loaded.
        except Exception:
            return None
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return np.array([len(text) for text in tokenizer.encode_batch(list(texts))])


def published(source: str, revision: str | None = None) -> Published:
    """What the files of a classifier say.

    Raises:
        InputError: there is none, or it is no classifier.
    """
    if said := missing_folder(source, revision):
        raise InputError(f"model {source}: {said}; name the folder of a model, or its id on the hub")
    if Path(source, "adapter_config.json").is_file():
        raise InputError(
            f"{source}: is an adapter (adapter_config.json); name the model that it adapts, and write the adapter into "
            "the study's file as models.<model>.adapter"
        )
    config = _json_of(source, "config.json", revision)
    if config is None:
        raise InputError(f"model {source}: has no config.json; name the folder that save_pretrained has written")
    labels = _labels_of(config, source)
    tokenizer = _file_of(source, "tokenizer.json", revision)
    return Published(
        labels,
        config.get("problem_type") != MULTI_LABEL,
        _stand_ins(source, revision),
        _limit(config, _json_of(source, "tokenizer_config.json", revision) or {}),
        tokenizer if tokenizer is not None and tokenizer.is_file() else None,
    )


def _labels_of(config: dict, source: str) -> list[str]:
    """The labels in a configuration; by Transformers' rule those without names are two."""
    kinds = config.get("architectures") or []
    if kinds and not any("SequenceClassification" in str(kind) for kind in kinds):
        raise InputError(
            f"model {source}: its config.json has the architecture {', '.join(map(str, kinds))}, which is no sequence "
            "classifier; name one"
        )
    named = config.get("id2label") or {number: f"LABEL_{number}" for number in range(config.get("num_labels", 2))}
    labels = label_names(named, len(named), source)
    if config.get("problem_type") == "regression" or (len(labels) == 1 and config.get("problem_type") != MULTI_LABEL):
        raise InputError(f"model {source}: it predicts numbers and no classes; name a model that classifies")
    return labels


def _limit(config: dict, tokenizer: dict) -> int | None:
    """The longest text in tokens, by the positions of the model and by what its tokenizer allows.

    Both are needed: RoBERTa's kind has positions that no text reaches, and some tokenizers allow any length.
    """
    named = [config.get("max_position_embeddings", config.get("n_positions")), tokenizer.get("model_max_length")]
    return min((limit for limit in named if isinstance(limit, int) and limit < NO_LIMIT), default=None)


def _stand_ins(source: str, revision: str | None) -> dict[str, str]:
    """A token that may hide words or fill up texts, where the tokenizer's files say that there is none for it."""
    config = _json_of(source, "tokenizer_config.json", revision)
    tokenizer = _json_of(source, "tokenizer.json", revision)
    if config is None or tokenizer is None:
        return {}
    config = (_json_of(source, "special_tokens_map.json", revision) or {}) | config
    known = {token.get("content") for token in tokenizer.get("added_tokens", [])}
    named = config.get("eos_token")
    end = named.get("content") if isinstance(named, dict) else named
    lacks_mask = not config.get("mask_token") and not known & {"[MASK]", "<mask>"}
    if end not in known or not lacks_mask:
        return {}
    return {"mask": end} | ({} if config.get("pad_token") else {"pad": end})


def _json_of(source: str, name: str, revision: str | None) -> dict | None:
    """A JSON file of a model; None where it has no such file."""
    path = _file_of(source, name, revision)
    if path is None or not path.is_file():
        return None
    text = read_text(path, "write the model again")
    try:
        value = json.loads(text)
    except ValueError as error:
        raise InputError(f"{path}: no JSON ({error}); write the model again") from None
    if not isinstance(value, dict):
        raise InputError(f"{path}: is no JSON object; write the model again")
    return value


def _file_of(source: str, name: str, revision: str | None) -> Path | None:
    if Path(source).is_dir():
        return Path(source, name)
    # Here, so that a folder is read without the hub's client.
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError

    try:
        with located(source, revision):
            return Path(hf_hub_download(source, name, revision=revision))
    except EntryNotFoundError as error:
        if name != "config.json":
            return None
        reason = refused_by_hub(error, source) or f"{first_line(error)}). Name a folder, or look for a network"
    except Exception as error:
        reason = refused_by_hub(error, source) or f"{first_line(error)}). Name a folder, or look at the name"
    near = nearest_folder(source)
    raise InputError(f"model {source}: cannot be read ({reason}{f'; did you mean {near}?' if near else ''}")
