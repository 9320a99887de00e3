#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tangere run and tangere diff: the document, the exit codes, and files that survive a kill.

  test_run.py TANGERE [unittest options]"""
import base64
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest

from program_test import FLOOR, ProgramTest

PROGRAM = ""
KEYS = ["steps", "simulated_s", "wall_s", "realtime_factor", "steps_per_s", "contacts_mean", "contacts_max",
        "pressure_polygons_mean", "pressure_polygons_max", "iterations_mean", "iterations_max", "status", "max_depth_m", "energy", "peak_memory_mb", "state_hash",
        "bodies", "soft_bodies", "envs", "environment_steps_per_s", "state_hashes"]
TIMES = {"wall_s", "realtime_factor", "steps_per_s", "environment_steps_per_s", "peak_memory_mb"}
# Three boxes that fall on one another and on a floor, a little askew: contacts come and go.
SCENE = FLOOR + """
[[body]]
name = "box a"
position = [0, 0, 0.12]
shapes = [{ box = [0.1, 0.1, 0.1] }]

[[body]]
name = "box b"
position = [0.03, 0.01, 0.36]
shapes = [{ box = [0.1, 0.1, 0.1] }]

[[body]]
name = "ball"
position = [0.05, 0.02, 0.6]
shapes = [{ sphere = 0.08 }]
"""


def python_with_h5py():
    """An interpreter that has h5py: this one, or Debian's, for which bootstrap.sh installs it."""
    for program in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(program) and subprocess.run([program, "-c", "import h5py"], capture_output=True).returncode == 0:
            return program
    return None


class RunTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.scene = self.file("scene.toml", SCENE)

    def document(self, *arguments, code=0):
        out, _ = self.run_program("run", self.scene, *arguments, "--json", code=code)
        return json.loads(out)

    def start(self, *arguments):
        return subprocess.Popen([PROGRAM, "run", self.scene, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def wait_for(self, condition, process, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            self.assertIsNone(process.poll(), "the run ended too early")
            self.assertLess(time.monotonic(), end, "waited too long")
            time.sleep(0.002)

    def diff(self, a, b, *arguments, code=0):
        return self.run_program("diff", self.name(a), self.name(b), *arguments, code=code)


class Document(RunTest):
    def test_the_document_has_the_keys_of_the_contract_and_plausible_values(self):
        document = self.document("--duration", "1")
        self.assertEqual(list(document), KEYS)
        self.assertEqual(document["steps"], 500)
        self.assertAlmostEqual(document["simulated_s"], 1, places=9)
        self.assertGreater(document["wall_s"], 0)
        self.assertAlmostEqual(document["steps_per_s"] * document["wall_s"], 500, places=6)
        self.assertGreaterEqual(document["contacts_max"], 4)
        self.assertLessEqual(document["contacts_mean"], document["contacts_max"])
        self.assertIn("Ok", document["status"])
        self.assertIn("StateNotFinite", document["status"])
        self.assertEqual(document["status"]["StateNotFinite"], 0)
        self.assertIn("contact_friction", document["energy"])
        self.assertGreater(document["peak_memory_mb"], 1)
        self.assertRegex(document["state_hash"], "^[0-9a-f]{16}$")
        self.assertEqual(sorted(document["bodies"]), ["ball", "box a", "box b", "floor"])
        box = document["bodies"]["box a"]
        self.assertEqual(list(box), ["position", "quaternion", "linear_velocity", "angular_velocity"])
        self.assertAlmostEqual(box["position"][2], 0.1, delta=2e-3)  # it lies on the floor
        self.assertEqual(len(box["quaternion"]), 4)

    def test_what_lies_on_its_pressure_has_polygons_and_not_no_contact(self):
        soft = self.file("soft.toml", """
[simulation]
solver = "sap"
[material.rubber]
density = 1000
contact = { model = "hydroelastic", modulus = 1e6 }
[[body]]
name = "floor"
fixed = true
shapes = [{ plane = true }]
[[soft]]
name = "block"
shape = { box = [0.05, 0.05, 0.05] }
resolution = 0.05
position = [0, 0, 0.0499]
material = "rubber"
""")
        document = json.loads(self.run_program("run", soft, "--steps", "20", "--json")[0])
        self.assertEqual(document["contacts_max"], 0)
        self.assertGreater(document["pressure_polygons_mean"], 1)
        self.assertLessEqual(document["pressure_polygons_mean"], document["pressure_polygons_max"])
        self.assertRegex(self.run_program("run", soft, "--steps", "20")[0], "pressure contact +polygons: mean [1-9]")
        self.assertEqual(self.document("--steps", "100")["pressure_polygons_max"], 0)

    def test_steps_and_duration_count_alike_and_dt_changes_the_step(self):
        self.assertEqual(self.document("--steps", "100")["state_hash"], self.document("--duration", "0.2")["state_hash"])
        finer = self.document("--duration", "0.2", "--dt", "0.001")
        self.assertEqual(finer["steps"], 200)
        self.assertAlmostEqual(finer["simulated_s"], 0.2, places=9)
        self.assertEqual(self.document("--steps", "0")["steps"], 0)

    def test_threads_and_seed_do_not_change_the_state(self):
        hashes = {self.document("--steps", "300", *more)["state_hash"]
                  for more in ([], ["--threads", "2"], ["--threads", "4"], ["--threads", "8"], ["--seed", "7"])}
        self.assertEqual(len(hashes), 1)

    def test_the_table_says_the_same(self):
        out, _ = self.run_program("run", self.scene, "--steps", "100")
        self.assertIn(self.document("--steps", "100")["state_hash"], out)
        self.assertIn("steps              100", out)
        self.assertIn("box a", self.run_program("run", self.scene, "--steps", "10", "-v")[0])
        self.assertEqual(self.run_program("run", self.scene, "--steps", "10", "-q")[0], "")

    def test_hash_every_prints_step_and_hash(self):
        out, _ = self.run_program("run", self.scene, "--steps", "100", "--hash-every", "25", "-q")
        lines = [line.split() for line in out.splitlines()]
        self.assertEqual([line[0] for line in lines], ["25", "50", "75", "100"])
        self.assertEqual(lines[3][1], self.document("--steps", "100")["state_hash"])
        out, err = self.run_program("run", self.scene, "--steps", "100", "--hash-every", "50", "--json")
        self.assertEqual(list(json.loads(out)), KEYS)  # one document, nothing else
        self.assertEqual(err.splitlines()[1].split(), lines[3])

    def test_no_progress_bar_where_there_is_no_terminal(self):
        _, err = self.run_program("run", self.scene, "--duration", "4")
        self.assertEqual(err, "")


class ExitCodes(RunTest):
    def test_wrong_arguments_are_usage_errors(self):
        for arguments in (["--duration", "-1"], ["--duration", "nan"], ["--duration", "x"], ["--steps", "-1"],
                          ["--steps", "1.5"], ["--steps", "10", "--duration", "1"], ["--solver", "magic"],
                          ["--device", "tpu"], ["--hash-every", "0"], ["--checkpoint-every", "1"], ["--envs", "0"],
                          ["--checkpoint", self.name("c"), "--checkpoint-every", "0"], ["--threads", "0"],
                          ["--seed", "-1"], ["--stpes", "10"]):
            self.run_program("run", self.scene, *arguments, code=2)
        self.run_program("run", code=2)
        self.run_program("diff", self.scene, code=2)
        self.assertIn("did you mean '--steps'?", self.run_program("run", self.scene, "--stpes", "10", code=2)[1])

    def test_event_solver_writes_its_log_as_text_and_as_a_document(self):
        text, document = self.name("events.txt"), self.name("events.json")
        for log in (text, document):
            self.run_program("run", self.scene, "--solver", "event", "--duration", "0.1", "--events", log)
        with open(document) as file:
            events = json.load(file)
        self.assertGreater(len(events), 0)
        self.assertLessEqual({"time", "signal", "cause", "body1", "body2", "distance", "c_res", "d_res", "restart"}, set(events[0]))
        with open(text) as file:
            self.assertEqual(file.read().count("State event (zero-crossing) at time = "), len(events))
        self.assertEqual(self.document("--solver", "event", "--duration", "0.1")["events"], events)

    def test_what_is_not_available_is_refused_with_what_is(self):
        self.assertIn("--device cpu", self.run_program("run", self.scene, "--device", "cuda", code=7)[1])
        self.run_program("run", self.scene, "--solver", "impulse", "--envs", "1", "--device", "cpu", "--steps", "1")

    def test_a_bad_scene_is_rejected_with_its_place(self):
        bad = self.file("bad.toml", SCENE.replace("sphere = 0.08", "sphere = -1"))
        self.assertRegex(self.run_program("run", bad, code=3)[1], r"bad\.toml:\d+:\d+: ")
        out, _ = self.run_program("run", bad, "--json", code=3)
        self.assertEqual(json.loads(out)["exit_code"], 3)
        self.run_program("run", self.name("missing.toml"), code=6)
        for dt in ("0", "-0.001", "nan", "inf"):
            self.assertIn("--dt", self.run_program("run", self.scene, "--dt", dt, code=2)[1])
        self.run_program("run", self.scene, "--dt", "1001", code=3)
        self.run_program("run", self.scene, "--dt", "1e-12", "--duration", "1e6", code=5)

    def test_outputs_may_not_be_inputs_or_each_other(self):
        link = self.path / "link.h5"
        link.symlink_to(self.scene)
        for arguments in (["--record", self.scene], ["--checkpoint", self.scene], ["--record", str(link)],
                          ["--record", self.name("x"), "--checkpoint", self.name("./x")],
                          ["--record", self.name("x"), "--checkpoint", self.name("x.partial")]):
            self.assertIn("same file", self.run_program("run", self.scene, *arguments, code=2)[1])
        self.run_program("run", self.scene, "--steps", "5", "--checkpoint", self.name("c.ck"))
        self.assertIn("same file", self.run_program("run", self.scene, "--resume", self.name("c.ck"), "--record", self.name("c.ck"), code=2)[1])
        self.assertEqual(pathlib.Path(self.scene).read_text(), SCENE)

    def test_files_that_cannot_be_written_or_read_are_input_output_errors(self):
        for option in ("--record", "--checkpoint"):
            for place in ("/dev/full", self.name("missing/x"), str(self.path)):
                self.run_program("run", self.scene, "--steps", "5", option, place, code=6)
        self.run_program("run", self.scene, "--resume", self.name("missing.ck"), code=6)
        self.run_program("diff", self.name("missing.h5"), self.name("missing.h5"), code=6)

    def test_a_damaged_checkpoint_or_one_of_another_scene_is_rejected(self):
        self.run_program("run", self.scene, "--steps", "50", "--checkpoint", self.name("a.ck"))
        data = (self.path / "a.ck").read_bytes()
        (self.path / "bad.ck").write_bytes(data[:100] + bytes([data[100] ^ 1]) + data[101:])
        self.run_program("run", self.scene, "--resume", self.name("bad.ck"), code=3)
        self.run_program("run", self.scene, "--resume", self.scene, code=3)
        self.run_program("run", self.scene, "--resume", self.name("a.ck"), "--dt", "0.001", code=3)
        self.scene = self.file("other.toml", SCENE.replace("0.08", "0.09"))
        self.assertIn("another scene", self.run_program("run", self.scene, "--resume", self.name("a.ck"), code=3)[1])

    def test_a_simulation_that_stops_keeps_what_came_before(self):
        # Gains 9.8e16 m/s in a step: the 1020th would be past 1e20 m/s and is not taken.
        self.scene = self.file("fall.toml", '[simulation]\ndt = 0.1\n[[body]]\nname = "stone"\ngravity_scale = 1e17\nshapes = [{ sphere = 0.1 }]\n')
        out, err = self.run_program("run", self.scene, "--steps", "1000000", "--record", self.name("a.h5"),
                                    "--checkpoint", self.name("a.ck"), "--json", code=4)
        step = int(re.search(r"environment 0, step (\d+): ", err).group(1))
        self.assertIn("StateNotFinite of 'stone': it runs away", err)
        self.assertEqual((step, json.loads(out)["steps"]), (1020, 1019))
        document = json.loads(self.run_program("diff", self.name("a.h5"), self.name("a.h5"), "--json")[0])
        self.assertEqual(document["frames"][0], step)  # 0 to step - 1
        self.run_program("run", self.scene, "--steps", str(step - 1), "--resume", self.name("a.ck"))

    def test_more_contacts_than_allowed_are_a_resource_limit(self):
        self.scene = self.file("many.toml", SCENE.replace("dt = 0.002", "dt = 0.002\nmax_contacts = { points = 3 }"))
        out, err = self.run_program("run", self.scene, "--steps", "1000", "--checkpoint", self.name("a.ck"), "--json", code=5)
        found = re.search(r"environment 0, step (\d+): TooManyContacts: (\d+) contacts of kind 'points', the limit is 3", err)
        self.assertGreater(int(found.group(2)), 3)
        self.assertEqual(json.loads(out)["steps"], int(found.group(1)) - 1)
        self.run_program("run", self.scene, "--steps", "1000", "--resume", self.name("a.ck"), code=5)

    def test_stdout_that_takes_nothing_is_an_input_output_error(self):
        for more in (["--json"], [], ["--hash-every", "1", "-q"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([PROGRAM, "run", self.scene, "--steps", "10", *more], stdout=full, stderr=subprocess.PIPE, timeout=60)
            self.assertEqual(done.returncode, 6, done.stderr)


# A driven pendulum, and a robot's solver.
ROBOT = """<mujoco><worldbody><body pos="0 0 1"><joint name="hinge" axis="0 1 0" damping="0.1"/>
<geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.05"/></body></worldbody>
<actuator><motor name="motor" joint="hinge"/></actuator>
<keyframe><key name="up" qpos="-1.5" ctrl="0.2"/></keyframe></mujoco>"""
SOFT = """
[simulation]
dt = 0.005
solver = "sap"

[[body]]
name = "floor"
fixed = true
shapes = [{ plane = true }]

[[soft]]
name = "ball"
shape = { sphere = 0.05 }
resolution = 0.04
position = [0, 0, 0.052]
"""


class Environments(RunTest):
    def test_every_environment_is_the_run_alone(self):
        for text, name in ((SCENE, "boxes.toml"), (ROBOT, "robot.xml"), (SOFT, "soft.toml")):
            self.scene = self.file(name, text)
            alone = self.document("--steps", "60")
            self.assertEqual(alone["envs"], 1)
            self.assertEqual(alone["state_hashes"], [alone["state_hash"]])
            for threads in ("1", "2"):
                many = self.document("--steps", "60", "--envs", "20", "--threads", threads)
                self.assertEqual(list(many), KEYS)
                self.assertEqual(many["envs"], 20)
                self.assertEqual(many["state_hashes"], [alone["state_hash"]] * 16)
                for key in set(KEYS) - TIMES - {"envs", "state_hashes", "status"}:
                    self.assertEqual(many[key], alone[key], key)
                self.assertEqual(many["status"], {name: 20 * steps for name, steps in alone["status"].items()})
                self.assertAlmostEqual(many["environment_steps_per_s"] * many["wall_s"], 20 * 60, places=5)

    def test_the_table_says_the_same(self):
        out, _ = self.run_program("run", self.scene, "--steps", "50", "--envs", "3")
        self.assertIn("environments       3, ", out)
        self.assertEqual(out.count(self.document("--steps", "50")["state_hash"]), 3)
        self.assertRegex(out, r"status +150 steps Ok")

    def test_all_start_from_the_keyframe(self):
        self.scene = self.file("robot.xml", ROBOT)
        alone = self.document("--steps", "10", "--keyframe", "up")
        self.assertEqual(self.document("--steps", "10", "--keyframe", "up", "--envs", "3")["state_hashes"], [alone["state_hash"]] * 3)
        self.assertNotEqual(alone["state_hash"], self.document("--steps", "10")["state_hash"])

    def test_files_and_hashes_are_those_of_the_first(self):
        self.document("--steps", "100", "--record", self.name("alone.h5"))
        self.document("--steps", "100", "--record", self.name("many.h5"), "--replay", self.name("many.html"), "--envs", "3", "--threads", "2")
        self.diff("alone.h5", "many.h5")
        self.assertTrue((self.path / "many.html").exists())
        lines = [self.run_program("run", self.scene, "--steps", "100", "--hash-every", "25", "-q", *more)[0] for more in ([], ["--envs", "3"])]
        self.assertEqual(lines[0], lines[1])

    def test_what_holds_one_environment_is_refused(self):
        self.run_program("run", self.scene, "--steps", "5", "--checkpoint", self.name("a.ck"))
        for arguments in (["--checkpoint", self.name("b.ck")], ["--resume", self.name("a.ck")], ["--trace", self.name("t.json")]):
            self.assertIn("without --envs", self.run_program("run", self.scene, "--envs", "2", *arguments, code=2)[1])

    def test_those_that_stop_are_named_and_counted(self):
        # Spins so fast that its momentum is no number.
        self.scene = self.file("spin.xml", """<mujoco><worldbody><body><freejoint/><geom type="box" size="1 2 3" mass="1e20"/></body></worldbody>
<keyframe><key name="wild" qvel="0 0 0 1e149 1e149 1e149"/></keyframe></mujoco>""")
        out, err = self.run_program("run", self.scene, "--keyframe", "wild", "--envs", "3", "--json", code=4)
        self.assertRegex(err, "environment 0, step 1: StateNotFinite.* 3 of 3 environments stopped")
        self.assertEqual(json.loads(out)["steps"], 0)

    def test_interrupt_ends_all(self):
        process = self.start("--steps", "100000000", "--envs", "8", "--json", "--record", self.name("a.h5"))
        self.wait_for((self.path / "a.h5.partial").exists, process)  # it runs, however slow the machine
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        document = json.loads(out)
        self.assertGreater(document["steps"], 0)
        self.assertEqual(len(set(document["state_hashes"])), 1)  # all at the same step


class Files(RunTest):
    def test_a_recording_has_every_step_and_names(self):
        self.run_program("run", self.scene, "--steps", "300", "--record", self.name("a.h5"))
        self.assertFalse((self.path / "a.h5.partial").exists())
        python = python_with_h5py()
        if python is None:
            self.skipTest("no h5py")
        script = """
import h5py, json, numpy, sys
f = h5py.File(sys.argv[1], "r")
steps = f["frames/step"][:]
offset = f["contacts/offset"][:]
finite = True
def visit(name, item):
    global finite
    if isinstance(item, h5py.Dataset) and item.dtype.kind == "f": finite &= bool(numpy.isfinite(item[()]).all())
f.visititems(visit)
last = slice(int(offset[-2]), int(offset[-1]))
names = [n.decode() for n in f["model/body_name"][:]]
normals = f["contacts/normal"][last]
floor = names.index("floor")
pairs = list(zip(f["contacts/body1"][last].tolist(), f["contacts/body2"][last].tolist()))
up = [n[2] * (1 if b == floor else -1) for (a, b), n in zip(pairs, normals) if floor in (a, b)]
weight = sum(v[2] * (1 if b == floor else -1) for (a, b), v in zip(pairs, f["contacts/force"][last]) if floor in (a, b))
print(json.dumps({
  "steps": steps.tolist() == list(range(301)), "finite": finite, "names": names,
  "shapes": {k: list(f["bodies/" + k].shape) for k in f["bodies"]},
  "groups": sorted(f), "attributes": {k: str(v) for k, v in f.attrs.items()},
  "energy": sorted(f["energy"]), "solver": sorted(f["solver"]), "contacts": sorted(f["contacts"]),
  "up": up, "weight": weight, "mass": f["model/mass"][:].tolist(),
  "types": [t.decode() for t in f["model/shapes/type"][:]], "unit": f["bodies/position"].attrs["unit"],
  "hash": int(f["frames/state_hash"][-1]), "compressed": f["bodies/position"].compression}))
"""
        done = subprocess.run([python, "-c", script, self.name("a.h5")], capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        seen = json.loads(done.stdout)
        self.assertTrue(seen["steps"])
        self.assertTrue(seen["finite"])
        self.assertEqual(seen["names"], ["ball", "box a", "box b", "floor"])
        self.assertEqual(seen["types"], ["sphere", "box", "box", "plane"])
        self.assertEqual(seen["shapes"], {"position": [301, 4, 3], "quaternion": [301, 4, 4],
                                          "linear_velocity": [301, 4, 3], "angular_velocity": [301, 4, 3], "asleep": [301, 4]})
        self.assertEqual(seen["groups"], ["bodies", "contacts", "energy", "frames", "model", "solver"])
        self.assertEqual(seen["attributes"]["quaternion_order"], "w x y z")
        self.assertIn("normal from body 2 to body 1", seen["attributes"]["contact_convention"])
        self.assertEqual(seen["attributes"]["format_version"], "1")
        self.assertEqual(seen["unit"], "m")
        self.assertEqual(seen["compressed"], "gzip")
        self.assertEqual(set(seen["contacts"]), {"offset", "body1", "body2", "shape1", "shape2", "id", "position", "normal",
                                                 "depth", "force", "torque", "normal_work", "friction_work"})
        self.assertEqual(set(seen["solver"]), {"status", "contacts", "islands", "iterations", "impacts", "residual",
                                               "max_depth", "body1", "body2"})
        self.assertGreater(len(seen["up"]), 0)
        for up in seen["up"]:  # the floor's normal, towards whatever lies on it
            self.assertAlmostEqual(up, 1, places=9)
        self.assertEqual(f"{seen['hash']:016x}", self.document("--steps", "300")["state_hash"])

    def h5py(self, script, *arguments):
        python = python_with_h5py()
        if python is None:
            self.skipTest("no h5py")
        done = subprocess.run([python, "-c", "import h5py, json, sys\n" + script, *arguments], capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return json.loads(done.stdout or "null")

    def test_soft_bodies_and_pressure_are_recorded(self):
        self.scene = self.file("soft.toml", SOFT)
        document = self.document("--steps", "50", "--record", self.name("a.h5"))
        self.document("--steps", "50", "--record", self.name("b.h5"), "--threads", "2")
        self.diff("a.h5", "b.h5")
        seen = self.h5py("""
f = h5py.File(sys.argv[1], "r")
x, offset = f["soft_bodies/position"], f["pressure/offset"][:]
last = slice(int(offset[-2]), int(offset[-1]))
first, count = f["pressure/first_vertex"][last], f["pressure/num_vertices"][last]
print(json.dumps({"shape": x.shape, "compressed": x.compression, "mean": x[-1].mean(axis=0).tolist(),
  "names": [n.decode() for n in f["model/soft_bodies/name"]], "rows": f["model/soft_bodies/vertex_offset"][:].tolist(),
  "triangles": len(f["model/soft_bodies/triangles"]), "highest_index": int(f["model/soft_bodies/tetrahedra"][:].max()),
  "start": bool((f["model/soft_bodies/vertices"][:] == x[0]).all()), "groups": sorted(f), "mass": f["model/soft_bodies/mass"][0],
  "polygons": int(f["solver/pressure_polygons"][-1]), "offsets": len(offset), "force": f["pressure/force"][last][:, 2].sum(),
  "lowest": float(min(f["pressure/vertex"][int(i):int(i) + int(n), 2].min() for i, n in zip(first, count))), "in_frame": last.stop - last.start,
  "soft1": f["pressure/soft1"][last].tolist(), "body2": f["pressure/body2"][last].tolist(), "unit": x.attrs["unit"]}))
""", self.name("a.h5"))
        self.assertEqual(seen["groups"], ["bodies", "contacts", "energy", "frames", "model", "pressure", "soft_bodies", "solver"])
        vertices = document["soft_bodies"]["ball"]["vertices"]
        self.assertEqual(seen["shape"], [51, vertices, 3])
        self.assertEqual((seen["names"], seen["rows"]), (["ball"], [0, vertices]))
        self.assertEqual((seen["compressed"], seen["unit"], seen["offsets"], seen["start"]), ("gzip", "m", 52, True))
        for a, b in zip(seen["mean"], document["soft_bodies"]["ball"]["position"]):
            self.assertAlmostEqual(a, b, places=12)
        self.assertLess(seen["highest_index"], vertices)
        self.assertGreater(seen["triangles"], 10)
        self.assertGreater(seen["in_frame"], 0)
        self.assertEqual(seen["polygons"], seen["in_frame"])
        for soft, body in zip(seen["soft1"], seen["body2"]):
            self.assertIn((soft, body), ((0, 0), (-1, -1)))  # the ball on the floor, either way round
        self.assertAlmostEqual(seen["lowest"], 0, places=9)  # on the plane

    def test_a_vertex_that_differs_is_named(self):
        self.scene = self.file("soft.toml", SOFT)
        self.document("--steps", "5", "--record", self.name("a.h5"))
        self.scene = self.file("moved.toml", SOFT.replace("0.052]", "0.0520000000000001]"))
        self.document("--steps", "5", "--record", self.name("b.h5"))
        out, _ = self.diff("a.h5", "b.h5", code=1)
        self.assertRegex(out, r"step 0: soft body 'ball': position of vertex \d+")
        self.diff("a.h5", "b.h5", "--tolerance", "1e-9")

    def test_soft_bodies_alone_are_recorded(self):
        self.scene = self.file("soft.toml", SOFT[:SOFT.index("[[body]]")] + SOFT[SOFT.index("[[soft]]"):])
        document = self.document("--steps", "10", "--record", self.name("a.h5"))
        self.assertEqual(document["bodies"], {})
        self.assertIn("equal", self.diff("a.h5", "a.h5")[0])

    def test_sensors_are_recorded_and_recordings_without_them_are_read(self):
        self.scene = self.file("robot.xml", ROBOT.replace("</mujoco>", '<sensor><jointpos name="angle" joint="hinge"/>'
                                                          '<framepos name="place" objtype="xbody" objname="link"/></sensor></mujoco>')
                               .replace('<body pos="0 0 1">', '<body name="link" pos="0 0 1">'))
        self.document("--steps", "20", "--record", self.name("a.h5"))
        seen = self.h5py("""
f = h5py.File(sys.argv[1], "r")
print(json.dumps({"names": [n.decode() for n in f["model/sensors/name"]], "offset": f["model/sensors/value_offset"][:].tolist(),
  "values": f["sensors/values"][:].tolist(), "place": f["bodies/position"][-1, 0].tolist()}))
""", self.name("a.h5"))
        self.assertEqual((seen["names"], seen["offset"], len(seen["values"])), (["angle", "place"], [0, 1, 4], 21))
        self.assertNotEqual(seen["values"][-1][0], seen["values"][0][0])
        self.assertEqual(seen["values"][-1][1:], seen["place"])
        # As an earlier version would have written it.
        shutil.copy(self.name("a.h5"), self.name("old.h5"))
        self.h5py("""
with h5py.File(sys.argv[1], "r+") as f:
    del f["sensors"], f["model/sensors"]
""", self.name("old.h5"))
        self.diff("a.h5", "old.h5")
        self.diff("old.h5", "a.h5")

    def test_tables_that_contradict_each_other_are_rejected(self):
        self.scene = self.file("soft.toml", SOFT)
        self.document("--steps", "20", "--record", self.name("a.h5"))
        changes = ['f["model/soft_bodies/tetrahedra"][3, 1] = 9999', 'f["model/soft_bodies/triangles"][0, 0] = -1',
                   'f["model/soft_bodies/vertex_offset"][1] += 1', 'f["model/soft_bodies/triangle_offset"][1] += 1',
                   'f["model/soft_bodies/tetrahedron_offset"][0] = 1', 'f["pressure/offset"][5] = 10**9',
                   'f["pressure/num_vertices"][0] = 100', 'f["pressure/first_vertex"][1] += 1', 'f["pressure/soft1"][0] = 7',
                   'f["pressure/body2"][0] = -2', 'f["pressure/vertex"].resize(3, axis=0)', 'del f["pressure/force"]',
                   'del f["soft_bodies"]', 'f["soft_bodies/position"].resize(7, axis=0)', 'del f["model/soft_bodies/name"]']
        self.h5py("""
import shutil
for i, change in enumerate(sys.argv[2:]):
    shutil.copy(sys.argv[1], sys.argv[1] + str(i))
    with h5py.File(sys.argv[1] + str(i), "r+") as f: exec(change)
""", self.name("a.h5"), *changes)
        for i, change in enumerate(changes):
            _, err = self.diff(f"a.h5{i}", "a.h5", code=3)
            self.assertIn(f"a.h5{i}: ", err, change)

    def test_drakes_hydroelastic_tags_press_over_areas(self):
        box = "<geometry><box><size>2 2 0.2</size></box></geometry>"
        ball = "<geometry><sphere><radius>0.05</radius></sphere></geometry>"
        tags = "<drake:proximity_properties>{}</drake:proximity_properties>".format
        self.scene = self.file("ball.sdf", "<sdf version='1.9'><world name='w'><model name='floor'><static>true</static><link name='l'><collision name='c'>"
                               + box + tags("<drake:rigid_hydroelastic/>") + "</collision></link></model>"
                               "<model name='ball'><pose>0 0 0.15 0 0 0</pose><link name='l'><inertial><mass>2</mass></inertial><collision name='c'>"
                               + ball + tags("<drake:compliant_hydroelastic/><drake:hydroelastic_modulus>1e6</drake:hydroelastic_modulus>")
                               + "</collision></link></model></world></sdf>")
        self.assertEqual(self.document("--steps", "500", "--record", self.name("a.h5"))["contacts_max"], 0)
        force = self.h5py("""
f = h5py.File(sys.argv[1], "r")
begin, end = f["pressure/offset"][-2:]
sign = [1 if f["model/body_name"][b].startswith(b"ball") else -1 for b in f["pressure/body1"][begin:end]]
print(json.dumps((f["pressure/force"][begin:end] * [[s] for s in sign]).sum(axis=0).tolist()))
""", self.name("a.h5"))
        self.assertAlmostEqual(force[2], 2 * 9.8, places=3)  # its weight, with the format's gravity

    def test_a_recorded_run_is_the_run(self):
        plain = self.document("--steps", "200")
        recorded = self.document("--steps", "200", "--record", self.name("a.h5"))
        self.assertEqual(plain["state_hash"], recorded["state_hash"])
        self.assertEqual(plain["energy"], recorded["energy"])

    def test_a_resumed_run_is_the_unbroken_run(self):
        unbroken = self.document("--steps", "600", "--record", self.name("whole.h5"))
        self.document("--steps", "250", "--checkpoint", self.name("a.ck"))
        resumed = self.document("--steps", "600", "--resume", self.name("a.ck"), "--record", self.name("rest.h5"), "--threads", "2")
        for key in set(KEYS) - TIMES:
            self.assertEqual(resumed[key], unbroken[key], key)
        self.diff("whole.h5", "rest.h5", "--common")
        out, _ = self.diff("whole.h5", "rest.h5", code=1)
        self.assertIn("step 0", out)

    def test_resuming_a_finished_run_does_nothing_and_says_so(self):
        self.run_program("run", self.scene, "--steps", "20", "--checkpoint", self.name("a.ck"))
        _, err = self.run_program("run", self.scene, "--steps", "20", "--resume", self.name("a.ck"))
        self.assertIn("nothing is left", err)

    def test_diff_finds_equal_runs_equal_and_names_what_differs(self):
        self.run_program("run", self.scene, "--steps", "200", "--record", self.name("a.h5"))
        self.run_program("run", self.scene, "--steps", "200", "--record", self.name("b.h5"), "--threads", "3")
        self.assertIn("equal", self.diff("a.h5", "b.h5")[0])
        self.assertTrue(json.loads(self.diff("a.h5", "b.h5", "--json")[0])["equal"])
        # The ball starts one bit higher.
        self.scene = self.file("moved.toml", SCENE.replace("0.6]", "0.6000000000000001]"))
        self.run_program("run", self.scene, "--steps", "200", "--record", self.name("c.h5"))
        out, _ = self.diff("a.h5", "c.h5", code=1)
        self.assertIn("step 0: body 'ball': position", out)
        self.assertIn("0.6000000000000001", out)
        document = json.loads(self.diff("a.h5", "c.h5", "--json", code=1)[0])
        self.assertEqual(document["difference"]["step"], 0)
        self.assertEqual(document["difference"]["name"], "ball")
        self.assertFalse(document["same_model"])
        for name, scene in (("d.h5", self.name("scene.toml")), ("e.h5", self.scene)):  # before they touch
            self.run_program("run", scene, "--steps", "9", "--record", self.name(name))
        self.diff("d.h5", "e.h5", "--tolerance", "1e-12")
        self.diff("d.h5", "e.h5", "--tolerance", "1e-20", code=1)
        self.diff("a.h5", "c.h5", "--tolerance", "-1", code=2)
        self.run_program("run", self.scene, "--steps", "100", "--record", self.name("short.h5"))
        self.assertIn("missing", self.diff("c.h5", "short.h5", code=1)[0])

    def test_two_runs_do_not_write_one_recording(self):
        first = self.start("--steps", "100000000", "--record", self.name("a.h5"))
        try:
            self.wait_for((self.path / "a.h5.partial").exists, first)
            time.sleep(0.3)
            self.assertIn("another run", self.run_program("run", self.scene, "--steps", "5", "--record", self.name("a.h5"), code=6)[1])
        finally:
            first.kill()
            first.communicate()

    def test_a_file_size_limit_is_an_input_output_error_and_keeps_whole_frames(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1_500_000, 1_500_000))
        out, err = self.run_program("run", self.scene, "--steps", "1000000", "--record", self.name("a.h5"), "--json", code=6, preexec_fn=limit)
        self.assertIn("a.h5.partial", err)
        self.assertRegex(err, r"\d+ bytes")
        document = json.loads(out)
        self.assertGreater(document["steps"], 100)  # the result so far
        self.assertFalse((self.path / "a.h5").exists())
        self.run_program("run", self.scene, "--steps", str(document["steps"]), "--record", self.name("b.h5"))
        self.assertGreaterEqual(int(re.search(r"holds (\d+) whole frames", err).group(1)), 64)
        self.diff("a.h5.partial", "b.h5", "--common")


class ReplayPage(RunTest):
    def data(self, page):
        """The document in the page's script."""
        text = pathlib.Path(page).read_text()
        return json.loads(re.search(r"const TANGERE_DATA = (.*?);</script>", text).group(1))

    def frames(self, page):
        """Time, and number of bodies and contacts, of every frame."""
        raw, frames, at = base64.b64decode(self.data(page)["frames"]), [], 0
        while at < len(raw):
            size, version, time_s, _, bodies, contacts = struct.unpack_from("<IIddII", raw, at)
            self.assertEqual(version, 2)
            self.assertEqual(size % 8, 0)
            frames.append((time_s, bodies, contacts))
            at += size
        return frames

    def test_the_page_holds_sixty_frames_a_second_and_is_alone(self):
        self.run_program("run", self.scene, "--duration", "1", "--replay", self.name("a.html"))
        frames = self.frames(self.name("a.html"))
        times = [frame[0] for frame in frames]
        self.assertAlmostEqual(len(times), 60, delta=1)
        self.assertEqual(times[0], 0)
        self.assertEqual(times, sorted(times))
        self.assertEqual({frame[1] for frame in frames}, {4})
        self.assertGreater(frames[-1][2], 0)
        self.assertEqual([b["name"] for b in self.data(self.name("a.html"))["scene"]["bodies"]], ["ball", "box a", "box b", "floor"])
        text = (self.path / "a.html").read_text()
        self.assertNotRegex(text, r"<(script|img|iframe)[^>]* src|<link[^>]*http|\bimport\(")  # nothing is loaded

    def test_names_cannot_leave_the_script(self):
        self.run_program("run", self.scene, "--steps", "5", "--replay", self.name("plain.html"))
        self.scene = self.file("x.toml", SCENE.replace("box a", "</script><script>alert(1)//"))
        self.run_program("run", self.scene, "--steps", "5", "--replay", self.name("a.html"))
        self.assertEqual((self.path / "a.html").read_text().count("<script>"), (self.path / "plain.html").read_text().count("<script>"))
        self.assertIn("</script><script>alert(1)//", [b["name"] for b in self.data(self.name("a.html"))["scene"]["bodies"]])

    def test_the_page_is_whole_or_absent(self):
        for place in (self.name("missing/a.html"), str(self.path)):
            self.run_program("run", self.scene, "--steps", "5", "--replay", place, code=6)
        self.run_program("run", self.scene, "--steps", "5", "--replay", self.scene, code=2)
        run = self.start("--steps", "100000000", "--replay", self.name("a.html"), "--record", self.name("a.h5"))
        self.wait_for((self.path / "a.h5.partial").exists, run)  # it runs, however slow the machine
        time.sleep(0.2)
        self.assertFalse((self.path / "a.html").exists())
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130)
        self.assertGreater(len(self.frames(self.name("a.html"))), 0)


class TraceFile(RunTest):
    def test_every_step_has_its_phases_within_it(self):
        plain = self.document("--steps", "200")
        traced = self.document("--steps", "200", "--trace", self.name("t.json"), "--record", self.name("a.h5"),
                               "--checkpoint", self.name("a.ck"), "--checkpoint-every", "0.001")
        self.assertEqual(plain["state_hash"], traced["state_hash"])
        events = [e for e in json.loads((self.path / "t.json").read_text())["traceEvents"] if e["ph"] == "X"]
        steps = [e for e in events if e["name"].startswith("step ")]
        self.assertEqual([e["name"] for e in steps], [f"step {i}" for i in range(1, 201)])
        self.assertEqual(sum(e["args"]["contacts"] for e in steps), round(traced["contacts_mean"] * 200))
        phases = [e for e in events if e["name"] in ("kinematics", "broad_phase", "narrow_phase", "solve", "integrate")]
        self.assertGreaterEqual(len(phases), 5 * 150)
        index = 0
        for event in events:
            if event["name"] in ("record", "checkpoint") or event in steps[:1]:
                continue
            if event["name"].startswith("step "):
                index += 1
                continue
            step = steps[index]
            self.assertGreaterEqual(event["ts"], step["ts"])
            self.assertLessEqual(event["ts"] + event["dur"], step["ts"] + step["dur"] + 1)
        self.assertIn("record", [e["name"] for e in events])
        self.assertIn("checkpoint", [e["name"] for e in events])

    # The parts of a step as docs/step.md has them: each under its phase.
    PARTS = {"narrow_phase": ("point_contacts", "pressure_gradients", "bvh", "polygons", "reduce_patches"),
             "build_problem": ("soft_assembly", "polygon_rows"),
             "solve": ("setup", "gradients", "factorization", "cholesky", "contact_pcg", "soft_pcg", "line_search")}
    PHASES = ("kinematics", "broad_phase", "narrow_phase", "patches", "build_problem", "impacts", "solve", "integrate", "ledger")

    def nested(self, file):
        """Every bar of every thread with the bars above it; bars that overlap without one holding the other are an error."""
        text = (self.path / file).read_text()
        document = json.loads(text, parse_float=lambda digits: round(1000 * float(digits)))  # whole nanoseconds
        bars = {}
        for event in document["traceEvents"]:
            self.assertIn(event["ph"], ("X", "M"))
            if event["ph"] == "X":
                bars.setdefault((event["pid"], event["tid"]), []).append(event)
        out = []
        for thread in bars.values():
            above = []
            for event in sorted(thread, key=lambda e: (e["ts"], -e["dur"])):  # stable: a child comes after its equal parent
                while above and event["ts"] >= above[-1]["ts"] + above[-1]["dur"]:
                    above.pop()
                for other in above:
                    self.assertLessEqual(event["ts"] + event["dur"], other["ts"] + other["dur"], (event, other))
                out.append([e["name"] for e in above] + [event["name"]])
                if event["dur"] > 0:
                    above.append(event)
        return out

    def test_bars_are_nested_as_the_phases_of_the_step_are(self):
        soft = '[[soft]]\nname = "s"\nshape = { sphere = 0.1 }\nresolution = 0.05\nposition = [1, 0, 0.1]\n'
        phase_of = {part: phase for phase, parts in self.PARTS.items() for part in parts}
        for name, text, options in (("rigid", SCENE, []), ("soft", SCENE + soft, []), ("threads", SCENE + soft, ["--threads", "3"])):
            with self.subTest(name):
                self.scene = self.file(name + ".toml", text)
                self.document("--steps", "40", "--trace", self.name("t.json"), "--record", self.name("a.h5"), *options)
                seen = set()
                for names in self.nested("t.json"):
                    seen.add(names[-1])
                    if names[-1] in self.PHASES:
                        self.assertEqual(len(names), 2, names)
                        self.assertTrue(names[0].startswith("step "), names)
                    elif names[-1] in phase_of:
                        self.assertEqual(names[1:-1], [phase_of[names[-1]]], names)
                    else:
                        self.assertTrue(names == ["record"] or (len(names) == 1 and names[0].startswith("step ")), names)
                self.assertLessEqual({"kinematics", "broad_phase", "narrow_phase", "solve", "integrate", "record"}, seen)
                if name != "rigid":
                    self.assertLessEqual({"bvh", "pressure_gradients", "polygons", "soft_assembly", "polygon_rows", "gradients",
                                          "factorization", "soft_pcg", "line_search", "setup"}, seen)

    def test_a_trace_that_cannot_be_written_is_an_input_output_error(self):
        for place in ("/dev/full", self.name("missing/t.json"), str(self.path)):
            self.run_program("run", self.scene, "--steps", "300", "--trace", place, code=6)
        self.run_program("run", self.scene, "--steps", "5", "--trace", self.scene, code=2)


class Signals(RunTest):
    def test_interrupt_finishes_the_step_and_the_files(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            run = self.start("--steps", "100000000", "--record", self.name("a.h5"), "--checkpoint", self.name("a.ck"), "--json")
            self.wait_for((self.path / "a.h5.partial").exists, run)
            time.sleep(0.5)
            sent = time.monotonic()
            run.send_signal(number)
            out, err = run.communicate(timeout=30)
            self.assertLess(time.monotonic() - sent, 10)
            self.assertEqual(run.returncode, 130, err)
            self.assertIn(b"interrupted after step", err)
            document = json.loads(out)
            self.assertFalse((self.path / "a.h5.partial").exists())
            steps = document["steps"]
            self.assertGreater(steps, 0)
            again = self.document("--steps", str(steps), "--record", self.name("b.h5"))
            self.assertEqual(again["state_hash"], document["state_hash"])
            self.diff("a.h5", "b.h5")
            more = str(steps + 100)
            self.assertEqual(self.document("--steps", more, "--resume", self.name("a.ck"))["state_hash"], self.document("--steps", more)["state_hash"])

    def test_a_time_limit_ends_every_solver_with_the_last_whole_step(self):
        overlap = "".join(f'[[body]]\nname = "b{i}"\nposition = [{1e-4 * i}, 0, 0]\nmaterial = "s"\nshapes = [{{ sphere = 0.01 }}]\n' for i in range(250))
        slow = '[simulation]\nsolver = "event"\nevent.max_memory = 1e12\n[material.s]\ncontact = { model = "hertz", young = 2e11, poisson = 0.3 }\n' + overlap
        for solver, scene in (("impulse", self.scene), ("sap", self.scene), ("event", self.scene), ("event", self.file("slow.toml", slow))):
            with self.subTest(solver):
                begin = time.monotonic()
                out, err = self.run_program("run", scene, "--solver", solver, "--steps", "1000000000", "--time-limit", "1", "--checkpoint",
                                            self.name("t.ck"), "--json", code=5)
                self.assertLess(time.monotonic() - begin, 15)
                document = json.loads(out)
                self.assertRegex(err, rf"the time limit of 1 s was reached after step {document['steps']}\n")
                if document["steps"] > 0 and solver != "event":
                    again = json.loads(self.run_program("run", scene, "--solver", solver, "--steps", str(document["steps"]), "--json")[0])
                    self.assertEqual(again["state_hash"], document["state_hash"])
        for bad in ("0", "-1", "nan", "1e9"):
            self.run_program("run", self.scene, "--time-limit", bad, code=2)

    def test_a_killed_recording_is_readable_up_to_its_last_chunk(self):
        self.run_program("run", self.scene, "--steps", "20000", "--record", self.name("whole.h5"))
        python = python_with_h5py()
        for i in range(8):
            partial = self.path / "a.h5.partial"
            partial.unlink(missing_ok=True)
            run = self.start("--steps", "100000000", "--record", self.name("a.h5"))
            self.wait_for(lambda: partial.exists() and partial.stat().st_size > 1_500_000, run)  # more than was handed over first
            time.sleep(0.013 * i)
            run.kill()
            run.communicate()
            self.assertEqual(run.returncode, -signal.SIGKILL)
            self.assertFalse((self.path / "a.h5").exists())
            document = json.loads(self.diff("a.h5.partial", "whole.h5", "--common", "--json")[0])
            frames = document["frames"][0]
            self.assertEqual(frames % 64, 0)
            self.assertGreater(frames, 0)
            if python:  # the plain library reads it too, as one that is being written
                script = "import h5py, sys; print(len(h5py.File(sys.argv[1], 'r', libver='latest', swmr=True)['frames/step']))"
                done = subprocess.run([python, "-c", script, self.name("a.h5.partial")], capture_output=True, timeout=60)
                self.assertEqual(done.stdout.decode().strip(), str(frames), done.stderr.decode())

    def test_killed_while_checkpointing_it_resumes_to_the_same_bits(self):
        # Nothing sleeps and the ball bounces for ever: the state is never at rest.
        self.scene = self.file("lively.toml", SCENE.replace("sphere = 0.08", 'sphere = 0.08, material = "rubber"') +
                               "[material.rubber]\nrestitution = 1\n[simulation.sleep]\nenabled = false\n")
        checkpoint = self.path / "a.ck"
        saved_at = [0]
        for i in range(10):
            resume = ["--resume", str(checkpoint)] if checkpoint.exists() else []
            run = self.start("--steps", "100000000", "--checkpoint", str(checkpoint), "--checkpoint-every", "0.002", *resume)
            before = checkpoint.stat().st_mtime_ns if checkpoint.exists() else None
            self.wait_for(lambda: checkpoint.exists() and checkpoint.stat().st_mtime_ns != before, run)
            time.sleep(0.0017 * i)  # at any moment of the next one
            run.kill()
            run.communicate()
            self.assertEqual(run.returncode, -signal.SIGKILL)
            saved_at.append(self.document("--steps", "0", "--resume", str(checkpoint))["steps"])
        self.assertEqual(saved_at, sorted(set(saved_at)))  # each run got farther
        last = str(saved_at[-1] + 100)
        self.assertEqual(self.document("--steps", last, "--resume", str(checkpoint), "--threads", "2")["state_hash"],
                         self.document("--steps", last)["state_hash"])


if __name__ == "__main__":
    PROGRAM = ProgramTest.program = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
