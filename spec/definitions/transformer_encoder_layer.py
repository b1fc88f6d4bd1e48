"""The definition of `transformer_encoder_layer`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pynested.spec.components import each
from pynested.spec.numerics import wide

from .dropout import dropout
from .gelu import gelu
from .layer_norm import layer_norm
from .linear import linear
from .multi_head_attention import multi_head_attention
from .relu import relu


def transformer_encoder_layer(
    src: Any,
    parameters: Mapping[str, Any],
    num_heads: int,
    src_mask: Any = None,
    is_causal: bool = False,
    norm_first: bool = False,
    activation: str = "relu",
    dropout_p: float = 0.0,
    layer_norm_eps: float = 1e-5,
    generator: Any = None,
) -> Any:
    """TRANSFORMER_ENCODER_LAYER: rows take from those of their component, and then each goes on by itself."""
    layer = Layer(parameters, num_heads, activation, dropout_p, layer_norm_eps, generator)

    def met(x: Any) -> Any:
        return layer.attended("self_attn", x, x, src_mask, is_causal)

    return layer.run(src, [met, layer.onwards], norm_first)


def plus(x: Any, y: Any) -> Any:
    """The sum of rows and rows."""
    return each(lambda a, b: wide(a) + wide(b), x, y)


class Layer(NamedTuple):
    """What the parts of a layer are computed with."""

    parameters: Mapping[str, Any]
    num_heads: int
    activation: str
    dropout_p: float
    eps: float
    generator: Any

    def run(self, x: Any, steps: Sequence[Callable[[Any], Any]], norm_first: bool) -> Any:
        """What each step makes of rows is added to them, with a norm before the step or after the sum."""
        for number, step in enumerate(steps, 1):
            x = plus(x, step(self.normed(number, x))) if norm_first else self.normed(number, plus(x, step(x)))
        return x

    def attended(self, name: str, x: Any, memory: Any, mask: Any, is_causal: bool) -> Any:
        """What rows take from those of the memory."""
        of_inputs, of_outputs = self.pair(f"{name}.in_proj_"), self.pair(f"{name}.out_proj.")
        options = {"dropout_p": self.dropout_p, "is_causal": is_causal, "generator": self.generator}
        heads = self.num_heads, *of_inputs, *of_outputs, mask
        return self.dropped(multi_head_attention(x, memory, memory, *heads, **options))

    def onwards(self, x: Any) -> Any:
        """What becomes of each row by itself."""
        hidden = linear(x, *self.pair("linear1."))
        active = relu(hidden) if self.activation == "relu" else gelu(hidden)
        return self.dropped(linear(self.dropped(active), *self.pair("linear2.")))

    def normed(self, number: int, x: Any) -> Any:
        """Rows less their mean, divided by their deviation, and then scaled and shifted."""
        weight, bias = self.pair(f"norm{number}.")
        return layer_norm(x, weight.shape, weight, bias, self.eps)

    def dropped(self, x: Any) -> Any:
        """Some numbers multiplied by 0, and the others made so much larger."""
        return dropout(x, self.dropout_p, generator=self.generator) if self.dropout_p else x

    def pair(self, start: str) -> tuple[Any, Any]:
        """The weight and, if there is one, the bias whose names begin so."""
        return self.parameters[f"{start}weight"], self.parameters.get(f"{start}bias")
