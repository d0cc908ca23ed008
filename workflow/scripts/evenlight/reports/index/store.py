"""Where the arrays of the page are kept until its page is written."""

import json
from dataclasses import dataclass, field

import numpy as np

KINDS = ("int8", "uint8", "uint16", "uint32", "float32")


@dataclass
class Store:
    """Arrays (kinds of :data:`KINDS`) and JSON values by number, as (kind, bytes, little-endian)."""

    parts: list[tuple[str, bytes]] = field(default_factory=list)

    def add(self, values: object) -> int:
        """Keep an array or a JSON value; its number."""
        if isinstance(values, np.ndarray):
            assert values.dtype.name in KINDS, f"{values.dtype} has no place in the page"
            self.parts.append((values.dtype.name, values.astype(values.dtype.newbyteorder("<")).tobytes()))
        else:
            self.parts.append(("json", json.dumps(values, separators=(",", ":")).encode()))
        return len(self.parts) - 1
