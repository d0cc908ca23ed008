"""How improbable a masked language model finds the words of texts; by itself, so that it reruns nothing else."""

import pyarrow as pa

from evenlight.core.contracts.fields import columns, required
from evenlight.core.tables import Contract

# `masked_words/{dataset}/{model}/seed{seed}.parquet`, where a study asks for `masked_words`: a text.
MASKED_WORDS = Contract(
    "scores of masked words",
    "score_masked_words",
    pa.schema([required("item_id", pa.string()), *columns(pa.float64(), "likelihood", "released", missing=True)]),
)
