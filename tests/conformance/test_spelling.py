"""What a library says in words of its own is one expression, for the call and for the snippet."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

from pynested.conformance.awkward_dialect import AWKWARD, lists
from pynested.conformance.corpus import load_corpus
from pynested.conformance.snippets import snippet
from pynested.conformance.spelling import Spelling, defaults
from pynested.conformance.tensorflow_dialect import TENSORFLOW
from pynested.spec.components import Components
from pynested.spec.encoding import encode_value
from pynested.spec.table import load_table

SPELLINGS = {"awkward": (AWKWARD, {"ak", "np"}), "tensorflow": (TENSORFLOW, {"tf"})}
MADE = Spelling("made up", {"sum": "np.sum(self, axis=dim, keepdims=keepdim)", "to": "np.add(self, *targets)"})


@pytest.mark.parametrize("name", SPELLINGS)
def test_expressions_are_over_the_parameters_of_their_operators(name: str) -> None:
    spelling, modules = SPELLINGS[name]
    assert len(spelling.operators) > 50
    for op in spelling.operators:
        tree = ast.parse(spelling._expressions[op], mode="eval")
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert used - modules <= set(load_table()[op].call.parameters), op
        assert used & {"self", "arrays", "values", "input", "condition", "indices"}, op


def test_a_call_takes_defaults_and_refuses_what_cannot_be_said() -> None:
    x = np.arange(6.0).reshape(2, 3)
    assert MADE.call("sum", [x], {"dim": 1}, {"np": np}).tolist() == [3.0, 12.0]
    assert MADE.call("sum", [x, 1, True], {}, {"np": np}).shape == (2, 1)
    with pytest.raises(NotImplementedError, match="made up takes no dtype"):
        MADE.call("sum", [x], {"dtype": np.dtype("int8")}, {"np": np})
    with pytest.raises(TypeError, match="too many"):
        MADE.call("sum", [x, 1, True, 2, 3], {}, {"np": np})


def test_tensorflow_has_no_padding_row() -> None:
    for args, kwargs in (((1, 2, 0), {}), ((1, 2), {"padding_idx": 0})):
        with pytest.raises(NotImplementedError, match="TensorFlow takes no padding_idx"):
            TENSORFLOW.call("embedding", args, kwargs, {})


def test_the_text_is_the_call_with_its_arguments() -> None:
    table = load_table()
    assert MADE.text(table["sum"], ["x", "dim=(0, 1)"]) == "np.sum(x, axis=(0, 1), keepdims=False)"
    assert MADE.text(table["to"], ["x", "np.int8"]) == "np.add(x, np.int8)"


@pytest.mark.parametrize("op", ["sum", "var", "softmax", "layer_norm", "flatten", "gelu", "chunk"])
def test_defaults_are_those_of_the_signature(op: str) -> None:
    operator = load_table()[op]
    found = defaults(operator)
    assert set(found) == {name for name, one in operator.call.parameters.items() if one.default is not one.empty}
    assert all(f"{name}: " in operator.signature for name in found)


def test_defaults_are_values() -> None:
    table = load_table()
    assert defaults(table["var"]) == {"dim": None, "keepdim": False, "correction": 1}
    assert defaults(table["layer_norm"]) == {"weight": None, "bias": None, "eps": 1e-5}
    assert defaults(table["gelu"]) == {"approximate": "none"} and defaults(table["flatten"])["end_dim"] == -1


def test_lists_inside_of_regular_dimensions() -> None:
    x = Components([np.arange(6.0).reshape(2, 3, 1), np.arange(4.0).reshape(2, 2, 1)])
    rows, offsets, regular = lists(x)
    assert rows[:, 0].tolist() == [0, 1, 2, 3, 4, 5, 0, 1, 2, 3] and regular == [2]
    assert offsets.tolist() == [0, 3, 6, 8, 10]
    empty = lists(Components([], (0, None, 3), np.float32))
    assert empty[0].shape == (0, 3) and empty[1].tolist() == [0] and empty[2] == []
    assert lists(Components([np.zeros((2, 0))]))[0].shape == (2, 0)


@pytest.mark.parametrize("name", SPELLINGS)
def test_every_case_that_can_be_said_can_be_written_down(name: str) -> None:
    corpus, (spelling, _) = load_corpus(), SPELLINGS[name]
    said = [case for case in corpus.cases if case.op in spelling.operators and "jagged" in case.layouts]
    for case in said[::29]:
        request: dict[str, Any] = {"op": case.op, "args": case.args, "kwargs": case.kwargs}
        try:
            code = snippet({**request, "layout": "jagged", "placement": "packed"}, corpus.table[case.op], name)
        except TypeError as error:  # a call with too many arguments is no call of the operator
            assert case.is_error, (case.id, error)
        else:
            ast.parse(code)


def test_a_gradient_in_tensorflow_is_pulled_from_the_values() -> None:
    x = Components([np.float32([[1, 2]]), np.float32([[3, 4], [5, 6]])])
    call = {"op": "neg", "args": [encode_value(x)], "kwargs": {}, "layout": "jagged", "placement": "packed"}
    code = snippet({**call, "wrt": [0], "cotangent": encode_value(x)}, load_table()["neg"], "tensorflow", gradient=True)
    assert code.count("tape = tf.GradientTape(persistent=True)") == 1 and "tape.watch(x_values)" in code
    assert code.endswith("print(tape.gradient(result, x_values, pulled))")
