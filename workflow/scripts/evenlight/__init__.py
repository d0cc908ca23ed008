"""Evenlight: are explanations of text classifiers equally good for every group of people?

The package lies beside the workflow's scripts, so Python finds it without an installation.
Nothing here imports torch; see ``docs/architecture.md`` for what may import what.
"""
