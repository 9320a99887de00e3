#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The walks through the code lead where they say.

usage: test_walks.py [ROOT]

Each row of a table with the columns "function" and "file" in docs/one_contact.md, and each row of a
table with "phase" and "file" in docs/step.md, names functions that the named files define or call.
Exit status: 0 all well, 1 with a line for each fault.
"""
import pathlib
import re
import sys

DEFINITION = r"\b{name}(?:<[^;{{}}]*>)?\("
PAGES = {
    "docs/one_contact.md": ("function", ""),
    "docs/step.md": ("phase", "src/"),
}


def rows_of(text, first_column):
    """(line number, cells) of the tables whose first two columns are `first_column` and "file"."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            inside = False
        elif cells[:2] == [first_column, "file"]:
            inside = True
        elif inside and not set(line) <= set("|-: "):
            yield number, cells


def files_of(cell, prefix):
    """The files that a cell names; braces stand for several, a name without a folder is beside the last."""
    folder = ""
    for part in re.split(r",\s*(?![^{]*\})", cell.replace("`", "")):
        part = part.strip()
        if "/" in part:
            folder = part.rsplit("/", 1)[0] + "/"
        else:
            part = folder + part
        choice = re.search(r"\{([^}]*)\}", part)
        for one in choice.group(1).split(",") if choice else [None]:
            yield prefix + (part if one is None else part.replace(choice.group(0), one))


def faults(root):
    for page, (column, prefix) in PAGES.items():
        found = 0
        for number, cells in rows_of((root / page).read_text(), column):
            found += 1
            where = f"{page}:{number}"
            files = [root / name for name in files_of(cells[1], prefix)]
            missing = [file for file in files if not file.exists()]
            for file in missing:
                yield f"{where}: there is no {file.relative_to(root)}"
            if missing:
                continue
            text = "".join(
                "".join(inner.read_text() for inner in sorted(file.glob("*.cpp"))) if file.is_dir() else file.read_text()
                for file in files
            )
            for name in filter(None, re.split(r",\s*", cells[0].replace("`", ""))):
                last = re.split(r"::|\.", name)[-1]
                # A member is defined with its class, or inside it.
                full = re.search(DEFINITION.format(name=re.escape(name)), text)
                if not full and not ("::" not in name and re.search(DEFINITION.format(name=re.escape(last)), text)):
                    yield f"{where}: {name} is not in {cells[1]}"
        if found < 10:
            yield f"{page}: found {found} rows, expected a table with the columns '{column}' and 'file'"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    found = list(faults(root))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
