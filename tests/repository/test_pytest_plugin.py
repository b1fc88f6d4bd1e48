"""The plugin of pytest: each clause is a test, failures can be expected, and nothing is imported without a mark."""

from __future__ import annotations

import textwrap

import pytest
import scipy.special  # noqa: F401  what a run inside loads is taken out again, and this cannot be loaded twice

from pynested import pytest_plugin

pytest_plugins = ["pytester"]

MARKED = """
    import numpy as np
    import pytest

    import pynested as pn

    def softmax(x, dim, *, dtype=...):
        # accepts the batch dimension
        return pn.softmax(x, 1 if dim == 0 else dim, **({} if dtype is ... else {"dtype": dtype}))

    @pytest.mark.pynested("softmax", expect={"SOFTMAX-4": "dimension 0 is not refused yet"})
    def test_softmax(clause):
        clause.check(softmax)
    """
ONE = "-k", "SOFTMAX-4"


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyprojecttoml('[tool.pytest]\nstrict_markers = true\nfilterwarnings = ["error"]')
    return pytester


def outcome(suite: pytest.Pytester, code: str, *arguments: str) -> pytest.RunResult:
    """Run a suite in this process, where pynested is imported already, which pytest remarks on."""
    suite.makepyfile(textwrap.dedent(code))
    return suite.runpytest_inprocess("-W", "ignore::pytest.PytestAssertRewriteWarning", *arguments)


def test_each_clause_is_a_test_and_failures_can_be_expected(suite: pytest.Pytester) -> None:
    done = outcome(suite, MARKED, "-v", "-rA")
    done.assert_outcomes(passed=10, xfailed=1)
    done.stdout.fnmatch_lines(["*::test_softmax[[]SOFTMAX-1[]] PASSED*", "*::test_softmax[[]SOFTMAX-4[]] XFAIL*"])


def test_layouts_can_be_a_list(suite: pytest.Pytester) -> None:
    code = MARKED.replace("1 if dim == 0 else dim", "dim").replace('"SOFTMAX-4": "dimension 0 is not refused yet"', "")
    code = code.replace("check(softmax)", 'check(softmax, layouts=["jagged"], match="*/error/*")')
    outcome(suite, code, *ONE).assert_outcomes(passed=1, deselected=10)


def test_a_failure_shows_the_clause_and_the_case(suite: pytest.Pytester) -> None:
    done = outcome(suite, MARKED.replace('expect={"SOFTMAX-4": "dimension 0 is not refused yet"}', ""), *ONE)
    done.assert_outcomes(failed=1, deselected=10)
    shown = ["SOFTMAX-4: `dim` 0 *", "softmax/error/batch/1, jagged, packed *: softmax(x, dim=0)*"]
    done.stdout.fnmatch_lines([*shown, "*expected DimensionError*"])


def test_an_expected_failure_that_passes_fails(suite: pytest.Pytester) -> None:
    done = outcome(suite, MARKED.replace("1 if dim == 0 else dim", "dim"), *ONE)
    done.assert_outcomes(failed=1, deselected=10)
    done.stdout.fnmatch_lines(["*XPASS(strict)*"])


def test_functions_that_are_not_implemented_are_skipped(suite: pytest.Pytester) -> None:
    code = MARKED.replace("return pn", "raise NotImplementedError; return pn").replace("expect=", "expect={} and ")
    done = outcome(suite, code)
    assert done.parseoutcomes().get("passed", 0) == 0 and done.parseoutcomes()["skipped"] > 0


@pytest.mark.parametrize(("old", "new", "message"), [
    ('"softmax", expect', '"softmay", expect', "the specification has no operator 'softmay'"),
    ("SOFTMAX-4", "SOFTMAX-99", "no case of softmax is about SOFTMAX-99"),
    ("test_softmax(clause)", "test_softmax()", "takes the argument `clause`"),
    ('"softmax", expect', "expect", "pynested_mark() missing 1 required positional argument: 'op'"),
    ("expect=", "expect=3 or ", "expect maps clauses to reasons, and 3 does not"),
    ("expect=", "expected=", "pynested_mark() got an unexpected keyword argument 'expected'"),
])  # fmt: skip
def test_a_wrong_mark_is_one_sentence(suite: pytest.Pytester, old: str, new: str, message: str) -> None:
    done = outcome(suite, MARKED.replace(old, new))
    assert message in done.stdout.str() + done.stderr.str() and done.ret != 0


def test_a_suite_without_a_mark_does_not_import_pynested(suite: pytest.Pytester) -> None:
    code = """
        import sys

        def test_nothing():
            assert "pynested_pytest" in sys.modules
            assert not {"pynested", "numpy"} & set(sys.modules)
        """
    suite.makepyfile(textwrap.dedent(code))
    suite.runpytest_subprocess().assert_outcomes(passed=1)


def test_the_example_of_the_documentation_is_the_one_that_is_run() -> None:
    for line in MARKED.splitlines():
        if "mark" in line or "clause" in line:
            assert line.strip() in (pytest_plugin.__doc__ or "")
