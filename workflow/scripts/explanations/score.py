"""Score the explanations of one model with one family of metrics; killed and started again, it goes on.

Rows are reused whose inputs are unchanged.
"""

import argparse
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from evenlight.core.contracts.explanations import ATTRIBUTIONS, EXPLAINED, SCORES
from evenlight.core.contracts.texts import PREDICTIONS
from evenlight.core.tables import Contract, count_rows, read_groups, read_metadata
from evenlight.core.versions import versions_for
from evenlight.engine import open_evaluator, rounding_of
from evenlight.engine.progress import Progress
from evenlight.jobs.command_line import add_group_flag, add_model_flags, run, settings_argument
from evenlight.jobs.parts import (
    DIGEST,
    Missing,
    digest_of,
    digest_of_inputs,
    digests_of,
    make_rows,
    write_part,
)
from evenlight.metrics import Metric, read_origin, score
from evenlight.metrics.base import planned_rows
from evenlight.metrics.explanations import Explanation, explanations_of, other_items
from evenlight.models import model_files
from evenlight.texts.predictions import explained_items, read_explained, sentences_of

# Rows of a table of scores that are written, and read, together.
ROWS_PER_GROUP = 2**16
# What an attribution file says of its explainer that a reader of the scores must know.
CARRIED = ("note", "explained_again")


def digests_of_rows(arguments: argparse.Namespace) -> dict[str, str]:
    """Of what all rows of each explainer's file of scores depend on beside their text and its explanation."""
    common = {
        "settings": arguments.settings,
        "model": digest_of_inputs({}, model_files(arguments.model)),
    }
    origins = {path.stem: origin_of(path) for path in arguments.attributions}
    return {
        name: digest_of(common, versions_for(arguments.versions, origin["settings"]["method"]), origin)
        for name, origin in origins.items()
    }


def origin_of(path: Path) -> dict:
    """What an attribution file says of its explainer that a score may depend on: of the same explanations of other
    versions, or with other remarks, nothing is scored again.
    """
    metadata = read_metadata(path, ATTRIBUTIONS)
    return {name: metadata[name] for name in ("explainer", "family", "settings", "seed")}


def needs_other_texts(metrics: dict[str, Metric], path: Path) -> bool:
    """Whether a score of the explanations in an attribution file may depend on more than one text."""
    if any(metric.needs_other_texts for metric in metrics.values()):
        return True
    # Only metrics that explain again need the explainer, which may be a user's code.
    return any(metric.explains_again for metric in metrics.values()) and read_origin(path).entry.needs_other_texts


def made_of(
    arguments: argparse.Namespace, common: dict[str, str], needing: list[str], names: list[str]
) -> dict[str, np.ndarray]:
    """Of all that each row depends on: ``common``, all that metrics are told of its text, and its explanation; for
    those ``needing`` other texts, of all of these.
    """
    rounding = rounding_of(arguments)
    found: dict[str, list[np.ndarray]] = {name: [] for name in names}
    for texts, *parts in texts_and_rows(arguments, names, EXPLAINED):
        of_texts = digests_of(texts)
        for (name, digests), part in zip(found.items(), parts, strict=True):
            of_pairs = zip(of_texts, digests_of(part), strict=True)
            of_rows = [digest_of(common[name], rounding, text, explanation) for text, explanation in of_pairs]
            digests.append(np.array(of_rows, DIGEST))
    of_names = {name: np.concatenate(digests) for name, digests in found.items()}
    texts = digest_of_inputs({}, [arguments.items, arguments.predictions]) if needing else ""
    for name in needing:
        of_rows = of_names[name].astype(str).tolist()
        all_of_it = digest_of(texts, of_rows)
        of_names[name] = np.array([digest_of(row, all_of_it) for row in of_rows], DIGEST)
    return of_names


def texts_and_rows(
    arguments: argparse.Namespace, names: list[str], contract: Contract, wanted: np.ndarray | None = None
) -> Iterator[tuple[pa.Table, ...]]:
    """Some texts at a time, with the rows of the attribution files of some explainers.

    Args:
        arguments: flags of this command.
        names: of the explainers.
        contract: which columns of the attribution files.
        wanted: which of the texts that are explained, bool (texts,); all where it is None.

    Raises:
        InputError: an attribution file is of other texts.
    """
    size = arguments.items_per_group
    columns = dict.fromkeys(column for metric in arguments.metrics.values() for column in metric.text_columns)
    path_of = {path.stem: path for path in arguments.attributions}
    count = len(explained_items(arguments.predictions))
    for name in names:
        if count_rows(path_of[name], ATTRIBUTIONS) != count:
            raise other_items(path_of[name])
    texts_in_groups = read_explained(
        arguments.predictions, arguments.items, size, "ground_truth", *columns, wanted=wanted
    )
    of_explainers = (read_groups(path_of[name], contract, size, wanted) for name in names)
    for texts, *parts in zip(texts_in_groups, *of_explainers, strict=True):
        for name, part in zip(names, parts, strict=True):
            if not part["item_id"].equals(texts["item_id"]):
                raise other_items(path_of[name])
        yield texts, *parts


def score_tables(
    metrics: dict[str, Metric], texts: pa.Table, explanations: list[list[Explanation]], evaluator, names: list[str]
) -> dict[str, pa.Table]:
    """The scores of some texts, one table per explainer."""
    # Those of one text side by side: different explanations often ask the model about the same reduced sentence.
    of_texts = [each for of_text in zip(*explanations, strict=True) for each in of_text]
    values = score(metrics, of_texts, evaluator)
    tables = {}
    for first, name in enumerate(names):
        table = texts.select(["item_id"])
        for metric, value in values.items():
            table = table.append_column(metric, pa.array(value[first :: len(names)], pa.float64()))
        tables[name] = table
    return tables


def planned_of_explanations(arguments: argparse.Namespace, missing: Missing) -> list[float]:
    """Rows that each explanation is likely to take, in the order in which they are scored; none where nobody knows."""
    planned: list[float] = []
    for names, wanted in missing.together():
        for texts in read_explained(arguments.predictions, arguments.items, arguments.items_per_group, wanted=wanted):
            rows = planned_rows(arguments.metrics, sentences_of(texts), len(names))
            if rows is None:
                return []
            planned += np.repeat(rows / len(names), len(names)).tolist()
    return planned


def score_missing(arguments: argparse.Namespace, missing: Missing) -> None:
    """Score what is not there, a group of texts at a time."""
    path_of = {path.stem: path for path in arguments.attributions}
    done_before = sum(int((~rows.missing).sum()) for rows in missing.rows.values())
    planned = planned_of_explanations(arguments, missing)
    progress = Progress(len(missing.rows) * missing.of_all(), [0.0] * (done_before if planned else 0) + planned)
    progress.count_items(done_before, done_before=True)
    evaluator = open_evaluator(arguments, progress.count_rows)
    scored = ", ".join(name for name, rows in missing.rows.items() if rows.missing.any())
    print(f"{arguments.settings['family']}: scoring {scored}", flush=True)
    progress.start()
    for names, wanted in missing.together():
        origins = [read_origin(path_of[name]) for name in names]
        numbers = np.flatnonzero(wanted)
        for texts, *parts in texts_and_rows(arguments, names, EXPLAINED, wanted):
            chosen, numbers = numbers[: len(texts)], numbers[len(texts) :]
            explanations = [
                explanations_of(texts, part, path_of[name], origin)
                for name, part, origin in zip(names, parts, origins, strict=True)
            ]
            write_part(missing, chosen, score_tables(arguments.metrics, texts, explanations, evaluator, names))
            progress.count_items(len(texts) * len(names))
    print(progress.summary(), flush=True)


def score_metadata(arguments: argparse.Namespace, name: str) -> dict:
    """What the scores of an explainer say of themselves."""
    [attribution_file] = [path for path in arguments.attributions if path.stem == name]
    of_attribution_file = read_metadata(attribution_file, ATTRIBUTIONS)
    return {
        "settings": arguments.settings,
        **{key: of_attribution_file[key] for key in CARRIED},
        "left_out": read_metadata(arguments.predictions, PREDICTIONS).get("notes", []),
    }


def main(arguments: argparse.Namespace) -> None:
    """Score and write one file per explainer."""
    arguments.metrics = Metric.parse_all(arguments.settings["metrics"])
    needing = [path.stem for path in arguments.attributions if needs_other_texts(arguments.metrics, path)]
    make_rows(
        arguments.output,
        SCORES,
        job=arguments.settings["family"],
        size=ROWS_PER_GROUP,
        made_of=partial(made_of, arguments, digests_of_rows(arguments), needing),
        compute=partial(score_missing, arguments),
        describe=lambda name, _: score_metadata(arguments, name),
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet)")
    parser.add_argument("--predictions", type=Path, required=True, help="table of predictions (Parquet)")
    parser.add_argument(
        "--attributions", type=Path, required=True, nargs="+", help="attribution files, <explainer>.parquet"
    )
    parser.add_argument(
        "--settings",
        type=settings_argument,
        required=True,
        help="JSON: family, metrics, limits",
    )
    parser.add_argument("--versions", type=settings_argument, default={}, help="JSON: versions of what is used")
    add_model_flags(parser, required=False)
    add_group_flag(parser)
    parser.add_argument(
        "--output", type=Path, required=True, nargs="+", help="one file of scores per explainer, <explainer>.parquet"
    )
    run(main, parser)
