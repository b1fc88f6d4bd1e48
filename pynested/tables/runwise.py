"""Operators that keep the shape and work along one dimension: the table, as `reductions` is of reductions."""

from __future__ import annotations

import numpy as np

from pynested.autograd import Array
from pynested.autograd.rules import elementwise as of_elements
from pynested.autograd.rules import movement as moves
from pynested.autograd.rules import segment as of_segments
from pynested.backends import Segments

from .dtypes import added, composed, normalized
from .entries import RunWise, in_terms_of_runs
from .runs import Runs


def _swapped(x: Array, a: int, b: int) -> Array:
    order = list(range(x.ndim))
    order[a], order[b] = b, a
    return x if a == b else moves.transpose(x, tuple(order))


def _softmax(x: Array, axis: int) -> Array:
    last = x.ndim - 1
    return _swapped(of_segments.softmax_last(_swapped(x, axis, last)), axis, last).contiguous()


def _cumsum(x: Array, axis: int) -> Array:
    whole = Segments(np.array([0, x.shape[axis]]))  # one run, of rows that hold all the rest
    return _swapped(of_segments.segment_cumsum(_swapped(x, 0, axis), whole), 0, axis).contiguous()


def _log_softmax(runs: Runs, x: Array) -> Array:
    greatest = runs.amax(x.detach())
    below = x - runs.back(greatest, x)
    return below - runs.back(of_elements.log(runs.sum(of_elements.exp(below))), x)


RUNWISE = {one.name: one for one in (
    RunWise(
        "softmax", of_segments.segment_softmax, _softmax, takes=normalized, clauses=9,
        says="``exp(x - max) / sum`` of each run along ``dim``",
        notes="""The shift keeps finite input finite: (1000, 1001) gives the numbers of (0, 1). An empty run stays
empty. -inf beside finite elements becomes +0; a run that is all -inf, or holds NaN or +inf, becomes all NaN, and no
other does. Gradient: ``y * (g - sum(y * g))`` with ``y`` the result.""",
        example="""nt = pn.nested_array([[1000.0, 1000.0], [-np.inf, 3.0], []], layout=pn.jagged)
>>> pn.softmax(nt, 1).unbind()
(array([0.5, 0.5]), array([0., 1.]), array([]))""",
    ),
    RunWise(
        "log_softmax", *in_terms_of_runs(_log_softmax), takes=composed, clauses=9,
        says="The logarithm of the softmax of each run along ``dim``",
        notes="""What is far below the maximum keeps its logarithm, though its softmax is 0. An empty run stays empty.
-inf beside finite elements stays; a run that is all -inf, or holds NaN or +inf, becomes all NaN, and no other does.
Gradient: ``g - softmax * sum(g)``.""",
        example="""nt = pn.nested_array([[1000.0, 1000.0], [-np.inf, 3.0], []], layout=pn.jagged)
>>> pn.log_softmax(nt, 1).unbind()
(array([-0.69314718, -0.69314718]), array([-inf,   0.]), array([]))""",
    ),
    RunWise(
        "softmin", lambda x, segments: of_segments.segment_softmax(-x, segments), lambda x, axis: _softmax(-x, axis),
        takes=normalized, clauses=9,
        says="The softmax of ``-x`` of each run along ``dim``",
        notes="""Most of it goes to what is least. An empty run stays empty. +inf beside finite elements becomes +0; a
run that is all +inf, or holds NaN or -inf, becomes all NaN, and no other does. Gradient: ``-y * (g - sum(y * g))`` with
``y`` the result.""",
        example="""pn.softmin(pn.nested_array([[1000.0, 1000.0], [np.inf, 3.0], []], layout=pn.jagged), 1).unbind()
(array([0.5, 0.5]), array([0., 1.]), array([]))""",
    ),
    RunWise(
        "cumsum", of_segments.segment_cumsum, _cumsum, takes=added, clauses=10, torch="torch",
        says="The sums of each run along ``dim`` up to each of its elements",
        notes="""Each run begins anew: neither a NaN nor the rounding of another one is in its sums. An empty run stays
empty. float16 is accumulated wider, and each element rounded once. Gradient: the sums of the cotangent from each
element to the end of its run.""",
        example="""nt = pn.nested_array([[1, 2, 3], [], [10, 20]], layout=pn.jagged)
>>> pn.cumsum(nt, 1).unbind()
(array([1, 3, 6]), array([]), array([10, 30]))""",
    ),
)}  # fmt: skip
