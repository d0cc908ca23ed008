"""The review page: one HTML file with the sentences, their drafted forms and all it needs to work on them.

An annotator opens it in a browser, without server or network; what the browser exports in the end is described in
``config/schemas/review_export.schema.yaml``.
"""

import hashlib
import json
from pathlib import Path

from evenlight.core.contracts.corpus import CANDIDATES, DRAFTS
from evenlight.core.errors import InputError
from evenlight.core.tables import read_arrow, replacing
from evenlight.corpus.annotation import GROUPS, SCOPES

FORMS = tuple((scope, group) for scope in SCOPES for group in GROUPS)  # in the order in which they are shown

# Offered to annotators, who may write others.
REASONS = (
    "not about the plot",
    "broken or incomplete sentence",
    "heading, quotation or citation",
    "subject is no person",
    "subject or verb wrongly found",
    "makes no sense in another gender",
    "the same as another sentence",
)


def review_sentences(candidates: str | Path, drafts: str | Path) -> list[dict]:
    """The sentences to review, in the order of the table of candidates.

    Each has ``sentence_id``, ``words``, ``glued`` (the words, from 0, with no space before them), ``root`` (a word),
    ``subject`` (words, the head first) and ``forms``, each with ``scope``, ``group``, ``words`` and ``ground_truth``,
    one per word of the source; an empty word says that nothing stands there. All sentences have the same forms, in
    the order of ``FORMS``. Raises InputError, naming the file and the sentence, where the tables do not fit together.
    """
    drafted = _forms_by_sentence(drafts)
    columns = CANDIDATES.only("sentence_id", "text", "words", "root", "subject")
    sentences, number_of_id = [], {}
    for number, row in enumerate(read_arrow(candidates, columns).to_pylist(), start=1):
        location = f"{candidates}: row {number}, sentence '{row['sentence_id']}'"
        if row["sentence_id"] in number_of_id:
            raise InputError(
                f"{location}: the same sentence_id as in row {number_of_id[row['sentence_id']]}; rename one"
            )
        number_of_id[row["sentence_id"]] = number
        _check_candidate(row, location)
        forms = drafted.pop(row["sentence_id"], None)
        if forms is None:
            raise InputError(f"{drafts}: no form of sentence '{row['sentence_id']}'; {_remedy(DRAFTS)}")
        _check_lengths(forms, len(row["words"]), f"{drafts}: sentence '{row['sentence_id']}'")
        sentences.append(
            {
                "sentence_id": row["sentence_id"],
                "words": row["words"],
                "glued": _glued(row["text"], row["words"]),
                "root": row["root"],
                "subject": row["subject"],
                "forms": [forms[key] for key in FORMS if key in forms],
            }
        )
    if not sentences:
        raise InputError(f"{candidates}: no sentence to review; give more pages, or filter less")
    if drafted:
        raise InputError(
            f"{drafts}: sentence '{next(iter(drafted))}' is no candidate of {candidates}; {_remedy(DRAFTS)}"
        )
    _check_same_forms(sentences, drafts)
    return sentences


def content_digest(sentences: list[dict]) -> str:
    """SHA-256 (hexadecimal) of what is reviewed; equal for everybody who reviews the same sentences and drafts."""
    text = json.dumps(sentences, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _remedy(contract) -> str:
    return f"delete the file and run the workflow again, rule {contract.rule} makes it"


def _forms_by_sentence(drafts: str | Path) -> dict[str, dict[tuple[str, str], dict]]:
    forms: dict[str, dict[tuple[str, str], dict]] = {}
    for number, row in enumerate(read_arrow(drafts, DRAFTS).to_pylist(), start=1):
        sentence_id = row.pop("sentence_id")
        key = (row["scope"], row["group"])
        location = f"{drafts}: row {number}, sentence '{sentence_id}'"
        if key not in FORMS:
            known = ", ".join(" ".join(form) for form in FORMS)
            raise InputError(f"{location}: scope and group are '{' '.join(key)}', known are {known}; {_remedy(DRAFTS)}")
        if key in forms.setdefault(sentence_id, {}):
            raise InputError(f"{location}: a second form '{' '.join(key)}'; {_remedy(DRAFTS)}")
        forms[sentence_id][key] = row
    return forms


def _check_candidate(row: dict, location: str) -> None:
    for word in row["words"]:
        if not word.strip():
            raise InputError(f"{location}: column 'words' has {word!r}, a word of nothing; {_remedy(CANDIDATES)}")
    for name, positions in (("root", [row["root"]]), ("subject", row["subject"])):
        for position in positions:
            if position not in range(len(row["words"])):
                raise InputError(
                    f"{location}: column '{name}' names word {position} of {len(row['words'])}; {_remedy(CANDIDATES)}"
                )


def _check_lengths(forms: dict[tuple[str, str], dict], length: int, location: str) -> None:
    for (scope, group), form in forms.items():
        lengths = (len(form["words"]), len(form["ground_truth"]))
        if lengths != (length, length):
            raise InputError(
                f"{location}, form '{scope} {group}': {lengths[0]} words and {lengths[1]} values of ground truth for "
                f"{length} words of the source; {_remedy(DRAFTS)}"
            )
        if not any(word.strip() for word in form["words"]) or not set(form["ground_truth"]) <= {0, 1}:
            raise InputError(
                f"{location}, form '{scope} {group}': no word at all, or a ground truth other than 0 and 1; "
                f"{_remedy(DRAFTS)}"
            )


def _check_same_forms(sentences: list[dict], drafts: str | Path) -> None:
    first, *following = ([(form["scope"], form["group"]) for form in sentence["forms"]] for sentence in sentences)
    for sentence, forms in zip(sentences[1:], following, strict=True):
        if forms != first:
            raise InputError(
                f"{drafts}: sentence '{sentence['sentence_id']}' has other forms than "
                f"'{sentences[0]['sentence_id']}'; {_remedy(DRAFTS)}"
            )


def _glued(text: str, words: list[str]) -> list[int]:
    """The words that stand in ``text`` without a space before them; none where the words are not those of the text."""
    glued, position = [], 0
    for index, word in enumerate(words):
        start = text.find(word, position)
        if start < 0 or text[position:start].strip():
            return []
        if index and start == position:
            glued.append(index)
        position = start + len(word)
    return glued


# A file of its own, unlike the smaller pages: the rule names it as its input, so that a change remakes the page.
TEMPLATE = Path(__file__).with_name("review.html")


def render(sentences: list[dict], title: str, language: str) -> str:
    """The page for ``sentences`` as :func:`review_sentences` gives them.

    ``language`` (a tag such as ``en``) tells browsers and screen readers how to read the sentences; the page itself
    is in English. All text is escaped; the sentences lie in the page as JSON in ASCII.
    """
    from jinja2 import Environment, StrictUndefined

    content = {
        "digest": content_digest(sentences),
        "language": language,
        "reasons": REASONS,
        "sentences": sentences,
    }
    environment = Environment(autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True)
    return environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(title=title, content=content)


def write_review_page(sentences: list[dict], title: str, language: str, path: str | Path) -> None:
    """Write the page, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(render(sentences, title, language), encoding="utf-8", newline="\n")
