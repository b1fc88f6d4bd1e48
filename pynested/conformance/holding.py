"""Hold one Python function against the specification, in this process: `check(function, "softmax")`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pynested.backends.errors import ArgumentError
from pynested.spec.table import Operator

from .adapters.base import PythonAdapter
from .adapters.pynested_adapter import PynestedTarget
from .conform import conform
from .corpus import Case, Corpus, Selection, load_corpus
from .in_process import Make, OtherFunction, Pull, PynestedFunction, Read, callable_as, lacking, name_of
from .judge import DIFFERS, OK
from .numpy_dialect import Own
from .placements import LAYOUTS
from .problems import UsageError
from .records import Record, Run
from .report import Report
from .session import InProcess

__all__ = ["Checked", "Disagreement", "check", "clauses_of"]

NUMPY = "numpy"


@dataclass(frozen=True)
class Checked:
    """What a function came to. As text it is the report of the command `pynested conform`."""

    op: str
    run: Run

    def __str__(self) -> str:
        return Report(self.run).text()

    @property
    def agrees(self) -> bool:
        """True where something was checked, and nothing differs."""
        return self.run.exit_code == 0 and OK in self._verdicts()

    @property
    def differences(self) -> Mapping[str, Sequence[Record]]:
        """The differences of each clause that is not kept; each says its case and layout too."""
        found: dict[str, list[Record]] = {}
        for result in self.run.results:
            for finding in result["findings"]:
                if finding["verdict"] in DIFFERS:
                    found.setdefault(finding["clause"], []).append(
                        {**finding, "id": result["id"], "layout": result["layout"]}
                    )
        return found

    def asked(self, clause: str) -> bool:
        """Return whether a case of the clause was answered, rightly or not."""
        return bool(self._verdicts(clause) & {OK, *DIFFERS})

    def _verdicts(self, clause: str = "") -> set[str]:
        chosen = (one for one in self.run.results if not clause or clause in one["clauses"])
        return {verdict for one in chosen for verdict in one["parts"].values()}


class Disagreement(AssertionError):
    """The error for a function that differs; ``checked`` is its result, and the text is the report."""

    def __init__(self, checked: Checked) -> None:
        super().__init__(str(checked))
        self.checked = checked


def check(
    function: Callable[..., Any],
    op: str,
    *,
    arrays: str | tuple[Make, Read] = "pynested",
    vjp: Pull | None = None,
    gradients: bool = True,
    layouts: Sequence[str] = (),
    match: str = "",
) -> Checked:
    """Check ``function`` by all cases of the operator ``op``; return the report, or raise it if the function differs.

    In a notebook a bar shows the progress.

    Parameters
    ----------
    function : callable
        Takes the arguments of the operator, in the order of its signature. A call with a parameter that the function
        does not take is not made, and counts as not implemented.
    op : str
        The name of the operator in the specification.
    arrays : "pynested", "numpy", or (make, read)
        The form of operands. `"numpy"`: a nested operand is a list of its components, a dense operand an array. A pair:
        ``make`` makes an operand of such a list or array, ``read`` converts a result to one.
    vjp : callable, optional
        ``vjp(cotangent, *args, **kwargs)`` returns a gradient, or None, for each array operand in order. If
        ``arrays`` is "pynested", the tape computes the gradients, and ``vjp`` must be None.
    gradients : bool
        Whether gradients are checked, which needs a tape or a vjp.
    layouts : sequence of str
        By default both for arrays of pynested; otherwise `"strided"`, as components in lists have any sizes.
    match : str
        A pattern for the ids of cases, as ``"softmax/float32/*"``.

    Raises
    ------
    Disagreement
        An AssertionError: the function differs, or no call could be checked.
    ArgumentError
        For arguments that do not fit together, an unknown operator, and a function that accepts no call.

    Examples
    --------
    >>> from pynested.conformance import check
    >>> check(lambda x, dim=None, keepdim=False, **how: x.sum(dim, keepdim, **how), "sum").agrees
    True
    >>> check(lambda x: [np.maximum(one, 0) for one in x], "relu", arrays="numpy", match="relu/float32/ragged/*").agrees
    True
    """
    __tracebackhide__ = True
    whole = _corpus()
    own = _names(function, arrays, vjp)
    target = _target(function, op, whole, arrays, vjp)
    ours = isinstance(target, PynestedTarget)
    tracked = gradients and (ours or vjp is not None)
    corpus = whole if tracked else _without_gradients(whole, op)
    chosen = Selection(ops=(op,), layouts=tuple(layouts) or (LAYOUTS if ours else ("strided",)), match=match)
    try:
        chosen.check(corpus)
    except UsageError as error:
        raise ArgumentError(f"check: {error}") from error
    _can_be_called(function, corpus.table[op], [case for case, _ in chosen.pick(corpus)])

    def start() -> InProcess:
        session = InProcess(PythonAdapter(target))
        session.identity = replace(session.identity, own=own)
        return session

    done = Checked(op, conform(corpus, chosen, start, None, None))
    if not done.agrees:
        raise Disagreement(done)
    return done


def clauses_of(op: str) -> list[str]:
    """Return the clauses that the cases of an operator cite: its own, and those of chapters."""
    corpus = _corpus()
    cited = {id_ for case in corpus.cases if case.op == op for id_ in case.clauses}
    if not cited:
        raise ArgumentError(f"check: the specification has no operator {op!r}")
    return [id_ for id_ in corpus.clauses if id_ in cited]


_corpus = functools.cache(load_corpus)


def _target(function: Any, op: str, corpus: Corpus, arrays: Any, vjp: Pull | None) -> PynestedTarget | OtherFunction:
    if op not in corpus.table:
        raise ArgumentError(f"check: the specification has no operator {op!r}")
    if arrays == "pynested" and vjp is not None:
        raise ArgumentError("check: functions of pynested's arrays have the gradients of the tape. Leave out vjp.")
    function = callable_as(function, corpus.table[op])
    if arrays == "pynested":
        return PynestedFunction(function)
    if arrays == NUMPY:
        arrays = (_same, _same)
    if not (isinstance(arrays, tuple) and len(arrays) == 2 and all(map(callable, arrays))):
        raise ArgumentError(f"check: arrays must be 'pynested', 'numpy' or a pair of functions, not {arrays!r}")
    return OtherFunction(function, corpus.table[op], *arrays, vjp)


def _can_be_called(function: Callable[..., Any], operator: Operator, cases: Sequence[Case]) -> None:
    """Refuse a function to which none of the cases can be given, in one sentence."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    lost = [lacking(signature, operator, len(case.args), case.kwargs) for case in cases]
    if cases and all(lost):
        raise ArgumentError(
            f"check: {name_of(function)} {min(lost, key=len)}, so that no call of {operator.name} can be made. Give it "
            f"the parameters of {operator.signature.partition(' ->')[0]}."
        )


def _names(function: Callable[..., Any], arrays: Any, vjp: Pull | None) -> Own:
    """Return the names by which a snippet calls what is the user's."""

    def name(one: Any, otherwise: str) -> str:
        return name_of(one) if name_of(one).isidentifier() else otherwise

    pair = [name(*one) for one in zip(arrays, ("make", "read"), strict=False)] if isinstance(arrays, tuple) else []
    return Own(name(function, "your_function"), "" if vjp is None else name(vjp, "your_vjp"), *pair)


def _same(value: Any) -> Any:
    return value


def _without_gradients(corpus: Corpus, op: str) -> Corpus:
    """Return the corpus with nothing of the operator to pull back."""
    nothing: Any = {"cotangent": None, "gradient": (), "gradient_kwargs": {}}
    cases = [replace(case, **nothing) if case.op == op else case for case in corpus.cases]
    return replace(corpus, cases=tuple(cases))
