"""The same run for machines and for pages: nothing is lost on the way, and nobody's text becomes markup."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as xml

import pytest

from pynested.cli import main
from pynested.conformance.exports import junit, markdown
from pynested.conformance.records import Run

Runs = Callable[..., Run]


@pytest.mark.parametrize(
    ("name", "tests", "failures", "errors", "skipped"),
    [
        ("Right", 8, 0, 0, 0),
        ("DropsRow", 8, 4, 0, 0),
        ("NotImplemented", 8, 0, 0, 8),
        ("BrokenAdapter", 8, 0, 6, 2),
    ],
)
def test_junit_counts_every_check(run: Runs, name: str, tests: int, failures: int, errors: int, skipped: int) -> None:
    (suite,) = xml.fromstring(junit(run(name)))
    counts = [int(suite.attrib[key]) for key in ("tests", "failures", "errors", "skipped")]
    assert suite.attrib["name"] == "sum" and counts == [tests, failures, errors, skipped]


def test_a_failure_says_what_was_expected_and_has_the_snippet(run: Runs) -> None:
    failure = next(xml.fromstring(junit(run("DropsRow"))).iter("failure"))
    assert failure.attrib == {"message": "SUM-1: gives another value", "type": "differs"}
    assert failure.text is not None and "expected 4.0 (40800000)" in failure.text
    assert "out = sum(x, 1)" in failure.text


def test_markdown_has_the_share_the_kinds_and_each_cause(run: Runs) -> None:
    text = markdown(run("DropsRow"))
    assert text.startswith("# DropsRow 0 against specification")
    assert "Held to 8 of 8 checks (100 %); 4 agree, 4 differ." in text
    assert "| differs | differs from the specification | 1 | 4 |" in text
    assert text.count("\n## SUM-1: DropsRow gives another value\n") == 1 and "out = sum(x, 1)" in text
    assert "| kind" not in markdown(run("Right"))


def test_text_of_strangers_is_no_markup(run: Runs) -> None:
    found = run("Refuses")
    for result in found.results:
        for finding in result["findings"]:
            finding["got"] = "E: <b>& ```` </details>"
    assert next(xml.fromstring(junit(found)).iter("failure")).text
    inside = markdown(found).split("`````")
    assert all(("</details>" in part) is (number % 2 == 1) for number, part in enumerate(inside) if "<b>" in part)


def test_the_command_writes_both(
    vectors: Path, command: Callable[[str], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    junit_file, page = tmp_path / "run.xml", tmp_path / "run.md"
    arguments = ["conform", "--vectors", str(vectors), "--adapter", command("DropsRow")]
    assert main([*arguments, "--junit", str(junit_file), "--markdown", str(page)]) == 1
    assert len(list(xml.parse(junit_file).iter("testcase"))) == 8 and page.read_text().startswith("# DropsRow")
    assert main([*arguments, "--junit", str(tmp_path)]) == 3
    assert "cannot write" in capsys.readouterr().err
