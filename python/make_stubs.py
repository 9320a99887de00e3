# SPDX-License-Identifier: Apache-2.0
"""Writes the stubs of the compiled modules: make_stubs.py FOLDER MODULE... [--output OTHER]

FOLDER is the package as it was built; the stubs go there, or to OTHER.

What nanobind generates is made truer where it is vague: enumerations may be given by name but come
out as members, a plain shape stands for a BodyShape, paths and tuples say what they are made of.
"""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

# The package as it was built, and not its sources beside this file, which lack the compiled half.
# (PYTHONPATH is not touched: pip's isolated builds find nanobind by it.)
sys.path = [path for path in sys.path if Path(path or ".").resolve() != Path(__file__).parent]
sys.path.insert(0, str(Path(sys.argv[1]).resolve().parent))

from nanobind.stubgen import StubGen  # noqa: E402


def main(folder: Path, modules: list[str]) -> None:
    for name in modules:
        module = importlib.import_module(name)
        generator = StubGen(module, include_private=True)
        generator.put(module)
        text = generator.get()
        # Parts of one line and of signatures over several lines alike.
        text = re.sub(r"-> ((?:\w+\.)*\w+) \| str:", r"-> \1:", text)
        # Taken only to be refused with near names.
        text = text.replace(", **unknown) -> None", ") -> None")
        text = re.sub(r"os\.PathLike\b(?!\[)", "os.PathLike[str]", text)
        text = text.replace("-> tuple: ...", "-> tuple[object, ...]: ...")
        text = text.replace("def __repr__(self) -> object", "def __repr__(self) -> str")
        # What enum gives to flags is in the standard library's own stubs.
        text = re.sub(
            r'    __str__ = __repr__\n\n    def __repr__\(self, /\):\n        """Return repr\(self\)\."""\n\n',
            "",
            text,
        )
        text = text.replace("-> numpy.typing.NDArray:", "-> numpy.typing.NDArray[numpy.void]:")
        text = re.sub(r"^    _\w+_: .*\n\n?", "", text, flags=re.M)
        text = re.sub(r"\bCallable \| None", "Callable[[int, int], bool] | None", text)
        text = text.replace("shapes: Sequence[BodyShape]", "shapes: Sequence[BodyShape | Shape]")
        text = text.replace("Sequence[BodyShape], /)", "Sequence[BodyShape | Shape], /)")
        if "BodyShape | Shape" in text and not re.search(r"^from .*import Shape\b|^    Shape,", text, re.M):
            text = text.replace("BodyShape | Shape", "BodyShape | tangere._collision.Shape")
            if "import tangere._collision" not in text:
                text = "import tangere._collision\n" + text
        (folder / f"{name.rpartition('.')[2]}.pyi").write_text(text)


if __name__ == "__main__":
    *arguments, flag, output = sys.argv[1:] if "--output" in sys.argv else [
        *sys.argv[1:], "--output", sys.argv[1]
    ]
    main(Path(output), arguments[1:])
