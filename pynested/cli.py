"""The command `pynested`: check an implementation against the specification, and explain the specification."""

from __future__ import annotations

import argparse
import contextlib
import shlex
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path

from pynested.backends.errors import PynestedError

from ._version import __version__
from .conformance import exports, forks, known
from .conformance.adapters import open_session
from .conformance.arguments import add_adapter, add_conform, add_site, add_verbose, add_view
from .conformance.conform import BrokenOff, conform
from .conformance.corpus import Selection, check_kit, load_corpus
from .conformance.explain import explain
from .conformance.placements import LAYOUTS
from .conformance.printable import printable, write
from .conformance.problems import AGREES, DIFFERS, KIT, NOTHING, SIGNAL, USAGE, KitError, OutputError, UsageError
from .conformance.records import Run, read
from .conformance.report import Report
from .conformance.session import Session
from .conformance.signals import Ended, raised
from .conformance.smoke import smoke
from .conformance.wire import listening
from .fuzzing.command import add_fuzz, fuzz

_EMULATION = ("schedule", "seed", "workers", "sanitize")
_EXIT_CODES = (
    "exit codes: 0 the target agrees; 1 the target differs (no other cause has code 1); 2 wrong usage, or no such "
    "target or device; 3 the kit failed (vectors that are inconsistent or damaged, output that cannot be written, an "
    "error in the adapter or the kit); 4 no check could be made, which is no agreement; 128+n ended by signal n"
)

_RUNS_CODE = (
    "This command executes Python code from FILE, with all rights of this user. Run only a file that you wrote "
    "yourself, or whose snippets you have read."
)

_PIPE = 13  # the number of SIGPIPE, which Windows does not define
_SENTENCE = 300  # characters


class _Parser(argparse.ArgumentParser):
    """A parser that writes its help with `_write`."""

    def _print_message(self, message: str, file: object = None) -> None:
        if file is None or file is sys.stdout:
            _write(message)
        else:
            _tell(message)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = _Parser(prog="pynested", description=__doc__, epilog=_EXIT_CODES)
    top.add_argument("--version", action="version", version=f"pynested {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    help_ = "check an implementation against the specification"
    add_conform(commands.add_parser("conform", help=help_, epilog=_EXIT_CODES))
    help_ = "check a target with random calls until stopped, and shrink each difference"
    add_fuzz(commands.add_parser("fuzz", help=help_, epilog=_EXIT_CODES))
    help_ = "show a run that was kept with conform --json"
    report = commands.add_parser("report", help=help_, epilog=_EXIT_CODES)
    report.add_argument("file", type=Path, metavar="FILE")
    add_view(report)
    help_ = "show the changes from one kept run to another; exit code 1 if a check got worse"
    diff = commands.add_parser("diff", help=help_, epilog=_EXIT_CODES)
    diff.add_argument("before", type=Path, metavar="BEFORE")
    diff.add_argument("after", type=Path, metavar="AFTER")
    help_ = "execute the snippets of a kept run, and name those that do not show what was recorded"
    pasted = commands.add_parser("snippets", help=help_, description=_RUNS_CODE, epilog=_EXIT_CODES)
    pasted.add_argument("file", type=Path, metavar="FILE", help="a kept run, whose snippets are executed")
    help_ = "write kept runs as static pages: targets and operators, and every cause with its clause"
    add_site(commands.add_parser("site", help=help_, epilog=_EXIT_CODES))
    explained = commands.add_parser("explain", help="show a clause, an operator or a case")
    name = "for example SOFTMAX-3, softmax or softmax/float32/ragged/1"
    explained.add_argument("name", metavar="CLAUSE|OPERATOR|CASE", help=name)
    add_verbose(explained, "show every case that witnesses a clause")
    add_adapter(commands.add_parser("adapter", help="help the author of an adapter", epilog=_EXIT_CODES))
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    try:
        with raised():
            return _run(parser().parse_args(argv))
    except Ended as ended:
        _tell(f"pynested: ended by {ended}\n")
        return SIGNAL + ended.number
    except BrokenPipeError:  # the reader of the output has closed it
        return SIGNAL + _PIPE
    except OutputError as error:  # the help could not be written
        _tell(f"pynested: {error}\n")
        return KIT


def _run(options: argparse.Namespace) -> int:
    """Run one command and return its exit code; an error becomes one sentence on standard error."""
    commands = {
        "conform": _conform,
        "fuzz": lambda options: fuzz(options, _command(options.adapter), _write),
        "report": _report,
        "diff": _diff,
        "snippets": _snippets,
        "site": _site,
        "explain": _explain,
        "adapter": _adapter,
    }
    try:
        return commands[options.command](options)
    except BrokenPipeError:
        raise
    except BrokenOff as broken:
        _, text = _reason(broken.__cause__ or broken)
        code, text = KIT, f"{text}; {broken}"
    except Exception as error:
        code, text = _reason(error)
    _tell(f"pynested {options.command}: {text}\n")
    return code


def _reason(error: BaseException) -> tuple[int, str]:
    """Return the exit code and the sentence for an error; show the traceback first if the error is unexpected."""
    if isinstance(error, (UsageError, PynestedError)):
        return USAGE, str(error)
    if isinstance(error, KitError):
        return KIT, f"the kit is inconsistent: {error}"
    if isinstance(error, OutputError):
        return KIT, str(error)
    _tell("".join(traceback.format_exception(error)))
    return KIT, f"an error in the kit itself: {type(error).__name__}: {printable(str(error), _SENTENCE)}"


def _conform(options: argparse.Namespace) -> int:
    corpus = load_corpus(options.vectors)
    layouts = (options.layout,) if options.layout else LAYOUTS
    selection = Selection(
        tuple(options.op),
        layouts,
        options.match,
        options.kind_class,
        tuple(options.exclude),
        tuple(options.placement),
        tuple(options.dtype),
        options.quick,
    )
    selection.check(corpus)
    check_kit(corpus, options.vectors)
    emulation = {name: getattr(options, name) for name in _EMULATION if getattr(options, name) is not None}
    command, processes = _command(options.adapter), _processes(options)
    expected = None if options.expect is None else known.read(options.expect)
    try:
        with listening(options.trace, sys.stderr) as wire:

            def start() -> Session:
                return open_session(options.target, command, options.device, options.timeout, emulation, wire)

            run = conform(corpus, selection, start, options.json, sys.stderr, processes)
    except BrokenOff as broken:
        if broken.run.results:
            _show(broken.run, options)
        raise
    code = _show(run, options)
    if options.write_expect is not None:
        known.write(run, options.write_expect)
    return code if expected is None else _held(run, expected, code)


def _processes(options: argparse.Namespace) -> int:
    """Return the number of processes that run cases; one by default for an adapter, a GPU or a trace."""
    if options.processes is None:
        alone = options.adapter is not None or options.device == "cuda" or options.trace is not None
        return 1 if alone else forks.usual_number()
    if options.processes == 0:
        raise UsageError("--processes 0 runs no case; give 1 or more")
    if options.processes > 1 and options.trace is not None:
        raise UsageError("--trace records the messages of one process; give --processes 1")
    if options.processes > 1 and not forks.POSSIBLE:
        raise UsageError("--processes above 1 needs Linux, where a process can be forked")
    return int(options.processes)


def _held(run: Run, expected: Mapping[known.Check, str], code: int) -> int:
    """Write the differences from the expected results, and return the exit code."""
    found = known.unexpected(run, expected)
    _write("\nAgainst what is expected: " + "\n".join(found.lines()) + "\n")
    return code if code in (KIT, NOTHING) else DIFFERS if found.worse else AGREES


def _adapter(options: argparse.Namespace) -> int:
    with listening(options.trace, sys.stderr) as wire:
        command = _command(options.adapter) or []
        return smoke(command, load_corpus(), options.timeout, wire, lambda text: _write(text + "\n"))


def _command(text: str | None) -> list[str] | None:
    """Return the words of ``--adapter``, or None if the option is missing."""
    if text is None:
        return None
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"--adapter {text!r} is not a command: {error}") from error
    if not words:
        raise UsageError("--adapter is empty; give the command that starts the adapter, or leave it out")
    return words


def _report(options: argparse.Namespace) -> int:
    return _show(read(options.file), options)


def _diff(options: argparse.Namespace) -> int:
    before, after = read(options.before), read(options.after)
    if before.header["vectors"] != after.header["vectors"]:
        _write("The two runs were held to different vectors; cases that are not in both have changed.\n")
    found = known.changes(known.checks(before), known.checks(after))
    _write("\n".join(found.lines()) + "\n")
    return DIFFERS if found.worse else AGREES


def _snippets(options: argparse.Namespace) -> int:
    from .conformance.pasted import findings, mismatches  # only this command needs the module
    from .conformance.snippets import RUNNABLE

    run = read(options.file)
    target = run.header["target"]
    if target.get("dialect", "pynested") not in RUNNABLE:
        raise UsageError(f"the snippets call own functions of {target['name']}. Import these, and paste a snippet")
    _tell(f"pynested snippets: {_RUNS_CODE.replace('FILE', str(options.file))}\n")
    wrong = list(mismatches(run))
    for result, finding, output in wrong:
        _write(f"{result['id']}, {result['layout']}: {finding['verdict']}, {finding['got']}\n  pasted: {output}\n")
    _write(f"{len(wrong):,} of {sum(1 for _ in findings(run)):,} snippets do not show what was recorded.\n")
    return KIT if wrong else AGREES


def _site(options: argparse.Namespace) -> int:
    from .conformance.report_html import write_site  # only this command needs the module

    count = write_site([read(file) for file in options.files], options.out)
    _write(f"{count:,} pages; open {options.out / 'index.html'}\n")
    return AGREES


def _show(run: Run, options: argparse.Namespace) -> int:
    _write(Report(run).text(options.verbose, options.top, options.all))
    if options.junit is not None:
        exports.save(exports.junit(run), options.junit)
    if options.markdown is not None:
        exports.save(exports.markdown(run), options.markdown)
    return run.exit_code


def _explain(options: argparse.Namespace) -> int:
    _write(explain(options.name, load_corpus(), options.verbose))
    return AGREES


def _write(text: str) -> None:
    try:
        write(text, sys.stdout)
    except OutputError as error:
        raise OutputError(f"cannot write to standard output: {error}") from error


def _tell(text: str) -> None:
    """Write to standard error; ignore an error, as the exit code tells the result too."""
    with contextlib.suppress(OutputError, BrokenPipeError):
        write(text, sys.stderr)
