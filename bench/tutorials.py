"""Follow tutorials as their readers do: save the files, edit them, run the commands, and keep what these say.

    python bench/tutorials.py --folder results/tutorials docs/tutorials/first_audit.md    # in a clone of the project

A page is read by its blocks of code. What stands below "Save this as `name`:" is a file, a block ``diff`` below "In
`name`" changes one. A block without a language has commands, one on each line. A block ``text`` quotes what the last
command has said, or what the files say that the paragraph above it names; "…" stands for what is left out. Where the
block is ``text refused``, the command must fail. What is ``text found`` depends on the trained model, and is compared
where that is the one of the pages, bit by bit; another kind of processor trains another one.
"""

import argparse
import hashlib
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from markdown_it import MarkdownIt

NAMED = re.compile(r"`([\w./-]+\.\w+)`")
SAVED = re.compile(r"Save this as `([\w./-]+)`:$")
DOES = {"": "run", "diff": "edit", "text": "compare"}
MODEL = "results/demo/models/demo_subj/small_bert/seed0/model.safetensors"
INDEX = Path(__file__).parents[1] / "docs/tutorials/README.md"
# These make an environment, which is there.
ELSEWHERE = ("make .venv/", "pip install", "source ")
# Numbers, and how long something takes, differ between machines.
NUMBER = re.compile(r"(?:under )?[−-]?\d[\d.,:]*(?: (?:s|min|h)\b|%)?")


@dataclass(frozen=True)
class Step:
    """What a reader does or reads at one block: ``save`` a file, ``edit`` it, ``run`` commands, or ``compare``."""

    does: str
    text: str
    names: tuple[str, ...] = ()
    refused: bool = False
    found: bool = False

    @property
    def commands(self) -> list[str]:
        """The commands of the block, without comments."""
        lines = [line.split("  #")[0].strip() for line in self.text.splitlines()]
        return [line for line in lines if line and not line.startswith(ELSEWHERE)]


def steps(page: str) -> list[Step]:
    """What a page, Markdown, has its reader do, in order."""
    found, above = [], ""
    for token in MarkdownIt().parse(page):
        language, *more = token.info.split() or [""]
        if token.type == "inline":
            above = token.content
        elif token.type == "fence" and (saved := SAVED.search(above)):
            found.append(Step("save", token.content, (saved[1],)))
        elif token.type == "fence" and language in DOES:
            if more == ["refused"]:
                found[-1] = replace(found[-1], refused=True)
            found.append(Step(DOES[language], token.content, tuple(NAMED.findall(above)), found=more == ["found"]))
    return found


@dataclass
class Reader:
    """One who follows pages in a folder; ``run`` runs a command there, and gives back what it says and how it ends."""

    folder: Path
    run: Callable[[str], tuple[str, int]]
    said: str = field(default="", init=False)

    def follow(self, step: Step) -> None:
        """Do what the step says.

        Raises:
            AssertionError: it cannot be done, or something else comes of it than the page says.
        """
        getattr(self, f"_{step.does}")(step)

    def _save(self, step: Step) -> None:
        path = self.folder / step.names[0]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(step.text, encoding="utf-8")

    def _edit(self, step: Step) -> None:
        path = self.folder / step.names[-1]
        lines = step.text.splitlines(keepends=True)
        before, after = ("".join(line[1:] for line in lines if line[0] in kept) for kept in (" -", " +"))
        text = path.read_text(encoding="utf-8")
        assert text.count(before) == 1, f"{path}: not once there:\n{before}"
        path.write_text(text.replace(before, after), encoding="utf-8")

    def _run(self, step: Step) -> None:
        for command in step.commands:
            self.said, status = self.run(command)
            assert bool(status) == step.refused, f"{command}: ended with {status}, and said:\n{self.said}"

    def _compare(self, step: Step) -> None:
        if step.found and not is_model_of_the_pages(self.folder):
            print(f"not compared, since the model trained here is another one: {step.text}")
            return
        paths = [path for name in step.names if (path := self.folder / name).exists()]
        missing = unsaid(step.text, [self.said, *(path.read_text(encoding="utf-8") for path in paths)])
        assert not missing, f"nothing says {missing!r}; the last command said:\n{self.said}"


def is_model_of_the_pages(folder: Path) -> bool:
    """Whether the model that was trained in the folder is that of the tutorials, whose index has its SHA-256."""
    model = folder / MODEL
    return model.exists() and hashlib.sha256(model.read_bytes()).hexdigest() in INDEX.read_text(encoding="utf-8")


def unsaid(quoted: str, said: Iterable[str]) -> list[str]:
    """The parts of a quotation that nothing says, whatever the numbers and the white space."""
    said = [plain(text) for text in said]
    parts = [plain(part) for part in quoted.split("…")]
    return [part for part in parts if part and not any(part in text for text in said)]


def plain(text: str) -> str:
    """The text with its numbers made equal, and one space between words."""
    return " ".join(NUMBER.sub("0", text).replace("\\", "").split())


def main(arguments: argparse.Namespace) -> None:
    """Follow the pages one after the other, and print what the commands say."""

    def run(command: str) -> tuple[str, int]:
        print(f"$ {command}", flush=True)
        done = subprocess.run(
            command, cwd=arguments.folder, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        print(done.stdout, flush=True)
        return done.stdout, done.returncode

    for page in arguments.pages:
        reader = Reader(arguments.folder, run)
        for step in steps(page.read_text(encoding="utf-8")):
            try:
                reader.follow(step)
            except AssertionError as problem:
                sys.exit(f"error: {page}: {problem}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("results/tutorials"))
    parser.add_argument("pages", type=Path, nargs="+")
    main(parser.parse_args())
