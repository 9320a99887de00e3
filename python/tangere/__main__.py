# SPDX-License-Identifier: Apache-2.0
"""python -m tangere demo: simulates a scene of the package and says what happened.

Every other command goes to the command line program, which comes with the package:
python -m tangere view FILE, or tangere view FILE.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from pathlib import Path


def _demo(scene: str, duration: float, threads: int) -> int:
    begin = time.perf_counter()
    import tangere

    warnings.simplefilter("ignore", tangere.SceneWarning)
    path = Path(scene) if Path(scene).exists() else tangere.scenes.path(scene)
    model = tangere.load(path)
    sim = tangere.Simulator(model, threads=threads)
    sim.step()
    first = time.perf_counter() - begin
    print(f"{path.name}: {model.num_bodies} bodies, {model.num_soft_bodies} soft bodies")
    print(f"first step after {first:.3f} s")
    # A part of the time that is shown at each line; the clock of the wall is beside it.
    lines = 8
    print(f"{'time':>8} {'contacts':>9} {'iterations':>11} {'energy':>12} {'wall':>8}")
    for k in range(1, lines + 1):
        sim.advance_to(duration * k / lines)
        report, energy = sim.report(), sim.energy()
        contacts = report.num_contacts + report.num_pressure_polygons
        print(
            f"{float(sim.time[0]):6.2f} s {contacts:9d} {report.iterations:11d} "
            f"{energy.kinetic + energy.potential:10.4f} J {time.perf_counter() - begin:6.2f} s"
        )
        if not sim.running[0]:
            print(sim.describe(), file=sys.stderr)
            return 4
    print(f"state hash {sim.state_hash():016x}: the same on every machine")
    return 0


PROGRAM = Path(__file__).parent / "_bin" / "tangere"


def _program(arguments: list[str]) -> int:
    """Becomes the command line program."""
    if not PROGRAM.exists():
        print(
            f"tangere: '{arguments[0]}' is a command of the command line program, which this "
            "package was built without",
            file=sys.stderr,
        )
        return 2
    sys.stdout.flush()
    os.execv(PROGRAM, [str(PROGRAM), *arguments])


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    if given and given[0] not in ("demo", "scenes", "-h", "--help"):
        return _program(given)
    parser = argparse.ArgumentParser(
        prog="python -m tangere",
        description="Tangere in Python.",
        epilog="Every other command is one of the program: tangere run --help, tangere view FILE, ...",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser("demo", help="simulate a scene and say what happened")
    demo.add_argument("scene", nargs="?", default="pyramid.toml", help="of the package, or a file")
    demo.add_argument("--duration", type=float, default=2.0, help="simulated time [s]")
    demo.add_argument("--threads", type=int, default=1)
    commands.add_parser("scenes", help="list the scenes of the package")
    options = parser.parse_args(given)
    if options.command == "scenes":
        from tangere import scenes

        print("\n".join(scenes.names()))
        return 0
    from tangere.errors import InvalidInput

    try:
        return _demo(options.scene, options.duration, options.threads)
    except (InvalidInput, OSError) as error:
        print(f"tangere: {error}", file=sys.stderr)
        return 3


def run() -> None:
    """The command `tangere`."""
    sys.exit(main())


if __name__ == "__main__":
    run()
