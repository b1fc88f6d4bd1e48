"""A run in the forms that other tools read: JUnit for continuous integration, Markdown for an issue or a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as xml

from .coverage import coverage
from .differences import Cause, causes
from .judge import ADAPTER, CONVENTION, DIFFERS, OK
from .kinds import KINDS
from .problems import OutputError
from .records import Record, Run


def save(text: str, path: Path) -> None:
    """Write a text to a file."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}") from error


def junit(run: Run) -> str:
    """Return a test suite for each operator and a test case for each check.

    What differs is a failure, an adapter that fails an error, and what could not be asked is skipped.
    """
    root = xml.Element("testsuites", name=f"pynested conform {run.header['target']['name']}")
    suites: dict[str, xml.Element] = {}
    for result in run.results:
        if result["op"] not in suites:
            suites[result["op"]] = xml.SubElement(root, "testsuite", name=result["op"])
        for part, verdict in result["parts"].items():
            name = f"{result['id']} {part}"
            check = xml.SubElement(suites[result["op"]], "testcase", classname=result["layout"], name=name)
            if verdict not in (OK, CONVENTION):
                _outcome(check, result, part, verdict)
    for suite in suites.values():
        for key, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            suite.set(key, str(sum(1 for _ in suite.iter(tag))))
    xml.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + xml.tostring(root, encoding="unicode") + "\n"


def _outcome(check: xml.Element, result: Record, part: str, verdict: str) -> None:
    """Add to a test case why it did not pass."""
    found: Record = next((one for one in result["findings"] if (one["part"], one["verdict"]) == (part, verdict)), {})
    tag = "failure" if verdict in DIFFERS else "error" if verdict == ADAPTER else "skipped"
    what = f"{found['clause']}: {DIFFERS[verdict]}" if verdict in DIFFERS else verdict
    outcome = xml.SubElement(check, tag, message=what)
    if tag == "failure":
        outcome.set("type", found["kind"])
        outcome.text = f"{found['text']}\nexpected {found['want']}\ngot {found['got']}\n\n{found['snippet']}\n"
    elif "got" in found:
        outcome.text = found["got"]


def markdown(run: Run) -> str:
    """Return what was checked, a table of the kinds, and every cause with its snippet, folded."""
    target, found, roots = run.header["target"], coverage(run.results), causes(run)
    lines = [f"# {target['name']} {target['version']} against specification {run.header['spec']}", ""]
    lines += [f"Held to {found.share()}; {found.agree:,} agree, {found.differ:,} differ.", ""]
    if run.footer is None:
        lines += ["This run broke off.", ""]
    if roots:
        lines += ["| kind | what the target does | causes | cases |", "|---|---|--:|--:|"]
    for kind, text in KINDS.items():
        sizes = [len(cause.members) for cause in roots if cause.kind == kind]
        lines += [f"| {kind} | {text} | {len(sizes):,} | {sum(sizes):,} |"] if sizes else []
    for cause in roots:
        lines += ["", *_entry(cause, target["name"])]
    return "\n".join(lines) + "\n"


def _entry(cause: Cause, target: str) -> Iterator[str]:
    """Yield one cause; texts of strangers stand in code, which has no markup."""
    result, finding = cause.example
    yield f"## {cause.clause}: {target} {cause.what}"
    yield ""
    yield f"*{KINDS[cause.kind]}*, {cause.extent}, of {', '.join(cause.operators)}. {finding['text']}"
    yield ""
    facts = {"case": result["id"], "call": finding["call"], "expected": finding["want"], "got": finding["got"]}
    ticks = re.findall("`+", "".join([*facts.values(), finding["snippet"]]))
    fence = "`" * max(3, 1 + max(map(len, ticks), default=0))  # longer than any inside
    yield from (fence + "text", *(f"{name:9} {text}" for name, text in facts.items()), fence)
    yield from ("", "<details><summary>paste</summary>", "", fence + "python", finding["snippet"], fence, "")
    yield "</details>"
