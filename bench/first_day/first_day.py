#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a new user meets first, measured: size and cost of recordings, time to the first step, and what other programs measured.

  first_day.py --tangere build/release/cli/tangere [--merge out/first_day/*.json] [--write docs/performance.md]

Prints the table; with --write it stands in the page between the lines `<!-- first day: begin -->` and `<!-- first day: end -->`.
--out FILE.json keeps the rows; --merge takes rows of other programs (viewer, Python), each file {"rows": [{"figure", "value",
"bar", "how"}, ...]}, "bar" "" where there is none. A row that is in two of them is that of the last one."""
import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- first day: begin -->", "<!-- first day: end -->"
# Scene, simulated seconds of a long run, what it stands for.
SCENES = [("spinning.toml", 20.0, "one body that never touches anything"), ("stack.toml", 8.0, "a stack of boxes"),
          ("clutter.toml", 4.0, "40 bodies in a heap"), ("gripper.xml", 20.0, "a gripper with joints"), ("grasp.toml", 0.8, "an arm and a soft ball")]
REPEATS = 3


def document(tangere, *arguments):
    done = subprocess.run([tangere, "run", *arguments, "--json"], capture_output=True, timeout=600)
    if done.returncode != 0:
        sys.exit(f"first_day: tangere run {' '.join(arguments)}: {done.stderr.decode()}")
    return json.loads(done.stdout)


def byte_text(count):
    return f"{count / 1e6:.2f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB"


def measure_recordings(tangere, scenes):
    """What each step adds: a long run less a short one, so that opening and closing the file are a figure of their own."""
    rows = []
    for name, long, what in SCENES:
        scene, durations = str(scenes / name), (long / 4, long)
        plain, recorded, sizes, seen = {d: [] for d in durations}, {d: [] for d in durations}, {}, {}
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "a.h5"
            for _ in range(REPEATS):  # in turn, so that a busy machine is busy for all
                for d in durations:
                    plain[d].append(document(tangere, scene, "--duration", str(d))["wall_s"])
                    seen[d] = document(tangere, scene, "--duration", str(d), "--record", str(file))
                    recorded[d].append(seen[d]["wall_s"])
                    sizes[d] = file.stat().st_size
        short = durations[0]
        steps = seen[long]["steps"] - seen[short]["steps"]
        plain_us = (min(plain[long]) - min(plain[short])) / steps * 1e6
        recorded_us = (min(recorded[long]) - min(recorded[short])) / steps * 1e6
        fixed_ms = (min(recorded[short]) - seen[short]["steps"] * recorded_us * 1e-6) * 1e3
        contacts = f"{seen[long]['contacts_mean']:.1f} contacts a step"
        rows.append({"figure": f"recording of {name}", "bar": "",
                     "value": f"{byte_text((sizes[long] - sizes[short]) / (long - short))} for each second, {recorded_us - plain_us:.0f} us "
                              f"({(recorded_us / plain_us - 1) * 100:+.0f} %) a step",
                     "how": f"{what}, {contacts}, {seen[long]['steps'] / long:.0f} steps a second; {(sizes[long] - sizes[short]) / steps:.0f} bytes and "
                            f"{plain_us:.1f} us a step without recording; opening and closing the file {max(fixed_ms, 0):.0f} ms"})
    return rows


def measure_start(tangere, scenes):
    rows = []
    for name in ("stack.toml", "gripper.xml"):
        times = []
        for _ in range(4 * REPEATS):
            begin = time.perf_counter()
            subprocess.run([tangere, "run", str(scenes / name), "--steps", "1", "-q"], check=True, capture_output=True)
            times.append(time.perf_counter() - begin)
        rows.append({"figure": f"tangere run {name} to its first step", "value": f"{min(times) * 1e3:.0f} ms (median {statistics.median(times) * 1e3:.0f})",
                     "bar": "", "how": "a new process, from its start to its end with --steps 1; files in the system's cache"})
    return rows


def table(rows):
    lines = ["| figure | measured | bar | how |", "|---|---|---|---|"]
    lines += [f"| {r['figure']} | {r['value']} | {r['bar'] or '-'} | {r['how']} |" for r in rows]
    return "\n".join(lines) + "\n"


def write(page, text):
    old = page.read_text()
    if old.count(BEGIN) != 1 or old.count(END) != 1 or old.index(BEGIN) > old.index(END):
        sys.exit(f"first_day: {page}: expected one line {BEGIN} and after it one line {END}")
    new = old[:old.index(BEGIN) + len(BEGIN)] + "\n" + text + old[old.index(END):]
    temporary = page.with_suffix(".part")
    temporary.write_text(new)
    os.replace(temporary, page)


def machine():
    model = platform.machine()
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    return f"{os.cpu_count()} cores of {model}, load {os.getloadavg()[0]:.1f} while measuring"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tangere", help="the program; without it only --merge")
    parser.add_argument("--scenes", type=pathlib.Path, default=ROOT / "scenes")
    parser.add_argument("--merge", type=pathlib.Path, nargs="*", default=[])
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--write", type=pathlib.Path, help="the page that has the table")
    options = parser.parse_args()
    rows = []
    if options.tangere:
        rows = measure_recordings(options.tangere, options.scenes) + measure_start(options.tangere, options.scenes)
        for row in rows:
            row["machine"] = machine()
    for file in options.merge:
        rows += json.loads(file.read_text())["rows"]
    rows = list({row["figure"]: row for row in rows}.values())
    if not rows:
        sys.exit("first_day: nothing to do: give --tangere or --merge")
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps({"rows": rows}, indent=1) + "\n")
    machines = sorted({row["machine"] for row in rows if row.get("machine")})
    text = table(rows) + "".join(f"\nMeasured on {name}.\n" for name in machines)
    print(text, end="")
    if options.write:
        write(options.write, text)


if __name__ == "__main__":
    main()
