"""Small tables of candidates and drafts for the tests of what people review."""

import pyarrow as pa

from evenlight.core.contracts.corpus import CANDIDATES, DRAFTS
from evenlight.core.tables import write_table

FORMS = [(scope, group) for scope in ("subject", "all") for group in ("male", "female", "neutral")]

# Per sentence: text, words, verb, subject, and the words per form; the rest of a form is as in the source.
SENTENCES = {
    "b1-1": (
        "She visits her aunt's house.",
        ["She", "visits", "her", "aunt", "'s", "house", "."],
        1,
        [0],
        {
            ("subject", "male"): {0: "He", 2: "his"},
            ("subject", "neutral"): {0: "They", 1: "visit", 2: "their"},
            ("all", "male"): {0: "He", 2: "his", 3: "uncle"},
            ("all", "neutral"): {0: "They", 1: "visit", 2: "their", 3: "parent's sibling"},
        },
    ),
    "b1-2": (
        "The young king</script> [sic] “façade” 🙂 sleeps.",
        ["The", "young", "king</script>", "[", "sic", "]", "“", "façade", "”", "🙂", "sleeps", "."],
        10,
        [2, 0],
        {(scope, "female"): {2: "queen<b>"} for scope in ("subject", "all")},
    ),
    "b2-1": (
        "He  waits .",  # spaced as nobody would
        ["He", "waits", "."],
        1,
        [0],
        {(scope, "female"): {0: "She"} for scope in ("subject", "all")}
        | {(scope, "neutral"): {0: "They", 1: "wait"} for scope in ("subject", "all")},
    ),
}


def candidate_rows() -> list[dict]:
    rows = []
    for sentence_id, (text, words, root, subject, _) in SENTENCES.items():
        unread = {name: [""] * len(words) for name in ("lemmas", "tags", "features", "relations")}
        rows.append(
            {
                "sentence_id": sentence_id,
                "paragraph_id": "p",
                "book_id": 1,
                "author": "A. Author",
                "text": text,
                "words": words,
                "heads": [root] * len(words),
                "scheme": "ud",
                "root": root,
                "subject": subject,
            }
            | unread
        )
    return rows


def draft_rows() -> list[dict]:
    rows = []
    for sentence_id, (_, words, _, _, changes) in SENTENCES.items():
        for scope, group in FORMS:
            changed = [changes.get((scope, group), {}).get(i, word) for i, word in enumerate(words)]
            places = {i for (other, _), change in changes.items() if other == scope for i in change}
            marks = [int(i in places) for i in range(len(words))]
            rows.append(
                {"sentence_id": sentence_id, "scope": scope, "group": group, "words": changed, "ground_truth": marks}
            )
    return rows


def write_samples(folder, candidates=None, drafts=None):
    """Write both tables and give their paths."""
    paths = folder / "candidates.parquet", folder / "drafts.parquet"
    rows = (candidates or candidate_rows(), drafts or draft_rows())
    for path, contract, table in zip(paths, (CANDIDATES, DRAFTS), rows, strict=True):
        write_table(pa.Table.from_pylist(table, schema=contract.schema), path, contract)
    return paths
