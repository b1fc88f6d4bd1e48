"""Execute notebooks, each in a process of its own, and say how long each took.

    python -m notebooks.run                       all of them
    python -m notebooks.run 02-the-law            one
    python -m notebooks.run --keep executed       all, with output, in `executed`

Needs `pip install -e '.[notebooks]'`, and PyTorch for the last one. Nothing is written
into the notebooks themselves.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

HERE = Path(__file__).parent
LONGEST = 120  # seconds that a cell may take


def execute(file: Path) -> nbformat.NotebookNode:
    """Run a notebook from first cell to last, in this Python; return it with output."""
    notebook = nbformat.read(file, as_version=4)
    nbformat.validate(notebook)
    at = {"metadata": {"path": HERE}}
    NotebookClient(
        notebook, timeout=LONGEST, kernel_name="python3", resources=at
    ).execute()
    return notebook


def main() -> int:
    """Execute what is asked for; 1 where a cell failed."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument(
        "names", nargs="*", help="notebooks without .ipynb; all by default"
    )
    options.add_argument("--keep", type=Path, help="a folder for them, with output")
    asked = options.parse_args()
    names = asked.names or sorted(file.stem for file in HERE.glob("*.ipynb"))
    failed = 0
    for name in names:
        started = time.perf_counter()
        try:
            notebook = execute(HERE / f"{name}.ipynb")
        except CellExecutionError as error:
            print(f"{name}: failed\n{error}")
            failed += 1
            continue
        print(f"{name}: {time.perf_counter() - started:.1f} s", flush=True)
        if asked.keep:
            asked.keep.mkdir(parents=True, exist_ok=True)
            nbformat.write(notebook, asked.keep / f"{name}.ipynb")
    print(f"notebooks: {len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
