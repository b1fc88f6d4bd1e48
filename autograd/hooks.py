"""Hooks: functions of the caller that see the gradients of a pass, and may replace them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pynested.backends.errors import ArgumentError, DeviceError, GradientError, named_type

from .array import READ_ONLY, Array, Hook
from .primitives.movement import alias
from .tape import BackwardPass, Hooks, next_number


def read_only(gradient: Array) -> Array:
    """A view of a gradient, with its history, that nobody can write to: other branches of the pass read the memory."""
    shown = alias(gradient)
    shown.guard = READ_ONLY
    if isinstance(shown.data, np.ndarray):
        shown.data.flags.writeable = False
    return shown


def register_hook(array: Array, hook: Hook) -> Callable[[], None]:
    """Let every later pass call ``hook`` with the gradient of ``array``; what is returned takes it off again."""
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


def hooked(hooks: Hooks, given: Array, running: BackwardPass) -> Array:
    """The cotangent after ``hooks``; each may return a replacement of its shape and dtype, where it is, or None.

    A hook that is registered while the pass runs comes into force with the next one.
    """
    for number, hook in list(hooks.items()):
        if number > running.start or number not in hooks:  # new, or taken off by a hook before it
            continue
        answer = hook(read_only(given))
        if answer is None:
            continue
        name = getattr(hook, "__name__", hook)
        if not isinstance(answer, Array) or answer.shape != given.shape or answer.dtype != given.dtype:
            what = f"shape {answer.shape} and dtype {answer.dtype}" if isinstance(answer, Array) else repr(answer)
            raise GradientError(
                f"hook {name!r} returned {what}; the gradient has shape {given.shape} and dtype {given.dtype}. Return "
                "an array like it, or None."
            )
        if answer.device != given.device:
            raise DeviceError(
                f"hook {name!r} returned an array on {answer.device!r}; the gradient is on {given.device!r}. Move it: "
                f"gradient.to({given.device!r})."
            )
        given = answer
    return given
