"""The site says what the records say, holds together, needs nothing from outside, and obeys nobody's text."""

from __future__ import annotations

import functools
import json
import re
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from pynested.cli import main
from pynested.conformance.kinds import KINDS
from pynested.conformance.records import Run, read
from pynested.conformance.report_html import pages, write_site
from pynested.conformance.report_html.page_index import Slugs
from pynested.spec.table import load_table

from .test_report import finding, made, result

Runs = Callable[..., Run]
Captured = pytest.CaptureFixture[str]

ELEMENTS = {"html", "head", "meta", "title", "style", "body", "nav", "main", "h1", "h2", "h3", "p", "a", "ul", "li"}
ELEMENTS |= {"dl", "dt", "dd", "div", "table", "caption", "thead", "tbody", "tr", "th", "td", "details", "summary"}
ELEMENTS |= {"pre", "code", "strong", "span"}
ATTRIBUTES = {"lang", "charset", "name", "content", "http-equiv", "href", "id", "class", "style", "role", "tabindex"}
ATTRIBUTES |= {"aria-label", "scope", "colspan", "open"}


class Page(HTMLParser):
    """A page as a browser reads it: its elements, links and places; what does not nest is an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.source, self.text = text, ""
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.rows: list[list[str]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.elements.add(tag)
        self.attributes |= set(given)
        self.links += [str(given["href"])] if "href" in given else []
        self.ids += [str(given["id"])] if "id" in given else []
        self._open += [] if tag == "meta" else [tag]
        self.rows += [[]] if tag == "tr" else []
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += "" if "style" in self._open else data
        if {"td", "th"} & set(self._open):
            self.rows[-1][-1] += data

    def row(self, name: str) -> list[str]:
        """The cells after a name."""
        (found,) = [row[1:] for row in self.rows if row[:1] == [name]]
        return found


class Site:
    """The pages of runs by their paths; one is read when it is asked for."""

    def __init__(self, *runs: Run) -> None:
        self.sources = dict(pages(runs))

    @functools.cache  # noqa: B019 - it lives as long as a test
    def __getitem__(self, path: str) -> Page:
        return Page(self.sources[path])


def differing(**more: Any) -> Run:
    """A run with three causes, of two kinds and two operators."""
    accepted = finding("accepted", "SUM-3", part="error", kind="limit", **more)
    return made(
        *(result(number, finding("value", "SUM-1", kind="nested", **more), gradient="ok") for number in range(3)),
        result(3, finding("value", "SUM-9", part="gradient", kind="nested", **more), forward="ok"),
        *(result(number, accepted, op="mean", layout="strided") for number in range(4, 6)),
        result(6, op="mean", forward="missing"),
    )


def test_the_matrix_counts_the_checks_of_each_operator() -> None:
    clean = made(*(result(number, forward="ok", gradient="ok") for number in range(5)))
    clean.header["target"] = {**clean.header["target"], "name": "right"}
    front = Site(differing(), clean)["index.html"]
    # Of `sum` three results differ of eight checks, and a gradient; of `mean` both refusals, and one is not there.
    assert front.row("sum") == ["4/8", "10"]
    assert front.row("mean") == ["0/2 +1", "·"]
    assert front.row("torch 2.13.0")[:5] == ["4", "6", "0", "3", "10 of 11 checks (90 %)"]
    assert front.row("right 2.13.0") == ["10", "0", "0", "0", "10 of 10 checks (100 %)", "right agrees in all checks."]
    assert front.row(KINDS["nested"]) == ["2 (4)"] and front.row(KINDS["limit"]) == ["1 (2)"]


def test_what_agrees_what_differs_and_what_is_declared_are_the_checks_that_were_made() -> None:
    own = {"part": "forward", "verdict": "convention", "placements": ["packed"], "got": "promotion: float32"}
    front = Site(made(result(1, forward="ok"), result(2, own), result(3, finding("value", "SUM-1"))))["index.html"]
    assert front.row("torch 2.13.0")[:5] == ["1", "1", "1", "1", "3 of 3 checks (100 %)"]


def test_a_cause_says_what_the_placement_means_where_it_matters() -> None:
    found = made(result(1, finding("value", "SUM-1", placements=["bare"])), result(2, finding("value", "SUM-2")))
    text = Site(found)["targets/torch-2-13-0.html"].text
    assert text.count("memorybare: packed, and built without optional arguments") == 1


def test_kinds_come_in_their_order_and_gradients_first() -> None:
    found = [result(n, finding("value", f"SUM-{n + 1}", kind=kind)) for n, kind in enumerate(reversed(KINDS))]
    page = Site(made(*found, result(9, finding("value", "SUM-9", part="gradient", kind="nested"))))
    target = page["targets/torch-2-13-0.html"]
    assert [one for one in target.ids if one in KINDS] == list(KINDS)
    assert target.ids.index("nested") < target.text.index("SUM-9") and target.text.index("SUM-9") < target.text.index(
        "SUM-8"
    )


def test_a_cause_has_its_clause_its_numbers_and_code_that_shows_it(run: Runs) -> None:
    found = Site(run("DropsRow"))
    clause = next(one for one in load_table()["sum"].clauses if one.id == "SUM-1")
    for path in ("targets/dropsrow-0.html", "operators/sum.html"):
        text = " ".join(found[path].text.split())
        assert "DropsRow gives another value" in text and clause.text.replace("`", "") in text
        assert "sum/float32/ragged/2" in text and "expected1.0 (3f800000) at component 0 [0]" in text
        assert "out = sum(x, 1)" in text and "All 4 cases" in text
    assert "no element of a hole takes part.Differs: DropsRow 0" in " ".join(found["operators/sum.html"].text.split())
    for operator in load_table().values():
        page = found.sources[f"operators/{operator.name}.html"]
        assert all(f'<dt id="{one.id}">' in page for one in operator.clauses)


def test_every_page_holds_together(run: Runs) -> None:
    names = ("Right", "DropsRow", "NotImplemented", "BrokenAdapter", "Refuses")
    found = Site(*map(run, names), differing(), differing())
    for path in found.sources:
        page = found[path]
        assert page.source.startswith("<!DOCTYPE html>\n") and page.elements <= ELEMENTS
        assert page.attributes <= ATTRIBUTES and len(set(page.ids)) == len(page.ids)
        assert not re.search(r"@import|url\(", page.source.partition("</style>")[0])
        assert "default-src 'none'" in page.source and 'name="viewport"' in page.source
        for link in page.links:
            to, _, place = link.partition("#")
            assert re.fullmatch(r"[a-z0-9_./-]*", to)
            other = page if not to else found[str(Path("/", path).parent.joinpath(to).resolve())[1:]]
            assert not place or place in other.ids, f"{path}: {link}"


PAYLOADS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style></pre></details><b>",
    "&lt;b&gt;",
    "\x1b]0;owned\x07 \u202e \ud800 \u2028",
    "../../etc/passwd",
    "javascript:alert(1)",
    "`",
    "",
)


def poisoned(value: Any, text: str) -> Any:
    """A value in which every text that the rules of records leave free is another one."""
    if isinstance(value, dict):
        kept = ("record", "format", "layout", "part", "verdict", "kind", "placements", "dtypes", "parts", "counts")
        return {name: one if name in kept else poisoned(one, text) for name, one in value.items()}
    if isinstance(value, list):
        return [poisoned(one, text) for one in value]
    return text if isinstance(value, str) else value


@pytest.mark.parametrize("payload", PAYLOADS)
def test_text_of_strangers_is_text(run: Runs, tmp_path: Path, payload: str) -> None:
    kept = tmp_path / "run.jsonl"
    run("DropsRow", keep=kept)
    lines = [poisoned(json.loads(line), payload) for line in kept.read_text(encoding="utf-8").splitlines()]
    for number, line in enumerate(lines):
        if line["record"] == "result":
            line["id"] = f"{number} {payload}"
        line.update({"selection": {"layout": ["jagged", "strided"], payload: payload}} if "selection" in line else {})
    kept.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    found = Site(read(kept))
    for path, source in found.sources.items():
        assert re.fullmatch(r"(index|(targets|operators)/[a-z0-9_-]+)\.html", path)
        assert source.replace("\n", "").isprintable()
    written = [found[path] for path in found.sources if Path(path).stem not in load_table()]
    assert len(written) == 3  # the front page, the target, and an operator that nobody knows
    for page in written:
        assert page.elements <= ELEMENTS and page.attributes <= ATTRIBUTES
        assert not any(link.startswith("javascript") for link in page.links)
        assert page.text.count(payload) > 2 or not payload.isprintable()


def test_files_have_names_of_their_own() -> None:
    slugs = Slugs()
    names = ["sum", "Sum", "SUM", "s/u/m", "../sum", "", "!", "x" * 300, "x" * 301, "sum"]
    found = [slugs(name) for name in names]
    assert found[-1] == found[0] and len(set(found)) == len(names) - 1
    assert all(re.fullmatch(r"[a-z0-9_-]{1,70}", one) for one in found)


def test_two_runs_of_one_target_are_two_columns() -> None:
    found = Site(differing(), differing())
    assert found["index.html"].row("operator") == ["torch 2.13.0", "torch 2.13.0 (2)"]
    assert {"targets/torch-2-13-0.html", "targets/torch-2-13-0-2.html"} <= set(found.sources)
    other = differing()
    other.header["vectors"] = "fedcba9876543210"
    assert "different vectors" in Site(differing(), other)["index.html"].text


def test_what_is_not_known_is_not_said_to_agree(run: Runs) -> None:
    nothing, whole = run("NotImplemented"), differing()
    broken = Run({**whole.header, "results": 9}, whole.results)
    front = Site(nothing, broken)["index.html"]
    assert front.row("sum") == ["none", "4/8"]
    assert "no check could be made, which is no agreement" in front.row("NotImplemented 0")[-1]
    page = Site(run("BrokenAdapter"))["targets/brokenadapter-0.html"]
    assert (
        "not made2 are gradients of results that are missing or wrong; 6 ended in an error of the adapter" in page.text
    )
    assert front.row("torch 2.13.0")[-1] == "The run broke off: it has 7 of 9 results."


def test_the_command_writes_a_folder_and_replaces_its_own(run: Runs, tmp_path: Path, capsys: Captured) -> None:
    kept, out = tmp_path / "run.jsonl", tmp_path / "new" / "site"
    run("DropsRow", keep=kept)
    assert main(["site", str(out), str(kept), str(kept)]) == 0
    files = {str(one.relative_to(out)) for one in out.rglob("*.html")}
    assert capsys.readouterr().out == f"{len(files)} pages; open {out / 'index.html'}\n"
    assert "targets/dropsrow-0-2.html" in files
    (out / "operators" / "notes.txt").write_text("mine")
    assert main(["site", str(out), str(kept)]) == 0
    left = {str(one.relative_to(out)) for one in out.rglob("*.*")}
    assert left == files - {"targets/dropsrow-0-2.html"} | {"operators/notes.txt"}


@pytest.mark.parametrize("inside", ["index.html", "thesis.tex"])
def test_a_folder_of_others_is_left_alone(tmp_path: Path, inside: str, capsys: Captured) -> None:
    kept = tmp_path / "run.jsonl"
    write_run(differing(), kept)
    out = tmp_path / "out"
    out.mkdir()
    (out / inside).write_text("mine")
    assert main(["site", str(out), str(kept)]) == 2
    assert "holds other things than a site" in capsys.readouterr().err
    assert [one.name for one in out.iterdir()] == [inside] and (out / inside).read_text() == "mine"


def test_what_cannot_be_read_or_written_is_said(tmp_path: Path, capsys: Captured) -> None:
    kept = tmp_path / "run.jsonl"
    kept.write_text("<html>")
    assert main(["site", str(tmp_path / "out"), str(kept)]) == 2
    assert not (tmp_path / "out").exists() and "not a stream of records" in capsys.readouterr().err
    write_run(differing(), kept)
    assert main(["site", str(kept), str(kept)]) == 3
    assert "cannot write the site to" in capsys.readouterr().err and kept.stat().st_size > 1000


def test_without_jinja2_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    write_run(differing(), tmp_path / "run.jsonl")
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert main(["site", str(tmp_path / "out"), str(tmp_path / "run.jsonl")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "pip install 'pynested[report]'" in line and not (tmp_path / "out").exists()


def write_run(run: Run, path: Path) -> None:
    """Keep a run as conform does."""
    first = {"record": "header", "format": "pynested-records/2", "results": len(run.results), **run.header}
    lines = [first, *run.results, {"record": "footer", **(run.footer or {})}]
    path.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")


def test_the_pages_are_the_same_each_time() -> None:
    assert list(pages([differing()])) == list(pages([differing()]))


def test_write_site_counts_what_it_writes(tmp_path: Path) -> None:
    assert write_site([differing()], tmp_path / "out") == len(list((tmp_path / "out").rglob("*.html")))
