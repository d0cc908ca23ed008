"""The results of a study: a class in the module of its statistic. All are known once this module is imported.

Where rules are made this is imported, too: what computes, such as scipy, is imported where it is called.
"""

from importlib import import_module
from pkgutil import iter_modules

from evenlight.statistics import analyses
from evenlight.statistics.analyses.base import Result as Result

for _module in iter_modules(analyses.__path__):
    import_module(f"evenlight.statistics.analyses.{_module.name}")
