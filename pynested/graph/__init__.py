"""Functions as graphs: what `pynested.trace` records, and what `pynested.compile` makes of it.

Read in this order:

    inputs             trees of arguments, their signatures, and the variables that a function uses
    nodes              a graph: a node is one call, a value is one of its results; replays
    traced_values      the stand-ins of arrays and sizes that a function runs on while it is recorded
    unsupported        what a graph cannot hold, and what to do instead
    recorder           one run of a function, of which each call becomes a node
    traced_function    `trace` and `Graph`
    graph_display      a graph as text and as a picture
    compiled_function  `compile`: a graph for each signature

    chain_fusion       the pass that makes one node of a chain of elementwise operators
    fusible_ops        the operators of chains, as expressions of lazy arrays
    fused_chain        a chain forwards and backwards, and its node on the tape
    block_program      a chain on the CPU, block by block
    cuda_program       a chain on a device, as one kernel
"""
