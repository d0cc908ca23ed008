"""Draw one sentence of a dataset with what its words get in every strategy, as bars."""

import argparse

from evenlight.core import tables
from evenlight.core.contracts.texts import ITEMS
from evenlight.jobs import command_line
from evenlight.reports.plots.sentence import draw_sentence
from evenlight.reports.style import draw
from evenlight.statistics.analyses.word_attributions import chosen_sentence, has_truth, read_word_shares
from evenlight.statistics.comparisons.files import Run, items_path


def main(arguments: argparse.Namespace) -> None:
    """Write the figure of one sentence that all models explain, under the first seed of each."""
    settings, dataset = arguments.settings, arguments.dataset
    shares = {}
    for explainer, explainer_label in settings["explainers"].items():
        for model, (label, seed) in settings["models"].items():
            run = Run(dataset, model, seed)
            read = read_word_shares(arguments.attributions, arguments.datasets, arguments.predictions, run, explainer)
            shares[explainer_label, label] = dict(read)
    items = tables.read_table(items_path(arguments.datasets, dataset), ITEMS.only("item_id", "words", "ground_truth"))
    everywhere = set.intersection(*map(set, shares.values()))
    item = chosen_sentence(items, everywhere, dataset, settings["item"])
    truth = item["ground_truth"] if has_truth(item["ground_truth"]) else [0] * len(item["words"])
    of_item = {key: values[item["item_id"]] for key, values in shares.items()}
    title = f"{' '.join(item['words'])} ({settings['dataset']})"
    draw(arguments.output, lambda: draw_sentence(list(item["words"]), list(truth), of_item, title), title)


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    command_line.add_folder_flags(parser, "attributions", "datasets", "predictions")
    parser.add_argument("--dataset", required=True, metavar="NAME")
    command_line.add_figure_flag(parser)
    command_line.run(main, parser)
