"""Tokenizers with the files that published models have on the hub, learned from a few sentences.

``write_tokenizer(kind, folder, sentences)`` writes ``tokenizer.json`` and ``tokenizer_config.json``. The pipeline of
each kind (normaliser, pre-tokenizer, model, post-processor, flags of the special tokens, class that the configuration
names) is the published one; the vocabulary is small. What Transformers does with it, it does with the real one.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

Sentences = Sequence[Sequence[str]]
# Around two texts, by what stands around one, where that is not all but its first token once more.
PAIRS = {
    "<s> $A </s>": "<s> $A </s> </s> $B </s>",
    "$A <sep> <cls>": "$A <sep> $B:1 <sep>:1 <cls>:2",
    "$A </s>": "$A </s> $B </s>",
} | {f"{token} $A": f"{token} $A {token}:1 $B:1" for token in ("<s>", "</s>", "<bos>", "<|begin_of_text|>")}
VOCABULARY = 500
NO_LIMIT = 1000000000000000019884624838656  # int(1e30), which stands where nobody gave a limit
LLAMA3_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
    r"\s+(?!\S)|\s+"
)
QWEN2_SPLIT = LLAMA3_SPLIT.replace(r"\p{N}{1,3}", r"\p{N}")
BLOOM_SPLIT = r" ?[^(\s|[.,!?…。，、।۔،])]+"
BERT_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ROBERTA_TOKENS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")


@dataclass(frozen=True)
class Kind:
    """A kind of tokenizer.

    Attributes:
        model_type: a model that has it, written to ``config.json`` where there is none.
        pipeline: the sentences' texts to ``tokenizer.json``.
        configuration: ``tokenizer_config.json``.
    """

    model_type: str
    pipeline: Callable[[list[str]], Tokenizer]
    configuration: dict = field(default_factory=dict)


def write_tokenizer(kind: str, folder: Path, sentences: Sentences) -> Path:
    """Write the files of one of :data:`KINDS` to ``folder``; a ``config.json`` only where there is none."""
    wanted = KINDS[kind]
    folder.mkdir(parents=True, exist_ok=True)
    wanted.pipeline([" ".join(words) for words in sentences]).save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(wanted.configuration))
    if not (folder / "config.json").exists():
        (folder / "config.json").write_text(json.dumps({"model_type": wanted.model_type}))
    return folder


def _around(tokenizer: Tokenizer, single: str) -> processors.TemplateProcessing:
    """Special tokens around the text, such as ``[CLS] $A [SEP]``, and around two, as published models have them."""
    special = [part for part in dict.fromkeys(single.split()) if part != "$A"]
    return processors.TemplateProcessing(
        single=single,
        pair=PAIRS.get(single, f"{single} $B:1" + "".join(f" {token}:1" for token in special[1:])),
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in special],
    )


def _special(tokenizer: Tokenizer, tokens: Sequence[str], eats_space: Sequence[str] = ()) -> None:
    """Declare special tokens; a mask of byte-level vocabularies takes the space before it."""
    tokenizer.add_special_tokens([AddedToken(token, lstrip=token in eats_space, normalized=False) for token in tokens])


# WordPiece -----------------------------------------------------------------------------------------------------------


def _word_piece(texts: list[str], lowercase: bool, special: Sequence[str] = BERT_TOKENS) -> Tokenizer:
    """``special`` in the order pad, unk, cls, sep, mask."""

    def pipeline(vocabulary: dict[str, int] | None = None) -> Tokenizer:
        tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token=special[1]))
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        tokenizer.decoder = decoders.WordPiece()
        return tokenizer

    learned = pipeline()
    # Else the numbers of single characters differ from run to run (evenlight.models.tokenizers.learned_tokenizer).
    characters = sorted({c for text in texts for c in learned.normalizer.normalize_str(text) if not c.isspace()})
    first = [*special, *characters, *(f"##{character}" for character in characters)]
    learned.train_from_iterator(
        texts, trainers.WordPieceTrainer(vocab_size=VOCABULARY, special_tokens=first, show_progress=False)
    )
    tokenizer = pipeline(learned.get_vocab())
    _special(tokenizer, special)
    tokenizer.post_processor = _around(tokenizer, f"{special[2]} $A {special[3]}")
    return tokenizer


def _sentence_transformers(texts: list[str]) -> Tokenizer:
    """Such as all-MiniLM-L6-v2's: cuts texts off and fills them up, unless told otherwise."""
    tokenizer = _word_piece(texts, lowercase=True)
    tokenizer.enable_truncation(max_length=12)
    tokenizer.enable_padding(length=12, pad_token="[PAD]", pad_id=0)
    return tokenizer


# BPE of bytes --------------------------------------------------------------------------------------------------------


def _byte_level(
    texts: list[str],
    special: Sequence[str],
    before: Sequence[pre_tokenizers.PreTokenizer] = (),
    normalizer: normalizers.Normalizer | None = None,
    use_regex: bool = True,
    **bpe,
) -> Tokenizer:
    """GPT-2's, with other splits ``before`` the bytes; no space before the first word, as published."""
    tokenizer = Tokenizer(models.BPE(**bpe))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=use_regex)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*before, level]) if before else level
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=list(special),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
    return tokenizer


def _gpt2(texts: list[str]) -> Tokenizer:
    tokenizer = _byte_level(texts, ["<|endoftext|>"])
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer


def _roberta(texts: list[str]) -> Tokenizer:
    tokenizer = _byte_level(texts, ROBERTA_TOKENS)
    _special(tokenizer, ROBERTA_TOKENS, ["<mask>"])
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), True, False)
    return tokenizer


def _opt(texts: list[str]) -> Tokenizer:
    tokenizer = _byte_level(texts, ROBERTA_TOKENS[:4])
    tokenizer.post_processor = _around(tokenizer, "</s> $A")
    return tokenizer


def _deberta(texts: list[str]) -> Tokenizer:
    tokenizer = _byte_level(texts, BERT_TOKENS)
    _special(tokenizer, BERT_TOKENS, ["[MASK]"])
    tokenizer.post_processor = _around(tokenizer, "[CLS] $A [SEP]")
    return tokenizer


def _gpt_neox(texts: list[str]) -> Tokenizer:
    tokenizer = _byte_level(texts, ["<|endoftext|>", "<|padding|>"], normalizer=normalizers.NFC())
    # Runs of spaces are tokens of their own, for source code.
    tokenizer.add_tokens([AddedToken(" " * count, normalized=True) for count in range(24, 1, -1)])
    return tokenizer


def _modernbert(texts: list[str]) -> Tokenizer:
    tokenizer = _byte_level(texts, ["<|padding|>", "<|endoftext|>"], normalizer=normalizers.NFC())
    tokenizer.add_tokens([AddedToken(" " * count, normalized=True) for count in range(24, 1, -1)])
    _special(tokenizer, ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"], ["[MASK]"])
    tokenizer.post_processor = _around(tokenizer, "[CLS] $A [SEP]")
    return tokenizer


def _llama3(texts: list[str]) -> Tokenizer:
    special = ["<|begin_of_text|>", "<|end_of_text|>"]
    split = pre_tokenizers.Split(Regex(LLAMA3_SPLIT), "isolated")
    tokenizer = _byte_level(texts, special, [split], use_regex=False, ignore_merges=True)
    tokenizer.post_processor = processors.Sequence(
        [processors.ByteLevel(trim_offsets=True), _around(tokenizer, "<|begin_of_text|> $A")]
    )
    return tokenizer


def _qwen2(texts: list[str]) -> Tokenizer:
    split = pre_tokenizers.Split(Regex(QWEN2_SPLIT), "isolated")
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    tokenizer = _byte_level(texts, special, [split], normalizers.NFC(), use_regex=False)
    tokenizer.post_processor = processors.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)
    return tokenizer


def _bloom(texts: list[str]) -> Tokenizer:
    split = pre_tokenizers.Split(Regex(BLOOM_SPLIT), "isolated")
    tokenizer = _byte_level(texts, ["<unk>", "<s>", "</s>", "<pad>"], [split], use_regex=False)
    tokenizer.post_processor = processors.ByteLevel(add_prefix_space=True, trim_offsets=False, use_regex=False)
    return tokenizer


def _falcon(texts: list[str]) -> Tokenizer:
    """Punctuation is split off first, so that the space before it is a token of its own."""
    tokenizer = _byte_level(texts, ["<|endoftext|>"])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Punctuation("contiguous"),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
            pre_tokenizers.Digits(individual_digits=False),
            pre_tokenizers.Split(Regex("[0-9][0-9][0-9]"), "isolated"),
        ]
    )
    return tokenizer


# SentencePiece -------------------------------------------------------------------------------------------------------


def _pieces(texts: list[str], special: Sequence[str]) -> Tokenizer:
    """BPE over "▁" and characters, unknown ones as bytes; Llama's and Gemma's, apart from where "▁" comes from."""
    special = [*special, *(f"<0x{byte:02X}>" for byte in range(256))]
    learning = Tokenizer(models.BPE(unk_token="<unk>"))
    learning.pre_tokenizer = pre_tokenizers.Metaspace()
    learning.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=VOCABULARY + 256, special_tokens=special, show_progress=False)
    )
    learned = json.loads(learning.to_str())["model"]
    merges = [tuple(merge) for merge in learned["merges"]]
    model = models.BPE(learned["vocab"], merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    return Tokenizer(model)


def _llama2(texts: list[str]) -> Tokenizer:
    special = ["<unk>", "<s>", "</s>"]
    tokenizer = _pieces(texts, special)
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    _special(tokenizer, special)
    tokenizer.post_processor = _around(tokenizer, "<s> $A")
    return tokenizer


def _gemma(texts: list[str]) -> Tokenizer:
    special = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>"]
    tokenizer = _pieces(texts, special)
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    _special(tokenizer, special)
    tokenizer.post_processor = _around(tokenizer, "<bos> $A")
    return tokenizer


def _unigram(
    texts: list[str],
    special: Sequence[str],
    single: str,
    cleaning: Sequence[normalizers.Normalizer] = (),
    splits_first: bool = True,
) -> Tokenizer:
    """Pieces with "▁" before each word, the first one too."""
    tokenizer = Tokenizer(models.Unigram())
    nmt_nfkc = [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    tokenizer.normalizer = normalizers.Sequence([*cleaning, *nmt_nfkc])
    space = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.pre_tokenizer = (
        pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), space]) if splits_first else space
    )
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.train_from_iterator(
        texts,
        trainers.UnigramTrainer(
            vocab_size=VOCABULARY,
            special_tokens=list(special),
            unk_token="<unk>" if "<unk>" in special else "[UNK]",
            show_progress=False,
        ),
    )
    tokenizer.model = _in_one_order(tokenizer, len(special))
    _special(tokenizer, special, [token for token in special if token.strip("[]<>").lower() == "mask"])
    tokenizer.post_processor = _around(tokenizer, single)
    return tokenizer


def _in_one_order(tokenizer: Tokenizer, special: int) -> models.Unigram:
    """The model with its pieces by score and name: each training puts pieces of one score in another order."""
    state = json.loads(tokenizer.to_str())["model"]
    pieces = [(piece, round(score, 3)) for piece, score in state["vocab"]]
    ordered = pieces[:special] + sorted(pieces[special:], key=lambda entry: (-entry[1], entry[0]))
    return models.Unigram(ordered, state["unk_id"], state["byte_fallback"])


def _t5(texts: list[str]) -> Tokenizer:
    return _unigram(texts, ["<pad>", "</s>", "<unk>", *(f"<extra_id_{i}>" for i in range(100))], "$A </s>")


def _xlm_roberta(texts: list[str]) -> Tokenizer:
    return _unigram(texts, ROBERTA_TOKENS, "<s> $A </s>")


def _camembert(texts: list[str]) -> Tokenizer:
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    return _unigram(texts, special, "<s> $A </s>", [normalizers.Replace(Regex(r"[\n\r\t]"), " ")])


def _albert(texts: list[str], lowercase: bool = True) -> Tokenizer:
    quotes = [normalizers.Replace("``", '"'), normalizers.Replace("''", '"')]
    lower = [normalizers.NFKD(), normalizers.StripAccents(), *([normalizers.Lowercase()] if lowercase else [])]
    special = ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]
    return _unigram(texts, special, "[CLS] $A [SEP]", [*quotes, *lower])


def _xlnet(texts: list[str]) -> Tokenizer:
    quotes = [normalizers.Replace("``", '"'), normalizers.Replace("''", '"')]
    special = ["<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>", "<eod>", "<eop>"]
    return _unigram(texts, special, "$A <sep> <cls>", [*quotes, normalizers.NFKD(), normalizers.StripAccents()])


def _deberta_v3(texts: list[str]) -> Tokenizer:
    special = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"]
    cleaning = [normalizers.Strip(left=True, right=True)]
    return _unigram(texts, special, "[CLS] $A [SEP]", cleaning, splits_first=False)


# Others --------------------------------------------------------------------------------------------------------------


def _openai_gpt(texts: list[str]) -> Tokenizer:
    """BPE of characters that marks where a word ends, not where it begins."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.BPEDecoder("</w>")
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=["<unk>"], end_of_word_suffix="</w>", show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def _across_words(texts: list[str]) -> Tokenizer:
    """BPE that merges across spaces (SuperBPE): a token may be "of the"."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=["<unk>", "<pad>"], show_progress=False)
    )
    return tokenizer


def _named(*tokens: str) -> dict[str, str]:
    """The special tokens of ``tokenizer_config.json``, in the order pad, unk, cls, sep, mask."""
    return dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), tokens, strict=True))


def _of(name: str, model_max_length: int | None = None, **more) -> dict:
    """The configuration of a tokenizer of a class."""
    return {"tokenizer_class": name} | ({"model_max_length": model_max_length} if model_max_length else {}) | more


_BERT = _named(*BERT_TOKENS)
_ROBERTA = _named("<pad>", "<unk>", "<s>", "</s>", "<mask>") | {"bos_token": "<s>", "eos_token": "</s>"}
_ALBERT = _named("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")
_END = {"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>", "unk_token": "<|endoftext|>"}
_LLAMA3 = {"bos_token": "<|begin_of_text|>", "eos_token": "<|end_of_text|>"}
_LLAMA2 = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
_INPUTS = {"model_input_names": ["input_ids", "attention_mask"]}
_UNCASED, _CASED = ({"do_lower_case": lower, "model_max_length": 512} for lower in (True, False))
_FAST = "PreTrainedTokenizerFast"
_OPT = {"errors": "replace", "pad_token": "<pad>"} | dict.fromkeys(("unk_token", "bos_token", "eos_token"), "</s>")
_GEMMA = {"bos_token": "<bos>", "eos_token": "<eos>", "pad_token": "<pad>", "unk_token": "<unk>"}
_MARKS = {"add_bos_token": True, "add_eos_token": False}
_T5 = {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>", "extra_ids": 100}
_T5 |= {"additional_special_tokens": [f"<extra_id_{i}>" for i in range(100)]}
_FUNNEL = [f"<{name}>" for name in ("pad", "unk", "cls", "sep", "mask")]

KINDS = {
    "bert": Kind("bert", lambda texts: _word_piece(texts, True), _UNCASED),
    "bert_cased": Kind("bert", lambda texts: _word_piece(texts, False), _CASED),
    "sentence_transformers": Kind("bert", _sentence_transformers, _of("BertTokenizer", 512, max_length=12, **_BERT)),
    "funnel": Kind("funnel", lambda texts: _word_piece(texts, True, _FUNNEL), _UNCASED),
    "gpt2": Kind("gpt2", _gpt2, {"model_max_length": 1024}),
    "roberta": Kind("roberta", _roberta, {"model_max_length": 512}),
    "deberta": Kind("deberta", _deberta, {"do_lower_case": False, "vocab_type": "gpt2"}),
    "opt": Kind("opt", _opt, _of("GPT2Tokenizer", add_prefix_space=False, add_bos_token=True, **_OPT)),
    "phi": Kind("phi", _gpt2, _of("CodeGenTokenizer", 2048, **_END)),
    "gpt_neox": Kind("gpt_neox", _gpt_neox, _of("GPTNeoXTokenizer", add_prefix_space=False, **_END)),
    "modernbert": Kind("modernbert", _modernbert, _of(_FAST, 8192, **_BERT, **_INPUTS)),
    "llama3": Kind("llama", _llama3, _of(_FAST, 131072, **_LLAMA3, **_INPUTS)),
    "qwen2": Kind(
        "qwen2",
        _qwen2,
        _of("Qwen2Tokenizer", 131072, add_prefix_space=False, eos_token="<|im_end|>", pad_token="<|endoftext|>"),
    ),
    "bloom": Kind(
        "bloom",
        _bloom,
        _of("BloomTokenizerFast", pad_token="<pad>", padding_side="left", add_prefix_space=False, **_LLAMA2),
    ),
    "falcon": Kind("falcon", _falcon, _of(_FAST, 2048, eos_token="<|endoftext|>", **_INPUTS)),
    "llama2": Kind(
        "llama", _llama2, _of("LlamaTokenizer", NO_LIMIT, legacy=False, pad_token=None, **_MARKS, **_LLAMA2)
    ),
    "mistral": Kind("mistral", _llama2, _of("LlamaTokenizer", NO_LIMIT, legacy=True, **_MARKS, **_LLAMA2)),
    "phi3": Kind("phi3", _llama2, _of("LlamaTokenizer", 4096, legacy=False, padding_side="left", **_LLAMA2)),
    "gemma": Kind("gemma", _gemma, _of("GemmaTokenizer", NO_LIMIT, **_MARKS, **_GEMMA)),
    "t5": Kind("t5", _t5, _of("T5Tokenizer", 512, **_T5)),
    "xlm_roberta": Kind("xlm-roberta", _xlm_roberta, _of("XLMRobertaTokenizer", 512, **_ROBERTA)),
    "camembert": Kind("camembert", _camembert, _of("CamembertTokenizer", 512)),
    "albert": Kind("albert", _albert, _of("AlbertTokenizer", 512, **_ALBERT)),
    "fnet": Kind(
        "fnet",
        lambda texts: _albert(texts, lowercase=False),
        _of("FNetTokenizer", 512, model_input_names=["input_ids", "token_type_ids"], **_ALBERT),
    ),
    "xlnet": Kind("xlnet", _xlnet, _of("XLNetTokenizer", do_lower_case=False)),
    "deberta_v3": Kind("deberta-v2", _deberta_v3, _of("DebertaV2Tokenizer", split_by_punct=False, **_BERT)),
    "openai_gpt": Kind("openai-gpt", _openai_gpt, _of("OpenAIGPTTokenizer", unk_token="<unk>")),
    "across_words": Kind("llama", _across_words, _of(_FAST, unk_token="<unk>", pad_token="<pad>")),
}
