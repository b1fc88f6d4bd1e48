"""Calls of what is made of operators: few rows of few ordinary numbers, for there are many steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import Components

from .magnitudes import Draw


def heads(draw: Draw, op: str, x: Components) -> tuple[list[Any], dict[str, Any], Any]:
    """Few rows of few ordinary numbers: there are many steps, each of them exact for the expectation."""
    dtype, width = "float64" if x.dtype == np.float64 else "float32", min(x.shape[-1] or 1, 2)

    def ordinary(*shape: int) -> Any:
        return (draw.standard_normal(shape) * draw.choice([0.1, 1, 4])).astype(dtype)

    rows = [Components([ordinary(*one[:3, :width].shape) for one in x], (len(x), None, width), dtype) for _ in "qkv"]
    weights = [ordinary(3 * width, width), ordinary(3 * width), ordinary(width, width), ordinary(width)]
    return [*rows, int(draw.integers(1, width + 1)), *weights], {"is_causal": bool(draw.random() < 0.5)}, None


def layers(draw: Draw, op: str, x: Components) -> tuple[list[Any], dict[str, Any], Any]:
    """Few rows of two numbers: in a layer every number meets every other, some steps later."""
    dtype = "float64" if x.dtype == np.float64 else "float32"
    decodes = op == "transformer_decoder_layer"
    shapes = {"linear1.": (1, 2), "linear2.": (2, 1)} | {f"norm{number + 1}.": (2,) for number in range(2 + decodes)}
    for one in ("self_attn", "multihead_attn")[: 1 + decodes]:
        shapes |= {f"{one}.in_proj_": (6, 2), f"{one}.out_proj.": (2, 2)}

    def ordinary(shape: tuple[int, ...], size: Any = 1.0) -> Any:
        return (draw.standard_normal(shape) * size).astype(dtype)

    weights = {f"{name}weight": ordinary(shape) for name, shape in shapes.items()}
    biases = {f"{name}bias": ordinary(shape[:1]) for name, shape in shapes.items()} if draw.random() < 0.5 else {}
    size = draw.choice([0.1, 1, 4])
    lengths = (1, 2) if decodes else (2,)
    rows = [Components([ordinary((length, 2), size) for _ in "ab"], (2, None, 2)) for length in lengths]
    options = {"norm_first": bool(draw.random() < 0.5), "activation": str(draw.choice(["relu", "gelu"]))}
    options["layer_norm_eps"] = float(draw.choice([1e-5, 0.5]))
    return [*rows, weights | biases, int(draw.integers(1, 3))], options, None
