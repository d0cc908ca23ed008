"""Say, before the first of them, how many questions a language model behind an address will be asked, and at what cost.

What goes beyond the limits of the study is refused here.
"""

import argparse
from pathlib import Path

from evenlight.core.contracts.texts import ITEMS
from evenlight.core.tables import read_table, replacing
from evenlight.explainers import Explainer
from evenlight.explainers.answering import questions_of
from evenlight.explainers.families.from_api.asking import check_limits, draws_of, draws_of_follow_ups, estimate, told
from evenlight.jobs import command_line
from evenlight.models.architectures.chat import Chat
from evenlight.models.services.chat import kept_replies


def main(arguments: argparse.Namespace) -> None:
    """Print and write the estimate."""
    settings, model = arguments.settings, Chat.parse(arguments.settings["chat"])
    questions = questions_of(read_table(arguments.items, ITEMS))
    store = kept_replies(model, arguments.answers)
    draws, max_tokens = {}, {}
    for explainer, method in Explainer.parse_all(settings["explainers"]).items():
        draws[explainer] = draws_of(questions, method, model, settings["seed"], explainer)
        if abouts := settings["follow_ups"]:
            draws[f"{explainer}, follow-up questions"] = draws_of_follow_ups(
                questions, abouts, method, model, settings["seed"], store, explainer
            )
        max_tokens |= dict.fromkeys([name for name in draws if name not in max_tokens], method.max_tokens)
    estimates = estimate(draws, store, max_tokens)
    text = "\n".join(told(estimates, model, f"{settings['name']} on {arguments.items.parent.name}")) + "\n"
    print(text, end="", flush=True)
    check_limits(estimates, model, settings["name"])
    with replacing(arguments.output) as temporary:
        Path(temporary).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet)")
    command_line.add_service_flags(parser)
    parser.add_argument("--output", type=Path, required=True, help="text file")
    command_line.run(main, parser)
