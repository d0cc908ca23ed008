"""Cells: the scores of a comparison, who wins it, and what may be claimed of a family."""
