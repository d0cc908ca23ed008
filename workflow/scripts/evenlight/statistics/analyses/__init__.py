"""Analyses: what is made of the comparisons of a study, a result in each module."""
