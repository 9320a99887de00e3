#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The documentation as a site of plain HTML: no server, no script but a filter of the index.

usage: build_docs.py [--check] OUT

Renders README.md, CHANGELOG.md, docs/*.md and the Markdown files beside the code. Other files of the
tree that a page links to are shown with their code highlighted. `--check` then follows every link of
the site and fails where one leads nowhere.

Needs python3-markdown and python3-pygments, which bootstrap.sh installs for Debian's own Python.
"""
import html
import html.parser
import os
import pathlib
import re
import shutil
import sys

try:
    import markdown
    import pygments
    import pygments.formatters
    import pygments.lexers
except ImportError:
    debian = "/usr/bin/python3"
    if os.path.exists(debian) and not os.environ.get("TANGERE_DOCS_PYTHON"):
        os.environ["TANGERE_DOCS_PYTHON"] = debian
        os.execv(debian, [debian, *sys.argv])
    sys.exit("build_docs: needs python3-markdown and python3-pygments: apt-get install python3-markdown python3-pygments")

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import docs_pages  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[1]
EXTENSIONS = ["tables", "fenced_code", "codehilite", "toc", "sane_lists", "attr_list", "md_in_html"]

STYLE = """
:root { --ink: #1d2733; --soft: #51606f; --line: #d9e0e6; --back: #ffffff; --panel: #f5f7f9; --link: #1b62a8; --code: #f3f5f7; }
@media (prefers-color-scheme: dark) { :root { --ink: #dfe5eb; --soft: #9fb0c0; --line: #35414d; --back: #161b21; --panel: #1c232b;
  --link: #7db8f0; --code: #202830; } img { filter: brightness(.92); } }
* { box-sizing: border-box; }
body { margin: 0; color: var(--ink); background: var(--back); font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  display: grid; grid-template-columns: 250px minmax(0, 1fr); min-height: 100vh; }
nav { background: var(--panel); border-right: 1px solid var(--line); padding: 22px 18px; font-size: 14px; position: sticky; top: 0;
  height: 100vh; overflow: auto; }
nav a { display: block; color: var(--ink); padding: 2px 8px; border-radius: 6px; } nav a.here { background: var(--line); font-weight: 600; }
nav h2 { font-size: 12px; text-transform: uppercase; letter-spacing: .06em; color: var(--soft); margin: 18px 8px 4px; }
nav input { width: 100%; padding: 5px 8px; border: 1px solid var(--line); border-radius: 6px; background: var(--back); color: inherit; font: inherit; }
main { padding: 28px 44px 80px; max-width: 1020px; width: 100%; }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
h1, h2, h3 { line-height: 1.25; } h2 { margin-top: 2em; border-bottom: 1px solid var(--line); padding-bottom: .2em; }
code, pre { font: 13.5px/1.5 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
code { background: var(--code); padding: .1em .3em; border-radius: 4px; } pre { background: var(--code); padding: 12px 14px; border-radius: 8px;
  overflow: auto; } pre code { padding: 0; background: none; }
table { border-collapse: collapse; display: block; overflow: auto; margin: 1em 0; font-size: 15px; }
th, td { border: 1px solid var(--line); padding: 5px 10px; text-align: left; vertical-align: top; } th { background: var(--panel); }
img { max-width: 100%; border-radius: 8px; } table:has(img) { display: table; table-layout: fixed; width: 100%; }
th img, td img { width: 100%; display: block; } .anchor { color: var(--line); margin-left: .3em; }
@media (max-width: 800px) { body { display: block; } nav { position: static; height: auto; } main { padding: 20px; } }
"""

FILTER = """
document.getElementById("filter").addEventListener("input", (event) => {
  const words = event.target.value.toLowerCase().split(/\\s+/);
  for (const link of document.querySelectorAll("nav a"))
    link.hidden = !words.every((word) => (link.textContent + " " + link.dataset.words).toLowerCase().includes(word));
});
"""


LIST_ITEM = re.compile(r"(?:[-*+]|\d+\.) +\S")


def for_python_markdown(text):
    """GitHub takes lists and tables without an empty line before them, and things of a list that are
    indented by two; python-markdown wants the line, and four."""
    out, fence, in_list = [], None, False
    for line in text.split("\n"):
        mark = re.match(r"\s*(```+|~~~+)", line)
        if mark and (fence is None or line.strip() == fence):
            fence = mark.group(1) if fence is None else None
        before = out[-1] if out else ""
        if fence is None and not mark:
            is_item = LIST_ITEM.match(line) is not None
            if is_item and before.strip() and not in_list:
                out.append("")
            if line.lstrip().startswith("|") and before.strip() and not before.lstrip().startswith("|"):
                out.append("")
            if is_item:
                in_list = True
            elif in_list and line.strip() and not line.startswith(" "):
                in_list = before.strip() != ""  # a lazy line goes on, one after an empty line ends the list
            if in_list and re.match(r" {1,3}\S", line):
                line = "    " + line.lstrip()
        out.append(line)
    return "\n".join(out)


def site_name(name):
    """The file of the site that shows a file of the tree."""
    if name == "README.md":
        return "index.html"
    return name[:-3] + ".html" if name.endswith(".md") else f"files/{name}.html"


def relative(name, from_name):
    return os.path.relpath(name, os.path.dirname(from_name) or ".")


class Site:
    def __init__(self, out):
        self.out = pathlib.Path(out)
        self.pages = {page.name: page for page in docs_pages.pages(ROOT)}
        self.files = set()  # other files that pages link to

    def build(self):
        if self.out.exists():
            shutil.rmtree(self.out)
        (self.out / "docs").mkdir(parents=True)
        if (ROOT / "docs/images").is_dir():
            shutil.copytree(ROOT / "docs/images", self.out / "docs/images")
        formatter = pygments.formatters.HtmlFormatter(style="default")
        dark = pygments.formatters.HtmlFormatter(style="monokai")
        (self.out / "style.css").write_text(
            STYLE + formatter.get_style_defs(".codehilite") + "\n.codehilite { background: none !important; }\n"
            + "@media (prefers-color-scheme: dark) {\n" + dark.get_style_defs(".codehilite")
            + "\n.codehilite { background: none !important; } }\n", encoding="utf-8")
        for page in self.pages.values():
            self.write_page(page)
        for name in sorted(self.files):
            self.write_file(name)

    def write_page(self, page):
        text = re.sub(r"<!--.*?-->\n?", "", page.text, flags=re.S)
        text = re.sub(r"^( *```[\w+-]+) .*$", r"\1", text, flags=re.M)  # words for the tests
        text = for_python_markdown(text)
        slugs = iter(anchor for _, _, anchor in page.headings())
        converter = markdown.Markdown(extensions=EXTENSIONS, extension_configs={
            "codehilite": {"guess_lang": False}, "toc": {"slugify": lambda value, separator: next(slugs)}})
        body = converter.convert(text)
        body = re.sub(r'(<(?:a|img)\b[^>]*?\b(?:href|src)=")([^"]+)(")',
                      lambda m: m.group(1) + self.target(page.name, html.unescape(m.group(2))) + m.group(3), body)
        self.write(page.name, page.headings()[0][1] if page.headings() else page.name, body)

    def target(self, name, link):
        """Where a link of a page leads in the site."""
        if re.match(r"[a-z][a-z0-9+.-]*:|#", link):
            return link
        path, mark, anchor = link.partition("#")
        file = ((ROOT / name).parent / path).resolve().relative_to(ROOT)
        aim = str(file)
        if aim.startswith("docs/images/"):
            shown = aim
        else:
            if (ROOT / aim).is_dir():
                return "#"
            if aim not in self.pages:
                self.files.add(aim)
            shown = site_name(aim)
        return relative(shown, site_name(name)) + mark + anchor

    def write_file(self, name):
        text = (ROOT / name).read_text(encoding="utf-8", errors="replace")
        try:
            lexer = pygments.lexers.get_lexer_for_filename(name)
        except pygments.util.ClassNotFound:
            lexer = pygments.lexers.TextLexer()
        body = f"<h1>{html.escape(name)}</h1>\n" + pygments.highlight(
            text, lexer, pygments.formatters.HtmlFormatter(cssclass="codehilite"))
        self.write(name, name, body)

    def navigation(self, here):
        """The index, by the tables of docs/README.md, with the headings of each page as words to filter by."""
        out = ['<input id="filter" placeholder="find a page" aria-label="find a page">']
        listed = {"README.md", "docs/README.md"}
        out.append(self.entry("README.md", "Tangere", here) + self.entry("docs/README.md", "All pages by task", here))
        for line in self.pages["docs/README.md"].prose if "docs/README.md" in self.pages else []:
            if line.startswith("## "):
                out.append(f"<h2>{html.escape(line[3:].rstrip(' .'))}</h2>")
            for text, link in re.findall(r"\[([^\]]+)\]\(([^)#]+\.md)\)", line):
                name = os.path.normpath(os.path.join("docs", link))
                if name not in listed and name in self.pages:
                    listed.add(name)
                    out.append(self.entry(name, self.pages[name].headings()[0][1], here))
        out.append("<h2>More</h2>")
        for name in self.pages:
            if name not in listed:
                out.append(self.entry(name, self.pages[name].headings()[0][1], here))
        return "\n".join(out)

    def entry(self, name, title, here):
        words = " ".join(text for _, text, _ in self.pages[name].headings()) if name in self.pages else ""
        mark = ' class="here"' if name == here else ""
        return (f'<a{mark} data-words="{html.escape(words)}" href="{relative(site_name(name), site_name(here))}">'
                f"{html.escape(title.replace('`', ''))}</a>")

    def write(self, name, title, body):
        shown = site_name(name)
        path = self.out / shown
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f'<title>{html.escape(title.replace("`", ""))} · Tangere</title><link rel="stylesheet" href="{relative("style.css", shown)}"></head>\n'
            f"<body><nav>{self.navigation(name)}</nav>\n<main>{body}</main>\n<script>{FILTER}</script></body></html>\n", encoding="utf-8")


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.anchors = [], set()

    def handle_starttag(self, tag, attributes):
        for key, value in attributes:
            if key == "id":
                self.anchors.add(value)
            if key in ("href", "src"):
                self.links.append(value)


def broken(out):
    """Links of the site that lead nowhere."""
    parsed = {}
    for path in sorted(pathlib.Path(out).rglob("*.html")):
        parser = Links()
        parser.feed(path.read_text(encoding="utf-8"))
        parsed[path.resolve()] = parser
    for path, parser in parsed.items():
        for link in parser.links:
            if re.match(r"[a-z][a-z0-9+.-]*:", link) or link == "#":
                continue
            file, _, anchor = link.partition("#")
            aim = (path.parent / file).resolve() if file else path
            if not aim.exists():
                yield f"{path.name}: {link}"
            elif anchor and aim in parsed and anchor not in parsed[aim].anchors:
                yield f"{path.name}: {link} (no such anchor)"


def main():
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    site = Site(arguments[0])
    site.build()
    if "--check" in sys.argv:
        found = list(broken(arguments[0]))
        if found:
            sys.exit("links of the site that lead nowhere:\n" + "\n".join(found))
    print(f"{len(site.pages)} pages and {len(site.files)} files: {os.path.join(arguments[0], 'index.html')}")


if __name__ == "__main__":
    main()
