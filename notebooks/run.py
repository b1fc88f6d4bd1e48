"""Execute notebooks, each in a process of its own, and compare their outputs.

    python -m notebooks.run                    all of them
    python -m notebooks.run 02-the-law         one
    python -m notebooks.run --write            and keep the new outputs

Texts are compared word for word, pictures by presence. A cell that is tagged
`varies` only needs an output: its numbers depend on the machine. Needs
`pip install -e '.[notebooks]'`, and PyTorch for the last notebook.
"""

from __future__ import annotations

import argparse
import difflib
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

HERE = Path(__file__).parent
LONGEST = 120  # seconds that a cell may take
TEXT = "text/plain"


def execute(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Run a notebook in this Python, and return a copy with new outputs."""
    nbformat.validate(notebook)
    executed = nbformat.from_dict(notebook)
    NotebookClient(
        executed,
        timeout=LONGEST,
        kernel_name="python3",
        resources={"metadata": {"path": HERE}},
        record_timing=False,
    ).execute()
    return executed


def described(cell: nbformat.NotebookNode) -> list[str]:
    """Return the lines of the outputs of a cell, with the kinds of its pictures."""
    parts: list[tuple[str, str]] = []
    for output in cell.get("outputs", []):
        if output.output_type == "stream":
            kind, text = output.name, output.text
            if parts and parts[-1][0] == kind:
                text = parts.pop()[1] + text
        else:
            kind = " ".join(sorted({*output.data} - {TEXT}))
            text = output.data.get(TEXT, "")
        parts.append((kind, text))
    return [line for kind, text in parts for line in (kind, *text.splitlines())]


def differences(
    kept: nbformat.NotebookNode, executed: nbformat.NotebookNode
) -> Iterator[str]:
    """Yield a text for each cell whose new output is not the one that is kept."""
    for number, (old, new) in enumerate(zip(kept.cells, executed.cells, strict=True)):
        before, now = described(old), described(new)
        if "varies" in old.metadata.get("tags", []):
            before, now = before[:1], now[:1]
        if before != now:
            diff = difflib.unified_diff(before, now, "kept", "now", lineterm="")
            yield f"cell {number}\n" + "\n".join(diff)


def main() -> int:
    """Execute the notebooks; 1 if a cell failed or an output differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "names", nargs="*", help="notebooks without .ipynb; all by default"
    )
    parser.add_argument(
        "--write", action="store_true", help="keep the new outputs in the notebooks"
    )
    options = parser.parse_args()
    names = options.names or sorted(file.stem for file in HERE.glob("*.ipynb"))
    failed = 0
    for name in names:
        started, file = time.perf_counter(), HERE / f"{name}.ipynb"
        notebook = nbformat.read(file, as_version=4)
        try:
            executed = execute(notebook)
        except CellExecutionError as error:
            found = [str(error)]
        else:
            found = [] if options.write else list(differences(notebook, executed))
            if options.write:
                executed.metadata = notebook.metadata
                nbformat.write(executed, file)
        failed += bool(found)
        seconds = time.perf_counter() - started
        state = "failed" if found else "passed"
        print("\n".join([f"{name}: {state} in {seconds:.1f} s", *found]), flush=True)
    print(f"notebooks: {len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
