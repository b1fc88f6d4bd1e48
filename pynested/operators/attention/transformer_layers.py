"""The layers of a transformer, as functions of their parameters; the parameters have PyTorch's names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

import numpy as np

from pynested.autograd.arguments.operands import as_operand
from pynested.autograd.call_errors import check_flags
from pynested.autograd.decorators import operator
from pynested.autograd.random import canonical_generator
from pynested.backends.errors import ArgumentError, ShapeError, StructureError
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import check_devices

from ..elementwise import gelu, relu
from ..normalization import dropout, layer_norm
from ..products import linear
from .multi_head import check_shape, checked_rows, multi_head_attention, row_width

Rows = TypeVar("Rows")  # NestedArray (B, *, E), or Array (B, L, E) or (L, E)

ACTIVATIONS: dict[str, Callable[[Any], Any]] = {"relu": relu, "gelu": gelu}


@operator
def transformer_encoder_layer(
    src: Rows,
    parameters: Mapping[str, Any],
    num_heads: int,
    src_mask: Any = None,
    is_causal: bool = False,
    *,
    norm_first: bool = False,
    activation: str = "relu",
    dropout_p: float = 0.0,
    layer_norm_eps: float = 1e-5,
    generator: np.random.Generator | None = None,
) -> Rows:
    """Apply self-attention in each component, then a feed-forward network to each row: ``(B, *, E) -> (B, *, E)``.

    The two steps are ``norm1(x + attention(x, x, x))`` and ``norm2(x + linear2(activation(linear1(x))))``.

    Parameters
    ----------
    src : NestedArray or Array
        Nested ``(B, *, E)``, or dense ``(B, L, E)`` or ``(L, E)``.
    parameters : mapping
        Dense arrays by name, as `torch.nn.TransformerEncoderLayer.state_dict` has them: ``self_attn.in_proj_weight``
        ``(3 * E, E)``, ``self_attn.out_proj.weight`` ``(E, E)``, ``linear1.weight`` ``(F, E)``, ``linear2.weight``
        ``(E, F)``, ``norm1.weight`` and ``norm2.weight`` ``(E,)``. Each of them can have a ``bias``.
    num_heads : int
        A divisor of E.
    src_mask, is_causal
        As ``attn_mask`` and ``is_causal`` of `multi_head_attention`.
    norm_first : bool
        Normalize the input of each step instead of its output: ``x + attention(norm1(x), ...)``.
    activation : {"relu", "gelu"}
    dropout_p : float
        The probability of dropout: of the weights of attention, after the activation, and after each of the two steps.
    layer_norm_eps : float
        As ``eps`` of `layer_norm`.
    generator : numpy.random.Generator, optional
        The source of the random numbers of dropout; by default the generator of `manual_seed`.

    Raises
    ------
    ArgumentError
        For missing parameters, parameters with unknown names, and another activation.
    ShapeError, StructureError
        For parameters of other shapes, and rows with another number of dimensions.

    Notes
    -----
    Values, gradients and errors are those of the operators in the two formulas.

    Clauses: TRANSFORMER_ENCODER_LAYER-1 to TRANSFORMER_ENCODER_LAYER-13.
    After `torch.nn.TransformerEncoderLayer` with ``batch_first=True``.

    Examples
    --------
    >>> zeros = {"self_attn.in_proj_weight": np.zeros((6, 2)), "self_attn.out_proj.weight": np.zeros((2, 2))}
    >>> zeros |= {"linear1.weight": np.zeros((4, 2)), "linear2.weight": np.zeros((2, 4))}
    >>> ones = {"norm1.weight": np.ones(2), "norm2.weight": np.ones(2)}
    >>> x = pn.nested_array([[[1.0, 3.0]], [[5.0, 2.0], [0.0, 8.0]]], layout=pn.jagged)
    >>> pn.transformer_encoder_layer(x, zeros | ones, 1, layer_norm_eps=0.0).unbind()
    (array([[-1.,  1.]]), array([[ 1., -1.],
           [-1.,  1.]]))
    """
    op = "transformer_encoder_layer"
    check_flags(op, is_causal=is_causal, norm_first=norm_first)
    (rows,) = checked_rows(op, src=src)
    attentions = {"self_attn": (None, src_mask, is_causal)}
    result: Rows = _run_layer(
        op, rows, attentions, parameters, num_heads, norm_first, activation, dropout_p, layer_norm_eps, generator
    )
    return result


@operator
def transformer_decoder_layer(
    tgt: Rows,
    memory: Any,
    parameters: Mapping[str, Any],
    num_heads: int,
    tgt_mask: Any = None,
    memory_mask: Any = None,
    tgt_is_causal: bool = False,
    memory_is_causal: bool = False,
    *,
    norm_first: bool = False,
    activation: str = "relu",
    dropout_p: float = 0.0,
    layer_norm_eps: float = 1e-5,
    generator: np.random.Generator | None = None,
) -> Rows:
    """Apply self-attention, attention to a memory, then a network to rows: ``(B, *, E), (B, *, E) -> (B, *, E)``.

    The three steps are ``norm1(x + attention(x, x, x))``, ``norm2(x + attention(x, memory, memory))``, and ``norm3(x +
    linear2(activation(linear1(x))))``.

    Parameters
    ----------
    tgt, memory : NestedArray or Array
        As ``src`` of `transformer_encoder_layer`; the lengths of the two may differ.
    parameters, num_heads
        As in `transformer_encoder_layer`, with the names of `torch.nn.TransformerDecoderLayer`: the parameters of
        ``multihead_attn`` are for the memory, and there is a ``norm3``.
    tgt_mask, memory_mask, tgt_is_causal, memory_is_causal
        As ``attn_mask`` and ``is_causal`` of `multi_head_attention`, for the first and for the second attention.
    norm_first, activation, dropout_p, layer_norm_eps, generator
        As in `transformer_encoder_layer`.

    Raises
    ------
    ArgumentError, ShapeError, StructureError
        As `transformer_encoder_layer`, and for a memory that does not fit ``tgt``.

    Notes
    -----
    Clauses: TRANSFORMER_DECODER_LAYER-1 to TRANSFORMER_DECODER_LAYER-12.
    After `torch.nn.TransformerDecoderLayer` with ``batch_first=True``.

    Examples
    --------
    >>> p = {"linear1.weight": np.zeros((4, 2)), "linear2.weight": np.zeros((2, 4))}
    >>> for name in ("self_attn", "multihead_attn"):
    ...     p |= {f"{name}.in_proj_weight": np.zeros((6, 2)), f"{name}.out_proj.weight": np.zeros((2, 2))}
    >>> p |= {f"norm{number}.weight": np.ones(2) for number in (1, 2, 3)}
    >>> x = pn.nested_array([[[1.0, 3.0]], [[5.0, 2.0], [0.0, 8.0]]], layout=pn.jagged)
    >>> pn.transformer_decoder_layer(x, x, p, 1, layer_norm_eps=0.0).unbind()
    (array([[-1.,  1.]]), array([[ 1., -1.],
           [-1.,  1.]]))
    """
    op = "transformer_decoder_layer"
    check_flags(op, tgt_is_causal=tgt_is_causal, memory_is_causal=memory_is_causal, norm_first=norm_first)
    rows, memory_rows = checked_rows(op, tgt=tgt, memory=memory)
    width, memory_width = row_width(rows), row_width(memory_rows)
    if memory_width != width:
        error_class = StructureError if type(memory_rows) is NestedArray else ShapeError
        raise error_class(
            f"{op}: rows of memory have {memory_width} elements, and those of tgt {width}; the sizes must be equal."
        )
    attentions = {
        "self_attn": (None, tgt_mask, tgt_is_causal),
        "multihead_attn": (memory_rows, memory_mask, memory_is_causal),
    }
    result: Rows = _run_layer(
        op, rows, attentions, parameters, num_heads, norm_first, activation, dropout_p, layer_norm_eps, generator
    )
    return result


def _run_layer(
    op: str, x: Any, attentions: dict[str, tuple[Any, Any, bool]], parameters: Any, num_heads: int, norm_first: bool,
    activation: Any, dropout_p: float, eps: float, generator: np.random.Generator | None,
) -> Any:  # fmt: skip
    """Return the rows after all steps: the attentions, and then the feed-forward network.

    ``attentions`` has three arguments for each attention: the memory, None for self-attention; the mask; ``is_causal``.
    """
    if not isinstance(activation, str) or activation not in ACTIVATIONS:
        raise ArgumentError(f"{op}: activation must be 'relu' or 'gelu', not {activation!r}.")
    canonical_generator(op, generator)
    arrays = _checked_parameters(op, parameters, [*attentions], row_width(x))
    memories_and_masks = [operand for memory, mask, _ in attentions.values() for operand in (memory, mask)]
    check_devices(op, [x, *memories_and_masks, *arrays.values()])

    def weight_and_bias(prefix: str) -> tuple[Any, Any]:
        return arrays[f"{prefix}weight"], arrays.get(f"{prefix}bias")

    def drop(y: Any) -> Any:
        return dropout(y, dropout_p, generator=generator) if dropout_p else y

    def attend(name: str, y: Any) -> Any:
        memory, mask, is_causal = attentions[name]
        memory = y if memory is None else memory
        projection, out = weight_and_bias(f"{name}.in_proj_"), weight_and_bias(f"{name}.out_proj.")
        return multi_head_attention(
            y, memory, memory, num_heads, *projection, *out, mask, dropout_p, is_causal, generator=generator
        )

    def feed_forward(y: Any) -> Any:
        hidden = ACTIVATIONS[activation](linear(y, *weight_and_bias("linear1.")))
        return linear(drop(hidden), *weight_and_bias("linear2."))

    steps: list[Callable[[Any], Any]] = [*[partial(attend, name) for name in attentions], feed_forward]
    for number, step in enumerate(steps, 1):
        scale, shift = weight_and_bias(f"norm{number}.")
        normalize = partial(layer_norm, normalized_shape=np.shape(scale), weight=scale, bias=shift, eps=eps)
        x = x + drop(step(normalize(x))) if norm_first else normalize(x + drop(step(x)))
    return x


def _checked_parameters(op: str, parameters: Any, attention_names: list[str], width: int) -> dict[str, Any]:
    """Return the parameters that are not None; raise unless they are complete and fit rows of ``width`` elements."""
    if not isinstance(parameters, Mapping):
        raise ArgumentError(f"{op}: parameters must be a mapping of names to arrays, not {type(parameters).__name__}.")
    present = {name: as_operand(op, value) for name, value in parameters.items() if value is not None}
    hidden_width = (*np.shape(present.get("linear1.weight", ())), 0)[0]
    shapes: dict[str, tuple[int, ...]] = {}
    for name in attention_names:
        shapes |= {f"{name}.in_proj_weight": (3 * width, width), f"{name}.out_proj.weight": (width, width)}
    shapes |= {"linear1.weight": (hidden_width, width), "linear2.weight": (width, hidden_width)}
    shapes |= {f"norm{number}.weight": (width,) for number in range(1, len(attention_names) + 2)}
    shapes |= {name.replace("weight", "bias"): shape[:1] for name, shape in shapes.items()}
    missing = [name for name in shapes if name.endswith("weight") and name not in present]
    unknown = [name for name in parameters if name not in shapes]
    if missing or unknown:
        problem = f"lack {', '.join(missing)}" if missing else f"have {', '.join(map(str, unknown))}, which is unknown"
        raise ArgumentError(f"{op}: the parameters {problem}. The names are {', '.join(shapes)}.")
    for name, value in present.items():
        check_shape(op, name, value, shapes[name])
    return present
