"""One class per kind of error; each is also the builtin that users of PyTorch or NumPy would catch.

A message says what was wrong, where (component, dimension, both sizes) and what to do about it.
"""

from __future__ import annotations


class PynestedError(Exception):
    """Everything that pynested raises on purpose."""


class StructureError(PynestedError, RuntimeError, ValueError):
    """Components, lengths, offsets or ranks do not fit together."""


class ShapeError(PynestedError, RuntimeError, ValueError):
    """Dense shapes that do not broadcast, or a reshape that is impossible."""


class DimensionError(PynestedError, IndexError, RuntimeError, ValueError):
    """A dimension out of range, given twice, or refused by the operator."""


class IndexOutOfRange(PynestedError, IndexError):
    """An index outside the component it looks into."""


class DTypeError(PynestedError, TypeError, RuntimeError):
    """A dtype that the operator, or pynested as a whole, does not take."""


class DeviceError(PynestedError, RuntimeError):
    """Arrays on different devices, or a device that is not there."""


class ExchangeError(PynestedError, BufferError, RuntimeError):
    """Memory that cannot be shared with another library as it is."""


class LayoutError(PynestedError, RuntimeError, ValueError):
    """A layout that cannot express what was asked for."""


class GradientError(PynestedError, RuntimeError):
    """A gradient that cannot be computed, or a write that would make one wrong."""


class EmptyReductionError(PynestedError, ValueError, RuntimeError, IndexError):
    """A reduction without an identity met a segment without elements."""


class DivisionByZero(PynestedError, ZeroDivisionError, RuntimeError):
    """An integer divided by 0; floats give infinities and NaN."""


class ArgumentError(PynestedError, TypeError, ValueError):
    """An argument of the wrong type, or a value outside its range."""


class TraceError(PynestedError, RuntimeError):
    """Something that cannot be recorded as a graph, or a call for which a graph was not recorded."""


class ReadOnlyError(PynestedError, AttributeError):
    """An attribute that cannot be set, because whoever shares the object relies on it."""


class MissingDependency(PynestedError, ImportError):
    """An optional package that is not installed."""


def named_type(value: object) -> str:
    """Return the words for a value of a wrong type in a message.

    >>> named_type(3), named_type([])
    ('an int', 'a list')
    """
    return with_article(type(value).__name__)


def with_article(name: str) -> str:
    """Return a name with its article.

    >>> with_article("Array"), with_article("tuple")
    ('an Array', 'a tuple')
    """
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"
