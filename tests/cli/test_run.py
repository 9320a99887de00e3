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
import tempfile
import time
import unittest

PROGRAM = ""
KEYS = ["steps", "simulated_s", "wall_s", "realtime_factor", "steps_per_s", "contacts_mean", "contacts_max",
        "iterations_mean", "iterations_max", "status", "max_depth_m", "energy", "peak_memory_mb", "state_hash",
        "bodies"]
# Three boxes that fall on one another and on a floor, a little askew: contacts come and go.
SCENE = """
[simulation]
dt = 0.002

[[body]]
name = "floor"
fixed = true
shapes = [{ plane = true }]

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


class RunTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        self.scene = self.file("scene.toml", SCENE)

    def tearDown(self):
        self.folder.cleanup()

    def file(self, name, text):
        target = self.path / name
        target.write_text(text)
        return str(target)

    def name(self, name):
        return str(self.path / name)

    def run_program(self, *arguments, code=0, **keywords):
        done = subprocess.run([PROGRAM, *arguments], capture_output=True, timeout=300, **keywords)
        self.assertEqual(done.returncode, code, done.stderr.decode() + done.stdout.decode())
        return done.stdout.decode(), done.stderr.decode()

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

    def test_what_is_not_available_is_refused_with_what_is(self):
        self.assertIn("'sap' and 'impulse'", self.run_program("run", self.scene, "--solver", "event", code=3)[1])
        self.assertIn("--envs 1", self.run_program("run", self.scene, "--envs", "4", code=3)[1])
        self.assertIn("--device cpu", self.run_program("run", self.scene, "--device", "cuda", code=7)[1])
        self.run_program("run", self.scene, "--solver", "impulse", "--envs", "1", "--device", "cpu", "--steps", "1")

    def test_a_bad_scene_is_rejected_with_its_place(self):
        bad = self.file("bad.toml", SCENE.replace("sphere = 0.08", "sphere = -1"))
        self.assertRegex(self.run_program("run", bad, code=3)[1], r"bad\.toml:\d+:\d+: ")
        out, _ = self.run_program("run", bad, "--json", code=3)
        self.assertEqual(json.loads(out)["exit_code"], 3)
        self.run_program("run", self.name("missing.toml"), code=6)
        for dt in ("0", "-0.001", "nan"):
            self.run_program("run", self.scene, "--dt", dt, code=3)
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
        # Falls so fast that its energy is no number after a while, and says when.
        self.scene = self.file("fall.toml", '[simulation]\ndt = 0.1\n[[body]]\nname = "stone"\ngravity_scale = 1e150\nshapes = [{ sphere = 0.1 }]\n')
        out, err = self.run_program("run", self.scene, "--steps", "1000000", "--record", self.name("a.h5"),
                                    "--checkpoint", self.name("a.ck"), "--json", code=4)
        step = int(re.search(r"environment 0, step (\d+): ", err).group(1))
        self.assertEqual(json.loads(out)["steps"], step)
        document = json.loads(self.run_program("diff", self.name("a.h5"), self.name("a.h5"), "--json")[0])
        self.assertEqual(document["frames"][0], step)  # 0 to step - 1
        self.run_program("run", self.scene, "--steps", str(step), "--resume", self.name("a.ck"))

    def test_stdout_that_takes_nothing_is_an_input_output_error(self):
        for more in (["--json"], [], ["--hash-every", "1", "-q"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([PROGRAM, "run", self.scene, "--steps", "10", *more], stdout=full, stderr=subprocess.PIPE, timeout=60)
            self.assertEqual(done.returncode, 6, done.stderr)


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
                                          "linear_velocity": [301, 4, 3], "angular_velocity": [301, 4, 3]})
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

    def test_a_recorded_run_is_the_run(self):
        plain = self.document("--steps", "200")
        recorded = self.document("--steps", "200", "--record", self.name("a.h5"))
        self.assertEqual(plain["state_hash"], recorded["state_hash"])
        self.assertEqual(plain["energy"], recorded["energy"])

    def test_a_resumed_run_is_the_unbroken_run(self):
        unbroken = self.document("--steps", "600", "--record", self.name("whole.h5"))
        self.document("--steps", "250", "--checkpoint", self.name("a.ck"))
        resumed = self.document("--steps", "600", "--resume", self.name("a.ck"), "--record", self.name("rest.h5"), "--threads", "2")
        for key in set(KEYS) - {"wall_s", "realtime_factor", "steps_per_s", "peak_memory_mb"}:
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
        return json.loads(re.search(r"^const scene = (.*);$", text, re.M).group(1))

    def test_the_page_holds_sixty_frames_a_second_and_is_alone(self):
        self.run_program("run", self.scene, "--duration", "1", "--replay", self.name("a.html"))
        scene = self.data(self.name("a.html"))
        times = struct.unpack(f"<{len(base64.b64decode(scene['times'])) // 8}d", base64.b64decode(scene["times"]))
        self.assertAlmostEqual(len(times), 60, delta=1)
        self.assertEqual(times[0], 0)
        self.assertEqual(list(times), sorted(times))
        self.assertEqual(len(base64.b64decode(scene["poses"])), 4 * 7 * 4 * len(times))
        offsets = struct.unpack(f"<{len(times) + 1}I", base64.b64decode(scene["offsets"]))
        self.assertEqual(len(base64.b64decode(scene["contacts"])), 4 * 9 * offsets[-1])
        self.assertGreater(offsets[-1], 0)
        self.assertEqual([b["name"] for b in scene["bodies"]], ["ball", "box a", "box b", "floor"])
        text = (self.path / "a.html").read_text()
        self.assertNotRegex(text, r"(src|href)\s*=|https?://|import\(")  # nothing is loaded

    def test_names_cannot_leave_the_script(self):
        self.scene = self.file("x.toml", SCENE.replace("box a", "</script><script>alert(1)//"))
        self.run_program("run", self.scene, "--steps", "5", "--replay", self.name("a.html"))
        self.assertEqual((self.path / "a.html").read_text().count("<script>"), 1)
        self.assertIn("</script><script>alert(1)//", [b["name"] for b in self.data(self.name("a.html"))["bodies"]])

    def test_the_page_is_whole_or_absent(self):
        for place in (self.name("missing/a.html"), str(self.path)):
            self.run_program("run", self.scene, "--steps", "5", "--replay", place, code=6)
        self.run_program("run", self.scene, "--steps", "5", "--replay", self.scene, code=2)
        run = self.start("--steps", "100000000", "--replay", self.name("a.html"))
        time.sleep(0.5)
        self.assertFalse((self.path / "a.html").exists())
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130)
        self.assertGreater(len(self.data(self.name("a.html"))["times"]), 0)

    def test_a_browser_draws_it(self):
        browser = shutil.which("chromium")
        if browser is None:
            self.skipTest("no chromium")
        self.run_program("run", self.scene, "--duration", "1", "--replay", self.name("a.html"))
        done = subprocess.run([browser, "--headless", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
                               f"--user-data-dir={self.name('profile')}", "--virtual-time-budget=3000", "--dump-dom",
                               "file://" + self.name("a.html") + "#0.5"], capture_output=True, timeout=240)
        page = done.stdout.decode()
        body = re.search(r"<body([^>]*)>", page).group(1)
        self.assertIn('data-frame="', body, "the script did not get to its first frame")
        self.assertAlmostEqual(int(re.search(r'data-frame="(\d+)"', body).group(1)), 30, delta=1)
        self.assertIn("3 moving bodies", page)
        self.assertIn("0.500 s of", page)


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
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
