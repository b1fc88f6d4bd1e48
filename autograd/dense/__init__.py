"""Operators on dense arrays."""

from .movement import *
from .pieces import *
