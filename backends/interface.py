"""What a backend is: an array module and a few verbs over flat arrays and segments.

Notation: ``N`` rows in ``B`` runs; ``(N, ...)`` is rows of any one shape, which a verb sees as flat. An array argument
is any array of ``xp``, contiguous or not; a result is a new C-contiguous one. Arguments fit together: the callers have
checked shapes, ranges and dtypes, and a verb need not.

Floats keep their dtype; float16, and bfloat16 on the devices with kernels, are computed in float32 and rounded once. No
verb warns. What one run holds, NaN and infinities included, never changes the result of another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from .heads import Heads
from .matrices import Matrices
from .segments import Segments

Array: TypeAlias = Any  # an array of the backend's xp


class Backend(Protocol):
    """The verbs. Names that are not listed here are those of ``xp``, made quiet where they are ufuncs."""

    @property
    def device(self) -> str:
        """The name of the device, such as ``"cpu"``."""

    @property
    def xp(self) -> Any:
        """The array module: numpy, or one that follows it."""

    def __getattr__(self, name: str, /) -> Any:
        """A function of ``xp`` that the backend does not define itself."""

    # elementwise

    def cast(self, x: Array, dtype: np.dtype[Any], /) -> Array:
        """Each number in another dtype, the same bits everywhere.

        To a float it is rounded once, to the nearest, and what is too large becomes an infinity. A float to an integer
        loses its fraction, and becomes the nearest end of the range where it lies outside, 0 where it is NaN. An
        integer to a narrower one keeps its low bits. A bool is true for all but zeros.
        """

    def relu(self, x: Array, /) -> Array:
        """max(x, 0), any real dtype; NaN stays NaN."""

    def relu_backward(self, cotangent: Array, y: Array, /) -> Array:
        """The cotangent where y = relu(x) is above 0 or NaN, +0 elsewhere."""

    def gelu(self, x: Array, /, approximate: str = "none") -> Array:
        """``x Phi(x)``, with the normal distribution function (``"none"``) or its tanh approximation (``"tanh"``)."""

    def gelu_backward(self, cotangent: Array, x: Array, /, approximate: str = "none") -> Array:
        """``cotangent * gelu'(x)``."""

    def silu(self, x: Array, /) -> Array:
        """``x / (1 + exp(-x))``."""

    def silu_backward(self, cotangent: Array, x: Array, /) -> Array:
        """``cotangent * silu'(x)``."""

    def erf(self, x: Array, /) -> Array:
        """The error function of floats."""

    def erfc(self, x: Array, /) -> Array:
        """1 minus the error function of floats, accurate where that is nearly 1."""

    def sgn(self, x: Array, /) -> Array:
        """-1, 0 or 1 by the sign; NaN stays NaN; a bool is its own sign."""

    # segments

    def segment_sum(self, x: Array, segments: Segments, /) -> Array:
        """(N, ...) -> (B, ...): the sum of each run, +0 for an empty one; bools and ints give int64."""

    def segment_prod(self, x: Array, segments: Segments, /) -> Array:
        """(N, ...) -> (B, ...): the product of each run, 1 for an empty one; bools and ints give int64."""

    def segment_max(self, x: Array, segments: Segments, /) -> Array:
        """(N, ...) -> (B, ...): the maximum of each run; NaN wins; an empty run gives the least value of the dtype."""

    def segment_min(self, x: Array, segments: Segments, /) -> Array:
        """(N, ...) -> (B, ...): the minimum of each run; NaN wins; an empty run has the greatest of its dtype."""

    def segment_argmax(self, x: Array, segments: Segments, /) -> Array:
        """(N, ...) -> int64 (B, ...): the first row of each run with its maximum, counted from its first; or -1."""

    def segment_argmin(self, x: Array, segments: Segments, /) -> Array:
        """(N, ...) -> int64 (B, ...): the first row of each run with its minimum, counted from its first; or -1."""

    def segment_max_backward(self, cotangent: Array, x: Array, maximum: Array, segments: Segments, /) -> Array:
        """(B, ...) -> (N, ...): the cotangent of each run's maximum, or minimum, shared by the rows that attain it."""

    def segment_softmax(self, x: Array, segments: Segments, /) -> Array:
        """(N, ...) -> (N, ...): exp(x - max) / sum over each run; NaN where the run holds NaN, +inf, or -inf only."""

    def segment_softmax_backward(self, cotangent: Array, y: Array, segments: Segments, /) -> Array:
        """``y * (cotangent - sum of y * cotangent over the run)``, for y = segment_softmax(x)."""

    def softmax_last(self, x: Array, /) -> Array:
        """(..., D) -> (..., D): the softmax of each row."""

    def softmax_last_backward(self, cotangent: Array, y: Array, /) -> Array:
        """``y * (cotangent - sum of y * cotangent over the row)``, for y = softmax_last(x)."""

    def spread(self, y: Array, segments: Segments, /) -> Array:
        """(B, ...) -> (N, ...): every row of a run is the run's entry of y; the adjoint of segment_sum."""

    def segment_cumsum(self, x: Array, segments: Segments, backwards: bool = False, /) -> Array:
        """(N, ...) -> (N, ...): each row plus all before it, or behind it, in its run; bools and ints give int64."""

    # rows

    def layer_norm(
        self, x: Array, weight: Array | None, bias: Array | None, eps: float, /
    ) -> tuple[Array, Array, Array]:
        """(N, D) -> (N, D), and each row's mean and std, sqrt(variance + eps): (x - mean) / std * weight + bias."""

    def layer_norm_backward(
        self, cotangent: Array, x: Array, weight: Array | None, mean: Array, std: Array, /, with_bias: bool = True
    ) -> tuple[Array, Array | None, Array | None]:
        """The cotangents of x, of weight (None without one) and of bias (None unless ``with_bias``)."""

    def cross_entropy(
        self, x: Array, target: Array, weight: Array | None, ignore_index: int, label_smoothing: float, /
    ) -> tuple[Array, Array]:
        """(N, C) and int (N,) -> the loss of each row (0 where ignored, not reduced) and its scale: (2, N).

        The scale is the maximum of the row, and log sum exp(x - maximum).
        """

    def cross_entropy_backward(
        self,
        cotangent: Array,
        x: Array,
        target: Array,
        weight: Array | None,
        ignore_index: int,
        label_smoothing: float,
        scale: Array,
        /,
    ) -> Array:
        """(N,) -> (N, C): the cotangent of x for the rows' losses; exactly 0 in ignored rows."""

    # movement

    def copy(self, x: Array, /) -> Array:
        """A C-contiguous copy."""

    def pad(self, x: Array, segments: Segments, length: int, fill: Any, /) -> Array:
        """(N, ...) -> (B, length, ...): each run from the left, then ``fill``; no run is longer than ``length``."""

    def unpad(self, padded: Array, segments: Segments, /) -> Array:
        """(B, length, ...) -> (N, ...): the rows that belong to runs; inverse of pad, and its adjoint."""

    def take_rows(self, x: Array, index: Array, /) -> Array:
        """(R, ...) -> (M, ...): the rows at ``index``, int64 (M,), each in 0..R-1."""

    def add_rows(self, x: Array, index: Array, rows: int, /) -> Array:
        """(M, ...) -> (rows, ...): zeros, and each row of x added at its index; the adjoint of take_rows."""

    def gather_components(self, buffer: Array, sizes: Array, strides: Array, offsets: Array, /) -> Array:
        """Flat -> flat: the components one after the other, each in row-major order.

        Component ``i`` has the shape ``sizes[i]`` and lies at ``offsets[i]`` with ``strides[i]``, in elements, none
        negative; sizes and strides are host arrays (B, d), offsets (B,). Components may overlap and strides be 0.
        """

    def scatter_components(
        self, flat: Array, sizes: Array, strides: Array, offsets: Array, buffer_size: int, /
    ) -> Array:
        """Flat -> (buffer_size,): zeros, and each element added where it came from: gather_components' adjoint."""

    def pack_list(self, arrays: Sequence[Array], /) -> tuple[Array, Array]:
        """A list (not empty) of (L_i, ...) -> (N, ...) and the lengths, int64 (B,)."""

    # attention

    def attention(
        self, q: Array, k: Array, v: Array, mask: Array | None, heads: Heads, recorded: bool = True, /
    ) -> tuple[Array, Array | None]:
        """Flat buffers -> softmax(scale q k^T + mask) v of each head, flat, and what this backend's adjoint needs.

        The mask is bool, true where a key counts, or added, of the dtype of the others, and -inf where none counts. A
        key that does not count for a query takes no part, whatever it holds; a query without keys gives +0. Nothing
        is saved of a call that is not recorded.
        """

    def attention_backward(
        self,
        cotangent: Array,
        q: Array,
        k: Array,
        v: Array,
        mask: Array | None,
        out: Array,
        saved: Array,
        heads: Heads,
        with_mask: bool,
        /,
    ) -> tuple[Array, Array, Array, Array | None]:
        """The cotangents of q, k, v and, if asked for, of a mask of floats, as long as their buffers; 0 in holes."""

    # products and totals

    def matmul_components(self, a: Array, b: Array, left: Matrices, right: Matrices, /) -> Array:
        """Flat and flat -> flat: left[k] @ right[k], packed one after the other in row-major order."""

    def sum_all(self, x: Array, /) -> Array:
        """(...) -> (): the total; bools and ints give int64."""

    def sum_last(self, x: Array, /) -> Array:
        """(..., D) -> (...): the sum of each row; bools and ints give int64."""
