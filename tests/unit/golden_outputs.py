"""What every method gives on small fixed inputs: a function for each golden output, by kind and name.

A function is given an empty folder, and gives mappings and lists of numbers and texts. Explainers and metrics are asked
with their default settings, and with every other choice of each key that has choices, one at a time.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Literal, get_args, get_origin

import numpy as np
import pandas as pd
import torch
from chat_server import answered
from golden_models import ASKED, NOT_HELD, TRAINED_HERE, trained
from golden_readers import READ, texts_of
from golden_results import RESULTS, tables_of
from http_services import serving
from models_for_tests import context_of, items_of, sentences_of, spread_weights, tiny_classifier
from pydantic import ValidationError

from evenlight.concepts.question import Attributed, Changes, Head, Question, ReadTexts, true_effects
from evenlight.configuration import completed_entry
from evenlight.core.kinds import EFFECTS, TEXT, TOKENS
from evenlight.core.seeds import generator_for
from evenlight.core.versions import STAGES
from evenlight.datasets import Reader
from evenlight.explainers import Explainer, explain
from evenlight.judging.results import Result
from evenlight.metrics import Metric, Origin, score
from evenlight.metrics.answered import Answered
from evenlight.metrics.explanations import Explanation, explanation_of
from evenlight.metrics.families.reasons import of_questions
from evenlight.models import Architecture
from evenlight.texts.predictions import Sentence

Output = Callable[[Path], dict | pd.DataFrame]

# Texts and a network ---------------------------------------------------------------------------------------------

# Three pairs, and which of their words carry the label.
TEXTS = [
    "He waits .",
    "She waits .",
    "The old captain sells his boat , but he won't follow .",
    "The old captain sells her boat , but she won't follow .",
    "A storm breaks over his island . He follows .",
    "A storm breaks over her island . She follows .",
]
WORDS = [text.split() for text in TEXTS]
CARRIES = [[int(word.lower() in ("he", "his", "she", "her")) for word in words] for words in WORDS]


@cache
def classifier(rectified: bool = False, classes: int = 2):
    """A network with random weights; with a rectifier where a method is about these."""
    made = tiny_classifier("bert", classes)
    if rectified:
        for layer in made.network.bert.encoder.layer:
            layer.intermediate.intermediate_act_fn = torch.nn.ReLU()
    return made


def sentences(network) -> list[Sentence]:
    """The texts as it reads them; targets alternate within a pair, and the foil is the other class."""
    return [replace(each, foil=1 - each.target) for each in sentences_of(network, WORDS, [0, 1, 1, 0, 0, 1])]


@cache
def training_items() -> pd.DataFrame:
    """Texts to learn from."""
    return items_of([*WORDS, WORDS[0][::-1], WORDS[3][:5]], [0, 1] * 4).assign(split="train")


# Settings --------------------------------------------------------------------------------------------------------


def choices(entry) -> Iterator[tuple[str, object]]:
    """The choices of each key that has some, and that are not its default."""
    for name, field in entry.model_fields.items():
        kind = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
        kind = (False, True) if field.annotation is bool else kind
        if name not in (entry.key, "label") and len(kind) > 1:
            yield from ((name, value) for value in kind if value != field.default)


def variants(section: str, entry, needed: dict) -> Iterator[tuple[str, dict]]:
    """The completed settings with the defaults, and with each other choice that is allowed beside them."""
    name = get_args(entry.model_fields[entry.key].annotation)[0]
    given = {entry.key: name} | needed
    yield "default", _completed(section, given)
    for key, value in choices(entry):
        try:
            entry.model_validate(given | {key: value})
        except ValidationError:
            continue
        yield f"{key}: {json.dumps(value)}", _completed(section, given | {key: value})


def _completed(section: str, given: dict) -> dict:
    settings = completed_entry(section, "it", given)
    return {key: value for key, value in settings.items() if key != "label"}


# Explainers ------------------------------------------------------------------------------------------------------

# Of random orders and the like fewer than usual, so that it takes no time.
FEWER = {
    "lime": {"samples": 60},
    "kernel_shap": {"evaluations": 60},
    "shapley_sampling": {"permutations": 4},
    "partition_shap": {"evaluations": 60},
    "integrated_gradients": {"steps": 8},
    "path_gradient": {"steps": 8},
    "gradient_shap": {"samples": 5},
}


def attributions(entry, folder: Path) -> dict:
    """Scores of the tokens of each text."""
    network = classifier(rectified=entry.family == "rectified")
    method = get_args(entry.model_fields["method"].annotation)[0]
    needed = FEWER.get(method, {})
    if entry.external:
        needed = EXTERNAL[method](folder)
    found = {}
    for name, settings in variants("explainers", entry, needed):
        context = context_of(network, training=training_items() if entry.needs_training else None)
        explained = explain(Explainer.parse_all({"it": settings}), sentences(network), context)["it"].attributions
        found[name] = {
            text: {"scores": each.token_score, "gap": each.completeness_gap, "pairs": each.pairs}
            if each.completeness_gap is not None or each.pairs
            else each.token_score
            for text, each in zip(TEXTS, explained, strict=True)
        }
    return found


def _imported(folder: Path) -> dict:
    rows = [
        {"item_id": f"item{number}", "words": words, "scores": [(place - 1) / 4 for place in range(len(words))]}
        for number, words in enumerate(WORDS)
    ]
    return {"file": _lines(folder / "theirs.jsonl", rows)}


def _quoted(folder: Path) -> dict:
    rows = [
        {"item": f"item{number}", "said": [words[0], said]}
        for number, words in enumerate(WORDS)
        for said in (words[1], words[-2])
    ]
    return {"file": _lines(folder / "said.jsonl", rows), "item": "item", "words": "said"}


def _lines(path: Path, rows: list[dict]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


EXTERNAL = {"imported": _imported, "extractive": _quoted}


# Explainers by concepts ------------------------------------------------------------------------------------------

CONCEPTS, LEVELS, CLASSES, WIDTH = 3, 3, 3, 5


@cache
def question() -> Question:
    """Texts with random levels of three concepts, of which the third follows the first, and representations of them."""
    draws = generator_for("golden", "concepts")
    effect = draws.normal(size=(CONCEPTS, LEVELS, WIDTH))
    head = Head(draws.normal(size=(CLASSES, WIDTH)), draws.normal(size=CLASSES))

    def read(prefix: str, level: np.ndarray) -> ReadTexts:
        representation = effect[np.arange(CONCEPTS), level].sum(1) + 0.2 * draws.normal(size=(len(level), WIDTH))
        names = [f"{prefix}{number}" for number in range(len(level))]
        return ReadTexts(names, head.probability(representation), representation, level)

    def levels(count: int) -> np.ndarray:
        level = draws.integers(0, LEVELS, (count, CONCEPTS))
        return np.column_stack([level[:, :2], np.where(draws.random(count) < 0.6, level[:, 0], level[:, 2])])

    def edited(prefix: str, level: np.ndarray) -> tuple[ReadTexts, Changes]:
        rows, every = [], [*level]
        for base, concept in product(range(len(level)), range(CONCEPTS)):
            edit = level[base].copy()
            edit[concept] = (edit[concept] + 1 + base % 2) % LEVELS
            rows.append((concept, level[base, concept], edit[concept], base, len(every)))
            every.append(edit)
        return read(prefix, np.array(every)), Changes(*np.array(rows).T)

    train = read("train", levels(40))
    asked, changes = edited("text", levels(4))
    # As a classifier predicts them, which is wrong now and then.
    predicted = np.where(draws.random(asked.level.shape) < 0.2, (asked.level + 1) % LEVELS, asked.level)
    asked = replace(asked, level=predicted)
    others, edits = edited("other", levels(6))
    told = draws.normal(size=(len(asked.name), CONCEPTS, CLASSES))
    attributed = Attributed(told, draws.normal(size=(CONCEPTS, LEVELS, CLASSES)))
    forgotten = draws.dirichlet(np.ones(CLASSES), (CONCEPTS, len(asked.name)))
    return Question(train, asked, changes, LEVELS, head, others, edits, attributed, forgotten)


def effects(entry, folder: Path) -> dict:
    """Estimated effects of each change on each class."""
    needed = {"explainer": {"method": "integrated_gradients"}} if entry.sums_explainer else {}
    return {
        name: entry.model_validate(settings).estimate(question())
        for name, settings in variants("explainers", entry, needed)
        # Of what only the job asks, an estimate knows nothing.
        if not name.startswith("text_levels")
    }


# Answers in words ------------------------------------------------------------------------------------------------

ANSWERS_OF = {
    "Decision: wait. You may want to wait; it is probably the best that a patient person can do. Women wait.": "wait",
    "Decision: go. It is certainly better to go. Clearly, nobody would stay in an old, dangerous building.": "go",
    "I'm sorry, but I can't help with that.": None,
    "Decision: wait. The boards moved, and the water under the boards was brown. We counted the boards. "
    "My sister counted the boards, and I counted the birds on the wire, and the birds were happy. When we came to the "
    "other side, the light was gone, and we could not see the road or the river or the bridge.": "wait",
}


def answers_table() -> pd.DataFrame:
    """Two answers to each of three questions."""
    said = [*ANSWERS_OF.items(), *list(ANSWERS_OF.items())[:2]]
    return pd.DataFrame(
        [
            {"item_id": f"q{number // 2}", "draw": number % 2, "decision": decision, "text": text}
            for number, (text, decision) in enumerate(said)
        ]
    )


CHANCE = {None: 0.2, "care": 0.8, "pace": 0.5, "hobby": 0.2}


def changed_answers() -> pd.DataFrame:
    """Answers to six questions as they were and with one of three concepts changed, some with mentions."""
    draws = generator_for("golden", "changed answers")
    rows = [
        {
            "item_id": f"q{number}",
            "draw": draw,
            "concept": concept,
            "change": change,
            "kind": concept and "all",
            "decision": ("go", "wait")[int(draws.random() < CHANCE[concept])],
            "reference": "wait",
            "mentioned": [name for name in ("care", "pace", "hobby") if draws.random() < 0.5],
        }
        for number in range(6)
        for concept, change in ((None, None), ("care", "less"), ("care", "more"), ("pace", "less"), ("hobby", "less"))
        for draw in range(3)
    ]
    return pd.DataFrame(rows)


def follow_ups() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Answers, and what was said to the questions that follow from them."""
    decided = answers_table().dropna(subset="decision").reset_index(drop=True)
    rows = []
    for number, row in decided.iterrows():
        other = {"wait": "go", "go": "wait"}[row["decision"]]
        told = {
            "hint": ([other], (other, row["decision"])[number % 2], ("As you think.", "It seems so.")[number == 2]),
            "counterfactual": ([other], (row["decision"], other)[number % 2], "I changed it."),
            "redaction": (["unknown"], ("unknown", other)[number % 2], "Nothing is left."),
            "random_redaction": (["unknown"], ("unknown", row["decision"])[number > 2], "Something is left."),
            "contributions": ([], None, ""),
        }
        for about, (expected, decision, text) in told.items():
            shares = [[0.5, 0.3, 0.2 + number], [0.1, 0.6 - number, 0.3]] if about == "contributions" else [None, None]
            values = dict(zip(("of_decision", "of_reason"), shares, strict=True))
            place = {"item_id": row["item_id"], "draw": row["draw"], "about": about}
            rows.append(place | {"expected": expected, "decision": decision, "text": text} | values)
    return decided, pd.DataFrame(rows)


def asked_answers(folder: Path) -> pd.DataFrame:
    """What a scripted service answers, and what is read of it."""
    from evenlight.explainers.answering import Question as InWords
    from evenlight.explainers.families.from_api.asking import ask
    from evenlight.models.architectures.chat import AskingForAnswers
    from evenlight.models.services.chat import CachedChat

    with serving() as service:
        service.usual = lambda body: (200, json.dumps(answered(body)).encode(), {})
        pattern = {"pattern": r"Decision: (\w+)", "words": {"complain": ["complain"], "wait": ["wait"]}}
        method = Explainer.parse({"method": "from_api", "answers": 2, "decision": pattern})
        model = Architecture.parse({"architecture": "chat", "address": service.address, "called": "it"})
        chat = CachedChat(model, folder / "answers", AskingForAnswers(retries=0))
        questions = [InWords(f"item{number}", {"text": text}) for number, text in enumerate(TEXTS)]
        table, _ = ask(questions, method, model, 0, chat, "it")
    return table[["item_id", "draw", "decision", "text", "temperature", "seed", "tokens", "finish"]]


def generated_answers(folder: Path) -> dict:
    """What a decoder with random weights writes, drawn and not."""
    from hub_tokenizers import write_tokenizer
    from transformers import AutoConfig, AutoModelForCausalLM

    from evenlight.explainers.answering import Question as InWords
    from evenlight.explainers.families.local_generation.writing import Generator
    from evenlight.models.decoder import load_decoder

    sizes = {"vocab_size": 700, "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 128}
    torch.manual_seed(5)
    network = AutoModelForCausalLM.from_config(AutoConfig.for_model("gpt2", **sizes))
    spread_weights(network, 0.6)
    network.save_pretrained(folder / "decoder")
    decoder = load_decoder(str(write_tokenizer("gpt2", folder / "decoder", WORDS)))
    questions = [InWords(f"item{number}", {"text": text}) for number, text in enumerate(TEXTS[:4])]
    words = {"go": ["He"], "wait": ["She"]}
    found = {}
    for name, further in {"default": {}, "temperature: 0": {"temperature": 0}}.items():
        given = {"method": "local_generation", "max_tokens": 8, "decision": {"words": words}}
        writer = Generator(decoder, Explainer.parse(given | further), 0, "mine")
        table = writer.answers([(each, 0) for each in questions]).to_pandas()
        found[name] = table[["item_id", "draw", "decision", "text", "seed", "tokens", "finish"]]
        found[f"{name}, shares"] = writer.probabilities(questions)
    return found


def recorded_answers(folder: Path) -> pd.DataFrame:
    """A table of answers, as it is read."""
    from evenlight.explainers.families.from_table.tables import read_answers

    rows = answers_table().assign(who="m").rename(columns={"item_id": "item", "text": "said"})
    path = folder / "answers.jsonl"
    rows.to_json(path, orient="records", lines=True)
    items = pd.DataFrame({"item_id": ["q0", "q1", "q2"], "split": "test"})
    units = items.assign(unit_id=items["item_id"], level="one", factor="gender", role="form")
    given = {"file": "any.jsonl", "item": "item", "text": "said", "draw": "draw", "decision": "decision"}
    entry = Explainer.parse({"method": "from_table", "model": "who"} | given)
    table, _ = read_answers(path, entry, items, units, "m")
    return table[["item_id", "draw", "decision", "text", "model"]]


ANSWERING = {"from_api": asked_answers, "local_generation": generated_answers, "from_table": recorded_answers}


def explainer_output(entry) -> Output:
    """The function that gives the golden output of an explainer."""
    if entry.modality == TOKENS:
        return partial(attributions, entry)
    if entry.modality == EFFECTS:
        return partial(effects, entry)
    return ANSWERING[get_args(entry.model_fields["method"].annotation)[0]]


# Metrics ---------------------------------------------------------------------------------------------------------


def explanations() -> list[Explanation]:
    """Scores that were drawn, so that no explainer has a part in the numbers of a metric."""
    origin = Origin("it", _completed("explainers", {"method": "saliency"}), 0)
    found = []
    for each, carries in zip(sentences(classifier()), CARRIES, strict=True):
        scores = generator_for("golden", each.item_id).normal(size=len(each.token_id))
        found.append(explanation_of(each, scores, carries, origin))
    return found


# What a metric cannot do without.
NEEDED_BY = {"decision": {"decision": "wait"}}


def scores(entry, folder: Path) -> dict:
    """The score of each explanation, change, answer or question."""
    metric = get_args(entry.model_fields["metric"].annotation)[0]
    found = {}
    for name, settings in variants("metrics", entry, NEEDED_BY.get(metric, {})):
        found[name] = _scores(entry, {"it": settings})
    return found


def _scores(entry, settings: dict):
    entries = Metric.parse_all(settings)
    if entry.modality == TOKENS:
        evaluator = context_of(classifier()).evaluator if entry.needs_model else None
        return score(entries, explanations(), evaluator)["it"]
    if entry.modality == EFFECTS:
        asked = question()
        true = true_effects(asked.asked, asked.changes)
        return entries["it"].of_effects(true, generator_for("golden", "effects").normal(scale=0.3, size=true.shape))
    if entry.family == "reasons":
        return of_questions.scored(entries, changed_answers())[0]["it"]
    if entry.family == "follow_ups":
        answers, asked = follow_ups()
        return entry.score_answers(entries, Answered(answers, follow_ups=asked))[0]["it"]
    return entry.score_answers(entries, Answered(answers_table(), language="en"))[0]["it"]


# All of them, and their versions ---------------------------------------------------------------------------------

REGISTRIES = {
    "explainers": Explainer,
    "metrics": Metric,
    "readers": Reader,
    "architectures": Architecture,
    "results": Result,
}

OUTPUTS: dict[str, Output] = {
    **{f"explainers/{name}": explainer_output(entry) for name, entry in Explainer.entries.items()},
    **{f"metrics/{name}": partial(scores, entry) for name, entry in Metric.entries.items()},
    **{f"readers/{name}": partial(texts_of, name) for name in READ},
    **{f"architectures/{name}": partial(trained, name, WORDS) for name in TRAINED_HERE},
    **{f"architectures/{name}": partial(made, WORDS) for name, made in ASKED.items()},
    **{f"results/{name}": lambda folder, name=name: tables_of(name) for name in RESULTS},
}
# Why a method has none.
WITHOUT_OUTPUT: dict[str, str] = {f"architectures/{name}": reason for name, reason in NOT_HELD.items()}
WITHOUT_OUTPUT["readers/scores"] = "it gives no texts; results/read_scores holds what is read"


def methods() -> set[str]:
    """All methods, which shall have a golden output or a reason."""
    return {f"{kind}/{name}" for kind, registry in REGISTRIES.items() for name in registry.entries}


# The stage that runs a method, by its modality or its name.
OF_EXPLAINERS = {TOKENS: "attribute", EFFECTS: "estimate_changes"}
ANSWERED_BY = {"from_api": "ask_answers", "local_generation": "generate_answers", "from_table": "record_answers"}
OF_MODELS = {"service": "describe_service"}
OF_METRICS = {TOKENS: "score", EFFECTS: "score_changes", TEXT: "score_answers"}


def versions_of(name: str) -> dict[str, int]:
    """The versions that a golden output was made with: first the method's own, then those of the stages that run it."""
    kind, method = name.split("/")
    entry = REGISTRIES[kind].entries[method]
    own = {f"result {method}" if kind == "results" else entry.__name__: entry.version}
    return own | {f"stage {stage}": STAGES[stage] for stage in _stages_of(kind, method, entry)}


def _stages_of(kind: str, method: str, entry) -> list[str]:
    if kind == "readers":
        return ["import_dataset"]
    if kind == "results":
        return ["compute"]
    if kind == "architectures":
        made_by = "train" if method in TRAINED_HERE else OF_MODELS.get(method, "load_model")
        return [made_by, "ask_model"]
    asks = ["ask_model"] if entry.needs_model and entry.modality == TOKENS else []
    if kind == "metrics":
        return [OF_METRICS[entry.modality], *asks]
    return [OF_EXPLAINERS.get(entry.modality) or ANSWERED_BY[method], *asks]
