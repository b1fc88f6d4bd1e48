"""What is true of nested arrays: the specification, as prose, tables, definitions and vectors."""

if __name__ != "pynested.spec":
    raise ImportError(
        f"{__file__} is pynested.spec, not a top-level package 'spec'; Python found it because the repository "
        f"root is on sys.path. Import it as pynested.spec."
    )

from .compare import Difference, compare
from .corpus import load_vectors
from .encoding import Components, Index, decode_value, encode_value
from .table import Clause, Operator, chapters, clause, clauses, load_table

__all__ = [
    "Clause",
    "Components",
    "Difference",
    "Index",
    "Operator",
    "chapters",
    "clause",
    "clauses",
    "compare",
    "decode_value",
    "encode_value",
    "load_table",
    "load_vectors",
]
