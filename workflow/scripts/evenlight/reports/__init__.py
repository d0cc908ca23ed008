"""Figures and HTML tables; what they show is computed in :mod:`evenlight.statistics`."""
