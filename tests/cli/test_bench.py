#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tangere bench SCENE: figures that agree with each other and with `tangere run`.

  test_bench.py TANGERE SCENES [unittest options]"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = SCENES = ""
URDF = """<robot name="r"><link name="base"/><link name="arm"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0.1 0 0"/><geometry><box size="0.2 0.02 0.02"/></geometry></collision></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/><origin xyz="0 0 1"/><axis xyz="0 1 0"/></joint></robot>"""


def run(*arguments, code=0):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, timeout=300)
    assert done.returncode == code, (done.returncode, done.stderr.decode(), done.stdout.decode())
    return done.stdout.decode(), done.stderr.decode()


def scene(name):
    return os.path.join(SCENES, name)


class Bench(unittest.TestCase):
    def figures(self, *arguments):
        (only,) = json.loads(run("bench", *arguments, "--json")[0])["scenes"]
        return only

    def test_the_steps_are_those_of_a_run(self):
        for file, options in (("stack.toml", []), ("stack.toml", ["--solver", "sap"]), ("gripper.xml", ["--keyframe", "grip"])):
            with self.subTest((file, options)):
                seen = self.figures(scene(file), "--steps", "200", *options)
                same = json.loads(run("run", scene(file), "--steps", "200", "--json", *options)[0])
                self.assertEqual(seen["state_hash"], same["state_hash"])
                self.assertTrue(seen["same_when_profiled"])
                self.assertEqual(seen["steps"], 200)
                self.assertAlmostEqual(seen["simulated_s"], same["simulated_s"], delta=1e-9)
                self.assertAlmostEqual(seen["contacts_mean"], same["contacts_mean"], delta=1e-9)
                self.assertEqual(seen["contacts_max"], same["contacts_max"])
                self.assertEqual(seen["iterations_max"], same["iterations_max"])
                self.assertEqual(seen["max_depth_m"], same["max_depth_m"])
                self.assertEqual(seen["status"]["Ok"], same["status"]["Ok"])

    def test_the_figures_agree_with_each_other(self):
        seen = self.figures(scene("stack.toml"), "--steps", "300", "--settle", "50", "--threads", "2")
        self.assertEqual(seen["threads"], 2)
        self.assertAlmostEqual(seen["steps_per_s"] * seen["wall_s"], 300, delta=1e-6)
        self.assertAlmostEqual(seen["realtime_factor"] * seen["wall_s"], seen["simulated_s"], delta=1e-9)
        self.assertAlmostEqual(seen["step_us"]["mean"] * 300e-6, seen["wall_s"], delta=1e-9)
        self.assertLessEqual(seen["step_us"]["median"], seen["step_us"]["p99"])
        self.assertLessEqual(seen["step_us"]["p99"], seen["step_us"]["max"])
        phases = [p for p in seen["phases"] if not p["parent"]]
        self.assertLessEqual({"kinematics", "broad_phase", "narrow_phase", "solve"}, {p["name"] for p in phases})
        self.assertLessEqual(sum(p["percent"] for p in phases), 100.001)
        self.assertGreater(sum(p["percent"] for p in phases), 50)
        for phase in seen["phases"]:
            self.assertAlmostEqual(phase["us_per_step"] / seen["profiled_step_us"] * 100, phase["percent"], delta=1e-6)

    def test_parts_of_the_convex_solver_are_named_under_their_phase(self):
        seen = self.figures(scene("stack.toml"), "--steps", "50", "--solver", "sap")
        parts = {p["name"]: p["parent"] for p in seen["phases"] if p["parent"]}
        self.assertEqual(parts.get("setup"), "solve")
        self.assertTrue(set(parts.values()) <= {p["name"] for p in seen["phases"]})

    def test_reads_every_format_and_prints_a_table(self):
        with tempfile.TemporaryDirectory() as folder:
            urdf = os.path.join(folder, "arm.urdf")
            with open(urdf, "w") as file:
                file.write(URDF)
            text, _ = run("bench", scene("stack.toml"), scene("gripper.xml"), urdf, "--steps", "20")
        self.assertEqual(len(re.findall(r"^  steps per second +\d+$", text, re.M)), 3)
        for row in ("real-time factor", "time per step", "contacts per step", "solver iterations per step", "phase +us per step +percent"):
            self.assertEqual(len(re.findall(rf"^  {row}", text, re.M)), 3, row)
        self.assertNotIn("WRONG", text)

    def test_mistakes_are_usage_or_input_errors(self):
        run("bench", scene("stack.toml"), "pairs", code=2)
        run("bench", "pairs", "--solver", "sap", code=2)
        run("bench", scene("stack.toml"), "--peers", code=2)
        run("bench", scene("stack.toml"), "--steps", "0", code=2)
        run("bench", scene("missing.toml"), code=6)
        _, error = run("bench", scene("gripper.xml"), "--keyframe", "gripp", "--steps", "5", code=3)
        self.assertIn("grip", error)
        _, error = run("bench", "pars", code=2)
        self.assertIn("pairs", error)


if __name__ == "__main__":
    PROGRAM, SCENES = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
