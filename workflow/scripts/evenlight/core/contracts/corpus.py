"""Tables of the way from books to annotated sentences."""

import pyarrow as pa

from evenlight.core.contracts.fields import required
from evenlight.core.tables import Contract

# One form of a sentence, as an annotator leaves it.
_FORM = pa.struct(
    [
        required("scope", pa.string()),
        required("group", pa.string()),
        required("words", pa.list_(pa.string())),
        required("ground_truth", pa.list_(pa.int8())),
    ]
)
# `corpus/books.parquet`: a book of the list of popular ones.
BOOKS = Contract(
    "books",
    "list_books",
    pa.schema(
        [
            required("book_id", pa.int64()),  # Project Gutenberg's number
            required("rank", pa.int64()),
            required("title", pa.string()),
            required("author", pa.string()),
        ]
    ),
)
# `corpus/articles.parquet`: a book, with the article about it.
ARTICLES = Contract(
    "articles",
    "find_articles",
    pa.schema(
        [
            required("book_id", pa.int64()),
            required("status", pa.string()),  # matched, doubtful or missing
            pa.field("article", pa.string()),
            pa.field("url", pa.string()),
            pa.field("score", pa.float64()),
        ]
    ),
)
# `corpus/paragraphs.parquet`: a paragraph of a stored page.
PARAGRAPHS = Contract(
    "paragraphs",
    "extract_paragraphs",
    pa.schema(
        [
            required("paragraph_id", pa.string()),
            required("book_id", pa.int64()),
            required("title", pa.string()),
            required("author", pa.string()),
            required("url", pa.string()),
            required("section", pa.string()),
            required("text", pa.string()),
        ]
    ),
)
_PARSED = [
    required("sentence_id", pa.string()),
    required("paragraph_id", pa.string()),
    required("book_id", pa.int64()),
    required("author", pa.string()),
    required("text", pa.string()),
    required("words", pa.list_(pa.string())),
    required("lemmas", pa.list_(pa.string())),
    required("tags", pa.list_(pa.string())),
    required("features", pa.list_(pa.string())),
    required("heads", pa.list_(pa.int64())),
    required("relations", pa.list_(pa.string())),
    required("scheme", pa.string()),
]
# `corpus/sentences.parquet`: a sentence, its words with their syntax.
SENTENCES = Contract("sentences", "parse_sentences", pa.schema(_PARSED))
# `corpus/candidates.parquet`: a sentence that the filter keeps.
CANDIDATES = Contract(
    "candidates",
    "filter_sentences",
    pa.schema(
        [
            *_PARSED,
            required("root", pa.int64()),  # the finite verb of the main clause
            required("subject", pa.list_(pa.int64())),  # the words of its subject, the head first
        ]
    ),
)
# `corpus/drafts.parquet`: one of the six forms of a sentence.
DRAFTS = Contract(
    "drafts",
    "draft_variants",
    pa.schema(
        [
            required("sentence_id", pa.string()),
            required("scope", pa.string()),  # subject: only the words of the subject change; all: every gendered word
            required("group", pa.string()),  # male, female, neutral
            required("words", pa.list_(pa.string())),
            required("ground_truth", pa.list_(pa.int8())),
        ]
    ),
)
# `corpus/annotations.parquet`, and `resolve_annotations` makes `corpus/resolved.parquet`: a sentence with what an
# annotator decided.
ANNOTATIONS = Contract(
    "annotations",
    "import_annotations",
    pa.schema(
        [
            required("sentence_id", pa.string()),
            required("annotator", pa.string()),
            required("decision", pa.string()),  # accept or reject
            pa.field("reason", pa.string()),  # of a rejection
            required("source", pa.list_(pa.string())),  # the words of the sentence as it was found
            required("forms", pa.list_(_FORM)),  # empty where the sentence is rejected
        ]
    ),
)
