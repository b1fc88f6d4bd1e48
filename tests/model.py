"""A small model of text: it guesses characters that were hidden, from the other characters of the same line.

Lines have different lengths, and some are empty. The model is embedding, attention within each line, layer norm and a
linear layer; nothing in it pads or masks, and it is the same program in both layouts.
"""

from __future__ import annotations

import math
from pydoc_data.topics import topics
from typing import Any

import numpy as np

import pynested as pn

Parameters = dict[str, Any]

WIDTH = 16
HIDDEN_SHARE = 0.2
IGNORED = -100  # the target of a character that is not hidden


def lines_of_text(count: int) -> list[str]:
    """Lines of Python's own documentation, the empty ones between paragraphs among them."""
    return "\n".join(topics[name] for name in sorted(topics)).splitlines()[:count]


def batch(lines: list[str], layout: Any, seed: int = 0) -> tuple[Any, Any, int]:
    """Characters by number, some of them hidden; what is hidden, IGNORED elsewhere; and how many numbers there are."""
    generator = np.random.default_rng(seed)
    number = {character: i for i, character in enumerate(sorted(set("".join(lines))))}
    hidden = len(number)
    shown, targets = [], []
    for line in lines:
        characters = np.array([number[character] for character in line], np.int64)
        hide = generator.random(len(line)) < HIDDEN_SHARE
        shown.append(np.where(hide, hidden, characters))
        targets.append(np.where(hide, characters, IGNORED))
    return pn.nested_array(shown, layout=layout), pn.nested_array(targets, layout=layout), hidden + 1


def new_parameters(numbers: int, seed: int = 0) -> Parameters:
    """Random matrices, and vectors that begin as 1 or 0."""
    generator = np.random.default_rng(seed)

    def matrix(rows: int, columns: int) -> Any:
        return pn.array(generator.standard_normal((rows, columns)) / math.sqrt(columns), requires_grad=True)

    return {
        "characters": matrix(numbers, WIDTH),
        "query": matrix(WIDTH, WIDTH),
        "key": matrix(WIDTH, WIDTH),
        "value": matrix(WIDTH, WIDTH),
        "scale": pn.ones(WIDTH, requires_grad=True),
        "shift": pn.zeros(WIDTH, requires_grad=True),
        "guess": matrix(numbers, WIDTH),
        "bias": pn.zeros(numbers, requires_grad=True),
    }


def scores(p: Parameters, shown: Any) -> Any:
    """How likely each character is at each place: (B, *) -> (B, *, numbers)."""
    x = pn.embedding(shown, p["characters"])  # (B, *, WIDTH)
    query, key, value = (pn.linear(x, p[name]) for name in ("query", "key", "value"))
    likeness = query @ key.transpose(1, 2) / math.sqrt(WIDTH)  # (B, *, *): every place of a line with every other
    attended = pn.softmax(likeness, dim=2) @ value
    mixed = pn.gelu(pn.layer_norm(x + attended, (WIDTH,), p["scale"], p["shift"]))
    return pn.linear(mixed, p["guess"], p["bias"])


def loss(p: Parameters, shown: Any, targets: Any) -> Any:
    """The mean cross entropy of the hidden characters."""
    return pn.cross_entropy(scores(p, shown), targets, ignore_index=IGNORED)


def train(p: Parameters, shown: Any, targets: Any, steps: int, rate: float) -> list[float]:
    """Plain gradient descent; the loss before each step."""
    losses = []
    for _ in range(steps):
        current = loss(p, shown, targets)
        current.backward()
        losses.append(current.item())
        with pn.no_grad():
            for parameter in p.values():
                parameter.sub_(parameter.grad, alpha=rate)
                parameter.grad = None
    return losses
