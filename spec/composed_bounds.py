"""How far what is made of operators may be off: its definition, run on numbers that know how far off they may be.

That is what `spec.rounding` has for one run, here for all operands at once. What is computed by other formulas, by a
scaled query, say, by weights that are divided after they are added, or by a maximum that runs along, is rounded as
often again, and once more: so three times as much is allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from .calling import arrays
from .components import Components, each, is_several, of_parts, parts_of
from .definitions import definition
from .numerics import NDArray
from .rounding import Rounded, pulled_to, rounded

__all__ = ["COMPOSED", "added", "error", "gradient_added", "gradient_error", "gradient_lost", "lost"]

Arguments = Mapping[str, Any]
COMPOSED = ("multi_head_attention", "transformer_encoder_layer", "transformer_decoder_layer")
_OTHER_FORMULAS = 3


def _error(one: Rounded) -> Any:
    return _OTHER_FORMULAS * one.off


def _lost(one: Rounded) -> Any:
    return _OTHER_FORMULAS * one.lost


def _added(one: Rounded) -> Any:
    return one.most


def _of_floats(function: Callable[[NDArray], Any], value: Any) -> Any:
    """An argument with a function applied to its arrays of floats, or exact numbers; others stay as they are."""
    if is_several(value):
        return of_parts(value, [_of_floats(function, part) for part in parts_of(value)])
    return each(function, value, dtype=object) if _holds_floats(value) else value


def _holds_floats(value: Any) -> bool:
    return isinstance(value, (Components, np.ndarray)) and value.dtype.kind in "fO"


def _on_rounded(arguments: Arguments) -> dict[str, Any]:
    return {name: _of_floats(rounded, value) for name, value in arguments.items()}


def _read(part: Callable[[Rounded], Any], numbers: NDArray) -> NDArray:
    """A fact about each number; of 0 where an array holds what was never computed."""
    return np.asarray(np.frompyfunc(lambda one: part(one) if isinstance(one, Rounded) else 0.0, 1, 1)(numbers), object)


def _of_results(part: Callable[[Rounded], Any]) -> Callable[..., Any]:
    def of_call(define: Any, arguments: Arguments, result: Any = None) -> Any:
        return each(lambda x: _read(part, x), define(**_on_rounded(arguments)))

    return of_call


def _of_gradients(part: Callable[[Rounded], Any]) -> Callable[[str], Callable[..., dict[str, Any]]]:
    """For an operator, what its gradient bounds are of: a fact about the gradient of each number of its operands."""

    def of_call(op: str, arguments: Arguments, cotangent: Any) -> dict[str, Any]:
        own = _on_rounded(arguments)
        made = rounded(_flat([definition(op)(**own)]))
        pulled = pulled_to(_flat(own.values()), made, rounded(_flat([cotangent])))
        facts = iter(_read(part, pulled))
        floats = {name: one for name, one in arguments.items() if any(map(_holds_floats, arrays([one])))}
        return {name: _of_floats(lambda x: _next(facts, x.shape), one) for name, one in floats.items()}

    return lambda op: partial(of_call, op)


def _flat(values: Any) -> NDArray:
    """The numbers of all arrays of floats among values, one after the other."""
    found = [one for one in arrays(values) if _holds_floats(one)]
    parts = [part for one in found for part in (one if isinstance(one, Components) else [one])]
    return np.concatenate([np.zeros(0, object), *(part.ravel() for part in parts)])


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
