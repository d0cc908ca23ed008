"""A module or a package for each family of metrics; importing this package imports all of them.

At its head such a module imports only what is light. What computes (numpy, torch, and modules of ours that import them)
is imported inside of the methods, or in the modules of a package beside its ``__init__``.
"""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
