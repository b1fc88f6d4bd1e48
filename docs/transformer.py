"""A transformer that learns to write Python's documentation, character by character, from lines of every length.

    python docs/transformer.py
    python docs/transformer.py --steps 600 --width 64

Two layers of causal attention, and nothing in them pads or masks: a batch is a nested array (B, *) of characters, and
every operator works on what is there. The text comes with Python. The 300 steps take one to two minutes of processor
time, and end with the first short words; more steps and a greater width write better ones.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from pydoc_data.topics import topics
from typing import Any

import numpy as np

import pynested as pn

Parameters = dict[str, Any]

LAYERS, HEADS = 2, 4
SHORTEST, LONGEST = 2, 80  # characters of a line
START = "\n"  # what every line begins with, and ends with


# ---- the text --------------------------------------------------------------------------------------------------------


def lines_of_text() -> list[str]:
    """All lines of Python's own documentation that are neither empty nor a table."""
    lines = "\n".join(topics[name] for name in sorted(topics)).splitlines()
    return [line for line in lines if SHORTEST <= len(line) <= LONGEST]


def batch(lines: list[str], characters: str, layout: Any = pn.jagged) -> tuple[Any, Any]:
    """Each line's characters by number, and what comes next: twice (B, *)."""
    number = {character: i for i, character in enumerate(characters)}
    read = [np.array([number[one] for one in START + line], np.int64) for line in lines]
    following = [np.array([number[one] for one in line + START], np.int64) for line in lines]
    return pn.nested_array(read, layout=layout), pn.nested_array(following, layout=layout)


# ---- the model -------------------------------------------------------------------------------------------------------


def new_parameters(characters: int, width: int, seed: int = 0, dtype: Any = np.float32) -> Parameters:
    """Random matrices, and vectors of ones or zeros."""
    generator = np.random.default_rng(seed)

    def matrix(rows: int, columns: int) -> Any:
        numbers = generator.standard_normal((rows, columns)) / math.sqrt(columns)
        return pn.array(numbers.astype(dtype), requires_grad=True)

    def vector(size: int, fill: float = 0.0) -> Any:
        return pn.array(np.full(size, fill, dtype), requires_grad=True)

    p = {"characters": matrix(characters, width), "places": matrix(LONGEST + 1, width)}
    for layer in range(LAYERS):
        sizes = {
            "self_attn.in_proj_": (3 * width, width),
            "self_attn.out_proj.": (width, width),
            "linear1.": (4 * width, width),
            "linear2.": (width, 4 * width),
        }
        p |= {f"{layer} {name}weight": matrix(*size) for name, size in sizes.items()}
        p |= {f"{layer} {name}bias": vector(size[0]) for name, size in sizes.items()}
        p |= {f"{layer} {name}.weight": vector(width, 1.0) for name in ("norm1", "norm2")}
        p |= {f"{layer} {name}.bias": vector(width) for name in ("norm1", "norm2")}
    return p | {"scale": vector(width, 1.0), "shift": vector(width), "guess": matrix(characters, width)}


def scores(p: Parameters, read: Any) -> Any:
    """How likely each character comes next at each place: (B, *) -> (B, *, characters)."""
    places = pn.nested_array([np.arange(len(line)) for line in read.unbind()], layout=read.layout)
    x = pn.embedding(read, p["characters"]) + pn.embedding(places, p["places"])  # (B, *, W)
    for layer in range(LAYERS):
        own = {name.split()[1]: one for name, one in p.items() if name.startswith(f"{layer} ")}
        x = pn.transformer_encoder_layer(x, own, HEADS, is_causal=True, norm_first=True, activation="gelu")
    return pn.linear(pn.layer_norm(x, p["scale"].shape, p["scale"], p["shift"]), p["guess"])


def loss(p: Parameters, read: Any, following: Any) -> Any:
    """The mean cross entropy of what comes next."""
    return pn.cross_entropy(scores(p, read), following)


# ---- training --------------------------------------------------------------------------------------------------------


def train(p: Parameters, lines: list[str], characters: str, steps: int, size: int, rate: float) -> Iterator[float]:
    """Steps of Adam on batches of so many lines drawn at random, which exchange the parameters; the loss of each."""
    generator = np.random.default_rng(0)
    state = None
    for _ in range(steps):
        drawn = [lines[i] for i in generator.integers(0, len(lines), size)]
        current = loss(p, *batch(drawn, characters))
        stepped, state = pn.training.adam(p, pn.grad(current, p), state, learning_rate=rate, betas=(0.9, 0.99))
        p.update(stepped)
        yield current.item()


def show(step: int, steps: int, current: float) -> None:
    """Draw a bar of what is done, on one line, if this is a terminal."""
    if not sys.stderr.isatty():
        return
    done = 40 * step // steps
    print(
        f"\r[{'#' * done}{'.' * (40 - done)}] {step}/{steps}  loss {current:.3f}", end="", file=sys.stderr, flush=True
    )


def written(p: Parameters, characters: str, generator: np.random.Generator) -> str:
    """A line, each character drawn as likely as the model says."""
    line = ""
    with pn.no_grad():
        while len(line) < LONGEST:
            read, _ = batch([line], characters)
            likely = pn.softmax(scores(p, read), 2).unbind()[0].numpy()[-1].astype(np.float64)
            character = characters[generator.choice(len(characters), p=likely / likely.sum())]
            if character == START:
                break
            line += character
    return line


def main() -> None:
    """Train, and write a few lines."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--steps", type=int, default=300, help="batches to learn from (default: 300)")
    options.add_argument("--lines", type=int, default=32, help="of a batch (default: 32)")
    options.add_argument("--width", type=int, default=32, help=f"numbers of a row, {HEADS} times any (default: 32)")
    options.add_argument("--rate", type=float, default=3e-3, help="of learning (default: 0.003)")
    asked = options.parse_args()
    if min(asked.steps, asked.lines, asked.width) < 1 or asked.width % HEADS:
        options.error(f"--steps, --lines and --width are 1 or more, and {HEADS} heads share the --width")
    lines = lines_of_text()
    characters = "".join(sorted({START, *"".join(lines)}))
    p = new_parameters(len(characters), asked.width)
    for step, current in enumerate(train(p, lines, characters, asked.steps, asked.lines, asked.rate), 1):
        show(step, asked.steps, current)
    print(file=sys.stderr)
    generator = np.random.default_rng(1)
    for _ in range(5):
        print(written(p, characters, generator))


if __name__ == "__main__":
    main()
