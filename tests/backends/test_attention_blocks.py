"""Memory of attention by blocks, and scores that are infinite.

`kernel_checks_attention` compares blocks of every size with attention over all keys at once.
"""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np

from pynested.backends import HeadLayout

from .kernel_checks import QuietKernels
from .kernel_checks_attention import BATCHES, attention_operands, compute_attention

cpu = QuietKernels("cpu")


def test_only_an_infinite_score_makes_nan() -> None:
    """The first query sees one key, and their product is beyond -inf: NaN for this query, for no other."""
    rows = np.array([[0, 4, 1, 1]])
    heads = HeadLayout(np.array([[1, 1, 2, 2]]), rows, rows, rows, rows, np.array([[0, 0, 2, 1]]), 1, 1, 1.0, False)
    q, k, v, g = np.array([1e200, 1.0]), np.array([-1e200, 2.0]), np.array([3.0, 5.0]), np.ones(2)
    seen = np.array([True, False, False, True])
    results = compute_attention(cpu, [q, k, v, seen, g], heads)[:4]
    assert [[str(y) for y in x] for x in results] == [["nan", "5.0"], ["nan", "0.0"], ["nan", "0.0"], ["nan", "1.0"]]
    nothing, none = np.zeros(0), np.zeros((1, 4), np.int64)
    heads = replace(heads, value_places=none, result_places=none, value_width=0)
    results = compute_attention(cpu, [q, k, nothing, seen, nothing], heads)[1:3]
    assert [[str(y) for y in x] for x in results] == [["nan", "0.0"], ["nan", "0.0"]]


def test_scores_are_never_in_memory_as_a_whole() -> None:
    """The scores of 2,048 queries and keys would take 16 MiB for a head."""
    rows = np.array([[0, 64, 64, 1]])
    heads = HeadLayout(np.array([[1, 1, 2048, 2048]]), rows, rows, rows, rows, None, 64, 64, 0.125, False)
    x = np.random.default_rng(0).standard_normal(2048 * 64).astype(np.float32)
    tracemalloc.start()
    compute_attention(cpu, [x, x, x, None, x], heads)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 14 * 1024 * 1024


def test_maxima_and_sums_are_saved_for_the_gradient_only() -> None:
    """The adjoint changes none of them and can run again."""
    (q, k, v, mask, g), heads = attention_operands(0, *BATCHES[3], "causal", "float64")
    (out, saved), (unsaved_out, nothing) = (cpu.attention(q, k, v, mask, heads, is_saved) for is_saved in (True, False))
    assert nothing is None and saved is not None and saved.size >= 2 * heads.query_segments.rows > 0
    np.testing.assert_array_equal(out, unsaved_out)
    first, again = (cpu.attention_backward(g, q, k, v, mask, out, saved, heads, False) for _ in range(2))
    np.testing.assert_array_equal(np.concatenate(first[:3]), np.concatenate(again[:3]))
