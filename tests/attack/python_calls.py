# SPDX-License-Identifier: Apache-2.0
"""Random calls of everything that the Python package has: those of its own tests, more of them and with another seed."""
import os
import pathlib
import subprocess

from driver import Case

TESTS = pathlib.Path(__file__).resolve().parents[2] / "python" / "tests"
EXAMPLES = 300
LIMIT_S = 600


class PythonCalls:
    """python/tests/test_random_calls.py: each call gives an answer or one of the documented exceptions."""
    name = "python"

    def __init__(self, machine):
        self.machine = machine

    def case(self, random):
        return Case(self.name, {"seed": random.randrange(2**31), "examples": EXAMPLES})

    def attempt(self, case):
        if not self.machine.python:
            raise RuntimeError("--python: an interpreter that has the package and hypothesis, as `make python` makes in build/python")
        self.machine.runs += 1
        environment = {**os.environ, "TANGERE_PYTHON_EXAMPLES": str(case.parameters["examples"])}
        done = subprocess.run([self.machine.python, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", f"--hypothesis-seed={case.parameters['seed']}",
                               TESTS / "test_random_calls.py"], env=environment, capture_output=True, timeout=LIMIT_S, cwd=self.machine.empty_folder())
        if done.returncode == 0:
            return None
        print(done.stdout.decode(errors="replace")[-4000:], done.stderr.decode(errors="replace")[-2000:])
        return f"pytest ends with {done.returncode}"
