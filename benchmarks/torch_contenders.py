"""PyTorch's three ways to hold components: nested jagged, nested strided, and padded with a mask; and dense tensors."""

from __future__ import annotations

import warnings
from types import SimpleNamespace
from typing import Any

import torch
from torch.nn import functional

from .contenders import Call, Contender, operators

warnings.filterwarnings("ignore", message=".*nested tensors is in prototype stage.*")

FUNCTIONS = SimpleNamespace(**{**vars(torch), **vars(functional)})
NESTED = operators(FUNCTIONS) | {"to_padded": lambda n: torch.nested.to_padded_tensor(n.x, 0.0)}
# Elementwise operators compute on the padding too; whatever mixes rows looks at the mask.
PADDED: dict[str, Call] = {
    **{name: call for name, call in NESTED.items() if name != "to_padded" and not name.endswith("of numbers")},
    "sum ragged": lambda n: (n.x * n.mask).sum(dim=1),
    "mean ragged": lambda n: (n.x * n.mask).sum(dim=1) / n.lengths,
    "amax ragged": lambda n: n.x.masked_fill(n.hidden, -torch.inf).amax(dim=1),
    "softmax ragged": lambda n: torch.softmax(n.x.masked_fill(n.hidden, -torch.inf), 1),
    "cross_entropy": lambda n: functional.cross_entropy(n.x.flatten(0, 1), n.labels.flatten()),
}
THREADS = torch.get_num_threads()
# Elements. Above it the jagged layout takes 13 GB of memory to pad 50 MB, and 19 GB to reduce numbers: it pads every
# component to the length of all.
MOST_TO_PAD = 1_000_000


def described() -> str:
    """Return the version of PyTorch, and its number of threads."""
    return f"torch {torch.__version__} on {THREADS} threads"


def set_threads(count: int) -> None:
    """Set the number of threads that PyTorch uses; 0 for its default."""
    torch.set_num_threads(count or THREADS)


def _pull(out: Any, leaves: list[Any], cotangent: Any) -> Any:
    return torch.autograd.grad(out, leaves, cotangent)


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
        return SimpleNamespace(**{name: convert(value, grad) for name, value in given.items()})

    return Contender(name, operators, namespace(False), namespace(True), _pull, torch.ones_like)


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
    return _contender(
        "torch strided",
        NESTED,
        given,
        lambda components, offsets: torch.nested.nested_tensor([torch.tensor(one) for one in components]),
        device,
    )


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
    return made


def dense(given: dict[str, Any], device: str) -> Contender:
    return _contender("torch dense", NESTED, given, None, device)
