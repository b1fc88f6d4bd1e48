"""Parts of a training loop as pure functions: optimiser steps, clipping, and batches of similar lengths.

    state = None
    for chosen in pn.training.batches(lengths, most_elements=4096, seed=0):
        gradients = pn.grad(loss(parameters, data[chosen]), parameters)
        gradients, norm = pn.training.clip_by_norm(gradients, 1.0)
        parameters, state = pn.training.adamw(parameters, gradients, state, learning_rate=1e-3)

Parameters are a tree: an array, dense or nested, or dicts, lists and tuples of them. A step takes a tree and returns
another, whose arrays are new leaves; nothing is written in place, and nothing is recorded. The formulas are PyTorch's,
in the dtype of each parameter. `pn.save` and `pn.load` keep a dict of parameters in a file.
"""

from __future__ import annotations

from .length_batches import batches
from .optimizers import adam, adamw, clip_by_norm, sgd
from .parameter_trees import from_state_dict

__all__ = ["adam", "adamw", "batches", "clip_by_norm", "from_state_dict", "sgd"]
