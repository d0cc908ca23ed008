"""Ask a language model behind an address about the questions of a dataset, and keep what it answers in words."""

import argparse
from pathlib import Path

from evenlight.core.contracts.explanations import ANSWERS
from evenlight.core.contracts.texts import ITEMS
from evenlight.core.tables import read_table, write_table
from evenlight.explainers import Explainer
from evenlight.explainers.answering import questions_of
from evenlight.explainers.families.from_api.asking import ask
from evenlight.jobs import command_line
from evenlight.models.architectures.chat import AskingForAnswers, Chat
from evenlight.models.services.chat import CachedChat

# Answers after which a line of the log says how many there are.
TOLD_EVERY = 100


def main(arguments: argparse.Namespace) -> None:
    """Write an answer in each row; the metadata say what is unusual."""
    settings, model = arguments.settings, Chat.parse(arguments.settings["chat"])
    questions = questions_of(read_table(arguments.items, ITEMS))
    policy = AskingForAnswers(**arguments.asking.get(settings["name"], {}))

    def tell() -> None:
        if chat.asked % TOLD_EVERY == 0:
            print(f"{chat.asked:,} answers", flush=True)

    chat = CachedChat(model, arguments.answers, policy, tell)
    answers, notes = ask(
        questions,
        Explainer.parse(settings["settings"]),
        model,
        settings["seed"],
        chat,
        settings["explainer"],
    )
    print(f"{chat.asked:,} questions asked", *notes, sep="\n")
    write_table(answers, arguments.output, ANSWERS, settings | {"note": "; ".join(notes)})


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet)")
    command_line.add_service_flags(parser)
    parser.add_argument("--output", type=Path, required=True, help="table of answers (Parquet)")
    command_line.run(main, parser)
