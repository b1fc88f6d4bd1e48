"""The recorder: runs a function once on traced arrays, computes each call on real arrays, and stores it as a node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from pynested.autograd import Array, random
from pynested.autograd.decorators import Call, thread_watchers, watching
from pynested.autograd.modes import num_mode_blocks
from pynested.autograd.tape import grad_mode
from pynested.autograd.thread_values import ValueChange
from pynested.backends.errors import TraceError
from pynested.backends.storage import Storage, storage_of_imported
from pynested.nested.nested_array import NestedArray
from pynested.structure.layout import Layout
from pynested.structure.ragged_size import RaggedSize

from .inputs import CONTAINERS, NUMBERS, Value, children, constant_key, find_sources, map_leaves, substitute
from .nodes import ATTRIBUTE, FUNCTION, NUMBER, SETTING, CodeLine, Node, Recording, fact_of
from .traced_values import Traced, stand_in
from .unsupported import FUNCTIONS, RECORDED_ERRORS, Reason, current_line, definition_of, unsupported_error

_MODES = frozenset({"no_grad", "enable_grad", "anomaly"})  # each node has its mode
_SIZES = frozenset({"shape", "size", "numel", "stride", "regular", "regular_size", "component_shape"})
_FLAGS = frozenset({"requires_grad_", "retain_grad", "register_hook", "accumulate", "setattr"})  # write no elements
_CONSTANTS = (*NUMBERS, type, type(...))
_ARRAYS = (Array, NestedArray)
_CAPTURED = (*_ARRAYS, np.random.Generator)


class Recorder:
    """One run of a function on stand-ins, which records its calls."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        self.function, self.definition, self.num_mode_blocks = function, definition_of(function), num_mode_blocks()
        self.reals: dict[int, Any] = {}  # the real arrays and numbers, by the numbers of values
        self.stand_ins: dict[int, Any] = {}  # those that the function sees instead, by the numbers of values
        self.values: dict[int, Value] = {}  # by the ids of stand-ins
        self.storages: dict[int, tuple[Storage, int]] = {}  # of NumPy arrays of the function, with versions; by id
        self.is_computing = False
        self.sources = find_sources(function, (args, dict(kwargs)))
        self.source_by_id = {id(source.content): source for source in self.sources}
        self.used: set[int] = set()  # the ids of the contents of variables that calls have used
        arrays = [source.content for source in self.sources if isinstance(source.content, _ARRAYS)]
        # The arrays that the function does not make, by id. A traced array is one of an earlier run.
        self.outside = {id(array): array for array in arrays if not isinstance(array, Traced)}
        self.recording = Recording(map_leaves((args, dict(kwargs)), self._argument), mode=grad_mode.value)
        objects = [*self.reals.values(), *[source.content for source in self.sources]]
        self.generators = [x for x in objects if isinstance(x, np.random.Generator)]
        self.random_states = self._random_states()

    def run(self) -> tuple[Recording, Any]:
        """Run the function; return the recording, and what the function returned."""
        recording, versions = self.recording, list(map(_version, self.outside.values()))
        args, kwargs = substitute(recording.inputs, self.stand_ins)
        errors: list[TraceError] = []
        token = RECORDED_ERRORS.set(errors)
        try:
            with watching(self._watch):
                outputs = self.function(*args, **kwargs)
        finally:
            RECORDED_ERRORS.reset(token)
        if errors:  # the function has caught them
            raise errors[0]
        recording.outputs = map_leaves(outputs, self._output)
        self._refuse_draws(self.definition)
        if versions != list(map(_version, self.outside.values())):
            raise unsupported_error("a write into an array from outside", Reason.WRITES_OUTSIDE, self.definition)
        unused = {id(x) for source in self.sources if isinstance(x := source.content, _CAPTURED)} - self.used
        used = [source for source in self.sources if id(source.content) not in unused]
        # Entries that the function itself adds make no other graph.
        recording.constants = [replace(x, content=len(x.key)) if x.holder is len else x for x in used]
        names: dict[RaggedSize, str] = {}
        recording.facts = {number: fact_of(real, names) for number, real in self.reals.items()}
        return recording, substitute(recording.outputs, self.reals)

    # ---- calls --------------------------------------------------------------------------------------------------

    def _watch(self, call: Call) -> Any:
        """Record the call of a public function."""
        if call.name in _MODES:
            return call.run()
        if call.name in FUNCTIONS:
            raise unsupported_error(f"pn.{call.name}", FUNCTIONS[call.name])

        def compute(*args: Any, **kwargs: Any) -> Any:
            call.args, call.kwargs = args, kwargs
            return call.run(watched=False)

        return self.call(FUNCTION, call.name, call.function, call.args, call.kwargs, compute)

    def call(self, kind: str, name: str, function: Any, args: Any, kwargs: Any = None, compute: Any = None) -> Any:
        """Record a call and compute it on the real arrays; return stand-ins of its results."""
        node_args, node_kwargs = map_leaves((tuple(args), dict(kwargs or {})), partial(self._operand, name))
        real_args, real_kwargs = substitute((node_args, node_kwargs), self.reals)
        writes = kind == SETTING or name in ("__setitem__", "accumulate") or (name[-1] == "_" and name[-2:] != "__")
        target = real_kwargs.get("out", real_args[0] if writes else None)
        self._refuse_outside_write(name, target)
        self._refuse_draws()
        runs_code = _has_callbacks((real_args, real_kwargs))
        if runs_code:
            self.used.update(self.source_by_id)  # a callback may use everything that the function reaches
        self.is_computing, line, random_state = True, current_line(), random.generator_state()
        try:
            with ValueChange(thread_watchers, [watcher for watcher in thread_watchers.value if watcher != self._watch]):
                result = self._compute(name, compute or function, real_args, real_kwargs)
        finally:
            self.is_computing = False
        self.random_states = self._random_states()
        if writes and result is target:
            results, shown = None, args[0]  # as add_ returns its array
        else:
            results = map_leaves(result, partial(self._result, name))
            shown = substitute(results, self.stand_ins)
        effect = target is not None or name == "backward" or runs_code or random_state != random.generator_state()
        mode = grad_mode.value if num_mode_blocks() > self.num_mode_blocks else None
        may_be_none = (kind, name) == (ATTRIBUTE, "grad") and id(real_args[0]) in self.outside
        node = Node(name, kind, function, node_args, node_kwargs, results, mode, effect, line, may_be_none)
        self.recording.nodes.append(node)
        return shown

    def arithmetic(self, function: Callable[..., Any], operands: tuple[Any, ...], is_checked: bool) -> Any:
        """Record arithmetic with sizes. The result is a size, or a constant that each replay checks."""
        if not all(isinstance(operand, int | float | RaggedSize) for operand in operands):
            return NotImplemented
        self._refuse_hidden("a size")
        trees = map_leaves(operands, partial(self._operand, function.__name__))
        result = self._compute("arithmetic with a size", function, substitute(trees, self.reals), {})
        results, line = result if is_checked else self._new_value(result), current_line()
        self.recording.nodes.append(Node(function.__name__, NUMBER, function, trees, {}, results, None, False, line))
        return substitute(results, self.stand_ins)

    def _compute(self, name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception:
            unsupported_error(f"an error of {name}, which the function catches,", Reason.CATCHES_ERROR)
            raise

    def real(self, traced: Any) -> Any:
        """Return the array that a traced one stands for."""
        self._refuse_hidden("an array")
        return self.reals[self.values[id(traced)].number]

    def _refuse_hidden(self, what: str) -> None:
        """Refuse a traced array or size that a callback or an object uses inside of a call, or after the run."""
        if self.is_computing or RECORDED_ERRORS.get(None) is None:
            raise unsupported_error(f"{what} that a callback or an object holds", Reason.ARRAY_IN_OBJECT)

    def _random_states(self) -> list[str]:
        return [str(generator.bit_generator.state) for generator in self.generators]

    def _refuse_draws(self, line: CodeLine | None = None) -> None:
        """Refuse random numbers that the function has drawn from a generator itself; each replay would use them."""
        if self.random_states != self._random_states():
            raise unsupported_error("a random number that NumPy draws", Reason.DRAWS_NUMBERS, line)

    def _refuse_outside_write(self, name: str, target: Any) -> None:
        """Refuse a call that would write into an array from outside, before the call runs."""
        if name == "backward" and any(array.requires_grad for array in self.outside.values()):
            raise unsupported_error("x.backward()", Reason.WRITES_GRADIENTS)
        storages = [_storage(array) for array in self.outside.values()]
        is_view = name not in _FLAGS and isinstance(target, _ARRAYS) and _storage(target) in storages
        if is_view or (target is not None and id(target) in self.outside):
            raise unsupported_error(f"a write into an array from outside, by {name},", Reason.WRITES_OUTSIDE)

    # ---- trees --------------------------------------------------------------------------------------------------

    def _new_value(self, real: Any, shown: Any = None) -> Value:
        """Return a new value for ``real``, which the function sees as ``shown``."""
        shown = stand_in(real, self) if shown is None else shown
        value = self.values[id(shown)] = Value(len(self.reals))
        self.reals[value.number], self.stand_ins[value.number] = real, shown
        return value

    def _argument(self, leaf: Any) -> Any:
        """Return the value of an array or a generator among the arguments; other arguments are constants."""
        if isinstance(leaf, _ARRAYS):
            self.outside[id(leaf)] = leaf
        return self._new_value(leaf) if isinstance(leaf, _CAPTURED) else leaf

    def _operand(self, name: str, leaf: Any) -> Any:
        """Return the tree of an argument of the call ``name``."""
        source = self.source_by_id.get(id(leaf))
        if isinstance(leaf, np.ndarray) and source is None:
            return self._made_array(leaf)
        if id(leaf) in self.values:
            return self.values[id(leaf)]
        if isinstance(leaf, _CAPTURED):
            if source is None:
                kind = "a generator" if isinstance(leaf, np.random.Generator) else "an array"
                raise unsupported_error(f"{kind} from elsewhere, which {name} uses,", Reason.UNKNOWN_SOURCE)
            self.used.add(id(leaf))
            value = self._new_value(leaf, leaf)
            self.recording.captured[value] = source
            return value
        return leaf

    def _made_array(self, array: Any) -> Value:
        """Return the value of a NumPy array that the function makes; a new one after NumPy has written to the array."""
        if id(array) in self.storages:
            value, (storage, version) = self.values[id(array)], self.storages[id(array)]
            if storage.version > version or constant_key(self.recording.made[value]) == constant_key(array):
                return value  # also if a recorded call has written to it, as it will in each replay
        storage = storage_of_imported(array, "cpu")
        self.storages[id(array)] = storage, storage.version
        value = self._new_value(array, array)
        self.recording.made[value] = array.copy("K")
        return value

    def _result(self, name: str, leaf: Any) -> Any:
        """Return the tree of a result of the call ``name``: a constant, or a new value."""
        if isinstance(leaf, np.ndarray):
            raise unsupported_error(f"what {name} returns", Reason.OTHER_LIBRARY)
        is_size = type(leaf) is int and name in _SIZES
        return leaf if isinstance(leaf, _CONSTANTS) and not is_size else self._new_value(leaf)

    def _output(self, leaf: Any) -> Any:
        """Return the tree of a result of the function. Other objects are refused: they might hold traced arrays."""
        tree = self._operand("return", leaf)
        if tree is not leaf or isinstance(leaf, _CONSTANTS) or id(leaf) in self.source_by_id:
            return tree
        raise unsupported_error(f"a result of the class {type(leaf).__name__}", Reason.ARRAY_IN_OBJECT, self.definition)


def _storage(array: Any) -> Any:
    return array.data.storage if isinstance(array, NestedArray) else array.storage


def _version(array: Any) -> tuple[Any, ...]:
    """Return a key that changes with each write into an array or its gradient, and with its ``requires_grad``."""
    gradient = array.grad
    return _storage(array).version, array.requires_grad, None if gradient is None else _storage(gradient).version


def _has_callbacks(tree: Any) -> bool:
    """Return whether a function of the user, or a random generator, is among the arguments."""
    if isinstance(tree, CONTAINERS):
        return any(map(_has_callbacks, children(tree)))
    return isinstance(tree, np.random.Generator) or (callable(tree) and not isinstance(tree, type | Layout))
