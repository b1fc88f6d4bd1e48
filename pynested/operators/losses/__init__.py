"""The chapter *losses*: rows of a table by number, and the cross entropy of rows."""

from .entropy import cross_entropy
from .lookup import embedding

__all__ = ["cross_entropy", "embedding"]
