"""Text classifiers: architectures, tokenizers, storage. All imports torch but what stands here, and architectures.

An architecture is a class in a module of ``models.architectures``; all are known once this package is imported.
"""

from evenlight.models import architectures as architectures
from evenlight.models.base import Architecture as Architecture
