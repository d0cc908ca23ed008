"""Random generators that depend on what is drawn, never on when it is drawn."""

import hashlib

import numpy as np


def derived_seed(*parts: str | int) -> int:
    """A 64-bit seed that is a function of ``parts`` alone, the same on every machine."""
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def generator_for(*parts: str | int) -> np.random.Generator:
    """The generator of one draw, for example ``generator_for(study_seed, item_id, "lime")``.

    Because every item has its own generator, results depend neither on the batch size nor on the order
    in which items or jobs are done.
    """
    return np.random.Generator(np.random.PCG64(derived_seed(*parts)))
