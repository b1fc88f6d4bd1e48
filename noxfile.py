"""Checks of pynested as sessions of nox: `nox -l` lists them, `nox -s NAME` runs one, `bash .ci/run` runs them all.

Install nox with the development tools, `pip install -e '.[dev]'`, and start it from that environment: most sessions run
in it. The others have an environment of their own below `.nox/`; `nox -R` uses one again as it is.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import nox

ROOT = Path(__file__).parent
BIN = Path(sys.prefix) / "bin"
ENVIRONMENTS = ROOT / ".nox"
SLOW_FOLDERS = ("conformance", "fuzz", "fuzzing", "mutation", "spec")  # those of tests/conftest.py
PAGES, PLOTS, EXAMPLES = (f"tests/repository/test_{name}.py" for name in ("pages", "site", "documentation"))
NVIDIA_COMPILER = (
    "cupy-cuda13x>=14", "nvidia-cuda-nvrtc==13.*", "nvidia-cuda-runtime==13.*", "nvidia-cuda-cccl==13.*",
)  # fmt: skip
OLDEST_NUMPY = "numpy<2.1; python_version < '3.13'"
SANITIZED = ("--schedule", "random", "--timeout", "120")  # seconds for each answer, with the time to compile kernels
# ThreadSanitizer is slow: only with gaps, where the kernels that gather and scatter run too. It keeps memory of all
# threads that ever ran in a process, which is too much for all cases together.
THREAD_SANITIZER = (
    *(*SANITIZED, "--sanitize", "thread", "--workers", "2", "--processes", "3"),
    *("--layout", "jagged", "--quick", "--placement", "holes-nan"),
)
SCHEDULES = {
    "eager": ("--schedule", "eager", "--quick"),
    "reverse": ("--schedule", "reverse", "--quick"),
    "address": (*SANITIZED, "--sanitize", "address", "--quick"),
    "thread": (*THREAD_SANITIZER, "--exclude", "*attention*"),
    "thread-attention": (*THREAD_SANITIZER, "--match", "*attention*"),
}

nox.options.sessions = ["quick", "lint", "types"]
here = nox.session(venv_backend="none")  # in the environment that nox was started from


def python(session: nox.Session, *arguments: str | Path) -> None:
    """Run Python of the environment that nox was started from."""
    session.run(sys.executable, *map(str, arguments))


def pytest(session: nox.Session, *arguments: str | Path) -> None:
    """Run pytest in the environment that nox was started from, on all cores."""
    session.run(str(BIN / "pytest"), "-n", "auto", *map(str, arguments))


def install(session: nox.Session, *requirements: str, extras: str) -> None:
    """Install the checkout with extras, without the links of the strict mode, which `.venv` uses at the same time.

    Python compiles the modules that are imported; large libraries have thousands of others.
    """
    session.install("--no-compile", "--config-settings", "editable_mode=lenient", *requirements, "-e", f".[{extras}]")


def python_of(session: nox.Session, environment: str) -> str:
    """Return Python of the environment of another session."""
    file = ENVIRONMENTS / environment / "bin" / "python"
    if not file.exists():
        session.error(f"first: nox --install-only -s {environment}")
    return str(file)


# ---- tests


@here
def quick(session: nox.Session) -> None:
    """Tests but the files that take a second or more: one to three minutes."""
    pytest(session, "-m", "quick", *session.posargs)


@here
def tests(session: nox.Session) -> None:
    """Tests, and examples of docstrings and pages: two minutes. `nox -s tests -- -k softmax` chooses."""
    pytest(session, *session.posargs)


@here
def slow(session: nox.Session) -> None:
    """Tests of the kit and the specification that take seconds each: two to four minutes."""
    folders = [f"tests/{folder}" for folder in SLOW_FOLDERS]  # the others are not imported
    pytest(session, "-m", "slow and not sanitizer", *(session.posargs or folders))


@here
def exhaustive(session: nox.Session) -> None:
    """More of what a shorter test does: a minute. Properties of every kernel and every sample are left to pytest."""
    left_out = ("backends/test_kernels", "conformance/test_plain", "operators/test_law", "operators/test_gradients")
    ignored = [word for module in left_out for word in ("--ignore", f"tests/{module}.py")]
    pytest(session, "-m", "exhaustive and not slow", "-k", "not every", *ignored, *session.posargs)


@here
def fuzz(session: nox.Session) -> None:
    """Random calls of pynested, judged by the specification; `nox -s fuzz -- --seed 7 --calls 100000`."""
    python(session, "-m", "tests.fuzz", *(session.posargs or ("--seed", "1", "--calls", "6000")))


# ---- style and types


@here
def lint(session: nox.Session) -> None:
    """Rules and format of ruff."""
    session.run(str(BIN / "ruff"), "check", ".")
    session.run(str(BIN / "ruff"), "format", "--check", ".")


@here
def types(session: nox.Session) -> None:
    """Types of the project by mypy; types of the installed package by mypy and pyright, without our settings."""
    session.run(str(BIN / "mypy"))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "typed.py"
        file.write_text((ROOT / "tests" / "typed.py").read_text(encoding="utf-8"), encoding="utf-8")
        with session.chdir(folder):
            session.run(str(BIN / "mypy"), "--strict", file.name)
            session.run(str(BIN / "basedpyright"), "--level", "error", "--pythonpath", sys.executable, file.name)


# ---- specification and conformance


@here
def vectors(session: nox.Session) -> None:
    """Vectors are what the generator writes, and keep to their JSON Schema."""
    python(session, "-m", "pynested.spec.generator", "--check")
    python(session, "-m", "tests.spec.test_vector_schema")


@here
def spec(session: nox.Session) -> None:
    """Every clause has a case, every case a clause, and the chapters are what the tables say."""
    python(session, "-m", "pynested.spec.check")
    python(session, "-m", "pynested.spec.render", "--check")


@here
def conform(session: nox.Session) -> None:
    """Plain kernels and compiled functions against the specification; `nox -s conform -- --op log1p` chooses."""
    compiled = ("--compiled", "--device", "emulated", "--quick", "--class", "gradient")
    for options in [session.posargs] if session.posargs else [
        ("--device", "plain", "--quick"), ("--compiled", "--quick"), compiled,
    ]:  # fmt: skip
        session.run(str(BIN / "pynested"), "conform", *options)


@here
@nox.parametrize("schedule", list(SCHEDULES), ids=list(SCHEDULES))
def emulated(session: nox.Session, schedule: str) -> None:
    """CUDA kernels on the CPU against the specification, in another order of threads or with a sanitizer.

    A fixed part of the cases on each schedule; the sanitizers take a random one. `exhaustive` has all cases.
    """
    session.run(str(BIN / "pynested"), "conform", "--device", "emulated", *SCHEDULES[schedule], *session.posargs)


@here
def sanitizer(session: nox.Session) -> None:
    """Planted faults of kernels, and kernels that no operator needs, under the sanitizers."""
    pytest(session, "-m", "sanitizer", *(session.posargs or ("tests/backends/cuda", "tests/conformance")))


# ---- other environments


@nox.session
def wheel(session: nox.Session) -> None:
    """Build the sdist and from it the wheel, install it with the oldest NumPy, and run `conform` in another folder."""
    with tempfile.TemporaryDirectory() as folder:
        session.run(sys.executable, "-m", "build", "--outdir", folder, ".", external=True)
        (file,) = Path(folder).glob("*.whl")
        session.install(f"{file}[report]", OLDEST_NUMPY)
        with session.chdir(folder):
            session.run("pynested", "conform", "--quick", "--json", str(ENVIRONMENTS / "pynested.jsonl"))


@nox.session
def nvrtc(session: nox.Session) -> None:
    """Compile every kernel for every architecture by NVIDIA's compiler, and compare the stand-in for CuPy with CuPy."""
    install(session, *NVIDIA_COMPILER, extras="test")
    session.run("python", "-c", "import cupy")  # so that no test is skipped
    files = ("tests/backends/cuda/test_nvrtc.py", "tests/backends/cuda/test_cupy.py", "tests/graph/test_kernels.py")
    session.run("pytest", "-n", "auto", "-k", "nvrtc or cupys or cupy_compiles or compiler_for_gpus", *files)


@nox.session
def torch(session: nox.Session) -> None:
    """Tests that need PyTorch: operators, interchange, training, the kit, pages. And pictures as PNG, and plots."""
    install(session, "torch==2.13.0", extras="test,notebooks")
    session.run("python", "-c", "import torch, cairosvg, matplotlib, nbclient")  # so that no test is skipped
    kit = [f"tests/conformance/test_{name}.py" for name in ("targets", "snippets", "pasted", "operands")]
    files = ("tests/against_torch", "tests/interchange", "tests/training", *kit, PAGES)
    session.run("pytest", "-n", "auto", "--dist", "worksteal", "-k", "torch or pycon", *files)
    session.run("pytest", "tests/pictures/test_pictures.py", "tests/conformance/test_progress.py", PLOTS)
    session.run("pytest", EXAMPLES, "-k", "examples_of and (torch or training)")


@here
def notebooks(session: nox.Session) -> None:
    """Execute every notebook, in the environment of `torch`, and compare its outputs with those that are kept."""
    session.run(python_of(session, "torch"), "-m", "notebooks.run", *session.posargs)


@here
def differences(session: nox.Session) -> None:
    """PyTorch differs from the specification, in the environment of `torch`; its report by the wheel in `wheel`."""
    run = str(ENVIRONMENTS / "torch.jsonl")
    arguments = ("conform", "--target", "torch", "--quick", "--json", run)
    session.run(python_of(session, "torch"), "-m", "pynested", *arguments, success_codes=[1])
    with tempfile.TemporaryDirectory() as folder, session.chdir(folder):
        session.run(python_of(session, "wheel"), "-m", "pynested", "site", "torch", run)


@nox.session
def interchange(session: nox.Session) -> None:
    """Arrays exchanged with every library, examples that need one, and the kit beside awkward and TensorFlow."""
    install(session, extras="test,interchange")
    session.run("pytest", "tests/interchange")
    session.run("pytest", PAGES, EXAMPLES, "-k", "pycon or programs or (examples_of and interchange)")
    kit = ("tests/conformance/test_peers.py", "tests/conformance/test_operands.py")
    session.run("pytest", *kit, "-k", "peers or awkward or tensorflow")


@nox.session
def docs(session: nox.Session) -> None:
    """The site, without a warning and without a dead link; with the runs of `differences` and `wheel` if they exist."""
    install(session, extras="site")
    runs = [word for run in sorted(ENVIRONMENTS.glob("*.jsonl")) for word in ("--run", str(run))]
    session.run("python", "-m", "docs.site", "_site/html", *runs)


# ---- one operator


@here
def operator(session: nox.Session) -> None:
    """After adding an operator: write its vectors and its chapter, and run the checks that name it."""
    if len(session.posargs) != 1:
        session.error("the name of one operator: nox -s operator -- log1p")
    (name,) = session.posargs
    lint(session)
    pytest(session, "tests/repository/test_pages.py", "tests/spec/test_covering.py", "-k", f"{name} or names_of_numpy")
    python(session, "-m", "pynested.spec.generator", name)
    python(session, "-m", "pynested.spec.render")
    base = Path(sys.base_prefix) / "bin" / "python3"  # the environment itself may have no pip
    install = ("install", "--quiet", "--no-deps", "-e", ".")  # links to the new vectors
    session.run(str(base), "-m", "pip", "--python", sys.prefix, *install)
    python(session, "-m", "pynested.spec.check")
    session.run(str(BIN / "pynested"), "conform", "--op", name)
    session.run(str(BIN / "pynested"), "conform", "--op", name, "--device", "emulated")
    python(session, "-m", "tests.spec.test_bounds_fuzz", "--op", name, "--calls", "2000")
    pytest(session, "-k", name)
    devices = ("tests/backends/cuda/test_device_law.py", "tests/graph/test_kernels.py")
    session.run(str(BIN / "pytest"), *devices, "-k", f"{name} or functor")
