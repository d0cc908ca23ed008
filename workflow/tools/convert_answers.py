"""Write answers in words that others have collected as one table, a row for each answer (docs/reasons.md).

    python workflow/tools/convert_answers.py dialect --input dialect/ --output answers.parquet --keep model=gpt-4
    python workflow/tools/convert_answers.py walk_the_talk --input walk_the_talk/ --output answers.parquet
    python workflow/tools/convert_answers.py inspect_ai --input logs/*.json --output answers.parquet \\
        --unit metadata.question --level metadata.dialect
    python workflow/tools/convert_answers.py lm_evaluation_harness --input output/model/samples_*.jsonl \\
        --output answers.parquet --unit doc.question_id --level doc.dialect

Every table has the columns ``unit``, ``level``, ``draw``, ``model``, ``question``, ``decision`` and ``text``, and what
else is known. Each row of the input is kept. What it lacks is counted and told in the end.
"""

import argparse
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from evenlight.core.errors import InputError
from evenlight.core.tables import replacing
from evenlight.datasets.dialect import dialect_answers
from evenlight.datasets.walk_the_talk import walk_the_talk_answers
from evenlight.jobs.command_line import run
from evenlight.texts.logs import field_of, harness_rows, inspect_log

BBQ = Path(__file__).parents[2] / "resources" / "published" / "walk_the_talk.yaml"
COLUMNS = ("unit", "level", "draw", "model", "question", "decision", "text")


# Two dialects --------------------------------------------------------------------------------------------------------


def answers_in_dialects(folder: Path) -> pd.DataFrame:
    """The answers of the study of two dialects, of a folder with its files as they were released."""
    files = sorted([*folder.glob("*/*_bigbench_qna.csv"), *folder.glob("uncertainty/*/*_uncertainty_*.csv")])
    if not files:
        raise InputError(f"{folder}: no <model>/*_bigbench_qna.csv and no uncertainty/<model>/*.csv; name their folder")
    return dialect_answers(files)


# Logs ----------------------------------------------------------------------------------------------------------------


def inspect_ai_answers(paths: Iterable[Path], unit: str = "id", level: str | None = None) -> pd.DataFrame:
    """The samples of logs of inspect_ai, as JSON or as ``.eval`` (version 2 of its format, since 0.3).

    Args:
        paths: of the logs.
        unit: which field of a sample says its unit, such as ``id`` or ``metadata.question``.
        level: which says its level; without it all have the level ``all``.

    The draw is the epoch, from 0. The decision is the answer that the first scorer read out, the text what the model
    said without its hidden reasoning; ``score`` is that scorer's value.
    """
    rows = []
    for path in paths:
        run_of, samples = inspect_log(path)
        for number, sample in enumerate(samples):
            location = f"{path}, sample {number} (from 0)"
            try:
                choices = sample["output"].get("choices") or []
                row = {"draw": int(sample["epoch"]) - 1, "model": sample["output"].get("model") or run_of["model"]}
                row |= {"question": _said(sample["input"]), "text": _said(choices[0]["message"]) if choices else ""}
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise InputError(f"{location}: no {error} as inspect_ai 0.3 writes it; give its log") from None
            score = next(iter((sample.get("scores") or {}).values()), {})
            rows.append(
                _named(sample, unit, level, location)
                | row
                | {"decision": _decision(score.get("answer")), "score": _decision(score.get("value"))}
                | {"correct": _decision(sample.get("target"))}
            )
    return pd.DataFrame(rows)


def _said(message: str | dict | Sequence[dict]) -> str:
    """What a message, a list of messages or of parts says in words; of several messages what a user says."""
    if isinstance(message, str):
        return message
    if isinstance(message, dict):
        return _said(message["content"])
    if all("role" in part for part in message):
        return "\n".join(_said(part) for part in message if part["role"] == "user")
    return "\n".join(part["text"] for part in message if part["type"] == "text")


def harness_answers(
    paths: Iterable[Path], unit: str = "doc_id", level: str | None = None, filtered_by: str | None = None
) -> pd.DataFrame:
    """Samples of lm-evaluation-harness 0.4 (``--log_samples``), of tasks in which the model writes.

    Args:
        paths: ``samples_<task>_<time>.jsonl``, in a folder with the name of the model.
        unit: which field of a row says its unit, such as ``doc_id`` or ``doc.question_id``.
        level: which says its level; without it all have the level ``all``.
        filtered_by: the filter that reads the decision out; needed where a task has several.

    Each response is a draw, and what the filter made of it its decision. ``correct`` is the row's target.
    """
    rows = []
    for path in paths:
        samples = list(harness_rows(path))
        filters = sorted({sample.get("filter", "none") for _, sample in samples})
        if (filtered_by or (filters[0] if len(filters) == 1 else None)) not in filters:
            raise InputError(f"{path}: rows of the filters {', '.join(filters)}; choose one of them by --filter")
        for location, sample in samples:
            if filtered_by in (None, sample.get("filter", "none")):
                rows += _of_harness(path, location, sample, unit, level)
    return pd.DataFrame(rows)


def _of_harness(path: Path, location: str, sample: dict, unit: str, level: str | None) -> list[dict]:
    texts = sample["resps"][0] if sample["resps"] and isinstance(sample["resps"][0], list) else sample["resps"]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise InputError(f"{location}: resps are no texts; use a task with output_type: generate_until")
    filtered = sample.get("filtered_resps") or []
    filtered = filtered[0] if filtered and isinstance(filtered[0], list) else filtered
    arguments = sample["arguments"]
    try:
        prompt = arguments["gen_args_0"]["arg_0"] if isinstance(arguments, dict) else arguments[0][0]
    except (KeyError, IndexError, TypeError):
        raise InputError(f"{location}: arguments have no prompt; give what --log_samples of 0.4 wrote") from None
    named = _named(sample, unit, level, location)
    return [
        named
        | {"draw": draw, "model": path.parent.name, "question": prompt, "text": text}
        # A filter that keeps some of the responses does not say which.
        | {"decision": _decision(filtered[draw]) if len(filtered) == len(texts) else None}
        | {"correct": _decision(sample.get("target"))}
        for draw, text in enumerate(texts)
    ]


def _decision(value) -> str | None:
    """A decision as text; None where a log has none, or what a filter of the harness writes of no match."""
    return None if value in (None, "", "[invalid]") or isinstance(value, list | dict) else str(value)


def _named(sample: dict, unit: str, level: str | None, location: str) -> dict[str, str]:
    """The unit and the level of a sample, by paths such as ``metadata.dialect``."""
    fields = {"unit": unit, "level": level}
    return {
        flag: "all" if field is None else field_of(sample, field, f"--{flag}", location)
        for flag, field in fields.items()
    }


# Command line --------------------------------------------------------------------------------------------------------

# What the command reads; the first two read folders, the others logs.
FOLDERS: dict[str, Callable[[Path], pd.DataFrame]] = {
    "dialect": answers_in_dialects,
    "walk_the_talk": partial(walk_the_talk_answers, resources=BBQ),
}
LOGS: dict[str, Callable[..., pd.DataFrame]] = {
    "inspect_ai": inspect_ai_answers,
    "lm_evaluation_harness": harness_answers,
}


def kept(answers: pd.DataFrame, wanted: dict[str, str]) -> pd.DataFrame:
    """The rows in which the columns have the wanted values.

    Raises:
        InputError: there is no such column or value.
    """
    for column, value in wanted.items():
        if column not in answers:
            raise InputError(f"--keep {column}={value}: no such column; there are {', '.join(answers)}")
        is_wanted = answers[column].astype(str) == value
        if not is_wanted.any():
            values = ", ".join(sorted(answers[column].astype(str).unique())[:10])
            raise InputError(f"--keep {column}={value}: no such row; the column has {values}")
        answers = answers[is_wanted]
    return answers


def described(answers: pd.DataFrame) -> list[str]:
    """What is in a table of answers and what is missing in it, a line each.

    Raises:
        InputError: there is no answer, or two rows are the same draw.
    """
    if not len(answers):
        raise InputError("no answer in the input; name other files")
    keys = ["model", "unit", "level", "draw"]
    if (twice := answers.duplicated(keys)).any():
        row = answers.loc[twice, keys].iloc[0]
        raise InputError(f"two answers of {', '.join(f'{key} {row[key]}' for key in keys)}; give each log once")
    per_form = answers.groupby(["model", "unit", "level"]).size()
    forms = answers.groupby(["model", "unit"])["level"].nunique()
    lines = [
        f"models: {', '.join(sorted(answers['model'].unique()))}",
        f"answers: {len(answers):,}, units: {answers['unit'].nunique():,}, levels: {answers['level'].nunique():,}",
        f"draws of a form: {per_form.min()} to {per_form.max()}",
    ]
    counts = {
        "answers without a decision": int(answers["decision"].isna().sum()),
        "empty answers": int((answers["text"].str.strip() == "").sum()),
        "units with one level only, of each model": int((forms == 1).sum()),
    }
    return lines + [f"{what}: {count:,}" for what, count in counts.items() if count]


def main(arguments: argparse.Namespace) -> None:
    """Convert all files, write the table, and say what is in it."""
    if arguments.kind in FOLDERS:
        answers = FOLDERS[arguments.kind](arguments.input)
    else:
        settings = {key: value for key in ("unit", "level", "filtered_by") if (value := getattr(arguments, key, None))}
        answers = LOGS[arguments.kind](arguments.input, **settings)
    answers = kept(answers, dict(arguments.keep))
    lines = described(answers)
    answers = answers[[*COLUMNS, *(name for name in answers if name not in COLUMNS)]]
    with replacing(arguments.output) as path:
        answers.to_parquet(path, index=False, compression="zstd")
    print("\n".join(lines))


def flags() -> argparse.ArgumentParser:
    """The flags of all converters."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest="kind", required=True)
    for name in (*FOLDERS, *LOGS):
        kind = kinds.add_parser(name)
        several = {"nargs": "+"} if name in LOGS else {}
        kind.add_argument("--input", type=Path, required=True, **several, help="the folder, or the logs")
        kind.add_argument("--output", type=Path, required=True, help="the table (.parquet)")
        kind.add_argument(
            "--keep", type=_pair, nargs="+", default=[], metavar="COLUMN=VALUE", help="only rows with these values"
        )
        if name in LOGS:
            kind.add_argument("--unit", help="field of a sample that says its unit, such as metadata.question")
            kind.add_argument("--level", help="field of a sample that says its level")
    kinds.choices["lm_evaluation_harness"].add_argument(
        "--filter", dest="filtered_by", help="the filter that reads the decision out"
    )
    return parser


def _pair(text: str) -> tuple[str, str]:
    column, sign, value = text.partition("=")
    if not sign:
        raise argparse.ArgumentTypeError(f"'{text}': write COLUMN=VALUE")
    return column, value


if __name__ == "__main__":
    run(main, flags())
