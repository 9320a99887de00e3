# SPDX-License-Identifier: Apache-2.0
"""What the pages of the documentation consist of: headings with their anchors, links, code blocks.

A code block may be preceded by a comment that no reader sees,

    <!-- given: std::vector<double> targets; -->

with what its code takes for granted. The words after the language of a block say how it is checked;
tests/docs/test_snippets.py knows them.
"""
import pathlib
import re

FENCE = re.compile(r"^( *)(```+|~~~+)(.*)$")
HEADING = re.compile(r"^(#{1,6}) +(.*?) *#*$")
LINK = re.compile(r"(?<!\\)(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
HTML_LINK = re.compile(r"<(?:img|a)\b[^>]*?\b(?:src|href)=\"([^\"]+)\"")
GIVEN = re.compile(r"<!-- given:\s*((?:(?!-->).)*?)\s*-->\s*\Z", re.S)
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")


class Block:
    """A fenced code block."""

    def __init__(self, page, line, info, text, given):
        words = info.split()
        self.page, self.line, self.text, self.given = page, line, text, given
        self.language = words[0] if words else ""
        self.words = words[1:]

    def __str__(self):
        return f"{self.page}:{self.line}"


class Page:
    """A Markdown file; `name` is its path from the root of the tree."""

    def __init__(self, root, name):
        self.root, self.name = pathlib.Path(root), name
        self.text = (self.root / name).read_text(encoding="utf-8")
        self.blocks = []
        self.prose = self._read()  # the lines outside code blocks, others empty

    def _read(self):
        lines = self.text.split("\n")
        prose, i = [], 0
        while i < len(lines):
            opened = FENCE.match(lines[i])
            if not opened:
                prose.append("" if lines[i].startswith("    ") and _is_code(prose) else lines[i])
                i += 1
                continue
            indent, fence, info = opened.groups()
            begin = i
            i += 1
            body = []
            while i < len(lines) and lines[i].strip() != fence:
                body.append(lines[i][len(indent):] if lines[i].startswith(indent) else lines[i])
                i += 1
            if i == len(lines):
                raise ValueError(f"{self.name}:{begin + 1}: this code block does not end")
            i += 1
            given = GIVEN.search("\n".join(prose))
            self.blocks.append(Block(self.name, begin + 1, info, "\n".join(body) + "\n",
                                     given.group(1) + "\n" if given else ""))
            prose += [""] * (i - begin)
        return prose

    def _without_comments(self):
        text = re.sub(r"<!--.*?-->", lambda c: "\n" * c.group(0).count("\n"), "\n".join(self.prose), flags=re.S)
        return text.split("\n")

    def headings(self):
        """(level, text, anchor) of each, in order; anchors as GitHub makes them."""
        seen, out = {}, []
        for line in self.prose:
            match = HEADING.match(line)
            if not match:
                continue
            slug = slug_of(match.group(2))
            count = seen.get(slug, 0)
            seen[slug] = count + 1
            out.append((len(match.group(1)), match.group(2), f"{slug}-{count}" if count else slug))
        return out

    def links(self):
        """(line, target, is picture) of every link and picture."""
        for number, line in enumerate(self._without_comments(), 1):
            bare = CODE.sub(lambda code: " " * len(code.group(0)), line)
            for match in LINK.finditer(line):
                # A link whose text is code is a link; one inside code is not.
                if bare[match.end() - 1] == ")":
                    yield number, match.group(3), match.group(1) == "!"
            for match in HTML_LINK.finditer(bare):
                yield number, match.group(1), match.group(0).startswith("<img")


def _is_code(prose):
    """Whether an indented line after these is code: after an empty line or other code, outside a list."""
    for line in reversed(prose):
        if line.strip():
            return not re.match(r"\s*([-*+]|\d+\.) ", line) and not line.startswith("  ")
    return True


def slug_of(heading):
    """The anchor that GitHub gives a heading."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    text = re.sub(r"<[^>]*>", "", text)
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def page_names(root):
    """All pages that are checked: the README, docs/, and what lies beside the code."""
    root = pathlib.Path(root)
    names = ["README.md", "CHANGELOG.md"]
    names += sorted(f"docs/{path.name}" for path in (root / "docs").glob("*.md"))
    names += sorted(str(path.relative_to(root)) for path in (root / "src").rglob("*.md"))
    return [name for name in names if (root / name).exists()]


def pages(root):
    return [Page(root, name) for name in page_names(root)]


def gallery(root):
    """(picture, command) of each entry of the gallery of the README: a row of pictures, then a row with
    their commands."""
    page = Page(root, "README.md")
    out, pictures, inside = [], [], False
    for line in page.prose:
        if line.startswith("## "):
            inside = line == "## Gallery"
        if not inside or not line.startswith("|") or line.startswith("|---"):
            continue
        found = re.findall(r"!\[[^\]]*(?:\[[^\]]*\])?[^\]]*\]\(([^)]+)\)", line)
        if found:
            pictures = found
        else:
            commands = [re.findall(r"`([^`]+)`", cell)[-1] for cell in line.strip("| ").split(" | ")]
            if len(commands) != len(pictures):
                raise ValueError(f"README.md: {len(pictures)} pictures and {len(commands)} commands in a row of the gallery")
            out += zip(pictures, commands)
    return out
