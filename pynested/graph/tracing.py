"""`trace`: a function becomes a `Graph`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from pynested.autograd import Array, random
from pynested.autograd.dispatch import operator
from pynested.backends.errors import ArgumentError, TraceError, named_type
from pynested.nested.array import NestedArray
from pynested.pictures.picture import Picture
from pynested.surface.passing import watchers

from .drawing import picture_of
from .forms import CONTAINERS, Value, alike, parts, values_in
from .nodes import Node, Recording
from .places import constants
from .recorder import Recorder
from .refusals import at, refusal
from .replay import Changed, runner
from .signature import constant
from .text import as_text

__all__ = ["Graph", "recorded", "trace"]


class Graph:
    """A function of arrays as a list of calls. Make one with `pynested.trace`; call it as the function.

    Attributes
    ----------
    function : callable
        What was recorded.
    inputs, outputs : forms
        Where values stand among the arguments, and among the results.
    captured : list of Captured
        Arrays that the function finds by itself, each read anew at every replay.
    nodes : list of Node
        The calls, in order.
    """

    def __init__(self, function: Callable[..., Any], recording: Recording) -> None:
        self.function, self.recording = function, recording
        self.inputs, self.outputs = recording.inputs, recording.outputs
        self.captured, self.nodes = recording.captured, recording.nodes
        values = [*values_in(self.inputs), *(one.value for one in self.captured)]
        self.run = runner(values, self.nodes, self.outputs)
        self._variables = [(place, constant(value)) for value, place in constants(function)]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function gives for other arguments, of whatever ragged structure."""
        for place, was in self._variables:
            if constant(place.find()) != was:
                raise Changed(
                    f"graph: {place.text} was another when the function was traced; it is {place.find()!r} now. "
                    "Numbers and texts of Python are constants of a graph. Trace the function again, or make an array "
                    "of it."
                )
        given = list(bound(self.inputs, (args, kwargs)))
        return self.run(*given, *[one.place.find() for one in self.captured])

    def __str__(self) -> str:
        return as_text(self.function, self.recording)

    def picture(self) -> Picture:
        """The graph as a picture, which notebooks show: a line for each call, and arrows to those that read it."""
        return picture_of(self.function, self.recording)

    def _repr_html_(self) -> str:
        return self.picture()._repr_html_()

    def __repr__(self) -> str:
        return f"<graph of {getattr(self.function, '__name__', 'a function')}: {len(self.nodes)} calls>"

    @property
    def shown(self) -> Mapping[int, str]:
        """What each value was when the function was recorded, in words, by its number."""
        return self.recording.shown


def bound(form: Any, given: Any, path: str = "") -> Iterator[Any]:
    """What stands where values stand in ``form``; everything else has to be as it was."""
    if type(form) is Value:
        if not isinstance(given, Array | NestedArray | np.random.Generator):
            raise ArgumentError(f"graph: an array was traced{path}, and this is {named_type(given)}.")
        yield given
    elif isinstance(form, CONTAINERS):
        same = isinstance(given, CONTAINERS) and type(form) is type(given) and len(parts(form)) == len(parts(given))
        if not same or (isinstance(form, dict) and form.keys() != given.keys()):
            raise ArgumentError(f"graph: the arguments have another form than those that were traced{path}.")
        keys = list(form) if isinstance(form, dict) else range(len(parts(form)))
        inner = [given[key] for key in form] if isinstance(form, dict) else parts(given)
        for key, one, other in zip(keys, parts(form), inner, strict=True):
            yield from bound(one, other, f"{path or ' in argument '}[{key!r}]")
    elif not alike(form, given):
        raise Changed(f"graph: {form!r} was traced{path}, and this is {given!r}. Trace the function with it.")


@operator
def trace(function: Callable[..., Any], *examples: Any, **named: Any) -> Graph:
    """``function`` as a graph: the public calls that it makes, which can be printed, looked at and replayed.

    Parameters
    ----------
    function : callable
        Takes and gives arrays, nested ones too, also in tuples, lists and dicts.
    *examples, **named
        Arguments to run it with. Those that are no arrays are constants of the graph.

    Returns
    -------
    Graph
        ``graph(*arguments)`` gives what ``function(*arguments)`` gives, for arrays of any ragged structure: sizes are
        worked out anew, arrays in variables are read anew, random numbers are drawn anew.

    Raises
    ------
    TraceError
        Where the function does what a graph cannot hold: a branch on data, a number or a NumPy array taken out of an
        array; at the line where it does so. Also by the graph, for arguments with which the function might do something
        else.

    Notes
    -----
    The function runs twice, on the examples, and what it writes is put back. What differs between the two runs, as a
    random number that Python drew, is refused. Other effects, as printing, are no part of the graph.

    Examples
    --------
    >>> nt = pn.nested_array([[0.0, 1.0], [2.0]], layout=pn.jagged)
    >>> graph = pn.trace(lambda x: x.sin() + 1, nt)
    >>> print(graph)
    def f(x):
        # x: (2, j1) float64 jagged
        a = sin(x)  # (2, j1) float64 jagged
        b = a + 1  # (2, j1) float64 jagged
        return b
    >>> graph(pn.nested_array([[0.0], [0.0, 0.0], []], layout=pn.jagged)).unbind()
    (array([1.]), array([1., 1.]), array([]))
    """
    return Graph(function, recorded(function, examples, named))


def recorded(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Recording:
    """The recording of ``function``, which runs twice to see that it does the same."""
    if not callable(function):
        raise ArgumentError(f"trace: a function is recorded, not {named_type(function)}: pn.trace(f, *examples).")
    if any(isinstance(getattr(watcher, "__self__", None), Recorder) for watcher in watchers()):
        raise refusal("trace")
    with random.drawn_again(random.get_state()):
        first = Recorder(function, args, kwargs).run()
        second = Recorder(function, args, kwargs).run()
    for one, other in zip(first.nodes, second.nodes, strict=False):
        _compare(one, other)
    if len(first.nodes) != len(second.nodes) or not alike(first.outputs, second.outputs):
        raise TraceError(
            "trace: the function did something else when it ran a second time, with the same arguments, so one "
            "recording of it does not say what it does. What it depends on has to be among its arguments."
        )
    return first


def _compare(one: Node, other: Node) -> None:
    """Refuse what was another call the second time."""
    if one.name != other.name or one.spot != other.spot:
        what, why = f"{one.name}, which was {other.name} when the function ran a second time,", "What the function does"
    elif not alike((one.args, dict(one.kwargs)), (other.args, dict(other.kwargs))):
        what, why = f"an argument of {one.name} that was another when the function ran a second time", "This"
    elif not alike(one.results, other.results):
        what, why = f"a result of {one.name} that was another when the function ran a second time", "This"
    else:
        return
    raise at(one.spot, what, f"{why} has to follow from its arguments. Give it as one, or draw it by pn.rand")
