# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command line share: the program, and a folder for each test."""
import pathlib
import signal
import subprocess
import tempfile
import unittest

# Shells start what follows `&` or `nohup` with interrupts ignored, and children inherit that: a test
# that interrupts the program would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)

# How scenes of these tests begin.
FLOOR = """
[simulation]
dt = 0.002

[[body]]
name = "floor"
fixed = true
shapes = [{ plane = true }]
"""


class ProgramTest(unittest.TestCase):
    """A folder that is gone after the test, and the program `program` run to its end within `seconds`."""
    program = ""
    seconds = 300

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def file(self, name, text):
        target = self.path / name
        target.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(target)

    def name(self, name):
        return str(self.path / name)

    def run_program(self, *arguments, code=0, **options):
        """Output and messages; the exit code must be `code`."""
        done = subprocess.run([self.program, *map(str, arguments)], capture_output=True, timeout=self.seconds, **options)
        self.assertEqual(done.returncode, code, done.stderr.decode() + done.stdout.decode())
        return done.stdout.decode(), done.stderr.decode()
