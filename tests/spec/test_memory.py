"""The memory of programs: cells, views of them, and what a write changes; and the slopes that passes collect."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pynested.spec.components import Components
from pynested.spec.encoding import Index, encode_value
from pynested.spec.generator.programs import Chapter
from pynested.spec.generator.taped import Taped
from pynested.spec.generator.words import Inexact
from pynested.spec.memory import Machine, is_view

X = Components([np.float32([1, 2, 3]), np.float32([]), np.float32([4])])


def step(op: str, *args: Any, out: Any = None, **kwargs: Any) -> dict[str, Any]:
    found = {"op": op, "args": [{"name": one} if isinstance(one, str) else encode_value(one) for one in args]}
    found["kwargs"] = {name: encode_value(one) for name, one in kwargs.items()}
    return found if out is None else {**found, "out": out}


def run(machine: Machine, *steps: dict[str, Any]) -> Any:
    return [machine.step(one) for one in steps][-1]


def lists(answer: Any) -> Any:
    return [[float(getattr(n, "value", n)) for n in np.ravel(one)] for one in answer]


@pytest.fixture(params=["floats", "exact"])
def machine(request: pytest.FixtureRequest) -> Machine:
    return Machine({"x": X}) if request.param == "floats" else Taped({"x": X}, [])


VALUE = step("value", "x")
TAIL = Index((slice(None), slice(1, None)))


def test_a_write_through_a_view_of_a_view_reaches_the_first(machine: Machine) -> None:
    run(machine, step("getitem", "x", TAIL, out="v"), step("getitem", "v", Index((slice(0, 1),)), out="w"))
    assert lists(run(machine, step("fill_", "w", 9.0), VALUE)) == [[1, 9, 9], [], [4]]
    assert lists(run(machine, step("neg_", "x"), step("value", "v"))) == [[-9, -9], [], []]


def test_a_result_has_cells_of_its_own(machine: Machine) -> None:
    run(machine, step("add", "x", 0.0, out="y"), step("fill_", "y", 5.0))
    assert lists(run(machine, VALUE)) == [[1, 2, 3], [], [4]]
    assert lists(run(machine, step("mul_", "x", 2.0), step("value", "y"))) == [[5, 5, 5], [], [5]]


def test_what_is_written_is_read_first(machine: Machine) -> None:
    run(machine, step("getitem", "x", TAIL, out="tail"))
    run(machine, step("getitem", "x", Index((slice(0, 1), slice(0, 2))), out="head"))
    run(machine, step("getitem", "tail", Index((slice(0, 1),)), out="first"), step("copy_", "first", "head"))
    assert lists(run(machine, VALUE)) == [[1, 1, 2], [], [4]]


def test_assignment_goes_where_the_index_says_view_or_not(machine: Machine) -> None:
    assert lists(run(machine, step("setitem", "x", Index(([2, 0],)), 7.0), VALUE)) == [[7, 7, 7], [], [7]]
    assert lists(run(machine, step("setitem", "x", TAIL, 0.0), VALUE)) == [[7, 0, 0], [], [7]]


def test_questions(machine: Machine) -> None:
    asked = [
        run(machine, one) for one in (step("len", "x"), step("dim", "x"), step("numel", "x"), step("size", "x", -2))
    ]
    assert asked == [3, 2, 4, 3]
    assert run(machine, step("requires_grad", "x")) is False


@pytest.mark.parametrize(
    ("index", "view"),
    [((0,), True), ((slice(1, 2), ...), True), ((None,), True), (([0],), False), ((slice(None), [1]), False)],
)
def test_lists_are_copies(index: Any, view: bool) -> None:
    assert is_view("getitem", index) == view
    assert not is_view("add", index)


def test_a_float_is_rounded_to_the_array_it_is_written_to() -> None:
    half = Components([np.float16([1])])
    for machine in (Machine({"x": half}), Taped({"x": half}, [])):
        assert lists(run(machine, step("add_", "x", 2048.0), VALUE)) == [[2048]]  # 2049 is no float16
        assert run(machine, VALUE).dtype in (np.float16, object)


def test_a_result_that_has_to_be_rounded_is_no_result_of_a_program() -> None:
    with pytest.raises(Inexact, match="exact in float32"):
        run(Taped({"x": X}, []), step("div", "x", 3.0, out="y"))


# ---- slopes: what is expected is the derivative, worked out by hand


def gradient(*steps: dict[str, Any], tracked: str = "x", of: str = "x") -> list[list[float]]:
    machine = Taped({"x": X, "c": Components([np.float32([1, 10, 100]), np.float32([]), np.float32([5])])}, [tracked])
    run(machine, *steps)
    return lists(run(machine, step("grad", of, out="g"), step("value", "g")))


SQUARE, PASS = step("mul", "x", "x", out="y"), step("backward", "y", "c")


def test_passes_add_up() -> None:
    assert gradient(SQUARE, PASS) == [[2, 40, 600], [], [40]]
    assert gradient(SQUARE, PASS, PASS) == [[4, 80, 1200], [], [80]]
    assert gradient(SQUARE) == [[0, 0, 0], [], [0]]


def test_what_is_detached_is_a_constant() -> None:
    assert gradient(step("detach", "x", out="d"), step("mul", "x", "d", out="y"), PASS) == [[1, 20, 300], [], [20]]


def test_a_write_after_the_call_does_not_change_its_slope() -> None:
    assert gradient(SQUARE, step("detach", "x", out="d"), step("fill_", "d", 0.0), PASS) == [[2, 40, 600], [], [40]]
    before = step("detach", "x", out="d"), step("fill_", "d", 2.0)
    assert gradient(*before, SQUARE, PASS) == [[4, 40, 400], [], [20]]


def test_a_view_gives_back_to_its_places() -> None:
    steps = step("getitem", "x", TAIL, out="v"), step("mul", "v", 3.0, out="z"), step("getitem", "c", TAIL, out="t")
    assert gradient(*steps, step("backward", "z", "t")) == [[0, 30, 300], [], [0]]


def test_hooks_scale_what_flows_back_and_what_is_kept() -> None:
    twice, again = step("mul", "x", 2.0, out="a"), step("mul", "a", "a", out="y")
    hook, keep = step("hook", "a", -1.0), step("retain_grad", "a")
    assert gradient(twice, hook, again, PASS) == [[-8, -160, -2400], [], [-160]]
    for order in ((hook, keep), (keep, hook)):
        assert gradient(twice, *order, again, PASS, of="a") == [[-4, -80, -1200], [], [-80]]


def test_a_recorded_write_changes_the_slope() -> None:
    assert gradient(SQUARE, step("mul_", "y", 3.0), PASS) == [[6, 120, 1800], [], [120]]
    assert gradient(SQUARE, step("copy_", "y", "c"), PASS) == [[0, 0, 0], [], [0]]


def second(machine: Machine, *names: str) -> list[Any]:
    run(machine, step("vjp", "y", "x", "c", out="g"), step("backward", "g", "d"))
    return [lists(run(machine, step("grad", name, out=f"of_{name}"), step("value", f"of_{name}"))) for name in names]


def test_a_gradient_has_slopes_along_the_array_and_the_cotangent() -> None:
    inputs = {"x": Components([np.float32([1, 2, 3])]), "c": Components([np.float32([1, -10, 100])])}
    machine = Taped(inputs | {"d": Components([np.float32([2, 1, -1])])}, ["x", "c"])
    run(machine, SQUARE, step("mul", "y", "x", out="z"), step("vjp", "z", "x", "c", out="w"))
    assert lists(run(machine, step("value", "w"))) == [[3, -120, 2700]]  # 3 x x c
    run(machine, step("backward", "w", "d"), step("grad", "x", out="a"), step("grad", "c", out="b"))
    assert lists(run(machine, step("value", "a"))) == [[6 * 2, 12 * -10, 18 * -100]]  # 6 x c d
    assert lists(run(machine, step("value", "b"))) == [[3 * 2, 12, -27]]  # 3 x x d


def test_what_depends_on_an_array_moves_along_its_tangent() -> None:
    """3 x x v of the cube of x; of a product with what is detached one way counts, and with nothing else none."""
    inputs = {"x": Components([np.float32([1, 2, 3]), np.float32([4])]), "w": np.float32([5])}
    machine = Taped(inputs | {"v": Components([np.float32([1, -10, 100]), np.float32([2])])}, ["x"])
    run(machine, SQUARE, step("mul", "y", "x", out="z"), step("jvp", "z", "x", "v", out="t"))
    assert lists(run(machine, step("value", "t"))) == [[3, -120, 2700], [96]]
    run(machine, step("detach", "y", out="k"), step("mul", "x", "k", out="u"), step("jvp", "u", "x", "v", out="s"))
    assert lists(run(machine, step("value", "s"))) == [[1, -40, 900], [32]]  # x x v
    run(machine, step("mul", "w", "w", out="p"), step("jvp", "p", "x", "v", out="q"))
    assert lists([run(machine, step("value", "q"))]) == [[0]]
    assert lists(run(machine, step("grad", "x", out="g"), step("value", "g"))) == [[0, 0, 0], [0]]


def test_slopes_of_slopes_that_are_no_polynomials() -> None:
    """Of softmax where both numbers are equal: its Jacobian is diag(p) - p p, symmetric, with p = 1/2."""
    c, d = np.array([1.0, 6.0]), np.array([3.0, -1.0])
    given = {"x": [5, 5], "c": c, "d": d}
    machine = Taped({name: Components([np.float32(one)]) for name, one in given.items()}, ["x", "c"])
    run(machine, step("softmax", "x", 1, out="y"))
    of_x, of_c = second(machine, "x", "c")
    slope = (np.diag([0.5, 0.5]) - np.outer([0.5, 0.5], [0.5, 0.5])) @ d
    assert np.ravel(of_c).tolist() == slope.tolist()
    assert np.ravel(of_x).tolist() == [0, 0]  # with two of them the function is odd, so its second derivative is 0


def test_what_is_not_reckoned_is_said() -> None:
    inputs = {name: Components([np.float32([1, 2])]) for name in "xcd"}
    machine = Taped(inputs, ["x"])
    run(machine, SQUARE, step("vjp", "y", "x", "c", out="g"))
    with pytest.raises(Inexact, match="third"):
        machine.step(step("vjp", "g", "x", "d", out="h"))
    kept = Taped(inputs, ["x"])
    with pytest.raises(Inexact, match="results collect"):
        run(kept, SQUARE, step("retain_grad", "y"), step("vjp", "y", "x", "c", out="g"))
    for first in (step("fill_", "d", 1.0), step("detach", "x", out="e")):
        with pytest.raises(Inexact, match="after a write, or beside what is detached"):
            run(Taped(inputs, ["x"]), first, SQUARE, step("vjp", "y", "x", "c", out="g"))


def test_a_draft_computes_what_is_due_and_keeps_what_it_is_told() -> None:
    draft = Chapter("write").program("a", x=X).refuse("9", "DTypeError", "fill_", "x", 1.5).do("fill_", "x", 2.0)
    steps = draft.ask("2", "numel", "x").ask_open("2", "value", "x").vector()["steps"]
    assert steps[0]["refuse"] == "DTypeError" and steps[0]["clauses"] == ["WRITE-9"]
    assert steps[2]["expect"] == {"python": encode_value(4)} and steps[3]["open"] is True
