"""The snippet about somebody's own function calls that function, and prints what was reported of it."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError
from pynested.conformance import Disagreement, check
from pynested.conformance.corpus import load_corpus
from pynested.conformance.differences import causes, in_full
from pynested.conformance.records import Run

FLOAT = r"-?(?:\d+\.?\d*(?:e[+-]?\d+)?|inf|nan)"


def relu(xs: Any) -> Any:
    return [np.maximum(x, 0) for x in xs] if isinstance(xs, list) else np.maximum(xs, 0)


def negative(xs: Any) -> Any:
    """Instead of relu."""
    return [-x for x in xs] if isinstance(xs, list) else -xs


def sloppy(xs: Any) -> Any:
    """Right where memory is contiguous; the numbers of a transposed component come in another order."""
    return [np.maximum(x.ravel("K").reshape(x.shape), 0) for x in xs]


def narrow(xs: Any) -> Any:
    return [np.maximum(x, 0).astype(np.float16) for x in xs]


def refusing(xs: Any) -> Any:
    raise ZeroDivisionError("not today")


def pulled(cotangent: Any, xs: Any) -> Any:
    """Twice the gradient of relu."""
    if isinstance(xs, list):
        return [[2 * g * (x > 0) for g, x in zip(cotangent, xs, strict=True)]]
    return [2 * cotangent * (xs > 0)]


def joined(arrays: Any, dim: int = 0) -> Any:
    """Instead of cat along 1: the operands in reverse order."""
    return [np.concatenate(parts[::-1], 0) for parts in zip(*arrays, strict=True)]


def taken(x: Any, where: Any) -> Any:
    """Instead of an index."""
    return [one + 1 for one in x]


def cubed(x: Any, *, dtype: Any = None) -> Any:
    """Instead of square, of arrays of pynested."""
    return x * x * x


class Mine:
    def __init__(self, parts: Any) -> None:
        self.parts = parts


def parts(x: Mine) -> Any:
    return x.parts


def negated(x: Mine) -> Mine:
    return Mine(negative(x.parts))


CHECKED: list[tuple[Callable[..., Any], str, dict[str, Any]]] = [
    (negative, "relu", {"arrays": "numpy", "match": "relu/float32/*"}),
    (sloppy, "relu", {"arrays": "numpy", "match": "relu/float32/ragged/*"}),
    (narrow, "relu", {"arrays": "numpy", "match": "relu/float32/ragged/*"}),
    (refusing, "relu", {"arrays": "numpy", "match": "relu/float32/ragged/*"}),
    (relu, "relu", {"arrays": "numpy", "match": "relu/float32/*", "vjp": pulled}),
    (relu, "relu", {"arrays": "numpy", "match": "relu/error/*"}),
    (joined, "cat", {"arrays": "numpy", "match": "cat/float32/*"}),
    (taken, "getitem", {"arrays": "numpy", "match": "getitem/float32/*"}),
    (negated, "relu", {"arrays": (Mine, parts), "match": "relu/float32/ragged/*"}),
    (cubed, "square", {"match": "square/float32/*"}),
]


def reported(function: Any, op: str, how: Any) -> Run:
    with pytest.raises(Disagreement) as caught:
        check(function, op, **how)
    return caught.value.checked.run


def pasted(code: str) -> tuple[str, str]:
    """Return what a snippet prints where the functions of this module are imported, and the error that it ends with."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            exec(code, dict(globals()))
        except Exception as error:
            return printed.getvalue(), f"{type(error).__name__}: {error}"
    return printed.getvalue(), ""


def assert_shown(finding: Any) -> None:
    """Fail where a snippet does not print what came and what was expected."""
    printed, error = pasted(finding["snippet"])
    assert " ".join(finding["want"].split()) in " ".join(printed.split()).replace("expected: ", "")
    came = printed.partition("got:")[2]
    if finding["verdict"] == "refused":
        assert error == finding["got"]
    elif finding["verdict"] == "value":
        recorded, numbers = float(finding["got"].split()[0]), [float(one) for one in re.findall(FLOAT, came)]
        assert not error and np.isclose(recorded, numbers, rtol=1e-6, equal_nan=True).any()
    elif count := re.match(r"(\d+) components", finding["got"]):
        assert not error and len(re.findall(r"\('\w+', \(", came)) == int(count[1])
    else:
        words = re.findall(r"bool|u?int\d+|float\d+|\([\d, ]*\)", finding["got"])
        assert not error and words and all(word in came for word in words)


@pytest.mark.parametrize(("function", "op", "how"), CHECKED, ids=map(str, range(len(CHECKED))))
def test_a_snippet_prints_what_was_reported(function: Any, op: str, how: Any) -> None:
    run = reported(function, op, how)
    findings = [one for result in run.results for one in result["findings"] if "snippet" in one]
    assert findings
    for finding in findings:
        assert f"out = {'parts(' * (function is negated)}{function.__name__}(" in finding["snippet"]
        assert f"pn.{op}(" not in finding["snippet"]
        assert_shown(finding)
    for cause in causes(run):  # as the report shows it, with its lines broken
        shown = list(in_full(cause, "mine"))
        code = [line[12:] for line in shown[next(number for number, line in enumerate(shown) if "  paste" in line) :]]
        assert_shown({**cause.example[1], "snippet": "\n".join(code)})


def test_an_adapter_in_another_language_is_called_by_the_name_of_the_operator(
    run: Callable[..., Run], miniature: Any
) -> None:
    findings = [one for result in run("DropsRow").results for one in result["findings"] if "snippet" in one]
    assert findings
    for finding in findings:
        assert "\nout = sum(x, 1)\n" in finding["snippet"] and "pynested" not in finding["snippet"]
        assert "\nx = [np.array(" in finding["snippet"] or "as_strided(" in finding["snippet"]


@pytest.mark.parametrize(
    ("function", "op", "said"),
    [
        (lambda x: x, "softmax", "<lambda> takes no `dim`, so that no call of softmax can be made"),
        (lambda: 0, "relu", "<lambda> takes no `self`, so that no call of relu can be made"),
        (lambda x, y: x, "relu", "missing a required argument: 'y', so that no call of relu can be made"),
    ],
    ids=["dim", "self", "y"],
)
@pytest.mark.parametrize("arrays", ["numpy", "pynested"])
def test_a_function_that_cannot_be_called_gets_one_sentence(function: Any, op: str, said: str, arrays: str) -> None:
    with pytest.raises(ArgumentError, match=re.escape(said)) as caught:
        check(function, op, arrays=arrays)
    assert "\n" not in str(caught.value)


def test_a_call_with_a_parameter_that_a_function_lacks_is_no_difference_and_no_credit() -> None:
    done = check(lambda x, dim: pn.softmax(x, dim), "softmax")
    asks = {case.id for case in load_corpus().cases if "dtype" in case.kwargs}
    verdicts = {verdict for one in done.run.results if one["id"] in asks for verdict in one["parts"].values()}
    assert verdicts <= {"missing", "unreached"} and "missing" in verdicts
    said = {finding["got"] for one in done.run.results if one["id"] in asks for finding in one["findings"]}
    assert said == {"NotImplementedError: not called: <lambda> takes no `dtype`"}
