"""The chapter *normalization*: softmax and layer norm; and dropout, from `pynested.operators.dropout`."""

from ..dropout import dropout
from .layer_norm import layer_norm
from .softmax import log_softmax, softmax, softmin

__all__ = ["dropout", "layer_norm", "log_softmax", "softmax", "softmin"]
