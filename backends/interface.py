"""`Backend`: the base class of the backends, each of which computes the arrays of one device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from numpy.typing import DTypeLike

Allocator: TypeAlias = Callable[[tuple[int, ...], DTypeLike], Any]
ALLOCATORS: dict[str, Allocator] = {}  # by device: set by `register_allocator`, or by the context manager `filled`


class Backend:
    """The array module of a device, its memory, and its kernels: methods that compute on flat arrays and segments.

    `PlainBackend` lists the kernels, and its functions say what each computes. An array argument is any array of
    ``xp``, contiguous or not; a result is a new C-contiguous array, except that a sum over no rows can be a view that
    repeats one zero. The callers have checked that the shapes, ranges and dtypes of the arguments fit together. The
    numbers of one segment, NaN and infinities included, never change the result of another. Primitives call kernels
    inside a `pynested.backends.quiet.quiet_context`: no kernel warns, and none sees the caller's context variables.

    Notation: ``N`` rows in ``B`` segments; ``(N, ...)`` are rows of any shape. Floats keep their dtype; float16, and
    bfloat16 on the devices with CUDA kernels, are computed in float32 or wider and rounded once.

    Attributes
    ----------
    device : str
        The name of the device, such as ``"cpu"``.
    xp : module
        The array module: NumPy, or a module that follows it. Its functions are functions of the backend, too.
    """

    device: str
    xp: Any

    def __getattr__(self, name: str) -> Any:
        """Return the function of ``xp`` with this name; Python calls this if the backend has no kernel of the name."""
        if name == "xp" or name.startswith("_"):
            raise AttributeError(name)
        function = self.wrap_function(getattr(self.xp, name))
        setattr(self, name, function)  # so that the next look-up is an ordinary one
        return function

    def wrap_function(self, function: Any) -> Any:
        """Return the function that this backend calls in place of ``function`` of ``xp``, by default the same."""
        return function

    def default_allocator(self, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        """Return a new C-contiguous array from the memory of the device; its contents are arbitrary."""
        return self.xp.empty(shape, dtype)

    def empty(self, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        """Return a new C-contiguous array from the registered allocator, or from `default_allocator`."""
        return ALLOCATORS.get(self.device, self.default_allocator)(shape, dtype)

    def __repr__(self) -> str:
        return f"<backend {self.device}>"
