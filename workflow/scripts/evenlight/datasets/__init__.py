"""The datasets: a reader of each, a class in a module of ``datasets.readers``.

All are known once this package is imported, which imports neither numpy nor pandas, as the Snakefile does.
"""

from evenlight.datasets import readers as readers
from evenlight.datasets.base import Dataset as Dataset
from evenlight.datasets.base import Reader as Reader
from evenlight.datasets.base import change_name as change_name
from evenlight.datasets.base import levels_of as levels_of
from evenlight.datasets.base import load as load
