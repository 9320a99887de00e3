# SPDX-License-Identifier: Apache-2.0
"""Attacks on a run while it goes on: it is killed, interrupted, its disk is full, its memory fails."""
import json
import math
import os
import pathlib
import resource
import signal
import time

from driver import Case, judge

SCENES = pathlib.Path(__file__).resolve().parents[2] / "scenes"
# Scene, solver, steps: some tenths of a second each.
RUNS = {"stack": ("stack.toml", "impulse", 3000), "bin": ("bin.toml", "impulse", 60), "soft": ("soft_ball.toml", "sap", 60),
        "gripper": ("gripper.xml", "sap", 1500), "ball": ("bouncing_ball.toml", "event", 2000), "dominoes": ("dominoes.toml", "sap", 150)}
EXECUTIVE = ("state_hash", "steps", "status", "energy", "contacts_max", "bodies")  # what a cut run must have like a whole one
EVENT_TOLERANCE = 1e-5  # [m], as of tests/metamorphic
# A machine that others use as well answers late.
SIGNAL_LIMIT_S = 2
# Before its first instruction a program cannot answer a signal.
START_S = 0.1


def arguments_of(name, steps=None):
    scene, solver, number = RUNS[name]
    return ["run", SCENES / scene, "--solver", solver, "--steps", steps or number]


def same(document, whole, name=""):
    """Bit for bit; a resumed run of the event solver begins its integration anew, and is the same to its tolerances."""
    if not name or RUNS[name][1] != "event":
        return all(document.get(key) == whole[key] for key in EXECUTIVE)
    ways = [math.dist(body["position"], whole["bodies"][other]["position"]) for other, body in document["bodies"].items()]
    return document["steps"] == whole["steps"] and max(ways) <= EVENT_TOLERANCE


class Whole:
    """What the runs give when nobody attacks them: document, files, time."""

    def __init__(self, machine, outputs):
        self.machine, self.outputs, self.known = machine, outputs, {}

    def of(self, name, steps=None):
        if (name, steps) not in self.known:
            folder = self.machine.empty_folder("whole")
            outputs = [word for option, file in self.outputs for word in (option, file)]
            done = self.machine.run([*arguments_of(name, steps), *outputs, "--json"], folder, seconds=120)
            if done.code != 0:
                raise RuntimeError(f"{name} does not run: {done.err}")
            self.known[name, steps] = (json.loads(done.out), {path.name: path.read_bytes() for path in folder.iterdir()}, done.seconds)
        return self.known[name, steps]


class Kills:
    """kill -9 at any moment: the names lead to nothing or to whole files, and what is resumed ends with the same bits."""
    name = "kills"

    def __init__(self, machine):
        self.machine, self.whole = machine, Whole(machine, (("--record", "run.h5"),))

    def case(self, random):
        return Case(self.name, {"run": random.choice(sorted(RUNS)), "moments": [round(random.random(), 4) for _ in range(random.choice((1, 1, 2, 3)))],
                                "every_s": random.choice((0.001, 0.02, 0.1)), "threads": random.choice((1, 2))})

    def attempt(self, case):
        name = case.parameters["run"]
        document, files, seconds = self.whole.of(name)
        folder = self.machine.empty_folder()
        arguments = [*arguments_of(name), "--checkpoint", "c.ck", "--checkpoint-every", case.parameters["every_s"], "--json"]
        for i, moment in enumerate(case.parameters["moments"]):
            record = ["--record", "run.h5", "--threads", case.parameters["threads"]] if i == 0 else ["--resume", "c.ck"] if (folder / "c.ck").exists() else []
            child = self.machine.start([*arguments, *record], folder)
            time.sleep(moment * seconds)
            os.kill(child.pid, signal.SIGKILL)  # Popen would take the end of the child for itself
            outcome = self.machine.finish(child)
            if outcome.code not in (0, -signal.SIGKILL):
                return f"code {outcome.code} before the kill"
        if (folder / "run.h5").exists() and self.differs(folder, files, "run.h5"):
            return "a recording has its name and is not whole"
        if (folder / "run.h5.partial").exists() and self.differs(folder, files, "run.h5.partial"):
            return "what is left of the recording is not the beginning of the whole one"
        resume = ["--resume", "c.ck"] if (folder / "c.ck").exists() else []
        done = self.machine.run([*arguments, *resume], folder, seconds=60)
        fault = judge(done, (0,))
        if fault:
            return "resumed: " + fault
        return None if same(json.loads(done.out), document, name) else "the resumed run ends otherwise"

    def differs(self, folder, files, name):
        """A file that was cut before its first frames is refused or has none; any other has frames of the whole one."""
        (folder / "whole.h5").write_bytes(files["run.h5"])
        done = self.machine.run(["diff", "whole.h5", name, "--common", "--json"], folder)
        if name.endswith(".partial") and done.code in (1, 3):
            return done.code == 1 and json.loads(done.out)["frames"][1] > 0
        return judge(done, (0,), is_json=False) is not None


class Signals:
    """SIGINT or SIGTERM at any moment: the end comes soon, with code 130, and every file under its name is whole."""
    name = "signals"
    OUTPUTS = (("--record", "run.h5"), ("--replay", "run.html"), ("--checkpoint", "c.ck"), ("--trace", "run.json"))

    def __init__(self, machine):
        self.machine, self.whole = machine, Whole(machine, self.OUTPUTS)

    def case(self, random):
        return Case(self.name, {"run": random.choice(sorted(RUNS)), "moment": round(1.1 * random.random(), 4), "signal": random.choice(("SIGINT", "SIGTERM")),
                                "outputs": [i for i in range(len(self.OUTPUTS)) if random.random() < 0.5]})

    def attempt(self, case):
        name, number = case.parameters["run"], getattr(signal, case.parameters["signal"])
        document, _, seconds = self.whole.of(name)
        folder = self.machine.empty_folder()
        outputs = [self.OUTPUTS[i] for i in case.parameters["outputs"]]
        begin = time.monotonic()
        child = self.machine.start([*arguments_of(name), "--json", *(word for output in outputs for word in output)], folder)
        time.sleep(case.parameters["moment"] * seconds)
        sent = time.monotonic()
        os.kill(child.pid, number)
        outcome = self.machine.finish(child)
        if time.monotonic() - sent > SIGNAL_LIMIT_S:
            return f"no end within {SIGNAL_LIMIT_S} s of the signal"
        if outcome.code == -number and sent - begin < START_S and not list(folder.iterdir()):
            return None
        fault = judge(outcome, (0, 130))
        if fault:
            return fault
        ended = json.loads(outcome.out)
        if outcome.code == 0:
            return None if same(ended, document) else "an interrupt changed the run"
        return self.judge_files(folder, [file for _, file in outputs], ended, document)

    def judge_files(self, folder, outputs, ended, document):
        left = sorted(path.name for path in folder.iterdir())
        if "state_hash" not in ended:  # while it was read
            return f"files are left of a run that did not begin: {left}" if left else None
        if left != sorted(outputs):
            return "files are missing or left over after an interrupt"
        if "run.json" in left:
            json.loads((folder / "run.json").read_text())
        if "run.html" in left and not (folder / "run.html").read_bytes().rstrip().endswith(b"</html>"):
            return "a page that was cut"
        if "run.h5" in left and self.machine.run(["diff", "run.h5", "run.h5"], folder).code != 0:
            return "a recording that cannot be read"
        if "c.ck" not in left:
            return None
        done = self.machine.run([*arguments_of(self.name_of(document)), "--resume", "c.ck", "--json"], folder, seconds=60)
        return None if done.code == 0 and same(json.loads(done.out), document, self.name_of(document)) else "the resumed run ends otherwise"

    def name_of(self, document):
        return next(name for (name, _), (other, _, _) in self.whole.known.items() if other is document)


class Disk:
    """A disk that is full after so many bytes: code 6, a line that names the file, nothing half-written under a name."""
    name = "disk"
    OUTPUTS = (("--record", "run.h5"), ("--replay", "run.html"), ("--checkpoint", "c.ck"), ("--trace", "run.json"), ("--events", "events.json"))
    # What is printed: to a full device.
    PRINTED = (["--help"], ["run", "--help"], ["--version"], ["doctor"], ["doctor", "--json"], ["check", SCENES / "stack.toml"], ["check", SCENES / "stack.toml", "--json"],
               ["check", SCENES / "meshes/wedge.obj"], ["check", SCENES / "arm.xml", "--json"], ["run", SCENES / "stack.toml", "--steps", "5"],
               ["run", SCENES / "stack.toml", "--steps", "5", "--json"], ["run", SCENES / "stack.toml", "--steps", "5", "--hash-every", "1"], ["diff", "whole.h5", "whole.h5"],
               ["diff", "whole.h5", "whole.h5", "--json"], ["export", "whole.h5", "-o", "a.mcap", "--json"], ["export", "whole.h5", "-o", "a.mcap"],
               ["mesh", "--sphere", "0.1", "-o", "a.msh"], ["mesh", "--sphere", "0.1", "-o", "a.msh", "--json"], ["bench", SCENES / "stack.toml", "--steps", "5"],
               ["bench", SCENES / "stack.toml", "--steps", "5", "--json"], ["view", SCENES / "stack.toml", "--seconds", "0.1"],
               ["run", SCENES / "nothing.toml", "--json"], ["check", SCENES / "nothing.toml", "--json"])
    EARLY = ("nothing.toml",)  # rejected before anything is printed: the code may be that of the input

    def __init__(self, machine):
        self.machine, self.whole = machine, Whole(machine, self.OUTPUTS)

    def case(self, random):
        if random.random() < 0.3:
            return Case(self.name, {"printed": random.randrange(len(self.PRINTED))})
        return Case(self.name, {"run": random.choice(sorted(RUNS)), "outputs": sorted(random.sample(range(len(self.OUTPUTS)), random.choice((1, 1, 2, 5)))),
                                "share": round(random.random() ** 2 * 1.05, 5), "is_old": random.random() < 0.5})

    def attempt(self, case):
        return self.attempt_printed(self.PRINTED[case.parameters["printed"]]) if "printed" in case.parameters else self.attempt_run(case.parameters)

    def attempt_printed(self, arguments):
        _, files, _ = self.whole.of("stack", 20)
        folder = self.machine.empty_folder()
        (folder / "whole.h5").write_bytes(files["run.h5"])
        with open("/dev/full", "wb") as full:
            child = self.machine.start(arguments, folder, stdout=full)
        outcome = self.machine.finish(child)
        codes = (3, 6) if str(arguments[1:2]).find(self.EARLY[0]) >= 0 else (6,)
        fault = judge(outcome, codes, is_json=False)
        return f"{arguments[0]} on a full device: {fault}" if fault else None

    def attempt_run(self, parameters):
        name = parameters["run"]
        steps = max(2, RUNS[name][2] // 20)
        document, files, _ = self.whole.of(name, steps)
        outputs = [self.OUTPUTS[i] for i in parameters["outputs"]]
        limit = int(parameters["share"] * max(len(files[file]) for _, file in outputs))
        folder = self.machine.empty_folder()
        if parameters["is_old"]:
            for _, file in outputs:
                (folder / file).write_bytes(b"old")
        arguments = [*arguments_of(name, steps), "--json", *(word for output in outputs for word in output)]
        # What is printed goes through a pipe's worth of room: the limit is for files, /dev/shm included.
        read_end, write_end = os.pipe()
        child = self.machine.start(arguments, folder, stdout=write_end, stderr=write_end,
                                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        os.close(write_end)
        with os.fdopen(read_end, "rb") as pipe:
            printed = pipe.read().decode(errors="replace")
        outcome = self.machine.finish(child)
        lines = printed.splitlines()
        at = next((i for i, line in enumerate(lines) if line == "{"), len(lines))
        end = next((i for i in range(len(lines) - 1, -1, -1) if lines[i] == "}"), -1)
        outcome.out, outcome.err = "\n".join(lines[at:end + 1]), "\n".join(lines[:at] + lines[end + 1:])
        fits = all(len(files[file]) <= limit for _, file in outputs)
        fault = judge(outcome, (0,) if fits and not self.varies(outputs) else (0, 6))
        if fault:
            return fault
        if outcome.code == 6 and not any(file in outcome.err for _, file in outputs):
            return "the file that did not fit is not named"
        if outcome.code == 0 and not same(json.loads(outcome.out), document):
            return "a full disk changed the run"
        return self.judge_files(folder, arguments_of(name, steps), outcome.code, parameters["is_old"], files)

    @staticmethod
    def varies(outputs):
        """A trace has times in it, a recording of a slow machine other chunks."""
        return any(file in ("run.json", "run.h5") for _, file in outputs)

    def judge_files(self, folder, arguments, code, is_old, files):
        for path in sorted(folder.iterdir()):
            content = path.read_bytes()
            if path.name == "run.h5.partial":
                continue
            if path.name.endswith(".partial"):
                return "a partial file is left"
            if is_old and content == b"old":
                if code == 0:
                    return "an old file is left after code 0"
            elif code == 0 and path.name in ("c.ck", "run.html", "events.json") and content != files[path.name]:
                return f"{path.name} has its name and is not whole"
            elif path.name == "c.ck" and self.machine.run([*arguments, "--resume", "c.ck"], folder).code != 0:
                return "c.ck has its name and cannot be resumed"
            elif path.name == "run.html" and not content.rstrip().endswith(b"</html>"):
                return "run.html has its name and is not whole"
            elif path.name in ("run.json", "events.json"):
                json.loads(content)
            elif path.name == "run.h5" and self.machine.run(["diff", "run.h5", "run.h5"], folder).code != 0:
                return "run.h5 has its name and is not whole"
        return None


class Allocations:
    """A heap whose allocation number k fails, or all from there on, or one that may not grow beyond so many kB: code 5 with a line, or
    the same result, and nothing half-written."""
    name = "allocations"
    COMMANDS = {"run": ["run", SCENES / "stack.toml", "--steps", "3"],
                "record": ["run", SCENES / "stack.toml", "--steps", "200", "--record", "a.h5", "--checkpoint", "c.ck"],
                "page": ["run", SCENES / "clutter.toml", "--steps", "5", "--replay", "a.html", "--trace", "a.json"],
                "soft": ["run", SCENES / "soft_ball.toml", "--steps", "2", "--record", "a.h5"],
                "robot": ["run", SCENES / "gripper.xml", "--steps", "5", "--record", "a.h5"],
                "event": ["run", SCENES / "bouncing_sphere.toml", "--solver", "event", "--steps", "3", "--events", "e.json"],
                "threads": ["run", SCENES / "bin.toml", "--steps", "3", "--threads", "3"],
                "envs": ["run", SCENES / "arm.xml", "--steps", "3", "--envs", "4", "--threads", "2"],
                "resume": ["run", SCENES / "stack.toml", "--steps", "300", "--resume", "old.ck"], "check": ["check", SCENES / "clutter.toml"],
                "mesh": ["mesh", "--sphere", "0.1", "-o", "a.msh"], "diff": ["diff", "whole.h5", "whole.h5"], "export": ["export", "whole.h5", "-o", "a.mcap"]}
    ONLY_LIMITED = ("event",)  # SUNDIALS, within the program, does not survive the loss of one allocation

    def __init__(self, machine):
        self.machine, self.known, self.kept = machine, {}, {}
        self.starved = str(pathlib.Path(machine.program).parents[1] / "tests/attack/tangere_starved")

    def run(self, name, folder, k=0, goes_on=False, limit_kb=0):
        """Of the program itself where its memory is limited, else of the one with a heap that fails."""
        if not hasattr(self, "real"):
            self.real = self.machine.program
        self.machine.program = self.real if limit_kb else self.starved
        environment = {**os.environ, **({"TANGERE_FAIL_AT": str(k)} if k else {"TANGERE_COUNT": "1"}), **({"TANGERE_FAIL_ON": "1"} if goes_on else {})}
        limit = (lambda: resource.setrlimit(resource.RLIMIT_AS, (1024 * limit_kb, 1024 * limit_kb))) if limit_kb else None
        return self.machine.run([*self.COMMANDS[name], "--json"], folder, env=environment, preexec_fn=limit)

    def prepare(self, name):
        """How many allocations there are, the least and the most memory worth a try, and what the whole command gives."""
        if not self.kept:
            for command, file in (("record", "a.h5"), ("record", "c.ck")):
                folder = self.machine.empty_folder()
                done = self.run(command, folder)
                if done.code != 0:
                    raise RuntimeError("the program with a heap that fails does not run: " + done.err)
                self.kept[{"a.h5": "whole.h5", "c.ck": "old.ck"}[file]] = (folder / file).read_bytes()
        if name not in self.known:
            done = self.run(name, self.folder())
            if done.code != 0:
                raise RuntimeError(f"{name} does not run: {done.err}")
            least = self.least_kb("check", lambda done: "shared lib" not in done.err and done.code != -signal.SIGSEGV, 1 << 22)
            self.known[name] = (int(done.err.split("allocations:")[1]), least, self.least_kb(name, lambda done: done.code == 0, 1 << 22), done)
        return self.known[name]

    def least_kb(self, name, works, most):
        """The least limit on memory under which it works; below that of the loader of the system no program can say a word."""
        least = 0
        while most - least > 256:
            middle = (least + most) // 2
            if works(self.run(name, self.folder(), limit_kb=middle)):
                most = middle
            else:
                least = middle
        return most

    def folder(self):
        folder = self.machine.empty_folder()
        for file, content in self.kept.items():
            (folder / file).write_bytes(content)
        return folder

    def case(self, random):
        name = random.choice(sorted(self.COMMANDS))
        number, least, most, _ = self.prepare(name)
        if name in self.ONLY_LIMITED or random.random() < 0.3:
            return Case(self.name, {"command": name, "limit_kb": random.randint(least, most + 1000)})
        return Case(self.name, {"command": name, "k": random.randint(1, number), "goes_on": random.random() < 0.3})

    def attempt(self, case):
        options = dict(case.parameters)
        name = options.pop("command")
        whole = self.prepare(name)[-1]
        folder = self.folder()
        done = self.run(name, folder, **options)
        fault = judge(done, (0, 5), is_json=False)
        if fault:
            return f"{name}{' under a limit' if 'limit_kb' in options else ''}: {fault}"
        left = {path.name for path in folder.iterdir()} - set(self.kept)
        if any(file.endswith(".partial") and file != "a.h5.partial" for file in left) and "of the system" not in done.err:
            return f"{name}: a partial file is left"
        if "a.h5" in left and self.run("diff", self.twice(folder)).code != 0:
            return f"{name}: a recording has its name and is not whole"
        if done.code == 0 and whole.out.startswith("{"):
            before, after = json.loads(whole.out), json.loads(done.out)
            if any(before.get(key) != after.get(key) for key in EXECUTIVE):
                return f"{name}: code 0 with another result"
        return None

    @staticmethod
    def twice(folder):
        os.replace(folder / "a.h5", folder / "whole.h5")
        return folder
