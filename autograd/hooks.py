"""Hooks: functions of the caller that get the gradients of a backward pass, and can replace them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pynested.backends.errors import ArgumentError, DeviceError, GradientError, named_type

from .array import READ_ONLY, Array, Hook
from .primitives.movement import alias
from .tape import BackwardPass, Hooks, next_number


def read_only(gradient: Array) -> Array:
    """Return a read-only view of a gradient, with its history: other branches of the pass read the same memory."""
    view = alias(gradient)
    view.guard = READ_ONLY
    if isinstance(view.data, np.ndarray):
        view.data.flags.writeable = False
    return view


def register_hook(array: Array, hook: Hook) -> Callable[[], None]:
    """Let every later pass call ``hook`` with the gradient of ``array``; return a function that removes the hook."""
    if not callable(hook):
        raise ArgumentError(f"register_hook: a hook is a function of one gradient, not {named_type(hook)}.")
    if not array.requires_grad:
        raise GradientError("register_hook: this array requires no gradient, so the hook would never be called.")
    if array.node is None:
        hooks = array._hooks = array._hooks or {}
    else:
        hooks = array.node.hooks = array.node.hooks or {}
    number = next_number()
    hooks[number] = hook

    def remove() -> None:
        hooks.pop(number, None)

    return remove


def apply_hooks(hooks: Hooks, gradient: Array, running: BackwardPass) -> Array:
    """Return the gradient after ``hooks``, each of which returns a replacement, or None.

    A hook that is registered during the pass is called from the next pass on.
    """
    for number, hook in list(hooks.items()):
        is_removed = number not in hooks  # by a hook before it
        if is_removed or number > running.start:
            continue
        result = hook(read_only(gradient))
        if result is None:
            continue
        name = getattr(hook, "__name__", hook)
        if not isinstance(result, Array) or result.shape != gradient.shape or result.dtype != gradient.dtype:
            text = f"shape {result.shape} and dtype {result.dtype}" if isinstance(result, Array) else repr(result)
            raise GradientError(
                f"hook {name!r} returned {text}; the gradient has shape {gradient.shape} and dtype {gradient.dtype}. "
                "Return an array like it, or None."
            )
        if result.device != gradient.device:
            raise DeviceError(
                f"hook {name!r} returned an array on {result.device!r}; the gradient is on {gradient.device!r}. Move "
                f"it: gradient.to({gradient.device!r})."
            )
        gradient = result
    return gradient
