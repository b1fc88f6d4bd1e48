"""Recording: a function runs, and each public call that it makes becomes a node."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

import numpy as np

from pynested import operators
from pynested.autograd import Array
from pynested.autograd.tape import state
from pynested.backends.errors import TraceError
from pynested.nested.array import NestedArray, around
from pynested.structure.layouts import Layout
from pynested.structure.sizes import RaggedSize
from pynested.surface.passing import METHOD, SETTING, Call, watching

from .describe import described, facts_of
from .forms import CONTAINERS, Same, Value, filled, form_of, parts, rebuilt
from .nodes import CALLED, FUNCTION, NUMBER, Captured, Node, Recording
from .places import objects, places
from .refusals import CAUGHT, at, is_refused, refusal, spot
from .sizes import Ragged, Size, is_size
from .undoing import Undoing

MODES = frozenset({"no_grad", "enable_grad", "anomaly"})  # each call says itself what is recorded of gradients in it
SIZES = frozenset({
    "Array.shape", "Array.size", "Array.numel", "Array.stride", "NestedArray.shape", "NestedArray.size",
    "NestedArray.numel", "NestedArray.stride", "NestedArray.regular", "NestedArray.regular_size",
    "NestedArray.component_shape",
})  # fmt: skip
DRAWS = frozenset({
    "rand", "randn", "randint", "rand_like", "randn_like", "randint_like", "dropout", "manual_seed",
    "multi_head_attention", "scaled_dot_product_attention", "transformer_encoder_layer", "transformer_decoder_layer",
    "set_default_device", "set_default_dtype", "uniform_", "normal_",
})  # fmt: skip
_ACTS = frozenset({
    "__setitem__", "Array.accumulate", "Array.backward", "NestedArray.backward", "Array.retain_grad",
    "NestedArray.retain_grad", "Array.register_hook", "NestedArray.register_hook",
})  # fmt: skip
_PLAIN = (int, float, bool, str, bytes, type(None), np.dtype, Layout, type, np.generic, type(...))
_ARRAYS = (Array, NestedArray)


class Opaque:
    """Anything else that a call gives, as a block mask: it can be given on, and not be looked into."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":  # which `isinstance` asks for
            return Opaque
        raise refusal("an attribute", f"the attribute {name} of what a call gave")


class Recorder:
    """One run of a function, on fresh views of its arguments."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        self.function = function
        self.places = places(function)
        self.objects = list(objects((args, dict(kwargs))))
        for thing in self.objects:
            self.places |= places(thing)
        self.undoing = Undoing()
        self.known: dict[int, Value] = {}
        self.things: dict[int, Any] = {}  # what each value is, by its number
        self.kept: list[Any] = []  # what the function was given: an id belongs to one object while that lives
        self.depth = 0
        self.raised: TraceError | None = None  # where a call has raised an error, which the function must not catch
        self.outside = len(state.before)
        self.given: dict[int, Any] = {}
        self.recording = Recording(form_of((args, dict(kwargs)), self._input))

    def run(self) -> Recording:
        """Run the function, and put back what it wrote."""
        args, kwargs = filled(self.recording.inputs, self.given)
        try:
            with watching(self.watch):
                outputs = self.function(*args, **kwargs)
                if self.raised is not None:
                    raise self.raised
                self.recording.outputs = form_of(outputs, self._output)
        finally:
            self.undoing.undo()
        self.recording.facts = facts_of(self.things)
        self.recording.shown = described(self.things, self.recording.nodes)
        return self.recording

    # ---- what goes in -------------------------------------------------------------------------------------------

    def _input(self, thing: Any) -> Any:
        """An argument: an array becomes a value, of which the function gets a fresh view; anything else is constant."""
        if isinstance(thing, np.random.Generator):
            self.undoing.generator(thing)
            return self._new(thing, thing)
        if type(thing) not in _ARRAYS:
            return thing
        return self._new(_view(thing), None)

    def _new(self, real: Any, shown: Any) -> Value:
        """A new value; ``shown`` is what the function gets to see of it, None for the thing itself."""
        value = Value(len(self.things))
        shown = real if shown is None else shown
        self.things[value.number], self.given[value.number] = real, shown
        self.known[id(shown)] = value
        self.kept.append(shown)
        return value

    def _find(self, leaf: Any) -> Any:
        """What stands for a leaf among the arguments of a call."""
        value = self.known.get(id(leaf))
        if value is not None:
            return value
        if is_size(leaf) or isinstance(leaf, _PLAIN):
            return leaf
        if id(leaf) in self.places:
            return self._captured(leaf)
        if type(leaf) in _ARRAYS:
            raise refusal("an array")
        if type(leaf) is np.ndarray:
            return leaf.copy()
        if not isinstance(leaf, FunctionType) and any(thing in self.known for thing in places(leaf)):
            raise refusal("an object")
        return leaf

    def _output(self, leaf: Any) -> Any:
        """What stands for a leaf of the result: an object might hold arrays of this one run."""
        found = self._find(leaf)
        if found is not leaf or is_size(leaf) or isinstance(leaf, _PLAIN) or any(leaf is one for one in self.objects):
            return found
        raise refusal("an object", f"a result of the class {type(leaf).__name__}", self.function)

    def _captured(self, leaf: Any) -> Value:
        if isinstance(leaf, np.random.Generator):
            self.undoing.generator(leaf)
        value = self._new(leaf, leaf)
        self.recording.captured.append(Captured(value, self.places[id(leaf)][1]))
        return value

    # ---- calls --------------------------------------------------------------------------------------------------

    def watch(self, call: Call) -> Any:
        """Record one call, and run it; those that it makes itself are part of it."""
        if self.depth or call.name in MODES:
            self.undoing.before(call.name, call.args, call.kwargs)
            return call.run()
        if is_refused(call.name):
            raise refusal(call.name)
        if call.name == "__iter__":
            return iter(self._called(FUNCTION, "unbind", operators.unbind, call.args, {}, None))
        return self._called(call.kind, call.name, call.public, call.args, call.kwargs, call)

    def _called(self, kind: str, name: str, function: Any, args: Any, kwargs: Any, call: Call | None) -> Any:
        forms = form_of((tuple(args), dict(kwargs)), self._find)
        real = filled(forms, self.things)
        self.undoing.before(name, *real)
        self.depth += 1
        try:
            if call is None:
                result = function(*real[0], **real[1])
            else:
                call.args, call.kwargs = real
                result = call.run()
        except Exception:
            self.raised = at(spot(), f"an error of {name}, which the function catches,", CAUGHT)
            raise
        finally:
            self.depth -= 1
        results, shown = self._received(name, result)
        effect = kind == SETTING or name in DRAWS | _ACTS or (kind == METHOD and _writes(name)) or _has_code(real)
        self._record(name, kind, function, forms, results, effect or "out" in kwargs)
        return shown

    def _record(self, name: str, kind: str, function: Any, forms: Any, results: Any, effect: bool) -> None:
        mode = state.mode if len(state.before) > self.outside else None
        args, kwargs = forms
        self.recording.nodes.append(Node(name, kind, function, args, kwargs, results, mode, effect, spot()))

    # ---- what comes out -----------------------------------------------------------------------------------------

    def _received(self, name: str, result: Any) -> tuple[Any, Any]:
        """The form of what a call gave, and what the function gets to see of it."""
        if isinstance(result, CONTAINERS):
            pairs = [self._received(name, one) for one in parts(result)]
            return rebuilt(result, [form for form, _ in pairs]), rebuilt(result, [shown for _, shown in pairs])
        if id(result) in self.known and not isinstance(result, _PLAIN):
            if _writes(name) or type(result) not in _ARRAYS:
                return Same(self.known[id(result)]), result
            result = _alias(result)  # another object, as the call may give where it has something to do
        shown = self._shown(name, result)
        return (result, result) if shown is None else (self._new(result, shown), shown)

    def _shown(self, name: str, result: Any) -> Any:
        """What the function sees in place of a result; None where that is a constant."""
        if type(result) in _ARRAYS:
            return result
        if isinstance(result, RaggedSize):
            return Ragged(result, self._fixed)
        if type(result) is int and name in SIZES:
            return Size(result, self._number, self._fixed)
        if isinstance(result, np.ndarray):
            raise refusal("NumPy's values", f"what {name} gives")
        if isinstance(result, _PLAIN):
            return None
        if isinstance(result, FunctionType):
            return self._function(result.__name__)
        return Opaque()

    def _function(self, name: str) -> Callable[..., Any]:
        """What the function sees of another one that a call gave, as the pull of `vjp`: a call of it is recorded."""

        def given(*args: Any, **kwargs: Any) -> Any:
            return self._called(CALLED, name, operator.call, (given, *args), kwargs, None)

        return given

    def _number(self, function: Callable[..., Any], *operands: Any) -> Any:
        """Arithmetic with sizes."""
        form = form_of(operands, self._find)
        result = function(*filled(form, self.things))
        shown = Size(result, self._number, self._fixed)
        self._record(function.__name__, NUMBER, function, (form, {}), self._new(result, shown), False)
        return shown

    def _fixed(self, function: Any, *operands: Any) -> Any:
        """What the function has to know now: it holds for the graph."""
        if isinstance(function, str):
            return refusal(function)
        form = form_of(operands, self._find)
        result = function(*filled(form, self.things))
        self._record(function.__name__, NUMBER, function, (form, {}), result, False)
        return result


def _view(x: Any) -> Any:
    """The same memory, as another leaf."""
    if type(x) is NestedArray:
        return around(_view(x.data), x.structure)
    again = x.detach()
    again.guard, again.tracked = x.guard, x.tracked
    return again


def _alias(x: Any) -> Any:
    """The same array, with its history, as another object; gradients of either are those of a leaf."""
    if type(x) is NestedArray:
        return around(_alias(x.data), x.structure)
    again = copy.copy(x)
    again._stand_in = x.stand_in() if x.tracked and x.is_leaf else None
    return again


def _writes(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__")


def _has_code(thing: Any) -> bool:
    """Whether a function is given, which may do anything."""
    if isinstance(thing, CONTAINERS):
        return any(map(_has_code, parts(thing)))
    return callable(thing) and not isinstance(thing, type | Layout)
