"""The stand-ins that a function runs on while it is recorded: traced arrays and traced sizes.

A traced array has no elements. The recorder watches the calls of public functions; the class passes everything else to
the recorder, for example ``x.shape``, ``x.values()`` and ``x[0] = 1``. Arithmetic with a traced size is recorded too.
If Python needs the number itself, as in ``if n > 3`` or ``range(n)``, the graph is valid for arrays that give the same
number or the same answer.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from inspect import getattr_static
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from pynested import operators as ops
from pynested.autograd import Array
from pynested.nested.nested_array import NestedArray
from pynested.structure.ragged_size import RaggedSize

from .nodes import ATTRIBUTE, FUNCTION, METHOD, SETTING
from .unsupported import FUNCTIONS, Reason, unsupported_error

if TYPE_CHECKING:
    from .recorder import Recorder

_FACTS = frozenset({"dtype", "ndim", "device", "is_nested", "layout", "dim"})  # the signature determines them


def _refused(what: str, reason: Reason) -> Any:
    """Return a special method that raises the error for ``what``."""

    def refuse(*_: Any, **options: Any) -> NoReturn:
        raise unsupported_error(what, reason)

    return refuse


class Traced:
    """The common base of traced arrays. Python's operators call public functions, as they do for all arrays."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        """Record the reading of an attribute, or return a method that is recorded when it is called.

        Attributes that the signature determines are constants.
        """
        if name == "_functions" or (name.startswith("__") and name != "__cuda_array_interface__"):
            return object.__getattribute__(self, name)
        recorder = object.__getattribute__(self, "_recorder")
        real = recorder.real(self)
        if name in _FACTS:
            return getattr(real, name)
        if name in FUNCTIONS:
            raise unsupported_error(f"x.{name}", FUNCTIONS[name])
        member = getattr_static(type(real), name, None)
        if member is None:
            return getattr(real, name)  # AttributeError, which says what to use
        if isinstance(member, property):
            return recorder.call(ATTRIBUTE, name, operator.attrgetter(name), (self,))
        function = getattr(type(real), name)
        if name.startswith("_") or not callable(function):
            raise unsupported_error(f"x.{name}", Reason.READS_ATTRIBUTE)
        kind = FUNCTION if hasattr(ops, name) else METHOD
        return lambda *args, **kwargs: recorder.call(kind, name, function, (self, *args), kwargs)

    def __setattr__(self, name: str, value: Any) -> None:
        object.__getattribute__(self, "_recorder").call(SETTING, "setattr", setattr, (self, name, value))

    def __len__(self) -> int:
        return object.__getattribute__(self, "_recorder").call(METHOD, "__len__", len, (self,))  # type: ignore[no-any-return]

    def __setitem__(self, index: Any, value: Any) -> None:
        object.__getattribute__(self, "_recorder").call(METHOD, "__setitem__", operator.setitem, (self, index, value))

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        real_types = [_REAL_TYPES.get(kind, kind) for kind in types]
        return super().__array_function__(function, real_types, inputs, options)  # type: ignore[misc]

    __bool__ = __contains__ = __float__ = __int__ = __index__ = _refused(
        "a branch on data, or a number out of an array: bool(x), float(x), y in x", Reason.READS_ELEMENTS
    )
    __array__ = __dlpack__ = _refused(
        "np.asarray(x), or memory that is shared with another library,", Reason.OTHER_LIBRARY
    )
    __repr__ = __format__ = __copy__ = __deepcopy__ = __reduce__ = _refused(
        "repr(x), a copy or a pickle", Reason.COPIES_ARRAY
    )


class TracedArray(Traced, Array):
    """Stands for an `Array` while a function is recorded."""

    __slots__ = ("_recorder",)
    __round__ = Traced.__float__  # a number; that of a nested array is an operator


class TracedNestedArray(Traced, NestedArray):
    """Stands for a `NestedArray` while a function is recorded."""

    __slots__ = ("_recorder",)


_REAL_TYPES = {TracedArray: Array, TracedNestedArray: NestedArray}


def stand_in(real: Any, recorder: Recorder) -> Any:
    """Return the stand-in of an array, a size, or another result of a call."""
    if isinstance(real, Array | NestedArray):
        kind: Any = TracedArray if isinstance(real, Array) else TracedNestedArray
        traced = kind.__new__(kind)
        object.__setattr__(traced, "_recorder", recorder)
        return traced
    if isinstance(real, RaggedSize):
        return TracedRaggedSize(real, recorder)
    if isinstance(real, np.random.Generator):
        return real
    return TracedSize(real, recorder) if isinstance(real, int | float) else Opaque()


def _recorded(function: Callable[..., Any], is_checked: bool = False) -> tuple[Any, Any]:
    """Return two special methods of a size that record ``function(size, *others)`` and ``function(other, size)``."""
    return (
        lambda size, *others: size._recorder.arithmetic(function, (size, *others), is_checked),
        lambda size, other: size._recorder.arithmetic(function, (other, size), is_checked),
    )


class TracedSize:
    """A number that is a size of an array, or was computed from sizes."""

    __slots__ = ("_recorder", "number")

    def __init__(self, number: float, recorder: Recorder) -> None:
        self.number, self._recorder = number, recorder

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The type that `isinstance` sees: int or float."""
        return type(self.number)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self._number_for_python(), dtype)

    def _number_for_python(self) -> Any:
        """Return the number for Python. Replays with another number are refused."""
        return self._recorder.arithmetic(operator.pos, (self,), is_checked=True)

    def __getattr__(self, name: str) -> Any:
        getattr(object.__getattribute__(self, "number"), name)  # AttributeError of an unknown name
        return getattr(self._number_for_python(), name)

    (__add__, __radd__), (__sub__, __rsub__) = _recorded(operator.add), _recorded(operator.sub)
    (__mul__, __rmul__), (__pow__, __rpow__) = _recorded(operator.mul), _recorded(pow)
    (__truediv__, __rtruediv__), (__mod__, __rmod__) = _recorded(operator.truediv), _recorded(operator.mod)
    (__floordiv__, __rfloordiv__), (__xor__, __rxor__) = _recorded(operator.floordiv), _recorded(operator.xor)
    (__and__, __rand__), (__or__, __ror__) = _recorded(operator.and_), _recorded(operator.or_)
    (__lshift__, __rlshift__), (__rshift__, __rrshift__) = _recorded(operator.lshift), _recorded(operator.rshift)
    __pos__, __neg__ = _recorded(operator.pos)[0], _recorded(operator.neg)[0]
    __abs__, __invert__ = _recorded(operator.abs)[0], _recorded(operator.invert)[0]
    __eq__, __ne__ = _recorded(operator.eq, True)[0], _recorded(operator.ne, True)[0]
    __lt__, __le__ = _recorded(operator.lt, True)[0], _recorded(operator.le, True)[0]
    __gt__, __ge__ = _recorded(operator.gt, True)[0], _recorded(operator.ge, True)[0]

    # fmt: off
    def __divmod__(self, other: Any) -> Any: return self // other, self % other
    def __rdivmod__(self, other: Any) -> Any: return other // self, other % self
    def __trunc__(self) -> int: return int(self)
    def __bool__(self) -> bool: return self != 0  # type: ignore[no-any-return]
    def __hash__(self) -> int: return hash(self._number_for_python())
    def __reduce__(self) -> Any: return type(self.number), (self._number_for_python(),)
    def __index__(self) -> int: return operator.index(self._number_for_python())
    def __int__(self) -> int: return int(self._number_for_python())
    def __float__(self) -> float: return float(self._number_for_python())
    def __repr__(self) -> str: return repr(self._number_for_python())
    def __format__(self, spec: str) -> str: return format(self._number_for_python(), spec)
    def __round__(self, digits: int | None = None) -> Any: return round(self._number_for_python(), digits)
    # fmt: on


class TracedRaggedSize(RaggedSize):
    """The sizes along a ragged dimension. A graph is valid if sizes that were equal are equal in the replay too."""

    __slots__ = ("_recorder", "size")
    __hash__ = RaggedSize.__hash__

    def __init__(self, size: RaggedSize, recorder: Recorder) -> None:
        self.size, self._recorder = size, recorder

    def __eq__(self, other: object) -> bool:
        return self._recorder.arithmetic(operator.eq, (self, other), is_checked=True) is True

    def __repr__(self) -> str:
        return repr(self.size)

    def __getattr__(self, name: str) -> NoReturn:
        raise unsupported_error("the lengths or the hash of a ragged size", Reason.OTHER_LIBRARY)


class Opaque:
    """The stand-in of another result, for example a block mask. The function can pass it on only."""

    __repr__ = __format__ = _refused("the text of a result that is no array", Reason.READS_ATTRIBUTE)

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":  # read by `isinstance`
            return Opaque
        raise unsupported_error(f"the attribute {name} of a result that is no array", Reason.READS_ATTRIBUTE)
