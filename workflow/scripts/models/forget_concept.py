"""Train a model on until it has forgotten one concept, and ask it then about the texts in which the concept changes."""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from evenlight.concepts.counterfactual import control_of, told
from evenlight.concepts.files import read_question
from evenlight.concepts.forgetting import forget
from evenlight.core.contracts.explanations import COUNTERFACTUALS
from evenlight.core.contracts.texts import ITEMS
from evenlight.core.seeds import generator_for
from evenlight.core.tables import read_table, write_table
from evenlight.engine.checkpoints import add_checkpoint_flags, describe_training, open_checkpoint
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.representations import represented
from evenlight.engine.sentences import encoded
from evenlight.engine.training import digest_of_training, make_reproducible
from evenlight.explainers import Explainer
from evenlight.jobs.command_line import add_model_flags, run, settings_argument
from evenlight.models.classifier import load_saved
from evenlight.models.devices import device_name, use_processor
from evenlight.models.trainings import Training

# Texts by which a training is seen to go astray.
VALIDATED = 64


def main(arguments: argparse.Namespace) -> None:
    """Write what the model says of the texts once it has forgotten; what it has forgotten goes into the metadata."""
    use_processor(arguments.threads)
    make_reproducible()
    settings = arguments.settings
    concepts, seed = settings["concepts"], settings["seed"]
    # The name of a training has become the training itself.
    recipe = Training.model_validate(settings["explainer"]["training"])
    causalm = Explainer.parse(settings["explainer"] | {"training": None})
    treated = list(concepts).index(settings["concept"])
    files = arguments.items, arguments.changes, arguments.representations
    question, _ = read_question(*files, None, concepts, seed)
    items = read_table(arguments.items, ITEMS).set_index("item_id", drop=False)
    train, asked = question.train, question.asked
    rows = np.unique(question.changes.base[question.changes.concept == treated])
    names = [asked.name[row] for row in rows]
    before = asked.representation[rows], asked.probability[rows]
    after, control, level = before, None, train.level[:, [treated]]
    if len(names) and len(np.unique(level[train.labelled(treated)])) > 1:
        control = control_of(train.level, treated) if causalm.control else None
        level = train.level[:, [treated] if control is None else [treated, control]]
        # Texts without a label of the concept are none to forget it by.
        drawn = generator_for(seed, "forgotten", settings["concept"]).permutation(
            np.flatnonzero(train.labelled(treated))
        )
        drawn = np.sort(drawn[: causalm.texts])
        classifier = load_saved(arguments.model, settings["max_tokens"], arguments.device)
        validation = items[items["split"] == "validation"].iloc[:VALIDATED]
        parts = items.loc[[train.name[row] for row in drawn]], validation, items.loc[names]
        learned, validated, of_changes = (encoded(classifier, part, part["label"]) for part in parts)
        about = describe_training(arguments, device_name(classifier.device)) | {"levels": level[drawn].tolist()}
        digest = digest_of_training(classifier, learned, validated, about)
        checkpoint = open_checkpoint(arguments.output, digest, arguments.checkpoint_minutes)
        whole = train.representation[drawn], level[drawn]
        how = {"strength": causalm.strength, "head_speed": causalm.head_speed}
        history = forget(classifier, learned, validated, *whole, recipe, seed, checkpoint=checkpoint, **how)
        print(history.to_string(index=False))
        evaluator = Evaluator(classifier, arguments.tokens_per_batch or 0)
        probability, representation, _ = represented(evaluator, [sentence.row for sentence in of_changes])
        after = representation, probability
        checkpoint.remove()
    label, own = items.loc[names, "label"].to_numpy(), asked.level[rows, treated]
    found: dict = {"control": None if control is None else list(concepts)[control]}
    for when, (representation, probability) in (("before", before), ("after", after)):
        found[when] = told(representation, own, items.loc[names, "cluster"])
        found[f"right_{when}"] = float((probability.argmax(axis=1) == label).mean()) if names else float("nan")
    found["frequent"] = float(np.bincount(own).max() / len(own)) if names else float("nan")
    print(found)
    table = pd.DataFrame({"item_id": names, "probability": list(after[1])})
    write_table(table, arguments.output, COUNTERFACTUALS, {"forgotten": found})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("items", "changes", "representations"):
        parser.add_argument(f"--{name}", type=Path, required=True, help=f"table of {name} (Parquet)")
    parser.add_argument(
        "--settings", type=settings_argument, required=True, help="JSON: explainer, concepts, concept, seed, max_tokens"
    )
    add_model_flags(parser)
    add_checkpoint_flags(parser)
    parser.add_argument("--output", type=Path, required=True, help="table of answers (Parquet)")
    run(main, parser)
