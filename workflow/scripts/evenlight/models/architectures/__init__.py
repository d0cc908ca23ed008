"""A module for each architecture of models; importing this package imports all of them.

At its head such a module imports only what is light. What computes (numpy, torch, and modules of ours that import
them) is imported inside of the methods, or in modules beside this package.
"""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
