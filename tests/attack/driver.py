# SPDX-License-Identifier: Apache-2.0
"""What all attacks share: running the program within limits, what counts as a fault, cases and their files."""
import hashlib
import json
import os
import pathlib
import resource
import select
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field

TIME_LIMIT_S = 10
MEMORY_LIMIT_BYTES = 1 << 30
# Beyond the limit, so that a program which asks for more is seen, and below what would hurt the machine.
ADDRESS_SPACE_BYTES = 4 << 30
SIMULATION_STOPPED, RESOURCE_LIMIT = 4, 5


@dataclass
class Outcome:
    """How a run of the program ended."""
    code: int  # negative: the signal that ended it
    out: str
    err: str
    seconds: float
    memory: int  # largest resident [bytes]
    was_killed: bool  # by us, at the time limit


@dataclass
class Case:
    """One attack, which can be written down and tried again: numbers and words, and files by name.

    `main` is the file that the smaller may cut."""
    kind: str
    parameters: dict
    files: dict = field(default_factory=dict)
    main: str = ""

    def write_files(self, folder):
        for name, content in self.files.items():
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def name(self):
        digest = hashlib.sha256(json.dumps(self.parameters, sort_keys=True).encode())
        for name in sorted(self.files):
            digest.update(name.encode() + b"\0" + self.files[name])
        return f"{self.kind}-{digest.hexdigest()[:12]}"

    def save(self, folder, fault):
        """A folder of its own: case.json and the files."""
        target = pathlib.Path(folder) / self.name()
        target.mkdir(parents=True, exist_ok=True)
        self.write_files(target)
        text = {"kind": self.kind, "parameters": self.parameters, "main": self.main, "fault": fault}
        (target / "case.json").write_text(json.dumps(text, indent=1) + "\n")
        return target

    @staticmethod
    def load(folder):
        folder = pathlib.Path(folder)
        text = json.loads((folder / "case.json").read_text())
        files = {str(path.relative_to(folder)): path.read_bytes()
                 for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "case.json"}
        return Case(text["kind"], text["parameters"], files, text["main"])


class Machine:
    """The program under attack, and a folder in memory that is empty for every case."""

    def __init__(self, program, python=""):
        self.program = os.path.abspath(program)
        self.python = python
        base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="attack-", dir=base))
        self.runs = 0
        # Children inherit it: cheaper than a function between fork and exec.
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def empty_folder(self, name="case"):
        path = self.folder / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path

    def start(self, arguments, folder, **options):
        """The program as a child; its outputs are files, so that no pipe can hold it up."""
        self.runs += 1
        with open(self.folder / "out", "wb") as out, open(self.folder / "err", "wb") as err:
            options = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err, "cwd": folder, **options}
            return subprocess.Popen([self.program, *map(str, arguments)], **options)

    def finish(self, child, seconds=TIME_LIMIT_S, begin=None):
        begin = begin or time.monotonic()
        poll = select.poll()
        descriptor = os.pidfd_open(child.pid)
        try:
            poll.register(descriptor, select.POLLIN)
            was_killed = not poll.poll(1000 * seconds)
        finally:
            os.close(descriptor)
        if was_killed:
            os.kill(child.pid, signal.SIGKILL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)  # so that Popen asks no more
        out, err = ((self.folder / name).read_bytes().decode(errors="replace") for name in ("out", "err"))
        return Outcome(child.returncode, out, err, time.monotonic() - begin, 1024 * usage.ru_maxrss, was_killed)

    def run(self, arguments, folder, seconds=TIME_LIMIT_S, **options):
        begin = time.monotonic()
        return self.finish(self.start(arguments, folder, **options), seconds, begin)


def find_null(value, path=""):
    """Where a document has a null or a number that is none."""
    if value is None or value != value or value in (float("inf"), -float("inf")):
        return path or "document"
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        found = find_null(part, f"{path}/{key}")
        if found:
            return found
    return ""


def judge(outcome, codes, is_json=True):
    """What every run of the program promises, whatever it reads; None, or the fault in a few words. The words are the
    same for the same fault, so that the smaller can tell whether it still has it."""
    if outcome.was_killed:
        return f"no end within {TIME_LIMIT_S} s"
    if outcome.code < 0:
        return f"ended by {signal.Signals(-outcome.code).name}"
    if outcome.memory > MEMORY_LIMIT_BYTES:
        return "more than 1 GB of memory"
    if outcome.code not in codes:
        return f"code {outcome.code}"
    lines = [line for line in outcome.err.splitlines() if line.startswith("tangere: ") and "warning: " not in line]
    if outcome.code > 1 and not lines:
        return f"code {outcome.code} without a line"
    if "AddressSanitizer" in outcome.err or "runtime error" in outcome.err:
        return "found by a sanitizer"
    if "HDF5-DIAG" in outcome.err or "Traceback" in outcome.err or "what():" in outcome.err:
        return "a trace of calls"
    if is_json:
        try:
            document = json.loads(outcome.out)
        except ValueError:
            return f"code {outcome.code} without a document"
        if not isinstance(document, dict):
            return "a document that is no object"
        # Of `run`: its numbers exist, also when it ended early.
        if "state_hash" in document and find_null(document):
            return f"null in {find_null(document).split('/')[1]}"
        if outcome.code == 3 and not document["errors"]:
            return "rejected without an error"
    return None
