"""Hooks: functions of the caller that get the gradients of a backward pass, and can replace them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pynested.backends.errors import ArgumentError, GradientError, named_type

from .array import READ_ONLY, Array, Hook, check_gradient
from .primitives.movement import alias
from .tape import BackwardPass, Hooks, next_node_number


def read_only(gradient: Array) -> Array:
    """Return a view of a gradient, with its history. It is read-only, as other branches of the pass read its memory."""
    view = alias(gradient)
    view.write_guard = READ_ONLY
    if isinstance(view.data, np.ndarray):
        view.data.flags.writeable = False
    return view


def register_hook(array: Array, hook: Hook) -> Callable[[], None]:
    """Let every later pass call ``hook`` with the gradient of ``array``; return a function that removes the hook."""
    if not callable(hook):
        raise ArgumentError(f"register_hook: a hook is a function of one gradient, not {named_type(hook)}.")
    if not array.requires_grad:
        raise GradientError("register_hook: this array requires no gradient, so the hook would never be called.")
    if array.node is None:  # a leaf keeps its hooks itself, as nodes that refer to them could make a reference cycle
        hooks = array._hooks = array._hooks or {}
    else:
        hooks = array.node.hooks
    number = next_node_number()
    hooks[number] = hook

    def remove() -> None:
        hooks.pop(number, None)

    return remove


def apply_hooks(hooks: Hooks, gradient: Array, this_pass: BackwardPass) -> Array:
    """Return the gradient after ``hooks``, each of which returns a replacement, or None.

    A hook that is registered during the pass is called from the next pass on.
    """
    for number, hook in list(hooks.items()):
        if number not in hooks or number > this_pass.first_number:  # an earlier hook removed or registered it
            continue
        this_pass.caller_storages.add(gradient.storage)
        result = hook(read_only(gradient))
        if result is None:
            continue
        origin = f"hook {getattr(hook, '__name__', hook)!r} returned"
        if not isinstance(result, Array):
            raise GradientError(f"{origin} {result!r}. Return an array like the gradient, or None.")
        check_gradient(origin, result, gradient.shape, gradient.dtype, gradient.device)
        this_pass.caller_storages.add(result.storage)
        gradient = result
    return gradient
