#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tangere compare: the document, orders and steps that are right, and plain words where there are none.

  test_compare.py TANGERE SCENES [unittest options]"""
import json
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree as ElementTree

from program_test import ProgramTest

PROGRAM = ""
SCENES = pathlib.Path()
KEYS = ["scene", "duration_s", "wanted_error", "reference", "bodies", "laws", "times_s", "solvers"]
SOLVER_KEYS = ["solver", "ran", "why_not", "notes", "levels", "trials", "reference_error", "verdict", "order", "overall_order", "growth_per_s",
               "gain_per_halving_s", "early_order", "early_until_s", "recommended", "sentence", "recommendation"]
LEVEL_KEYS = ["dt", "steps", "is_reference", "stopped", "error_max", "body", "time_s", "error_rms", "impulse_error",
              "energy_error", "holds_until_s", "wall_s_per_s", "energy", "error_over_time", "rms_over_time",
              "impulse_error_over_time", "energy_error_over_time"]
# A ball that loses nothing among fixed pegs: every hit multiplies what it is off by.
PEGS = """
[simulation]
dt = 0.001
gravity = [0, 0, 0]
solver = "sap"

[material.soft]
density = 1000
friction = 0
contact = { stiffness = 2e4, relaxation_time = 0 }

[[body]]
name = "peg"
fixed = true
material = "soft"
count = [5, 5, 1]
spacing = [0.4, 0.4, 0]
position = [-0.8, -0.8, 0]
shapes = [{ sphere = 0.12 }]

[[body]]
name = "ball"
position = [-0.2, -0.213, 0]
velocity = [2, 1.3, 0]
material = "soft"
shapes = [{ sphere = 0.05 }]
"""


class CompareTest(ProgramTest):
    seconds = 120

    def compare(self, scene, *arguments):
        return json.loads(self.run_program("compare", scene, "--json", *arguments)[0])

    def sap(self, scene, *arguments):
        return self.compare(scene, "--solvers", "sap", *arguments)["solvers"][0]

    # ---- first order, and the step for 1 %

    def errors_of(self, steps, scene, arguments):
        """Of sap, measured against the event solver, for steps from coarse to fine."""
        levels = self.sap(scene, "--dt", ",".join(map(repr, steps)), "--reference", "event", *arguments)["levels"]
        return [(level["dt"], level["error_max"]) for level in levels]

    def true_step(self, guess, wanted, *case):
        """The largest step that keeps the error, by division of an interval, to 6 %."""
        low, high = guess / 3, guess * 3
        for parts in (6, 6):
            steps = [high * (low / high) ** (i / parts) for i in range(parts + 1)]
            errors = self.errors_of(steps, *case)
            fails = [dt for dt, error in errors if error > wanted]
            keeps = [dt for dt, error in errors if error <= wanted and dt < min(fails, default=math.inf)]
            self.assertTrue(fails, "three times the recommended step would do")
            self.assertTrue(keeps, "a third of the recommended step is too coarse")
            low, high = max(keeps), min(fails)
        return low

    def check_first_order(self, scene, *arguments, dt=None, also=("rms", "impulse", "energy"), most=1.2):
        ladder = ["--dt", dt] if dt else []
        document = self.compare(SCENES / scene, "--solvers", "sap", *ladder, *arguments)
        sap = document["solvers"][0]
        self.assertEqual(document["reference"]["kind"], "event", document["reference"])
        self.assertEqual(sap["verdict"], "converges", sap["sentence"])
        self.assertGreater(sap["order"]["max"]["order"], 0.8)
        self.assertLess(sap["order"]["max"]["order"], 1.2)
        self.assertGreaterEqual(sap["order"]["max"]["levels"], 3)
        for quantity in also:
            self.assertGreater(sap["order"][quantity]["order"], 0.8)
            self.assertLess(sap["order"][quantity]["order"], most)
        step = sap["recommended"]
        self.assertLessEqual(step["error"], 0.01)
        true = self.true_step(step["dt"], 0.01, SCENES / scene, arguments)
        self.assertLess(step["dt"] / true, 2)
        self.assertLess(true / step["dt"], 2)

    def test_sliding_box_is_first_order(self):
        # Its impulses and energy are right to 1e-4 with every step: what friction sets swinging at the start.
        self.check_first_order("sliding_box.toml", "--duration", "0.5", also=["rms"])

    def test_bouncing_sphere_is_first_order(self):
        self.check_first_order("bouncing_sphere.toml", "--duration", "0.4")

    def test_hunt_and_crossley_is_first_order(self):
        text = (SCENES / "bouncing_sphere.toml").read_text()
        text = text.replace("relaxation_time = 0.0005", "dissipation = 0.2") + '\n[simulation.sap]\ncontact = "hunt_crossley"\n'
        sap = self.sap(self.file("hunt_crossley.toml", text), "--duration", "0.4", "--reference", "event")
        self.assertAlmostEqual(sap["order"]["max"]["order"], 1, delta=0.1)

    def test_billiard_break_is_first_order(self):
        self.check_first_order("billiard_break.toml", "--duration", "0.04", dt="2e-4,1e-4,5e-5,2.5e-5")

    def test_gripper_is_first_order(self):
        # Its drives go by the midpoint rule: what they alone decide is of second order.
        self.check_first_order("gripper.xml", "--keyframe", "grip", "--duration", "0.3", dt="2e-3,1e-3,5e-4,2.5e-4", most=2.2)

    def test_a_solver_can_be_its_own_reference(self):
        sap = self.sap(SCENES / "sliding_box.toml", "--duration", "0.5", "--reference", "finest")
        self.assertAlmostEqual(sap["order"]["max"]["order"], 1, delta=0.05)
        finest = sap["levels"][-1]
        self.assertTrue(finest["is_reference"])
        self.assertIsNone(finest["error_max"])
        # What the law says about the finest step is what the event solver finds.
        with_event = self.sap(SCENES / "sliding_box.toml", "--duration", "0.5", "--reference", "event")
        self.assertAlmostEqual(sap["reference_error"] / with_event["levels"][-1]["error_max"], 1, delta=0.15)

    def test_errors_are_those_of_runs(self):
        # v^2 / (2 mu g), and nothing turns: all of the box is off by what its origin is off by.
        way = 1 / (2 * 0.3 * 9.81)
        document = self.compare(SCENES / "sliding_box.toml", "--solvers", "sap", "--duration", "0.48", "--dt", "0.008,0.004,0.002")
        self.assertAlmostEqual(document["bodies"][0]["way_m"], way, delta=2e-4)
        for level in document["solvers"][0]["levels"]:
            run = json.loads(self.run_program("run", SCENES / "sliding_box.toml", "--json", "--solver", "sap", "--duration", "0.48",
                                              "--dt", level["dt"])[0])
            error = abs(run["bodies"]["box"]["position"][0] - way) / document["bodies"][0]["way_m"]
            self.assertAlmostEqual(level["error_over_time"][-1] / error, 1, delta=0.02)
            self.assertEqual(level["steps"], run["steps"])
            self.assertAlmostEqual(level["energy"]["contact_friction"],
                                   run["energy"]["contact_friction"])

    # ---- no number without a meaning

    def test_another_contact_law_is_a_plateau(self):
        document = self.compare(SCENES / "bouncing_sphere.toml", "--duration", "0.4", "--solvers", "impulse")
        impulse = document["solvers"][0]
        self.assertEqual(impulse["verdict"], "plateau")
        self.assertIsNone(impulse["recommended"])
        self.assertIsNone(impulse["order"]["max"])
        self.assertIn("contact law", impulse["sentence"])

    def test_chaos_is_said_to_be_chaos(self):
        scene = self.file("pegs.toml", PEGS)
        document = self.compare(scene, "--duration", "1", "--solvers", "sap")
        sap = document["solvers"][0]
        self.assertEqual(sap["verdict"], "chaotic", sap["sentence"])
        self.assertIsNone(sap["recommended"])
        self.assertIsNone(sap["order"]["max"])
        self.assertGreater(sap["growth_per_s"], 3)
        holds = [level["holds_until_s"] for level in sap["levels"]]
        self.assertEqual(holds, sorted(holds))
        self.assertGreater(holds[-1], 2 * holds[0])
        self.assertLess(holds[-1], 1)
        # Before the errors have grown, the order is there.
        early = self.sap(scene, "--duration", "0.25")
        self.assertEqual(early["verdict"], "converges")
        self.assertAlmostEqual(early["order"]["max"]["order"], 1, delta=0.2)

    def test_two_steps_are_too_few_for_an_order(self):
        sap = self.sap(SCENES / "sliding_box.toml", "--duration", "0.1", "--dt", "0.008,0.004")
        self.assertEqual(sap["verdict"], "too_few")
        self.assertIsNone(sap["order"]["max"])

    def test_a_solver_that_cannot_run_the_scene_says_why(self):
        document = self.compare(SCENES / "gripper.xml", "--duration", "0.02", "--solvers", "sap,impulse", "--reference", "finest")
        sap, impulse = document["solvers"]
        self.assertTrue(sap["ran"])
        self.assertFalse(impulse["ran"])
        self.assertIn("joints", impulse["why_not"])

    def test_soft_bodies_are_compared_without_the_event_solver(self):
        scene = SCENES / "soft_ball.toml"
        document = self.compare(scene, "--duration", "0.02", "--solvers", "sap", "--dt", "0.005,0.0025")
        self.assertEqual(document["reference"]["kind"], "finest")
        self.assertTrue(document["reference"]["why_not_event"])
        self.assertEqual(document["bodies"][0]["name"], "ball")
        self.run_program("compare", scene, "--duration", "0.01", "--reference", "event", code=3)

    # ---- the surface

    def test_document_has_its_keys(self):
        document = self.compare(SCENES / "sliding_box.toml", "--duration", "0.1")
        self.assertEqual(list(document), KEYS)
        self.assertEqual([solver["solver"] for solver in document["solvers"]], ["sap", "impulse", "event"])
        for solver in document["solvers"]:
            self.assertEqual(list(solver), SOLVER_KEYS)
            for level in solver["levels"]:
                self.assertEqual(list(level), LEVEL_KEYS)
        sap = document["solvers"][0]
        self.assertEqual([level["dt"] for level in sap["levels"]], [0.008 / 2**i for i in range(6)])
        self.assertEqual(len(sap["levels"][0]["error_over_time"]), len(document["times_s"]))
        self.assertEqual(document["solvers"][2]["verdict"], "reference")

    def test_threads_change_no_result(self):
        def numbers(threads):
            document = self.compare(SCENES / "sliding_box.toml", "--duration", "0.1", "--threads", threads)
            return re.sub(r'"wall_s_per_s": [0-9.e+-]+|"recommendation": ".*"', "", json.dumps(document, indent=1))

        self.assertEqual(numbers(1), numbers(2))

    def test_table_says_order_and_step(self):
        text = self.run_program("compare", SCENES / "sliding_box.toml", "--duration", "0.5")[0]
        self.assertRegex(text, r"sap: converges with order (0\.9\d|1\.0\d) in dt \(over \d steps\)")
        self.assertRegex(text, r"sap: for 1 %: dt = [\d.]+ ms, error 0\.\d+ %")

    def test_page_and_plots_need_no_other_file(self):
        page, prefix = self.path / "page.html", self.path / "plot"
        scene = self.file("a <b> & c.toml", (SCENES / "sliding_box.toml").read_text())
        self.run_program("compare", scene, "--duration", "0.1", "--html", page, "--svg", prefix)
        text = page.read_text()
        self.assertNotRegex(text.replace("http://www.w3.org/2000/svg", ""), r"https?://|src=|<script")
        self.assertIn("a &lt;b&gt; &amp; c.toml", text)
        self.assertIn("prefers-color-scheme: dark", text)
        self.assertEqual(text.count("<svg"), 4)
        for svg in re.findall(r"<svg.*?</svg>", text, re.DOTALL):
            ElementTree.fromstring(svg)
        names = sorted(file.name for file in self.path.glob("plot_*.svg"))
        self.assertEqual(names, ["plot_cost_over_error.svg", "plot_error_over_dt.svg", "plot_error_over_time_impulse.svg",
                                 "plot_error_over_time_sap.svg"])
        for name in names:
            root = ElementTree.parse(self.path / name).getroot()
            self.assertTrue(root.tag.endswith("svg"))
            self.assertGreaterEqual(len(root.findall(".//{*}path")), 2)

    def test_bad_arguments_are_usage_errors(self):
        scene = SCENES / "sliding_box.toml"
        for arguments in (["--error", "2"], ["--error", "0"], ["--dt", "0"], ["--dt", "0.01,-1"], ["--duration", "0"],
                          ["--duration", "nan"], ["--solvers", "magic"], ["--reference", "magic"], ["--reference-limit", "-1"]):
            self.run_program("compare", scene, *arguments, code=2)
        self.run_program("compare", code=2)
        copy = self.file("copy.toml", scene.read_text())
        self.run_program("compare", copy, "--html", copy, code=2)
        self.assertEqual(pathlib.Path(copy).read_text(), scene.read_text())

    def test_an_interrupt_leaves_no_file(self):
        page = self.path / "page.html"
        process = subprocess.Popen([PROGRAM, "compare", SCENES / "sliding_box.toml", "--duration", "1000", "--solvers", "sap",
                                    "--reference", "finest", "--html", page], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while not os.listdir(self.path):  # the page is begun before the first run
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(os.listdir(self.path), [])

    def test_bad_input_is_rejected(self):
        self.run_program("compare", self.path / "none.toml", code=6)
        _, error = self.run_program("compare", SCENES / "gripper.xml", "--keyframe", "gripp", code=3)
        self.assertIn("grip", error)
        still = self.file("still.toml", '[[body]]\nname = "floor"\nfixed = true\nshapes = [{ plane = true }]\n')
        self.run_program("compare", still, code=3)
        self.run_program("compare", SCENES / "sliding_box.toml", "--duration", "0.05", "--html", self.path / "no" / "page.html", code=6)
        self.assertEqual(os.listdir(self.path), ["still.toml"])


if __name__ == "__main__":
    PROGRAM, SCENES = sys.argv[1], pathlib.Path(sys.argv[2])
    ProgramTest.program = PROGRAM
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
