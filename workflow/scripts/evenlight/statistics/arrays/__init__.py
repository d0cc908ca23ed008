"""How often one group's explanation is better: pure functions on arrays, which know nothing of files or cells.

Everywhere the last axis has the comparisons. Those of one study have the same units, in the axis before it.
"""
