"""`checkpoint`: compute now, forget what the derivative needs, and compute again when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pynested.backends.errors import GradientError

from . import random
from .anomaly import checksum
from .array import Array
from .containers import flatten
from .default_device import get_default_device, set_default_device
from .modes import Mode
from .rules.rule import Rule, hang
from .tape import ANOMALY, OFF, RECORDING, Line, held, now, source_of, state
from .walk import Pending, boundary, lines_between, pull_back, push_forward


def checkpoint(function: Callable[..., Any], *arguments: Any) -> Any:
    """``function(*arguments)``, of which only the arguments are kept for the gradient; a pass computes it again.

    Gradients of any order flow, also to arrays that the function uses without being given them. The default device and
    random numbers from the default generator are the same again; a generator of your own is yours to restore.

    Raises
    ------
    GradientError
        In the backward pass, if the function gives another result when it is called again.

    Examples
    --------
    >>> import pynested as pn
    >>> x = pn.array([1.0, 2.0], requires_grad=True)
    >>> pn.checkpoint(lambda x: (x * x).sum(), x).backward()
    >>> x.grad
    array([2., 4.])
    """
    if state.mode == OFF:
        return function(*arguments)
    return _Checkpoint(function, arguments).recorded()


class _Checkpoint(Rule):
    """One call that is to be repeated: the rule of its own line."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.name = f"checkpoint of {getattr(function, '__name__', function)}"
        self.function = function
        self.generator = random.get_state()
        self.device = get_default_device()
        self.arrays, self.rebuild = flatten(arguments)

    def recorded(self) -> Any:
        """The outputs, hanging from a line whose sources are all that they depend on."""
        start = now()
        results, rebuild = flatten(self.function(*self.rebuild(self.arrays)))
        self.signs = _signs(results)
        sources = boundary([source_of(result) for result in results], start)
        fresh = [result.detach() for result in results]
        if sources:
            line = Line(self, tuple(sources), (), (), None)
            line.save(held(self.arrays, [source_of(array) for array in self.arrays]), None)
            hang(fresh, line, [result.requires_grad for result in results])
        self.arrays = []
        return rebuild(fresh)

    def again(self, line: Line) -> list[Array]:
        """The results of another call on what was saved."""
        with Mode(state.mode or RECORDING), _generator_at(self.generator), set_default_device(self.device):
            results = flatten(self.function(*self.rebuild(line.saved()[0])))[0]
            signs = _signs(results)
        if any(a != b for a, b in zip(signs, self.signs, strict=False)) or len(signs) != len(self.signs):
            raise GradientError(f"{self.name}: called again on the same arguments, it gave another result.")
        return results

    def pull(self, line: Line, cotangent: Any, pending: Pending, needed: set[Any] | None) -> None:
        """Call again, recorded, and pull back to where the lines of that call begin."""
        start = now()
        nodes = [source_of(result) for result in self.again(line)]
        seeds = [(node, given) for node, given in zip(nodes, cotangent, strict=True) if given is not None]
        until = {source for source in line.sources if needed is None or source in needed}
        between = until | set(lines_between([node for node, _ in seeds], until, start))
        seeds = [(node, given) for node, given in seeds if node in between]
        inner = pull_back(seeds, graph=pending.graph, keep=pending.graph, needed=between, until=until)
        pending.exposed |= inner.exposed
        for source in until:
            if source in inner.cotangents:
                pending.add(source, inner.cotangents[source])

    def push(self, line: Line, tangents: list[Any]) -> Any:
        """Call again, recorded, and push forward from where the lines of that call begin."""
        start = now()
        nodes = [source_of(result) for result in self.again(line)]
        given = {source: t for source, t in zip(line.sources, tangents, strict=True) if t is not None}
        return push_forward(given, nodes, start) if given else None


def _signs(results: list[Array]) -> list[tuple[Any, ...]]:
    """What must not change from one call to the next; inside `anomaly` also the values."""
    return [
        (result.shape, result.dtype, checksum(result) if state.mode == ANOMALY else 0, result.requires_grad)
        for result in results
    ]


@contextmanager
def _generator_at(past: Any) -> Iterator[None]:
    """Inside, the default generator draws what it drew after ``past``; then it goes on as if nothing had happened."""
    present = random.get_state()
    random.set_state(past)
    try:
        yield
    finally:
        random.set_state(present)
