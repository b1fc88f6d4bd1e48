"""Functions as graphs: what `pynested.trace` records, and what `pynested.compile` makes of it.

A reader walks through it in this order:

    nodes       what a graph is made of: a node is one public call, a value is what a call gives
    forms       arguments and results, in which values stand for what differs from replay to replay
    recorder    a function runs while each of its public calls passes by, and becomes a node
    sizes       what ``x.shape`` gives meanwhile: numbers that know where they come from
    places      arrays that the function finds by itself, and where they are found again
    refusals    what a graph cannot hold, and what to do instead
    undoing     recording leaves no trace: what the function wrote is put back
    tracing     `trace`, and the `Graph` that it gives
    replay      a graph as one Python function
    text        a graph as text that reads like the function
    drawing     a graph as a picture
    passes/     each makes a graph of a graph: the same results, with less work
    chains/     several elementwise operators as one call, block by block
    compiling   `compile`: a graph for each signature, which is looked up at each call
"""
