"""The evaluator: batches, order, memory; questions in lockstep; sentences."""

import itertools
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from combinations import spread
from hypothesis import given, settings
from hypothesis import strategies as st
from models_for_tests import (
    NETWORKS,
    WORDS,
    additive,
    by_hand,
    context_of,
    items_of,
    own_probabilities,
    probability_logits,
    sentences_of,
    tiny_classifier,
    tiny_tokenizer,
)
from wording import says

from evenlight.core.errors import InputError
from evenlight.engine.evaluator import PADDING_ON_CPU, Evaluator, answer_in_lockstep
from evenlight.engine.sentences import tokenize
from evenlight.explainers import Explainer, explain
from evenlight.explainers.attribution import Attribution, attribution_table
from evenlight.explainers.hiding import reduced_rows
from evenlight.models.classifier import Classifier
from evenlight.models.model_inputs import ModelInputs
from evenlight.texts.rows import BITS, Copies, Rows, hidden_in

TOKENIZER = tiny_tokenizer()


def rows_of(classifier):
    return [sentence.token_id for sentence in sentences_of(classifier)]


# Batches -------------------------------------------------------------------------------------------------------


@spread("architecture, precision", NETWORKS, [(torch.float32, 1e-6), (torch.float64, 1e-12)])
def test_batch_of_one_equals_batch_of_many(architecture, precision):
    """In double precision too: what is left is rounding, not a little attention to padding."""
    dtype, tolerance = precision
    classifier = tiny_classifier(architecture, classes=3, dtype=dtype)
    rows = rows_of(classifier)

    def logits(some):
        token_id, mask = classifier.padded(some)
        return classifier.logits(classifier.embed(token_id), mask)

    together, alone = logits(rows), torch.cat([logits([row]) for row in rows])
    assert together.std(0).min() > 1e-3
    torch.testing.assert_close(together, alone, rtol=tolerance, atol=tolerance)

    probability = Evaluator(classifier, 10_000).probabilities(rows)
    np.testing.assert_allclose(probability.sum(1), 1, atol=1e-6)
    for tokens in (1, 60, 200):
        np.testing.assert_allclose(Evaluator(classifier, tokens).probabilities(rows), probability, atol=1e-6)


@pytest.mark.parametrize("architecture", NETWORKS)
def test_probabilities_are_what_the_network_says_of_the_ids(architecture):
    """Asked by Transformers' own way, ids alone and no padding."""
    classifier = tiny_classifier(architecture)
    rows = rows_of(classifier)
    expected = own_probabilities(classifier.network, rows)
    np.testing.assert_allclose(Evaluator(classifier, 100).probabilities(rows), expected, atol=1e-6)


def test_a_hidden_token_is_not_taken_for_padding():
    """GPT-2 as Transformers has it reads the last token that is not the pad token, hidden or not."""
    classifier = tiny_classifier("gpt2")
    row = rows_of(classifier)[0].copy()
    row[-2:] = classifier.special_token("mask")
    assert classifier.special_token("mask") == classifier.special_token("pad")
    shorter = row[:-2]
    hidden, cut = Evaluator(classifier, 100).probabilities([row, shorter])
    assert np.abs(hidden - cut).max() > 1e-3


@pytest.mark.parametrize("architecture", NETWORKS)
def test_a_row_without_tokens_is_one_pad_token(architecture):
    """What is left of a text without special tokens when all of it is removed."""
    classifier = tiny_classifier(architecture)
    nothing, pad = np.array([], dtype=np.int64), np.array([classifier.special_token("pad")])
    long = rows_of(classifier)[-1]
    evaluator = Evaluator(classifier, 1000)
    expected = evaluator.probabilities([pad])
    np.testing.assert_allclose(evaluator.probabilities([nothing]), expected, atol=1e-6)
    np.testing.assert_allclose(evaluator.probabilities([nothing, long])[:1], expected, atol=1e-6)


LENGTHS = st.lists(st.integers(1, 30), max_size=40)


def packed(lengths: list[int], limit: int, padding: int, rows: int = 1) -> list[list[int]]:
    """The lengths in each batch of an evaluator with these limits."""
    device = torch.device("cuda")
    evaluator = Evaluator(SimpleNamespace(model_inputs=ModelInputs(), device=device), limit)
    evaluator.padding_per_batch = padding
    batches = list(evaluator.batches(lengths, rows))
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    return [[lengths[index] for index in batch] for batch in batches]


@given(LENGTHS, st.integers(1, 100), st.integers(0, 40), st.integers(1, 3))
def test_batches_hold_every_row_once_keep_both_limits_and_are_full(lengths, limit, padding, rows):
    """The first row of the next batch would not have fitted in, or would have had the others padded too much."""
    batches = packed(lengths, limit, padding, rows)
    for batch in batches:
        tokens = len(batch) * max(batch)
        assert tokens * rows <= limit or len(batch) == 1
        assert (tokens - sum(batch)) * rows <= padding
    for batch, following in itertools.pairwise(batches):
        tokens = (len(batch) + 1) * following[0]
        assert tokens * rows > limit or (tokens - sum([*batch, following[0]])) * rows > padding


def test_padding_costs_less_than_another_batch():
    # Of rows of 3 and 9 tokens; on a graphics card only what fits in counts.
    lengths = [3] * 4 + [9] * 2
    assert packed(lengths, 100, 24) == [lengths]
    assert packed(lengths, 100, 23) == [[3] * 4, [9] * 2]
    classifier = tiny_classifier("bert")
    assert Evaluator(classifier).padding_per_batch == PADDING_ON_CPU // 16**2
    card = SimpleNamespace(model_inputs=ModelInputs(), device=torch.device("cuda"))
    assert Evaluator(card).padding_per_batch == Evaluator(card).tokens_per_batch


def test_tokens_per_batch_is_kept_on_the_way_to_the_network():
    classifier = additive({"sea": 0.1, "ship": 0.2})
    rows = [np.arange(first, first + length) % 7 for first, length in enumerate((3, 9, 1, 4, 9, 2, 5, 20, 1))]
    Evaluator(classifier, 18).probabilities(rows)
    shapes = classifier.network.batch_sizes
    assert sum(rows for rows, _ in shapes) == 9
    assert all(rows * tokens <= 18 or rows == 1 for rows, tokens in shapes)
    assert max(tokens for _, tokens in shapes) == 20


def test_order_is_restored_and_duplicates_are_computed_once():
    classifier = additive({"sea": 0.01, "ship": 0.2})
    sea, ship = classifier.tokenizer.convert_tokens_to_ids(["sea", "ship"])
    rows = [np.array(row) for row in ([ship], [sea, sea, sea], [sea], [ship], [ship, sea], [sea], [ship])]
    evaluator = Evaluator(classifier, 4)
    answer = evaluator.probabilities(rows)
    np.testing.assert_allclose(answer[:, 1], [0.7, 0.53, 0.51, 0.7, 0.71, 0.51, 0.7], atol=1e-6)
    np.testing.assert_allclose(answer.sum(1), 1, atol=1e-6)
    assert evaluator.rows_computed == sum(count for count, _ in classifier.network.batch_sizes) == 4
    evaluator.probabilities(rows[:1])
    assert evaluator.rows_computed == 5
    assert evaluator.probabilities([]).shape == (0, 2)


# Memory --------------------------------------------------------------------------------------------------------


def with_memory_for(tokens: int, worth: dict[str, float], error=torch.OutOfMemoryError) -> Classifier:
    """The additive network of the helpers on a device that holds ``tokens`` tokens."""

    def rule(embedding, mask):
        if mask.numel() > tokens:
            raise error("out of memory")
        return probability_logits(0.5 + (embedding[..., 0] * mask).sum(-1))

    return by_hand({word: (value,) for word, value in worth.items()}, rule)


@pytest.mark.parametrize("error", [torch.OutOfMemoryError, MemoryError])
@pytest.mark.parametrize("memory", [4, 8, 32])
def test_too_large_batches_are_halved_which_is_remembered(memory, error):
    worth = {f"w{index}": index / 1000 for index in range(64)}
    classifier = with_memory_for(memory, worth, error)
    ids = classifier.tokenizer.convert_tokens_to_ids(list(worth))
    rows = [np.array([token]) for token in ids]
    evaluator = Evaluator(classifier, 64)
    np.testing.assert_allclose(
        evaluator.probabilities(rows)[:, 1], [0.5 + value for value in worth.values()], atol=1e-6
    )
    # As much as fits, not less: every halving of a batch counts once, although all of its parts may fail.
    assert evaluator.tokens_per_batch == memory
    classifier.network.batch_sizes.clear()
    evaluator.probabilities(rows)
    assert classifier.network.batch_sizes == [(memory, 1)] * (64 // memory)


def test_what_fits_nowhere_and_other_errors_of_the_network_are_not_hidden():
    classifier = with_memory_for(2, {"sea": 0.1})
    with pytest.raises(torch.OutOfMemoryError):
        Evaluator(classifier, 64).probabilities([np.array([1, 1, 1]), np.array([1])])

    def rule(embedding, mask):
        raise RuntimeError("a bug")

    classifier = by_hand({"sea": (1.0,)}, rule)
    with pytest.raises(RuntimeError, match="a bug"):
        Evaluator(classifier, 64).probabilities([np.array([1]), np.array([2])])
    assert len(classifier.network.batch_sizes) == 1


# Lockstep ------------------------------------------------------------------------------------------------------


def counting(classifier, rounds, name):
    """A question that asks for the word ``sea`` once, twice, … and says what it was told."""
    sea = classifier.tokenizer.convert_tokens_to_ids("sea")
    heard = []
    for length in range(1, rounds + 1):
        answer = yield [np.array([sea] * length)]
        heard.append(round(answer[0, 1], 5))
    return name, heard


def told(rounds):
    return [round(0.5 + 0.01 * length, 5) for length in range(1, rounds + 1)]


@pytest.mark.parametrize("at_once", [1, 3, 100])
def test_results_come_in_order_however_many_rounds_a_question_has(at_once):
    evaluator = Evaluator(additive({"sea": 0.01}), 100)
    rounds = [3, 0, 1, 5, 0, 2, 1]
    questions = (counting(evaluator.classifier, count, name) for name, count in enumerate(rounds))
    results = list(answer_in_lockstep(questions, evaluator, at_once))
    assert results == [(name, told(count)) for name, count in enumerate(rounds)]


def test_open_questions_share_their_batches():
    evaluator = Evaluator(additive({"sea": 0.01}), 1000)
    list(answer_in_lockstep((counting(evaluator.classifier, count, 0) for count in (3, 1, 2)), evaluator))
    # The rows of a round are equal, and all questions take part until they are done.
    assert evaluator.classifier.network.batch_sizes == [(1, 1), (1, 2), (1, 3)]


def test_no_more_questions_are_open_than_allowed():
    evaluator = Evaluator(additive({"sea": 0.01}), 1000)
    begun = []

    def questions():
        for name in range(6):
            begun.append(name)
            yield counting(evaluator.classifier, 2, name)

    results = answer_in_lockstep(questions(), evaluator, at_once=2)
    next(results)
    assert begun == [0, 1]
    assert len(list(results)) == 5


def test_a_question_may_yield_nothing():
    def question(sea):
        nothing = yield []
        some = yield [np.array([sea])]
        nothing_again = yield []
        return nothing.shape, some.shape, nothing_again.shape

    evaluator = Evaluator(additive({"sea": 0.01}), 100)
    sea = evaluator.classifier.tokenizer.convert_tokens_to_ids("sea")
    both = [question(sea), counting(evaluator.classifier, 2, "other")]
    assert list(answer_in_lockstep(both, evaluator)) == [((0, 2), (1, 2), (0, 2)), ("other", told(2))]
    assert list(answer_in_lockstep([], evaluator)) == []


def calls_of(task, apart: tuple[str, ...] = ()) -> int:
    """How many functions a task calls, those of C that a loop would call among them; none in files named ``apart``."""
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event in ("call", "c_call") and not frame.f_code.co_filename.endswith(apart)

    sys.setprofile(count)
    try:
        task()
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("replacement", [3, None])
def test_no_row_is_handled_by_itself_between_an_explainer_and_the_network(replacement):
    classifier = additive({"sea": 0.01, "ship": 0.02})
    sentence = sentences_of(classifier, [["sea", "ship"] * 10])[0]
    shown = np.random.default_rng(0).random((10_000, len(sentence.token_id))) < 0.5

    def question(rows: int):
        answer = yield reduced_rows(sentence, np.arange(len(sentence.token_id)), shown[:rows], replacement)
        return answer.sum()

    few, many = (
        calls_of(lambda rows=rows: list(answer_in_lockstep([question(rows)], Evaluator(classifier, 2**20))))
        for rows in (100, 10_000)
    )
    assert many < few + 50


@pytest.mark.parametrize(
    "method",
    [
        {"method": "lime", "samples": 10_000},
        {"method": "kernel_shap", "evaluations": 10_000},
        {"method": "shapley_sampling", "permutations": 700},
    ],
    ids=lambda method: method["method"],
)
def test_an_explainer_draws_asks_and_solves_for_all_rows_together(method):
    classifier = additive({"sea": 0.01, "ship": 0.02})
    assert calls_per_row(method, classifier, [["sea", "ship"] * 10], rows=9_000) < 0.5


def test_occlusion_hides_all_tokens_together():
    classifier = replace(additive({"sea": 1e-4}), max_tokens=2000)
    assert calls_per_row({"method": "occlusion"}, classifier, [["sea"] * 1000], rows=1_000, apart=("players.py",)) < 0.9


def test_partition_shap_asks_for_the_rows_of_all_texts_together():
    """Its tasks are pushed and popped one by one, and in each round a text asks once."""
    classifier = additive({word: 1e-4 * place for place, word in enumerate("abcdefghijklmnopqrst")})
    apart = ("owen.py", "token_tree.py")
    words = [list("abcdefghijklmnopqrst")] * 20
    assert calls_per_row({"method": "partition_shap"}, classifier, words, rows=7_000, apart=apart) < 8


def calls_per_row(method: dict, classifier: Classifier, words: list[list[str]], rows: int, apart: tuple[str, ...] = ()):
    """How many functions are called for each of at least so many rows of an explainer."""
    methods, sentences = Explainer.parse_all({"it": method}), sentences_of(classifier, words)

    def explained():
        found = explain(methods, sentences, context_of(classifier, 2**20))["it"]
        return sum(one.forward_rows for one in found.attributions)

    asked = explained()  # imports what it needs
    assert asked > rows
    return calls_of(explained, apart) / asked


@spread("lengths, marked", ([3, 3], [1, 9, 17], [70, 2]), (False, True))
def test_copies_of_several_texts_are_the_rows_of_each(lengths, marked):
    random = np.random.default_rng(0)
    texts = [random.integers(5, 9, size=length) | (int(marked) << BITS) for length in lengths]
    shown = [random.random((4, length)) < 0.5 for length in lengths]
    numbers = [[sum(1 << place for place in np.flatnonzero(copy).tolist()) for copy in of_text] for of_text in shown]
    parts = [Copies(text, number, 3) for text, number in zip(texts, numbers, strict=True)]
    each = [hidden_in(text, ~of_text, 3) for text, of_text in zip(texts, shown, strict=True)]
    expected = [row.tolist() for rows in each for row in rows]
    assert [row.tolist() for row in Rows.joined(parts)] == expected
    assert [row.tolist() for row in Rows.joined([*parts, Rows.of([[7]])])] == [*expected, [7]]
    assert [part.tokens for part in parts] == [4 * length for length in lengths]


@given(st.lists(st.lists(st.integers(0, 3), max_size=4)))
def test_rows_as_a_matrix_are_what_they_were_one_by_one(rows):
    found = Rows.of(rows)
    assert [row.tolist() for row in found] == rows
    first, kind = found.distinct()
    assert [rows[index] for index in first] == [list(row) for row in dict.fromkeys(map(tuple, rows))]
    assert [rows[index] for index in first[kind]] == rows
    both = Rows.joined([found, Rows.of([[7] * 9]), Rows.of([])])
    assert [row.tolist() for row in both] == [*rows, [7] * 9]
    assert [row.tolist() for row in both.taken(np.arange(len(rows)))] == rows


def test_rows_that_share_a_number_by_chance_are_told_apart(monkeypatch):
    monkeypatch.setattr("evenlight.texts.rows._factors", lambda tokens: np.ones(1 + tokens, dtype=np.uint64))
    first, kind = Rows.of([[1, 2], [2, 1], [1, 2]]).distinct()
    assert (first.tolist(), kind.tolist()) == ([0, 1], [0, 1, 0])


# Sentences -----------------------------------------------------------------------------------------------------


def test_too_long_sentences_are_refused_with_count_item_and_remedy():
    classifier = Classifier(tiny_classifier("bert").network, tiny_tokenizer(), max_tokens=27)
    lengths = [len(row) for row in rows_of(tiny_classifier("bert"))]
    count, worst = sum(length > 27 for length in lengths), int(np.argmax(lengths))
    assert count > 1
    found = rf"{count} of {len(WORDS)} sentences.*max_tokens = 27 \(item item{worst} has {max(lengths)} tokens\)"
    with pytest.raises(InputError, match=rf"{found}; raise max_tokens.*long_items.*'windows' or 'drop'"):
        tokenize(classifier, items_of(WORDS), [0] * len(WORDS))


def test_too_long_sentences_are_dropped_with_their_pair(capsys):
    words = [["sea"], ["a"] * 20, ["sea"], ["ship"], ["a"] * 30, ["a"] * 40]
    classifier = replace(tiny_classifier("bert"), max_tokens=10)
    items = items_of(words)
    kept = tokenize(classifier, items, [0, 1, 0, 1, 0, 1], items["pair_id"])
    assert [(one.item_id, one.target) for one in kept] == [("item2", 0), ("item3", 1)]
    assert capsys.readouterr().out == says("left out 2 pairs", "more than 10 tokens")
    # A sentence of exactly the limit is kept, and where every pair is longer nothing is left to drop.
    exact = replace(classifier, max_tokens=len(kept[0].token_id))
    assert len(sentences_of(exact, [["sea"]])) == 1
    assert capsys.readouterr().out == ""
    with pytest.raises(InputError, match="every pair"):
        tokenize(replace(classifier, max_tokens=3), items_of(WORDS), [0] * len(WORDS), items_of(WORDS)["pair_id"])


def test_tokenize_takes_items_in_their_order_whatever_their_index():
    items = items_of([["sea"], ["ship", "sea"]])
    items["words"] = [np.array(words, dtype=object) for words in items["words"]]
    items = items.set_index(pd.Index([7, 3])).iloc[::-1]
    found = tokenize(tiny_classifier("bert"), items, pd.Series([1, 0], index=[9, 9]))
    assert [(one.item_id, one.words, one.target) for one in found] == [
        ("item1", ("ship", "sea"), 1),
        ("item0", ("sea",), 0),
    ]


@pytest.mark.parametrize("words", [["sea", "\u200b", "ship"], ["sea", "ship", "\u200b"], ["\u200b"]])
def test_words_without_tokens_sum_to_zero(words):
    """A word of nothing but a control character, which the tokenizer drops."""
    [sentence] = sentences_of(tiny_classifier("bert"), [words])
    empty = words.index("\u200b")
    assert empty not in sentence.word_id
    sums = sentence.word_sums(np.ones(len(sentence.token_id)))
    assert len(sums) == len(words)
    assert sums[empty] == 0
    assert all(sums[index] > 0 for index, word in enumerate(words) if word != "\u200b")


@settings(max_examples=25, deadline=None)
@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Zs"]), min_size=1), min_size=1, max_size=6))
def test_word_sums_add_up_for_any_words(words):
    classifier = Classifier(tiny_classifier("bert").network, TOKENIZER, 10_000)
    [sentence] = sentences_of(classifier, [words])
    score = np.random.default_rng(0).normal(size=len(sentence.token_id))
    sums = sentence.word_sums(score)
    assert sums.shape == (len(words),)
    assert sums.sum() == pytest.approx(score[~sentence.is_special].sum())


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_score_that_is_not_finite_is_refused(value):
    sentence = sentences_of(tiny_classifier("bert"))[0]
    score = np.zeros(len(sentence.token_id))
    score[1] = value
    with pytest.raises(InputError, match=rf"score of item {sentence.item_id}.*finite"):
        attribution_table([sentence], [Attribution(score, 1)])
