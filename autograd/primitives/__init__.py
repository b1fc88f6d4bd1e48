"""The differentiable functions of dense arrays, one module per family of kernels."""
