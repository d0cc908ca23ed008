"""How texts become tokens, with tokenizers as published models have them: the ids, the words, what is refused."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from hub_tokenizers import KINDS, write_tokenizer
from hypothesis import given
from hypothesis import strategies as st
from models_for_tests import WORDS, by_hand, byte_level_tokenizer, items_of, new_model, spread_weights
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertConfig,
    CanineConfig,
    CanineForSequenceClassification,
    GPT2Config,
    PreTrainedTokenizerFast,
    RobertaConfig,
)

from evenlight.core.errors import InputError
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import encoded
from evenlight.models.building import refuse_beyond_limit
from evenlight.models.classifier import Classifier
from evenlight.models.tokenizers import learned_tokenizer, loaded_tokenizer, read_words, special_token_id, token_ids
from evenlight.texts.predictions import SPECIAL
from evenlight.texts.splitting import text_columns
from evenlight.texts.words import Words, joined_text, single_texts

SENTENCE = ["She", "is", "also", "representative", "of", "creativity", "in", "1984", ",", "isn't", "she", "?"]
SENTENCES = [*WORDS, SENTENCE]
# Words of no training text: other scripts, characters that become several, a space inside, names of special tokens.
HARD = ["café", "東京", "½", "New York", "don't", "3.14", "😀", "[MASK]", "<s>", "naïve", "É", "ﬁn", "…", "She"]
TINY = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
READABLE = [kind for kind in KINDS if kind != "across_words"]


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    """A folder for each kind."""
    root = tmp_path_factory.mktemp("tokenizers")
    return {kind: write_tokenizer(kind, root / kind, SENTENCES) for kind in KINDS}


def tokens_of(tokenizer, reading):
    return tokenizer.convert_ids_to_tokens(reading.token_id.tolist())


# What is read ---------------------------------------------------------------------------------------------------------

# Texts as people write them: marks at words, brackets, quotation, dots, links, other scripts, white space of all kinds.
RAW = [
    'She failed, again (twice): "I won\'t."',
    "  Two spaces before,  two within, and a line\nbreak\tor two\r\n",
    "Wait... what?!! That's 3.5 % of 1,000 -- see http://a.org/b?c=d, e.g. #tag @who",
    "我恨雨。彼は「はい」と言った。",
    "Café—naïve; “quoted”, l'été… 😀👍🏽!",
    "x",
    "\u3000全角\u00a0space\u200bof no width ",
]


def raw(text: str) -> Words:
    return Words(**text_columns(text))


@pytest.mark.parametrize("kind", READABLE)
def test_a_text_goes_into_the_model_as_it_came(kind, folders):
    """Kinds of published tokenizers, loaded without us and called on the raw text."""
    theirs, ours = AutoTokenizer.from_pretrained(folders[kind]), loaded_tokenizer(folders[kind])
    expected = [theirs(text)["input_ids"] for text in RAW]
    encodings = read_words(ours, list(map(raw, RAW)))
    assert [reading.token_id.tolist() for reading in encodings] == expected
    assert [row.tolist() for row in token_ids(ours, list(map(raw, RAW)))] == expected
    for text, reading in zip(RAW, encodings, strict=True):
        words, inside = raw(text), reading.word_id[reading.word_id != SPECIAL]
        assert (np.diff(inside) >= 0).all()
        assert set(inside) <= set(range(len(words)))
        assert all(
            piece in words[word] for word, piece in zip(reading.word_id, reading.token_text, strict=True) if word >= 0
        )
        # Letters and figures have tokens of their own; only signs, and words of scripts without spaces, are joined.
        ours_alone = {number for number, word in enumerate(words) if word.isascii() and word.isalnum()}
        assert ours_alone <= set(inside)


@pytest.mark.parametrize("kind", ["bert", "roberta", "deberta_v3", "t5"])
def test_two_parts_go_into_the_model_as_they_came(kind, folders):
    theirs, ours = AutoTokenizer.from_pretrained(folders[kind]), loaded_tokenizer(folders[kind])
    both = list(zip(RAW, reversed(RAW), strict=True))
    texts = [Words(raw(one) + raw(two), raw(one).spaces + raw(two).spaces) for one, two in both]
    parts = [[0] * len(raw(one)) + [1] * len(raw(two)) for one, two in both]
    encodings = read_words(ours, texts, parts=parts)
    assert [reading.token_id.tolist() for reading in encodings] == [theirs(*pair)["input_ids"] for pair in both]
    for (one, two), reading, words in zip(both, encodings, texts, strict=True):
        _, *apart = (read_words(ours, [raw(text)])[0].word_id for text in ("", one, two))
        first, second = (ids[ids != SPECIAL] for ids in apart)
        expected = [*first, *(second + len(raw(one)))]
        assert reading.word_id[reading.word_id != SPECIAL].tolist() == expected
        assert max(expected) < len(words)


def test_a_vocabulary_is_learned_of_either_part_by_itself():
    both = raw("It rains"), raw("nobody sleeps.")
    text = Words(both[0] + both[1], both[0].spaces + both[1].spaces)
    alone = single_texts([text], [[0, 0, 1, 1, 1]])
    assert list(map(joined_text, alone)) == ["It rains", "nobody sleeps."]
    vocabulary = learned_tokenizer(alone * 20, 200, 32).get_vocab()
    assert {"it", "rains", "nobody", "sleeps", "."} <= set(vocabulary)
    assert not any("rainsnobody".startswith(token) for token in vocabulary if len(token) > len("rains"))
    with pytest.raises(ValueError, match=r"5 words have 7 spaces"):
        joined_text(text)


def test_a_token_of_words_without_a_space_belongs_to_the_first():
    tokenizer = by_pieces("),", "▁b", cleaning=normalizers.NFC())
    [reading] = read_words(tokenizer, [Words(["a", ")", ",", "b"], ["", "", "", " ", ""])])
    assert tokens_of(tokenizer, reading) == ["<unk>", "),", "▁b"]
    assert reading.word_id.tolist() == [0, 1, 3]
    assert reading.token_text == ("a", ")", "b")


@pytest.mark.parametrize("kind", READABLE)
def test_words_have_the_ids_of_transformers_and_tokens_of_their_own_in_order(kind, folders):
    """A second tokenizer, loaded without us and called on the text."""
    theirs, tokenizer = AutoTokenizer.from_pretrained(folders[kind]), loaded_tokenizer(folders[kind])
    sentences = [*SENTENCES, HARD]
    encodings = read_words(tokenizer, sentences)
    expected = [theirs(" ".join(words), padding=False, truncation=False)["input_ids"] for words in sentences]
    assert [reading.token_id.tolist() for reading in encodings] == expected
    assert [row.tolist() for row in token_ids(tokenizer, sentences)] == expected
    for words, reading in zip(sentences, encodings, strict=True):
        inside = reading.word_id[reading.word_id != SPECIAL]
        assert (np.diff(inside) >= 0).all()
        assert set(inside) == set(range(len(words)))
        # What tokens stand for lies in their word, and no letter of the word is left out.
        for index, word in enumerate(words):
            pieces = [text for own, text in zip(reading.word_id, reading.token_text, strict=True) if own == index]
            assert all(piece in word for piece in pieces)
            assert set("".join(pieces)) >= set(word) - {" "}
        special = [text for own, text in zip(reading.word_id, reading.token_text, strict=True) if own == SPECIAL]
        assert not any(special)


@pytest.mark.parametrize(
    "kind", ["gpt2", "roberta", "modernbert", "llama3", "qwen2", "bloom", "falcon", "gemma", "llama2"]
)
def test_tokens_of_a_word_spell_it(kind, folders):
    """A second way to the words, without offsets: these vocabularies give the text back letter by letter."""
    tokenizer = loaded_tokenizer(folders[kind])
    words = [word for word in HARD if word not in ("[MASK]", "<s>")]
    [reading] = read_words(tokenizer, [words])
    spelt = [
        tokenizer.backend_tokenizer.decode(reading.token_id[reading.word_id == index].tolist()).strip()
        for index in range(len(words))
    ]
    assert spelt == words


def test_a_token_of_white_space_belongs_to_the_word_behind_it(folders):
    tokenizer = loaded_tokenizer(folders["llama3"])
    [reading] = read_words(tokenizer, [["in", "1984", ","]])
    assert tokens_of(tokenizer, reading) == ["<|begin_of_text|>", "in", "Ġ", "198", "4", "Ġ,"]
    assert reading.word_id.tolist() == [SPECIAL, 0, 1, 1, 1, 2]
    assert reading.token_text == ("", "in", "", "198", "4", ",")


def test_nothing_is_cut_off_or_filled_up(folders):
    """Such a tokenizer.json says to."""
    tokenizer = loaded_tokenizer(folders["sentence_transformers"])
    assert len(tokenizer.backend_tokenizer.encode("a").ids) == 12
    tokenizer = loaded_tokenizer(folders["sentence_transformers"])
    lengths = [len(reading.token_id) for reading in read_words(tokenizer, SENTENCES)]
    assert max(lengths) > 12 > min(lengths)
    assert [len(row) for row in token_ids(tokenizer, SENTENCES)] == lengths


LETTERS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf", "Zs", "Zl", "Zp", "M"]), min_size=1, max_size=6)


@pytest.mark.parametrize("kind", ["bert", "roberta", "llama3", "gemma", "llama2", "t5", "deberta_v3", "falcon"])
@given(words=st.lists(LETTERS, min_size=1, max_size=8))
def test_any_words(kind, folders, words):
    """Ids of the text; tokens in the order of the words; a word's piece is in the word."""
    tokenizer = loaded_once(kind, folders)
    [reading] = read_words(tokenizer, [words])
    assert reading.token_id.tolist() == tokenizer(" ".join(words))["input_ids"]
    inside = reading.word_id != SPECIAL
    assert (np.diff(reading.word_id[inside]) >= 0).all()
    for word, text in zip(reading.word_id[inside], np.array(reading.token_text, dtype=object)[inside], strict=True):
        assert text in words[word]


def loaded_once(kind, folders, kept={}):  # noqa: B006 (so many examples would load it as often)
    return kept.setdefault(kind, loaded_tokenizer(folders[kind]))


def test_a_word_that_is_dropped_has_no_token(folders):
    tokenizer = loaded_tokenizer(folders["bert"])
    [reading] = read_words(tokenizer, [["\u200b", "He", "\u0301", "waits"]])
    assert reading.word_id.tolist() == [SPECIAL, 1, 3, SPECIAL]


def by_pieces(*pieces: str, cleaning: normalizers.Normalizer, split=None) -> PreTrainedTokenizerFast:
    """BPE of "▁" and letters that merges each of ``pieces`` from left to right."""
    letters = sorted(set("".join(pieces)))
    merges = list(dict.fromkeys((piece[:end], piece[end]) for piece in pieces for end in range(1, len(piece))))
    known = list(dict.fromkeys(["<unk>", *letters, *(first + last for first, last in merges)]))
    tokenizer = Tokenizer(models.BPE({piece: i for i, piece in enumerate(known)}, merges, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Sequence([cleaning, normalizers.Replace(" ", "▁")])
    if split is not None:
        tokenizer.pre_tokenizer = split
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>")


def test_a_token_over_a_word_that_cannot_be_seen_belongs_to_the_other():
    """Where the cleaning drops a character, the spaces around it may become one token, and so may what is behind."""
    tokenizer = by_pieces("▁▁b", cleaning=normalizers.Replace("\u200b", ""))
    words = ["a", "\u200b", "b"]
    [reading] = read_words(tokenizer, [words])
    assert tokenizer(" ".join(words), return_offsets_mapping=True)["offset_mapping"] == [(0, 1), (1, 5)]
    assert reading.word_id.tolist() == [0, 2]
    assert reading.token_text == ("a", "b")


def test_a_token_with_the_space_behind_it_belongs_to_the_word_before():
    """The other way round than most: "a ", "b"."""
    split = pre_tokenizers.Split("▁", "merged_with_previous")
    tokenizer = by_pieces("a▁", "b▁", cleaning=normalizers.NFC(), split=split)
    words = ["a", "b", "a"]
    [reading] = read_words(tokenizer, [words])
    assert tokenizer(" ".join(words), return_offsets_mapping=True)["offset_mapping"] == [(0, 2), (2, 4), (4, 5)]
    assert reading.word_id.tolist() == [0, 1, 2]
    assert reading.token_text == ("a", "b", "a")


def test_a_space_at_the_end_belongs_to_the_last_word(folders):
    """RoBERTa's tokenizer says of it that it has no characters, and lies behind the text."""
    tokenizer = loaded_tokenizer(folders["roberta"])
    words = ["She", "is "]
    [reading] = read_words(tokenizer, [words])
    assert tokens_of(tokenizer, reading) == ["<s>", "She", "Ġis", "Ġ", "</s>"]
    assert tokenizer(" ".join(words), return_offsets_mapping=True)["offset_mapping"][3] == (7, 7)
    assert reading.word_id.tolist() == [SPECIAL, 0, 1, 1, SPECIAL]
    assert reading.token_text == ("", "She", "is", "", "")


@pytest.mark.parametrize("kind", ["roberta", "modernbert", "llama3", "gemma", "deberta_v3"])
def test_probabilities_are_those_of_transformers_on_the_text(kind, folders):
    """Their tokenizer and network, called on the text, beside our way from words over embeddings."""
    theirs = AutoTokenizer.from_pretrained(folders[kind])
    sizes = TINY | {"max_position_embeddings": 64, "num_key_value_heads": 2, "head_dim": 8, "pad_token_id": 1}
    config = AutoConfig.for_model(
        KINDS[kind].model_type, **sizes, vocab_size=len(theirs), bos_token_id=0, eos_token_id=2
    )
    torch.manual_seed(0)
    network = AutoModelForSequenceClassification.from_config(config).eval().requires_grad_(False)
    spread_weights(network, 0.3)
    pad = theirs.convert_ids_to_tokens(1)
    classifier = Classifier(network, loaded_tokenizer(folders[kind], special_tokens={"pad": pad}), 64)
    expected = [network(**theirs(" ".join(words), return_tensors="pt")).logits.softmax(-1) for words in SENTENCES]
    rows = [sentence.token_id for sentence in encoded(classifier, items_of(SENTENCES), [0] * len(SENTENCES))]
    found = Evaluator(classifier, 200).probabilities(rows)
    assert found[:, 0].std() > 0.01
    np.testing.assert_allclose(found, torch.cat(expected), atol=2e-6)


# What is refused ------------------------------------------------------------------------------------------------------


def test_a_token_of_several_words_is_refused_with_its_place(folders):
    tokenizer = loaded_tokenizer(folders["across_words"])
    with pytest.raises(
        InputError, match=r"item first: .*one token, 'She is also.*', of the words 'She', 'is'.*another model"
    ):
        read_words(tokenizer, [SENTENCE], ["first"])
    with pytest.raises(InputError, match=r"text 'She is also .*one token"):
        read_words(tokenizer, [SENTENCE])


def test_a_text_that_cannot_be_read_is_refused_in_words():
    """WordPiece without a token for what it does not know."""
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordPiece({"a": 0}, unk_token="[UNK]")))
    with pytest.raises(InputError, match=r"cannot read.*\(.*\[UNK\].*\); choose another model"):
        read_words(tokenizer, [["b"]])


def settings_for(folder: Path, **changes) -> dict:
    return {
        "architecture": "pretrained",
        "source": str(folder),
        "revision": None,
        "training": {"start": "random", "fresh": []},
        "special_tokens": {},
        "max_tokens": 48,
    } | changes


def write_model(config, kind: str, folder: Path) -> Path:
    """A model of this configuration with random weights and a tokenizer of this kind."""
    write_tokenizer(kind, folder, SENTENCES)
    config.vocab_size = 1000
    AutoModelForSequenceClassification.from_config(config).save_pretrained(folder)
    return folder


def test_a_tokenizer_without_a_fast_version_is_refused_in_words(tmp_path):
    config = CanineConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, num_hash_buckets=64
    )
    CanineForSequenceClassification(config).save_pretrained(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "CanineTokenizer"}))
    with pytest.raises(InputError, match=r"tokenizer \S+: CanineTokenizer.*no fast"):
        new_model(settings_for(tmp_path), SENTENCES, 2, seed=0)


@pytest.mark.parametrize("content", ['{"version": "1.0", "model": {"type": "Nothing"}}', "version https://git-lfs"])
def test_a_damaged_tokenizer_is_refused_in_words(content, folders, tmp_path):
    shutil.copytree(folders["llama3"], tmp_path / "model")
    (tmp_path / "model" / "tokenizer.json").write_text(content)
    with pytest.raises(InputError, match=r"model \S+: cannot be loaded \(") as refusal:
        loaded_tokenizer(tmp_path / "model")
    assert "\n" not in str(refusal.value)


# Before and after saving ----------------------------------------------------------------------------------------------


def saved(tokenizer, config, folder: Path):
    """The same tokenizer as a trained model's folder gives it."""
    config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return loaded_tokenizer(folder)


@pytest.mark.parametrize("kind", READABLE)
def test_reading_is_the_same_after_saving(kind, folders, tmp_path):
    """Beside the model's own configuration and beside that of another one, which takes its tokenizer."""
    tokenizer = loaded_tokenizer(folders[kind])
    own = AutoTokenizer.from_pretrained(folders[kind])
    before = [own(" ".join(words))["input_ids"] for words in [*SENTENCES, HARD]]
    shutil.copytree(folders[kind], tmp_path / "own")
    tokenizer.save_pretrained(tmp_path / "own")
    for again in (loaded_tokenizer(tmp_path / "own"), saved(tokenizer, BertConfig(), tmp_path / "other")):
        assert [row.tolist() for row in token_ids(again, [*SENTENCES, HARD])] == before


def inner_token(tokenizer) -> str:
    """An ordinary token of two letters, that stands inside of words."""
    return next(
        token for token in sorted(tokenizer.get_vocab()) if token.isalpha() and token.islower() and len(token) == 2
    )


@pytest.mark.parametrize("kind", ["gemma", "llama3", "gpt2", "t5", "openai_gpt", "bert"])
def test_an_ordinary_token_as_mask_or_pad_splits_no_word(kind, folders, tmp_path):
    plain = loaded_tokenizer(folders[kind])
    token = inner_token(plain)
    words = [f"a{token}s", token, f"w{token}", "She"]
    expected = token_ids(plain, [words])[0].tolist()
    named = loaded_tokenizer(folders[kind], special_tokens={"mask": token, "pad": token})
    again = saved(named, BertConfig(), tmp_path)
    for tokenizer in (named, again, saved(again, BertConfig(), tmp_path / "twice")):
        assert token_ids(tokenizer, [words])[0].tolist() == expected
        roles = {special_token_id(tokenizer, role) for role in ("mask", "pad")}
        assert roles == {plain.get_vocab()[token]} != {special_token_id(plain, "mask")}


def test_a_tokenizer_that_reads_otherwise_after_saving_is_refused(tmp_path, monkeypatch):
    """Such as one whose class makes its pipeline again from the vocabulary, and not as its tokenizer.json has it."""
    source = write_model(GPT2Config(n_embd=16, n_layer=1, n_head=2), "gpt2", tmp_path / "source")
    load = loaded_tokenizer

    def altered(folder, *arguments, **options):
        tokenizer = load(folder, *arguments, **options)
        if str(folder) == str(source):
            tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
        return tokenizer

    monkeypatch.setattr("evenlight.models.tokenizers.loaded_tokenizer", altered)
    with pytest.raises(InputError, match=r"tokenizer .*'Mara leaves .* otherwise"):
        new_model(settings_for(source, special_tokens={"pad": "<|endoftext|>"}), SENTENCES, 2, seed=0)


# Limits ---------------------------------------------------------------------------------------------------------------

TABLE = TINY | {"max_position_embeddings": 64, "pad_token_id": 1}
# A configuration, the tokenizer's own limit, and the longest text that the model reads, None where any length will do.
LIMITS = {
    "roberta": ("roberta", TABLE, None, 62),
    "roberta, padding with its fifth token": ("roberta", TABLE | {"pad_token_id": 4}, None, 59),
    "roberta, whose tokenizer knows": ("roberta", TABLE, 62, 62),
    "roberta, whose tokenizer wants less": ("roberta", TABLE, 40, 40),
    "bert": ("bert", TABLE, None, 64),
    "gpt2": ("gpt2", {"n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": 64}, None, 64),
    "opt, whose table is two rows longer": ("opt", TABLE | {"ffn_dim": 16, "word_embed_proj_dim": 16}, None, 64),
    "deberta v3, with relative positions": (
        "deberta-v2",
        TABLE | {"relative_attention": True, "position_biased_input": False, "pos_att_type": ["p2c", "c2p"]},
        None,
        None,
    ),
    "bloom, without positions": ("bloom", {"hidden_size": 16, "n_layer": 1, "n_head": 2}, None, None),
    "xlnet, which says -1": ("xlnet", {"d_model": 16, "n_layer": 1, "n_head": 2, "d_inner": 16}, None, None),
}


@pytest.mark.parametrize("name", LIMITS)
def test_the_longest_text_works_and_one_more_is_refused(name):
    model_type, sizes, of_tokenizer, limit = LIMITS[name]
    config = AutoConfig.for_model(model_type, **sizes, vocab_size=400)
    network = AutoModelForSequenceClassification.from_config(config).eval()
    tokenizer = byte_level_tokenizer(pad_token="<|endoftext|>")
    if of_tokenizer is not None:
        tokenizer.model_max_length = of_tokenizer
    longest = 700 if limit is None else limit
    classifier = Classifier(network, tokenizer, longest)
    refuse_beyond_limit(network, classifier.tokenizer, classifier.max_tokens)
    token_id, mask = classifier.padded([np.full(longest, 20)])
    assert classifier.logits(classifier.embed(token_id), mask).shape == (1, 2)
    for more in () if limit is None else (limit + 1, limit + 2, limit + 7, 4000):
        said = rf"max_tokens is {more}.*{model_type} model.*at most {limit}.*lower max_tokens"
        with pytest.raises(InputError, match=said):
            refuse_beyond_limit(network, tokenizer, more)


FACTORS = {"short_factor": [1.0] * 4, "long_factor": [3.0] * 4}
ROTARY = {
    "longrope": (
        "phi3",
        {"original_max_position_embeddings": 40, "rope_parameters": {"rope_type": "longrope"} | FACTORS},
        40,
    ),
    "dynamic": ("llama", {"rope_parameters": {"rope_type": "dynamic", "factor": 2.0}}, 64),
}


@pytest.mark.parametrize("rope_type", ROTARY)
def test_texts_by_which_positions_of_others_change_are_refused(rope_type):
    """Beside a text of the longest length that is allowed, the answer is that of Transformers for the text alone."""
    model_type, sizes, limit = ROTARY[rope_type]
    torch.manual_seed(0)
    config = AutoConfig.for_model(model_type, **TABLE | {"initializer_range": 0.5} | sizes, vocab_size=400)
    config.pad_token_id = 0
    network = AutoModelForSequenceClassification.from_config(config).eval()
    classifier = Classifier(network, byte_level_tokenizer(pad_token="<|endoftext|>"), limit)
    refuse_beyond_limit(network, classifier.tokenizer, classifier.max_tokens)
    short = np.arange(20, 50)

    def distance(longer: int) -> float:
        token_id, mask = classifier.padded([short, np.arange(50, 50 + longer)])
        with torch.no_grad():
            together = classifier.logits(classifier.embed(token_id), mask)[0]
            alone = network(input_ids=torch.tensor(short[None])).logits[0]
        return float((together - alone).abs().max())

    assert distance(limit) < 1e-5
    assert distance(limit + 1) > 1e-3
    said = rf"max_tokens is {limit + 1}, .*{model_type} model \(rope_type: {rope_type}\).*lower max_tokens to {limit}"
    with pytest.raises(InputError, match=said):
        refuse_beyond_limit(network, classifier.tokenizer, limit + 1)


def test_a_network_that_reads_nothing_is_not_said_to_have_a_limit():
    def rule(embedding, mask):
        raise TypeError("this network takes other arguments")

    classifier = by_hand({"sea": (1.0,)}, rule)
    refuse_beyond_limit(classifier.network, classifier.tokenizer, classifier.max_tokens)


def test_a_limit_is_said_before_training(tmp_path):
    config = RobertaConfig(**TABLE)
    folder = write_model(config, "roberta", tmp_path / "model")
    (folder / "tokenizer_config.json").write_text("{}")
    with pytest.raises(InputError, match=r"max_tokens is 63.*roberta model.*at most 62"):
        new_model(settings_for(folder, max_tokens=63), SENTENCES, 2, seed=0)
    assert new_model(settings_for(folder, max_tokens=62), SENTENCES, 2, seed=0).max_tokens == 62
