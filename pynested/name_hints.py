"""Replacements for names that NumPy or PyTorch has and pynested does not. Error messages show the replacements."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

METHOD_REPLACEMENTS = {
    "float": "x.to(pn.float32)", "half": "x.to(pn.float16)", "double": "x.to(pn.float64)", "int": "x.to(pn.int32)",
    "long": "x.to(pn.int64)", "cpu": 'x.to("cpu")', "cuda": 'x.to("cuda")', "copy": "x.clone()",
    "numpy": "[component.numpy() for component in x], or pn.to_padded_array(x, 0.0).numpy()",
    "item": "x[i].item() of a component of one element", "max": "x.amax(dim)", "min": "x.amin(dim)",
    "swapaxes": "x.transpose(dim0, dim1)", "mT": "x.transpose(-2, -1)", "ravel": "x.flatten(), or nt.values()",
    "T": "x.transpose(1, 2), or x.permute(0, ...) with the other dimensions in any order: the batch stays the first",
    "flip": "x[:, ::-1]", "concat": "pn.cat([a, b], dim)", "expand_dims": "x.unsqueeze(dim)",
}  # fmt: skip
FUNCTION_REPLACEMENTS = {
    "tensor": "array", "asarray": "array", "Tensor": "Array", "ndarray": "Array", "NestedTensor": "NestedArray",
    "nested_tensor": "nested_array", "as_nested_tensor": "as_nested_array",
    "nested_tensor_from_jagged": "nested_array_from_jagged", "to_padded_tensor": "to_padded_array", "max": "amax",
    "min": "amin", "concat": "cat", "concatenate": "cat", "swapaxes": "transpose", "expand_dims": "unsqueeze",
    "astype": "to", "array_equal": "equal", "take": "getitem", "multiply": "mul", "subtract": "sub", "divide": "div",
    "nn": "linear, pn.layer_norm, pn.embedding and so on: layers are functions, and take their weights as arguments",
    "functional": "softmax, pn.gelu and so on: all functions are in pn itself",
    "wrap_buffer": "nested_array_from_strided(buffer, sizes), or pn.nested_array_from_jagged(values, offsets)",
    "map_nt": "map_components(function, x)", "map_nested_tensor": "map_components(function, x)",
    "NestedTensor_from_mask": "narrow(padded, 1, 0, mask.sum(1), layout=pn.jagged) if each row of the mask begins with "
    "its True, else pn.masked_select",
}  # fmt: skip


class MissingAttribute:
    """A missing attribute of a class of arrays: reading it raises AttributeError with the replacement.

    A ``__getattr__`` of the class would do the same, but would make every other attribute slower.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, x: Any, owner: type) -> Any:
        raise AttributeError(f"{owner.__name__} has no attribute {self.name!r}. Use {METHOD_REPLACEMENTS[self.name]}.")


def add_hints(owner: type) -> None:
    """Let a class of arrays raise a hint for each name in `METHOD_REPLACEMENTS` that it does not have."""
    for name in METHOD_REPLACEMENTS:
        if not hasattr(owner, name):
            setattr(owner, name, MissingAttribute(name))


def missing_name_error(module: str, name: str, public: Iterable[str] = ()) -> AttributeError:
    """Return the error for a module without the attribute ``name``, with the replacement if there is one.

    ``public`` holds the names of `pynested`. Such a name is its own replacement: ``pn.name`` instead of
    ``module.name``.
    """
    message = f"module {module!r} has no attribute {name!r}"
    replacement = FUNCTION_REPLACEMENTS.get(name, name if name in public else "")
    return AttributeError(f"{message}. Use pn.{replacement}." if replacement else message)
