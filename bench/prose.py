"""How the documents read: long sentences, their mean length by page, words of old, and terms that a page does not link.

It prints, and decides nothing: people read it.
"""

import argparse
import re
import statistics
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from bs4 import BeautifulSoup
from markdown_it import MarkdownIt

from evenlight.core.errors import InputError
from evenlight.jobs.command_line import run

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 40  # words; a longer sentence is never right
MARKDOWN = MarkdownIt("commonmark").enable("table")

# Words that the project once used, and those of the field.
OLD_WORDS = {
    r"of (the mean of )?further trainings": "across retraining",
    r"(equivalent|disparity|others|best) (in|of) these models": "for these trained models",
    r"goes along with": "covariate-adjusted, or associated with",
    r"turned round": "reversed",
    r"readings": "predictions",
    r"told levels?": "predicted levels",
    r"lean(s|ing)? on|leaning": "rely on, reliance",
    r"(the|a|its|their|whose) ways? in(?! which)|entrances?": "model inputs, embedding layer",
    r"(the|a) ways? out": "suggested method",
    r"shards?": "attribution file",
    r"drawn pairs": "sampled units",
    r"wholes": "groups kept together",
    r"anew": "again",
    r"heed(s|ed)?": "obey",
}
# Terms that are also words of every day; where they are meant as terms, no tool can tell.
EVERYDAY = {
    *("attribute", "baseline", "change", "checkpoint", "class", "cluster", "comparison", "concept", "control", "edit"),
    *("effect", "factor", "family", "form", "group", "item", "level", "model", "note", "pair"),
    *("question", "row", "run", "seed", "service", "study", "target", "token", "unit", "word", "world"),
}
FORMULA = re.compile(r"\$[^$]+\$")
BETWEEN = re.compile(r"(?<=[.?!])(?<! al\.)\s+(?=[^a-z])")
OLD = re.compile(r"\b(" + "|".join(f"(?:{word})" for word in OLD_WORDS) + r")\b", re.IGNORECASE)


class Passage(NamedTuple):
    """A paragraph, an item of a list or a cell of a table, with the line where it begins."""

    line: int
    text: str
    in_table: bool = False


class Sentence(NamedTuple):
    """A sentence, the line where it begins, and whether it stands in a table."""

    line: int
    text: str
    in_table: bool = False

    @property
    def length(self) -> int:
        """How many words it has; numbers and code count as one, and a dash or a sign as none."""
        return sum(any(letter.isalnum() for letter in word) for word in self.text.split())


def passages(path: Path) -> Iterator[Passage]:
    """What readers read in a file of Markdown or a page of HTML, headings and blocks of code aside."""
    text = path.read_text(encoding="utf-8")
    return _of_html(text) if path.suffix == ".html" else _of_markdown(text)


def _of_markdown(text: str) -> Iterator[Passage]:
    line, around = 0, ""
    for token in MARKDOWN.parse(text):
        line = token.map[0] if token.map else line
        if token.type == "inline" and around != "heading_open":
            words = FORMULA.sub(_as_one_word, _words(token.children))
            yield Passage(line + 1, words, around in ("td_open", "th_open"))
        around = token.type


def _words(tokens: list) -> str:
    """The text of a paragraph on the lines of its file; code is one word, a picture none."""
    kept = {"text": str, "code_inline": _one_word}
    breaks = ("softbreak", "hardbreak")
    return "".join(
        "\n" if token.type in breaks else kept[token.type](token.content)
        for token in tokens
        if token.type in breaks or token.type in kept
    )


def _as_one_word(formula: re.Match) -> str:
    return "`formula`" + "\n" * formula.group().count("\n")


def _one_word(code: str) -> str:
    return "`" + re.sub(r"\s+", "_", code) + "`"


def _of_html(text: str) -> Iterator[Passage]:
    page = BeautifulSoup(text, "html.parser")
    for unread in page(["script", "style", "svg"]):
        unread.decompose()
    for part in page(["p", "li", "summary", "td"]):
        for code in part("code"):
            code.replace_with(_one_word(code.get_text()))
        yield Passage(part.sourceline, " ".join(part.get_text().split()), part.name == "td")


def split(text: str) -> list[str]:
    """The sentences of a text: where one ends, the next begins with anything but a small letter.

    spaCy's sentencizer is no better here: it ends a sentence after "et al." and "Fig.", and takes seconds to import.
    """
    return BETWEEN.split(text)


def sentences(path: Path) -> Iterator[Sentence]:
    """Every sentence of a document."""
    for passage in passages(path):
        starts = [0, *(match.end() for match in BETWEEN.finditer(passage.text))]
        for start, text in zip(starts, split(passage.text), strict=True):
            line = passage.line + passage.text.count("\n", 0, start)
            yield Sentence(line, " ".join(text.split()), passage.in_table)


def old_words(text: str) -> list[tuple[str, str]]:
    """The words of old in a text, code aside, each with what is said now."""
    found = [match.group() for match in OLD.finditer(re.sub(r"`[^`]*`", "", text))]
    return [(word, _instead(word)) for word in found]


def _instead(word: str) -> str:
    return next(new for old, new in OLD_WORDS.items() if re.fullmatch(old, word, re.IGNORECASE))


def mean_length(read: Iterable[Sentence]) -> float:
    """The mean length of the sentences that end as sentences do; what stands in tables is none."""
    lengths = [
        sentence.length for sentence in read if not sentence.in_table and sentence.text.endswith((".", "?", "!"))
    ]
    return statistics.fmean(lengths) if lengths else 0.0


def glossary_terms(glossary: Path) -> dict[str, str]:
    """The terms of the glossary, each with its anchor."""
    rows = re.findall(r'^\| <a id="([^"]*)"></a>\*\*(.+?)\*\*', glossary.read_text(encoding="utf-8"), re.MULTILINE)
    return {term: anchor for anchor, names in rows for term in names.split(", ")}


def unlinked_terms(path: Path, terms: dict[str, str]) -> list[str]:
    """The terms of the glossary that a page uses without a link to their rows."""
    text = " ".join(passage.text for passage in passages(path))
    linked = set(re.findall(r"glossary\.md#([\w-]+)", path.read_text(encoding="utf-8")))
    used = [
        term for term in terms if term not in EVERYDAY and re.search(rf"\b{re.escape(term)}s?\b", text, re.IGNORECASE)
    ]
    return [term for term in used if terms[term] not in linked]


def documents() -> list[Path]:
    """The pages that are held here: README, the guides, what was measured, and the keys of the configuration."""
    guides = sorted((ROOT / "docs").rglob("*.md"))
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", ROOT / "config" / "README.md", *guides]


def main(arguments: argparse.Namespace) -> None:
    """Print what is to be mended, page by page, and the longest sentences of all pages at the end."""
    pages = arguments.pages or documents()
    for path in pages:
        if path.suffix not in (".md", ".html") or not path.is_file():
            raise InputError(f"{path}: no page; name files that end in .md or .html")
    terms = glossary_terms(ROOT / "docs" / "glossary.md")
    every = {path: list(sentences(path)) for path in pages}
    print("mean  longest  page")
    for path, read in sorted(every.items(), key=lambda page: -mean_length(page[1])):
        longest = max((sentence.length for sentence in read), default=0)
        print(f"{mean_length(read):4.1f}  {longest:7}  {_shown(path)}")
    print("\nwords of old")
    for path, read in every.items():
        for sentence in read:
            for word, new in old_words(sentence.text):
                print(f"{_shown(path)}:{sentence.line}: {word}; say {new}")
    if arguments.terms:
        print("\nterms of the glossary that a page does not link")
        for path in pages:
            print(f"{_shown(path)}: {', '.join(unlinked_terms(path, terms))}")
    print(f"\nthe {arguments.longest} longest sentences, and all of over {LONGEST} words")
    by_length = sorted(
        ((sentence, path) for path, read in every.items() for sentence in read), key=lambda x: -x[0].length
    )
    for place, (sentence, path) in enumerate(by_length):
        if place < arguments.longest or sentence.length > LONGEST:
            print(f"{sentence.length:4}  {_shown(path)}:{sentence.line}: {sentence.text}")


def _shown(path: Path) -> Path:
    path = path.resolve()
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", type=Path, nargs="*", help="pages to read, .md or .html; all documents without any")
    parser.add_argument("--longest", type=int, default=20, help="how many of the longest sentences to print")
    parser.add_argument("--terms", action="store_true", help="also the terms of the glossary that pages do not link")
    run(main, parser)
