"""PyTorch's three ways to hold components: nested jagged, nested strided, and padded with a mask; and dense tensors.

Its flex attention takes padded operands alone, has no gradient on the CPU, and is compiled where a C++ compiler is at
hand: without one it takes several times as long.
"""

from __future__ import annotations

import shutil
import warnings
from functools import cache
from types import SimpleNamespace
from typing import Any

import torch
from torch.nn import functional
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from .contenders import ATTENTION, LAYER_SIZES, Call, Contender, heads, operators

warnings.filterwarnings("ignore", message=".*nested tensors is in prototype stage.*")

FUNCTIONS = SimpleNamespace(**{**vars(torch), **vars(functional)})
attend = functional.scaled_dot_product_attention


def _layers(n: SimpleNamespace, mask: Any = None) -> Any:
    """Return the result of `pynested.transformer_encoder_layer`, twice."""

    def linear(name: str, x: Any) -> Any:
        return functional.linear(x, getattr(n, f"{name}weight"), getattr(n, f"{name}bias"))

    def normed(name: str, x: Any) -> Any:
        weight = getattr(n, f"{name}.weight")
        return functional.layer_norm(x, weight.shape, weight, getattr(n, f"{name}.bias"))

    x = n.x
    for _ in range(2):
        parts = linear("self_attn.in_proj_", x).chunk(3, -1)
        q, k, v = (heads(part.contiguous() if part.is_nested else part) for part in parts)  # or it has no kernel
        taken = attend(q, k, v, attn_mask=mask).transpose(-3, -2).flatten(-2)
        x = normed("norm1", x + linear("self_attn.out_proj.", taken))
        x = normed("norm2", x + linear("linear2.", functional.gelu(linear("linear1.", x))))
    return x


NESTED = operators(FUNCTIONS) | {
    "to_padded": lambda n: torch.nested.to_padded_tensor(n.x, 0.0),
    "nested_array": lambda n: torch.nested.nested_tensor(n.components, layout=n.x.layout),
    "two layers": _layers,
}
ONLY_NESTED = {"to_padded", "nested_array"}
# Elementwise operators compute on the padding too; whatever mixes rows looks at the mask.
PADDED: dict[str, Call] = {
    **{name: call for name, call in NESTED.items() if name not in ONLY_NESTED and not name.endswith("of numbers")},
    "sum ragged": lambda n: (n.x * n.mask).sum(dim=1),
    "mean ragged": lambda n: (n.x * n.mask).sum(dim=1) / n.lengths,
    "amax ragged": lambda n: n.x.masked_fill(n.hidden, -torch.inf).amax(dim=1),
    "softmax ragged": lambda n: torch.softmax(n.x.masked_fill(n.hidden, -torch.inf), 1),
    "cross_entropy": lambda n: functional.cross_entropy(n.x.flatten(0, 1), n.labels.flatten()),
    "attention": lambda n: attend(heads(n.x), heads(n.y), heads(n.x), attn_mask=n.keys),
    "causal attention": lambda n: attend(heads(n.x), heads(n.y), heads(n.x), attn_mask=n.causal),
    "flex causal": lambda n: n.flex()(heads(n.x), heads(n.y), heads(n.x)),
    "two layers": lambda n: _layers(n, n.keys),
}
THREADS = torch.get_num_threads()
DESCRIPTION = f"torch {torch.__version__} on {THREADS} threads"
# Elements. Above it the jagged layout takes 13 GB of memory to pad 50 MB, and 19 GB to reduce numbers: it pads every
# component to the length of all.
MOST_TO_PAD = 1_000_000


def _pull(out: Any, leaves: list[Any], cotangent: Any) -> Any:
    """Return the gradients; an operand or a result of `components` is a list."""
    flat = [tensor for leaf in leaves for tensor in (leaf if isinstance(leaf, list) else [leaf])]
    return torch.autograd.grad(out, flat, cotangent)


def _ones_like(out: Any) -> Any:
    return [_ones_like(part) for part in out] if isinstance(out, list) else torch.ones_like(out).detach()


def _contender(name: str, operators: dict[str, Call], given: dict[str, Any], nest: Any, device: str) -> Contender:
    offsets = None

    def convert(value: Any, grad: bool) -> Any:
        nonlocal offsets
        made = nest(value, offsets) if isinstance(value, list) else torch.tensor(value)
        made = made.to(device)
        if isinstance(value, list) and made.is_nested and made.layout is torch.jagged:
            offsets = made.offsets()  # shared, so that PyTorch takes the ragged sizes for equal
        return made.requires_grad_() if grad and made.is_floating_point() else made

    def namespace(grad: bool) -> SimpleNamespace:
        made = SimpleNamespace(**{name: convert(value, grad) for name, value in given.items()})
        made.components = [torch.tensor(component, device=device) for component in given["x"]]
        return made

    return Contender(name, operators, namespace(False), namespace(True), _pull, _ones_like)


def jagged(given: dict[str, Any], device: str) -> Contender:
    def nest(components: list[Any], offsets: Any) -> Any:
        tensors = [torch.tensor(one) for one in components]
        if offsets is None:
            return torch.nested.nested_tensor(tensors, layout=torch.jagged)
        return torch.nested.nested_tensor_from_jagged(torch.cat(tensors).to(offsets.device), offsets).detach()

    able = NESTED
    if device == "cpu" and sum(component.size for component in given["x"]) > MOST_TO_PAD:
        able = {name: call for name, call in able.items() if name != "to_padded" and not name.endswith("of numbers")}
    return _contender("torch jagged", able, given, nest, device)


def strided(given: dict[str, Any], device: str) -> Contender:
    def nest(components: list[Any], offsets: Any) -> Any:
        return torch.nested.nested_tensor([torch.tensor(component) for component in components])

    return _contender("torch strided", NESTED, given, nest, device)


def padded(given: dict[str, Any], device: str) -> Contender:
    lengths = torch.tensor([len(component) for component in given["x"]], device=device)
    longest = int(lengths.max())

    def nest(components: list[Any], offsets: Any) -> Any:
        filler = 0.0 if components[0].dtype.kind == "f" else 0
        return torch.nn.utils.rnn.pad_sequence([torch.tensor(one) for one in components], True, filler)

    made = _contender("torch padded", PADDED, given, nest, device)
    inside = torch.arange(longest, device=device)[None, :] < lengths[:, None]
    for operands in (made.operands, made.tracked):
        assert operands is not None
        operands.mask = inside[:, :, None].float()
        operands.hidden = ~inside[:, :, None]
        operands.lengths = lengths[:, None].float()
        operands.labels = operands.labels.masked_fill(~inside, -100)
        operands.keys = inside[:, None, None, :]
        operands.causal = operands.keys & torch.ones(longest, longest, dtype=torch.bool, device=device).tril()
        operands.flex = cache(lambda: _causal_flex(lengths, longest))
    return made


def _causal_flex(lengths: Any, longest: int) -> Any:
    """Return flex attention of padded operands, each query of which meets no key after it, and none of the padding."""

    def seen(b: Any, h: Any, i: Any, j: Any) -> Any:
        return (i >= j) & (j < lengths[b])

    blocks = create_block_mask(seen, len(lengths), None, longest, longest, device=lengths.device)
    flex = torch.compile(flex_attention, dynamic=False) if shutil.which("g++") else flex_attention
    return lambda q, k, v: flex(q, k, v, block_mask=blocks)


def components(given: dict[str, Any], device: str) -> Contender:
    """Return the dense attention, called for each component."""

    def namespace(grad: bool) -> SimpleNamespace:
        of_layer = {name: torch.tensor(given[name], device=device, requires_grad=grad) for name in LAYER_SIZES}
        nested = {
            name: [torch.tensor(component[None], device=device, requires_grad=grad) for component in given[name]]
            for name in ("x", "y")
        }
        return SimpleNamespace(**of_layer, **nested)

    def for_each(call: Call) -> Call:
        return lambda n: [call(SimpleNamespace(**{**vars(n), "x": x, "y": y})) for x, y in zip(n.x, n.y, strict=True)]

    calls = {name: for_each(NESTED[name]) for name in ATTENTION if name in NESTED}
    return Contender("torch dense", calls, namespace(False), namespace(True), _pull, _ones_like)


def dense(given: dict[str, Any], device: str) -> Contender:
    return _contender("torch dense", NESTED, given, None, device)
