"""How improbable a masked language model finds the words of texts; by itself, so that it reruns nothing else."""

import pyarrow as pa

from evenlight.core.contracts.fields import columns, required
from evenlight.core.tables import Contract

MASKED_WORDS = Contract(
    "scores of masked words",
    "score_masked_words",
    pa.schema([required("item_id", pa.string()), *columns(pa.float64(), "likelihood", "released", missing=True)]),
)
