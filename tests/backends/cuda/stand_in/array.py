"""The array class of the stand-in, with a NumPy array in the place of device memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

import numpy as np

SCALARS = (bool, int, float, complex, np.generic)
FUNCTIONS: dict[str, Callable[..., Any]] = {}  # of the module: functions.py enters them

synchronized: Counter[str] = Counter()  # what waited for the GPU, and how often
fault = SimpleNamespace(after=None)  # the number of uses of the driver that succeed; None: all


class CUDARuntimeError(RuntimeError):
    """An error of the CUDA runtime."""

    __module__ = "cupy_backends.cuda.api.runtime"


def use_driver() -> None:
    """Pass whatever allocates, copies, writes or launches; views do not. After the first failure all uses fail."""
    if fault.after is not None:
        fault.after -= 1
        if fault.after < 0:
            raise CUDARuntimeError("cudaErrorIllegalAddress: an illegal memory access was encountered")


def opened(value: Any) -> Any:
    """Return the memory of an argument, or of each in a sequence. Scalars stay; arrays of NumPy are refused."""
    if isinstance(value, ndarray):
        return value._memory
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {type(value)}")
    return type(value)(map(opened, value)) if type(value) in (list, tuple) else value


def arrays_among(arguments: Any) -> Iterator[ndarray]:
    """Yield the arrays among arguments, and in sequences of them."""
    for argument in arguments:
        if isinstance(argument, ndarray):
            yield argument
        elif type(argument) in (list, tuple):
            yield from arrays_among(argument)


def closed(result: Any, *arguments: Any) -> Any:
    """Return a result of NumPy as an array of the stand-in; the base of a view is the argument that it is a view of."""
    if isinstance(result, tuple | list):
        return type(result)(closed(member, *arguments) for member in result)
    if not isinstance(result, np.ndarray | np.generic):
        return result
    memory = np.asarray(result)
    if memory.size <= 1 and not memory.flags.writeable:  # NumPy marks what was broadcast; this repeats no place
        memory.flags.writeable = True
    owners = (x if x.base is None else x.base for x in arrays_among(arguments))
    base = next((owner for owner in owners if _root(owner._memory) is _root(memory)), None)
    if base is None:
        use_driver()
    return ndarray(memory, base)


def quietly(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Call NumPy; a GPU never warns."""
    with np.errstate(all="ignore"):
        return closed(
            function(*opened(arguments), **{name: opened(value) for name, value in options.items()}), arguments
        )


def computed(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Call a function of elements: CuPy has its own compiled so that float32 results too small to be normal are 0."""
    result = quietly(function, *arguments, **options)
    if result.dtype == np.float32:
        memory = result._memory
        memory[abs(memory) < np.finfo(np.float32).tiny] *= 0
    return result


def _root(memory: Any) -> Any:
    while getattr(memory, "base", None) is not None:
        memory = memory.base
    return memory


def _reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: ndarray, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        return quietly(function, self, axis, out, keepdims)

    return method


class ndarray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array on the device. Made by functions of the module; ``base`` is the array that it is a view of."""

    __slots__ = ("__weakref__", "_memory", "base")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, memory: np.ndarray[Any, Any], base: ndarray | None = None) -> None:
        self._memory = memory
        self.base = base

    shape, dtype, strides, ndim, size, itemsize, nbytes = (
        property(attrgetter(f"_memory.{name}"))
        for name in ("shape", "dtype", "strides", "ndim", "size", "itemsize", "nbytes")
    )
    T = property(lambda self: self.transpose())
    data = property(lambda self: SimpleNamespace(ptr=self._memory.ctypes.data))

    @property
    def flags(self) -> SimpleNamespace:
        """The flags of CuPy, which has none for arrays that are read-only."""
        flags = self._memory.flags
        names = "c_contiguous", "f_contiguous", "owndata"
        return SimpleNamespace(**{name: getattr(flags, name) for name in names})

    # ---- to the host and back -----------------------------------------------------------------------------------

    def get(self) -> np.ndarray[Any, Any]:
        """Return a C-contiguous copy on the host."""
        synchronized["get"] += 1
        use_driver()
        return np.array(self._memory, order="C")

    def set(self, arr: np.ndarray[Any, Any]) -> None:
        """Overwrite with an array of the host, of the same shape and dtype."""
        assert isinstance(arr, np.ndarray) and (arr.shape, arr.dtype) == (self.shape, self.dtype)
        assert self.flags.c_contiguous or self.flags.f_contiguous
        use_driver()
        self._memory[...] = arr

    def item(self) -> Any:
        """Return the element as a Python number."""
        return self.get().item()

    def tolist(self) -> Any:
        """Return nested lists."""
        return self.get().tolist()

    __bool__, __int__, __float__, __repr__, __format__ = (
        lambda self, *args, name=name: getattr(self.get(), name)(*args)
        for name in ("__bool__", "__int__", "__float__", "__repr__", "__format__")
    )

    def __reduce__(self) -> Any:
        raise AssertionError("pynested does not pickle arrays of a device as such")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        interface = self._memory.__array_interface__
        return {name: interface[name] for name in ("shape", "typestr", "data", "strides", "version")} | {"stream": 1}

    def __dlpack__(self, *, stream: Any = None, **options: Any) -> Any:
        return self._memory.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0  # kDLCUDA

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        known = (*SCALARS, ndarray, np.ndarray)
        if method != "__call__" or ufunc.__name__ not in FUNCTIONS or not all(isinstance(x, known) for x in inputs):
            return NotImplemented
        return FUNCTIONS[ufunc.__name__](*inputs, **options)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function.__name__ not in FUNCTIONS or not all(issubclass(kind, ndarray | np.ndarray) for kind in types):
            return NotImplemented
        return FUNCTIONS[function.__name__](*args, **kwargs)

    def __eq__(self, other: object) -> Any:
        return False if other is None else super().__eq__(other)

    def __ne__(self, other: object) -> Any:
        return True if other is None else super().__ne__(other)

    # ---- elements -----------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._memory)

    def __getitem__(self, index: Any) -> Any:
        """Return a view, also of a single element; an index out of bounds, which CuPy wraps around, is an error."""
        items = _index(index)
        if any(isinstance(item, np.ndarray) and item.dtype == bool for item in items):
            synchronized["boolean indexing"] += 1
        arrays = any(isinstance(item, np.ndarray) or item is Ellipsis for item in items)
        with _no_wrapping(items):
            return closed(self._memory[items if arrays else (*items, ...)], self)

    def __setitem__(self, index: Any, value: Any) -> None:
        items = _index(index)
        use_driver()
        if not isinstance(value, (*SCALARS, ndarray)):
            raise TypeError(f"Unsupported type {type(value)}")
        with _no_wrapping(items), np.errstate(all="ignore"):
            self._memory[items] = opened(value)

    def fill(self, value: Any) -> None:
        """Overwrite every element with a number."""
        self[...] = value

    # ---- other arrays -------------------------------------------------------------------------------------------

    def astype(self, dtype: Any, order: str = "K", casting: None = None, subok: None = None, copy: bool = True) -> Any:
        """Return another dtype; the array itself if ``copy`` is False and nothing changes."""
        if casting is not None or subok is not None:
            raise TypeError("casting is not supported yet")
        return self if not copy and np.dtype(dtype) == self.dtype else quietly(np.ndarray.astype, self, dtype, order)

    def view(self, dtype: Any = None) -> ndarray:
        """Return the same memory as another dtype."""
        return closed(self._memory.view(self.dtype if dtype is None else dtype), self)  # type: ignore[no-any-return]

    def copy(self, order: str = "C") -> ndarray:
        """Return a copy in new memory."""
        use_driver()
        return ndarray(self._memory.copy(order))

    def reshape(self, *shape: Any, order: str = "C") -> ndarray:
        """Return a view if possible, otherwise a copy."""
        return closed(self._memory.reshape(*shape, order=order), self)  # type: ignore[no-any-return]

    def transpose(self, *axes: Any) -> ndarray:
        """Return a view with its axes permuted."""
        return closed(self._memory.transpose(*axes), self)  # type: ignore[no-any-return]

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> ndarray:
        """Return the sum, an array also if no axis is left."""
        return quietly(np.sum, self, axis, dtype, out, keepdims)  # type: ignore[no-any-return]

    max, min, all, any = map(_reduction, (np.max, np.min, np.all, np.any))


def _index(index: Any) -> tuple[Any, ...]:
    """Return the index with the memory of its arrays. Lists and arrays of the host, which CuPy copies, are refused."""
    items = index if type(index) is tuple else (index,)
    for item in items:
        if not (item is None or item is Ellipsis or isinstance(item, slice | int | np.integer | ndarray)):
            raise TypeError(f"an index of CuPy's should be its own: {type(item)}")
    return tuple(map(opened, items))


@contextmanager
def _no_wrapping(items: tuple[Any, ...]) -> Iterator[None]:
    """Report an index array that is out of bounds, which CuPy wraps around without a word."""
    try:
        yield
    except IndexError as error:
        if not any(isinstance(item, np.ndarray) for item in items):
            raise
        raise AssertionError(f"CuPy would wrap around: {error}") from error
