#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs Tangere and its peers in turn, so that what else the machine does slows all of them alike.

  measure.py OURS PEERS OUT [--w w1,w4] [--repeat 3] [--pairs sphere-box,hull-halfspace] [--cpu 1]

OURS is the program peer_tangere, PEERS the folder with the built peers of the harness, OUT the folder
for the CSV files; compare.py OUT/*.csv then counts every row with its fastest run. W1 goes pair by
pair: ours, each peer, the next pair; the other workloads as a whole. Rows of a few nanoseconds can
only be compared in this way: a neighbour that comes or goes between two long runs changes them by
more than the peers differ."""
import argparse
import os
import subprocess
import sys

KINDS = ["sphere", "box", "capsule", "cylinder", "cone", "hull", "ellipsoid", "halfspace"]
# The peers that bars are set by, per workload.
PEERS = {
    "w1": ["mujoco", "coal", "ode"],
    "w2": ["ode", "coal", "bullet"],
    "w3": ["fcl", "bullet"],
    "w4": [],
    "w5": [],
}


def all_pairs():
    pairs = [(a, b) for i, a in enumerate(KINDS) for b in KINDS[i:]]
    return [pair for pair in pairs if pair != ("halfspace", "halfspace")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ours")
    parser.add_argument("peers")
    parser.add_argument("out")
    parser.add_argument("--w", default="w1,w2,w3,w4")
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--pairs", help="of W1, as sphere-box,hull-halfspace; all by default")
    parser.add_argument("--n", type=int, default=10000, help="poses per pair of W1")
    parser.add_argument("--cpu", type=int, help="the core to run on")
    parser.add_argument("--timeout", type=int, default=900, help="seconds that one run may take")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    pairs = [tuple(p.split("-")) for p in options.pairs.split(",")] if options.pairs else all_pairs()
    pin = ["taskset", "-c", str(options.cpu)] if options.cpu is not None else []
    failed = []

    def run(program, variant, workload, name, extra):
        out = os.path.join(options.out, "%s.%s.csv" % (variant, name))
        command = pin + [program, "--variant", variant, "--w", workload, "--out", out] + extra
        try:
            done = subprocess.run(command, timeout=options.timeout, stdout=subprocess.DEVNULL, check=False)
            if done.returncode != 0:
                failed.append(" ".join(command))
        except subprocess.TimeoutExpired:
            failed.append(" ".join(command) + " (over time: what it wrote until then counts)")

    def round_of(workload, name, extra):
        run(options.ours, "tangere", workload, name, extra)
        if workload == "w3":
            run(options.ours, "tangere-moved", workload, name, extra)
        for peer in PEERS[workload]:
            program = os.path.join(options.peers, "peer_" + peer)
            if os.path.exists(program):
                run(program, peer, workload, name, extra)

    for workload in options.w.split(","):
        for repeat in range(options.repeat):
            if workload != "w1":
                round_of(workload, "%s.%d" % (workload, repeat), [])
                continue
            for a, b in pairs:
                round_of(workload, "%s.%s-%s.%d" % (workload, a, b, repeat),
                         ["--pair", a, b, "--n", str(options.n)])
    for command in failed:
        print("failed: " + command, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
