"""How one would have written what a node of the tape records: the public call, where a rule has another name.

Only whoever looks at a tape pays for it: a node has a rule, and the arguments that are not arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .rules.rule import RULES
from .tape import FREED, Node

NUMBERS = (bool, int, float)
_RUNS = "runs"  # the dimension of a rule of segments: which one of the nested array it was, the values do not say


def _nothing(*_: Any) -> Sequence[str]:
    """What there is to say of arguments that are no array, where a reader does not miss them."""
    return []


# By the rule: the public function, and its arguments after the arrays, as far as the node knows them.
WRITTEN: dict[str, tuple[str, Callable[..., Sequence[str]]]] = {
    "amax": ("amax", lambda dims: [_dims(dims)]),
    "amin": ("amin", lambda dims: [_dims(dims)]),
    "attention": ("scaled_dot_product_attention", _nothing),
    "broadcast_to": ("broadcast_to", lambda shape: [str(shape)]),
    "cast": ("to", lambda dtype: [str(dtype)]),
    "clamp_max": ("clamp", _nothing),
    "clamp_min": ("clamp", _nothing),
    "concatenate": ("cat", lambda dim: [str(dim)]),
    "copy": ("clone", _nothing),
    "dropout": ("dropout", lambda mask, p: [str(p)]),
    "gelu_tanh": ("gelu", lambda: ["'tanh'"]),
    "layer_norm": ("layer_norm", lambda eps, *_: [f"eps={eps:g}"]),
    "matmul_components": ("matmul", _nothing),
    "pad": ("to_padded_array", _nothing),
    "reshape": ("reshape", lambda shape: [str(shape)]),
    "segment_cumsum": ("cumsum", lambda _: [_RUNS]),
    "segment_max": ("amax", lambda _: [_RUNS]),
    "segment_min": ("amin", lambda _: [_RUNS]),
    "segment_prod": ("prod", lambda _: [_RUNS]),
    "segment_softmax": ("softmax", lambda _: [_RUNS]),
    "segment_sum": ("sum", lambda _: [_RUNS]),
    "softmax_last": ("softmax", lambda *_: ["-1"]),
    "sum": ("sum", lambda dims: [_dims(dims)]),
    "to_device": ("to", lambda device: [repr(device)]),
    "transpose": ("permute", lambda dims: [str(dims)]),
}
# What has no call of its own: steps of an operator, and of gradients.
INSIDE = frozenset({
    "add_rows", "alias", "components", "gather", "meeting", "mixed", "pieces", "place", "scatter", "spread", "sum_to",
    "unpad", "unstrided",
})  # fmt: skip
INDEXED = {"slice": lambda key: _index(key), "take_rows": lambda *_: "rows"}
_BY_NAME = {"clamp_max": "max", "clamp_min": "min"}


def written(node: Node, names: Sequence[str | None]) -> str:
    """A node as a call; ``names`` are those of its sources, None for a constant."""
    rule = _rule(node)
    operands = [_constant(node, i) if name is None else name for i, name in enumerate(names)]
    if rule in INDEXED:
        return f"{operands[0]}[{INDEXED[rule](*node.static)}]"
    if rule in _BY_NAME:
        operands[1] = f"{_BY_NAME[rule]}={operands[1]}"
    if rule == "where":
        operands.insert(0, "mask")
    function, arguments = WRITTEN.get(rule, (node.rule.name, None))
    if function == "cat":
        operands = [f"[{', '.join(operands)}]"]
    return f"{function}({', '.join([*operands, *(arguments(*node.static) if arguments else ())])})"


def differs(node: Node) -> bool:
    """Whether the rule has another name than the function."""
    rule = _rule(node)
    return rule in INDEXED or WRITTEN.get(rule, (rule, None))[0] != rule


def _rule(node: Node) -> str:
    """The name of a rule of ours; that of a user's function may be the same."""
    return node.rule.name if RULES.get(node.rule.name) is node.rule else ""


def _constant(node: Node, i: int) -> str:
    """A number that the node holds, or the word for what it does not hold."""
    value = None if node.inputs is None or node.inputs is FREED else node.inputs[i]
    return repr(value) if type(value) in NUMBERS else "const"


def _dims(dims: Sequence[int]) -> str:
    return str(dims[0]) if len(dims) == 1 else str(tuple(dims))


def _index(key: Any) -> str:
    return ", ".join(map(_entry, key)) if isinstance(key, tuple) else _entry(key)


def _entry(one: Any) -> str:
    if isinstance(one, slice):
        ends = ["" if end is None else str(end) for end in (one.start, one.stop)]
        return ":".join([*ends, *([] if one.step in (None, 1) else [str(one.step)])])
    return "..." if one is ... else str(one)
