"""What is computed from the score tables: tests between groups, summaries over seeds, quality of the models."""
