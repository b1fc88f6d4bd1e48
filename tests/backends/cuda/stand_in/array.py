"""The array class: what CuPy's does, with a NumPy array in the place of device memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

SCALARS = (bool, int, float, complex, np.generic)
UNSUPPORTED = "Unsupported type {}"
IMPLICIT = (
    "Implicit conversion to a NumPy array is not allowed. "
    "Please use `.get()` to construct a NumPy array explicitly."
)  # fmt: skip

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
    """The memory of an argument, or of each in a sequence; scalars and names as they are, NumPy's arrays refused."""
    if isinstance(value, ndarray):
        return value._memory
    if isinstance(value, np.ndarray):
        raise TypeError(UNSUPPORTED.format(type(value)))
    return type(value)(map(opened, value)) if type(value) in (list, tuple) else value


def givers(arguments: Any) -> Iterator[ndarray]:
    """The arrays among arguments, and in sequences of them."""
    for one in arguments:
        if isinstance(one, ndarray):
            yield one
        elif type(one) in (list, tuple):
            yield from givers(one)


def closed(result: Any, *arguments: Any) -> Any:
    """A result of NumPy's as one of CuPy's: numbers are arrays, and a view knows which of the arguments it is of."""
    if isinstance(result, tuple | list):
        return type(result)(closed(one, *arguments) for one in result)
    if not isinstance(result, np.ndarray | np.generic):
        return result
    memory = np.asarray(result)
    if memory.size <= 1 and not memory.flags.writeable:  # NumPy marks what was broadcast; this repeats no place
        memory.flags.writeable = True
    owners = (one if one.base is None else one.base for one in givers(arguments))
    base = next((one for one in owners if _root(one._memory) is _root(memory)), None)
    if base is None:
        use_driver()
    return ndarray(memory, base)


def quietly(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Call NumPy; a GPU never warns."""
    with np.errstate(all="ignore"):
        return closed(function(*opened(arguments), **{name: opened(one) for name, one in options.items()}), arguments)


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

    shape = property(lambda self: self._memory.shape)
    dtype = property(lambda self: self._memory.dtype)
    strides = property(lambda self: self._memory.strides)
    ndim = property(lambda self: self._memory.ndim)
    size = property(lambda self: self._memory.size)
    itemsize = property(lambda self: self._memory.itemsize)
    nbytes = property(lambda self: self._memory.nbytes)
    T = property(lambda self: self.transpose())
    data = property(lambda self: SimpleNamespace(ptr=self._memory.ctypes.data))

    @property
    def flags(self) -> SimpleNamespace:
        """CuPy's flags do not say whether an array may be written to: every one may."""
        flags = self._memory.flags
        names = "c_contiguous", "f_contiguous", "owndata"
        return SimpleNamespace(**{name: getattr(flags, name) for name in names})

    # ---- to the host and back -----------------------------------------------------------------------------------

    def get(self) -> np.ndarray[Any, Any]:
        """A copy on the host, C-contiguous."""
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
        """The one element, as a Python number."""
        return self.get().item()

    def tolist(self) -> Any:
        """Nested lists."""
        return self.get().tolist()

    def __bool__(self) -> bool:
        return bool(self.get())

    def __int__(self) -> int:
        return int(self.get())

    def __float__(self) -> float:
        return float(self.get())

    def __repr__(self) -> str:
        return repr(self.get())

    def __format__(self, format_spec: str) -> str:
        return format(self.get(), format_spec)

    def __reduce__(self) -> Any:
        raise AssertionError("pynested does not pickle arrays of a device as such")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise TypeError(IMPLICIT)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        interface = self._memory.__array_interface__
        return {name: interface[name] for name in ("shape", "typestr", "data", "strides", "version")} | {"stream": 1}

    def __dlpack__(self, *, stream: Any = None, **options: Any) -> Any:
        return self._memory.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0  # kDLCUDA

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        from .functions import FUNCTIONS

        known = (*SCALARS, ndarray, np.ndarray)
        if method != "__call__" or ufunc.__name__ not in FUNCTIONS or not all(isinstance(x, known) for x in inputs):
            return NotImplemented
        return FUNCTIONS[ufunc.__name__](*inputs, **options)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from .functions import FUNCTIONS

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
        """Views also where NumPy would give a number; CuPy would wrap an index around that is out of bounds."""
        items = _index(index)
        if any(isinstance(one, np.ndarray) and one.dtype == bool for one in items):
            synchronized["boolean indexing"] += 1
        arrays = any(isinstance(one, np.ndarray) or one is Ellipsis for one in items)
        try:
            return closed(self._memory[items if arrays else (*items, ...)], self)
        except IndexError as error:
            raise _out_of_bounds(error, items) from error

    def __setitem__(self, index: Any, value: Any) -> None:
        items = _index(index)
        use_driver()
        if not isinstance(value, (*SCALARS, ndarray)):
            raise TypeError(UNSUPPORTED.format(type(value)))
        try:
            with np.errstate(all="ignore"):
                self._memory[items] = opened(value)
        except IndexError as error:
            raise _out_of_bounds(error, items) from error

    def fill(self, value: Any) -> None:
        """Overwrite every element with one number."""
        self[...] = value

    # ---- other arrays -------------------------------------------------------------------------------------------

    def astype(self, dtype: Any, order: str = "K", casting: None = None, subok: None = None, copy: bool = True) -> Any:
        """Another dtype; the array itself where ``copy`` is False and nothing changes."""
        if casting is not None or subok is not None:
            raise TypeError("casting is not supported yet")
        return self if not copy and np.dtype(dtype) == self.dtype else quietly(np.ndarray.astype, self, dtype, order)

    def view(self, dtype: Any = None) -> ndarray:
        """The same memory, as another dtype."""
        return closed(self._memory.view(self.dtype if dtype is None else dtype), self)  # type: ignore[no-any-return]

    def copy(self, order: str = "C") -> ndarray:
        """New memory."""
        use_driver()
        return ndarray(self._memory.copy(order))

    def reshape(self, *shape: Any, order: str = "C") -> ndarray:
        """A view where there can be one."""
        return closed(self._memory.reshape(*shape, order=order), self)  # type: ignore[no-any-return]

    def transpose(self, *axes: Any) -> ndarray:
        """A view with its axes permuted."""
        return closed(self._memory.transpose(*axes), self)  # type: ignore[no-any-return]

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> ndarray:
        """The sum, an array also where no axis is left."""
        return quietly(np.sum, self, axis, dtype, out, keepdims)  # type: ignore[no-any-return]

    max, min, all, any = map(_reduction, (np.max, np.min, np.all, np.any))


def _index(index: Any) -> tuple[Any, ...]:
    """An index opened. CuPy would copy lists and arrays of the host to the device each time; here they are refused."""
    items = index if type(index) is tuple else (index,)
    for one in items:
        if not (one is None or one is Ellipsis or isinstance(one, slice | int | np.integer | ndarray)):
            raise TypeError(f"an index of CuPy's should be its own: {UNSUPPORTED.format(type(one))}")
    return tuple(map(opened, items))


def _out_of_bounds(error: IndexError, items: tuple[Any, ...]) -> Exception:
    inside = not any(isinstance(one, np.ndarray) for one in items)
    return error if inside else AssertionError(f"CuPy would wrap around without a word: {error}")
