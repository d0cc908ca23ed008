"""How probable a masked language model finds the words of a text, each masked in turn, the others in their places.

The body of a model that was trained to classify is put below the head of the masked language model that it began as, so
that a training that changes the body changes what the head says (GECOBench, first version, Figure 5).
"""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from transformers import AutoConfig

from evenlight.core.errors import InputError
from evenlight.engine.evaluator import Evaluator
from evenlight.models.classifier import Classifier, load_network
from evenlight.models.devices import pick_device, sent
from evenlight.models.language_model import KINDS, MASKED, PROMPT, Prompt, as_classifier
from evenlight.models.location import located
from evenlight.models.prompted import NAMES
from evenlight.models.tokenizers import NO_CODE, Reading, cannot_load, loaded_tokenizer, required_token_id, set_prompt

# Names of the scores.
LIKELIHOOD, RELEASED = "likelihood", "released"


def why_without_head(folder: str, source: str | None, revision: str | None) -> str | None:
    """Why a model has no head of a masked language model, by configurations; None where it has.

    Args:
        folder: of the trained model.
        source: hub id or folder of what it began as; None where it is a language model that is asked by a prompt.
        revision: of the source.

    Raises:
        InputError: a configuration cannot be loaded.
    """
    try:
        with located(source or folder, revision):
            config = AutoConfig.from_pretrained(source or folder, revision=revision if source else None, **NO_CODE)
    except InputError:
        raise
    except Exception as error:
        raise InputError(cannot_load(source or folder, error)) from None
    if source is None:
        is_masked = getattr(config, PROMPT)["kind"] == MASKED
        return None if is_masked else "a decoder has no masked words, and so no scores of them"
    named = config.architectures or ["no class"]
    if NAMES[MASKED].get(config.model_type) in named:
        return None
    return (
        f"{source} was published without the head of a masked language model (its config.json names "
        f"{', '.join(named)}), so that there are no scores of masked words"
    )


def begun_at(folder: str | Path, revision: str | None) -> str | None:
    """The commit that a training began with, as the manifest in the model's ``folder`` has it, else the revision."""
    manifest = json.loads((Path(folder) / "manifest.json").read_text(encoding="utf-8"))
    return manifest.get("began_with", {}).get("source", {}).get("commit") or revision


def masked_evaluator(
    folder: str, source: str | None, revision: str | None, max_tokens: int, device: str, tokens_per_batch: int = 0
) -> Evaluator:
    """What asks a trained model for masked words.

    ``source`` is what it began as, see :func:`why_without_head`.
    """
    options = {"revision": revision} if revision and source else {}
    network = load_network(source or folder, with_head=True, kind=KINDS[MASKED], **options)
    if source:
        # The head keeps its own weights, those that it has from the word embeddings included.
        setattr(network, network.base_model_prefix, load_network(folder).base_model)
    tokenizer = loaded_tokenizer(folder)
    set_prompt(tokenizer, "", "")
    mask = required_token_id(tokenizer, "mask", network.config.model_type)
    # It is asked for single tokens and not for classes, of which its configuration names so many.
    classes = network.config.num_labels
    prompt = Prompt(MASKED, tuple(((token,),) for token in range(classes)), 0, mask, (), (0.0,) * classes)
    network = as_classifier(network.eval().requires_grad_(False).to(pick_device(device)), prompt)
    return Evaluator(Classifier(network, tokenizer, max_tokens), tokens_per_batch)


def masked_scores(
    evaluator: Evaluator, encodings: Sequence[Reading], truth: Sequence[Sequence[int] | None]
) -> dict[str, np.ndarray]:
    """How improbable the words of texts are that are no ground truth, in nats; float (texts,) by score.

    - ``likelihood``: −Σ log p(token | all other tokens) over the tokens of these words, each masked alone: the
      pseudo-log-likelihood of what the forms of a sentence have in common (Nangia et al. 2020, Section 3), negative.
    - ``released``: −Σ log max p(· | all other words) over these words, each replaced as a whole by one mask: how sure
      the model is of whatever it would put there, which GECOBench's released code computes.

    NaN of a text without such a word.

    Args:
        evaluator: from :func:`masked_evaluator`.
        encodings: of the texts.
        truth: of each text 1 for a word of the ground truth; None where there is none.
    """
    mask = evaluator.classifier.special_token("mask")
    rows: dict[tuple[bytes, int, int], int] = {}
    copies: list[tuple[np.ndarray, int, int]] = []
    asked: dict[str, list[list[int]]] = {LIKELIHOOD: [], RELEASED: []}

    def number_of(row: np.ndarray, place: int, token: int) -> int:
        key = (row.tobytes(), place, token)
        if key not in rows:
            rows[key] = len(copies)
            copies.append((row, place, token))
        return rows[key]

    for reading, of_text in zip(encodings, truth, strict=True):
        words = [
            word for word in np.unique(reading.word_id[reading.word_id >= 0]) if of_text is None or not of_text[word]
        ]
        of_tokens, of_words = [], []
        for word in words:
            places = np.flatnonzero(reading.word_id == word)
            for place in places:
                row = reading.token_id.copy()
                token, row[place] = row[place], mask
                of_tokens.append(number_of(row, int(place), int(token)))
            row = np.delete(reading.token_id, places[1:])
            row[places[0]] = mask
            of_words.append(number_of(row, int(places[0]), int(reading.token_id[places[0]])))
        asked[LIKELIHOOD].append(of_tokens)
        asked[RELEASED].append(of_words)
    answers = _answers(evaluator, copies)
    return {
        score: np.array([-answers[numbers, column].sum() if numbers else np.nan for numbers in asked[score]])
        for column, score in enumerate((LIKELIHOOD, RELEASED))
    }


@torch.inference_mode()
def _answers(evaluator: Evaluator, copies: Sequence[tuple[np.ndarray, int, int]]) -> np.ndarray:
    """Log-probability of the token at its place, and the largest there, of each masked copy: float (copies, 2)."""
    classifier = evaluator.classifier

    def compute(batch: np.ndarray) -> tuple[torch.Tensor, ...]:
        rows, places, tokens = zip(*(copies[number] for number in batch), strict=True)
        token_id, mask = classifier.padded(list(rows))
        inside = (mask > 0).long()
        place = sent(inside.argmax(1) + torch.tensor(places), token_id.device)
        inside, token = sent(inside, token_id.device), sent(tokens, token_id.device)
        counts = classifier.model_inputs.counts_positions
        logits = classifier.network.vocabulary_logits(token_id, inside, place[:, None], counts)[:, 0]
        log_p = logits.float().log_softmax(-1)
        return log_p.gather(1, token[:, None])[:, 0], log_p.amax(1)

    answers = evaluator.fetched([len(row) for row, _, _ in copies], compute)
    return np.array(answers).reshape(-1, 2)
