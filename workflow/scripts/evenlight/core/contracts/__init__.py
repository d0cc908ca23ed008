"""The data contracts: the schema of every table that passes between rules.

A module for each stage, so that a new column of a later one computes nothing of an earlier one again.
"""
