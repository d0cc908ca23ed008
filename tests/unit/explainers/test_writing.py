"""Answers that decoders write, against Transformers' own ``generate``, prompt by prompt."""

from dataclasses import replace
from functools import cache
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
import torch
from hub_tokenizers import write_tokenizer
from models_for_tests import WORDS
from transformers import AutoConfig, AutoModelForCausalLM, TemperatureLogitsWarper, TopPLogitsWarper

from evenlight.core.errors import InputError
from evenlight.core.seeds import generator_for
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.writing import CUT_OFF, STOPPED, Asked, Writer, drawn_tokens
from evenlight.explainers import Explainer
from evenlight.explainers.answering import Question
from evenlight.explainers.families.local_generation.writing import Generator
from evenlight.explainers.follow_ups import ASKED, CONTRIBUTIONS, ROWS_OF, Followed
from evenlight.models import Architecture
from evenlight.models.decoder import load_decoder
from evenlight.models.prompted import prompted_classifier

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


def generated(network, row: np.ndarray, ends: list[int]) -> list[int]:
    """What Transformers writes behind one prompt, without the token that ends it."""
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


def conversations(prompts: list[str]) -> list[list[dict]]:
    return [[{"role": "user", "content": prompt}] for prompt in prompts]


def rows_of(decoder) -> list[np.ndarray]:
    return decoder.rows(decoder.rendered(conversations(PROMPTS)))


def tokens_of(written) -> list[list[int]]:
    return [list(answer.token_id) for answer in written]


@pytest.mark.parametrize("name", [*DECODERS, *RECURRENT])
def test_greedy_answers_are_those_of_transformers(name, folder_of, decoder_of):
    decoder = decoder_of(name)
    assert decoder.keeps == (name in DECODERS)
    rows, ends = rows_of(decoder), sorted(decoder.ends)
    network = AutoModelForCausalLM.from_pretrained(folder_of(name))
    expected = [generated(network, row, ends) for row in rows]
    assert len({tuple(answer) for answer in expected}) > 1
    together = Writer(decoder, MOST).written([Asked(row) for row in rows])
    alone = [Writer(decoder, MOST).written([Asked(row)])[0] for row in rows]
    assert tokens_of(together) == tokens_of(alone) == expected
    # Without what all rows begin with, and without what is kept at all.
    apart = replace(decoder, keeps=False)
    assert tokens_of(Writer(apart, MOST).written([Asked(row) for row in rows])) == expected


def drawn(decoder, rows, wanted, **options) -> dict[tuple[int, int], list[int]]:
    """Answers by the number of the prompt and of the draw, those that are wanted, in this order."""
    asked = [Asked(rows[prompt], generator_for(prompt, draw).random(MOST)) for prompt, draw in wanted]
    return dict(zip(wanted, tokens_of(Writer(decoder, MOST, 0.9, 0.95, **options).written(asked)), strict=True))


@pytest.mark.parametrize("name", ["gpt2", "gemma2"])
def test_a_drawn_answer_depends_on_its_prompt_and_its_numbers_alone(name, decoder_of):
    decoder = decoder_of(name)
    rows = rows_of(decoder)
    wanted = [(prompt, draw) for prompt in range(len(rows)) for draw in range(3)]
    together = drawn(decoder, rows, wanted)
    assert len({tuple(answer) for answer in together.values()}) > len(rows)
    assert drawn(decoder, rows, wanted[::-1]) == together
    assert drawn(decoder, rows, wanted, tokens_per_batch=1) == together
    assert drawn(decoder, rows, [wanted[4]]) == {wanted[4]: together[wanted[4]]}
    assert drawn(decoder, rows, wanted[::2]) == {each: together[each] for each in wanted[::2]}


def test_each_token_is_drawn_by_its_own_number(decoder_of):
    """Against whole rows, read again for each token, and a search in sums of probabilities by NumPy."""
    decoder = decoder_of("gemma2")
    rows = rows_of(decoder)[:2]
    for prompt, answer in drawn(decoder, rows, [(0, 0), (1, 0)]).items():
        row = rows[prompt[0]].tolist()
        for token, chance in zip(answer, generator_for(*prompt).random(MOST), strict=False):
            with torch.no_grad():
                logits = decoder.network(input_ids=torch.tensor([row])).logits
            logits = logits[0, -1].double().numpy() / 0.9
            share = np.exp(logits - np.logaddexp.reduce(logits))
            order = np.argsort(-share, kind="stable")
            share[order[np.cumsum(share[order]) - share[order] >= 0.95]] = 0
            assert token == np.searchsorted(np.cumsum(share), chance * share.sum(), side="right")
            row.append(token)


def test_the_most_probable_tokens_are_those_of_transformers():
    torch.manual_seed(1)
    logits = 3 * torch.randn(50, 40)
    warped = TopPLogitsWarper(0.7)(None, TemperatureLogitsWarper(1.7)(None, logits))
    allowed = [set(torch.isfinite(row).nonzero()[:, 0].tolist()) for row in warped]
    chances = torch.linspace(0, 1 - 2**-53, 400, dtype=torch.float64)
    found = [drawn_tokens(row[None].expand(400, -1), chances, 1.7, 0.7).tolist() for row in logits]
    assert [set(tokens) for tokens in found] == allowed
    assert drawn_tokens(logits[:1], torch.ones(1, dtype=torch.float64), 1.7, 0.7).item() == max(allowed[0])


def test_an_answer_ends_by_itself_at_a_text_or_at_its_length(decoder_of):
    decoder = decoder_of("llama")
    rows = rows_of(decoder)
    whole = Writer(decoder, MOST).written([Asked(row) for row in rows])
    assert {answer.finish for answer in whole} == {CUT_OFF}
    assert [len(answer.token_id) for answer in whole] == [MOST] * len(rows)
    # The end at once of one, after some tokens of another.
    first, fourth = whole[0].token_id[0], whole[1].token_id[3]
    ended = replace(decoder)
    ended.__dict__["ends"] = decoder.ends | {first, fourth}
    answers = Writer(ended, MOST).written([Asked(row) for row in rows])
    assert (answers[0].token_id, answers[0].text, answers[0].finish) == ((), "", STOPPED)
    assert answers[1].token_id == whole[1].token_id[: whole[1].token_id.index(fourth)]
    piece = whole[2].text[5:8]
    stopped = Writer(decoder, MOST, stop=[piece]).written([Asked(row) for row in rows])
    assert stopped[2].text == whole[2].text[: whole[2].text.index(piece)]
    assert stopped[2].finish == STOPPED
    assert all(piece not in answer.text for answer in stopped)


# Questions -----------------------------------------------------------------------------------------------------------

CLASSES = {"sea": ["He", "the harbour"], "land": ["brother", "won't"]}


def generator_of(decoder, seed: int = 0, **settings) -> Generator:
    return Generator(
        decoder, Explainer.parse({"method": "local_generation", "max_tokens": MOST} | settings), seed, "mine"
    )


QUESTIONS = [Question(f"q{number}", {"text": text}) for number, text in enumerate(["He returns .", "won't", "one"])]


@pytest.mark.parametrize("name", ["gpt2", "qwen2"])
def test_label_words_decide_as_in_a_model_with_a_prompt(name, folder_of, decoder_of):
    template = "They say : {text}\nWho returns before dawn ?"
    special = {"pad": "<|endoftext|>" if name == "gpt2" else None, "mask": None}
    settings = {"source": str(folder_of(name)), "revision": None, "language_model": "auto", "content_free": []}
    settings |= {"template": f"{template} {{label}}", "label_words": CLASSES, "special_tokens": special}
    texts = [question.fields["text"].split() for question in QUESTIONS]
    classifier, _ = prompted_classifier(
        Architecture.parse({"architecture": "prompted"} | settings | {"max_tokens": 64}), list(CLASSES), texts
    )
    rows = [
        np.array(classifier.tokenizer(template.replace("{text}", question.fields["text"]))["input_ids"])
        for question in QUESTIONS
    ]
    expected = Evaluator(classifier).probabilities(rows)
    generator = generator_of(decoder_of(name), template=template, decision={"words": CLASSES})
    found = np.array([list(each.values()) for each in generator.probabilities(QUESTIONS)])
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    assert expected[:, 0].min() < 0.99 * expected[:, 0].max()
    decisions = generator.answers([(question, 0) for question in QUESTIONS])["decision"].to_pylist()
    assert decisions == [list(CLASSES)[number] for number in expected.argmax(1)]


def test_an_answer_says_how_it_was_made_and_more_draws_change_none(decoder_of):
    generator = generator_of(decoder_of("gpt2"), template="They say : {text}", answers=3)
    draws = [(question, draw) for question in QUESTIONS for draw in range(3)]
    rows = generator.answers(draws).to_pylist()
    assert [(row["item_id"], row["draw"]) for row in rows] == [(question.item_id, draw) for question, draw in draws]
    assert {row["temperature"] for row in rows} == {1.0}
    assert len({row["seed"] for row in rows}) == 9
    assert len({row["prompt"] for row in rows}) == 3
    assert all(row["tokens"] <= MOST and row["seconds"] > 0 and row["model"] == "mine" for row in rows)
    again = generator.answers(draws[4:5]).to_pylist()[0]
    assert again | {"seconds": 0} == rows[4] | {"seconds": 0}
    other = generator_of(decoder_of("gpt2"), seed=1, template="They say : {text}").answers(draws)["text"].to_pylist()
    assert other != [row["text"] for row in rows]
    # One prompt, several answers.
    assert len({row["text"] for row in rows[:3]}) > 1


def test_what_follows_from_answers_is_written_as_any_answer(decoder_of):
    words = {"good": ["one"], "bad": ["dawn"], "unknown": ["harbour"]}
    generator = generator_of(decoder_of("gpt2"), template="They say : {text}", decision={"words": words})
    those = [Followed(question, draw, "good", "one .") for question in QUESTIONS[:2] for draw in range(2)]
    rows = generator.follow_ups(those, ASKED).to_pylist()
    abouts = sorted(about for asked in ASKED for about in ROWS_OF[asked])
    named = [(each.question.item_id, each.draw, about) for each in those for about in abouts]
    assert [(row["item_id"], row["draw"], row["about"]) for row in rows] == named
    # An edit is what the model writes to its template, and is asked about as any text is.
    edit = next(row for row in rows if row["about"] == "counterfactual" and row["draw"] == 1)
    template = generator.entry.follow_ups.counterfactual
    template = template.replace("{decision}", "one").replace("{other}", "dawn")
    alone = generator_of(decoder_of("gpt2"), template=template)
    written = alone.answers([(Question("q0/1/edit", QUESTIONS[0].fields), 0)]).to_pylist()[0]
    assert edit["expected"] == ["bad"]
    assert edit["edit"] == written["text"].strip()
    about_it = generator.answers([(Question("q0/1/edited", {"text": edit["edit"]}), 0)]).to_pylist()[0]
    for name in ("decision", "text", "prompt", "seed"):
        assert edit[name] == about_it[name]


def test_contributions_are_shapley_values_by_the_network_itself(folder_of, decoder_of):
    """All orders of three words, by whole rows through Transformers, in the place of subsets and of what is kept."""
    words, question = {"good": ["one"], "bad": ["dawn"]}, Question("q", {"text": "He returns won't"})
    generator = generator_of(decoder_of("gpt2"), template="They say : {text} Why", decision={"words": words})
    tokenizer = decoder_of("gpt2").tokenizer
    network = AutoModelForCausalLM.from_pretrained(folder_of("gpt2"))
    answer, each = " one brother before", Followed(question, 0, "good", " one brother before")

    def values(shown: frozenset[int]) -> np.ndarray:
        told = [word if place in shown else "..." for place, word in enumerate(question.fields["text"].split())]
        prompt = tokenizer(f"They say : {' '.join(told)} Why")["input_ids"]

        def logs(said: str) -> list[float]:
            further = tokenizer(said, add_special_tokens=False)["input_ids"]
            with torch.no_grad():
                every = network(torch.tensor([prompt + further])).logits[0].double().log_softmax(-1)
            return [every[len(prompt) - 1 + place, token].item() for place, token in enumerate(further)]

        good, bad = sum(logs(" one")), sum(logs(" dawn"))
        probability = np.exp(logs(answer))
        behind = np.log(probability / (1 - probability))[len(logs(" one")) :]
        return np.array([good - bad, *behind])

    added = {place: [] for place in range(3)}
    for order in permutations(range(3)):
        for turn, place in enumerate(order):
            added[place].append(values(frozenset(order[: turn + 1])) - values(frozenset(order[:turn])))
    found = np.array([np.mean(added[place], axis=0) for place in range(3)])
    parts = [each / np.abs(each).sum(0) for each in (found[:, :1], found[:, 1:])]
    [row] = generator.follow_ups([each], [CONTRIBUTIONS]).to_pylist()
    assert found.shape[1] > 2
    np.testing.assert_allclose(row["of_decision"], parts[0].mean(1), atol=2e-3)
    np.testing.assert_allclose(row["of_reason"], parts[1].mean(1), atol=2e-3)
    # An answer that is its decision alone has no reason.
    [silent] = generator.follow_ups([replace(each, text=" one")], [CONTRIBUTIONS]).to_pylist()
    assert silent["of_reason"] is None
    assert silent["of_decision"] == pytest.approx(row["of_decision"])
    # One that was drawn with another decision than the most probable one begins with that, which is no reason either.
    [drawn] = generator.follow_ups([replace(each, text=" dawn")], [CONTRIBUTIONS]).to_pylist()
    assert drawn["of_reason"] is None
    # A longer word that begins as a decision does is part of the reason.
    assert generator._reason(replace(each, text=" ones brother"))[1] == 0
    assert generator._reason(replace(each, text=" one , brother"))[1] > 0


def test_a_prompt_stands_in_the_chat_template_that_there_is(decoder_of):
    decoder = decoder_of("qwen2")
    decoder.tokenizer.chat_template = CHAT
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why ?"}]
    try:
        chatting, plain = replace(decoder, chats=True), replace(decoder, chats=False)
        assert chatting.rendered([messages]) == ["<system> Be brief.\n<user> Why ?\n<assistant>\n"]
        assert plain.rendered([messages]) == ["Be brief.\n\nWhy ?"]
        [row] = chatting.rows(chatting.rendered([messages]))
        expected = decoder.tokenizer.apply_chat_template(messages, add_generation_prompt=True)["input_ids"]
        assert row.tolist() == expected
        end = decoder.tokenizer.eos_token
        closing = "<|im_end|>" if "<|im_end|>" in decoder.tokenizer.all_special_tokens else end
        decoder.tokenizer.chat_template = "{% for m in messages %}{{ m['content'] }}" + closing + "\n{% endfor %}"
        assert decoder.tokenizer.convert_tokens_to_ids(closing) in replace(decoder, chats=True).ends
        decoder.tokenizer.chat_template = "{{ raise_exception('no system here') }}"
        with pytest.raises(InputError, match=r"no system here.*template"):
            replace(decoder, chats=True).rendered([messages])
    finally:
        decoder.tokenizer.chat_template = None


def test_what_no_model_can_do_is_refused_before_any_answer(decoder_of, tmp_path):
    generator = generator_of(decoder_of("gpt2"), template="They say : {text}", max_tokens=100)
    long = Question("long", {"text": "one harbour " * 30})
    with pytest.raises(InputError, match=r"max_tokens is 100.*item long.*more than the 128"):
        generator.prompts([*QUESTIONS, long])
    # Positions without end.
    assert generator_of(decoder_of("bloom"), max_tokens=10**6).prompts([long])
    # A vocabulary in which the end of the prompt and the word have no border.
    glued = replace(decoder_of("gpt2"))
    glued.__dict__["rows"] = lambda rendered: [np.array([len(text)]) for text in rendered]
    asking = generator_of(glued, template="{text}", decision={"words": {"a": ["dawn"], "b": ["sea"]}})
    with pytest.raises(InputError, match=r"decision\.words: the tokenizer reads 'dawn' together"):
        asking.probabilities(QUESTIONS)
    with pytest.raises(InputError, match=r"answers: found 2 with temperature 0"):
        generator_of(decoder_of("gpt2"), answers=2, temperature=0)
    folder = tmp_path / "masked"
    torch.manual_seed(2)
    config = AutoConfig.for_model("bert", **SIZES)
    AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    write_tokenizer("bert", folder, WORDS)
    with pytest.raises(InputError, match=r"sees what follows.*causal"):
        load_decoder(str(folder))


@pytest.mark.slow
def test_half_precision_writes_nearly_the_same(folder_of, decoder_of):
    decoder, half = decoder_of("llama"), load_decoder(str(folder_of("llama")), precision="bfloat16")
    assert {layer.weight.dtype for layer in half.network.modules() if "Fast" in type(layer).__name__} == {
        torch.bfloat16
    }
    both = [each.read([row])[1][0, -1].log_softmax(-1) for each in (decoder, half) for row in rows_of(decoder)[:1]]
    assert 0 < (both[0] - both[1]).abs().max() < 0.5
    rows = rows_of(half)
    together = tokens_of(Writer(half, MOST).written([Asked(row) for row in rows]))
    assert all(len(answer) == MOST for answer in together)
