"""The tape as text."""

from __future__ import annotations

import pynested as pn
from pynested.autograd import grad, tape

EXPECTED = """\
#  rule    output          from
x  leaf    float64 (3, 2)
w  leaf    float64 (2,)
1  mul     float64 (3, 2)  x, w
2  unbind  3 parts         1
3  part 0  float64 (2,)    2
4  part 1  float64 (2,)    2
y  tanh    float64 (2,)    4
6  mul     float64 (2,)    3, y
7  add     float64 (2,)    6, const
8  sum     float64 ()      7"""


def example() -> tuple[pn.Array, dict[str, pn.Array]]:
    x = pn.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True)
    w = pn.array([0.5, 1.5], requires_grad=True)
    a, b, _ = (x * w).unbind()
    y = b.tanh()
    return (a * y + 2.0).sum(), {"x": x, "w": w, "y": y}


def test_text() -> None:
    z, names = example()
    assert str(tape(z, **names)) == repr(tape(z, **names)) == EXPECTED
    assert len(tape(z)) == 10


def test_leaves_without_names_are_numbered() -> None:
    z, _ = example()
    assert [line.split()[0] for line in str(tape(z)).splitlines()] == ["#", "x0", "x1", *"12345678"]


def test_constants_leaves_and_containers() -> None:
    x = pn.array(1.0, requires_grad=True)
    assert str(tape(pn.array(1.0))) == "#  rule  output  from"
    assert "leaf" in str(tape(x))
    assert len(tape({"a": x * 2, "b": [x.sin()]})) == 3
    nested = pn.nested_array([[1.0], [2.0, 3.0]], layout=pn.jagged, requires_grad=True)
    assert "nt  leaf  float64 (3,)" in str(tape(nested.sin(), nt=nested))


def test_second_order_is_shown_too() -> None:
    x = pn.array(2.0, requires_grad=True)
    slope = grad(x * x * x, x, create_graph=True)
    assert "mul" in str(tape(slope, x=x))
