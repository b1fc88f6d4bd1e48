"""The recorder: runs a function once on traced arrays, computes each call on the real ones, and keeps it as a node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.dispatch import Call, unwatched, watching
from pynested.autograd.tape import state
from pynested.backends.errors import ArgumentError, TraceError, named_type
from pynested.nested.nested_array import NestedArray
from pynested.structure.layout import Layout

from .assumptions import NUMBERS, Source, find_sources
from .nodes import FUNCTION, NUMBER, SETTING, SIZES, Capture, Node, Recording
from .traced_values import stand_in
from .unsupported import FUNCTIONS, Remedy, current_spot, definition_of, unsupported
from .value_trees import CONTAINERS, Value, children, closure_template, map_leaves, substitute

_MODES = frozenset({"no_grad", "enable_grad", "anomaly"})  # each node has its mode
_DRAWS = frozenset({
    "rand", "randn", "randint", "rand_like", "randn_like", "randint_like", "dropout", "multi_head_attention",
    "scaled_dot_product_attention", "transformer_encoder_layer", "transformer_decoder_layer", "manual_seed",
})  # fmt: skip
_MARKS = frozenset({"requires_grad_", "retain_grad", "register_hook", "accumulate", "setattr"})  # change no values
_CONSTANTS = (*NUMBERS, type, type(...))
_ARRAYS = (Array, NestedArray)


_recording: ContextVar[bool] = ContextVar("recording", default=False)  # each thread has its own


def is_recording() -> bool:
    """Return whether this thread records a function now."""
    return _recording.get()


def record(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Recording, Any]:
    """Run ``function``; return the recording, and the results."""
    if not callable(function):
        raise ArgumentError(f"trace: a function is recorded, not {named_type(function)}: pn.trace(f, *examples).")
    if is_recording():
        raise unsupported("pn.trace", Remedy.NESTED)
    return Recorder(function, args, kwargs).run()


class Recorder:
    """One run of ``function``.

    ``things`` and ``stand_ins`` are the real array, number or other object of each value, and what the function sees
    of it, by the number of the value; ``values`` has the values by the ids of the stand-ins. ``outside`` are the arrays
    that the function did not make, by id.
    """

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        self.function, self.mode = function, state.mode
        self.things: dict[int, Any] = {}
        self.stand_ins: dict[int, Any] = {}
        self.values: dict[int, Value] = {}
        self.is_computing = False
        self.caught: TraceError | None = None  # raised if the function catches the error of a call
        self.sources = find_sources(function, (args, dict(kwargs)))
        self.source_by_id = {id(source.thing): source for source in self.sources}
        self.used: set[int] = set()
        self.open_functions: list[Any] = []  # of which a template is made
        self.outside = {id(source.thing): source.thing for source in self.sources if isinstance(source.thing, _ARRAYS)}
        self.recording = Recording(map_leaves((args, dict(kwargs)), self._argument))

    def run(self) -> tuple[Recording, Any]:
        """Run the function; return the recording, and what the function returned."""
        recording, versions = self.recording, {key: _version(array) for key, array in self.outside.items()}
        args, kwargs = substitute(recording.inputs, self.stand_ins)
        token = _recording.set(True)
        try:
            with watching(self._watch):
                outputs = self.function(*args, **kwargs)
        finally:
            _recording.reset(token)
        if self.caught is not None:
            raise self.caught
        recording.outputs = map_leaves(outputs, self._output)
        if versions != {key: _version(array) for key, array in self.outside.items()}:
            raise unsupported("a write into an array from outside", Remedy.WRITE, definition_of(self.function))
        recording.constants = self._constants()
        recording.describe(self.things)
        return recording, substitute(recording.outputs, self.things)

    # ---- calls --------------------------------------------------------------------------------------------------

    def _watch(self, call: Call) -> Any:
        """Record the call of a public function."""
        if call.name in _MODES:
            return call.run()
        if call.name in FUNCTIONS:
            raise unsupported(f"pn.{call.name}", FUNCTIONS[call.name])

        def compute(*args: Any, **kwargs: Any) -> Any:
            call.args, call.kwargs = args, kwargs
            return call.run(watched=False)

        return self.call(FUNCTION, call.name, call.function, call.args, call.kwargs, compute)

    def call(self, kind: str, name: str, function: Any, args: Any, kwargs: Any = None, compute: Any = None) -> Any:
        """Record a call and compute it on the real arrays; return stand-ins of its results."""
        node_args, node_kwargs = map_leaves((tuple(args), dict(kwargs or {})), partial(self._operand, name))
        real_args, real_kwargs = substitute((node_args, node_kwargs), self.things)
        writes = kind == SETTING or name in ("__setitem__", "accumulate") or (name[-1] == "_" and name[-2:] != "__")
        target = real_kwargs.get("out", real_args[0] if writes else None)
        self._refuse_outside_write(name, target)
        self.is_computing, spot = True, current_spot()
        try:
            with unwatched():
                result = (compute or function)(*real_args, **real_kwargs)
        except Exception:
            self.caught = unsupported(f"an error of {name}, which the function catches,", Remedy.CAUGHT, spot)
            raise
        finally:
            self.is_computing = False
        if writes and result is target:
            results, shown = None, args[0]  # as add_ returns its array
        else:
            results = map_leaves(result, partial(self._result, name))
            shown = substitute(results, self.stand_ins)
        effect = target is not None or name in _DRAWS or name == "backward" or _runs_code((real_args, real_kwargs))
        mode = state.mode if state.mode != self.mode else None
        self.recording.nodes.append(Node(name, kind, function, node_args, node_kwargs, results, mode, effect, spot))
        return shown

    def arithmetic(self, function: Callable[..., Any], operands: tuple[Any, ...], is_checked: bool = False) -> Any:
        """Record arithmetic with sizes. The result is a size, or a constant that is checked in each replay."""
        trees = map_leaves(operands, partial(self._operand, function.__name__))
        result = function(*substitute(trees, self.things))
        results = result if is_checked else self._new_value(result)
        spot = current_spot()
        self.recording.nodes.append(Node(function.__name__, NUMBER, function, trees, {}, results, None, False, spot))
        return substitute(results, self.stand_ins)

    def real(self, traced: Any) -> Any:
        """Return the array that a traced one stands for."""
        if self.is_computing or not is_recording():  # an object has brought it into a call, or out of the run
            raise unsupported("an array of the recording that an object holds", Remedy.OBJECT)
        return self.things[self.values[id(traced)].number]

    def _refuse_outside_write(self, name: str, target: Any) -> None:
        """Refuse to change an array from outside before it happens."""
        if name == "backward" and any(array.requires_grad for array in self.outside.values()):
            raise unsupported("x.backward()", Remedy.BACKWARD)
        storages = [_storage(array) for array in self.outside.values()]
        is_view = name not in _MARKS and isinstance(target, _ARRAYS) and _storage(target) in storages
        if is_view or (target is not None and id(target) in self.outside):
            raise unsupported(f"a write into an array from outside of the function, by {name},", Remedy.WRITE)

    # ---- trees --------------------------------------------------------------------------------------------------

    def _new_value(self, thing: Any, shown: Any = None) -> Value:
        """Return a new value for ``thing``, which the function sees as ``shown``."""
        value = Value(len(self.things))
        shown = stand_in(thing, self) if shown is None else shown
        self.things[value.number], self.stand_ins[value.number] = thing, shown
        self.values[id(shown)] = value
        return value

    def _argument(self, leaf: Any) -> Any:
        """Return the value of an array or a generator among the arguments; other arguments are constants."""
        if isinstance(leaf, np.random.Generator):
            return self._new_value(leaf, leaf)
        if not isinstance(leaf, _ARRAYS):
            return leaf
        self.outside[id(leaf)] = leaf
        return self._new_value(leaf)

    def _operand(self, name: str, leaf: Any) -> Any:
        """Return the tree of an argument of the call ``name``."""
        if id(leaf) in self.values:
            return self.values[id(leaf)]
        if isinstance(leaf, _CONSTANTS):
            return leaf
        source = self.source_by_id.get(id(leaf))
        self.used.add(id(leaf))
        if isinstance(leaf, (*_ARRAYS, np.random.Generator)):
            if source is None:
                kind, remedy = (
                    ("an array", Remedy.ARRAY) if isinstance(leaf, _ARRAYS) else ("a generator", Remedy.GENERATOR)
                )
                raise unsupported(f"{kind} from elsewhere, which {name} uses,", remedy)
            value = self._new_value(leaf, leaf)
            self.recording.captured.append(Capture(value, source))
            return value
        if isinstance(leaf, np.ndarray) and source is None:
            return leaf.copy()
        if type(leaf) is not FunctionType or leaf in self.open_functions:  # two functions may hold each other
            return leaf
        self.open_functions.append(leaf)
        tree = closure_template(leaf, partial(self._in_closure, name))
        self.open_functions.remove(leaf)
        return tree

    def _in_closure(self, name: str, leaf: Any) -> Any:
        """Return the tree of what a function among the arguments holds; its own arrays stay in it."""
        is_known = id(leaf) in self.values or id(leaf) in self.source_by_id or type(leaf) is FunctionType
        return self._operand(name, leaf) if is_known else leaf

    def _result(self, name: str, leaf: Any) -> Any:
        """Return the tree of a result of the call ``name``: a constant, or a new value."""
        if isinstance(leaf, np.ndarray):
            raise unsupported(f"what {name} returns", Remedy.INTEGERS)
        is_size = type(leaf) is int and name in SIZES
        return leaf if isinstance(leaf, _CONSTANTS) and not is_size else self._new_value(leaf)

    def _output(self, leaf: Any) -> Any:
        """Return the tree of a result of the function. An object might hold arrays of this run."""
        tree = self._operand("return", leaf)
        if tree is not leaf or isinstance(leaf, _CONSTANTS) or id(leaf) in self.source_by_id:
            return tree
        raise unsupported(f"a result of the class {type(leaf).__name__}", Remedy.OBJECT, definition_of(self.function))

    def _constants(self) -> list[Source]:
        """Return the sources of numbers, of functions and of what calls have used, and of the containers of these."""
        kept = [
            source
            for source in self.sources
            if id(source.thing) in self.used or isinstance(source.thing, (*NUMBERS, FunctionType))
        ]
        containers = {id(parent.thing) for source in kept for parent in source.parents}
        return [source for source in self.sources if id(source.thing) in containers] + kept


def _storage(array: Any) -> Any:
    return array.data.storage if isinstance(array, NestedArray) else array.storage


def _version(array: Any) -> tuple[Any, ...]:
    """Return what differs after a write into an array or its gradient, or after another mark of it."""
    gradient = array.grad
    return _storage(array).version, array.requires_grad, None if gradient is None else _storage(gradient).version


def _runs_code(tree: Any) -> bool:
    """Return whether a function of the user is among the arguments, which may do anything."""
    if isinstance(tree, CONTAINERS):
        return any(map(_runs_code, children(tree)))
    return callable(tree) and not isinstance(tree, type | Layout)
