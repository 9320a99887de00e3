#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fail when a file includes what its place in the tree does not allow.

usage: check_includes.py [ROOT]

The rules, each violation printed as file:line: reason:
  - a file of src/<module> includes private headers of its own module and of those named in the
    DEPENDS list of tangere_add_module in src/<module>/CMakeLists.txt, and of no other, not even
    one that a friend may use;
  - DEPENDS lists name existing modules and form no cycle;
  - a kernel (src/<module>/kernels/) includes kernels, core, math and public headers only: host
    code does not compile on a device;
  - include/tangere, cli, bench, examples, python and viewer include no private header;
  - public headers are written <tangere/...>, private ones "module/...", and both exist;
  - headers do not include each other in a circle;
  - every source file begins with the SPDX line.
Tests may include everything. Exit status: 0 clean, 1 violations, 2 not a source tree.
"""
import pathlib
import re
import sys

SPDX = "SPDX-License-Identifier: Apache-2.0"
CPP = {".hpp", ".h", ".cpp", ".cc", ".cu", ".cuh", ".inc", ".inl"}
COMMENTED_WITH_SLASHES = CPP | {".ts", ".js"}
PUBLIC_ONLY = ("include", "cli", "bench", "examples", "python", "viewer")
SOURCE_ROOTS = PUBLIC_ONLY + ("src", "tests", "tools")
SKIPPED_FOLDERS = {"node_modules", "build", "__pycache__", ".venv", "dist"}
ANYONE_ON_A_DEVICE = {"core", "math"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.M)


class Tree:
    """The files, modules and violations of one source tree."""

    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        self.violations = []
        self.depends = {}  # module -> list of modules it may use
        self.depends_line = {}  # module -> (CMakeLists.txt, line) of its call

    def report(self, path, line, message):
        self.violations.append(f"{path.relative_to(self.root)}:{line}: {message}")

    def files(self, folder, suffixes):
        base = self.root / folder
        for path in sorted(base.rglob("*")) if base.is_dir() else []:
            inside = path.relative_to(base).parts[:-1]
            if path.is_file() and path.suffix in suffixes and not SKIPPED_FOLDERS & set(inside):
                yield path

    def check(self):
        self.read_modules()
        self.check_depends()
        graph = {}
        for folder in SOURCE_ROOTS:
            for path in self.files(folder, CPP):
                graph[path] = self.check_file(path)
        self.check_header_cycles(graph)
        for folder in SOURCE_ROOTS:
            for path in self.files(folder, COMMENTED_WITH_SLASHES | {".py"}):
                self.check_spdx(path)
        return self.violations

    def read_modules(self):
        for path in sorted(self.root.glob("src/*/CMakeLists.txt")):
            text = re.sub(r"#[^\n]*", "", path.read_text())
            for call in re.finditer(r"tangere_add_module\s*\(([^)]*)\)", text):
                words = call.group(1).split()
                line = text.count("\n", 0, call.start()) + 1
                if not words or words[0] != path.parent.name:
                    self.report(path, line, f"the module of this folder is named {path.parent.name}")
                    continue
                self.depends[words[0]] = list_after("DEPENDS", words)
                self.depends_line[words[0]] = (path, line)
        for folder in sorted((self.root / "src").glob("*/")):
            if folder.is_dir() and folder.name not in self.depends:
                if any(self.files(f"src/{folder.name}", CPP)):
                    where = folder / "CMakeLists.txt"
                    self.report(where, 1, f"src/{folder.name} has sources but no tangere_add_module")

    def check_depends(self):
        for module, friends in self.depends.items():
            for friend in friends:
                if friend not in self.depends:
                    self.report(*self.depends_line[module], f"{module} DEPENDS on {friend}, which is no module")
        graph = {m: [f for f in friends if f in self.depends] for m, friends in self.depends.items()}
        for cycle in find_cycles(graph):
            self.report(*self.depends_line[cycle[0]], "modules depend on each other: " + " -> ".join(cycle))

    def check_file(self, path):
        """Checks the includes of one file; returns [(included file, line)] inside the tree."""
        place = path.relative_to(self.root).parts
        found = []
        text = strip_block_comments(path.read_text(errors="replace"))
        for match in INCLUDE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            bracket, target = match.groups()
            parts = target.split("/")
            if parts[0] == "tangere":
                header = self.root / "include" / target
                if bracket != "<":
                    self.report(path, line, f"a public header is included as <{target}>")
                if header.is_file():
                    found.append((header, line))
                else:
                    self.report(path, line, f"include/{target} does not exist")
                continue
            if place[0] == "tests" and (self.root / "tests" / target).is_file():
                found.append((self.root / "tests" / target, line))
                continue
            header = self.root / "src" / target
            is_private = len(parts) > 1 and (self.root / "src" / parts[0]).is_dir()
            if is_private:
                self.check_private_include(path, place, line, bracket, target)
                if header.is_file():
                    found.append((header, line))
                elif bracket == '"':
                    self.report(path, line, f"src/{target} does not exist")
            elif bracket == '"':
                self.check_local_include(path, place, line, target, found)
        return found

    def check_private_include(self, path, place, line, bracket, target):
        theirs = target.split("/")[0]
        if place[0] in PUBLIC_ONLY:
            self.report(path, line, f'"{target}" is private: {place[0]} stands on include/tangere only')
            return
        if bracket != '"':
            self.report(path, line, f'a private header is included as "{target}"')
        if place[0] != "src" or len(place) < 3:
            return
        ours = place[1]
        if theirs != ours and theirs not in self.depends.get(ours, []):
            allowed = " ".join(self.depends.get(ours, [])) or "nothing"
            self.report(path, line, f'{ours} may not include "{target}": its DEPENDS allow {allowed}')
        if "kernels" in place and "kernels" not in target.split("/") and theirs not in ANYONE_ON_A_DEVICE:
            self.report(path, line, f'a kernel may not include the host header "{target}"')

    def check_local_include(self, path, place, line, target, found):
        """A quoted name outside the modules: only beside the file, or from a third party."""
        beside = (path.parent / target).resolve()
        if place[0] in ("src", "include"):
            self.report(path, line, f'"{target}" is not named from its module: write "module/header.hpp"')
        elif beside.is_file() and self.root in beside.parents:
            found.append((beside, line))
            if place[0] in PUBLIC_ONLY and beside.relative_to(self.root).parts[0] == "src":
                self.report(path, line, f'"{target}" is private: {place[0]} stands on include/tangere only')

    def check_header_cycles(self, graph):
        edges = {path: [header for header, _ in found] for path, found in graph.items()}
        for cycle in find_cycles(edges):
            line = next(number for header, number in graph[cycle[0]] if header == cycle[1])
            names = " -> ".join(str(p.relative_to(self.root)) for p in cycle)
            self.report(cycle[0], line, "headers include each other: " + names)

    def check_spdx(self, path):
        lines = path.read_text(errors="replace").splitlines()
        comment = "//" if path.suffix in COMMENTED_WITH_SLASHES else "#"
        first = 1 if comment == "#" and lines and lines[0].startswith("#!") else 0
        if len(lines) <= first or lines[first] != f"{comment} {SPDX}":
            self.report(path, first + 1, f"expected the line: {comment} {SPDX}")


def list_after(keyword, words):
    """The words after `keyword` up to the next keyword of the call."""
    if keyword not in words:
        return []
    rest = words[words.index(keyword) + 1 :]
    end = next((i for i, word in enumerate(rest) if word.isupper() and word.isalpha()), len(rest))
    return rest[:end]


def strip_block_comments(text):
    """Blanks /* */ comments, keeping the line numbers. String literals with /* do not occur before includes."""
    return re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)


def find_cycles(graph):
    """One cycle, closed (first == last), for every edge that leads back in a depth-first walk."""
    done, cycles = set(), []
    for start in graph:
        if start in done:
            continue
        on_path, path, iterators = {start}, [start], [iter(graph[start])]
        while path:
            following = next(iterators[-1], None)
            if following is None:
                done.add(path[-1])
                on_path.discard(path.pop())
                iterators.pop()
            elif following in on_path:
                cycles.append(path[path.index(following) :] + [following])
            elif following in graph and following not in done:
                on_path.add(following)
                path.append(following)
                iterators.append(iter(graph[following]))
    return cycles


def main(arguments):
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).parent.parent
    if not (root / "src").is_dir() or not (root / "include").is_dir():
        print(f"{root} has no src/ and include/: not a source tree", file=sys.stderr)
        return 2
    violations = Tree(root).check()
    for violation in violations:
        print(violation)
    if violations:
        print(f"{len(violations)} violation(s)", file=sys.stderr)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
