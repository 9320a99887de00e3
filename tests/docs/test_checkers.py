#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves that the tests of the pages fail where they must: one faulty page for each rule.

usage: test_checkers.py TANGERE COMPILER
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
TANGERE = COMPILER = ""

GOOD = {
    "README.md": "# Title\n\n[docs](docs/README.md) ![x](docs/images/x.png) [here](#title)\n",
    "docs/README.md": "# Docs\n\n[page](page.md#a-heading-with-code)\n",
    "docs/page.md": "# Page\n\n## A heading: with `code`\n\nSee docs/README.md.\n",
    "docs/images/x.png": "picture",
    "Makefile": "docs:\n\ttrue\n",
    "scenes/ball.toml": '[[body]]\nname = "ball"\nshapes = [{ sphere = 0.1 }]\n',
    "include/tangere/types.hpp": "namespace tangere { struct Vec3 { double x; }; }\n",
}


def run(script, changes, *arguments):
    """Exit status and output on the good tree with some files replaced."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**GOOD, **changes}.items():
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        command = [sys.executable, str(HERE / script), *(a.replace("ROOT", folder) for a in arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


def links(changes):
    return run("test_links.py", changes, "ROOT")


def snippets(page):
    return run("test_snippets.py", {"docs/page.md": page}, TANGERE, "--cxx", COMPILER, "--root", "ROOT")


def block(language, text, given=""):
    return f"# Page\n\n{given}```{language}\n{text}\n```\n"


class Walks(unittest.TestCase):
    PAGE = "| function | file | what |\n|---|---|---|\n" + "| `{}` | src/a.cpp | x |\n" * 12
    STEP = "| phase | file | reads |\n|---|---|---|\n" + "| go, A::stop | b.cpp | x |\n" * 12
    SOURCES = {"src/a.cpp": "void roll() {}\n", "src/b.cpp": "void go() {}\nvoid A::stop() {}\n"}

    def walks(self, function, step=STEP):
        pages = {"docs/one_contact.md": self.PAGE.replace("{}", function), "docs/step.md": step}
        return run("test_walks.py", {**self.SOURCES, **pages}, "ROOT")

    def test_functions_that_are_where_the_page_says_pass(self):
        self.assertEqual(self.walks("roll"), (0, "\n"))

    def test_a_function_that_has_moved(self):
        code, output = self.walks("rollOn")
        self.assertEqual(code, 1)
        self.assertIn("docs/one_contact.md:3: rollOn is not in src/a.cpp", output)

    def test_a_file_that_has_moved(self):
        code, output = self.walks("roll", self.STEP.replace("b.cpp", "c.cpp"))
        self.assertEqual(code, 1)
        self.assertIn("docs/step.md:3: there is no src/c.cpp", output)

    def test_a_page_without_its_table(self):
        self.assertIn("docs/step.md: found 0 rows", self.walks("roll", "nothing")[1])


class Links(unittest.TestCase):
    def test_the_good_tree_passes(self):
        self.assertEqual(links({})[0], 0, links({})[1])

    def check_fault(self, changes, words):
        code, output = links(changes)
        self.assertEqual(code, 1, output)
        self.assertIn(words, output)

    def test_a_link_to_nowhere(self):
        self.check_fault({"README.md": "[x](docs/gone.md)"}, "README.md:1: no such file: docs/gone.md")

    def test_an_anchor_that_is_not_there(self):
        self.check_fault({"README.md": "[x](docs/page.md#gone)"}, "docs/page.md has no heading #gone")
        self.check_fault({"README.md": "# A\n[x](#b)"}, "README.md has no heading #b")

    def test_a_picture_that_is_not_there_or_too_large(self):
        self.check_fault({"README.md": "![x](docs/images/gone.png)"}, "no such file")
        self.check_fault({"README.md": '<img src="docs/images/gone.png">'}, "no such file")
        self.check_fault({"docs/images/x.png": "x" * 300_000}, "300000 bytes")

    def test_a_page_that_is_mentioned_but_not_there(self):
        self.check_fault({"docs/page.md": "# Page\n## A heading: with `code`\n`docs/gone.md`"}, "mentions docs/gone.md")
        self.check_fault({"src/a.cpp": "// see docs/gone.md"}, "src/a.cpp:1: mentions docs/gone.md")

    def test_a_page_that_nothing_leads_to(self):
        self.check_fault({"docs/alone.md": "# Alone"}, "docs/alone.md: cannot be reached")

    def test_a_place_on_a_machine(self):
        self.check_fault({"README.md": "run /home/me/tangere"}, "names a place on a machine")

    def test_links_in_code_do_not_count(self):
        self.assertEqual(links({"README.md": "`[x](gone.md)` [docs](docs/README.md)\n\n```\n[x](gone.md)\n```\n"})[0], 0)


class Snippets(unittest.TestCase):
    def check_fault(self, page, words):
        code, output = snippets(page)
        self.assertEqual(code, 1, output)
        self.assertIn(words, output)

    def check_good(self, page):
        code, output = snippets(page)
        self.assertEqual(code, 0, output)

    def test_commands(self):
        self.check_good(block("sh", "tangere check scenes/ball.toml   # fine\nmake docs"))
        self.check_fault(block("sh", "tangere check scenes/gone.toml"), "no such scene")
        self.check_fault(block("sh", "tangere check gone.toml"), "exit code 6")
        self.check_fault(block("sh", "tangere chekc scenes/ball.toml"), "no command 'tangere chekc'")
        self.check_fault(block("sh slow", "tangere check scenes/ball.toml --gone"), "no option --gone")
        self.check_fault(block("sh elsewhere", "tangere run a.toml --gone"), "no option --gone")
        self.check_fault(block("sh", "make gone"), "no target 'gone'")
        self.check_fault(block("sh", "rm x"), "does not know")
        self.check_fault(block("sh sloww", "tangere doctor"), "means nothing")

    def test_scenes(self):
        self.check_good(block("toml", "[simulation]\ndt = 0.001"))
        self.check_fault(block("toml", "[simulation]\ndtt = 0.001"), "unknown key 'dtt'")
        self.check_good(block("toml elsewhere", '[[model]]\nfile = "gone.urdf"'))
        self.check_fault(block("toml", '[[model]]\nfile = "gone.urdf"'), "No such file")
        self.check_fault(block("toml elsewhere", '[[model]]\nfile = "gone.urdf"\nnmae = "x"'), "nmae")
        self.check_fault(block("xml", "<mujoco><boddy/></mujoco>"), "boddy")

    def test_cpp(self):
        self.check_good(block("cpp", "Vec3 v{x};", "<!-- given: double x = 1; -->\n"))
        self.check_fault(block("cpp", "Vec3 v{x};"), "docs/page.md:4")
        self.check_good(block("cpp file", "struct A { Vec3 v; };"))
        self.check_fault(block("cpp quote=include/tangere/types.hpp", "gone"), "does not contain")

    def test_python(self):
        self.check_good(block("python", "x = 1"))
        self.check_fault(block("python", "x = = 1"), "invalid syntax")


if __name__ == "__main__":
    TANGERE, COMPILER = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
