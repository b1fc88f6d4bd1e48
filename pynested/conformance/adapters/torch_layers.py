"""The layers of a transformer as PyTorch has them: modules, which are given their parameters in the call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def transformer_encoder_layer(
    src: Any, parameters: Mapping[str, Any], num_heads: int, src_mask: Any = None, is_causal: bool = False, **kinds: Any
) -> Any:
    """`torch.nn.TransformerEncoderLayer` of rows, with these parameters."""
    given = {"src_mask": _mask(src_mask, is_causal, src, src), "is_causal": is_causal}
    return _called("TransformerEncoderLayer", (src,), parameters, num_heads, given, **kinds)


def transformer_decoder_layer(
    tgt: Any,
    memory: Any,
    parameters: Mapping[str, Any],
    num_heads: int,
    tgt_mask: Any = None,
    memory_mask: Any = None,
    tgt_is_causal: bool = False,
    memory_is_causal: bool = False,
    **kinds: Any,
) -> Any:
    """`torch.nn.TransformerDecoderLayer` of rows and a memory, with these parameters."""
    given = {
        "tgt_mask": _mask(tgt_mask, tgt_is_causal, tgt, tgt),
        "memory_mask": _mask(memory_mask, memory_is_causal, tgt, memory),
        "tgt_is_causal": tgt_is_causal,
        "memory_is_causal": memory_is_causal,
    }
    return _called("TransformerDecoderLayer", (tgt, memory), parameters, num_heads, given, **kinds)


LAYERS = {one.__name__: one for one in (transformer_encoder_layer, transformer_decoder_layer)}


def _mask(mask: Any, is_causal: bool, rows: Any, keys: Any) -> Any:
    """Return a mask as PyTorch's modules want it: true where a key takes no part, and there where it is causal."""
    import torch

    if is_causal and rows.is_nested:
        raise NotImplementedError("PyTorch wants the mask of is_causal beside it, and has none for nested tensors")
    if is_causal:
        return torch.ones(rows.shape[-2], keys.shape[-2], dtype=torch.bool, device=rows.device).triu(1)
    if mask is None or rows.is_nested:
        return mask
    whole = mask.reshape(mask.shape[-2:]).expand(rows.shape[-2], keys.shape[-2])
    return ~whole if mask.dtype == torch.bool else whole


def _called(
    kind: str,
    rows: tuple[Any, ...],
    parameters: Mapping[str, Any],
    num_heads: int,
    given: Mapping[str, Any],
    norm_first: bool = False,
    activation: str = "relu",
    dropout_p: float = 0.0,
    layer_norm_eps: float = 1e-5,
) -> Any:
    """Call a module with parameters in the place of its own, as one that is evaluated, unless something is dropped.

    A module has a bias everywhere or nowhere: one that is not given is 0.
    """
    import torch

    biased = any(name.endswith("bias") for name in parameters)
    module = getattr(torch.nn, kind)(
        *(parameters["norm1.weight"].shape[0], num_heads, parameters["linear1.weight"].shape[0], dropout_p, activation),
        layer_norm_eps=layer_norm_eps,
        batch_first=True,
        norm_first=norm_first,
        bias=biased,
        device="meta",
    ).train(dropout_p > 0)
    like = parameters["norm1.weight"]
    zeros = {name: like.new_zeros(one.shape) for name, one in module.named_parameters() if name.endswith("bias")}
    return torch.func.functional_call(module, zeros | dict(parameters), rows, dict(given), strict=True)
