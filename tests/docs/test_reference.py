#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The reference pages say what the program does.

usage: test_reference.py TANGERE [ROOT]

 - docs/cli.md has a section for each command and in it the options that `--help` lists, no more and
   no fewer;
 - the defaults that docs/scene_file.md gives for [simulation] are the defaults: a run of a scene with
   all of them goes on from the checkpoint of one without any.
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools"))
import docs_pages  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
TANGERE = ""
OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]*|-[a-z])\b")
COMMON = {"-h", "--help"}


def call(*arguments):
    return subprocess.run([TANGERE, *arguments], capture_output=True, text=True)


def options_of_help(text):
    """Names at the start of the lines under "Options:"."""
    found = set()
    for line in re.search(r"^Options:\n(.*?)(?:^\S|\Z)", text, re.S | re.M).group(1).split("\n"):
        head = re.match(r"  (-\S+)", line)
        if head:
            found |= set(OPTION.findall(head.group(1).replace(",", " ").split(":")[0]))
    return found


def commands_of_help(text):
    return re.findall(r"^  ([a-z]+)  ", text[text.index("Subcommands:"):text.index("Example:")], re.M)


def sections(page):
    """Command -> the options in the first column of the tables of its section; "" before the first."""
    out, command = {"": set()}, ""
    for line in page.split("\n"):
        heading = re.match(r"## tangere ([a-z]+)", line)
        if heading:
            command = heading.group(1)
            out[command] = set()
        elif line.startswith("| "):
            cell = re.split(r"(?<!\\)\|", line)[1]
            for code in re.findall(r"`([^`]*)`", cell):
                out[command] |= set(OPTION.findall(" " + code))
    return out


class CommandLine(unittest.TestCase):
    def test_every_command_has_a_section_and_every_section_a_command(self):
        documented = sections((ROOT / "docs/cli.md").read_text())
        self.assertEqual(sorted(commands_of_help(call("--help").stdout)), sorted(set(documented) - {""}))

    def test_options_are_those_of_help(self):
        documented = sections((ROOT / "docs/cli.md").read_text())
        self.assertEqual(documented[""], options_of_help(call("--help").stdout))
        for command in commands_of_help(call("--help").stdout):
            with self.subTest(command=command):
                self.assertEqual(documented.get(command, set()), options_of_help(call(command, "--help").stdout) - COMMON)

    def test_a_missing_and_an_invented_option_are_seen(self):
        page = "## tangere run SCENE\n| option | meaning |\n|---|---|\n| `--dt S` | step |\n| `-o OUT`, `--made-up` | x `--not-here` |\n"
        self.assertEqual(sections(page)["run"], {"--dt", "-o", "--made-up"})
        text = "x\nOptions:\n  -h,--help   Help --not-here\n  --dt S   Step\n              --nor-here\nExample: --x\n"
        self.assertEqual(options_of_help(text), {"-h", "--help", "--dt"})


class SceneFile(unittest.TestCase):
    BODY = '\n[[body]]\nname = "ball"\nshapes = [{ sphere = 0.1 }]\n'

    def resumes(self, options, solver="impulse"):
        """Whether a run with these options goes on from a checkpoint of one without any."""
        with tempfile.TemporaryDirectory() as folder:
            plain, full, state = (pathlib.Path(folder) / name for name in ("plain.toml", "full.toml", "state.ck"))
            plain.write_text(self.BODY)
            full.write_text(options + self.BODY)
            self.assertEqual(call("run", str(plain), "--solver", solver, "--steps", "1", "--checkpoint", str(state)).returncode, 0)
            return call("run", str(full), "--solver", solver, "--steps", "2", "--resume", str(state)).returncode == 0

    def test_the_options_of_a_simulation_are_given_with_their_defaults(self):
        blocks = [b for b in docs_pages.Page(ROOT, "docs/scene_file.md").blocks if "[simulation.impulse]" in b.text]
        self.assertEqual(len(blocks), 1)
        for solver in ("impulse", "sap", "event"):
            self.assertTrue(self.resumes(blocks[0].text, solver), solver)
        for solver, name, value in (("sap", "near_rigid = 0.1 ", "near_rigid = 0.2 "),
                                    ("impulse", "num_sweeps = 10", "num_sweeps = 11"),
                                    ("event", "slip_speed = 1e-9", "slip_speed = 1e-8")):
            self.assertIn(name, blocks[0].text)
            self.assertFalse(self.resumes(blocks[0].text.replace(name, value), solver), f"{value} makes no difference")


if __name__ == "__main__":
    TANGERE = sys.argv[1]
    if len(sys.argv) > 2:
        ROOT = pathlib.Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1])
