"""A dense differentiable array, the tape that records its operations, and the derivatives computed from the tape."""

if __name__ != "pynested.autograd":
    raise ImportError(
        f"{__file__} is pynested.autograd, not a top-level package 'autograd'; Python found it because the repository "
        f"root is on sys.path. Import it as pynested.autograd."
    )

from .array import Array
from .backward import backward, grad
from .checkpoint import checkpoint
from .containers import flatten, register_container
from .creation import arange, array, empty, full, ones, zeros
from .default_device_and_dtype import get_default_device, get_default_dtype, set_default_device, set_default_dtype
from .dlpack import from_dlpack
from .function import Function
from .functional import hessian, hvp, jacobian, jvp, vjp
from .gradcheck import gradcheck
from .modes import anomaly, enable_grad, is_grad_enabled, no_grad
from .random import manual_seed, rand, randint, randn
from .tape_text import tape

__all__ = [
    "Array", "Function", "anomaly", "arange", "array", "backward", "checkpoint", "empty", "enable_grad", "flatten",
    "from_dlpack", "full", "get_default_device", "get_default_dtype", "grad", "gradcheck", "hessian", "hvp",
    "is_grad_enabled", "jacobian", "jvp", "manual_seed", "no_grad", "ones", "rand", "randint", "randn",
    "register_container", "set_default_device", "set_default_dtype", "tape", "vjp", "zeros",
]  # fmt: skip
