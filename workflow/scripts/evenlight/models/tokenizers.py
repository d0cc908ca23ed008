"""Tokenizers: learned from the training split, or loaded with a pre-trained model; and how they read words.

What a model reads of an item is its text as it came (:mod:`evenlight.texts.words`), exactly as Transformers' own call
on that text gives it; of an item that came as words they are joined by spaces. Which token belongs to which word
follows from the characters that it stands for.
"""

import tempfile
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import transformers
from huggingface_hub.errors import LocalEntryNotFoundError
from tokenizers import Tokenizer
from tokenizers.decoders import WordPiece as WordPieceDecoder
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing
from tokenizers.trainers import WordPieceTrainer
from transformers import (
    AutoTokenizer,
    BatchEncoding,
    PreTrainedConfig,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)
from transformers.models.auto.tokenization_auto import get_tokenizer_config
from transformers.tokenization_utils_base import TOKENIZER_CONFIG_FILE
from transformers.utils import CONFIG_NAME

from evenlight.core.errors import InputError, first_line
from evenlight.core.sources import refused_by_hub
from evenlight.models.labels import listed_labels
from evenlight.models.location import located
from evenlight.texts.predictions import PROMPT, SPECIAL
from evenlight.texts.words import joined_text, of_part, spaces_of

SPECIAL_TOKENS = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
# A model's files are data. Left out, Transformers asks at the terminal whether to run code that comes with them.
NO_CODE = {"trust_remote_code": False}
# Keys of tokenizer_config.json.
STAND_INS, PROMPT_AROUND = "stand_ins", "prompt_around"
# Of a tokenizer that has a token for each of the pieces of its texts (pieces_of); what the first one begins with, where
# a text begins with white space.
BY_WORDS, BEGINNING = "by_words", "\x02"


def _uncased_word_piece(vocabulary: dict[str, int] | None = None) -> Tokenizer:
    tokenizer = Tokenizer(WordPiece(vocab=vocabulary, unk_token=SPECIAL_TOKENS["unk_token"]))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.decoder = WordPieceDecoder()
    return tokenizer


def learned_tokenizer(
    sentences: Sequence[Sequence[str]], vocabulary_size: int, max_tokens: int
) -> PreTrainedTokenizerBase:
    """An uncased WordPiece tokenizer with BERT's special tokens, learned from ``sentences`` (lists of words).

    The same sentences always give the same vocabulary.
    """
    tokenizer = _uncased_word_piece()
    texts = [joined_text(words) for words in sentences]
    characters = sorted({c for text in texts for c in tokenizer.normalizer.normalize_str(text) if not c.isspace()})
    # The trainer numbers the pieces inside of words in the order of a hash map that differs from run to run,
    # and breaks ties between merges by these numbers. Giving it all single characters beforehand, as if they
    # were special tokens, fixes the numbers. Only the vocabulary is taken over, so they become ordinary pieces.
    first = [*SPECIAL_TOKENS.values(), *characters, *(f"##{character}" for character in characters)]
    tokenizer.train_from_iterator(
        texts, WordPieceTrainer(vocab_size=vocabulary_size, special_tokens=first, show_progress=False)
    )
    vocabulary = tokenizer.get_vocab()
    tokenizer = _uncased_word_piece(vocabulary)
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")],
    )
    # The types tell the parts of a text of two parts apart, as BERT's tokenizer has them.
    names = ["input_ids", "token_type_ids", "attention_mask"]
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=max_tokens, model_input_names=names, **SPECIAL_TOKENS
    )


def loaded_tokenizer(
    source: str | Path,
    revision: str | None = None,
    special_tokens: dict[str, str | None] | None = None,
    key: str = "source",
) -> PreTrainedTokenizerBase:
    """The tokenizer at ``source`` (hub id or folder), as it is published.

    Args:
        source: hub id or folder.
        revision: commit or tag on the hub.
        special_tokens: tokens of the vocabulary that serve as ``pad`` or ``mask`` where the tokenizer has none; they
            are kept when it is saved, see :func:`special_token_id`.
        key: of ``models.<model>`` that names the source, for messages.

    Raises:
        InputError: the source cannot be loaded, has no vocabulary, has no fast tokenizer, or lacks one of
            ``special_tokens``.
    """
    try:
        with located(source, revision, key=key):
            _check_names(source, revision)
            tokenizer = AutoTokenizer.from_pretrained(source, revision=revision, **NO_CODE)
    except InputError:
        raise
    # Files may be wrong in any way, and the library in Rust raises nothing more precise.
    except Exception as error:
        raise InputError(cannot_load(source, error, key)) from None
    return checked_tokenizer(tokenizer, source, special_tokens, key)


def checked_tokenizer(
    tokenizer: PreTrainedTokenizerBase,
    source: str | Path,
    special_tokens: dict[str, str | None] | None = None,
    key: str = "source",
) -> PreTrainedTokenizerBase:
    """The same tokenizer, wherever it is from, with the ``special_tokens`` that it lacks; see :func:`loaded_tokenizer`.

    Raises:
        InputError: it has no vocabulary or is no fast tokenizer, or lacks one of ``special_tokens``.
    """
    if not tokenizer.is_fast:
        raise InputError(
            f"tokenizer {source}: {type(tokenizer).__name__} has no fast version, which is needed to align tokens with "
            "words; choose a model whose tokenizer has one (a tokenizer.json)"
        )
    # Where a folder has no vocabulary, Transformers makes a tokenizer that knows no word.
    vocabulary = tokenizer.get_vocab()
    if set(vocabulary) <= set(tokenizer.all_special_tokens):
        raise InputError(cannot_load(source, "there is no vocabulary", key))
    named = {role: token for role, token in (special_tokens or {}).items() if token is not None}
    for role, token in named.items():
        if token not in vocabulary:
            raise InputError(
                f"tokenizer {source}: special_tokens.{role} is '{token}', which is not in its vocabulary; "
                "name a token that is"
            )
    if named:
        tokenizer.init_kwargs[STAND_INS] = named
    return tokenizer


def _check_names(source: str | Path, revision: str | None) -> None:
    """Refuse files that name another thing than a tokenizer as their class, or a vocabulary outside their folder.

    Transformers looks a class up among all that it has, models included, which read weights of every format. A class
    that it does not have, as of code that comes with a model, is none for it either: it reads tokenizer.json without.
    """
    about = {TOKENIZER_CONFIG_FILE: get_tokenizer_config(source, revision=revision)}
    with suppress(OSError):  # a tokenizer alone has none
        about[CONFIG_NAME] = PreTrainedConfig.get_config_dict(source, revision=revision)[0]
    for file, named in about.items():
        if (name := named.get("tokenizer_class")) and not _is_tokenizer(name):
            raise InputError(
                f"model {source}: its {file} names {str(name)[:80]!r} as tokenizer_class, which is no tokenizer; take "
                "the line out, so that tokenizer.json is read without it, or choose another model"
            )
    for name in about[TOKENIZER_CONFIG_FILE].get("fast_tokenizer_files") or ():
        if str(name) != Path(str(name)).name:
            raise InputError(
                f"model {source}: its {TOKENIZER_CONFIG_FILE} names {str(name)[:80]!r} among fast_tokenizer_files, "
                "which is no file beside it; take the line out, or choose another model"
            )


def _is_tokenizer(name: object) -> bool:
    if not isinstance(name, str) or not name.isidentifier():
        return False
    known = getattr(transformers, name, PreTrainedTokenizerBase)
    # What lacks a library of its own says so when it is called.
    return isinstance(known, type) and (issubclass(known, PreTrainedTokenizerBase) or hasattr(known, "_backends"))


def special_token_id(tokenizer: PreTrainedTokenizerBase, role: str) -> int | None:
    """The id of the ``pad``, ``mask``, ``cls`` or ``sep`` token, or of what stands in for it; None if there is none.

    A token that stands in stays an ordinary one. As a special token of Transformers it would be found inside of words,
    once the tokenizer was saved and loaded again.
    """
    token = tokenizer.init_kwargs.get(STAND_INS, {}).get(role)
    return getattr(tokenizer, f"{role}_token_id") if token is None else tokenizer.get_vocab()[token]


def required_token_id(tokenizer: PreTrainedTokenizerBase, role: str, model_type: str) -> int:
    """The same where there must be one.

    Raises:
        InputError: the tokenizer of this type of model has no such token.
    """
    token = special_token_id(tokenizer, role)
    if token is None:
        raise InputError(
            f"the tokenizer of this {model_type} model has no {role} token, which is needed here; name one of its "
            f"tokens in the configuration as models.<model>.special_tokens.{role}"
        )
    return token


def set_prompt(tokenizer: PreTrainedTokenizerBase, before: str, behind: str) -> None:
    """Let every text that ``tokenizer`` reads stand between ``before`` and ``behind``; kept when it is saved."""
    tokenizer.init_kwargs[PROMPT_AROUND] = [before, behind]


def prompt_around(tokenizer: PreTrainedTokenizerBase) -> tuple[str, str]:
    """What stands before and behind every text, see :func:`set_prompt`; two empty texts where there is no prompt."""
    before, behind = tokenizer.init_kwargs.get(PROMPT_AROUND, ("", ""))
    return before, behind


# Reading -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reading:
    """How a tokenizer reads the words of one text.

    Attributes:
        token_id: ids, special tokens included; int64 (tokens,).
        word_id: index of the word of each token, ``SPECIAL`` for tokens that are put around the text, ``PROMPT`` for
            all that are no part of a text in a prompt; int64 (tokens,).
        token_text: the piece of its word that each token stands for, as the text writes it; empty for special tokens
            and for tokens of white space; (tokens,).
        token_type: what the tokenizer says of the types of the tokens, int64 (tokens,); None where it says nothing.
    """

    token_id: np.ndarray
    word_id: np.ndarray
    token_text: tuple[str, ...]
    token_type: np.ndarray | None = None


# Of each text the part of each word, 0 or 1; None where texts are one.
Parts = Sequence[Sequence[int]] | None


def token_ids(
    tokenizer: PreTrainedTokenizerBase, sentences: Sequence[Sequence[str]], parts: Parts = None
) -> list[np.ndarray]:
    """Ids of texts that are given as words, special tokens and prompt included; an int64 array (tokens,) for each."""
    if tokenizer.init_kwargs.get(BY_WORDS):
        vocabulary = tokenizer.get_vocab()
        return [_ids_of_pieces(vocabulary, words) for words in sentences]
    return [np.array(token_id, dtype=np.int64) for token_id in _encoded(tokenizer, sentences, parts)["input_ids"]]


def pieces_of(words: Sequence[str]) -> list[str]:
    """Each word of a text with what stands before it, the last also with what stands behind it; (words,).

    >>> from evenlight.texts.words import Words
    >>> pieces_of(Words(["Failed", ",", "again"], [" ", "", " ", "\\n"]))
    ['\\x02 Failed', ',', ' again\\n']
    """
    spaces = spaces_of(words)
    pieces = [f"{space}{word}" for space, word in zip(spaces, words, strict=False)]
    if pieces:
        pieces[0] = f"{BEGINNING}{pieces[0]}" if spaces[0] else pieces[0]
        pieces[-1] += spaces[-1]
    return pieces


def _ids_of_pieces(vocabulary: dict[str, int], words: Sequence[str]) -> np.ndarray:
    pieces = pieces_of(words)
    unknown = [word for word, piece in zip(words, pieces, strict=True) if piece not in vocabulary]
    if unknown:
        raise InputError(f"the service was not told of the word '{unknown[0]}'; delete its folder and run again")
    return np.array([vocabulary[piece] for piece in pieces], dtype=np.int64)


def read_words(
    tokenizer: PreTrainedTokenizerBase,
    sentences: Sequence[Sequence[str]],
    names: Sequence[str] | None = None,
    parts: Parts = None,
) -> list[Reading]:
    """How texts that are given as words are read, and to which word each token belongs.

    A token that stands for white space alone belongs to the word behind it, or to the last. A token that stands for
    several words without a space between them belongs to the first. So a word may have no token, as may one of
    characters that tokenizers drop, such as spaces of no width.

    Args:
        tokenizer: a fast one.
        sentences: the words of each text, with what stands between them (:class:`evenlight.texts.words.Words`); of
            lists of words a space.
        names: of the texts, for messages.
        parts: of texts of two parts, which are read as the tokenizer reads a pair of texts.

    Raises:
        InputError: a token stands for several words with a space between them, or a text cannot be read.
    """
    if tokenizer.init_kwargs.get(BY_WORDS):
        ids = token_ids(tokenizer, sentences)
        return [Reading(row, np.arange(len(row)), tuple(words)) for row, words in zip(ids, sentences, strict=True)]
    encoding = _encoded(tokenizer, sentences, parts, return_offsets_mapping=True)
    types = encoding.get("token_type_ids")
    prompt = prompt_around(tokenizer)
    encodings = []
    for row, words in enumerate(sentences):
        try:
            spans = np.array(encoding["offset_mapping"][row], dtype=np.int64).reshape(-1, 2)
            sequence = encoding.sequence_ids(row)
            is_outside = np.array([part is None for part in sequence], dtype=bool)
            if parts is not None:
                word_id, token_text = _aligned_parts(words, parts[row], spans, sequence)
            elif any(prompt):
                word_id, token_text = _aligned(words, *reversed(_in_prompt(prompt, words, spans, is_outside)), PROMPT)
            else:
                word_id, token_text = _aligned(words, spans, is_outside, SPECIAL)
        except InputError as error:
            name = f"text '{_shortened(' '.join(words))}'" if names is None else f"item {names[row]}"
            raise InputError(f"{name}: {error}") from None
        token_type = np.array(types[row], dtype=np.int64) if types else None
        encodings.append(Reading(np.array(encoding["input_ids"][row], dtype=np.int64), word_id, token_text, token_type))
    return encodings


def _encoded(
    tokenizer: PreTrainedTokenizerBase, sentences: Sequence[Sequence[str]], parts: Parts = None, **options
) -> BatchEncoding:
    before, behind = prompt_around(tokenizer)
    if parts is not None:
        if before or behind:
            raise InputError("a prompt has room for one text, and these have two parts; leave the model out")
        both = list(zip(sentences, parts, strict=True))
        texts, seconds = ([joined_text(of_part(*text, part)) for text in both] for part in (0, 1))
    else:
        texts, seconds = [f"{before}{joined_text(words)}{behind}" for words in sentences], ()
    try:
        encoding = tokenizer(texts, *([seconds] if parts is not None else []), verbose=False, **options)
    except Exception as error:  # see loaded_tokenizer
        raise InputError(f"the tokenizer cannot read the texts ({error}); choose another model") from None
    if len(encoding["input_ids"]) != len(texts):
        raise InputError(
            f"{type(tokenizer).__name__} does not read plain texts: of {len(texts)} it makes "
            f"{len(encoding['input_ids'])}; choose another model"
        )
    return encoding


def _aligned_parts(
    words: Sequence[str], parts: Sequence[int], spans: np.ndarray, sequence: Sequence[int | None]
) -> tuple[np.ndarray, tuple[str, ...]]:
    """As :func:`_aligned` for a text of two parts; ``sequence`` says of which part a token is, None of neither."""
    word_id, token_text = np.full(len(spans), SPECIAL), [""] * len(spans)
    for part in (0, 1):
        is_outside = np.array([number != part for number in sequence], dtype=bool)
        part_id, part_text = _aligned(of_part(words, parts, part), spans, is_outside, SPECIAL)
        first = np.flatnonzero(np.asarray(parts) == part).min(initial=len(words))
        word_id = np.where(is_outside, word_id, part_id + first)
        token_text = [old if skip else new for old, new, skip in zip(token_text, part_text, is_outside, strict=True)]
    return word_id, tuple(token_text)


def _in_prompt(
    prompt: tuple[str, str], words: Sequence[str], spans: np.ndarray, is_special: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Which tokens stand for no character of the text, bool (tokens,), and spans counted from the text's first.

    White space of the prompt may be in one token with the text beside it, which is the text's then.
    """
    before, behind = prompt
    text = joined_text(words)
    spans = spans - len(before)
    first, last = spans.clip(0, len(text)).T
    # A token without characters belongs to what comes next.
    is_empty = (spans[:, 0] == spans[:, 1]) & (spans[:, 0] >= 0) & (spans[:, 0] < len(text))
    is_outside = is_special | ((first == last) & ~is_empty)
    for start, end in spans[~is_outside]:
        beside = before[start:] if start < 0 else "", behind[: max(0, end - len(text))]
        if any(map(_is_visible, beside)):
            raise InputError(
                f"the tokenizer makes one token, '{beside[0]}{text[max(0, start) : end]}{beside[1]}', of the template "
                "and the text, and its score cannot be divided; put a space or a line break beside {text} in "
                "models.<model>.template"
            )
    return is_outside, spans


def _aligned(
    words: Sequence[str], span: np.ndarray, is_outside: np.ndarray, outside: int
) -> tuple[np.ndarray, tuple[str, ...]]:
    """The word of each token (tokens,) and the piece of it that the token stands for.

    ``span`` has the first character of each token in the text and the one after its last, (tokens, 2); tokens that are
    no part of the text have the word ``outside``. Where the space before a word is part of its token, the span may have
    it or not; that of a token without any character is empty.
    """
    if not len(words):
        return np.full(len(span), outside), ("",) * len(span)
    length, before = (np.array([len(piece) for piece in pieces]) for pieces in (words, spaces_of(words)[: len(words)]))
    end = np.cumsum(before + length)
    start = end - length
    # The words that a span touches: from the first that ends behind its first character to the last that begins before
    # its end. In a space between two words, the first of them is behind the last.
    first = np.searchsorted(end, span[:, 0], side="right").clip(max=len(words) - 1)
    last = np.searchsorted(start, span[:, 1], side="left") - 1
    for token in np.flatnonzero((last > first) & ~is_outside):
        visible = [word for word in range(first[token], last[token] + 1) if _is_visible(words[word])]
        if len(visible) > 1 and before[visible[0] + 1 : visible[-1] + 1].any():
            text = joined_text(words)[slice(*span[token].clip(0))]
            raise InputError(
                f"the tokenizer makes one token, '{_shortened(text.strip())}', of the words "
                f"{', '.join(repr(words[word]) for word in visible[:3])}, and its score cannot be divided; take "
                "control characters out of the text, or choose another model"
            )
        first[token] = visible[0] if visible else first[token]
    word_id = np.where(is_outside, outside, first)
    inside = (span - start[first, None]).clip(0, length[first, None])
    pieces = zip(word_id.tolist(), inside.tolist(), strict=True)
    return word_id, tuple("" if word < 0 else words[word][slice(*piece)] for word, piece in pieces)


def _is_visible(text: str) -> bool:
    return any(unicodedata.category(character)[0] in "LNPS" for character in text)


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]} …"


def refuse_unstable(
    tokenizer: PreTrainedTokenizerBase, config: PreTrainedConfig, sentences: Sequence[Sequence[str]]
) -> None:
    """Refuse a tokenizer that reads otherwise once it is saved beside a model and loaded again.

    By the configuration Transformers chooses the tokenizer's class.

    Raises:
        InputError: a text is read otherwise.
    """
    with tempfile.TemporaryDirectory() as folder:
        config.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        again = loaded_tokenizer(folder)
    if again.backend_tokenizer.to_str() == tokenizer.backend_tokenizer.to_str():
        return
    both = (token_ids(version, sentences) for version in (tokenizer, again))
    for words, before, after in zip(sentences, *both, strict=True):
        if not np.array_equal(before, after):
            raise InputError(
                f"the tokenizer of this {config.model_type} model reads the text '{_shortened(' '.join(words))}' "
                "otherwise once it was saved and loaded; choose another model, or repair its tokenizer_config.json"
            )


def _labels_written(source: str | Path) -> object:
    """The names of labels as a configuration has them in its file; None where it cannot be read."""
    with suppress(Exception):
        return PreTrainedConfig.get_config_dict(source)[0].get("id2label")
    return None


def cannot_load(source: str | Path, reason: Exception | str, key: str = "source") -> str:
    """What to tell a user when a hub id or folder gives no model or no tokenizer.

    Of a longer reason it tells the first line; ``key`` of ``models.<model>`` names the source.
    """
    if said := refused_by_hub(reason, source, f"models.<model>.{key}"):
        return f"model {source}: cannot be loaded ({said}"
    if isinstance(reason, AttributeError) and (said := listed_labels(source, _labels_written(source))):
        return said
    is_unreachable = isinstance(getattr(reason, "__cause__", None), LocalEntryNotFoundError)
    reason = first_line(reason)
    if is_unreachable:
        reason = f"the Hugging Face hub cannot be reached and its cache has no such files: {reason}"
    return (
        f"model {source}: cannot be loaded ({reason}). Place the files by hand: config.json, model.safetensors, "
        "tokenizer.json and tokenizer_config.json (or, in older models, vocab.txt, or vocab.json "
        f"and merges.txt), from its page on the hub, in a folder whose path you give as models.<model>.{key}; or copy "
        "the hub's cache from a machine that has the model, name its folder in the environment variable HF_HOME and "
        "set HF_HUB_OFFLINE=1"
    )
