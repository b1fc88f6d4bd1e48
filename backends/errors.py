"""One class for each kind of error, derived from the builtin error that users of PyTorch or NumPy catch, too.

A message says what is wrong, where (component, dimension, both sizes) and what to do.
"""

from __future__ import annotations


class PynestedError(Exception):
    """The base class of all errors that pynested raises on purpose."""


class StructureError(PynestedError, RuntimeError, ValueError):
    """Components, lengths, offsets or ranks do not fit together."""


class ShapeError(PynestedError, RuntimeError, ValueError):
    """Dense shapes that do not broadcast, or a reshape that is impossible."""


class DimensionError(PynestedError, IndexError, RuntimeError, ValueError):
    """A dimension that is out of range, passed twice, or refused by the operator."""


class IndexOutOfRange(PynestedError, IndexError):
    """An index outside its component."""


class DTypeError(PynestedError, TypeError, RuntimeError):
    """A dtype that the operator, or all of pynested, does not support."""


class DeviceError(PynestedError, RuntimeError):
    """Arrays on different devices, or a device that is missing or failed."""


class ExchangeError(PynestedError, BufferError, RuntimeError):
    """Memory that cannot be shared with another library without a copy."""


class LayoutError(PynestedError, RuntimeError, ValueError):
    """A layout that cannot express the result, or that the operator does not support."""


class GradientError(PynestedError, RuntimeError):
    """A gradient that cannot be computed, or a write that would make one wrong."""


class EmptyReductionError(PynestedError, ValueError, RuntimeError, IndexError):
    """A reduction without an identity, over no elements."""


class DivisionByZero(PynestedError, ZeroDivisionError, RuntimeError):
    """An integer divided by 0; floats give infinities and NaN."""


class ArgumentError(PynestedError, TypeError, ValueError):
    """An argument of the wrong type, or a value outside its range."""


class TraceError(PynestedError, RuntimeError):
    """A function that cannot be recorded as a graph, or a call that does not fit the recorded graph."""


class ReadOnlyError(PynestedError, AttributeError):
    """An attribute that cannot be set, since other holders of the object rely on it."""


class MissingDependency(PynestedError, ImportError):
    """An optional package that is not installed."""


def named_type(value: object) -> str:
    """Return the name of a value's type with its article: "an int" for 3, "a list" for []."""
    return with_article(type(value).__name__)


def with_article(name: str) -> str:
    """Return a name with its article: "an Array", "a tuple", "a ufunc", "an ndarray"."""
    return f"{'an' if name[0] in 'AEIOaeio' or name.lower() == 'ndarray' else 'a'} {name}"


INSTALL_CUPY = "pip install 'pynested[cuda12]' or 'pynested[cuda13]'"


def comes_from_gpu_library(error: Exception) -> bool:
    """Return whether the class of ``error`` is CuPy's or NVIDIA's; a MemoryError of these libraries does not count."""
    library = type(error).__module__.partition(".")[0]
    return library in ("cupy", "cupy_backends", "cuda") and not isinstance(error, MemoryError)


def gpu_error(name: str, error: Exception) -> DeviceError:
    """Return the DeviceError in place of an error of CuPy or of a library that CuPy loads."""
    return DeviceError(
        f"{name} failed on the GPU: {error}. If a library is missing, {INSTALL_CUPY}. A launch may fail late, at a "
        "later call: set the environment variable PYNESTED_CHECK to 1 to find it."
    )
