"""The models of config/studies/hub.yaml, small and with random weights; configuration, labels, tokenizer as published.

What is known of each stands here as facts: its type, the names and the order of its labels, its kind of tokenizer, and
keys of its config.json that change how it is loaded or asked. Nobody looked them up on the hub for these tests.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from hub_tokenizers import write_tokenizer
from tiny_models import spread_out, tiny_configuration
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertForPreTraining,
)

STARS = tuple(f"{count} star{'s' * (count > 1)}" for count in range(1, 6))
EKMAN = ("anger", "disgust", "fear", "joy", "neutral", "sadness", "surprise")
TOXIC = ("toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate")
GO_EMOTIONS = (
    *("admiration", "amusement", "anger", "annoyance", "approval", "caring", "confusion", "curiosity", "desire"),
    *("disappointment", "disapproval", "disgust", "embarrassment", "excitement", "fear", "gratitude", "grief", "joy"),
    *("love", "nervousness", "optimism", "pride", "realization", "relief", "remorse", "sadness", "surprise", "neutral"),
)
SEVERAL = {"problem_type": "multi_label_classification"}


@dataclass(frozen=True)
class Published:
    """What is known of a model.

    Attributes:
        model_type: as its config.json has it.
        tokenizer: one of ``hub_tokenizers.KINDS``.
        labels: in their order; none of an encoder.
        task: what its weights are stored of.
        about: further keys of its config.json.
    """

    model_type: str
    tokenizer: str
    labels: tuple[str, ...] = ()
    task: type = AutoModelForSequenceClassification
    about: dict = field(default_factory=dict)


DEBERTA_V3 = {
    **{"relative_attention": True, "position_biased_input": False, "type_vocab_size": 0, "position_buckets": 256},
    **{"pos_att_type": "p2c|c2p", "max_relative_positions": -1, "share_att_key": True, "norm_rel_ebd": "layer_norm"},
}
ONE_TYPE = {"type_vocab_size": 1}
PUBLISHED = {
    "distilbert/distilbert-base-uncased-finetuned-sst-2-english": Published(
        "distilbert", "bert", ("NEGATIVE", "POSITIVE")
    ),
    "textattack/bert-base-uncased-SST-2": Published("bert", "bert", ("LABEL_0", "LABEL_1")),
    "siebert/sentiment-roberta-large-english": Published(
        "roberta", "roberta", ("NEGATIVE", "POSITIVE"), about=ONE_TYPE
    ),
    "cardiffnlp/twitter-roberta-base-sentiment-latest": Published(
        "roberta", "roberta", ("negative", "neutral", "positive"), about=ONE_TYPE
    ),
    "cardiffnlp/twitter-roberta-base-sentiment": Published(
        "roberta", "roberta", ("LABEL_0", "LABEL_1", "LABEL_2"), about=ONE_TYPE
    ),
    "cardiffnlp/twitter-xlm-roberta-base-sentiment": Published(
        "xlm-roberta", "xlm_roberta", ("negative", "neutral", "positive"), about=ONE_TYPE
    ),
    "nlptown/bert-base-multilingual-uncased-sentiment": Published("bert", "bert", STARS),
    "lxyuan/distilbert-base-multilingual-cased-sentiments-student": Published(
        "distilbert", "bert_cased", ("positive", "neutral", "negative")
    ),
    "tabularisai/multilingual-sentiment-analysis": Published(
        "distilbert", "bert_cased", ("Very Negative", "Negative", "Neutral", "Positive", "Very Positive")
    ),
    "yangheng/deberta-v3-base-absa-v1.1": Published(
        "deberta-v2", "deberta_v3", ("Negative", "Neutral", "Positive"), about=DEBERTA_V3
    ),
    "ProsusAI/finbert": Published("bert", "bert", ("positive", "negative", "neutral")),
    "yiyanghkust/finbert-tone": Published("bert", "bert", ("Neutral", "Positive", "Negative")),
    "mrm8488/distilroberta-finetuned-financial-news-sentiment-analysis": Published(
        "roberta", "roberta", ("negative", "neutral", "positive"), about=ONE_TYPE
    ),
    "j-hartmann/emotion-english-distilroberta-base": Published("roberta", "roberta", EKMAN, about=ONE_TYPE),
    "bhadresh-savani/distilbert-base-uncased-emotion": Published(
        "distilbert", "bert", ("sadness", "joy", "love", "anger", "fear", "surprise")
    ),
    "SamLowe/roberta-base-go_emotions": Published("roberta", "roberta", GO_EMOTIONS, about=ONE_TYPE | SEVERAL),
    "unitary/toxic-bert": Published("bert", "bert", TOXIC, about=SEVERAL),
    "s-nlp/roberta_toxicity_classifier": Published("roberta", "roberta", ("neutral", "toxic"), about=ONE_TYPE),
    "martin-ha/toxic-comment-model": Published("distilbert", "bert", ("non-toxic", "toxic")),
    "facebook/roberta-hate-speech-dynabench-r4-target": Published(
        "roberta", "roberta", ("nothate", "hate"), about=ONE_TYPE
    ),
    "google-bert/bert-base-uncased": Published("bert", "bert", task=AutoModelForMaskedLM),
    "FacebookAI/roberta-base": Published("roberta", "roberta", task=AutoModelForMaskedLM, about=ONE_TYPE),
    "FacebookAI/roberta-large": Published("roberta", "roberta", task=AutoModelForMaskedLM, about=ONE_TYPE),
    "facebook/FairBERTa": Published("roberta", "roberta", task=AutoModelForMaskedLM, about=ONE_TYPE),
    "openai-community/gpt2": Published("gpt2", "gpt2", task=AutoModelForCausalLM),
    "huawei-noah/TinyBERT_General_4L_312D": Published("bert", "bert", task=BertForPreTraining),
    "xlnet/xlnet-base-cased": Published("xlnet", "xlnet", task=AutoModelForCausalLM),
    "distilbert/distilbert-base-uncased": Published("distilbert", "bert", task=AutoModelForMaskedLM),
    "microsoft/deberta-v3-base": Published("deberta-v2", "deberta_v3", task=AutoModel, about=DEBERTA_V3),
}


def write_published(name: str, folder: Path, sentences: Sequence[Sequence[str]]) -> Path:
    """Write the small model that stands for one of :data:`PUBLISHED`, with a vocabulary of some sentences."""
    model = PUBLISHED[name]
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"model_type": model.model_type}))
    tokenizer = AutoTokenizer.from_pretrained(write_tokenizer(model.tokenizer, folder, sentences))
    ids = {"pad": tokenizer.pad_token_id, "bos": tokenizer.bos_token_id, "eos": tokenizer.eos_token_id}
    about = {f"{role}_token_id": token for role, token in ids.items() if token is not None} | model.about
    if model.labels:
        about |= {
            "id2label": dict(enumerate(model.labels)),
            "label2id": {each: n for n, each in enumerate(model.labels)},
        }
    config = tiny_configuration(model.model_type, vocab_size=len(tokenizer), **about)
    torch.manual_seed(7)
    network = model.task.from_config(config) if hasattr(model.task, "from_config") else model.task(config)
    spread_out(network)
    network.eval().save_pretrained(folder)
    return folder
