#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_convergence.py TANGERE WRITE_RICH_SCENES [unittest options]: the order in dt of each solver against the event
solver, as `tangere compare` prints it, on random rich scenes.
TANGERE_METAMORPHIC_RICH scenes (10), beginning with the seed TANGERE_METAMORPHIC_SEED."""
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, WRITER = sys.argv[1], sys.argv[2]
COUNT = int(os.environ.get("TANGERE_METAMORPHIC_RICH", "10"))
FIRST = int(os.environ.get("TANGERE_METAMORPHIC_SEED", "1"))
LEAST = 0.9


class Convergence(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        # Some scenes have no contact, or are right with any step: they say nothing about an order.
        subprocess.run([WRITER, cls.folder.name, str(10 * COUNT), str(FIRST)], check=True, timeout=600)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def study(self, path, solver):
        duration = path.read_text().splitlines()[0].split()[-1]
        done = subprocess.run([PROGRAM, "compare", str(path), "--solvers", solver, "--reference", "event", "--duration",
                               duration, "--reference-limit", "20", "--json"], capture_output=True, text=True, timeout=600)
        if done.returncode != 0:  # the event solver took too long
            return None
        return json.loads(done.stdout)["solvers"][0]

    def studies(self, solver):
        """The first COUNT scenes that say something; each is printed as `tangere compare` judges it."""
        found = []
        for seed in range(FIRST, FIRST + 10 * COUNT):
            study = self.study(pathlib.Path(self.folder.name) / f"rich_{seed}_{solver}.toml", solver)
            if study is None or study["verdict"] == "exact":
                continue
            print(f"{solver}, seed {seed}: {study['sentence']}", flush=True)
            found.append((seed, study))
            if len(found) == COUNT:
                return found
        self.fail("too few scenes that say something")

    def test_sap_goes_to_the_event_solver_in_first_order(self):
        wrong = [(seed, study["sentence"], [level["error_max"] for level in study["levels"]])
                 for seed, study in self.studies("sap")
                 if study["order"]["max"] is None or study["order"]["max"]["order"] < LEAST]
        # One in ten may end 1 % beside the event solver, where shapes of one body share a contact.
        self.assertLessEqual(len(wrong), COUNT // 10, wrong)
        for seed, sentence, errors in wrong:
            self.assertLess(errors[-1], 0.01, (seed, sentence))

    def test_impulse_goes_to_the_event_solver_in_first_order(self):
        """Impacts have their own times within a step, and what a step is off by depends on them as much as on its
        length: errors of one scene jump. Of all scenes together they fall with an order."""
        logs = [[math.log(level["error_max"]) for level in study["levels"]] for _, study in self.studies("impulse")]
        mean = [sum(column) / len(column) for column in zip(*logs)]  # from coarse to fine, halved each time
        middle = (len(mean) - 1) / 2
        slope = (sum((i - middle) * value for i, value in enumerate(mean))
                 / sum((i - middle) ** 2 for i in range(len(mean))))
        order = -slope / math.log(2)
        print(f"impulse: errors of {len(logs)} scenes together fall with order {order:.2f}:",
              [f"{math.exp(value):.1e}" for value in mean], flush=True)
        self.assertGreaterEqual(order, LEAST)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
