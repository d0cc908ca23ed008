"""Let a causal language model answer the questions of a dataset in words; killed and started again, it goes on.

Answers are reused that were made of the same question, settings, model and versions. So more questions or more answers
to each cost what is new.
"""

import argparse
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from evenlight.core.contracts.explanations import ANSWERS, FOLLOW_UPS
from evenlight.core.contracts.texts import ITEMS
from evenlight.core.tables import read_table
from evenlight.engine import rounding_of
from evenlight.engine.progress import Progress
from evenlight.explainers import Explainer
from evenlight.explainers.answering import Question, messages_of, notes_of, questions_of
from evenlight.explainers.families.local_generation.writing import Generator
from evenlight.explainers.follow_ups import CONTRIBUTIONS, ROWS_OF, Followed, followed
from evenlight.jobs.command_line import add_group_flag, add_model_flags, run, settings_argument
from evenlight.jobs.environment import library_versions
from evenlight.jobs.parts import DIGEST, Missing, digest_of, digest_of_inputs, make_rows, write_part
from evenlight.models import model_files
from evenlight.models.decoder import load_decoder
from evenlight.models.devices import use_processor
from evenlight.models.location import loaded_files
from evenlight.texts.predictions import explained_items

# What names an answer to a follow-up question.
KEY = ["item_id", "draw", "about"]


class Job:
    """What one run of this command works on.

    Args:
        arguments: its flags.
    """

    contract = ANSWERS

    def __init__(self, arguments: argparse.Namespace):
        self.arguments, self.settings = arguments, arguments.settings
        self.method = Explainer.parse(self.settings["settings"])

    @cached_property
    def questions(self) -> list[Question]:
        """Those of the test split; where the model predicts, those whose texts are explained."""
        found = questions_of(read_table(self.arguments.items, ITEMS))
        if self.arguments.predictions is None:
            return found
        explained = set(explained_items(self.arguments.predictions).to_pylist())
        return [question for question in found if question.item_id in explained]

    def _messages(self, question: Question) -> list[dict[str, str]]:
        return messages_of(question, self.method.template, self.method.system)

    @cached_property
    def draws(self) -> list[tuple[Question, int]]:
        """All answers that are wanted, in the order of the table."""
        return [(question, draw) for question in self.questions for draw in range(self.method.answers)]

    @cached_property
    def common(self) -> str:
        """A digest of what all answers depend on, beside their question and the number of their draw."""
        arguments, settings = self.arguments, self.settings
        source = settings["checkpoint"]
        model = loaded_files(source["source"], source["revision"]) if source else {}
        return digest_of_inputs(
            {name: value for name, value in settings.items() if name != "abouts"}
            | {"settings": self.method.model_dump(exclude={"label", "answers", "follow_ups"})}
            | {"versions": arguments.versions, "model files": model.get("files")}
            | {"rounding": rounding_of(arguments)},
            model_files(arguments.model),
        )

    def made_of(self, names: list[str]) -> dict[str, np.ndarray]:
        """What each answer depends on."""
        asked = {question.item_id: digest_of(self._messages(question)) for question in self.questions}
        digests = [digest_of(self.common, each.item_id, asked[each.item_id], draw) for each, draw in self.draws]
        return {name: np.array(digests, DIGEST) for name in names}

    def generator(self, progress: Progress) -> Generator:
        """The model, with the settings of the explainer."""
        arguments, settings = self.arguments, self.settings
        use_processor(arguments.threads)
        source = settings["checkpoint"] or {"source": str(arguments.model), "revision": None}
        decoder = load_decoder(
            source["source"],
            source["revision"],
            arguments.device,
            settings["precision"],
            self.method.chat_template,
        )
        if not decoder.keeps:
            print("note: this network gives other logits from keys and values, so that each token reads its text again")
        return Generator(
            decoder,
            self.method,
            settings["seed"],
            settings["model"],
            tokens_per_batch=arguments.tokens_per_batch or 0,
            on_answers=progress.count_rows,
        )

    def write_missing(self, missing: Missing) -> None:
        """Write the answers that are not there, a group at a time."""
        [name] = missing.rows
        rows = missing.rows[name].missing
        wanted = np.flatnonzero(rows)
        progress = Progress(len(rows), [1.0] * len(rows))
        progress.count_items(len(rows) - len(wanted), done_before=True)
        generator = self.generator(progress)
        self.refuse_long_prompts(generator, wanted)
        print(f"{name}: writing {len(wanted):,} answers on {generator.writer.decoder.device}", flush=True)
        progress.start()
        for start in range(0, len(wanted), self.arguments.items_per_group):
            numbers = wanted[start : start + self.arguments.items_per_group]
            write_part(missing, numbers, {name: self.written(generator, numbers)})
            progress.count_items(len(numbers))
        print(progress.summary(), flush=True)

    def refuse_long_prompts(self, generator: Generator, wanted: np.ndarray) -> None:
        """Ask for all prompts at once, so that one which is too long is refused before any answer."""
        generator.prompts(list({self.draws[number][0].item_id: self.draws[number][0] for number in wanted}.values()))

    def written(self, generator: Generator, numbers: np.ndarray) -> pa.Table:
        """The answers of some numbers, in their order."""
        return generator.answers([self.draws[number] for number in numbers])

    def made_with(self) -> dict:
        """Versions that the file says of itself."""
        return {"versions": self.arguments.versions, "libraries": library_versions()}

    def described(self, name: str, tables: Iterator[pa.Table]) -> dict:
        """What the file says of itself, with what is unusual of its answers."""
        answers = pa.concat_tables(tables).to_pandas()
        looked_at = f"explainers.{self.settings['explainer']}.decision" if self.method.decision else None
        notes = notes_of(answers, {question.item_id for question in self.questions}, looked_at)
        print(*notes, sep="\n")
        return self.settings | self.made_with() | {"note": "; ".join(notes)}


class FollowUpJob(Job):
    """The same of the questions that follow from the answers: a row for each of them."""

    contract = FOLLOW_UPS

    @cached_property
    def answers(self) -> list[Followed]:
        """The answers from which questions follow."""
        return followed(read_table(self.arguments.follow_ups_of, ANSWERS), self.questions, self.method)

    @cached_property
    def rows(self) -> list[tuple[int, str]]:
        """The number of the answer and what its question is about, in the order of the table."""
        abouts = sorted(row for about in self.settings["abouts"] for row in ROWS_OF[about])
        order = sorted(range(len(self.answers)), key=lambda place: self._name(self.answers[place]))
        return [(place, about) for place in order for about in abouts]

    @staticmethod
    def _name(each: Followed) -> tuple[str, int]:
        return each.question.item_id, each.draw

    def _made_of(self, each: Followed, about: str) -> str:
        prompts = self.method.follow_ups
        further = {"redaction": ["redaction", "mask"], CONTRIBUTIONS: ["orders"]}
        keys = [further.get(asked, [asked]) for asked, rows in ROWS_OF.items() if about in rows]
        asking = [getattr(prompts, key) for of_about in keys for key in of_about]
        return digest_of(
            self.common,
            *self._name(each),
            [each.decision, each.text, self._messages(each.question)],
            [about, *asking, prompts.undecided],
        )

    def made_of(self, names: list[str]) -> dict[str, np.ndarray]:
        """What each answer depends on."""
        digests = [self._made_of(self.answers[place], about) for place, about in self.rows]
        return {name: np.array(digests, DIGEST) for name in names}

    def refuse_long_prompts(self, generator: Generator, wanted: np.ndarray) -> None:
        """Prompts that follow from answers to come are not known before."""

    def written(self, generator: Generator, numbers: np.ndarray) -> pa.Table:
        """The answers of some numbers, in their order; those that follow from one answer come together."""
        some = [self.rows[number] for number in numbers]
        those = [self.answers[place] for place in dict.fromkeys(place for place, _ in some)]
        abouts = [about for about, its in ROWS_OF.items() if {row for _, row in some} & set(its)]
        said = generator.follow_ups(those, abouts)
        keys = [tuple(row[name] for name in KEY) for row in said.select(KEY).to_pylist()]
        found = {key: place for place, key in enumerate(keys)}
        return said.take([found[(*self._name(self.answers[place]), about)] for place, about in some])

    def described(self, name: str, tables: Iterator[pa.Table]) -> dict:
        """What the file says of itself."""
        return self.settings | self.made_with()


def main(arguments: argparse.Namespace) -> None:
    """Write an answer in each row."""
    job = FollowUpJob(arguments) if arguments.follow_ups_of else Job(arguments)
    make_rows(
        [arguments.output],
        job.contract,
        job=arguments.output.stem,
        size=arguments.items_per_group,
        made_of=job.made_of,
        compute=job.write_missing,
        describe=job.described,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet)")
    parser.add_argument(
        "--follow-ups-of", type=Path, help="table of its answers (Parquet), where it is asked what follows from them"
    )
    parser.add_argument("--predictions", type=Path, help="table of predictions (Parquet), of a model that predicts")
    parser.add_argument(
        "--settings",
        type=settings_argument,
        required=True,
        help="JSON: explainer, settings, model, seed, precision, checkpoint",
    )
    parser.add_argument(
        "--versions", type=settings_argument, default={}, help="JSON: versions of what is used, kept in the table"
    )
    add_model_flags(parser, required=False)
    add_group_flag(parser)
    parser.add_argument("--output", type=Path, required=True, help="table of answers, <explainer>.parquet")
    run(main, parser)
