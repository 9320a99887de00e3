# SPDX-License-Identifier: Apache-2.0
"""What the first minutes with the Python package cost: size, import, memory, first steps.

    python bench/python/figures.py [--wheel FILE.whl] [-o FIGURES.json]

Run it with an interpreter that has the package. Times are the best of several fresh processes:
what is left after that is the cost, and not the noise of a machine. A figure without a wheel to
measure is left out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import NamedTuple

RUNS = 7


class Figure(NamedTuple):
    figure: str
    value: float
    unit: str
    bar: float
    how: str

    @property
    def is_met(self) -> bool:
        return self.value <= self.bar

    def __str__(self) -> str:
        verdict = "" if self.is_met else "  MISSED"
        return f"{self.figure:<44} {self.value:9.4g} {self.unit:<3} bar {self.bar:6.3g}{verdict}"


def best(code: str) -> list[float]:
    """The least of each number that a fresh interpreter prints."""
    rows = [
        [float(word) for word in subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split()]
        for _ in range(RUNS)
    ]
    return [min(column) for column in zip(*rows)]


# With everything that a program of ten lines uses; NumPy and its own start are in it.
IMPORT = """
import re, time
before = time.process_time()
import tangere
tangere.Simulator, tangere.load, tangere.Sphere, tangere.collision
spent = time.process_time() - before
status = open("/proc/self/status").read()
print(spent, int(re.search(r"VmHWM:\\s*(\\d+)", status)[1]) / 1024)
"""

# The first scene of a process: nothing of the engine has run before.
FIRST_STEP = """
import time
import tangere
path = tangere.scenes.path("stack.toml")
load, Simulator = tangere.load, tangere.Simulator
begin = time.perf_counter()
sim = Simulator(load(path))
made = time.perf_counter()
sim.step()
print(1e3 * (time.perf_counter() - made), 1e3 * (time.perf_counter() - begin))
"""


def demo_to_first_step() -> float:
    """From the command to the line of the first step, with the start of the interpreter [s]."""
    least = float("inf")
    for _ in range(RUNS):
        begin = time.perf_counter()
        with subprocess.Popen(
            [sys.executable, "-u", "-m", "tangere", "demo", "--duration", "0.01"],
            stdout=subprocess.PIPE, text=True,
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("first step"):
                    least = min(least, time.perf_counter() - begin)
        assert process.returncode == 0
    return least


def install_seconds(wheel: Path) -> float:
    """pip install of the wheel alone into an empty folder [s]."""
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index",
             "--disable-pip-version-check", "--target", folder, str(wheel)],
            check=True,
        )
        return time.perf_counter() - begin


def requirements(wheel: Path) -> list[str]:
    """What the wheel needs beside the interpreter."""
    with zipfile.ZipFile(wheel) as archive:
        metadata = next(name for name in archive.namelist() if name.endswith("dist-info/METADATA"))
        lines = archive.read(metadata).decode().splitlines()
    return [
        line.removeprefix("Requires-Dist: ")
        for line in lines
        if line.startswith("Requires-Dist: ") and "extra ==" not in line
    ]


def measure(wheel: Path | None) -> list[Figure]:
    spent, megabytes = best(IMPORT)
    step, first = best(FIRST_STEP)
    figures = [
        Figure("import, CPU time", spent, "s", 0.1, "import tangere and NumPy, a fresh process"),
        Figure("import, memory", megabytes, "MB", 60, "most memory of that process"),
        Figure("first step, cold", step, "ms", 2, "of a stack of ten boxes, a fresh process"),
        Figure("load, make and step, cold", first, "ms", 100, "from the file to the first step"),
        Figure("python -m tangere demo to the first step", demo_to_first_step(), "s", 1,
               "from the command, with the start of the interpreter"),
    ]
    if wheel is not None:
        figures.insert(0, Figure("wheel", wheel.stat().st_size / 1e6, "MB", 30, "the file"))
        figures.insert(1, Figure("install", install_seconds(wheel), "s", 5,
                                 "pip install of the wheel, without NumPy"))
    return figures


def find_wheel() -> Path | None:
    """That of TANGERE_WHEEL, or of `make python`."""
    named = os.environ.get("TANGERE_WHEEL")
    if named:
        return Path(named)
    built = sorted(Path(__file__).parents[2].glob("build/python/dist/*.whl"))
    return built[-1] if built else None


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--wheel", type=Path, default=find_wheel())
    parser.add_argument("-o", "--output", type=Path, help="write the figures here, as JSON")
    options = parser.parse_args()
    figures = measure(options.wheel)
    print("\n".join(str(figure) for figure in figures))
    if options.output is not None:
        rows = [
            {"figure": f"Python: {f.figure}", "value": f"{f.value:.3g} {f.unit}",
             "bar": f"<= {f.bar:g} {f.unit}", "how": f.how}
            for f in figures
        ]
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(json.dumps({"rows": rows}, indent=2) + "\n")
    return 0 if all(figure.is_met for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
