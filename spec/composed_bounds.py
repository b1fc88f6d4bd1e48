"""How far what is made of operators may be off: its definition, run on numbers that know how far off they may be.

That is what `spec.rounding` has for one run, here for all operands at once. What is computed by other formulas, by a
scaled query, say, by weights that are divided after they are added, or by a maximum that runs along, is rounded as
often again, and once more: so three times as much is allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from .components import Components, each
from .definitions import definition
from .numerics import NDArray
from .rounding import Rounded, pulled_to, rounded

__all__ = ["added", "error", "gradient_added", "gradient_error", "gradient_lost", "lost"]

Arguments = Mapping[str, Any]
_OTHER_FORMULAS = 3


def _error(one: Rounded) -> Any:
    return _OTHER_FORMULAS * one.off


def _lost(one: Rounded) -> Any:
    return _OTHER_FORMULAS * one.lost


def _added(one: Rounded) -> Any:
    return one.most


def _parts(value: Any) -> list[NDArray]:
    """The arrays of an operand."""
    return list(value) if isinstance(value, Components) else [value]


def _floats(arguments: Arguments) -> dict[str, Any]:
    """The operands that hold floats, or exact numbers, of which there may be none."""
    arrays = {name: x for name, x in arguments.items() if isinstance(x, (Components, np.ndarray))}
    return {name: x for name, x in arrays.items() if x.dtype.kind in "fO"}


def _on_rounded(arguments: Arguments) -> dict[str, Any]:
    return {**arguments, **{name: each(rounded, x, dtype=object) for name, x in _floats(arguments).items()}}


def _read(part: Callable[[Rounded], Any], numbers: NDArray) -> NDArray:
    """A fact about each number; of 0 where an array holds what was never computed."""
    return np.asarray(np.frompyfunc(lambda one: part(one) if isinstance(one, Rounded) else 0.0, 1, 1)(numbers), object)


def _of_results(part: Callable[[Rounded], Any]) -> Callable[..., Any]:
    def of_call(define: Any, arguments: Arguments, result: Any = None) -> Any:
        return each(lambda x: _read(part, x), define(**_on_rounded(arguments)))

    return of_call


def _of_gradients(part: Callable[[Rounded], Any]) -> Callable[..., dict[str, Any]]:
    def of_call(arguments: Arguments, cotangent: Any) -> dict[str, Any]:
        own = _on_rounded(arguments)
        names = list(_floats(arguments))
        made = rounded(_flat(_parts(definition("multi_head_attention")(**own))))
        pulled = pulled_to(
            _flat([x for name in names for x in _parts(own[name])]), made, rounded(_flat(_parts(cotangent)))
        )
        facts = iter(_read(part, pulled))
        return {name: each(lambda x: _next(facts, x.shape), arguments[name], dtype=object) for name in names}

    return of_call


def _flat(arrays: list[NDArray]) -> NDArray:
    return np.concatenate([np.zeros(0, object), *(x.ravel() for x in arrays)])


def _next(facts: Iterator[Any], shape: tuple[int, ...]) -> NDArray:
    """As many facts as an array has elements."""
    found = np.zeros(shape, object)
    found.reshape(-1)[:] = [next(facts) for _ in range(found.size)]
    return found


error = _of_results(_error)
lost = _of_results(_lost)
added = _of_results(_added)
gradient_error = _of_gradients(_error)
gradient_lost = _of_gradients(_lost)
gradient_added = _of_gradients(_added)
