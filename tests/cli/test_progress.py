#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Progress of long work: drawn on a terminal, in one line that fits it, and gone at the end; never anywhere else.

  test_progress.py TANGERE SCENES [unittest options]"""
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import unittest

from program_test import ProgramTest

PROGRAM = SCENES = ""
CLEAR = "\r\x1b[K"
BAR = re.compile(r"\r([^\r\x1b]+)\x1b\[K")


class Terminal:
    """A program whose stderr is a terminal; stdout is a pipe, as in `tangere ... > file`."""

    def __init__(self, *arguments, columns=80):
        self.main, side = pty.openpty()
        self.resize(columns)
        self.run = subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=side, stdin=subprocess.DEVNULL)
        os.close(side)
        self.text = ""

    def resize(self, columns):
        fcntl.ioctl(self.main, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def read(self, seconds):
        """What is drawn in so much time, or until the program ends."""
        end = time.monotonic() + seconds
        begin = len(self.text)
        while time.monotonic() < end:
            if not select.select([self.main], [], [], 0.05)[0]:
                continue
            try:
                data = os.read(self.main, 65536)
            except OSError:  # the other side is closed
                break
            if not data:
                break
            self.text += data.decode()
        return self.text[begin:]

    def wait_for_bars(self, count, seconds=60):
        end = time.monotonic() + seconds
        while len(self.bars()) < count and time.monotonic() < end and self.run.poll() is None:
            self.read(0.1)
        return self.bars()

    def bars(self):
        return BAR.findall(self.text)

    def finish(self):
        self.read(120)
        out = self.run.stdout.read().decode()
        self.run.stdout.close()
        code = self.run.wait(60)
        os.close(self.main)
        return code, out

    def interrupt(self):
        self.run.send_signal(signal.SIGINT)
        return self.finish()


class Progress(ProgramTest):
    def stack(self):
        return os.path.join(SCENES, "stack.toml")

    def check_bar(self, bar, title, unit, columns=80):
        self.assertLess(len(bar), columns)
        self.assertRegex(bar, rf"^{title} \[#* *\] +\d+ %  {unit} [\d.e+]+ of [\d.e+]+")

    def test_a_run_shows_where_it_is_with_rate_and_time_left(self):
        terminal = Terminal("run", self.stack(), "--steps", "100000000", columns=120)
        bars = terminal.wait_for_bars(8)
        self.assertGreaterEqual(len(bars), 8)
        for bar in bars:
            self.check_bar(bar, "run", "step", 120)
        self.assertRegex(bars[-1], r"[\d.e+]+ steps/s, (\d+:)+\d\d left$")
        steps = [int(re.search(r"step (\d+)", bar).group(1)) for bar in bars]
        self.assertEqual(steps, sorted(set(steps)))
        code, out = terminal.interrupt()
        self.assertEqual(code, 130)
        # The last bar is taken away before anything else is said, and nothing is drawn after it.
        after = terminal.text.rpartition("left\x1b[K")[2]
        self.assertTrue(after.startswith(CLEAR), repr(after))
        self.assertRegex(after[len(CLEAR):], r"^tangere: interrupted after step \d+\r\n$")
        self.assertIn("state hash", out)

    def test_the_line_fits_the_window_also_when_that_is_resized(self):
        terminal = Terminal("run", self.stack(), "--steps", "100000000", columns=100)
        terminal.wait_for_bars(3)
        for columns in (40, 12, 3, 200):
            terminal.resize(columns)
            terminal.read(0.5)  # what was under way
            before = len(terminal.bars())
            bars = terminal.wait_for_bars(before + 3)[before + 1:]
            self.assertGreaterEqual(len(bars), 1)
            for bar in bars:
                self.assertLess(len(bar), columns)
        self.assertIn("[", bars[-1])
        self.assertEqual(terminal.interrupt()[0], 130)

    def test_nothing_is_drawn_into_a_pipe_with_json_or_quietly(self):
        self.assertEqual(self.run_program("run", self.stack(), "--steps", "3000")[1], "")
        for option in ("--json", "-q"):
            terminal = Terminal("run", self.stack(), "--steps", "3000", option)
            code, out = terminal.finish()
            self.assertEqual((code, terminal.text), (0, ""))
            if option == "--json":
                self.assertEqual(json.loads(out)["steps"], 3000)

    def test_lines_of_a_run_stand_alone(self):
        terminal = Terminal("run", self.stack(), "--steps", "100000000", "--hash-every", "200")
        terminal.wait_for_bars(4)
        code, out = terminal.interrupt()
        self.assertEqual(code, 130)
        self.assertRegex(out.splitlines()[0], r"^200 [0-9a-f]{16}$")

    def test_other_long_work_shows_it_too_and_ends_with_a_clean_line(self):
        recording = str(self.path / "a.h5")
        self.run_program("run", self.stack(), "--steps", "6000", "--record", recording, "-q")
        for title, arguments in (
            ("export", ["export", recording, "-o", str(self.path / "a.mcap")]),
            ("bench", ["bench", self.stack(), "--steps", "20000"]),
            ("bench", ["bench", "pairs"]),
            ("compare", ["compare", self.stack(), "--duration", "0.5"]),
            ("mesh", ["mesh", "--sphere", "0.05", "--resolution", "0.001", "-o", str(self.path / "a.msh")]),
        ):
            with self.subTest(arguments[:2]):
                terminal = Terminal(*arguments, columns=100)
                bars = terminal.wait_for_bars(2)
                if terminal.run.poll() is None:
                    terminal.run.send_signal(signal.SIGINT)  # seen enough
                code, _ = terminal.finish()
                self.assertIn(code, (0, 130), terminal.text)
                self.assertGreaterEqual(len(bars), 1, terminal.text)
                for bar in bars:
                    self.assertLess(len(bar), 100)
                    self.assertTrue(bar.startswith(title), bar)
                after = terminal.text[terminal.text.rindex(bars[-1]) + len(bars[-1]):]
                self.assertIn(CLEAR, after)
                self.assertNotIn("%", after.rpartition(CLEAR)[2])


if __name__ == "__main__":
    PROGRAM, SCENES = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
    ProgramTest.program = PROGRAM
    unittest.main(verbosity=1)
