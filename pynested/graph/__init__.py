"""Functions as graphs: what `pynested.trace` records, and what `pynested.compile` makes of it.

Read in this order:

    value_trees        arguments and results, in which a `Value` stands for each array
    assumptions        what a graph holds for: signatures of arguments, and captured arrays and numbers
    nodes              a graph: a node is one call, a value is one of its results; replays
    traced_values      the stand-ins of arrays and sizes that a function runs on while it is recorded
    unsupported        what a graph cannot hold, and what to do instead
    recorder           one run of a function, of which each call becomes a node
    traced_function    `trace` and `Graph`
    graph_display      a graph as text and as a picture
    compiled_function  `compile`: a graph for each signature

    chain_fusion       the pass that makes one node of a chain of elementwise operators
    fusible_ops        the operators of chains
    fused_chain        a chain forwards and backwards, and its node on the tape
    lazy_array         arrays that record what is computed with them
    block_program      a chain on the CPU, block by block
    cuda_program       a chain on a device, as one kernel
"""
