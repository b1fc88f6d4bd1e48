"""The kernels as raw CUDA text: on a GPU through CuPy (``"cuda"``), and on the CPU by emulation (``"emulated"``).

Nothing is compiled or asked of a driver until one of the two devices is first used.
"""
