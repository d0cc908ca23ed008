"""The audit of a study on one page: what was audited, found, left open and not tested."""
