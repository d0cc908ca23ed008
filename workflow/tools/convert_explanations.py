"""Write explanations that ferret or inseq has made as rows that ``method: imported`` reads (docs/imported.md).

    python workflow/tools/convert_explanations.py inseq --input explained.json --output theirs/gpt2.jsonl \\
        --template "Review: {text}\\nThe film is {label}" --label-words bad good
    python workflow/tools/convert_explanations.py ferret --input explained.jsonl --output theirs/lime.jsonl \\
        --explainer LIME

Neither package is needed: ``inseq`` reads what ``out.save(path)`` of inseq 0.7 writes, ``ferret`` lines of JSON, each
with the fields of an ``Explanation``.
"""

import argparse
import base64
import binascii
import gzip
import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors

from evenlight.core.errors import InputError
from evenlight.core.tables import replacing
from evenlight.jobs.command_line import run
from evenlight.texts.table_rows import read_rows

AGGREGATIONS = {
    "sum": lambda values: values.sum(-1),
    "l1": lambda values: np.abs(values).sum(-1),
    "l2": lambda values: np.sqrt((values**2).sum(-1)),
}
# What falls where the label becomes more probable.
FALLING = ("crossentropy_fn", "entropy_fn", "perplexity_fn")
# What is read of a sequence.
SEQUENCE = {"source", "target", "source_attributions", "target_attributions", "attr_pos_start"}
# Tokens that stand for no characters of the text, as tokenizers write them. An unknown word is one of the text.
SPECIAL = re.compile(r"<(?!0x)[^<>\s]+>|\[[^\[\]\s]+\]")
UNKNOWN = ("<unk>", "[UNK]")
# The space before a text, where it is a token of its own.
SPACES = ("▁", "Ġ", " ")
# How byte-level tokenizers write each byte: as the character of its number where that can be seen, else as one beyond.
_SEEN = [*range(33, 127), *range(161, 173), *range(174, 256)]
_UNSEEN = [byte for byte in range(256) if byte not in _SEEN]
BYTES = {chr(byte): byte for byte in _SEEN} | {chr(256 + place): byte for place, byte in enumerate(_UNSEEN)}


# inseq ---------------------------------------------------------------------------------------------------------------


def rows_of_inseq(
    path: Path,
    template: str = "{text}",
    label_words: Sequence[str] = (),
    steps: Sequence[int] | None = None,
    aggregation: str | None = None,
) -> list[dict]:
    """Rows of the sequences in a file of inseq, each with the ``text`` in the prompt, its ``tokens`` and ``scores``.

    Args:
        path: what ``out.save(path)`` wrote, compressed or not.
        template: what stands around each text, as ``models.<model>.template``; ``{label}`` may end it.
        label_words: one for each class, in the order of the classes. What was generated must be one of them, and its
            number is the row's ``target``.
        steps: which generated tokens are explained, from 0; their scores are added up. Without it, all of the label
            word, which must be one where no log-probabilities are explained, since these alone add up to the word's.
        aggregation: one of ``AGGREGATIONS``, for scores of each hidden dimension.

    Raises:
        InputError: the file is another one, or a sequence does not fit.
    """
    if template.count("{text}") != 1:
        raise InputError(f"--template '{template}': write {{text}} once, where the text stands")
    sequences, info = _saved(path)
    explained = info.get("attributed_fn")
    if explained in FALLING:
        raise InputError(
            f"{path}: explained is '{explained.removesuffix('_fn')}', which falls where the label becomes more "
            "probable; explain 'logit' or 'probability' (attributed_fn)"
        )
    additive = explained == "probability_fn" and info.get("attributed_fn_args", {}).get("logprob", False)
    rows = []
    for number, (sequence, prompt) in enumerate(zip(sequences, info["input_texts"], strict=True)):
        location = f"{path}, sequence {number} (from 0)"
        tokens, scores, generated = _attributed(sequence, location)
        pieces = _spelled([*tokens, *generated])
        target = _class_of(generated, pieces[len(tokens) :], label_words, location)
        scores = scores[:, _chosen(generated, steps, additive, location)].sum(1)
        scores = _aggregated(scores, sequence, aggregation, location)
        text, place = _text_in(prompt, template, tokens, pieces[: len(tokens)], location)
        if not np.isfinite(scores[place]).all():
            raise InputError(f"{location}: not every token of the text has a score; explain all of them")
        row = {"text": text, "tokens": [token.strip() or token for token in tokens[place]]}
        rows.append(row | {"scores": scores[place].tolist()} | ({} if target is None else {"target": target}))
    return rows


def _saved(path: Path) -> tuple[list[dict], dict]:
    """The sequences of a file, and what it says of them all."""
    try:
        content = path.read_bytes()
        content = gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
        saved = json.loads(content, object_hook=_plain)
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"{path}: not readable ({error}); save it again") from None
    try:
        sequences, info = saved["sequence_attributions"], saved["info"]
        if all(sequence.keys() >= SEQUENCE for sequence in sequences) and len(info["input_texts"]) == len(sequences):
            return sequences, info
    except (TypeError, KeyError, AttributeError):
        pass
    raise InputError(f"{path}: not what `out.save(path)` of inseq 0.7 writes; give such a file")


def _plain(fields: dict) -> dict:
    """An object as its attributes, with the name of its class as ``kind``."""
    if "__instance_type__" in fields:
        return fields["attributes"] | {"kind": fields["__instance_type__"][1]}
    return fields


def _attributed(sequence: dict, location: str) -> tuple[list[str], np.ndarray, list[str]]:
    """The tokens that were read; their scores (tokens, generated), or more axes; and the generated tokens.

    Those that an encoder reads are the source; what a decoder reads is the beginning of its target.
    """
    read, generated = ([token["token"] for token in sequence[name]] for name in ("source", "target"))
    name = "target_attributions" if sequence["source_attributions"] is None else "source_attributions"
    try:
        scores = load_tensors(base64.b64decode(sequence[name], validate=True))["attribution"]
    except (TypeError, KeyError, binascii.Error, SafetensorError):
        raise InputError(f"{location}: '{name}' is not what inseq 0.7 writes; save it with this version") from None
    start = sequence["attr_pos_start"]
    if name == "target_attributions":
        read = generated[:start]
    if len(scores) < len(read):
        raise InputError(f"{location}: {len(scores)} rows of scores for {len(read)} tokens; save it again")
    scores = scores[: len(read)].to(torch.float64).numpy()
    return read, scores, generated[start : start + scores.shape[1]]


def _is_special(token: str) -> bool:
    return token not in UNKNOWN and SPECIAL.fullmatch(token) is not None


def _class_of(generated: list[str], pieces: list[bytes], label_words: Sequence[str], location: str) -> int | None:
    if not label_words:
        return None
    word = b"".join(piece for token, piece in zip(generated, pieces, strict=True) if not _is_special(token))
    numbers = [number for number, label in enumerate(label_words) if _seen(label.encode()) == word]
    if len(numbers) != 1:
        raise InputError(
            f"{location}: generated was {' '.join(generated)}, which is none of the label words "
            f"{', '.join(label_words)}; explain one of them (generated_texts of attribute)"
        )
    return numbers[0]


def _chosen(generated: list[str], steps: Sequence[int] | None, additive: bool, location: str) -> list[int]:
    """The columns of the generated tokens that are explained."""
    word = [number for number, token in enumerate(generated) if not _is_special(token)]
    chosen = list(word if steps is None else steps)
    is_there = bool(chosen) and set(chosen) <= set(range(len(generated)))
    if not is_there or (steps is None and len(word) > 1 and not additive):
        listed = ", ".join(f"{number} '{token}'" for number, token in enumerate(generated))
        raise InputError(
            f"{location}: generated tokens are {listed}; choose by --steps which are explained, or explain the word's "
            "log-probability (attributed_fn='probability', logprob=True)"
        )
    return chosen


def _aggregated(scores: np.ndarray, sequence: dict, aggregation: str | None, location: str) -> np.ndarray:
    """A score for each token, (tokens,), of scores that may have more axes."""
    if scores.ndim == 1:
        return scores
    if scores.ndim > 2 or not sequence.get("kind", "").startswith("Granular"):
        raise InputError(
            f"{location}: scores of the shape {scores.shape}, which are not those of hidden dimensions; aggregate them "
            "with inseq (`out.aggregate(...)`) and save what it gives"
        )
    if aggregation is None:
        raise InputError(
            f"{location}: {scores.shape[1]} scores of each token, one for each hidden dimension; choose --aggregation, "
            f"one of {', '.join(AGGREGATIONS)}"
        )
    return AGGREGATIONS[aggregation](scores)


def _text_in(prompt: str, template: str, tokens: list[str], pieces: list[bytes], location: str) -> tuple[str, slice]:
    """The text in a prompt, and which of the tokens are its own."""
    before, behind = template.split("{label}")[0].split("{text}")
    behind, prompt = behind.rstrip(), prompt.rstrip()
    if not (prompt.startswith(before) and prompt.endswith(behind) and len(before) + len(behind) < len(prompt)):
        raise InputError(f"{location}: the prompt is {prompt!r}, which is not {template!r} around a text")
    text = prompt[len(before) : len(prompt) - len(behind)]
    before, behind, inside = (_seen(part.encode()) for part in (before, behind, text))
    first = _in_template(tokens, pieces, before, inside, location)
    if first and tokens[first - 1] in SPACES:
        first -= 1
    backwards = [piece[::-1] for piece in reversed(pieces[first:])]
    last = _in_template(tokens[first:][::-1], backwards, behind[::-1], inside[::-1], location)
    return text, slice(first, len(tokens) - last)


def _in_template(tokens: list[str], pieces: list[bytes], part: bytes, text: bytes, location: str) -> int:
    """How many tokens stand for ``part`` of the template or are special, before those of the text.

    All may be given backwards. Tokens of white space alone count where there is a part.
    """
    left = part
    for count, (token, piece) in enumerate(zip(tokens, pieces, strict=True)):
        if (piece or part) and left.startswith(piece):
            left = left[len(piece) :]
        elif _is_special(token) and (left or not text.startswith(piece)):
            continue
        elif left:
            raise InputError(
                f"{location}: token '{token}' is none of the template alone; explain prompts in which no token stands "
                "for a part of the template and a part of the text"
            )
        else:
            return count
    return len(tokens)


def _spelled(tokens: Sequence[str]) -> list[bytes]:
    """The characters of each token without white space and marks of tokenizers, in UTF-8."""
    if any("▁" in token for token in tokens):
        return [_seen(_with_byte(token.replace("▁", " "))) for token in tokens]
    if any("Ġ" in token for token in tokens):
        return [_seen(bytes(map(BYTES.get, token)) if set(token) <= set(BYTES) else token.encode()) for token in tokens]
    return [_seen(token.removeprefix("##").removesuffix("</w>").encode()) for token in tokens]


def _with_byte(token: str) -> bytes:
    """What SentencePiece writes as the number of a byte, where it has no token; else the characters."""
    byte = re.fullmatch(r"<0x([0-9A-F]{2})>", token)
    return bytes([int(byte[1], 16)]) if byte else token.encode()


def _seen(text: bytes) -> bytes:
    """The text without white space and in lower case, as some tokenizers write it."""
    return text.lower().translate(None, b" \t\n\r\v\f")


# ferret --------------------------------------------------------------------------------------------------------------


def rows_of_ferret(path: Path, explainer: str | None = None) -> list[dict]:
    """Rows of one explainer in a file that has the fields of ferret's ``Explanation`` objects.

    Args:
        path: JSON Lines, or JSON (a list). What is inside of an ``ExplanationEvaluation`` is taken out of it.
        explainer: its name, such as ``LIME``; may be missing where there is one.

    Raises:
        InputError: the file has other fields, or no such explainer.
    """
    rows = []
    for number, row in enumerate(read_rows(path), start=1):
        row = row.get("explanation", row) if isinstance(row, dict) else row
        if not isinstance(row, dict) or not {"text", "tokens", "scores", "explainer", "target"} <= row.keys():
            raise InputError(f"{path}, row {number}: no Explanation of ferret; write the `__dict__` of each")
        rows.append(row)
    names = sorted({row["explainer"] for row in rows})
    if explainer not in names and (explainer is not None or len(names) != 1):
        raise InputError(f"{path}: explanations of {', '.join(names) or 'none'}; choose one of them by --explainer")
    fields = ("text", "tokens", "scores", "target")
    return [{name: row[name] for name in fields} for row in rows if explainer in (None, row["explainer"])]


# Command line --------------------------------------------------------------------------------------------------------


def main(arguments: argparse.Namespace) -> None:
    """Convert all files and write the rows."""
    if arguments.tool == "inseq":
        names = ("template", "label_words", "steps", "aggregation")
        convert, settings = rows_of_inseq, {name: getattr(arguments, name) for name in names}
    else:
        convert, settings = rows_of_ferret, {"explainer": arguments.explainer}
    rows = [row for path in arguments.input for row in convert(path, **settings)]
    with replacing(arguments.output) as path:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def flags() -> argparse.ArgumentParser:
    """The flags of both converters."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tools = parser.add_subparsers(dest="tool", required=True)
    inseq, ferret = tools.add_parser("inseq"), tools.add_parser("ferret")
    for tool in (inseq, ferret):
        tool.add_argument("--input", type=Path, nargs="+", required=True, help="files of the tool")
        tool.add_argument("--output", type=Path, required=True, help="rows (JSON Lines)")
    inseq.add_argument("--template", type=_unescaped, default="{text}", help="what stands around each text")
    inseq.add_argument("--label-words", nargs="+", default=[], help="one for each class, in the order of the classes")
    inseq.add_argument("--steps", type=int, nargs="+", help="generated tokens that are explained, from 0")
    inseq.add_argument("--aggregation", choices=AGGREGATIONS, help="of the scores of a token's hidden dimensions")
    ferret.add_argument("--explainer", help="its name in ferret; may be missing where there is one")
    return parser


def _unescaped(template: str) -> str:
    """A template as YAML reads it in quotation marks: a backslash and an n are a line break."""
    return template.replace("\\n", "\n")


if __name__ == "__main__":
    run(main, flags())
