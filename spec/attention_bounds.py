"""How far attention may be off: query by query, of the scores that it meets, of first order while that says something.

With n keys, E elements in a row, aⱼ = abs(scale)·Σ abs(q·k) and bⱼ what the mask adds, a score is off by
eⱼ = (E + 4)·aⱼ + 2·(aⱼ + abs(bⱼ)). Its weight pⱼ is then off, relatively, by

    fⱼ = eⱼ + 2(max - s) + Σp(e + 2(max - s)) + 12n + 30

for an exponential of a rounded difference, and for as many more as a softmax that runs along scales its sums down with.
A result is off by Σ p·abs(v)·(f + n + 4). A gradient starts from ds = p·(g·v - Σp·(g·v)), of size r = p·(abs(g·v) +
Σp·abs(g·v)) at most, and is off by t = 2·max f + n + V + 12 times that.

Where f is no longer small beside 1/u, a weight may be anything from 0 to 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from .components import Components, matched
from .numerics import NDArray, maximum_along, sum_along, wide
from .run_bounds import VANISHING

__all__ = ["added", "error", "gradient_added", "gradient_error", "gradient_lost", "lost"]

_ROUNDOFF = 2.0**-24  # the largest that is computed in
_FEW = 2.0**-4 / _ROUNDOFF  # so far off, what is of second order matters

Arguments = Mapping[str, Any]
OPERANDS = "query", "key", "value", "attn_mask"


class Query(NamedTuple):
    """One query, the keys and values that it meets, and what is known of its scores."""

    query: NDArray
    keys: NDArray
    values: NDArray
    added: NDArray
    scale: Any
    rows: int  # that add to one gradient, at most
    own: tuple[Any, ...]  # where the elements of each operand are, an index each
    at: tuple[int, ...]  # in the result

    @property
    def products(self) -> NDArray:
        """What each score adds up, (n, E)."""
        found: NDArray = self.keys * self.query
        return found if found.size else np.zeros(found.shape)

    @property
    def reach(self) -> NDArray:
        """The sum of the products of each score, without signs."""
        return np.asarray(abs(self.scale) * sum_along(abs(self.products), -1))

    def weights(self) -> tuple[NDArray, Any]:
        """The weights, and how far off each is, relatively."""
        scores = self.scale * sum_along(self.products, -1) + self.added
        below = maximum_along(scores, 0) - scores
        powers = np.exp(-below)
        p = powers / sum_along(powers, 0)
        off = (self.query.size + 4) * self.reach + 2 * (self.reach + abs(self.added)) + 2 * below
        off = np.where(p < VANISHING, 0, off)  # what becomes exactly 0 has no relative error
        return p, off + sum_along(p * off, 0) + 12 * len(p) + 30


# ---- of one query; arrays stand before numbers, which exact ones want -----------------------------------------------


def _error(one: Query) -> Any:
    p, off = one.weights()
    size = abs(one.values)
    if off.max() > _FEW:
        return maximum_along(size, 0) * (2 / _ROUNDOFF)
    return sum_along((p * (1.25 * off + (len(p) + 4)))[:, None] * size, 0)


def _most(*arrays: NDArray) -> Any:
    """One more than all magnitudes together."""
    return 1 + sum(_total(abs(x)) for x in arrays)


def _total(x: NDArray) -> Any:
    return sum_along(x.reshape(-1), 0)[()] if x.size else 0.0


def _lost(one: Query) -> Any:
    """Of products, of weights, and of scores, whose floors are those of their weights."""
    steps = len(one.keys) + 2 * (one.query.size + 3) * (1 + abs(one.scale)) * _most(one.query, one.keys)
    return (sum_along(abs(one.values), 0) + 1) * steps


def _greatest(one: Query) -> Any:
    """Scores, before and after they are scaled, and scaled queries."""
    bare = maximum_along(sum_along(abs(one.products), -1), 0)[()]
    return bare * (1 + abs(one.scale)) + _total(abs(one.query)) * abs(one.scale) + maximum_along(abs(one.added), 0)[()]


def _added(one: Query) -> Any:
    """The scores, and the values: weights may be scaled down after they are added."""
    return sum_along(abs(one.values), 0) + _greatest(one)


Pulled = tuple[Any, Any, Any, Any]  # for the query, for each key, each value, each score


def _gradient(one: Query, g: NDArray) -> Pulled:
    p, off = one.weights()
    products = sum_along(abs(one.values * g), -1)
    count = len(p) + one.rows + 4
    if off.max() > _FEW:
        reach, times = 0 * p + 2 * maximum_along(products, 0)[()], 2 / _ROUNDOFF
        of_values = (0 * p + times)[:, None] * abs(g)
    else:
        reach = p * (products + _total(p * products))
        times = 2.5 * off.max() + len(p) + one.values.shape[-1] + 12
        of_values = (p * (1.25 * off + count))[:, None] * abs(g)
    of_scores = reach * (times + count)
    scaled = of_scores[:, None] * abs(one.scale)
    return sum_along(scaled * abs(one.keys), 0), scaled * abs(one.query), of_values, of_scores


def _gradient_lost(one: Query, g: NDArray) -> Pulled:
    """Whatever is multiplied on the way may have vanished: the sizes of all that it is multiplied by, together."""
    size = _most(one.query, one.keys) * _most(one.values, g) * _most(g) * (1 + abs(one.scale)) ** 2
    return _all(one, (len(one.keys) + one.query.size + g.size + 6) * size)


def _gradient_added(one: Query, g: NDArray) -> Pulled:
    products = maximum_along(sum_along(abs(one.values * g), -1), 0)[()]
    reach = 2 * products + _greatest(one) + _most(one.values, g)
    return _all(one, reach * (1 + abs(one.scale)) * _most(one.query, one.keys))


def _all(one: Query, number: Any) -> Pulled:
    """The same of every element."""
    return tuple(np.zeros(x.shape, object) + number for x in (one.query, one.keys, one.values, one.added))


# ---- of all queries -------------------------------------------------------------------------------------------------


def _queries(arguments: Arguments) -> Iterator[tuple[int, Query]]:
    """Every query of every component that meets a key, with the number of the component."""
    operands = [arguments.get(name) for name in OPERANDS]
    groups = matched(*operands) if any(isinstance(x, Components) for x in operands) else [tuple(operands)]
    found = [(number, one) for number, group in enumerate(groups) for one in _of_component(arguments, group)]
    yield from ((number, one._replace(rows=len(found))) for number, one in found)


def _of_component(arguments: Arguments, group: tuple[Any, ...]) -> Iterator[Query]:
    q, k, v = (wide(x) for x in group[:3])
    mask = None if group[3] is None else wide(group[3])
    scale = arguments.get("scale")
    factor = scale if scale is not None else 1 / math.sqrt(q.shape[-1]) if q.shape[-1] else 1.0
    times = q.shape[-3] // max(k.shape[-3], 1) if arguments.get("enable_gqa") else 1
    lead = np.broadcast_shapes(q.shape[:-2], *(_repeated(x.shape, times)[:-2] for x in (k, v)))
    met = np.ones((*lead, q.shape[-2], k.shape[-2]), np.bool_)
    if arguments.get("is_causal"):
        met = met & np.tri(met.shape[-2], met.shape[-1], dtype=np.bool_)
    extra = np.broadcast_to(np.zeros(()) if mask is None else mask, met.shape)
    if mask is not None:
        met = met & (extra if mask.dtype == np.bool_ else np.asarray(extra != -np.inf, np.bool_))
    for place in np.ndindex(*lead, q.shape[-2]):
        heads = [_place(x.shape[:-2], place[:-1], times if x is not q else 1) for x in (q, k, v)]
        meets = np.flatnonzero(met[place])
        if meets.size:
            added = extra[place][meets] if mask is not None and mask.dtype != np.bool_ else np.zeros(meets.size)
            at_mask = () if mask is None else _place(mask.shape[:-1], place, 1)
            own = (*heads[0], place[-1]), (*heads[1], meets), (*heads[2], meets), (at_mask, meets)
            keys, values = k[(*heads[1], meets)], v[(*heads[2], meets)]
            yield Query(q[(*heads[0], place[-1])], keys, values, added, factor, 0, own, place)


def _repeated(shape: tuple[int, ...], times: int) -> tuple[int, ...]:
    return (*shape[:-3], shape[-3] * times, *shape[-2:]) if times != 1 else shape


def _place(sizes: tuple[int, ...], place: tuple[int, ...], times: int) -> tuple[int, ...]:
    """Where an operand with these sizes is met: aligned at the right, in groups of heads, 0 where it stretches."""
    at = place[len(place) - len(sizes) :]
    grouped = [index // times if number == len(sizes) - 1 else index for number, index in enumerate(at)]
    return tuple(0 if size == 1 else index for size, index in zip(sizes, grouped, strict=True))


def _of_results(function: Callable[[Query], Any]) -> Callable[..., Any]:
    def of_call(define: Any, arguments: Arguments, result: Any = None) -> Any:
        made = define(**arguments) if result is None else result
        nested = isinstance(made, Components)
        found = [np.zeros(x.shape, object) for x in (made if nested else [made])]
        for number, one in _queries(arguments):
            found[number][one.at] = function(one)
        return Components(found, made.shape, object) if nested else found[0]

    return of_call


def _of_gradients(function: Callable[[Query, NDArray], Pulled]) -> Callable[..., dict[str, Any]]:
    def of_call(arguments: Arguments, cotangent: Any) -> dict[str, Any]:
        given = {name: arguments[name] for name in OPERANDS if arguments.get(name) is not None}
        found = {name: _zeros(x) for name, x in given.items()}
        nested = [x for x in given.values() if isinstance(x, Components)]
        rank = max((len(x.shape) for x in nested), default=0)
        for number, one in _queries(arguments):
            g = wide(cotangent[number] if nested else cotangent)[one.at]
            for name, part, at in zip(OPERANDS, function(one, g), one.own, strict=True):
                if name in given and not (name == "attn_mask" and given[name].dtype.kind == "b"):
                    _add(_own(found[name], number, rank), at, part, name == "attn_mask")
        return found

    return of_call


def _add(total: NDArray, at: Any, part: Any, of_mask: bool) -> None:
    if not of_mask:
        total[at] += part
        return
    place, meets = at
    if total.shape[-1] == 1:
        total[(*place, 0)] += sum_along(np.asarray(part), 0)[()]
    else:
        total[(*place, meets)] += part


def _zeros(x: Any) -> Any:
    if isinstance(x, Components):
        return Components([np.zeros(one.shape, object) for one in x], x.shape, object)
    return np.zeros(x.shape, object)


def _own(x: Any, number: int, rank: int) -> NDArray:
    """What component ``number`` takes from an operand, as `matched` has it."""
    if isinstance(x, Components):
        return x[number]
    found: NDArray = x if x.ndim < rank or not rank else x[number if x.shape[0] != 1 else 0]
    return found


error = _of_results(_error)
lost = _of_results(_lost)
added = _of_results(_added)
gradient_error = _of_gradients(_gradient)
gradient_lost = _of_gradients(_gradient_lost)
gradient_added = _of_gradients(_gradient_added)
