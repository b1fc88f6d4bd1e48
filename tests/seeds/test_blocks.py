"""The code blocks of PyTorch's documents on nested tensors, run literally but for the names in ``names.toml``.

The output of a block is compared token by token. Random numbers agree with every number, unless the code of the block
contains the number, for example a padding value. Two ragged sizes always agree. Two errors agree if they have the same
class and the same numbers in their texts. Our nested arrays print shape and layout as well; both are removed before the
comparison. A block with a ``position`` raises an error in the document and none here.
"""

from __future__ import annotations

import ast
import builtins
import io
import re
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stdout
from doctest import DocTestParser, Example
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pynested as pn

FOLDER = Path(__file__).parent
NAMES: dict[str, str] = tomllib.loads((FOLDER / "names.toml").read_text(encoding="utf-8"))["names"]
FACTS = re.compile(r",?\s*\], shape=\([^)]*\)(, layout=pn\.jagged)?\)")
SIZE = re.compile(r"pn\.Size\(\[(.*?)\]\)")
TOKEN = re.compile(r"-?\d+\.\d*|\w+|[^\w\s]")
NUMBER = re.compile(r"-?\d+\.\d*")
RAGGED = re.compile(r"j\d+")
ERROR = re.compile(r"^(\w+Error): (.*)", re.MULTILINE)


def blocks() -> Iterator[Any]:
    for file in ("strided", "timeline", "jagged"):
        for block in tomllib.loads((FOLDER / f"{file}.toml").read_text(encoding="utf-8"))["blocks"]:
            yield pytest.param(block, id=f"{file}-{block['section']}".replace(" ", "-"))


def renamed(text: str) -> str:
    for name in sorted(NAMES, key=len, reverse=True):
        text = re.sub(rf"(?<![\w.]){re.escape(name)}", NAMES[name], text)
    return text


def agrees(printed: str, got: str, random: bool = False, code: str = "") -> bool:
    """Return whether ``got`` is what a document has ``printed`` for a block of this ``code``."""
    expected, tokens = TOKEN.findall(SIZE.sub(r"(\1)", printed)), TOKEN.findall(FACTS.sub("])", got))
    named = {float(number) for number in NUMBER.findall(code)}

    def agree(left: str, right: str) -> bool:
        if NUMBER.fullmatch(left) and NUMBER.fullmatch(right):
            is_random = random and float(left) not in named
            return is_random or bool(np.isclose(float(left), float(right), rtol=0, atol=1e-4))
        return left == right or bool(RAGGED.fullmatch(left) and RAGGED.fullmatch(right))

    return len(expected) == len(tokens) and all(map(agree, expected, tokens))


def printed_by(source: str, space: dict[str, Any], shows_assigned: bool) -> str:
    """Return what Python prints if it runs ``source``; the documents show what is assigned, too."""
    written = io.StringIO()
    with redirect_stdout(written):
        exec(compile(source, "<seed>", "single"), space)
        (statement,) = ast.parse(source).body
        if shows_assigned and isinstance(statement, ast.Assign):
            print(repr(space[ast.unparse(statement.targets[0])]))
    return written.getvalue()


def check(example: Example, space: dict[str, Any], block: dict[str, Any], code: str = "") -> None:
    error = ERROR.search(example.want)
    if error is None or "position" in block:
        got = printed_by(example.source, space, bool(example.want) and error is None)
        wanted = "" if error else example.want
        assert agrees(wanted, got, block.get("random", False), code), f"{wanted}\n---\n{got}"
        return
    with pytest.raises(getattr(builtins, error[1])) as caught:
        exec(example.source, space)
    assert set(re.findall(r"\d+", error[2])) <= set(re.findall(r"\d+", str(caught.value)))


@pytest.mark.parametrize("block", list(blocks()))
def test_a_block_does_what_the_document_shows(block: dict[str, Any]) -> None:
    space: dict[str, Any] = {"pn": pn, "__name__": "seed"}
    code = renamed(block["code"])
    pn.manual_seed(0)  # numbers of other magnitudes print in another form than those of the document
    with pn.set_default_dtype(pn.float32):  # which is PyTorch's
        examples = DocTestParser().get_examples(code)
        for example in examples:
            check(example, space, block, "".join(each.source for each in examples))
        if not examples:
            exec(code, space)
            assert space["r"].shape == (3, 4) and space["r"].dtype == pn.float32
            assert space.keys() <= {"pn", "r", "__name__", "__builtins__"}


def test_positions_are_few() -> None:
    assert [block.id for block in blocks() if "position" in block.values[0]] == ["jagged-offsets-of-equal-values"]


def test_constraints_that_no_block_shows() -> None:
    assert pn.nested_array([[0.0, 1.0], [2.0]], layout=None).layout is pn.strided
    with pytest.raises(RuntimeError, match="only one level of nesting is supported"):
        pn.nested_array([pn.nested_array([[1.0], [2.0, 3.0]])])
    with pytest.raises(RuntimeError, match="the buffer must be flat and contiguous"):
        pn.nested_array_from_strided(pn.arange(8)[::2], [[2], [2]])
    with pytest.raises(RuntimeError, match="component 1: lengths 32 and 33 along dimension 1"):
        pn.nested_array([pn.ones(50, 8), pn.ones(32, 8)]) + pn.nested_array([pn.ones(50, 8), pn.ones(33, 8)])


@pytest.mark.parametrize(
    ("printed", "got"),
    [
        ("array([0, 1, 2])", "array([0, 1, 3])"),
        ("array([0., 1.])", "array([0., 1.], dtype=float64)"),
        ("array([[ 1.2286, 4.2000]])", "array([[0.1, 4.25]])"),
        ("array([[ 1.2286, 0.3]])", "array([ 0.1, 0.2])"),
        ("pn.Size([2, j1, 128])", "(2, j1, 127)"),
        ("pn.Size([2, j1, 128])", "(2, 3, 128)"),
        ("nested_array([ array([0, 1]) ])", "nested_array([array([0]), array([1]),], shape=(2, 1))"),
        ("True", "False"),
        ("", "4"),
    ],
)
def test_different_outputs_do_not_agree(printed: str, got: str) -> None:
    assert agrees(printed, SIZE.sub(r"(\1)", printed)) and not agrees(printed, got, random=True, code="padding=4.2")
