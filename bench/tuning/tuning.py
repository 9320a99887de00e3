#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the tables of docs/tuning.md: what an option changes, on small scenes.

usage: tuning.py TANGERE [--write docs/tuning.md] [NAME...]

Prints the tables, or puts each between its marks `<!-- NAME: begin -->` and `<!-- NAME: end -->`.
Times are CPU times of the whole run, on one thread, start of the program included.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Runner:
    def __init__(self, tangere):
        self.tangere = os.path.abspath(tangere)
        self.folder = tempfile.TemporaryDirectory()

    def run(self, scene, *options):
        """The document of a run, with its CPU time [s] as "cpu"; `scene` is text or a file of scenes/."""
        if "\n" in scene:
            path = os.path.join(self.folder.name, "scene.toml")
            pathlib.Path(path).write_text(scene)
        else:
            path = str(ROOT / "scenes" / scene)
        command = [self.tangere, "run", path, "--json", "-q", "-q", *map(str, options)]
        with tempfile.TemporaryFile() as out:
            child = subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, text=False)
            _, _, used = os.wait4(child.pid, 0)
            out.seek(0)
            text = out.read()
            if not text:
                raise RuntimeError(f"{' '.join(command)}: {child.stderr.read().decode()}")
        document = json.loads(text)
        document["cpu"] = used.ru_utime + used.ru_stime
        return document


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def small(value):
    """One significant digit of what is near zero."""
    return "0" if abs(value) < 1e-15 else f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e")


def speeds(document):
    """Of all bodies, the slowest first [m/s]."""
    return sorted(sum(x * x for x in b["linear_velocity"]) ** 0.5 for b in document["bodies"].values())


def fastest(document):
    return speeds(document)[-1]


def with_options(text, options):
    return text.replace("[simulation]\n", f"[simulation]\n{options}\n", 1)


# --- the tables


def rattle(runner):
    """A bin of 160 bodies after 3 s of the impulse solver."""
    scene = (ROOT / "scenes/bin.toml").read_text()
    rows = []
    for label, options, dt in [
            ("as it is: 10 sweeps, patch cache on", "", 0.002),
            ("`impulse.num_sweeps = 40`", "impulse.num_sweeps = 40", 0.002),
            ("`impulse.num_substeps = 4`", "impulse.num_substeps = 4", 0.002),
            ("`cache.enabled = false`", "cache.enabled = false", 0.002),
            ("`dt = 0.001`", "", 0.001),
            ("`dt = 0.004`", "", 0.004),
            ("`solver = \"sap\"`", "solver = \"sap\"", 0.002)]:
        result = runner.run(with_options(scene, options), "--duration", 3, "--dt", dt)
        ordered = speeds(result)
        rows.append([label, small(ordered[-1]), small(ordered[int(0.9 * len(ordered))]), f"{1e3 * result['max_depth_m']:.1f}",
                     f"{100 * result['status'].get('SolverNotConverged', 0) / result['steps']:.0f} %",
                     f"{result['cpu']:.1f}"])
    return table(["", "fastest body at the end [m/s]", "nine in ten are slower than", "deepest contact on the way [mm]",
                  "steps short of the tolerance", "CPU [s]"], rows)


SLOPE = """[simulation]
dt = 0.005
{options}

[material.m]
friction = 0.5

[[body]]
name = "slope"
fixed = true
rpy = [0, 0.3490658503988659, 0]
shapes = [{{ plane = true, material = "m" }}]

[[body]]
name = "box"
position = [0.017101007, 0, 0.046984631]
rpy = [0, 0.3490658503988659, 0]
shapes = [{{ box = [0.1, 0.1, 0.05], material = "m" }}]
"""


def creep(runner):
    """A box at rest on a slope of 20 degrees, friction 0.5: how far it is between 1 s and 10 s."""
    rows = []
    for label, options in [
            ("`impulse`", ""),
            ("`sap`", 'solver = "sap"'),
            ("`sap`, `sap.contact = \"hunt_crossley\"`", 'solver = "sap"\nsap.contact = "hunt_crossley"'),
            ("`event`", 'solver = "event"')]:
        scene = SLOPE.format(options=options)
        before = runner.run(scene, "--duration", 1)["bodies"]["box"]["position"]
        after = runner.run(scene, "--duration", 10)["bodies"]["box"]["position"]
        way = sum((a - b) ** 2 for a, b in zip(after, before)) ** 0.5
        rows.append([label, small(way), small(way / 9)])
    return table(["solver, dt 5 ms", "way in 9 s [m]", "[m/s]"], rows)


def grip(runner):
    """scenes/gripper.xml lifts its box and holds it: the box in the hand, at 2 s and at 10 s."""
    rows = []
    for dt in (0.001, 0.002, 0.005, 0.01):
        held = []
        for end in (2, 10):
            bodies = runner.run("gripper.xml", "--keyframe", "grip", "--duration", end, "--dt", dt)["bodies"]
            held.append(bodies["box"]["position"][2] - bodies["wrist"]["position"][2])
        rows.append([f"{1e3 * dt:g} ms", small(abs(held[1] - held[0])), f"{abs(1e3 * (held[1] + 0.08)):.2f}"])
    return table(["dt", "slip from 2 s to 10 s [m]", "settled in the hand by [mm]"], rows)


STACK = """[simulation]
dt = {dt}
{options}

[material.m]
density = 600
friction = 0.5
{contact}

[[body]]
name = "floor"
fixed = true
shapes = [{{ plane = true, material = "m" }}]

[[body]]
name = "cube"
position = [0, 0, 0.05]
count = [1, 1, 10]
spacing = [0, 0, 0.1]
material = "m"
shapes = [{{ box = [0.05, 0.05, 0.05] }}]
"""


def depth(runner):
    """A stack of ten cubes, 6 kg in all: how deep the lowest is in the floor after 5 s."""
    rows = []
    for label, options, contact, dt in [
            ("`impulse`, slop 0.1 mm", "", "", 0.002),
            ("`sap`, stiffness not given", 'solver = "sap"', "", 0.002),
            ("`sap`, stiffness not given", 'solver = "sap"', "", 0.01),
            ("`sap`, `stiffness = 1e6`", 'solver = "sap"', "contact = { stiffness = 1e6 }", 0.002),
            ("`sap`, `stiffness = 1e5`", 'solver = "sap"', "contact = { stiffness = 1e5 }", 0.002),
            ("`sap`, `stiffness = 1e4`", 'solver = "sap"', "contact = { stiffness = 1e4 }", 0.002),
            ("`sap`, `sap.near_rigid = 1`", 'solver = "sap"\nsap.near_rigid = 1', "", 0.002)]:
        result = runner.run(STACK.format(dt=dt, options=options, contact=contact), "--duration", 5)
        low = 0.05 - result["bodies"]["cube_0"]["position"][2]
        rows.append([label, f"{1e3 * dt:g} ms", f"{1e3 * low:.4f}", small(fastest(result))])
    return table(["", "dt", "lowest cube in the floor [mm]", "fastest body [m/s]"], rows)


HEAVY = """[simulation]
dt = 0.002
solver = "{solver}"
{options}

[[body]]
name = "floor"
fixed = true
shapes = [{{ plane = true }}]

[[body]]
name = "light"
position = [0, 0, 0.05]
count = [1, 1, 5]
spacing = [0, 0, 0.1]
mass = 0.1
shapes = [{{ box = [0.05, 0.05, 0.05] }}]

[[body]]
name = "heavy"
position = [0, 0, 0.55]
mass = {mass}
shapes = [{{ box = [0.05, 0.05, 0.05] }}]
"""


def ratio(runner):
    """A heavy cube on five of 0.1 kg: how far it has come down after 3 s."""
    rows = []
    for mass in (1, 10, 100, 1000):
        row = [f"{mass / 0.1:.0f} : 1"]
        for solver, options in (("impulse", ""), ("impulse", "impulse.num_sweeps = 100"), ("sap", ""), ("sap", "sap.near_rigid = 0.01")):
            result = runner.run(HEAVY.format(solver=solver, options=options, mass=mass), "--duration", 3)
            sunk = 0.55 - result["bodies"]["heavy"]["position"][2]
            row.append(f"{abs(1e3 * sunk):.3f}" if abs(sunk) < 0.05 else "falls")
        rows.append(row)
    return table(["masses", "`impulse` [mm]", "`impulse`, `num_sweeps = 100` [mm]", "`sap` [mm]", "`sap`, `near_rigid = 0.01` [mm]"], rows)


BALL = """[simulation]
dt = {dt}
solver = "sap"

[material.m]
density = 1000
contact = {{ stiffness = 8e4, relaxation_time = {tau} }}

[[body]]
name = "floor"
fixed = true
shapes = [{{ plane = true, material = "m" }}]

[[body]]
name = "ball"
position = [0, 0, 0.1]
velocity = [0, 0, -2]
gravity_scale = 0
material = "m"
shapes = [{{ sphere = 0.1 }}]
"""


def bounce(runner):
    """A ball of 4.19 kg meets a floor with 2 m/s: what SAP gives back, by relaxation time."""
    rows = []
    for tau in (0, 0.0002, 0.0005, 0.001, 0.002, 0.01):
        speeds = []
        for dt in (0.0001, 0.001):
            result = runner.run(BALL.format(dt=dt, tau=tau), "--duration", 0.2)
            speeds.append(result["bodies"]["ball"]["linear_velocity"][2] / 2)
        rows.append([f"{tau:g}", f"{2 * tau:g}", f"{speeds[0]:.2f}", f"{speeds[1]:.2f}"])
    return table(["`relaxation_time` of each side [s]", "together [s]", "rebound over approach, dt 0.1 ms", "dt 1 ms"], rows)


def time(runner):
    """What a second of simulated time costs."""
    rows = []
    bin_ = (ROOT / "scenes/bin.toml").read_text()
    ball = (ROOT / "scenes/soft_ball.toml").read_text()
    for label, scene, options in [
            ("`bin.toml`, 160 bodies, `impulse`", bin_, ["--duration", 6]),
            ("the same, `sleep.enabled = true`", with_options(bin_, "sleep.enabled = true"), ["--duration", 6]),
            ("the same, `sap`", bin_, ["--duration", 6, "--solver", "sap"]),
            ("`soft_ball.toml`, about 1000 vertices", ball, ["--duration", 1]),
            ("the same, ball with `resolution = 0.02`", ball.replace('shape = { sphere = 0.05 }', 'shape = { sphere = 0.05 }\nresolution = 0.02'), ["--duration", 1]),
            ("the same as the first, `sap.relative_tolerance = 1e-5`", with_options(ball, "sap.relative_tolerance = 1e-5"), ["--duration", 1])]:
        result = runner.run(scene, *options)
        rows.append([label, f"{1e3 * result['cpu'] / result['simulated_s']:.0f}", f"{result['contacts_mean']:.0f}",
                     f"{result['iterations_mean']:.1f}"])
    return table(["scene", "CPU for one second [ms]", "contacts", "iterations"], rows)


TABLES = [rattle, creep, grip, depth, ratio, bounce, time]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tangere")
    parser.add_argument("--write", metavar="FILE.md")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_intermixed_args()
    runner = Runner(arguments.tangere)
    for make in TABLES:
        name = make.__name__
        if arguments.names and name not in arguments.names:
            continue
        text = make(runner)
        print(f"## {name}: {make.__doc__}\n\n{text}\n", flush=True)
        if arguments.write:
            path = pathlib.Path(arguments.write)
            marks = re.compile(rf"(<!-- {name}: begin -->\n).*?(<!-- {name}: end -->)", re.S)
            page, count = marks.subn(lambda m: m.group(1) + text + "\n" + m.group(2), path.read_text())
            if count != 1:
                raise SystemExit(f"{path} has {count} places for the table '{name}'")
            path.write_text(page)


if __name__ == "__main__":
    main()
