"""The results of a study: a class in the module of its statistic. All are known once this module is imported.

Where rules are made this is imported, too: what computes, such as scipy, is imported where it is called.
"""

from importlib import import_module
from pkgutil import iter_modules

from evenlight import statistics
from evenlight.statistics.base import Result as Result

for _module in iter_modules(statistics.__path__):
    import_module(f"evenlight.statistics.{_module.name}")
