"""Lines of Python by area.

python -m tools.count
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]


class Area(NamedTuple):
    """A part of the project: the largest number of lines, and the beginnings of its paths."""

    limit: int
    paths: str


AREAS = {
    "autograd, backends": Area(11_500, "autograd/ backends/"),
    "pynested": Area(13_000, "pynested/"),
    "services": Area(
        8_200,
        "pynested/graph/ pynested/profiling/ pynested/pictures/ pynested/training.py pynested/html_repr.py "
        "pynested/conformance/report_html/ benchmarks/ docs/ notebooks/ tools/ noxfile.py",
    ),
    "tests": Area(16_400, "tests/"),
    "specification": Area(17_500, "spec/ tests/spec/"),
    "kit": Area(
        22_000,
        "pynested/conformance/ pynested/fuzzing/ pynested/testing/ pynested/cli pynested/pytest_plugin.py "
        "pynested_pytest.py tests/conformance/ tests/fuzz/ tests/fuzzing/",
    ),
}
ELSEWHERE = "elsewhere"


def area_of(path: str) -> str:
    """Return the area with the longest beginning of the path."""
    fitting = [
        (len(start), name) for name, area in AREAS.items() for start in area.paths.split() if path.startswith(start)
    ]
    return max(fitting)[1] if fitting else ELSEWHERE


def python_files(root: Path) -> list[str]:
    """Return the paths of all Python files that git tracks or would track."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.splitlines()
    return sorted(path for path in set(listed) if (root / path).is_file())


def lines_by_area(root: Path, paths: Iterable[str]) -> Counter[str]:
    """Return the number of lines of each area, as `wc -l` counts them."""
    lines: Counter[str] = Counter()
    for path in paths:
        lines[area_of(path)] += (root / path).read_bytes().count(b"\n")
    return lines


def main() -> None:
    """Print the table."""
    lines = lines_by_area(ROOT, python_files(ROOT))
    print(f"{'area':<24}{'lines':>9}{'limit':>9}{'over':>9}")
    for name, area in AREAS.items():
        print(f"{name:<24}{lines[name]:>9,}{area.limit:>9,}{max(0, lines[name] - area.limit):>9,}")
    if lines[ELSEWHERE]:
        print(f"{ELSEWHERE:<24}{lines[ELSEWHERE]:>9,}")
    print(f"{'all':<24}{lines.total():>9,}{sum(area.limit for area in AREAS.values()):>9,}")


if __name__ == "__main__":
    main()
