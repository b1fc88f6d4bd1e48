"""The conformance kit: hold any implementation against the specification, and explain what differs.

A call goes down this list, and what came of it comes up again:

- `corpus`: the vectors, whose forms were checked as they were read
- `placements`: where components lie in memory; `arranging`: which of them a case is asked in
- `runner`: every case, layout and placement as a request; `conform`: a whole run, which may break off;
  `forks`: processes that share it; `progress`: how far it is
- `messages`: what an adapter is told, and that it is told no more than the call
- `session`: who answers. `capabilities`: what an adapter says that it can do, beyond which nothing is sent
- `adapters`: pynested in this process; PyTorch, awkward, TensorFlow and the definitions themselves (`law`) in a child
  process; and what they share. `spelling`: operators in the words of a library
- `child`: an adapter in a child process. What is under way, who is to blame for a crash, when it is given up
- `wire`: all that goes between runner and adapter, for people; `smoke`: a few calls that help the author of an adapter
- `process`: one such process, and that nothing of it is left; `pipes`: its lines, as many as are asked for
- `replies`: the one door through which answers come in. What is no reply is *garbled*, which is a reply like others
- `judge`: a reply against its expectation; `literals` and `snippets`: the call in words and as code to paste
- `programs`: several calls in one request, each step held to the same judge; `program_snippets`: these as code
- `blame`: the clause that a difference breaks; `kinds`: how serious it is; `roots`: which have one cause
- `records`: what a run leaves behind; `report`, `checked` and `differences`: the views, made from the records
- `explain`: a clause and its witnesses
- `holding`: one Python function as a target, `check(function, "softmax")`; `in_process`: how it is called

Three things hold everywhere. A difference is found by `judge` and by nobody else, and nothing else makes the command
end with 1; `problems` has the other ends, and `signals` those that come from outside. No reply, and no silence, ends a
run. Text of strangers is `printable` before it is kept or shown.
"""

from .holding import Checked, Disagreement, check

__all__ = ["Checked", "Disagreement", "check"]
