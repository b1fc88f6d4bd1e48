"""Memory that waits to be used again is given back where other memory is short: every operator, and its gradient.

The program below is run in a process of its own, in which address space is limited. What an operator is given is made
before, as whatever is short of memory first gives back all that waits.
"""

from __future__ import annotations

import copy
import gc
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd.containers import shown_in
from pynested.backends import Segments, memory
from pynested.spec.functions import FUNCTIONS
from pynested.spec.pairs import PAIRS
from pynested.spec.reductions import REDUCTIONS
from pynested.spec.table import load_table, run_wise

MIB = 1024 * 1024
IDLE = 96 * MIB  # waits; of a size that nothing else has
ROOM = MIB // 2  # what is left beside it
LENGTHS, WIDTH = (2000, 0, 6000), 128  # 4 MiB of float32
OFFSETS = np.arange(0, MIB, 8)


@cache
def last(x: Any) -> Any:
    """The last component, 3 MiB."""
    return x.unbind()[2]


@cache
def pairs(x: Any, dtype: Any = pn.float32) -> Any:
    """The last component as rows of 2, of which there are many."""
    return last(x).to(dtype).reshape(-1, 2)


@cache
def mask(x: Any) -> Any:
    """A mask for the last component, of which all holds."""
    return last(x).detach() > 0


@cache
def positive(x: Any) -> Any:
    """A nested mask, of which all holds."""
    return x.detach() > 0


@cache
def whole(x: Any) -> Any:
    """A nested array of integers."""
    return x.detach().to(pn.int64)


@cache
def numbers(count: int, end: int = 2, dtype: Any = pn.int64) -> Any:
    """So many integers from 0 to below ``end``."""
    return (pn.arange(count).to(pn.float64) * (end / count)).to(dtype)


@cache
def other_layout(x: Any) -> Any:
    """The same components in the other layout."""
    return x.detach().to(layout=pn.strided if x.layout is pn.jagged else pn.jagged)


@cache
def copied(x: Any) -> Any:
    """A copy without gradient, to be written into."""
    return x.detach().clone()


def overlapping(x: Any) -> Any:
    """Two components that show places of a large buffer twice, the rest of which is a hole."""
    return pn.nested_array_from_strided(x.detach().values().reshape(-1), [[9], [5]], None, [0, 4])


def layer_of(*attentions: str) -> dict[str, pn.Array]:
    """The parameters of a layer of a transformer that is two wide."""
    shapes = {"linear1.weight": (2000, 2), "linear2.weight": (2, 2000)}
    for name in attentions:
        shapes |= {f"{name}.in_proj_weight": (6, 2), f"{name}.out_proj.weight": (2, 2)}
    shapes |= {f"norm{number + 1}.weight": (2,) for number in range(len(attentions) + 1)}
    return {name: pn.ones(*sizes, dtype=pn.float32) for name, sizes in shapes.items()}


OF_FLOATS = ("pow", "floor_divide", "remainder", "logaddexp")
OPERATORS: dict[str, Callable[[Any], Any]] = {
    "add": lambda x: x + x,
    "sub": lambda x: x - pn.ones(3, 1, WIDTH, dtype=pn.float32),
    "mul": lambda x: x * x,
    "maximum": lambda x: pn.maximum(x, x.detach()),
    "minimum": lambda x: pn.minimum(x, 1.0),
    "clamp": lambda x: pn.clamp(x, 0.0, x.detach()),
    "div": lambda x: x / x,
    "neg": pn.neg,
    "abs": pn.abs,
    "sgn": pn.sgn,
    **{name: getattr(pn, name) for name in FUNCTIONS},
    **{name: lambda x, name=name: getattr(pn, name)(x, x.detach()) for name in OF_FLOATS},
    **{name: lambda x, name=name: getattr(pn, name)(whole(x), 2) for name in PAIRS if name not in OF_FLOATS},
    "relu": pn.relu,
    "gelu": pn.gelu,
    "silu": pn.silu,
    "logical_not": pn.logical_not,
    "eq": lambda x: x == x.detach(),
    "lt": lambda x: x < 2,
    "equal": lambda x: pn.equal(x, x),
    "allclose": lambda x: pn.allclose(x, x),
    "where": lambda x: pn.where(positive(x), x, 0.0),
    "masked_fill": lambda x: pn.masked_fill(x, positive(x), 1.0),
    "sum": lambda x: pn.sum(x, 1),
    "mean": lambda x: pn.mean(x, 2),
    **{name: lambda x, name=name: getattr(pn, name)(x, 1) for name in REDUCTIONS},
    "amax": lambda x: pn.amax(x, 2),
    "amin": lambda x: pn.amin(x, 2),
    "argmax": lambda x: pn.argmax(x, 2),
    "argmin": lambda x: pn.argmin(x, 2),
    **{name: lambda x, name=name: getattr(pn, name)(x, 1) for name in run_wise()},
    "layer_norm": lambda x: pn.layer_norm(x, (WIDTH,)),
    "dropout": pn.dropout,
    "matmul": lambda x: pn.matmul(x, pn.ones(WIDTH, WIDTH, dtype=pn.float32)),
    "bmm": lambda x: pn.bmm(pn.transpose(x, 1, 2), x),
    "linear": lambda x: pn.linear(x, pn.ones(WIDTH, WIDTH, dtype=pn.float32)),
    "transpose": lambda x: pn.transpose(x, 1, 2) + 1.0,
    "permute": lambda x: pn.permute(x, (0, 2, 1)) + 1.0,
    "squeeze": lambda x: pn.squeeze(pn.unsqueeze(x, 1), 1) * 2.0,
    "flatten": lambda x: pn.flatten(pn.transpose(x, 1, 2), 1),
    "split": lambda x: pn.split(x, (1, 2))[1] * 2.0,
    "reshape": lambda x: pn.reshape(x, (3, -1, 2, WIDTH // 2)) * 2.0,
    "reshape_as": lambda x: pn.reshape_as(x, x) * 2.0,
    "view": lambda x: pn.view(x, (3, -1, 2, WIDTH // 2)) * 2.0,
    "unsqueeze": lambda x: pn.unsqueeze(x, 1) * 2.0,
    "unflatten": lambda x: pn.unflatten(x, 2, (2, -1)) * 2.0,
    "select": lambda x: pn.select(x, 2, 0),
    "chunk": lambda x: pn.chunk(x, 2)[1] * 2.0,
    "cat": lambda x: pn.cat([x, x], 1),
    "stack": lambda x: pn.stack([x.unbind()[2]] * 2),
    "unbind": lambda x: x.unbind()[2] * 2.0,
    "clone": pn.clone,
    "detach": lambda x: x.detach() + 1.0,
    "nested_array": lambda x: pn.nested_array([c.detach().numpy() for c in x.unbind()], layout=x.layout),
    "as_nested_array": lambda x: pn.as_nested_array(x.unbind(), layout=x.layout),
    "nested_array_from_jagged": lambda x: pn.nested_array_from_jagged(pn.ones(MIB, 2), [0, 9, MIB]),
    "nested_array_from_strided": lambda x: pn.nested_array_from_strided(pn.ones(MIB), [[9], [MIB - 9]]),
    "narrow": lambda x: pn.narrow(pn.ones(4, MIB, dtype=pn.float32), 1, 0, MIB // 2) * 1.0,
    "masked_select": lambda x: pn.masked_select(last(x), mask(x)),
    "to_padded_array": lambda x: pn.to_padded_array(x, 0.0),
    "contiguous": lambda x: pn.contiguous(pn.transpose(x, 1, 2)),
    "getitem": lambda x: x[:, 1:, ::2],
    "embedding": lambda x: pn.embedding(numbers(300_000), pairs(x)),
    "to": lambda x: pn.to(x, dtype=pn.float64),
    "cross_entropy": lambda x: pn.cross_entropy(last(x), numbers(6000, WIDTH)),
    "scaled_dot_product_attention": lambda x: pn.scaled_dot_product_attention(x[..., :1], x[:, :9, :1], x[:, :9]),
    "flex_attention": lambda x: pn.flex_attention(x[..., :1], x[:, :9, :1], x[:, :9], lambda s, b, h, i, j: s * 2.0),
    "create_nested_block_mask": lambda x: pn.create_nested_block_mask(lambda b, h, i, j: i >= j, x, x[:, :900], 4096),
    "multi_head_attention": lambda x: pn.multi_head_attention(
        x[..., :2], x[:, :9, :2], x[:, :9, :2], 2, pn.ones(6, 2, dtype=x.dtype), None, pn.ones(2, 2, dtype=x.dtype)
    ),
    "transformer_encoder_layer": lambda x: pn.transformer_encoder_layer(x[:, :9, :2], layer_of("self_attn"), 2),
    "transformer_decoder_layer": lambda x: pn.transformer_decoder_layer(
        x[:, :9, :2], x[:, :9, :2], layer_of("self_attn", "multihead_attn"), 2
    ),
}
OTHERS: dict[str, Callable[[Any], Any]] = {
    "zeros": lambda x: pn.zeros(MIB),
    "ones of a kind": pn.ones_like,
    "arange": lambda x: pn.arange(MIB),
    "rand": lambda x: pn.rand(MIB),
    "randn": lambda x: pn.randn(MIB),
    "randint": lambda x: pn.randint(5, (MIB,)),
    "deepcopy": lambda x: copy.deepcopy(x.detach()),
    "facts": lambda x: Segments(OFFSETS).row_component,
    "softmax of float16": lambda x: pn.softmax(x.to(pn.float16), 1),
    "layer_norm of float16": lambda x: pn.layer_norm(x.to(pn.float16), (WIDTH,)),
    "cross_entropy of float16": lambda x: pn.cross_entropy(last(x).to(pn.float16), numbers(6000, WIDTH)),
    "to integers": lambda x: x.to(pn.int64),
    "to a layout": lambda x: pn.transpose(x, 1, 2).to(layout=pn.strided) + 1.0,
    "mul_": lambda x: x.detach().clone().mul_(2.0),
    "fill_": lambda x: x.detach().clone().fill_(2.0),
    "copy_": lambda x: x.detach().clone().copy_(x.detach()),
    "assignment": lambda x: x.detach().clone().__setitem__((slice(None), slice(1, None)), 2.0),
    "push": lambda x: pn.jvp(lambda y: y * pn.sin(y), (x.detach(),), (x.detach(),))[1],
    "checkpoint": lambda x: pn.checkpoint(lambda y: pn.transpose(y, 1, 2), x),
    "holes": lambda x: shown_in(overlapping(x)),
    "layer_norm of rows of 2": lambda x: pn.layer_norm(pairs(x), (2,)),
    "layer_norm of rows of 2, float16": lambda x: pn.layer_norm(pairs(x, pn.float16), (2,)),
    "softmax of rows of 2": lambda x: pn.softmax(pairs(x), 1),
    "cross_entropy of rows of 2": lambda x: pn.cross_entropy(pairs(x), numbers(384_000)),
    "masked_select of a column": lambda x: pn.masked_select(last(x).reshape(-1, 1), mask(x).reshape(-1, 1)),
    "masked_fill of a dense one": lambda x: pn.masked_fill(last(x), mask(x), 1.0),
    "embedding, int32": lambda x: pn.embedding(numbers(300_000, 2, pn.int32), pairs(x)),
    "copy_ of the other layout": lambda x: copied(x).copy_(other_layout(x)),
    "copy_ of other integers": lambda x: copied(numbers(MIB, 2, pn.int8)).copy_(numbers(MIB)),
    "fill_ of what was made": lambda x: copied(x).fill_(2.0),
    "masked_fill_": lambda x: copied(x).masked_fill_(positive(x), 1.0),
    "assignment of every second": lambda x: copied(x).__setitem__((slice(None), slice(0, None, 2)), 2.0),
    "equal of the other layout": lambda x: pn.equal(x, other_layout(x)),
    "second derivative": lambda x: pn.grad((x * x * x).sum(), x, create_graph=True),
}
if shutil.which("g++"):
    OTHERS["to the emulated device"] = lambda x: x.detach().to("emulated")


def phases(call: Callable[[Any], Any], x: Any) -> Iterator[Callable[[], Any]]:
    """The call, and the pull of its result where a gradient flows."""
    yield lambda: call(x)
    result = call(x)
    if getattr(result, "requires_grad", False):
        seed = pn.ones_like(result)
        yield lambda: pn.grad(result, x, seed, retain_graph=True)


def finds_memory(compute: Callable[[], Any], idle: int, own: bool = False) -> bool:
    """Whether it finds the memory that it needs, where little is left beside what is idle; and its ``own`` waits too.

    Then what takes memory that waits has it, and gives back nothing: all else has to ask for it.
    """
    import resource

    memory.forget_kept()
    if own:
        compute()
    if idle:
        memory.empty((idle,), np.uint8)
    with open("/proc/self/statm", encoding="ascii") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    hoard: list[Any] = []  # what malloc has kept for itself
    resource.setrlimit(resource.RLIMIT_AS, (used, resource.RLIM_INFINITY))
    with suppress(MemoryError):
        while True:
            hoard.append(np.empty(ROOM // 2, np.uint8))
    resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, resource.RLIM_INFINITY))
    try:
        compute()
        return True
    except MemoryError:
        return False
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def main(layout: str) -> None:
    """Print what fails although memory waits, and what does not fail where none waits."""
    gc.disable()  # garbage would make room at any moment
    components = [np.full((length, WIDTH), 0.5, np.float32) for length in LENGTHS]
    x = pn.nested_array(components, layout=getattr(pn, layout), requires_grad=True)
    for name, call in (OPERATORS | OTHERS).items():
        needed = 0
        for compute in phases(call, x):
            compute()  # imports what is imported late, and works out facts about the structure
            needed += not finds_memory(compute, 0)
            for own in (False, True):
                if not finds_memory(compute, IDLE, own):
                    print(f"{name}: MemoryError{', where its own waits' * own}")
        if not needed:
            print(f"{name}: needs no memory")
    print("done")


@pytest.mark.skipif(sys.platform != "linux", reason="how much a process has is read from Linux's /proc")
@pytest.mark.parametrize("layout", ["jagged", pytest.param("strided", marks=pytest.mark.exhaustive)])
def test_what_is_kept_is_given_up_where_memory_is_short(layout: str) -> None:
    # Large memory is to go back to the system when it is freed, so that what is left to find is what is kept.
    # OpenBLAS ends the process where it finds no memory for its threads.
    settings = {"MALLOC_MMAP_THRESHOLD_": "65536", "PYNESTED_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", __name__, layout]
    done = subprocess.run(command, env={**os.environ, **settings}, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["done"], done.stdout + done.stderr


def test_every_operator_is_asked() -> None:
    assert set(OPERATORS) == {operator.name for operator in load_table().values() if not operator.is_idea}


if __name__ == "__main__":
    main(sys.argv[1])
