#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the pages show can be done as shown.

usage: test_snippets.py TANGERE [--cxx COMPILER] [--root ROOT] [PAGE...]

Every fenced block of these languages is checked, in the order of its page:

  sh      each `tangere` command is run in a folder of the page's own that has scenes/ and tests/,
          and must end with 0; `make X` needs a target X; pip and python belong to the tests of the
          package. Words: `slow` (not run: the command and its options must exist, and so must the
          scenes), `elsewhere` (files of the reader's: the command and its options must exist).
  cpp     compiled as the body of a function, all public headers included. Words: `file` (at the
          scope of a namespace), `quote=FILE` (these lines are in FILE, which is a test of its own),
          `elsewhere` (code for another library, not looked at).
  toml    `tangere check` takes it, with a floor where the block has no body. Words: `elsewhere` (it
          names files of the reader's: nothing but those may be missing).
  xml     `tangere check` takes it.
  python  compiles; it is run here where it needs h5py and not tangere, by the tests of the Python
          package otherwise. Words: `elsewhere` (code for another library).

The commands of the README's gallery are run as printed.

Exit status: 0 all well, 1 with what failed.
"""
import argparse
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools"))
import docs_pages  # noqa: E402

FLOOR = '\n[[body]]\nname = "floor of the test"\nfixed = true\nshapes = [{ plane = true }]\n'
KNOWN_WORDS = {"sh": {"slow", "elsewhere"}, "cpp": {"file", "elsewhere"}, "toml": {"elsewhere"}, "xml": set(), "python": {"elsewhere"}}
TIME_LIMIT = 300  # seconds for one command, on a machine that does other things too


def commands_of(text):
    """The command lines of a shell block, comments off, continued lines joined."""
    for line in text.replace("\\\n", " ").split("\n"):
        words = shlex.split(line, comments=True)
        if words:
            yield words


class Checker:
    def __init__(self, root, tangere, compiler):
        self.root, self.tangere, self.compiler = pathlib.Path(root).resolve(), tangere, compiler
        self.faults, self.counts, self.helps = [], {}, {}
        self.cpp = []  # blocks that are compiled, all together

    def fault(self, block, message):
        self.faults.append(f"{block}: {message}")

    def check(self, page):
        with tempfile.TemporaryDirectory() as scratch:
            self.scratch = pathlib.Path(scratch)
            for name in ("scenes", "tests"):
                if (self.root / name).is_dir():
                    os.symlink(self.root / name, self.scratch / name)
            for block in page.blocks:
                if block.language not in KNOWN_WORDS:
                    continue
                for word in block.words:
                    if word not in KNOWN_WORDS[block.language] and not word.startswith("quote="):
                        self.fault(block, f"the word '{word}' means nothing for {block.language}")
                self.counts[block.language] = self.counts.get(block.language, 0) + 1
                getattr(self, "check_" + block.language)(block)

    def check_gallery(self):
        """Each command does what its picture shows: it ends well and leaves the file it names."""
        entries = docs_pages.gallery(self.root)
        with tempfile.TemporaryDirectory() as scratch:
            self.scratch = pathlib.Path(scratch)
            os.symlink(self.root / "scenes", self.scratch / "scenes")
            for picture, command in entries:
                block = docs_pages.Block(f"README.md, gallery, {picture}", 0, "sh", command, "")
                words = shlex.split(command)
                if words[0] == "python":
                    if not (self.root / words[1]).exists():
                        self.fault(block, f"no such file: {words[1]}")
                    continue
                before = len(self.faults)
                self.check_sh(block)
                if len(self.faults) == before and not (self.scratch / words[-1]).exists():
                    self.fault(block, f"leaves no file {words[-1]}")
        self.counts["gallery"] = len(entries)

    # --- shell

    def check_sh(self, block):
        for words in commands_of(block.text):
            if words[0] == "tangere":
                self.check_command(block, words)
            elif words[0] == "make":
                makefile = (self.root / "Makefile").read_text()
                for target in words[1:]:
                    if "=" not in target and not re.search(rf"^{re.escape(target)}:", makefile, re.M):
                        self.fault(block, f"the Makefile has no target '{target}'")
            elif words[0] not in ("pip", "python", "export") and "elsewhere" not in block.words:
                self.fault(block, f"'{words[0]}' is a command that this test does not know")

    def check_command(self, block, words):
        if not self.knows(block, words):
            return
        if "elsewhere" in block.words:
            return
        for word in words[2:]:
            if word.startswith("scenes/") and not (self.root / word).exists():
                self.fault(block, f"no such scene: {word}")
                return
        if "slow" in block.words:
            return
        extra = ["--seconds", "0.3"] if words[1] == "view" else []
        try:
            done = subprocess.run([self.tangere, *words[1:], *extra], cwd=self.scratch, capture_output=True,
                                  text=True, timeout=TIME_LIMIT, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            self.fault(block, f"still running after {TIME_LIMIT} s: {shlex.join(words)}")
            return
        if done.returncode != 0:
            self.fault(block, f"exit code {done.returncode}: {shlex.join(words)}\n{done.stderr[-800:]}")

    def knows(self, block, words):
        """Whether the program has this command and these options."""
        if len(words) < 2 or words[1].startswith("-") or words[1].isupper():
            return len(words) > 1 and words[1] in ("--help", "--version")
        if words[1] not in self.helps:
            done = subprocess.run([self.tangere, words[1], "--help"], capture_output=True, text=True)
            common = subprocess.run([self.tangere, "--help"], capture_output=True, text=True).stdout
            exists = re.search(rf"^  {re.escape(words[1])}  ", common, re.M) and done.returncode == 0
            self.helps[words[1]] = done.stdout + common if exists else None
        text = self.helps[words[1]]
        if text is None:
            self.fault(block, f"there is no command 'tangere {words[1]}'")
            return False
        options = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", text))
        for word in words[2:]:
            if re.match(r"--?[a-zA-Z]", word) and word.split("=")[0] not in options:
                self.fault(block, f"'tangere {words[1]}' has no option {word}")
                return False
        return True

    # --- files

    def check_toml(self, block):
        text = block.given + block.text
        if not re.search(r"^\[\[(body|soft|model)\]\]", text, re.M):
            text += FLOOR
        self.check_file(block, text, ".toml")

    def check_xml(self, block):
        self.check_file(block, block.text, ".xml")

    def check_file(self, block, text, suffix):
        """Beside copies of the scenes, whose files it may name."""
        folder = self.scratch / "beside"
        if not folder.exists():
            shutil.copytree(self.root / "scenes", folder)
        path = folder / f"block_{block.line}{suffix}"
        path.write_text(text, encoding="utf-8")
        done = subprocess.run([self.tangere, "check", str(path)], capture_output=True, text=True)
        found = done.stderr.strip().split("\n")
        if "elsewhere" in block.words and all(line.endswith("No such file or directory") for line in found):
            return
        if done.returncode != 0:
            self.fault(block, f"tangere check refuses it:\n{done.stderr}")

    # --- C++

    def check_cpp(self, block):
        if "elsewhere" in block.words:
            return
        for word in block.words:
            if word.startswith("quote="):
                self.check_quote(block, word[len("quote="):])
                return
        self.cpp.append(block)

    def check_quote(self, block, name):
        path = self.root / name
        if not path.is_file():
            self.fault(block, f"quotes {name}, which does not exist")
            return
        source = [line.strip() for line in path.read_text().split("\n")]
        quoted = [line.strip() for line in block.text.rstrip("\n").split("\n")]
        if not any(source[i:i + len(quoted)] == quoted for i in range(len(source))):
            self.fault(block, f"{name} does not contain these lines")

    def compile_cpp(self):
        if not self.cpp or self.compiler is None:
            return
        headers = sorted(path.name for path in (self.root / "include/tangere").glob("*.hpp"))
        lines = ["#include <cstdio>", "#include <iostream>", "#include <memory>", "#include <vector>"]
        lines += [f"#include <tangere/{name}>" for name in headers if name != "eigen.hpp"]
        for number, block in enumerate(self.cpp):
            body = re.sub(r"^#include.*$", "", block.text, flags=re.M)
            given = block.given.replace("\n", " ")
            head = f"namespace block_{number} {{ using namespace tangere; " + (
                f"{given}\n" if "file" in block.words else f"void f() {{ {given}\n")
            lines += [head + f'#line {block.line + 1} "{block.page}"', body + ("}" if "file" in block.words else "}}")]
        source = "\n".join(lines) + "\n"
        done = subprocess.run([self.compiler, "-std=c++20", "-fsyntax-only", "-w", "-x", "c++", "-",
                               f"-I{self.root / 'include'}"], input=source, capture_output=True, text=True)
        if done.returncode != 0:
            self.faults.append("C++ blocks do not compile:\n" + done.stderr[:4000])

    # --- Python

    def check_python(self, block):
        try:
            compile(block.text, str(block), "exec")
        except SyntaxError as error:
            self.fault(block, f"{error.msg} in line {error.lineno}")
            return
        if "elsewhere" in block.words or not re.search(r"^import h5py|\bh5py\.", block.text, re.M):
            return
        if not hasattr(self, "with_h5py"):
            self.with_h5py = next((p for p in (sys.executable, "/usr/bin/python3") if os.path.exists(p) and subprocess.run(
                [p, "-c", "import h5py"], capture_output=True).returncode == 0), None)
        if self.with_h5py is None:
            print(f"{block}: not run, no Python here has h5py")
            return
        done = subprocess.run([self.with_h5py, "-c", block.given + block.text], cwd=self.scratch, capture_output=True, text=True)
        if done.returncode != 0:
            self.fault(block, f"fails:\n{done.stderr[-800:]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tangere")
    parser.add_argument("--cxx")
    parser.add_argument("--root", default=pathlib.Path(__file__).parents[2])
    parser.add_argument("pages", nargs="*")
    arguments = parser.parse_intermixed_args()
    checker = Checker(arguments.root, os.path.abspath(arguments.tangere), arguments.cxx)
    for page in docs_pages.pages(arguments.root):
        if not arguments.pages or page.name in arguments.pages:
            checker.check(page)
    checker.compile_cpp()
    if not arguments.pages or "README.md" in arguments.pages:
        checker.check_gallery()
    print("\n".join(checker.faults))
    counts = ", ".join(f"{count} {language}" for language, count in sorted(checker.counts.items()))
    print(f"blocks: {counts or 'none'}; {len(checker.faults)} faults")
    return 1 if checker.faults else 0


if __name__ == "__main__":
    sys.exit(main())
