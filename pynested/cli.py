"""The command `pynested`: hold an implementation against the specification, and explain what it says."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from pynested.conformance.adapters import TARGETS, open_session
from pynested.conformance.conform import conform
from pynested.conformance.corpus import VECTORS, Selection, check_kit, load_corpus
from pynested.conformance.explain import explain
from pynested.conformance.placements import LAYOUTS
from pynested.conformance.problems import KitError, UsageError
from pynested.conformance.records import Run, read
from pynested.conformance.report import Report
from pynested.spec.table import CLASSES

from ._version import __version__

_EXIT_CODES = "exit codes: 0 agrees, 1 the target differs, 2 wrong usage, 3 the kit itself is inconsistent"


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(prog="pynested", description=__doc__, epilog=_EXIT_CODES)
    top.add_argument("--version", action="version", version=f"pynested {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    help_ = "check an implementation against the specification"
    _add_conform(commands.add_parser("conform", help=help_, epilog=_EXIT_CODES))
    report = commands.add_parser("report", help="show a run that was kept with conform --json")
    report.add_argument("file", type=Path, metavar="FILE")
    _add_verbose(report)
    explained = commands.add_parser("explain", help="show a clause or an operator, its definition and its witnesses")
    explained.add_argument("name", metavar="CLAUSE|OPERATOR", help="for example SOFTMAX-3 or softmax")
    _add_verbose(explained)
    return top


def _add_conform(command: argparse.ArgumentParser) -> None:
    target = command.add_mutually_exclusive_group()
    target.add_argument("--target", default="pynested", metavar="NAME", help=f"what to check: {', '.join(TARGETS)}")
    target.add_argument("--adapter", default="", metavar="COMMAND", help="any program that speaks the protocol")
    command.add_argument("--op", action="append", default=[], metavar="NAME", help="this operator; may be repeated")
    command.add_argument("--layout", choices=LAYOUTS, help="this layout only")
    command.add_argument("--match", default="", metavar="GLOB", help="cases whose id matches, as 'sum/*/empty*'")
    command.add_argument(
        "--class", dest="kind_class", default="", choices=CLASSES, help="cases about clauses of a class"
    )
    command.add_argument("--device", default="cpu", help="the device of the operands (default: cpu)")
    command.add_argument(
        "--timeout", type=float, default=20.0, metavar="SECONDS", help="for one call in a child process"
    )
    command.add_argument("--json", type=Path, metavar="FILE", help="keep the records of the run, one a line")
    command.add_argument(
        "--vectors", type=Path, default=VECTORS, metavar="DIR", help="other vectors than the embedded ones"
    )
    _add_verbose(command)


def _add_verbose(command: argparse.ArgumentParser) -> None:
    command.add_argument("-v", "--verbose", action="count", default=0, help="show everything")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    options = parser().parse_args(argv)
    try:
        return {"conform": _conform, "report": _report, "explain": _explain}[options.command](options)
    except UsageError as error:
        sys.stderr.write(f"pynested {options.command}: {error}\n")
        return 2
    except KitError as error:
        sys.stderr.write(f"pynested {options.command}: the kit is inconsistent: {error}\n")
        return 3
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        return 130
    except BrokenPipeError:  # whoever read the report has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def _conform(options: argparse.Namespace) -> int:
    corpus = load_corpus(options.vectors)
    layouts = (options.layout,) if options.layout else LAYOUTS
    selection = Selection(tuple(options.op), layouts, options.match, options.kind_class)
    selection.check(corpus)
    check_kit(corpus, options.vectors)
    session = open_session(options.target, shlex.split(options.adapter), options.device, options.timeout)
    try:
        run = conform(corpus, selection, session, options.json, sys.stderr)
    finally:
        session.close()
    return _show(run, options.verbose)


def _report(options: argparse.Namespace) -> int:
    return _show(read(options.file), options.verbose)


def _show(run: Run, verbose: int) -> int:
    sys.stdout.write(Report(run).text(verbose))
    return run.exit_code


def _explain(options: argparse.Namespace) -> int:
    sys.stdout.write(explain(options.name, load_corpus(), options.verbose))
    return 0
