# SPDX-License-Identifier: Apache-2.0
"""Attacks by files: mutants of everything that is read, and flipped bits of what must be refused when it was damaged."""
import json
import pathlib

import mutate
from driver import Case, judge

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEEDS = ROOT / "tests" / "fuzz" / "seeds"
SCENES = ROOT / "scenes"
MESHES = {"meshes/wedge.obj": SCENES / "meshes/wedge.obj", "meshes/corner.obj": SCENES / "meshes/corner.obj", "wedge.obj": SCENES / "meshes/wedge.obj",
          "cube.obj": SEEDS / "fuzz_obj/cube", "a.obj": SEEDS / "fuzz_obj/cube", "cube.stl": SEEDS / "fuzz_stl/binary"}
# A surface is a shape, rigid and soft, of a scene.
MESH_SCENE = """[[body]]
name = "a"
position = [0, 0, 1]
shapes = [{{ mesh = "{0}", representation = "{1}" }}]
[[body]]
name = "floor"
fixed = true
shapes = [{{ plane = true }}]
"""
SOFT_SCENE = """[[soft]]
name = "a"
position = [0, 0, 1]
shape = {{ volume = "{0}" }}
elasticity = {{ young = 1e5 }}
"""
RECORDED = """[[body]]
name = "floor"
fixed = true
shapes = [{ plane = true }]
[[body]]
name = "box"
position = [0, 0, 0.5]
velocity = [1, 0, 0]
shapes = [{ box = [0.1, 0.2, 0.3] }]
[[soft]]
name = "ball"
shape = { sphere = 0.1 }
resolution = 0.1
position = [2, 0, 0.1]
elasticity = { young = 1e5 }
"""
RUN_CODES = (0, 3, 4, 5, 6)


class Mutants:
    """Scenes, robots and meshes, changed with their structure in mind: `check` and `run` end as they promise, and agree."""
    name = "mutants"

    def __init__(self, machine):
        self.machine = machine
        self.seeds = []
        for folder, ending in (("fuzz_scene", ".toml"), ("fuzz_mjcf", ".xml"), ("fuzz_urdf", ".urdf"), ("fuzz_sdformat", ".sdf"),
                               ("fuzz_obj", ".obj"), ("fuzz_stl", ".stl"), ("fuzz_glb", ".glb")):
            self.seeds += [(ending, path.read_bytes()) for path in sorted((SEEDS / folder).iterdir())]
        for path in sorted((SEEDS / "fuzz_volume_files").iterdir()):
            ending = next((end for end in ("msh", "vtk") if path.name.startswith(end)), "")
            if ending:
                self.seeds.append(("." + ending, path.read_bytes()))
        self.seeds += [(path.suffix, path.read_bytes()) for path in sorted(SCENES.iterdir()) if path.suffix in (".toml", ".xml")]
        by_ending = {}
        for ending, content in self.seeds:
            by_ending.setdefault(ending, []).append(content)
        self.by_ending = by_ending
        self.meshes = {name: path.read_bytes() for name, path in MESHES.items()}

    def case(self, random):
        ending = random.choice((".toml", ".toml", ".toml", ".xml", ".xml", ".xml", ".urdf", ".urdf", ".sdf", ".sdf", ".obj", ".stl", ".glb", ".msh", ".vtk"))
        content = random.choice(self.by_ending[ending])
        if b"\0" in content or ending in (".glb", ".stl") and random.random() < 0.5:
            content = mutate.mutate_binary(random, content)
        elif ending in (".obj", ".stl", ".msh", ".vtk"):
            content = mutate.mutate_lines(random, content)
        else:
            content = mutate.mutate_text(random, content, is_xml=ending != ".toml")
        return Case(self.name, {"solver": random.choice(("", "impulse", "sap", "event")), "steps": random.choice((0, 1, 3)),
                                "representation": random.choice(("mesh", "convex"))}, {"mutant" + ending: content}, "mutant" + ending)

    def attempt(self, case):
        folder = self.machine.empty_folder()
        case.write_files(folder)
        scene, ending = case.main, pathlib.Path(case.main).suffix
        for name, content in self.meshes.items():
            if name.encode() in case.files[case.main] and not (folder / name).exists():
                (folder / name).parent.mkdir(exist_ok=True)
                (folder / name).write_bytes(content)
        if ending in (".obj", ".stl", ".glb", ".msh", ".vtk"):
            fault = judge(self.machine.run(["check", case.main, "--json"], folder), RUN_CODES)
            if fault:
                return "check: " + fault
            scene = "scene.toml"
            text = SOFT_SCENE if ending in (".msh", ".vtk") else MESH_SCENE
            (folder / scene).write_text(text.format(case.main, case.parameters["representation"]))
        solver = ["--solver", case.parameters["solver"]] if case.parameters["solver"] else []
        # What is stepped may take long; what is read may not.
        run = self.machine.run(["run", scene, "--json", "--time-limit", "8", "--steps", case.parameters["steps"], *solver], folder)
        fault = judge(run, RUN_CODES)
        if fault:
            return "run: " + fault
        if run.code == 5 and "time limit was reached while" in run.err:
            return "run: read for 8 s"
        check = self.machine.run(["check", scene, "--json"], folder)
        fault = judge(check, RUN_CODES)
        if fault:
            return "check: " + fault
        # Only the solver that was named may make a difference.
        if not solver and (run.code in (3, 6)) != (check.code in (3, 6)):
            return f"check ends with {check.code}, run with {run.code}"
        return self.judge_places(run, scene) if run.code == 3 else None

    def judge_places(self, run, scene):
        """What is rejected is named with its file, and with a line where the file is a text that could be read as one."""
        for error in json.loads(run.out)["errors"]:
            if not error["file"] and scene not in error["message"]:
                return "rejected without a file"
        return None


def edits_of(whole, content):
    """What was changed: the length, and [place, bytes] of each run of bytes that differs."""
    edits = []
    for at, byte in enumerate(content):
        if at < len(whole) and whole[at] == byte:
            continue
        if edits and edits[-1][0] + len(edits[-1][1]) // 2 == at:
            edits[-1][1] += f"{byte:02x}"
        else:
            edits.append([at, f"{byte:02x}"])
    return {"length": len(content), "edits": edits}


def edited(whole, parameters):
    content = bytearray(whole[:parameters["length"]].ljust(parameters["length"], b"\0"))
    for at, text in parameters["edits"]:
        content[at:at + len(text) // 2] = bytes.fromhex(text)
    return bytes(content)


class Flips:
    """Damaged checkpoints and recordings: a checkpoint is never taken, a recording is refused or read without a crash, and
    what is read of it is what was recorded."""
    name = "flips"

    def __init__(self, machine):
        self.machine = machine
        self.whole = {}

    def prepare(self):
        if self.whole:
            return
        folder = self.machine.empty_folder()
        (folder / "scene.toml").write_text(RECORDED)
        done = self.machine.run(["run", "scene.toml", "--solver", "sap", "--steps", "40", "--record", "whole.h5", "--checkpoint", "whole.ck", "-q"], folder)
        if done.code != 0:
            raise RuntimeError("the scene of the flips does not run: " + done.err)
        self.machine.run(["export", "whole.h5", "-o", "out.mcap"], folder)
        self.whole = {name: (folder / name).read_bytes() for name in ("whole.h5", "whole.ck")}
        self.whole["export"] = (folder / "out.mcap").read_bytes()

    def case(self, random):
        self.prepare()
        name = random.choice(("whole.ck", "whole.h5"))
        content = bytearray(self.whole[name])
        if random.random() < 0.6:
            content[random.randrange(len(content))] ^= 1 << random.randrange(8)
        elif random.random() < 0.2:
            del content[random.randrange(len(content)):]
        else:
            content = mutate.mutate_binary(random, content)
        return Case(self.name, {"file": name, **edits_of(self.whole[name], content)})

    def attempt(self, case):
        self.prepare()
        folder, name = self.machine.empty_folder(), case.parameters["file"]
        content = edited(self.whole[name], case.parameters)
        (folder / name).write_bytes(content)
        if name == "whole.ck":
            (folder / "scene.toml").write_text(RECORDED)
            done = self.machine.run(["run", "scene.toml", "--solver", "sap", "--steps", "40", "--resume", "whole.ck", "--json"], folder)
            fault = judge(done, (0,) if content == self.whole[name] else (3,))
            return "resume: " + fault if fault else None
        (folder / "good.h5").write_bytes(self.whole["whole.h5"])
        done = self.machine.run(["diff", "good.h5", "whole.h5", "--json"], folder)
        fault = judge(done, (0, 1, 3, 6), is_json=False)
        if fault:
            return "diff: " + fault
        if done.code == 1:
            return "a damaged recording is read as another one"
        # What diff does not look at, names and shapes among it, an export does.
        done = self.machine.run(["export", "whole.h5", "-o", "out.mcap", "--json"], folder)
        fault = judge(done, (0, 3, 6))
        if fault:
            return "export: " + fault
        if done.code == 0 and (folder / "out.mcap").read_bytes() != self.whole["export"]:
            return "a damaged recording is exported as another one"
        return None
