"""Write the drafted sentences as tasks for Label Studio, with the labelling configuration of the project."""

import argparse
import json

from evenlight.core.tables import replacing
from evenlight.corpus.annotation.label_studio import labelling_configuration, tasks
from evenlight.corpus.annotation.review_page import review_sentences
from evenlight.jobs import command_line


def main(arguments: argparse.Namespace) -> None:
    """Write both files."""
    sentences = review_sentences(arguments.candidates, arguments.drafts)
    with replacing(arguments.tasks) as temporary:
        text = json.dumps(tasks(sentences), ensure_ascii=False, indent=1)
        temporary.write_text(text + "\n", encoding="utf-8", newline="\n")
    with replacing(arguments.configuration) as temporary:
        temporary.write_text(labelling_configuration(), encoding="utf-8", newline="\n")
    print(f"{len(sentences):,} tasks in {arguments.tasks}, for a project configured with {arguments.configuration}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--candidates", required=True, metavar="PARQUET", help="the candidate sentences")
    parser.add_argument("--drafts", required=True, metavar="PARQUET", help="their drafted forms")
    parser.add_argument("--tasks", required=True, metavar="JSON", help="the tasks, to be imported into a project")
    parser.add_argument("--configuration", required=True, metavar="XML", help="the project's labelling configuration")
    command_line.run(main, parser)
