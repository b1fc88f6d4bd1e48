"""A snippet that does not show what its record says is found, whatever it does instead."""

from __future__ import annotations

import platform
import sys
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from pynested.cli import main
from pynested.conformance import pasted
from pynested.conformance.contradictions import OUTSIDE, TWICE, USED
from pynested.conformance.filled import WHERE
from pynested.conformance.judge import DAMAGED
from pynested.conformance.pasted import findings, mismatches, replay
from pynested.conformance.pasting import in_processes
from pynested.conformance.records import Run, read
from pynested.conformance.wording import normal

glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc fills memory")
HEAD = "import math\n\n"


def recorded(verdict: str, code: str, got: str = "", kind: str = "differs") -> Run:
    finding = {"verdict": verdict, "snippet": HEAD + code, "want": "", "got": got, "kind": kind}
    return Run({}, [{"id": "a", "findings": [finding]}])


def test_how_snippets_end() -> None:
    codes = ["print(1)", "raise ValueError('no\\nand why')", "import os; os.abort()", "1 +"]
    assert replay([HEAD + one for one in codes]) == [
        (0, "", "1\n"),
        (1, "ValueError: no", ""),
        (-6, "", ""),
        (1, "SyntaxError: invalid syntax (<snippet>, line 3)", ""),
    ]


def test_what_a_snippet_imports_late_is_there_for_the_next() -> None:
    late = "import sys\nassert {} 'wave' in sys.modules\nimport wave"
    assert replay([HEAD + late.format("not"), HEAD + late.format("")]) == [(0, "", ""), (0, "", "")]


@pytest.mark.parametrize(
    ("verdict", "code", "got", "shows"),
    [
        ("refused", "raise ValueError('size 3 is bad')", "ValueError: size 4 is bad", True),
        ("refused", "raise ValueError('bad')", "ValueError: bad (while building the operand)", True),
        ("refused", "raise ValueError('other')", "ValueError: size 4 is bad", False),
        ("refused", "raise TypeError('bad')", "ValueError: bad", False),
        ("refused", "print(1)", "ValueError: bad", False),
        ("value", "print(1.0)", "1.0", True),
        ("value", "print(1)", "1.0", False),
        ("value", "print(1.0)", "1", False),
        ("value", "print(1)", "True", False),
        ("value", "raise ValueError('no')", "1.0", False),
        ("value", "print('hello')", "1.0", False),
        ("value", "print([2.0, 3.0])", "1.0", False),
        ("value", "print([2.0, 0.3333])", "0.3333333432674408 (3eaaaaab)  off by 0.1", True),
        ("value", "print([2.0, 0.3343])", "0.3333333432674408 (3eaaaaab)  off by 0.1", False),
        ("value", "print([2.0, float('nan')])", "nan (7fc00000)", True),
        ("value", "print([2.0, float('inf')])", "nan (7fc00000)", False),
        ("value", "print('tensor([-3.4028e+38])')", "-3.4028234663852886e+38 (ff7fffff)", True),
        ("value", "print(None)", "no gradient, which counts as zero", True),
        ("value", "print([2.0])", "no gradient, which counts as zero", False),
        ("crashed", "import os; os.abort()", "SIGABRT", True),
        ("crashed", "print(1)", "SIGABRT", False),
        ("crashed", "import os, signal; os.kill(os.getpid(), signal.SIGALRM)", "SIGABRT", False),  # it took too long
        ("accepted", "import os; os.abort()", "a result", False),
    ],
)
def test_what_a_snippet_must_show(verdict: str, code: str, got: str, shows: bool) -> None:
    assert (list(mismatches(recorded(verdict, code, got))) == []) is shows


# A finding, lines that a true snippet prints, and lines that differ from these in what was recorded.
ACCEPTED = {"verdict": "accepted", "described": True}
PRINTED: list[tuple[dict[str, Any], str, str]] = [
    ({"verdict": "value", "want": "2.0  at component 0 [1]", "got": "0.5"}, "[[1.0, 0.5]]", "0.5"),
    ({"verdict": "value", "want": "2  at [0]", "got": "1"}, "[1 3]", "[1. 3.]"),
    ({"verdict": "value", "want": "True", "got": "False (bool)"}, "False", "0"),
    ({"verdict": "value", "want": "'jagged'", "got": "'strided' (str)"}, "strided", "jagged"),
    ({"verdict": "value", "part": "gradient", "got": "no gradient, which counts as zero"}, "None", "[0.]"),
    ({"verdict": "shape", "described": True, "got": "(2, 3)"}, "dense torch.float32 (2, 3)", "dense float32 (3, 2)"),
    ({"verdict": "shape", "described": True, "got": "(1, 3)", "want": "(2, 3)  at component 1"},
     "nested float32 (2, 3) (1, 3)", "nested float32 (1, 3) (2, 3)"),
    ({"verdict": "shape", "described": True, "got": "(3,)", "want": "(2,)  at component 1"},
     "dense float32 (2, 3)", "dense float32 (2, 3, 1)"),
    ({"verdict": "shape", "described": True, "got": "2 components"}, "nested int8 (2,) (1,)", "nested int8 (2,)"),
    ({"verdict": "shape", "described": True, "got": "2 components"}, "dense int8 (2, 4)", "dense int8 (4, 2)"),
    ({"verdict": "shape", "described": True, "got": "(0, *, 3)"}, "nested int8", "nested int8 (3, 3)"),
    ({"verdict": "shape", "described": True, "got": "a list of 2"}, "dense int8 ()\ndense int8 ()", "dense int8 ()"),
    ({"verdict": "dtype", "described": True, "got": "float64"}, "dense float64 (2,)", "dense float32 (2,)"),
    ({"verdict": "dtype", "described": True, "part": "gradient", "got": "float64"}, "dense float64 ()", "nested int8"),
    ({"verdict": "dtype", "described": True, "got": "bfloat16 of shape (2,)"}, "dense bfloat16 (2,)", "dense int8 ()"),
    ({"verdict": "kind", "described": True, "got": "a dense result with the right numbers"}, "dense int8 (2,)",
     "nested int8 (2,)"),
    ({"verdict": "kind", "described": True, "got": "ndarray"}, "dense int8 (2,)", "nested int8 (2,)"),
    ({"verdict": "kind", "described": True, "got": "an array of type 2 * ?float64: [0.5, None]"},
     "2 * ?float64: [0.5, None]", "2 * float64: [0.5, None]"),
    ({**ACCEPTED, "got": "a result: nested int8 with components (2,), (1,)"}, "nested int8 (2,) (1,)",
     "nested int8 (1,) (2,)"),
    ({**ACCEPTED, "got": "a result: nested int8 with components none"}, "nested int8", "nested int8 (2,)"),
    ({**ACCEPTED, "got": "a result: nested int8 with components (2,), (1…"}, "nested int8 (2,) (1,)", "nested int8 ()"),
    ({**ACCEPTED, "got": "a result: dense int8 of shape (2, 4)"}, "dense int8 (2, 4)", "dense int32 (2, 4)"),
    ({**ACCEPTED, "got": "a result: a ragged tensor of components that are ragged themselves: [[[0.5], []]]"},
     "nested float32 (2, 1) [[[0.5], []]]", "nested float32 (2, 1) [[[1.5], []]]"),
    ({**ACCEPTED, "got": "a result: an array of type 2 * ?int8: [1, N…"}, "2 * ?int8: [1, None]", "2 * ?int8: [2]"),
    ({"verdict": "accepted", "got": "a result: None, a missing value"}, "None", "dense int8 ()"),
    ({"verdict": "accepted", "got": "a result: 3"}, "3", "[3]"),
    ({"verdict": "accepted", "got": "it is carried out"}, "accepted", "dense int8 ()"),
    ({"verdict": "corrupt", "got": OUTSIDE.format("7.0")}, "[1. 7.]", "[1. 6.]"),
    ({"verdict": "corrupt", "got": TWICE}, "[1.]\nfirst [3.]\nsecond [3.]", "[1.]\nfirst [3.]\nsecond [6.]"),
    ({"verdict": "corrupt", "got": USED.format("to_padded_tensor")}, "[1. 2.] [3.]\nused: [[1. 2.]]",
     "[1. 2.] [3.]\nused: [[1. 2.]\n [3. 0.]]"),
]  # fmt: skip


@pytest.mark.parametrize("replaced", ["", "hello", "1", "nested float16 (7, 9)", "otherwise"])
def test_only_a_snippet_that_prints_what_was_recorded_shows_it(replaced: str) -> None:
    """Try each finding with the lines of a true snippet, with those of other ones, and with lines of no finding."""
    recorded = []
    for finding, true, otherwise in PRINTED:
        lines = {"": true, "otherwise": otherwise}.get(replaced, replaced)
        more = {"part": "forward", "want": "", "kind": "differs", "snippet": HEAD + f"print({lines!r})"}
        recorded.append(more | finding)
    unshown = [finding for _, finding, _ in mismatches(Run({}, [{"id": "a", "findings": recorded}]))]
    assert unshown == (recorded if replaced else [])


def test_what_crashes_now_and_then_is_tried_again(tmp_path: Path) -> None:
    code = f"""import os, pathlib
log = pathlib.Path({str(tmp_path / "log")!r})
log.write_text((log.read_text() if log.exists() else "") + "x")
len(log.read_text()) == 3 and os.abort()"""
    assert list(mismatches(recorded("crashed", code, "SIGABRT"))) == []


def test_what_a_snippet_does_now_and_then_it_does_in_processes_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = f"""import pathlib

log = pathlib.Path({str(tmp_path / "log")!r})
log.write_text((log.read_text() if log.exists() else "") + "x")
print(-len(log.read_text()))
len(log.read_text()) % 10 == 3 and __import__("os").abort()"""
    crashes = in_processes(code)
    head = "from ctypes import CDLL\nfrom multiprocessing import get_context\nimport pathlib\n\n\ndef call(fill):\n"
    assert crashes.startswith(head) and "\n    log =" in crashes
    ends = [-6 if number % 10 == 3 else 0 for number in range(1, 22)]
    ended, steady = replay([crashes, in_processes("import math\n\nprint(-1)")])
    assert (ended[:2], steady[:2]) == ((0, f"ended with {ends}"), (0, f"ended with {[0] * 21}"))
    finding = {"verdict": "crashed", "snippet": crashes, "got": "SIGABRT", "kind": "crash"}
    for end, shown in ((ended, True), (steady, False)):
        monkeypatch.setattr(pasted, "replay", lambda codes, end=end: [end] * len(codes))
        assert (list(mismatches(Run({}, [{"id": "a", "findings": [finding]}]))) == []) is shown


@glibc
def test_what_hangs_on_memory_that_nobody_wrote_is_shown_by_filling_it() -> None:
    """Of a block as large as this the byte in the middle is what the allocator left there."""
    read = "import ctypes\n\nbyte = (ctypes.c_char * 4096).from_address(ctypes.CDLL(None).malloc(4096))[2048][0]\n"
    read = read.replace("ctypes.CDLL(None).malloc(4096)", "malloc(4096)")
    read = read.replace("\n\n", "\n\nmalloc = ctypes.CDLL(None).malloc\nmalloc.restype = ctypes.c_void_p\n", 1)
    unsteady, steady = (in_processes(read + last) for last in ("assert byte != 0x5a", "assert byte < 256"))
    for code, shown in ((unsteady, True), (steady, False)):
        found = {"verdict": "value", "snippet": code, "got": "1", "kind": "unsteady"}
        found["again"] = f"refused: AssertionError{WHERE.format('the byte 0x5a')}"
        assert (list(mismatches(Run({}, [{"id": "a", "findings": [found]}]))) == []) is shown


def test_what_cannot_be_compared_is_left_alone() -> None:
    unsteady = recorded("value", "1 +", kind="unsteady")
    earlier = recorded("crashed", "1", f"SIGSEGV; {DAMAGED}", kind="unsteady")
    for run in (unsteady, earlier, recorded("corrupt", "1 +"), recorded("hung", "1 +")):
        assert list(mismatches(run)) == [] and len(list(findings(run))) == 1


def test_messages_are_compared_without_what_varies() -> None:
    assert normal("E: at (2, 3) of 'x' 4.5") == normal("E: at (7,) of 'y' 1") != normal("F: at (2, 3) of 'x' 4.5")


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed here")
def test_the_snippets_of_torch_show_what_was_recorded(tmp_path: Path, capsys: Any) -> None:
    kept, ops = tmp_path / "run.ndjson", ("add", "stack", "nested_array_from_strided")
    chosen = [word for op in ops for word in ("--op", op)]
    was_imported = "torch" in sys.modules  # by another test
    options = ["--match", "*/float32/[!b]*", "--json", str(kept), "--processes", "1"]
    main(["conform", "--target", "torch", *chosen, *options])
    shown = Counter(result["op"] for result, _ in findings(read(kept)))
    assert min(shown[op] for op in ops) > 2 and ("torch" in sys.modules) is was_imported
    capsys.readouterr()
    assert main(["snippets", str(kept)]) == 0, capsys.readouterr().out


@pytest.fixture
def speaks_pynested(monkeypatch: pytest.MonkeyPatch, miniature: Any) -> None:
    """Let the miniatures pass for pynested, so that their snippets call it."""
    own = miniature.Right.identity
    monkeypatch.setattr(miniature.Right, "identity", lambda *args: {**own(*args), "dialect": "pynested"})


@pytest.mark.usefixtures("speaks_pynested")
def test_the_command_names_a_snippet_that_shows_something_else(
    run: Callable[..., Run], tmp_path: Path, capsys: Any
) -> None:
    """What a wrong implementation of somebody else refuses, pynested, whose code the snippet is, answers."""
    run("Refuses", keep=tmp_path / "run.ndjson")
    assert main(["snippets", str(tmp_path / "run.ndjson")]) == 3
    shown = capsys.readouterr().out
    assert "refused, ValueError: not with me\n  pasted: exit code 0, printed array([[ 4., -2.]" in shown
    assert "4 of 4 snippets do not show" in shown


@pytest.mark.usefixtures("speaks_pynested")
@pytest.mark.parametrize("name", ["Refuses", "DropsRow", "IgnoresCotangent", "WrongDType", "WrongShape", "WrongKind"])
@pytest.mark.parametrize("lines", ["hello", "1", "nested float16 (7, 9)"])
def test_no_replaced_snippet_shows_what_was_recorded(name: str, lines: str, run: Callable[..., Run]) -> None:
    done = run(name)
    for _, finding in findings(done):
        finding["snippet"] = HEAD + f"print({lines!r})"
    number = len(list(findings(done)))
    assert number > 0 and len(list(mismatches(done))) == number


def test_the_command_refuses_snippets_of_functions_that_it_does_not_have(
    run: Callable[..., Run], tmp_path: Path, capsys: Any
) -> None:
    run("Refuses", keep=tmp_path / "run.ndjson")
    assert main(["snippets", str(tmp_path / "run.ndjson")]) == 2
    assert "the snippets call own functions of Refuses" in capsys.readouterr().err


@pytest.mark.usefixtures("speaks_pynested")
def test_the_command_says_that_it_executes_code_before_it_does(
    run: Callable[..., Run], root: Path, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, rule = tmp_path / "run.ndjson", "executes Python code from"
    run("Refuses", keep=kept)

    def replayed(codes: list[str]) -> list[tuple[int, str, str]]:
        assert f"{rule} {kept}" in capsys.readouterr().err
        return [(0, "", "")] * len(codes)

    monkeypatch.setattr(pasted, "replay", replayed)
    assert main(["snippets", str(kept)]) == 3
    with pytest.raises(SystemExit):
        main(["snippets", "--help"])
    assert f"{rule} FILE" in " ".join(capsys.readouterr().out.split())
    assert f"{rule} FILE" in (root / "docs" / "conformance.md").read_text(encoding="utf-8")
