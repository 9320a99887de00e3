#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attacks the program, and writes down the smallest input that got past.

  attack.py KIND [--seed N] [--seconds S] [--program PROGRAM]

KIND is one of those below, or several with commas, or all. Every attack has a seed of its own, so a figure that is printed
can be had again. Before anything new, all of regressions/ is tried: what once got past does so no more."""
import argparse
import json
import pathlib
import random
import sys
import time

import files
import python_calls
import runs
import scenes
import shrink
import viewer
from driver import Case, Machine

HERE = pathlib.Path(__file__).resolve().parent
KINDS = {kind.name: kind for kind in (files.Mutants, files.Flips, runs.Kills, runs.Signals, runs.Disk, runs.Allocations, viewer.Viewer, scenes.Scenes, python_calls.PythonCalls)}


def smaller(attack, case, fault, seconds):
    """The case with its main file as small as it gets with the same fault."""
    if not case.main:
        return case

    def with_main(content):
        return Case(case.kind, case.parameters, {**case.files, case.main: content}, case.main)

    content = shrink.shrink_bytes(case.files[case.main], lambda content: attack.attempt(with_main(content)) == fault, seconds)
    return with_main(content)


def try_regressions(attack, folder):
    """Names and faults of those that get past again, and how many there are."""
    paths = [path.parent for path in sorted(folder.glob("*/case.json")) if json.loads(path.read_text())["kind"] == attack.name]
    faults = [(path.name, attack.attempt(Case.load(path))) for path in paths]
    return [(name, fault) for name, fault in faults if fault], len(paths)


def run_attack(attack, options):
    """Attacks until the time is over; prints what was done and found. True where nothing got past."""
    old, number = try_regressions(attack, options.regressions)
    for name, fault in old:
        print(f"{attack.name}: regression {name}: {fault}", flush=True)
    found, tried, begin, longest = {}, 0, time.monotonic(), 0.0
    while time.monotonic() - begin < options.seconds and tried < options.count and len(found) < options.most:
        from_seed = random.Random(f"{attack.name} {options.seed} {tried}")
        tried += 1
        case = attack.case(from_seed)
        started = time.monotonic()
        fault = attack.attempt(case)
        longest = max(longest, time.monotonic() - started)
        if not fault or fault in found:
            continue
        if attack.attempt(case) != fault:
            fault += " (not every time)"
            small = case
        else:
            small = smaller(attack, case, fault, options.shrink_seconds)
        found[fault] = small.save(options.findings, fault)
        print(f"{attack.name}: attack {tried - 1} of seed {options.seed}: {fault}; kept as {found[fault]}", flush=True)
    print(f"{attack.name}: {tried} attacks of seed {options.seed} in {time.monotonic() - begin:.0f} s, {attack.machine.runs} runs, the longest attack "
          f"{longest:.1f} s, {number} regressions; {len(found) + len(old)} got past", flush=True)
    return not found and not old


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", help=", ".join(KINDS) + ", or all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60, help="for each kind")
    parser.add_argument("--count", type=int, default=10**9, help="no more attacks of a kind than this")
    parser.add_argument("--most", type=int, default=10, help="faults of a kind after which it ends")
    parser.add_argument("--shrink-seconds", type=float, default=60)
    parser.add_argument("--program", default=str(HERE.parents[1] / "build/release/cli/tangere"))
    parser.add_argument("--python", default="", help="of the kind python: an interpreter that has the package and hypothesis")
    parser.add_argument("--regressions", type=pathlib.Path, default=HERE / "regressions")
    parser.add_argument("--findings", type=pathlib.Path, default=HERE / "regressions", help="where what is found is kept")
    options = parser.parse_args()
    names = list(KINDS) if options.kind == "all" else options.kind.split(",")
    for name in names:
        if name not in KINDS:
            parser.error(f"no kind '{name}'; there are {', '.join(KINDS)}")
    is_good = True
    for name in names:
        machine = Machine(options.program, str(pathlib.Path(options.python).absolute()) if options.python else "")
        attack = KINDS[name](machine)
        try:
            is_good &= run_attack(attack, options)
        finally:
            getattr(attack, "close", lambda: None)()
            machine.close()
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
