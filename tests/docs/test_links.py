#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every link of the pages leads somewhere.

usage: test_links.py [ROOT]

 - relative links name files of the tree, their anchors headings of the page, pictures exist and
   are small;
 - pages that prose or code comments mention as docs/name.md exist;
 - every page of docs/ can be reached from docs/README.md;
 - no page names a place on somebody's machine.
Exit status: 0 all well, 1 with a line for each fault.
"""
import pathlib
import re
import sys
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools"))
import docs_pages  # noqa: E402

MENTION = re.compile(r"\bdocs/[a-z_]+\.md\b")
MACHINE = re.compile(r"(?<![\w./<])/(?:home|root|work|tmp|Users)/\w")
LARGEST_PICTURE = 260_000  # bytes
SOURCES = ("include", "src", "cli", "python", "examples", "scenes", "viewer/src", "bench")
SUFFIXES = {".hpp", ".cpp", ".py", ".ts", ".toml", ".xml", ".txt"}


def faults_of_links(root, page, anchors):
    folder = (root / page.name).parent
    for line, target, is_picture in page.links():
        where = f"{page.name}:{line}"
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            if is_picture:
                yield f"{where}: a picture from elsewhere: {target}"
            continue
        path, _, anchor = target.partition("#")
        path = urllib.parse.unquote(path)
        file = folder / path if path else root / page.name
        if not file.exists():
            yield f"{where}: no such file: {target}"
            continue
        if root not in (file.resolve(), *file.resolve().parents):
            yield f"{where}: leads out of the tree: {target}"
            continue
        if is_picture and file.stat().st_size > LARGEST_PICTURE:
            yield f"{where}: {path} has {file.stat().st_size} bytes, more than {LARGEST_PICTURE}"
        name = str(file.resolve().relative_to(root))
        if anchor and name.endswith(".md"):
            if name not in anchors:
                anchors[name] = {a for _, _, a in docs_pages.Page(root, name).headings()}
            if anchor not in anchors[name]:
                yield f"{where}: {name} has no heading #{anchor}"


def faults_of_mentions(root, name, text):
    for number, line in enumerate(text.split("\n"), 1):
        for match in MENTION.finditer(line):
            if not (root / match.group(0)).exists():
                yield f"{name}:{number}: mentions {match.group(0)}, which does not exist"


def unreachable(root, pages):
    """Pages of docs/ that no chain of links from docs/README.md leads to."""
    by_name = {page.name: page for page in pages}
    seen, todo = set(), ["docs/README.md"]
    while todo:
        name = todo.pop()
        if name in seen or name not in by_name:
            continue
        seen.add(name)
        for _, target, _ in by_name[name].links():
            path = target.partition("#")[0]
            if path and not re.match(r"[a-z][a-z0-9+.-]*:", target):
                file = ((root / name).parent / path).resolve()
                if root in file.parents:
                    todo.append(str(file.relative_to(root)))
    return [page.name for page in pages if page.name.startswith("docs/") and page.name not in seen]


def faults(root):
    root = pathlib.Path(root).resolve()
    pages = docs_pages.pages(root)
    anchors = {}
    for page in pages:
        yield from faults_of_links(root, page, anchors)
        yield from faults_of_mentions(root, page.name, page.text)
        for number, line in enumerate(page.text.split("\n"), 1):
            if MACHINE.search(line):
                yield f"{page.name}:{number}: names a place on a machine: {line.strip()}"
    for name in unreachable(root, pages):
        yield f"{name}: cannot be reached from docs/README.md"
    for folder in SOURCES:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file() and "node_modules" not in path.parts:
                name = str(path.relative_to(root))
                yield from faults_of_mentions(root, name, path.read_text(encoding="utf-8", errors="replace"))


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]
    found = list(faults(root))
    print("\n".join(found) if found else f"{sum(1 for _ in docs_pages.page_names(root))} pages, all links lead somewhere")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
