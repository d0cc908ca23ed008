"""Score the explanations of one model with one family of metrics; killed and started again, it goes on.

The file of an explainer that was made of the same settings, code and files is left as it is.
"""

import argparse
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from evenlight.core.contracts.explanations import ATTRIBUTIONS, SCORES
from evenlight.core.contracts.texts import PREDICTIONS
from evenlight.core.tables import count_rows, read_groups, read_metadata
from evenlight.engine import model_files, open_evaluator
from evenlight.engine.progress import Progress
from evenlight.jobs.code_digest import LIBRARIES, library_versions
from evenlight.jobs.command_line import add_group_flag, add_model_flags, run, settings_argument
from evenlight.jobs.parts import Parts, digest_of_inputs, digest_of_rows, is_done, make_in_parts, write_part
from evenlight.metrics import Explanation, explanations_of, other_items, read_origin, score
from evenlight.metrics.planned import planned_rows
from evenlight.texts.predictions import explained_items, read_explained, sentences_of

# Rows of a table of scores that are written, and read, together.
ROWS_PER_GROUP = 2**16
# What an attribution file says of its explainer that a reader of the scores must know.
CARRIED = ("note", "explained_again")


def digests_of(arguments: argparse.Namespace) -> dict[str, str]:
    """Of everything that each explainer's file of scores depends on, by the explainer's name."""
    common = {
        "settings": arguments.settings,
        "libraries": library_versions(LIBRARIES if arguments.model else ("numpy",)),
        "files": digest_of_inputs({}, [arguments.items, arguments.predictions, *model_files(arguments.model)]),
    }
    return {
        path.stem: digest_of_inputs(
            common | {"code": arguments.code[path.stem], "attribution_file": attribution_file_digest(path)}, []
        )
        for path in arguments.attributions
    }


def attribution_file_digest(path: Path) -> str:
    """Of what an attribution file says of its texts: by the same explanations of other code, or with other remarks,
    nothing is scored again.
    """
    metadata = read_metadata(path, ATTRIBUTIONS)
    of_origin = {name: metadata[name] for name in ("explainer", "family", "settings", "tags", "seed")}
    return digest_of_inputs(of_origin | {"rows": digest_of_rows(path, ATTRIBUTIONS.only("item_id", "token_score"))}, [])


def side_by_side(arguments: argparse.Namespace, attribution_files: list[Path]) -> Iterator[tuple[pa.Table, list]]:
    """Some texts at a time, with the explanations that each attribution file has of them, a list of lists."""
    size = arguments.items_per_group
    words = ["words"] * arguments.settings["explains_again"]
    count = len(explained_items(arguments.predictions))
    for path in attribution_files:
        if count_rows(path, ATTRIBUTIONS) != count:
            raise other_items(path)
    origins = [read_origin(path) for path in attribution_files]
    texts_in_groups = read_explained(arguments.predictions, arguments.items, size, "ground_truth", *words)
    for texts, *parts in zip(
        texts_in_groups, *(read_groups(path, ATTRIBUTIONS, size) for path in attribution_files), strict=True
    ):
        of_attribution_files = zip(parts, attribution_files, origins, strict=True)
        yield texts, [explanations_of(texts, part, path, origin) for part, path, origin in of_attribution_files]


def score_tables(
    settings: dict, texts: pa.Table, explanations: list[list[Explanation]], evaluator, names: tuple[str, ...]
) -> dict[str, pa.Table]:
    """The scores of some texts, one table per explainer."""
    # Those of one text side by side: different explanations often ask the model about the same reduced sentence.
    of_texts = [each for of_text in zip(*explanations, strict=True) for each in of_text]
    values = score(settings["family"], of_texts, settings["metrics"], evaluator)
    tables = {}
    for first, name in enumerate(names):
        table = texts.select(["item_id"])
        for metric, value in values.items():
            table = table.append_column(metric, pa.array(value[first :: len(names)], pa.float64()))
        tables[name] = table
    return tables


def planned_of_explanations(arguments: argparse.Namespace, parts: Parts) -> list[float]:
    """Rows that each explanation is likely to take, in the order in which they are scored; none where nobody knows."""
    explainers, planned = len(parts.names), []
    for texts in read_explained(arguments.predictions, arguments.items, arguments.items_per_group):
        settings = arguments.settings
        rows = planned_rows(settings["family"], settings["metrics"], sentences_of(texts), explainers)
        if rows is None:
            return []
        planned += np.repeat(rows / explainers, explainers).tolist()
    return planned


def score_in_parts(arguments: argparse.Namespace, parts: Parts) -> int:
    """Score all groups of explanations that no earlier attempt has done; how many groups there are."""
    attribution_file_of = {path.stem: path for path in arguments.attributions}
    attribution_files = [attribution_file_of[name] for name in parts.names]
    progress = Progress(
        sum(count_rows(path, ATTRIBUTIONS) for path in attribution_files), planned_of_explanations(arguments, parts)
    )
    evaluator = open_evaluator(arguments, progress.count_rows)
    print(f"{arguments.settings['family']}: scoring {', '.join(parts.names)}", flush=True)
    progress.start()
    groups = 0
    for number, (texts, explanations) in enumerate(side_by_side(arguments, attribution_files)):
        groups = number + 1
        is_there = is_done(parts, number)
        if not is_there:
            write_part(parts, number, score_tables(arguments.settings, texts, explanations, evaluator, parts.names))
        progress.count_items(len(texts) * len(parts.names), is_there)
    print(progress.summary(), flush=True)
    return groups


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
    make_in_parts(
        arguments.output,
        SCORES,
        digests_of(arguments),
        job=arguments.settings["family"],
        size=arguments.items_per_group,
        compute=partial(score_in_parts, arguments),
        describe=lambda name, _: score_metadata(arguments, name),
        rows=ROWS_PER_GROUP,
        described_by_parts=False,
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
        help="JSON: family, metrics, whether they explain again, limits",
    )
    parser.add_argument("--code", type=settings_argument, required=True, help="JSON: digest of the code per explainer")
    add_model_flags(parser, required=False)
    add_group_flag(parser)
    parser.add_argument(
        "--output", type=Path, required=True, nargs="+", help="one file of scores per explainer, <explainer>.parquet"
    )
    run(main, parser)
