"""Calls of constructors, tampering and threads as programs."""

from __future__ import annotations

from ..draw.tampering import Tampering
from ..draw.threads import Threads
from ..judge import Difference
from ..judge.structures import TEXTS
from ..plan import Call
from . import program
from .chains import call as call_text


def structure(call: Call, difference: Difference, device: str = "cpu") -> str:
    """One call of a constructor, or of an operator on an array that has a name."""
    if not isinstance(call.args[0], str) or call.args[0] not in TEXTS:
        return program([f"print({call_text(call)})"], difference)
    made = f"{call.args[0]} = {TEXTS[call.args[0]]}"
    spelling = "infix" if call.op == "getitem" else "function"
    named = Call(call.op, (Named(call.args[0]), *call.args[1:]), call.kwargs, spelling)
    return program([made, f"print({call_text(named)})"], difference)


class Named(str):
    """A name that is written without quotes."""

    def __repr__(self) -> str:
        return str(self)


def tampering(plan: Tampering, difference: Difference, device: str = "cpu") -> str:
    """What is done to the array ``n``."""
    lines = [
        f"n = pn.nested_array([np.array([1.0, 2.0]), np.array([3.0])], layout=pn.{plan.base})",
        "m = pn.nested_array([np.ones((2, 2)), np.ones((3, 2)), np.ones((1, 2))], layout=pn.jagged)",
    ]
    if plan.way == "vast":
        lines = [
            f"x = pn.nested_array_from_strided(np.zeros(4), [[{plan.extent}]], [[0]])",
            f"print({plan.expression})",
        ]
    elif plan.way == "elementwise":
        lines.append(f"print(pn.elementwise('f', lambda a: {plan.expression}, n))")
    elif plan.way == "map_components":
        lines.append(f"print(pn.map_components(lambda c: {plan.expression}, n))")
    elif plan.way == "NestedArray":
        lines.append(f"print(pn.NestedArray({plan.expression}))")
    elif plan.way == "pickle":
        lines += ["import pickle", "offsets = n.structure.offsets"]
        lines.append(f"print(pickle.loads(pickle.dumps(n).replace(offsets.tobytes(), ({plan.expression}).tobytes())))")
    else:
        lines += [f"n.{'structure.' if plan.way == 'offsets' else ''}{plan.way} = {plan.expression}", "print(n)"]
    return program(lines, difference)


def threads(plan: Threads, difference: Difference, device: str = "cpu") -> str:
    """What every thread does."""
    work = {
        "checkpoint": [
            f"        x = pn.array(np.ones({plan.size}), requires_grad=True, device={device!r})",
            "        y = pn.checkpoint(lambda z: pn.dropout(z, 0.5), x)",
            "        y.sum().backward()",
            "        same = np.array_equal(x.grad.to('cpu').numpy(), y.detach().to('cpu').numpy())",
            "        print(end='' if same else 'another mask ')",
        ],
        "random": ["        print(pn.rand(1).item())"],
        "chains": [f"        ...  # chains as of python -m tests.fuzz --mode forward --seed {plan.seed}"],
    }
    lines = ["import sys", "from threading import Thread", "sys.setswitchinterval(1e-5)", "def work():"]
    lines += [f"    for _ in range({plan.repeats * 10}):", *work[plan.way]]
    lines.append(f"for one in [Thread(target=work) for _ in range({plan.count})]: one.start()")
    return program(lines, difference)
