"""Asking a model about many rows at once, in the best batches."""
