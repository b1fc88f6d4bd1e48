"""Libraries that say operators in words of their own: a table of Python expressions, for adapter and snippets alike.

An expression is over the parameters of the operator, as ``ak.sum(self, axis=dim, keepdims=keepdim)``. The adapter
evaluates it and a snippet prints it, so that both make one call. An argument that an expression does not mention is one
that the library does not take: a call that gives it is not implemented there.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping, Sequence
from typing import Any

from pynested.spec.table import Operator, load_table

OF_RESULT = {"unsqueeze", "stack"}  # operators whose `dim` counts the dimensions of the result


class Spelling:
    """The expressions of a library, by the names of operators."""

    def __init__(self, library: str, expressions: Mapping[str, str]) -> None:
        self.library, self._expressions = library, expressions

    @property
    def operators(self) -> list[str]:
        """The operators that can be said, in the order of the operator table."""
        return [name for name in load_table() if name in self._expressions]

    def call(self, op: str, args: Sequence[Any], kwargs: Mapping[str, Any], modules: Mapping[str, Any]) -> Any:
        """Make the call; ``modules`` are the names that expressions use."""
        operator, expression = load_table()[op], self._expressions[op]
        given = operator.call.bind(*args, **kwargs)
        tree = _parsed(expression)
        if unsaid := sorted(set(given.arguments) - _names(tree)):
            raise NotImplementedError(f"{self.library} takes no {', '.join(unsaid)} in {expression}")
        several = {name: () for name, one in operator.call.parameters.items() if one.kind is one.VAR_POSITIONAL}
        names = {**several, **defaults(operator), **given.arguments}
        return eval(compile(tree, expression, "eval"), {**modules}, names)

    def text(self, operator: Operator, texts: Sequence[str]) -> str:
        """Return the call as text, given its arguments as text."""
        by_name = [one.partition("=") for one in texts if _is_keyword(one)]
        positional = [one for one in texts if not _is_keyword(one)]
        given = operator.call.bind(*positional, **{name: value for name, _, value in by_name}).arguments
        left = {name: repr(value) for name, value in defaults(operator).items()}
        tree = ast.parse(self._expressions[operator.name], mode="eval")
        return ast.unparse(_Filled({**left, **given}).visit(tree))


def defaults(operator: Operator) -> dict[str, Any]:
    """Return what the parameters of an operator are where they are not given.

    >>> from pynested.spec.table import load_table
    >>> defaults(load_table()["sum"])
    {'dim': None, 'keepdim': False, 'dtype': None}
    """
    return dict(_defaults(operator.signature))


@functools.cache
def _defaults(signature: str) -> Mapping[str, Any]:
    (definition,) = ast.parse(f"def {signature}: ...").body
    assert isinstance(definition, ast.FunctionDef)
    given = definition.args
    named = [*given.posonlyargs, *given.args]
    pairs = [
        *zip(reversed(named), reversed(given.defaults), strict=False),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    ]
    found = {one.arg: value for one, value in pairs if value is not None}
    order = [one.arg for one in (*named, *given.kwonlyargs) if one.arg in found]
    return {name: ast.literal_eval(found[name]) for name in order if not isinstance(found[name], ast.Name)}


@functools.cache
def _parsed(expression: str) -> ast.Expression:
    return ast.parse(expression, mode="eval")


def _names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _is_keyword(text: str) -> bool:
    return text.partition("=")[0].isidentifier() and "=" in text


class _Filled(ast.NodeTransformer):
    """Puts the text of an argument in the place of its name; those of a starred parameter one after another."""

    def __init__(self, texts: Mapping[str, Any]) -> None:
        self._texts = texts

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Open out starred arguments."""
        opened: list[ast.expr] = []
        for one in node.args:
            several = isinstance(one, ast.Starred) and isinstance(one.value, ast.Name)
            texts = self._texts.get(one.value.id, ()) if several else ()  # type: ignore[attr-defined]
            opened += [_parsed(text).body for text in texts] if several else [one]
        node.args = opened
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Replace one name."""
        text = self._texts.get(node.id)
        return node if text is None else _parsed(text).body
