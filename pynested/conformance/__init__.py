"""The conformance kit: hold any implementation of nested arrays against the specification, and explain what differs.

- `corpus`: the vectors, read and counted; `placements`: where components lie in memory
- `messages`: what an adapter is told; `adapters`: pynested in process, PyTorch in a child process
- `session`: an adapter in this process; `child`: any program that speaks the protocol, and that may crash
- `runner`: every case, layout and placement; `judge`: an answer against its expectation
- `records`: what a run leaves behind; `report` and `differences`: the views, made from the records
- `literals` and `snippets`: a call in words and as code to paste; `explain`: a clause and its witnesses
"""
