"""`trace`: a function becomes a `Graph`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pynested.autograd import random
from pynested.autograd.array_methods import ArrayMethods
from pynested.autograd.decorators import operator
from pynested.backends.errors import ArgumentError, named_type
from pynested.pictures.picture import Picture
from pynested.structure.ragged_size import RaggedSize

from .graph_display import as_text, picture_of
from .inputs import Source, map_leaves, signature_of, values_in
from .nodes import Recording, Replay, TraceMismatch, in_words
from .recorder import Recorder
from .unsupported import RECORDED_ERRORS


class Graph:
    """A function of arrays as a list of calls. Make one with `pynested.trace`; call it as the function.

    ``nodes`` are the calls, in order. ``inputs`` and ``outputs`` are the arguments and the results, with a value for
    each array. ``captured`` maps the values of other arrays to the variables and attributes that hold them.
    """

    def __init__(self, function: Callable[..., Any], recording: Recording, args: Any, kwargs: Any) -> None:
        self.function, self.recording = function, recording
        self.inputs, self.outputs = recording.inputs, recording.outputs
        self.captured, self.nodes = recording.captured, recording.nodes
        self._signature, self._arguments = _untracked_signature(args, kwargs), call_in_words(args, kwargs)
        self._replay = replay_of(recording)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Return what the function returns, for arrays of any lengths."""
        if RECORDED_ERRORS.get(None) is not None:
            return self.function(*args, **kwargs)
        arrays: list[Any] = []
        signature_of((args, kwargs), arrays)
        if _untracked_signature(args, kwargs) != self._signature:
            raise TraceMismatch(
                f"graph: the function was traced with ({self._arguments}), and this call has "
                f"({call_in_words(args, kwargs)}). Trace the function with such arguments, or compile it."
            )
        changed = changed_source(self.recording)
        if changed is not None:
            raise TraceMismatch(
                f"graph: {changed.text} has changed since the function was traced. Variables and attributes are "
                "constants of a graph. Trace the function again, or make it an argument."
            )
        return self._replay(*arrays)

    def __str__(self) -> str:
        return as_text(self.function, self.recording)

    def picture(self) -> Picture:
        """Return the graph as a picture, which notebooks show: a line for each call, and arrows to its readers."""
        return picture_of(self.function, self.recording)

    def _repr_html_(self) -> str:
        return self.picture()._repr_html_()

    def __repr__(self) -> str:
        return f"<graph of {getattr(self.function, '__name__', 'a function')}: {len(self.nodes)} calls>"


@operator
def trace(function: Callable[..., Any], *examples: Any, **named: Any) -> Graph:
    """Record ``function`` as a graph of the public calls that it makes, which can be printed and replayed.

    Parameters
    ----------
    function : callable
        Takes and returns arrays, also in tuples, lists and dicts.
    *examples, **named
        Arguments to run it with, once. Those that are no arrays are constants of the graph.

    Returns
    -------
    Graph
        ``graph(*arguments)`` returns what ``function(*arguments)`` returns, for arrays of any lengths; random numbers
        are drawn anew. Arrays, numbers and texts that the function takes from its closure, from globals that it names
        itself, and from attributes are constants: at each call the same arrays and equal numbers must be there.

    Raises
    ------
    TraceError
        If the function does what a graph cannot contain: a branch on data, a number or a NumPy array taken out of an
        array, a write into an array from outside, a callback that uses arrays of the function, a random number that
        NumPy draws. The error names the line. A graph raises it for arguments with which the function might make other
        calls.

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
    if not callable(function):
        raise ArgumentError(f"trace: a function is recorded, not {named_type(function)}: pn.trace(f, *examples).")
    with random.replay_random(random.generator_state()):
        recording, _ = Recorder(function, examples, named).run()
    return Graph(function, recording, examples, named)


def replay_of(recording: Recording) -> Callable[..., Any]:
    """Return a function that replays a recording; its arguments are the arrays among the arguments of a call."""
    inputs = [*values_in(recording.inputs), *recording.captured, *recording.made]
    replay = Replay(inputs, recording.nodes, recording.outputs)
    captured, made = [source.content for source in recording.captured.values()], list(recording.made.values())
    return lambda *arrays: replay(*arrays, *captured, *[array.copy("K") for array in made])


def changed_source(recording: Recording) -> Source | None:
    """Return the first variable or attribute that holds another object or number than in the recording."""
    return next((source for source in recording.constants if not source.is_current()), None)


def call_in_words(args: Any, kwargs: Any) -> str:
    """Return the arguments of a call as text."""
    names: dict[RaggedSize, str] = {}
    texts = [in_words(arg, names) for arg in args]
    return ", ".join(texts + [f"{name}={in_words(arg, names)}" for name, arg in kwargs.items()])


def _untracked_signature(args: Any, kwargs: Any) -> Any:
    """Return the signature of arguments without ``requires_grad``: a graph serves both cases."""
    tree = map_leaves((args, kwargs), lambda leaf: leaf.detach() if isinstance(leaf, ArrayMethods) else leaf)
    return signature_of(tree, [])
