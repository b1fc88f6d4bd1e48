"""How far a run is: a bar in a notebook, a line on a terminal, and not a byte where there is neither."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pynested.conformance import Disagreement, check
from pynested.conformance.progress import Progress

FLOATS = {"arrays": "numpy", "match": "relu/float32/*"}
Shown = list[dict[str, Any]]


def relu(x: Any) -> Any:
    return [np.maximum(one, 0) for one in x] if isinstance(x, list) else np.maximum(x, 0)


def result(verdict: str) -> dict[str, Any]:
    return {"op": "relu", "layout": "jagged", "parts": {"forward": verdict}}


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    """What a kernel is given to show, under IPython's names."""
    told: Shown = []

    def publish(data: dict[str, str], *, transient: dict[str, str], update: bool = False) -> None:
        told.append({**data, "place": transient["display_id"], "update": update})

    shell = SimpleNamespace(kernel=object(), display_pub=SimpleNamespace(publish=publish))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    return told


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_notebook_shows_one_bar_and_how_it_ended(shown: Shown) -> None:
    results = len(check(relu, "relu", **FLOATS).run.results)
    assert [one["update"] for one in shown] == [False, *[True] * (len(shown) - 1)]
    assert len({one["place"] for one in shown}) == 1, "every run has one place"
    first, last = shown[0], shown[-1]
    assert first["text/plain"] == f"1 of {results}, 0 differ: relu, strided"
    assert first["text/html"] == f'<div><progress value="1" max="{results}"></progress> {first["text/plain"]}</div>'
    assert last["text/plain"] == f"{results} of {results}, 0 differ" and f'value="{results}"' in last["text/html"]
    check(relu, "relu", **FLOATS)
    assert len({one["place"] for one in shown}) == 2, "another run has another"


def test_a_notebook_is_told_how_many_differ(shown: Shown) -> None:
    with pytest.raises(Disagreement) as caught:
        check(lambda x: [np.abs(one) for one in x] if isinstance(x, list) else np.abs(x), "relu", **FLOATS)
    results = len(caught.value.checked.run.results)
    differ = len({one["id"] for found in caught.value.checked.differences.values() for one in found})
    assert differ > 1 and shown[-1]["text/plain"].endswith(f" of {results}, {differ} differ")


def test_a_bar_says_that_a_run_broke_off(shown: Shown) -> None:
    run = Progress(None, 1200)
    with pytest.raises(KeyboardInterrupt), run:
        run.at(result("ok"))
        run.at(result("value"))
        raise KeyboardInterrupt
    assert shown[-1]["text/plain"] == "broken off at 2 of 1,200, 1 differ"


def test_a_bar_has_neither_script_nor_style_of_its_own(shown: Shown) -> None:
    """So a notebook that is not trusted shows it, and it has the colours of the page, be it light or dark."""
    check(relu, "relu", **FLOATS)
    tags = {tag for one in shown for tag in re.findall(r"<(\w+)", one["text/html"])}
    assert tags == {"div", "progress"} and not any("style" in one["text/html"] for one in shown)


def test_a_terminal_has_a_line_that_is_gone_at_the_end() -> None:
    screen = Terminal()
    with (run := Progress(screen, 1200)):
        run.at(result("value"))
    text = f"{'1 of 1,200  relu, jagged':<60}"
    assert screen.getvalue() == f"\r{text}\r{' ' * 60}\r"


@pytest.mark.parametrize("shell", [None, SimpleNamespace()], ids=["plain Python", "IPython on a terminal"])
def test_what_is_piped_has_nothing(shell: Any, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    screen = io.StringIO()
    with (run := Progress(screen, 2)):
        run.at(result("ok"))
    check(relu, "relu", **FLOATS)
    assert screen.getvalue() == "" and capsys.readouterr() == ("", "")


def test_a_kernel_shows_it(tmp_path: Path) -> None:
    """The same in a kernel of Jupyter, where it is installed."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    code = "import pynested as pn\nfrom pynested.conformance import check\ncheck(pn.relu, 'relu').agrees"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    nbclient.NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()
    bar, agrees = notebook.cells[0].outputs
    assert agrees["data"]["text/plain"] == "True"
    assert re.fullmatch(r"(\d+) of \1, 0 differ", bar["data"]["text/plain"]) and "<progress" in bar["data"]["text/html"]
