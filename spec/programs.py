"""Programs: a few calls one after the other, for what no call shows on its own.

A vector of an operator says what one call returns. That a write through a view is seen in what it is a view of, that
two backward passes add up, or that nobody remembers a sum of before the write: each takes several calls. A program is
data, like every other vector:

    {"id": "write/float32/column/1", "layouts": ["strided", "jagged"],
     "inputs": {"x": {"nested": ...}}, "tracked": [],
     "steps": [{"op": "select", "args": [{"name": "x"}, {"int": "2"}, {"int": "0"}], "out": "v"},
               {"op": "fill_", "args": [{"name": "v"}, {"float": "7.0"}]},
               {"op": "value", "args": [{"name": "x"}], "clauses": ["WRITE-3"], "expect": {"nested": ...}}]}

Every array is an input or the result of a step, and has a name; all other arguments are written out. The inputs in
`tracked` require grad. A step is one of four things:

    an operator    of the operator table, whose result, or list of results, gets the name or the names in `out`
    a deed         of `WRITES`, which writes into an array, or of `OF_TAPE`, which has to do with gradients
    a creation     of `CREATION`, which makes a new array, or seeds the random numbers that are drawn from then on
    a question     of `QUESTIONS`, which is answered

What is due at a step stands beside it, with the clauses that it shows:

    expect         a question: the answer
    open           a question whose answer nobody is held to
    refuse         the kind of error with which the step is refused. It changes nothing, and the program goes on
    may_refuse     the kind of error with which it may be refused. If it is, the program ends there, and is right

All other steps have to succeed.

Whether two arrays share memory is never asked for. It is seen by a write: fill the one, look at the other. So an
implementation answers in terms of values, and nobody has to say what an address is in its language.

The expectations are what the definitions give, in a memory that is as simple as can be: see `memory`. How a program is
run by an implementation, `pynested.conformance` knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .encoding import decode_value
from .forms import EXPECT, NUMBERS, OPERANDS, PLAIN, SCALARS, TEXT, fit_jagged, forms, identifier, some
from .grammar import Both, Malformed

__all__ = [
    "CREATION",
    "DENSE",
    "FOLDER",
    "FORMAT",
    "OF_TAPE",
    "PARTS",
    "PROGRAM",
    "QUESTIONS",
    "WRITES",
    "Program",
    "Step",
    "names_in",
    "operator_of",
    "outs",
    "resolved",
]

FORMAT = "pynested-programs/1"
FOLDER = "programs"  # the folder of vectors in which these are
Program = Mapping[str, Any]
Step = Mapping[str, Any]

# What a step takes that is no operator of the table: how many arguments.
WRITES: Mapping[str, int] = {
    "setitem": 3,  # x[index] = value
    "copy_": 2,  # the elements of the second argument, which broadcasts, into the first
    "fill_": 2,  # a number into every element
    "add_": 2,  # these: what the operator of that name gives, into its first operand
    "sub_": 2,
    "mul_": 2,
    "neg_": 1,
    "relu_": 1,
    "masked_fill_": 3,
}
OF_TAPE: Mapping[str, int] = {
    "backward": 2,  # pull a cotangent back from a result; retain_graph=True keeps what the pass needed
    "grad": 1,  # the gradient that an array has collected, as `out`; zeros where it has none
    "vjp": 3,  # what a cotangent, the third, is when it comes from a result to an array, as `out`; it is recorded
    "jvp": 3,  # how a result moves where an input, the second, moves along the third, as `out`; before any write
    "retain_grad": 1,  # let a result collect its gradient, as leaves do
    "hook": 2,  # multiply what flows back to an array by a number
}
CREATION: Mapping[str, int] = {
    "zeros_like": 1,  # these: an array of the shape of another one
    "ones_like": 1,
    "full_like": 2,
    "empty_like": 1,
    "rand_like": 1,
    "randn_like": 1,
    "randint_like": 3,  # low, high
    "rand": 1,  # these: a dense array of a shape
    "randn": 1,
    "randint": 3,  # low, high, shape
    "to_dense": 1,  # the components of a nested array as one dense array
    "manual_seed": 1,  # makes nothing
}
DENSE = ("rand", "randn", "randint")  # creations that are like no other array
QUESTIONS: Mapping[str, int] = {
    "value": 1,
    "len": 1,
    "dim": 1,
    "size": 2,  # along a dimension
    "numel": 1,
    "requires_grad": 1,
    "is_contiguous": 1,
    "values": 1,  # these: of an array whose components follow one another without gaps
    "offsets": 1,
    "lengths": 1,  # of the jagged layout
    "component_sizes": 1,
    "component_strides": 1,  # of the strided layout
}
PARTS = ("values", "offsets", "lengths", "component_sizes", "component_strides")  # their answer is an array
_NUMBERS = {**WRITES, **OF_TAPE, **CREATION, **QUESTIONS}
_IN_PLACE = tuple(WRITES)[3:]


def operator_of(op: str) -> str:
    """Return the operator of the table that a step needs, or nothing.

    >>> operator_of("add_"), operator_of("select"), operator_of("setitem"), operator_of("value")
    ('add', 'select', 'getitem', '')
    """
    if op in _NUMBERS:
        return op[:-1] if op in _IN_PLACE else {"setitem": "getitem"}.get(op, "")
    return op


def outs(step: Step) -> list[str]:
    """Return the names that a step gives to what it makes."""
    out = step.get("out", [])
    return [out] if isinstance(out, str) else list(out)


def names_in(step: Step) -> list[str]:
    """Return the names of the arrays that a step needs."""
    return [name for value in (*step["args"], *step.get("kwargs", {}).values()) for name in _names(value)]


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, dict) and "name" in value:
        yield value["name"]
    elif isinstance(value, dict) and "list" in value:
        for one in value["list"]:
            yield from _names(one)


def resolved(value: Any, names: Mapping[str, Any], plain: Callable[[Any], Any]) -> Any:
    """Return an argument of a step: the array of that name, a list of these, or what ``plain`` makes of a value."""
    if isinstance(value, dict) and "name" in value:
        return names[value["name"]]
    if isinstance(value, dict) and "list" in value:
        return [resolved(one, names, plain) for one in value["list"]]
    return plain(decode_value(value))


# --- the form of a program


def _name(value: str) -> None:
    if not value.isidentifier():
        raise ValueError(f"a name is like 'x'; got {value[:40]!r}")


def _one_due(step: Step) -> None:
    """Hold what is due at a step against what kind of step it is."""
    due = [name for name in ("expect", "open", "refuse", "may_refuse") if name in step]
    if len(due) > 1 or bool(due) != ("clauses" in step):
        raise ValueError("a step at which something is due, and no other, names clauses, and one thing is due")
    of_question, of_call = set(due) & {"expect", "open"}, set(due) & {"may_refuse"}
    if of_call if step["op"] in QUESTIONS else of_question:
        raise ValueError("questions, and nothing else, expect an answer or leave it open")
    if step["op"] in QUESTIONS and not due:
        raise ValueError("a question says what the answer is to be")
    if step["op"] in _NUMBERS and len(step["args"]) != _NUMBERS[step["op"]]:
        raise Malformed("args", f"{step['op']} takes {_NUMBERS[step['op']]}, got {len(step['args'])}")
    if (step["op"] in WRITES or step["op"] in QUESTIONS) and "out" in step:
        raise Malformed("out", f"{step['op']} makes nothing that could get a name")


_NAMED = {"name": Both(str, _name)}
_ARGUMENT = (*SCALARS, [(*SCALARS, forms(NUMBERS))], forms(PLAIN | {"name": _NAMED["name"], "list": [forms(_NAMED)]}))
_STEP = {
    "op": TEXT,
    "args": [_ARGUMENT],
    "kwargs?": {"*": _ARGUMENT},
    "out?": (_NAMED["name"], [_NAMED["name"]]),
    "clauses?": Both([TEXT], some),
    "expect?": EXPECT,
    "open?": bool,
    "refuse?": TEXT,
    "may_refuse?": TEXT,
}
_FIELDS = {
    "id": Both(str, identifier),
    "layouts": Both([{"jagged", "strided"}], some),
    "placements?": Both([{"packed", "holes", "transposed"}], some),
    "inputs": {"*": forms(OPERANDS)},
    "tracked": [_NAMED["name"]],
    "steps": Both([Both(_STEP, _one_due)], some),
}


def _consistent(program: Program) -> None:
    """Refuse names that nothing has, or two things."""
    known, written = set(program["inputs"]), False
    if lost := set(program["tracked"]) - known:
        raise Malformed("tracked", f"{sorted(lost)} are no inputs")
    for number, step in enumerate(program["steps"]):
        if lost := set(names_in(step)) - known:
            raise Malformed(f"steps[{number}]", f"nothing is called {sorted(lost)}")
        written |= step["op"] in WRITES
        if written and step["op"] == "jvp":
            raise Malformed(f"steps[{number}]", "calls are made again to see what moves, and there was a write before")
        made = [] if "refuse" in step else outs(step)
        if len(set(made)) < len(made) or known & set(made):
            raise Malformed(f"steps[{number}].out", f"{made} is the name of something else")
        known |= set(made)
    if "jagged" in program["layouts"]:
        fit_jagged(list(program["inputs"].values()))


PROGRAM = Both(_FIELDS, _consistent)
