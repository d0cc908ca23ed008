"""Ask a language model behind an address what follows from its answers, and keep what it says."""

import argparse
from pathlib import Path

from evenlight.core.contracts.explanations import ANSWERS, FOLLOW_UPS
from evenlight.core.contracts.texts import ITEMS
from evenlight.core.tables import read_table, write_table
from evenlight.explainers import Explainer
from evenlight.explainers.answering import questions_of
from evenlight.explainers.families.from_api.asking import ask_follow_ups
from evenlight.jobs import command_line
from evenlight.models.architectures.chat import AskingForAnswers, Chat
from evenlight.models.services.chat import CachedChat


def main(arguments: argparse.Namespace) -> None:
    """Write an answer in each row."""
    settings, model = arguments.settings, Chat.parse(arguments.settings["chat"])
    questions, answers = questions_of(read_table(arguments.items, ITEMS)), read_table(arguments.answered, ANSWERS)
    policy = AskingForAnswers(**arguments.asking.get(settings["name"], {}))
    chat = CachedChat(model, arguments.answers, policy)
    table = ask_follow_ups(
        answers,
        questions,
        settings["abouts"],
        Explainer.parse(settings["settings"]),
        model,
        settings["seed"],
        chat,
        settings["explainer"],
    )
    print(f"{chat.asked:,} questions asked", flush=True)
    write_table(table, arguments.output, FOLLOW_UPS, settings)


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet)")
    parser.add_argument("--answered", type=Path, required=True, help="table of its answers (Parquet)")
    command_line.add_service_flags(parser)
    parser.add_argument("--output", type=Path, required=True, help="table of answers to follow-up questions (Parquet)")
    command_line.run(main, parser)
