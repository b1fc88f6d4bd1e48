"""What training loops are made of, as pure functions: steps, schedules, clipping, and batches of similar lengths.

    state = None
    for step, chosen in enumerate(pn.training.batches(lengths, most_elements=4096, seed=0)):
        gradients = pn.grad(loss(parameters, data[chosen]), parameters)
        gradients, norm = pn.training.clip_by_norm(gradients, 1.0)
        parameters, state = pn.training.adamw(parameters, gradients, state, learning_rate=rate(step))

Parameters are a tree: an array, dense or nested, or dicts, lists and tuples of them. A step takes a tree and returns
another, whose arrays are new leaves; nothing is written in place, and nothing is recorded. The formulas are PyTorch's,
in the dtype of each parameter. `pn.save` and `pn.load` keep a dict of parameters in a file.
"""

from __future__ import annotations

from .batches import batches
from .schedules import constant, cosine, linear
from .state_dicts import from_state_dict
from .steps import adam, adamw, clip_by_norm, sgd

__all__ = ["adam", "adamw", "batches", "clip_by_norm", "constant", "cosine", "from_state_dict", "linear", "sgd"]
