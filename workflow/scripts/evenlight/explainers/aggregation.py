"""From a number for each hidden dimension to the score of a token."""

import torch

AGGREGATIONS = {
    "sum": lambda values: values.sum(-1),
    "l1": lambda values: values.abs().sum(-1),
    "l2": lambda values: values.norm(dim=-1),
}


def aggregated(values: torch.Tensor, aggregation: str) -> torch.Tensor:
    """Scores (rows, tokens) of values (rows, tokens, hidden): their ``sum``, which keeps the sign, or a norm.

    Only sums add up to what the values of all tokens add up to.
    """
    return AGGREGATIONS[aggregation](values)
